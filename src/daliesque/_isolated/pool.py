# SPDX-License-Identifier: Apache-2.0
"""Some processes that share the samples of calls."""

from __future__ import annotations

import atexit
import queue
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numpy.typing import NDArray

from .messages import Failure, Output, Request
from .worker import Worker

MakeRequest = Callable[[int], tuple[Request, list[NDArray[Any]]]]


class Pool:
    """At most `size` processes. Each sample goes to one that has nothing to do."""

    def __init__(self, size: int, memory: int) -> None:
        self._workers = [Worker(memory) for _ in range(size)]
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(size, "daliesque isolated")
        _all.add(self)

    def run(self, request: MakeRequest, count: int) -> list[list[Output] | Failure]:
        """The answers to the requests from 0 to `count` - 1."""

        def decode(index: int) -> list[Output] | Failure:
            worker = self._idle.get()
            try:
                return worker.decode(*request(index))
            finally:
                self._idle.put(worker)

        if count == 1:
            return [decode(0)]
        return list(self._threads.map(decode, range(count)))

    def stop(self) -> None:
        """End the processes, those that are at work as well, and then the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(wait=True)
        for worker in self._workers:
            worker.stop()


_all: weakref.WeakSet[Pool] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for pool in list(_all):
        pool.stop()
