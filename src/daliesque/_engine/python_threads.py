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

from .. import _kernels

# Seconds to wait at exit for a function that is still running.
_PATIENCE = 5.0


class Job:
    """A function that is called once for each of the numbers from 0 to `count` - 1."""

    def __init__(self, function: Callable[[int], None], count: int) -> None:
        self._function: Callable[[int], None] | None = function
        self._numbers = _kernels.Job(count)
        self._team = _kernels.Team()

    def work(self) -> None:
        """Process items until there are none left."""
        numbers = self._numbers
        while (index := numbers.take()) >= 0:
            function, failure = self._function, None
            if function is None:
                return
            try:
                self._team.call(function, index)
            except BaseException as error:
                failure = error
            # Whoever waits may drop what the function needs, on its own thread.
            del function
            numbers.finish(index, failure)
            del failure

    def wait(self) -> None:
        """Return when all items that were begun are done; raise what one of them raised."""
        error = self._numbers.wait()
        self._team.end()
        if error is not None:
            try:
                raise error
            finally:
                # The traceback refers to this frame.
                del error

    def close(self) -> None:
        """Begin no more items, and keep nothing alive."""
        self._numbers.close()
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
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._helpers = Helpers()
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
        if self._stopped:
            return
        try:
            # Threads count themselves: if this is interrupted, or two threads are here at once,
            # one too many is started, and ends at once.
            for _ in range(helpers - len(self._helpers.threads)):
                threading.Thread(
                    target=_help,
                    args=(self._jobs, self._helpers, helpers),
                    name="daliesque map",
                    daemon=True,
                ).start()
        except RuntimeError:
            # The system has no more threads to give: those that there are do all the work.
            helpers = len(self._helpers.threads)
        for _ in range(helpers):
            self._jobs.put(job)

    def stop(self, wait: bool = False) -> None:
        """End the threads; whoever asks for work to be done afterwards does it alone."""
        if self._process != os.getpid():
            return
        self._stopped = True
        self._jobs.put(None)
        if wait:
            for thread in list(self._helpers.threads):
                # A function that never returns must not keep the process from ending.
                with contextlib.suppress(RuntimeError):
                    thread.join(_PATIENCE)


class Helpers:
    """The threads that help. They enter themselves; only they take the lock."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def enter(self, most: int) -> bool:
        """Count the calling thread, unless there are `most` already."""
        with self._lock:
            if len(self.threads) >= most:
                return False
            self.threads.append(threading.current_thread())
            return True


def _help(jobs: queue.SimpleQueue[Job | None], helpers: Helpers, most: int) -> None:
    """The life of a thread: help with jobs until there is None."""
    if not helpers.enter(most):
        return
    _kernels.set_thread_role("map")
    while True:
        job = jobs.get()
        if job is None:
            # For the next one.
            jobs.put(None)
            helpers.threads.remove(threading.current_thread())
            return
        job.work()
        del job


_all: weakref.WeakSet[PythonThreads] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    # A thread that is inside native code when the interpreter goes away would crash it.
    for threads in list(_all):
        threads.stop(wait=True)
