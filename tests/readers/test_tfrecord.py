# SPDX-License-Identifier: Apache-2.0
"""readers.TFRecord: records, features, indices, faults."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import daliesque as ndd
from daliesque import _kernels
from daliesque._readers.sources import discovery
from daliesque.index import main, tfrecord2idx
from daliesque.tfrecord import FixedLenFeature, VarLenFeature, float32, int64, string
from support.reader_properties import (
    epoch_sources,
    nothing_left_behind,
    sources_of,
)
from support.record_files import crc32c, example, feature, field, record, varint, write_tfrecord

INTEGER = {"x": FixedLenFeature([1], int64, -1)}


def read(path: Any, features: Any, **options: Any) -> list[dict[str, np.ndarray]]:
    """All samples, as arrays."""
    reader = ndd.readers.TFRecord(path=path, features=features, **options)
    return [
        {name: np.array(value.evaluate()) for name, value in sample.items()}
        for sample in reader.next_epoch()
    ]


def numbered(folder: Path, lengths: list[int], index: bool = False) -> dict[str, list[Path]]:
    """Files whose records hold 0, 1, 2, ... as the feature "x"."""
    paths, number = [], 0
    for file, length in enumerate(lengths):
        path = folder / f"{file}.tfrecord"
        contents = [example({"x": [number + k], "y": [b"?" * k]}) for k in range(length)]
        write_tfrecord(path, contents, path.with_suffix(".idx") if index else None)
        number += length
        paths.append(path)
    return {"path": paths} | (
        {"index_path": [path.with_suffix(".idx") for path in paths]} if index else {}
    )


@pytest.mark.parametrize("portable", [False, True])
def test_checksum(portable: bool) -> None:
    assert _kernels.crc32c(b"123456789", portable) == 0xE3069283
    rng = np.random.default_rng(0)
    for size in (0, 1, 7, 8, 9, 63, 3071, 3072, 3073, 9216, 20000):
        data = rng.bytes(size)
        assert _kernels.crc32c(data, portable) == crc32c(data)


def test_features_of_every_kind(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"i": [3], "s": [b"hello"], "v": [1.0, 2.5], "p": [1, 2, 3, 4], "f": [1.0, 2.0, 3.0, 4.0]},
        {"i": [-(2**63)], "s": [b""], "v": [-0.5], "p": [], "f": [4.0, 3.0, 2.0, 1.0]},
        {"i": [2**63 - 1], "s": [b"\0\xff"], "v": [], "p": [5, -6], "f": [0.0] * 4},
    ]
    features = {
        "f": FixedLenFeature([2, 2], float32, 0.0),
        "s": FixedLenFeature([], string, ""),
        "i": FixedLenFeature([1], int64, 0),
        "v": VarLenFeature(float32, 0.0),
        "p": VarLenFeature([2], int64, 0),
    }
    for packed in (True, False):
        path = write_tfrecord(tmp_path / "a", [example(values, packed) for values in records])
        samples = read(path, features)
        assert [list(sample) for sample in samples] == [list(features)] * 3
        for sample, values in zip(samples, records, strict=True):
            assert bytes(sample["s"]) == values["s"][0]
            for name, kind, shape in (
                ("i", np.int64, (1,)),
                ("v", np.float32, (-1,)),
                ("p", np.int64, (-1, 2)),
                ("f", np.float32, (2, 2)),
            ):
                expected = np.array(values[name], kind).reshape(shape)
                np.testing.assert_array_equal(sample[name], expected, strict=True)
        batches = ndd.readers.TFRecord(3, path=path, features=features).next_epoch()
        for batch in batches:
            for name, value in batch.items():
                for tensor, sample in zip(value, samples, strict=True):
                    np.testing.assert_array_equal(np.asarray(tensor), sample[name], strict=True)


@pytest.mark.parametrize("size", [3, 5000])
def test_strings_large_and_small(tmp_path: Path, size: int) -> None:
    """They are parts of the records, or copies; both can be written to."""
    texts = [bytes([65 + k]) * (size + k) for k in range(5)]
    contents = [example({"s": [text], "rest": [b"." * 1000]}) for text in texts]
    path = write_tfrecord(tmp_path / "a", contents)
    features = {"s": FixedLenFeature([], string, "")}
    for batch in ndd.readers.TFRecord(path=path, features=features).next_epoch(5):
        arrays = [np.asarray(sample) for sample in batch["s"]]
        arrays[1][:] = 0
        assert [bytes(array) for array in arrays] == [texts[0], b"\0" * len(texts[1]), *texts[2:]]


def test_defaults(tmp_path: Path) -> None:
    path = write_tfrecord(tmp_path / "a", [example({"x": [5]}), example({"x": b""})])
    features = {
        "x": FixedLenFeature([2], int64, [7, 8]),
        "i": FixedLenFeature([2, 2], int64, 9),
        "f": FixedLenFeature([], float32, 1.5),
        "s": FixedLenFeature([1], string, "none"),
        "v": VarLenFeature(float32, 0.0),
        "p": VarLenFeature([3], int64, 0),
    }
    first, second = read(path, features)
    assert first["x"].tolist() == [5, 8]
    assert second["x"].tolist() == [7, 8]
    assert first["i"].tolist() == [[9, 9], [9, 9]]
    assert first["f"] == 1.5
    assert bytes(first["s"]) == b"none"
    assert first["v"].shape == (0,)
    assert first["p"].shape == (0, 3)
    with pytest.raises(ndd.OpError, match=r"cannot read \".*a at index 0\".*'x' has 1 values of 2"):
        read(path, {"x": FixedLenFeature([2], int64, None)})


def test_rare_encodings(tmp_path: Path) -> None:
    """What other writers may do: several lists, groups, unknown fields, entries given twice."""
    one, two = feature([1, 2]), feature([3], packed=False)
    unknown = varint(9 << 3 | 3) + field(1, b"inside") + varint(9 << 3 | 4) + varint(15 << 3 | 1)
    unknown += b"8 bytes!" + varint(14 << 3 | 5) + b"four"
    entry = field(1, b"x") + unknown + field(2, one) + field(2, two)
    switched = field(1, b"x") + field(2, feature([1.5, 2.5]) + feature([b"text"]) + two + one)
    back = field(1, b"x") + field(2, one + feature([0.5]) + two)
    contents = [
        field(1, field(1, entry)),
        unknown + field(1, field(1, field(2, one) + field(1, b"x"))),
        field(1, field(1, field(1, b"x") + field(2, one)) + field(1, entry)),
        field(1, field(1, entry)) + field(1, field(1, field(1, b"x") + field(2, two))),
        field(1, field(1, switched)),
        field(1, field(1, back)),
    ]
    path = write_tfrecord(tmp_path / "a", contents)
    values = [sample["x"].tolist() for sample in read(path, {"x": VarLenFeature(int64, 0)})]
    assert values == [[1, 2, 3], [1, 2], [1, 2, 3], [3], [3, 1, 2], [3]]


def test_sources_name_file_and_offset(tmp_path: Path) -> None:
    paths = numbered(tmp_path, [2, 1])["path"]
    size = len(record(example({"x": [0], "y": [b""]})))
    reader = ndd.readers.TFRecord(path=paths, features=INTEGER)
    expected = [f"{paths[0]} at index 0", f"{paths[0]} at index {size}", f"{paths[1]} at index 0"]
    assert epoch_sources(reader, 3) == expected


def test_making_an_index(tmp_path: Path) -> None:
    (path,) = numbered(tmp_path, [5], index=True)["path"]
    expected = path.with_suffix(".idx").read_text()
    assert tfrecord2idx(path, tmp_path / "other").read_text() == expected
    path.with_suffix(".idx").unlink()
    main([str(path)])
    assert path.with_suffix(".idx").read_text() == expected
    command = [sys.executable, "-W", "error", "-m", "daliesque.index", str(path)]
    path.with_suffix(".idx").unlink()
    subprocess.run(command, check=True)
    assert path.with_suffix(".idx").read_text() == expected
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ndd.OpError, match=r"the record at byte \d+ is cut short"):
        tfrecord2idx(path)


def test_indices_may_choose_records(tmp_path: Path) -> None:
    """Some of the records, in another order, with blank lines and more bytes than the record."""
    files = numbered(tmp_path, [4], index=True)
    index = files["index_path"][0]
    lines = index.read_text().splitlines()
    last, first = lines[3].split(), lines[0].split()
    index.write_text(f"{last[0]}\t{last[1]}\n\n  {first[0]} {int(first[1]) + 3} \r\n")
    assert [int(sample["x"][0]) for sample in read(files["path"], INTEGER, index_path=index)] == [
        3,
        0,
    ]


def test_large_records_are_leapt_over(tmp_path: Path) -> None:
    sizes = [0, 10, 5000, 300000, 3, 4080, 70000]
    path = write_tfrecord(tmp_path / "a", [example({"s": [b"." * size]}) for size in sizes])
    samples = read(path, {"s": FixedLenFeature([], string, "")})
    assert [len(sample["s"]) for sample in samples] == sizes


def damaged(folder: Path, offset_in_record: int, size: int = 6) -> tuple[Path, Path]:
    """A file with six records, of which number 2 has one byte changed."""
    path, index = folder / "a.tfrecord", folder / "a.idx"
    write_tfrecord(path, [example({"x": [k]}) for k in range(size)], index)
    offset, length = (int(word) for word in index.read_text().splitlines()[2].split())
    data = bytearray(path.read_bytes())
    data[offset + offset_in_record % length] ^= 1
    path.write_bytes(data)
    return path, index


@pytest.mark.parametrize(
    ("offset_in_record", "reason"),
    [
        (0, "length whose checksum is wrong"),
        (9, "length whose checksum is wrong"),
        (14, "contents whose checksum is wrong"),
        (-1, "contents whose checksum is wrong"),
    ],
)
def test_wrong_checksums(tmp_path: Path, offset_in_record: int, reason: str) -> None:
    path, index = damaged(tmp_path, offset_in_record)
    with nothing_left_behind():
        reader = ndd.readers.TFRecord(path=path, index_path=index, features=INTEGER)
        with pytest.raises(ndd.OpError, match=rf"a\.tfrecord at index \d+\".*{reason}"):
            list(reader.next_epoch(batch_size=4))
        skipping = {"index_path": index, "on_error": "skip"}
        assert [s["x"][0] for s in read(path, INTEGER, **skipping)][:5] == [0, 1, 3, 4, 5]
        reader = ndd.readers.TFRecord(path=path, features=INTEGER, **skipping)
        assert len(epoch_sources(reader, 3)) == 6
        assert [error.source.split()[-2:] for error in reader.errors] == [["index", "60"]]
        del reader


def test_records_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not checked again, unless the file changes."""
    monkeypatch.setattr(discovery, "LEAST_AGE", 0.0)
    texts = [bytes([k]) * 5000 for k in range(4)]
    path = write_tfrecord(tmp_path / "a", [example({"x": [text]}) for text in texts])
    good = path.read_bytes()
    reader = ndd.readers.TFRecord(path=path, features={"x": FixedLenFeature([], string, "")})
    for change in range(3):
        for _ in range(3):
            found = [bytes(np.asarray(sample["x"])) for sample in reader.next_epoch()]
            assert found == texts
        damaged = bytearray(good)
        damaged[8000 * change + 100] ^= 1
        for content in (bytes(damaged), good):
            path.write_bytes(content)
            # Otherwise it might have the same age as before.
            os.utime(path, ns=(change, change + (content == good) * 1000))
            if content != good:
                with pytest.raises(ndd.OpError, match="contents whose checksum is wrong"):
                    list(reader.next_epoch(batch_size=2))


