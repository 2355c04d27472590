# SPDX-License-Identifier: Apache-2.0
"""Colors of raw images on accelerators."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .gather import gathered
from .groups import Group
from .numbers import constant, rows, widened
from .samples import DeviceSamples

Demosaic: TypeAlias = _kernels.Demosaic
# Luma of red, green and blue in units of 2^-14.
_RED, _GREEN, _BLUE = 4899, 9617, 1868


def debayer(
    out: DeviceSamples,
    samples: DeviceSamples,
    blue_position: NDArray[np.int32],
    algorithm: Demosaic,
) -> None:
    """Each pixel of a sensor sees one color; the others come from its neighbors."""
    if algorithm == Demosaic.variable_gradients:
        msg = "'algorithm' must not be 'vng_ocv' on the gpu. Move the input with .cpu()."
        raise ValueError(msg)
    groups = []
    for indices, data in samples.groups:
        height, width = data.shape[1:3]
        shape = (len(data), *out.shape(int(indices[0])))
        if height <= 2 or width <= 2:
            groups.append(Group(indices, data.new_zeros(shape)))
            continue
        values = widened(data.reshape(data.shape[:3]), samples.type_id).to(torch.int64)
        # As in OpenCV, a position stands for the one in the second row and column.
        made = _interpolated(values, (rows(blue_position, indices) + 1) % 2, algorithm)
        # The first and last row and column repeat the ones next to them.
        edges = [np.arange(extent).clip(1, extent - 2)[None] - 1 for extent in (height, width)]
        whole = gathered(made, [*edges, np.arange(made.shape[3])[None]])
        groups.append(Group(indices, whole.to(data.dtype).reshape(shape)))
    out.become(groups)


def _interpolated(
    values: torch.Tensor, blue: NDArray[np.int32], algorithm: Demosaic
) -> torch.Tensor:
    """Colors, or gray, of all pixels that have eight neighbors."""
    height, width = values.shape[1:]

    def part(down: int, right: int) -> torch.Tensor:
        return values.narrow(1, 1 + down, height - 2).narrow(2, 1 + right, width - 2)

    here, left, right, up, down = part(0, 0), part(0, -1), part(0, 1), part(-1, 0), part(1, 0)
    corners = part(-1, -1) + part(-1, 1) + part(1, -1) + part(1, 1)
    in_blue_row = (np.arange(1, height - 1)[None] - blue[:, :1]) % 2 == 0
    green_column = np.where(in_blue_row, 1 - blue[:, 1:], blue[:, 1:])
    green = constant(np.arange(1, width - 1) % 2 == green_column[..., None], values)
    blue_row = constant(in_blue_row[..., None], values)
    if algorithm == Demosaic.gray:
        own = torch.where(green, 2 * (left + right), 4 * here)
        other = torch.where(green, 2 * (up + down), corners)
        middle = torch.where(green, 4 * here, left + right + up + down)
        weights = [torch.where(blue_row, first, last) for first, last in _own_and_other(values)]
        total = weights[0] * own + weights[1] * other + _GREEN * middle
        return (total + (1 << 15)).bitwise_right_shift(16)[..., None]
    sideways = (left + right + 1).bitwise_right_shift(1)
    upright = (up + down + 1).bitwise_right_shift(1)
    if algorithm == Demosaic.edge_aware:
        steeper = (left - right).abs() > (up - down).abs()
        cross = torch.where(steeper, upright, sideways)
    else:
        cross = (left + right + up + down + 2).bitwise_right_shift(2)
    own = torch.where(green, sideways, here)
    other = torch.where(green, upright, (corners + 2).bitwise_right_shift(2))
    red, blue_ = torch.where(blue_row, other, own), torch.where(blue_row, own, other)
    return torch.stack([red, torch.where(green, here, cross), blue_], -1)


def _own_and_other(like: torch.Tensor) -> list[tuple[Any, Any]]:
    """Weights of the color of a row and of the other one, for rows of blue and of red."""
    red, blue = like.new_full((), _RED), like.new_full((), _BLUE)
    return [(blue, red), (red, blue)]
