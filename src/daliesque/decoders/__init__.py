# SPDX-License-Identifier: Apache-2.0
"""Decoders: from the bytes of files to pixels."""

from .._ops.image_decoders import image, image_crop, image_random_crop, image_slice
from .._ops.image_files import set_max_pixels

__all__ = [
    "image",
    "image_crop",
    "image_random_crop",
    "image_slice",
    "set_max_pixels",
]
