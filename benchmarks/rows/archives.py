# SPDX-License-Identifier: Apache-2.0
"""Rows of the readers' benchmark for records in large files."""

from __future__ import annotations

import functools
import importlib
import io
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rows.datasets import folder

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from support import record_files

LARGE, MEDIUM, SMALL = 100_000, 10_000, 1_000
FILES = 4
# More than stays in memory.
MANY_BYTES = 400_000_000
# The system keeps in large pieces what was written, copied or read from a disk in large pieces, and
# hands them out twice as fast as small ones.
WRITTEN_BYTES = 1 << 20
# What Python's tarfile writes at once.
TARFILE_BYTES = 1 << 14


def counts(size: int) -> range:
    """The records of a file."""
    return range((512 if size == LARGE else 16384) // FILES)


def tfrecord(
    ndd: Any, contents: dict[str, Any], size: int, many: bool = False, **options: Any
) -> Any:
    """A reader of equal records."""
    root = Path(folder())
    record = record_files.record(record_files.example(contents))
    paths, indices = [], []
    numbers = range(MANY_BYTES // size // FILES) if many else counts(size)
    for file in range(FILES):
        paths.append(str(root / f"{file}.tfrecord"))
        indices.append(str(root / f"{file}.idx"))
        with open(paths[-1], "wb", WRITTEN_BYTES) as records:
            for _ in numbers:
                records.write(record)
        lines = (f"{k * len(record)} {len(record)}\n" for k in numbers)
        Path(indices[-1]).write_text("".join(lines))
    kinds = getattr(ndd, "tfrecord", None) or importlib.import_module("nvidia.dali.tfrecord")
    described = {
        "image": kinds.FixedLenFeature([], kinds.string, ""),
        "label": kinds.FixedLenFeature([1], kinds.int64, 0),
        "tokens": kinds.VarLenFeature(kinds.int64, 0),
    }
    features = {name: described[name] for name in contents}
    return ndd.readers.TFRecord(path=paths, index_path=indices, features=features, **options)


@functools.cache
def tar_files(size: int, samples: int, written: int) -> tuple[list[str], list[str]]:
    """Archives with an image and a label in each sample, and their indices.

    They are written in pieces of `written` bytes.
    """
    root = Path(folder())
    paths, indices = [], []
    for file in range(FILES):
        paths.append(str(root / f"{file}.tar"))
        indices.append(str(root / f"{file}.idx"))
        lines = [f"v1.2 {samples // FILES}\n"]
        with (
            open(paths[-1], "wb", written) as out,
            tarfile.open(fileobj=out, mode="w") as archive,
        ):
            for number in range(samples // FILES):
                words = []
                for name, data in ((f"{number}.jpg", bytes(size)), (f"{number}.cls", b"7")):
                    entry = tarfile.TarInfo(name)
                    entry.size = len(data)
                    words.append(f"{name[-3:]} {archive.offset + 512} {len(data)} {name}")
                    archive.addfile(entry, io.BytesIO(data))
                lines.append(" ".join(words) + "\n")
        Path(indices[-1]).write_text("".join(lines))
    return paths, indices


def webdataset(
    ndd: Any, size: int, many: bool = False, written: int = WRITTEN_BYTES, **options: Any
) -> Any:
    """A reader of archives, or of `many` samples."""
    samples = MANY_BYTES // size if many else FILES * len(counts(size))
    paths, indices = tar_files(size, samples, written)
    return ndd.readers.Webdataset(paths=paths, index_paths=indices, ext=["jpg", "cls"], **options)


def mxnet(ndd: Any, size: int, **options: Any) -> Any:
    """A reader of RecordIO files."""
    root = Path(folder())
    record = record_files.image_record(bytes(size), [7.0])
    paths = [root / f"{file}.rec" for file in range(FILES)]
    record_files.write_recordio(paths, [[record] * len(counts(size))] * FILES, root / "idx")
    return ndd.readers.MXNet(path=list(map(str, paths)), index_path=[str(root / "idx")], **options)


def database(ndd: Any, reader: str, record: bytes, size: int) -> Any:
    """A reader of databases."""
    root = Path(folder())
    paths = [
        str(record_files.write_lmdb(root / str(file), [record] * len(counts(size))))
        for file in range(FILES)
    ]
    return getattr(ndd.readers, reader)(path=paths)


def caffe(ndd: Any, size: int) -> Any:
    """A reader of databases of Caffe."""
    return database(ndd, "Caffe", record_files.datum(bytes(size), 7), size)


def caffe2(ndd: Any, size: int) -> Any:
    """A reader of databases of Caffe2."""
    image, label = record_files.tensor_proto([bytes(size)]), record_files.tensor_proto([7])
    return database(ndd, "Caffe2", record_files.tensor_protos(image, label), size)


def images(size: int) -> dict[str, Any]:
    """An image and a label."""
    return {"image": [bytes(size)], "label": [7]}


# Name: how to make the reader, and the batch size.
ROWS: dict[str, tuple[Callable[[Any, str], Any], int | None]] = {
    "TFRecord": (lambda ndd, _: tfrecord(ndd, images(LARGE), LARGE), 64),
    "TFRecord shuffled": (
        lambda ndd, _: tfrecord(ndd, images(LARGE), LARGE, random_shuffle=True),
        64,
    ),
    "TFRecord many": (lambda ndd, _: tfrecord(ndd, images(MEDIUM), MEDIUM, many=True), 64),
    "TFRecord many shuffled": (
        lambda ndd, _: tfrecord(ndd, images(MEDIUM), MEDIUM, many=True, random_shuffle=True),
        64,
    ),
    "TFRecord many large": (lambda ndd, _: tfrecord(ndd, images(LARGE), LARGE, many=True), 64),
    "TFRecord small": (lambda ndd, _: tfrecord(ndd, images(SMALL), SMALL), 64),
    "TFRecord samples": (lambda ndd, _: tfrecord(ndd, images(SMALL), SMALL), None),
    "TFRecord tokens": (
        lambda ndd, _: tfrecord(ndd, {"tokens": list(range(10_000, 12_048))}, SMALL),
        64,
    ),
    "Webdataset": (lambda ndd, _: webdataset(ndd, LARGE), 64),
    "Webdataset shuffled": (lambda ndd, _: webdataset(ndd, LARGE, random_shuffle=True), 64),
    "Webdataset small": (lambda ndd, _: webdataset(ndd, SMALL), 64),
    "Webdataset samples": (lambda ndd, _: webdataset(ndd, SMALL), None),
    "Webdataset many": (lambda ndd, _: webdataset(ndd, MEDIUM, many=True), 64),
    "Webdataset many shuffled": (
        lambda ndd, _: webdataset(ndd, MEDIUM, many=True, random_shuffle=True),
        64,
    ),
    "Webdataset many large": (lambda ndd, _: webdataset(ndd, LARGE, many=True), 64),
    "Webdataset many large shuffled": (
        lambda ndd, _: webdataset(ndd, LARGE, many=True, random_shuffle=True),
        64,
    ),
    "Webdataset many large by tarfile": (
        lambda ndd, _: webdataset(
            ndd, LARGE, many=True, written=TARFILE_BYTES, random_shuffle=True
        ),
        64,
    ),
    "MXNet": (lambda ndd, _: mxnet(ndd, LARGE), 64),
    "MXNet small": (lambda ndd, _: mxnet(ndd, SMALL), 64),
    "Caffe": (lambda ndd, _: caffe(ndd, LARGE), 64),
    "Caffe small": (lambda ndd, _: caffe(ndd, SMALL), 64),
    "Caffe2": (lambda ndd, _: caffe2(ndd, LARGE), 64),
    "Caffe2 small": (lambda ndd, _: caffe2(ndd, SMALL), 64),
}
