# SPDX-License-Identifier: Apache-2.0
"""Files that Pillow reads best."""

from __future__ import annotations

import io
import struct

import numpy as np
from PIL import Image

from .pixels import Array, refuse_damaged

_ERRORS = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    IndexError,
    struct.error,
    Image.DecompressionBombError,
)


def decode(data: bytes, kind: str, mode: str | None = None) -> Array:
    """The first frame of a file of the given kind, converted to a mode of Pillow."""
    try:
        with Image.open(io.BytesIO(data), formats=[kind]) as image:
            return np.asarray(image if mode is None else image.convert(mode))
    except _ERRORS as error:
        refuse_damaged(kind, error)
