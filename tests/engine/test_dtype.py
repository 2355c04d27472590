# SPDX-License-Identifier: Apache-2.0
"""Element types."""

from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest

import daliesque as ndd
from daliesque import types

NUMBERS = [
    (ndd.uint8, np.uint8, 0),
    (ndd.uint16, np.uint16, 1),
    (ndd.uint32, np.uint32, 2),
    (ndd.uint64, np.uint64, 3),
    (ndd.int8, np.int8, 4),
    (ndd.int16, np.int16, 5),
    (ndd.int32, np.int32, 6),
    (ndd.int64, np.int64, 7),
    (ndd.float16, np.float16, 8),
    (ndd.float32, np.float32, 9),
    (ndd.float64, np.float64, 10),
    (ndd.bool, np.bool_, 11),
]


@pytest.mark.parametrize(("dtype", "numpy", "number"), NUMBERS)
def test_numbers_and_numpy(dtype: ndd.DType, numpy: type, number: int) -> None:
    assert dtype.type_id == number
    assert dtype.bytes == np.dtype(numpy).itemsize
    assert dtype.bits == 8 * dtype.bytes
    assert dtype.numpy == np.dtype(numpy)
    assert ndd.dtype(numpy) is dtype
    assert ndd.dtype(np.dtype(numpy)) is dtype
    assert ndd.dtype(dtype.name) is dtype
    assert ndd.dtype(np.dtype(numpy).name) is dtype
    assert ndd.dtype(types.DALIDataType(number)) is dtype
    assert ndd.DType.from_type_id(types.DALIDataType(number)) is dtype
    assert ndd.type_id(dtype) == number
    assert np.asarray(ndd.tensor([0, 1], dtype=dtype)).dtype == numpy
    assert pickle.loads(pickle.dumps(dtype)) == dtype


def test_float_formats() -> None:
    formats = [
        (d.exponent_bits, d.significand_bits)
        for d in (ndd.float16, ndd.bfloat16, ndd.float32, ndd.float64)
    ]
    assert formats == [(5, 10), (8, 7), (8, 23), (11, 52)]
    assert ndd.int32.exponent_bits is None


def test_bfloat16() -> None:
    assert ndd.bfloat16.type_id is None
    assert ndd.dtype(ml_dtypes.bfloat16) is ndd.bfloat16
    values = np.array([1.0, -2.5, 3.14159], np.float32).astype(ml_dtypes.bfloat16)
    tensor = ndd.as_tensor(values)
    assert tensor.dtype is ndd.bfloat16
    np.testing.assert_array_equal(np.asarray(tensor), values)
    exact = ndd.cast(tensor, dtype=ndd.float32)
    np.testing.assert_array_equal(np.asarray(exact), values.astype(np.float32))
    back = ndd.cast(exact, dtype=ndd.bfloat16)
    np.testing.assert_array_equal(np.asarray(back), values)


def test_framework_types() -> None:
    import jax.numpy as jnp
    import torch

    assert ndd.DType.from_fw_type(torch.float32) is ndd.float32
    assert ndd.DType.from_fw_type(torch.bfloat16) is ndd.bfloat16
    assert ndd.DType.from_fw_type(torch.bool) is ndd.bool
    assert ndd.DType.from_fw_type(jnp.float32) is ndd.float32
    assert ndd.DType.from_fw_type(jnp.bfloat16) is ndd.bfloat16
    assert ndd.DType.from_fw_type(np.dtype(">i4")) is ndd.int32


def test_enum_types() -> None:
    filters = ndd.tensor([types.INTERP_LINEAR, types.INTERP_CUBIC])
    assert filters.dtype is ndd.InterpType
    assert ndd.tensor(types.RGB).dtype is ndd.ImageType
    assert ndd.tensor(types.FLOAT).dtype is ndd.DataType
    np.testing.assert_array_equal(np.asarray(filters), [1, 2])
    assert "INTERP_CUBIC" in repr(filters)
    assert ndd.InterpType != ndd.ImageType
    assert ndd.tensor([0, 2], dtype=ndd.ImageType).dtype is ndd.ImageType


def test_equality_and_text() -> None:
    assert ndd.float32 == ndd.DType(ndd.DType.Kind.float, 32)
    assert ndd.float16 != ndd.bfloat16
    assert ndd.int32 != "i32"
    assert str(ndd.uint8) == "u8"
    assert repr(ndd.int32) == "DType(kind=Kind.signed, bits=32)"
    assert len({ndd.int8, ndd.int8, ndd.uint8}) == 2


def test_types_make_tensors() -> None:
    assert ndd.float16([1, 2]).dtype is ndd.float16
    with pytest.raises(ValueError, match="dtype"):
        ndd.float16([1, 2], dtype=ndd.int8)


@pytest.mark.parametrize("wrong", [int, float, "no such type", object(), np.dtype("U3")])
def test_unknown_types(wrong: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"dtype|DType|type"):
        ndd.dtype(wrong)


def test_python_types_get_advice() -> None:
    with pytest.raises(
        TypeError, match=r"cast: 'dtype' must be a daliesque type.*daliesque\.int32"
    ):
        ndd.cast(ndd.tensor([1]), dtype=int)


def test_from_type_id_of_nothing() -> None:
    with pytest.raises(KeyError, match="no element type"):
        ndd.DType.from_type_id(types.STRING)
