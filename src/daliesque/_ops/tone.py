# SPDX-License-Identifier: Apache-2.0
"""Operators that replace each value by a function of it, also of the histogram."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import FloatPerFrame, IntPerFrame
from .._engine.dtype import NUMERIC, DType, from_code, uint8
from .._engine.metadata import Result
from .._engine.op import Samples, op

Curve = _kernels.Curve

_MOST_TILES = 1 << 20
_LAYOUTS = "HW HWC CHW FHW FHWC FCHW"


def curve_rows(a: NDArray[np.float32], b: NDArray[np.float32] | float = 0.0) -> NDArray[np.float32]:
    """Parameters of curves: a row (a, b) for each sample."""
    columns = np.broadcast_arrays(a, np.asarray(b, np.float32))
    return np.ascontiguousarray(np.stack(columns, axis=1), np.float32)


_NO_PARAMETERS = np.zeros((1, 2), np.float32)


def _refuse(good: NDArray[np.bool_], name: str, rule: str, values: NDArray[np.float32]) -> None:
    if not good.all():
        sample = int(np.argmin(good))
        msg = f"'{name}' must be {rule}; got {float(values[sample]):g} (sample {sample})."
        raise ValueError(msg)


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
def invert(input: Samples, /) -> Samples:
    """Invert the values: `out = range - in`.

    `range` is the highest value of an integer type, or 1.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[0, 55, 255]], np.uint8), layout="HW")
    >>> ndd.invert(image).torch().tolist()
    [[255, 200, 0]]
    """
    return input.kernels.apply_curve(input, Curve.invert, _NO_PARAMETERS, 0)


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
def solarize(input: Samples, /, *, threshold: FloatPerFrame | None = None) -> Samples:
    """Invert the values from a threshold on.

    Parameters
    ----------
    threshold
        The lowest value that is inverted. By default the middle of the range: 128 for uint8, or
        0.5.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[0, 127, 128, 255]], np.uint8), layout="HW")
    >>> ndd.solarize(image).torch().tolist()
    [[0, 127, 127, 0]]
    """
    if threshold is None:
        bits = integer_bits(from_code(input.type_id))
        threshold = np.full(1, 2.0 ** (bits - 1) if bits else 0.5, np.float32)
    return input.kernels.apply_curve(input, Curve.solarize, curve_rows(threshold), 0)


def integer_bits(dtype: DType) -> int:
    """The bits of the highest value of an integer type; 0 for floating-point types."""
    if dtype.kind is DType.Kind.unsigned:
        return dtype.bits
    return dtype.bits - 1 if dtype.kind is DType.Kind.signed else 0


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
def posterize(input: Samples, /, *, bits: IntPerFrame = 4) -> Samples:
    """Keep only the highest bits of each value.

    Floating-point values, from 0 to 1, are rounded down to a multiple of ``2 ** -bits``.

    Parameters
    ----------
    bits
        How many bits are kept: 1 to the number of the type, 8 for uint8.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[0, 100, 200, 255]], np.uint8), layout="HW")
    >>> ndd.posterize(image, bits=2).torch().tolist()
    [[0, 64, 192, 192]]
    """
    most = integer_bits(from_code(input.type_id)) or 24
    kept = bits.astype(np.float32)
    _refuse((bits >= 1) & (bits <= most), "bits", f"between 1 and {most}", kept)
    return input.kernels.apply_curve(input, Curve.posterize, curve_rows(kept), 0)


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
def gamma(input: Samples, /, *, gamma: FloatPerFrame = 1.0, gain: FloatPerFrame = 1.0) -> Samples:
    """Raise values to a power: `out = range * gain * (in / range) ** gamma`.

    `range` is the highest value of an integer type, or 1; results are clamped to it.

    Parameters
    ----------
    gamma
        The exponent, not negative: above 1 shadows become darker, below 1 brighter.
    gain
        A factor.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[0, 64, 255]], np.uint8), layout="HW")
    >>> ndd.gamma(image, gamma=2).torch().tolist()
    [[0, 16, 255]]
    """
    _refuse(gamma >= 0, "gamma", "a number that is not negative", gamma)
    _refuse(np.isfinite(gain), "gain", "a finite number", gain)
    return input.kernels.apply_curve(input, Curve.gamma, curve_rows(gamma, gain), 0)


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
def autocontrast(input: Samples, /) -> Samples:
    """Stretch the values of each channel over the whole range.

    The lowest value of a channel becomes 0, the highest that of an integer type, or 1. Channels
    with a single value stay as they are.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[50, 75, 100]], np.uint8), layout="HW")
    >>> ndd.autocontrast(image).torch().tolist()
    [[0, 128, 255]]
    """
    return input.kernels.autocontrast(input, int(input.layout.startswith("C")))


@op(
    layouts="HW HWC CHW FHW FHWC FCHW",
    dtypes=(uint8,),
    sequences=True,
    result=Result(shape="input"),
)
def equalize(input: Samples, /) -> Samples:
    """Spread the values of each channel evenly over the whole range.

    The histogram of each channel of each image becomes as flat as replacing values can make it.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[10, 20, 30, 40, 50, 60]], np.uint8), layout="HW")
    >>> ndd.equalize(image).torch().tolist()
    [[0, 51, 102, 153, 204, 255]]
    """
    return input.kernels.equalize(input, int(input.layout.startswith("C")))


@op(
    layouts="HWC HW",
    dtypes=(uint8,),
    sequences=True,
    result=Result(shape="input"),
    weight=8,
)
def clahe(
    input: Samples,
    /,
    *,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int = 256,
    luma_only: bool = True,
) -> Samples:
    """Spread values evenly in each part of an image, but only so far (CLAHE).

    The image is cut into tiles. Each gets a table that equalizes its histogram, in which no value
    counts more than a limit; between the centers of tiles, tables are blended.

    Parameters
    ----------
    tiles_x
        How many tiles there are from left to right.
    tiles_y
        How many tiles there are from top to bottom.
    clip_limit
        The limit, as a multiple of the mean of the histogram: the larger, the more contrast.
    bins
        Has no effect, as in the reference on the CPU: there are 256.
    luma_only
        Colors: only change the lightness (L of CIE Lab); otherwise each channel by itself.

    Examples
    --------
    >>> image = ndd.tensor(np.arange(64, dtype=np.uint8).reshape(8, 8, 1), layout="HWC")
    >>> out = ndd.clahe(image, tiles_x=2, tiles_y=2, clip_limit=4.0)
    >>> int(np.array(image).max()), int(np.array(out).max())
    (63, 255)

    Differs from DALI: images without channels (HW) are accepted.
    """
    for name, number in (("tiles_x", tiles_x), ("tiles_y", tiles_y), ("bins", bins)):
        if number < 1:
            msg = f"'{name}' must be positive; got {number}."
            raise ValueError(msg)
    if tiles_x * tiles_y > _MOST_TILES:
        msg = f"there may be at most {_MOST_TILES} tiles; got {tiles_x} by {tiles_y}."
        raise ValueError(msg)
    for sample, shape in enumerate(input.shapes):
        if len(shape) == 3 and shape[2] not in (1, 3):
            msg = f"images must have 1 or 3 channels; got the shape {shape} (sample {sample})."
            raise ValueError(msg)
    return input.kernels.clahe(input, tiles_x, tiles_y, clip_limit, luma_only)
