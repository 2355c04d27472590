# SPDX-License-Identifier: Apache-2.0
"""Runs a loop ahead of its consumer, on a thread of its own.

A step that was made is the next one until it is delivered, with all that changes by that, as a
whole.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from .. import _kernels
from .._engine.ahead import Ahead, Deliveries, Snapshot
from .._engine.ahead_thread import AheadThread
from .._engine.context import EvalContext
from .._engine.interrupts import Steps
from .._engine.rng import get_default_rng, set_default_rng
from .._engine.thread_state import thread
from .._engine.value import Value

T = TypeVar("T")


class Step(NamedTuple):
    """What a loop made, and where readers and generators are after it; or the end of the loop."""

    item: Any
    snapshot: Snapshot
    nbytes: int = 0
    is_last: bool = False
    failure: BaseException | None = None
    samples: int = 0


class _Surroundings:
    """What the thread of the consumer has chosen, for the thread of the loop."""

    def __init__(self) -> None:
        self._modes = list(thread.modes)
        self._devices = list(thread.devices)
        self._stream = thread.stream
        self._rng = get_default_rng()
        self.context = EvalContext.current().companion()

    def take_over(self) -> None:
        """Choose the same for the calling thread."""
        thread.modes = self._modes
        thread.devices = self._devices
        thread.stream = self._stream
        set_default_rng(self._rng)


class RunAhead(Generic[T]):
    """Makes steps of `begin()` ahead of time and hands them out in order.

    At most `depth` steps are made or being made that nobody has taken, and none is begun while
    those that are there take `max_bytes` together. With `close_items`, the thread closes the
    iterator that it ran.

    The thread starts with `start()` or the first `next()`, and keeps this object alive: whoever
    owns it must call `stop()` when it goes away.
    """

    def __init__(
        self, begin: Callable[[], Iterator[T]], depth: int, max_bytes: int, close_items: bool
    ) -> None:
        self._begin = begin
        self._depth = depth
        self._max_bytes = max_bytes
        self._close_items = close_items
        self._process = os.getpid()
        self._ahead = Ahead(thread.ahead)
        self._deliveries = Deliveries()
        self._steps: AheadThread[Step] | None = None
        self._pace = _kernels.Pace(_kernels.PaceKind.ahead)
        self._stopping = False

    def prepare_next(self) -> tuple[Any, Steps, BaseException | None]:
        """The next item, what changes by its delivery, and what is to be raised instead.

        Until these changes are made, it stays the next one.
        """
        if self._process != os.getpid():
            msg = (
                "prefetch: the loop was begun in another process and runs there. Begin it after "
                "the fork."
            )
            raise RuntimeError(msg)
        if self._stopping:
            raise StopIteration
        steps = self._made_ahead()
        step = self._wait_for(steps)
        if step.is_last:
            return self._prepare_end(steps, step)
        changes = self._deliveries.prepare(step.snapshot)
        return step.item, (*changes, (steps.drop, ())), None

    def start(self) -> None:
        """Begin before the first item is asked for."""
        if not self._stopping and self._process == os.getpid():
            self._made_ahead().start()

    def _made_ahead(self) -> AheadThread[Step]:
        if self._steps is None:
            made = self._make_steps(_Surroundings())
            self._steps = AheadThread(
                "daliesque prefetch", made, self._depth, _size_of, self._max_bytes
            )
        return self._steps

    def _wait_for(self, steps: AheadThread[Step]) -> Step:
        """The next step, as soon as it is there."""
        samples = 0
        self._pace.arrive()
        try:
            step = steps.first()
            samples = step.samples
            return step
        finally:
            self._pace.depart(samples)

    def _prepare_end(
        self, steps: AheadThread[Step], step: Step
    ) -> tuple[Any, Steps, BaseException | None]:
        _kernels.carry_out(self._deliveries.prepare(step.snapshot))
        self._ahead.end()
        return None, ((steps.drop, ()),), step.failure or StopIteration()

    @property
    def has_begun(self) -> bool:
        """Whether the thread was started."""
        return self._steps is not None and self._steps.has_begun

    def stop(self, patience: float | None = None) -> None:
        """End the loop: close the iterator and end the thread, when the step at hand is made.

        Waits for that, at most `patience` seconds.
        """
        if self._process != os.getpid():
            return
        self._stopping = True
        if self._steps is not None and self._steps.stop(patience):
            self._ahead.end()

    def _make_steps(self, surroundings: _Surroundings) -> Iterator[Step]:
        """What the thread does."""
        failure: BaseException | None = None
        snapshot: Snapshot = []
        try:
            surroundings.take_over()
            thread.ahead = self._ahead
            with surroundings.context:
                yield from self._run_loop()
        except BaseException as error:
            if self._steps is None or self._steps.is_closed:
                # Whoever ended the loop gets what closing it raised.
                raise
            failure = error
        finally:
            snapshot = self._ahead.snapshot()
            thread.ahead = None
            surroundings.context.executor.shut_down()
            if self._stopping:
                self._ahead.end()
        yield Step(None, snapshot, 0, True, failure)

    def _run_loop(self) -> Iterator[Step]:
        items = self._begin()
        try:
            while True:
                try:
                    item = next(items)
                except StopIteration:
                    return
                nbytes = evaluate_item(item)
                yield Step(item, self._ahead.snapshot(), nbytes, samples=count_samples(item))
                del item
        finally:
            if self._close_items:
                end_items(items)


def _size_of(step: Step) -> int:
    return step.nbytes


def end_items(items: Any) -> None:
    """End an iterator that can be ended."""
    close = getattr(items, "close", None)
    if callable(close):
        close()


def evaluate_item(item: Any, seen: set[int] | None = None) -> int:
    """Wait for all results in an item, and return how many bytes there are.

    A call that failed raises when its result is read: by the consumer, as it would otherwise.
    """
    if isinstance(item, Value):
        pending = item._pending
        if pending is not None:
            pending.prepare()
        samples = item._known()
        return 0 if samples is None else samples.nbytes
    if isinstance(item, str | bytes | int | float | None):
        return 0
    seen = set() if seen is None else seen
    if id(item) in seen:
        return 0
    seen.add(id(item))
    if isinstance(item, Mapping):
        return sum(evaluate_item(part, seen) for part in item.values())
    if isinstance(item, list | tuple | set | frozenset):
        return sum(evaluate_item(part, seen) for part in item)
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        fields = dataclasses.fields(item)
        return sum(evaluate_item(getattr(item, field.name, None), seen) for field in fields)
    nbytes = getattr(item, "nbytes", 0)
    return nbytes if isinstance(nbytes, int) else 0


def count_samples(item: Any) -> int:
    """How many samples an item has: as many as the first batch or array in it."""
    if isinstance(item, Value):
        return item._count
    if isinstance(item, Mapping):
        item = tuple(item.values())
    elif dataclasses.is_dataclass(item) and not isinstance(item, type):
        item = tuple(vars(item).values()) if hasattr(item, "__dict__") else ()
    if isinstance(item, list | tuple):
        return next((count_samples(part) for part in item if not _is_plain(part)), 1)
    shape = getattr(item, "shape", None)
    return int(shape[0]) if isinstance(shape, tuple) and shape else 1


def _is_plain(item: Any) -> bool:
    return isinstance(item, str | bytes | int | float | None)
