# SPDX-License-Identifier: Apache-2.0
"""Samples on their way from the host to a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.device import Device
from .._engine.dtype import from_code
from .accelerator import require_accelerator
from .groups import by_row, carrier, fill_staging
from .samples import DeviceSamples


def from_host(samples: _kernels.Samples, device: Device, queue: Any) -> DeviceSamples:
    """A copy of samples in CPU memory, made by one transfer."""
    staged = Staged(samples.type_id, samples.shape_array(), samples.layout)
    fill_staging(staged.buffer.numpy(), samples, staged.numbers)
    return staged.upload(device, queue)


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
        order = np.concatenate(self.numbers)
        volumes = self._shapes.prod(axis=1)
        ends = np.cumsum(volumes[order])
        values = self.buffer.numpy().view(from_code(self._type_id).numpy)
        arrays: list[Any] = [None] * len(order)
        for index, end in zip(order.tolist(), ends.tolist(), strict=True):
            part = values[end - volumes[index] : end]
            arrays[index] = part.reshape(self._shapes[index])
        return _kernels.wrap_buffers(arrays, self._type_id, self._layout)

    def upload(self, device: Device, queue: Any) -> DeviceSamples:
        """The samples on a device, in a queue."""
        accelerator = require_accelerator("DeviceSamples")
        flat = accelerator.upload(self.buffer, device.device_id or 0, queue).view(self._kind)
        return DeviceSamples.of_flat(
            flat, self.numbers, self._shapes, self._type_id, self._layout, device, queue
        )