def test_damaged_file_without_index(tmp_path: Path) -> None:
    path, _ = damaged(tmp_path, 9)
    other = write_tfrecord(tmp_path / "b", [example({"x": [9]})])
    with pytest.raises(ndd.OpError, match=r"cannot read \".*a\.tfrecord\": the record at byte 60"):
        ndd.readers.TFRecord(path=[path, other], features=INTEGER)
    reader = ndd.readers.TFRecord(path=[path, other], features=INTEGER, on_error="skip")
    assert [int(s["x"].item()) for s in reader.next_epoch()] == [0, 1, 9]
    assert [error.source for error in reader.errors] == [str(path)]


@pytest.mark.parametrize("cut", [1, 4, 5, 20, 29])
def test_truncated_files(tmp_path: Path, cut: int) -> None:
    files = numbered(tmp_path, [3, 2], index=True)
    path = files["path"][0]
    path.write_bytes(path.read_bytes()[:-cut])
    with nothing_left_behind():
        with pytest.raises(ndd.OpError, match=r"0\.tfrecord\": the record at byte \d+ is cut"):
            ndd.readers.TFRecord(path=files["path"], features=INTEGER)
        values = [int(s["x"][0]) for s in read(files["path"], INTEGER, on_error="skip")]
        assert values == [0, 1, 3, 4]
        reader = ndd.readers.TFRecord(features=INTEGER, **files)
        with pytest.raises(ndd.OpError, match="the file ends before the piece at byte"):
            list(reader.next_epoch(batch_size=5))
        reader = ndd.readers.TFRecord(features=INTEGER, on_error="skip", **files)
        assert [int(s["x"].item()) for s in reader.next_epoch()][:4] == [0, 1, 3, 4]
        del reader


