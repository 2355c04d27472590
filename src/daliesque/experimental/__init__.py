# SPDX-License-Identifier: Apache-2.0
"""Operators that the reference keeps under this name; here they are the same as the others."""

from .._ops.filters import dilate, erode, median_blur
from .._ops.image_decoders import peek_image_shape
from .._ops.remap import remap, warp_perspective
from .._ops.resize import resize
from .._public import publish as _publish
from . import decoders, readers

__all__ = [
    "decoders",
    "dilate",
    "erode",
    "median_blur",
    "peek_image_shape",
    "readers",
    "remap",
    "resize",
    "warp_perspective",
]

_publish(globals())
