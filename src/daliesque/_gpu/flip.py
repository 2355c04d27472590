# SPDX-License-Identifier: Apache-2.0
"""Samples on accelerators, mirrored."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .numbers import column, rows
from .ragged import inner_axes, line_index
from .samples import DeviceSamples

Integers = NDArray[np.int64]


def flip(samples: DeviceSamples, horizontal: Any, vertical: Any, depthwise: Any) -> DeviceSamples:
    """Samples mirrored along the axes W, H and D whose flags are set."""
    chosen = [
        (samples.layout.index(letter) + 1, flags != 0)
        for letter, flags in (("W", horizontal), ("H", vertical), ("D", depthwise))
        if letter in samples.layout
    ]

    if not samples.uniform and samples.volume:
        return _ragged_flip(samples, chosen)

    def mirrored(data: torch.Tensor, indices: Integers) -> torch.Tensor:
        return _flipped_axes(data, [(axis, rows(flags, indices)) for axis, flags in chosen])

    return samples.mapped(mirrored)


def _ragged_flip(
    samples: DeviceSamples, chosen: list[tuple[int, NDArray[np.bool_]]]
) -> DeviceSamples:
    """Lines of pixels, each from another one, in its order or backwards."""
    shapes = samples.shape_array()
    # Pixels are what lies behind the last spatial axis.
    last = max((axis for axis, _ in chosen), default=0)
    if inner_axes(samples, samples.ndim - last) < samples.ndim - last or not chosen:
        return samples.mapped(
            lambda data, indices: _flipped_axes(data, [(a, rows(f, indices)) for a, f in chosen])
        )
    inner = int(shapes[0, last:].prod())
    flags = {axis: np.broadcast_to(values, (len(samples),)) for axis, values in chosen}
    order = samples.stored_order()
    begins = samples.begins() // max(inner, 1)
    starts, backwards = [], []
    for index in order.tolist():
        extents = shapes[index, :last]
        lines = np.full(1, begins[index], np.int64)
        for axis in range(last - 1):
            steps = np.arange(extents[axis])
            if axis + 1 in flags and flags[axis + 1][index]:
                steps = steps[::-1]
            lines = (lines[:, None] + steps * int(extents[axis + 1 :].prod())).reshape(-1)
        starts.append(lines)
        backwards.append(bool(last in flags and flags[last][index]))
    flat = samples.flat().reshape(-1, inner)
    index = line_index(flat, starts, shapes[order, last - 1], np.array(backwards))
    return samples.of_all(flat.index_select(0, index).reshape(-1), shapes)


def _flipped_axes(data: torch.Tensor, chosen: list[tuple[int, NDArray[np.bool_]]]) -> torch.Tensor:
    for axis, flags in chosen:
        data = flipped(data, axis, flags)
    return data


def flipped(data: torch.Tensor, axis: int, flags: NDArray[np.bool_]) -> torch.Tensor:
    """Rows mirrored along an axis where their flag is set."""
    if not flags.any():
        return data
    if flags.all():
        return data.flip(axis)
    return torch.where(column(flags, np.arange(len(data)), data), data.flip(axis), data)
