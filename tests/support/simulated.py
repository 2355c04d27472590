# SPDX-License-Identifier: Apache-2.0
"""A simulated accelerator of any kind: strict about what real ones refuse.

The stand-in of the library keeps device data in tensors of torch's CPU device, so it cannot
distinguish them from tensors of the host. Here, device data are tensors of a class of their own,
which say that they are on "cuda", "xpu" or "mps", compute on the CPU inside, and refuse what the
real device would: company of host tensors, NumPy, work outside of a queue, and on Metal double
precision. All operations are recorded with the types of their tensors, and so is what the host
reads. A hollow one has no data at all, only shapes: it counts what is asked of it.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map

from daliesque._gpu.backend import TorchBackend
from daliesque._gpu.queues import SingleQueue

CPU = torch.device("cpu")
# Only these may see tensors of both sides.
TRANSFERS = {"_to_copy", "copy_", "lift_fresh"}
# These only show memory in another way.
VIEWS = {
    "_unsafe_view",
    "alias",
    "detach",
    "expand",
    "permute",
    "select",
    "slice",
    "transpose",
    "unbind",
    "unsqueeze",
    "view",
}
# These only reserve memory.
ALLOCATIONS = {"empty", "empty_like", "empty_strided", "new_empty"}
# What these give depends on values, for which the host waits.
WAITING = {"_local_scalar_dense", "nonzero", "masked_select", "unique", "_unique2", "equal"}


class DeviceTensor(torch.Tensor):
    """A tensor that is on a simulated device."""

    inner: torch.Tensor
    _device: torch.device
    journal: Journal

    # torch must not look for a driver of the device: to itself, this tensor is without memory.
    @staticmethod
    def __new__(cls, inner: torch.Tensor, device: torch.device, journal: Journal) -> DeviceTensor:
        made: DeviceTensor = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device="meta",
        )
        made.inner, made._device, made.journal = inner, device, journal
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self._device

    def data_ptr(self) -> int:
        return self.inner.data_ptr()

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        del types
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, cls)]
        return carry_out(tensors[0].journal, function, args, kwargs or {})

    __torch_function__ = torch._C._disabled_torch_function_impl


class Journal:
    """What was done on a simulated device."""

    def __init__(self, device: torch.device, is_hollow: bool = False) -> None:
        self.device = device
        self.is_hollow = is_hollow
        # Names of operations with the types of the tensors that they saw or made.
        self.operations: set[tuple[str, torch.dtype]] = set()
        self.reads: list[str] = []
        # How many operations there were that do more than to make a view.
        self.work = 0
        # Kernels that were launched, copies from the host, their bytes, and those from pageable
        # memory.
        self.launches: list[str] = []
        self.uploads = 0
        self.uploaded = 0
        self.pageable = 0
        self.largest_pageable = 0
        # Pinned memory, by address.
        self.pinned: dict[int, torch.Tensor] = {}

    def count(self, name: str, source: torch.Tensor | None) -> None:
        """Note a launch, or a copy from host memory."""
        if source is not None:
            self.uploads += 1
            self.uploaded += source.nbytes
            if source.untyped_storage().data_ptr() not in self.pinned:
                self.pageable += source.nbytes
                self.largest_pageable = max(self.largest_pageable, source.nbytes)
        elif name not in VIEWS and name not in ALLOCATIONS:
            self.launches.append(name)

    def is_own(self, device: Any) -> bool:
        return device is not None and torch.device(device).type in (self.device.type, "meta")

    def note(self, name: str, tensors: list[DeviceTensor]) -> None:
        self.work += name not in VIEWS
        for tensor in tensors:
            if self.device.type == "mps" and tensor.dtype in (torch.float64, torch.complex128):
                msg = f"{name}: Metal has no double precision"
                raise TypeError(msg)
            self.operations.add((name, tensor.dtype))


def carry_out(journal: Journal, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Do an operation on the CPU as if it happened on the device."""
    name = function.overloadpacket.__name__
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    own = [tensor for tensor in tensors if isinstance(tensor, DeviceTensor)]
    there = kwargs.get("device")
    target = CPU if not own else own[0].device
    if there is not None:
        target = torch.device(there)
        if journal.is_own(target):
            target = torch.device(journal.device.type, target.index or 0)
    _check_company(name, tensors, own)
    if target.type != "cpu":
        _check_waiting(journal, name, args, own)
    into_host = name == "copy_" and not isinstance(args[0], DeviceTensor)
    if own and (target.type == "cpu" or into_host):
        journal.reads.append(name)
    where = CPU if target.type == "cpu" or not journal.is_hollow else torch.device("meta")
    plain = {key: where if key == "device" else value for key, value in kwargs.items()}
    inner = functools.partial(_inner, where)
    made = function(*tree_map(inner, args), **tree_map(inner, plain))
    if target.type == "cpu":
        return made
    hosts = [tensor for tensor in tensors if not isinstance(tensor, DeviceTensor) and tensor.ndim]
    journal.count(name, hosts[0] if name in TRANSFERS and hosts else None)

    def wrapped(result: Any) -> Any:
        return DeviceTensor(result, target, journal) if isinstance(result, torch.Tensor) else result

    results = tree_map(wrapped, made)
    found = [leaf for leaf in tree_leaves(results) if isinstance(leaf, DeviceTensor)]
    journal.note(name, own + found)
    return return_and_correct_aliasing(function, args, kwargs, results) if own else results


