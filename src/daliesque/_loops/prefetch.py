# SPDX-License-Identifier: Apache-2.0
"""A loading loop ahead of the one that consumes it."""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Self, TypeVar

from .. import _kernels
from .._engine.ahead_thread import PATIENCE
from .._engine.interrupts import Steps, two_phase
from .._readers.core.base import Reader
from .run_ahead import RunAhead

T = TypeVar("T")


# How many bytes of items that nobody has taken yet may wait before no more are made.
_MAX_BYTES = 1 << 30


class Prefetched(Iterator[T]):
    """The items of a loop that runs ahead. Dropping or closing it ends the loop."""

    def __init__(self, run: RunAhead[T], loop: Any) -> None:
        self._loop = loop
        self._delivered = 0
        self._consumer: int | None = None
        self._mutex = _kernels.Mutex()
        # Last, since it is what `__del__` looks for.
        self._run = run

    @two_phase
    def __next__(self) -> T:
        outcome: Any = self.prepare_next()
        item: T = outcome
        return item

    def prepare_next(self) -> tuple[Any, Steps, BaseException | None]:
        """The next item, what changes by its delivery, and what is to be raised instead."""
        self._consumer = threading.get_ident()
        item, steps, failure = self._run.prepare_next()
        if failure is None:
            steps = (*steps, (setattr, (self, "_delivered", self._delivered + 1)))
        return item, steps, failure

    def __len__(self) -> int:
        length = length_of(self._loop)
        return length if isinstance(self._loop, Iterator) else max(0, length - self._delivered)

    def __bool__(self) -> bool:
        return True

    def start(self) -> None:
        """Begin to make items before the first one is asked for."""
        self._run.start()

    def close(self) -> None:
        """End the loop: its generator is closed, and what was made ahead of time is dropped."""
        if inspect.isgenerator(self._loop) and not self._run.has_begun:
            self._loop.close()
        self._run.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Whoever leaves a loop expects that it is over. Garbage collection may come at any time, on
        # any thread: it must not wait for long.
        run = getattr(self, "_run", None)
        if run is not None:
            run.stop(PATIENCE if self._consumer == threading.get_ident() else 0)


class Prefetch(Generic[T]):
    """What `prefetch` returns: each `for` loop over it begins the loading loop again."""

    def __init__(self, loop: Any, depth: int, max_bytes: int) -> None:
        self._loop = loop
        self._depth = depth
        self._max_bytes = max_bytes
        # An iterator can be run once only.
        self._runs_once = isinstance(loop, Iterator)
        self._last: weakref.ref[Prefetched[T]] | None = None
        # What `next()` takes items from.
        self._current: Prefetched[T] | None = None
        self._mutex = _kernels.Mutex()

    def __iter__(self) -> Prefetched[T]:
        last = None if self._last is None else self._last()
        if last is not None and (last is self._current or self._runs_once):
            return last
        closes = not self._runs_once or inspect.isgenerator(self._loop)
        run: RunAhead[T] = RunAhead(self._begin, self._depth, self._max_bytes, closes)
        started = Prefetched(run, self._loop)
        self._last = weakref.ref(started)
        return started

    @two_phase
    def __next__(self) -> T:
        if self._current is None:
            self._current = iter(self)
        outcome: Any = self._current.prepare_next()
        item: T = outcome
        return item

    def _begin(self) -> Iterator[T]:
        return begin_loop(self._loop, "prefetch")

    def __len__(self) -> int:
        return length_of(self._loop)

    def __bool__(self) -> bool:
        return True

    def close(self) -> None:
        """End the loop that was begun last."""
        last = None if self._last is None else self._last()
        if last is None and self._runs_once:
            last = iter(self)
        if last is not None:
            last.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def begin_loop(loop: Any, where: str) -> Iterator[Any]:
    """The items of a loop, which is a function that returns them, or an iterable."""
    if not isinstance(loop, Iterable):
        loop = loop()
        if not isinstance(loop, Iterable):
            msg = (
                f"{where}: 'loop' must return an iterator, as generator functions do; got "
                f"{loop!r:.60}."
            )
            raise TypeError(msg)
    return iter(loop)


def check_loop(loop: Any, where: str) -> None:
    """Refuse what is no loop."""
    if isinstance(loop, Reader):
        # Says what to iterate over instead.
        iter(loop)
    if not callable(loop) and not isinstance(loop, Iterable):
        msg = (
            f"{where}: 'loop' must be a generator function, an iterable or an iterator; got "
            f"{loop!r:.60}."
        )
        raise TypeError(msg)
    _check_parameters(loop, where)


def length_of(loop: Any) -> int:
    """How many items a loop has; TypeError if it does not say."""
    if not hasattr(loop, "__len__"):
        msg = "prefetch: how many items there are is not known, because the loop has no length."
        raise TypeError(msg)
    return len(loop)


def prefetch(
    loop: Callable[[], Iterable[T]] | Iterable[T], depth: int = 2, *, max_bytes: int = _MAX_BYTES
) -> Prefetch[T]:
    """Run a loading loop ahead of its consumer.

    The loop runs on a thread of its own, with the mode, context, device and default generator of
    random numbers of the thread that consumes it. Items come in order, and with all results in them
    computed. What the loop raises is raised at the consumer, after the items before it.

    Leaving the consumer's `for` loop closes the generator and ends the thread. Readers, generators
    of random numbers and `ExternalSource` are where the consumer is, never where the loop is:
    `get_state` and checkpoints count items that were delivered, and a reader that is used after
    `break` goes on after the last one.

    Parameters
    ----------
    loop
        A generator function (or any function without parameters that returns an iterator), which
        is called for each `for` loop; or an iterable; or an iterator, which is run once.
    depth
        How many items to make ahead of time, the one that is being made included.
    max_bytes
        How many bytes these may take before no more are made. There is always at least one.

    Returns
    -------
    Prefetch
        An iterable with `close()`, which is also a context manager. `len` is that of the loop, if
        it has one.

    Examples
    --------
    >>> class Squares(ndd.readers.Reader):
    ...     def open_index(self):
    ...         return 6
    ...     def fetch_sample(self, number):
    ...         return number**2
    >>> reader = Squares()
    >>> def load():
    ...     for (squares,) in reader.next_epoch(batch_size=2):
    ...         yield squares + 1
    >>> for batch in ndd.prefetch(load):
    ...     print(batch.tolist())
    [1, 2]
    [5, 10]
    [17, 26]
    """
    check_loop(loop, "prefetch")
    _check_positive("depth", depth)
    _check_positive("max_bytes", max_bytes)
    return Prefetch(loop, depth, max_bytes)


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"prefetch: {name!r} must be an integer; got {value!r}."
        raise TypeError(msg)
    if value < 1:
        msg = f"prefetch: {name!r} must be positive; got {value}."
        raise ValueError(msg)


def _check_parameters(loop: Any, where: str) -> None:
    """Refuse functions that want to be called with something."""
    if isinstance(loop, Iterable):
        return
    try:
        parameters = inspect.signature(loop).parameters.values()
    except (TypeError, ValueError):
        # Some functions written in C do not say.
        return
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in optional]
    if needed:
        msg = (
            f"{where}: 'loop' must have no parameters; {loop!r:.60} has {', '.join(needed)}. Pass "
            "what it returns, or give them values with functools.partial."
        )
        raise TypeError(msg)
