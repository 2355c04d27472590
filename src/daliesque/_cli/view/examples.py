# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's `Example` messages, with whatever features they have."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# How a field is stored, in the lowest bits of its tag.
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
# A record that claims more is not one.
_MOST_BYTES = 1 << 31


def read_examples(path: Path) -> Iterator[dict[str, Any]]:
    """The features of each record of a file: bytes, a number, or a list of numbers.

    Raises
    ------
    ValueError
        If the file is not a sequence of such records.
    """
    with path.open("rb") as file:
        while header := file.read(12):
            if len(header) < 12:
                msg = f"{path.name!r} is cut short"
                raise ValueError(msg)
            (size,) = struct.unpack("<Q", header[:8])
            if size > _MOST_BYTES:
                msg = f"{path.name!r} is not a TFRecord file"
                raise ValueError(msg)
            record = file.read(size)
            if len(record) < size or len(file.read(4)) < 4:
                msg = f"{path.name!r} is cut short"
                raise ValueError(msg)
            try:
                yield _features(record)
            except (IndexError, struct.error, UnicodeDecodeError):
                msg = f"{path.name!r} holds a record that is no Example message"
                raise ValueError(msg) from None


def _features(record: bytes) -> dict[str, Any]:
    """The map of names to values in an Example: field 1, then field 1 of that, again and again."""
    found: dict[str, Any] = {}
    for features in _fields(record).get(1, ()):
        for entry in _fields(features).get(1, ()):
            parts = _fields(entry)
            if 1 in parts and 2 in parts:
                found[parts[1][0].decode()] = _value(parts[2][0])
    return found


def _value(feature: bytes) -> Any:
    """A list of bytes (1), floats (2) or integers (3); the only element of one that has one."""
    for kind, lists in _fields(feature).items():
        values: list[Any] = []
        for part in _fields(lists[0]).get(1, ()):
            if kind == 1 or not isinstance(part, bytes):
                values.append(part)
            elif kind == 2:
                values += struct.unpack(f"<{len(part) // 4}f", part)
            else:
                values += _varints(part)
        return values[0] if len(values) == 1 else values
    return None


def _fields(message: bytes) -> dict[int, list[Any]]:
    """The fields of a message by number: bytes, or integers."""
    found: dict[int, list[Any]] = {}
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        value: Any
        if tag & 7 == _VARINT:
            value, position = _varint(message, position)
        elif tag & 7 == _LENGTH:
            size, position = _varint(message, position)
            value, position = message[position : position + size], position + size
        elif tag & 7 in (_EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if tag & 7 == _EIGHT_BYTES else 4
            value = struct.unpack_from("<f" if size == 4 else "<d", message, position)[0]
            position += size
        else:
            raise IndexError
        found.setdefault(tag >> 3, []).append(value)
    return found


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
        if shift > 63:
            raise IndexError


def _varints(data: bytes) -> list[int]:
    values, position = [], 0
    while position < len(data):
        value, position = _varint(data, position)
        values.append(value - (1 << 64) if value >= 1 << 63 else value)
    return values
