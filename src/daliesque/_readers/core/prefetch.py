# SPDX-License-Identifier: Apache-2.0
"""Reads ahead on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from ... import _kernels
from ..._engine.ahead_thread import AheadThread
from ..._engine.threads import usable_cpus
from .steps import Capacity

Item = TypeVar("Item")

# How many files are read at the same time: storage answers several questions at once. Many more
# threads than processors would be in each other's way if the files are in memory.
_MOST_THREADS = 4
_READING_THREADS = min(_MOST_THREADS, usable_cpus() + 1)


class Prefetcher(AheadThread[Item]):
    """Reads at most `depth` items ahead, besides the one that is being read.

    `make_items` is given `capacity`, for an iterator that begins with items ahead of time. If the
    system has no thread to give, items are made when they are asked for.
    """

    def __init__(
        self,
        make_items: Callable[[Callable[[], Capacity]], Iterator[Item]],
        depth: int,
        size_of: Callable[[Item], int],
    ) -> None:
        super().__init__("daliesque reader", iter(()), depth + 1, size_of)
        self._items = make_items(self.capacity)

    def capacity(self) -> Capacity:
        """How much is not taken by items that are ready or being made."""
        return Capacity(*self._channel.capacity())

    def _do_without(self, error: RuntimeError) -> None:
        del error
        self._channel.begin_service(alone=True)

    def _make_items(self) -> None:
        _kernels.exchange_current_pool(_kernels.ThreadPool(_READING_THREADS))
        try:
            super()._make_items()
        finally:
            _kernels.exchange_current_pool(None)
