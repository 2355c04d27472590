# SPDX-License-Identifier: Apache-2.0
"""Operators on tensors and batches: `a + b` and its kin."""

# `apply` returns what its operands make of it; the signatures of the operators say which class.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, Generic, Self, TypeVar

from .. import _kernels
from .convert import cast_samples, contiguous, number_samples, to_samples
from .device import Device
from .devices import move
from .dtype import DType, from_code
from .invocation import Invocation
from .samples import Samples, common_kernels
from .value import Value, any_remote, remote_device

# Contravariant: it only occurs as an argument.
Operand = TypeVar("Operand", contravariant=True)


def apply(name: str, *operands: Any) -> Any:
    """Apply an arithmetic or mathematical function to tensors, batches, arrays and numbers.

    The result is a Batch if any operand is; a single tensor or number goes with every sample.
    """
    count: int | None = None
    inputs: list[Value | Samples] = []
    source = None
    shown = _SHOWN.get(name) or f"math.{name}"
    for operand in operands:
        if isinstance(operand, Value):
            if isinstance(operand, Value._batch_class):
                if count is not None and operand._count != count:
                    msg = (
                        f"{shown}: Inconsistent batch size: {operand._count} != {count}. "
                        "Operands must have equally many samples."
                    )
                    raise ValueError(msg)
                count = operand._count
            if source is None:
                source = operand._source
            inputs.append(operand)
        elif type(operand) is int or type(operand) is float:
            inputs.append(number_samples(operand, shown))
        elif isinstance(operand, _NOT_NUMBERS):
            return NotImplemented
        else:
            inputs.append(to_samples(operand, None, None, shown))
    if any_remote(inputs):
        _check_devices(shown, inputs)
    invocation = Invocation(
        shown, _compute, tuple(inputs), {"name": name}, dtype=_result_type(name, inputs)
    )
    invocation.start()
    if count is None:
        return Value._tensor_class._promised(invocation, 0, 1, source)
    return Value._batch_class._promised(invocation, 0, count, source)


def _check_devices(shown: str, inputs: list[Value | Samples]) -> None:
    """Arrays must all be in one place; numbers go anywhere."""
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

# How the user wrote the function; the others are called math.<name>.
_SHOWN = {
    "add": "operator +",
    "sub": "operator -",
    "mul": "operator *",
    "fdiv": "operator /",
    "div": "operator //",
    "mod": "operator %",
    "bitand": "operator &",
    "bitor": "operator |",
    "bitxor": "operator ^",
    "lshift": "operator <<",
    "rshift": "operator >>",
    "eq": "operator ==",
    "neq": "operator !=",
    "lt": "operator <",
    "leq": "operator <=",
    "gt": "operator >",
    "geq": "operator >=",
    "minus": "operator -",
    "bitnot": "operator ~",
}


def _result_type(name: str, inputs: list[Value | Samples]) -> DType | None:
    """The element type of the result, if those of the operands are known already."""
    codes = []
    for value in inputs:
        if isinstance(value, Value):
            samples = value._samples
            if samples is None:
                known = _known_type(value)
                if known is None:
                    return None
                codes.append(known.code)
                continue
            value = samples
        codes.append(value.type_id)
    try:
        return from_code(_kernels.arithmetic_type(name, codes))
    except ValueError as error:
        msg = f"{_SHOWN.get(name) or 'math.' + name}: {error}."
        raise TypeError(msg) from None


def _known_type(value: Value) -> DType | None:
    """The element type, if it can be told without waiting."""
    samples, pending = value._samples, value._pending
    if samples is not None:
        return from_code(samples.type_id)
    return None if pending is None else pending.dtype


def _compute(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    name = arguments["name"]
    operands = [contiguous(samples) for samples in inputs if samples is not None]
    try:
        kernels = common_kernels(operands)
        return kernels.arithmetic(name, operands)
    except ValueError as error:
        msg = f"{_SHOWN.get(name) or 'math.' + name}: {error}."
        raise ValueError(msg) from None
    except ZeroDivisionError as error:
        msg = f"{_SHOWN.get(name) or 'math.' + name}: {error}."
        raise ZeroDivisionError(msg) from None


def _cast(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    assert inputs[0] is not None
    return cast_samples(inputs[0], arguments["dtype"])


def _copy(inputs: list[Samples | None], _arguments: dict[str, Any]) -> Samples:
    assert inputs[0] is not None
    return inputs[0].copy()


class Operators(Value, Generic[Operand]):
    """The operator overloads of Tensor and Batch, and the conversions that both need.

    `Operand` is what the other side of an operator may be if the result is to be of this class.
    """

    __slots__ = ()

    def _cast_to(self, dtype: DType) -> Any:
        """This value in another element type."""
        invocation = Invocation("cast", _cast, (self,), {"dtype": dtype}, dtype=dtype)
        invocation.start()
        return type(self)._promised(invocation, 0, self._count, self._source)

    def _copied(self) -> Any:
        """A copy of this value with memory of its own."""
        invocation = Invocation("copy", _copy, (self,), {})
        invocation.start()
        return type(self)._promised(invocation, 0, self._count, self._source)

    def _to_device(self, device: Device, force_copy: bool) -> Any:
        if device == self.device and not force_copy:
            return self
        dtype = _known_type(self)
        arguments = {"device": device}
        invocation = Invocation("to_device", move, (self,), arguments, dtype=dtype, device=device)
        invocation.start()
        return type(self)._promised(invocation, 0, self._count, self._source)

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
