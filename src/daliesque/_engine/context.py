# SPDX-License-Identifier: Apache-2.0
"""What calls need to run: threads, device and stream."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from .. import _kernels
from .device import Device
from .devices import gpu_count, require_backend
from .executor import Executor
from .python_threads import PythonThreads
from .stream import Stream, chosen_stream
from .stream import stream as make_stream
from .thread_state import thread
from .threads import ThreadPool, default_native_pool

if TYPE_CHECKING:
    from .checkpoint import Checkpoint
    from .invocation import Invocation


class EvalContext:
    """What operators run with: a thread pool, a device and a stream.

    A context is a context manager; entering it makes it current for this thread. It cannot be
    active in two threads at once. On exit from the outermost `with`, everything that was called in
    it has been evaluated.

    Parameters
    ----------
    num_threads
        Make a thread pool of this size for the context.
    device_id
        The accelerator of the context; by default the current device.
    cuda_stream
        The stream for work on the accelerator; by default the one chosen for this thread, or else
        for the device, when the context is made.
    thread_pool
        Use this thread pool. Not together with `num_threads`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> with ndd.EvalContext(num_threads=2) as context:
    ...     print(context.num_threads)
    2
    """

    def __init__(
        self,
        *,
        num_threads: int | None = None,
        device_id: int | None = None,
        cuda_stream: Any = None,
        thread_pool: ThreadPool | None = None,
    ) -> None:
        self._device = Device.chosen() if device_id is None else Device("gpu", device_id)
        if thread_pool is not None:
            if num_threads is not None:
                msg = "EvalContext: give 'num_threads' or 'thread_pool', not both."
                raise ValueError(msg)
            if thread_pool.device_id != self._device.device_id:
                msg = (
                    f"EvalContext: the device id {self._device.device_id} clashes with the thread "
                    f"pool's {thread_pool.device_id}."
                )
                raise ValueError(msg)
        elif num_threads is not None:
            thread_pool = ThreadPool(num_threads, device_id=self._device.device_id)
        self._thread_pool = thread_pool
        own = make_stream(cuda_stream, device_id)
        self._stream = chosen_stream(self.device_id) if own is None else own
        # Whether streams that are chosen later are taken, too.
        self._follows = False
        # The context's own streams, by the numbers of devices, for when nobody chooses one.
        self._own_streams: dict[int, Stream] = {}
        self.executor = Executor()
        self._python_threads: PythonThreads | None = None
        self._deferred: list[weakref.ref[Invocation]] = []
        self._tidy_at = 1000
        self._mutex = _kernels.Mutex()
        # The thread that has entered the context.
        self._entered: int | None = None
        self._checkpoint: Checkpoint | None = None
        self._cached: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @staticmethod
    def current() -> EvalContext:
        """The innermost context entered by this thread, or its default."""
        if thread.contexts:
            return thread.contexts[-1]
        plain = thread.plain_context
        return EvalContext.default() if plain is None or thread.devices else plain

    @staticmethod
    def default() -> EvalContext:
        """The context that this thread uses outside of all others."""
        device_id = Device.chosen().device_id
        context = thread.default_contexts.get(device_id)
        if context is None:
            context = thread.default_contexts[device_id] = EvalContext(device_id=device_id)
            context._stream = None
            context._follows = True
            if not thread.devices:
                thread.plain_context = context
        return context

    def companion(self) -> EvalContext:
        """A context for another thread: the same threads, device, stream and checkpoint."""
        other = EvalContext(device_id=self.device_id, thread_pool=self._thread_pool)
        other._device, other._stream, other._follows = self._device, self._stream, self._follows
        other._own_streams = self._own_streams
        other._checkpoint = self.checkpoint
        return other

    def for_steps(self) -> EvalContext:
        """A context for steps of a loop that run ahead: the same threads and device."""
        return EvalContext(device_id=self.device_id, thread_pool=self._thread_pool)

    if TYPE_CHECKING:

        def __enter__(self) -> EvalContext: ...
        def __exit__(self, *exc_info: object) -> None: ...

    else:

        @_kernels.two_phase
        def __enter__(self):
            me = threading.get_ident()
            steps = (thread.contexts.append, (self,)), (thread.devices.append, (self._device,))
            if _kernels.inside_call() and self._entered != me:
                # Part of a call of whoever has entered it.
                return self, steps, None
            if self._entered not in (None, me):
                msg = (
                    "EvalContext: a context cannot be active in two threads at once. Make another."
                )
                raise RuntimeError(msg)
            return self, ((setattr, (self, "_entered", me)), *steps), None

        __exit__ = _kernels.ContextExit(thread)

    def _leave(self, failed: bool) -> None:
        """Called when the thread has left the context; then others may enter it."""
        if not failed and self not in thread.contexts:
            self.evaluate_all()

    def evaluate_all(self) -> None:
        """Wait for all calls made in this context; deferred ones are run.

        Failures stay with the results that they concern.
        """
        deferred = list(self._deferred)
        for reference in deferred:
            invocation = reference()
            if invocation is None or invocation._context is not self:
                # Done, or going to be in another context.
                continue
            if thread.ahead is None:
                invocation.finish()
            else:
                invocation.prepare()
        del self._deferred[: len(deferred)]
        self.executor.queue.drain()

    def add_deferred(self, invocation: Invocation) -> None:
        """Remember a call that nothing has asked for yet."""
        if len(self._deferred) > self._tidy_at:
            self._deferred = [ref for ref in self._deferred if not _is_over(ref())]
            # Twice what is left: tidying up costs little for each call, however many are kept.
            self._tidy_at = 1000 + 2 * len(self._deferred)
        self._deferred.append(weakref.ref(invocation))

    def cache_results(self, invocation: Any, results: Any) -> None:
        """Remember results for as long as what they belong to exists.

        Parameters
        ----------
        invocation
            Any object that can be referred to weakly.
        results
            What `cached_results` returns for it from now on.
        """
        self._cached[invocation] = results

    def cached_results(self, invocation: Any) -> Any:
        """Return what `cache_results` was given for an object, or None.

        Parameters
        ----------
        invocation
            The object.
        """
        return self._cached.get(invocation)

    @property
    def native_pool(self) -> _kernels.ThreadPool:
        """The native threads that kernels run on."""
        pool = self._thread_pool
        return default_native_pool() if pool is None else pool.native

    @property
    def has_own_pool(self) -> bool:
        """Whether kernels run on other threads than the default pool's."""
        return self._thread_pool is not None

    @property
    def is_default(self) -> bool:
        """Whether this is what a thread uses outside of contexts."""
        return self._follows

    @property
    def thread_pool(self) -> ThreadPool:
        """The thread pool; without one of its own, the default pool's size in a new one."""
        if self._thread_pool is not None:
            return self._thread_pool
        pool = ThreadPool.__new__(ThreadPool)
        pool.native = default_native_pool()
        pool._device_id = self.device_id
        return pool

    @property
    def num_threads(self) -> int:
        """How many threads kernels use."""
        return self.native_pool.num_threads

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint of this context; see `checkpoint.current`."""
        if self._checkpoint is None:
            from .checkpoint import Checkpoint

            self._checkpoint = Checkpoint()
        return self._checkpoint

    @property
    def python_threads(self) -> PythonThreads:
        """The threads that functions written in Python run on: as many as kernels use."""
        threads, size = self._python_threads, self.num_threads
        if threads is None:
            threads = self._python_threads = PythonThreads(size)
            weakref.finalize(self, threads.stop)
        threads.size = size
        return threads

    @property
    def device_id(self) -> int | None:
        """The number of the accelerator; None without one."""
        return self._device.device_id

    @property
    def cuda_stream(self) -> Stream | None:
        """The stream for work on the accelerator; None without one.

        If none was chosen, it is one that the context has made for itself.
        """
        chosen = chosen_stream(self.device_id) if self._follows else self._stream
        if chosen is None and self.device_id is not None:
            return self._any_stream(self.device_id)
        return chosen

    def stream_for(self, device_id: int) -> Stream | None:
        """The stream chosen for work on an accelerator, if any."""
        own = self.device_id if self._stream is None else self._stream.device_id
        return chosen_stream(device_id) if self._follows or own != device_id else self._stream

    def own_stream(self, device_id: int) -> Stream | None:
        """The context's own stream for work on an accelerator; None if that has but one."""
        own = self._own_streams.get(device_id)
        if own is None and require_backend("EvalContext").queues.are_many:
            own = self._own_streams.setdefault(device_id, Stream(device_id=device_id))
        return own

    def _any_stream(self, device_id: int) -> Stream:
        """The context's own stream, or else the one that torch uses."""
        queues = require_backend("EvalContext").queues
        return self.own_stream(device_id) or Stream(queues.current(device_id), device_id)

    def __repr__(self) -> str:
        return f"EvalContext(num_threads={self.num_threads}, device={str(self._device)!r})"


def current_checkpoint() -> Checkpoint:
    """Return the checkpoint of the current `EvalContext`.

    It is always the same one outside of contexts: call its `clear` before another run.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.checkpoint.current() is ndd.EvalContext.current().checkpoint
    True
    """
    return EvalContext.current().checkpoint


def get_current_stream() -> Stream | None:
    """The stream for what this thread runs outside of contexts: see `set_current_stream` and
    `set_default_stream`. If none was chosen, that of the current accelerator; None without one.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.get_current_stream() is None
    True
    """
    context = EvalContext.default()
    found = context.cuda_stream
    if found is None and gpu_count():
        number = Device.default_device_id("gpu")
        assert number is not None
        return context._any_stream(number)
    return found


def _is_over(invocation: Invocation | None) -> bool:
    return invocation is None or invocation.done
