# SPDX-License-Identifier: Apache-2.0
"""Streams, against a fake that records what is asked of it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._engine import devices
from daliesque._gpu import accelerator
from daliesque._gpu.backend import TorchBackend
from daliesque._gpu.placement import TorchPlacement
from daliesque._gpu.queues import SingleQueue, TorchQueues
from support.image_makers import as_samples, jpeg


class Queue:
    def __init__(self, name: str, device_id: int) -> None:
        self.name = name
        self.device_id = device_id


class Recorder:
    """Queues that only write down what happens."""

    is_thread_safe = True
    are_many = True

    def __init__(self) -> None:
        self.log: list[str] = []
        self.made = 0
        self.done: set[str] = set()
        self.inside = threading.local()

    def make(self, device_id: int) -> Queue:
        self.made += 1
        return Queue(f"new{self.made}", device_id)

    def on(self, device_id: int) -> contextlib.AbstractContextManager[int]:
        return contextlib.nullcontext(device_id)

    def wrap(self, handle: int, device_id: int, owner: Any = None) -> Queue:
        del owner
        return Queue(f"raw{handle}", device_id)

    def accepts(self, queue: Any) -> bool:
        return isinstance(queue, Queue)

    def current(self, device_id: int) -> Queue:
        found: Queue = getattr(self.inside, "queue", None) or _plain(device_id)
        return found

    def handle(self, queue: Queue) -> int:
        return hash(queue.name)

    @contextlib.contextmanager
    def active(self, queue: Queue) -> Iterator[None]:
        outer = getattr(self.inside, "queue", None)
        self.inside.queue = queue
        self.log.append(f"work in {queue.name}")
        try:
            yield
        finally:
            self.inside.queue = outer

    def mark(self, queue: Queue) -> str:
        self.log.append(f"mark {queue.name}")
        return queue.name

    def has_occurred(self, event: str) -> bool:
        return event in self.done

    def wait_for(self, queue: Queue, event: str) -> None:
        self.log.append(f"{queue.name} waits for {event}")

    def use(self, queue: Queue, tensor: torch.Tensor) -> None:
        del tensor
        self.log.append(f"{queue.name} uses memory")

    def synchronize(self, queue: Queue) -> None:
        self.log.append(f"synchronize {queue.name}")

    def taken(self) -> list[str]:
        taken, self.log = self.log, []
        return taken


_PLAIN = {number: Queue(f"torch{number}", number) for number in range(2)}


def _plain(device_id: int) -> Queue:
    return _PLAIN[device_id]


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    made = Recorder()
    monkeypatch.setattr(devices, "_found", TorchBackend("cpu", 2, made))
    return made


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    with ndd.EvalMode.sync_cpu:
        yield


def test_work_goes_to_a_stream_of_the_context(recorder: Recorder) -> None:
    """Not to the one that torch uses: what it does there and this then go on side by side."""
    tensor = ndd.tensor([1, 2, 3], device="gpu")
    assert recorder.taken() == ["work in new1"]
    tensor + 1
    assert recorder.taken() == ["work in new1"]
    tensor.cpu()
    assert recorder.taken() == ["work in new1", "work in new1", "synchronize new1"]
    with ndd.EvalContext(device_id=0):
        ndd.tensor([1], device="gpu")
    assert recorder.taken() == ["work in new2"]
    ndd.tensor([1], device="gpu:1")
    assert recorder.taken() == ["work in new3"]


def test_work_on_memory_of_others_goes_to_the_stream_that_torch_uses(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As what torch does: after what they have asked for, and before what they ask for later."""
    # Without CUDA, torch does not read such memory.
    monkeypatch.setattr(torch.utils.dlpack, "from_dlpack", lambda array: array.values)
    theirs = ndd.as_tensor(OnDevice(torch.tensor([1, 2])))
    recorder.taken()
    theirs + 1
    assert recorder.taken() == ["work in torch0"]
    ours = ndd.tensor([1, 2], device="gpu")
    recorder.taken()
    ours.torch()
    assert recorder.taken() == ["mark new1", "torch0 waits for new1", "torch0 uses memory"]
    ours + 1
    assert recorder.taken()[-1] == "work in torch0"
    with ndd.EvalContext(device_id=0, cuda_stream=Queue("chosen", 0)):
        theirs + 1
    # Who has chosen a stream gets it.
    assert recorder.taken() == [
        "mark torch0",
        "chosen waits for torch0",
        "mark torch0",
        "chosen waits for torch0",
        "chosen uses memory",
        "work in chosen",
        "mark chosen",
        "torch0 waits for chosen",
    ]


