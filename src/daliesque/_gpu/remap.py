# SPDX-License-Identifier: Apache-2.0
"""Images on accelerators in another perspective, or by maps of coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.dtype import from_code, int16
from .gather import Border
from .numbers import double
from .placement import on_device
from .samples import DeviceSamples
from .warp import Options, Points, WarpInterp, warped

Integers = NDArray[np.int64]


def _nearest_in_floats(
    m: list[torch.Tensor], x: torch.Tensor, y: torch.Tensor, is_vectorized: torch.Tensor
) -> torch.Tensor:
    """Whole coordinates, rounded as OpenCV's loops in float32 round: see `PerspectiveMapping`."""
    kind = x.dtype
    m = [part.float().to(kind) for part in m]

    def total(k: int) -> torch.Tensor:
        product = (m[k + 1] * y).float().to(kind)
        fused = m[k] * x + (product + m[k + 2]).float().to(kind)
        remainder = (m[k] * x + product).float().to(kind) + m[k + 2]
        return torch.where(is_vectorized, fused, remainder).float()

    divisor = total(6)
    found = [(total(k) / divisor).round() for k in (0, 3)]
    whole = torch.cat(found, -1)
    outside = torch.full_like(whole, -(2.0**31))
    return torch.where(whole.abs() < 2.0**31, whole, outside) + 0.5


def warp_perspective(
    samples: DeviceSamples,
    sizes: Integers,
    matrices: NDArray[np.float64],
    interp: WarpInterp,
    border: Border,
    fill: list[float],
) -> DeviceSamples:
    """Pixels from matrix @ (x, y, 1), divided by its third coordinate, between pixel centers."""
    is_int16 = from_code(samples.type_id) is int16
    # As OpenCV rounds coordinates.
    units = (
        1 if interp == WarpInterp.nearest else 32 if interp == WarpInterp.linear and is_int16 else 0
    )
    table = matrices.reshape(-1, 9)
    in_floats = units == 1 and not is_int16

    def locate(points: Points) -> torch.Tensor:
        kind = double()
        x, y = (axis.to(kind) for axis in points.axes())
        if in_floats and points.channels != 2:
            m = [part.to(kind) for part in points.spread(*table.T)]
            widths = points.sizes[:, 1]
            (end,) = points.spread_own((widths - widths % 16).astype(np.float32))
            return _nearest_in_floats(m, x, y, x < end)
        columns = [table[:, k::3] for k in range(3)]
        across, down, constant = (
            part.to(kind) for part in points.spread(*map(np.ascontiguousarray, columns))
        )
        # Both coordinates, and what they are divided by.
        sums = across * x + (down * y + constant)
        divisor = sums[..., 2:]
        scale = torch.where(divisor != 0, 1 / divisor, torch.zeros_like(divisor))
        position = sums[..., :2] * scale
        if units:
            position = (position * units).clamp(-(2.0**31), 2.0**31 - 1).round() / units
        return position + 0.5

    return warped(samples, sizes, Options(interp, border, list(fill), samples.type_id), locate)


def warp_map(
    samples: DeviceSamples, x: Any, y: Any, sizes: Integers, shift: float, interp: WarpInterp
) -> DeviceSamples:
    """Pixels from the positions that two arrays of coordinates name."""
    maps: list[DeviceSamples] = [on_device(part) for part in (x, y)]

    def locate(points: Points) -> torch.Tensor:
        position = torch.stack([points.elements(part) for part in maps], -1)
        return position + shift if shift else position

    return warped(samples, sizes, Options(interp, Border.constant, [], samples.type_id), locate)
