# SPDX-License-Identifier: Apache-2.0
"""Follows a capture-mode loop from step to step.

The first step is traced: its calls are made as always, and recorded. When the body asks for the
second one, the recorded calls become a plan, which a thread runs for the steps to come. A loop
lives on from epoch to epoch, until something ends it before its time (`tear_down`); the next epoch
then makes a new one. Positions of sources are those of the steps that the body has been given.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, Protocol, Self

from .._engine.batch import Batch
from .._engine.context import EvalContext
from .._engine.rng import RNG
from .._engine.thread_state import interception, thread
from .ahead import Ahead
from .plan import Output, PlannedCall, Producer, RecordedCall, Results, needed_calls, run_calls
from .randomness import MESSAGE, Schedule, UnexpectedDraw
from .recording import Recording
from .sites import Sites, user_frame, warn_at
from .values import Origin, captured

# How many steps run ahead of the body.
_DEPTH = 2

NOTHING_CAPTURED = (
    "capture=True was specified but no operators were captured during tracing. Falling back to "
    "dynamic mode."
)
INVALIDATED = "The capture-mode loop was invalidated and cannot continue."
EXHAUSTED = "A source was exhausted before the iteration ended"


class Position(Protocol):
    """Something with a position, which is a plain attribute."""

    position: Any


class Taken(NamedTuple):
    """What a source gave for a step, and where it is after that; or why it gave nothing.

    `more` is for the source itself.
    """

    values: tuple[Batch, ...]
    position: Any
    failure: BaseException | None = None
    more: Any = None


class Source(Protocol):
    """What a loop reads: the root, which it iterates over, or a feeder, which its body calls."""

    @property
    def cursor(self) -> Position:
        """Where the source is, for whoever saves its state."""

    def peek(self) -> Taken:
        """What comes after the position; StopIteration if there is nothing."""

    def ahead(self) -> Iterator[Taken]:
        """What comes after the position now, one after the other; for another thread."""

    def shaped(self, values: tuple[Batch, ...]) -> Any:
        """What the user gets: a batch, a tuple or a dict."""


class Root(Source, Protocol):
    """What a loop iterates over."""

    def note(self, taken: Taken) -> BaseException | None:
        """What was taken is about to be delivered; returns what to raise instead, if anything."""

    def forget(self) -> None:
        """Keep nothing of what was delivered."""

    def end(self) -> Any:
        """Where the source is when the epoch is over."""


class Member(Protocol):
    """Who must know when a loop that it takes part in has ended."""

    def release(self, loop: CaptureLoop) -> None:
        """The loop has ended."""

    def rejoin(self, loop: CaptureLoop, instead_of: CaptureLoop) -> None:
        """Another loop goes on in place of one."""


class _Phase(enum.Enum):
    TRACING = enum.auto()
    CAPTURED = enum.auto()
    # Nothing could be captured.
    EAGER = enum.auto()


class Step(NamedTuple):
    """What is known about a step: what sources gave, and the results of captured calls."""

    number: int
    root: Taken
    feeders: tuple[Taken, ...]
    results: Results


_NO_RESULTS = Results({}, frozenset())
# What a feeder gives after its last item.
_EXHAUSTED = Taken((), None, StopIteration())


class CaptureLoop:
    """A loop over the steps of a root, for one epoch after the other."""

    def __init__(self, batch_size: int, ctx: EvalContext | None) -> None:
        self.batch_size = batch_size
        self.alive = True
        self.in_epoch = False
        self.recording: Recording | None = None
        # The number of the step whose body runs; the steps of all epochs are counted.
        self.step = -1
        self.calls: list[RecordedCall] = []
        self.sites: Sites[RecordedCall] = Sites()
        self.schedules: dict[RNG, Schedule] = {}
        self._phase = _Phase.TRACING
        self._context = EvalContext.current() if ctx is None else ctx
        self._root = Producer("source", 0)
        self._feeders: list[Source] = []
        self._feeder_outputs: list[Producer] = []
        self._members: list[Member] = []
        # The feeders that the body has called in this step.
        self._read: set[int] = set()
        self._current: Step | None = None
        self._ahead: Ahead[Step] | None = None
        self._process = os.getpid()
        interception.on = True

    @property
    def is_tracing(self) -> bool:
        """Whether calls are being recorded."""
        return self._phase is _Phase.TRACING

    @property
    def runs_eagerly(self) -> bool:
        """Whether calls are made as without a loop."""
        return self._phase is _Phase.EAGER or not self.alive or self.is_of_other_process

    @property
    def is_of_other_process(self) -> bool:
        """Whether the thread that runs ahead stayed in the process that this one was forked off."""
        return self._process != os.getpid()

    def can_go_on(self, batch_size: int) -> bool:
        """Whether another epoch may use what was captured."""
        usable = self.alive and not self.in_epoch and self._phase is _Phase.CAPTURED
        return usable and batch_size == self.batch_size and self._process == os.getpid()

    def check_context(self, ctx: EvalContext | None) -> None:
        """Refuse another context than that of the first epoch."""
        context = EvalContext.current() if ctx is None else ctx
        if context is not self._context and not (context.is_default and self._context.is_default):
            self.fail("Cannot change EvalContext for a capture-mode loop.")

    def add_member(self, member: Member) -> None:
        """Let somebody know when the loop ends."""
        self._members.append(member)

    # What the iterator of an epoch needs.

    def steps(self, root: Root, first: int) -> Iterator[Step]:
        """The steps of an epoch, from number `first` on, with the results of captured calls."""
        return self._steps(root.ahead(), [feeder.ahead() for feeder in self._feeders], first)

    def _steps(
        self, items: Iterator[Taken], feeders: list[Iterator[Taken]], number: int
    ) -> Iterator[Step]:
        context = self._context
        own = EvalContext(device_id=context.device_id, thread_pool=context.own_thread_pool)
        with own:
            for taken in items:
                if taken.failure is not None:
                    # There is no body for it, and so nothing is drawn.
                    yield Step(number, taken, (), _NO_RESULTS)
                    continue
                fed = tuple(next(feeder, _EXHAUSTED) for feeder in feeders)
                yield self._run_step(number, taken, fed)
                number += 1

    def _run_step(self, number: int, taken: Taken, fed: tuple[Taken, ...]) -> Step:
        sources = dict(_outputs(self._root, taken))
        for producer, part in zip(self._feeder_outputs, fed, strict=True):
            sources.update(_outputs(producer, part))
        planned = [PlannedCall(call, self._copy(number, call)) for call in needed_calls(self.calls)]
        return Step(number, taken, fed, run_calls(planned, sources))

    def _copy(self, step: int, call: RecordedCall) -> RNG | None:
        schedule = self.schedule_of(call)
        return None if schedule is None else schedule.copy_for(step, call)

    def build(self) -> None:
        """The traced step is over: make a plan of it, or go on without one."""
        if not self.calls:
            self._phase = _Phase.EAGER
            warn_at(user_frame(), NOTHING_CAPTURED)
            return
        self.schedules = {rng: used for rng, used in self.schedules.items() if used.is_used}
        for schedule in self.schedules.values():
            schedule.finish_trace(self.step + 1)
        self.sites.shorten()
        self._phase = _Phase.CAPTURED

    def check_draws(self, step: int) -> None:
        """Refuse to go on if generators are not where a step begins."""
        if self._phase is not _Phase.CAPTURED:
            return
        try:
            for schedule in self.schedules.values():
                schedule.check(step)
        except UnexpectedDraw:
            self.fail_by_draw()

    def finish_body(self) -> None:
        """The body is through with a step."""
        self.recording = None
        for number in range(len(self._feeders)):
            if number not in self._read:
                self.fail("An ExternalSource was not consumed this step")
        self.check_draws(self.step + 1)

    def refuse_second_loop(self) -> None:
        """Raise if this thread is in the body of another loop."""
        active = thread.recorder
        if isinstance(active, Recording) and active.loop is not self and active.is_here():
            self.fail("Only one capture-mode loop can be active at a time")

    def wrapped(self, root: Root, step: Step) -> Any:
        """The batches of the root, as the body gets them."""
        values = step.root.values
        if self._phase is _Phase.EAGER:
            return root.shaped(values)
        if self._phase is _Phase.TRACING:
            self._root.wanted = [True] * len(values)
        return root.shaped(_wrapped(self._root, values, step.number))

    def enter_body(self) -> Recording:
        """What makes the calls of the body."""
        self._read = set()
        recording = Recording(self)
        thread.recorder = recording
        return recording

    # What calls in the body need.

    def note_draw(self, rng: RNG) -> None:
        """A generator is about to be used."""
        if self._phase is _Phase.TRACING and rng not in self.schedules:
            self.schedules[rng] = Schedule(rng)

    def schedule_of(self, call: RecordedCall) -> Schedule | None:
        """Where a random call gets its numbers."""
        for schedule in self.schedules.values():
            if schedule.has(call):
                return schedule
        return None

    def copy_for(self, call: RecordedCall) -> RNG:
        """A generator that draws what a call draws in this step."""
        copy = self._copy(self.step, call)
        assert copy is not None
        return copy

    def results_of(self, call: RecordedCall) -> tuple[Batch, ...] | None:
        """The results of a call in this step: nothing if they are still to be made; None if the
        call failed.
        """
        step = self._current
        if step is None or call in step.results.failed:
            return None
        outputs = [Output(call, number) for number in range(len(call.wanted))]
        values = step.results.values
        return tuple(values[output] for output in outputs if output in values)

    def keep(self, call: RecordedCall, values: tuple[Batch, ...]) -> None:
        """Remember results for when the same call is made again in this step."""
        assert self._current is not None
        found = self._current.results.values
        found.update((Output(call, number), value) for number, value in enumerate(values))

    def feed(self, source: Any, member: Member) -> Any:
        """What a feeder gives that the body calls."""
        number = next((n for n, known in enumerate(self._feeders) if known is source), None)
        if number is None and self._phase is not _Phase.TRACING:
            self.fail("ExternalSource wasn't seen during tracing")
        if number is not None and number in self._read:
            self.fail("An ExternalSource may be read only once per capture-mode step")
        if self._phase is _Phase.CAPTURED:
            assert number is not None
            assert self._current is not None
            taken = self._current.feeders[number]
        else:
            # At its end in the first step it is as it was before.
            taken = source.peek()
        if number is None:
            number = len(self._feeders)
            self._feeders.append(source)
            self._feeder_outputs.append(Producer("source", len(taken.values)))
            self.add_member(member)
        if taken is _EXHAUSTED:
            self.fail(EXHAUSTED)
        self._read.add(number)
        source.cursor.position = taken.position
        if taken.failure is not None:
            raise taken.failure
        if self._phase is _Phase.EAGER:
            return source.shaped(taken.values)
        producer = self._feeder_outputs[number]
        return source.shaped(_wrapped(producer, taken.values, self.step))

    def fail_by_draw(self) -> NoReturn:
        """End the loop because of a generator."""
        self.fail(MESSAGE)

    def fail(self, message: str) -> NoReturn:
        """End the loop with an error."""
        self.tear_down()
        raise RuntimeError(message)

    def tear_down(self) -> None:
        """End the loop; all who take part can be used for something else."""
        self.alive = False
        self.recording = None
        self._current = None
        self.stop_ahead()
        members, self._members = self._members, []
        for member in members:
            member.release(self)

    def stop_ahead(self) -> None:
        """Run no more steps."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.stop()


