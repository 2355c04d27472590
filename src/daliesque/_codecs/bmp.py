# SPDX-License-Identifier: Apache-2.0
"""BMP: palettes, bit fields, true color and run-length coding."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from . import pillow
from .pixels import (
    Array,
    CodecError,
    GrayRule,
    ImageHeader,
    Pixels,
    Wanted,
    refuse_damaged,
    refuse_short,
)

_PLAIN, _RLE8, _RLE4, _BIT_FIELDS, _ALPHA_BIT_FIELDS = 0, 1, 2, 3, 6
_DEFAULT_MASKS = {
    16: (0x7C00, 0x03E0, 0x001F),
    32: (0x00FF0000, 0x0000FF00, 0x000000FF),
}


class _Details(NamedTuple):
    bits: int
    compression: int
    offset: int
    top_down: bool
    palette: Array | None
    masks: tuple[int, ...]
    has_alpha: bool


def read_header(data: bytes) -> ImageHeader:
    """Read size, kind and palette."""
    if len(data) < 30:
        refuse_short("BMP", len(data), "inside the header")
    offset, size = struct.unpack_from("<I4xI", data, 10)[0], struct.unpack_from("<I", data, 14)[0]
    compression, colors = _PLAIN, 0
    if size == 12:
        width, height, _, bits = struct.unpack_from("<HHHH", data, 18)
    elif size >= 40 and len(data) >= 54:
        width, height, _, bits, compression = struct.unpack_from("<iiHHI", data, 18)
        (colors,) = struct.unpack_from("<I", data, 46)
    else:
        msg = f"is damaged: the BMP has a header of {size} bytes"
        raise CodecError(msg)
    top_down, height = height < 0, abs(height)
    if width <= 0 or height == 0:
        msg = f"is damaged: the BMP has {height} rows and {width} columns"
        raise CodecError(msg)
    _check_kind(bits, compression)
    palette = _read_palette(data, size, bits, colors) if bits <= 8 else None
    if palette is not None:
        is_gray = (palette == palette[:, :1]).all()
        channels = 1 if is_gray else 3
    else:
        channels = 4 if bits == 32 else 3
    masks, has_alpha = _read_masks(data, size, bits, compression)
    details = _Details(bits, compression, offset, top_down, palette, masks, has_alpha)
    return ImageHeader(height, width, channels, 1, details)


def _check_kind(bits: int, compression: int) -> None:
    legal = {
        _PLAIN: (1, 4, 8, 16, 24, 32),
        _RLE8: (8,),
        _RLE4: (4,),
        _BIT_FIELDS: (16, 32),
        _ALPHA_BIT_FIELDS: (16, 32),
    }
    if bits not in legal.get(compression, ()):
        msg = f"is a BMP of an unknown kind: {bits} bits, compression {compression}"
        raise CodecError(msg)


def _read_palette(data: bytes, header_size: int, bits: int, colors: int) -> Array:
    """Red, green and blue of the palette; missing entries are black."""
    entry = 3 if header_size == 12 else 4
    count = min(colors, 1 << bits) if colors and entry == 4 else 1 << bits
    raw = np.frombuffer(data[14 + header_size :][: count * entry], np.uint8)
    found = raw[: len(raw) // entry * entry].reshape(-1, entry)[:, 2::-1]
    palette = np.zeros((1 << bits, 3), np.uint8)
    palette[: len(found)] = found
    return palette


def _read_masks(
    data: bytes, header_size: int, bits: int, compression: int
) -> tuple[tuple[int, ...], bool]:
    """Masks of red, green and blue, and whether there is one of alpha."""
    if compression not in (_BIT_FIELDS, _ALPHA_BIT_FIELDS):
        return _DEFAULT_MASKS.get(bits, ()), False
    if len(data) < 66:
        refuse_short("BMP", len(data), "inside the header")
    masks = struct.unpack_from("<III", data, 54)
    if not all(masks):
        return _DEFAULT_MASKS[bits], False
    has_alpha = header_size >= 56 and len(data) >= 70
    return masks, has_alpha and struct.unpack_from("<I", data, 66)[0] != 0


def decode(data: bytes, header: ImageHeader, wanted: Wanted) -> Pixels:
    """Decode."""
    del wanted
    details: _Details = header.details
    if details.compression in (_RLE8, _RLE4):
        return Pixels(_run_lengths(data, header), GrayRule.fixed14)
    stride = (header.width * details.bits + 31) // 32 * 4
    size = stride * header.height
    if details.offset + size > len(data):
        refuse_short("BMP", len(data), "inside the pixels")
    rows = np.frombuffer(data, np.uint8, size, details.offset).reshape(header.height, stride)
    if not details.top_down:
        rows = rows[::-1]
    rule = GrayRule.truncate if details.has_alpha else GrayRule.fixed14
    if details.palette is not None:
        indices = _unpack(rows, details.bits, header.width)
        return Pixels(
            np.take(details.palette[:, : header.channels], indices, axis=0, mode="clip"), rule
        )
    if details.bits == 24:
        blue_first = rows[:, : 3 * header.width].reshape(header.height, header.width, 3)
        # Channel by channel: several times faster than copying a reversed view.
        pixels = np.empty_like(blue_first)
        for channel in range(3):
            pixels[..., channel] = blue_first[..., 2 - channel]
        return Pixels(pixels, rule)
    return Pixels(_masked(rows, header), rule)


def _unpack(rows: Array, bits: int, width: int) -> Array:
    """The numbers of `bits` bits that rows of bytes hold."""
    if bits == 8:
        return rows[:, :width]
    if bits == 4:
        pairs = np.stack([rows >> 4, rows & 15], axis=-1)
        return pairs.reshape(len(rows), -1)[:, :width]
    return np.unpackbits(rows, axis=1)[:, :width]


def _masked(rows: Array, header: ImageHeader) -> Array:
    """Channels cut out by masks. Narrow ones are shifted up, not stretched, like the reference."""
    details: _Details = header.details
    item = details.bits // 8
    words = np.ascontiguousarray(rows[:, : item * header.width]).view(f"<u{item}")
    out = np.empty((header.height, header.width, header.channels), np.uint8)
    left = (1 << details.bits) - 1
    for channel, mask in enumerate(details.masks):
        out[..., channel] = _shifted(words, mask)
        left &= ~mask
    if header.channels == 4:
        out[..., 3] = _shifted(words, left) if left else 255
    return out


def _shifted(words: Array, mask: int) -> Array:
    """The bits of a mask, moved so that the highest is the highest of a byte."""
    shift = mask.bit_length() - 8
    chosen: Array = words & words.dtype.type(mask)
    return chosen >> shift if shift >= 0 else chosen << -shift


def _run_lengths(data: bytes, header: ImageHeader) -> Array:
    indices = pillow.decode(data, "BMP")
    details: _Details = header.details
    assert details.palette is not None
    if indices.shape != (header.height, header.width):
        msg = "the run lengths do not fill the image"
        refuse_damaged("BMP", msg)
    return np.take(details.palette[:, : header.channels], indices, axis=0, mode="clip")
