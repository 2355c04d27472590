# SPDX-License-Identifier: Apache-2.0
"""Arrays of constants on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.convert import to_numpy
from .arithmetic import SIGNED
from .groups import Group, carrier, index_tensor
from .numbers import constants, is_float, widened
from .placement import on_device
from .ragged import repeated
from .samples import DeviceSamples


def fill(out: DeviceSamples, values: Any) -> None:
    """Broadcast values to the output."""
    given: DeviceSamples = on_device(values)
    if given.volume == 1:
        out.flat().copy_(given.flat())
        return
    if len(given) > 1 and given.uniform and given.volume == len(given) and not out.uniform:
        # A number for each sample.
        counts = out.shape_array().prod(axis=1)[out.stored_order()].astype(np.int32)
        order, repeats = constants(out.flat(), out.stored_order(), counts)
        numbers = order.index_select(0, repeated(repeats, out.volume))
        torch.index_select(given.dense().reshape(-1), 0, numbers, out=out.flat())
        return
    for group in out.groups:
        chosen = given if len(given) == 1 else given.select(group.indices.tolist())
        for part in chosen.groups:
            rows = part.data.reshape(len(part.data), *_fitted(part.data.shape[1:], out.ndim))
            count = len(group.data) if len(chosen.groups) == 1 else len(part.data)
            try:
                spread = rows.expand(count, *group.data.shape[1:])
            except RuntimeError:
                msg = "the values cannot be broadcast to the shape"
                raise ValueError(msg) from None
            if len(chosen.groups) == 1:
                group.data.copy_(spread)
            else:
                group.data[index_tensor(part.indices, group.data.device)] = spread


def _fitted(shape: Any, ndim: int) -> tuple[int, ...]:
    """A shape with axes of extent 1 added, or left out, in front."""
    missing = ndim - len(shape)
    if missing >= 0:
        return (1,) * missing + tuple(shape)
    return tuple(shape[-missing:]) if all(e == 1 for e in shape[:-missing]) else tuple(shape)


def one_hot(
    input: DeviceSamples,
    type_id: int,
    shapes: NDArray[np.int64],
    layout: str,
    axis: int,
    values: Any,
) -> DeviceSamples:
    """Vectors that mark classes."""
    out = DeviceSamples.empty(type_id, shapes, layout, input.device, input.queue)
    marked, other = (v.item() for v in to_numpy(values).view(f"i{out.itemsize}"))
    groups = []
    for indices, data in input.groups:
        shape = list(out.shape(int(indices[0])))
        classes, shape[axis] = shape[axis], 1
        numbers = data.reshape(len(data), *shape)
        if not is_float(input.type_id):
            numbers = widened(numbers, input.type_id)
        numbers = torch.where(numbers > -1, numbers.trunc(), torch.full_like(numbers, -1))
        steps = torch.arange(classes, device=data.device).reshape(
            -1, *(1,) * (len(shape) - axis - 1)
        )
        match = numbers == steps
        kind = SIGNED[out.itemsize]
        on, off = (torch.full((), v, dtype=kind, device=data.device) for v in (marked, other))
        groups.append(Group(indices, torch.where(match, on, off).view(carrier(out.type_id))))
    out.become(groups)
    return out
