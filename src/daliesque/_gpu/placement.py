# SPDX-License-Identifier: Apache-2.0
"""Where a call runs when data on an accelerator takes part, and how data gets there and back."""

from __future__ import annotations

from typing import Any

import torch

from .._engine.device import Device
from .._engine.devices import Body, Results
from .._engine.dtype import DType
from .._engine.samples import Samples, host
from .._engine.thread_state import interception
from .accelerator import Accelerator
from .call import current_target, exchange_target
from .samples import DeviceSamples
from .staging import from_host


class TorchPlacement:
    """The device of a call's results, and the queue that its work goes into.

    The queue is known when the call is made, not when it runs: one that somebody has `chosen`, for
    the context, the thread or the device, or else the context's own.
    """

    __slots__ = ("_accelerator", "_is_chosen", "_wait", "device", "queue", "worker")

    def __init__(
        self,
        accelerator: Accelerator,
        device: Device,
        worker: Device,
        queue: Any,
        is_chosen: bool,
        wait: bool,
    ) -> None:
        self._accelerator = accelerator
        self.device = device
        self.worker = worker
        self.queue = queue
        self._is_chosen = is_chosen
        self._wait = wait

    def run(self, body: Body, inputs: list[Samples | None], arguments: dict[str, Any]) -> Results:
        """Run a body with its work in the queue, after the work that makes its inputs."""
        queues, spans = self._accelerator.queues, interception.spans
        theirs = self._join_others(inputs)
        for samples in inputs:
            if isinstance(samples, DeviceSamples):
                samples.make_ready(self.queue)
        begin = None if spans is None else queues.timestamp(self.queue)
        outer = exchange_target(self)
        try:
            with self._accelerator.working(self.queue):
                results = body(inputs, arguments)
        finally:
            exchange_target(outer)
        for made in results if isinstance(results, tuple) else (results,):
            if isinstance(made, DeviceSamples):
                made.queue = self.queue
        if theirs is not None:
            queues.wait_for(theirs, queues.mark(self.queue))
        if spans is not None and begin is not None:
            spans(str(self.device), begin, queues.timestamp(self.queue))
        if self._wait:
            queues.synchronize(self.queue)
        return results

    def _join_others(self, inputs: list[Samples | None]) -> Any:
        """Bring a call on memory that others use into the order of what they do with it.

        Such calls run at once, in the queue that torch uses on the calling thread, as what torch
        does itself. If another queue was chosen, the two wait for each other; returns that of
        torch then.
        """
        if not any(isinstance(part, DeviceSamples) and part.external for part in inputs):
            return None
        queues = self._accelerator.queues
        current = queues.current(self.worker.device_id or 0)
        if not self._is_chosen:
            self.queue = current
        elif current != self.queue:
            queues.wait_for(self.queue, queues.mark(current))
            return current
        return None


def on_device(samples: Samples) -> DeviceSamples:
    """Samples as samples on the device of the call that is running; copied by one transfer."""
    if isinstance(samples, DeviceSamples):
        return samples
    target = current_target()
    return from_host(host(samples), target.device, target.queue)


def device_samples(samples: Samples) -> DeviceSamples:
    """Samples that are known to be on an accelerator."""
    assert isinstance(samples, DeviceSamples)
    return samples


def import_array(accelerator: Accelerator, data: Any) -> DeviceSamples:
    """One sample over the memory of an array that is on an accelerator."""
    if isinstance(data, torch.Tensor):
        tensor = data
    elif hasattr(data, "__dlpack__"):
        # Lets the producer make its data ready for the stream that torch uses here.
        tensor = torch.utils.dlpack.from_dlpack(data)
    else:
        # The memory as it is: a default device that the program has set must not move it.
        with torch._C.DisableTorchFunction():
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


def export_array(accelerator: Accelerator, samples: DeviceSamples) -> torch.Tensor:
    """The only sample, or all as one, as a torch tensor that torch's current stream may use."""
    samples.memory.external = True
    samples.make_ready(accelerator.queues.current(samples.device.device_id or 0))
    return samples.exported()


def export_capsule(accelerator: Accelerator, samples: DeviceSamples, options: Any) -> Any:
    """The only sample as a capsule of DLPack."""
    exported = export_array(accelerator, samples)
    # torch exports from the current device only.
    with accelerator.queues.on(samples.device.device_id or 0):
        return exported.__dlpack__(**options)


def export_interface(accelerator: Accelerator, samples: DeviceSamples) -> dict[str, Any]:
    """The CUDA array interface of the only sample, with the stream that others have to wait for."""
    described = dict(export_array(accelerator, samples).__cuda_array_interface__)
    queues = accelerator.queues
    handle = queues.handle(queues.current(samples.device.device_id or 0))
    # The protocol has the number 1 for the default stream, whose handle is 0.
    return {**described, "version": 3, "stream": handle or 1}
