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
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.devices import require_backend
from .queues import Queues, SingleQueue, TorchQueues

VARIABLE = "DALIESQUE_GPU"
# How many devices torch's CPU device stands in for, unless the variable says it.
_STAND_INS = 2
# Bytes of parameters that go to a device as a part of a command, and how many sets are kept there.
_SMALL = 4096
_MOST_CONSTANTS = 256
# Bytes of a result on the host that may stay in pinned memory.
_MOST_PINNED = 1 << 20
# Of what arrays that are uploaded together are a multiple of.
_ALIGNMENT = 16
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
        # Tensors of parameters, by device, queue and contents.
        self._constants: OrderedDict[Any, list[Any]] = OrderedDict()
        # By device.
        self._copy_queues: dict[int, Any] = {}
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

    def upload(self, buffer: Any, device_id: int, queue: Any) -> Any:
        """Copy staging memory to a device, for use in a queue; the copy may still be under way.

        Where copies are asynchronous, they have a queue of their own: they go on while the device
        does what it was asked for before, and only what uses the data waits for them.
        """
        device = self.torch_device(device_id)
        if self._pins and self.queues.are_many:
            copies = self._copy_queue(device_id)
            with self.queues.active(copies):
                moved = buffer.to(device, non_blocking=True)
            self.queues.wait_for(queue, self.queues.mark(copies))
            self.queues.use(queue, moved)
            return moved
        moved = buffer.to(device, non_blocking=True)
        if self._reads_later:
            self._keep(buffer, queue)
        return moved

    def _copy_queue(self, device_id: int) -> Any:
        with self._lock:
            if device_id not in self._copy_queues:
                self._copy_queues[device_id] = self.queues.make(device_id)
            return self._copy_queues[device_id]

    def upload_arrays(self, arrays: Sequence[NDArray[Any]], device: Any) -> list[Any]:
        """NumPy arrays as tensors on a device, by one transfer in the current queue.

        Small ones are part of the command that copies them, and are kept: many are the same in each
        step of a training. For larger ones in pageable memory, the host would have to wait.
        """
        queue = self.queues.current(device.index or 0)
        begins, count = [], 0
        for array in arrays:
            begins.append(count)
            count += (array.nbytes + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
        if count > _SMALL:
            return self._uploaded(self.staging(count), arrays, begins, device, queue)
        contents = tuple((array.dtype.str, array.shape, array.tobytes()) for array in arrays)
        key = (device, self.queues.handle(queue), contents)
        with self._lock:
            known = self._constants.get(key)
            if known is not None:
                self._constants.move_to_end(key)
                return known
        moved = self._uploaded(_pageable(count), arrays, begins, device, queue)
        with self._lock:
            self._constants[key] = moved
            while len(self._constants) > _MOST_CONSTANTS:
                self._constants.popitem(last=False)
        return moved

    def _uploaded(
        self,
        buffer: Any,
        arrays: Sequence[NDArray[Any]],
        begins: list[int],
        device: Any,
        queue: Any,
    ) -> list[Any]:
        host = buffer.numpy()
        for array, begin in zip(arrays, begins, strict=True):
            part = host[begin : begin + array.nbytes]
            part.view(array.dtype).reshape(array.shape)[...] = array
        moved = buffer.to(device, non_blocking=True)
        if self._reads_later:
            self._keep(buffer, queue)
        return [
            moved[begin : begin + array.nbytes].view(_torch_type(array.dtype)).reshape(array.shape)
            for array, begin in zip(arrays, begins, strict=True)
        ]

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
        # The user may keep it for long, and pinned memory is scarce.
        return target.clone() if self._pins and tensor.nbytes > _MOST_PINNED else target


@functools.cache
def _torch_type(dtype: np.dtype[Any]) -> Any:
    import torch

    return torch.from_numpy(np.empty(0, dtype)).dtype


def _pageable(count: int) -> Any:
    """Plain host memory, as a torch tensor of uint8."""
    import torch

    return torch.empty(count, dtype=torch.uint8, device="cpu")


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
