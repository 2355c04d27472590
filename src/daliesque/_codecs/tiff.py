# SPDX-License-Identifier: Apache-2.0
"""TIFF and BigTIFF: the first page of a file."""

from __future__ import annotations

import struct
from typing import NamedTuple

import imagecodecs
import numpy as np

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

_SIGNATURES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_WIDTH, _HEIGHT, _BITS, _PHOTOMETRIC, _FILL_ORDER, _ORIENTATION = 256, 257, 258, 262, 266, 274
_CHANNELS, _PLANAR, _COLOR_MAP, _TILE_WIDTH, _TILE_HEIGHT = 277, 284, 320, 322, 323
_EXTRA_CHANNELS, _SAMPLE_FORMAT = 338, 339
_TAGS = (
    _WIDTH,
    _HEIGHT,
    _BITS,
    _PHOTOMETRIC,
    _FILL_ORDER,
    _ORIENTATION,
    _CHANNELS,
    _PLANAR,
    _COLOR_MAP,
    _TILE_WIDTH,
    _TILE_HEIGHT,
    _EXTRA_CHANNELS,
    _SAMPLE_FORMAT,
)
_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _CMYK, _CIELAB = 0, 1, 2, 3, 5, 8
_STRAIGHT_ALPHA = 2
_FLOAT = 3
# Weights of red, green and blue, with 14 fractional bits.
_GRAY_WEIGHTS, _GRAY_BITS = (4899, 9617, 1868), 14
_TYPES = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 16: "Q", 17: "q"}


class _Details(NamedTuple):
    bits: int
    photometric: int
    is_float: bool
    palette: Array | None
    planar: bool
    # Whether libtiff would multiply colors by an alpha channel.
    straight_alpha: bool
    # The reference has two readers: the usual one takes pixels as they are stored, the other leaves
    # 8 bits to libtiff's conversions. It also applies the orientation.
    unusual: bool
    # Where the orientation is stored, and in which form.
    orientation_at: tuple[int, str] | None


def matches(data: bytes) -> bool:
    """Whether the data begin like a TIFF file."""
    return data.startswith(_SIGNATURES)


def read_header(data: bytes) -> ImageHeader:
    """Read the tags of the first page."""
    tags, orientation_at = _read_tags(data)
    missing = [name for tag, name in ((_WIDTH, "width"), (_HEIGHT, "height")) if tag not in tags]
    if missing:
        msg = f"is damaged: the TIFF does not state its {missing[0]}"
        raise CodecError(msg)
    width, height = tags[_WIDTH][0], tags[_HEIGHT][0]
    bits = tags.get(_BITS, (1,))[0]
    photometric = tags.get(_PHOTOMETRIC, (1,))[0]
    channels = tags.get(_CHANNELS, (1,))[0]
    if width <= 0 or height <= 0 or channels <= 0 or not 1 <= bits <= 64:
        msg = (
            f"is damaged: the TIFF has {height} rows, {width} columns and {channels} channels of "
            f"{bits} bits"
        )
        raise CodecError(msg)
    palette = None
    if photometric == _PALETTE:
        colors = np.array(tags.get(_COLOR_MAP, ()), np.int64).astype(np.uint16)
        if bits > 16 or len(colors) != 3 << bits:
            msg = f"is damaged: the TIFF has {bits} bits and a palette of {len(colors)} values"
            raise CodecError(msg)
        palette, channels = colors.reshape(3, -1).T, 3
    orientation = tags.get(_ORIENTATION, (1,))[0]
    is_float = tags.get(_SAMPLE_FORMAT, (1,))[0] == _FLOAT
    planar = tags.get(_PLANAR, (1,))[0] != 1
    straight = tags.get(_EXTRA_CHANNELS) == (_STRAIGHT_ALPHA,) and (photometric == _RGB or planar)
    unusual = planar or _is_unusual(tags)
    details = _Details(
        bits, photometric, is_float, palette, planar, straight, unusual, orientation_at
    )
    upright = orientation if 1 <= orientation <= 8 else 1
    return ImageHeader(height, width, channels, upright, details)


def _is_unusual(tags: dict[int, tuple[int, ...]]) -> bool:
    """Whether the reference's usual reader refuses such files."""
    bits = tags.get(_BITS, (1,))[0]
    photometric = tags.get(_PHOTOMETRIC, (_BLACK_IS_ZERO,))[0]
    tile = tags.get(_TILE_WIDTH, (0,))[0], tags.get(_TILE_HEIGHT, (0,))[0]
    return (
        photometric not in (_BLACK_IS_ZERO, _RGB, _PALETTE)
        or (photometric != _PALETTE and bits not in (1, 8, 16, 32))
        or tags.get(_FILL_ORDER, (1,))[0] != 1
        or tile[0] % 16 != 0
        or tile[1] % 16 != 0
    )


