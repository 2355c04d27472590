# SPDX-License-Identifier: Apache-2.0
"""Runs a loop ahead of its consumer, on a thread of its own.

The two sides share nothing but two queues, which neither an interruption nor garbage collection at
an unlucky moment can leave locked: steps go one way, and a note for each that was taken comes back.
A step that was taken is held until it is delivered, with all that changes by that, as a whole.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import os
import queue
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from .. import _kernels
from .._engine.ahead import Ahead, Deliveries, Snapshot
from .._engine.context import EvalContext
from .._engine.interrupts import Steps
from .._engine.rng import get_default_rng, set_default_rng
from .._engine.thread_state import thread
from .._engine.value import Value

T = TypeVar("T")

# Seconds to wait for a step that is being made, where waiting for ever would be worse.
PATIENCE = 5.0


class Step(NamedTuple):
    """What a loop made, and where readers and generators are after it; or the end of the loop."""

    item: Any
    snapshot: Snapshot
    is_last: bool = False
    failure: BaseException | None = None


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

    The thread starts with the first `next()` and ends with the loop, with `stop()`, or with the
    process. It keeps this object alive: whoever owns it must call `stop()` when it goes away.
    """

    def __init__(
        self, begin: Callable[[], Iterator[T]], depth: int, max_bytes: int, close_items: bool
    ) -> None:
        self._begin = begin
        self._depth = depth
        self._max_bytes = max_bytes
        self._close_items = close_items
        self._process = os.getpid()
        self._ready: queue.SimpleQueue[Step] = queue.SimpleQueue()
        self._taken: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._stopping = False
        self._ahead = Ahead(thread.ahead)
        self._deliveries = Deliveries()
        # The step that was taken last, until it is delivered.
        self._held: Step | None = None
        # The thread that makes the steps: the first that takes the only number there is.
        self._claim = _kernels.Job(1)
        self._thread: threading.Thread | None = None
        # What closing the iterator has raised.
        self._failure: BaseException | None = None
        _running.add(self)

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
        if self._thread is None:
            self._start()
        if self._held is None:
            _kernels.store_result(self, "_held", self._ready.get)
        step = self._held
        assert step is not None
        if step.is_last:
            return self._prepare_end(step)
        if self._stopping:
            raise StopIteration
        steps = self._deliveries.prepare(step.snapshot)
        taken: Steps = (setattr, (self, "_held", None)), (self._taken.put, (None,))
        return step.item, (*steps, *taken), None

    def _prepare_end(self, step: Step) -> tuple[Any, Steps, BaseException | None]:
        if step.snapshot:
            left = step._replace(snapshot=[])
            steps = self._deliveries.prepare(step.snapshot)
            _kernels.carry_out((*steps, (setattr, (self, "_held", left))))
        self._ahead.end()
        over = Step(None, [], True)
        return None, ((setattr, (self, "_held", over)),), step.failure or StopIteration()

    def _start(self) -> None:
        """Start the thread, which says itself that it is there.

        If this is interrupted, the next call starts another one, and the later of the two ends at
        once.
        """
        try:
            threading.Thread(
                target=self._run, args=(_Surroundings(),), name="daliesque prefetch", daemon=True
            ).start()
        except RuntimeError as error:
            msg = f"prefetch: the loop needs a thread, and the system has none to give: {error}."
            raise RuntimeError(msg) from error

    @property
    def has_begun(self) -> bool:
        """Whether the thread was started."""
        return self._thread is not None

    def stop(self, patience: float | None = None) -> None:
        """End the loop: close the iterator and end the thread, when the step at hand is made.

        Waits for that, at most `patience` seconds.
        """
        if self._process != os.getpid():
            return
        started = self._thread
        self._stopping = True
        self._taken.put(None)
        if started is None or started is threading.current_thread() or started.ident is None:
            return
        started.join(patience)
        if started.is_alive():
            return
        with contextlib.suppress(queue.Empty):
            while True:
                self._ready.get_nowait()
        self._held = Step(None, [], True)
        self._ahead.end()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _run(self, surroundings: _Surroundings) -> None:
        """The thread."""
        if self._claim.take() < 0:
            return
        self._thread = threading.current_thread()
        failure: BaseException | None = None
        snapshot: Snapshot = []
        try:
            surroundings.take_over()
            thread.ahead = self._ahead
            with surroundings.context:
                self._make_steps()
        except BaseException as error:
            failure = error
        try:
            snapshot = self._ahead.snapshot()
            thread.ahead = None
            surroundings.context.executor.shut_down()
        except BaseException as error:
            failure = failure or error
        if self._stopping:
            self._ahead.end()
            self._failure = failure
        self._ready.put(Step(None, snapshot, True, failure))

    def _make_steps(self) -> None:
        if self._stopping:
            return
        items = self._begin()
        try:
            sizes: deque[int] = deque()
            while self._has_capacity(sizes):
                try:
                    item = next(items)
                except StopIteration:
                    return
                sizes.append(_evaluate(item, set()))
                self._ready.put(Step(item, self._ahead.snapshot()))
                del item
        finally:
            if self._close_items:
                _close(items)

    def _has_capacity(self, sizes: deque[int]) -> bool:
        """Wait until another step may be made; False to stop. `sizes` are those not taken yet."""
        while True:
            # The next one is expected to be like the last.
            full = bool(sizes) and (
                len(sizes) >= self._depth or sum(sizes) + sizes[-1] > self._max_bytes
            )
            try:
                self._taken.get(block=full)
            except queue.Empty:
                return not self._stopping
            if self._stopping:
                return False
            sizes.popleft()


def _close(items: Any) -> None:
    close = getattr(items, "close", None)
    if callable(close):
        close()


def _evaluate(item: Any, seen: set[int]) -> int:
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
    if id(item) in seen:
        return 0
    seen.add(id(item))
    if isinstance(item, Mapping):
        return sum(_evaluate(part, seen) for part in item.values())
    if isinstance(item, list | tuple | set | frozenset):
        return sum(_evaluate(part, seen) for part in item)
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        fields = dataclasses.fields(item)
        return sum(_evaluate(getattr(item, field.name, None), seen) for field in fields)
    nbytes = getattr(item, "nbytes", 0)
    return nbytes if isinstance(nbytes, int) else 0


_running: weakref.WeakSet[RunAhead[Any]] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    # A thread that is inside native code when the interpreter goes away would crash it.
    for loop in list(_running):
        with contextlib.suppress(Exception):
            loop.stop(PATIENCE)
