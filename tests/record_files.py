# SPDX-License-Identifier: Apache-2.0
"""Writes the record files that tests of readers need, by the books and without any library."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Feature = Sequence[int] | Sequence[float] | Sequence[bytes]

_CRC_TABLE = []
for _byte in range(256):
    for _ in range(8):
        # The polynomial of CRC-32C, bits reversed.
        _byte = (_byte >> 1) ^ (0x82F63B78 if _byte & 1 else 0)
    _CRC_TABLE.append(_byte)


def crc32c(data: bytes) -> int:
    """The checksum of RFC 3720, one byte after the other."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked_crc(data: bytes) -> bytes:
    """The checksum as TFRecord files store it."""
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(value: int) -> bytes:
    """A number in the encoding of protocol buffers."""
    value &= (1 << 64) - 1
    encoded = b""
    while value >= 0x80:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def field(number: int, data: bytes) -> bytes:
    """A field that holds bytes, text or another message."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def number_field(number: int, value: int) -> bytes:
    """A field that holds an integer."""
    return varint(number << 3) + varint(value)


def feature(values: Feature, packed: bool = True) -> bytes:
    """A `Feature` message."""
    if values and isinstance(values[0], bytes):
        return field(1, b"".join(field(1, value) for value in values))  # type: ignore[arg-type]
    if values and isinstance(values[0], float):
        numbers = [struct.pack("<f", value) for value in values]
        key, tag = 2, b"\x0d"
    else:
        numbers = [varint(int(value)) for value in values]
        key, tag = 3, b"\x08"
    if packed:
        return field(key, field(1, b"".join(numbers)))
    return field(key, b"".join(tag + number for number in numbers))


def example(features: Mapping[str, Feature | bytes], packed: bool = True) -> bytes:
    """An `Example` message. A feature given as bytes is an encoded message already."""
    entries = b""
    for name, values in features.items():
        value = values if isinstance(values, bytes) else feature(values, packed)
        entries += field(1, field(1, name.encode()) + field(2, value))
    return field(1, entries)


def record(data: bytes) -> bytes:
    """A record of a TFRecord file."""
    length = struct.pack("<Q", len(data))
    return length + masked_crc(length) + data + masked_crc(data)


def write_tfrecord(path: Path, examples: Iterable[bytes], index: Path | None = None) -> Path:
    """Write a TFRecord file and, if wanted, its index."""
    records = [record(data) for data in examples]
    path.write_bytes(b"".join(records))
    if index is not None:
        begin, lines = 0, []
        for data in records:
            lines.append(f"{begin} {len(data)}\n")
            begin += len(data)
        index.write_text("".join(lines))
    return path