def _inner(where: torch.device, value: Any) -> Any:
    """What is computed with: for a device without data, the shape alone."""
    if isinstance(value, DeviceTensor):
        return value.inner
    if where.type == "meta" and isinstance(value, torch.Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=where)
    return value


def _check_company(name: str, tensors: list[Any], own: list[DeviceTensor]) -> None:
    """Numbers may come from the host, everything else must be moved first."""
    if name in TRANSFERS or not own:
        return
    devices = {tensor.device for tensor in own}
    devices |= {tensor.device for tensor in tensors if tensor.ndim}
    if len(devices) > 1:
        msg = f"{name}: Expected all tensors to be on the same device; found {devices}"
        raise RuntimeError(msg)


def _check_waiting(journal: Journal, name: str, args: Any, own: list[DeviceTensor]) -> None:
    masked = name in ("index", "index_put", "index_put_") and any(
        isinstance(leaf, torch.Tensor) and leaf.dtype in (torch.bool, torch.uint8)
        for leaf in tree_leaves(args[1])
    )
    if own and (name in WAITING or masked):
        journal.reads.append(name)


class Mode(TorchDispatchMode):
    """Gives out tensors of the device, and takes part in their operations."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        del types
        return carry_out(self._journal, function, args, kwargs or {})


class _Queues(SingleQueue):
    """One queue. Outside of it, torch knows nothing of the device."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(None)
        self._journal = journal
        self._inside = threading.local()

    @contextlib.contextmanager
    def active(self, queue: Any) -> Iterator[Any]:
        if getattr(self._inside, "entered", False):
            yield queue
            return
        self._inside.entered = True
        try:
            with Mode(self._journal):
                yield queue
        finally:
            self._inside.entered = False


class SimulatedAccelerator(TorchBackend):
    """Two devices of a kind."""

    def __init__(self, kind: str, is_hollow: bool = False) -> None:
        self.journal = Journal(torch.device(kind, 0), is_hollow)
        super().__init__(kind, 2, _Queues(self.journal))
        self._pins = False
        self.selected = 0

    def staging(self, count: int) -> Any:
        buffer = super().staging(max(count, 1))
        if self.kind != "mps":
            self.journal.pinned[buffer.untyped_storage().data_ptr()] = buffer
        return buffer[:count]

    def current_id(self) -> int:
        return self.selected

    def download(self, tensor: Any, queue: Any) -> Any:
        self.journal.reads.append("download")
        return super().download(tensor, queue)
