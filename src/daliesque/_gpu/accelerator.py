# SPDX-License-Identifier: Apache-2.0
"""Accelerators, as PyTorch drives them: which there are, their queues of work, transfers.

torch is imported when somebody asks for a gpu, never before. `DALIESQUE_GPU=cpu` in the
environment lets torch's CPU device stand in for one: the same code runs, on other memory.
`DALIESQUE_GPU=cpu:4` makes four of them.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from .._engine.devices import Queues as EngineQueues
from .._engine.devices import require_backend
from .._engine.stream import torch_handle

VARIABLE = "DALIESQUE_GPU"
# How many devices torch's CPU device stands in for, unless the variable says it.
_STAND_INS = 2


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


class TorchQueues:
    """The streams of a backend of torch that has them: CUDA, ROCm, XPU."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def make(self, device_id: int) -> Any:
        return self._backend.Stream(device=device_id)

    def wrap(self, handle: int, device_id: int) -> Any:
        for name in ("get_stream_from_external", "ExternalStream"):
            external = getattr(self._backend, name, None)
            if external is not None:
                return external(handle, device=device_id)
        msg = "Stream: raw handles cannot be wrapped on this accelerator. Pass a torch stream."
        raise RuntimeError(msg)

    def accepts(self, queue: Any) -> bool:
        return isinstance(queue, self._backend.Stream)

    def current(self, device_id: int) -> Any:
        return self._backend.current_stream(device_id)

    def handle(self, queue: Any) -> int:
        known = torch_handle(queue)
        return id(queue) if known is None else known

    def active(self, queue: Any) -> contextlib.AbstractContextManager[Any]:
        entered: contextlib.AbstractContextManager[Any] = self._backend.stream(queue)
        return entered

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

    def synchronize(self, queue: Any) -> None:
        queue.synchronize()


class _OnlyQueue(NamedTuple):
    device_id: int
    handle: int


class SingleQueue:
    """For backends with one queue, in which everything happens in order: MPS, and the CPU."""

    def __init__(self, backend: Any) -> None:
        self._synchronize = getattr(backend, "synchronize", None)
        self._event = getattr(backend, "Event", None)
        self._names = iter(range(1, 2**62))

    def make(self, device_id: int) -> Any:
        return _OnlyQueue(device_id, next(self._names))

    def wrap(self, handle: int, device_id: int) -> Any:
        return _OnlyQueue(device_id, handle)

    def accepts(self, queue: Any) -> bool:
        return isinstance(queue, _OnlyQueue)

    def current(self, device_id: int) -> Any:
        return _OnlyQueue(device_id, 0)

    def handle(self, queue: Any) -> int:
        return int(queue.handle)

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

    def synchronize(self, queue: Any) -> None:
        del queue
        if self._synchronize is not None:
            self._synchronize()


