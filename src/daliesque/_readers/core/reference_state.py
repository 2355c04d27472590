# SPDX-License-Identifier: Apache-2.0
"""States that readers of the reference have saved.

They are messages of protocol buffers in base64: a field 1 with the message that holds the state of
the generator of draws when the pass began, as text (1), the number of the pass (2), and how many of
its samples were delivered (3).
"""

from __future__ import annotations

import base64
from typing import NamedTuple

_VARINT, _BYTES = 0, 2
# A number has at most 64 bits, 7 in each byte.
_MOST_SHIFT = 63


class ReferenceState(NamedTuple):
    """Where a reader of the reference was."""

    engine: int
    pass_number: int
    delivered: int


def parse_reference_state(text: str) -> ReferenceState | None:
    """Read such a state; None if it is something else."""
    try:
        outer = _fields(base64.b64decode(text, validate=True))
        (inner,) = outer.values()
        if set(outer) != {1} or not isinstance(inner, bytes):
            return None
        fields = _fields(inner)
        engine = fields[1]
        pass_number, delivered = fields.get(2, 0), fields.get(3, 0)
        if not isinstance(engine, bytes):
            return None
        state = ReferenceState(int(engine), int(pass_number), int(delivered))
    except (ValueError, KeyError, IndexError):
        return None
    return state


def _fields(message: bytes) -> dict[int, int | bytes]:
    """The fields of a message by their numbers; ValueError or IndexError if it is none."""
    found: dict[int, int | bytes] = {}
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        value, at = _varint(message, at)
        if tag & 7 == _BYTES:
            end = at + value
            if end > len(message):
                msg = "the message is cut short"
                raise ValueError(msg)
            found[tag >> 3], at = message[at:end], end
        elif tag & 7 == _VARINT:
            found[tag >> 3] = value
        else:
            msg = "a field of another kind"
            raise ValueError(msg)
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where the next one begins."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > _MOST_SHIFT:
            msg = "a number of too many bits"
            raise ValueError(msg)
