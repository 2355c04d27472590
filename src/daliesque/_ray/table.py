# SPDX-License-Identifier: Apache-2.0
"""What a loop body returned, as an Arrow table that Ray Data takes as a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from ray.data.block import BlockAccessor
from ray.data.extensions import ArrowTensorArray

from .._engine.batch import Batch, as_batch
from .._engine.convert import is_array, to_numpy, to_stacked_numpy
from .._engine.dtype import bfloat16, uint8, uint16
from .._engine.samples import host
from .._engine.tensor import Tensor

# Arrow has no bfloat16: the bits are uint16, and the field says what they mean.
ELEMENT_TYPE = b"daliesque.dtype"
# What a body may return without names.
_USUAL_NAMES = ("data", "label")


def named_columns(made: Any, names: tuple[str, ...] | None, where: str) -> dict[str, Any]:
    """What a body returned, by the names of columns."""
    if isinstance(made, Mapping):
        for name in made:
            if not isinstance(name, str):
                msg = f"{where}: names of columns must be strings; 'transform' returned {name!r}."
                raise TypeError(msg)
        return dict(made)
    if isinstance(made, Batch | Tensor) or is_array(made):
        return {_USUAL_NAMES[0]: made}
    if isinstance(made, tuple | list) and made:
        chosen = names if names is not None and len(names) == len(made) else _USUAL_NAMES
        if len(made) <= len(chosen):
            return dict(zip(chosen, made, strict=False))
        msg = (
            f"{where}: 'transform' returned {len(made)} values without names. Let it return a dict "
            "of columns, such as {'image': images, 'label': labels}."
        )
        raise TypeError(msg)
    kind = "None" if made is None else f"{type(made).__name__} {made!r:.60}"
    msg = (
        f"{where}: 'transform' must return a dict of batches, one for each column; got {kind}. Let "
        "it return {'image': images, 'label': labels}, say."
    )
    raise TypeError(msg)


def to_columns(made: Mapping[str, Any], count: int, where: str) -> dict[str, Any]:
    """Columns as batches or lists, each with a row for each of `count` samples; waits for them."""
    columns: dict[str, Any] = {}
    for name, value in made.items():
        column = value
        if isinstance(value, Tensor) or (not isinstance(value, Batch) and is_array(value)):
            column = as_batch(value)
        if isinstance(column, Batch):
            column = column.cpu().evaluate()
        elif not isinstance(column, list):
            msg = (
                f"{where}: column {name!r} must be a Batch, an array or a list; 'transform' "
                f"returned {type(value).__name__} {value!r:.60}."
            )
            raise TypeError(msg)
        if len(column) != count:
            msg = (
                f"{where}: column {name!r} must have a row for each of the {count} samples; "
                f"'transform' returned {len(column)}."
            )
            raise ValueError(msg)
        columns[name] = column
    return columns


def chosen_rows(columns: Mapping[str, Any], rows: list[int]) -> dict[str, Any]:
    """Some rows of all columns."""
    return {
        name: column.select(rows) if isinstance(column, Batch) else [column[row] for row in rows]
        for name, column in columns.items()
    }


def to_table(columns: Mapping[str, Any], where: str) -> pa.Table:
    """Columns as a table, over the same memory."""
    arrays, fields = [], []
    for name, column in columns.items():
        metadata = None
        if isinstance(column, Batch):
            array = _to_array(column)
            if column.dtype == bfloat16:
                metadata = {ELEMENT_TYPE: b"bfloat16"}
        else:
            array = _to_list(column, name, where)
        arrays.append(array)
        fields.append(pa.field(name, array.type, metadata=metadata))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _to_list(column: list[Any], name: str, where: str) -> pa.Array:
    try:
        return pa.array(column)
    except (pa.ArrowException, TypeError, ValueError) as error:
        msg = f"{where}: column {name!r} cannot be an Arrow column: {error}"
        raise TypeError(msg) from None


def _to_array(batch: Batch) -> pa.Array:
    """A batch as an array of a type that Ray knows."""
    samples = host(batch._data())
    if samples.type_id == bfloat16.code:
        samples = samples.reinterpret(uint16.code)
    if samples.ndim == 0 or (samples.ndim == 1 and samples.type_id == uint8.code):
        return pa.array(Batch._of(samples))
    if samples.uniform:
        return ArrowTensorArray.from_numpy(to_stacked_numpy(samples))
    # Ray shares the memory of arrays that are slices of one, back to back.
    packed = samples if samples.packed else samples.copy()
    flat = to_numpy(packed.flat_view())
    views = np.empty(len(packed), object)
    begin = 0
    for index, shape in enumerate(packed.shapes):
        end = begin + int(np.prod(shape))
        views[index] = flat[begin:end].reshape(shape)
        begin = end
    return ArrowTensorArray.from_numpy(views)


def from_column(column: pa.ChunkedArray, field: pa.Field) -> Batch:
    """A column of a block as a batch, over the same memory."""
    batch = as_batch(column)
    if (field.metadata or {}).get(ELEMENT_TYPE) == b"bfloat16":
        return Batch._of(host(batch._data()).reinterpret(bfloat16.code))
    return batch


def cut_tables(blocks: Iterable[pa.Table], size: int, drop_last: bool) -> Iterator[pa.Table]:
    """The rows of blocks, `size` at a time, over the same memory."""
    parts: list[pa.Table] = []
    missing = size
    for block in blocks:
        begin = 0
        while begin < block.num_rows:
            part = block.slice(begin, missing)
            parts.append(part)
            begin += part.num_rows
            missing -= part.num_rows
            if not missing:
                yield _joined(parts)
                parts, missing = [], size
    if parts and not drop_last:
        yield _joined(parts)


def _joined(parts: list[pa.Table]) -> pa.Table:
    """Tables below each other, also if samples have one shape in one and several in another."""
    if len(parts) == 1:
        return parts[0]
    builder = BlockAccessor.for_block(parts[0]).builder()
    for part in parts:
        builder.add_block(part)
    return builder.build()
