# SPDX-License-Identifier: Apache-2.0
"""Operator arguments: what users may pass, and what bodies receive.

The annotation of a keyword parameter of an operator decides. A plain type (`int`, `float`, `bool`,
`str`, `DType`, an enumeration) is a fixed argument: one value for the whole batch. The aliases
below accept a value for all samples, or a Tensor or Batch with one for each:

    FloatPerSample   body gets float32 of shape (1,) or (N,)
    IntPerSample     int32, likewise
    BoolPerSample    bool, likewise
    FloatsPerSample  float32 of shape (1, k) or (N, k)
    IntsPerSample    int32, likewise
    InterpPerSample  int32 numbers of DALIInterpType, shape (1,) or (N,)
    FloatListsPerSample, IntListsPerSample
                     Samples (one, or N) of float32 or int64 vectors, whose lengths may differ

The `PerFrame` variants may also differ from frame to frame of a sequence.
"""

from __future__ import annotations

import enum
import math
import operator
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .constants import Constants, constant_key
from .convert import cast_samples, contiguous, is_array, to_samples, to_stacked_numpy
from .dtype import DType, float16, float32, float64, full_names, int64
from .dtype import dtype as to_dtype
from .enums import DALIInterpType, find_member
from .samples import HostSamples, host
from .value import Value

_INTEGERS = frozenset({int})
_NUMBERS = frozenset({int, float})
# Fixed integers have 32 bits unless they are annotated `Int64`.
_INTEGERS_END = 2**31
# Beyond it lies infinity, in single precision.
_LARGEST_FLOAT = float(np.finfo(np.float32).max)


class FrameValues(NamedTuple):
    """An argument that differs from frame to frame: values of all frames, frames per sample."""

    values: NDArray[Any]
    counts: NDArray[np.int64]


class Rule:
    """How one kind of argument is checked and converted."""

    per_sample = False
    per_frame = False

    def convert(self, value: Any, where: str) -> Any:
        """What the body gets for a value that serves all samples."""
        raise NotImplementedError

    def from_samples(self, samples: HostSamples, where: str) -> Any:
        """What the body gets for a Tensor or Batch."""
        raise NotImplementedError


class Fixed(Rule):
    """One value for the whole batch."""

    def __init__(self, expected: str, accept: Callable[[Any], Any]) -> None:
        self.expected = expected
        self.accept = accept

    def convert(self, value: Any, where: str) -> Any:
        if isinstance(value, Value):
            if isinstance(value, Value._batch_class):
                msg = f"{where} is the same for all samples; got a Batch."
                raise TypeError(msg)
            value = np.asarray(value)
        try:
            return self.accept(value)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            if isinstance(error, TypeError) and "daliesque type" in str(error):
                msg = f"{where.partition(':')[0]}: {error}"
                raise TypeError(msg) from None
            msg = f"{where} must be {self.expected}; got {value!r}."
            unfit = isinstance(error, ValueError | OverflowError | KeyError)
            kind = ValueError if unfit else TypeError
            raise kind(msg) from None


class TypeChoice(Fixed):
    """An element type out of a few."""

    def __init__(self, allowed: tuple[DType, ...]) -> None:
        expected, _, accept = _SCALARS[DType]
        super().__init__(expected, accept)
        self.allowed = allowed

    def convert(self, value: Any, where: str) -> DType:
        dtype: DType = super().convert(value, where)
        if dtype not in self.allowed:
            names = full_names(self.allowed)
            msg = f"{where} must be one of {names}; got {dtype.full_name}."
            raise ValueError(msg)
        return dtype


