# SPDX-License-Identifier: Apache-2.0
"""Decoders: from the bytes of files to arrays."""

from .._ops.audio_decoders import audio
from .._ops.data_decoders import inflate, numpy
from .._ops.image_decoders import image, image_crop, image_random_crop, image_slice
from .._ops.video_decoders import video
from .._public import publish as _publish
from .._shapes.image_files import set_max_pixels

__all__ = [
    "IsolatedDecoders",
    "audio",
    "image",
    "image_crop",
    "image_random_crop",
    "image_slice",
    "inflate",
    "isolated",
    "numpy",
    "set_max_pixels",
    "video",
]

_publish(globals(), dict.fromkeys(("IsolatedDecoders", "isolated"), ".._isolated.decoders"))
