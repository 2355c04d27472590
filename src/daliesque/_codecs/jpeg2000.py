# SPDX-License-Identifier: Apache-2.0
"""JPEG 2000, in JP2 files and as bare code streams."""

from __future__ import annotations

import struct

import imagecodecs
import numpy as np

from .pixels import (
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

_BOX_SIGNATURE = b"\x00\x00\x00\x0cjP  \r\n\x87\n"
_STREAM_SIGNATURE = b"\xff\x4f\xff\x51"


def matches(data: bytes) -> bool:
    """Whether the data begin like a JP2 file or a code stream."""
    return data.startswith((_BOX_SIGNATURE, _STREAM_SIGNATURE))


def read_header(data: bytes) -> ImageHeader:
    """Read size and depth from the main header of the code stream."""
    begin = 0 if data.startswith(_STREAM_SIGNATURE) else _find_stream(data)
    if begin + 42 > len(data):
        refuse_short("JPEG 2000 file", len(data), "inside the header")
    if data[begin : begin + 4] != _STREAM_SIGNATURE:
        msg = "is damaged: the JPEG 2000 code stream does not begin with its size"
        raise CodecError(msg)
    right, bottom, left, top = struct.unpack_from(">IIII", data, begin + 8)
    (channels,) = struct.unpack_from(">H", data, begin + 40)
    components = data[begin + 42 : begin + 42 + 3 * channels]
    if channels == 0 or len(components) < 3 * channels:
        refuse_short("JPEG 2000 file", len(data), "inside the header")
    depth, across, down = components[:3]
    if right <= left or bottom <= top or across == 0 or down == 0:
        msg = f"is damaged: the JPEG 2000 image spans [{left}, {right}) x [{top}, {bottom})"
        raise CodecError(msg)
    height, width = -(-(bottom - top) // down), -(-(right - left) // across)
    return ImageHeader(height, width, channels, 1, (depth & 0x7F) + 1)


def _find_stream(data: bytes) -> int:
    """Where the box with the code stream has its contents."""
    position = 0
    while position + 8 <= len(data):
        size, name = struct.unpack_from(">I4s", data, position)
        head = 8
        if size == 1:
            if position + 16 > len(data):
                break
            (size,) = struct.unpack_from(">Q", data, position + 8)
            head = 16
        if name == b"jp2c":
            return position + head
        if size < head:
            break
        position += size
    refuse_short("JPEG 2000 file", len(data), "before the code stream")


def decode(data: bytes, header: ImageHeader, wanted: Wanted) -> Pixels:
    """Decode. Data of 9 to 15 bits are not stretched to 16, as in the reference."""
    del wanted
    try:
        array = imagecodecs.jpeg2k_decode(data)
    except (RuntimeError, ValueError) as error:
        refuse_damaged("JPEG 2000 file", error)
    bits: int = header.details
    if array.dtype.kind == "i":
        unsigned = np.uint8 if bits <= 8 else np.uint16
        array = (array.astype(np.int32) + (1 << bits - 1)).astype(unsigned)
    if array.dtype.itemsize > 2:
        msg = f"is a JPEG 2000 file with {bits} bits for each channel; at most 16 are supported"
        raise CodecError(msg)
    if bits < 8:
        array = stretch(array, bits)
    return Pixels(with_channel_axis(array), GrayRule.fixed15)
