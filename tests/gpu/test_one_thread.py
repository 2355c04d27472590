# SPDX-License-Identifier: Apache-2.0
"""Devices that only one thread may use at a time, as Metal: which threads put work there."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine import devices
from daliesque._gpu import accelerator
from daliesque._gpu.backend import TorchBackend
from daliesque._gpu.queues import SingleQueue
from support.image_makers import as_samples, jpeg

LARGE = np.random.default_rng(1).integers(0, 256, (6, 300, 400, 3), np.uint8)


class Metal(SingleQueue):
    """A queue that writes down which threads use it."""

    def __init__(self) -> None:
        super().__init__(None)
        self.is_thread_safe = False
        self.threads: set[str] = set()

    @contextlib.contextmanager
    def active(self, queue: Any) -> Iterator[Any]:
        self.threads.add(threading.current_thread().name)
        yield queue


@pytest.fixture
def metal(monkeypatch: pytest.MonkeyPatch) -> Metal:
    queues = Metal()
    monkeypatch.setattr(devices, "_found", TorchBackend("cpu", 1, queues))
    return queues


ME = {threading.current_thread().name}


def train(images: Any) -> Any:
    normal = ndd.crop_mirror_normalize(ndd.resize(images, size=(60, 80)), std=[255.0])
    return normal.torch()


@pytest.mark.parametrize("mode", [ndd.EvalMode.eager, ndd.EvalMode.deferred])
def test_work_is_done_by_the_reader(metal: Metal, mode: ndd.EvalMode) -> None:
    with mode:
        for _ in range(4):
            # Large enough to wake the thread in the background.
            assert train(ndd.flip(ndd.batch(LARGE, layout="HWC").gpu())).shape == (6, 3, 60, 80)
    assert metal.threads == ME


def test_images_are_decoded_in_the_background(
    metal: Metal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from daliesque._shapes import image_files

    decoded: list[str] = []
    plain = image_files.read_headers

    def noted(*arguments: Any) -> Any:
        decoded.append(threading.current_thread().name)
        return plain(*arguments)

    monkeypatch.setattr(image_files, "read_headers", noted)
    encoded = ndd.batch(as_samples([jpeg(image) for image in LARGE]))
    images = ndd.decoders.image(encoded, device="gpu")
    assert str(images.device) == "gpu:0"
    # Somebody else does it, sooner or later.
    ndd.EvalContext.current().executor.queue.drain()
    assert metal.threads == set()
    np.testing.assert_array_equal(images.torch().numpy(), ndd.decoders.image(encoded).torch())
    assert decoded[0] != threading.current_thread().name or len(decoded) == 2
    assert metal.threads == ME


def test_what_depends_on_the_device_waits(metal: Metal) -> None:
    """Calls on the CPU that read a result of the device do not fetch it in the background."""
    there = ndd.batch(LARGE, layout="HWC").gpu() & 127
    back = ndd.flip(there.cpu())
    other = ndd.flip(ndd.batch(LARGE, layout="HWC"))
    ndd.EvalContext.current().executor.queue.drain()
    assert metal.threads == set()
    np.testing.assert_array_equal(back.torch(), (LARGE & 127)[:, :, ::-1])
    assert metal.threads == ME
    np.testing.assert_array_equal(other.torch(), LARGE[:, :, ::-1])


def test_loops_that_run_ahead_leave_the_device_to_the_consumer(metal: Metal) -> None:
    def steps() -> Iterator[Any]:
        for step in range(3):
            yield ndd.resize(ndd.batch(LARGE, layout="HWC").gpu(), size=(30, 40 + step))

    for step, images in enumerate(ndd.prefetch(steps, depth=2)):
        assert images.torch().shape == (6, 30, 40 + step, 3)
    assert metal.threads == ME


def test_several_readers(metal: Metal) -> None:
    """Each call runs once, on one of the threads that ask for its result."""
    pending = ndd.resize(ndd.batch(LARGE, layout="HWC").gpu(), size=(60, 80))
    barrier = threading.Barrier(4)
    found: list[Any] = []

    def read() -> None:
        barrier.wait()
        found.append(pending.torch())

    threads = [threading.Thread(target=read, name=f"reader {k}") for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tensor.data_ptr() for tensor in found}) == 1
    assert metal.threads <= {f"reader {k}" for k in range(4)}


def test_failures_are_those_of_the_reader(metal: Metal) -> None:
    broken = ndd.batch([np.zeros(9, np.uint8)])
    images = ndd.decoders.image(broken, device="gpu")
    with pytest.raises(ndd.DecodeError, match=r"^decoders.image: sample 0"):
        images.evaluate()
    small = ndd.batch(LARGE, layout="HWC").gpu()
    with pytest.raises(ndd.OpError, match=r"^crop: "):
        ndd.crop(small, crop=(1000, 1000), out_of_bounds_policy="error").evaluate()
    assert metal.threads <= ME


def test_metal_is_such_a_device() -> None:
    import torch

    assert not SingleQueue(torch.mps).is_thread_safe
    assert accelerator.require_accelerator("test").queues.is_thread_safe
