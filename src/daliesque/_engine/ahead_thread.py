# SPDX-License-Identifier: Apache-2.0
"""Runs an iterator ahead on a thread of its own: readers, loops of `prefetch`, captured steps.

The items go through a native channel (`_kernels.Channel`), whose functions happen as a whole,
whatever a KeyboardInterrupt interrupts: the first item stays the first until it is dropped.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from typing import Any, Generic, TypeVar

from .. import _kernels

Item = TypeVar("Item")

# Seconds to wait at exit for an item that is being made.
PATIENCE = 5.0


class AheadThread(Generic[Item]):
    """Makes the items of an iterator ahead of time, and hands them out in order.

    At most `depth` items, of `max_bytes` together, are made or being made that nobody has taken;
    items for which `size_of` returns None do not count.
    The thread closes a generator that it ran.

    The thread starts with `start()` or the first item that is asked for, and ends with the
    iterator, with `stop()`, or with the process. It keeps alive what the iterator needs, so whoever
    owns an AheadThread must not be part of that, and must call `stop()` when it goes away. After
    `rest()` the thread ends as soon as it would have to wait, and closes the iterator: what it made
    stays, and what comes after that is to be made of another iterator (`go_on`).
    """

    def __init__(
        self,
        name: str,
        items: Iterator[Item],
        depth: int,
        size_of: Callable[[Item], int | None],
        max_bytes: int | None = None,
    ) -> None:
        self._name = name
        self._items = items
        self._size_of = size_of
        self._process = os.getpid()
        self._channel = channel = _kernels.Channel(depth, max_bytes)
        self._thread: threading.Thread | None = None
        # What the iterator raised when it was closed.
        self._failure: BaseException | None = None
        # Takes away the item that `first` returned. Nothing of these is written in Python.
        self.drop = channel.drop
        self.close = channel.close
        self.rest = channel.rest
        _running.add(self)

    def in_other_process(self) -> bool:
        """Whether this process was forked off the one that the thread is in.

        The thread does not exist here: nothing else may be used.
        """
        return os.getpid() != self._process

    @property
    def broken(self) -> bool:
        """Whether the iterator failed, so that items after those that are ready are lost."""
        return self._channel.broken

    @property
    def has_begun(self) -> bool:
        """Whether an item was asked for."""
        return self._channel.served or self._thread is not None

    @property
    def is_closed(self) -> bool:
        """Whether nobody wants any more items."""
        return self._channel.closed

    @property
    def has_rested(self) -> bool:
        """Whether another iterator is needed for more items."""
        return self._channel.rested

    def go_on(self, items: Iterator[Item]) -> None:
        """Make the items of another iterator after those that there are."""
        self._items = items
        self._channel.resume()

    def first(self) -> Item:
        """The next item, waiting for it if need be; raises StopIteration after the last.

        It stays the next one until `drop`, so that an interruption in between does not lose it.
        """
        channel = self._channel
        self.start()
        if channel.needs_pull:
            channel.pull(self._items, self._size_of)
        item: Item = channel.front()
        return item

    def start(self) -> None:
        """Let the thread begin, if it has not."""
        channel = self._channel
        if not (channel.served or channel.closed or channel.rested):
            self._start()

    def _start(self) -> None:
        # The thread says itself that it is there. If this is interrupted, the next call starts
        # another one, and the later of the two ends at once.
        thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            self._do_without(error)
        else:
            self._thread = thread

    def _do_without(self, error: RuntimeError) -> None:
        """The system has no thread to give."""
        msg = f"{self._name}: a thread is needed, and the system has none to give: {error}."
        raise RuntimeError(msg) from error

    def stop(self, patience: float | None = 0.0) -> bool:
        """Drop what is there and end the thread, as soon as it is done with what it makes.

        Waits for that, at most `patience` seconds. Returns whether the thread is gone, and raises
        what the iterator raised when it was closed.
        """
        if self.in_other_process():
            return False
        self._channel.close()
        thread = self._thread
        if thread is not None:
            if thread is threading.current_thread():
                return False
            # A thread that hangs must not keep the process from ending.
            if patience is None or patience > 0:
                thread.join(patience)
            if thread.is_alive():
                return False
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        return True

    def _run(self) -> None:
        """The thread."""
        if self._channel.begin_service(alone=False):
            _kernels.set_thread_role(self._name.removeprefix("daliesque "))
            self._make_items()

    def _make_items(self) -> None:
        channel, items, failure = self._channel, self._items, None
        rests = False
        try:
            rests = self._make_while_wanted(items)
        except BaseException as error:
            failure = error
        try:
            # A generator may hold data; it is closed here, by the thread that ran it.
            if isinstance(items, Generator):
                items.close()
            del items
        except BaseException as error:
            failure = failure or error
        if rests and failure is None:
            return
        self._items = iter(())
        if channel.closed:
            self._failure = failure
        channel.finish(failure)
        # Its traceback refers to this frame.
        del failure

    def _make_while_wanted(self, items: Iterator[Item]) -> bool:
        """Make items; returns whether that is all for now, but not all that there is."""
        channel = self._channel
        while channel.reserve():
            try:
                item = next(items)
            except StopIteration:
                return False
            channel.put(item, self._size_of(item))
            del item
        return not channel.closed


_running: weakref.WeakSet[AheadThread[Any]] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    # A thread that is inside native code when the interpreter goes away would crash it.
    for ahead in list(_running):
        try:
            ahead.stop(PATIENCE)
        except BaseException:
            # Nobody is left who could do anything about it.
            continue
