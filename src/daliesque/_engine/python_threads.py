# SPDX-License-Identifier: Apache-2.0
"""Python threads of a context, for functions that are written in Python.

Whoever has a number of items to process works on them itself, and threads that have nothing else to
do help. So there is always somebody who works on an item, however deep calls are nested: nobody
waits for a thread, only for items that are being processed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
import weakref
from collections.abc import Callable

# Seconds to wait at exit for a function that is still running.
_PATIENCE = 5.0


class Job:
    """A function that is called once for each of the numbers from 0 to `count` - 1."""

    def __init__(self, function: Callable[[int], None], count: int) -> None:
        self._function: Callable[[int], None] | None = function
        self._next = 0
        self._end = count
        self._running = 0
        self._changed = threading.Condition(threading.Lock())
        # What was raised for the lowest number that failed. Numbers are taken in order, and those
        # taken are finished: which one that is does not depend on the threads.
        self._failed: tuple[int, BaseException] | None = None

    def work(self) -> None:
        """Process items until there are none left."""
        while True:
            with self._changed:
                function, index = self._function, self._next
                if function is None or index >= self._end:
                    return
                self._next += 1
                self._running += 1
            try:
                function(index)
            except BaseException as error:
                with self._changed:
                    self._end = 0
                    if self._failed is None or index < self._failed[0]:
                        self._failed = (index, error)
            finally:
                # Whoever waits may drop what the function needs, on its own thread.
                del function
                with self._changed:
                    self._running -= 1
                    if not self._running:
                        self._changed.notify_all()

    def wait(self) -> None:
        """Return when all items that were begun are done; raise what one of them raised."""
        with self._changed:
            while self._running:
                self._changed.wait()
        if self._failed is not None:
            error, self._failed = self._failed[1], None
            try:
                raise error
            finally:
                # The traceback refers to this frame.
                del error

    def close(self) -> None:
        """Begin no more items, and keep nothing alive."""
        self._end = 0
        self._function = None


class PythonThreads:
    """At most `size` threads, counting the one that asks, which share the work on items.

    Threads start when there is something to do, wait for more, and end with `stop`. A process that
    was forked starts its own.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._start()
        _all.add(self)

    def _start(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._stopped = False

    def run(self, function: Callable[[int], None], count: int) -> None:
        """Call `function` for the numbers from 0 to `count` - 1, on several threads.

        If calls fail, no more are begun, and the exception of the lowest number comes out.
        """
        job = Job(function, count)
        try:
            self._ask_for_help(job, min(self.size, count) - 1)
            job.work()
            job.wait()
        finally:
            job.close()

    def _ask_for_help(self, job: Job, helpers: int) -> None:
        if helpers < 1:
            return
        if self._process != os.getpid():
            self._start()
        with self._lock:
            if self._stopped:
                return
            while len(self._threads) < helpers:
                thread = threading.Thread(
                    target=_help, args=(self._jobs,), name="daliesque map", daemon=True
                )
                thread.start()
                self._threads.append(thread)
        for _ in range(helpers):
            self._jobs.put(job)

    def stop(self, wait: bool = False) -> None:
        """End the threads; whoever asks for work to be done afterwards does it alone."""
        if self._process != os.getpid():
            return
        with self._lock:
            self._stopped = True
            threads, self._threads = self._threads, []
        for _ in threads:
            self._jobs.put(None)
        if wait:
            for thread in threads:
                # A function that never returns must not keep the process from ending.
                with contextlib.suppress(RuntimeError):
                    thread.join(_PATIENCE)


def _help(jobs: queue.SimpleQueue[Job | None]) -> None:
    """The life of a thread: help with jobs until there is None."""
    while True:
        job = jobs.get()
        if job is None:
            return
        job.work()
        del job


_all: weakref.WeakSet[PythonThreads] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    # A thread that is inside native code when the interpreter goes away would crash it.
    for threads in list(_all):
        threads.stop(wait=True)
