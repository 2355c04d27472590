# SPDX-License-Identifier: Apache-2.0
"""PNG."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import imagecodecs
import numpy as np

from .exif import exif_orientation
from .pixels import (
    Array,
    CodecError,
    GrayRule,
    ImageHeader,
    Pixels,
    Wanted,
    refuse_damaged,
    refuse_short,
    with_channel_axis,
)

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GRAY, _COLOR, _PALETTE, _GRAY_ALPHA, _COLOR_ALPHA = 0, 2, 3, 4, 6
_CHANNELS = {_GRAY: 1, _COLOR: 3, _PALETTE: 3, _GRAY_ALPHA: 2, _COLOR_ALPHA: 4}
_STORED_CHANNELS = {**_CHANNELS, _PALETTE: 1}
_BITS = {
    _GRAY: (1, 2, 4, 8, 16),
    _COLOR: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GRAY_ALPHA: (8, 16),
    _COLOR_ALPHA: (8, 16),
}
# Gamma in 100000ths: of sRGB, and how far from 1 it must be to count.
_GAMMA_UNIT, _SRGB_GAMMA, _GAMMA_MARGIN = 100_000, 45455, 5000
_GRAY_WEIGHTS = (9797, 19234, 3737)
_FIRST_CHUNK = 33
_END_CHUNK = b"\0\0\0\0IEND\xaeB`\x82"
# Chunks of pixels follow each other; so many that do not are no image.
_MOST_RUNS = 1 << 12
# What compression that gains nothing may add to the bytes of an image.
_OVERHEAD_SHARE, _OVERHEAD_BYTES = 16, 1 << 16
# First column and row of each pass of an interlaced image, and the distances to the next ones.
_PASSES = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)


class _Details(NamedTuple):
    bits: int
    color_type: int
    interlaced: bool
    animated: bool
    # Begin, name and end of the chunks that hold palette and pixels; runs of one name are joined.
    chunks: list[tuple[int, bytes, int]]
    gamma: int
    # Of a channel with 16, as the file claims.
    significant_bits: int


def read_header(data: bytes) -> ImageHeader:
    """Read the header and look for the orientation, which may come after the pixels."""
    if len(data) < _FIRST_CHUNK:
        refuse_short("PNG", len(data), "inside the header")
    length, name, width, height, bits, color_type, _, _, interlace = struct.unpack_from(
        ">I4sIIBBBBB", data, 8
    )
    if name != b"IHDR" or length != 13:
        msg = "is damaged: the PNG does not begin with its header"
        raise CodecError(msg)
    if width == 0 or height == 0:
        msg = f"is damaged: the PNG has {height} rows and {width} columns"
        raise CodecError(msg)
    if bits not in _BITS.get(color_type, ()):
        msg = f"is damaged: a PNG of color type {color_type} cannot have {bits} bits"
        raise CodecError(msg)
    chunks: list[tuple[int, bytes, int]] = []
    orientation, animated, gammas = 1, False, dict[bytes, int]()
    significant = 16
    for begin, name, end in _chunks(data):
        if name in (b"PLTE", b"IDAT"):
            _add_chunk(chunks, begin, name, end)
        elif name == b"eXIf":
            orientation = exif_orientation(data[begin + 8 : end - 4])
        elif name in (b"gAMA", b"sRGB") and not chunks:
            stored = int.from_bytes(data[begin + 8 : begin + 12], "big")
            gammas.setdefault(name, stored if name == b"gAMA" else _SRGB_GAMMA)
        elif name == b"sBIT" and not chunks:
            significant = max(data[begin + 8 : begin + 11])
        animated |= name == b"acTL"
    gamma = gammas.get(b"sRGB", gammas.get(b"gAMA", 0)) or _GAMMA_UNIT
    if not 0 < significant <= 16:
        significant = 16
    details = _Details(bits, color_type, interlace == 1, animated, chunks, gamma, significant)
    return ImageHeader(height, width, _CHANNELS[color_type], orientation, details)


def _add_chunk(chunks: list[tuple[int, bytes, int]], begin: int, name: bytes, end: int) -> None:
    if chunks and chunks[-1][1:] == (name, begin):
        chunks[-1] = (chunks[-1][0], name, end)
        return
    if len(chunks) == _MOST_RUNS:
        msg = f"is damaged: the PNG has more than {_MOST_RUNS} pieces of image data"
        raise CodecError(msg)
    chunks.append((begin, name, end))


def _chunks(data: bytes, position: int = _FIRST_CHUNK) -> Iterator[tuple[int, bytes, int]]:
    """Begin, name and end of each chunk before the end chunk, which must be there."""
    while True:
        if position + 8 > len(data):
            refuse_short("PNG", len(data), "before the end chunk")
        length, name = struct.unpack_from(">I4s", data, position)
        if name == b"IEND":
            return
        end = position + length + 12
        if end > len(data):
            where = "inside the image data" if name == b"IDAT" else f"inside a chunk {name!r}"
            refuse_short("PNG", len(data), where)
        yield position, name, end
        position = end


def decode(data: bytes, header: ImageHeader, wanted: Wanted) -> Pixels:
    """Decode; transparency of single colors is ignored."""
    details: _Details = header.details
    try:
        if details.interlaced:
            array = _interlaced(data, header)
        elif _has_surplus(header):
            array = _repacked(data, header)
        else:
            # Without the other chunks: libpng writes warnings about color profiles and the like.
            needed = [data[begin:end] for begin, _, end in details.chunks]
            array = imagecodecs.png_decode(data[:_FIRST_CHUNK] + b"".join(needed) + _END_CHUNK)
    except (RuntimeError, zlib.error, ValueError) as error:
        refuse_damaged("PNG", error)
    array = with_channel_axis(array)
    if details.animated:
        return Pixels(array, GrayRule.fixed15)
    if wanted is Wanted.GRAY and array.shape[2] >= 3 and _counts(details.gamma):
        array = _linear_gray(array, details)
    return Pixels(array, GrayRule.png)


def _linear_gray(array: Array, details: _Details) -> Array:
    """Gray as libpng computes it if the file states its gamma: weighted in linear light."""
    screen = _reciprocal(details.gamma)
    shift = min(16 - details.significant_bits, 8) if array.dtype == np.uint16 else 0
    to_light = _power_table(screen, array.dtype, shift)
    from_light = _power_table(_reciprocal(screen), array.dtype, shift)
    light = (to_light[array[..., :3]] @ np.array(_GRAY_WEIGHTS) + (1 << 14)) >> 15
    same = (array[..., 0] == array[..., 1]) & (array[..., 0] == array[..., 2])
    unchanged = _power_table(_GAMMA_UNIT, array.dtype, shift)
    gray = np.where(same, unchanged[array[..., 0]], from_light[light])
    return gray.astype(array.dtype)[..., None]


def _power_table(gamma: int, dtype: np.dtype[Any], shift: int) -> Array:
    """The power of each value; the lowest `shift` bits of it do not matter."""
    top = int(np.iinfo(dtype).max)
    values = np.arange(top + 1) >> shift
    exponent = gamma / _GAMMA_UNIT if _is_significant(gamma) else 1.0
    return np.floor(top * (values / (top >> shift)) ** exponent + 0.5).astype(np.int64)


def _counts(gamma: int) -> bool:
    return _is_significant(gamma) or _is_significant(_reciprocal(gamma))


def _is_significant(gamma: int) -> bool:
    return abs(gamma - _GAMMA_UNIT) > _GAMMA_MARGIN


def _reciprocal(gamma: int) -> int:
    return int(_GAMMA_UNIT * _GAMMA_UNIT / gamma + 0.5)


def _row_bytes(header: ImageHeader, width: int) -> int:
    """The bytes of a row of pixels, with the one that names its filter."""
    details: _Details = header.details
    return 1 + (width * details.bits * _STORED_CHANNELS[details.color_type] + 7) // 8


def _has_surplus(header: ImageHeader) -> bool:
    """Whether there are more bytes of image data than any compression makes of the pixels."""
    details: _Details = header.details
    stored = sum(end - begin for begin, name, end in details.chunks if name == b"IDAT")
    needed = header.height * _row_bytes(header, header.width)
    return stored > needed + needed // _OVERHEAD_SHARE + _OVERHEAD_BYTES


def _repacked(data: bytes, header: ImageHeader) -> Array:
    """Decode without looking at what comes after the pixels: libpng would expand all of it."""
    palette, pixels = _inflate(data, header, header.height * _row_bytes(header, header.width))
    contents = _chunk(b"IDAT", zlib.compress(pixels, 0))
    return imagecodecs.png_decode(data[:_FIRST_CHUNK] + palette + contents + _END_CHUNK)


def _inflate(data: bytes, header: ImageHeader, needed: int) -> tuple[bytes, bytes]:
    """The chunk with the palette, if any, and the bytes of the pixels, as many as are needed."""
    details: _Details = header.details
    palette, parts, stream = b"", [], zlib.decompressobj()
    for first, kind, last in details.chunks:
        if kind == b"PLTE":
            palette = data[first:last]
            continue
        for begin, _, end in _chunks(data, first):
            if begin == last or needed == 0:
                break
            part = stream.decompress(data[begin + 8 : end - 4], needed)
            needed -= len(part)
            parts.append(part)
    return palette, b"".join(parts)


def _interlaced(data: bytes, header: ImageHeader) -> Array:
    """Decode each pass as an image of its own, and put the pixels where they belong.

    libpng would do it, but as the codec library calls it, it writes a warning for each image.
    """
    details: _Details = header.details
    passes = list(_passes(header))
    palette, packed = _inflate(data, header, sum(size for *_, size in passes))
    out: Array | None = None
    begin = 0
    for (column, row, across, down), height, width, size in passes:
        if begin + size > len(packed):
            refuse_short("PNG", len(data), "inside the image data")
        part = packed[begin : begin + size]
        begin += size
        form = struct.pack(">IIBBBBB", width, height, details.bits, details.color_type, 0, 0, 0)
        whole = (
            SIGNATURE
            + _chunk(b"IHDR", form)
            + palette
            + _chunk(b"IDAT", zlib.compress(part, 0))
            + _END_CHUNK
        )
        pixels = with_channel_axis(imagecodecs.png_decode(whole))
        if out is None:
            out = np.empty((header.height, header.width, pixels.shape[2]), pixels.dtype)
        out[row::down, column::across] = pixels
    assert out is not None
    return out


def _passes(header: ImageHeader) -> Iterator[tuple[tuple[int, int, int, int], int, int, int]]:
    """The passes of an interlaced image that have pixels: height, width and bytes of each."""
    for step in _PASSES:
        column, row, across, down = step
        width = -(-(header.width - column) // across)
        height = -(-(header.height - row) // down)
        if width > 0 and height > 0:
            yield step, height, width, height * _row_bytes(header, width)


def _chunk(name: bytes, contents: bytes) -> bytes:
    check = zlib.crc32(name + contents)
    return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", check)
