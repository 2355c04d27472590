# SPDX-License-Identifier: Apache-2.0
"""How tests compare results. Tolerances live here, not in the tests."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

# Compares an array with the one that is expected; the third argument goes into the message.
Check = Callable[[Any, Any, object], None]


class Tolerance(NamedTuple):
    """How far a value may be from the expected one: the sum of these."""

    relative: float = 0.0
    absolute: float = 0.0
    # Relative to the largest of the expected values.
    of_largest: float = 0.0


TOLERANCES = {
    # Resampled values: positions are computed in single precision, and an error of position is one
    # of value where neighboring pixels differ much.
    "resampling": Tolerance(of_largest=2e-4),
    # Libraries and devices that compute in single precision, in the same way up to the order of
    # additions.
    "agreement": Tolerance(of_largest=1e-5),
    "agreement of matrices": Tolerance(of_largest=1e-6),
    # The mean of a few neighbors is rounded to float32, and their deviation may be small.
    "agreement on few values": Tolerance(of_largest=5e-5),
    # The reference's transform of long signals has the larger error of the two.
    "agreement on long transforms": Tolerance(of_largest=1e-4),
}

# Relative error of a function of the C library, by the type of its result: a few units in the
# last place, and for the 16-bit types one rounding.
FUNCTION_TOLERANCE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-14}

# Error of a sum of a few products in float32, relative to the largest of them.
SUM_TOLERANCE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-6, "float64": 1e-6}


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
    actual: Any, expected: Any, context: object = "", tolerance: str = "resampling"
) -> None:
    """Weighted means of pixels: integers within one level, floats relative to the largest value.

    `expected` may be in double precision, not yet rounded.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{context}: {actual.shape} != {expected.shape}"
    wide, target = actual.astype(np.float64), expected.astype(np.float64)
    allowed = TOLERANCES[tolerance].of_largest * max(1e-30, np.abs(target).max(initial=0))
    if actual.dtype.kind in "iu":
        limits = np.iinfo(actual.dtype)
        target = np.clip(target, limits.min, limits.max)
        allowed = 1.0
    near = np.abs(wide - target) <= allowed
    assert near.all(), f"{context}: {_difference(actual, expected, ~near)}"


def assert_alike(
    actual: Any, expected: Any, context: object = "", tolerance: str = "agreement"
) -> None:
    """What two libraries or devices make of the same: as assert_resampled, and the same type."""
    assert np.asarray(actual).dtype == np.asarray(expected).dtype, context
    assert_resampled(actual, expected, context, tolerance)


def alike(tolerance: str) -> Check:
    """`assert_alike` with another tolerance."""
    return functools.partial(assert_alike, tolerance=tolerance)


def _difference(actual: Any, expected: Any, where: Any) -> str:
    index = tuple(int(i) for i in np.argwhere(where)[0])
    return f"{where.sum()} differ, first at {index}: {actual[index]} != {expected[index]}"
