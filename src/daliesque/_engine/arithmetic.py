# SPDX-License-Identifier: Apache-2.0
"""Operators on tensors and batches: `a + b` and the like."""

# `apply` returns what its operands make of it; the signatures of the operators say which class.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import functools
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from .. import _kernels
from .convert import cast_samples, number_samples, to_samples
from .device import Device
from .devices import Body, move
from .dtype import DType, from_code
from .elementwise import compute, shown_name
from .interception import PASSED, intercept
from .invocation import promise
from .metadata import Call, NotKnown, Result, Shapes, announce_as
from .samples import Samples
from .thread_state import interception
from .value import Value, agreed_count, any_remote, remote_device

# Contravariant: it only occurs as an argument.
Operand = TypeVar("Operand", contravariant=True)


def apply(name: str, *operands: Any) -> Any:
    """Apply an arithmetic or mathematical function to tensors, batches, arrays and numbers.

    The result is a Batch if any operand is; a single tensor or number goes with every sample.
    """
    if interception.on:
        result = intercept(Function(name), operands, None, None, {})
        if result is not PASSED:
            return result
    count: int | None = None
    inputs: list[Value | Samples] = []
    codes: list[int | None] = []
    source = None
    shown = shown_name(name)
    for operand in operands:
        if isinstance(operand, Value):
            if isinstance(operand, Value._batch_class):
                if count is None:
                    count = operand._count
                else:
                    agreed_count(operand, count, shown, "an operand")
            if source is None:
                source = operand._source
            inputs.append(operand)
            samples = operand._samples
            codes.append(_known_code(operand) if samples is None else samples.type_id)
            continue
        if type(operand) is int or type(operand) is float:
            samples = number_samples(operand, shown, "" if operand else str(operand))
        elif isinstance(operand, _NOT_NUMBERS):
            return NotImplemented
        else:
            samples = to_samples(operand, None, None, shown)
        inputs.append(samples)
        codes.append(samples.type_id)
    remote = any_remote(inputs)
    if remote:
        _check_devices(shown, inputs)
    dtype = None if None in codes else _result_type(name, tuple(codes))
    kind, rows = (Value._tensor_class, 1) if count is None else (Value._batch_class, count)
    arguments = {"name": name, "remote": remote}
    values = tuple(inputs)
    return promise(
        kind, shown, compute, values, arguments, _announce, rows, source, None, dtype, remote
    )


class Function(NamedTuple):
    """An arithmetic function as something that is called like an operator."""

    name: str
    is_pure: bool = True

    @property
    def shown(self) -> str:
        """How the user wrote it."""
        return shown_name(self.name)

    def invoke(
        self,
        raw_inputs: tuple[Any, ...],
        _batch_size: Any,
        _device: Any,
        _given: dict[str, Any],
    ) -> Any:
        """Apply the function to the inputs."""
        return apply(self.name, *raw_inputs)


def _check_devices(shown: str, inputs: list[Value | Samples]) -> None:
    """Arrays must all be on one device; numbers go anywhere."""
    device = remote_device(shown, inputs)
    if device is None:
        return
    for value in inputs:
        if isinstance(value, Value) and value.device != device:
            msg = (
                f"{shown}: Cannot mix GPU and CPU inputs; got operands on {str(device)!r} and "
                f"{str(value.device)!r}. Move one of them with .gpu() or .cpu()."
            )
            raise ValueError(msg)


_NOT_NUMBERS = (str, bytes, dict, set)


@functools.cache
def _result_type(name: str, codes: tuple[int, ...]) -> DType:
    """The element type of the result for operands of these types."""
    try:
        return from_code(_kernels.arithmetic_type(name, codes))
    except ValueError as error:
        msg = f"{shown_name(name)}: {error}."
        raise TypeError(msg) from None


def _known_code(value: Value) -> int | None:
    """The element type, if it is known without waiting."""
    pending = value._pending
    if pending is not None and pending.dtype is not None:
        return pending.dtype.code
    try:
        return value._metadata().dtype.code
    except NotKnown:
        return None


def _arithmetic_type(call: Call) -> DType:
    codes = [call.other(number).dtype.code for number in range(len(call.inputs))]
    return from_code(_kernels.arithmetic_type(call["name"], codes))


def _broadcast_layout(call: Call) -> str:
    """The longest layout, if it describes all axes."""
    parts = [call.other(number) for number in range(len(call.inputs))]
    longest = max((part.layout for part in parts), key=len)
    return longest if len(longest) == max(part.ndim for part in parts) else ""


def _broadcast_shapes(call: Call) -> Shapes:
    parts = [call.other(number).shapes for number in range(len(call.inputs))]
    rows = min(len(part) for part in parts) and max(len(part) for part in parts)
    ndim = max(part.shape[1] for part in parts)
    whole = np.ones((rows, ndim), np.int64)
    for part in parts:
        own = whole[:, ndim - part.shape[1] :]
        part = part[:rows]
        if ((own != part) & (own != 1) & (part != 1)).any():
            raise NotKnown
        own[...] = np.where(own == 1, part, own)
    return whole


