# SPDX-License-Identifier: Apache-2.0
"""torch.cuda as it is shipped, over a fake of its native part with the rules of CUDA 12.

Two devices. Each thread has a current device, 0 at first, and a current stream for each device.
Making a device current makes a context there, which takes hundreds of megabytes on a real one; what
may only restore a device leaves those without a context alone. The number 1 is no valid identifier
of a stream. For processes of their own: torch stays as it is made here.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Iterator
from typing import Any

DEVICES = 2
_CUDA = 1


class Driver:
    """What happened on the devices."""

    def __init__(self) -> None:
        self.contexts: set[int] = set()
        # "record <stream>", "<stream> waits for <stream>", ...
        self.log: list[str] = []
        self.thread = threading.local()
        # Handles that torch has made, by the identifiers of its streams.
        self.handles: dict[int, int] = {0: 0}

    def device(self) -> int:
        return getattr(self.thread, "device", 0)

    def set_device(self, number: int) -> None:
        assert 0 <= number < DEVICES
        self.contexts.add(number)
        self.thread.device = number

    def exchange(self, number: int) -> int:
        previous = self.device()
        if number >= 0:
            self.set_device(number)
        return previous

    def maybe_exchange(self, number: int) -> int:
        previous = self.device()
        if number in self.contexts:
            self.set_device(number)
        return previous

    def streams(self) -> dict[int, int]:
        found: dict[int, int] | None = getattr(self.thread, "streams", None)
        if found is None:
            found = self.thread.streams = dict.fromkeys(range(DEVICES), 0)
        return found

    def new_stream(self) -> int:
        # Streams of torch have odd identifiers from 3 on, external ones are even pointers.
        identifier = 2 * len(self.handles) + 1
        self.handles[identifier] = 0x1000 * len(self.handles)
        return identifier

    def handle(self, identifier: int) -> int:
        if identifier % 2 == 0:
            return identifier
        if identifier not in self.handles:
            msg = f"invalid StreamId {identifier}"
            raise RuntimeError(msg)
        return self.handles[identifier]


driver = Driver()


class StreamBase:
    """The native part of torch.cuda.Stream."""

    def __new__(
        cls,
        priority: int = 0,
        stream_id: int | None = None,
        device_index: int | None = None,
        device_type: int | None = None,
        stream_ptr: int | None = None,
    ) -> StreamBase:
        import torch

        del priority, device_type
        made = super().__new__(cls)
        number = driver.device() if device_index is None else device_index
        made.device = torch.device("cuda", number)
        made.stream_id = driver.new_stream() if stream_id is None else stream_id
        if stream_ptr is not None:
            made.stream_id = stream_ptr
        made.device_index, made.device_type = number, _CUDA
        return made

    def __init__(self, *_args: Any, **_options: Any) -> None:
        pass

    device: Any
    stream_id: int
    device_index: int
    device_type: int

    @property
    def cuda_stream(self) -> int:
        return driver.handle(self.stream_id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StreamBase) and name_of(self) == name_of(other)

    def __hash__(self) -> int:
        return hash(name_of(self))

    def synchronize(self) -> None:
        driver.log.append(f"synchronize {name_of(self)}")

    def query(self) -> bool:
        return True


def name_of(stream: Any) -> str:
    """Device and handle of a stream."""
    return f"{stream.device.index}/{stream.cuda_stream:#x}"


class EventBase:
    """The native part of torch.cuda.Event."""

    def __new__(cls, *_args: Any, **_options: Any) -> EventBase:
        return super().__new__(cls)

    def __init__(self, *_args: Any, **_options: Any) -> None:
        self.recorded: str | None = None

    def record(self, stream: StreamBase) -> None:
        self.recorded = name_of(stream)
        driver.contexts.add(stream.device_index)
        driver.log.append(f"record {self.recorded}")

    def wait(self, stream: StreamBase) -> None:
        assert self.recorded is not None
        driver.log.append(f"{name_of(stream)} waits for {self.recorded}")

    def query(self) -> bool:
        return True


def _set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    del device_type
    driver.handle(stream_id)
    if driver.device() != device_index:
        driver.set_device(device_index)
    driver.streams()[device_index] = stream_id


def _current_stream(device: int | None) -> tuple[int, int, int]:
    number = driver.device() if device is None or device < 0 else device
    return driver.streams()[number], number, _CUDA


def _default_stream(device: int | None) -> tuple[int, int, int]:
    number = driver.device() if device is None or device < 0 else device
    return 0, number, _CUDA


def _external_stream(pointer: int, device: int | None) -> tuple[int, int, int]:
    number = driver.device() if device is None or device < 0 else device
    return pointer, number, _CUDA


NATIVE = {
    "_CudaStreamBase": StreamBase,
    "_CudaEventBase": EventBase,
    "_CudaDeviceProperties": type("_CudaDeviceProperties", (), {}),
    "_has_cuda": True,
    "_cuda_init": lambda: None,
    "_cuda_isInBadFork": False,
    "_cuda_getDeviceCount": lambda: DEVICES,
    "_cuda_getDevice": driver.device,
    "_cuda_setDevice": driver.set_device,
    "_cuda_exchangeDevice": driver.exchange,
    "_cuda_maybeExchangeDevice": driver.maybe_exchange,
    "_cuda_setStream": _set_stream,
    "_cuda_getCurrentStream": _current_stream,
    "_cuda_getDefaultStream": _default_stream,
    "_cuda_getStreamFromExternal": _external_stream,
    "_cuda_getArchFlags": lambda: "",
    "_cuda_getCurrentRawStream": lambda device: driver.handle(_current_stream(device)[0]),
}


def install() -> Driver:
    """Put the fake into torch, and load what was made of the missing parts again."""
    import torch

    for name, value in NATIVE.items():
        setattr(torch._C, name, value)
    streams = importlib.reload(torch.cuda.streams)
    for name in ("Stream", "ExternalStream", "Event"):
        setattr(torch.cuda, name, getattr(streams, name))
    cuda: Any = torch.cuda
    cuda._cudart = object()
    cuda._exchange_device, cuda._maybe_exchange_device = driver.exchange, driver.maybe_exchange
    # What was queued for the first use of a device asks for its properties.
    cuda._queued_calls.clear()
    assert cuda.is_available()
    return driver


def make_backend() -> Any:
    """A backend over the streams of torch.cuda, with simulated tensors."""
    import torch

    from daliesque._gpu.backend import TorchBackend
    from daliesque._gpu.queues import TorchQueues
    from support.simulated import DeviceTensor, Journal, Mode

    journal = Journal(torch.device("cuda", 0))

    class FakeQueues(TorchQueues):
        @contextlib.contextmanager
        def active(self, queue: Any) -> Iterator[Any]:
            with super().active(queue), Mode(journal):
                assert driver.device() == queue.device.index
                driver.log.append(f"work in {name_of(queue)}")
                yield queue

        def use(self, queue: Any, tensor: Any) -> None:
            driver.log.append(f"{name_of(queue)} uses memory of {tensor.device}")

    class FakeBackend(TorchBackend):
        def __init__(self) -> None:
            super().__init__("cuda", DEVICES, FakeQueues(torch.cuda))
            self._pins = False

    def exported(self: DeviceTensor, **options: Any) -> Any:
        return torch.Tensor.__dlpack__(self, **options)

    DeviceTensor.__dlpack__ = exported  # type: ignore[method-assign, assignment]
    for name in ("_to_dlpack", "_to_dlpack_versioned", "_to_dlpack_unversioned"):
        if hasattr(torch._C, name):
            setattr(torch._C, name, lambda *_, **__: "capsule")
    return FakeBackend()
