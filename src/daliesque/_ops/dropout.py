# SPDX-License-Identifier: Apache-2.0
"""Operators that fill random regions of images."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from .._engine.args import FloatPerSample, FloatsPerSample
from .._engine.metadata import Result
from .._engine.op import RandomState, Samples, op
from .._shapes.draws import Floats, Integers, between, sequences, uniform_rows

Range: TypeAlias = tuple[float, float]

_LAYOUTS = "HW HWC CHW FHW FHWC FCHW"
_MOST_HOLES = 4096
_ATTEMPTS = 10


def _spatial(input: Samples) -> tuple[int, Integers]:
    """The first of the axes H and W, and the extents along both."""
    first = input.layout.index("H")
    return first, input.shape_array()[:, first : first + 2]


def _erased(input: Samples, boxes: Integers, counts: Integers, fill: Floats) -> Samples:
    """Images with boxes (top, left, bottom, right), `counts` of them in each, filled."""
    first, _ = _spatial(input)
    channel = input.layout.find("C")
    extents = input.shape_array()
    if fill.shape[1] != 1 and len(extents):
        channels = extents[:, channel] if channel >= 0 else np.ones(len(extents), np.int64)
        if (channels != fill.shape[1]).any():
            sample = int(np.argmax(channels != fill.shape[1]))
            msg = (
                f"'fill_value' needs 1 value or {channels[sample]}, one for each channel; "
                f"got {fill.shape[1]} (sample {sample})."
            )
            raise ValueError(msg)
    bounds = np.zeros((len(boxes), 2, input.ndim), np.int64)
    bounds[:, 1] = extents[np.repeat(np.arange(len(input)), counts)]
    bounds[:, 0, first : first + 2] = boxes[:, :2]
    bounds[:, 1, first : first + 2] = boxes[:, 2:]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return input.kernels.erase(input, offsets, bounds.reshape(-1), fill, max(channel, 0))


def _check_range(name: str, range_: tuple[float, ...], low: float, high: float) -> None:
    if len(range_) != 2 or not low <= range_[0] <= range_[1] <= high:
        msg = (
            f"'{name}' must be two ascending numbers between {low:g} and {high:g}; "
            f"got {list(range_)}."
        )
        raise ValueError(msg)


def drawn_holes(
    sizes: Integers, numbers: Floats, count: tuple[int, int], heights: Range, widths: Range
) -> tuple[Integers, Integers]:
    """Boxes (top, left, bottom, right) of random holes, and how many each image has.

    `heights` and `widths` are ranges relative to the image; `numbers` has 1 + 4 * count[1] uniform
    ones for each.
    """
    most = count[1]
    found = count[0] + np.floor(numbers[:, 0] * (most - count[0] + 1)).astype(np.int64)
    draws = numbers[:, 1:].reshape(len(numbers), most, 4).astype(np.float64)
    extents = np.stack([between(heights, draws[..., 0]), between(widths, draws[..., 1])], axis=2)
    whole = sizes[:, None, :]
    lengths = np.clip(np.rint(extents * whole), 1, whole).astype(np.int64)
    begins = np.floor(draws[..., 2:] * (whole - lengths + 1)).astype(np.int64)
    boxes = np.concatenate([begins, begins + lengths], axis=2)
    return boxes[np.arange(most) < found[:, None]], found


@op(layouts=_LAYOUTS, sequences=True, result=Result(shape="input"))
def coarse_dropout(
    input: Samples,
    /,
    *,
    num_holes_range: tuple[int, ...] = (1, 2),
    hole_height_range: tuple[float, ...] = (0.1, 0.2),
    hole_width_range: tuple[float, ...] = (0.1, 0.2),
    fill_value: FloatsPerSample = (0.0,),
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> Samples:
    """Fill random rectangles. All frames of a sequence have the same ones.

    Parameters
    ----------
    num_holes_range
        The fewest and the most rectangles.
    hole_height_range, hole_width_range
        Their smallest and largest extents, relative to those of the image.
    fill_value
        The value to fill with, or one for each channel.
    rng
        The generator to draw from.

    Examples
    --------
    >>> image = ndd.tensor(np.ones((10, 10, 3), np.uint8), layout="HWC")
    >>> sizes = {"hole_height_range": [0.5, 0.5], "hole_width_range": [0.2, 0.2]}
    >>> int(np.array(ndd.coarse_dropout(image, num_holes_range=[1, 1], **sizes)).sum())
    270
    """
    _check_range("num_holes_range", num_holes_range, 0, _MOST_HOLES)
    _check_range("hole_height_range", hole_height_range, 0, 1)
    _check_range("hole_width_range", hole_width_range, 0, 1)
    _, sizes = _spatial(input)
    count, owner = sequences(frame_counts, len(input))
    numbers = uniform_rows(rng, count, 1 + 4 * num_holes_range[1])[owner]
    holes = (num_holes_range[0], num_holes_range[1])
    heights = (hole_height_range[0], hole_height_range[1])
    widths = (hole_width_range[0], hole_width_range[1])
    boxes, counts = drawn_holes(sizes, numbers, holes, heights, widths)
    return _erased(input, boxes, counts, fill_value)


def drawn_regions(
    sizes: Integers,
    numbers: Floats,
    scale: tuple[float, ...],
    ratio: tuple[float, ...],
) -> tuple[Integers, Integers]:
    """Boxes of random regions by area and ratio, and 1 for each image that has one.

    `numbers` has 4 uniform ones for each of ten attempts; an attempt fails if its region is not
    smaller than the image.
    """
    draws = numbers.reshape(len(numbers), _ATTEMPTS, 4).astype(np.float64)
    area = between((scale[0], scale[1]), draws[..., 0]) * sizes.prod(axis=1)[:, None]
    aspect = np.exp(between((np.log(ratio[0]), np.log(ratio[1])), draws[..., 1]))
    heights, widths = np.rint(np.sqrt(area * aspect)), np.rint(np.sqrt(area / aspect))
    fits = (heights < sizes[:, :1]) & (widths < sizes[:, 1:]) & (heights > 0) & (widths > 0)
    first = np.argmax(fits, axis=1)
    chosen = np.arange(len(sizes)), first
    lengths = np.stack([heights[chosen], widths[chosen]], axis=1).astype(np.int64)
    begins = np.floor(draws[chosen][:, 2:] * (sizes - lengths + 1)).astype(np.int64)
    found = fits[chosen]
    return np.concatenate([begins, begins + lengths], axis=1)[found], found.astype(np.int64)


@op(layouts=_LAYOUTS, sequences=True, result=Result(shape="input"))
def random_erasing(
    input: Samples,
    /,
    *,
    probability: FloatPerSample = 0.5,
    scale: tuple[float, ...] = (0.02, 0.33),
    ratio: tuple[float, ...] = (0.3, 3.3),
    fill_value: FloatsPerSample = (0.0,),
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> Samples:
    """Fill a random rectangle of some images. All frames of a sequence have the same one.

    Parameters
    ----------
    probability
        How likely an image gets a rectangle.
    scale
        Its smallest and largest area, relative to that of the image.
    ratio
        Its smallest and largest height, relative to its width.
    fill_value
        The value to fill with, or one for each channel.
    rng
        The generator to draw from.

    Examples
    --------
    >>> image = ndd.tensor(np.ones((10, 10, 1), np.uint8), layout="HWC")
    >>> square = {"scale": [0.25, 0.25], "ratio": [1, 1]}
    >>> int(np.array(ndd.random_erasing(image, probability=1, **square)).sum())
    75
    """
    _check_range("scale", scale, 0, 1)
    if len(ratio) != 2 or not 0 < ratio[0] <= ratio[1]:
        msg = f"'ratio' must be two ascending positive numbers; got {list(ratio)}."
        raise ValueError(msg)
    good = (probability >= 0) & (probability <= 1)
    if not good.all():
        sample = int(np.argmin(good))
        value = float(probability[sample])
        msg = f"'probability' must be between 0 and 1; got {value:g} (sample {sample})."
        raise ValueError(msg)
    _, sizes = _spatial(input)
    count, owner = sequences(frame_counts, len(input))
    numbers = uniform_rows(rng, count, 1 + 4 * _ATTEMPTS)[owner]
    boxes, counts = drawn_regions(sizes, numbers[:, 1:], scale, ratio)
    wanted = numbers[:, 0] < probability
    kept = np.repeat(wanted, counts)
    return _erased(input, boxes[kept], counts * wanted, fill_value)
