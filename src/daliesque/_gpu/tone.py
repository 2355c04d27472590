# SPDX-License-Identifier: Apache-2.0
"""Curves and equalization on accelerators, with the arithmetic of the native kernels."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.dtype import DType, from_code
from .gather import Border, border_indices, gathered, in_order, windows_of
from .groups import Group
from .lab import to_lab, to_rgb
from .numbers import constants, first_true, from_float, to_float
from .ragged import Rows, elements_of, elementwise, in_windows, inner_axes, separately
from .samples import DeviceSamples

Curve = _kernels.Curve
Integers = NDArray[np.int64]


def equalize(samples: DeviceSamples, outer: int) -> DeviceSamples:
    """Bytes mapped such that all occur equally often, channel by channel."""
    if samples.volume == 0:
        return samples.copy()
    shapes = samples.shape_array()
    sizes = shapes[:, outer : outer + 2].prod(axis=1)
    channels = int(np.delete(shapes[0], [outer, outer + 1]).prod())
    # For each channel, 256 entries of a table; channels are along the outermost or the last axis.
    inner = samples.ndim if outer else samples.ndim - 2
    numbers = np.arange(len(samples))[:, None] * channels + np.arange(channels)
    begins = (numbers * 256).reshape(len(samples), *_channel_shape(shapes[0], outer, inner))

    def equalized(rows: Rows) -> torch.Tensor:
        (own,) = rows.spread(begins)
        entries = (rows.data + own).reshape(-1)
        tables = _equalizing_tables(entries, numbers.size, np.repeat(sizes, channels))
        return tables.reshape(-1).index_select(0, entries).reshape(rows.data.shape)

    if samples.uniform or inner_axes(samples, inner) == inner:
        return elementwise(samples, equalized, inner)
    groups = [
        Group(indices, equalize(samples.select(indices.tolist()), outer).dense())
        for indices, _ in samples.groups
    ]
    return samples.made(groups)


def _channel_shape(shape: NDArray[np.int64], outer: int, inner: int) -> list[int]:
    """The extents of the last `inner` axes, with 1 in place of rows and columns."""
    extents: list[int] = shape.tolist()
    extents[outer : outer + 2] = [1, 1]
    return extents[len(extents) - inner :]


def _equalizing_tables(
    entries: torch.Tensor, channels: int, sizes: NDArray[np.int64]
) -> torch.Tensor:
    """For each channel, what every byte becomes: the share of those below it.

    `entries` are indices into these tables, of channels of the given sizes.
    """
    (total,) = constants(entries, sizes.astype(np.int32))
    count = total[:, None]
    ones = torch.ones_like(entries, dtype=torch.int32)
    counts = torch.zeros(channels * 256, dtype=torch.int32, device=entries.device)
    counts = counts.scatter_add(0, entries, ones).reshape(channels, 256)
    lowest = first_true(counts > 0)[:, None]
    of_lowest = counts.gather(1, lowest)
    below = counts.cumsum(1, dtype=torch.int32) - of_lowest
    scale = 255.0 / (count - of_lowest).clamp(min=1).to(torch.float32)
    table = (below.clamp(min=0).to(torch.float32) * scale).round().clamp(max=255)
    table = torch.where(of_lowest == count, lowest.to(torch.float32).expand_as(table), table)
    return table.to(torch.uint8)


def _range(dtype: DType) -> tuple[float, int]:
    """The highest value of a type, and how many bits it takes; 1 and 0 for floating-point types."""
    if dtype.kind is DType.Kind.float:
        return 1.0, 0
    bits = dtype.bits - (dtype.kind is DType.Kind.signed)
    return float(np.float32(2**bits - 1)), bits


def _curved(
    curve: Curve, values: torch.Tensor, a: torch.Tensor, b: torch.Tensor, dtype: DType
) -> torch.Tensor:
    """The functions of `Curve`, of floats."""
    highest, bits = _range(dtype)
    if curve == Curve.invert:
        return highest - values
    if curve == Curve.solarize:
        return torch.where(values < a, values, highest - values)
    if curve == Curve.add_below:
        return torch.where(values < a, values + b, values)
    if curve == Curve.gamma:
        return (highest * (b * (values / highest) ** a)).clamp(0, highest)
    if curve == Curve.shift:
        return values + a
    # Posterized, with the step b.
    levels = torch.floor(values / b)
    return (levels if bits else torch.minimum(levels.clamp(min=0), 1 / b - 1)) * b


def apply_curve(
    samples: DeviceSamples, curve: Curve, parameters: NDArray[np.float32], outer: int
) -> DeviceSamples:
    """Values replaced by a function with two parameters for each sample or channel."""
    dtype = from_code(samples.type_id)
    if curve == Curve.posterize:
        bits = _range(dtype)[1]
        steps = np.exp2(bits - parameters[:, :1])
        kept = np.maximum(steps, 1) if bits else steps
        parameters = np.concatenate([parameters[:, :1], kept], axis=1).astype(np.float32)

    pairs = parameters.reshape(len(parameters), -1, 2)
    # Numbers for each channel go along its axis; others are the same for all elements.
    inner = 0
    if pairs.shape[1] > 1:
        inner = samples.ndim if outer else 1
        pairs = pairs.reshape(len(pairs), -1, *(1,) * (inner - 1), 2)
    else:
        pairs = pairs[:, 0]

    def changed(rows: Rows) -> torch.Tensor:
        a, b = rows.spread(pairs[..., 0], pairs[..., 1])
        values = to_float(rows.data, samples.type_id)
        return from_float(_curved(curve, values, a, b, dtype), samples.type_id)

    return elementwise(samples, changed, inner)


def autocontrast(samples: DeviceSamples, outer: int) -> DeviceSamples:
    """The values of each channel stretched over the whole range."""
    highest, _ = _range(from_code(samples.type_id))
    if samples.volume == 0:
        return samples.copy()
    axes = (1 + outer, 2 + outer)
    parts = []
    for indices, data, _ in windows_of(samples, ()):
        # What is beyond the end of an image repeats what is not.
        values = to_float(data, samples.type_id)
        limits = [find(values, axes, keepdim=True) for find in (torch.amin, torch.amax)]
        parts.append((indices, torch.stack(limits, 1)))
    found = in_order(samples, parts)
    low, extent = found[:, 0], found[:, 1] - found[:, 0]
    # Images of one value stay as they are.
    factor = highest / extent.clamp(min=torch.finfo(torch.float32).tiny)
    flat = extent == 0
    factor = torch.where(flat, torch.ones_like(factor), factor)
    base = torch.where(flat, torch.zeros_like(low), low)
    inner = samples.ndim if outer else samples.ndim - 2

    def stretched(rows: Rows) -> torch.Tensor:
        own = [
            rows.spread_tensor(part.reshape(len(part), *part.shape[part.ndim - inner :]))
            for part in (base, factor)
        ]
        values = to_float(rows.data, samples.type_id)
        return from_float((values - own[0]) * own[1], samples.type_id)

    return elementwise(samples, stretched, inner)


def clahe(
    samples: DeviceSamples, tiles_x: int, tiles_y: int, clip_limit: float, luma_only: bool
) -> DeviceSamples:
    """Bytes equalized tile by tile, and blended between tiles."""
    if samples.volume == 0:
        return samples.copy()

    def run(part: DeviceSamples, _: Integers) -> DeviceSamples:
        if part.volume == 0:
            return part.copy()
        if part.ndim == 3 and luma_only and int(part.shape_array()[0, 2]) == 3:
            return _with_lightness(part, (tiles_y, tiles_x), clip_limit)
        return _all_channels(part, (tiles_y, tiles_x), clip_limit)

    shapes = samples.shape_array()
    # Samples of the same channels go together, but for those without pixels.
    keys = np.concatenate([shapes[:, 2:], (shapes == 0).any(axis=1)[:, None]], axis=1)
    return separately(samples, keys, run)


def _with_lightness(
    samples: DeviceSamples, tiles: tuple[int, int], clip_limit: float
) -> DeviceSamples:
    """Colors whose lightness is equalized."""
    colors = elementwise(samples, lambda rows: to_lab(rows.data))
    planes = elementwise(colors, lambda rows: rows.data[..., :1].contiguous())
    even = iter(elements_of(_all_channels(planes, tiles, clip_limit), colors))

    def joined(rows: Rows) -> torch.Tensor:
        return to_rgb(torch.cat([next(even), rows.data[..., 1:]], -1))

    return elementwise(colors, joined)


def _all_channels(
    samples: DeviceSamples, tiles: tuple[int, int], clip_limit: float
) -> DeviceSamples:
    """Each channel equalized."""

    def equalized(data: torch.Tensor, _: Integers, shapes: Integers) -> torch.Tensor:
        channels = data.shape[3] if data.ndim == 4 else 1
        planes = data.reshape(*data.shape[:3], channels).permute(0, 3, 1, 2)
        planes = planes.reshape(-1, *data.shape[1:3])
        grid = _Grid.of(np.repeat(shapes[:, :2], channels, axis=0), tiles)
        even = _blended(planes, _tile_tables(planes, grid, clip_limit), grid)
        if channels == 1:
            return even.reshape(data.shape)
        return even.reshape(len(data), channels, *data.shape[1:3]).permute(0, 2, 3, 1).contiguous()

    return in_windows(samples, equalized)


class _Grid(NamedTuple):
    """Extents of planes, and of their tiles, along both axes: a row for each plane or for all."""

    extents: Integers
    tiles: tuple[int, int]
    cells: Integers

    @staticmethod
    def of(extents: Integers, tiles: tuple[int, int]) -> _Grid:
        if (extents == extents[:1]).all():
            extents = extents[:1]
        rest = extents % tiles
        # If one axis does not divide evenly, OpenCV extends both.
        longer = np.where(rest.any(axis=1, keepdims=True), np.array(tiles) - rest, 0)
        return _Grid(extents, tiles, (extents + longer) // tiles)

    @property
    def bins(self) -> int:
        """How many counters the tiles of a plane have."""
        return self.tiles[0] * self.tiles[1] * 256


def _tile_tables(planes: torch.Tensor, grid: _Grid, clip_limit: float) -> torch.Tensor:
    """What each byte becomes in each tile: (planes, tiles, 256), as floats."""
    counts = _tile_counts(planes, grid)
    totals = grid.cells.prod(axis=1)[:, None, None]
    scales = np.float32(255) / totals.astype(np.float32)
    if clip_limit > 0:
        limits = (float(np.float32(clip_limit)) * totals / 256).clip(1.0, totals)
        limit, total, scale, shares = constants(
            planes, limits.astype(np.int32), totals.astype(np.int32), scales, _shares()
        )
        kept = torch.minimum(counts, limit)
        # What exceeds the limit is spread over all values, the rest over some.
        excess = total - kept.sum(2, keepdim=True, dtype=torch.int32)
        rest = shares.index_select(0, excess.bitwise_and(255).reshape(-1)).reshape(counts.shape)
        counts = kept + excess.bitwise_right_shift(8) + rest
    else:
        (scale,) = constants(planes, scales)
    return (counts.cumsum(2, dtype=torch.int32) * scale).round().clamp(max=255)


@functools.cache
def _shares() -> NDArray[np.uint8]:
    """Which values get one more, for each rest that is left: (rest, value)."""
    rest, value = np.arange(256)[:, None], np.arange(256)[None]
    step = np.maximum(256 // np.maximum(rest, 1), 1)
    shares: NDArray[np.uint8] = ((value % step == 0) & (value // step < rest)).astype(np.uint8)
    return shares


def _tile_counts(planes: torch.Tensor, grid: _Grid) -> torch.Tensor:
    """How often each byte occurs in each tile: (planes, tiles, 256).

    What extends planes to whole tiles is mirrored. What is beyond, if others are larger, is counted
    where nobody looks: behind the counters of all tiles.
    """
    choices, begins = [], []
    steps = (grid.tiles[1] * 256, 256)
    for axis in (0, 1):
        whole = grid.cells[:, axis, None] * grid.tiles[axis]
        spots = np.arange(int(whole.max()))[None]
        inside = spots < whole
        extent = grid.extents[:, axis, None]
        choices.append(border_indices(np.where(inside, spots, 0), extent, Border.reflect_101))
        tile = spots // grid.cells[:, axis, None]
        begins.append(np.where(inside, tile * steps[axis], grid.bins))
    width = grid.bins if all((part < grid.bins).all() for part in begins) else 3 * grid.bins
    of_plane = np.arange(len(planes))[:, None] * width
    down, across = constants(planes, begins[0] + of_plane, begins[1])
    entries = gathered(planes, choices) + down[:, :, None] + across[:, None]
    counts = torch.zeros(len(planes) * width, dtype=torch.int32, device=planes.device)
    ones = torch.ones(1, dtype=torch.int32, device=planes.device).expand(entries.numel())
    counts = counts.scatter_add(0, entries.reshape(-1), ones)
    return counts.reshape(len(planes), width)[:, : grid.bins].reshape(len(planes), -1, 256)


def _blended(planes: torch.Tensor, tables: torch.Tensor, grid: _Grid) -> torch.Tensor:
    """Bytes replaced by means of what they become in the four nearest tiles."""
    begins, weights = [], []
    steps = (grid.tiles[1] * 256, 256)
    for axis, extent in enumerate(planes.shape[1:]):
        step = np.float32(1) / grid.cells[:, axis, None].astype(np.float32)
        position = np.arange(extent, dtype=np.float32) * step - np.float32(0.5)
        before = np.floor(position)
        number = before.astype(np.int32)
        # Along the first axis, the tile before and the one behind.
        corners = np.stack([number, number + 1]).clip(0, grid.tiles[axis] - 1)
        begins.append(corners * steps[axis])
        behind = position - before
        weights.append(np.stack([np.float32(1) - behind, behind]))
    begins[0] = begins[0] + (np.arange(len(planes)) * grid.bins)[None, :, None]
    kind = np.int32 if tables.numel() < 2**31 else np.int64
    rows, columns, down, across = constants(
        planes, *(part.astype(kind) for part in begins), *weights
    )
    index = (planes + columns[:, :, None]) + rows[:, None, :, :, None]
    found = tables.reshape(-1).index_select(0, index.reshape(-1)).reshape(index.shape)
    found = found * across[:, :, None]
    lines = (found[:, 0] + found[:, 1]) * down[..., None]
    return (lines[0] + lines[1]).round().to(torch.uint8)
