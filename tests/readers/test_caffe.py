# SPDX-License-Identifier: Apache-2.0
"""readers.Caffe and readers.Caffe2: databases, messages, faults."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import daliesque as ndd
from support.reader_properties import epoch_sources, nothing_left_behind
from support.record_files import datum, field, tensor_proto, tensor_protos, write_lmdb


def read(reader: Any) -> list[tuple[Any, ...]]:
    """All samples, as arrays."""
    return [tuple(np.array(out.evaluate()) for out in sample) for sample in reader.next_epoch()]


def lists(reader: Any) -> list[tuple[Any, ...]]:
    """All samples, as lists."""
    return [tuple(array.tolist() for array in sample) for sample in read(reader)]


def numbered(folder: Path, lengths: list[int]) -> list[Path]:
    """Databases whose records hold 0, 1, 2, ... as the label."""
    paths, number = [], 0
    for index, length in enumerate(lengths):
        values = [datum(b"?" * (number + k), number + k) for k in range(length)]
        paths.append(write_lmdb(folder / f"db{index}", values, number))
        number += length
    return paths


@pytest.mark.parametrize("count", [0, 1, 40, 3000])
def test_databases(tmp_path: Path, count: int) -> None:
    """Against the library that wrote them: values in leaves and on pages of their own."""
    rng = random.Random(count)
    values = [
        rng.randbytes(rng.choice([0, 1, 30, 1000, 5000, 40000])) for _ in range(min(count, 99))
    ]
    values += [b"%d" % k for k in range(count - len(values))]
    folder = tmp_path / "db"
    database = lmdb.open(str(folder), map_size=1 << 28)
    keys = [b"%d" % rng.getrandbits(rng.randint(1, 900)) for _ in values]
    keys = [key[:500] for key in keys]
    with database.begin(write=True) as transaction:
        for key, value in zip(keys, values, strict=True):
            transaction.put(key, datum(value))
    for deleted in keys[1::7]:
        with database.begin(write=True) as transaction:
            transaction.delete(deleted)
    with database.begin() as transaction:
        expected = [(bytes(key), bytes(value)) for key, value in transaction.cursor()]
    database.close()
    if not expected:
        with pytest.raises(ValueError, match="there are no samples"):
            ndd.readers.Caffe(path=folder)
        return
    for path in (folder, folder / "data.mdb", f"{folder}/"):
        reader = ndd.readers.Caffe(path=path, label_available=False)
        found = []
        for (images,) in reader.next_epoch(batch_size=len(expected)):
            found = [datum(bytes(np.asarray(image))) for image in images]
            assert images.source == [f"{path} at key {key.decode()}" for key, _ in expected]
        assert found == [value for _, value in expected]


def test_images_and_labels_of_datums(tmp_path: Path) -> None:
    values = [datum(b"abc", 3, True), datum(b"", -7), datum(None), datum(b"x", 2**31 - 1)]
    path = write_lmdb(tmp_path, values)
    expected = [([97, 98, 99], [3]), ([], [-7]), ([], []), ([120], [2**31 - 1])]
    assert lists(ndd.readers.Caffe(path=path)) == expected
    images, labels = zip(*expected, strict=True)
    only = ndd.readers.Caffe(path=path, label_available=False)
    assert lists(only) == [(image,) for image in images]
    only = ndd.readers.Caffe(path=path, image_available=False)
    assert lists(only) == [(label,) for label in labels]
    (_, label), *_ = read(ndd.readers.Caffe(path=path))
    assert label.dtype == np.int32


def test_uncompressed_images_keep_their_shape(tmp_path: Path) -> None:
    shapes = [(2, 3, 2), (4, 1, 3)]
    pixels = [np.arange(np.prod(shape), dtype=np.uint8).reshape(shape) for shape in shapes]
    values = [datum(p.tobytes(), 1, False, p.shape) for p in pixels]
    path = write_lmdb(tmp_path, values)
    for (found, _), expected in zip(read(ndd.readers.Caffe(path=path)), pixels, strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


TEXT = tensor_proto([b"img"])


@pytest.mark.parametrize(
    ("tensors", "arguments", "expected", "dtype"),
    [
        ([TEXT, tensor_proto([5])], {}, [[105, 109, 103], [5]], np.int32),
        ([TEXT, tensor_proto([-5.5])], {}, [[105, 109, 103], [-5.5]], np.float32),
        ([TEXT, tensor_proto([1])], {"label_type": 4}, [[105, 109, 103]], np.uint8),
        ([tensor_proto([1])], {"image_available": False}, [[1]], np.int32),
        ([TEXT, tensor_proto([0.5, 2.0])], {"label_type": 2}, [..., [0.5, 2.0]], np.float32),
        (
            [TEXT, tensor_proto([0, 2])],
            {"label_type": 1, "num_labels": 4},
            [..., [1, 0, 1, 0]],
            np.int32,
        ),
        (
            [TEXT, tensor_proto([1.0, 3.0])],
            {"label_type": 1, "num_labels": 4},
            [..., [0.0, 1.0, 0.0, 1.0]],
            np.float32,
        ),
        (
            [TEXT, tensor_proto([2, 0]), tensor_proto([0.5, 0.25])],
            {"label_type": 3, "num_labels": 3},
            [..., [0.25, 0.0, 0.5]],
            np.float32,
        ),
        (
            [TEXT, tensor_proto([1]), tensor_proto([8.0, 9.0]), tensor_proto([2**40], long=True)],
            {"additional_inputs": 2},
            [..., [1], [8.0, 9.0], [2**40]],
            np.int64,
        ),
        (
            [TEXT, tensor_proto([1]), tensor_proto([7]), tensor_proto([1, 2, 3, -4])],
            {"additional_inputs": 1, "bbox": True},
            [..., [1], [7], [1, 2, 3, -4]],
            np.int32,
        ),
        (
            [tensor_proto(bytes(range(6)), (1, 3, 2)), tensor_proto([1])],
            {},
            [[[[0, 1], [2, 3], [4, 5]]], [1]],
            np.int32,
        ),
        (
            [tensor_proto(bytes(range(6)), (3, 2)), tensor_proto([1])],
            {},
            [[[[0], [1]], [[2], [3]], [[4], [5]]], [1]],
            np.int32,
        ),
    ],
)
def test_tensor_protos_of_every_type(
    tmp_path: Path, tensors: list[bytes], arguments: dict[str, Any], expected: Any, dtype: Any
) -> None:
    path = write_lmdb(tmp_path, [tensor_protos(*tensors)] * 2)
    samples = read(ndd.readers.Caffe2(path=path, **arguments))
    for sample in samples:
        assert len(sample) == len(expected)
        assert sample[-1].dtype == dtype
        for array, values in zip(sample, expected, strict=True):
            assert values is ... or array.tolist() == values


GOOD = tensor_protos(TEXT, tensor_proto([0]))


@pytest.mark.parametrize(
    ("record", "arguments", "reason"),
    [
        (b"\x0a\x05", {}, "holds no TensorProtos message"),
        (tensor_protos(TEXT), {}, "has 1 tensors, of 2 that are expected"),
        (tensor_protos(TEXT, TEXT), {}, "tensor 1 of the record has an unexpected type"),
        (tensor_protos(TEXT, tensor_proto([1, 2])), {}, "tensor 1 of the record has 2 values"),
        (
            tensor_protos(tensor_proto([1]), tensor_proto([1])),
            {},
            "tensor 0 of the record has an unexpected type",
        ),
        (
            tensor_protos(tensor_proto(bytes(5), (2, 3)), tensor_proto([1])),
            {},
            "tensor 0 of the record has 5 values",
        ),
        (
            tensor_protos(tensor_proto(bytes(6), (2, 3)), tensor_proto([1])),
            {},
            "output 0 differs in type or dimensionality",
        ),
        (tensor_protos(TEXT, tensor_proto([0.5])), {}, "output 1 differs in type"),
        (
            tensor_protos(TEXT, tensor_proto([7])),
            {"label_type": 1, "num_labels": 7},
            "the label 7 is not in the range",
        ),
        (
            tensor_protos(TEXT, tensor_proto([-1])),
            {"label_type": 1, "num_labels": 7},
            "the label -1 is not in the range",
        ),
    ],
)
def test_tensors_that_do_not_fit(
    tmp_path: Path, record: bytes, arguments: dict[str, Any], reason: str
) -> None:
    path = write_lmdb(tmp_path, [GOOD, record, GOOD])
    with nothing_left_behind():
        match = rf"at key 00000001\" \(sample 1 of the batch\): .*{reason}"
        with pytest.raises(ndd.OpError, match=match):
            list(ndd.readers.Caffe2(path=path, **arguments).next_epoch(batch_size=3))
        reader = ndd.readers.Caffe2(path=path, on_error="skip", **arguments)
        names = {name.split()[-1] for name in epoch_sources(reader, 3)}
        assert names == {"00000000", "00000002"}
        del reader


def test_datums_that_do_not_fit(tmp_path: Path) -> None:
    path = write_lmdb(
        tmp_path, [datum(b"good"), datum(bytes(5), 1, False, (2, 3, 1)), b"\x22\x09", datum(b"")]
    )
    with pytest.raises(ndd.OpError, match=r"at key 00000001.*tensor 0 of the record has 5 values"):
        list(ndd.readers.Caffe(path=path).next_epoch(batch_size=4))
    reader = ndd.readers.Caffe(path=path, on_error="skip")
    assert len(set(epoch_sources(reader, 4))) == 2
    assert "holds no Datum message" in str(reader.errors[1].exception)


@given(st.binary(max_size=60))
@settings(deadline=None, max_examples=150)
def test_arbitrary_messages(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    values = [data, field(1, data), field(1, data) + field(1, data)]
    folder = tmp_path_factory.mktemp("db")
    path = write_lmdb(folder, values)
    for reader in (
        ndd.readers.Caffe(path=path, on_error="skip"),
        ndd.readers.Caffe2(path=path, on_error="skip", label_type=2),
    ):
        try:
            read(reader)
        except ndd.OpError:
            pass


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_damaged_databases(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever bytes change in the pages of the tree: samples or an error, and an end."""
    folder = tmp_path_factory.getbasetemp() / "damaged"
    if not folder.exists():
        write_lmdb(folder, [datum(bytes(k * 20), k) for k in range(400)])
        (folder / "good").write_bytes((folder / "data.mdb").read_bytes())
    contents = bytearray((folder / "good").read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        page = data.draw(st.integers(0, len(contents) // 4096 - 1)) * 4096
        offset = page + data.draw(st.integers(0, 200))
        contents[offset] = data.draw(st.integers(0, 255))
    cut = data.draw(st.sampled_from([len(contents), len(contents) // 2, 4096 * 3 + 5, 100]))
    path = folder / "other.mdb"
    path.write_bytes(contents[:cut])
    try:
        reader = ndd.readers.Caffe(path=path, on_error="skip")
        for sample in reader.next_epoch(batch_size=50):
            del sample
    except (ndd.OpError, ValueError):
        pass


def test_what_is_no_database(tmp_path: Path) -> None:
    good = numbered(tmp_path, [2])
    with nothing_left_behind():
        (tmp_path / "other.mdb").write_bytes(b"?" * 20000)
        with pytest.raises(ndd.OpError, match=r"other\.mdb\": it is no database of LMDB"):
            ndd.readers.Caffe(path=tmp_path / "other.mdb")
        with pytest.raises(FileNotFoundError, match=r"nowhere/data\.mdb"):
            ndd.readers.Caffe2(path=tmp_path / "nowhere")
        reader = ndd.readers.Caffe(path=[tmp_path / "other.mdb", *good], on_error="skip")
        assert [label for _, label in lists(reader)] == [[0], [1]]
        assert epoch_sources(reader, None)[0].endswith("db0 at key 00000000")
        del reader
    database = lmdb.open(str(tmp_path / "nested"), max_dbs=2)
    with database.begin(write=True) as transaction:
        inner = database.open_db(b"inside", transaction)
        transaction.put(b"key", b"value", db=inner)
    database.close()
    with pytest.raises(ndd.OpError, match="keys with several values or databases inside"):
        ndd.readers.Caffe(path=tmp_path / "nested")


@pytest.mark.parametrize(
    ("reader", "arguments", "message"),
    [
        ("Caffe", {"image_available": False, "label_available": False}, "nothing to deliver"),
        ("Caffe2", {"image_available": False, "label_type": 4}, "nothing to deliver"),
        ("Caffe2", {"label_type": 5}, r"'label_type' must be in \[0..4\]; got 5"),
        ("Caffe2", {"additional_inputs": -1}, "'additional_inputs' must not be negative"),
        ("Caffe", {"path": []}, "'path' must not be empty"),
    ],
)
def test_wrong_arguments_are_refused(
    tmp_path: Path, reader: str, arguments: dict[str, Any], message: str
) -> None:
    paths: dict[str, Any] = {"path": numbered(tmp_path, [1])}
    with pytest.raises(ValueError, match=rf"readers\.{reader}: .*{message}"):
        getattr(ndd.readers, reader)(**(paths | arguments))
