# SPDX-License-Identifier: Apache-2.0
"""Parts of samples on accelerators, filled or continued beyond their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.dtype import DType, float16, float32, from_code
from .gather import Border, border_indices, gathered, gathered_from
from .groups import Group, by_row
from .numbers import (
    constant,
    constants,
    from_float,
    from_integer,
    rows,
    to_float,
    widened,
)
from .ragged import LEAST_RUN, by_buckets, grids, run_index
from .samples import DeviceSamples

Integers = NDArray[np.int64]


def chosen_indices(
    anchors: Integers, extents: Integers, shape: Any, border: Border
) -> tuple[list[Integers], list[NDArray[np.bool_] | None]]:
    """For each axis, which elements a window consists of, and where it leaves the input."""
    choices, outside = [], []
    for axis, extent in enumerate(shape):
        begin = anchors[:, axis]
        if (begin == begin[0]).all():
            begin = begin[:1]
        positions = begin[:, None] + np.arange(int(extents[0, axis]))
        found = border_indices(positions, int(extent), border)
        missing = found < 0
        choices.append(np.where(missing, 0, found))
        outside.append(missing if missing.any() else None)
    return choices, outside


def _spread(mask: NDArray[np.bool_], axis: int, ndim: int, like: torch.Tensor) -> torch.Tensor:
    """A mask of (rows, elements of an axis), shaped to broadcast over a window."""
    shape = [1] * (ndim + 1)
    shape[0], shape[axis + 1] = mask.shape
    return constant(mask, like).reshape(shape)


def outside_mask(
    masks: list[NDArray[np.bool_] | None], window: torch.Tensor
) -> torch.Tensor | None:
    """Where a window is outside of its sample, by the masks along each axis."""
    beyond = None
    for axis, mask in enumerate(masks):
        if mask is not None:
            spread = _spread(mask, axis, len(masks), window)
            beyond = spread if beyond is None else beyond | spread
    return beyond


def windows(
    samples: DeviceSamples, anchors: Integers, extents: Integers
) -> tuple[DeviceSamples, Integers, Integers]:
    """Windows for each sample, and groups in which they are equally large."""
    shape = (len(samples), samples.ndim)
    anchors, extents = np.broadcast_to(anchors, shape), np.broadcast_to(extents, shape)
    return samples.split(extents), anchors, extents


class RaggedWindows:
    """Windows of samples of different sizes, read with one gather for those of similar size."""

    def __init__(
        self, samples: DeviceSamples, anchors: Integers, extents: Integers, border: Border
    ) -> None:
        self.samples = samples
        shape = (len(samples), samples.ndim)
        self.anchors = np.broadcast_to(anchors, shape)
        self.extents = np.broadcast_to(extents, shape)
        self.border = border
        shapes = samples.shape_array()
        # Behind the last axis of which a part is taken, or which differs, all is taken.
        whole = (self.anchors == 0) & (self.extents == shapes) & (shapes == shapes[:1])
        self.axes = _count_before(~whole.all(axis=0))
        # Axes along which the results differ end before these.
        self.ragged = _count_before((self.extents != self.extents[:1]).any(axis=0))

    def is_in_runs(self) -> bool:
        """Whether windows lie inside of their samples, in runs of memory that are not short."""
        shapes = self.samples.shape_array()
        if (self.anchors < 0).any() or (self.anchors + self.extents > shapes).any():
            return False
        runs = self.extents[:, : self.axes - 1].prod(axis=1).sum()
        return bool(self.extents.prod(axis=1).sum() >= LEAST_RUN * max(1, runs))

    def in_runs(self) -> DeviceSamples:
        """The windows, by one gather for all."""
        samples, last = self.samples, self.axes - 1
        shapes = samples.shape_array()
        unit = int(shapes[0, self.axes :].prod())
        steps = [shapes[:, axis + 1 : self.axes].prod(axis=1) for axis in range(self.axes)]
        begins = samples.begins() // max(unit, 1)
        for axis, step in enumerate(steps):
            begins = begins + self.anchors[:, axis] * step
        numbers = by_row(self.extents)
        order = np.concatenate(numbers)
        outer = [self.extents[order, axis] for axis in range(last)]
        lines = np.prod([np.ones_like(order), *outer], axis=0)
        flat = samples.flat().reshape(-1, unit)
        starts = grids(begins[order], outer, [step[order] for step in steps[:last]])
        index = run_index(flat, starts, np.repeat(self.extents[order, last], lines))
        return DeviceSamples.of_flat(
            flat.index_select(0, index).reshape(-1),
            numbers,
            self.extents.copy(),
            samples.type_id,
            samples.layout,
            samples.device,
            samples.working_queue(),
        )

    def read(
        self, indices: Integers, padded: list[int], mirrored: tuple[int, NDArray[Any]] | None = None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Windows of some samples, padded to a size, and where they leave their samples.

        `mirrored` is an axis and, for each sample, whether it is.
        """
        samples, choices, beyond = self.samples, [], []
        shapes = samples.shape_array()[indices]
        sizes = [*padded, *self.extents[indices[0], len(padded) :].tolist()]
        for axis in range(self.axes):
            steps = np.arange(sizes[axis])[None]
            own = self.extents[indices, axis, None]
            if mirrored is not None and mirrored[0] == axis:
                flags = rows(mirrored[1], indices)[:, None]
                steps = np.where(flags, own - 1 - steps, steps)
            positions = self.anchors[indices, axis, None] + steps
            found = border_indices(positions, shapes[:, axis, None], self.border)
            # Beyond the window is padding, which may hold anything.
            missing = (found < 0) & (np.arange(sizes[axis]) < own)
            choices.append(found.clip(0, np.maximum(shapes[:, axis, None] - 1, 0)))
            beyond.append(missing)
        data = gathered_from(samples, indices, 0, choices)
        outside: torch.Tensor | None = None
        marked = [(axis, mask) for axis, mask in enumerate(beyond) if mask.any()]
        moved = constants(data, *(mask for _, mask in marked)) if marked else []
        for (axis, _), part in zip(marked, moved, strict=True):
            shape = [len(part)] + [1] * (data.ndim - 1)
            shape[axis + 1] = part.shape[1]
            spread = part.reshape(shape)
            outside = spread if outside is None else outside | spread
        return data, outside