class OnDevice:
    """An array that says it is on an accelerator."""

    def __init__(self, values: torch.Tensor) -> None:
        self.values = values

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, **_options: Any) -> Any:
        raise NotImplementedError


class MetalEvent:
    """An event of a backend without streams, which occurs when the test says so."""

    occurred = False

    def record(self) -> None:
        pass

    def query(self) -> bool:
        return MetalEvent.occurred


class Metal:
    Event = MetalEvent


def test_metal_reads_host_memory_later(monkeypatch: pytest.MonkeyPatch) -> None:
    found = accelerator.Accelerator("mps", 1, SingleQueue(Metal))
    monkeypatch.setattr(found, "torch_device", lambda _: torch.device("cpu"))
    device = torch.device("cpu")
    found.upload_arrays([np.arange(3)], device)
    found.upload(found.staging(4), 0, found.queues.current(0))
    assert [len(buffer) for _, buffer in found._in_flight] == [32, 4]
    monkeypatch.setattr(MetalEvent, "occurred", True)
    found.upload_arrays([np.arange(5)], device)
    assert len(found._in_flight) == 0
    # Others have copied pageable memory when the call returns, and torch keeps pinned memory.
    cuda = accelerator.Accelerator("cuda", 1, SingleQueue(None))
    monkeypatch.setattr(cuda, "torch_device", lambda _: torch.device("cpu"))
    monkeypatch.setattr(MetalEvent, "occurred", False)
    cuda.upload_arrays([np.arange(3)], device)
    cuda.upload(torch.zeros(4), 0, cuda.queues.current(0))
    assert len(cuda._in_flight) == 0


def test_contexts_choose_the_stream(recorder: Recorder) -> None:
    stream = ndd.stream()
    with ndd.EvalContext(device_id=0, cuda_stream=stream) as context:
        assert context.cuda_stream == stream
        tensor = ndd.tensor([1, 2], device="gpu")
    assert recorder.taken() == ["work in new1"]
    # Other work with the same data waits for it, on the device.
    tensor * 2
    assert recorder.taken() == [
        "mark new1",
        "new2 waits for new1",
        "new2 uses memory",
        "work in new2",
    ]


def test_contexts_know_their_stream(recorder: Recorder) -> None:
    del recorder
    with ndd.EvalContext(device_id=1) as context:
        own = context.cuda_stream
        assert own is context.cuda_stream
        assert own is not None
        assert own.device_id == 1
        assert own != ndd.Stream(_plain(1))
    assert ndd.EvalContext(num_threads=1).cuda_stream is None


def test_threads_and_devices_have_streams(recorder: Recorder) -> None:
    ndd.set_default_stream(ndd.stream(Queue("default", 0)))
    ndd.set_default_stream(Queue("other", 1))
    ndd.tensor([1], device="gpu:0")
    ndd.tensor([1], device="gpu:1")
    assert recorder.taken() == ["work in default", "work in other"]
    ndd.set_current_stream(Queue("mine", 0))
    assert ndd.get_current_stream() == ndd.Stream(Queue("mine", 0))
    assert ndd.get_default_stream() == ndd.Stream(Queue("default", 0))
    ndd.tensor([1], device="gpu:0")
    ndd.tensor([1], device="gpu:1")
    assert recorder.taken() == ["work in mine", "work in other"]
    seen = []

    def elsewhere() -> None:
        seen.append(ndd.get_current_stream())
        with ndd.EvalMode.sync_cpu:
            ndd.tensor([1], device="gpu:0")

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [ndd.Stream(Queue("default", 0))]
    assert recorder.taken() == ["work in default"]
    ndd.set_current_stream(None)
    ndd.set_default_stream(None, 0)
    ndd.set_default_stream(None, 1)
    ndd.tensor([1], device="gpu:0")
    assert recorder.taken() == ["work in new1"]