def test_missing_files(tmp_path: Path) -> None:
    files = numbered(tmp_path, [2, 2, 2], index=True)
    files["path"][1].unlink()
    with nothing_left_behind():
        for given_files in (files, {"path": files["path"]}):
            with pytest.raises(FileNotFoundError, match=r"readers\.TFRecord: .*1\.tfrecord"):
                ndd.readers.TFRecord(features=INTEGER, **given_files)
            reader = ndd.readers.TFRecord(features=INTEGER, on_error="skip", **given_files)
            assert [int(s["x"].item()) for s in reader.next_epoch()][:4] == [0, 1, 4, 5]
        files["index_path"][2].unlink()
        with pytest.raises(FileNotFoundError):
            ndd.readers.TFRecord(features=INTEGER, **files)
        with pytest.raises(IsADirectoryError):
            ndd.readers.TFRecord(features=INTEGER, path=tmp_path)
        del reader


def test_files_that_vanish_and_shrink_later(tmp_path: Path) -> None:
    files = numbered(tmp_path, [2] * 40, index=True)
    reader = ndd.readers.TFRecord(features=INTEGER, on_error="skip", **files)
    assert len(epoch_sources(reader, 8)) == 80
    files["path"][3].unlink()
    with open(files["path"][5], "r+b") as file:
        file.truncate(50)
    assert len(set(epoch_sources(reader, 8))) == 77