class CapturedSteps(Iterator[Any]):
    """One epoch of a loop: what the user iterates over, or what such an iterator is made of.

    It may go on on another thread, but only one at a time may ask for steps.
    """

    def __init__(self, loop: CaptureLoop, root: Root) -> None:
        self._loop = loop
        self._root = root
        self._over = False
        self._begun = False
        self._in_body = False
        # How many items of the thread were delivered.
        self._index = 0
        loop.in_epoch = True

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._over:
            raise StopIteration
        loop = self._loop
        if not loop.alive:
            raise RuntimeError(INVALIDATED)
        self._begun = True
        if loop.is_of_other_process:
            # What the thread would have done is traced again here.
            loop = self._trace_again(loop)
        try:
            loop.refuse_second_loop()
            if self._in_body:
                loop.finish_body()
                self._in_body = False
            before = self._state()
            try:
                return self._next_step()
            except KeyboardInterrupt:
                # Nobody has got the step: it is delivered the next time.
                self._restore(*before)
                raise
        except StopIteration:
            self._finish()
            raise
        except Exception as error:
            if not isinstance(error, _Reported):
                loop.tear_down()
                raise
            raise error.failure from None

    def _state(self) -> tuple[Any, ...]:
        """What the delivery of a step changes."""
        loop = self._loop
        return loop, self._root.cursor.position, self._index, loop._current, loop.step

    def _restore(
        self, loop: CaptureLoop, position: Any, index: int, current: Step | None, number: int
    ) -> None:
        self._in_body, self._index, loop._current, loop.step = False, index, current, number
        loop.recording, self._root.cursor.position = None, position

    def _next_step(self) -> Any:
        loop, root, index = self._loop, self._root, self._index
        self._change_phase()
        if loop._phase is _Phase.CAPTURED:
            if loop._ahead is None:
                loop._ahead = Ahead(loop.steps(root, loop.step + 1), _DEPTH)
                self._index = index = 0
            step = loop._ahead.peek(index)
            index += 1
            loop.check_draws(step.number)
        else:
            step = Step(loop.step + 1, root.peek(), (), _NO_RESULTS)
        taken, cursor = step.root, root.cursor
        failure = root.note(taken)
        if failure is not None:
            cursor.position, self._index = taken.position, index
            # Its traceback is going to refer to this object, which the thread must not keep alive.
            root.forget()
            if loop._ahead is not None:
                loop._ahead.drop(index)
            if taken.failure is None:
                # The source gives up, although the step was planned.
                loop.tear_down()
            raise _Reported(failure)
        delivered, recording, number = loop.wrapped(root, step), loop.enter_body(), step.number
        # From here on the step is delivered, wherever its position is looked up. Plain stores, so
        # that nothing can come between them.
        cursor.position, self._index, self._in_body, loop._current, loop.step, loop.recording = (
            taken.position, index, True, step, number, recording
        )  # fmt: skip
        return delivered

    def _change_phase(self) -> None:
        """Go on from the step that was traced to those that run ahead."""
        loop = self._loop
        if loop.is_tracing and loop.step >= 0:
            loop.build()

    def _trace_again(self, loop: CaptureLoop) -> CaptureLoop:
        fresh = CaptureLoop(loop.batch_size, loop._context)
        fresh._members, fresh.in_epoch = loop._members, True
        for member in fresh._members:
            member.rejoin(fresh, loop)
        self._loop, self._in_body, loop.recording = fresh, False, None
        return fresh

    def _finish(self) -> None:
        """The epoch is over, the loop is not."""
        loop, cursor, position = self._loop, self._root.cursor, self._root.end()
        cursor.position, self._over, loop.in_epoch, loop._current = position, True, False, None
        loop.recording = None
        loop.stop_ahead()
        if loop._phase is not _Phase.CAPTURED:
            # Traced again, if there is another epoch.
            loop.tear_down()

    def close(self) -> None:
        """Leave the epoch here."""
        if not self._over:
            self._over = True
            self._loop.in_epoch = False
            if self._begun:
                self._loop.tear_down()

    def __del__(self) -> None:
        self.close()


class _Reported(Exception):
    """A step failed, and the next one is after it: the loop goes on."""

    def __init__(self, failure: BaseException) -> None:
        super().__init__()
        self.failure = failure


def _outputs(producer: Producer, taken: Taken) -> Iterator[tuple[Output, Batch]]:
    for number, value in enumerate(taken.values):
        yield Output(producer, number), value


def _wrapped(producer: Producer, values: tuple[Batch, ...], step: int) -> tuple[Batch, ...]:
    return tuple(
        captured(value, Origin(producer, number, step)) for number, value in enumerate(values)
    )


def active_loop() -> CaptureLoop | None:
    """The loop whose body the calling thread is in."""
    recorder = thread.recorder
    if isinstance(recorder, Recording) and recorder.is_here():
        return recorder.loop
    return None
