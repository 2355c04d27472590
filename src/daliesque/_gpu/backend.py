# SPDX-License-Identifier: Apache-2.0
"""The backend as the engine sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._engine.device import Device
from .._engine.devices import Backend, DeviceBody
from .._engine.samples import Kernels, Samples
from .._engine.spec import OpSpec
from .._engine.stream import Stream
from .accelerator import Accelerator
from .kernels import table
from .operators import body_of
from .placement import (
    TorchPlacement,
    device_samples,
    export_array,
    export_capsule,
    export_interface,
    import_array,
    on_device,
)
from .staging import lend

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from .. import _kernels


class TorchBackend(Accelerator):
    """The accelerators that torch drives on this machine."""

    @property
    def kernels(self) -> Kernels:
        """The functions for data on the devices."""
        return table

    def body_of(self, operator: OpSpec) -> DeviceBody | None:
        """What runs an operator on the devices; None if nothing does."""
        return body_of(operator)

    def placement(
        self, device: Device, worker: Device, stream: Stream | None, is_chosen: bool, wait: bool
    ) -> TorchPlacement:
        """Where a call runs whose results are on `device`, and whose work is done by `worker`."""
        assert worker.device_id is not None
        if stream is None:
            queue = self.queues.current(worker.device_id)
        else:
            queue = stream.queue
        return TorchPlacement(self, device, worker, queue, is_chosen, wait)

    def on_device(self, samples: Samples) -> Samples:
        """Samples on the device of the call that this thread is running."""
        return on_device(samples)

    def move(self, samples: Samples, device: Device) -> Samples:
        """A copy on a device, inside of a call."""
        if not samples.is_on_device:
            return on_device(samples)
        source = device_samples(samples)
        return source.copy() if source.device == device else source.moved(device)

    def lend(
        self, type_id: int, shapes: NDArray[np.int64], layout: str, device: Device
    ) -> _kernels.Samples | None:
        """Memory for samples that will be moved to a device; None if there is none to be had."""
        return lend(type_id, shapes, layout, device)

    def import_array(self, data: Any) -> Samples:
        """One sample over the memory of an array that is on a device."""
        return import_array(self, data)

    def export_array(self, samples: Samples) -> torch.Tensor:
        """The only sample as a tensor that torch's current stream may use."""
        return export_array(self, device_samples(samples))

    def export_capsule(self, samples: Samples, **options: Any) -> Any:
        """The only sample as a capsule of DLPack, with the options of `__dlpack__`."""
        return export_capsule(self, device_samples(samples), options)

    def export_interface(self, samples: Samples) -> dict[str, Any]:
        """The CUDA array interface of the only sample."""
        return export_interface(self, device_samples(samples))


if TYPE_CHECKING:
    _is_a_backend: type[Backend] = TorchBackend
