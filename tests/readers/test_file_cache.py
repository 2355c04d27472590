# SPDX-License-Identifier: Apache-2.0
"""Small data sets stay in memory, and nobody notices."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import numpy as np
import pytest

import daliesque as ndd
from daliesque._readers.sources import discovery


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Five files of 100 bytes, which may be kept although they are new."""
    monkeypatch.setattr(discovery, "LEAST_AGE", 0.0)
    paths = [tmp_path / f"{number}.wav" for number in range(5)]
    for path in paths:
        path.write_bytes(os.urandom(100))
    return paths


def read(reader: ndd.readers.File) -> ndd.Batch:
    contents, _ = next(reader.next_epoch(batch_size=5))
    return contents


def bytes_of(batch: ndd.Batch) -> list[bytes]:
    return [bytes(np.asarray(sample)) for sample in batch]


def is_kept(reader: ndd.readers.File) -> bool:
    """Whether two epochs deliver the same memory."""
    first, second = read(reader), read(reader)
    return [np.asarray(a).ctypes.data for a in first] == [np.asarray(a).ctypes.data for a in second]


def test_contents_are_kept(files: list[Path]) -> None:
    reader = ndd.readers.File(files=files)
    assert is_kept(reader)
    assert bytes_of(read(reader)) == [file.read_bytes() for file in files]


def test_contents_cannot_be_spoiled(files: list[Path]) -> None:
    reader = ndd.readers.File(files=files)
    for batch in (read(reader), read(reader)):
        array = np.asarray(batch.select(0))
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        tensor = batch.torch()
        tensor[:] = 0
    assert bytes_of(read(reader)) == [file.read_bytes() for file in files]


def test_changes_are_noticed(files: list[Path]) -> None:
    reader = ndd.readers.File(files=files, on_error="skip")
    for size in (100, 100, 50, 0, 200):
        assert bytes_of(read(reader)) == [file.read_bytes() for file in files]
        files[2].write_bytes(os.urandom(size))
    replacement = files[3].with_name("new")
    replacement.write_bytes(os.urandom(100))
    os.utime(replacement, ns=(files[3].stat().st_atime_ns, files[3].stat().st_mtime_ns))
    replacement.rename(files[3])
    assert bytes_of(read(reader)) == [file.read_bytes() for file in files]
    files[1].unlink()
    assert read(reader).source == [str(files[i]) for i in (0, 2, 3, 4, 0)]
    assert len(reader.errors) == 1


def test_young_files_are_not_kept(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "LEAST_AGE", 1000.0)
    assert not is_kept(ndd.readers.File(files=files))


def test_large_data_sets_are_not_kept(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    # Each of the five files of 100 bytes counts 512 more for being an entry.
    monkeypatch.setattr(discovery, "KEPT_BYTES", 5 * (100 + 512) - 1)
    reader = ndd.readers.File(files=files)
    assert not is_kept(reader)
    assert not reader._paths._cache.active
    assert bytes_of(read(reader)) == [file.read_bytes() for file in files]
    assert np.asarray(read(reader).select(0)).flags.writeable
    monkeypatch.setattr(discovery, "KEPT_BYTES", 5 * (100 + 512))
    assert is_kept(ndd.readers.File(files=files))
    # A file that is listed twice counts once.
    reader = ndd.readers.File(files=files * 2)
    list(reader.next_epoch())
    assert is_kept(reader)


def test_memory_is_given_back(files: list[Path]) -> None:
    gc.collect()
    before = ndd.memory().used_buffers
    reader = ndd.readers.File(files=files)
    for _ in range(20):
        files[0].write_bytes(os.urandom(100))
        reader(batch_size=5)
    # What was read first, and the present state of the file that changes.
    assert ndd.memory().used_buffers <= before + 2
    del reader
    gc.collect()
    assert ndd.memory().used_buffers <= before
