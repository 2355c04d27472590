# SPDX-License-Identifier: Apache-2.0
"""Curves and equalization on accelerators, the latter with the tables of the native kernel."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.dtype import DType, from_code
from .gather import Border, border_indices, gathered, in_order, windows_of
from .groups import Group
from .numbers import constant, constants, first_true, from_float, to_float
from .ragged import Rows, elementwise, inner_axes
from .samples import DeviceSamples

Curve = _kernels.Curve

# Primaries of sRGB and white of D65, to the digits that OpenCV uses.
_WHITE = np.array([0.950456, 1.0, 1.088754])
_RGB_TO_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
)
_XYZ_TO_RGB = np.array(
    [
        [3.240479, -1.53715, -0.498535],
        [-0.969256, 1.875991, 0.041556],
        [0.055648, -0.204043, 1.057311],
    ]
)
# Linear values are counted in eighths of a level.
_LINEAR_SCALE = 255 * 8
_ROOTS = 3072


class _LabTables(NamedTuple):
    """The tables of lab.cpp: fixed-point numbers with 12, 14 or 15 fraction bits."""

    to_xyz: NDArray[np.int32]  # (channel, value, component)
    root: NDArray[np.int32]
    y: NDArray[np.int32]
    y_root: NDArray[np.int32]
    to_rgb: NDArray[np.int32]  # (channel, component)
    gamma: NDArray[np.uint8]


def _nearest(values: Any) -> NDArray[np.int32]:
    rounded: NDArray[np.int32] = np.rint(values).astype(np.int32)
    return rounded


@functools.cache
def _lab_tables() -> _LabTables:
    single = np.float32
    value = np.arange(256, dtype=single) / single(255)
    exact = value.astype(np.float64)
    linear = np.where(exact <= 0.04045, exact / 12.92, ((exact + 0.055) / 1.055) ** 2.4)
    scaled = _nearest(single(_LINEAR_SCALE) * linear.astype(single))
    weights = _nearest((1 << 12) * _RGB_TO_XYZ / _WHITE[:, None])
    to_xyz = scaled[None, :, None] * weights.T[:, None, :]
    to_xyz[0] += (1 << 12) // 2
    argument = single(1) / single(_LINEAR_SCALE) * np.arange(_ROOTS, dtype=single)
    level = np.arange(256)
    straight = level <= 20
    steep = (level * 100 * (1 << 14)).astype(single) / single(255 * 116) + single(
        16 * (1 << 14)
    ) / single(116)
    slow_y = (level * (1 << 14) * 20 * 9).astype(single) / single(17 * 29 * 29 * 29)
    slow_root = single(1 << 14) * (
        single(16) / single(116) + (level * 5).astype(single) / single(3 * 17 * 29)
    )
    cubed = steep * steep * steep / single((1 << 14) * (1 << 14))
    bent = np.arange(4096, dtype=np.float64) / (1 << 12)
    gamma = np.where(bent <= 0.0031308, bent * 12.92, bent ** (1 / 2.4) * 1.055 - 0.055)
    return _LabTables(
        to_xyz,
        _nearest(single(1 << 15) * _cie_root(argument)),
        _nearest(np.where(straight, slow_y, cubed)),
        _nearest(np.where(straight, slow_root, steep)),
        _nearest((1 << 12) * _XYZ_TO_RGB * _WHITE),
        np.rint(np.float32(255) * gamma.astype(single)).astype(np.uint8),
    )


def _cie_root(argument: NDArray[np.float32]) -> NDArray[np.float32]:
    """f of CIE Lab: a cube root, cut off, with a straight beginning."""
    wide = argument.astype(np.float64)
    knee, slope, base = (np.float32(v) for v in (216 / 24389, 841 / 108, 16 / 116))
    root = np.cbrt(wide)
    rounded = root.astype(np.float32)
    cut = np.where(rounded.astype(np.float64) > root, np.nextafter(rounded, np.float32(0)), rounded)
    line = (wide * np.float64(slope) + np.float64(base)).astype(np.float32)
    return np.where(argument < knee, line, cut).astype(np.float32)


def _to_lab(pixels: torch.Tensor) -> list[torch.Tensor]:
    """Bytes of lightness, a and b, as int32."""
    tables = _lab_tables()
    parts = [constant(tables.to_xyz[c], pixels)[pixels[..., c].to(torch.int64)] for c in range(3)]
    indices = (parts[0] + parts[1] + parts[2]).bitwise_right_shift(12)
    x, y, z = constant(tables.root, pixels)[indices.to(torch.int64)].movedim(-1, 0)
    middle = (128 << 15) + (1 << 14)
    planes = (296 * y - 1336934 + (1 << 14), 500 * (x - y) + middle, 200 * (y - z) + middle)
    return [plane.bitwise_right_shift(15).clamp(0, 255) for plane in planes]


def _to_rgb(lightness: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    tables = _lab_tables()
    index = lightness.to(torch.int64)
    y = constant(tables.y, lightness)[index]
    root = constant(tables.y_root, lightness)[index]
    one = 1 << 14
    x = _cube(root + (5 * a * 53687 + (1 << 7)).bitwise_right_shift(13) - 128 * one // 500)
    z = _cube(root - (b * 41943 + (1 << 4)).bitwise_right_shift(9) + 128 * one // 200 - 1)
    gamma = constant(tables.gamma, lightness)
    channels = []
    for weights in tables.to_rgb.tolist():
        total = weights[0] * x + weights[1] * y + weights[2] * z + one // 2
        level = total.bitwise_right_shift(14).clamp(0, 4095)
        channels.append(gamma[level.to(torch.int64)])
    return torch.stack(channels, -1)


def _cube(root: torch.Tensor) -> torch.Tensor:
    """Inverse of f of CIE Lab, with 14 fraction bits; divisions truncate."""
    straight = torch.div(root * 108, 841, rounding_mode="trunc") - 290
    square = (root * root).bitwise_right_shift(14)
    return torch.where(root <= 3390, straight, (square * root).bitwise_right_shift(14))


def clahe(
    samples: DeviceSamples, tiles_x: int, tiles_y: int, clip_limit: float, luma_only: bool
) -> DeviceSamples:
    """Bytes equalized tile by tile, and blended between tiles."""

    def equalized(data: torch.Tensor, _: Any) -> torch.Tensor:
        if data.numel() == 0:
            return data
        tiles = (tiles_y, tiles_x)
        if data.ndim == 4 and data.shape[3] == 3:
            if luma_only:
                lightness, a, b = _to_lab(data)
                return _to_rgb(_equalized(lightness, tiles, clip_limit), a, b)
            planes = data.permute(0, 3, 1, 2).reshape(-1, *data.shape[1:3]).to(torch.int32)
            even = _equalized(planes, tiles, clip_limit).to(torch.uint8)
            return even.reshape(len(data), 3, *data.shape[1:3]).permute(0, 2, 3, 1).contiguous()
        plane = data.reshape(data.shape[:3]).to(torch.int32)
        return _equalized(plane, tiles, clip_limit).to(torch.uint8).reshape(data.shape)

    return samples.mapped(equalized)


def _equalized(planes: torch.Tensor, tiles: tuple[int, int], clip_limit: float) -> torch.Tensor:
    """Planes of bytes (planes, height, width), as int32."""
    extents = planes.shape[1:]
    sizes = [extent // count for extent, count in zip(extents, tiles, strict=True)]
    if any(extent % count for extent, count in zip(extents, tiles, strict=True)):
        # If one axis does not divide evenly, OpenCV extends both.
        sizes = [(e + n - e % n) // n for e, n in zip(extents, tiles, strict=True)]
    tables = _tile_tables(planes, tiles, sizes, clip_limit)
    corners, weights = [], []
    for extent, count, size in zip(extents, tiles, sizes, strict=True):
        step = np.float32(1) / np.float32(size)
        position = np.arange(extent, dtype=np.float32) * step - np.float32(0.5)
        before = np.floor(position)
        number = before.astype(np.int64)
        corners.append([number.clip(0, count - 1), (number + 1).clip(0, count - 1)])
        behind = position - before
        weights.append([np.float32(1) - behind, behind])
    down = [constant(w, planes)[:, None] for w in weights[0]]
    across = [constant(w, planes) for w in weights[1]]
    value = planes.to(torch.int64)
    plane = torch.arange(len(planes), device=planes.device).reshape(-1, 1, 1)
    rows = []
    for y in corners[0]:
        found = []
        for x in corners[1]:
            tile = constant(y[:, None] * tiles[1] + x, planes)
            found.append(tables[plane, tile, value])
        rows.append(found[0] * across[0] + found[1] * across[1])
    mean = rows[0] * down[0] + rows[1] * down[1]
    return mean.round().to(torch.int32)


def _tile_tables(
    planes: torch.Tensor, tiles: tuple[int, int], sizes: list[int], clip_limit: float
) -> torch.Tensor:
    """What each byte becomes in each tile: (planes, tiles, 256), as floats."""
    choices = [
        border_indices(np.arange(count * size), extent, Border.reflect_101)[None]
        for count, size, extent in zip(tiles, sizes, planes.shape[1:], strict=True)
    ]
    whole = gathered(planes, choices)
    cells = whole.reshape(len(planes), tiles[0], sizes[0], tiles[1], sizes[1])
    cells = cells.permute(0, 1, 3, 2, 4).reshape(len(planes), tiles[0] * tiles[1], -1)
    counts = torch.zeros((*cells.shape[:2], 256), dtype=torch.int32, device=planes.device)
    counts = counts.scatter_add(2, cells.to(torch.int64), torch.ones_like(cells))
    total = sizes[0] * sizes[1]
    if clip_limit > 0:
        limit = float(np.float32(clip_limit)) * total / 256
        counts = _clipped(counts, int(min(max(limit, 1.0), float(total))))
    scale = float(np.float32(255) / np.float32(total))
    return (counts.cumsum(2, dtype=torch.int32).to(torch.float32) * scale).round().clamp(max=255)


def _clipped(counts: torch.Tensor, limit: int) -> torch.Tensor:
    """Cuts off what exceeds the limit and spreads it over all values."""
    excess = (counts - limit).clamp(min=0).sum(2, keepdim=True, dtype=torch.int32)
    share = torch.div(excess, 256, rounding_mode="floor")
    rest = excess - share * 256
    step = torch.div(256, rest.clamp(min=1), rounding_mode="floor").clamp(min=1)
    value = torch.arange(256, dtype=torch.int32, device=counts.device)
    number = torch.div(value, step, rounding_mode="floor")
    chosen = (torch.remainder(value, step) == 0) & (number < rest)
    return counts.clamp(max=limit) + share + chosen.to(torch.int32)


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
    for indices, data, _ in windows_of(samples):
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
