# SPDX-License-Identifier: Apache-2.0
"""Elements gathered from other positions, inside and beyond samples."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .buckets import buckets
from .groups import index_tensor
from .numbers import constants
from .samples import DeviceSamples

Integers = NDArray[np.int64]
# The border modes of the native core.
Border: TypeAlias = _kernels.Border


def border_indices(positions: Integers, extent: Integers | int, border: Border) -> Integers:
    """The indices in [0, extent) that positions stand for; -1 for a constant border."""
    extents: Integers = np.asarray(extent, np.int64)
    inside = (positions >= 0) & (positions < extents)
    if border == Border.constant or (extents == 0).any():
        return np.where(inside, positions, -1)
    if border == Border.clamp:
        return positions.clip(0, extents - 1)
    period = {
        Border.wrap: extents,
        Border.reflect_1001: 2 * extents,
        Border.reflect_101: np.maximum(2 * extents - 2, 1),
    }[border]
    folded = positions % period
    mirrored = period - folded - (border == Border.reflect_1001)
    found: Integers = np.where(folded < extents, folded, mirrored)
    return found


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
    whole = [
        choices[axis - 1] if axis in differing else np.arange(data.shape[axis])[None]
        for axis in range(1, last + 1)
    ]
    extents = np.array([data.shape[1 : last + 1]], np.int64)
    begins = np.arange(len(data)) * int(extents.prod())
    flat = data.reshape(len(data) * int(extents.prod()), *data.shape[last + 1 :])
    shape = [len(data), *(chosen.shape[1] for chosen in whole)]
    index = _index(flat, begins, extents, whole)
    return flat.index_select(0, index).reshape(*shape, *data.shape[last + 1 :])


def _taken(data: torch.Tensor, axis: int, chosen: Integers) -> torch.Tensor:
    count = len(chosen)
    if count == 0:
        return data.narrow(axis, 0, 0)
    first = int(chosen[0])
    if np.array_equal(chosen, np.arange(first, first + count)):
        return data.narrow(axis, first, count)
    return data.index_select(axis, index_tensor(chosen, data.device))


def _index(
    flat: torch.Tensor, begins: Integers, extents: Integers, choices: list[Integers]
) -> torch.Tensor:
    """Where elements are in a flat tensor, by the choices along each axis, one after the other.

    `extents` are those of the samples that begin at `begins`, a row for each or one for all.
    """
    kind = np.int32 if len(flat) < 2**31 else np.int64
    count = len(begins)
    tables = []
    for axis, chosen in enumerate(choices):
        step = extents[:, axis + 1 :].prod(axis=1)[:, None]
        offset = begins[:, None] if axis == 0 else 0
        table = np.broadcast_to(chosen * step + offset, (max(count, 1), chosen.shape[1]))
        if axis and (table == table[:1]).all():
            table = table[:1]
        tables.append(np.ascontiguousarray(table[:count] if len(table) > 1 else table, kind))
    index, *others = constants(flat, *tables)
    for offsets in others:
        index = index[..., None] + offsets.reshape(len(offsets), *(1,) * (index.ndim - 1), -1)
    return index.reshape(-1)


class Window(NamedTuple):
    """Samples of different sizes, padded to one: their numbers, and a tensor with a row for each.

    `inside` marks what is not padding, shaped to go together with the data; None if nothing is.
    """

    indices: Integers
    data: torch.Tensor
    inside: torch.Tensor | None


def gathered_from(
    samples: DeviceSamples, indices: Integers, first_axis: int, choices: list[Integers]
) -> torch.Tensor:
    """Elements of some samples, chosen by index along the axes from `first_axis` on.

    There is a row of choices for each of the samples, or one for all. Extents along the other axes
    are the same for all.
    """
    if samples.uniform and len(indices) == len(samples):
        data = samples.groups[0].data
        order = samples.groups[0].indices
        if not np.array_equal(order, indices):
            data = samples.select(indices.tolist()).dense()
        whole = [np.arange(extent)[None] for extent in data.shape[1:]]
        whole[first_axis : first_axis + len(choices)] = [_single(rows) for rows in choices]
        return gathered(data, whole)
    last = first_axis + len(choices)
    shapes = samples.shape_array()[indices]
    inner = shapes[0, last:].tolist()
    size = int(np.prod(inner))
    outer = [np.arange(extent)[None] for extent in shapes[0, :first_axis].tolist()]
    whole = [*outer, *choices]
    flat = samples.flat().reshape(samples.volume // max(size, 1), *inner)
    begins = (samples.begins()[indices] // max(size, 1)).clip(max=max(len(flat) - 1, 0))
    index = _index(flat, begins, shapes[:, :last], whole)
    shape = [len(indices), *(rows.shape[1] for rows in whole)]
    return flat.index_select(0, index).reshape(*shape, *inner)


def _single(choices: Integers) -> Integers:
    """One row for all samples, if theirs are the same."""
    return choices[:1] if (choices == choices[:1]).all() else choices


def ragged_axes(samples: DeviceSamples) -> tuple[int, int]:
    """The first axis along which extents differ, and the one behind the last."""
    shapes = samples.shape_array()
    differing = np.flatnonzero((shapes != shapes[:1]).any(axis=0))
    return (int(differing[0]), int(differing[-1]) + 1) if len(differing) else (0, 0)


def windows_of(samples: DeviceSamples, marked: tuple[int, ...] | None = None) -> list[Window]:
    """All samples, in tensors of few sizes; what is beyond the end of one repeats its last element.

    For a sample without elements, some of another one are there. What is inside is marked along
    the given axes, by default along all.
    """
    if samples.uniform:
        return [Window(indices, data, None) for indices, data in samples.groups]
    first, last = ragged_axes(samples)
    shapes = samples.shape_array()
    sizes = shapes[:, first:last]
    others = int(np.delete(shapes[0], np.arange(first, last)).prod())
    found = []
    for indices in buckets(sizes, others):
        extents = sizes[indices]
        choices, marks = [], []
        for axis in range(last - first):
            steps = np.arange(int(extents[:, axis].max()))[None]
            choices.append(steps.clip(max=extents[:, axis, None] - 1).clip(min=0))
            mark = steps < extents[:, axis, None]
            if (marked is None or first + axis in marked) and not mark.all():
                marks.append((axis, mark))
        data = gathered_from(samples, indices, first, choices)
        inside = None
        moved_marks = constants(data, *(mark for _, mark in marks)) if marks else []
        for (axis, mark), moved in zip(marks, moved_marks, strict=True):
            shape = [len(mark)] + [1] * (data.ndim - 1)
            shape[1 + first + axis] = mark.shape[1]
            part = moved.reshape(shape)
            inside = part if inside is None else inside & part
        found.append(Window(indices, data, inside))
    return found


def in_order(samples: DeviceSamples, parts: list[tuple[Integers, torch.Tensor]]) -> torch.Tensor:
    """Rows for some samples each, put together in the order of the samples."""
    if len(parts) == 1:
        indices, rows = parts[0]
    else:
        indices = np.concatenate([part[0] for part in parts])
        rows = torch.cat([part[1] for part in parts])
    if np.array_equal(indices, np.arange(len(samples))):
        return rows
    return rows.index_select(0, index_tensor(np.argsort(indices), rows.device))
