# SPDX-License-Identifier: Apache-2.0
"""Images decoded by this library and by Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

import daliesque as ndd
from support.image_makers import Array


def decode(data: bytes, **arguments: Any) -> Array:
    """The pixels by `decoders.image`."""
    return np.asarray(ndd.decoders.image(np.frombuffer(data, np.uint8), **arguments))


def pillow(data: bytes, mode: str = "RGB") -> Array:
    """The pixels by Pillow, always with an axis of channels."""
    with Image.open(io.BytesIO(data)) as image:
        array = np.asarray(image.convert(mode))
    return array if array.ndim == 3 else array[..., None]
