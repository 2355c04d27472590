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
    "one rounding": Tolerance(relative=1e-7),
    "two roundings": Tolerance(relative=2e-7),
    # A few roundings of float32.
    "float32": Tolerance(relative=1e-6),
    "float16": Tolerance(relative=1e-3),
    # Sums over processes are added in another order.
    "losses of several processes": Tolerance(relative=1e-5),
    # The same, printed with four digits.
    "printed losses": Tolerance(absolute=2e-4),
    # The reference's defaults are recorded as decimal numbers.
    "defaults": Tolerance(relative=1e-5),
    # A few roundings of float32 of values up to about 1, up to about 10, ...
    "unit values": Tolerance(absolute=1e-6),
    "interpolated values": Tolerance(absolute=2e-5),
    "small values": Tolerance(absolute=1e-4),
    # What the reference decodes as 16 bits may come as 8 here.
    "last bits": Tolerance(absolute=2e-7),
    # The nearest integer, computed in single precision.
    "rounded": Tolerance(absolute=0.51),
    "lossy pixels": Tolerance(absolute=0.02),
    "shares": Tolerance(absolute=0.005),
    # Levels of pixels, and the share of pixels that belong to letters: fonts differ.
    "pictures": Tolerance(absolute=4),
    "letters": Tolerance(absolute=0.03),
    "lengths in pixels": Tolerance(absolute=2),
    "timestamps": Tolerance(absolute=1e-3),
    "timestamps of files": Tolerance(absolute=2e-3),
    #
    # Statistics.
    "sums": Tolerance(relative=3e-7, of_largest=1e-6),
    "statistics": Tolerance(absolute=3e-6),
    "statistics of large images": Tolerance(absolute=2e-5),
    # A level or two of pixels whose deviation is 50.
    "normalized pixels": Tolerance(absolute=0.1),
    "normalized": Tolerance(relative=1e-5, absolute=1e-5),
    "variance": Tolerance(relative=1e-4, absolute=1e-6),
    "variance of large values": Tolerance(relative=1e-5, absolute=1e-5),
    "deviation of large values": Tolerance(relative=1e-5, absolute=1e-3),
    #
    # Geometry.
    "cropped boxes": Tolerance(absolute=1e-5),
    "rotated boxes": Tolerance(absolute=1e-4),
    "rotated pixels": Tolerance(absolute=1e-3),
    "rotated areas": Tolerance(relative=1e-4),
    "encoded boxes": Tolerance(relative=1e-3, absolute=1e-4),
    "matrices": Tolerance(relative=1e-4, absolute=1e-4),
    "rotations of space": Tolerance(relative=1e-3, absolute=1e-3),
    "points": Tolerance(relative=1e-4, absolute=1e-3),
    "corners": Tolerance(absolute=1e-3),
    # Positions as values of pixels, with linear interpolation near the border.
    "positions of pixels": Tolerance(absolute=0.05),
    # The middle of an object of some pixels, after interpolation with 8 bits.
    "centers of objects": Tolerance(absolute=0.05),
    # Outlines of bent masks, whose pixels are whole.
    "one pixel and a half": Tolerance(absolute=1.5),
    "rotations by 90 degrees": Tolerance(absolute=1e-5),
    # Positions are computed in single precision, so that pixels of 0 to 127 are seen with an error.
    "warped": Tolerance(absolute=1e-2),
    "warped float16": Tolerance(absolute=0.1),
    "warped integers": Tolerance(absolute=1.0),
    "inverted maps": Tolerance(absolute=1e-3),
    # An error of position is one of value where neighboring pixels differ much.
    "resampling": Tolerance(of_largest=2e-4),
    #
    # Audio.
    "scaled integers": Tolerance(relative=1e-6, absolute=1.0),
    "mixed integers": Tolerance(absolute=1.0, of_largest=1e-7),
    # Weights are interpolated between 32 positions from sample to sample, and positions counted in
    # single precision over 256 results, as the reference does on the CPU.
    "resampled audio": Tolerance(of_largest=4e-3),
    "resampled tone": Tolerance(absolute=1e-3),
    "spectra": Tolerance(of_largest=2e-6),
    # Edges of filters are computed in single precision.
    "mel filters": Tolerance(relative=2e-5, of_largest=2e-5),
    "narrow mel filters": Tolerance(relative=1e-4, of_largest=1e-6),
    "decibels": Tolerance(relative=1e-6, absolute=1e-5),
    "small decibels": Tolerance(relative=1e-6, absolute=2e-7),
    "librosa": Tolerance(absolute=1e-3),
    #
    # Libraries and devices that compute in single precision, in the same way up to the order of
    # additions.
    "agreement": Tolerance(of_largest=1e-5),
    # Pixels of decoded and resized images may differ by one.
    "converted scripts": Tolerance(relative=1e-4, absolute=1.0),
    "agreement of values": Tolerance(relative=1e-5, of_largest=1e-5),
    "agreement of matrices": Tolerance(of_largest=1e-6),
    "agreement of frames": Tolerance(relative=1e-5, absolute=1e-6),
    "agreement of decibels": Tolerance(relative=1e-6, absolute=1e-4),
    # Relative to full scale.
    "agreement of audio": Tolerance(of_largest=3e-6),
    "agreement of lossy audio": Tolerance(of_largest=1e-4),
    # The mean of a few neighbors is rounded to float32, and their deviation may be small.
    "agreement on few values": Tolerance(of_largest=5e-5),
    # The reference's transform of long signals has the larger error of the two.
    "agreement on long transforms": Tolerance(of_largest=1e-4),
}

