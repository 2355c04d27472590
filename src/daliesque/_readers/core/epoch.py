# SPDX-License-Identifier: Apache-2.0
"""The iterator that `next_epoch` returns."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, Self, TypeVar

from ... import _kernels
from ..._engine.ahead import Cell
from ..._engine.batch import Batch
from ..._engine.device import Device
from ..._engine.interrupts import Steps as Changes
from ..._engine.interrupts import two_phase
from ..._engine.tensor import Tensor
from ..._engine.value import Sources
from .order import Position
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

    # Whether steps may consist of several batches.
    _takes_several = True

    def __init__(
        self,
        source: EpochSource,
        position: Position,
        batch_size: int | None,
        read_ahead: bool,
        last_batch: LastBatch = "fill",
    ) -> None:
        self._source = source
        self._batch_size = batch_size
        self._read_ahead = read_ahead
        self._last_batch = last_batch
        order = source.order
        if last_batch == "fill" or order.pad:
            self._length = order.epoch_length(position)
        else:
            self._length = order.length_within_pass(position)
        self._mutex = _kernels.Mutex()
        self._over = Cell(False)
        # Where the reader was left: somewhere else if a loop that ran ahead was not delivered.
        self._left_at = position
        self._superseded = False
        self._steps: tuple[Steps, Iterator[Step]] | None = None
        self._prefetcher: Prefetcher[Step] | None = None
        # The step at hand, and how many of its batches or samples are delivered.
        self._step: Step | None = None
        self._index = 0
        self._pace = _kernels.Pace(_kernels.PaceKind.plain)

    @property
    def batch_size(self) -> int | None:
        """How many samples a step delivers; None for single samples."""
        return self._batch_size

    def __len__(self) -> int:
        if self._over.value or self._superseded:
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

    @two_phase
    def __next__(self) -> Delivered:
        outcome: Any = self.prepare_next()
        delivered: Delivered = outcome
        return delivered

    def prepare_next(self) -> tuple[Any, Changes, BaseException | None]:
        """What is delivered next, what changes by that, and what is to be raised instead."""
        if self._over.value:
            raise StopIteration
        self._pace.arrive()
        samples = 0
        try:
            outcome = self._prepare_next()
            if outcome[2] is None:
                values = outcome[0]
                samples = next(iter(values.values() if isinstance(values, dict) else values))._count
            return outcome
        finally:
            self._pace.depart(samples)

    def _prepare_next(self) -> tuple[Any, Changes, BaseException | None]:
        source = self._source
        self._refuse_if_superseded()
        if self._left_at is not source.cursor.position:
            self._stop()
            self._prefetcher, self._left_at = None, source.cursor.position
        step = self._step
        if step is None:
            try:
                step = self.next_step()
            except StopIteration:
                if self._over.value or self._superseded:
                    # Whoever ends an epoch before its time also says where the next one begins.
                    raise
                return None, self._end(), StopIteration()
        return self._prepare(step)

    def _end(self) -> Changes:
        """The changes when all is delivered."""
        changes: Changes = (
            *self._source.cursor.moving(self.end_position(self.where())),
            self._over.setting(True),
            (setattr, (self, "_steps", None)),
        )
        return changes if self._prefetcher is None else (*changes, (self._prefetcher.close, ()))

    def _refuse_if_superseded(self) -> None:
        if self._superseded:
            msg = (
                f"{self._source.operator}: this epoch ended when the reader's state was set. "
                "Iterate over what next_epoch() returned last."
            )
            raise RuntimeError(msg)

    def where(self) -> Position:
        """How far the epoch has come: the next step is after it."""
        return self._source.cursor.position

    def end_position(self, position: Position) -> Position:
        """Where the reader is when all is delivered, the last of it up to a position."""
        order = self._source.order
        return order.abandoned(position) if self._last_batch == "drop" else order.finished(position)

    def __reduce__(self) -> NoReturn:
        msg = f"{self._source.operator}: an epoch cannot be copied or pickled. Pickle the reader."
        raise TypeError(msg)

    def close(self) -> None:
        """End the epoch here."""
        self._over.value = True
        self._stop()

    def supersede(self) -> None:
        """End the epoch because the reader goes on somewhere else."""
        self._superseded = True
        self._stop()

    def _stop(self) -> None:
        self._step, self._index = None, 0
        self._steps = None
        if self._prefetcher is not None:
            self._prefetcher.stop()

    def next_step(self) -> Step:
        """The step after the one at hand. Asked again before it is delivered, it is the same."""
        prefetcher = self._prefetcher
        if self._read_ahead:
            if prefetcher is None or prefetcher.broken or prefetcher.in_other_process():
                if prefetcher is not None:
                    prefetcher.stop()
                depth = self._source.prefetch_queue_depth
                prefetcher = Prefetcher(
                    lambda capacity: iter(self._make_steps(capacity)), depth, _size_of
                )
                weakref.finalize(self, prefetcher.close)
                self._prefetcher = prefetcher
            return prefetcher.first()
        while True:
            if self._steps is None:
                steps = self._make_steps(None)
                self._steps = steps, iter(steps)
            steps, items = self._steps
            try:
                _kernels.store_result(self, "_step", next, items)
            except StopIteration:
                if steps.finished:
                    raise
                # It was interrupted: what it read is read again.
                self._steps = None
            else:
                assert self._step is not None
                return self._step

    def dropping(self) -> Changes:
        """What makes the step after the one at hand the next one."""
        return () if self._prefetcher is None else ((self._prefetcher.drop, ()),)

    def _make_steps(self, capacity: Callable[[], Capacity] | None) -> Steps:
        source = self._source
        position, size = self.where(), self._batch_size
        together = source.samples_together if self._takes_several else 0
        return Steps(source, position, self._length, size, self._last_batch, capacity, together)

    def _prepare(self, step: Step) -> tuple[Any, Changes, BaseException | None]:
        """The delivery of a batch, or sample, of a step."""
        index, source = self._index, self._source
        position = step.positions[index]
        changes: Changes = (
            *source.cursor.moving(position),
            (setattr, (self, "_left_at", position)),
        )
        if index + 1 < len(step.positions):
            changes += (setattr, (self, "_step", step)), (setattr, (self, "_index", index + 1))
        else:
            changes += (setattr, (self, "_step", None)), (setattr, (self, "_index", 0))
        if index == 0 and self._prefetcher is not None:
            changes += ((self._prefetcher.drop, ()),)
        failure: BaseException | None = step.failure
        if index == 0:
            noted, too_many = source.bad_samples.note(step.failed, source.order.size)
            changes += noted
            failure = too_many or failure
        values = None
        if failure is None:
            try:
                values = self._values(step, index)
            except Exception as error:
                failure = error
        return values, changes, failure

    def _values(self, step: Step, index: int) -> Any:
        if self._batch_size is not None:
            return self.shaped(self.batches(step.batch(index)))
        source = self._source
        names = source.sources(step.numbers[index : index + 1], len(step.outputs))
        values = [
            Tensor._of(samples.sample(index), name)
            for samples, name in zip(step.outputs, names, strict=True)
        ]
        if source.device != Device.CPU:
            values = [value.to_device(source.device) for value in values]
        return self.shaped(values)

    def batches(self, step: Step) -> list[Batch]:
        """The batches of a step, one for each output."""
        source = self._source
        names = source.sources(step.numbers, len(step.outputs))
        if step.valid < len(step.numbers):
            names = [Sources.of(part, step.valid) for part in names]
        values = [Batch._of(*pair) for pair in zip(step.outputs, names, strict=True)]
        if source.device != Device.CPU:
            values = [value.to_device(source.device) for value in values]
        return values

    def shaped(self, values: Sequence[Batch] | Sequence[Tensor]) -> Any:
        """What a step delivers: a tuple, or a dict if the outputs have names."""
        names = self._source.output_names
        return tuple(values) if names is None else dict(zip(names, values, strict=True))


def _size_of(step: Step) -> int:
    return step.nbytes


def only_output(
    outcome: tuple[Any, Changes, BaseException | None],
) -> tuple[Any, Changes, BaseException | None]:
    """What `prepare_next` returned, with an output that is the only one by itself."""
    delivered, *rest = outcome
    if isinstance(delivered, tuple) and len(delivered) == 1:
        return delivered[0], *rest
    return outcome
