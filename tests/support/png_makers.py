# SPDX-License-Identifier: Apache-2.0
"""PNG files in all the ways in which the same pixels can be stored."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from support.image_makers import ADAM7, Array, pack_bits, png_chunk

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Color type, channels and bits of every kind of PNG.
KINDS = (
    *((0, 1, bits) for bits in (1, 2, 4, 8, 16)),
    *((3, 1, bits) for bits in (1, 2, 4, 8)),
    *((2, 3, bits) for bits in (8, 16)),
    *((4, 2, bits) for bits in (8, 16)),
    *((6, 4, bits) for bits in (8, 16)),
)


class Packing(NamedTuple):
    """How the rows of a PNG are compressed and cut into chunks."""

    level: int = 6
    strategy: int = zlib.Z_DEFAULT_STRATEGY
    window_bits: int = 15
    flush: int = zlib.Z_NO_FLUSH
    pieces: int = 1

    def compress(self, rows: bytes) -> bytes:
        """The rows as a zlib stream, flushed in the middle."""
        packer = zlib.compressobj(self.level, zlib.DEFLATED, self.window_bits, 9, self.strategy)
        half = len(rows) // 2
        stream = packer.compress(rows[:half]) + packer.flush(self.flush)
        return stream + packer.compress(rows[half:]) + packer.flush()

    def chunks(self, stream: bytes) -> bytes:
        """The stream in several chunks."""
        size = max(1, -(-len(stream) // self.pieces))
        parts = [stream[begin : begin + size] for begin in range(0, len(stream), size)]
        return b"".join(png_chunk(b"IDAT", part) for part in parts)


def filtered(row: Array, above: Array, step: int, kind: int) -> bytes:
    """A row of bytes after one of the five filters of PNG, by its definition."""
    wide, up = row.astype(np.int64), above.astype(np.int64)
    left = np.concatenate([np.zeros(step, np.int64), wide])[: len(row)]
    corner = np.concatenate([np.zeros(step, np.int64), up])[: len(row)]
    estimate = left + up - corner
    distances = [np.abs(estimate - value) for value in (left, up, corner)]
    nearest = np.choose(np.argmin(distances, axis=0), [left, up, corner])
    predicted = [np.zeros_like(wide), left, up, (left + up) // 2, nearest][kind]
    return bytes([kind]) + ((wide - predicted) & 255).astype(np.uint8).tobytes()


def filtered_rows(array: Array, bits: int, filters: Sequence[int]) -> bytes:
    """All rows of an image, with the given filters in turn."""
    step = max(1, bits * array.shape[2] // 8)
    rows, above = [], None
    for number, values in enumerate(array):
        packed = values.astype(">u2").tobytes() if bits == 16 else pack_bits(values, bits)
        row = np.frombuffer(packed, np.uint8)
        above = np.zeros_like(row) if above is None else above
        rows.append(filtered(row, above, step, filters[number % len(filters)]))
        above = row
    return b"".join(rows)


def filtered_png(
    array: Array,
    bits: int,
    color_type: int,
    *,
    filters: Sequence[int] = (0, 1, 2, 3, 4),
    interlaced: bool = False,
    packing: Packing = Packing(),  # noqa: B008
    before: bytes = b"",
) -> bytes:
    """A PNG of (height, width, channels) numbers of `bits` bits."""
    height, width = array.shape[:2]
    parts = [array]
    if interlaced:
        parts = [array[row::down, column::across] for column, row, across, down in ADAM7]
    rows = b"".join(filtered_rows(part, bits, filters) for part in parts if part.size)
    header = struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, int(interlaced))
    data = packing.chunks(packing.compress(rows))
    return SIGNATURE + png_chunk(b"IHDR", header) + before + data + png_chunk(b"IEND", b"")


def png_of_stream(
    stream: bytes,
    width: int,
    height: int,
    *,
    bits: int = 8,
    color_type: int = 0,
    methods: bytes = bytes(3),
    before: bytes = b"",
) -> bytes:
    """A PNG with any bytes for its compressed rows."""
    header = struct.pack(">IIBB", width, height, bits, color_type) + methods
    chunks = png_chunk(b"IHDR", header) + before + png_chunk(b"IDAT", stream)
    return SIGNATURE + chunks + png_chunk(b"IEND", b"")