def test_contexts_keep_the_stream_of_their_time(recorder: Recorder) -> None:
    del recorder
    before = ndd.EvalContext()
    default, mine = ndd.stream(), ndd.stream()
    ndd.set_default_stream(default)
    assert ndd.get_default_stream() is default
    assert before.cuda_stream != default
    with_default = ndd.EvalContext()
    ndd.set_current_stream(mine)
    assert ndd.get_current_stream() is mine
    assert ndd.EvalContext.default().cuda_stream is mine
    with_mine = ndd.EvalContext()
    ndd.set_current_stream(None)
    assert ndd.get_current_stream() is default
    assert with_default.cuda_stream is default
    assert with_mine.cuda_stream is mine
    ndd.set_default_stream(None)


def test_streams_equal_what_they_wrap(recorder: Recorder) -> None:
    del recorder
    stream = ndd.stream(device_id=0)
    assert stream is not None
    assert stream == stream.handle
    assert stream != stream.handle + 1
    assert stream != ndd.stream()
    assert stream != ndd.Stream(stream.handle, device_id=1)
    assert stream not in (None, "stream")


def test_background_calls_use_the_stream_of_the_caller(recorder: Recorder) -> None:
    with ndd.EvalMode.eager, ndd.EvalContext(device_id=0, cuda_stream=Queue("chosen", 0)):
        tensor = ndd.tensor(np.zeros((1 << 21,), np.uint8), device="gpu")
        later = tensor + 1
    later.evaluate()
    assert set(recorder.taken()) == {"work in chosen"}


def test_export_waits_on_the_device(recorder: Recorder) -> None:
    with ndd.EvalContext(device_id=0, cuda_stream=Queue("made", 0)):
        tensor = ndd.tensor([1, 2], device="gpu")
    recorder.taken()
    tensor.torch()
    waits = ["mark made", "torch0 waits for made", "torch0 uses memory"]
    assert recorder.taken() == waits
    with ndd.EvalContext(device_id=0, cuda_stream=Queue("made", 0)):
        other = ndd.tensor([1, 2], device="gpu")
    recorder.taken()
    torch.from_dlpack(other)
    assert recorder.taken()[:3] == waits


def test_views_stay_in_the_stream_that_made_the_data(recorder: Recorder) -> None:
    with ndd.EvalContext(device_id=0, cuda_stream=Queue("made", 0)):
        batch = ndd.batch([[1, 2], [3], [4]], device="gpu")
    recorder.taken()
    batch.select([2, 0])
    batch.slice[0]
    assert set(recorder.taken()) == {"work in made"}
    batch.cpu()
    log = recorder.taken()
    # The call waits for the data, and copies it where it was made.
    assert log[-2:] == ["work in made", "synchronize made"]


def test_decoding_does_not_wait_for_uploads(recorder: Recorder) -> None:
    """One batch is decoded while the one before is still on its way."""
    files = ndd.batch(as_samples([jpeg(np.full((9, 7, 3), 50, np.uint8))]))
    images = [ndd.decoders.image(files, device="gpu") for _ in range(2)]
    assert set(recorder.taken()) == {"work in new1"}
    assert images[1].shape == [(9, 7, 3)]


def test_sync_full_waits_for_the_device(recorder: Recorder) -> None:
    tensor = ndd.tensor([1, 2], device="gpu")
    recorder.taken()
    with ndd.EvalMode.sync_full:
        tensor + 1
    assert recorder.taken() == ["work in new1", "synchronize new1"]
    with ndd.EvalMode.sync_full:
        ndd.tensor([1]) + 1
    assert recorder.taken() == []


