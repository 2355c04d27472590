# SPDX-License-Identifier: Apache-2.0
"""What codecs return, and what they raise."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _kernels

Array: TypeAlias = NDArray[Any]


class CodecError(Exception):
    """An image or video cannot be read. The text continues a sentence: "is cut short: ..."."""


class Wanted(enum.Enum):
    """Which channels the caller needs. A codec may return more colors than that, never fewer."""

    GRAY = "gray"
    COLOR = "red, green and blue"
    ALL = "all channels of the file"


GrayRule: TypeAlias = _kernels.GrayRule
CmykRule: TypeAlias = _kernels.CmykRule


class ImageHeader(NamedTuple):
    """What is known of an image before it is decoded.

    The size is the stored one; `orientation` (EXIF, 1 to 8) says how to show it.
    `channels` counts those that `Wanted.ALL` gives. `details` is for the codec.
    """

    height: int
    width: int
    channels: int
    orientation: int = 1
    details: Any = None


class Pixels(NamedTuple):
    """Decoded pixels, height x width x channels, of type uint8, uint16 or float32.

    Integers use the whole range of the type, floating-point numbers go from 0 to 1. One or two
    channels are gray (and alpha), more begin with red, green, blue.
    """

    array: Array
    gray_rule: GrayRule


def stretch(array: Array, bits: int) -> Array:
    """Values of `bits` bits scaled to the whole range of uint8 or uint16."""
    top, dtype = (255, np.uint8) if bits <= 8 else (65535, np.uint16)
    if bits in (8, 16):
        return array.astype(dtype, copy=False)
    table = (np.arange(1 << bits) * (top / ((1 << bits) - 1)) + 0.5).astype(dtype)
    return table[np.minimum(array, (1 << bits) - 1)]


def with_channel_axis(array: Array) -> Array:
    """An array of two or three dimensions with three."""
    return array if array.ndim == 3 else array[..., None]


def first_channels(array: Array, count: int) -> Array:
    """The array without the channels after `count`."""
    array = with_channel_axis(array)
    return array if array.shape[2] <= count else array[..., :count]


def refuse_damaged(kind: str, error: object) -> NoReturn:
    """Raise an error with the message of a codec library."""
    reason = str(error).strip().rstrip(".") or type(error).__name__
    msg = f"is damaged, or a {kind} of an unknown kind: {reason}"
    raise CodecError(msg) from (error if isinstance(error, Exception) else None)


def refuse_short(kind: str, size: int, where: str) -> NoReturn:
    """Raise an error about data that end too early."""
    msg = f"is cut short: the {kind} ends after {size} bytes, {where}"
    raise CodecError(msg)
