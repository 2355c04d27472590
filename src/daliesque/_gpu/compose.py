# SPDX-License-Identifier: Apache-2.0
"""Erasing, masking and pasting on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .call import current_target
from .numbers import constants, converted, from_float
from .placement import on_device
from .ragged import Rows, coordinates, elementwise, line_index, repeated
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
    lengths = _runs(samples, offsets, bounds.reshape(-1, 2, samples.ndim))
    if len(lengths) == 1:
        return samples.copy()
    flat = samples.flat()
    flags = np.arange(len(lengths)) % 2 == 1
    counts, inside = constants(flat, lengths.astype(np.int32), flags)
    gone = inside.index_select(0, repeated(counts, len(flat)))
    # Fill values for each channel go along an axis; others are the same for all elements.
    inner = samples.ndim - channel_axis if fill.shape[1] > 1 else 0
    values = fill if inner else fill[:, 0]
    begin = 0

    def erased(rows: Rows) -> torch.Tensor:
        nonlocal begin
        count = rows.data.numel()
        mask = gone[begin : begin + count].reshape(rows.data.shape)
        begin += count
        (color,) = rows.spread(values.reshape(*values.shape, *(1,) * (inner - 1)))
        return torch.where(mask, from_float(color, samples.type_id), rows.data)

    return elementwise(samples, erased, inner)


def _runs(samples: DeviceSamples, offsets: Integers, regions: Integers) -> Integers:
    """The lengths of runs of elements, in memory, that are alternately outside and inside."""
    begins, shapes = samples.begins(), samples.shape_array()
    starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for index, (begin, shape) in enumerate(zip(begins.tolist(), shapes, strict=True)):
        for region in regions[offsets[index] : offsets[index + 1]]:
            low, high = region.clip(0, shape)
            if (high <= low).any():
                continue
            # Up to which axis the region is less than the sample; behind it, elements are in a row.
            partial = np.flatnonzero((low > 0) | (high < shape))
            axis = int(partial[-1]) if len(partial) else 0
            steps = np.append(np.cumprod(shape[::-1])[::-1][1:], 1)
            lines = np.full(1, begin, np.int64)
            for k in range(axis):
                lines = (lines[:, None] + np.arange(low[k], high[k]) * steps[k]).reshape(-1)
            starts.append(lines + low[axis] * steps[axis])
            ends.append(lines + high[axis] * steps[axis])
    order = np.argsort(np.concatenate(starts), kind="stable")
    start = np.concatenate(starts)[order]
    end = np.maximum.accumulate(np.concatenate(ends)[order]) if len(order) else start
    # Those that touch or overlap are one.
    first = np.ones(len(order), np.bool_)
    first[1:] = start[1:] > end[:-1]
    last = np.append(first[1:], True)[: len(order)]
    edges = np.stack([start[first], end[last]], axis=1).reshape(-1)
    return np.diff(np.concatenate([[0], edges, [samples.volume]]))


def grid_mask(
    samples: DeviceSamples, tile: Any, ratio: Any, angle: Any, shift_x: Any, shift_y: Any
) -> DeviceSamples:
    """Black squares in a grid."""
    size = tile.astype(np.float32)
    along, across = np.cos(angle) / size, np.sin(angle) / size
    parameters = np.broadcast_arrays(along, across, shift_x / size, shift_y / size, ratio)
    table = np.stack(parameters, axis=1).astype(np.float32)
    sizes = samples.shape_array()[:, :-1]

    def masked(rows: Rows) -> torch.Tensor:
        y, x = coordinates(sizes, rows)
        (own,) = rows.spread(table)
        forward, sideways, from_x, from_y, share = (own[..., k : k + 1] for k in range(5))
        grid_x = (-from_x + y * -sideways) + x * forward
        grid_y = (-from_y + y * forward) + x * sideways
        kept = (grid_x - grid_x.floor() >= share) | (grid_y - grid_y.floor() >= share)
        return torch.where(kept, rows.data, torch.zeros_like(rows.data[:1]))

    return elementwise(samples, masked)


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
    out.flat().zero_()
    table = patches.reshape(-1, 8)
    samples = np.repeat(np.arange(len(out)), np.diff(offsets))
    layers = np.arange(len(table)) - offsets[samples]
    # Later patches of a sample cover earlier ones; those of different samples are pasted at once.
    for layer, source in sorted(set(zip(layers.tolist(), table[:, 0].tolist(), strict=True))):
        chosen = np.flatnonzero((layers == layer) & (table[:, 0] == source))
        _paste(out, sources[source], samples[chosen], table[chosen, 1:])
    return out


def _paste(out: DeviceSamples, source: DeviceSamples, samples: Integers, patches: Integers) -> None:
    """Copy parts of images into given samples, at most one for each."""
    numbers, from_y, from_x, heights, widths, to_y, to_x = patches.T
    channels = out.shape(0)[-1]
    starts = []
    for images, chosen, y, x in ((source, numbers, from_y, from_x), (out, samples, to_y, to_x)):
        begins, extents = images.begins()[chosen] // channels, images.shape_array()[chosen, 1]
        corners = begins + y * extents + x
        steps = zip(corners, extents, heights, strict=True)
        starts.append([corner + np.arange(height) * extent for corner, extent, height in steps])
    pixels = source.flat().reshape(-1, channels)
    taken = pixels.index_select(0, line_index(pixels, starts[0], widths))
    canvas = out.flat().reshape(-1, channels)
    index = line_index(canvas, starts[1], widths).to(torch.int64)
    canvas[index] = converted(taken, source.type_id, out.type_id)