def test_the_cuda_array_interface_names_the_stream(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ndd.EvalContext(device_id=0, cuda_stream=Queue("made", 0)):
        tensor = ndd.tensor([1, 2], device="gpu")
    recorder.taken()
    shown = property(lambda self: {"data": (self.data_ptr(), False), "version": 2})
    monkeypatch.setattr(torch.Tensor, "__cuda_array_interface__", shown)
    described = tensor.__cuda_array_interface__
    assert recorder.taken() == ["mark made", "torch0 waits for made", "torch0 uses memory"]
    assert described["data"] == (tensor.torch().data_ptr(), False)
    assert described["version"] == 3
    assert described["stream"] == recorder.handle(_plain(0))
    monkeypatch.setattr(recorder, "handle", lambda _: 0)
    assert tensor.__cuda_array_interface__["stream"] == 1


class FromStream:
    """An array that asks others to wait for a stream, as the CUDA array interface says."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (2,), "typestr": "<f4", "version": 3, "stream": 77}


def test_import_waits_for_the_stream_of_the_producer(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = torch.tensor([1.0, 2.0])
    # Without CUDA, torch does not read such memory.
    monkeypatch.setattr(torch, "as_tensor", lambda _: values)
    imported = ndd.as_tensor(FromStream())
    assert recorder.taken() == ["mark raw77", "torch0 waits for raw77"]
    assert str(imported.device) == "gpu:0"
    assert imported.torch().data_ptr() == values.data_ptr()


class Foreign:
    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, 1234)


def test_what_can_be_wrapped(recorder: Recorder) -> None:
    del recorder
    own = Queue("own", 1)
    wrapped = ndd.stream(own)
    assert wrapped is not None
    assert wrapped.device_id == 1
    assert ndd.stream(wrapped) is wrapped
    assert ndd.stream(None) is None
    assert ndd.Stream(1234) == ndd.Stream(Foreign())
    assert ndd.Stream(1234) != ndd.Stream(1234, device_id=1)
    assert ndd.Stream(1234) != ndd.Stream(1235)
    assert wrapped.__cuda_stream__() == (0, wrapped.handle)
    with pytest.raises(ValueError, match="clashes"):
        ndd.stream(own, device_id=0)
    with pytest.raises(ValueError, match="must not be None"):
        ndd.Stream(None)
    with pytest.raises(TypeError, match="cannot wrap"):
        ndd.Stream("stream")


class Backend:
    """A module of torch for a kind of device, such as torch.cuda, that writes down its calls."""

    def __init__(self) -> None:
        self.log: list[str] = []
        log = self.log

        class Event:
            def record(self, stream: Any) -> None:
                log.append(f"record in {stream.name}")

            def query(self) -> bool:
                return True

        class Stream:
            def __init__(self, device: int, name: str = "new", handle: int = 5) -> None:
                self.device = torch.device("cuda", device)
                self.name = name
                self.cuda_stream = handle

            def wait_event(self, event: Event) -> None:
                assert isinstance(event, Event)
                log.append(f"{self.name} waits")

            def synchronize(self) -> None:
                log.append(f"synchronize {self.name}")

        self.Event = Event
        self.Stream = Stream

    def current_stream(self, device_id: int) -> Any:
        return self.Stream(device_id, "current", 3)

    def default_stream(self, device_id: int) -> Any:
        return self.Stream(device_id, "default", 0)

    @contextlib.contextmanager
    def device(self, device_id: int) -> Iterator[None]:
        self.log.append(f"on {device_id}")
        yield

    def get_stream_from_external(self, handle: int, device: int) -> Any:
        return self.Stream(device, "wrapped", handle)

    @contextlib.contextmanager
    def stream(self, stream: Any) -> Iterator[None]:
        self.log.append(f"enter {stream.name}")
        yield


def test_streams_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend's functions are called as torch documents them."""
    backend = Backend()
    queues = TorchQueues(backend)
    monkeypatch.setattr(devices, "_found", TorchBackend("cpu", 2, queues))
    own = backend.Stream(1, "own", 9)
    wrapped = ndd.Stream(own)
    assert wrapped.device_id == 1
    assert wrapped.handle == 9
    assert ndd.stream().handle == 5  # type: ignore[union-attr]
    external = ndd.Stream(1234)
    assert external.handle == 1234
    assert external.queue.name == "wrapped"
    assert ndd.Stream(Generic()).handle == 4321
    external.synchronize()
    event = queues.mark(own)
    assert queues.has_occurred(event)
    queues.wait_for(external.queue, event)
    with queues.active(own):
        pass
    log = ["synchronize wrapped", "record in own", "wrapped waits", "on 1", "enter own"]
    assert backend.log == log
    assert ndd.Stream(1).queue.name == "default"
    assert queues.current(0).name == "current"
    with pytest.raises(RuntimeError, match="raw handles cannot be wrapped"):
        TorchQueues(object()).wrap(5, 0)
    with pytest.raises(RuntimeError, match="does not stand for one stream"):
        TorchQueues(object()).wrap(0, 0)


class Generic:
    """A stream of torch that is for any kind of device."""

    device_index = 0
    native_handle = 4321


@pytest.mark.parametrize("kind", ["cuda", "xpu"])
def test_torch_has_what_is_called(kind: str) -> None:
    backend = getattr(torch, kind)
    names = ("Event", "Stream", "current_stream", "device", "get_stream_from_external", "stream")
    for name in names:
        assert callable(getattr(backend, name))
    for name in ("wait_event", "synchronize"):
        assert callable(getattr(backend.Stream, name))
    for name in ("record", "query"):
        assert callable(getattr(backend.Event, name))
    assert callable(torch.Tensor.record_stream)
    assert hasattr(torch.Stream, "native_handle")
    assert callable(torch.mps.Event.record)
    assert callable(torch.mps.Event.query)


def test_data_is_read_in_the_queue_that_made_it(recorder: Recorder) -> None:
    """What a call makes of its inputs on its way is made in the queue of the call."""
    with ndd.EvalContext(device_id=0, cuda_stream=Queue("made", 0)):
        data = ndd.tensor([1, 2], device="gpu")._data()
    found = accelerator.require_accelerator("test")
    device = ndd.Device("gpu", 0)
    placement = TorchPlacement(found, device, device, Queue("of the call", 0), True, False)

    def body(inputs: list[Any], _arguments: dict[str, Any]) -> Any:
        (samples,) = inputs
        for part in (samples.mapped(lambda values, _: values + 1), samples.unfold()):
            recorder.taken()
            part.to_host()
            assert recorder.taken() == ["work in of the call", "synchronize of the call"]
        samples.to_host()
        assert recorder.taken() == ["work in made", "synchronize made"]
        return samples

    placement.run(body, [data], {})


@pytest.mark.parametrize("kind", ["hpu", "mtia", "xla", "privateuseone"])
def test_kinds_whose_order_is_not_known_are_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Accelerators:
        @staticmethod
        def is_available() -> bool:
            return True

        @staticmethod
        def current_accelerator() -> torch.device:
            return torch.device(kind)

        @staticmethod
        def device_count() -> int:
            return 1

    monkeypatch.delenv(accelerator.VARIABLE)
    monkeypatch.setattr(torch, "accelerator", Accelerators)
    found = accelerator.find_kind()
    assert isinstance(found, str)
    assert f"{kind!r} is not one of those that are supported" in found


def test_streams_synchronize(recorder: Recorder) -> None:
    stream = ndd.stream()
    assert stream is not None
    stream.synchronize()
    assert recorder.taken() == ["synchronize new1"]


def test_streams_of_the_stand_in() -> None:
    first, second = ndd.stream(), ndd.stream()
    assert first is not None
    assert first != second
    first.synchronize()
    with ndd.EvalContext(device_id=0, cuda_stream=first):
        tensor = ndd.tensor([1, 2], device="gpu")
    assert (tensor + 1).torch().tolist() == [2, 3]
