# SPDX-License-Identifier: Apache-2.0
"""Runs an iterator ahead on a thread, so that nothing is lost whatever interrupts the consumer.

An item stays in the queue until the consumer asks for the one after it. The two sides wake each
other with locks that are used as signals; whoever is woken looks at the queue itself, so that a
signal too many or one that a KeyboardInterrupt swallowed does no harm.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")

# Seconds to wait at exit for an item that is being made.
_PATIENCE = 5.0


class Ahead(Generic[Item]):
    """Makes the items of an iterator, at most `depth` of them before they are asked for.

    The thread keeps alive what the iterator needs, so whoever owns an Ahead must not be part of
    that, and must call `stop()` when it goes away.
    """

    def __init__(self, items: Iterator[Item], depth: int) -> None:
        self._items = items
        self._depth = depth
        self._process = os.getpid()
        # Items and their numbers, from 0; the first may be with the consumer already.
        self._ready: deque[tuple[int, Item]] = deque()
        self._taken = -1
        self._failure: BaseException | None = None
        self._ended = False
        self._stopping = False
        self._claim = threading.Lock()
        self._wake_consumer = threading.Lock()
        self._wake_producer = threading.Lock()
        self._thread: threading.Thread | None = None
        _all.add(self)

    @property
    def is_of_this_process(self) -> bool:
        """Whether the thread is in this process, and not in the one that it was forked off."""
        return os.getpid() == self._process

    def peek(self, number: int) -> Item:
        """Item `number`, waiting for it; those before it are dropped. StopIteration at the end."""
        self._taken = max(self._taken, number)
        self.drop(number)
        _signal(self._wake_producer)
        while not self._ready:
            if self._ended and not self._ready:
                if self._failure is not None:
                    raise self._failure
                raise StopIteration
            self._start()
            self._wake_consumer.acquire()
        return self._ready[0][1]

    def drop(self, number: int) -> None:
        """Forget the items before `number`."""
        while self._ready and self._ready[0][0] < number:
            self._ready.popleft()

    def _start(self) -> None:
        # An interrupted start may or may not have started a thread; only one of them works.
        if not self._claim.locked() and not self._stopping:
            self._thread = threading.Thread(target=self._run, name="daliesque capture", daemon=True)
            self._thread.start()

    def stop(self, wait: bool = False) -> None:
        """Make no more items; the thread ends as soon as it is done with the one it is at."""
        if not self.is_of_this_process:
            return
        self._stopping = self._ended = True
        self._ready.clear()
        _signal(self._wake_producer)
        _signal(self._wake_consumer)
        thread = self._thread
        if wait and thread is not None and thread is not threading.current_thread():
            with contextlib.suppress(RuntimeError):
                thread.join(_PATIENCE)

    def _run(self) -> None:
        if not self._claim.acquire(blocking=False):
            return
        number = 0
        try:
            for item in self._items:
                self._ready.append((number, item))
                _signal(self._wake_consumer)
                del item
                number += 1
                while not self._stopping and number - self._taken > self._depth:
                    self._wake_producer.acquire()
                if self._stopping:
                    break
        except BaseException as failure:
            self._failure = failure
        finally:
            # A generator may hold data; it is closed here, by the thread that ran it.
            self._items = iter(())
            self._ended = True
            if self._stopping:
                self._ready.clear()
            _signal(self._wake_consumer)


def _signal(lock: threading.Lock) -> None:
    """Let whoever waits for a lock go on; once is enough."""
    with contextlib.suppress(RuntimeError):
        lock.release()


_all: weakref.WeakSet[Ahead[Any]] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    # A thread that is inside native code when the interpreter goes away would crash it.
    for ahead in list(_all):
        ahead.stop(wait=True)
