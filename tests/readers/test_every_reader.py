# SPDX-License-Identifier: Apache-2.0
"""What all readers have in common, for each of them: shards, shuffling, resuming, faults."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import daliesque as ndd
from daliesque.readers import Reader
from support.every_reader import CASES, MISSING
from support.reader_properties import (
    Make,
    assert_is_a_reader,
    assert_pickles,
    epoch_sources,
    nothing_left_behind,
)

every_reader = pytest.mark.parametrize("name", CASES)


def test_no_reader_is_missing() -> None:
    public = {
        kind
        for module in (ndd.readers, ndd.experimental.readers)
        for kind in (getattr(module, name) for name in module.__all__)
        if isinstance(kind, type) and issubclass(kind, Reader)
    }
    assert {kind for kind, _ in CASES.values()} == public - {Reader}


@every_reader
def test_is_a_reader(tmp_path: Path, name: str) -> None:
    data = CASES[name][1](tmp_path)
    sources = epoch_sources(data.make(), None)
    assert len(set(sources)) == len(sources)
    assert Counter(map(data.file_of, sources)) == Counter(dict(enumerate(data.samples)))
    assert_is_a_reader(data.make, sources)
    assert_pickles(data.make)


def failure_of(make: Make, **options: Any) -> str:
    """What reading an epoch raises."""
    with pytest.raises((OSError, ndd.OpError)) as caught:
        epoch_sources(make(**options), 2)
    return str(caught.value)


@every_reader
def test_bad_files(tmp_path: Path, name: str) -> None:
    """A bad file is named, or left out; the samples of the others are delivered all the same."""
    kind, make_data = CASES[name]
    data = make_data(tmp_path)
    sources = set(epoch_sources(data.make(), None))
    bad = len(data.files) - 1
    others = {source for source in sources if data.file_of(source) != bad}
    path = data.files[bad]
    content = path.read_bytes()
    for kept in data.faults:
        if kept is MISSING:
            path.unlink()
        else:
            assert kept < len(content)
            path.write_bytes(content[:kept])
        with nothing_left_behind():
            message = failure_of(data.make)
            assert message.startswith(f"{kind.operator}: ")
            assert path.name in message
            if data.all_needed and kept is MISSING:
                assert failure_of(data.make, on_error="skip") == message
                continue
            reader = data.make(on_error="skip", pad_last_batch=True)
            found = set(epoch_sources(reader, 1))
            assert others <= found <= (others if kept is MISSING else sources)
            assert any(path.name in f"{error.source} {error.exception}" for error in reader.errors)
            del reader