class Accelerator:
    """A kind of accelerator: torch's name for it, how many there are, its queues."""

    def __init__(self, kind: str, count: int, queues: Queues) -> None:
        self.kind = kind
        self.count = count
        self.queues = queues
        # Pinned memory is what asynchronous copies read from; only these backends have it.
        self._pins = kind in ("cuda", "xpu")
        # These copy pageable memory before they return; Metal reads from it later.
        self._reads_at_once = kind != "mps"
        self._in_flight: deque[tuple[Any, Any]] = deque()
        self._lock = threading.Lock()

    def torch_device(self, device_id: int | None) -> Any:
        """torch's name of a device; without a number, of the current one."""
        import torch

        if device_id is None or self.kind == "cpu":
            return torch.device(self.kind)
        return torch.device(self.kind, device_id)

    def current_id(self) -> int:
        """The number of the device that torch uses on this thread."""
        backend = getattr(importlib.import_module("torch"), self.kind, None)
        find = getattr(backend, "current_device", None)
        # The CPU, which stands in, and Metal have nothing to choose.
        return int(find()) if find is not None and self.kind != "cpu" else 0

    @functools.cached_property
    def has_double(self) -> bool:
        """Whether there is double precision: not on Metal, nor on all devices of Intel."""
        if self.kind == "mps":
            return False
        if self.kind != "xpu":
            return True
        properties = importlib.import_module("torch").xpu.get_device_properties
        return all(properties(number).has_fp64 for number in range(self.count))

    @contextlib.contextmanager
    def working(self, queue: Any) -> Iterator[None]:
        """Inside, torch puts its work into the queue, and does what it is asked to do.

        Calls run on whoever waits for them: neither the types nor the kind of tensors that a
        program has chosen for its own work (autocast, inference mode) may reach them.
        """
        import torch

        with contextlib.ExitStack() as states:
            if torch.is_inference_mode_enabled():
                states.enter_context(torch.inference_mode(False))
            if torch.is_autocast_enabled(self.kind):
                states.enter_context(torch.autocast(self.kind, enabled=False))
            states.enter_context(self.queues.active(queue))
            yield

    def staging(self, count: int) -> Any:
        """Host memory of `count` bytes for a transfer, as a torch tensor of uint8."""
        import torch

        return torch.empty(count, dtype=torch.uint8, device="cpu", pin_memory=self._pins)

    def upload(self, buffer: Any, device_id: int | None, queue: Any) -> Any:
        """Copy staging memory to a device, in a queue; the copy may still be under way."""
        moved = buffer.to(self.torch_device(device_id), non_blocking=True)
        self._keep(buffer, queue)
        return moved

    def upload_array(self, array: Any, device: Any) -> Any:
        """A small NumPy array, which nobody changes later, as a tensor on a device."""
        import torch

        source = torch.from_numpy(array)
        moved = source.to(device, non_blocking=True)
        if not self._reads_at_once:
            self._keep(source, self.queues.current(device.index or 0))
        return moved

    def _keep(self, buffer: Any, queue: Any) -> None:
        """Hold on to memory until the work in the queue that uses it is done."""
        event = self.queues.mark(queue)
        with self._lock:
            self._in_flight.append((event, buffer))
            while self._in_flight and self.queues.has_occurred(self._in_flight[0][0]):
                self._in_flight.popleft()

    def download(self, tensor: Any, queue: Any) -> Any:
        """Copy a tensor to the host, and wait for it."""
        import torch

        target = torch.empty(
            tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=self._pins
        )
        target.copy_(tensor, non_blocking=True)
        self.queues.synchronize(queue)
        return target


@dataclass(frozen=True)
class Kind:
    """A kind of accelerator: torch's name for it, how many there are, its queues."""

    name: str
    count: int
    queues: Queues


def find_kind() -> Kind | str:
    """The accelerators of this machine, or the reason why there are none."""
    choice = os.environ.get(VARIABLE, "")
    stand_ins = re.fullmatch(r"cpu(?::([1-9][0-9]?))?", choice)
    if choice and stand_ins is None:
        return f"{VARIABLE} must be unset or 'cpu' or 'cpu:<number of devices>'; got {choice!r}"
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError:
        return "PyTorch, which drives accelerators, is not installed (pip install torch)"
    if stand_ins is not None:
        return Kind("cpu", int(stand_ins[1] or _STAND_INS), SingleQueue(None))
    generic = getattr(torch, "accelerator", None)
    if generic is not None and generic.is_available():
        kind = str(generic.current_accelerator().type)
        count = int(generic.device_count())
    elif torch.cuda.is_available():
        kind, count = "cuda", int(torch.cuda.device_count())
    else:
        return "no accelerator was found on this machine"
    backend = getattr(torch, kind, None)
    has_streams = kind in ("cuda", "xpu")
    return Kind(kind, count, TorchQueues(backend) if has_streams else SingleQueue(backend))


def require_accelerator(where: str) -> Accelerator:
    """The accelerator that the backend drives; raises RuntimeError if there is none."""
    found = require_backend(where)
    assert isinstance(found, Accelerator)
    return found
