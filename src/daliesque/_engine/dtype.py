# SPDX-License-Identifier: Apache-2.0
"""Element types."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import ml_dtypes
import numpy as np

from .enums import DALIDataType, DALIImageType, DALIInterpType

if TYPE_CHECKING:
    from .tensor import Tensor

# The native core's number for bfloat16, which the reference has no number for.
_BFLOAT16_CODE = 100


class DType:
    """The type of the elements of a Tensor or Batch.

    The types are module attributes (`daliesque.uint8`, `daliesque.float32`, ...); there is no
    reason to make others.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.float16.bits, ndd.float16.exponent_bits
    (16, 5)
    >>> ndd.uint8([1, 2]).dtype == ndd.uint8
    True
    """

    class Kind(enum.Enum):
        """What a type's bits mean."""

        signed = 1
        unsigned = 2
        float = 3
        bool = 4
        enum = 5

    # Calling a type makes a tensor; set by the tensor module.
    _make_tensor: ClassVar[Any]

    __slots__ = (
        "_hash",
        "_key",
        "bits",
        "bytes",
        "code",
        "docs",
        "exponent_bits",
        "kind",
        "name",
        "numpy",
        "significand_bits",
        "type_id",
    )

    def __init__(
        self,
        kind: Kind,
        bits: int,
        exponent_bits: int | None = None,
        significand_bits: int | None = None,
        bytes: int | None = None,
        type_id: DALIDataType | None = None,
        name: str | None = None,
        docs: str | None = None,
    ) -> None:
        default_exponent = {8: 4, 16: 5, 32: 8, 64: 11}.get(bits)
        if kind is DType.Kind.float:
            if exponent_bits is None:
                exponent_bits = default_exponent
            if exponent_bits is None:
                msg = f"DType: a float of {bits} bits needs 'exponent_bits'."
                raise ValueError(msg)
            if significand_bits is None:
                significand_bits = bits - exponent_bits - 1
        else:
            exponent_bits = significand_bits = None
        self.kind = kind
        self.bits = bits
        self.bytes = bytes if bytes is not None else (bits + 7) // 8
        self.exponent_bits = exponent_bits
        self.significand_bits = significand_bits
        self.type_id = type_id
        self.name = name if name is not None else self._default_name()
        self.code = int(type_id) if type_id is not None else _BFLOAT16_CODE
        self.numpy = self._find_numpy()
        self.docs = docs
        own_name = self.name if kind is DType.Kind.enum else ""
        # Types are compared in every call.
        self._key = (kind, bits, exponent_bits, significand_bits, own_name)
        self._hash = hash(self._key)

    def _default_name(self) -> str:
        if self.kind is DType.Kind.bool:
            return "bool"
        if self.kind is DType.Kind.float:
            if (self.bits, self.exponent_bits) == (16, 8):
                return "bfloat16"
            if (self.bits, self.exponent_bits) in ((16, 5), (32, 8), (64, 11)):
                return f"f{self.bits}"
            return f"f{self.bits}e{self.exponent_bits}m{self.significand_bits}"
        return ("i" if self.kind is DType.Kind.signed else "u") + str(self.bits)

    def _find_numpy(self) -> np.dtype[Any]:
        if self.kind is DType.Kind.bool:
            return np.dtype(np.bool_)
        if self.kind is DType.Kind.enum:
            return np.dtype(np.int32)
        if self.kind is DType.Kind.float:
            if self.exponent_bits == 8 and self.bits == 16:
                bfloat: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
                return bfloat
            return np.dtype(f"f{self.bytes}")
        return np.dtype(("i" if self.kind is DType.Kind.signed else "u") + str(self.bytes))

    def __call__(self, data: Any, **kwargs: Any) -> Tensor:
        """Make a tensor of this type from `data`."""
        if "dtype" in kwargs:
            msg = f"{self.name}(): 'dtype' is given by the type itself. Leave it out."
            raise ValueError(msg)
        made: Tensor = DType._make_tensor(data, dtype=self, **kwargs)
        return made

    @property
    def full_name(self) -> str:
        """The name under which the module has the type, e.g. "uint8"; in messages."""
        if self.kind is DType.Kind.enum or self.name in ("bool", "bfloat16"):
            return self.name
        words = {"f": "float", "i": "int", "u": "uint"}
        return words[self.name[0]] + self.name[1:]

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        text = f"DType(kind={self.kind}, bits={self.bits}"
        if self.kind is DType.Kind.float:
            text += (
                f", exponent_bits={self.exponent_bits}, significand_bits={self.significand_bits}"
            )
        if self.kind is DType.Kind.enum:
            text += f", name={self.name!r}"
        return text + ")"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, DType) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return (DType.parse, (self.name,))

    @staticmethod
    def from_type_id(type_id: DALIDataType | int) -> DType:
        """The type with the given number."""
        found = _by_code.get(int(type_id))
        if found is None or found.type_id is None:
            msg = f"DType.from_type_id: no element type has the number {type_id!r}."
            raise KeyError(msg)
        return found

    @staticmethod
    def from_fw_type(numpy_type: Any) -> DType:
        """The type that corresponds to a NumPy, torch, JAX or ml_dtypes type.

        Examples
        --------
        >>> import daliesque as ndd
        >>> import numpy as np
        >>> ndd.DType.from_fw_type(np.float32) == ndd.float32
        True
        """
        if type(numpy_type).__module__ == "torch":
            # torch's dtypes print as "torch.float32"; their names are NumPy's.
            name = str(numpy_type).removeprefix("torch.")
            found = _by_numpy_name.get(name)
        else:
            try:
                found = _by_numpy.get(np.dtype(numpy_type).newbyteorder("="))
            except TypeError:
                found = None
        if found is None:
            msg = f"DType.from_fw_type: no element type corresponds to {numpy_type!r}."
            raise TypeError(msg)
        return found

    @staticmethod
    def parse(name: str) -> DType:
        """The type with the given name, e.g. "f32", "float32", "u8" or "bool"."""
        found = _by_name.get(name) or _by_numpy_name.get(name)
        if found is None:
            known = ", ".join(_by_name)
            msg = f"DType.parse: {name!r} is not the name of an element type. Known: {known}."
            raise ValueError(msg)
        return found


