# SPDX-License-Identifier: Apache-2.0
"""readers.MXNet: records, indices, faults."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import daliesque as ndd
from support.reader_properties import nothing_left_behind
from support.record_files import RECORDIO_MAGIC, image_record, recordio, write_recordio

Files = dict[str, Any]


def write(folder: Path, records: list[list[bytes]]) -> Files:
    paths = [folder / f"{file}.rec" for file in range(len(records))]
    write_recordio(paths, records, folder / "all.idx")
    return {"path": paths, "index_path": folder / "all.idx"}


def numbered(folder: Path, lengths: list[int]) -> Files:
    """Files whose records hold 0, 1, 2, ... as the label."""
    records, number = [], 0
    for length in lengths:
        records.append([image_record(b"?" * (number + k), [number + k]) for k in range(length)])
        number += length
    return write(folder, records)


def read(files: Files, **options: Any) -> list[tuple[bytes, list[float]]]:
    """Images and labels."""
    reader = ndd.readers.MXNet(**files, **options)
    return [
        (bytes(np.asarray(image)), np.asarray(label).tolist())
        for image, label in reader.next_epoch()
    ]


def test_images_and_labels_of_records(tmp_path: Path) -> None:
    samples = [
        (b"one", [1.0]),
        (b"", [0.25, -3.0]),
        (bytes(range(256)) * 50, [float(k) for k in range(30)]),
        (b"1234" + RECORDIO_MAGIC + b"56" + RECORDIO_MAGIC, [7.0]),
        (RECORDIO_MAGIC * 3, [1.0, 2.0, 3.0]),
        (b"x" + RECORDIO_MAGIC + b"yz", [5.0]),
    ]
    records = [image_record(image, labels) for image, labels in samples]
    assert sum(data.count(RECORDIO_MAGIC) > 1 for data in map(recordio, records)) == 3
    files = write(tmp_path, [records[:4], records[4:]])
    assert read(files) == samples
    reader = ndd.readers.MXNet(**files)
    for images, labels in reader.next_epoch(batch_size=6):
        assert images.dtype == ndd.uint8
        assert labels.dtype == ndd.float32
        assert images.source == labels.source
        assert images.source[0] == f"{files['path'][0]} at index 0"
        assert images.source[4] == f"{files['path'][1]} at index 0"


def test_records_across_files(tmp_path: Path) -> None:
    """The files are one after the other; where they are cut does not matter."""
    files = numbered(tmp_path, [12])
    data = files["path"][0].read_bytes()
    expected = read(files)
    for cuts in ([100], [0, 50, 51, len(data)], [300, 300, 420]):
        paths = []
        for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(data)], strict=True)):
            paths.append(tmp_path / f"cut{number}")
            paths[-1].write_bytes(data[begin:end])
        assert read({**files, "path": paths}) == expected


def test_indices_in_any_order(tmp_path: Path) -> None:
    files = numbered(tmp_path, [4])
    lines = files["index_path"].read_text().splitlines()
    files["index_path"].write_text("\n".join(reversed(lines)) + "\n" + lines[1])
    assert [labels for _, labels in read(files)] == [[0.0], [1.0], [2.0], [3.0]]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"\0" * 40, "does not begin with the magic number"),
        (RECORDIO_MAGIC + struct.pack("<I", 99) + b"\0" * 40, "is cut short"),
        (RECORDIO_MAGIC + struct.pack("<I", 20) + b"\0" * 20, "too short for the header"),
        (recordio(struct.pack("<IfQQ", 5, 0, 0, 0) + b"\0" * 16), "too short for its labels"),
        (RECORDIO_MAGIC + struct.pack("<I", 1 << 29 | 24) + b"\0" * 24, "is cut short"),
        (
            RECORDIO_MAGIC + struct.pack("<I", 1 << 29 | 24) + b"\0" * 32,
            "does not begin with the magic",
        ),
    ],
)
def test_damaged_records(tmp_path: Path, record: bytes, reason: str) -> None:
    good = recordio(image_record(b"good", [1.0]))
    (tmp_path / "a.rec").write_bytes(good + record + good)
    offsets = [0, len(good), len(good) + len(record)]
    (tmp_path / "a.idx").write_text("".join(f"{k} {offset}\n" for k, offset in enumerate(offsets)))
    files = {"path": tmp_path / "a.rec", "index_path": tmp_path / "a.idx"}
    with nothing_left_behind():
        match = rf"a\.rec at index {len(good)}\" \(sample 1 of the batch\): the record .*{reason}"
        with pytest.raises(ndd.OpError, match=match):
            list(ndd.readers.MXNet(**files).next_epoch(batch_size=3))
        assert read(files, on_error="skip")[:2] == [(b"good", [1.0])] * 2


@given(st.binary(min_size=1, max_size=100))
@settings(deadline=None, max_examples=200)
def test_arbitrary_records(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "any.idx").write_text("0 0\n")
    files = {"path": folder / "any.rec", "index_path": folder / "any.idx"}
    for contents in (data, RECORDIO_MAGIC + data, recordio(data)):
        (folder / "any.rec").write_bytes(contents)
        try:
            read(files)
        except ndd.OpError:
            pass


def test_truncated_and_missing_files(tmp_path: Path) -> None:
    files = numbered(tmp_path, [3, 3])
    second = files["path"][1]
    second.write_bytes(second.read_bytes()[:-8])
    with nothing_left_behind():
        with pytest.raises(ndd.OpError, match="is cut short"):
            read(files)
        assert [labels for _, labels in read(files, on_error="skip")][:5] == [[k] for k in range(5)]
        second.write_bytes(b"")
        with pytest.raises(ndd.OpError, match="it lists a record at byte"):
            read(files)
        assert {labels[0] for _, labels in read(files, on_error="skip")} == {0.0, 1.0, 2.0}
        second.unlink()
        with pytest.raises(FileNotFoundError, match=r"readers\.MXNet: cannot read \".*1\.rec"):
            read(files, on_error="skip")
        files["index_path"].unlink()
        files["path"] = files["path"][0]
        with pytest.raises(FileNotFoundError, match=r"all\.idx"):
            read(files)


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    files = numbered(tmp_path, [1])
    with pytest.raises(ValueError, match="'index_path' must be one file"):
        ndd.readers.MXNet(**(files | {"index_path": ["a", "b"]}))
    files["index_path"].write_text("0 x\n")
    with pytest.raises(ndd.OpError, match="line 1 of the index"):
        ndd.readers.MXNet(**files)
    files["index_path"].write_text("")
    with pytest.raises(ValueError, match="there are no samples"):
        ndd.readers.MXNet(**files)
