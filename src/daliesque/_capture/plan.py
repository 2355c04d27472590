# SPDX-License-Identifier: Apache-2.0
"""The calls of a step, as they were recorded, and how they are made again.

An argument of a recorded call is an output of the same step (`Output`), a constant (`Constant`), or
a list, tuple or slice with such parts (`Parts`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from .._engine.batch import Batch
from .._engine.context import EvalContext
from .._engine.interception import Target
from .._engine.invariant import is_invariant, unwrap_invariant, unwrap_invariants
from .._engine.modes import EvalMode
from .._engine.rng import RNG
from .constants import Prover, equal, frozen
from .values import CapturedBatch, plain


class Producer:
    """What batches of a step come from: a call, or a source that the loop reads."""

    def __init__(self, name: str, outputs: int) -> None:
        self.name = name
        # For each output, whether somebody besides captured calls has read it.
        self.wanted = [False] * outputs


class Output(NamedTuple):
    """One output of a call or source, of whatever step is at hand."""

    producer: Producer
    number: int


class Constant(NamedTuple):
    """A value that is the same in each step, because it is provable or because it was marked."""

    value: Any
    marked: bool


class Parts(NamedTuple):
    """A list, tuple or slice."""

    kind: type
    parts: tuple[Argument, ...]


Argument: TypeAlias = Output | Constant | Parts


class NotConstant(Exception):
    """An argument is neither of this step nor constant."""


class MarkRemoved(Exception):
    """An argument was marked as invariant when it was traced, and is not any more."""


def record(prover: Prover, node: ast.expr | None, value: Any, step: int) -> Argument:
    """An argument of a call that is being traced; `node` is its expression, if known."""
    marked = is_invariant(value)
    bare = unwrap_invariant(value)
    if isinstance(bare, CapturedBatch):
        origin = bare._origin
        if origin is not None and origin.step == step:
            return Output(origin.producer, origin.output)
        raise NotConstant
    if value is None or marked or prover.is_constant(node):
        return Constant(unwrap_invariants(bare) if marked else frozen(bare), marked)
    kind = type(bare)
    if kind is list or kind is tuple:
        items = node.elts if isinstance(node, ast.List | ast.Tuple) else []
        nodes = items if len(items) == len(bare) else [None] * len(bare)
        return Parts(
            kind, tuple(map(record, [prover] * len(bare), nodes, bare, [step] * len(bare)))
        )
    if kind is slice and isinstance(node, ast.Slice):
        bounds = zip((node.lower, node.upper, node.step), _bounds(bare), strict=True)
        return Parts(slice, tuple(record(prover, *bound, step) for bound in bounds))
    raise NotConstant


def _bounds(value: slice) -> tuple[Any, Any, Any]:
    return value.start, value.stop, value.step


def _items(value: Any) -> Sequence[Any]:
    """The parts of a list, tuple or slice."""
    return _bounds(value) if isinstance(value, slice) else value


def matches(argument: Argument, value: Any, step: int) -> bool:
    """Whether an argument is what it was when the call was recorded, in this step."""
    bare: Any = unwrap_invariant(value)
    if isinstance(argument, Output):
        origin = bare._origin if isinstance(bare, CapturedBatch) else None
        same = origin is not None and origin[:2] == argument
        return same and origin is not None and origin.step == step
    if isinstance(argument, Constant):
        if argument.marked and not is_invariant(value):
            raise MarkRemoved
        return equal(unwrap_invariants(value), argument.value)
    if type(bare) is not argument.kind:
        return False
    items = _items(bare)
    if len(items) != len(argument.parts):
        return False
    pairs = zip(argument.parts, items, strict=True)
    return all(matches(part, item, step) for part, item in pairs)


def same_argument(first: Argument, second: Argument) -> bool:
    """Whether two recorded arguments are the same."""
    if isinstance(first, Output) or isinstance(second, Output):
        return first == second
    if isinstance(first, Constant) and isinstance(second, Constant):
        return first.marked == second.marked and equal(first.value, second.value)
    if isinstance(first, Parts) and isinstance(second, Parts):
        if first.kind is not second.kind or len(first.parts) != len(second.parts):
            return False
        return all(map(same_argument, first.parts, second.parts))
    return False


def _outputs_of(argument: Argument) -> Iterator[Output]:
    if isinstance(argument, Output):
        yield argument
    elif isinstance(argument, Parts):
        for part in argument.parts:
            yield from _outputs_of(part)


def _filled(argument: Argument, find: Callable[[Output], Batch]) -> Any:
    """The argument of a call, with batches in place of outputs."""
    if isinstance(argument, Output):
        return find(argument)
    if isinstance(argument, Constant):
        return argument.value
    parts = [_filled(part, find) for part in argument.parts]
    return slice(*parts) if argument.kind is slice else argument.kind(parts)


class Arguments(NamedTuple):
    """What a call was recorded with; `given` without those that are None, and without `rng`."""

    inputs: tuple[Argument, ...]
    batch_size: int | None
    device: Any
    given: dict[str, Argument]

    def match(self, inputs: Sequence[Any], given: dict[str, Any], step: int) -> bool:
        """Whether a call has the same arguments in this step."""
        if len(inputs) != len(self.inputs) or given.keys() != self.given.keys():
            return False
        pairs = zip(self.inputs, inputs, strict=True)
        if not all(matches(argument, value, step) for argument, value in pairs):
            return False
        return all(matches(argument, given[name], step) for name, argument in self.given.items())

    def equals(self, other: Arguments) -> bool:
        """Whether two calls were recorded with the same arguments."""
        if len(self.inputs) != len(other.inputs) or self.given.keys() != other.given.keys():
            return False
        if self.batch_size != other.batch_size or self.device != other.device:
            return False
        if not all(map(same_argument, self.inputs, other.inputs)):
            return False
        return all(same_argument(self.given[name], other.given[name]) for name in self.given)

    def outputs(self) -> Iterator[Output]:
        """The outputs of the same step that the call needs."""
        for argument in (*self.inputs, *self.given.values()):
            yield from _outputs_of(argument)


class RecordedCall(Producer):
    """A call that is made in each step."""

    def __init__(self, target: Target, arguments: Arguments, outputs: int) -> None:
        super().__init__(target.name, outputs)
        self.target = target
        self.arguments = arguments
        self.returns_tuple = outputs != 1

    def invoke(self, find: Callable[[Output], Batch], rng: RNG | None) -> tuple[Batch, ...]:
        """Make the call; `find` gives the batches of the step."""
        inputs = tuple(_filled(argument, find) for argument in self.arguments.inputs)
        given = {name: _filled(value, find) for name, value in self.arguments.given.items()}
        if rng is not None:
            given["rng"] = rng
        size, device = self.arguments.batch_size, self.arguments.device
        result = self.target.invoke(inputs, size, device, given)
        return result if isinstance(result, tuple) else (result,)


class PlannedCall(NamedTuple):
    """A call of one step, with the generator that it draws from."""

    call: RecordedCall
    rng: RNG | None


class Results(NamedTuple):
    """The outputs of a step that are kept, and the calls that could not be made.

    Kernels may still be at work on outputs, until `finish`.
    """

    values: dict[Output, Batch]
    failed: set[RecordedCall]

    def finish(self) -> None:
        """Wait for what is done in the background, and leave out what failed."""
        for output, value in list(self.values.items()):
            pending = value._pending
            if pending is None or pending.waits_for_reader:
                continue
            try:
                value._data()
            except Exception:
                assert isinstance(output.producer, RecordedCall)
                self.failed.add(output.producer)
                del self.values[output]


def needed_calls(calls: Iterable[RecordedCall]) -> list[RecordedCall]:
    """The calls that have to be made for the outputs which are wanted.

    Outputs that no recorded call uses are for the user: they are wanted, too.
    """
    order = list(calls)
    used = {output.producer for call in order for output in call.arguments.outputs()}
    needed: set[Producer] = set()
    for call in reversed(order):
        if call in needed or call not in used or any(call.wanted):
            needed.add(call)
            needed.update(output.producer for output in call.arguments.outputs())
            if call not in used:
                call.wanted = [True] * len(call.wanted)
    return [call for call in order if call in needed]


def run_calls(
    planned: Sequence[PlannedCall], sources: dict[Output, Batch], background: EvalContext
) -> Results:
    """Make the calls of a step in order, and return what is wanted of them.

    The last kernels run in the background, so that the next step can be prepared meanwhile.

    The calls are deferred first, so that they can be looked at together when the results are read.
    Those that fail are left out: whoever needs them makes them again, and gets the error.
    """
    values = dict(sources)
    failed: set[RecordedCall] = set()
    with EvalMode.deferred:
        for call, rng in planned:
            try:
                results = call.invoke(lambda output: plain(values[output]), rng)
            except Exception:
                # Also a KeyError, if a call that failed should have made an input.
                failed.add(call)
                continue
            values.update((Output(call, number), batch) for number, batch in enumerate(results))
    kept = {
        output: values[output]
        for call, _ in planned
        if call not in failed and any(call.wanted)
        for number in range(len(call.wanted))
        if (output := Output(call, number)) in values
    }
    values.clear()
    for value in kept.values():
        pending = value._pending
        if pending is None:
            continue
        if pending.waits_for_reader:
            pending.prepare()
        else:
            pending.begin(background)
    return Results(kept, failed)
