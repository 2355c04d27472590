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
from typing import Any

from .._engine.devices import require_backend
from .queues import Queues, SingleQueue, TorchQueues

VARIABLE = "DALIESQUE_GPU"
# How many devices torch's CPU device stands in for, unless the variable says it.
_STAND_INS = 2
# Kinds of accelerators by torch's names, and whether they have streams. The order of work on others
# could not be kept.
_HAS_STREAMS = {"cuda": True, "xpu": True, "mps": False}


class Accelerator:
    """A kind of accelerator: torch's name for it, how many there are, its queues."""

    def __init__(self, kind: str, count: int, queues: Queues) -> None:
        self.kind = kind
        self.count = count
        self.queues = queues
        # Pinned memory is what asynchronous copies read from; only these backends have it.
        self._pins = kind in ("cuda", "xpu")
        # Metal reads host memory later. Others have copied pageable memory when a call returns, and
        # torch keeps pinned memory until the copy from it is done.
        self._reads_later = kind == "mps"
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
    def plain_state(self) -> Iterator[None]:
        """Inside, torch does what it is asked to do.

        Calls run on whoever waits for them: neither the types nor the kind of tensors that a
        program has chosen for its own work (autocast, inference mode) may reach them.
        """
        import torch

        with contextlib.ExitStack() as states:
            if torch.is_inference_mode_enabled():
                states.enter_context(torch.inference_mode(False))
            if torch.is_autocast_enabled(self.kind):
                states.enter_context(torch.autocast(self.kind, enabled=False))
            yield

    @contextlib.contextmanager
    def working(self, queue: Any) -> Iterator[None]:
        """Inside, torch puts its work into the queue, and does what it is asked to do."""
        with self.plain_state(), self.queues.active(queue):
            yield

    def staging(self, count: int) -> Any:
        """Host memory of `count` bytes for a transfer, as a torch tensor of uint8."""
        import torch

        return torch.empty(count, dtype=torch.uint8, device="cpu", pin_memory=self._pins)

    def upload(self, buffer: Any, device_id: int | None, queue: Any) -> Any:
        """Copy staging memory to a device, in a queue; the copy may still be under way."""
        moved = buffer.to(self.torch_device(device_id), non_blocking=True)
        if self._reads_later:
            self._keep(buffer, queue)
        return moved

    def upload_array(self, array: Any, device: Any) -> Any:
        """A small NumPy array, which nobody changes later, as a tensor on a device."""
        import torch

        source = torch.from_numpy(array)
        moved = source.to(device, non_blocking=True)
        if self._reads_later:
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
        target = self.staging(tensor.nbytes).view(tensor.dtype).reshape(tensor.shape)
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
    if kind not in _HAS_STREAMS:
        return f"the accelerator {kind!r} is not one of those that are supported: CUDA, XPU, Metal"
    backend = getattr(torch, kind)
    queues = TorchQueues(backend) if _HAS_STREAMS[kind] else SingleQueue(backend)
    return Kind(kind, count, queues)


def require_accelerator(where: str) -> Accelerator:
    """The accelerator that the backend drives; raises RuntimeError if there is none."""
    found = require_backend(where)
    assert isinstance(found, Accelerator)
    return found