def _read_tags(data: bytes) -> tuple[dict[int, tuple[int, ...]], tuple[int, str] | None]:
    """The values of the tags of interest, and where the orientation is."""
    order = "<" if data[:2] == b"II" else ">"
    big = data[2:4] in (b"+\0", b"\0+")
    word, inline = ("Q", 8) if big else ("I", 4)
    tags: dict[int, tuple[int, ...]] = {}
    orientation_at = None
    try:
        (begin,) = struct.unpack_from(order + word, data, 8 if big else 4)
        (count,) = struct.unpack_from(order + ("Q" if big else "H"), data, begin)
        begin += 8 if big else 2
        size = 4 + 2 * inline
        for position in range(begin, begin + size * min(count, 4096), size):
            tag, kind, length = struct.unpack_from(order + "HH" + word, data, position)
            # Of a tag that comes twice, libtiff takes the first.
            if tag not in _TAGS or tag in tags or kind not in _TYPES or length > 3 << 16:
                continue
            form = f"{order}{length}{_TYPES[kind]}"
            where = position + 4 + inline
            if struct.calcsize(form) > inline:
                (where,) = struct.unpack_from(order + word, data, where)
            tags[tag] = struct.unpack_from(form, data, where)
            if tag == _ORIENTATION and length > 0:
                orientation_at = where, order + _TYPES[kind]
    except (struct.error, OverflowError):
        refuse_short("TIFF", len(data), "inside the tags")
    return {tag: values for tag, values in tags.items() if values}, orientation_at


def decode(data: bytes, header: ImageHeader, wanted: Wanted) -> Pixels:
    """Decode; what is not 8, 16 or 32 bits wide is scaled to 8 or 16."""
    details: _Details = header.details
    unusual = details.unusual or header.orientation != 1
    rule = GrayRule.fixed14 if unusual else GrayRule.float
    # libtiff's own conversion: to red, green, blue and alpha of 8 bits.
    converted = details.photometric == _CIELAB or (
        details.photometric == _CMYK and details.bits == 8 and wanted is Wanted.ALL
    )
    try:
        array = imagecodecs.tiff_decode(_as_stored(data, details), 0, asrgb=converted)
    except (RuntimeError, ValueError, IndexError) as error:
        refuse_damaged("TIFF", error)
    array = _interleaved(array, header)
    if converted:
        return Pixels(array[..., : header.channels], rule)
    if details.palette is not None:
        palette = _as_bytes(details.palette) if unusual else details.palette
        return Pixels(np.take(palette, array[..., 0].astype(np.intp), axis=0), rule)
    if array.shape[2] == 2 and wanted is not Wanted.ALL:
        unusual = True
        array = _gray_and_alpha_as_bytes(array, details)
    if unusual and details.straight_alpha and array.dtype == np.uint8 and array.shape[2] in (2, 4):
        array = _multiplied_by_alpha(array)
    if wanted is Wanted.GRAY and 8 < details.bits < 16 and array.shape[2] >= 3:
        # The reference rounds gray before it shifts.
        weighted = array[..., :3].astype(np.uint32) @ np.array(_GRAY_WEIGHTS, np.uint32)
        rounded = (weighted + (1 << _GRAY_BITS - 1)) >> _GRAY_BITS
        array = rounded.astype(np.uint16)[..., None]
    return Pixels(_full_range(array, details), rule)


def _as_stored(data: bytes, details: _Details) -> bytes:
    """The file without its orientation, which libtiff applies only in part when it converts."""
    if details.orientation_at is None:
        return data
    position, form = details.orientation_at
    value = struct.pack(form, 1)
    return data[:position] + value + data[position + len(value) :]


def _as_bytes(palette: Array) -> Array:
    """The palette in 8 bits; some programs write such values into the 16 bits of the format."""
    return (palette >> 8 if palette.max() > 255 else palette).astype(np.uint8)


def _gray_and_alpha_as_bytes(array: Array, details: _Details) -> Array:
    if array.dtype != np.uint16 or details.bits != 16:
        return array
    narrow = (array.astype(np.uint32) + 128) // 257 if details.planar else array >> 8
    return narrow.astype(np.uint8)


def _multiplied_by_alpha(array: Array) -> Array:
    alpha = array[..., -1:]
    colors = (array[..., :-1] * alpha.astype(np.uint16) + np.uint16(127)) // np.uint16(255)
    return np.concatenate([colors.astype(np.uint8), alpha], axis=2)


def _interleaved(array: Array, header: ImageHeader) -> Array:
    """Rows, columns, channels; the codec returns separate planes as they are."""
    array = with_channel_axis(array)
    if array.ndim == 3 and array.shape[1:] == (header.height, header.width) != array.shape[:2]:
        array = np.moveaxis(array, 0, -1)
    return array


def _full_range(array: Array, details: _Details) -> Array:
    """Values scaled to the range of uint8, uint16 or to [0, 1]."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "b":
        array = array.astype(np.uint8) * np.uint8(255)
    elif kind == "f":
        return array.astype(np.float32, copy=False)
    elif kind == "i" or size > 2:
        # The reference refuses these.
        return (array / np.iinfo(array.dtype).max).astype(np.float32)
    elif details.bits < 8:
        array = stretch(array, details.bits)
    elif 8 < details.bits < 16:
        # Not stretched but shifted, like the reference.
        array = array << np.uint16(16 - details.bits)
    if details.photometric == _WHITE_IS_ZERO and array.dtype == np.uint8:
        array = ~array
    return array
