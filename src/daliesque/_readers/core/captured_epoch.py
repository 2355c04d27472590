# SPDX-License-Identifier: Apache-2.0
"""Epochs of a reader that are capture-mode loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from ... import _kernels
from ..._capture.loop import CapturedSteps, CaptureLoop, Taken
from ..._engine.batch import Batch
from .epoch import Epoch
from .order import Position
from .source import Cursor, EpochSource
from .steps import LastBatch, Step

Delivered = TypeVar("Delivered", covariant=True)


class ReaderRoot:
    """An epoch as what a loop iterates over: reading does not move the cursor, the loop does."""

    def __init__(
        self, source: EpochSource, position: Position, batch_size: int, last_batch: LastBatch
    ) -> None:
        self._source = source
        self._epoch: Epoch[Any] = Epoch(source, position, batch_size, True, last_batch)
        # The position before the step at hand.
        self._before: Position | None = None
        self._end: Position | None = None

    @property
    def cursor(self) -> Cursor:
        """Where the reader is."""
        return self._source.cursor

    def peek(self) -> Taken:
        """The step after the position."""
        position = self.cursor.position
        if self._before is not None and self._before is not position:
            self._drop()
        step = self._epoch.next_step()
        self._before = position
        return self._taken(step)

    def ahead(self) -> Iterator[Taken]:
        """All steps from the position on."""
        if self._before is not None:
            self._drop()
        return self._steps()

    def _drop(self) -> None:
        _kernels.carry_out((*self._epoch.dropping(), (setattr, (self, "_before", None))))

    def _steps(self) -> Iterator[Taken]:
        while True:
            try:
                step = self._epoch.next_step()
            except StopIteration:
                return
            _kernels.carry_out(self._epoch.dropping())
            yield self._taken(step)

    def _taken(self, step: Step) -> Taken:
        values = () if step.failure is not None else tuple(self._epoch.batches(step))
        return Taken(values, step.positions[0], step.failure, step.failed)

    def shaped(self, values: tuple[Batch, ...]) -> Any:
        """A tuple or a dict."""
        return self._epoch.shaped(values)

    def note(self, taken: Taken) -> BaseException | None:
        """List the samples that were left out; returns what is to be raised."""
        source = self._source
        listing, too_many = source.bad_samples.note(taken.more, source.order.size)
        _kernels.carry_out(listing)
        return too_many or taken.failure

    def forget(self) -> None:
        """Keep nothing of what was delivered: nothing is kept."""

    def end(self) -> Position:
        """Where the reader is when the epoch is over."""
        if self._end is None:
            self._end = self._epoch.end_position()
        return self._end

    def stop(self) -> None:
        """Read no more."""
        self._epoch.close()


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

    def __next__(self) -> Delivered:
        self._refuse_if_superseded()
        if self._over.value:
            raise StopIteration
        try:
            # Nothing may come between the step and the user.
            return next(self._captured)  # type: ignore[no-any-return]
        except StopIteration:
            self.close()
            raise

    def _stop(self) -> None:
        super()._stop()
        self._captured.close()
        self._root.stop()
