# SPDX-License-Identifier: Apache-2.0
"""Images on accelerators in another perspective, or by maps of coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.dtype import from_code, int16
from .gather import Border
from .numbers import constant, double, rows
from .placement import on_device
from .samples import DeviceSamples
from .warp import Coordinates, Options, WarpInterp, coordinates_of, warped

Integers = NDArray[np.int64]


def _nearest_in_floats(
    m: torch.Tensor, x: torch.Tensor, y: torch.Tensor, width: int
) -> Coordinates:
    """Whole coordinates, rounded as OpenCV's loops in float32 round: see `PerspectiveMapping`."""
    kind = m.dtype
    m = m.float().to(kind)
    is_vectorized = x < width - width % 16

    def total(k: int) -> torch.Tensor:
        product = (m[:, k + 1] * y).float().to(kind)
        fused = m[:, k] * x + (product + m[:, k + 2]).float().to(kind)
        remainder = (m[:, k] * x + product).float().to(kind) + m[:, k + 2]
        return torch.where(is_vectorized, fused, remainder).float()

    divisor = total(6)
    coordinates = []
    for k in (0, 3):
        whole = (total(k) / divisor).round()
        outside = torch.full_like(whole, -(2.0**31))
        coordinates.append(torch.where(whole.abs() < 2.0**31, whole, outside) + 0.5)
    return coordinates


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

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        kind = double()
        table = rows(matrices, indices).reshape(-1, 9)
        m = constant(table, data).to(kind)[:, :, None, None]
        x, y = coordinates_of(size, data, kind)
        if units == 1 and not is_int16 and data.shape[-1] != 2:
            return _nearest_in_floats(m, x, y, size[1])
        divisor = m[:, 6] * x + (m[:, 7] * y + m[:, 8])
        scale = torch.where(divisor != 0, 1 / divisor, torch.zeros_like(divisor))
        positions = []
        for k in (0, 3):
            position = (m[:, k] * x + (m[:, k + 1] * y + m[:, k + 2])) * scale
            if units:
                position = (position * units).clamp(-(2.0**31), 2.0**31 - 1).round() / units
            positions.append(position + 0.5)
        return positions

    return warped(samples, sizes, Options(interp, border, list(fill), samples.type_id), locate)


def warp_map(
    samples: DeviceSamples, x: Any, y: Any, sizes: Integers, shift: float, interp: WarpInterp
) -> DeviceSamples:
    """Pixels from the positions that two arrays of coordinates name."""
    maps: list[DeviceSamples] = [on_device(part) for part in (x, y)]

    def locate(data: torch.Tensor, indices: Integers, size: list[int]) -> Coordinates:
        del data, size
        return [part.select(indices.tolist()).dense() + shift for part in maps]

    return warped(samples, sizes, Options(interp, Border.constant, [], samples.type_id), locate)
