# SPDX-License-Identifier: Apache-2.0
"""Images and volumes on accelerators whose pixels come from other positions of the input."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import from_code, int16, int32
from .gather import CLAMP, CONSTANT, REFLECT_101, REFLECT_1001, WRAP
from .numbers import column, constant, converted, double, from_float, rows, to_float
from .placement import on_device
from .samples import DeviceSamples, Group

Integers = NDArray[np.int64]
# Coordinates x, y and for volumes z, each of shape (rows, *spatial extents).
Coordinates = list[torch.Tensor]

# Positions further out than this are moved here, so that arithmetic with them stays exact.
_FARTHEST = 1e9
_NEAREST, _LINEAR, _CUBIC = range(3)


class _Options(NamedTuple):
    interp: int
    border: int
    fill: list[float]
    type_id: int


def _warped(
    samples: DeviceSamples,
    sizes: Integers,
    options: _Options,
    locate: Callable[[torch.Tensor, Integers, list[int]], Coordinates],
) -> DeviceSamples:
    """Pixels from positions that `locate` gives, for data, numbers of samples and output size."""
    wanted = np.broadcast_to(sizes, (len(samples), samples.ndim - 1))
    groups = []
    for indices, data in samples.split(wanted).groups:
        size = wanted[indices[0]].tolist()
        shape = (len(data), *size, data.shape[-1])
        if 0 in shape or data.numel() == 0:
            filled = _fill_pixel(options, data, options.type_id)
            groups.append(Group(indices, filled.expand(shape).contiguous()))
            continue
        positions = locate(data, indices, size)
        groups.append(Group(indices, _sampled(data, positions, shape, options, samples.type_id)))
    return samples.made(groups, type_id=options.type_id)


def _fill_pixel(options: _Options, data: torch.Tensor, target: int) -> torch.Tensor:
    """The fill value as a pixel of the type `target`, after it has been one of the output's."""
    channels = data.shape[-1]
    fill = options.fill or [0.0]
    values = np.array(fill * channels if len(fill) == 1 else fill[:channels], np.float32)
    written = from_float(constant(values, data), options.type_id)
    return converted(written, options.type_id, target)


def _border(index: torch.Tensor, extent: int, border: int) -> torch.Tensor:
    """The index in [0, extent) that stands for another one; clamped for a constant border."""
    if border in (CONSTANT, CLAMP):
        return index.clamp(0, extent - 1)
    period = {WRAP: extent, REFLECT_1001: 2 * extent, REFLECT_101: max(2 * extent - 2, 1)}[border]
    phase = torch.remainder(index, period)
    if border == WRAP:
        return phase
    mirrored = period - phase - (1 if border == REFLECT_1001 else 0)
    return torch.where(phase < extent, phase, mirrored).clamp(max=extent - 1)


class _Pixels:
    """Reads pixels of a group by their indices."""

    def __init__(self, data: torch.Tensor, border: int, fill: torch.Tensor) -> None:
        self._extents = data.shape[-2:0:-1]
        self._flat = data.reshape(len(data), -1, data.shape[-1])
        self._numbers = torch.arange(len(data), device=data.device)[:, None]
        self._border = border
        self._fill = fill

    def __call__(self, at: list[torch.Tensor]) -> torch.Tensor:
        """Pixels (samples, positions, channels) at x, y and z, each (samples, positions)."""
        offset = torch.zeros_like(at[0])
        outside = None
        step = 1
        for index, extent in zip(at, self._extents, strict=True):
            offset = offset + _border(index, extent, self._border) * step
            step *= extent
            if self._border == CONSTANT:
                beyond = (index < 0) | (index >= extent)
                outside = beyond if outside is None else outside | beyond
        values = self._flat[self._numbers, offset]
        return values if outside is None else torch.where(outside[..., None], self._fill, values)


def _sampled(
    data: torch.Tensor, positions: Coordinates, shape: Any, options: _Options, source: int
) -> torch.Tensor:
    count = len(data)
    flat = [
        position.to(torch.float32).reshape(len(position), -1).expand(count, -1)
        for position in positions
    ]
    if options.interp == _NEAREST:
        whole = converted(data, source, options.type_id)
        fill = _fill_pixel(options, data, options.type_id)
        index = [_within(position).floor().to(torch.int64) for position in flat]
        return _Pixels(whole, options.border, fill)(index).reshape(shape)
    fill = to_float(_fill_pixel(options, data, source), source)
    read = _Pixels(to_float(data, source), options.border, fill)
    # Pixel centers lie at halves.
    moved = [_within(position - 0.5) for position in flat]
    first = [position.floor() for position in moved]
    rest = [(position - left)[..., None] for position, left in zip(moved, first, strict=True)]
    index = [left.to(torch.int64) for left in first]
    blend = _linear if options.interp == _LINEAR else _cubic
    return from_float(blend(read, index, rest), options.type_id).reshape(shape)


