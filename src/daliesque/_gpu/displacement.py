# SPDX-License-Identifier: Apache-2.0
"""Images on accelerators whose pixels are displaced: sphere, water, jitter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import float32, int32
from .gather import Border
from .philox import draw_words
from .placement import on_device
from .ragged import Rows, coordinates, elements_of, elementwise
from .random import is_drawn_here
from .samples import DeviceSamples
from .warp import Options, Points, WarpInterp, warped

Integers = NDArray[np.int64]


def _masked(samples: DeviceSamples, moved: DeviceSamples, mask: Any) -> DeviceSamples:
    """The warped samples where the mask is not zero, else the others."""
    if mask.all():
        return moved
    others = iter(elements_of(moved, samples))

    def chosen(rows: Rows) -> torch.Tensor:
        (is_moved,) = rows.spread(mask != 0)
        return torch.where(is_moved, next(others), rows.data)

    return elementwise(samples, chosen)


def _own_sizes(samples: DeviceSamples) -> Integers:
    return samples.shape_array()[:, :-1]


def _together(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Both coordinates of each pixel."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    return torch.cat([x.expand(shape), y.expand(shape)], -1)


def sphere(samples: DeviceSamples, mask: Any, interp: WarpInterp, fill: float) -> DeviceSamples:
    """The view through a glass ball over the image."""

    def locate(points: Points) -> torch.Tensor:
        middles = points.sizes[:, ::-1] * np.float32(0.5)
        radius = middles.max(axis=1).astype(np.int64)
        columns = [part.astype(np.float32) for part in (*middles.T, radius)]
        middle_x, middle_y, most = points.spread_own(*columns)
        x, y = points.axes(0.5)
        x, y = x - middle_x, y - middle_y
        distance = torch.sqrt(x * x + y * y) / most
        return _together(middle_x + distance * x, middle_y + distance * y)

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

    def locate(points: Points) -> torch.Tensor:
        across, down = points.axes()
        left = x[0] * torch.sin(x[1] * down + x[2])
        up = y[0] * torch.cos(y[1] * across + y[2])
        return _together(across + left, down + up)

    options = Options(interp, Border.constant, [fill], samples.type_id)
    return _masked(samples, warped(samples, _own_sizes(samples), options, locate), mask)


def jitter(samples: DeviceSamples, state: Any, mask: Any, degree: int) -> DeviceSamples:
    """Each pixel from a random position nearby."""
    shapes = samples.shape_array()
    channels = int(shapes[:, 2].max(initial=0))
    if not is_drawn_here(samples) or (shapes[:, 2] != channels).any() or degree >= 1 << 24:
        found = _drawn_positions(samples, state, mask, degree)
        return _taken(samples, lambda _: next(found))
    moves = iter(elements_of(_drawn_moves(samples, state, degree), samples))

    def locate(rows: Rows) -> torch.Tensor:
        moved = next(moves)
        down, across = coordinates(shapes[:, :2], rows)
        height, width = rows.spread(shapes[:, 0], shapes[:, 1])
        x = torch.minimum((across + moved[..., 0:1]).clamp(min=0), width - 1)
        y = torch.minimum((down + moved[..., 1:2]).clamp(min=0), height - 1)
        return torch.addcmul(x.to(torch.int64), y.to(torch.int64), width)

    return _masked(samples, _taken(samples, locate), mask)


def _taken(samples: DeviceSamples, locate: Callable[[Rows], torch.Tensor]) -> DeviceSamples:
    """Samples whose pixels are those at other positions, counted row by row in each sample."""
    shapes = samples.shape_array()

    def displaced(rows: Rows) -> torch.Tensor:
        index = locate(rows)
        if rows.data.numel() == 0:
            return rows.data
        counts = shapes[rows.indices, :2].prod(axis=1)
        begins = np.zeros(len(samples), np.int64)
        begins[rows.indices] = np.cumsum(counts) - counts
        (begin,) = rows.spread(begins)
        flat = rows.data.reshape(-1, rows.data.shape[-1])
        return flat.index_select(0, (begin + index).reshape(-1)).reshape(rows.data.shape)

    return elementwise(samples, displaced)


def _drawn_moves(samples: DeviceSamples, state: Any, degree: int) -> DeviceSamples:
    """How far pixels are displaced along x and y, drawn on the device."""
    shapes = samples.shape_array()
    pixels, channels = shapes[:, :2].prod(axis=1), int(shapes[0, 2])

    def spread(words: torch.Tensor) -> torch.Tensor:
        if degree & (degree - 1):
            steps = (words * degree).bitwise_right_shift(32)
        else:
            steps = words.bitwise_and(degree - 1)
        return (steps - (degree >> 1)).to(torch.float32).movedim(0, -1)

    # The draws of a pixel are those of its first channel.
    flat = draw_words(samples, state, 2, spread, elements=pixels, step=channels)
    shapes[:, 2] = 2
    return samples.of_all(flat, shapes, type_id=float32.code)


def _drawn_positions(
    samples: DeviceSamples, state: Any, mask: Any, degree: int
) -> Iterator[torch.Tensor]:
    """Where pixels come from, drawn on the CPU."""
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
    return iter(elements_of(positions, samples))


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

    def locate(points: Points) -> torch.Tensor:
        (factor,) = points.spread(scale)
        return torch.addcmul(_together(*points.axes(0.5)), points.elements(fields), factor)

    options = Options(interp, border, list(fill), samples.type_id)
    return warped(samples, _own_sizes(samples), options, locate)


def warp_grid(
    samples: DeviceSamples, nodes: Any, interp: WarpInterp, border: Border, fill: list[float]
) -> DeviceSamples:
    """Pixels from positions between the nodes of a grid."""
    grids: DeviceSamples = on_device(nodes)
    flat = grids.flat().reshape(-1, 2)
    counts, begins = grids.shape_array()[:, :2], grids.begins() // 2
    sizes = _own_sizes(samples)
    with np.errstate(divide="ignore"):
        densities = (counts - 1).astype(np.float32) / sizes.astype(np.float32)

    def locate(points: Points) -> torch.Tensor:
        # Nodes for each pixel, from those on the left and above on.
        tables = [part.astype(np.float32) for part in (*densities.T, *(counts - 2).T)]
        down, across, last_y, last_x = points.spread(*tables)
        width, begin = points.spread(counts[:, 1], begins)
        x, y = points.axes(0.5)
        x, y = x * across, y * down
        left, top = torch.minimum(x.floor(), last_x), torch.minimum(y.floor(), last_y)
        share_x, share_y = x - left, y - top
        first = (begin + top.to(torch.int64) * width) + left.to(torch.int64)
        rows = []
        for line in (first, first + width):
            before, behind = (_nodes(flat, line + step) for step in (0, 1))
            rows.append(torch.addcmul(before, share_x, behind - before))
        return torch.addcmul(rows[0], share_y, rows[1] - rows[0])

    options = Options(interp, border, list(fill), samples.type_id)
    return warped(samples, sizes, options, locate)


def _nodes(flat: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The nodes at indices, which have an axis of extent 1 for what each one holds."""
    return flat.index_select(0, index.reshape(-1)).reshape(*index.shape[:-1], 2)
