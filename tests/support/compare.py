# SPDX-License-Identifier: Apache-2.0
"""How tests compare results. Tolerances live here, not in the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Compares an array with the one that is expected; the third argument goes into the message.
Check = Callable[[Any, Any, object], None]

# Relative error of a function of the C library, by the type of its result: a few units in the last
# place, and for the 16-bit types one rounding.
FUNCTION_TOLERANCE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-14}

# Error of a sum of a few products in float32, relative to the largest of them.
SUM_TOLERANCE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-6}

# Error of resampled values, relative to the largest: positions are computed in single precision,
# and an error of position is one of value where neighbouring pixels differ much. The reference
# computes them in the same way.
RESAMPLING_TOLERANCE = 2e-4
SAME_RESAMPLING_TOLERANCE = 1e-5


def assert_same(actual: Any, expected: Any, context: object = "") -> None:
    """Same type, shape and values; NaN equals NaN, but 0.0 does not equal -0.0."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{context}: {actual.dtype} != {expected.dtype}"
    assert actual.shape == expected.shape, f"{context}: {actual.shape} != {expected.shape}"
    same = (actual == expected) | ((actual != actual) & (expected != expected))
    if actual.dtype.kind == "f":
        same &= (actual != actual) | (np.signbit(actual) == np.signbit(expected))
    assert same.all(), f"{context}: {_difference(actual, expected, ~same)}"


def assert_within(actual: Any, expected: Any, rtol: float, context: object = "") -> None:
    """Same type and shape, values equal up to a relative error; NaN and infinities must match."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{context}: {actual.dtype} != {expected.dtype}"
    assert actual.shape == expected.shape, f"{context}: {actual.shape} != {expected.shape}"
    wide, target = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(wide - target) <= rtol * np.abs(target)
    near |= (wide == target) | (np.isnan(wide) & np.isnan(target))
    assert near.all(), f"{context}: {_difference(actual, expected, ~near)}"


def assert_near(
    actual: Any, expected: Any, context: object = "", magnitude: float | None = None
) -> None:
    """Same type and shape; integers within one level, all within the error of sums in float32.

    `magnitude` is the size of what is summed up, by default that of the largest result.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{context}: {actual.dtype} != {expected.dtype}"
    assert actual.shape == expected.shape, f"{context}: {actual.shape} != {expected.shape}"
    wide, target = actual.astype(np.float64), expected.astype(np.float64)
    if magnitude is None:
        magnitude = float(np.abs(target).max(initial=0))
    tolerance = SUM_TOLERANCE.get(actual.dtype.name, 1e-6) * magnitude
    if actual.dtype.name not in SUM_TOLERANCE:
        tolerance = max(tolerance, 1)
    near = np.abs(wide - target) <= tolerance
    assert near.all(), f"{context}: {_difference(actual, expected, ~near)}"


def assert_resampled(
    actual: Any,
    expected: Any,
    context: object = "",
    relative: float = RESAMPLING_TOLERANCE,
) -> None:
    """Weighted means of pixels: integers within one level, floats relative to the largest value.

    `expected` may be in double precision, not yet rounded.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{context}: {actual.shape} != {expected.shape}"
    wide, target = actual.astype(np.float64), expected.astype(np.float64)
    allowed = relative * max(1e-30, np.abs(target).max(initial=0))
    if actual.dtype.kind in "iu":
        limits = np.iinfo(actual.dtype)
        target = np.clip(target, limits.min, limits.max)
        allowed = 1.0
    near = np.abs(wide - target) <= allowed
    assert near.all(), f"{context}: {_difference(actual, expected, ~near)}"


def assert_resampled_alike(actual: Any, expected: Any, context: object = "") -> None:
    """What this library and the reference make of the same pixels."""
    assert np.asarray(actual).dtype == np.asarray(expected).dtype, context
    assert_resampled(actual, expected, context, SAME_RESAMPLING_TOLERANCE)


def _difference(actual: Any, expected: Any, where: Any) -> str:
    index = tuple(int(i) for i in np.argwhere(where)[0])
    return f"{where.sum()} differ, first at {index}: {actual[index]} != {expected[index]}"
