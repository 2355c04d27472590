# SPDX-License-Identifier: Apache-2.0
"""Operators and math functions against the reference library itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.arithmetic_calls import call, operands_for
from support.compare import FUNCTION_TOLERANCE, assert_same, assert_within
from support.oracle import reference
from support.reference.arithmetic import (
    BFLOAT16,
    BINARY,
    COMPARISONS,
    INEXACT,
    TYPES,
    UNARY,
    is_float,
    result_type,
)

pytestmark = pytest.mark.oracle

# The reference takes 16-bit floating-point types in casts only, and bfloat16 nowhere.
CAST_TYPES = [t for t in TYPES if t != BFLOAT16]
ARITHMETIC_TYPES = [t for t in CAST_TYPES if t != np.float16]


def check(name: str, types: tuple[np.dtype[Any], ...]) -> None:
    operands = operands_for(name, *types)
    ours = [ndd.as_tensor(operand) for operand in operands]
    theirs = [reference.as_tensor(operand) for operand in operands]
    context = (name, *map(str, types))
    try:
        result_type(name, *types)
    except TypeError:
        with pytest.raises(TypeError):
            call(ndd, name, *ours)
        with pytest.raises(RuntimeError):
            call(reference, name, *theirs).evaluate()
        return
    actual = np.asarray(call(ndd, name, *ours))
    expected = np.asarray(call(reference, name, *theirs).evaluate())
    if name in COMPARISONS:
        # The reference gets negative integers against floating-point numbers wrong.
        for operand, other in (operands, operands[::-1]):
            if operand.dtype.kind == "i" and is_float(other.dtype):
                actual, expected = actual[operand >= 0], expected[operand >= 0]
    if name == "rsqrt" and actual.dtype == np.float32:
        # The reference's approximation makes 0 and infinity NaN.
        usual = ~np.isnan(expected)
        actual, expected = actual[usual], expected[usual]
    if is_float(expected.dtype) and (name in INEXACT or name == "rsqrt"):
        assert_within(actual, expected, FUNCTION_TOLERANCE[expected.dtype.name], context)
    else:
        assert_same(actual, expected, context)


@pytest.mark.parametrize("name", BINARY)
def test_binary_operations(name: str) -> None:
    for a in ARITHMETIC_TYPES:
        for b in ARITHMETIC_TYPES:
            check(name, (a, b))


@pytest.mark.parametrize("name", UNARY)
def test_unary_operations(name: str) -> None:
    for dtype in ARITHMETIC_TYPES:
        check(name, (dtype,))


@pytest.mark.parametrize("dtype", ARITHMETIC_TYPES, ids=str)
def test_clamp(dtype: np.dtype[Any]) -> None:
    for low in ARITHMETIC_TYPES:
        for high in ARITHMETIC_TYPES:
            check("clamp", (dtype, low, high))


OPERANDS: list[tuple[Any, Any]] = [
    (np.arange(24, dtype=np.uint8).reshape(2, 3, 4), np.arange(4, dtype=np.int8)),
    (np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.arange(3, dtype=np.int64)[:, None]),
    (
        np.arange(24, dtype=np.int16).reshape(2, 3, 4),
        np.arange(8, dtype=np.uint16).reshape(2, 1, 4),
    ),
    (np.arange(3, dtype=np.uint8)[:, None], np.arange(2, dtype=np.uint64)),
    (np.zeros((0, 3), np.uint8), 1),
    (np.arange(3, dtype=np.uint8), 2),
    (np.arange(3, dtype=np.uint8), 2.5),
    (np.arange(3, dtype=np.uint8), True),
    (np.arange(3, dtype=np.int8), [1, 2, 3]),
    (np.arange(3, dtype=np.int8), np.float64(0.1)),
    (np.arange(3, dtype=np.float64), np.int64(7)),
    (np.uint8(200), np.int64(7)),
]


@pytest.mark.parametrize(("array", "other"), OPERANDS)
def test_broadcasting_and_python_numbers(array: Any, other: Any) -> None:
    for name in ("add", "sub", "fdiv", "max", "leq"):
        for swapped in (False, True):
            pairs = []
            for library in (ndd, reference):
                tensor = library.as_tensor(array)
                # With the reference, an array on the left would do the operation itself.
                first = library.as_tensor(other) if hasattr(other, "dtype") else other
                operands = (first, tensor) if swapped else (tensor, other)
                pairs.append(np.asarray(call(library, name, *operands).evaluate()))
            assert_same(*pairs, (name, swapped))


def test_batches_and_layouts() -> None:
    arrays = [np.arange(n * 6, dtype=np.uint8).reshape(n, 2, 3) for n in (1, 4, 2)]
    results = []
    for library in (ndd, reference):
        batch = library.batch(arrays, layout="HWC")
        scale = library.batch([np.float32(i) for i in range(3)])
        pixel = library.tensor(np.array([1, 2, 3], np.int16), layout="C")
        result = ((batch * scale) - pixel).evaluate()
        results.append((result.layout, [np.asarray(sample) for sample in result.tensors]))
    (layout, ours), (their_layout, theirs) = results
    assert layout == their_layout == "HWC"
    for actual, expected in zip(ours, theirs, strict=True):
        assert_same(actual, expected)


def test_errors_of_both() -> None:
    for library in (ndd, reference):
        image = library.tensor(np.zeros((2, 2, 3)), layout="HWC")
        with pytest.raises((ValueError, RuntimeError)):
            (image + library.tensor(np.zeros((2, 3)), layout="HW")).evaluate()
        with pytest.raises((ValueError, RuntimeError)):
            (image + library.tensor(np.zeros(5))).evaluate()
        for function in ("div", "mod"):
            with pytest.raises(ValueError):
                call(library, function, library.tensor([1, 2]), 0).evaluate()