def _within(position: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(position, nan=-_FARTHEST).clamp(-_FARTHEST, _FARTHEST)


def _linear(read: _Pixels, index: list[torch.Tensor], rest: list[torch.Tensor]) -> torch.Tensor:
    total = None
    for corner in itertools.product((0, 1), repeat=len(index)):
        part = read([i + step for i, step in zip(index, corner, strict=True)])
        for step, towards in zip(corner, rest, strict=True):
            part = part * (towards if step else 1 - towards)
        total = part if total is None else total + part
    assert total is not None
    return total


def _cubic(read: _Pixels, index: list[torch.Tensor], rest: list[torch.Tensor]) -> torch.Tensor:
    across, down = (_cubic_weights(towards) for towards in rest)
    total = None
    for r, k in itertools.product(range(4), repeat=2):
        part = read([index[0] + (k - 1), index[1] + (r - 1)]) * (down[r] * across[k])
        total = part if total is None else total + part
    assert total is not None
    return total


def _cubic_weights(x: torch.Tensor) -> list[torch.Tensor]:
    """Keys' cubic with the coefficient of OpenCV."""
    a = -0.75
    far = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    next_ = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1
    return [far, near, next_, 1.0 - far - near - next_]


def _grid(size: list[int], like: torch.Tensor, kind: torch.dtype) -> list[torch.Tensor]:
    """The output's coordinates x, y (, z), shaped to broadcast over (rows, *size)."""
    axes = []
    for axis, extent in enumerate(size):
        shape = [1] * (len(size) + 1)
        shape[axis + 1] = extent
        axes.append(torch.arange(extent, device=like.device).to(kind).reshape(shape))
    return axes[::-1]


def warp_affine(
    samples: DeviceSamples,
    type_id: int,
    sizes: Integers,
    matrices: NDArray[np.float32],
    interp: int,
    border: int,
    fill: list[float],
) -> DeviceSamples:
    """Pixels from matrix @ (x, y[, z], 1)."""
    dims = samples.ndim - 1

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        table = constant(rows(matrices, indices).reshape(-1, dims, dims + 1), data)
        grid = [axis + 0.5 for axis in _grid(size, data, torch.float32)]
        positions = []
        for row in range(dims):
            position = table[:, row, dims].reshape(-1, *(1,) * dims)
            for k in range(dims - 1, -1, -1):
                position = position + table[:, row, k].reshape(-1, *(1,) * dims) * grid[k]
            positions.append(position.expand(len(table), *size))
        return positions

    return _warped(samples, sizes, _Options(interp, border, list(fill), type_id), locate)


def _nearest_in_floats(
    m: torch.Tensor, x: torch.Tensor, y: torch.Tensor, width: int
) -> Coordinates:
    """Whole coordinates, rounded as OpenCV's loops in float32 round: see `PerspectiveMapping`."""
    kind = m.dtype
    m = m.float().to(kind)
    is_vectorized = x < width - width % 16

    def total(k: int) -> torch.Tensor:
        product = (m[:, k + 1] * y).float().to(kind)
        fused = m[:, k] * x + (product + m[:, k + 2]).float().to(kind)
        remainder = (m[:, k] * x + product).float().to(kind) + m[:, k + 2]
        return torch.where(is_vectorized, fused, remainder).float()

    divisor = total(6)
    coordinates = []
    for k in (0, 3):
        whole = (total(k) / divisor).round()
        outside = torch.full_like(whole, -(2.0**31))
        coordinates.append(torch.where(whole.abs() < 2.0**31, whole, outside) + 0.5)
    return coordinates


def warp_perspective(
    samples: DeviceSamples,
    sizes: Integers,
    matrices: NDArray[np.float64],
    interp: int,
    border: int,
    fill: list[float],
) -> DeviceSamples:
    """Pixels from matrix @ (x, y, 1), divided by its third coordinate, between pixel centers."""
    is_int16 = from_code(samples.type_id) is int16
    # As OpenCV rounds coordinates.
    units = 1 if interp == _NEAREST else 32 if interp == _LINEAR and is_int16 else 0

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        kind = double()
        table = rows(matrices, indices).reshape(-1, 9)
        m = constant(table, data).to(kind)[:, :, None, None]
        x, y = _grid(size, data, kind)
        if units == 1 and not is_int16 and data.shape[-1] != 2:
            return _nearest_in_floats(m, x, y, size[1])
        divisor = m[:, 6] * x + (m[:, 7] * y + m[:, 8])
        scale = torch.where(divisor != 0, 1 / divisor, torch.zeros_like(divisor))
        positions = []
        for k in (0, 3):
            position = (m[:, k] * x + (m[:, k + 1] * y + m[:, k + 2])) * scale
            if units:
                position = (position * units).clamp(-(2.0**31), 2.0**31 - 1).round() / units
            positions.append(position + 0.5)
        return positions

    return _warped(samples, sizes, _Options(interp, border, list(fill), samples.type_id), locate)


def warp_map(
    samples: DeviceSamples, x: Any, y: Any, sizes: Integers, shift: float, interp: int
) -> DeviceSamples:
    """Pixels from the positions that two arrays of coordinates name."""
    maps: list[DeviceSamples] = [on_device(part) for part in (x, y)]

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        del data, size
        return [part.select(indices.tolist()).dense() + shift for part in maps]

    return _warped(samples, sizes, _Options(interp, CONSTANT, [], samples.type_id), locate)


def _masked(samples: DeviceSamples, warped: DeviceSamples, mask: Any) -> DeviceSamples:
    """The warped samples where the mask is not zero, else the others."""

    def chosen(data: torch.Tensor, indices: Integers) -> torch.Tensor:
        other = warped.select(indices.tolist()).dense()
        return torch.where(column(mask != 0, indices, data), other, data)

    return samples if not mask.any() else samples.mapped(chosen)


def _own_sizes(samples: DeviceSamples) -> Integers:
    return samples.shape_array()[:, :-1]


def sphere(samples: DeviceSamples, mask: Any, interp: int, fill: float) -> DeviceSamples:
    """The view through a glass ball over the image."""

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        del indices
        middle_y, middle_x = size[0] * 0.5, size[1] * 0.5
        radius = float(int(max(middle_x, middle_y)))
        x, y = _grid(size, data, torch.float32)
        x, y = x + 0.5 - middle_x, y + 0.5 - middle_y
        distance = torch.sqrt(x * x + y * y) / radius
        return [middle_x + distance * x, middle_y + distance * y]

    options = _Options(interp, CONSTANT, [fill], samples.type_id)
    return _masked(samples, _warped(samples, _own_sizes(samples), options, locate), mask)


def water(
    samples: DeviceSamples, mask: Any, interp: int, fill: float, x: list[float], y: list[float]
) -> DeviceSamples:
    """The view through waves on water."""

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        del indices
        across, down = _grid(size, data, torch.float32)
        left = x[0] * torch.sin(x[1] * down + x[2])
        up = y[0] * torch.cos(y[1] * across + y[2])
        return [across + left, down + up]

    options = _Options(interp, CONSTANT, [fill], samples.type_id)
    return _masked(samples, _warped(samples, _own_sizes(samples), options, locate), mask)


def jitter(samples: DeviceSamples, state: Any, mask: Any, degree: int) -> DeviceSamples:
    """Each pixel from a random position nearby, drawn on the CPU."""
    shapes = samples.shape_array()
    numbers = _kernels.empty(int32.code, shapes, "HWC", len(samples))
    for index, (height, width, channels) in enumerate(shapes.tolist()):
        pixels = np.arange(height * width, dtype=np.int32).reshape(height, width, 1)
        to_numpy(numbers, index)[...] = np.broadcast_to(pixels, (height, width, channels))
    moved = _kernels.jitter(numbers, state, mask, degree)
    first = np.zeros((len(samples), 3, 3), np.int64)
    first[:, :, 1] = np.minimum(shapes, [[2**62, 2**62, 1]])
    first[:, :, 2] = 1
    positions: DeviceSamples = on_device(
        moved.slice(first.reshape(-1, 3), [False, False, False], "HWC").copy()
    )

    def displaced(data: torch.Tensor, indices: Integers) -> torch.Tensor:
        if data.numel() == 0:
            return data
        index = positions.select(indices.tolist()).dense().reshape(len(data), -1).to(torch.int64)
        flat = data.reshape(len(data), -1, data.shape[-1])
        numbers = torch.arange(len(data), device=data.device)[:, None]
        return flat[numbers, index].reshape(data.shape)

    return samples.mapped(displaced)
