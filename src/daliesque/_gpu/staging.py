# SPDX-License-Identifier: Apache-2.0
"""Samples on their way from the host to a device."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.device import Device
from .._engine.dtype import bfloat16, from_code, uint16
from .accelerator import require_accelerator
from .groups import by_row, carrier
from .samples import DeviceSamples

# Bytes from which on it pays to copy by several threads.
_LARGE = 1 << 18
# Memory that readers fill, by its address.
_lent: dict[int, Staged] = {}


def from_host(samples: _kernels.Samples, device: Device, queue: Any) -> DeviceSamples:
    """A copy of samples in CPU memory, made by one transfer."""
    staged = _holding(samples)
    if staged is None:
        staged = Staged(samples.type_id, samples.shape_array(), samples.layout)
        staged.take(samples)
    return staged.upload(device, queue)


def lend(
    type_id: int, shapes: NDArray[np.int64], layout: str, device: Device
) -> _kernels.Samples | None:
    """Memory for samples that will be moved to a device; None if there is none to be had.

    If they are moved as a whole, they are not copied on the host.
    """
    queues = require_accelerator("DeviceSamples").queues
    try:
        with queues.on(device.device_id or 0):
            staged = Staged(type_id, shapes, layout)
    except RuntimeError:
        # Pinned memory is scarce.
        return None
    memory = staged.buffer.numpy()
    address = memory.ctypes.data
    _lent[address] = staged
    # What refers to any of it refers to this array.
    weakref.finalize(memory, _lent.pop, address, None)
    return staged.over(memory).as_internal()


def _holding(samples: _kernels.Samples) -> Staged | None:
    """The memory that was lent for just these samples."""
    if not _lent or len(samples) == 0 or not samples.contiguous:
        return None
    first = int(by_row(samples.shape_array())[0][0])
    staged = _lent.get(_address(samples, first))
    return staged if staged is not None and staged.holds(samples) else None


def _address(samples: _kernels.Samples, index: int) -> int:
    return int(to_numpy(samples, index).ctypes.data)


class Staged:
    """Memory of the host for samples that are to be uploaded by one transfer."""

    def __init__(self, type_id: int, shapes: NDArray[np.int64], layout: str) -> None:
        self._type_id = type_id
        self._kind = carrier(type_id)
        self._shapes = shapes
        self._layout = layout
        self.numbers = by_row(shapes)
        volume = int(shapes.prod(axis=1).sum())
        accelerator = require_accelerator("DeviceSamples")
        self.buffer = accelerator.staging(volume * from_code(type_id).bytes)

    @property
    def samples(self) -> _kernels.Samples:
        """The samples, to be filled in."""
        return self.over(self.buffer.numpy())

    def over(self, memory: NDArray[np.uint8]) -> _kernels.Samples:
        """The samples in an array of the memory."""
        return self._wrapped(memory, self._type_id)

    def holds(self, samples: _kernels.Samples) -> bool:
        """Whether these samples are in the memory, each where it belongs."""
        if samples.type_id != self._type_id or samples.layout != self._layout:
            return False
        if not np.array_equal(samples.shape_array(), self._shapes):
            return False
        own = self.samples
        return all(_address(samples, k) == _address(own, k) for k in range(len(own)))

    def _wrapped(self, memory: NDArray[np.uint8], type_id: int) -> _kernels.Samples:
        order = np.concatenate(self.numbers)
        volumes = self._shapes.prod(axis=1)
        ends = np.cumsum(volumes[order])
        values = memory.view(from_code(type_id).numpy)
        arrays: list[Any] = [None] * len(order)
        for index, end in zip(order.tolist(), ends.tolist(), strict=True):
            part = values[end - volumes[index] : end]
            arrays[index] = part.reshape(self._shapes[index])
        return _kernels.wrap_buffers(arrays, type_id, self._layout)

    def take(self, samples: _kernels.Samples) -> None:
        """Copy samples of the same shapes, large ones by the threads that kernels use."""
        if len(self.numbers) == 1 and samples.packed and samples.nbytes < _LARGE:
            whole = to_numpy(samples.stack_view())
            np.copyto(self.buffer.numpy().view(whole.dtype).reshape(whole.shape), whole)
            return
        if len(samples) == 0:
            return
        if not samples.contiguous:
            samples = samples.copy()
        # NumPy has no bfloat16.
        kind = uint16.code if self._type_id == bfloat16.code else self._type_id
        volumes = self._shapes.prod(axis=1)[:, None]
        # In one dimension, a sample is one block of memory.
        target = self._wrapped(self.buffer.numpy(), kind).reshape(volumes, "")
        _kernels.fill(target, samples.reinterpret(kind).reshape(volumes, ""))

    def upload(self, device: Device, queue: Any) -> DeviceSamples:
        """The samples on a device, in a queue."""
        accelerator = require_accelerator("DeviceSamples")
        flat = accelerator.upload(self.buffer, device.device_id or 0, queue).view(self._kind)
        return DeviceSamples.of_flat(
            flat, self.numbers, self._shapes, self._type_id, self._layout, device, queue
        )
