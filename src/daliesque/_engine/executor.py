# SPDX-License-Identifier: Apache-2.0
"""Runs calls in order, in the background or on the thread that waits for them.

Waking a sleeping thread takes tens of microseconds, more than most small calls. So a call is only
queued; the background thread is woken when the queued work is worth it, and whoever needs a result
that nobody is computing yet runs the queue himself up to it. At any time at most one thread, the
owner, takes calls from the queue, which keeps them in order.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .invocation import Invocation

# Wake the background thread when this many bytes are waiting to be processed.
_WAKE_BYTES = 1 << 20
# A caller that is this far ahead works instead of queueing more: many small calls are cheaper to
# run than to hand over, and memory stays bounded.
_MOST_QUEUED = 64


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
        self._thread: threading.Thread | None = None
        self._asleep = False
        self._alarm = threading.Lock()
        self._alarm.acquire()

    def runs_here(self) -> bool:
        """Whether the calling thread is inside a call that this executor runs."""
        return self._owner == threading.get_ident()

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
        """Return when a queued call is done, working on the queue if nobody else does."""
        me = threading.get_ident()
        if self._owner == me:
            self._run_early(invocation)
            return
        with self._lock:
            while not invocation.done:
                if self._owner is None:
                    self._owner = me
                    break
                # Set before looking again: the owner looks at it after finishing a call.
                invocation.awaited = True
                if not invocation.done:
                    self._changed.wait()
            else:
                return
        try:
            while not invocation.done:
                self._run_next()
        finally:
            self._release()
        if self._queue and self._waiting_bytes > _WAKE_BYTES:
            self._wake()

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
            if thread is not threading.current_thread():
                thread.join()

    def _run_next(self) -> None:
        try:
            invocation = self._queue.popleft()
        except IndexError:
            msg = "the call was being computed by another process when this one was forked"
            raise RuntimeError(msg) from None
        # Threads may lose an update of the sum; an empty queue sets it right.
        self._waiting_bytes = self._waiting_bytes - invocation.cost if self._queue else 0
        invocation.execute()
        if invocation.awaited:
            with self._lock:
                self._changed.notify_all()

    def _run_early(self, invocation: Invocation) -> None:
        """Run a queued call out of turn: a call that the owner is inside of needs it now."""
        if invocation.done:
            return
        try:
            self._queue.remove(invocation)
        except ValueError:
            msg = "a call waits for its own result"
            raise RuntimeError(msg) from None
        self._waiting_bytes -= invocation.cost
        invocation.execute()

    def _release(self) -> None:
        with self._lock:
            self._owner = None
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(
                    target=_serve, args=(weakref.ref(self), self._alarm), daemon=True
                )
                self._thread.start()
                self._alarm.release()
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
            try:
                while self._queue and not self._stopping:
                    self._run_next()
            finally:
                self._release()
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
    alarm.acquire()
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
        executor._start_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_in_child)
