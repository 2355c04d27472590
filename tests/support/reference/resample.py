# SPDX-License-Identifier: Apache-2.0
"""Separable resampling in double precision, from the definition of the filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def triangle(x: Array) -> Array:
    """A linear ramp to zero at distance 1."""
    return np.maximum(0.0, 1.0 - np.abs(x))


def cubic(x: Array) -> Array:
    """Keys' cubic convolution with a = -0.5, zero beyond distance 2."""
    x = np.abs(x)
    inner = 1.5 * x**3 - 2.5 * x**2 + 1
    outer = -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x <= 1, inner, np.where(x < 2, outer, 0.0))


def lanczos3(x: Array) -> Array:
    """A sinc under the main lobe of a three times wider one."""
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0.0)


def gaussian(x: Array) -> Array:
    """exp(-4 x^2), cut off at distance 1."""
    return np.where(np.abs(x) <= 1, np.exp(-4 * x**2), 0.0)


# Window, radius and number of samples by the number of the interpolation type. The reference
# tabulates windows and interpolates between the samples.
FILTERS = {
    1: (triangle, 1.0, 3),
    2: (cubic, 2.0, 129),
    3: (lanczos3, 3.0, 193),
    4: (triangle, 1.0, 3),
    5: (gaussian, 1.0, 65),
}


def tabulated(interp: int, x: Array) -> Array:
    """The window as read from its table, which ends with a ramp to zero on both sides."""
    window, radius, samples = FILTERS[interp]
    interval = 2 * radius / (samples - 1)
    grid = np.linspace(-radius - interval, radius + interval, samples + 2)
    values = window(grid)
    values[[0, -1]] = 0
    return np.interp(x, grid, values)


def support(interp: int, radius: float) -> int:
    """The number of taps. A Gaussian's width takes a detour in single precision."""
    width = np.float32(2 * radius)
    if interp == 5:
        sigma = np.float32(np.float32(radius) * 0.5 / np.sqrt(2))
        width = max(np.float32(1), np.float32(4 * np.sqrt(2)) * sigma)
    intervals = np.float32(FILTERS[interp][2] - 1)
    return int(np.ceil(intervals / (intervals / width)))


def weight_matrix(
    in_size: int, out_size: int, start: float, end: float, interp: int, antialias: bool
) -> Array:
    """The (out_size, in_size) matrix that resamples one axis from the interval [start, end)."""
    step = (end - start) / out_size
    centers = start + (np.arange(out_size) + 0.5) * step - 0.5
    if interp == 0:
        taps = np.floor(centers + 0.5).astype(int)[:, None]
        weights = np.ones_like(taps, float)
    else:
        stretch = max(1.0, abs(step)) if antialias else 1.0
        radius = FILTERS[interp][1] * stretch
        first = np.ceil(centers - radius).astype(int)
        taps = first[:, None] + np.arange(support(interp, radius))
        weights = tabulated(interp, (taps - centers[:, None]) / stretch)
        weights /= weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((out_size, in_size))
    rows = np.broadcast_to(np.arange(out_size)[:, None], taps.shape)
    np.add.at(matrix, (rows, np.clip(taps, 0, in_size - 1)), weights)
    return matrix


def is_clear(
    out_size: int, start: float, end: float, interp: int, antialias: bool
) -> NDArray[np.bool_]:
    """Which outputs of one axis do not lie where a window jumps, and rounding decides."""
    step = (end - start) / out_size
    centers = start + (np.arange(out_size) + 0.5) * step
    if interp not in (0, 5):
        return np.full(out_size, True)
    edges = [centers]
    if interp == 5:
        radius = max(1.0, abs(step)) if antialias else 1.0
        edges = [centers - 0.5 - radius, centers - 0.5 + radius]
    return np.all([np.abs(edge - np.round(edge)) > 1e-3 for edge in edges], axis=0)


def resample(
    array: Array,
    axes: Sequence[int],
    sizes: Sequence[int],
    starts: Sequence[float] | None = None,
    ends: Sequence[float] | None = None,
    interp: int = 1,
    antialias: bool = True,
) -> Array:
    """Resample some axes of an array; the result is double precision and not rounded."""
    result = array.astype(np.float64)
    for k, axis in enumerate(axes):
        extent = array.shape[axis]
        start = 0.0 if starts is None else starts[k]
        end = float(extent) if ends is None else ends[k]
        matrix = weight_matrix(extent, sizes[k], start, end, interp, antialias)
        result = np.moveaxis(np.tensordot(matrix, result, (1, axis)), 0, axis)
    return result
