# SPDX-License-Identifier: Apache-2.0
"""The seam between the engine and what computes on other devices than the CPU.

The engine knows a backend by the protocols here only. The public layer registers how to load one;
that happens when somebody asks for a "gpu", never before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from .samples import HostSamples, Kernels, Samples, is_remote

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from .device import Device
    from .spec import OpSpec
    from .stream import Stream

Results: TypeAlias = Samples | tuple[Samples, ...]
# Runs a call, given the data of its inputs and its arguments.
Body: TypeAlias = Callable[[list[Samples | None], dict[str, Any]], Results]


class Queues(Protocol):
    """The queues of work of a kind of device: what others call streams."""

    @property
    def is_thread_safe(self) -> bool:
        """Whether several threads may put work into queues at the same time."""

    @property
    def are_many(self) -> bool:
        """Whether devices have more than one queue."""

    def make(self, device_id: int) -> Any:
        """A new queue."""

    def wrap(self, handle: int, device_id: int, owner: Any = None) -> Any:
        """The queue with a raw handle; it keeps its owner alive."""

    def accepts(self, queue: object) -> bool:
        """Whether an object is such a queue."""

    def current(self, device_id: int) -> Any:
        """The queue that torch uses on this thread."""

    def handle(self, queue: Any) -> int:
        """The raw handle of a queue."""

    def synchronize(self, queue: Any) -> None:
        """Wait until all work in the queue is done."""

    def active(self, queue: Any) -> AbstractContextManager[Any]:
        """Inside, torch puts its work into the queue."""


class Placement(Protocol):
    """Where a call runs: the device of its results, and the queue that its work goes into."""

    def run(self, body: Body, inputs: list[Samples | None], arguments: dict[str, Any]) -> Results:
        """Run a body with its work in the queue, after the work that makes its inputs."""


class DeviceBody(NamedTuple):
    """What runs an operator on a device, and the inputs that it reads in CPU memory.

    Of some, all the work is done on the CPU, and only their results are moved to the device.
    """

    body: Callable[..., Results]
    host_inputs: frozenset[int]
    is_for_cpu: bool = False


class Backend(Protocol):
    """All devices of the kind "gpu" on this machine."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def queues(self) -> Queues: ...

    @property
    def kernels(self) -> Kernels:
        """The functions for data on the devices."""

    def current_id(self) -> int:
        """The number of the device that is used on this thread if nobody chooses."""

    def body_of(self, operator: OpSpec) -> DeviceBody | None:
        """What runs an operator on the devices; None if nothing does."""

    def placement(
        self, device: Device, worker: Device, stream: Stream | None, is_chosen: bool, wait: bool
    ) -> Placement:
        """Where a call runs whose results are on `device`, and whose work is done by `worker`.

        `is_chosen` says whether somebody has chosen the stream.
        """

    def lend(
        self, type_id: int, shapes: NDArray[np.int64], layout: str, device: Device
    ) -> HostSamples | None:
        """Memory for samples that will be moved to a device; None if there is none to be had."""

    def on_device(self, samples: Samples) -> Samples:
        """Samples on the device of the call that this thread is running."""

    def move(self, samples: Samples, device: Device) -> Samples:
        """A copy on a device, inside of a call."""

    def import_array(self, data: Any) -> Samples:
        """One sample over the memory of an array that is on a device."""

    def export_array(self, samples: Samples) -> torch.Tensor:
        """The only sample as a tensor that torch's current stream may use."""

    def export_capsule(self, samples: Samples, **options: Any) -> Any:
        """The only sample as a capsule of DLPack, with the options of `__dlpack__`."""

    def export_interface(self, samples: Samples) -> dict[str, Any]:
        """The CUDA array interface of the only sample."""


# Loads the backend, or says why there is none.
Loader: TypeAlias = Callable[[], Backend | str]


def _nothing() -> str:
    return "no backend for accelerators is registered"


_load: Loader = _nothing
# What `_load` has returned, once somebody has asked.
_found: Backend | str | None = None
_loading = threading.RLock()


def register_backend(load: Loader) -> None:
    """Say how to load the backend when it is asked for."""
    global _load
    _load = load


def _look() -> Backend | str:
    global _found
    if _found is None:
        with _loading:
            if _found is None:
                _found = _load()
    return _found


def loaded_backend() -> Backend | None:
    """The backend if somebody has asked for it and there is one; nothing is loaded by this."""
    return None if isinstance(_found, str) else _found


def gpu_count() -> int:
    """How many accelerators there are."""
    found = _look()
    return 0 if isinstance(found, str) else found.count


def require_backend(where: str) -> Backend:
    """The backend; raises RuntimeError if there is none."""
    found = _look()
    if isinstance(found, str):
        msg = (
            f'{where}: {found}; use the device "cpu", or set DALIESQUE_GPU=cpu in the environment '
            "to let torch's CPU device stand in for a gpu."
        )
        raise RuntimeError(msg)
    return found


def move(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    """The body of calls that copy data to another device."""
    (samples,) = inputs
    assert samples is not None
    device: Device = arguments["device"]
    if device.device_type == "cpu":
        return samples.to_host() if is_remote(samples) else samples.copy()
    return require_backend("to_device").move(samples, device)
