# SPDX-License-Identifier: Apache-2.0
"""Work on all samples of a batch at once, though they differ in shape.

Samples lie one after the other in one block of memory (see `samples`). What treats all elements
alike is done with that block; numbers that belong to a sample are spread over its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .buckets import buckets
from .gather import ragged_axes, windows_of
from .groups import Group, block_of, by_row, copied
from .numbers import constants, rows
from .samples import DeviceSamples

Integers = NDArray[np.int64]
# How many elements a run of memory must have, on average, for a table of runs to be small.
LEAST_RUN = 16


def repeated(counts: torch.Tensor, total: int) -> torch.Tensor:
    """The numbers 0, 1, ..., each as often as a count says, `total` in all."""
    return torch.repeat_interleave(counts, output_size=total)


class Rows:
    """Elements of samples: a group of equal shapes, or those of all samples in one row.

    `data` has the shape (samples, *shape) or (elements, *inner axes). What `spread` returns has as
    many axes, and goes together with it.
    """

    def __init__(
        self, data: torch.Tensor, indices: Integers, counts: Integers | None = None
    ) -> None:
        self.data = data
        self.indices = indices
        # How many elements each sample has, if they are in one row.
        self._counts = counts
        self._numbers: torch.Tensor | None = None

    @property
    def is_group(self) -> bool:
        """Whether these are samples of equal shape."""
        return self._counts is None

    def numbers(self) -> torch.Tensor:
        """For each element in the row, which of the samples in memory it belongs to."""
        if self._numbers is None:
            assert self._counts is not None
            (counts,) = constants(self.data, self._counts.astype(np.int32))
            self._numbers = repeated(counts, len(self.data))
        return self._numbers

    def spread(self, *values: NDArray[Any]) -> list[torch.Tensor]:
        """Numbers, or vectors for the last axes, for each sample or for all, by one transfer."""
        chosen = [rows(value, self.indices) for value in values]
        if self._counts is None or all(len(value) == 1 for value in chosen):
            moved = constants(self.data, *chosen)
            return [self._shaped(part) for part in moved]
        if self._numbers is None:
            # The counts go with them.
            counts, *moved = constants(self.data, self._counts.astype(np.int32), *chosen)
            self._numbers = repeated(counts, len(self.data))
        else:
            moved = constants(self.data, *chosen)
        return [self._taken(part) for part in moved]

    def spread_tensor(self, table: torch.Tensor) -> torch.Tensor:
        """As `spread`, for what was computed on the device: a row for each sample, or one."""
        if len(table) > 1 and not np.array_equal(self.indices, np.arange(len(table))):
            (order,) = constants(self.data, self.indices)
            table = table.index_select(0, order)
        return self._shaped(table) if self._counts is None else self._taken(table)

    def _taken(self, table: torch.Tensor) -> torch.Tensor:
        if len(table) > 1:
            table = table.index_select(0, self.numbers())
        return self._shaped(table)

    def _shaped(self, part: torch.Tensor) -> torch.Tensor:
        between = self.data.ndim - part.ndim
        return part.reshape(len(part), *(1,) * between, *part.shape[1:])


def inner_axes(samples: DeviceSamples, most: int) -> int:
    """How many of the last axes, at most, are the same for all samples."""
    shapes = samples.shape_array()
    count = min(most, samples.ndim)
    while count and (shapes[:, -count:] != shapes[:1, -count:]).any():
        count -= 1
    return count


def elementwise(
    samples: DeviceSamples,
    function: Callable[[Rows], torch.Tensor],
    inner: int = 1,
    layout: str | None = None,
    type_id: int | None = None,
) -> DeviceSamples:
    """What a function makes of each element, or vector along the last `inner` axes.

    It may change the extents of these axes. If they differ from sample to sample, the function is
    called once for each shape, otherwise once for all.
    """
    if samples.uniform or inner_axes(samples, inner) < min(inner, samples.ndim):
        groups = [Group(indices, function(Rows(data, indices))) for indices, data in samples.groups]
        return samples.made(groups, layout=layout, type_id=type_id)
    shapes = samples.shape_array()
    outer = samples.ndim - min(inner, samples.ndim)
    order = samples.stored_order()
    counts = shapes[order, :outer].prod(axis=1)
    flat = samples.flat().reshape(int(counts.sum()), *shapes[0, outer:].tolist())
    result = function(Rows(flat, order, counts))
    if block_of(result) == block_of(flat):
        result = copied(result)
    shapes[:, outer:] = tuple(result.shape[1:])
    return samples.of_all(result.reshape(-1), shapes, layout, type_id)


def elements_of(other: DeviceSamples, like: DeviceSamples, inner: int = 1) -> list[torch.Tensor]:
    """The elements of samples of the same shapes, but for the last axes, as `elementwise` has them.

    That is one tensor for each time that it calls its function.
    """
    if like.uniform or inner_axes(like, inner) < min(inner, like.ndim):
        return [other.select(indices.tolist()).dense() for indices, _ in like.groups]
    order = like.stored_order()
    missing = like.ndim - other.ndim
    shape = other.shape_array()[0, other.ndim - max(0, inner - missing) :].tolist()
    if not np.array_equal(other.stored_order(), order):
        parts = [other.select([index]).flat() for index in order.tolist()]
        return [torch.cat(parts).reshape(-1, *shape)]
    return [other.flat().reshape(-1, *shape)]


def coordinates(sizes: Integers, rows: Rows, offset: float = 0.0) -> list[torch.Tensor]:
    """The coordinates of elements of `rows`, from an offset on, along the axes before the last one.

    `sizes` are the extents of all samples along these axes. They are in single precision, and
    shaped to go together with the data.
    """
    data = rows.data
    own = sizes[rows.indices]
    if rows.is_group:
        steps = [np.arange(extent, dtype=np.float32) + np.float32(offset) for extent in own[0]]
        shapes = np.ones((len(steps), data.ndim), np.int64)
        shapes[np.arange(len(steps)), np.arange(len(steps)) + 1] = own[0]
        moved = constants(data, *steps)
        return [part.reshape(shape.tolist()) for part, shape in zip(moved, shapes, strict=True)]
    counts = np.repeat(own[:, -1], own[:, :-1].prod(axis=1))
    starts = np.cumsum(counts) - counts
    outer = [np.indices(size[:-1].tolist()).reshape(len(size) - 1, -1) for size in own]
    lines = (np.concatenate(outer, axis=1).T + offset).astype(np.float32)
    kind = np.int32 if len(data) < 2**31 else np.int64
    repeats, begins, table = constants(data, counts.astype(np.int32), starts.astype(kind), lines)
    numbers = repeated(repeats, len(data))
    steps_of = torch.arange(len(data), dtype=begins.dtype, device=data.device)
    inner = (steps_of - begins.index_select(0, numbers)).to(torch.float32)
    of_line = table.index_select(0, numbers)
    last = (inner + offset if offset else inner)[:, None]
    return [*(of_line[:, k : k + 1] for k in range(lines.shape[1])), last]


def separately(
    samples: DeviceSamples,
    keys: NDArray[Any],
    run: Callable[[DeviceSamples, Integers], DeviceSamples],
    type_id: int | None = None,
) -> DeviceSamples:
    """What a function makes of samples with equal rows of `keys`, given them and their numbers.

    In most batches, all are equal.
    """
    numbers = by_row(keys)
    if len(numbers) == 1:
        return run(samples, numbers[0])
    groups, ndim = [], samples.ndim
    for indices in numbers:
        made = run(samples.select(indices.tolist()), indices)
        ndim = made.ndim
        groups += [Group(indices[group.indices], group.data) for group in made.groups]
    return samples.made(groups, ndim, type_id=type_id)


def by_buckets(
    samples: DeviceSamples,
    sizes: Integers,
    first_axis: int,
    compute: Callable[[Integers, list[int]], torch.Tensor],
    type_id: int | None = None,
) -> DeviceSamples:
    """What a function makes of samples with results of similar size.

    Results have the extents `sizes` along the axes from `first_axis` on. The function gets numbers
    of samples, and the extents that its results are to be padded to.
    """
    others = np.delete(samples.shape_array()[:1], range(first_axis, first_axis + sizes.shape[1]), 1)
    parts = [
        (indices, compute(indices, sizes[indices].max(axis=0).tolist()))
        for indices in buckets(sizes, int(others.prod()))
    ]
    return compacted(samples, parts, sizes, first_axis, type_id)


def in_windows(
    samples: DeviceSamples,
    function: Callable[[torch.Tensor, Integers, Integers], torch.Tensor],
    type_id: int | None = None,
    less: Integers | None = None,
) -> DeviceSamples:
    """What a function makes of tensors with some samples each, padded if their sizes differ.

    It gets the tensor, the numbers of the samples in it, and their shapes; `less` is what the
    results have less along each axis.
    """
    shapes = samples.shape_array()
    if samples.uniform or samples.volume == 0:
        return samples.mapped(
            lambda data, indices: function(data, indices, shapes[indices]).contiguous(),
            type_id=type_id,
        )
    first, last = ragged_axes(samples)

    def run(part: DeviceSamples, indices: Integers) -> DeviceSamples:
        own = shapes[indices]
        parts = [
            (numbers, function(data, indices[numbers], own[numbers]).contiguous())
            for numbers, data, _ in windows_of(part, ())
        ]
        kept = own[:, first:last] if less is None else own[:, first:last] - less[first:last]
        return compacted(part, parts, kept, first, type_id)

    return separately(samples, (shapes == 0).any(axis=1)[:, None], run, type_id)


def compacted(
    samples: DeviceSamples,
    parts: Sequence[tuple[Integers, torch.Tensor]],
    sizes: Integers,
    first_axis: int,
    type_id: int | None = None,
) -> DeviceSamples:
    """Samples out of tensors in which they are padded along some axes.

    `parts` holds numbers of samples with a tensor (samples, *padded shape), `sizes` the extents of
    each sample along the axes from `first_axis` on. Other extents are the same for all.
    """
    if len(parts) == 1 or all((sizes[indices] == sizes[0]).all() for indices, _ in parts):
        exact = [
            Group(indices, data)
            for indices, data in parts
            if (sizes[indices] == _padded_extents(data, first_axis, sizes.shape[1])).all()
        ]
        if len(exact) == len(parts):
            return samples.made(exact, type_id=type_id)
    first = parts[0][1]
    last = first_axis + sizes.shape[1]
    inner = first.shape[1 + last :]
    size = int(np.prod(inner))
    shapes = np.empty((len(sizes), first.ndim - 1), np.int64)
    shapes[:] = tuple(first.shape[1:])
    shapes[:, first_axis:last] = sizes
    numbers = by_row(shapes)
    order = np.concatenate(numbers)
    starts, lengths = _line_starts(parts, shapes, last, size)
    starts, lengths = [starts[i] for i in order.tolist()], lengths[order]
    flat = [data.reshape(-1, size) for _, data in parts]
    whole = flat[0] if len(flat) == 1 else torch.cat(flat)
    index = line_index(whole, starts, lengths)
    made = whole.index_select(0, index).reshape(-1)
    return DeviceSamples.of_flat(
        made,
        numbers,
        shapes,
        samples.type_id if type_id is None else type_id,
        samples.layout,
        samples.device,
        samples.working_queue(),
    )


def _padded_extents(data: torch.Tensor, first_axis: int, count: int) -> Integers:
    return np.array(data.shape[1 + first_axis : 1 + first_axis + count], np.int64)


def _line_starts(
    parts: Sequence[tuple[Integers, torch.Tensor]],
    shapes: Integers,
    last: int,
    size: int,
) -> tuple[list[Integers], Integers]:
    """Where each line of each sample begins in the padded tensors, and how long its lines are.

    Lines run along the last axis that is padded; they are counted in what is behind it.
    """
    starts: list[Integers] = [np.zeros(0, np.int64)] * len(shapes)
    base = 0
    for indices, data in parts:
        extents = np.array(data.shape[1 : 1 + last], np.int64)
        steps = np.append(np.cumprod(extents[::-1])[::-1][1:], 1)
        for row, index in enumerate(indices.tolist()):
            lines = np.full((1,), base + row * int(extents.prod()), np.int64)
            for axis in range(last - 1):
                offsets = np.arange(shapes[index, axis]) * steps[axis]
                lines = (lines[:, None] + offsets).reshape(-1)
            starts[index] = lines
        base += data.numel() // size
    return starts, shapes[:, last - 1]


def line_index(
    like: torch.Tensor,
    starts: list[Integers],
    lengths: Integers,
    backwards: NDArray[np.bool_] | None = None,
) -> torch.Tensor:
    """The indices of lines, one after the other: from each start on, as many as the length says.

    For each sample there is an array of starts, a length, and whether its lines run backwards.
    """
    begins = np.concatenate(starts) if starts else np.zeros(0, np.int64)
    lines = [len(own) for own in starts]
    counts = np.repeat(lengths, lines)
    if backwards is None or not backwards.any():
        return run_index(like, begins, counts)
    reverse = np.repeat(backwards, lines)
    firsts = np.where(reverse, begins + counts - 1, begins)
    return run_index(like, firsts, counts, np.where(reverse, -1, 1))


def run_index(
    like: torch.Tensor, begins: Integers, counts: Integers, steps: Integers | None = None
) -> torch.Tensor:
    """Indices in runs, one after the other: so many from each beginning on, by steps of 1 or so."""
    total = int(counts.sum())
    is_small = max(total, int(begins.max(initial=0))) < 2**31 - 2**24
    kind: type[np.signedinteger[Any]] = np.int32 if is_small else np.int64
    before = np.cumsum(counts) - counts
    if steps is None:
        moves, repeats = constants(like, (begins - before).astype(kind), counts.astype(np.int32))
        own = torch.arange(total, dtype=moves.dtype, device=like.device)
        return moves.index_select(0, repeated(repeats, total)) + own
    table = np.stack([begins - steps * before, steps], axis=1)
    if max(np.abs(table[:, 0]).max(initial=0), np.abs(steps).max(initial=0) * total) >= 2**30:
        # What is summed up may be larger than the indices.
        kind = np.int64
    runs, repeats = constants(like, table.astype(kind), counts.astype(np.int32))
    of_run = runs.index_select(0, repeated(repeats, total))
    own = torch.arange(total, dtype=runs.dtype, device=like.device)
    return torch.addcmul(of_run[:, 0], of_run[:, 1], own)


def grids(begins: Integers, extents: Sequence[Integers], steps: Sequence[Integers]) -> Integers:
    """Positions on a grid for each sample, one sample after the other.

    Sample k has extents[a][k] positions along axis a, which are steps[a][k] apart.
    """
    found = []
    for number, begin in enumerate(begins.tolist()):
        own = np.full(1, begin, np.int64)
        for extent, step in zip(extents, steps, strict=True):
            own = (own[:, None] + np.arange(extent[number]) * step[number]).reshape(-1)
        found.append(own)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def same_behind(tables: Sequence[Integers], axis: int) -> int:
    """How many of the last axes, behind an axis, have the same extents in all tables of shapes."""
    whole = np.concatenate(tables)
    count = 0
    while (
        count < whole.shape[1] - axis - 1 and (whole[:, -count - 1] == whole[0, -count - 1]).all()
    ):
        count += 1
    return count
