# SPDX-License-Identifier: Apache-2.0
"""Color operators in plain NumPy, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Luminance and chrominance of the NTSC standard (FCC), as digits that the reference documents.
RGB_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])


def to_type(values: Array, dtype: Any) -> Array:
    """Round halves away from zero and clamp."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return values.astype(kind)
    limits = np.iinfo(kind)
    rounded = np.trunc(values + np.copysign(0.5, values))
    return np.clip(rounded, float(limits.min), float(limits.max)).astype(kind)


def brightness_contrast(
    image: Array,
    dtype: Any,
    brightness: float = 1,
    brightness_shift: float = 0,
    contrast: float = 1,
    contrast_center: float | None = None,
) -> Array:
    """The formula of the operator."""
    kind, target = image.dtype, np.dtype(dtype)
    if contrast_center is None:
        bits = 8 * kind.itemsize - (kind.kind == "i")
        contrast_center = 0.5 if kind.kind == "f" else 2.0 ** (bits - 1)
    scale = 1 if target.kind == "f" else np.iinfo(target).max
    wide = image.astype(np.float64)
    contrasted = contrast_center + contrast * (wide - contrast_center)
    return to_type(brightness_shift * scale + brightness * contrasted, dtype)


def color_twist(
    image: Array,
    dtype: Any,
    hue: float = 0,
    saturation: float = 1,
    value: float = 1,
    brightness: float = 1,
    contrast: float = 1,
) -> Array:
    """Rotate and scale chrominance, then contrast, then brightness."""
    center = 0.5 if image.dtype.kind == "f" else 128
    c, s = np.cos(np.radians(hue)), np.sin(np.radians(hue))
    rotation = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    stretch = np.diag([1, saturation, saturation]) * value
    twisted = (
        image.astype(np.float64) @ (np.linalg.inv(RGB_TO_YIQ) @ rotation @ stretch @ RGB_TO_YIQ).T
    )
    return to_type(brightness * (center + contrast * (twisted - center)), dtype)
