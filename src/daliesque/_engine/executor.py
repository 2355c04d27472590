# SPDX-License-Identifier: Apache-2.0
"""Runs calls in order, in the background or on the thread that waits for them.

Waking a sleeping thread takes tens of microseconds, more than most small calls. So a call is only
queued; the background thread is woken when the queued work is worth it, and whoever needs a result
that nobody is computing yet runs the queue itself up to it. At any time at most one thread, the
owner, takes calls from the queue, which keeps them in order. Calls that are queued behind one whose
results nobody but them has run together with it: see `fusion`.

The queue itself is native (`_kernels.CallQueue`): a KeyboardInterrupt can come out of any bytecode,
and must find each call in the queue, running, or done. A call that is interrupted is queued again,
and runs when somebody asks for its result.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING

from .. import _kernels
from .fusion import find_chain

if TYPE_CHECKING:
    from .invocation import Invocation

# Seconds to make do without a background thread before asking the system for one again.
_RETRY_THREAD = 1.0
# Seconds to wait at exit for a call that is being run.
_PATIENCE = 5.0


class Executor:
    """An ordered queue of calls and the thread that works on it."""

    def __init__(self) -> None:
        self.queue = _kernels.CallQueue(find_chain)
        self._thread: threading.Thread | None = None
        self._retry_at = 0.0
        _executors.add(self)

    def submit(self, invocation: Invocation) -> None:
        """Queue a call."""
        queue = self.queue
        if queue.put(invocation):
            if queue.needs_thread:
                self._start_thread()
            if queue.is_full:
                queue.wait(invocation)

    def _start_thread(self) -> None:
        """Start the background thread.

        It says itself that it is there. If this is interrupted, the next call starts another one,
        and the later of the two ends at once.
        """
        if time.monotonic() < self._retry_at:
            return
        thread = threading.Thread(
            target=_serve, args=(weakref.ref(self.queue),), name="daliesque calls", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            # The system has no threads to give: whoever asks for a result runs the queue.
            self._retry_at = time.monotonic() + _RETRY_THREAD
        else:
            self._thread = thread

    def shut_down(self, wait: bool = True) -> None:
        """Stop the background thread; calls that are still queued run when somebody reads them."""
        self.queue.stop()
        thread = self._thread
        if wait and thread is not None and thread is not threading.current_thread():
            with contextlib.suppress(RuntimeError):
                thread.join(_PATIENCE)

    def __del__(self) -> None:
        # No finalizer of the context: that would keep the queue alive, the queue its calls, and the
        # calls their context. There is none if `__init__` was interrupted.
        queue = getattr(self, "queue", None)
        if queue is not None:
            queue.stop()

    def after_fork(self) -> None:
        """Begin again in a forked child, in which other threads do not exist."""
        self.queue.after_fork()
        self._thread = None


def _serve(queue_ref: weakref.ref[_kernels.CallQueue]) -> None:
    """The background thread. It does not keep its queue alive while it sleeps."""
    alarm = _kernels.Alarm()
    queue = queue_ref()
    if queue is None or not queue.begin_service(alarm):
        return
    while queue is not None and queue.serve():
        if queue.fall_asleep():
            del queue
            alarm.wait()
            queue = queue_ref()
    if queue is not None:
        queue.end_service()


_executors: weakref.WeakSet[Executor] = weakref.WeakSet()


@atexit.register
def _shut_down_all() -> None:
    for executor in list(_executors):
        executor.shut_down()


def _reset_in_child() -> None:
    for executor in list(_executors):
        executor.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_in_child)
