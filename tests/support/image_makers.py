# SPDX-License-Identifier: Apache-2.0
"""Encoded images of every kind, made of given pixels."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import imagecodecs
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Array: TypeAlias = NDArray[Any]
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2)) + (
    (0, 1, 1, 2),
)


def picture(height: int, width: int, channels: int = 3, bits: int = 8, seed: int = 0) -> Array:
    """A smooth picture with some noise, which codecs treat like a photograph."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    top = (1 << bits) - 1
    planes = [np.sin(x / (5 + k)) * np.cos(y / (4 + k)) / 2 + 0.5 for k in range(channels)]
    noisy = np.stack(planes, axis=-1) + rng.normal(0, 0.04, (height, width, channels))
    return (np.clip(noisy, 0, 1) * top).astype(np.uint8 if bits <= 8 else np.uint16)


def as_samples(files: Sequence[bytes]) -> list[Array]:
    """What the decoders take."""
    return [np.frombuffer(data, np.uint8) for data in files]


def exif(orientation: int, big_endian: bool = False) -> bytes:
    """A block of EXIF data."""
    order, mark = (">", b"MM\0*") if big_endian else ("<", b"II*\0")
    entries = struct.pack(order + "HHHIHxx", 1, 0x0112, 3, 1, orientation)
    return b"Exif\0\0" + mark + struct.pack(order + "I", 8) + entries + bytes(4)


def with_exif(data: bytes, orientation: int) -> bytes:
    """A JPEG with EXIF data added."""
    body = exif(orientation)
    return data[:2] + b"\xff\xe1" + struct.pack(">H", 2 + len(body)) + body + data[2:]


def save(array: Array, kind: str, mode: str | None = None, **options: Any) -> bytes:
    """Encode with Pillow."""
    squeezed = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
    image = Image.fromarray(squeezed)
    if mode is not None:
        # The bytes are those of the mode, not colors to convert.
        image = Image.frombytes(mode, (array.shape[1], array.shape[0]), array.tobytes())
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def jpeg(array: Array, **options: Any) -> bytes:
    """A JPEG by Pillow: `quality`, `subsampling`, `progressive`, `exif`, ..."""
    return save(array, "JPEG", **{"quality": 90, **options})


def png_chunk(name: bytes, contents: bytes) -> bytes:
    """A chunk of a PNG."""
    check = zlib.crc32(name + contents)
    return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", check)


def pack_bits(values: Array, bits: int) -> bytes:
    """A row of numbers of `bits` bits each, the highest bit first."""
    shifts = np.arange(bits - 1, -1, -1)
    spread = (values.ravel().astype(np.uint32)[:, None] >> shifts) & 1
    return np.packbits(spread.astype(np.uint8).ravel()).tobytes()


def png(
    array: Array,
    bits: int,
    color_type: int,
    *,
    interlaced: bool = False,
    before: bytes = b"",
    after: bytes = b"",
) -> bytes:
    """A PNG of (height, width, channels) numbers of `bits` bits."""

    def rows(part: Array) -> bytes:
        if bits == 16:
            return b"".join(b"\0" + row.astype(">u2").tobytes() for row in part)
        return b"".join(b"\0" + pack_bits(row, bits) for row in part)

    height, width = array.shape[:2]
    if interlaced:
        parts = (array[row::down, column::across] for column, row, across, down in ADAM7)
        packed = b"".join(rows(part) for part in parts if part.size)
    else:
        packed = rows(array)
    header = struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, int(interlaced))
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", header)
        + before
        + png_chunk(b"IDAT", zlib.compress(packed))
        + after
        + png_chunk(b"IEND", b"")
    )


def pnm(array: Array, kind: int, top: int = 255) -> bytes:
    """A PBM, PGM or PPM file with a comment."""
    height, width = array.shape[:2]
    head = f"P{kind}\n# a comment\n{width} {height}\n".encode()
    if kind not in (1, 4):
        head += f"{top}\n".encode()
    if kind <= 3:
        return head + b"".join(b" ".join(b"%d" % v for v in row.ravel()) + b"\n" for row in array)
    if kind == 4:
        return head + b"".join(np.packbits(row.ravel() != 0).tobytes() for row in array)
    return head + array.astype(">u2" if top > 255 else np.uint8).tobytes()


