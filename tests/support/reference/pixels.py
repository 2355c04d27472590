# SPDX-License-Identifier: Apache-2.0
"""Colors, element types and orientation of decoded images, slow and obvious."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


def top(dtype: Any) -> float:
    """What stands for full brightness."""
    kind = np.dtype(dtype)
    return 1.0 if kind.kind == "f" else float(np.iinfo(kind).max)


def clamp_round(values: Array, dtype: Any) -> Array:
    """To an integer type, halves away from zero; floating-point types stay."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return values.astype(kind)
    limits = np.iinfo(kind)
    wide = values.astype(np.float64)
    rounded = np.sign(wide) * np.floor(np.abs(wide) + 0.5)
    return np.clip(rounded, limits.min, limits.max).astype(kind)


def rescale(array: Array, dtype: Any) -> Array:
    """The same brightness in another type; single precision decides about rounding."""
    if array.dtype == np.dtype(dtype):
        return array
    single = array.astype(np.float32)
    if np.dtype(dtype).kind == "f":
        return single * (np.float32(1) / np.float32(top(array.dtype)))
    return clamp_round(single * (np.float32(top(dtype)) / np.float32(top(array.dtype))), dtype)


def ycbcr(rgb: Array, dtype: Any) -> Array:
    """ITU-R BT.601, Y from 16 to 235 of 256, Cb and Cr from 16 to 240."""
    scale = top(dtype) / top(rgb.dtype)
    span = 1.0 if np.dtype(dtype).kind == "f" else top(dtype) + 1
    weights = np.array(
        [
            [0.25678823529, 0.50412941176, 0.09790588235],
            [-0.14822289945, -0.29099278682, 0.43921568627],
            [0.43921568627, -0.36778831435, -0.07142737192],
        ]
    )
    bias = np.array([0.0625, 0.5, 0.5]) * span
    return clamp_round(rgb.astype(np.float64) @ (weights * scale).T + bias, dtype)


def gray(rgb: Array) -> Array:
    """Weighted mean of red, green and blue."""
    weights = np.array([0.299, 0.587, 0.114])
    return clamp_round(rgb[..., :3].astype(np.float64) @ weights, rgb.dtype)[..., None]


def upright(stored: Array, orientation: int) -> Array:
    """Apply an EXIF orientation to an image."""
    upright_image = {
        1: lambda a: a,
        2: np.fliplr,
        3: lambda a: np.rot90(a, 2),
        4: np.flipud,
        5: lambda a: np.swapaxes(a, 0, 1),
        6: lambda a: np.rot90(a, -1),
        7: lambda a: np.swapaxes(np.rot90(a, 2), 0, 1),
        8: np.rot90,
    }[orientation](stored)
    return np.ascontiguousarray(upright_image)
