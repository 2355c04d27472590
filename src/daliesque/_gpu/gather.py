# SPDX-License-Identifier: Apache-2.0
"""Elements gathered from other positions, inside and beyond an array."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .groups import index_tensor

Integers = NDArray[np.int64]
# The border modes of the native core.
Border: TypeAlias = _kernels.Border


def border_indices(positions: Integers, extent: int, border: Border) -> Integers:
    """The indices in [0, extent) that positions stand for; -1 for a constant border."""
    inside = (positions >= 0) & (positions < extent)
    if border == Border.constant or extent == 0:
        return np.where(inside, positions, -1)
    if border == Border.clamp:
        return positions.clip(0, extent - 1)
    period = {
        Border.wrap: extent,
        Border.reflect_1001: 2 * extent,
        Border.reflect_101: 2 * extent - 2,
    }[border]
    if period == 0:
        return np.zeros_like(positions)
    folded = positions % period
    mirrored = period - folded - (border == Border.reflect_1001)
    return np.where(folded < extent, folded, mirrored)


def gathered(data: torch.Tensor, choices: list[Integers]) -> torch.Tensor:
    """Elements chosen along each axis by index, one row of them for each sample or for all."""
    for axis, chosen in enumerate(choices, 1):
        if len(chosen) == 1:
            data = _taken(data, axis, chosen[0])
    differing = [axis for axis, chosen in enumerate(choices, 1) if len(chosen) > 1]
    if not differing:
        return data
    # One gather over all axes up to the last that differs from sample to sample.
    last = differing[-1]
    index = [torch.arange(len(data), device=data.device).reshape(-1, *(1,) * last)]
    for axis in range(1, last + 1):
        shape = [1] * (last + 1)
        if axis in differing:
            chosen = choices[axis - 1]
            shape[0], shape[axis] = chosen.shape
            index.append(index_tensor(chosen, data.device).reshape(shape))
        else:
            shape[axis] = data.shape[axis]
            index.append(torch.arange(data.shape[axis], device=data.device).reshape(shape))
    return data[tuple(index)]


def _taken(data: torch.Tensor, axis: int, chosen: Integers) -> torch.Tensor:
    count = len(chosen)
    if count == 0:
        return data.narrow(axis, 0, 0)
    first = int(chosen[0])
    if np.array_equal(chosen, np.arange(first, first + count)):
        return data.narrow(axis, first, count)
    return data.index_select(axis, index_tensor(chosen, data.device))
