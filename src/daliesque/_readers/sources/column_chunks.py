# SPDX-License-Identifier: Apache-2.0
"""Which columns of Parquet files are decoded natively, and where they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import _kernels
from ..._engine.dtype import from_numpy

if TYPE_CHECKING:
    import pyarrow as pa

_Codec = _kernels.ParquetCodec
_Type = _kernels.ParquetType

_CODECS = {"UNCOMPRESSED": _Codec.none, "SNAPPY": _Codec.snappy, "GZIP": _Codec.gzip}

# How a file stores numbers, and how many bytes each may have in memory.
_NUMBERS = {
    "BOOLEAN": (_Type.boolean, (1,)),
    "INT32": (_Type.int32, (1, 2, 4)),
    "INT64": (_Type.int64, (4, 8)),
    "FLOAT": (_Type.float32, (4,)),
    "DOUBLE": (_Type.float64, (8,)),
}
_UNITS = {"milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}

# Offset, size, rows, codec, type, width, definition level and element type of a column.
_Chunk = tuple[int, int, int, _Codec, _Type, int, int, int]


class _Leaf(NamedTuple):
    """A column that holds values: its number, how they are stored, and what becomes of them."""

    number: int
    type: _Type
    width: int
    definition_level: int
    dtype: int


class ColumnChunks:
    """Where the wanted columns of a file are; `values` are their paths and Arrow types."""

    def __init__(self, metadata: Any, values: list[tuple[str, Any]]) -> None:
        self._metadata = metadata
        schema = metadata.schema
        paths = [schema.column(number).path for number in range(len(schema))]
        self._leaves: list[_Leaf] | None = []
        for path, kind in values:
            # A name with a dot may look like a field.
            numbers = [number for number, found in enumerate(paths) if found == path]
            leaf = _find_leaf(schema, numbers[0], kind) if len(numbers) == 1 else None
            if leaf is None:
                self._leaves = None
                break
            self._leaves.append(leaf)

    def of_group(self, number: int) -> list[_Chunk] | None:
        """The columns of a row group; None if some cannot be decoded natively."""
        if self._leaves is None:
            return None
        group = self._metadata.row_group(number)
        chunks: list[_Chunk] = []
        for leaf in self._leaves:
            chunk = group.column(leaf.number)
            codec = _CODECS.get(chunk.compression)
            if codec is None or chunk.file_path or chunk.num_values != group.num_rows:
                return None
            begin = chunk.data_page_offset
            if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < begin:
                begin = chunk.dictionary_page_offset
            size = chunk.total_compressed_size
            chunks.append((begin, size, group.num_rows, codec, *leaf[1:]))
        return chunks


def _find_leaf(schema: Any, number: int, kind: pa.DataType) -> _Leaf | None:
    """A column of the file, if it is stored in a way that is decoded natively."""
    import pyarrow as pa

    column = schema.column(number)
    if column.max_repetition_level != 0:
        return None
    physical, level = column.physical_type, column.max_definition_level
    variable = ("binary", "large_binary", "string", "large_string")
    if physical == "BYTE_ARRAY":
        if not any(getattr(pa.types, f"is_{name}")(kind) for name in variable):
            return None
        return _Leaf(number, _Type.bytes, 0, level, _code("u1"))
    if physical == "FIXED_LEN_BYTE_ARRAY":
        if pa.types.is_float16(kind) and column.length == 2:
            return _Leaf(number, _Type.fixed, 2, level, _code("f2"))
        if pa.types.is_fixed_size_binary(kind) and column.length == kind.byte_width:
            return _Leaf(number, _Type.fixed, column.length, level, _code("u1"))
        return None
    name = _number_type(kind, column)
    if name is None or physical not in _NUMBERS:
        return None
    value_type, sizes = _NUMBERS[physical]
    fits = np.dtype(name).itemsize in sizes
    return _Leaf(number, value_type, 0, level, _code(name)) if fits else None


def _number_type(kind: pa.DataType, column: Any) -> str | None:
    """The element type of numbers, if the file has the same kind of number."""
    import pyarrow as pa

    is_float = column.physical_type in ("FLOAT", "DOUBLE")
    if pa.types.is_floating(kind):
        return f"f{kind.bit_width // 8}" if is_float else None
    if pa.types.is_boolean(kind):
        return "bool" if column.physical_type == "BOOLEAN" else None
    if is_float or column.physical_type == "BOOLEAN":
        return None
    if pa.types.is_integer(kind):
        sign = "u" if pa.types.is_unsigned_integer(kind) else "i"
        return f"{sign}{kind.bit_width // 8}"
    if pa.types.is_date32(kind):
        return "i4" if column.logical_type.type == "DATE" else None
    if pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        # Arrow converts what the file has in another unit.
        described = json.loads(column.logical_type.to_json())
        unit = _UNITS.get(described.get("timeUnit", ""))
        return f"i{kind.bit_width // 8}" if unit == kind.unit else None
    return None


def _code(name: str) -> int:
    dtype = from_numpy(np.dtype(name))
    assert dtype is not None, name
    return dtype.code