class PerSample(Rule):
    """A number, or `vector` of them, for each sample."""

    per_sample = True

    def __init__(self, dtype: type, vector: bool, per_frame: bool = False) -> None:
        self.dtype = np.dtype(dtype)
        self.vector = vector
        self.per_frame = per_frame
        self._constants: Constants[NDArray[Any]] = Constants()

    def convert(self, value: Any, where: str) -> NDArray[Any]:
        key = constant_key(value)
        if key is None:
            return self._convert(value, where)
        made = self._constants.get(key)
        if made is None:
            made = self._convert(value, where)
            made.flags.writeable = False
            made = self._constants.keep(key, made)
        return made

    def _convert(self, value: Any, where: str) -> NDArray[Any]:
        kind = type(value)
        if kind is float or kind is int or kind is bool:
            if self.dtype.kind != "i" or kind is not float:
                if kind is float and abs(value) > _LARGEST_FLOAT:
                    value = math.copysign(math.inf, value)
                try:
                    array = np.array((value,), self.dtype)
                except OverflowError:
                    raise self._unfit(value, where, ValueError) from None
                return array.reshape(1, 1) if self.vector else array
        elif self.vector and (kind is list or kind is tuple) and value:
            # Plain numbers, as most lists are: what follows would cost more than the operator.
            floats = self.dtype.kind == "f"
            if (_NUMBERS if floats else _INTEGERS).issuperset(map(type, value)):
                try:
                    if floats and (max(value) > _LARGEST_FLOAT or min(value) < -_LARGEST_FLOAT):
                        return self._typed(np.array((value,), np.float64), where)
                    return np.array((value,), self.dtype)
                except OverflowError:
                    raise self._unfit(value, where, ValueError) from None
        elif isinstance(value, str) or (isinstance(value, list | tuple) and not self.vector):
            if not (isinstance(value, list | tuple) and len(value) == 1):
                raise self._unfit(value, where, TypeError)
        if is_array(value) and not isinstance(value, np.ndarray | np.generic):
            value = to_stacked_numpy(host(to_samples(value, None, None, where)))[0]
        try:
            raw = np.asarray(value)
        except ValueError:
            raise self._unfit(value, where, ValueError) from None
        if raw.dtype.kind not in "biuf" and raw.dtype != "bfloat16":
            raise self._unfit(value, where, TypeError)
        if not self.vector and raw.size != 1:
            raise self._unfit(value, where, ValueError)
        return self._typed(raw.reshape(1, -1) if self.vector else raw.reshape(1), where)

    def from_samples(self, samples: HostSamples, where: str) -> Any:
        count = len(samples)
        if count == 0:
            return np.empty((0, 0) if self.vector else (0,), self.dtype)
        if self.per_frame and samples.layout.startswith("F"):
            counts = np.array([shape[0] for shape in samples.shapes], np.int64)
            frames = (samples if samples.contiguous else samples.copy()).unfold()
            if len(frames) == 0:
                return FrameValues(np.empty((0, 0) if self.vector else (0,), self.dtype), counts)
            return FrameValues(self._rows(frames, where), counts)
        return self._rows(samples, where)

    def _rows(self, samples: HostSamples, where: str) -> NDArray[Any]:
        if not samples.uniform:
            msg = f"{where} needs equally many values for each sample; got {samples.shapes}."
            raise ValueError(msg)
        stacked = to_stacked_numpy(samples)
        rows = stacked.reshape(len(samples), -1)
        if self.vector:
            return self._typed(rows, where)
        if rows.shape[1] != 1:
            msg = f"{where} needs one value for each sample; got the shape {samples.shape(0)}."
            raise ValueError(msg)
        return self._typed(rows[:, 0], where)

    def _typed(self, array: NDArray[Any], where: str) -> NDArray[Any]:
        if array.dtype == self.dtype and array.flags.aligned:
            return np.ascontiguousarray(array)
        if self.dtype.kind == "i" and array.dtype.kind != "b" and array.size:
            limits = np.iinfo(self.dtype.name)
            # NaN fails the comparisons too.
            if array.dtype.kind in "iu":
                fits = int(array.min()) >= limits.min and int(array.max()) <= limits.max
            else:
                # The largest integer itself is no floating-point number.
                with np.errstate(invalid="ignore"):
                    wide = array.astype(np.float64)
                fits = wide.min() >= limits.min and wide.max() < -float(limits.min)
                fits = fits and bool(np.all(wide == np.rint(wide)))
            if not fits:
                raise self._unfit(array.ravel().tolist(), where, ValueError)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.ascontiguousarray(array.astype(self.dtype))

    def _unfit(self, value: Any, where: str, kind: type[Exception]) -> Exception:
        noun = {"i": "integer", "b": "truth value", "f": "number"}[self.dtype.kind]
        wanted = f"a list of {noun}s" if self.vector else f"one {noun}"
        shown = value[0] if isinstance(value, list) and len(value) == 1 else value
        return kind(
            f"{where} must be {wanted} (or a Batch with one such for each sample); got {shown!r}."
        )


class FilterPerSample(PerSample):
    """A filter, by number or by name, for each sample."""

    def __init__(self) -> None:
        super().__init__(np.int32, False)

    def convert(self, value: Any, where: str) -> NDArray[Any]:
        if isinstance(value, str):
            try:
                value = int(find_member(DALIInterpType, value))
            except KeyError:
                names = ", ".join(member.name for member in DALIInterpType)
                msg = f"{where} must be one of {names}; got {value!r}."
                raise ValueError(msg) from None
        return super().convert(value, where)


class NumberLists(Rule):
    """A list of numbers for all samples, or one for each, of any length."""

    per_sample = True

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def convert(self, value: Any, where: str) -> HostSamples:
        return self.from_samples(host(to_samples(value, None, None, where)).as_internal(), where)

    def from_samples(self, samples: HostSamples, where: str) -> HostSamples:
        if samples.ndim > 1:
            msg = f"{where} must be a list of numbers; got one with {samples.ndim} axes."
            raise ValueError(msg)
        if self.dtype is int64 and samples.type_id in (float16.code, float32.code, float64.code):
            for values in (_kernels.numpy_view(samples, i) for i in range(len(samples))):
                if not np.all(values == np.trunc(values)):
                    msg = f"{where} must be a list of integers; got {values.tolist()}."
                    raise ValueError(msg)
        numbers = contiguous(cast_samples(samples, self.dtype))
        if samples.ndim == 1:
            return numbers
        return numbers.reshape(np.ones((len(samples), 1), np.int64), "")