def _count_before(flags: NDArray[np.bool_]) -> int:
    """How many there are up to the last that is set."""
    found = np.flatnonzero(flags)
    return int(found[-1]) + 1 if len(found) else 0


def enough(data: torch.Tensor, outside: list[NDArray[np.bool_] | None]) -> torch.Tensor:
    """The data; at least one element along axes that nothing is taken from."""
    for axis, mask in enumerate(outside, 1):
        if mask is not None and data.shape[axis] == 0:
            shape = list(data.shape)
            shape[axis] = 1
            data = data.new_zeros(shape)
    return data


def slice_samples(
    samples: DeviceSamples,
    type_id: int,
    anchors: Integers,
    shapes: Integers,
    border: Border,
    fill: NDArray[np.float32],
    channel_axis: int,
) -> DeviceSamples:
    """A window of each sample, which may leave it."""
    if not samples.uniform and samples.volume:
        return _ragged_slice(samples, type_id, anchors, shapes, border, fill, channel_axis)
    split, anchors, shapes = windows(samples, anchors, shapes)
    groups = []
    for group in split.groups:
        choices, outside = chosen_indices(
            anchors[group.indices], shapes[group.indices], group.data.shape[1:], border
        )
        window = gathered(enough(group.data, outside), choices)
        window = _truncated(window, samples.type_id, type_id)
        beyond = outside_mask(outside, window)
        if beyond is not None:
            values = fill_values(rows(fill, group.indices), type_id, channel_axis, window)
            window = torch.where(beyond, values, window)
        groups.append(Group(group.indices, window))
    return samples.made(groups, type_id=type_id)


def _ragged_slice(
    samples: DeviceSamples,
    type_id: int,
    anchors: Integers,
    shapes: Integers,
    border: Border,
    fill: NDArray[np.float32],
    channel_axis: int,
) -> DeviceSamples:
    source = RaggedWindows(samples, anchors, shapes, border)
    if type_id == samples.type_id and source.ragged and source.is_in_runs():
        return source.in_runs()

    def compute(indices: Integers, padded: list[int]) -> torch.Tensor:
        window, outside = source.read(indices, padded)
        window = _truncated(window, samples.type_id, type_id)
        if outside is None:
            return window
        values = fill_values(rows(fill, indices), type_id, channel_axis, window)
        return torch.where(outside, values, window)

    return by_buckets(samples, source.extents[:, : source.ragged], 0, compute, type_id)


def fill_values(
    fill: NDArray[np.float32], type_id: int, channel_axis: int, like: torch.Tensor
) -> torch.Tensor:
    """Fill values in the type of the output, shaped to broadcast over it."""
    shape = [len(fill)] + [1] * (like.ndim - 1)
    if fill.shape[1] > 1:
        shape[channel_axis + 1] = fill.shape[1]
    return from_float(constant(fill, like).reshape(shape), type_id)


def _truncated(data: torch.Tensor, source: int, target: int) -> torch.Tensor:
    """Elements in another type, clamped and cut off as slicing does."""
    if source == target:
        return data
    old, new = from_code(source), from_code(target)
    if new is float32:
        return to_float(data, source)
    if new is float16:
        return to_float(data, source).clamp(-65504.0, 65504.0).to(torch.float16)
    if old.kind is DType.Kind.float:
        return from_float(data, target, truncate=True)
    return from_integer(widened(data, source), old.name == "u64", target)