def bmp(
    rows: Sequence[bytes],
    width: int,
    bits: int,
    *,
    compression: int = 0,
    palette: bytes = b"",
    masks: Sequence[int] = (),
    header_size: int = 40,
    top_down: bool = False,
) -> bytes:
    """A BMP of rows from top to bottom, which are padded here."""
    padded = [row + bytes(-len(row) % 4) for row in rows]
    pixels = b"".join(padded if top_down else padded[::-1])
    height = len(rows)
    if header_size == 12:
        header = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        signed = -height if top_down else height
        header = struct.pack(
            "<IiiHHIIiiII",
            header_size,
            width,
            signed,
            1,
            bits,
            compression,
            len(pixels),
            0,
            0,
            0,
            0,
        )
        fields = b"".join(struct.pack("<I", mask) for mask in masks)
        header += fields + bytes(max(0, header_size - 40 - len(fields)))
    offset = 14 + len(header) + len(palette)
    file = struct.pack("<2sIHHI", b"BM", offset + len(pixels), 0, 0, offset)
    return file + header + palette + pixels


COMPRESSIONS = {
    1: bytes,
    5: imagecodecs.lzw_encode,
    8: zlib.compress,
    50000: imagecodecs.zstd_encode,
}


class Tiff:
    """Writes a TIFF of (height, width, channels) numbers; `tags` adds or, with None, removes."""

    def __init__(
        self,
        array: Array,
        bits: int,
        photometric: int,
        *,
        compression: int = 1,
        tile: tuple[int, int] | None = None,
        planar: bool = False,
        order: str = "<",
        big: bool = False,
        rows_per_strip: int | None = None,
        tags: dict[int, Sequence[int] | None] | None = None,
    ) -> None:
        height, width, channels = array.shape
        self.bits, self.order, self.big = bits, order, big
        pack = COMPRESSIONS[compression]
        planes = [array[..., k : k + 1] for k in range(channels)] if planar else [array]
        parts = [part for plane in planes for part in self._parts(plane, tile, rows_per_strip)]
        self.blocks = [pack(self._packed(part)) for part in parts]
        self.tags: dict[int, Sequence[int]] = {
            256: [width],
            257: [height],
            258: [bits] * channels,
            259: [compression],
            262: [photometric],
            277: [channels],
            284: [2 if planar else 1],
        }
        if tile:
            self.tags |= {322: [tile[1]], 323: [tile[0]]}
        else:
            self.tags[278] = [rows_per_strip or height]
        for tag, values in (tags or {}).items():
            if values is None:
                del self.tags[tag]
            else:
                self.tags[tag] = values
        self.offsets_tag, sizes_tag = (324, 325) if tile else (273, 279)
        self.tags[sizes_tag] = [len(block) for block in self.blocks]

    def _parts(
        self, plane: Array, tile: tuple[int, int] | None, rows_per_strip: int | None
    ) -> list[Array]:
        height, width = plane.shape[:2]
        if tile is None:
            step = rows_per_strip or height
            return [plane[y : y + step] for y in range(0, height, step)]
        down, across = tile
        padded = np.zeros((-(-height // down) * down, -(-width // across) * across, plane.shape[2]))
        padded = padded.astype(plane.dtype)
        padded[:height, :width] = plane
        return [
            padded[y : y + down, x : x + across]
            for y in range(0, height, down)
            for x in range(0, width, across)
        ]

    def _packed(self, part: Array) -> bytes:
        if self.bits in (8, 16, 32, 64):
            return part.astype(part.dtype.newbyteorder(self.order)).tobytes()
        return b"".join(pack_bits(row, self.bits) for row in part)

    def _directory(self, offsets: Sequence[int]) -> bytes:
        word, inline = ("Q", 8) if self.big else ("I", 4)
        tags = {**self.tags, self.offsets_tag: offsets}
        begin = 16 if self.big else 8
        data_at = begin + (8 if self.big else 2) + len(tags) * (4 + 2 * inline) + inline
        entries, data = b"", b""
        for tag in sorted(tags):
            values = tags[tag]
            wide = tag in (256, 257, 273, 279, 324, 325)
            raw = struct.pack(f"{self.order}{len(values)}{'I' if wide else 'H'}", *values)
            entries += struct.pack(self.order + "HH" + word, tag, 4 if wide else 3, len(values))
            if len(raw) <= inline:
                entries += raw.ljust(inline, b"\0")
            else:
                entries += struct.pack(self.order + word, data_at + len(data))
                data += raw + bytes(len(raw) % 2)
        name = b"II" if self.order == "<" else b"MM"
        if self.big:
            head = name + struct.pack(self.order + "HHHQQ", 43, 8, 0, begin, len(tags))
        else:
            head = name + struct.pack(self.order + "HIH", 42, begin, len(tags))
        return head + entries + bytes(inline) + data

    def __bytes__(self) -> bytes:
        begin = len(self._directory([0] * len(self.blocks)))
        offsets = np.cumsum([begin, *(len(block) for block in self.blocks)])[:-1]
        return self._directory([int(offset) for offset in offsets]) + b"".join(self.blocks)


def tiff(array: Array, bits: int, photometric: int, **options: Any) -> bytes:
    """A TIFF; see `Tiff`."""
    return bytes(Tiff(array, bits, photometric, **options))
