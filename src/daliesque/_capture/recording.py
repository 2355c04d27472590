# SPDX-License-Identifier: Apache-2.0
"""Makes the calls in the body of a capture-mode loop: records them, or finds their results."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _kernels
from .._engine.arithmetic import Function
from .._engine.batch import Batch
from .._engine.device import Device
from .._engine.device import device as to_device
from .._engine.interception import Target
from .._engine.invariant import unwrap_invariant, unwrap_invariants
from .._engine.modes import EvalMode, call_in
from .._engine.rng import RNG, get_default_rng
from .._engine.thread_state import thread
from .._engine.value import any_remote, remote_device
from .constants import Prover
from .plan import Argument, Arguments, MarkRemoved, NotConstant, RecordedCall, record
from .randomness import UnexpectedDraw, position_of
from .sites import Chain, calling_frame, chain_of, warn_at
from .source_code import Expression, expression_of
from .values import CapturedBatch, Origin, captured, plain

if TYPE_CHECKING:
    from .loop import CaptureLoop

REPEATED = (
    "A random operator call site runs more than once per iteration. Only the first call each "
    "iteration uses the captured pipeline; the rest run eagerly."
)
UNMARKED = "An argument marked with ndd.capture.invariant when captured must remain marked."


class Recording:
    """Who makes the calls of a thread while it is in the body of a loop."""

    def __init__(self, loop: CaptureLoop) -> None:
        self.loop = loop
        self.thread = threading.get_ident()

    def is_here(self) -> bool:
        """Whether the calling thread is in the body of the loop."""
        return self.loop.recording is self and self.thread == threading.get_ident()

    def call(
        self,
        target: Target,
        inputs: tuple[Any, ...],
        batch_size: Any,
        device: Any,
        given: dict[str, Any],
    ) -> Any:
        """Make a call of the body."""
        if not self.is_here():
            thread.recorder = None
            return _invoke(target, inputs, batch_size, device, given)
        make: Callable[..., Any]
        arguments: tuple[Any, ...]
        if self.loop.runs_eagerly:
            make, arguments = _invoke, (target, inputs, batch_size, device, given)
        else:
            size = unwrap_invariant(batch_size)
            call = _Call(self.loop, target, inputs, size, device, given)
            make, arguments = (call.trace if self.loop.is_tracing else call.replay), ()
        # Whatever the call needs is made as always.
        return _kernels.call_with_attribute(thread, "recorder", None, make, *arguments)

    def note_draw(self, rng: RNG) -> None:
        """A generator is about to be used in the body."""
        if self.is_here():
            self.loop.note_draw(rng)


def _invoke(
    target: Target, inputs: tuple[Any, ...], batch_size: Any, device: Any, given: dict[str, Any]
) -> Any:
    """Make a call as if there were no loop."""
    return target.invoke(
        unwrap_invariants(inputs),
        unwrap_invariant(batch_size),
        unwrap_invariant(device),
        unwrap_invariants(given),
    )


class _Call:
    """One call in the body of a loop."""

    def __init__(
        self,
        loop: CaptureLoop,
        target: Target,
        inputs: tuple[Any, ...],
        batch_size: Any,
        device: Any,
        given: dict[str, Any],
    ) -> None:
        self._loop = loop
        self._target = target
        self._inputs = inputs
        self._batch_size = batch_size
        self._device = device
        self._given = given
        self._frame = calling_frame()
        self._rng: RNG | None = None
        if getattr(target, "is_random", False):
            rng = unwrap_invariant(given.get("rng"))
            self._rng = get_default_rng() if rng is None else rng
        # Arguments that count: the others are as if they had not been written.
        self._named = {
            name: value
            for name, value in given.items()
            if value is not None and not (name == "rng" and self._rng is not None)
        }

    def _make(self) -> Any:
        """The result of the call as it stands."""
        return _invoke(self._target, self._inputs, self._batch_size, self._device, self._given)

    def _make_plain(self, rng: RNG | None) -> Any:
        """The result of the call on the same data, none of which counts as read."""
        given = {name: _without_origin(value) for name, value in self._named.items()}
        if rng is not None:
            given["rng"] = rng
        inputs = _without_origin(self._inputs)
        return _invoke(self._target, inputs, self._batch_size, self._device, given)

    def _chosen_device(self) -> Device:
        """Where the call runs."""
        chosen = to_device(unwrap_invariant(self._device))
        if chosen is not None:
            return chosen
        values = [value for value in unwrap_invariants(self._inputs) if isinstance(value, Batch)]
        found = remote_device(self._target.name, values) if any_remote(values) else None
        return Device.CPU if found is None else found

    # The first step.

    def trace(self) -> Any:
        """Make the call, and record it if its arguments allow it."""
        rng, position = self._rng, 0
        if isinstance(rng, RNG):
            self._loop.note_draw(rng)
            position = position_of(rng)
        prover = Prover(self._frame)
        usable = self._target.is_pure and (rng is None or isinstance(rng, RNG))
        arguments = self._arguments(prover) if usable else None
        if arguments is None:
            return self._make()
        result = self._make_plain(rng)
        values = result if isinstance(result, tuple) else (result,)
        if not values or not all(isinstance(value, Batch) for value in values):
            return result
        if rng is not None and any(value._count != self._loop.batch_size for value in values):
            return result
        call = self._recorded(chain_of(self._frame), arguments, len(values), prover.depth)
        if call is None:
            return result
        if rng is not None:
            self._record_draw(rng, call, position)
        return _captured(call, values, self._loop.step)

    def _arguments(self, prover: Prover) -> Arguments | None:
        """What to record, or None if some argument may change."""
        step = self._loop.step
        nodes, named = _nodes(expression_of(self._frame), self._target, self._inputs)
        try:
            inputs: list[Argument] = []
            for value, options in zip(self._inputs, nodes, strict=True):
                # Any of several expressions, where their order is not known.
                proven = (node for node in options if prover.is_constant(node))
                single = options[0] if len(options) == 1 else next(proven, None)
                inputs.append(record(prover, single, value, step))
            given = {
                name: record(prover, named.get(name), value, step)
                for name, value in self._named.items()
            }
        except NotConstant:
            return None
        return Arguments(tuple(inputs), self._batch_size, self._chosen_device(), given)

    def _recorded(
        self, chain: Chain, arguments: Arguments, outputs: int, depth: int
    ) -> RecordedCall | None:
        """The call at this site: a new one, or the same one again."""
        call = self._loop.sites.get(self._target, chain)
        if call is None:
            call = RecordedCall(self._target, arguments, outputs)
            self._loop.calls.append(call)
        elif not call.arguments.equals(arguments) or len(call.wanted) != outputs:
            return None
        self._loop.sites.add(self._target, chain, call, depth)
        return call

    def _record_draw(self, rng: RNG, call: RecordedCall, position: int) -> None:
        if self._loop.schedule_of(call) is not None:
            warn_at(self._frame, REPEATED)
            return
        self._loop.schedules[rng].add(call, position)

    # All later steps.

    def replay(self) -> Any:
        """Find the result, or make the call if it is not the one that was recorded."""
        loop, size = self._loop, self._batch_size
        if size is not None and size != loop.batch_size:
            loop.fail(
                f"Cannot change batch size to {size}, the capture-mode loop uses {loop.batch_size}."
            )
        call = loop.sites.lookup(self._target, self._frame)
        if call is None or not self._is_same(call):
            return self._make()
        values = loop.results_of(call)
        if values is None:
            return self._make()
        rng = self._rng
        if rng is None:
            drawn = None
        else:
            self._check_inferred_size(call)
            if not self._draws_as_planned(call, rng):
                return self._make()
            drawn = loop.copy_for(call)
            # As the call itself would have.
            rng._philox.draw_operator_state()
        if not values:
            # Nobody has read it so far: it is made when somebody does.
            result = call_in(EvalMode.deferred, self._make_plain, drawn)
            values = result if isinstance(result, tuple) else (result,)
            loop.keep(call, values)
        return _captured(call, values, loop.step)

    def _is_same(self, call: RecordedCall) -> bool:
        """Whether the call has the arguments that were recorded."""
        recorded = call.arguments
        chosen = self._chosen_device()
        if chosen != recorded.device:
            self._loop.fail(
                f"Captured operator was traced with device={recorded.device} but called with "
                f"device={chosen}. Cannot change device in capture mode."
            )
        try:
            if not recorded.match(self._inputs, self._named, self._loop.step):
                return False
        except MarkRemoved:
            self._loop.fail(UNMARKED)
        if self._rng is None and self._batch_size is None and recorded.batch_size is not None:
            # Without it, there may be a single sample instead of a batch.
            return any(True for _ in recorded.outputs())
        return True

    def _check_inferred_size(self, call: RecordedCall) -> None:
        if self._batch_size is not None or call.arguments.batch_size is None:
            return
        values = unwrap_invariants([*self._inputs, *self._named.values()])
        sizes = [value._count for value in values if isinstance(value, Batch)]
        found = sizes[0] if sizes else None
        if found != self._loop.batch_size:
            self._loop.fail(
                "Captured random operator cannot change batch_size from "
                f"{self._loop.batch_size} to {found}."
            )

    def _draws_as_planned(self, call: RecordedCall, rng: RNG) -> bool:
        schedule = self._loop.schedule_of(call)
        assert schedule is not None
        try:
            return schedule.is_next(self._loop.step, call, rng)
        except UnexpectedDraw:
            self._loop.fail_by_draw()


def _captured(call: RecordedCall, values: Sequence[Batch], step: int) -> Any:
    made = tuple(captured(value, Origin(call, number, step)) for number, value in enumerate(values))
    return made if call.returns_tuple else made[0]


def _without_origin(value: Any) -> Any:
    """Arguments of a call with plain batches in place of captured ones."""
    bare = unwrap_invariant(value)
    if isinstance(bare, CapturedBatch):
        return plain(bare)
    if type(bare) is list or type(bare) is tuple:
        return type(bare)(_without_origin(item) for item in bare)
    if type(bare) is slice:
        bounds = (bare.start, bare.stop, bare.step)
        return slice(*(_without_origin(bound) for bound in bounds))
    return value


def _nodes(
    expression: Expression | None, target: Target, inputs: tuple[Any, ...]
) -> tuple[list[list[ast.expr | None]], dict[str, ast.expr]]:
    """The expressions that the inputs of a call may come from, and those of its arguments."""
    unknown: list[list[ast.expr | None]] = [[None]] * len(inputs)
    if isinstance(expression, ast.Call):
        if any(isinstance(argument, ast.Starred) for argument in expression.args):
            return unknown, {}
        named = {word.arg: word.value for word in expression.keywords if word.arg is not None}
        if len(named) != len(expression.keywords):
            return unknown, {}
        if len(expression.args) == len(inputs):
            return [[argument] for argument in expression.args], named
        return unknown, named
    if isinstance(expression, ast.Subscript) and not isinstance(target, Function):
        parts: list[list[ast.expr | None]] = [[None], [expression.slice]]
        return parts[: len(inputs)], {}
    if isinstance(target, Function) and len(inputs) == 2:
        # Python may have swapped the sides of a comparison.
        if isinstance(expression, ast.Compare) and len(expression.comparators) == 1:
            return [[expression.left, expression.comparators[0]]] * 2, {}
        if isinstance(expression, ast.BinOp):
            return [[expression.left], [expression.right]], {}
        if isinstance(expression, ast.AugAssign):
            return [[None], [expression.value]], {}
    return unknown, {}
