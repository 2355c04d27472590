# SPDX-License-Identifier: Apache-2.0
"""io.file.read: contents and faults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd


def codes(path: Any) -> Any:
    """A path as the operator takes it."""
    return np.frombuffer(os.fsencode(path), np.uint8)


def test_contents(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    files = [tmp_path / name for name in ("a", "b c", "ü", "empty")]
    for file, size in zip(files, (10, 100_000, 3, 0), strict=True):
        file.write_bytes(rng.bytes(size))
    contents = ndd.io.file.read(ndd.batch([codes(file) for file in files]))
    assert contents.dtype == ndd.uint8
    assert contents.layout is None
    assert [bytes(np.asarray(sample)) for sample in contents] == [f.read_bytes() for f in files]
    single = ndd.io.file.read(codes(files[1]).view(np.int8), dont_use_mmap=True, use_o_direct=True)
    assert bytes(np.asarray(single)) == files[1].read_bytes()
    assert bytes(np.asarray(ndd.io.file.read(codes(f"file://{files[0]}")))) == files[0].read_bytes()


@pytest.mark.parametrize("mode", [ndd.EvalMode.sync_cpu, ndd.EvalMode.eager])
def test_missing_files(tmp_path: Path, mode: ndd.EvalMode) -> None:
    good, bad = codes(__file__), codes(tmp_path / "no")
    match = rf'^io\.file\.read: cannot read "{tmp_path}/no" \(sample 1\): No such file or directory'
    with mode, pytest.raises(FileNotFoundError, match=match):
        ndd.io.file.read(ndd.batch([good, bad])).evaluate()
    with pytest.raises(IsADirectoryError):
        ndd.io.file.read(codes(tmp_path)).evaluate()
    for name in (b"", os.fsencode(__file__) + b"\0"):
        with pytest.raises(FileNotFoundError):
            ndd.io.file.read(np.frombuffer(name, np.uint8)).evaluate()


def test_bad_input() -> None:
    with pytest.raises(ValueError, match=r"io\.file\.read: the type int32 is not supported"):
        ndd.io.file.read(codes("x").astype(np.int32)).evaluate()
    with pytest.raises(ValueError, match=r"io\.file\.read: 'filepaths' must be 1-D"):
        ndd.io.file.read(codes("x")[None]).evaluate()
