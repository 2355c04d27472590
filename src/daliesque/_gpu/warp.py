# SPDX-License-Identifier: Apache-2.0
"""Images and volumes on accelerators whose pixels come from other positions of the input."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .gather import Border
from .groups import Group
from .numbers import constant, converted, from_float, rows, to_float
from .samples import DeviceSamples

Integers = NDArray[np.int64]
# Coordinates x, y and for volumes z, each of shape (rows, *spatial extents).
Coordinates = list[torch.Tensor]

# Positions further out than this are moved here, so that arithmetic with them stays exact.
_FARTHEST = 1e9
WarpInterp: TypeAlias = _kernels.WarpInterp


class Options(NamedTuple):
    """How pixels between and beyond others are found, and the type of the output."""

    interp: WarpInterp
    border: Border
    fill: list[float]
    type_id: int


def warped(
    samples: DeviceSamples,
    sizes: Integers,
    options: Options,
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


def _fill_pixel(options: Options, data: torch.Tensor, target: int) -> torch.Tensor:
    """The fill value as a pixel of the type `target`, after it has been one of the output's."""
    channels = data.shape[-1]
    fill = options.fill or [0.0]
    values = np.array(fill * channels if len(fill) == 1 else fill[:channels], np.float32)
    written = from_float(constant(values, data), options.type_id)
    return converted(written, options.type_id, target)


def _border(index: torch.Tensor, extent: int, border: Border) -> torch.Tensor:
    """The index in [0, extent) that stands for another one; clamped for a constant border."""
    if border in (Border.constant, Border.clamp):
        return index.clamp(0, extent - 1)
    period = {
        Border.wrap: extent,
        Border.reflect_1001: 2 * extent,
        Border.reflect_101: max(2 * extent - 2, 1),
    }[border]
    phase = torch.remainder(index, period)
    if border == Border.wrap:
        return phase
    mirrored = period - phase - (1 if border == Border.reflect_1001 else 0)
    return torch.where(phase < extent, phase, mirrored).clamp(max=extent - 1)


class _Pixels:
    """Reads pixels of a group by their indices."""

    def __init__(self, data: torch.Tensor, border: Border, fill: torch.Tensor) -> None:
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
            if self._border == Border.constant:
                beyond = (index < 0) | (index >= extent)
                outside = beyond if outside is None else outside | beyond
        values = self._flat[self._numbers, offset]
        return values if outside is None else torch.where(outside[..., None], self._fill, values)


def _sampled(
    data: torch.Tensor, positions: Coordinates, shape: Any, options: Options, source: int
) -> torch.Tensor:
    count = len(data)
    flat = [
        position.to(torch.float32).reshape(len(position), -1).expand(count, -1)
        for position in positions
    ]
    if options.interp == WarpInterp.nearest:
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
    blend = _linear if options.interp == WarpInterp.linear else _cubic
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


def coordinates_of(size: list[int], like: torch.Tensor, kind: torch.dtype) -> list[torch.Tensor]:
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
    interp: WarpInterp,
    border: Border,
    fill: list[float],
) -> DeviceSamples:
    """Pixels from matrix @ (x, y[, z], 1)."""
    dims = samples.ndim - 1

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        table = constant(rows(matrices, indices).reshape(-1, dims, dims + 1), data)
        grid = [axis + 0.5 for axis in coordinates_of(size, data, torch.float32)]
        positions = []
        for row in range(dims):
            position = table[:, row, dims].reshape(-1, *(1,) * dims)
            for k in range(dims - 1, -1, -1):
                position = position + table[:, row, k].reshape(-1, *(1,) * dims) * grid[k]
            positions.append(position.expand(len(table), *size))
        return positions

    return warped(samples, sizes, Options(interp, border, list(fill), type_id), locate)
