# SPDX-License-Identifier: Apache-2.0
"""The iterator that `next_epoch` returns."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Self, TypeVar

from ..._engine.batch import Batch
from ..._engine.device import Device
from ..._engine.tensor import Tensor
from ..._engine.value import Sources
from .prefetch import Prefetcher
from .source import EpochSource
from .steps import Capacity, LastBatch, Step, Steps

# What a step of an epoch delivers.
Delivered = TypeVar("Delivered", covariant=True)


class Epoch(Iterator[Delivered]):
    """One epoch of a reader: yields tuples (or dicts) of Batch, or of Tensor.

    A step that fails raises, and the next one goes on after it. `len(epoch)` is the number of steps
    that are left, `epoch.num_samples` that of the samples which count. Dropping or closing an epoch
    ends the reading in the background.
    """

    def __init__(
        self,
        source: EpochSource,
        batch_size: int | None,
        read_ahead: bool,
        last_batch: LastBatch = "fill",
    ) -> None:
        self._source = source
        self._batch_size = batch_size
        self._read_ahead = read_ahead
        self._last_batch = last_batch
        order, position = source.order, source.cursor.position
        if last_batch == "fill" or order.pad:
            self._length = order.epoch_length(position)
        else:
            self._length = order.length_within_pass(position)
        self._lock = threading.Lock()
        self._over = False
        self._superseded = False
        self._steps: Iterator[Step] | None = None
        self._prefetcher: Prefetcher[Step] | None = None
        # The step at hand, and how many of its batches or samples are delivered.
        self._step = Step((), [], [], [])
        self._index = 0

    @property
    def batch_size(self) -> int | None:
        """How many samples a step delivers; None for single samples."""
        return self._batch_size

    def __len__(self) -> int:
        if self._over or self._superseded:
            return 0
        left = max(0, self._length - self._source.cursor.position.delivered)
        size = self._batch_size or 1
        return left // size if self._last_batch == "drop" else -(-left // size)

    @property
    def num_samples(self) -> int:
        """How many samples are left, without those that merely fill the last batch.

        It is the sum of `Batch.valid`, unless samples have to be skipped.
        """
        steps, source = len(self), self._source
        left = self._length - source.cursor.position.delivered
        if source.order.pad:
            left = min(left, source.order.left_of_pass(source.cursor.position))
        return min(left, steps * (self._batch_size or 1))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Delivered:
        with self._lock:
            if self._over:
                raise StopIteration
            source = self._source
            if self._superseded:
                msg = (
                    f"{source.operator}: this epoch ended when the reader's state was set. Iterate "
                    "over what next_epoch() returned last."
                )
                raise RuntimeError(msg)
            if self._index == len(self._step.positions):
                try:
                    self._step, self._index = self._next_step(), 0
                except StopIteration:
                    # Whoever ends an epoch before its time also says where the next one begins.
                    if not self._over and not self._superseded:
                        drop = self._last_batch == "drop"
                        following = source.order.abandoned if drop else source.order.finished
                        source.cursor.position = following(source.cursor.position)
                    self.close()
                    raise
            delivered: Delivered = self._deliver()
            return delivered

    def __reduce__(self) -> NoReturn:
        msg = f"{self._source.operator}: an epoch cannot be copied or pickled. Pickle the reader."
        raise TypeError(msg)

    def close(self) -> None:
        """End the epoch here."""
        self._over = True
        self._stop()

    def supersede(self) -> None:
        """End the epoch because the reader goes on somewhere else."""
        self._superseded = True
        self._stop()

    def _stop(self) -> None:
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
            depth = self._source.prefetch_queue_depth
            self._prefetcher = Prefetcher(self._make_steps, depth, lambda step: step.nbytes)
            weakref.finalize(self, self._prefetcher.stop)
        return self._prefetcher.next()

    def _make_steps(self, capacity: Callable[[], Capacity] | None = None) -> Iterator[Step]:
        source = self._source
        position, size = source.cursor.position, self._batch_size
        return iter(Steps(source, position, self._length, size, self._last_batch, capacity))

    def _deliver(self) -> Any:
        step, index, source = self._step, self._index, self._source
        self._index += 1
        source.cursor.position = step.positions[index]
        if index == 0:
            source.bad_samples.note(step.failed, source.order.size)
        if step.failure is not None:
            raise step.failure
        values: list[Batch] | list[Tensor]
        if self._batch_size is not None:
            names = source.sources(step.numbers, len(step.outputs))
            if step.valid < len(step.numbers):
                names = [Sources.of(part, step.valid) for part in names]
            values = [Batch._of(*pair) for pair in zip(step.outputs, names, strict=True)]
            # Nothing but the batch itself shall keep its data alive.
            self._step = Step((), [], step.positions, [])
        else:
            names = source.sources(step.numbers[index : index + 1], len(step.outputs))
            values = [
                Tensor._of(samples.sample(index), name)
                for samples, name in zip(step.outputs, names, strict=True)
            ]
        if source.device != Device.CPU:
            values = [value.to_device(source.device) for value in values]  # type: ignore[assignment]
        if source.output_names is not None:
            return dict(zip(source.output_names, values, strict=True))
        return tuple(values)