_announce = announce_as(
    Result(
        dtype=_arithmetic_type,
        ndim=lambda call: max(call.other(number).ndim for number in range(len(call.inputs))),
        layout=_broadcast_layout,
        shape=_broadcast_shapes,
    )
)


def _cast(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    assert inputs[0] is not None
    return cast_samples(inputs[0], arguments["dtype"])


def _copy(inputs: list[Samples | None], _arguments: dict[str, Any]) -> Samples:
    assert inputs[0] is not None
    return inputs[0].copy()


# The same shape and layout, and the type that the argument "dtype" asks for, if there is one.
_same = announce_as(Result(shape="input"))


class Operators(Value, Generic[Operand]):
    """The operator overloads of Tensor and Batch, and the conversions that both need.

    `Operand` is what the other side of an operator may be if the result is to be of this class.
    """

    __slots__ = ()

    def _cast_to(self, dtype: DType) -> Self:
        """This value in another element type."""
        return self._like_this("cast", _cast, {"dtype": dtype})

    def _copied(self) -> Self:
        """A copy of this value with memory of its own."""
        return self._like_this("copy", _copy, {})

    def _to_device(self, device: Device, force_copy: bool) -> Self:
        if device == self.device and not force_copy:
            return self
        return self._like_this("to_device", move, {"device": device}, device)

    def _like_this(
        self, name: str, body: Body, arguments: dict[str, Any], device: Device | None = None
    ) -> Self:
        """The promise of a value of the same shape."""
        inputs, kind = (self,), type(self)
        return promise(
            kind, name, body, inputs, arguments, _same, self._count, self._source, device
        )

    def __add__(self, other: Operand) -> Self:
        return apply("add", self, other)

    def __radd__(self, other: Operand) -> Self:
        return apply("add", other, self)

    def __sub__(self, other: Operand) -> Self:
        return apply("sub", self, other)

    def __rsub__(self, other: Operand) -> Self:
        return apply("sub", other, self)

    def __mul__(self, other: Operand) -> Self:
        return apply("mul", self, other)

    def __rmul__(self, other: Operand) -> Self:
        return apply("mul", other, self)

    def __truediv__(self, other: Operand) -> Self:
        return apply("fdiv", self, other)

    def __rtruediv__(self, other: Operand) -> Self:
        return apply("fdiv", other, self)

    def __floordiv__(self, other: Operand) -> Self:
        return apply("div", self, other)

    def __rfloordiv__(self, other: Operand) -> Self:
        return apply("div", other, self)

    def __mod__(self, other: Operand) -> Self:
        return apply("mod", self, other)

    def __rmod__(self, other: Operand) -> Self:
        return apply("mod", other, self)

    def __pow__(self, other: Operand) -> Self:
        return apply("pow", self, other)

    def __rpow__(self, other: Operand) -> Self:
        return apply("pow", other, self)

    def __and__(self, other: Operand) -> Self:
        return apply("bitand", self, other)

    def __rand__(self, other: Operand) -> Self:
        return apply("bitand", other, self)

    def __or__(self, other: Operand) -> Self:
        return apply("bitor", self, other)

    def __ror__(self, other: Operand) -> Self:
        return apply("bitor", other, self)

    def __xor__(self, other: Operand) -> Self:
        return apply("bitxor", self, other)

    def __rxor__(self, other: Operand) -> Self:
        return apply("bitxor", other, self)

    def __lshift__(self, other: Operand) -> Self:
        return apply("lshift", self, other)

    def __rlshift__(self, other: Operand) -> Self:
        return apply("lshift", other, self)

    def __rshift__(self, other: Operand) -> Self:
        return apply("rshift", self, other)

    def __rrshift__(self, other: Operand) -> Self:
        return apply("rshift", other, self)

    def __eq__(self, other: Operand) -> Self:  # type: ignore[override]
        return apply("eq", self, other)

    def __ne__(self, other: Operand) -> Self:  # type: ignore[override]
        return apply("neq", self, other)

    def __lt__(self, other: Operand) -> Self:
        return apply("lt", self, other)

    def __le__(self, other: Operand) -> Self:
        return apply("leq", self, other)

    def __gt__(self, other: Operand) -> Self:
        return apply("gt", self, other)

    def __ge__(self, other: Operand) -> Self:
        return apply("geq", self, other)

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Self:
        return apply("minus", self)

    def __pos__(self) -> Self:
        return self

    def __invert__(self) -> Self:
        return apply("bitnot", self)

    def __abs__(self) -> Self:
        return apply("abs", self)

    # NumPy arrays on the left leave the operation to us.
    __array_priority__ = 1000.0
