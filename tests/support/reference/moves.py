# SPDX-License-Identifier: Apache-2.0
"""Slow and obvious versions of crop, slice, flip, pad, normalize and crop_mirror_normalize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# How NumPy calls the borders.
PAD_MODES = {"edge": "edge", "reflect": "symmetric", "reflect_101": "reflect", "wrap": "wrap"}


def window(
    array: Array,
    begin: Sequence[int],
    shape: Sequence[int],
    policy: str = "pad",
    fill: Array | float = 0,
) -> Array:
    """The part of an array from `begin` on, which may leave it."""
    if policy in PAD_MODES:
        before = [max(0, -b) for b in begin]
        widths = [
            (low, max(0, b + extent - n))
            for low, b, extent, n in zip(before, begin, shape, array.shape, strict=True)
        ]
        padded = np.pad(array, widths, mode=PAD_MODES[policy])  # type: ignore[call-overload]
        starts = [b + low for b, low in zip(begin, before, strict=True)]
        return padded[tuple(slice(s, s + n) for s, n in zip(starts, shape, strict=True))]
    out = np.empty(tuple(shape), array.dtype)
    out[...] = fill
    for index in np.ndindex(*shape):
        source = tuple(b + k for b, k in zip(begin, index, strict=True))
        if all(0 <= s < n for s, n in zip(source, array.shape, strict=True)):
            out[index] = array[source]
    return out


def round_half_away(values: Array) -> Array:
    return np.sign(values) * np.floor(np.abs(values.astype(np.float64)) + 0.5)


def convert(values: Array, dtype: Any) -> Array:
    """Round and clamp to an integer type; floats stay."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return values.astype(kind)
    limits = np.iinfo(kind)
    return np.clip(round_half_away(values), limits.min, limits.max).astype(kind)


def crop_mirror_normalize(
    image: Array,
    layout: str,
    output_layout: str,
    mean: Sequence[float],
    std: Sequence[float],
    mirror: bool = False,
    dtype: Any = np.float32,
) -> Array:
    """Without a window."""
    channels = [-1 if axis == "C" else 1 for axis in layout]
    offset = np.array(mean, np.float32).reshape(channels)
    deviation = np.array(std, np.float32).astype(np.float64)
    factor = (1.0 / deviation).astype(np.float32).reshape(channels)
    values = (image.astype(np.float32) - offset) * factor
    if mirror:
        values = np.flip(values, layout.index("W"))
    ordered = values.transpose([layout.index(axis) for axis in output_layout])
    return convert(ordered, dtype)


def normalize(
    samples: list[Array],
    axes: tuple[int, ...],
    batch: bool = False,
    ddof: int = 0,
    epsilon: float = 0.0,
    scale: float = 1.0,
    shift: float = 0.0,
) -> list[Array]:
    """In double precision."""

    def statistics(group: list[Array]) -> tuple[Array, Array]:
        count = sum(int(np.prod([a.shape[axis] for axis in axes])) for a in group)
        mean = sum(a.astype(np.float64).sum(axes, keepdims=True) for a in group) / count
        squares = sum(((a - mean) ** 2).sum(axes, keepdims=True) for a in group)
        variance = squares / (count - ddof) + epsilon
        with np.errstate(divide="ignore"):
            return mean, np.where(variance > 0, scale / np.sqrt(variance), 0)

    together = statistics(samples) if batch else None
    results = []
    for array in samples:
        mean, factor = together or statistics([array])
        results.append((array - mean) * factor + shift)
    return results
