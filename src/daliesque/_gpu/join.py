# SPDX-License-Identifier: Apache-2.0
"""Samples on accelerators, joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .groups import Group, by_row
from .placement import on_device
from .ragged import LEAST_RUN, run_index, same_behind
from .samples import DeviceSamples

Integers = NDArray[np.int64]


def concatenate(parts: list[Any], axis: int, layout: str) -> DeviceSamples:
    """Samples joined along an axis."""
    inputs: list[DeviceSamples] = [on_device(part) for part in parts]
    first = inputs[0]
    tables = [part.shape_array() for part in inputs]
    if not all(part.uniform for part in inputs):
        made = _side_by_side(inputs, tables, axis, layout) or _by_runs(inputs, tables, axis, layout)
        if made is not None:
            return made
    groups = []
    for group in first.split(np.concatenate(tables, axis=1)).groups:
        chosen = [part.select(group.indices.tolist()).dense() for part in inputs]
        groups.append(Group(group.indices, torch.cat(chosen, axis + 1)))
    return first.made(groups, layout=layout)


def _joined_shapes(tables: list[Integers], axis: int) -> Integers:
    shapes = tables[0].copy()
    shapes[:, axis] = sum(table[:, axis] for table in tables)
    return shapes


def _side_by_side(
    inputs: list[DeviceSamples], tables: list[Integers], axis: int, layout: str
) -> DeviceSamples | None:
    """What lies behind the axis has one shape in each input: vectors that are joined."""
    order = inputs[0].stored_order()
    for part, table in zip(inputs, tables, strict=True):
        inner = table[:, axis:]
        if (
            (inner != inner[:1]).any()
            or 0 in inner
            or not np.array_equal(part.stored_order(), order)
        ):
            return None
    flats = [
        part.flat().reshape(-1, int(table[0, axis:].prod()))
        for part, table in zip(inputs, tables, strict=True)
    ]
    flat = torch.cat(flats, 1).reshape(-1)
    return inputs[0].of_all(flat, _joined_shapes(tables, axis), layout)


def _by_runs(
    inputs: list[DeviceSamples], tables: list[Integers], axis: int, layout: str
) -> DeviceSamples | None:
    """What lies behind the axis are runs of memory, which are put in another order."""
    first, shapes = inputs[0], _joined_shapes(tables, axis)
    unit = int(shapes[0, shapes.shape[1] - same_behind(tables, axis) :].prod())
    # For each sample and input, how many runs there are, how long they are, where they begin.
    outer = shapes[:, :axis].prod(axis=1)
    lengths = np.stack([table[:, axis:].prod(axis=1) for table in tables], 1) // max(unit, 1)
    if shapes.prod(axis=1).sum() < LEAST_RUN * max(1, outer.sum()) * len(inputs) * max(unit, 1):
        return None
    base = np.cumsum([0, *(part.volume for part in inputs[:-1])])
    begins = np.stack([part.begins() + b for part, b in zip(inputs, base, strict=True)], 1)
    numbers = by_row(shapes)
    order = np.concatenate(numbers)
    starts = [
        (np.arange(outer[k])[:, None] * lengths[k] + begins[k] // unit).reshape(-1)
        for k in order.tolist()
    ]
    counts = [np.tile(lengths[k], int(outer[k])) for k in order.tolist()]
    whole = torch.cat([part.flat() for part in inputs]).reshape(-1, unit)
    index = run_index(whole, np.concatenate(starts), np.concatenate(counts))
    flat = whole.index_select(0, index).reshape(-1)
    return DeviceSamples.of_flat(
        flat, numbers, shapes, first.type_id, layout, first.device, first.working_queue()
    )
