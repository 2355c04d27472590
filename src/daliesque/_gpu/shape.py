# SPDX-License-Identifier: Apache-2.0
"""Axes of samples on accelerators in another order."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from .gather import windows_of
from .groups import by_row
from .ragged import LEAST_RUN, compacted, grids, run_index
from .samples import DeviceSamples

Integers = NDArray[np.int64]


def transpose(samples: DeviceSamples, permutation: list[int], layout: str) -> DeviceSamples:
    """Axes in another order."""
    order = (0, *(axis + 1 for axis in permutation))
    if samples.uniform or samples.volume == 0:
        return samples.mapped(lambda data, _: data.permute(order).contiguous(), layout=layout)
    shapes = samples.shape_array()[:, permutation]
    moved = _by_runs(samples, permutation)
    if moved is not None:
        flat, numbers = moved
        return DeviceSamples.of_flat(
            flat,
            numbers,
            shapes,
            samples.type_id,
            layout,
            samples.device,
            samples.working_queue(),
        )
    parts = [(indices, data.permute(order)) for indices, data, _ in windows_of(samples, ())]
    made = compacted(samples, parts, shapes, 0)
    made.layout = layout
    return made


def _by_runs(
    samples: DeviceSamples, permutation: list[int]
) -> tuple[torch.Tensor, list[Integers]] | None:
    """All elements of the results, and the samples in each of their groups; None if runs are short.

    Runs go along the last axis of the results, or else of the samples.
    """
    shapes = samples.shape_array()
    numbers = by_row(shapes[:, permutation])
    order = np.concatenate(numbers)
    volumes = shapes.prod(axis=1)
    begins = np.empty(len(samples), np.int64)
    begins[order] = np.cumsum(volumes[order]) - volumes[order]
    flat = samples.flat()
    steps = [shapes[:, axis + 1 :].prod(axis=1) for axis in range(samples.ndim)]
    if _run_length(shapes[:, permutation[-1]], volumes) >= LEAST_RUN:
        from_axes = [(shapes[order, axis], steps[axis][order]) for axis in permutation]
        index = _grid_index(flat, samples.begins()[order], from_axes)
        return flat.index_select(0, index), numbers
    if _run_length(shapes[:, -1], volumes) < LEAST_RUN:
        return None
    target = shapes[:, permutation]
    stored = samples.stored_order()
    to_axes = []
    for axis in range(samples.ndim):
        spot = permutation.index(axis)
        to_axes.append((shapes[stored, axis], target[stored, spot + 1 :].prod(axis=1)))
    made = torch.empty(len(flat), dtype=flat.dtype, device=flat.device)
    made[_grid_index(flat, begins[stored], to_axes)] = flat
    return made, numbers


def _run_length(extents: Integers, volumes: Integers) -> float:
    """How long runs along an axis with these extents are, on average."""
    return float(volumes.sum() / max(1, (volumes // np.maximum(extents, 1)).sum()))


def _grid_index(
    like: torch.Tensor, begins: Integers, axes: list[tuple[Integers, Integers]]
) -> torch.Tensor:
    """Positions on the grid of each sample, given extents and steps along the axes."""
    extents, steps = zip(*axes, strict=True)
    starts = grids(begins, extents[:-1], steps[:-1])
    lines = np.prod([np.ones_like(begins), *extents[:-1]], axis=0)
    return run_index(like, starts, np.repeat(extents[-1], lines), np.repeat(steps[-1], lines))
