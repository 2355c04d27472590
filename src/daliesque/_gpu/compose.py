# SPDX-License-Identifier: Apache-2.0
"""Erasing, masking and pasting on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .call import current_target
from .numbers import column, constant, converted, from_float, rows
from .placement import on_device
from .samples import DeviceSamples

Integers = NDArray[np.int64]


def erase(
    samples: DeviceSamples,
    offsets: Integers,
    bounds: Integers,
    fill: NDArray[np.float32],
    channel_axis: int,
) -> DeviceSamples:
    """Fill regions; `bounds` holds begins and ends, those of sample i from offsets[i] on."""
    count, ndim = len(samples), samples.ndim
    regions = bounds.reshape(-1, 2, ndim)
    numbers = np.diff(offsets)
    most = int(numbers.max(initial=0))
    # Region number r of each sample; an empty one where there are fewer.
    table = np.zeros((most, count, 2, ndim), np.int64)
    for r in range(most):
        here = np.flatnonzero(numbers > r)
        table[r, here] = regions[offsets[here] + r]

    def erased(data: torch.Tensor, indices: Integers) -> torch.Tensor:
        gone: torch.Tensor | None = None
        for boxes in table[:, indices]:
            inside = torch.ones((1,) * data.ndim, dtype=torch.bool, device=data.device)
            for axis, extent in enumerate(data.shape[1:]):
                steps = np.arange(extent)
                begin, end = boxes[:, 0, axis, None], boxes[:, 1, axis, None]
                within = (steps >= begin) & (steps < end)
                shape = [1] * data.ndim
                shape[0], shape[axis + 1] = within.shape
                inside = inside & constant(within, data).reshape(shape)
            gone = inside if gone is None else gone | inside
        if gone is None:
            return data
        values = rows(fill, indices)
        shape = [1] * data.ndim
        shape[0] = len(values)
        if values.shape[1] > 1:
            shape[channel_axis + 1] = values.shape[1]
        color = from_float(constant(values, data).reshape(shape), samples.type_id)
        return torch.where(gone, color, data)

    return samples.mapped(erased)


def grid_mask(
    samples: DeviceSamples, tile: Any, ratio: Any, angle: Any, shift_x: Any, shift_y: Any
) -> DeviceSamples:
    """Black squares in a grid."""
    size = tile.astype(np.float32)
    along, across = np.cos(angle) / size, np.sin(angle) / size

    def masked(data: torch.Tensor, indices: Integers) -> torch.Tensor:
        height, width = data.shape[1:3]
        y = torch.arange(height, device=data.device).to(torch.float32).reshape(1, -1, 1)
        x = torch.arange(width, device=data.device).to(torch.float32).reshape(1, 1, -1)
        forward, sideways = (column(v, indices, y) for v in (along, across))
        from_x, from_y = (column(v / size, indices, y) for v in (shift_x, shift_y))
        share = column(ratio, indices, y)
        grid_x = (-from_x + y * -sideways) + x * forward
        grid_y = (-from_y + y * forward) + x * sideways
        kept = (grid_x - grid_x.floor() >= share) | (grid_y - grid_y.floor() >= share)
        return torch.where(kept[..., None], data, torch.zeros_like(data))

    return samples.mapped(masked)


def multi_paste(
    inputs: Any, type_id: int, shapes: Integers, offsets: Integers, patches: Integers
) -> DeviceSamples:
    """Parts of images on black ones; patches of sample i are those from offsets[i] on."""
    sources: list[DeviceSamples] = [on_device(part) for part in inputs]
    first = sources[0]
    target = current_target()
    out = DeviceSamples.empty(
        type_id, shapes.reshape(-1, 3), first.layout, target.device, target.queue
    )
    rows_of = [_rows_by_sample(part) for part in sources]
    targets = _rows_by_sample(out)
    for group in out.groups:
        group.data.zero_()
    for index in range(len(out)):
        number, row = targets[index]
        canvas = out.groups[number].data[row]
        for patch in patches.reshape(-1, 8)[offsets[index] : offsets[index + 1]].tolist():
            source, sample, from_y, from_x, height, width, to_y, to_x = patch
            from_group, from_row = rows_of[source][sample]
            pixels = sources[source].groups[from_group].data[from_row]
            pixels = pixels[from_y : from_y + height, from_x : from_x + width]
            canvas[to_y : to_y + height, to_x : to_x + width] = converted(
                pixels, first.type_id, type_id
            )
    return out


def _rows_by_sample(samples: DeviceSamples) -> dict[int, tuple[int, int]]:
    """Group and row of each sample."""
    return {
        int(index): (number, row)
        for number, group in enumerate(samples.groups)
        for row, index in enumerate(group.indices)
    }
