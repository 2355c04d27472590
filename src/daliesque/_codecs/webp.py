# SPDX-License-Identifier: Apache-2.0
"""WebP: lossy, lossless, with alpha; of animations the first frame."""

from __future__ import annotations

import struct

import imagecodecs

from .. import _kernels
from .pixels import CodecError, GrayRule, ImageHeader, Pixels, Wanted, refuse_damaged, refuse_short

_ALPHA_FLAG, _EXIF_FLAG = 0x10, 0x08
_SIZE_MASK = (1 << 14) - 1


def matches(data: bytes) -> bool:
    """Whether the data begin like a WebP file."""
    return data[:4] == b"RIFF" and data[8:12] == b"WEBP"


def read_header(data: bytes) -> ImageHeader:
    """Read the size from the first chunk, and the orientation if there is EXIF data."""
    if len(data) < 30:
        refuse_short("WebP", len(data), "inside the header")
    name, orientation = data[12:16], 1
    if name == b"VP8 ":
        if data[23:26] != b"\x9d\x01\x2a":
            msg = "is damaged: the WebP's frame does not begin with its start code"
            raise CodecError(msg)
        width, height = (size & _SIZE_MASK for size in struct.unpack_from("<HH", data, 26))
        has_alpha = False
    elif name == b"VP8L":
        (features,) = struct.unpack_from("<I", data, 21)
        width, height = (features & _SIZE_MASK) + 1, (features >> 14 & _SIZE_MASK) + 1
        has_alpha = bool(features >> 28 & 1)
    elif name == b"VP8X":
        flags = data[20]
        width = int.from_bytes(data[24:27], "little") + 1
        height = int.from_bytes(data[27:30], "little") + 1
        has_alpha = bool(flags & _ALPHA_FLAG)
        if flags & _EXIF_FLAG:
            orientation = _kernels.exif_orientation(_find_chunk(data, b"EXIF"))
    else:
        msg = f"is damaged: the WebP begins with a chunk {name!r}"
        raise CodecError(msg)
    return ImageHeader(height, width, 4 if has_alpha else 3, orientation)


def _find_chunk(data: bytes, wanted: bytes) -> bytes:
    position = 12
    while position + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, position)
        if name == wanted:
            return data[position + 8 : position + 8 + size]
        position += 8 + size + size % 2
    return b""


def decode(data: bytes, header: ImageHeader, wanted: Wanted) -> Pixels:
    """Decode. Where alpha is not wanted it is dropped, not blended."""
    has_alpha = header.channels == 4 and wanted is Wanted.ALL
    try:
        array = imagecodecs.webp_decode(data, hasalpha=has_alpha)
    except (RuntimeError, ValueError) as error:
        (size,) = struct.unpack_from("<I", data, 4)
        if len(data) < size + 8:
            refuse_short("WebP", len(data), f"{size + 8 - len(data)} too early")
        refuse_damaged("WebP", error)
    return Pixels(array, GrayRule.fixed15)
