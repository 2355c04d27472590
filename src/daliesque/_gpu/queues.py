# SPDX-License-Identifier: Apache-2.0
"""Queues of work of the backends of torch: what CUDA calls streams."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from .. import _kernels
from .._engine.devices import Queues as EngineQueues
from .._engine.stream import torch_handle

# Numbers that stand for a stream in CUDA: the default one (0 in DLPack of ROCm, 1 in that of CUDA
# and in the CUDA array interface), and the one that each thread has for itself.
_DEFAULT = (0, 1)
_PER_THREAD = 2


class Queues(EngineQueues, Protocol):
    """What kernels and transfers need of queues, besides what the engine does."""

    def mark(self, queue: Any) -> Any:
        """An event that occurs when all work put into the queue so far is done."""

    def has_occurred(self, event: Any) -> bool:
        """Whether an event has occurred."""

    def wait_for(self, queue: Any, event: Any) -> None:
        """Later work in the queue waits for the event; the caller does not."""

    def use(self, queue: Any, tensor: Any) -> None:
        """Memory of the tensor is not given to others before the queue is done with it."""

    def timestamp(self, queue: Any) -> Callable[[], int]:
        """When all work put into the queue so far is done: asks for it, waiting if need be.

        In nanoseconds of `_kernels.clock_now`.
        """

    def on(self, device_id: int) -> contextlib.AbstractContextManager[Any]:
        """Inside, a device is the one that torch uses on this thread."""


class TorchQueues:
    """The streams of a backend of torch that has them: CUDA, ROCm, XPU."""

    is_thread_safe = True
    are_many = True

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self._bases: dict[str, tuple[Any, int]] = {}

    def make(self, device_id: int) -> Any:
        return self._backend.Stream(device=device_id)

    def wrap(self, handle: int, device_id: int, owner: Any = None) -> Any:
        if handle in (*_DEFAULT, _PER_THREAD):
            default = getattr(self._backend, "default_stream", None)
            if handle == _PER_THREAD or default is None:
                msg = (
                    f"Stream: the handle {handle} does not stand for one stream on this "
                    "accelerator. Pass the handle of a stream, or a torch stream."
                )
                raise RuntimeError(msg)
            return default(device_id)
        for name in ("get_stream_from_external", "ExternalStream"):
            external = getattr(self._backend, name, None)
            if external is not None:
                queue = external(handle, device=device_id)
                # The stream lives as long as any data that was made in it.
                queue.owner = owner
                return queue
        msg = "Stream: raw handles cannot be wrapped on this accelerator. Pass a torch stream."
        raise RuntimeError(msg)

    def accepts(self, queue: Any) -> bool:
        return isinstance(queue, self._backend.Stream)

    def current(self, device_id: int) -> Any:
        return self._backend.current_stream(device_id)

    def handle(self, queue: Any) -> int:
        known = torch_handle(queue)
        return id(queue) if known is None else known

    def on(self, device_id: int) -> contextlib.AbstractContextManager[Any]:
        entered: contextlib.AbstractContextManager[Any] = self._backend.device(device_id)
        return entered

    @contextlib.contextmanager
    def active(self, queue: Any) -> Iterator[Any]:
        # The device first: leaving a stream of another device sets the device that was current
        # before, and CUDA then makes a context there, of hundreds of megabytes. New threads are on
        # device 0, and each process of a distributed training would make one.
        with self.on(queue.device.index), self._backend.stream(queue):
            yield queue

    def mark(self, queue: Any) -> Any:
        event = self._backend.Event()
        event.record(queue)
        return event

    def has_occurred(self, event: Any) -> bool:
        return bool(event.query())

    def wait_for(self, queue: Any, event: Any) -> None:
        queue.wait_event(event)

    def use(self, queue: Any, tensor: Any) -> None:
        tensor.record_stream(queue)

    def timestamp(self, queue: Any) -> Callable[[], int]:
        base, moment = self._base(queue)
        event = self._backend.Event(enable_timing=True)
        event.record(queue)

        def ask() -> int:
            event.synchronize()
            return moment + round(float(base.elapsed_time(event)) * 1e6)

        return ask

    def _base(self, queue: Any) -> tuple[Any, int]:
        """An event of the queue's device that has occurred, and when that was."""
        device = str(queue.device)
        if device not in self._bases:
            event = self._backend.Event(enable_timing=True)
            event.record(queue)
            event.synchronize()
            self._bases[device] = event, _kernels.clock_now()
        return self._bases[device]

    def synchronize(self, queue: Any) -> None:
        queue.synchronize()


class _OnlyQueue(NamedTuple):
    device_id: int
    handle: int


class SingleQueue:
    """For backends with one queue, in which everything happens in order: MPS, and the CPU."""

    are_many = False

    def __init__(self, backend: Any) -> None:
        self._synchronize = getattr(backend, "synchronize", None)
        self._event = getattr(backend, "Event", None)
        self._names = iter(range(1, 2**62))
        # Metal's commands of two threads get into each other's way, up to crashes.
        self.is_thread_safe = backend is None

    def make(self, device_id: int) -> Any:
        return _OnlyQueue(device_id, next(self._names))

    def wrap(self, handle: int, device_id: int, owner: Any = None) -> Any:
        del owner
        return _OnlyQueue(device_id, handle)

    def accepts(self, queue: Any) -> bool:
        return isinstance(queue, _OnlyQueue)

    def current(self, device_id: int) -> Any:
        return _OnlyQueue(device_id, 0)

    def handle(self, queue: Any) -> int:
        return int(queue.handle)

    def on(self, device_id: int) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext(device_id)

    def active(self, queue: Any) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext(queue)

    def mark(self, queue: Any) -> Any:
        if self._event is None:
            return queue
        event = self._event()
        event.record()
        return event

    def has_occurred(self, event: Any) -> bool:
        # Without events, there is nothing that goes on in the background.
        return self._event is None or bool(event.query())

    def wait_for(self, queue: Any, event: Any) -> None:
        del queue, event

    def use(self, queue: Any, tensor: Any) -> None:
        del queue, tensor

    def timestamp(self, queue: Any) -> Callable[[], int]:
        # When the work is put there: for the CPU, that is when it is done.
        del queue
        now = _kernels.clock_now()
        return lambda: now

    def synchronize(self, queue: Any) -> None:
        del queue
        if self._synchronize is not None:
            self._synchronize()