def test_few_files_are_open(tmp_path: Path) -> None:
    files = numbered(tmp_path, [1] * 200)
    with nothing_left_behind():
        reader = ndd.readers.TFRecord(features=INTEGER, random_shuffle=True, **files)
        for step in reader.next_epoch(batch_size=50):
            assert len(sources_of(step)) == 50
            opened = [str(link.resolve()) for link in Path("/proc/self/fd").glob("*")]
            assert sum(path.endswith(".tfrecord") for path in opened) <= 24
        del reader, step


@pytest.mark.parametrize(
    ("values", "described", "reason"),
    [
        ([1.5], FixedLenFeature([1], int64, 0), "are no integers"),
        ([1], VarLenFeature(float32, 0), "are no floats"),
        ([b"a"], VarLenFeature(float32, 0), "are no floats"),
        ([1], FixedLenFeature([], string, ""), "are no strings"),
        ([1, 2, 3], FixedLenFeature([2], int64, 0), r"has 3 values, too many for \[2\]"),
        ([1, 2, 3], VarLenFeature([2], int64, 0), r"has 3 values, which do not fill .* \[2\]"),
        (b"\x1a\x05\x0a\x0a", VarLenFeature(int64, 0), "holds no Example message"),
        (field(3, field(1, b"\xff")), VarLenFeature(int64, 0), "holds no Example message"),
        (field(3, field(1, b"\xff" * 11 + b"\1")), VarLenFeature(int64, 0), "no Example message"),
        (field(2, field(1, b"123")), VarLenFeature(float32, 0), "holds no Example message"),
    ],
)
def test_features_that_do_not_fit(tmp_path: Path, values: Any, described: Any, reason: str) -> None:
    good = {int64: [0, 0], float32: [0.0], string: [b""]}[described.dtype][:1]
    if described.partial_shape:
        good = [0, 0]
    contents = [example({"x": good}), example({"x": values}), example({"x": good})]
    path = write_tfrecord(tmp_path / "a", contents)
    reader = ndd.readers.TFRecord(path=path, features={"x": described})
    with pytest.raises(ndd.OpError, match=rf"a at index \d+\" \(sample 1 of the batch\).*{reason}"):
        list(reader.next_epoch(batch_size=3))
    reader = ndd.readers.TFRecord(path=path, features={"x": described}, on_error="skip")
    assert len(set(epoch_sources(reader, 3))) == 2


