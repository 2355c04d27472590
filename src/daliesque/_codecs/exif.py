# SPDX-License-Identifier: Apache-2.0
"""The one thing of EXIF that matters here: which way is up."""

from __future__ import annotations

import struct

_ORIENTATION_TAG = 0x0112
_SHORT = 3


def exif_orientation(block: bytes) -> int:
    """The orientation (1 to 8) in a block of EXIF data; 1 if it has none or is damaged."""
    if block.startswith(b"Exif\0\0"):
        block = block[6:]
    order = {b"II": "<", b"MM": ">"}.get(block[:2])
    if order is None:
        return 1
    try:
        mark, offset = struct.unpack_from(order + "HI", block, 2)
        if mark != 42:
            return 1
        (count,) = struct.unpack_from(order + "H", block, offset)
        for position in range(offset + 2, offset + 2 + 12 * count, 12):
            tag, kind, _, value = struct.unpack_from(order + "HHIH", block, position)
            if tag == _ORIENTATION_TAG and kind == _SHORT:
                return value if 1 <= value <= 8 else 1
    except struct.error:
        pass
    return 1
