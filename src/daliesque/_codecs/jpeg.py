# SPDX-License-Identifier: Apache-2.0
"""JPEGs that the native decoder declines: lossless, of 12 bits, damaged, ..."""

from __future__ import annotations

import re
from typing import Any

import imagecodecs
import numpy as np

from .. import _kernels
from .pixels import (
    Array,
    CmykRule,
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

_MARKER = re.compile(rb"\xff([^\x00\xff])")
# Markers of segments, which say how long they are, and of the end.
_SEGMENT = re.compile(rb"\xff([^\x00\x01\xd0-\xd8\xff])")
_START_OF_SCAN, _END_OF_IMAGE, _END = 0xDA, 0xD9, b"\xff\xd9"
# Each scan costs time even if it takes few bytes. Encoders write about ten; beyond the first number
# the reference takes the decoder that it also uses for images with an EXIF orientation.
_MANY_SCANS, _MOST_SCANS = 256, 500


def decode(data: bytes, header: ImageHeader, wanted: Wanted) -> Pixels:
    """Decode with libjpeg-turbo, after making sure that the file is whole."""
    scans = _check_whole(data)
    info = _kernels.jpeg_info(data)
    gray = wanted is Wanted.GRAY and header.channels == 3 and info["coding"] != "lossless"
    try:
        array = imagecodecs.jpeg8_decode(data, outcolorspace="GRAYSCALE" if gray else None)
    except (RuntimeError, ValueError) as error:
        refuse_damaged("JPEG", error)
    array = with_channel_axis(array)
    bits: int = info["precision"]
    if 8 < bits < 16:
        array = stretch(array, bits)
    if header.channels == 4 and wanted is not Wanted.ALL:
        if header.orientation != 1 or scans > _MANY_SCANS:
            return Pixels(_without_black(array, info, CmykRule.shifted), GrayRule.fixed14)
        rule = CmykRule.inverted if info["adobe"] else CmykRule.plain
        return Pixels(_without_black(array, info, rule), GrayRule.truncate)
    return Pixels(array, GrayRule.float)


def _check_whole(data: bytes) -> int:
    """The number of scans, if the marker that ends the image comes after the first has begun.

    libjpeg-turbo would fill what is missing with gray. It would also read any number of scans.
    """
    position = 2
    while found := _MARKER.search(data, position):
        marker, position = found[1][0], found.end()
        if marker == _START_OF_SCAN:
            break
        position += int.from_bytes(data[position : position + 2], "big")
    if found is None:
        refuse_short("JPEG", len(data), "inside a header")
    if data.find(_END, position) < 0:
        refuse_short("JPEG", len(data), "inside the scan")
    scans = _count_scans(data)
    if scans > _MOST_SCANS:
        msg = f"is a JPEG of more than {_MOST_SCANS} scans, which would take too long to decode"
        raise CodecError(msg)
    return scans


def _count_scans(data: bytes) -> int:
    count, position = 0, 2
    while found := _SEGMENT.search(data, position):
        marker, position = found[1][0], found.end()
        if marker == _END_OF_IMAGE:
            break
        count += marker == _START_OF_SCAN
        position += int.from_bytes(data[position : position + 2], "big")
    return count


def _without_black(cmyk: Array, info: dict[str, Any], rule: CmykRule) -> Array:
    """Red, green and blue of cyan, magenta, yellow and black."""
    if cmyk.dtype != np.uint8 or cmyk.shape[2] != 4:
        msg = f"is a JPEG with four channels of {info['precision']} bits; only 8 are supported"
        raise CodecError(msg)
    return _kernels.cmyk_to_rgb(np.ascontiguousarray(cmyk), rule)