@given(st.binary(max_size=60))
@settings(deadline=None, max_examples=300)
def test_arbitrary_messages(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """Whatever the bytes, the result is values or an error."""
    folder = tmp_path_factory.getbasetemp()
    features = {"": VarLenFeature(int64, 0), "s": FixedLenFeature([], string, "")}
    for contents in (data, field(1, data), field(1, field(1, data)), example({"": data})):
        path = write_tfrecord(folder / "arbitrary", [contents])
        try:
            read(path, features)
        except ndd.OpError:
            pass


@given(st.binary(max_size=80))
@settings(deadline=None, max_examples=200)
def test_arbitrary_files(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "arbitrary"
    path.write_bytes(data)
    with pytest.raises((ndd.OpError, ValueError)):
        ndd.readers.TFRecord(path=path, features=INTEGER)
    length = struct.pack("<Q", len(data))
    path.write_bytes(length + data)
    with pytest.raises((ndd.OpError, ValueError)):
        ndd.readers.TFRecord(path=path, features=INTEGER)


@pytest.mark.parametrize("text", ["1\n", "1 x\n", "1 2 3\n", "1.5 2\n", "99999999999999999999 1\n"])
def test_bad_indices(tmp_path: Path, text: str) -> None:
    files = numbered(tmp_path, [1], index=True)
    files["index_path"][0].write_text("0 10\n" + text)
    with pytest.raises(ndd.OpError, match=r"line 2 of the index \".*0\.idx\" must consist of two"):
        ndd.readers.TFRecord(features=INTEGER, **files)


@pytest.mark.parametrize("entry", ["-5 20", "0 -20", "0 99999999999999", "9223372036854775807 16"])
def test_indices_that_lie(tmp_path: Path, entry: str) -> None:
    files = numbered(tmp_path, [1], index=True)
    files["index_path"][0].write_text(entry)
    reader = ndd.readers.TFRecord(features=INTEGER, **files)
    with pytest.raises(ndd.OpError, match="the file ends before the piece at byte"):
        list(reader.next_epoch())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"features": {}}, ValueError, "'features' must not be empty"),
        ({"features": 5}, TypeError, "'features' must be a dict; got 5"),
        ({"features": {"x": int64}}, TypeError, "the feature 'x' must have a name"),
        (
            {"features": {"x": VarLenFeature(string, "")}},
            ValueError,
            "Tensors of strings are not supported",
        ),
        ({"features": {"x": FixedLenFeature([2], string, "")}}, ValueError, "Tensors of strings"),
        ({"features": {"x": FixedLenFeature([-2], int64, 0)}}, ValueError, "negative extent"),
        ({"features": {"x": FixedLenFeature([2], int64, 1.5)}}, ValueError, "the default of"),
        ({"features": {"x": FixedLenFeature([2], int64, [1] * 3)}}, ValueError, "the default of"),
        ({"features": {"x": FixedLenFeature([], string, 5)}}, ValueError, "the default of"),
        ({"path": []}, ValueError, "'path' must not be empty"),
        ({"path": 5}, TypeError, "'path' must be a path or a list of paths"),
        ({"index_path": ["a", "b"]}, ValueError, "'index_path' needs one file for each"),
        ({"use_o_direct": True}, ValueError, "'use_o_direct' needs dont_use_mmap=True"),
        ({"shuffle_after_epoch": True, "stick_to_shard": True}, ValueError, "exclude each other"),
        ({"path": "memory://x"}, OSError, "memory://x"),
    ],
)
def test_wrong_arguments_are_refused(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    files: dict[str, Any] = numbered(tmp_path, [1])
    with pytest.raises(error, match=rf"readers\.TFRecord: .*{message}"):
        ndd.readers.TFRecord(**({"features": INTEGER} | files | arguments))


def test_empty_file(tmp_path: Path) -> None:
    path = write_tfrecord(tmp_path / "a", [])
    with pytest.raises(ValueError, match="there are no samples"):
        ndd.readers.TFRecord(path=path, features=INTEGER)
