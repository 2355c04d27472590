# SPDX-License-Identifier: Apache-2.0
"""Batches as Arrow columns and back: types, values, shared memory."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import daliesque as ndd
from daliesque import _kernels

NUMBERS = [
    (np.uint8, pa.uint8()),
    (np.uint16, pa.uint16()),
    (np.uint32, pa.uint32()),
    (np.uint64, pa.uint64()),
    (np.int8, pa.int8()),
    (np.int16, pa.int16()),
    (np.int32, pa.int32()),
    (np.int64, pa.int64()),
    (np.float16, pa.float16()),
    (np.float32, pa.float32()),
    (np.float64, pa.float64()),
]


def address(batch: ndd.Batch, sample: int = 0) -> int:
    """Where a sample lies in memory."""
    return batch._data().pointer(sample)


class Column:
    """An object that has nothing but the Arrow protocol, for an array or a stream."""

    def __init__(self, source: Any, stream: bool = False) -> None:
        name = "__arrow_c_stream__" if stream else "__arrow_c_array__"
        setattr(type(self), name, lambda _self: getattr(source, name)())

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Any:
        return object.__new__(type("Column", (cls,), {}))


def requested(batch: ndd.Batch, kind: pa.DataType) -> pa.Array:
    """A batch as an array of the type that is asked for, if that is possible."""
    return pa.Array._import_from_c_capsule(*batch.__arrow_c_array__(kind.__arrow_c_schema__()))


@pytest.mark.parametrize(("dtype", "theirs"), NUMBERS, ids=str)
def test_dense_batches_are_tensors_of_fixed_shape(dtype: Any, theirs: pa.DataType) -> None:
    values = np.arange(4 * 2 * 3 * 3).reshape(4, 2, 3, 3).astype(dtype)
    batch = ndd.batch(values, layout="HWC")
    array = pa.array(batch)
    array.validate(full=True)
    assert array.type == pa.fixed_shape_tensor(theirs, [2, 3, 3], dim_names=["H", "W", "C"])
    assert array.null_count == 0
    np.testing.assert_array_equal(array.to_numpy_ndarray(), values)
    assert array.storage.flatten().buffers()[1].address == address(batch)
    back = ndd.as_batch(array)
    assert (back.layout, back.dtype, back.shape) == ("HWC", batch.dtype, [(2, 3, 3)] * 4)
    assert address(back) == address(batch)
    np.testing.assert_array_equal(back.numpy(), values)


@pytest.mark.parametrize(("dtype", "theirs"), NUMBERS, ids=str)
def test_ragged_batches_are_tensors_of_variable_shape(dtype: Any, theirs: pa.DataType) -> None:
    values = [np.arange(6).reshape(2, 3).astype(dtype), np.arange(20).reshape(5, 4).astype(dtype)]
    batch = ndd.batch(values, layout="HW")
    array = pa.array(batch)
    array.validate(full=True)
    storage = array.storage
    assert storage.type == pa.struct({"data": pa.list_(theirs), "shape": pa.list_(pa.int32(), 2)})
    assert "arrow.variable_shape_tensor" in str(array.type)
    assert storage.field("shape").to_pylist() == [[2, 3], [5, 4]]
    assert storage.field("data").to_pylist() == [value.ravel().tolist() for value in values]
    assert storage.field("data").flatten().buffers()[1].address == address(batch)
    back = ndd.as_batch(array)
    assert (back.layout, back.dtype, back.shape) == ("HW", batch.dtype, [(2, 3), (5, 4)])
    assert [address(back, k) for k in (0, 1)] == [address(batch, k) for k in (0, 1)]
    for sample, value in zip(back, values, strict=True):
        np.testing.assert_array_equal(np.asarray(sample), value)


@pytest.mark.parametrize("lengths", [[3, 300, 0, 20], [7, 7]], ids=["different", "equal"])
def test_encoded_batches_are_binary(lengths: list[int]) -> None:
    contents = [bytes(range(length % 251)) * (length // 251 + 1) for length in lengths]
    batch = ndd.batch([np.frombuffer(content, np.uint8) for content in contents])
    array = pa.array(batch)
    array.validate(full=True)
    assert array.type == pa.binary()
    assert array.to_pylist() == contents
    assert array.buffers()[2].address == address(batch)
    back = ndd.as_batch(array)
    assert [bytes(sample.numpy()) for sample in back] == contents
    assert address(back) == address(batch)


@pytest.mark.parametrize(("dtype", "theirs"), NUMBERS, ids=str)
def test_numbers_are_plain_values(dtype: Any, theirs: pa.DataType) -> None:
    batch = ndd.batch(np.array([3, 1, 2], dtype))
    array = pa.array(batch)
    assert array.type == theirs
    assert array.to_pylist() == [3, 1, 2]
    assert array.buffers()[1].address == address(batch)
    assert ndd.as_batch(array).tolist() == [3, 1, 2]
    assert address(ndd.as_batch(array)) == address(batch)


def test_booleans_are_packed_into_bits() -> None:
    rng = np.random.default_rng(1)
    for shape in [(21,), (5, 3), (4, 2, 9)]:
        values = rng.random(shape) < 0.5
        batch = ndd.batch(values)
        array = pa.array(batch)
        array.validate(full=True)
        found = array.to_pylist() if len(shape) == 1 else array.storage.to_pylist()
        assert found == values.reshape(shape[0], *([-1] * (len(shape) > 1))).tolist()
        back = ndd.as_batch(array)
        assert back.dtype == ndd.bool
        np.testing.assert_array_equal(back.numpy(), values)
        np.testing.assert_array_equal(ndd.as_batch(array[3:]).numpy(), values[3:])
    ragged = ndd.batch([np.array([True]), np.array([False, True, True])])
    assert pa.array(ragged).storage.field("data").to_pylist() == [[True], [False, True, True]]
    assert ndd.as_batch(pa.array(ragged)).tolist() == [[True], [False, True, True]]


def test_booleans_of_eight_bits_are_shared() -> None:
    array = pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, 1], pa.int8()))
    batch = ndd.as_batch(array)
    assert batch.dtype == ndd.bool
    assert batch.tolist() == [True, False, True]
    assert address(batch) == array.storage.buffers()[1].address


def test_bfloat16_is_marked() -> None:
    values = np.array([[1, 2, 3], [4, 5, 6]], ml_dtypes.bfloat16)
    for batch in (ndd.batch(values), ndd.batch(values[0]), ndd.batch([values[0], values[1, :2]])):
        _, array = batch.__arrow_c_array__()
        field = _kernels.read_arrow_schema(batch.__arrow_c_schema__())
        assert b"daliesque.dtype" in repr(field).encode()
        del array
        back = ndd.as_batch(Column(batch))
        assert back.dtype == ndd.bfloat16
        assert address(back) == address(batch)
        assert back.tolist() == batch.tolist()
    # Lists keep what is said about their elements; pyarrow's tensors do not, and are numbers.
    ragged = ndd.batch([values[0], values[1, :2]])
    assert ndd.as_batch(requested(ragged, pa.list_(pa.uint16()))).dtype == ndd.bfloat16
    assert pa.array(ndd.batch(values)).type.value_type == pa.uint16()
    bits = ndd.as_batch(pa.array(ndd.batch(values)))
    assert ndd.reinterpret(bits, dtype=ndd.bfloat16).tolist() == [[1, 2, 3], [4, 5, 6]]


def test_enumerations_are_their_numbers() -> None:
    batch = ndd.batch([ndd.types.INTERP_CUBIC, ndd.types.INTERP_NN])
    expected = [ndd.types.INTERP_CUBIC.value, ndd.types.INTERP_NN.value]
    assert pa.array(batch).to_pylist() == expected


def test_scattered_samples_are_copied_together() -> None:
    batch = ndd.as_batch([np.zeros(3, np.float32), np.ones(3, np.float32)])
    array = pa.array(batch)
    assert array.storage.to_pylist() == [[0, 0, 0], [1, 1, 1]]
    strided = ndd.as_batch(np.arange(24, dtype=np.int32).reshape(4, 6)[:, ::2])
    assert pa.array(strided).storage.to_pylist()[1] == [6, 8, 10]


def test_results_that_are_pending() -> None:
    batch = ndd.batch(np.zeros((4, 8, 8, 3), np.uint8), layout="HWC")
    with ndd.EvalMode.deferred:
        pending = ndd.resize(batch, size=[2, 2]) + 7
    assert pa.array(pending).to_numpy_ndarray().tolist() == np.full((4, 2, 2, 3), 7).tolist()


def test_empty_batches() -> None:
    for batch, kind in [
        (ndd.batch([], dtype=ndd.float32, layout="HWC"), "variable_shape_tensor"),
        (ndd.batch([], dtype=ndd.int64), "int64"),
    ]:
        array = pa.array(batch)
        assert len(array) == 0
        assert kind in str(array.type)
        back = ndd.as_batch(array)
        assert (back.batch_size, back.dtype, back.ndim) == (0, batch.dtype, batch.ndim)
    nothing = ndd.batch(np.zeros((3, 0, 2), np.float32))
    back = ndd.as_batch(pa.array(nothing))
    assert back.shape == [(0, 2)] * 3
    ragged = ndd.batch([np.zeros((0, 2), np.float32), np.ones((1, 2), np.float32)])
    assert ndd.as_batch(pa.array(ragged)).shape == [(0, 2), (1, 2)]


def test_streams_without_parts_have_a_type() -> None:
    tensor = pa.fixed_shape_tensor(pa.float32(), [2, 3])
    for kind, ndim, dtype in [
        (pa.int64(), 0, ndd.int64),
        (pa.list_(pa.float32()), 1, ndd.float32),
        (pa.binary(), 1, ndd.uint8),
        (tensor, 2, ndd.float32),
        (pa.dictionary(pa.int8(), pa.string()), 1, ndd.uint8),
        (pa.array(ndd.batch([[1], [2, 3]])).storage.type, 1, ndd.int32),
    ]:
        batch = ndd.as_batch(pa.chunked_array([], kind))
        assert (batch.batch_size, batch.ndim, batch.dtype) == (0, ndim, dtype)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (pa.list_(pa.int32()), (3,)),
        (pa.large_list(pa.int32()), (3,)),
        (pa.list_view(pa.int32()), (3,)),
        (pa.large_list_view(pa.int32()), (3,)),
        (pa.list_(pa.int32(), 3), (3,)),
        (pa.list_(pa.list_(pa.int32())), (2, 3)),
        (pa.large_list(pa.list_(pa.int32(), 3)), (2, 3)),
        (pa.list_(pa.large_list(pa.int32()), 2), (2, 3)),
        (pa.list_(pa.list_(pa.list_(pa.int32(), 1))), (2, 3, 1)),
    ],
    ids=str,
)
def test_lists_are_axes(kind: pa.DataType, shape: tuple[int, ...]) -> None:
    values = np.arange(7 * np.prod(shape)).reshape(7, *shape)
    array = pa.array(values.tolist(), kind)
    assert ndd.as_batch(array[:0]).shape == []
    for part in (array, array[2:], array[3:6]):
        expected = np.asarray(part.to_pylist(), np.int32).reshape(-1, *shape)
        batch = ndd.as_batch(part)
        assert batch.dtype == ndd.int32
        assert batch.ndim == len(shape)
        np.testing.assert_array_equal(batch.numpy(), expected)
    assert address(ndd.as_batch(array)) == _leaf(array).buffers()[1].address


def _leaf(array: pa.Array) -> pa.Array:
    while hasattr(array, "values"):
        array = array.values
    return array


def test_lists_of_different_lengths() -> None:
    rows = [[1.0], [], [2.0, 3.0, 4.0], [5.0, 6.0]]
    array = pa.array(rows, pa.list_(pa.float32()))
    assert ndd.as_batch(array).tolist() == rows
    assert ndd.as_batch(array[2:]).tolist() == rows[2:]
    boxes = pa.array([[[1, 2, 3, 4]], [], [[5, 6, 7, 8], [9, 10, 11, 12]]])
    batch = ndd.as_batch(boxes)
    assert batch.shape == [(1, 4), (0, 0), (2, 4)]
    fixed = boxes.cast(pa.list_(pa.list_(pa.int64(), 4)))
    assert ndd.as_batch(fixed).shape == [(1, 4), (0, 4), (2, 4)]


@pytest.mark.parametrize(
    "kind",
    [
        pa.binary(),
        pa.large_binary(),
        pa.binary_view(),
        pa.string(),
        pa.large_string(),
        pa.string_view(),
    ],
    ids=str,
)
def test_bytes_and_text(kind: pa.DataType) -> None:
    contents = ["a short one", "a long one, which does not fit into a view", "", "x" * 500]
    array = pa.array([content.encode() for content in contents], pa.binary()).cast(kind)
    for part, expected in [(array, contents), (array[1:3], contents[1:3])]:
        batch = ndd.as_batch(part)
        assert batch.dtype == ndd.uint8
        assert [bytes(sample.numpy()).decode() for sample in batch] == expected
    data = array.buffers()[2]
    inside = range(data.address, data.address + data.size)
    assert address(ndd.as_batch(array), 3) in inside


def test_bytes_of_one_length() -> None:
    array = pa.array([b"abcd", b"efgh", b"ijkl"], pa.binary(4))
    batch = ndd.as_batch(array[1:])
    assert batch.numpy().tolist() == [list(b"efgh"), list(b"ijkl")]
    assert address(batch) == array.buffers()[1].address + 4


def test_times_are_numbers() -> None:
    moments = np.array(["2026-01-02", "1969-12-31"], "datetime64[D]")
    for unit in ("s", "ms", "us", "ns"):
        expected = moments.astype(f"datetime64[{unit}]").astype(np.int64).tolist()
        batch = ndd.as_batch(pa.array(moments).cast(pa.timestamp(unit)))
        assert (batch.dtype, batch.tolist()) == (ndd.int64, expected)
    assert ndd.as_batch(pa.array(moments)).tolist() == moments.astype(np.int64).tolist()
    assert ndd.as_batch(pa.array([5, 6], pa.time32("s"))).dtype == ndd.int32
    assert ndd.as_batch(pa.array([5, 6], pa.duration("us"))).tolist() == [5, 6]


def test_dictionaries_are_looked_up() -> None:
    array = pa.array(["cat", "dog", "cat", "mouse"]).dictionary_encode()
    words = [bytes(sample.numpy()) for sample in ndd.as_batch(array)]
    assert words == [b"cat", b"dog", b"cat", b"mouse"]
    assert ndd.as_batch(pa.array([1.5, 2.5, 1.5]).dictionary_encode()).tolist() == [1.5, 2.5, 1.5]
    with pytest.raises(ValueError, match="row 1 of the Arrow array has a missing value"):
        ndd.as_batch(pa.array(["a", None]).dictionary_encode())


def test_columns_in_parts_are_joined_without_copies() -> None:
    parts = [np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((1, 3), np.float32)]
    arrays = [pa.FixedShapeTensorArray.from_numpy_ndarray(part) for part in parts]
    batch = ndd.as_batch(pa.chunked_array(arrays))
    np.testing.assert_array_equal(batch.numpy(), np.concatenate(parts))
    assert address(batch, 0) == arrays[0].storage.flatten().buffers()[1].address
    assert address(batch, 2) == arrays[1].storage.flatten().buffers()[1].address
    table = pa.table({"image": pa.chunked_array(arrays), "label": [1, 2, 3]})
    assert ndd.as_batch(table["label"]).tolist() == [1, 2, 3]


def test_permuted_tensors_have_the_order_of_their_axes() -> None:
    values = np.arange(2 * 3 * 4 * 5, dtype=np.int16).reshape(2, 3, 4, 5)
    kind = pa.fixed_shape_tensor(pa.int16(), [3, 4, 5], ["C", "H", "W"], [1, 2, 0])
    storage = pa.FixedShapeTensorArray.from_numpy_ndarray(values).storage
    batch = ndd.as_batch(pa.ExtensionArray.from_storage(kind, storage))
    assert batch.layout == "HWC"
    np.testing.assert_array_equal(batch.numpy(), values.transpose(0, 2, 3, 1))


def test_names_of_axes_that_are_no_layout() -> None:
    storage = pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((1, 2, 3), np.int8)).storage
    for names in (["height", "width"], ["H", "H"], ["1", "2"]):
        kind = pa.fixed_shape_tensor(pa.int8(), [2, 3], names)
        assert not ndd.as_batch(pa.ExtensionArray.from_storage(kind, storage)).layout
    assert ndd.as_batch(pa.array(ndd.batch(np.zeros((1, 2, 3)))), layout="HW").layout == "HW"


def test_contents_of_files_in_structs() -> None:
    rows = [{"bytes": b"one", "path": "1.jpg"}, {"bytes": b"three", "path": None}]
    assert [bytes(sample.numpy()) for sample in ndd.as_batch(pa.array(rows))] == [b"one", b"three"]
    rows[1]["bytes"] = None
    with pytest.raises(ValueError, match=r"row 1 .* missing value"):
        ndd.as_batch(pa.array(rows))


def test_structs_are_cut_with_their_fields() -> None:
    batch = ndd.batch([[1], [2, 3], [4, 5, 6], [7]])
    storage = pa.array(batch).storage
    assert ndd.as_batch(storage[1:3]).tolist() == [[2, 3], [4, 5, 6]]
    assert ndd.as_batch(pa.array(batch)[2:]).tolist() == [[4, 5, 6], [7]]


def test_a_copy_and_another_type() -> None:
    array = pa.array([1, 2, 3])
    assert address(ndd.batch(array)) != address(ndd.as_batch(array))
    assert ndd.as_batch(array, dtype=ndd.float32).tolist() == [1.0, 2.0, 3.0]
    images = pa.array(ndd.batch(np.zeros((2, 4, 4), np.uint8)))
    assert ndd.as_batch(images, layout="HW").layout == "HW"


def test_arrow_data_are_never_written() -> None:
    array = pa.array([1.0, 2.0], pa.float32())
    batch = ndd.as_batch(array)
    assert not np.asarray(batch).flags.writeable
    batch.torch()[0] = 99
    assert array.to_pylist() == [1.0, 2.0]
    assert (batch + 1).tolist() == [2.0, 3.0]


def test_unaligned_values_are_copied() -> None:
    raw = pa.py_buffer(b"\0" + np.array([1.5, -2.5], np.float64).tobytes())
    array = pa.Array.from_buffers(pa.float64(), 2, [None, raw.slice(1)])
    batch = ndd.as_batch(array)
    assert address(batch) % 8 == 0
    assert batch.tolist() == [1.5, -2.5]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([b"abc", b"de"], pa.large_binary()),
        ([b"abc", b"de"], pa.list_(pa.uint8())),
        ([b"abc", b"def"], pa.list_(pa.uint8(), 3)),
        ([b"abc", b"def"], pa.fixed_shape_tensor(pa.uint8(), [3])),
        ([[1, 2], [3]], pa.list_(pa.int32())),
        ([[1, 2], [3]], pa.large_list(pa.int32())),
        ([[1, 2], [3, 4]], pa.large_list(pa.int32())),
        ([[1, 2], [3, 4]], pa.list_(pa.int32(), 2)),
        (
            [[[1, 2]], [[3, 4]]],
            pa.struct({"data": pa.large_list(pa.int32()), "shape": pa.list_(pa.int32(), 2)}),
        ),
    ],
    ids=str,
)
def test_a_type_that_is_asked_for(values: list[Any], kind: pa.DataType) -> None:
    samples = [np.frombuffer(v, np.uint8) if isinstance(v, bytes) else v for v in values]
    batch = ndd.batch(samples)
    array = requested(batch, kind)
    array.validate(full=True)
    assert array.type == kind
    assert ndd.as_batch(array).tolist() == batch.tolist()
    assert address(ndd.as_batch(array)) == address(batch)


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.int32(), 5), pa.string(), pa.list_(pa.list_(pa.int32())), pa.int8()]
)
def test_a_type_that_cannot_be_had(kind: pa.DataType) -> None:
    batch = ndd.batch([[1, 2], [3]])
    assert "variable_shape_tensor" in str(requested(batch, kind).type)


def test_tensors_of_ray() -> None:
    values = np.arange(12, dtype=np.float32).reshape(2, 2, 3)

    class RayTensor(pa.ExtensionType):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(pa.large_list(pa.float32()), "ray.data.arrow_tensor_v2")

        def __arrow_ext_serialize__(self) -> bytes:
            return b"[2, 3]"

        @classmethod
        def __arrow_ext_deserialize__(cls, _storage: Any, _text: bytes) -> Any:
            return cls()

    lists = pa.array(values.reshape(2, 6).tolist(), pa.large_list(pa.float32()))
    batch = ndd.as_batch(pa.ExtensionArray.from_storage(RayTensor(), lists))
    np.testing.assert_array_equal(batch.numpy(), values)
    assert address(batch) == lists.flatten().buffers()[1].address
    ragged = pa.array(
        [{"data": [1, 2, 3, 4], "shape": [2, 2]}, {"data": [5], "shape": [1, 1]}],
        pa.struct({"data": pa.large_list(pa.int64()), "shape": pa.list_(pa.int64())}),
    )
    assert ndd.as_batch(ragged).tolist() == [[[1, 2], [3, 4]], [[5]]]


shapes = st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=1, max_size=6)


@given(shapes, st.sampled_from([np.uint8, np.int16, np.float32, np.float64, np.bool_]), st.data())
def test_every_batch_survives(extents: list[list[int]], dtype: Any, data: st.DataObject) -> None:
    rng = np.random.default_rng(0)
    samples = [(rng.random(shape) * 9).astype(dtype) for shape in extents]
    batch = ndd.batch(samples, layout=data.draw(st.sampled_from([None, "HW"])))
    array = pa.array(batch)
    array.validate(full=True)
    begin = data.draw(st.integers(0, len(samples)))
    part = ndd.as_batch(array[begin:])
    assert (part.dtype, part.layout or None) == (batch.dtype, batch.layout or None)
    assert part.shape == [sample.shape for sample in samples[begin:]]
    for ours, theirs in zip(part, samples[begin:], strict=True):
        np.testing.assert_array_equal(np.asarray(ours), theirs)
