# SPDX-License-Identifier: Apache-2.0
"""Columns of Arrow tables as samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import _kernels
from ..._engine.convert import to_samples
from ..._engine.dtype import from_numpy
from ..._engine.errors import OpError
from ..._engine.samples import host
from ..core.bad_samples import reason_of
from ..core.source import Fetched
from .ragged import split_rows
from .storage import is_below, join, outside_error, read

if TYPE_CHECKING:
    import pyarrow as pa


def import_arrow(operator: str) -> Any:
    """The package pyarrow, which is optional."""
    try:
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        msg = f"{operator} needs the package pyarrow. Install daliesque[parquet]."
        raise ImportError(msg) from None
    return pyarrow


class Columns:
    """Which columns of a table become outputs, and how.

    Numbers become samples without axes, strings and bytes vectors of uint8, lists vectors, and
    lists of equally long lists arrays. Of a struct with a field "bytes", as image and audio columns
    are, this field is taken. A name with a dot is a field of a struct.
    """

    def __init__(
        self,
        schema: pa.Schema,
        names: Sequence[str] | None,
        where: str,
        allow_outside: bool = False,
    ) -> None:
        self.names: tuple[str, ...] = tuple(schema.names if names is None else names)
        self._where = where
        self._allow_outside = allow_outside
        if not self.names:
            msg = f"{where}: there are no columns."
            raise ValueError(msg)
        # Those columns of files' contents in which there may be the names of files instead.
        self._naming = [name for name in self.names if self._check(schema, name)]

    def _check(self, schema: pa.Schema, name: str) -> bool:
        """Refuse what cannot be read; returns whether there is a field for names of files."""
        first, *fields = [name] if name in schema.names else name.split(".")
        if first not in schema.names:
            known = ", ".join(schema.names[:20])
            msg = f"{self._where}: there is no column '{name}'. There are: {known}."
            raise ValueError(msg)
        kind = schema.field(first).type
        for field in fields:
            if kind.num_fields == 0 or kind.get_field_index(field) < 0:
                msg = f"{self._where}: column '{first}' has no field '{field}'; it is a {kind}."
                raise ValueError(msg)
            kind = kind.field(field).type
        problem = _unsupported(kind)
        if problem:
            msg = (
                f"{self._where}: column '{name}' is a {kind}; {problem} cannot be read. Choose "
                "others with 'columns'."
            )
            raise ValueError(msg)
        storage = getattr(kind, "storage_type", kind)
        return bool(_is_struct(storage) and storage.get_field_index("path") >= 0)

    def roots(self, schema: pa.Schema) -> list[str]:
        """The columns of the table that are needed."""
        found = [name if name in schema.names else name.split(".")[0] for name in self.names]
        return list(dict.fromkeys(found))

    def values(self, schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
        """For each output the path of what holds its values, as Parquet has it, and its type."""
        found = []
        for name in self.names:
            path = [name] if name in schema.names else name.split(".")
            kind = schema.field(path[0]).type
            for field in path[1:]:
                kind = kind.field(field).type
            kind = getattr(kind, "storage_type", kind)
            if _is_struct(kind):
                path.append("bytes")
                kind = kind.field("bytes").type
            found.append((".".join(path), getattr(kind, "value_type", kind)))
        return found

    def names_files(self, table: pa.Table) -> bool:
        """Whether rows have the names of files in place of contents."""
        return any(_field(self._value(table, name), "bytes").null_count for name in self._naming)

    def convert(self, table: pa.Table, folder: str) -> Fetched:
        """All outputs for the rows of a table, and why some rows have none.

        Images and audio that are not in the table but in files are read; `folder` is where, and
        names that lead out of it are errors, unless that is allowed.
        """
        unread: dict[int, Exception] = {}
        arrays = [self._column(table, name, folder, unread) for name in self.names]
        missing = np.zeros(len(table), bool)
        errors: dict[int, Exception] = {}
        for name, array in zip(self.names, arrays, strict=True):
            if array.null_count:
                empty = np.asarray(array.is_null())
                errors |= {
                    k: OpError(f"there is no value in column '{name}'")
                    for k in np.flatnonzero(empty & ~missing).tolist()
                }
                missing |= empty
        errors |= unread
        if missing.all():
            return Fetched((), errors)
        if missing.any():
            arrays = [array.filter(~missing) for array in arrays]
        return self._to_samples(arrays, errors, np.flatnonzero(~missing))

    def _to_samples(
        self, arrays: list[Any], errors: dict[int, Exception], indices: NDArray[np.int64]
    ) -> Fetched:
        outputs, bad = [], np.zeros(len(indices), bool)
        for name, array in zip(self.names, arrays, strict=True):
            samples, unequal = _to_samples(array, self._where)
            outputs.append(samples)
            for k in np.flatnonzero(unequal & ~bad).tolist():
                msg = f"the lists in column '{name}' have different lengths, or hold no value"
                errors[int(indices[k])] = OpError(msg)
            bad |= unequal
        if bad.all():
            return Fetched((), errors)
        if bad.any():
            good = np.flatnonzero(~bad).tolist()
            outputs = [samples.select(good) for samples in outputs]
        return Fetched(tuple(outputs), dict(sorted(errors.items())))

    def _column(self, table: pa.Table, name: str, folder: str, unread: dict[int, Exception]) -> Any:
        """A column as one array, without structs around it; rows that cannot be read are noted."""
        import pyarrow as pa

        array = self._value(table, name)
        if pa.types.is_struct(array.type):
            array = _embedded(array, folder, self._allow_outside, unread)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        return array

    def _value(self, table: pa.Table, name: str) -> Any:
        """A column, or a field of one, as one array."""
        import pyarrow as pa

        first, *fields = [name] if name in table.column_names else name.split(".")
        array = table.column(first)
        while isinstance(array, pa.ChunkedArray):
            # To combine copies, even if there is only one.
            array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
        for field in fields:
            array = _field(array, field)
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        return array


def _unsupported(kind: Any) -> str:
    """What it is about a type that cannot be read, if anything."""
    import pyarrow as pa

    if isinstance(kind, pa.ExtensionType):
        kind = kind.storage_type
    if pa.types.is_struct(kind):
        return "" if kind.get_field_index("bytes") >= 0 else "a struct without a field 'bytes'"
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if _is_bytes(kind):
        return ""
    while _is_list(kind):
        kind = kind.value_type
    if pa.types.is_temporal(kind) or pa.types.is_boolean(kind):
        return ""
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return "" if number else "this"


def _is_struct(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_struct(kind))


def _is_bytes(kind: Any) -> bool:
    import pyarrow as pa

    checks = ("binary", "large_binary", "string", "large_string", "fixed_size_binary")
    return any(getattr(pa.types, f"is_{check}")(kind) for check in checks)


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    checks = ("list", "large_list", "fixed_size_list")
    return any(getattr(pa.types, f"is_{check}")(kind) for check in checks)


def _field(array: Any, name: str) -> Any:
    """A field of a struct; it has no value where the struct has none."""
    import pyarrow.compute as compute

    return compute.struct_field(array, name)


def _embedded(array: Any, folder: str, allow_outside: bool, unread: dict[int, Exception]) -> Any:
    """The bytes of images or audio; those that are only named are read."""
    import pyarrow as pa

    contents = _field(array, "bytes")
    if contents.null_count == 0 or array.type.get_field_index("path") < 0:
        return contents
    paths = _field(array, "path").to_pylist()
    values = contents.to_pylist()
    for k, (value, path) in enumerate(zip(values, paths, strict=True)):
        if value is None and path is not None:
            try:
                if not allow_outside and not is_below(folder, path):
                    raise outside_error(folder)
                values[k] = read(join(folder, path))
            except (OSError, OpError) as error:
                unread[k] = OpError(f'cannot read "{path}": {reason_of(error)}')
    return pa.array(values, pa.large_binary())


def _to_samples(array: Any, where: str) -> tuple[_kernels.Samples, NDArray[np.bool_]]:
    """The rows of an array without missing values, and which of them are no arrays."""
    import pyarrow as pa

    count = len(array)
    if _is_bytes(array.type):
        return _bytes_to_samples(array, where), np.zeros(count, bool)
    shapes: list[NDArray[np.int64]] = []
    bad = np.zeros(count, bool)
    owners = np.arange(count)
    while _is_list(array.type):
        if array.null_count:
            bad[owners[np.asarray(array.is_null())]] = True
            array = array.fill_null([])
        lengths = np.asarray(array.value_lengths(), np.int64)
        extents = np.zeros(count, np.int64)
        extents[owners[::-1]] = lengths[::-1]
        bad[owners[lengths != extents[owners]]] = True
        shapes.append(extents)
        owners = np.repeat(owners, lengths)
        array = array.flatten()
    if array.null_count:
        bad[owners[np.asarray(array.is_null())]] = True
        array = array.fill_null(0)
    if pa.types.is_temporal(array.type):
        array = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    values = array.to_numpy(zero_copy_only=False)
    assert from_numpy(values.dtype) is not None, values.dtype
    # Rows whose lists differ are dropped by the caller; here they are vectors of what they hold.
    counts = np.bincount(owners, minlength=count)
    if not shapes:
        return host(to_samples(values, None, None, where)).unfold().as_internal(), bad
    table = np.stack(shapes, 1)
    table[bad] = 1
    table[bad, 0] = counts[bad]
    return split_rows(values, np.cumsum(counts), where).reshape(table, ""), bad


def _bytes_to_samples(array: Any, where: str) -> _kernels.Samples:
    import pyarrow as pa

    if pa.types.is_fixed_size_binary(array.type):
        array = array.cast(pa.binary())
    _, offsets, data = array.buffers()
    large = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    bounds = np.frombuffer(offsets, np.int64 if large else np.int32)
    ends = bounds[array.offset : array.offset + len(array) + 1].astype(np.int64)
    content = np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]]
    return split_rows(content, ends[1:] - ends[0], where)
