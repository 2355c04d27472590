# SPDX-License-Identifier: Apache-2.0
"""Filters in plain NumPy, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# The names NumPy has for what lies beyond the edges.
PAD_MODES = {
    "reflect_101": "reflect",
    "reflect_1001": "symmetric",
    "wrap": "wrap",
    "clamp": "edge",
    "constant": "constant",
}


def pad(data: Array, before: list[int], after: list[int], border: str, fill: float = 0) -> Array:
    """Extend the leading axes at both ends."""
    widths = list(zip(before, after, strict=True)) + [(0, 0)] * (data.ndim - len(before))
    if border == "constant":
        return np.pad(data, widths, constant_values=fill)
    mode: Any = PAD_MODES[border]
    return np.pad(data, widths, mode=mode)


def correlate(
    data: Array, window: Array, anchor: list[int], border: str = "reflect_101", fill: float = 0
) -> Array:
    """Weighted sums of neighbors over the leading axes."""
    after = [n - 1 - a for n, a in zip(window.shape, anchor, strict=True)]
    padded = pad(data.astype(np.float64), anchor, after, border, fill)
    total = np.zeros(data.shape)
    for index in np.ndindex(*window.shape):
        part = tuple(slice(p, p + n) for p, n in zip(index, data.shape, strict=False))
        total += window[index] * padded[part]
    return total


def gaussian_window(sigma: float, size: int) -> Array:
    """Normalized samples of the bell curve."""
    if size == 0:
        size = 2 * int(np.ceil(3 * np.float32(sigma))) + 1
    elif sigma == 0:
        sigma = ((size - 1) // 2 - 1) * 0.3 + 0.8
    x = np.arange(size) - size // 2
    weights = np.exp(-(x**2) / (2 * sigma**2))
    return weights / weights.sum()


def separable(data: Array, windows: list[Array]) -> Array:
    """One window along each leading axis."""
    window = np.ones(())
    for one in windows:
        window = np.multiply.outer(window, one)
    return correlate(data, window, [len(one) // 2 for one in windows])


def laplacian(data: Array, derivatives: list[int], smoothing: list[int] | None) -> list[Array]:
    """The smoothed second derivatives along each leading axis."""
    results = []
    for axis, size in enumerate(derivatives):
        windows = [
            smoothing_window(size if smoothing is None else smoothing[k])
            for k in range(len(derivatives))
        ]
        windows[axis] = np.convolve(smoothing_window(size - 2), [1, -2, 1])
        results.append(separable(data, windows))
    return results


def smoothing_window(size: int) -> Array:
    """Binomial coefficients."""
    window = np.ones(1)
    while len(window) < size:
        window = np.convolve(window, [1, 1])
    return window


def pick(
    data: Array,
    size: tuple[int, int],
    anchor: tuple[int, int],
    border: str,
    choose: Callable[..., Any],
) -> Array:
    """choose() of the values under a window of (width, height), over the two leading axes."""
    (width, height), (x, y) = size, anchor
    padded = pad(data, [y, x], [height - 1 - y, width - 1 - x], border)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), axis=(0, 1))
    return np.asarray(choose(windows.reshape(*windows.shape[:-2], -1)))