class StringPerSample(Rule):
    """A word from a list, given for all samples or as a Batch of character codes."""

    per_sample = True

    def convert(self, value: Any, where: str) -> list[str]:
        if not isinstance(value, str):
            msg = f"{where} must be a string; got {value!r}."
            raise TypeError(msg)
        return [value]

    def from_samples(self, samples: HostSamples, where: str) -> list[str]:
        if samples.type_id != 0:
            msg = f"{where} must be a string, or a Batch of character codes (uint8)."
            raise TypeError(msg)
        return [_kernels.numpy_view(samples, i).tobytes().decode() for i in range(len(samples))]


def _accept_bool(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if operator.index(value) in (0, 1):
        return bool(value)
    raise ValueError


def _accept_float(value: Any) -> float:
    if isinstance(value, str):
        raise TypeError
    return float(value)


def _accept_int(value: Any) -> int:
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if isinstance(value, float | np.floating):
        if value != int(value):
            raise ValueError
        value = int(value)
    return operator.index(value)


def _accept_int32(value: Any) -> int:
    number = _accept_int(value)
    if not -_INTEGERS_END <= number < _INTEGERS_END:
        raise OverflowError
    return number


def _accept_str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _accept_sequence(accept: Callable[[Any], Any], kind: type) -> Callable[[Any], list[Any]]:
    """Accepts lists whose items `accept` makes objects of a kind; of such it changes nothing."""

    def accept_all(value: Any) -> list[Any]:
        if isinstance(value, str | bytes):
            return [accept(value)]
        if isinstance(value, np.ndarray):
            value = value.reshape(-1).tolist()
        try:
            items = list(value)
        except TypeError:
            items = [value]
        if {*map(type, items)} == {kind} and kind is not int:
            return items
        return [accept(item) for item in items]

    return accept_all


def _enum_rule(members: type[enum.IntEnum]) -> Fixed:
    names = ", ".join(member.name for member in members)

    def accept(value: Any) -> enum.IntEnum:
        if isinstance(value, str):
            return find_member(members, value)
        return members(_accept_int(value))

    return Fixed(f"one of {names}", accept)


_SCALARS: dict[Any, tuple[str, str, Callable[[Any], Any]]] = {
    bool: ("True or False", "truth values", _accept_bool),
    int: ("an integer of 32 bits", "integers of 32 bits", _accept_int32),
    float: ("a number", "numbers", _accept_float),
    str: ("a string", "strings", _accept_str),
    DType: ("a daliesque type such as daliesque.float32", "daliesque types", to_dtype),
}

Int64 = Annotated[int, Fixed("an integer", _accept_int)]
FloatPerSample = Annotated[Any, PerSample(np.float32, False)]
IntPerSample = Annotated[Any, PerSample(np.int32, False)]
Int64PerSample = Annotated[Any, PerSample(np.int64, False)]
BoolPerSample = Annotated[Any, PerSample(np.bool_, False)]
FloatsPerSample = Annotated[Any, PerSample(np.float32, True)]
IntsPerSample = Annotated[Any, PerSample(np.int32, True)]
Ints64PerSample = Annotated[Any, PerSample(np.int64, True)]
InterpPerSample = Annotated[Any, FilterPerSample()]
StrPerSample = Annotated[Any, StringPerSample()]
FloatListsPerSample = Annotated[Any, NumberLists(float32)]
IntListsPerSample = Annotated[Any, NumberLists(int64)]
FloatPerFrame = Annotated[Any, PerSample(np.float32, False, per_frame=True)]
IntPerFrame = Annotated[Any, PerSample(np.int32, False, per_frame=True)]
FloatsPerFrame = Annotated[Any, PerSample(np.float32, True, per_frame=True)]
IntsPerFrame = Annotated[Any, PerSample(np.int32, True, per_frame=True)]


def rule_of(annotation: Any) -> Rule:
    """The rule that an annotation stands for."""
    origin = typing.get_origin(annotation)
    if origin is types.UnionType or origin is typing.Union:
        choices = [arg for arg in typing.get_args(annotation) if arg is not type(None)]
        return rule_of(choices[0])
    if origin is Annotated:
        rule = typing.get_args(annotation)[1]
        assert isinstance(rule, Rule)
        return rule
    if annotation in _SCALARS:
        expected, _, accept = _SCALARS[annotation]
        return Fixed(expected, accept)
    if isinstance(annotation, type) and issubclass(annotation, enum.IntEnum):
        return _enum_rule(annotation)
    if origin in (list, tuple) or annotation in (list, tuple):
        (item,) = typing.get_args(annotation)[:1]
        _, expected, accept = _SCALARS[item]
        return Fixed(f"a list of {expected}", _accept_sequence(accept, item))
    msg = f"no argument rule for the annotation {annotation!r}"
    raise TypeError(msg)
