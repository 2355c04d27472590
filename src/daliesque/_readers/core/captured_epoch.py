# SPDX-License-Identifier: Apache-2.0
"""Epochs of a reader that are capture-mode loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from ... import _kernels
from ..._capture.loop import CapturedSteps, CaptureLoop, Taken
from ..._engine.batch import Batch
from ..._engine.interrupts import Steps as Changes
from .epoch import Epoch
from .order import Position
from .source import EpochSource
from .steps import LastBatch, Step

Delivered = TypeVar("Delivered", covariant=True)


class _RootSteps(Epoch[Any]):
    """The steps of an epoch for a loop, which takes them before they are delivered."""

    _takes_several = False

    def __init__(
        self, source: EpochSource, position: Position, batch_size: int, last_batch: LastBatch
    ) -> None:
        super().__init__(source, position, batch_size, True, last_batch)
        self._taken_to = position

    def where(self) -> Position:
        """After what was taken."""
        return self._taken_to

    def go_to(self, position: Position) -> None:
        """Go on somewhere else; before anything was taken."""
        self._taken_to = position

    def taking(self, step: Step) -> Changes:
        """What makes the step after the one at hand the next one."""
        return (*self.dropping(), (setattr, (self, "_taken_to", step.positions[0])))

    def take(self) -> Step:
        """Take a step; for the thread of the loop."""
        step = self.next_step()
        _kernels.carry_out(self.taking(step))
        return step

    @property
    def is_stopped(self) -> bool:
        """Whether the reading was ended."""
        return self._prefetcher is not None and self._prefetcher.is_closed

    def stopping(self) -> Changes:
        """What ends the reading."""
        return () if self._prefetcher is None else ((self._prefetcher.close, ()),)


class ReaderRoot:
    """An epoch as what a loop iterates over: reading does not move the cursor, the loop does."""

    def __init__(
        self, source: EpochSource, position: Position, batch_size: int, last_batch: LastBatch
    ) -> None:
        self._source = source
        self.begin = position
        self._options = batch_size, last_batch
        self._steps = _RootSteps(source, position, *self._options)
        # The step that was looked at last.
        self._peeked: Step | None = None

    def moving(self, position: Position) -> Changes:
        """What sets where the reader is."""
        return self._source.cursor.moving(position)

    @property
    def identity(self) -> Any:
        """What is equal for two roots that are the same epoch."""
        return id(self._source.order), self.begin, self._options

    def peek(self) -> Taken:
        """The step after the position."""
        self._go_to(self._source.cursor.position)
        self._peeked = step = self._steps.next_step()
        return self._taken(step)

    def taking(self) -> Changes:
        """What makes the step after the one that was looked at the next one."""
        assert self._peeked is not None
        return self._steps.taking(self._peeked)

    def ahead(self, position: Position | None = None) -> Iterator[Taken]:
        """All steps after a position; by default, after what was delivered."""
        self._go_to(self._source.cursor.position if position is None else position)
        return self._take_all(self._steps)

    def _go_to(self, position: Position) -> None:
        if self._steps.where() is not position or self._steps.is_stopped:
            # What was taken is not going to be delivered. Another thread may still be at it.
            self._steps.close()
            steps = _RootSteps(self._source, self.begin, *self._options)
            steps.go_to(position)
            self._steps = steps

    def _take_all(self, steps: _RootSteps) -> Iterator[Taken]:
        try:
            while True:
                try:
                    step = steps.take()
                except StopIteration:
                    return
                yield self._taken(step)
        finally:
            steps.close()

    def _taken(self, step: Step) -> Taken:
        values = () if step.failure is not None else tuple(self._steps.batches(step))
        return Taken(values, step.positions[0], step.failure, step.failed)

    def shaped(self, values: tuple[Batch, ...]) -> Any:
        """A tuple or a dict."""
        return self._steps.shaped(values)

    def note(self, taken: Taken) -> tuple[Changes, BaseException | None]:
        """What lists the samples that were left out, and what is to be raised."""
        source = self._source
        listing, too_many = source.bad_samples.note(taken.more, source.order.size)
        return listing, too_many or taken.failure

    def end(self) -> Position:
        """Where the reader is when the epoch is over."""
        return self._steps.end_position(self._source.cursor.position)

    def following(self) -> ReaderRoot:
        """The next epoch, as `Reader.next_epoch` would begin it."""
        order, (_, last_batch) = self._source.order, self._options
        position = order.begun(self._steps.end_position(self._steps.where()))
        if last_batch != "fill":
            position = order.aligned(position)
        return ReaderRoot(self._source, position, *self._options)

    def stopping(self) -> Changes:
        """What ends the reading."""
        return self._steps.stopping()

    def stop(self) -> None:
        """Read no more."""
        self._steps.close()


class CapturedEpoch(Epoch[Delivered]):
    """One epoch of a reader, the body of which is traced and runs ahead."""

    def __init__(
        self,
        source: EpochSource,
        position: Position,
        batch_size: int,
        last_batch: LastBatch,
        loop: CaptureLoop,
    ) -> None:
        super().__init__(source, position, batch_size, True, last_batch)
        self._root = ReaderRoot(source, position, batch_size, last_batch)
        self._captured = CapturedSteps(loop, self._root)

    def prepare_next(self) -> tuple[Any, Changes, BaseException | None]:
        """What is delivered next, what changes by that, and what is to be raised instead."""
        if self._over.value:
            raise StopIteration
        self._refuse_if_superseded()
        delivered, changes, failure = self._captured.prepare_next()
        if isinstance(failure, StopIteration):
            changes = (*changes, *self._root.stopping(), self._over.setting(True))
        return delivered, changes, failure

    def _stop(self) -> None:
        super()._stop()
        self._captured.close()
        self._root.stop()
