# SPDX-License-Identifier: Apache-2.0
"""Reads ahead on a thread of its own."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from ... import _kernels
from ..._engine.threads import usable_cpus
from .steps import Capacity

Item = TypeVar("Item")

# How many files are read at the same time: storage answers several questions at once. Many more
# threads than processors would be in each other's way if the files are in memory.
_MOST_THREADS = 4
_READING_THREADS = min(_MOST_THREADS, usable_cpus() + 1)
# What is read ahead may take this many bytes before the thread pauses.
_MOST_BYTES = 1 << 28
# Seconds to wait at exit for a read that is under way.
_PATIENCE = 5.0


class Prefetcher(Generic[Item]):
    """Runs an iterator ahead, at most `depth` items, and hands them out in order.

    `make_items` is given `capacity`, for an iterator that begins with items ahead of time.

    The thread starts with the first `next()` and ends with the iterator, with `stop()`, or with
    the process. It keeps alive what the iterator needs, so whoever owns a Prefetcher must not be
    part of that, and must call `stop()` when it goes away.
    """

    def __init__(
        self,
        make_items: Callable[[Callable[[], Capacity]], Iterator[Item]],
        depth: int,
        size_of: Callable[[Item], int],
    ) -> None:
        self._items = make_items(self.capacity)
        self._depth = depth
        self._size_of = size_of
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._ready: deque[tuple[Item, int]] = deque()
        self._ready_bytes = 0
        self._failure: BaseException | None = None
        self._ended = False
        self._stopping = False
        self._awaited = False
        self._thread: threading.Thread | None = None
        _running.add(self)

    def in_other_process(self) -> bool:
        """Whether this process was forked off the one that made the Prefetcher.

        The thread does not exist here, and locks may be held for ever: nothing else may be used.
        """
        return os.getpid() != self._process

    def next(self) -> Item:
        """The next item, waiting for it if need be; raises StopIteration after the last."""
        with self._changed:
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(
                    target=self._run, name="daliesque reader", daemon=True
                )
                self._thread.start()
            while not self._ready and not self._ended:
                self._awaited = True
                self._changed.wait()
            self._awaited = False
            if self._ready:
                item, size = self._ready.popleft()
                self._ready_bytes -= size
                self._changed.notify_all()
                return item
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        raise StopIteration

    def capacity(self) -> Capacity:
        """How much is not taken by items that are ready."""
        with self._changed:
            # An item that is waited for is about to be taken.
            sizes = [size for _, size in self._ready][self._awaited :]
            return Capacity(self._depth - len(sizes), _MOST_BYTES - sum(sizes))

    def stop(self, wait: bool = False) -> None:
        """Drop what is there and end the thread, as soon as it is done with what it reads."""
        if self.in_other_process():
            return
        with self._changed:
            self._stopping = self._ended = True
            self._ready.clear()
            self._changed.notify_all()
        thread = self._thread
        if wait and thread is not None and thread is not threading.current_thread():
            # A thread that hangs in the storage must not keep the process from ending.
            thread.join(_PATIENCE)

    def _run(self) -> None:
        _kernels.exchange_current_pool(_kernels.ThreadPool(_READING_THREADS))
        try:
            for item in self._items:
                if not self._put(item):
                    break
                del item
        except BaseException as failure:
            self._failure = failure
        finally:
            _kernels.exchange_current_pool(None)
            # A generator may hold data; it is closed here, by the thread that ran it.
            self._items = iter(())
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _put(self, item: Item) -> bool:
        """Queue an item as soon as there is capacity; False to stop.

        Capacity is awaited before and not after an item is queued, so that the next one is read
        while the queue is full.
        """
        size = self._size_of(item)
        with self._changed:
            while not self._stopping and self._ready and not self._has_capacity(size):
                self._changed.wait()
            if not self._stopping:
                self._ready.append((item, size))
                self._ready_bytes += size
                self._changed.notify_all()
            return not self._stopping

    def _has_capacity(self, size: int) -> bool:
        return len(self._ready) < self._depth and self._ready_bytes + size <= _MOST_BYTES


_running: weakref.WeakSet[Prefetcher[Any]] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    # A thread that is inside native code when the interpreter goes away would crash it.
    for prefetcher in list(_running):
        prefetcher.stop(wait=True)
