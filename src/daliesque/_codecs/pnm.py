# SPDX-License-Identifier: Apache-2.0
"""PBM, PGM and PPM, as text and as bytes."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from .pixels import Array, CodecError, GrayRule, ImageHeader, Pixels, Wanted, refuse_short

# A number of the header: white space and comments, digits, and one byte after them.
_NUMBER = re.compile(rb"(?:\s|#[^\n]*\n)+(\d{1,9})")
_COMMENT = re.compile(rb"#[^\n]*")


class _Details(NamedTuple):
    kind: int
    top: int
    offset: int


def matches(data: bytes) -> bool:
    """Whether the data begin like one of the six formats."""
    return data[:1] == b"P" and data[1:2] in b"123456" and data[2:3].isspace()


def read_header(data: bytes) -> ImageHeader:
    """Read size and highest value."""
    kind = data[1] - ord("0")
    numbers, position = [], 2
    for _ in range(2 if kind in (1, 4) else 3):
        found = _NUMBER.match(data, position)
        if found is None:
            if not data[position:].strip():
                refuse_short(f"P{kind} image", len(data), "inside the header")
            msg = f"is damaged: the header of the P{kind} image has no number at byte {position}"
            raise CodecError(msg)
        numbers.append(int(found[1]))
        position = found.end()
    width, height, top = numbers if len(numbers) == 3 else (*numbers, 1)
    if width == 0 or height == 0 or not 1 <= top <= 65535:
        msg = f"is damaged: the P{kind} image has {height} rows, {width} columns, maximum {top}"
        raise CodecError(msg)
    return ImageHeader(
        height, width, 3 if kind in (3, 6) else 1, 1, _Details(kind, top, position + 1)
    )


def decode(data: bytes, header: ImageHeader, wanted: Wanted) -> Pixels:
    """Decode, scaling to the whole range of uint8 or uint16."""
    del wanted
    details: _Details = header.details
    shape = (header.height, header.width, header.channels)
    values = _text(data, header) if details.kind <= 3 else _binary(data, header)
    array = values.reshape(shape)
    if details.kind in (1, 4):
        array = np.where(array, np.uint8(0), np.uint8(255))
    elif details.top not in (255, 65535):
        full = 255 if details.top < 256 else 65535
        dtype = np.uint8 if details.top < 256 else np.uint16
        wide = np.minimum(array, details.top).astype(np.uint32)
        array = (wide * full // details.top).astype(dtype)
    return Pixels(array, GrayRule.fixed14)


def _text(data: bytes, header: ImageHeader) -> Array:
    details: _Details = header.details
    count = header.height * header.width * header.channels
    text = _COMMENT.sub(b"", data[details.offset - 1 :])
    if details.kind == 1:
        # Digits need no space between them.
        digits = np.frombuffer(text, np.uint8)
        values = digits[(digits == ord("0")) | (digits == ord("1"))] - ord("0")
    else:
        words = text.split(maxsplit=count)[:count]
        try:
            wide = np.array(words, dtype=np.bytes_).astype(np.int64)
        except ValueError as error:
            msg = f"is damaged: the P{details.kind} image holds something that is not a number"
            raise CodecError(msg) from error
        values = np.clip(wide, 0, details.top).astype(np.uint8 if details.top < 256 else np.uint16)
    if len(values) < count:
        refuse_short(f"P{details.kind} image", len(data), "inside the pixels")
    chosen: Array = values[:count]
    return chosen


def _binary(data: bytes, header: ImageHeader) -> Array:
    details: _Details = header.details
    packed = np.frombuffer(data, np.uint8, offset=min(details.offset, len(data)))
    if details.kind == 4:
        row = (header.width + 7) // 8
        size = row * header.height
        if len(packed) >= size:
            bits = np.unpackbits(packed[:size].reshape(header.height, row), axis=1)
            return bits[:, : header.width]
    else:
        item = 1 if details.top < 256 else 2
        size = header.height * header.width * header.channels * item
        if len(packed) >= size:
            if item == 1:
                return packed[:size]
            return packed[:size].view(">u2").astype(np.uint16)
    refuse_short(f"P{details.kind} image", len(data), "inside the pixels")
