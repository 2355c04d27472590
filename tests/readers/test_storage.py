# SPDX-License-Identifier: Apache-2.0
"""Readers of files elsewhere: a web server that breaks connections, and memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest

import daliesque as ndd
from daliesque._readers.sources import storage
from daliesque._readers.sources.storage import RemoteFile
from support.coco_data import make_dataset
from support.flaky_server import Server, serve
from support.reader_properties import (
    assert_every_sample_once,
    assert_reshards,
    assert_shuffles,
    epoch_sources,
)
from support.record_files import example, write_tfrecord


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_FIRST_WAIT", 0.001)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    for label in "abc":
        (tmp_path / label).mkdir()
        for k in range(3):
            (tmp_path / label / f"{k}.wav").write_bytes(f"{label}/{k}.wav".encode() * 1000)
    (tmp_path / "list.txt").write_text("b/2.wav 5\nc/0.wav 7\n")
    return tmp_path


def contents_of(reader: Any, batch_size: int | None = None) -> list[tuple[str, bytes, int]]:
    found = []
    for contents, labels in reader.next_epoch(batch_size=batch_size):
        pairs = [(contents, labels)] if batch_size is None else zip(contents, labels, strict=True)
        found += [(c.source, bytes(np.asarray(c)), int(np.asarray(n)[0])) for c, n in pairs]
    return found


@pytest.fixture
def server(images: Path) -> Iterator[Server]:
    with serve(images) as server:
        yield server


def test_files_on_a_server(images: Path, server: Server) -> None:
    local = contents_of(ndd.readers.File(file_root=images))
    for batch_size in (None, 3):
        assert contents_of(ndd.readers.File(file_root=server.url), batch_size) == local
    arguments = {"file_list": f"{server.url}/list.txt"}
    assert contents_of(ndd.readers.File(**arguments)) == contents_of(
        ndd.readers.File(file_list=images / "list.txt")
    )
    url = f"{server.url}/a/1.wav"
    assert contents_of(ndd.readers.File(files=[url])) == [(url, b"a/1.wav" * 1000, 0)]
    mixed = [url, str(images / "b" / "2.wav"), f"file://{images}/c/0.wav"]
    found = contents_of(ndd.readers.File(files=mixed), 3)
    assert [data[:7] for _, data, _ in found] == [b"a/1.wav", b"b/2.wav", b"c/0.wav"]


@pytest.mark.parametrize("status", [0, 503, 429])
def test_broken_connections(images: Path, status: int) -> None:
    local = contents_of(ndd.readers.File(file_root=images))
    with serve(images, break_every=3, status=status) as server:
        reader = ndd.readers.File(file_root=server.url)
        for batch_size in (3, 9, None):
            assert contents_of(reader, batch_size) == local
        assert server.broken > 5


def test_connections_that_stay_broken(images: Path) -> None:
    with serve(images) as server:
        reader = ndd.readers.File(file_root=server.url)
        server.break_every = 1
        match = (
            rf'readers\.File: cannot read "{server.url}/a/0\.wav" \(sample 0 .* after 6 attempts'
        )
        with pytest.raises(OSError, match=match):
            next(reader.next_epoch(batch_size=2))


def test_missing_and_refused_files(images: Path, server: Server) -> None:
    reader = ndd.readers.File(file_root=server.url, on_error="skip")
    (images / "a" / "1.wav").unlink()
    assert [source for source, _, _ in contents_of(reader, 2)][:2] == ["a/0.wav", "a/2.wav"]
    (error,) = reader.errors
    assert error.source == f"{server.url}/a/1.wav"
    assert isinstance(error.exception, FileNotFoundError)
    server.break_every, server.status = 1, 403
    before = server.requests
    with pytest.raises(OSError, match=r"ClientResponseError: 403"):
        storage.read(f"{server.url}/a/0.wav")
    assert server.requests == before + 1
    server.break_every = 0
    with pytest.raises(FileNotFoundError, match=r'readers\.File: cannot list the folder "http'):
        ndd.readers.File(file_root=f"{server.url}/nowhere")


def test_parts_of_remote_files(tmp_path: Path) -> None:
    content = np.random.default_rng(1).bytes(100_000)
    (tmp_path / "x").write_bytes(content)
    with serve(tmp_path, break_every=4) as server:
        file = RemoteFile(f"{server.url}/x")
        assert file.size == len(content)
        for begin, size in [(0, 10), (99_990, 10), (5, 70_000), (0, 100_000), (7, 0), (100_000, 0)]:
            for _ in range(3):
                assert file.read_at(begin, size) == content[begin : begin + size]
        assert server.broken
        assert server.ranges
        with pytest.raises(OSError, match=r"bytes came instead of 20|416"):
            file.read_at(99_990, 20)
        with pytest.raises(FileNotFoundError):
            RemoteFile(f"{server.url}/y")


def in_memory(folder: Path) -> str:
    """Copy a folder to memory."""
    system = fsspec.filesystem("memory")
    for path in folder.rglob("*"):
        if path.is_file():
            system.pipe(f"/{folder.name}/{path.relative_to(folder)}", path.read_bytes())
    return f"memory://{folder.name}"


def test_files_in_a_memory_file_system(images: Path) -> None:
    url = in_memory(images)
    local = contents_of(ndd.readers.File(file_root=images))
    assert contents_of(ndd.readers.File(file_root=url), 4)[:9] == local
    sources = [source for source, _, _ in local]

    def make(**options: Any) -> ndd.readers.File:
        return ndd.readers.File(file_root=url, **options)

    assert_every_sample_once(make, sources)
    assert_shuffles(make, sources)
    assert_reshards(make, sources)


@pytest.mark.parametrize("region", [{}, {"roi_start": [1, 0], "roi_shape": [2, 2]}])
def test_remote_numpy_files(tmp_path: Path, region: dict[str, Any]) -> None:
    arrays = [np.arange(12.0).reshape(4, 3) + k for k in range(5)]
    (tmp_path / "sub").mkdir()
    for k, array in enumerate(arrays):
        np.save(
            tmp_path / ("sub" if k > 2 else ".") / f"{k}.npy", np.array(array, order="CF"[k % 2])
        )
    url = in_memory(tmp_path)
    local = ndd.readers.Numpy(file_root=tmp_path, **region)
    remote = ndd.readers.Numpy(file_root=url, **region)
    for (one,), (other,) in zip(local.next_epoch(5), remote.next_epoch(5), strict=True):
        assert one.source == other.source
        np.testing.assert_array_equal(one.torch(), other.torch())
    system = fsspec.filesystem("memory")
    system.pipe(f"/{tmp_path.name}/1.npy", b"no array")
    with pytest.raises(ndd.DecodeError, match=r'"memory://.*/1\.npy" .* is not a NumPy'):
        next(remote.next_epoch(5))
    system.rm(f"/{tmp_path.name}/1.npy")
    with pytest.raises(FileNotFoundError, match=r'cannot read "memory://.*/1\.npy" \(sample 1'):
        next(remote.next_epoch(5))


def test_remote_coco_images(tmp_path: Path) -> None:
    data = make_dataset(tmp_path)
    url = in_memory(tmp_path)
    reader = ndd.readers.COCO(file_root=url, annotations_file=f"{url}/instances.json")
    names = [image["file_name"] for image in data["images"]]
    assert sorted(epoch_sources(reader, None)) == sorted(names)
    for contents, _, _ in reader.next_epoch():
        assert bytes(np.asarray(contents)).decode() == contents.source
    fsspec.filesystem("memory").pipe(
        f"/{tmp_path.name}/instances.json", json.dumps(data)[:-9].encode()
    )
    with pytest.raises(
        ndd.DecodeError, match=r'"memory://.*instances.json", line 1, column .* early'
    ):
        ndd.readers.COCO(file_root=url, annotations_file=f"{url}/instances.json")


@pytest.mark.parametrize("index", [False, True])
def test_remote_records(tmp_path: Path, index: bool) -> None:
    """Pieces of large files, over a connection that breaks."""
    contents = [example({"x": [k], "y": [bytes([k]) * 1000 * k]}) for k in range(20)]
    write_tfrecord(tmp_path / "x.tfrecord", contents, tmp_path / "x.idx" if index else None)
    kinds = ndd.tfrecord.FixedLenFeature((1,), ndd.tfrecord.int64, 0)
    with serve(tmp_path, break_every=3) as server:
        paths = {"path": f"{server.url}/x.tfrecord"}
        if index:
            paths["index_path"] = f"{server.url}/x.idx"
        reader = ndd.readers.TFRecord(**paths, features={"x": kinds})
        for batch_size in (None, 4):
            seen: list[int] = []
            for step in reader.next_epoch(batch_size=batch_size):
                seen += step["x"].torch().flatten().tolist()
            assert seen == list(range(20))
        assert server.broken
        assert server.ranges


def test_without_fsspec(monkeypatch: pytest.MonkeyPatch) -> None:
    storage._system.cache_clear()
    monkeypatch.setitem(sys.modules, "fsspec", None)
    match = (
        r'readers\.File: "memory://x/": URLs need the package fsspec\. Install daliesque\[remote\]'
    )
    with pytest.raises(ImportError, match=match):
        ndd.readers.File(file_root="memory://x")


def test_unknown_protocols() -> None:
    match = r'readers\.File: cannot list the folder "nosuch://x/": Protocol not known: nosuch'
    with pytest.raises(OSError, match=match):
        ndd.readers.File(file_root="nosuch://x")
    match = r'readers\.File: cannot read "nosuch://x" .*: Protocol not known: nosuch'
    with pytest.raises(OSError, match=match):
        next(ndd.readers.File(files=["nosuch://x"]).next_epoch(1))
