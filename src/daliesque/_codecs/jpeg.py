# SPDX-License-Identifier: Apache-2.0
"""JPEGs that the native decoder declines: progressive, CMYK, lossless, of 12 bits, damaged, ..."""

from __future__ import annotations

import re
import struct
from typing import Any

import imagecodecs
import numpy as np

from .. import _kernels
from .pixels import (
    Array,
    CodecError,
    GrayRule,
    ImageHeader,
    Pixels,
    Wanted,
    refuse_damaged,
    refuse_short,
    stretch,
    with_channel_axis,
)

# A marker inside coded data that is neither a stuffed byte, a restart, nor padding.
_NEXT_MARKER = re.compile(rb"\xff([^\x00\xd0-\xd7\xff])")
_START_OF_SCAN, _END = 0xDA, 0xD9
_ADOBE = re.compile(rb"\xff\xee..Adobe", re.DOTALL)


def decode(data: bytes, header: ImageHeader, wanted: Wanted) -> Pixels:
    """Decode with libjpeg-turbo, after making sure that the file is whole."""
    _check_whole(data)
    info = _kernels.jpeg_info(data)
    gray = wanted is Wanted.GRAY and header.channels == 3 and info["coding"] != "lossless"
    try:
        array = imagecodecs.jpeg8_decode(data, outcolorspace="GRAYSCALE" if gray else None)
    except (imagecodecs.Jpeg8Error, ValueError) as error:
        refuse_damaged("JPEG", error)
    array = with_channel_axis(array)
    bits: int = info["precision"]
    if 8 < bits < 16:
        array = stretch(array, bits)
    if header.channels == 4 and wanted is not Wanted.ALL:
        return Pixels(_without_black(array, data, info), GrayRule.TRUNCATE)
    return Pixels(array, GrayRule.FLOAT)


def _check_whole(data: bytes) -> None:
    """Raise unless the markers lead from scan to scan up to the one that ends the file.

    libjpeg-turbo would fill what is missing with grey.
    """
    position = 2
    while True:
        found = _NEXT_MARKER.search(data, position)
        if found is None:
            refuse_short("JPEG", len(data), "inside the scan")
        marker, position = found[1][0], found.end()
        if marker == _END:
            return
        if position + 2 > len(data):
            refuse_short("JPEG", len(data), "inside a header")
        (length,) = struct.unpack_from(">H", data, position)
        position += length
        if position > len(data):
            where = "inside the scan" if marker == _START_OF_SCAN else "inside a header"
            refuse_short("JPEG", len(data), where)


def _without_black(cmyk: Array, data: bytes, info: dict[str, Any]) -> Array:
    """Red, green and blue of cyan, magenta, yellow and black; Adobe stores the complements."""
    if cmyk.dtype != np.uint8 or cmyk.shape[2] != 4:
        msg = f"is a JPEG with four channels of {info['precision']} bits; only 8 are supported"
        raise CodecError(msg)
    wide = cmyk.astype(np.uint16)
    if not _ADOBE.search(data, 0, 1 << 20):
        wide = 255 - wide
    return (wide[..., :3] * wide[..., 3:] // 255).astype(np.uint8)
