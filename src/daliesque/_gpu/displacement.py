# SPDX-License-Identifier: Apache-2.0
"""Images on accelerators whose pixels are displaced: sphere, water, jitter."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import int32
from .gather import Border
from .numbers import column, constant
from .placement import on_device
from .samples import DeviceSamples
from .warp import Coordinates, Options, WarpInterp, coordinates_of, warped

Integers = NDArray[np.int64]


def _masked(samples: DeviceSamples, moved: DeviceSamples, mask: Any) -> DeviceSamples:
    """The warped samples where the mask is not zero, else the others."""

    def chosen(data: torch.Tensor, indices: Integers) -> torch.Tensor:
        other = moved.select(indices.tolist()).dense()
        return torch.where(column(mask != 0, indices, data), other, data)

    return samples.copy() if not mask.any() else samples.mapped(chosen)


def _own_sizes(samples: DeviceSamples) -> Integers:
    return samples.shape_array()[:, :-1]


def sphere(samples: DeviceSamples, mask: Any, interp: WarpInterp, fill: float) -> DeviceSamples:
    """The view through a glass ball over the image."""

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        del indices
        middle_y, middle_x = size[0] * 0.5, size[1] * 0.5
        radius = float(int(max(middle_x, middle_y)))
        x, y = coordinates_of(size, data, torch.float32)
        x, y = x + 0.5 - middle_x, y + 0.5 - middle_y
        distance = torch.sqrt(x * x + y * y) / radius
        return [middle_x + distance * x, middle_y + distance * y]

    options = Options(interp, Border.constant, [fill], samples.type_id)
    return _masked(samples, warped(samples, _own_sizes(samples), options, locate), mask)


def water(
    samples: DeviceSamples,
    mask: Any,
    interp: WarpInterp,
    fill: float,
    x: list[float],
    y: list[float],
) -> DeviceSamples:
    """The view through waves on water."""

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        del indices
        across, down = coordinates_of(size, data, torch.float32)
        left = x[0] * torch.sin(x[1] * down + x[2])
        up = y[0] * torch.cos(y[1] * across + y[2])
        return [across + left, down + up]

    options = Options(interp, Border.constant, [fill], samples.type_id)
    return _masked(samples, warped(samples, _own_sizes(samples), options, locate), mask)


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


def warp_flow(
    samples: DeviceSamples,
    flow: Any,
    scale: NDArray[np.float32],
    interp: WarpInterp,
    border: Border,
    fill: list[float],
) -> DeviceSamples:
    """Pixels from positions that a field displaces, by (x, y) for each pixel."""
    fields: DeviceSamples = on_device(flow)

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        shifts = fields.select(indices.tolist()).dense()
        shifts = shifts * column(scale, indices, shifts)
        across, down = coordinates_of(size, data, torch.float32)
        return [across + 0.5 + shifts[..., 0], down + 0.5 + shifts[..., 1]]

    options = Options(interp, border, list(fill), samples.type_id)
    return warped(samples, _own_sizes(samples), options, locate)


def warp_grid(
    samples: DeviceSamples, nodes: Any, interp: WarpInterp, border: Border, fill: list[float]
) -> DeviceSamples:
    """Pixels from positions between the nodes of a grid."""
    grids: DeviceSamples = on_device(nodes)

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        positions = []
        for index in indices.tolist():
            grid = grids.select([index]).dense()[0]
            positions.append(_between_nodes(grid, size, data))
        stacked = torch.stack(positions)
        return [stacked[..., 0], stacked[..., 1]]

    options = Options(interp, border, list(fill), samples.type_id)
    return warped(samples, _own_sizes(samples), options, locate)


def _between_nodes(grid: torch.Tensor, size: list[int], like: torch.Tensor) -> torch.Tensor:
    """Positions (height, width, 2) in the input, linearly between the nodes of one grid."""
    starts, shares = [], []
    for axis in (0, 1):
        count = grid.shape[axis]
        density = np.float32(count - 1) / np.float32(size[axis])
        position = (np.arange(size[axis], dtype=np.float32) + np.float32(0.5)) * density
        start = position.astype(np.int64).clip(0, count - 2)
        starts.append(constant(start, like))
        shares.append(constant((position - start).astype(np.float32), like))
    (top, left), (down, across) = starts, shares
    rows = []
    for step in (0, 1):
        line = grid[top + step]
        before, behind = line[:, left], line[:, left + 1]
        rows.append(before + across[None, :, None] * (behind - before))
    return rows[0] + down[:, None, None] * (rows[1] - rows[0])
