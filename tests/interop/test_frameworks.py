# SPDX-License-Identifier: Apache-2.0
"""NumPy, PyTorch, JAX and Numba: values, shared memory, lifetimes."""

from __future__ import annotations

import gc
import weakref
from typing import Any, ClassVar

import jax
import ml_dtypes
import numba
import numpy as np
import pytest
import torch

import daliesque as ndd

TORCH_TYPES = [
    (torch.uint8, ndd.uint8),
    (torch.int8, ndd.int8),
    (torch.int16, ndd.int16),
    (torch.int32, ndd.int32),
    (torch.int64, ndd.int64),
    (torch.float16, ndd.float16),
    (torch.bfloat16, ndd.bfloat16),
    (torch.float32, ndd.float32),
    (torch.float64, ndd.float64),
    (torch.bool, ndd.bool),
]


@pytest.mark.parametrize(("theirs", "ours"), TORCH_TYPES)
def test_torch_both_ways(theirs: Any, ours: ndd.DType) -> None:
    source = torch.tensor([[0, 1, 2], [3, 4, 5]]).to(theirs)
    tensor = ndd.as_tensor(source)
    assert tensor.dtype == ours
    assert tensor.shape == (2, 3)
    back = tensor.torch()
    assert back.dtype == theirs
    assert back.data_ptr() == source.data_ptr()
    assert torch.equal(back, source)


def test_torch_wrap_sees_changes_and_copy_does_not() -> None:
    source = torch.zeros(4)
    wrapped, copied = ndd.as_tensor(source), ndd.tensor(source)
    source[0] = 5
    assert wrapped[0].item() == 5
    assert copied[0].item() == 0
    tensor = ndd.tensor([1.0, 2.0])
    shared, apart = tensor.torch(), tensor.torch(copy=True)
    shared[0] = 7
    assert tensor[0].item() == 7
    assert apart[0].item() == 1


def test_torch_strided_and_gradients() -> None:
    source = torch.arange(12.0).reshape(3, 4).t()
    np.testing.assert_array_equal(np.asarray(ndd.as_tensor(source)), source.numpy())
    learned = torch.ones(3, requires_grad=True)
    assert np.asarray(ndd.as_tensor(learned)).tolist() == [1, 1, 1]


def test_batch_torch_is_free_for_equal_shapes() -> None:
    batch = ndd.batch([np.full((2, 2), k, np.float32) for k in range(3)])
    dense = batch.torch()
    assert dense.shape == (3, 2, 2)
    assert dense.data_ptr() == np.asarray(batch.tensors[0]).ctypes.data
    assert batch.torch(copy=False).data_ptr() == dense.data_ptr()
    assert batch.torch(copy=True).data_ptr() != dense.data_ptr()
    assert dense[2, 0, 0] == 2


def test_batch_torch_of_scattered_and_ragged_samples() -> None:
    scattered = ndd.as_batch([np.zeros(3), np.ones(3)])
    assert scattered.torch().tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(ValueError, match="without a copy"):
        scattered.torch(copy=False)
    ragged = ndd.batch([[1], [2, 3]])
    with pytest.raises(ValueError, match=r"\(1,\).*\(2,\).*pad=True"):
        ragged.torch()
    assert ragged.torch(pad=True).tolist() == [[1, 0], [2, 3]]
    with pytest.raises(ValueError, match="without a copy"):
        ragged.torch(copy=False, pad=True)


def test_readonly_memory_is_never_handed_to_torch() -> None:
    array = np.arange(3)
    array.flags.writeable = False
    tensor = ndd.as_tensor(array)
    view = np.asarray(tensor)
    assert np.shares_memory(view, array)
    assert not view.flags.writeable
    handed = tensor.torch()
    handed[0] = 9
    assert array[0] == 0
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__()
    assert not np.from_dlpack(tensor).flags.writeable


def test_numpy_views_and_copies() -> None:
    tensor = ndd.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    view = np.asarray(tensor)
    assert view.ctypes.data == np.asarray(tensor).ctypes.data
    assert np.array(tensor).ctypes.data != view.ctypes.data
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy is needed"):
        np.asarray(tensor, dtype=np.float64, copy=False)
    np.testing.assert_array_equal(np.from_dlpack(tensor), view)
    assert np.from_dlpack(tensor).ctypes.data == view.ctypes.data


