# SPDX-License-Identifier: Apache-2.0
"""NumPy files are decoded as by the reference."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from support.libraries import Single, Type
from support.oracle import assert_agree, assert_both_refuse, reference

pytestmark = pytest.mark.oracle


def as_file(array: Any) -> Any:
    file = io.BytesIO()
    np.save(file, array)
    return np.frombuffer(file.getvalue(), np.uint8)


def assert_same_in_a_new_context(*inputs: Any, **arguments: Any) -> None:
    """With the reference, the first call in a context decides about types and axes of all others.

    Arrays in Fortran order it can only decode where there is a GPU.
    """
    with reference.EvalContext():
        assert_agree("decoders.numpy", *inputs, **arguments)


KINDS = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_files(kind: str) -> None:
    rng = np.random.default_rng(2)
    arrays = [(rng.normal(size=shape) * 100).astype(kind) for shape in ((3, 4, 2), (5, 2, 1))]
    files = [as_file(array) for array in arrays]
    assert_same_in_a_new_context(files)
    for target in ("uint8", "int16", "float32", "float64"):
        assert_same_in_a_new_context(files, dtype=Type(target))
    assert_same_in_a_new_context(Single(as_file(arrays[0][0, 0, 0])))
    assert_same_in_a_new_context(Single(as_file(np.zeros((0, 2), kind))))


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"\x93NUMPY\1\0",
        as_file(np.zeros(3))[:-1].tobytes(),
        as_file(np.zeros(3, "c8")).tobytes(),
        as_file(np.zeros(3)).tobytes() + b"x",
    ],
)
def test_damaged_numpy_files(content: bytes) -> None:
    assert_both_refuse("decoders.numpy", Single(np.frombuffer(content, np.uint8)))
