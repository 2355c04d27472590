# SPDX-License-Identifier: Apache-2.0
"""Web servers that say nothing more: the connection counts as broken, and the read is repeated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import daliesque as ndd
from daliesque._readers.sources import storage
from support.flaky_server import serve


@pytest.mark.parametrize("fault", ["stall", "reset", "cut", "error"])
def test_broken_answers_are_asked_for_again(
    tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_SILENCE", 0.5)
    storage._system.cache_clear()
    for number in range(8):
        (tmp_path / f"{number}.data").write_bytes(b"%d" % number * 100)
    with serve(tmp_path, break_every=3, faults=(fault,)) as server:
        names = [f"{server.url}/{number}.data" for number in range(8)]
        reader = ndd.readers.File(files=names)
        found = [
            bytes(np.asarray(sample))
            for files, _ in reader.next_epoch(batch_size=4)
            for sample in files
        ]
        broken = server.broken
    storage._system.cache_clear()
    assert found == [b"%d" % number * 100 for number in range(8)]
    assert broken > 0
