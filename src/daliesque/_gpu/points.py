# SPDX-License-Identifier: Apache-2.0
"""Points on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._ops.points import AXES
from .._ops.points import coord_flip as _coord_flip
from .groups import Group
from .numbers import column, constant, from_float, rows, to_float
from .samples import DeviceSamples

Floats = NDArray[np.float32]


def coord_flip(points: DeviceSamples, /, *, layout: str, **arguments: Any) -> DeviceSamples:
    """Points mirrored at a center."""
    # The CPU's body checks the arguments; without points it does nothing else.
    shapes = points.shape_array()
    shapes[:, :1] = 0
    _coord_flip.spec.body(
        _kernels.empty(points.type_id, shapes, "", len(points)), layout=layout, **arguments
    )

    def flipped(data: torch.Tensor, indices: Any) -> torch.Tensor:
        columns = []
        for k, letter in enumerate((layout or AXES)[: data.shape[-1]]):
            values = data[..., k]
            center = column(arguments[f"center_{letter}"], indices, values)
            chosen = column(arguments[f"flip_{letter}"] != 0, indices, values)
            columns.append(torch.where(chosen, 2 * center - values, values))
        return torch.stack(columns, -1) if columns else data

    return points.mapped(flipped)


def transform_points(
    out: DeviceSamples, input: DeviceSamples, matrix: Floats, translation: Floats
) -> None:
    """matrix @ point + translation."""
    groups = []
    for indices, data in input.groups:
        shape = (*data.shape[:-1], out.shape(int(indices[0]))[-1])
        if 0 in shape or data.numel() == 0:
            groups.append(Group(indices, from_float(data.new_zeros(shape).float(), out.type_id)))
            continue
        tables = constant(rows(matrix, indices), data)
        tables = tables.reshape(len(tables), -1, data.shape[-1]).transpose(1, 2)
        flat = to_float(data, input.type_id).reshape(len(data), -1, data.shape[-1])
        moved = torch.matmul(flat, tables) + constant(rows(translation, indices), data)[:, None]
        groups.append(Group(indices, from_float(moved.reshape(shape), out.type_id)))
    out.become(groups)
