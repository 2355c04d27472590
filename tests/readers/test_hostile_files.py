# SPDX-License-Identifier: Apache-2.0
"""Files of 100 GB and links to themselves cost their own samples, and no memory."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import daliesque as ndd
from daliesque._codecs import video_file
from support.every_reader import CASES, INTEGER
from support.reader_properties import epoch_sources
from support.record_files import example, write_tfrecord

TOO_MANY_BYTES = 100 << 30


@pytest.fixture
def limit() -> Iterator[int]:
    """Samples may have 1000 bytes."""
    previous = ndd.readers.set_max_file_size(1000)
    yield 1000
    ndd.readers.set_max_file_size(previous)


@pytest.mark.parametrize("kept", [None, 0, "loop"], ids=["after the data", "zeros", "loop"])
@pytest.mark.parametrize("name", CASES)
def test_one_bad_file_costs_its_samples(
    tmp_path: Path, name: str, kept: int | str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sparse file of 100 GB, with data at its beginning or without, or a link to itself."""
    monkeypatch.setattr(video_file, "_MOST_SECONDS", 0.2)
    data = CASES[name][1](tmp_path)
    sources = set(epoch_sources(data.make(), None))
    bad = len(data.files) - 1
    others = {source for source in sources if data.file_of(source) != bad}
    path = data.files[bad]
    if kept == "loop":
        path.unlink()
        path.symlink_to(path.name)
    else:
        os.truncate(path, path.stat().st_size if kept is None else 0)
        os.truncate(path, TOO_MANY_BYTES)
    if kept == "loop" and data.all_needed:
        with pytest.raises(OSError, match="Too many levels of symbolic links"):
            data.make(on_error="skip")
        return
    reader = data.make(on_error="skip", pad_last_batch=True)
    found = set(epoch_sources(reader, 2))
    assert others <= found <= sources
    if found < sources and not (kept == 0 and name == "Webdataset"):
        assert any(path.name in f"{error.source} {error.exception}" for error in reader.errors)


def test_a_link_to_itself_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "a.jpg").write_bytes(b"a")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "cat" / "loop.jpg").symlink_to("loop.jpg")
    reader = ndd.readers.File(file_root=tmp_path)
    assert reader.classes == ["cat"]
    with pytest.raises(OSError, match=r'cat/loop.jpg".* symbolic links'):
        epoch_sources(reader, 2)


def test_the_limit_holds_for_whole_files(tmp_path: Path, limit: int) -> None:
    good, bad = tmp_path / "good.pgm", tmp_path / "bad.pgm"
    good.write_bytes(b"P5 9 9 255 " + bytes(81))
    bad.write_bytes(b"P5 90 90 255 " + bytes(8100))
    message = f"more than the limit of {limit} bytes; readers.set_max_file_size raises it"
    with pytest.raises(OSError, match=rf'cannot read ".*bad.pgm" \(sample 1 of .*{message}'):
        epoch_sources(ndd.readers.File(files=[good, bad]), 2)
    reader = ndd.readers.File(files=[good, bad], on_error="skip")
    assert epoch_sources(reader, 1) == [str(good)] * 2
    codes = np.frombuffer(os.fsencode(bad), np.uint8)
    with pytest.raises(OSError, match=message):
        ndd.io.file.read(codes).evaluate()
    with pytest.raises(OSError, match=message):
        ndd.imread(str(bad)).evaluate()
    with pytest.raises(OSError, match=message):
        ndd.decoders.image(str(bad))
    with pytest.raises(OSError, match=message):
        ndd.readers.COCO(file_root=tmp_path, annotations_file=bad)
    assert ndd.decoders.image(str(good)).shape == (9, 9, 3)


def test_the_limit_holds_for_members_and_records(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for name, size in (("a.txt", 10), ("b.txt", limit + 1), ("c.txt", limit)):
            entry = tarfile.TarInfo(name)
            entry.size = size
            archive.addfile(entry, io.BytesIO(bytes(size)))
    # An archive that is not small: those are read as a whole.
    os.truncate(path, 1 << 27)
    reader = ndd.readers.Webdataset(paths=path, ext="txt", on_error="skip", pad_last_batch=True)
    sizes = [len(np.asarray(text)) for (text,) in reader.next_epoch()]
    assert sorted(set(sizes)) == [10, limit]
    (error,) = reader.errors
    assert "more than the limit of 1000 bytes" in str(error.exception)
    records = [example({"x": [number] * (1 + number)}) for number in (0, limit)]
    table = write_tfrecord(tmp_path / "x.tfrecord", records)
    os.truncate(table, 1 << 27)
    # What follows the records is none.
    reader = ndd.readers.TFRecord(path=table, features=INTEGER, on_error="skip")
    list(reader.next_epoch(batch_size=1))
    assert any("limit of 1000 bytes" in str(error.exception) for error in reader.errors)


def test_parts_of_large_arrays_can_be_read(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(10 * limit, dtype=np.uint8).reshape(10, limit))
    with pytest.raises(OSError, match="more than the limit"):
        epoch_sources(ndd.readers.Numpy(files=path), None)
    reader = ndd.readers.Numpy(files=path, roi_start=3, roi_shape=1, roi_axes=0)
    ((row,),) = reader.next_epoch()
    assert np.asarray(row).tolist() == [(np.arange(limit) + 3 * limit).astype(np.uint8).tolist()]


@pytest.mark.parametrize("length", [(1 << 20) + 1, (1 << 32) - 1])
def test_headers_of_arrays_are_short(tmp_path: Path, length: int) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x02\0" + length.to_bytes(4, "little") + b"{")
    os.truncate(path, TOO_MANY_BYTES)
    with pytest.raises(ndd.DecodeError, match=r"x\.npy"):
        epoch_sources(ndd.readers.Numpy(files=path), None)


@pytest.mark.parametrize("value", [0, -1, 1 << 63])
def test_limits_that_cannot_be(value: int) -> None:
    with pytest.raises(ValueError, match="'nbytes' must be positive"):
        ndd.readers.set_max_file_size(value)
    for other in (1.5, "1", True, None):
        with pytest.raises(TypeError, match="'nbytes' must be an integer"):
            ndd.readers.set_max_file_size(other)  # type: ignore[arg-type]