def test_numpy_on_the_left() -> None:
    tensor = ndd.tensor([1, 2])
    result = np.array([10, 20], np.int32) + tensor
    assert isinstance(result, ndd.Tensor)
    assert np.asarray(result).tolist() == [11, 22]
    assert np.asarray(np.float32(2) * tensor).tolist() == [2, 4]
    assert np.sqrt(ndd.tensor([4.0])).tolist() == [2.0]


def test_jax_both_ways() -> None:
    source = jax.numpy.arange(6, dtype=jax.numpy.float32).reshape(2, 3)
    tensor = ndd.as_tensor(source)
    np.testing.assert_array_equal(np.asarray(tensor), np.asarray(source))
    assert np.asarray(tensor).ctypes.data == source.unsafe_buffer_pointer()
    aligned = ndd.tensor(np.arange(64, dtype=np.float32))
    theirs = jax.dlpack.from_dlpack(aligned)
    np.testing.assert_array_equal(np.asarray(theirs), np.arange(64))
    assert theirs.unsafe_buffer_pointer() == np.asarray(aligned).ctypes.data
    half = jax.numpy.ones(4, dtype=jax.numpy.bfloat16)
    assert ndd.as_tensor(half).dtype == ndd.bfloat16


def test_numba() -> None:
    @numba.njit  # type: ignore[untyped-decorator]
    def double(array: Any) -> None:
        for i in range(array.shape[0]):
            array[i] *= 2

    tensor = ndd.tensor([1.0, 2.0, 3.0])
    double(np.asarray(tensor))
    assert np.asarray(tensor).tolist() == [2, 4, 6]


def test_view_outlives_tensor_and_tensor_outlives_source() -> None:
    view = np.asarray(ndd.tensor(np.arange(100_000)))
    shared = ndd.tensor(np.arange(100_000)).torch()
    gc.collect()
    other = [ndd.tensor(np.zeros(100_000)) for _ in range(10)]
    assert view[-1] == shared[-1] == 99_999
    del other
    source = np.arange(5)
    watched = weakref.ref(source)
    tensor = ndd.as_tensor(source)
    del source
    gc.collect()
    assert watched() is not None
    assert np.asarray(tensor).tolist() == [0, 1, 2, 3, 4]
    del tensor
    gc.collect()
    assert watched() is None


def test_dlpack_protocol() -> None:
    tensor = ndd.tensor([1, 2])
    assert tensor.__dlpack_device__() == (1, 0)
    assert "dltensor_versioned" in repr(tensor.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(tensor.__dlpack__())
    assert '"dltensor"' in repr(tensor.__dlpack__(max_version=(0, 8)))
    with pytest.raises(ValueError, match="stream"):
        tensor.__dlpack__(stream=3)
    with pytest.raises(BufferError, match="CPU memory"):
        tensor.__dlpack__(dl_device=(2, 0))
    copied = np.from_dlpack(tensor, copy=True)
    assert copied.ctypes.data != np.asarray(tensor).ctypes.data


def test_objects_with_array_protocols() -> None:
    class Protocol:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array([1, 2, 3], np.int16)

    class Interface:
        def __init__(self) -> None:
            self.held = np.array([4, 5], np.uint8)
            self.__array_interface__ = self.held.__array_interface__

    assert ndd.tensor(Protocol()).dtype == ndd.int16
    assert np.asarray(ndd.as_tensor(Interface())).tolist() == [4, 5]
    assert ndd.as_batch([Protocol(), Protocol()]).shape == [(3,), (3,)]


def test_device_arrays_are_refused_clearly() -> None:
    class OnDevice:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

        def __dlpack__(self, **_kwargs: Any) -> Any:
            raise AssertionError

    class CudaArray:
        __cuda_array_interface__: ClassVar[dict[str, Any]] = {}

    for array in (OnDevice(), CudaArray()):
        with pytest.raises(RuntimeError, match="not in CPU memory"):
            ndd.as_tensor(array)


def test_ml_dtypes_bfloat16_batch() -> None:
    arrays = [np.ones(k, ml_dtypes.bfloat16) for k in (1, 2)]
    batch = ndd.batch(arrays)
    assert batch.dtype == ndd.bfloat16
    assert batch.torch(pad=True).dtype == torch.bfloat16


def test_unaligned_records() -> None:
    records = np.zeros(4, dtype=[("a", "u1"), ("b", "<f4")])
    records["b"] = [1, 2, 3, 4]
    tensor = ndd.as_tensor(records["b"])
    assert np.asarray(tensor).tolist() == [1, 2, 3, 4]
    assert tensor.torch().tolist() == [1, 2, 3, 4]