_Kind = DType.Kind
int8 = DType(_Kind.signed, 8, type_id=DALIDataType.INT8)
int16 = DType(_Kind.signed, 16, type_id=DALIDataType.INT16)
int32 = DType(_Kind.signed, 32, type_id=DALIDataType.INT32)
int64 = DType(_Kind.signed, 64, type_id=DALIDataType.INT64)
uint8 = DType(_Kind.unsigned, 8, type_id=DALIDataType.UINT8)
uint16 = DType(_Kind.unsigned, 16, type_id=DALIDataType.UINT16)
uint32 = DType(_Kind.unsigned, 32, type_id=DALIDataType.UINT32)
uint64 = DType(_Kind.unsigned, 64, type_id=DALIDataType.UINT64)
float16 = DType(_Kind.float, 16, type_id=DALIDataType.FLOAT16)
float32 = DType(_Kind.float, 32, type_id=DALIDataType.FLOAT)
float64 = DType(_Kind.float, 64, type_id=DALIDataType.FLOAT64)
bfloat16 = DType(_Kind.float, 16, exponent_bits=8)
bool_ = DType(_Kind.bool, 8, type_id=DALIDataType.BOOL)
DataType = DType(_Kind.enum, 32, type_id=DALIDataType.DATA_TYPE, name="DataType")
ImageType = DType(_Kind.enum, 32, type_id=DALIDataType.IMAGE_TYPE, name="ImageType")
InterpType = DType(_Kind.enum, 32, type_id=DALIDataType.INTERP_TYPE, name="InterpType")

_NUMBERS = (int8, int16, int32, int64, uint8, uint16, uint32, uint64)
_FLOATS = (float16, float32, float64, bfloat16)
NUMERIC = (*_NUMBERS, *_FLOATS)
_ALL = (*NUMERIC, bool_, DataType, ImageType, InterpType)
_by_code = {t.code: t for t in _ALL}
_by_name = {t.name: t for t in _ALL}
_by_numpy = {t.numpy: t for t in (*NUMERIC, bool_)}
_by_numpy_name = {t.numpy.name: t for t in (*NUMERIC, bool_)}

_ENUM_TYPES: dict[type, DType] = {
    DALIDataType: DataType,
    DALIImageType: ImageType,
    DALIInterpType: InterpType,
}


# What is understood as an element type wherever one is asked for.
DTypeLike: TypeAlias = DType | DALIDataType | str | np.dtype[Any] | type[Any]


def full_names(types: Iterable[DType]) -> str:
    """The names of types, separated by commas, as messages list them."""
    return ", ".join(dtype.full_name for dtype in types)


def from_numpy(kind: np.dtype[Any]) -> DType | None:
    """The type that corresponds to a NumPy type in native byte order, if there is one."""
    return _by_numpy.get(kind)


def from_code(code: int) -> DType:
    """The type with the native core's number `code`."""
    return _by_code[code]


def enum_dtype(value: object) -> DType | None:
    """The enum type that `value` is a member of, if any."""
    return _ENUM_TYPES.get(type(value))


def dtype(*args: Any) -> DType:
    """Find the element type that `args` describe.

    Accepts a DType, a `daliesque.types.DALIDataType`, a name, a NumPy, torch or JAX type, or the
    arguments of `DType`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.dtype("f32").bits
    32
    """
    if len(args) != 1:
        return DType(*args)
    kind = args[0]
    if isinstance(kind, DType):
        return kind
    if isinstance(kind, DALIDataType):
        return DType.from_type_id(kind)
    if isinstance(kind, str):
        return DType.parse(kind)
    if kind is bool:
        return bool_
    if kind is int or kind is float:
        advice = "int32 or daliesque.int64" if kind is int else "float32 or daliesque.float64"
        msg = (
            "'dtype' must be a daliesque type such as daliesque.float32; "
            f"got the Python type {kind.__name__}. Use daliesque.{advice}."
        )
        raise TypeError(msg)
    return DType.from_fw_type(kind)


def type_id(dtype: DType | DALIDataType) -> DALIDataType | None:
    """The number of an element type (None for bfloat16, which has none).

    Examples
    --------
    >>> import daliesque as ndd
    >>> int(ndd.type_id(ndd.float32))
    9
    """
    if isinstance(dtype, DType):
        return dtype.type_id
    if isinstance(dtype, DALIDataType):
        return dtype
    msg = f"type_id: 'dtype' must be a DType or a DALIDataType; got {dtype!r}."
    raise ValueError(msg)
