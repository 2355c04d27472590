# SPDX-License-Identifier: Apache-2.0
"""What calls of arithmetic run, each by itself or several together.

In `x * a + b - c / d` each call but the last makes a tensor that only another one of them needs.
Together they run as one expression: a few hundred elements at a time go through all of them and
stay in the cache of the processor, and no result in between is ever written to memory.

Results are those of the calls one by one, bit for bit. If anything is wrong, the calls are made one
by one after all, so that the error is the same as well.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _kernels
from .convert import contiguous
from .metadata import Announce, Call, Metadata
from .samples import HostSamples, Samples, common_kernels, host_kernels
from .value import Value

if TYPE_CHECKING:
    from .invocation import Invocation

# Expressions are not made of more calls than this, which bounds the memory of a thread for them.
_MOST_CALLS = 16
# With less to read, it takes longer to find an expression than it saves.
_LEAST_BYTES = 1 << 22
# What the variable and the argument of getrefcount count for.
_REFERENCES = 2

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


def shown_name(name: str) -> str:
    """How the user wrote a function."""
    return _SHOWN.get(name) or f"math.{name}"


def compute(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    """The body of a call of arithmetic."""
    name = arguments["name"]
    operands = [contiguous(samples) for samples in inputs if samples is not None]
    try:
        kernels = common_kernels(operands) if arguments["remote"] else host_kernels
        return kernels.arithmetic(name, operands)
    except ValueError as error:
        msg = f"{shown_name(name)}: {error}."
        raise ValueError(msg) from None


def is_elementwise(invocation: Invocation, queued: bool) -> bool:
    """Whether a call that has not begun is one of arithmetic in CPU memory."""
    if invocation._body is not compute or invocation._scheduled is not queued:
        return False
    return invocation._placement is None


def find_expression(
    calls: Sequence[Invocation], references: int
) -> tuple[Expression, list[Invocation]] | None:
    """Find the expression that the first of some queued calls, which are in order, is part of.

    Returns what the last call of the expression is to run in place of its own body, and all its
    calls. `references` are those that a call has if nobody else wants its result.
    """
    if calls[0].cost < _LEAST_BYTES:
        return None
    reached = {id(calls[0])}
    # Numbers, because a list of calls would count among the references.
    later = []
    for number in range(1, len(calls)):
        if _needs(calls[number], reached):
            reached.add(id(calls[number]))
            later.append(number)
    for number in reversed(later):
        found = make_expression(calls[number], True, references)
        if found is not None and any(call is calls[0] for call in found[1]):
            return found
    return None


def _needs(call: Invocation, others: set[int]) -> bool:
    """Whether a call needs the results of others; these are their ids."""
    for value in call._inputs:
        if isinstance(value, Value) and id(value._pending) in others:
            return True
    return False


def make_expression(
    last: Invocation, queued: bool, references: int
) -> tuple[Expression, list[Invocation]] | None:
    """The expression that ends with a call, if there is one; see `find_expression`."""
    if not is_elementwise(last, queued):
        return None
    calls = _calls_for(last, queued, references)
    if len(calls) == 1:
        return None
    announce, inputs, arguments = last._announce, last._inputs, last._arguments
    expression = Expression(calls, weakref.ref(last))
    if expression.nbytes < _LEAST_BYTES:
        return None
    # Another thread may have needed one of them, and nothing is left of it.
    if announce is None or any(call._body is not compute for call in calls):
        return None
    # What is announced follows from the inputs of the last call, not from those of the expression.
    last._announce = functools.partial(_announce_for, announce, inputs, arguments)
    return expression, calls


def _announce_for(
    announce: Announce, inputs: Sequence[Value | Samples | None], arguments: dict[str, Any], _: Call
) -> tuple[Metadata, ...]:
    """What a call announces whose inputs are these."""
    known = [
        value._metadata() if isinstance(value, Value) else Metadata.of(value)
        for value in inputs
        if value is not None
    ]
    return announce(Call(tuple(known), arguments))


def _calls_for(last: Invocation, queued: bool, references: int) -> list[Invocation]:
    """The calls whose results only the last one and others of them need, in order."""
    found = {id(last): last}
    uses: dict[int, int] = {}
    waiting = [last]
    while waiting:
        for value in waiting.pop()._inputs:
            before = value._pending if isinstance(value, Value) else None
            if before is None or len(found) == _MOST_CALLS:
                continue
            used = uses[id(value)] = uses.get(id(value), 0) + 1
            # Whoever else has a result in between will want it computed. If that cannot be seen,
            # the call is made again when the result is read.
            if sys.getrefcount(value) > used + _REFERENCES:
                continue
            if sys.getrefcount(before) > references or before._context is not last._context:
                continue
            if is_elementwise(before, queued):
                found[id(before)] = before
                waiting.append(before)
    # Each was found after all that need it.
    return list(found.values())[::-1]


class Expression:
    """The body of a call that stands for several calls of arithmetic."""

    def __init__(self, calls: list[Invocation], last: weakref.ref[Invocation]) -> None:
        self._last = last
        self._before = calls[:-1]
        self._names: list[str] = [call._arguments.get("name", "") for call in calls]
        # The bytes of what is read, as far as it is there.
        self.nbytes = 0
        values: list[Value | Samples | None] = []
        # Operands are numbers: of these values, and below 0 of results.
        numbers = {id(call): ~number for number, call in enumerate(calls)}
        operands = []
        for call in calls:
            own = []
            for value in call._inputs:
                key = id(value._pending) if isinstance(value, Value) else 0
                if key not in numbers:
                    key = id(value)
                if key not in numbers:
                    numbers[key] = len(values)
                    values.append(value)
                    self.nbytes += bytes_of(value)
                own.append(numbers[key])
            operands.append(own)
        self.values = tuple(values)
        # As the kernel wants it, numbers of results follow those of values.
        self._operands = [[n if n >= 0 else len(values) + ~n for n in own] for own in operands]

    def __call__(self, data: list[HostSamples], _: dict[str, Any]) -> Samples:
        """Run the expression; `data` is that of `values`."""
        inputs = [contiguous(samples) for samples in data]
        with contextlib.suppress(Exception):
            result = _kernels.arithmetic_expression(self._names, self._operands, inputs)
            # The last call, whose name this runs under, counts by itself.
            for call in self._before:
                _kernels.count_calls(call.name, False, 1, len(result), 0)
            return result
        _kernels.count_inside()
        results: list[Samples | None] = [*inputs, *(None for _ in self._names)]
        return self._result(len(results) - 1, results)

    def _result(self, number: int, results: list[Samples | None]) -> Samples:
        """Make a call after those that it needs; what goes wrong is a failure of the last call."""
        known = results[number]
        if known is not None:
            return known
        step = number - len(self.values)
        operands = [self._result(operand, results) for operand in self._operands[step]]
        name = self._names[step]
        arguments = {"name": name, "remote": False}
        try:
            result: Samples = _kernels.run_body(shown_name(name), compute, operands, arguments)
        except Exception:
            last = self._last()
            if last is not None and step < len(self._before):
                last.name, last._site = self._before[step].name, self._before[step]._site
            raise
        results[number] = result
        return result


def bytes_of(value: Value | Samples | None) -> int:
    """How large a value is; what is not there yet may be large."""
    if isinstance(value, Value):
        pending = value._pending
        if pending is not None:
            return pending.nbytes or _LEAST_BYTES
        value = value._samples
    return 0 if value is None else value.nbytes
