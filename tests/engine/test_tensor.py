# SPDX-License-Identifier: Apache-2.0
"""Tensor: construction, metadata, indexing, printing."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd


def test_copy_and_wrap() -> None:
    array = np.arange(4, dtype=np.int32)
    copied, wrapped = ndd.tensor(array), ndd.as_tensor(array)
    array[0] = 100
    assert copied[0].item() == 0
    assert wrapped[0].item() == 100
    assert np.shares_memory(np.asarray(wrapped), array)


def test_wrap_of_a_strided_view_sees_changes() -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    wrapped = ndd.as_tensor(array[::2, ::-3])
    np.testing.assert_array_equal(np.asarray(wrapped), array[::2, ::-3])
    array[2, 5] = -1
    np.testing.assert_array_equal(np.asarray(wrapped), array[::2, ::-3])


def test_copy_of_tensor_is_independent() -> None:
    array = np.zeros(3, np.int32)
    first = ndd.as_tensor(array)
    second = ndd.tensor(first)
    third = ndd.as_tensor(first)
    array[:] = 7
    assert np.asarray(second).tolist() == [0, 0, 0]
    assert np.asarray(third).tolist() == [7, 7, 7]


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1, ndd.int32),
        (1.5, ndd.float32),
        (True, ndd.bool),
        ([1, 2], ndd.int32),
        ([[1.0, 2], [3, 4]], ndd.float32),
        (np.float64(2), ndd.float64),
        (np.arange(3), ndd.int64),
        (b"ab", ndd.uint8),
        ([], ndd.float32),
    ],
)
def test_types_of_python_data(data: Any, dtype: ndd.DType) -> None:
    assert ndd.tensor(data).dtype == dtype
    assert ndd.as_tensor(data).dtype == dtype


def test_shape_type_layout_and_source() -> None:
    tensor = ndd.tensor(np.zeros((2, 3, 4), np.float64), layout="HWC")
    assert tensor.shape == (2, 3, 4)
    assert (tensor.ndim, tensor.size, tensor.itemsize, tensor.nbytes) == (3, 24, 8, 192)
    assert tensor.layout == "HWC"
    assert tensor.device == ndd.Device.CPU
    assert tensor.source is None
    assert ndd.tensor(3).shape == ()
    assert ndd.tensor(3).layout is None


def test_dtype_conversion_rounds_and_clamps() -> None:
    data = np.array([-3.0, 1.5, 2.5, 1000.0, np.nan], np.float32)
    assert np.asarray(ndd.tensor(data, dtype=ndd.uint8)).tolist() == [0, 2, 3, 255, 0]
    assert np.asarray(ndd.as_tensor(data, dtype=ndd.int8)).tolist() == [-3, 2, 3, 127, 0]


def test_layout_is_checked() -> None:
    with pytest.raises(ValueError, match=r"tensor: 'layout'.*dimensions; got 'HWC' for 2"):
        ndd.tensor(np.zeros((2, 2)), layout="HWC")
    relabeled = ndd.as_tensor(ndd.tensor([[1]], layout="HW"), layout="AB")
    assert relabeled.layout == "AB"


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (np.array([object()]), TypeError),
        (np.array(["a"]), TypeError),
        ("text", TypeError),
        (["a", "b"], TypeError),
        ([[1, 2], [3]], ValueError),
        (np.array(["2020-01-01"], "datetime64[D]"), TypeError),
        (np.zeros(2, np.complex64), TypeError),
        ([2**40], OverflowError),
    ],
)
def test_unusable_data_is_refused(data: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="tensor:"):
        ndd.tensor(data)


def test_constructor_needs_data() -> None:
    with pytest.raises(ValueError, match="Give 'data'"):
        ndd.Tensor()


def test_nan_is_no_integer() -> None:
    with pytest.raises(ValueError, match="tensor: cannot make an array"):
        ndd.tensor([float("nan")], dtype=ndd.int32)


def test_huge_shapes_are_refused_before_allocation() -> None:
    small = np.zeros(1, np.uint8)
    huge = np.broadcast_to(small, (1 << 50,))
    with pytest.raises(MemoryError, match="cannot allocate"):
        ndd.tensor(huge)


def test_constructor_forms() -> None:
    batch = ndd.batch([[1, 2], [3]])
    assert np.asarray(ndd.Tensor(batch=batch, index_in_batch=1)).tolist() == [3]
    assert ndd.Tensor([1, 2], dtype=ndd.uint8, layout="X").layout == "X"
    with pytest.raises(ValueError, match="index_in_batch"):
        ndd.Tensor(batch=batch)


def test_item_needs_one_element() -> None:
    assert ndd.tensor(3).item() == 3
    assert ndd.tensor([[2.5]]).item() == 2.5
    with pytest.raises(ValueError, match="one element; it has 2"):
        ndd.tensor([1, 2]).item()


def test_python_protocols() -> None:
    assert int(ndd.tensor(5)) == 5
    assert float(ndd.tensor(0.5)) == 0.5
    assert bool(ndd.tensor([0])) is False
    assert list(range(10))[ndd.tensor(3)] == 3
    assert len(ndd.tensor([1, 2, 3])) == 3
    assert [t.item() for t in ndd.tensor([1, 2, 3])] == [1, 2, 3]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(ndd.tensor([1, 2]))
    with pytest.raises(TypeError):
        len(ndd.tensor(1))
    with pytest.raises(TypeError):
        hash(ndd.tensor(1))


def test_pickle() -> None:
    tensor = ndd.tensor(np.arange(6, dtype=np.uint16).reshape(2, 3), layout="HW")
    again = pickle.loads(pickle.dumps(tensor))
    assert again.dtype == tensor.dtype
    assert again.layout == "HW"
    np.testing.assert_array_equal(np.asarray(again), np.asarray(tensor))


def test_moving_to_the_cpu_and_copying() -> None:
    tensor = ndd.tensor([1, 2])
    assert tensor.cpu() is tensor
    copied = tensor.to_device("cpu", force_copy=True)
    assert copied is not tensor
    assert not np.shares_memory(np.asarray(copied), np.asarray(tensor))
    with pytest.raises(RuntimeError, match="no accelerator"):
        tensor.gpu()
    with pytest.raises(RuntimeError, match="no accelerator"):
        ndd.tensor([1], device="gpu")
    with pytest.raises(AttributeError, match=r"\.gpu\(\)"):
        _ = tensor.__cuda_array_interface__


def test_slices_are_views() -> None:
    tensor = ndd.tensor(np.arange(12, dtype=np.int32).reshape(3, 4))
    part = tensor[1:, ::2]
    assert np.shares_memory(np.asarray(part), np.asarray(tensor))
    np.testing.assert_array_equal(np.asarray(part), [[4, 6], [8, 10]])


def test_slicing_keeps_letters_of_kept_axes() -> None:
    tensor = ndd.tensor(np.zeros((2, 3, 4)), layout="HWC")
    assert tensor[0].layout == "WC"
    assert tensor[:, 0].layout == "HC"
    assert tensor[..., 0].layout == "HW"
    assert tensor[0, 0, 0].layout is None


def test_tensor_indices() -> None:
    tensor = ndd.tensor(np.arange(10))
    two = ndd.tensor(2)
    assert tensor[two].item() == 2
    assert np.asarray(tensor[two : two * 3]).tolist() == [2, 3, 4, 5]
    with ndd.EvalMode.deferred:
        lazy = (tensor + 1)[two]
    assert lazy.item() == 3


@pytest.mark.parametrize(
    ("key", "error", "match"),
    [
        (3, IndexError, r"Index 3 is out of range for axis 0 of length 3 \(sample 0\)"),
        (-4, IndexError, "Index -4"),
        ((0, 0, 0), IndexError, "too many indices: 3 for 2 axes"),
        ((..., ...), IndexError, "only one ellipsis"),
        (None, TypeError, "expand_dims"),
        ("x", TypeError, "must be an integer"),
        (1.5, TypeError, "must be an integer"),
        (True, TypeError, "must be an integer"),
        (slice(None, None, 0), ValueError, "zero"),
    ],
)
def test_bad_indices(key: Any, error: type[Exception], match: str) -> None:
    tensor = ndd.tensor(np.zeros((3, 4)))
    with pytest.raises(error, match=match):
        tensor[key]


@given(data=st.data())
def test_indexing_equals_numpy(data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5))
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    key = data.draw(hnp.basic_indices(shape, allow_newaxis=False, allow_ellipsis=True))
    result = ndd.as_tensor(array)[key]
    expected = array[key]
    assert result.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(result), expected)
    # A slice of a slice is one too.
    if expected.ndim:
        again = data.draw(hnp.basic_indices(expected.shape, allow_newaxis=False))
        np.testing.assert_array_equal(np.asarray(result[again]), expected[again])


@given(
    array=hnp.arrays(
        dtype=st.sampled_from(["u1", "i2", "i4", "i8", "u8", "f2", "f4", "f8", "?", ">i4", ">f8"]),
        shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    )
)
def test_any_array_comes_back(array: np.ndarray[Any, Any]) -> None:
    for make in (ndd.tensor, ndd.as_tensor):
        result = make(array)
        assert result.shape == array.shape
        np.testing.assert_array_equal(np.asarray(result), array)


def test_repr() -> None:
    text = repr(ndd.tensor([[1, 2], [3, 4]], layout="HW"))
    assert text == (
        "Tensor(\n"
        "    [[1 2]\n"
        "     [3 4]],\n"
        "    dtype=i32,\n"
        '    device="cpu",\n'
        '    layout="HW",\n'
        "    shape=(2, 2))"
    )
    long = repr(ndd.tensor(np.zeros(100_000)))
    assert "..." in long
    assert len(long) < 300


def test_repr_of_a_failure() -> None:
    failed = ndd.tensor([1, 2]) + ndd.tensor([1, 2, 3])
    assert "failed" in repr(failed)
    assert "ValueError" in repr(failed)
