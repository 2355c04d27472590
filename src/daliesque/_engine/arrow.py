# SPDX-License-Identifier: Apache-2.0
"""Batches as Arrow columns and Arrow columns as batches, over the same memory.

The Arrow PyCapsule interface hands columns over between libraries within a process: pyarrow,
Polars, DuckDB, Ray and others. None of them is needed here. Samples without axes are plain numbers,
encoded files are binary values, and everything else has one of Arrow's canonical extension types:
`arrow.fixed_shape_tensor` if all samples have one shape, or else `arrow.variable_shape_tensor`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _kernels
from .convert import join_samples, to_stacked_numpy
from .dtype import (
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    from_code,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .layout import check_layout
from .samples import HostSamples, Samples, host
from .value import Value

_FIXED_SHAPE = "arrow.fixed_shape_tensor"
_VARIABLE_SHAPE = "arrow.variable_shape_tensor"
_BOOL8 = "arrow.bool8"
# Ray's types, which it makes of tensors; their metadata are a list of the extents, or nothing.
_RAY_FIXED_SHAPE = ("ray.data.arrow_tensor", "ray.data.arrow_tensor_v2")

_NAME = b"ARROW:extension:name"
_DETAILS = b"ARROW:extension:metadata"
# Arrow has no bfloat16: the bits are uint16, and this says what they mean.
_ELEMENT_TYPE = b"daliesque.dtype"

_FORMATS: dict[DType, str] = {
    bool_: "b",
    int8: "c",
    uint8: "C",
    int16: "s",
    uint16: "S",
    int32: "i",
    uint32: "I",
    int64: "l",
    uint64: "L",
    float16: "e",
    float32: "f",
    float64: "g",
    bfloat16: "S",
}
_TYPES = {code: dtype for dtype, code in _FORMATS.items() if dtype is not bfloat16}
_INTEGERS = ("c", "C", "s", "S", "i", "I", "l", "L")
# Dates and times are numbers since a beginning, or of units.
_TIMES = {"tdD": int32, "tdm": int64, "tts": int32, "ttm": int32, "ttu": int64, "ttn": int64}
_BYTES = ("z", "Z", "u", "U", "vz", "vu")
_LISTS = ("+l", "+L", "+vl", "+vL")
# What messages call the types that hold neither numbers nor bytes.
_OTHERS = {
    "n": "nulls",
    "+s": "structs",
    "+m": "maps",
    "+r": "run-end encoded values",
    "+u": "unions",
    "d:": "decimals",
    "ti": "intervals",
}


class Field(NamedTuple):
    """An Arrow type: a format of the C data interface, and what belongs to it."""

    format: str
    name: str = ""
    metadata: Mapping[bytes, bytes] = {}
    children: Sequence[Field] = ()
    # Empty, or the type of the values that indices refer to.
    dictionary: Sequence[Field] = ()

    @classmethod
    def of(cls, described: tuple[Any, ...]) -> Field:
        """Make it of what the native core read."""
        code, name, metadata, children, dictionary = described
        nested = [cls.of(child) for child in children]
        return cls(code, name, metadata, nested, [cls.of(values) for values in dictionary])

    @property
    def extension(self) -> str:
        """The name of the extension type; empty if it is none."""
        return self.metadata.get(_NAME, b"").decode(errors="replace")

    @property
    def details(self) -> Any:
        """What the extension type says about itself, if that can be read."""
        try:
            import json

            return json.loads(self.metadata.get(_DETAILS, b"") or b"{}")
        except ValueError:
            return {}

    def child(self, name: str) -> int:
        """The number of a field of structs; -1 if there is none of that name."""
        return next((k for k, child in enumerate(self.children) if child.name == name), -1)


def is_arrow(data: object) -> bool:
    """Whether an object is to be taken as Arrow data: it hands over such, and has no array."""
    if hasattr(data, "__arrow_c_array__"):
        return True
    # In a column of pandas that is a NumPy array, NaN is a value; as Arrow data it would be none.
    kind = getattr(data, "dtype", None)
    is_numbers = isinstance(kind, np.dtype) and kind.kind != "O"
    return hasattr(data, "__arrow_c_stream__") and not is_numbers


def from_arrow(data: Any, where: str) -> HostSamples:
    """The rows of an Arrow array, or of a column in several parts, as samples."""
    if hasattr(data, "__arrow_c_array__"):
        schema, array = data.__arrow_c_array__()
        field = Field.of(_kernels.read_arrow_schema(schema))
        columns = [_kernels.import_arrow_array(array)]
    else:
        described, columns = _kernels.read_arrow_stream(data.__arrow_c_stream__())
        field = Field.of(described)
    parts: list[Samples] = []
    first = 0
    for column in columns:
        parts.append(_to_samples(field, _Rows(column, first, where)))
        first += len(column)
    # Parts without rows say nothing about shapes.
    filled = [part for part in parts if len(part)] or parts[:1]
    if not filled:
        return _empty(field, where)
    return host(join_samples(filled, None, where)) if len(filled) > 1 else host(filled[0])


class _Rows(NamedTuple):
    """Some rows of a column; `first` is the number of the first one, for messages."""

    column: _kernels.ArrowColumn
    first: int
    where: str

    def field(self, number: int) -> _Rows:
        return self._replace(column=self.column.field(number))

    def require_values(self, formats: list[str]) -> None:
        row = self.column.first_missing(formats)
        if row >= 0:
            msg = (
                f"{self.where}: row {self.first + row} of the Arrow array has a missing value "
                "(null), which a batch cannot hold. Drop or fill such rows first, e.g. with "
                "drop_null() of pyarrow."
            )
            raise ValueError(msg)

    def samples(self, formats: list[str], dtype: DType) -> HostSamples:
        self.require_values(formats)
        try:
            return self.column.samples(formats, dtype.code)
        except ValueError as error:
            msg = f"{self.where}: {error}."
            raise ValueError(msg) from None


def _to_samples(field: Field, rows: _Rows) -> HostSamples:
    if field.dictionary:
        rows.require_values([field.format])
        values = _to_samples(field.dictionary[0], rows._replace(column=rows.column.dictionary()))
        return values.select(_checked(rows.column.integers(field.format), len(values), rows.where))
    if field.format == "+s":
        return _from_structs(field, rows)
    formats, dtype = _values_of(field, rows.where)
    samples = rows.samples(formats, dtype)
    if field.extension in (_FIXED_SHAPE, *_RAY_FIXED_SHAPE):
        details = field.details
        if field.extension in _RAY_FIXED_SHAPE:
            details = {"shape": details}
        shape = _numbers(details, "shape", rows.where)
        samples = _reshaped(samples, np.array([shape], np.int64), rows.where)
        return _described(samples, details, rows.where)
    return samples


def _checked(indices: list[int], size: int, where: str) -> list[int]:
    if indices and not 0 <= min(indices) <= max(indices) < size:
        msg = f"{where}: the Arrow array contradicts itself: an index leads out of its dictionary."
        raise ValueError(msg)
    return indices


def _from_structs(field: Field, rows: _Rows) -> HostSamples:
    """Tensors of different shapes, or the contents of files."""
    data, shape, content = field.child("data"), field.child("shape"), field.child("bytes")
    if len(field.children) == 2 and data >= 0 and shape >= 0:
        rows.require_values(["+s"])
        elements = _to_samples(field.children[data], rows.field(data))
        extents = _to_samples(field.children[shape], rows.field(shape))
        if elements.ndim == 1 and extents.ndim == 1 and extents.uniform:
            shapes = np.zeros((0, _width(field.children[shape])), np.int64)
            if len(extents):
                shapes = to_stacked_numpy(extents).astype(np.int64)
            return _described(_reshaped(elements, shapes, rows.where), field.details, rows.where)
    if content >= 0 and {child.name for child in field.children} <= {"bytes", "path"}:
        # As image and audio columns are.
        rows.require_values(["+s"])
        return _to_samples(field.children[content], rows.field(content))
    names = ", ".join(repr(child.name) for child in field.children[:20])
    msg = (
        f"{rows.where}: a table, or an array of structs, is not a batch: it has the columns "
        f"{names}. Pass one of them."
    )
    raise ValueError(msg)


def _width(field: Field) -> int:
    """How many values a list has, if all lists of a type have as many."""
    return int(field.format[3:]) if field.format.startswith("+w:") else 0


def _values_of(field: Field, where: str) -> tuple[list[str], DType]:
    """The formats of nested lists, down to the values, and the type of these."""
    formats = [field.format]
    while field.format in _LISTS or field.format.startswith("+w:"):
        (field,) = field.children
        formats.append(field.format)
    code = field.format
    if code in _BYTES or code.startswith("w:"):
        if code.startswith("v") and len(formats) > 1:
            msg = (
                f"{where}: Arrow lists of binary or string views are not supported. Cast them to "
                "lists of binary values."
            )
            raise ValueError(msg)
        return formats, uint8
    dtype = _TYPES.get(code) or _TIMES.get(code)
    if dtype is None and code.startswith(("ts", "tD")):
        dtype = int64
    if dtype is None:
        kind = _OTHERS.get(code[:2], f"type {code!r}")
        msg = (
            f"{where}: an Arrow array of {kind} holds neither numbers nor bytes. Cast it to "
            "another type first."
        )
        raise TypeError(msg)
    if field.extension == _BOOL8:
        dtype = bool_
    if field.metadata.get(_ELEMENT_TYPE) == b"bfloat16":
        dtype = bfloat16
    return formats, dtype


def _numbers(details: Any, name: str, where: str) -> list[int]:
    found = details.get(name) if isinstance(details, dict) else None
    if not isinstance(found, list) or not all(type(n) is int and n >= 0 for n in found):
        msg = f"{where}: the Arrow tensors have no {name} that can be read; got {found!r:.60}."
        raise ValueError(msg)
    return found


def _reshaped(samples: HostSamples, shapes: Any, where: str) -> HostSamples:
    try:
        return samples.reshape(shapes, "")
    except ValueError as error:
        msg = f"{where}: the Arrow tensors contradict their shapes: {error}."
        raise ValueError(msg) from None


def _described(samples: HostSamples, details: Any, where: str) -> HostSamples:
    """Tensors with the order of their axes, and with the names of these as layout."""
    if not isinstance(details, dict):
        return samples
    order = list(range(samples.ndim))
    if details.get("permutation") is not None:
        order = _numbers(details, "permutation", where)
        if sorted(order) != list(range(samples.ndim)):
            msg = f"{where}: the Arrow tensors have no permutation of their axes; got {order}."
            raise ValueError(msg)
    names = details.get("dim_names") or []
    layout = "".join(map(str, names))
    if len(names) != samples.ndim or len(layout) != len(names) or not layout.isalpha():
        layout = ""
    elif len(set(layout)) < len(layout):
        layout = ""
    if order != list(range(samples.ndim)):
        # The data lie in another order than the tensors' axes are to have.
        layout = "".join(layout[axis] for axis in order) if layout else ""
        return host(samples.kernels.transpose(samples, order, layout))
    return samples.with_layout(check_layout(layout, samples.ndim, where)) if layout else samples


def _empty(field: Field, where: str) -> HostSamples:
    """No rows, of the type of a stream without any part."""
    if field.dictionary:
        return _empty(field.dictionary[0], where)
    if field.format == "+s" and field.child("data") >= 0 and field.child("shape") >= 0:
        _, dtype = _values_of(field.children[field.child("data")], where)
        ndim = _width(field.children[field.child("shape")])
        return _kernels.empty_uniform(dtype.code, [0] * ndim, "", 0)
    formats, dtype = _values_of(field, where)
    ndim = len(formats) - (0 if formats[-1] in _BYTES else 1)
    if field.extension in (_FIXED_SHAPE, *_RAY_FIXED_SHAPE):
        details = field.details
        ndim = len(details["shape"] if field.extension == _FIXED_SHAPE else details)
    return _kernels.empty_uniform(dtype.code, [0] * ndim, "", 0)


class _Column(NamedTuple):
    """Samples as a column: its form and its type."""

    form: _kernels.ArrowForm
    field: Field


# More elements than that need offsets of 64 bits.
_MOST_SHORT = 2**31 - 1


def _describe(samples: HostSamples, requested: Field | None) -> _Column:
    """The column that is asked for, if samples can be that, or else the one that suits them."""
    wanted = None if requested is None else _requested(samples, requested)
    return _natural(samples) if wanted is None else wanted


def _natural(samples: HostSamples) -> _Column:
    """The column that suits samples best.

    What the encoded files of a batch become does not depend on whether they happen to be equally
    long.
    """
    value = _value_field(samples)
    if samples.ndim == 0:
        return _Column(_kernels.ArrowForm.numbers, value._replace(name=""))
    if samples.ndim == 1 and samples.type_id == uint8.code and not samples.layout:
        if samples.volume > _MOST_SHORT:
            return _Column(_kernels.ArrowForm.large_bytes, Field("Z"))
        return _Column(_kernels.ArrowForm.bytes, Field("z"))
    if len(samples) and samples.uniform:
        return _fixed(samples, value, _FIXED_SHAPE)
    return _variable(samples, value, "+l", _VARIABLE_SHAPE)


def _requested(samples: HostSamples, field: Field) -> _Column | None:
    """The column that a consumer would like to have; None if it does not suit samples."""
    value, code = _value_field(samples), field.format
    if code in ("z", "Z") and samples.ndim == 1 and samples.type_id == uint8.code:
        form = _kernels.ArrowForm.bytes if code == "z" else _kernels.ArrowForm.large_bytes
        return _Column(form, Field(code))
    if code.startswith("+w:") and len(samples) and samples.uniform and samples.ndim:
        return _fixed(samples, value, field.extension)
    if code in ("+l", "+L") and samples.ndim == 1 and field.children[0].format == value.format:
        form = _kernels.ArrowForm.lists if code == "+l" else _kernels.ArrowForm.large_lists
        return _Column(form, Field(code, children=(value,)))
    if code == "+s" and field.child("data") == 0 and field.child("shape") == 1 and samples.ndim:
        return _variable(samples, value, field.children[0].format, field.extension)
    return None


def _value_field(samples: HostSamples) -> Field:
    dtype = from_code(samples.type_id)
    # Enumerations are stored as int32.
    code = "i" if dtype.kind is DType.Kind.enum else _FORMATS[dtype]
    metadata = {_ELEMENT_TYPE: b"bfloat16"} if dtype is bfloat16 else {}
    return Field(code, "item", metadata)


def _fixed(samples: HostSamples, value: Field, extension: str) -> _Column:
    shape = samples.shape(0)
    metadata = {}
    if extension == _FIXED_SHAPE:
        metadata = _extension(extension, {"shape": list(shape)}, samples.layout)
    size = samples.volume // len(samples)
    return _Column(
        _kernels.ArrowForm.fixed_lists, Field(f"+w:{size}", metadata=metadata, children=(value,))
    )


def _variable(samples: HostSamples, value: Field, code: str, extension: str) -> _Column:
    large = code == "+L"
    form = _kernels.ArrowForm.large_tensors if large else _kernels.ArrowForm.tensors
    data = Field("+L" if large else "+l", "data", children=(value,))
    shape = Field(f"+w:{samples.ndim}", "shape", children=(Field("i", "item"),))
    metadata = {}
    if extension == _VARIABLE_SHAPE:
        metadata = _extension(extension, {}, samples.layout)
    return _Column(form, Field("+s", metadata=metadata, children=(data, shape)))


def _extension(name: str, details: dict[str, Any], layout: str) -> dict[bytes, bytes]:
    if layout:
        details = {**details, "dim_names": list(layout)}
    import json

    return {_NAME: name.encode(), _DETAILS: json.dumps(details).encode()}


class ArrowExport(Value):
    """What makes a Batch a column to libraries that know the Arrow PyCapsule interface."""

    __slots__ = ()

    def __arrow_c_schema__(self) -> Any:
        """The type of the column, in a capsule."""
        return _kernels.export_arrow_schema(_describe(self._packed(), None).field)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """The type and the data of the column, in capsules.

        The data are those of the batch, not a copy; only booleans are, which Arrow packs into bits,
        and batches whose samples do not lie together. On a gpu they are copied to the CPU.

        Parameters
        ----------
        requested_schema
            The type that the consumer would like to have, in a capsule; if the batch cannot be
            that without conversion, it has its own type.

        Examples
        --------
        >>> import pyarrow as pa
        >>> images = ndd.zeros(shape=[2, 3, 3], dtype=ndd.uint8, batch_size=4)
        >>> pa.array(images).type
        FixedShapeTensorType(extension<arrow.fixed_shape_tensor[value_type=uint8, shape=[2,3,3]]>)
        """
        samples = self._packed()
        wanted = None
        if requested_schema is not None:
            wanted = Field.of(_kernels.read_arrow_schema(requested_schema))
        form, field = _describe(samples, wanted)
        try:
            array = _kernels.export_arrow_array(samples, form)
        except ValueError as error:
            msg = f"Batch.__arrow_c_array__: {error}. Export parts of it: batch.select(...)."
            raise ValueError(msg) from None
        return _kernels.export_arrow_schema(field), array

    def _packed(self) -> HostSamples:
        samples = host(self._data())
        return samples if samples.packed or not len(samples) else samples.copy()
