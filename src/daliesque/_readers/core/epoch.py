# SPDX-License-Identifier: Apache-2.0
"""The iterator that `next_epoch` returns."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..._engine.batch import Batch
from ..._engine.device import Device
from ..._engine.tensor import Tensor
from .prefetch import Prefetcher
from .steps import Room, Step, Steps

if TYPE_CHECKING:
    from .base import Reader


class Epoch(Iterator[Any]):
    """One epoch of a reader: yields tuples (or dicts) of Batch, or of Tensor.

    A step that fails raises, and the next one goes on after it. `len(epoch)` is the number of steps
    that are left. Dropping or closing an epoch ends the reading in the background.
    """

    def __init__(self, reader: Reader, batch_size: int | None, read_ahead: bool) -> None:
        self._reader = reader
        self._batch_size = batch_size
        self._read_ahead = read_ahead
        self._position = reader._position
        self._length = reader._order.epoch_length(self._position)
        self._lock = threading.Lock()
        self._over = False
        self._steps: Iterator[Step] | None = None
        self._prefetcher: Prefetcher[Step] | None = None
        # The step at hand, and how many of its batches or samples are delivered.
        self._step = Step((), [], [], [])
        self._index = 0

    def __len__(self) -> int:
        left = self._length - self._position.delivered
        return 0 if self._over else max(0, -(-left // (self._batch_size or 1)))

    def __iter__(self) -> Epoch:
        return self

    def __next__(self) -> Any:
        with self._lock:
            if self._over:
                raise StopIteration
            reader = self._reader
            if reader._current is None or reader._current() is not self:
                msg = (
                    f"{reader._operator}: this epoch ended when another began, or when the "
                    "reader's state was set. Iterate over what next_epoch() returned last."
                )
                raise RuntimeError(msg)
            if self._index == len(self._step.positions):
                try:
                    self._step, self._index = self._next_step(), 0
                except StopIteration:
                    self.close()
                    reader._position = reader._order.finished(self._position)
                    raise
            return self._deliver()

    def close(self) -> None:
        """End the epoch here."""
        self._over = True
        self._step, self._index = Step((), [], [], []), 0
        self._steps = None
        if self._prefetcher is not None:
            self._prefetcher.stop()

    def _next_step(self) -> Step:
        if not self._read_ahead:
            if self._steps is None:
                self._steps = self._make_steps()
            return next(self._steps)
        if self._prefetcher is None or self._prefetcher.in_other_process():
            depth = self._reader._prefetch_queue_depth
            self._prefetcher = Prefetcher(self._make_steps, depth, lambda step: step.nbytes)
            weakref.finalize(self, self._prefetcher.stop)
        return self._prefetcher.next()

    def _make_steps(self, room: Callable[[], Room] | None = None) -> Iterator[Step]:
        reader, position = self._reader, self._position
        return iter(Steps(reader, reader._order, position, self._length, self._batch_size, room))

    def _deliver(self) -> Any:
        step, index, reader = self._step, self._index, self._reader
        self._index += 1
        self._position = reader._position = step.positions[index]
        if index == 0:
            reader._note_errors(step.failed)
        if step.failure is not None:
            raise step.failure
        values: list[Batch] | list[Tensor]
        if self._batch_size is not None:
            sources = reader._sources(step.numbers, len(step.outputs))
            values = [Batch._of(*pair) for pair in zip(step.outputs, sources, strict=True)]
            # Nothing but the batch itself shall keep its data alive.
            self._step = Step((), [], step.positions, [])
        else:
            sources = reader._sources(step.numbers[index : index + 1], len(step.outputs))
            values = [
                Tensor._of(samples.sample(index), source)
                for samples, source in zip(step.outputs, sources, strict=True)
            ]
        if reader._device != Device.CPU:
            values = [value.to_device(reader._device) for value in values]  # type: ignore[assignment]
        if reader._output_names is not None:
            return dict(zip(reader._output_names, values, strict=True))
        return tuple(values)