# Error of a function, in units of the last place of the correctly rounded result.
FUNCTION_UNITS = 1

# Relative error of two libraries' functions, by the type of the result: a few units in the
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


def assert_units(actual: Any, expected: Any, units: int, context: object = "") -> None:
    """Same type and shape, values equal up to some units in the last place; NaN must match."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{context}: {actual.dtype} != {expected.dtype}"
    assert actual.shape == expected.shape, f"{context}: {actual.shape} != {expected.shape}"
    with np.errstate(invalid="ignore"):
        near = np.abs(actual - expected) <= units * np.abs(np.spacing(expected))
    near |= (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    near &= np.isnan(expected) | (np.signbit(actual) == np.signbit(expected))
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


def assert_close(
    actual: Any,
    expected: Any,
    tolerance: str,
    context: object = "",
    magnitude: float | None = None,
) -> None:
    """Same shape, and values equal up to a tolerance of the table; types may differ.

    `magnitude` stands for the largest value, by default that of the expected ones. A number may be
    expected of all elements.
    """
    actual, wide = np.asarray(actual), np.asarray(expected, np.float64)
    assert np.isscalar(expected) or actual.shape == wide.shape, f"{context}: {actual.shape}"
    allowed = TOLERANCES[tolerance]
    if magnitude is None:
        magnitude = float(np.abs(wide[np.isfinite(wide)]).max(initial=0))
    limit = allowed.absolute + allowed.of_largest * magnitude
    message = f"{context}: {tolerance}"
    np.testing.assert_allclose(actual, wide, allowed.relative, limit, err_msg=message)


def assert_audio(
    actual: Any, expected: Any, context: object = "", tolerance: str = "agreement of audio"
) -> None:
    """Same type and shape; values up to an error relative to full scale, integers within 1."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"{context}: {actual.dtype} != {expected.dtype}"
    assert actual.shape == expected.shape, f"{context}: {actual.shape} != {expected.shape}"
    is_float = actual.dtype.kind == "f"
    full = 1.0 if is_float else float(np.iinfo(actual.dtype).max)
    allowed = max(TOLERANCES[tolerance].of_largest * full, 0.0 if is_float else 1.0)
    near = np.abs(actual.astype(np.float64) - expected.astype(np.float64)) <= allowed
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


def assert_same_picture(actual: Any, expected: Any, context: object = "") -> None:
    """Pictures of charts and grids: all but a few pixels, those of letters, differ by little."""
    actual, expected = np.asarray(actual, int), np.asarray(expected, int)
    assert actual.shape == expected.shape, f"{context}: {actual.shape} != {expected.shape}"
    far = np.abs(actual - expected).max(axis=-1) > TOLERANCES["pictures"].absolute
    share = float(far.mean())
    assert share <= TOLERANCES["letters"].absolute, f"{context}: {share:.1%} of the pixels differ"


def alike(tolerance: str) -> Check:
    """`assert_alike` with another tolerance."""
    return functools.partial(assert_alike, tolerance=tolerance)


def _difference(actual: Any, expected: Any, where: Any) -> str:
    index = tuple(int(i) for i in np.argwhere(where)[0])
    return f"{where.sum()} differ, first at {index}: {actual[index]} != {expected[index]}"
