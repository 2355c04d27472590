# SPDX-License-Identifier: Apache-2.0
"""Tensors that hold samples of equal shape, and the types of their elements."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.dtype import DType, bfloat16, bool_, float16, float32, float64, from_code
from .accelerator import require_accelerator

# torch computes little with the larger unsigned types: their bits are kept in signed ones.
_UNSIGNED = {16: torch.int16, 32: torch.int32, 64: torch.int64}
_SIGNED = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}
_FLOATS = {
    float16: torch.float16,
    bfloat16: torch.bfloat16,
    float32: torch.float32,
    float64: torch.float64,
    bool_: torch.bool,
}


def carrier(type_id: int) -> torch.dtype:
    """The torch type that stores elements of a type."""
    dtype = from_code(type_id)
    if dtype in _FLOATS:
        if dtype is float64 and not require_accelerator("float64").has_double:
            msg = (
                "float64 data cannot be on this device, which has no double precision. Cast to "
                "float32 first."
            )
            raise ValueError(msg)
        return _FLOATS[dtype]
    if dtype.kind is DType.Kind.unsigned:
        return torch.uint8 if dtype.bits == 8 else _UNSIGNED[dtype.bits]
    return _SIGNED[dtype.bits]


class Group(NamedTuple):
    """Samples of equal shape: their numbers, and a tensor with a row for each."""

    indices: NDArray[np.int64]
    data: torch.Tensor


def cut(
    flat: torch.Tensor, numbers: list[NDArray[np.int64]], shapes: NDArray[np.int64]
) -> list[Group]:
    """Groups that follow each other in one block of memory."""
    groups, begin = [], 0
    for indices in numbers:
        shape = (len(indices), *shapes[indices[0]].tolist())
        size = int(np.prod(shape))
        groups.append(Group(indices, flat[begin : begin + size].reshape(shape)))
        begin += size
    return groups


def index_tensor(numbers: NDArray[np.int64], device: torch.device) -> torch.Tensor:
    """Numbers of rows on a device."""
    moved: torch.Tensor = require_accelerator("index").upload_arrays([numbers], device)[0]
    return moved


def take_rows(data: torch.Tensor, rows: NDArray[np.int64]) -> torch.Tensor:
    """Chosen rows; a view where they follow each other or are all the same one."""
    count = len(rows)
    if count == 0:
        return data[:0]
    first = int(rows[0])
    if np.array_equal(rows, np.arange(first, first + count)):
        return data[first : first + count]
    if (rows == first).all():
        return data[first : first + 1].expand(count, *data.shape[1:])
    return data.index_select(0, index_tensor(rows, data.device))


def by_row(table: NDArray[Any]) -> list[NDArray[np.int64]]:
    """The numbers of equal rows, for each distinct row."""
    if len(table) == 0:
        return []
    if (table == table[0]).all():
        return [np.arange(len(table))]
    found: dict[bytes, list[int]] = {}
    for number, row in enumerate(np.ascontiguousarray(table)):
        found.setdefault(row.tobytes(), []).append(number)
    return [np.array(numbers, np.int64) for numbers in found.values()]


def merged(groups: list[Group]) -> list[Group]:
    """At most one group for each shape."""
    if len(groups) < 2:
        return groups
    found: dict[tuple[int, ...], list[Group]] = {}
    for group in groups:
        found.setdefault(tuple(group.data.shape[1:]), []).append(group)
    merged = []
    for alike in found.values():
        if len(alike) == 1:
            merged.append(alike[0])
            continue
        indices = np.concatenate([group.indices for group in alike])
        order = np.argsort(indices)
        data = torch.cat([group.data for group in alike])
        merged.append(Group(indices[order], take_rows(data, order)))
    return merged


def block_of(data: torch.Tensor) -> int:
    """What distinguishes the block of memory that a tensor lies in from others."""
    return int(data.untyped_storage()._cdata)


def copied(data: torch.Tensor) -> torch.Tensor:
    return data.clone(memory_format=torch.contiguous_format)


def range_of(data: torch.Tensor, axis: int, start: int, extent: int, step: int) -> torch.Tensor:
    if extent == 0:
        return data.narrow(axis, 0, 0)
    if step < 0:
        last = start + (extent - 1) * step
        return range_of(data, axis, last, extent, -step).flip(axis)
    index = [slice(None)] * axis + [slice(start, start + (extent - 1) * step + 1, step)]
    return data[tuple(index)]
