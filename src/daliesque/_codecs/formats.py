# SPDX-License-Identifier: Apache-2.0
"""Which codec reads which file, of those that the native module does not read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import jpeg2000, other, tiff, webp
from .pixels import CodecError, ImageHeader, Pixels, Wanted


class Format(NamedTuple):
    """A kind of file: how to recognize and to read it.

    `pixels_claimed` finds the number of pixels where reading the header means decoding.
    """

    name: str
    matches: Callable[[bytes], bool]
    read_header: Callable[[bytes], ImageHeader]
    decode: Callable[[bytes, ImageHeader, Wanted], Pixels]
    pixels_claimed: Callable[[bytes], int] | None = None


_FORMATS = (
    Format("TIFF", tiff.matches, tiff.read_header, tiff.decode),
    Format("WebP", webp.matches, webp.read_header, webp.decode),
    Format("JPEG 2000", jpeg2000.matches, jpeg2000.read_header, jpeg2000.decode),
    Format("AVIF", other.is_avif, other.AVIF.read_header, other.AVIF.decode, other.heif_pixels),
    Format("JPEG XL", other.is_jxl, other.JXL.read_header, other.JXL.decode, other.jxl_pixels),
    Format("HEIF", other.is_heif, other.HEIF.read_header, other.HEIF.decode, other.heif_pixels),
)


def find_format(data: bytes) -> Format:
    """The format of a file that is not a JPEG."""
    if not data:
        msg = "is empty"
        raise CodecError(msg)
    for known in _FORMATS:
        if known.matches(data):
            return known
    begin = data[:8].hex(" ")
    msg = f"is not an image of a known format (it begins with the bytes {begin})"
    raise CodecError(msg)


def read_header(data: bytes, max_pixels: int) -> tuple[Format, ImageHeader]:
    """Format and header of a file that is not a JPEG."""
    found = find_format(data)
    if found.pixels_claimed is not None:
        check_pixels(found.pixels_claimed(data), max_pixels)
    header = found.read_header(data)
    if header.height < 1 or header.width < 1:
        msg = f"is damaged: the {found.name} has {header.height} x {header.width} pixels"
        raise CodecError(msg)
    return found, header


def check_pixels(pixels: int, max_pixels: int) -> None:
    """Refuse images so large that they are probably meant to exhaust memory."""
    if pixels > max_pixels:
        msg = (
            f"has {pixels} pixels, more than the limit of {max_pixels}. "
            "decoders.set_max_pixels raises it"
        )
        raise CodecError(msg)
