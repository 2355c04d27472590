# SPDX-License-Identifier: Apache-2.0
"""Formats that the reference does not read: AVIF, JPEG XL, HEIF."""

from __future__ import annotations

import struct

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
    stretch,
    with_channel_axis,
)

_JXL_BOX = b"\x00\x00\x00\x0cJXL \r\n\x87\n"
_AVIF_BRANDS = (b"avif", b"avis")
_HEIF_BRANDS = (b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1")


def is_avif(data: bytes) -> bool:
    """Whether the data begin like an AVIF file."""
    return data[4:8] == b"ftyp" and data[8:12] in _AVIF_BRANDS


def is_heif(data: bytes) -> bool:
    """Whether the data begin like a HEIF file."""
    return data[4:8] == b"ftyp" and data[8:12] in _HEIF_BRANDS


def is_jxl(data: bytes) -> bool:
    """Whether the data begin like a JPEG XL file or code stream."""
    return data.startswith((b"\xff\x0a", _JXL_BOX))


def heif_pixels(data: bytes) -> int:
    """The most pixels that any image in an AVIF or HEIF file claims to have."""
    most, position = 0, data.find(b"ispe")
    while position >= 0 and position + 16 <= len(data):
        width, height = struct.unpack_from(">II", data, position + 8)
        most = max(most, width * height)
        position = data.find(b"ispe", position + 4)
    return most


class Whole:
    """A format whose header only its library can read: the image is decoded at once."""

    def __init__(self, name: str, codec: str) -> None:
        self.name = name
        self.codec = codec

    def read_header(self, data: bytes) -> ImageHeader:
        """Decode."""
        if not getattr(imagecodecs, self.codec.upper()).available:
            msg = f"is a {self.name} file, which the installed imagecodecs does not read"
            raise CodecError(msg)
        try:
            array: Array = getattr(imagecodecs, f"{self.codec}_decode")(data)
        except (RuntimeError, ValueError) as error:
            refuse_damaged(f"{self.name} file", error)
        array = with_channel_axis(array[0] if array.ndim == 4 else array)
        if array.ndim != 3 or 0 in array.shape:
            msg = f"it holds an array of shape {array.shape}"
            refuse_damaged(f"{self.name} file", msg)
        if array.dtype == np.uint16 and self.codec != "jpegxl":
            array = stretch(array, _claimed_bits(data))
        elif array.dtype.kind == "f":
            array = array.astype(np.float32)
        height, width, channels = array.shape
        return ImageHeader(height, width, channels, 1, array)

    def decode(self, data: bytes, header: ImageHeader, wanted: Wanted) -> Pixels:
        """Return what reading the header has brought."""
        del data, wanted
        return Pixels(header.details, GrayRule.fixed15)


def _claimed_bits(data: bytes) -> int:
    """The bits of a channel, from the first box that describes pixels."""
    position = data.find(b"pixi")
    if position >= 0 and position + 10 <= len(data) and data[position + 9] in range(8, 17):
        return data[position + 9]
    return 16


class _Bits:
    """Numbers of some bits each, the lowest first."""

    def __init__(self, data: bytes) -> None:
        self.value = int.from_bytes(data, "little")

    def take(self, count: int) -> int:
        taken = self.value & (1 << count) - 1
        self.value >>= count
        return taken


def jxl_pixels(data: bytes) -> int:
    """The pixels that the size header of a JPEG XL file claims."""
    begin = data.find(b"\xff\x0a")
    if begin < 0:
        return 0
    bits = _Bits(data[begin + 2 : begin + 18])

    def extent(small: bool) -> int:
        if small:
            return (bits.take(5) + 1) * 8
        return bits.take((9, 13, 18, 30)[bits.take(2)]) + 1

    small = bool(bits.take(1))
    height, ratio = extent(small), bits.take(3)
    if ratio == 0:
        return height * extent(small)
    across, down = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))[ratio - 1]
    return height * (height * across // down)


AVIF = Whole("AVIF", "avif")
HEIF = Whole("HEIF", "heif")
JXL = Whole("JPEG XL", "jpegxl")
