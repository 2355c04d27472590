# SPDX-License-Identifier: Apache-2.0
"""Reads ahead on a thread of its own."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
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
# Seconds to wait at exit for a read that is under way.
_PATIENCE = 5.0


class Prefetcher(Generic[Item]):
    """Runs an iterator ahead, at most `depth` items, and hands them out in order.

    `make_items` is given `capacity`, for an iterator that begins with items ahead of time.

    The thread starts with the first item that is asked for, and ends with the iterator, with
    `stop()`, or with the process. It keeps alive what the iterator needs, so whoever owns a
    Prefetcher must not be part of that, and must call `stop()` when it goes away. If the system has
    no thread to give, items are made when they are asked for.
    """

    def __init__(
        self,
        make_items: Callable[[Callable[[], Capacity]], Iterator[Item]],
        depth: int,
        size_of: Callable[[Item], int],
    ) -> None:
        self._channel = _kernels.Channel(depth)
        self._items = make_items(self.capacity)
        self._size_of = size_of
        self._process = os.getpid()
        self._thread: threading.Thread | None = None
        # Takes away the item that `first` returned. Nothing of it is written in Python.
        self.drop = self._channel.drop
        self.close = self._channel.close
        _running.add(self)

    def in_other_process(self) -> bool:
        """Whether this process was forked off the one that made the Prefetcher.

        The thread does not exist here: nothing else may be used.
        """
        return os.getpid() != self._process

    @property
    def broken(self) -> bool:
        """Whether the iterator failed, so that items after those that are ready are lost."""
        return self._channel.broken

    def first(self) -> Item:
        """The next item, waiting for it if need be; raises StopIteration after the last.

        It stays the next one until `drop`, so that an interruption in between does not lose it.
        """
        channel = self._channel
        if not channel.served:
            self._start_thread()
        if channel.needs_pull:
            channel.pull(self._items, self._size_of)
        item: Item = channel.front()
        return item

    def _start_thread(self) -> None:
        # It says itself that it is there. If this is interrupted, the next call starts another one,
        # and the later of the two ends at once.
        thread = threading.Thread(target=self._run, name="daliesque reader", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            self._channel.begin_service(alone=True)
        else:
            self._thread = thread

    def capacity(self) -> Capacity:
        """How much is not taken by items that are ready."""
        return Capacity(*self._channel.capacity())

    def stop(self, wait: bool = False) -> None:
        """Drop what is there and end the thread, as soon as it is done with what it reads."""
        if self.in_other_process():
            return
        self._channel.close()
        thread = self._thread
        if wait and thread is not None and thread is not threading.current_thread():
            # A thread that hangs in the storage must not keep the process from ending.
            thread.join(_PATIENCE)

    def _run(self) -> None:
        channel = self._channel
        if not channel.begin_service(alone=False):
            return
        _kernels.exchange_current_pool(_kernels.ThreadPool(_READING_THREADS))
        failure: BaseException | None = None
        try:
            for item in self._items:
                if not channel.put(item, self._size_of(item)):
                    break
                del item
        except BaseException as error:
            failure = error
        _kernels.exchange_current_pool(None)
        # A generator may hold data; it is closed here, by the thread that ran it.
        self._items = iter(())
        channel.finish(failure)
        # Its traceback refers to this frame.
        del failure


_running: weakref.WeakSet[Prefetcher[Any]] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    # A thread that is inside native code when the interpreter goes away would crash it.
    for prefetcher in list(_running):
        prefetcher.stop(wait=True)
