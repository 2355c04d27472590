# SPDX-License-Identifier: Apache-2.0
"""Follows a capture-mode loop from step to step.

The first step is traced: its calls are made as always, and recorded. When the body asks for the
second one, the recorded calls become a plan, which a thread runs for the steps to come. A loop
lives on from epoch to epoch, until something ends it before its time (`tear_down`); the next epoch
then makes a new one. Steps run ahead across the end of an epoch as well, if its root says what
follows. Positions of sources are those of the steps that the body has been given.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, Protocol, Self

from .. import _kernels
from .._engine.ahead_thread import AheadThread
from .._engine.batch import Batch
from .._engine.context import EvalContext
from .._engine.interrupts import Steps, two_phase
from .._engine.rng import RNG
from .._engine.thread_state import interception, thread
from .plan import Output, PlannedCall, Producer, RecordedCall, Results, needed_calls, run_calls
from .randomness import MESSAGE, Schedule, UnexpectedDraw
from .recording import Recording
from .sites import Sites, user_frame, warn_at
from .values import Origin, captured

# How many steps run ahead of the body, and how many bytes their results may take.
_DEPTH = 2
_MAX_BYTES = 1 << 30

NOTHING_CAPTURED = (
    "capture=True was specified but no operators were captured during tracing. Falling back to "
    "dynamic mode."
)
INVALIDATED = "The capture-mode loop was invalidated and cannot continue."
EXHAUSTED = "A source was exhausted before the iteration ended"


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

    def moving(self, position: Any) -> Steps:
        """What sets where the source is, for whoever saves its state."""

    def peek(self) -> Taken:
        """What comes after the position; StopIteration if there is nothing."""

    def ahead(self, position: Any = None) -> Iterator[Taken]:
        """What comes after a position, one after the other; for another thread.

        By default it is where the source is now.
        """

    def shaped(self, values: tuple[Batch, ...]) -> Any:
        """What the user gets: a batch, a tuple or a dict."""


class Root(Source, Protocol):
    """What a loop iterates over, for one epoch."""

    def taking(self) -> Steps:
        """What makes the item after the one that `peek` returned the next one."""

    def note(self, taken: Taken) -> tuple[Steps, BaseException | None]:
        """What changes when an item is delivered, and what to raise instead, if anything."""

    def stopping(self) -> Steps:
        """What ends all reading ahead; it may be begun again with `ahead`."""

    def end(self) -> Any:
        """Where the source is when the epoch is over."""

    @property
    def identity(self) -> Any:
        """What is equal for two roots that are the same epoch."""

    @property
    def begin(self) -> Any:
        """The position that the epoch begins at."""

    def following(self) -> Root | None:
        """The next epoch, if it is known; asked when `ahead` is exhausted, on its thread."""


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
    """What is known about a step: what sources gave, and the results of captured calls.

    Or the end of an epoch, with the identity of the one that follows, if it is known.
    """

    number: int
    root: Taken
    feeders: tuple[Taken, ...]
    results: Results
    is_end: bool = False
    following: Any = None


_NO_RESULTS = Results({}, set())
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
        self._ahead: AheadThread[Step] | None = None
        # Where the last kernels of steps run.
        self._background: EvalContext | None = None
        # The number of the step after those that were made ahead, and where the root is then.
        self._made: tuple[int, Any] = (0, None)
        # Between epochs: that which `_ahead` goes on with.
        self._following: Any = None
        self._process = os.getpid()
        interception.on = True

    @property
    def is_tracing(self) -> bool:
        """Whether calls are being recorded."""
        return self._phase is _Phase.TRACING

    @property
    def is_captured(self) -> bool:
        """Whether steps run ahead."""
        return self._phase is _Phase.CAPTURED

    @property
    def runs_eagerly(self) -> bool:
        """Whether calls are made as without a loop."""
        return self._phase is _Phase.EAGER or not self.alive or self.is_of_other_process

    @property
    def is_of_other_process(self) -> bool:
        """Whether the thread that runs ahead stayed in the process that this one was forked off."""
        return self._process != os.getpid()

    def can_go_on(self, batch_size: int | None) -> bool:
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

    def begin_epoch(self, root: Root) -> None:
        """Iterate over a root, of which steps may have been made already."""
        self.in_epoch = True
        following, self._following = self._following, None
        if following is None or following != root.identity:
            self.stop_ahead()

    def ahead_of(self, root: Root) -> AheadThread[Step]:
        """The steps that come next, with the results of captured calls."""
        ahead = self._ahead
        if ahead is None:
            feeders = [feeder.ahead() for feeder in self._feeders]
            steps = self._make_steps(root, root.ahead(), feeders, self.step + 1)
            ahead = AheadThread("daliesque capture", steps, _DEPTH, _size_of, _MAX_BYTES)
            self._ahead = ahead
        elif ahead.has_rested:
            number, position = self._made
            ahead.go_on(self._make_steps(root, root.ahead(position), [], number))
        return ahead

    def _make_steps(
        self, root: Root, items: Iterator[Taken], feeders: list[Iterator[Taken]], number: int
    ) -> Iterator[Step]:
        own = self._context.for_steps()
        background = self._background = self._background or self._context.for_steps()
        while True:
            for taken in items:
                if taken.failure is not None:
                    # There is no body for it, and so nothing is drawn.
                    self._made = number, taken.position
                    yield Step(number, taken, (), _NO_RESULTS)
                    continue
                fed = tuple(next(feeder, _EXHAUSTED) for feeder in feeders)
                # Not entered while somebody else runs: the next step may be made by another thread.
                with own:
                    step = self._run_step(number, taken, fed, background)
                number += 1
                self._made = number, taken.position
                yield step
                del step, taken, fed
            following = None if feeders else root.following()
            if following is None:
                yield Step(number, _EXHAUSTED, (), _NO_RESULTS, True)
                return
            self._made = number, following.begin
            yield Step(number, _EXHAUSTED, (), _NO_RESULTS, True, following.identity)
            root, items = following, following.ahead(following.begin)

    def _run_step(
        self, number: int, taken: Taken, fed: tuple[Taken, ...], background: EvalContext
    ) -> Step:
        sources = dict(_outputs(self._root, taken))
        for producer, part in zip(self._feeder_outputs, fed, strict=True):
            sources.update(_outputs(producer, part))
        planned = [PlannedCall(call, self._copy(number, call)) for call in needed_calls(self.calls)]
        return Step(number, taken, fed, run_calls(planned, sources, background))

    def _copy(self, step: int, call: RecordedCall) -> RNG | None:
        schedule = self.schedule_of(call)
        return None if schedule is None else schedule.copy_for(step, call)

    def build(self) -> None:
        """The traced step is over: make a plan of it, or go on without one."""
        if not self.calls:
            self._phase = _Phase.EAGER
            warn_at(user_frame(), NOTHING_CAPTURED)
            return
        schedules = {
            rng: used.finished(self.step + 1)
            for rng, used in self.schedules.items()
            if used.is_used
        }
        self.sites.shorten()
        captured = (setattr, (self, "_phase", _Phase.CAPTURED))
        _kernels.carry_out(((setattr, (self, "schedules", schedules)), captured))

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

    def entering_body(self, step: Step) -> Steps:
        """What makes the calls of this thread those of the body of a step."""
        recording = Recording(self)
        return (
            (setattr, (self, "step", step.number)),
            (setattr, (self, "_current", step)),
            (setattr, (self, "_read", set())),
            (setattr, (self, "recording", recording)),
            (setattr, (thread, "recorder", recording)),
        )

    def ending_epoch(self, following: Any) -> Steps:
        """What changes when an epoch is over."""
        changes: Steps = (
            (setattr, (self, "in_epoch", False)),
            (setattr, (self, "_current", None)),
            (setattr, (self, "recording", None)),
            (setattr, (self, "_following", following)),
        )
        if self._ahead is not None and following is not None:
            return (*changes, (self._ahead.drop, ()), (self._ahead.rest, ()))
        return (*changes, *self.stopping_ahead())

    def stopping_ahead(self) -> Steps:
        """What ends the thread that runs steps ahead."""
        changes: Steps = ()
        if self._ahead is not None:
            changes = (self._ahead.close, ()), (setattr, (self, "_ahead", None))
        if self._background is not None:
            queue = self._background.executor.queue
            changes = (*changes, (queue.stop, ()), (setattr, (self, "_background", None)))
        return changes

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

    def feed(self, source: Source, member: Member) -> tuple[Any, Steps, BaseException | None]:
        """What a feeder gives that the body calls, what changes by that, and what to raise."""
        number = next((n for n, known in enumerate(self._feeders) if known is source), None)
        if number is None and self._phase is not _Phase.TRACING:
            self.fail("ExternalSource wasn't seen during tracing")
        if number is not None and number in self._read:
            self.fail("An ExternalSource may be read only once per capture-mode step")
        changes: Steps = ()
        if self._phase is _Phase.CAPTURED:
            assert number is not None
            assert self._current is not None
            taken = self._current.feeders[number]
        else:
            # At its end in the first step it is as it was before.
            taken = source.peek()
        if taken is _EXHAUSTED:
            self.fail(EXHAUSTED)
        if number is None:
            number = len(self._feeders)
            producer = Producer("source", len(taken.values))
            changes = (
                (self._feeders.append, (source,)),
                (self._feeder_outputs.append, (producer,)),
                (self._members.append, (member,)),
            )
        else:
            producer = self._feeder_outputs[number]
        changes = (*changes, (self._read.add, (number,)), *source.moving(taken.position))
        if taken.failure is not None:
            return None, changes, taken.failure
        if self._phase is _Phase.EAGER:
            return source.shaped(taken.values), changes, None
        return source.shaped(_wrapped(producer, taken.values, self.step)), changes, None

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
        members = self._members
        while members:
            members[-1].release(self)
            members.pop()

    def stop_ahead(self) -> None:
        """Run no more steps."""
        self._following = None
        if self._ahead is not None and not self._ahead.in_other_process():
            _kernels.carry_out(self.stopping_ahead())


class CapturedSteps(Iterator[Any]):
    """One epoch of a loop: what the user iterates over, or what such an iterator is made of.

    It may go on on another thread, but only one at a time may ask for steps.
    """

    # Until everything is there: there is nothing to close if the making of it is interrupted.
    _over = True

    def __init__(self, loop: CaptureLoop, root: Root) -> None:
        self._mutex = _kernels.Mutex()
        self._loop = loop
        self._begun = False
        self._in_body = False
        self._root = root
        self._pace = _kernels.Pace(_kernels.PaceKind.ahead)
        self._over = False
        loop.begin_epoch(root)

    def __iter__(self) -> Self:
        return self

    @two_phase
    def __next__(self) -> Any:
        return self.prepare_next()

    def prepare_next(self) -> tuple[Any, Steps, BaseException | None]:
        """What is delivered next, what changes by that, and what is to be raised instead."""
        if self._over:
            raise StopIteration
        loop = self._loop
        if not loop.alive:
            raise RuntimeError(INVALIDATED)
        self._begun = True
        samples = 0
        self._pace.arrive()
        try:
            outcome = self._prepare(loop)
            samples = loop.batch_size if outcome[2] is None else 0
            return outcome
        finally:
            self._pace.depart(samples)

    def _prepare(self, loop: CaptureLoop) -> tuple[Any, Steps, BaseException | None]:
        if loop.is_of_other_process:
            # What the thread would have done is traced again here.
            loop = self._trace_again(loop)
        try:
            loop.refuse_second_loop()
            if self._in_body:
                loop.finish_body()
                self._in_body = False
            if loop.is_tracing and loop.step >= 0:
                loop.build()
            return self._prepare_step(loop)
        except Exception:
            loop.tear_down()
            raise

    def _prepare_step(self, loop: CaptureLoop) -> tuple[Any, Steps, BaseException | None]:
        root = self._root
        if loop.is_captured:
            ahead = loop.ahead_of(root)
            step = ahead.first()
            if step.is_end:
                return self._prepare_end(loop, step.following)
            step.results.finish()
            loop.check_draws(step.number)
            changes: Steps = ((ahead.drop, ()),)
        else:
            try:
                step = Step(loop.step + 1, root.peek(), (), _NO_RESULTS)
            except StopIteration:
                return self._prepare_end(loop, None)
            changes = root.taking()
        taken = step.root
        noted, failure = root.note(taken)
        changes = (*changes, *noted, *root.moving(taken.position))
        if failure is not None:
            # Its traceback may live on, and this object with it: no thread works for its sake.
            changes = (*changes, *loop.stopping_ahead(), *root.stopping())
            if taken.failure is None:
                # The source gives up, although the step was planned.
                loop.tear_down()
            return None, changes, failure
        changes = (*changes, *loop.entering_body(step), (setattr, (self, "_in_body", True)))
        return loop.wrapped(root, step), changes, None

    def _prepare_end(
        self, loop: CaptureLoop, following: Any
    ) -> tuple[Any, Steps, BaseException | None]:
        """The epoch is over, the loop is not."""
        changes = (
            *self._root.moving(self._root.end()),
            (setattr, (self, "_over", True)),
            *loop.ending_epoch(following),
        )
        if not loop.is_captured:
            # Traced again, if there is another epoch.
            loop.tear_down()
        return None, changes, StopIteration()

    def _trace_again(self, loop: CaptureLoop) -> CaptureLoop:
        fresh = CaptureLoop(loop.batch_size, loop._context)
        fresh._members, fresh.in_epoch = loop._members, True
        for member in fresh._members:
            member.rejoin(fresh, loop)
        self._loop, self._in_body, loop.recording = fresh, False, None
        return fresh

    def close(self) -> None:
        """Leave the epoch here."""
        if not self._over:
            if self._begun:
                self._loop.tear_down()
            self._loop.in_epoch = False
            self._over = True

    def __del__(self) -> None:
        self.close()


def _outputs(producer: Producer, taken: Taken) -> Iterator[tuple[Output, Batch]]:
    for number, value in enumerate(taken.values):
        yield Output(producer, number), value


def _wrapped(producer: Producer, values: tuple[Batch, ...], step: int) -> tuple[Batch, ...]:
    return tuple(
        captured(value, Origin(producer, number, step)) for number, value in enumerate(values)
    )


def _size_of(step: Step) -> int | None:
    """The bytes of what a step holds; the end of an epoch holds nothing."""
    if step.is_end:
        return None
    values = (*step.root.values, *step.results.values.values())
    return sum(_bytes_of(value) for value in values)


def _bytes_of(value: Batch) -> int:
    samples, pending = value._known(), value._pending
    if samples is None:
        return 0 if pending is None else pending.nbytes
    return samples.nbytes


def active_loop() -> CaptureLoop | None:
    """The loop whose body the calling thread is in."""
    recorder = thread.recorder
    if isinstance(recorder, Recording) and recorder.is_here():
        return recorder.loop
    return None
