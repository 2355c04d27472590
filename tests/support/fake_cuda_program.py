# SPDX-License-Identifier: Apache-2.0
"""Uses the library on two fake CUDA devices, and prints what happened there as JSON.

Runs in a process of its own: torch stays as the fake has made it.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import daliesque as ndd
from daliesque._engine import devices
from support import fake_cuda

driver = fake_cuda.install()
devices._found = fake_cuda.make_backend()
LARGE = np.ones((8, 400, 400, 3), np.uint8)


def in_thread(function: Callable[[], Any]) -> Any:
    """What a function returns on a new thread, which is on device 0 like all new ones."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def contexts_of_a_rank() -> Any:
    """A process of a distributed training that uses device 1 only."""

    def train() -> Any:
        driver.contexts.clear()
        torch.cuda.set_device(1)
        # Large enough for the thread in the background.
        images = ndd.batch(LARGE, layout="HWC").gpu()
        resized = ndd.resize(images + 1, size=(20, 20))
        ndd.EvalContext.current().evaluate_all()
        return [str(resized.device), sorted(driver.contexts)]

    return in_thread(train)


def contexts_of_a_reader() -> Any:
    """A thread that has chosen no device reads what another one has made."""
    with ndd.EvalMode.deferred, ndd.Device("gpu", 1):
        pending = ndd.resize(ndd.batch(LARGE, layout="HWC").gpu(), size=(20, 20))
    driver.contexts.clear()
    in_thread(lambda: pending.evaluate() and None)
    return sorted(driver.contexts)


def devices_after_calls() -> Any:
    """The current device and streams of a thread are those that it has chosen."""

    def use() -> Any:
        torch.cuda.set_device(0)
        mine = torch.cuda.Stream()
        torch.cuda.set_stream(mine)
        with ndd.EvalMode.sync_cpu:
            ndd.flip(ndd.tensor(LARGE[0], layout="HWC", device="gpu:1"))
        same = torch.cuda.current_stream() == mine
        other = torch.cuda.current_stream(1) == torch.cuda.default_stream(1)
        return [driver.device(), same, other]

    return in_thread(use)


def handles() -> Any:
    """What the numbers 0, 1 and 2 stand for."""
    found: list[Any] = []
    for handle in (0, 1, 2, 0xABC0):
        try:
            stream = ndd.Stream(handle, device_id=1)
            torch.cuda.Event().record(stream.queue)
            found.append([stream.handle, stream.device_id])
        except RuntimeError as error:
            found.append(str(error))
    return found


class Foreign:
    """An array of another library on device 1, made in a stream."""

    def __init__(self, stream: int) -> None:
        self.stream = stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (2,), "typestr": "<f4", "version": 3, "stream": self.stream}


def imports() -> Any:
    """What waits for what when arrays of others are imported."""
    backend = devices._found
    assert backend is not None
    assert not isinstance(backend, str)
    with backend.queues.active(torch.cuda.default_stream(1)):
        values = torch.ones(2, dtype=torch.float32, device=torch.device("cuda", 1))
    plain = torch.as_tensor
    torch.as_tensor = lambda *_, **__: values  # type: ignore[assignment]
    found: dict[str, Any] = {}
    try:
        for stream in (1, 0xABC0, 2):
            driver.log.clear()
            try:
                tensor = ndd.as_tensor(Foreign(stream))
                found[str(stream)] = [str(tensor.device), driver.log.copy()]
            except RuntimeError as error:
                found[str(stream)] = str(error)
    finally:
        torch.as_tensor = plain  # type: ignore[assignment]
    return found


def exports() -> Any:
    """DLPack of a tensor on device 1 while device 0 is the current one."""
    torch.cuda.set_device(0)
    tensor = ndd.tensor([1.0, 2.0], device="gpu:1").evaluate()
    capsules = [
        tensor.__dlpack__(stream=stream, max_version=(1, 0)) for stream in (None, 1, 0xABC0, -1)
    ]
    return [capsules, driver.device(), list(tensor.__dlpack_device__())]


def owners() -> Any:
    """Foreign streams live as long as the data that was made in them."""
    gone: list[str] = []

    class Owner:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, 0xABC0)

        def __del__(self) -> None:
            gone.append("gone")

    with ndd.EvalContext(device_id=1, cuda_stream=ndd.Stream(Owner(), device_id=1)):
        tensor = ndd.tensor([1, 2], device="gpu:1")
    before = gone.copy()
    del tensor
    return [before, gone]


def two_threads() -> Any:
    """Two threads with a device each, at the same time."""
    barrier = threading.Barrier(2)
    found: dict[int, Any] = {}

    def use(number: int) -> None:
        torch.cuda.set_device(number)
        stream = torch.cuda.Stream()
        sums = []
        with torch.cuda.stream(stream):
            for step in range(20):
                barrier.wait()
                images = ndd.batch(LARGE[:2, :40, :40] * step, layout="HWC").gpu()
                flipped = ndd.flip(images) + number
                assert driver.device() == number
                sums.append(int(np.asarray(flipped.cpu().torch()).max()))
        found[number] = [sums == [step + number for step in range(20)], driver.device()]

    threads = [threading.Thread(target=use, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[0], found[1]]


if __name__ == "__main__":
    # The first ones look which devices were touched.
    scenarios = [
        contexts_of_a_rank,
        contexts_of_a_reader,
        devices_after_calls,
        handles,
        imports,
        exports,
        owners,
        two_threads,
    ]
    sys.stdout.write(json.dumps({scenario.__name__: scenario() for scenario in scenarios}))
