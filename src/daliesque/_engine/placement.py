# SPDX-License-Identifier: Apache-2.0
"""Where a call runs when data on an accelerator takes part, and how data gets there and back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .accelerator import require_accelerator
from .device import Device
from .dtype import DType

if TYPE_CHECKING:
    from .. import _kernels
    from .context import EvalContext


class Placement:
    """The device of a call's results, and the queue that its work goes into.

    The queue is chosen when the call is made, not when it runs: the one of the context, of the
    thread, of the device, or else the one that torch uses on the calling thread.
    """

    __slots__ = ("_accelerator", "_wait", "device", "queue")

    def __init__(self, device: Device, worker: Device, context: EvalContext, wait: bool) -> None:
        self.device = device
        self._accelerator = require_accelerator("device")
        assert worker.device_id is not None
        stream = context.stream_for(worker.device_id)
        if stream is None:
            self.queue = self._accelerator.queues.current(worker.device_id)
        else:
            self.queue = stream.queue
        self._wait = wait

    def run(self, body: Callable[..., Any], inputs: list[Any], arguments: dict[str, Any]) -> Any:
        """Run a body with its work in the queue, after the work that makes its inputs."""
        queues = self._accelerator.queues
        for samples in inputs:
            if is_on_device(samples):
                samples.make_ready(self.queue)
        outer, _local.placement = _local.placement, self
        try:
            with queues.active(self.queue):
                results = body(inputs, arguments)
        finally:
            _local.placement = outer
        for samples in results if isinstance(results, tuple) else (results,):
            if is_on_device(samples):
                samples.queue = self.queue
        if self._wait:
            queues.synchronize(self.queue)
        return results

    def upload(self, samples: _kernels.Samples) -> Any:
        """A copy of samples on the device, made by one transfer."""
        # torch is not loaded before somebody asks for an accelerator.
        from .device_samples import DeviceSamples

        return DeviceSamples.from_host(samples, self.device, self.queue)


class _Local(threading.local):
    placement: Placement | None = None


_local = _Local()


def is_on_device(samples: object) -> bool:
    """Whether samples are on an accelerator."""
    return hasattr(samples, "make_ready")


def host(samples: Any) -> Any:
    """Samples in CPU memory, for what must be read there; waits for the device."""
    return samples.to_host() if is_on_device(samples) else samples


def current_placement() -> Placement:
    """Where the call that this thread is inside of runs."""
    placement = _local.placement
    assert placement is not None
    return placement


def is_inside_call() -> bool:
    """Whether this thread runs a call that has a queue."""
    return _local.placement is not None


def on_device(samples: Any) -> Any:
    """Samples as samples on the device of the call that is running."""
    return samples if is_on_device(samples) else current_placement().upload(samples)


def import_array(data: Any, where: str) -> Any:
    """One sample over the memory of an array that is on an accelerator."""
    accelerator = require_accelerator(where)
    import torch

    from .device_samples import DeviceSamples

    if isinstance(data, torch.Tensor):
        tensor = data
    elif hasattr(data, "__dlpack__"):
        # Lets the producer make its data ready for the stream that torch uses here.
        tensor = torch.utils.dlpack.from_dlpack(data)
    else:
        tensor = torch.as_tensor(data)
    device = Device("gpu", tensor.device.index or 0)
    queue = accelerator.queues.current(device.device_id or 0)
    if not hasattr(data, "__dlpack__"):
        # The stream that makes the data, if its producer wants others to wait for it.
        producer = data.__cuda_array_interface__.get("stream")
        if producer is not None:
            made = accelerator.queues.wrap(int(producer), device.device_id or 0)
            accelerator.queues.wait_for(queue, accelerator.queues.mark(made))
    return DeviceSamples.from_torch(tensor, DType.from_fw_type(tensor.dtype), device, queue)


def export_array(samples: Any) -> Any:
    """The only sample, or all as one, as a torch tensor that torch's current stream may use."""
    queues = require_accelerator("torch").queues
    samples.make_ready(queues.current(samples.device.device_id))
    return samples.exported()


def export_interface(samples: Any) -> dict[str, Any]:
    """The CUDA array interface of the only sample, with the stream that others have to wait for."""
    described: dict[str, Any] = dict(export_array(samples).__cuda_array_interface__)
    queues = require_accelerator("__cuda_array_interface__").queues
    handle = queues.handle(queues.current(samples.device.device_id))
    # The protocol has the number 1 for the default stream, whose handle is 0.
    return {**described, "version": 3, "stream": handle or 1}


def move(inputs: list[Any], arguments: dict[str, Any]) -> Any:
    """The body of calls that copy data to another device."""
    (samples,) = inputs
    device: Device = arguments["device"]
    if device.device_type == "cpu":
        return samples.to_host() if is_on_device(samples) else samples.copy()
    if not is_on_device(samples):
        return on_device(samples)
    return samples.copy() if samples.device == device else samples.moved(device)


def common_gpu(name: str, values: tuple[Any, ...] | list[Any]) -> Device | None:
    """The accelerator that some of the values are on, None if all are in CPU memory."""
    found: Device | None = None
    for value in values:
        device = getattr(value, "device", None)
        if isinstance(device, Device) and device.device_type == "gpu":
            if found is not None and device != found:
                msg = (
                    f"{name}: the inputs are on different devices, {str(found)!r} and "
                    f"{str(device)!r}. Move one of them with .gpu({device.device_id})."
                )
                raise ValueError(msg)
            found = device
    return found
