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


RECORDIO_MAGIC = struct.pack("<I", 0xCED7230A)


def image_record(image: bytes, labels: Sequence[float]) -> bytes:
    """What MXNet puts into a record: a header, labels and an image."""
    if len(labels) == 1:
        return struct.pack("<IfQQ", 0, labels[0], 0, 0) + image
    numbers = struct.pack(f"<{len(labels)}f", *labels)
    return struct.pack("<IfQQ", len(labels), 0.0, 0, 0) + numbers + image


def recordio(data: bytes) -> bytes:
    """A record of a RecordIO file, cut into parts at each magic number on a multiple of four."""
    cuts = [k for k in range(0, len(data) - 3, 4) if data[k : k + 4] == RECORDIO_MAGIC]
    begins, ends = [0, *(cut + 4 for cut in cuts)], [*cuts, len(data)]
    result = b""
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        kind = 0 if not cuts else 1 if number == 0 else 3 if number == len(cuts) else 2
        part = data[begin:end]
        result += RECORDIO_MAGIC + struct.pack("<I", kind << 29 | len(part)) + part
        result += b"\0" * (-len(part) % 4)
    return result


def write_recordio(paths: Sequence[Path], records: Sequence[Sequence[bytes]], index: Path) -> None:
    """Write RecordIO files, and the index of all of them together."""
    begin, number, lines = 0, 0, []
    for path, contents in zip(paths, records, strict=True):
        data = [recordio(entry) for entry in contents]
        path.write_bytes(b"".join(data))
        for entry in data:
            lines.append(f"{number}\t{begin}\n")
            begin, number = begin + len(entry), number + 1
    index.write_text("".join(lines))


def datum(
    data: bytes | None,
    label: int | None = None,
    encoded: bool | None = None,
    shape: Sequence[int] = (),
) -> bytes:
    """A `Datum` message of Caffe; the shape is height, width, channels."""
    message = b""
    for number, extent in zip((2, 3, 1), shape, strict=False):
        message += number_field(number, extent)
    if data is not None:
        message += field(4, data)
    if label is not None:
        message += number_field(5, label)
    if encoded is not None:
        message += number_field(7, encoded)
    return message


def tensor_proto(values: Feature | bytes, shape: Sequence[int] = (), long: bool = False) -> bytes:
    """A `TensorProto` message of Caffe2: one text, pixels (bytes), floats or integers."""
    message = b"".join(number_field(1, extent) for extent in shape)
    if isinstance(values, bytes):
        return message + number_field(2, 3) + field(5, values)
    if values and isinstance(values[0], bytes):
        return message + number_field(2, 4) + b"".join(field(6, value) for value in values)
    if values and isinstance(values[0], float):
        return message + number_field(2, 1) + field(3, struct.pack(f"<{len(values)}f", *values))
    kind, number = (10, 10) if long else (2, 4)
    return message + number_field(2, kind) + field(number, b"".join(map(varint, values)))


def tensor_protos(*tensors: bytes) -> bytes:
    """A `TensorProtos` message of Caffe2."""
    return b"".join(field(1, tensor) for tensor in tensors)


def write_lmdb(folder: Path, values: Iterable[bytes], first: int = 0) -> Path:
    """Write a database with the keys 00000000, 00000001, ..."""
    import lmdb

    folder.mkdir(parents=True, exist_ok=True)
    database = lmdb.open(str(folder), map_size=1 << 28)
    with database.begin(write=True) as transaction:
        for number, value in enumerate(values, first):
            transaction.put(b"%08d" % number, value)
    database.close()
    return folder
