# SPDX-License-Identifier: Apache-2.0
"""Operators that replace values by way of tables made of histograms."""

from __future__ import annotations

from .._engine.dtype import (
    uint8,
)
from .._engine.metadata import Result
from .._engine.op import Samples, op

_MOST_TILES = 1 << 20


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


@op(layouts="HWC HW", dtypes=(uint8,), result=Result(shape="input"), weight=8)
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
