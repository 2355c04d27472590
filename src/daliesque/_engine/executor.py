# SPDX-License-Identifier: Apache-2.0
"""Runs calls in order, in the background or on the thread that waits for them.

Waking a sleeping thread takes tens of microseconds, more than most small calls. So a call is only
queued; the background thread is woken when the queued work is worth it, and whoever needs a result
that nobody is computing yet runs the queue itself up to it. At any time at most one thread, the
owner, takes calls from the queue, which keeps them in order.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .invocation import Invocation

# Wake the background thread when this many bytes are waiting to be processed.
_WAKE_BYTES = 1 << 20
# A caller that is this far ahead works instead of queueing more: many small calls are cheaper to
# run than to hand over, and memory stays bounded.
_MOST_QUEUED = 64


class Inside(threading.local):
    """How many calls this thread is inside of.

    What a thread inside a call calls itself runs at once, and for what it needs it does not wait in
    line.
    """

    depth = 0


inside = Inside()


class Executor:
    """An ordered queue of calls and the thread that works on it."""

    def __init__(self) -> None:
        self._queue: deque[Invocation] = deque()
        self._waiting_bytes = 0
        self._stopping = False
        self._start_locks()
        _executors.add(self)

    def _start_locks(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._owner: int | None = None
        self._running: list[Invocation] = []
        self._thread: threading.Thread | None = None
        self._asleep = False
        self._alarm = threading.Lock()
        self._alarm.acquire()

    def runs_here(self) -> bool:
        """Whether the calling thread is inside a call that some executor runs."""
        return inside.depth > 0

    def is_idle(self) -> bool:
        """Whether nothing runs, and what is queued is done in no time by whoever asks for it."""
        return self._owner is None and self._waiting_bytes <= _WAKE_BYTES

    def submit(self, invocation: Invocation) -> None:
        """Queue a call."""
        queue = self._queue
        queue.append(invocation)
        self._waiting_bytes += invocation.cost
        if self._waiting_bytes > _WAKE_BYTES:
            self._wake()
        if len(queue) > _MOST_QUEUED:
            self.wait(invocation)

    def wait(self, invocation: Invocation) -> None:
        """Return when a queued call is done, working on the queue if nobody else does.

        A thread that waits inside a call runs just the call it needs, out of order: if it waited
        for the ones before, two threads could wait for each other.
        """
        me = threading.get_ident()
        while not invocation.done:
            with self._lock:
                if inside.depth:
                    taken = self._take(invocation)
                else:
                    taken = self._owner is None and bool(self._queue)
                    if taken:
                        self._owner = me
                if not taken:
                    # Set before looking again: who runs a call looks at it after finishing it.
                    invocation.awaited = True
                    if not invocation.done:
                        self._changed.wait()
                    continue
            if inside.depth:
                self._run(invocation)
            else:
                self._work(lambda: not invocation.done)
        if self._queue and self._waiting_bytes > _WAKE_BYTES and not inside.depth:
            self._wake()

    def _take(self, invocation: Invocation) -> bool:
        """Take a call out of the queue, if it is still there."""
        try:
            self._queue.remove(invocation)
        except ValueError:
            return False
        return True

    def _work(self, wanted: Callable[[], bool]) -> None:
        """As the owner, run calls from the queue while `wanted` says so and there are any."""
        invocation: Invocation | None = None
        try:
            while wanted():
                invocation = None
                with self._lock:
                    # No calls: a KeyboardInterrupt could come out of them, and lose the invocation.
                    if self._queue:
                        invocation = self._queue[0]
                        del self._queue[0]
                if invocation is None:
                    break
                self._run(invocation)
        except BaseException:
            if invocation is not None and not invocation.done:
                invocation.abandon("the call was interrupted before it began")
            raise
        finally:
            with self._lock:
                self._owner = None
                self._changed.notify_all()

    def _run(self, invocation: Invocation) -> None:
        # Threads may lose an update of the sum; an empty queue sets it right.
        self._waiting_bytes = self._waiting_bytes - invocation.cost if self._queue else 0
        self._running.append(invocation)
        inside.depth += 1
        try:
            invocation.execute()
        finally:
            inside.depth -= 1
            try:
                self._running.remove(invocation)
            finally:
                if invocation.awaited:
                    with self._lock:
                        self._changed.notify_all()

    def drain(self) -> None:
        """Return when everything queued so far is done."""
        try:
            last = self._queue[-1]
        except IndexError:
            # The owner may still be busy with the call it took last.
            with self._lock:
                while self._owner not in (None, threading.get_ident()):
                    self._changed.wait(0.001)
            return
        self.wait(last)

    def shut_down(self) -> None:
        """Stop the background thread; calls that are still queued run when somebody reads them."""
        self._stopping = True
        thread = self._thread
        if thread is not None:
            self._wake()
            # Without an identity, it never started.
            if thread is not threading.current_thread() and thread.ident is not None:
                thread.join()

    def _wake(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(
                    target=_serve, args=(weakref.ref(self), self._alarm), daemon=True
                )
                # It works at once: nothing is left to do if this is interrupted.
                self._thread.start()
            elif self._asleep:
                self._asleep = False
                self._alarm.release()

    def work_until_empty(self) -> bool:
        """Run the queue unless somebody else does; returns False if the thread should end."""
        with self._lock:
            if self._stopping:
                return False
            taken = self._owner is None
            if taken:
                self._owner = threading.get_ident()
        if taken:
            self._work(lambda: not self._stopping)
        return True

    def fall_asleep(self) -> bool:
        """Note that the thread waits for the alarm, unless there is work after all."""
        with self._lock:
            if self._stopping or (self._queue and self._owner is None):
                return False
            self._asleep = True
            return True


def _serve(executor_ref: weakref.ref[Executor], alarm: threading.Lock) -> None:
    """The background thread. It does not keep its executor alive while it sleeps."""
    while True:
        executor = executor_ref()
        if executor is None or not executor.work_until_empty():
            return
        asleep = executor.fall_asleep()
        del executor
        if asleep:
            alarm.acquire()


_executors: weakref.WeakSet[Executor] = weakref.WeakSet()


@atexit.register
def _shut_down_all() -> None:
    # A thread that is still inside native code when the interpreter goes away would crash it.
    for executor in list(_executors):
        executor.shut_down()


def _reset_in_child() -> None:
    for executor in list(_executors):
        for invocation in executor._running:
            # The thread that runs it stayed in the parent.
            invocation.abandon("the call was being computed when the process was forked")
        executor._start_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_in_child)
