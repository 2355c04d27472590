# SPDX-License-Identifier: Apache-2.0
"""Which samples are in which batch of an epoch, and which batches a task makes.

All of it follows from a few numbers, so that a task that is run again, elsewhere, makes the same.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from .._loops.loading import Progress
from .._readers.core.order import Position
from .._readers.core.permutation import SampleStream
from .._readers.core.ranks import RankOrder

LastBatch: TypeAlias = Literal["partial", "pad", "drop"]
# Rows from the first number on, up to the second.
Range: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class RowSet:
    """A set of rows, as ranges that do not touch, in order."""

    ranges: tuple[Range, ...] = ()

    @classmethod
    def of(cls, ranges: Iterable[Sequence[int]]) -> RowSet:
        """The rows of some ranges, which may overlap."""
        found: list[list[int]] = []
        for begin, end in sorted((int(begin), int(end)) for begin, end in ranges):
            if found and begin <= found[-1][1]:
                found[-1][1] = max(found[-1][1], end)
            elif begin < end:
                found.append([begin, end])
        return cls(tuple((begin, end) for begin, end in found))

    @classmethod
    def of_rows(cls, rows: Iterable[int]) -> RowSet:
        """The rows that are given one by one."""
        return cls.of((row, row + 1) for row in rows)

    def with_rows(self, rows: Iterable[int]) -> RowSet:
        """These rows and some more."""
        return RowSet.of((*self.ranges, *RowSet.of_rows(rows).ranges))

    def count(self, begin: int, end: int) -> int:
        """How many rows of a range are in the set."""
        total = 0
        first = max(0, bisect.bisect_right(self.ranges, (begin, end)) - 1)
        for low, high in self.ranges[first:]:
            if low >= end:
                break
            total += max(0, min(end, high) - max(begin, low))
        return total

    def __len__(self) -> int:
        return sum(end - begin for begin, end in self.ranges)

    def __bool__(self) -> bool:
        return len(self.ranges) > 0

    def __contains__(self, row: object) -> bool:
        return isinstance(row, int) and self.count(row, row + 1) > 0


NO_ROWS = RowSet()


class Run(NamedTuple):
    """Batches of an epoch that one task makes, by their numbers, and how many rows these are."""

    batches: Sequence[int]
    rows: int


@dataclass(frozen=True)
class EpochPlan:
    """The batches of one epoch of `size` samples.

    Rows are numbered in the order of the epoch, and each `batch_size` of them are a batch. Rows
    that are `done` were delivered before, and are not delivered again. The number of those that
    are is a multiple of `batch_size * splits` if `last_batch` says so.
    """

    size: int
    run: int
    seed: int
    epoch: int
    batch_size: int
    splits: int
    last_batch: LastBatch
    done: RowSet = NO_ROWS

    @property
    def batches(self) -> int:
        """How many batches the samples make."""
        return -(-self.size // self.batch_size)

    def share(self, batch: int) -> Range:
        """The rows of a batch."""
        begin = batch * self.batch_size
        return begin, min(self.size, begin + self.batch_size)

    @functools.cached_property
    def _target(self) -> int:
        """How many rows to deliver."""
        left, step = self.size - len(self.done), self.batch_size * self.splits
        if self.last_batch == "partial":
            return left
        return left // step * step if self.last_batch == "drop" else -(-left // step) * step

    @functools.cached_property
    def excluded(self) -> RowSet:
        """The rows that are not delivered: they are done, or the last ones that are too many."""
        surplus = self.size - len(self.done) - self._target
        if surplus <= 0:
            return self.done
        low, high = 0, self.size
        while low < high:
            middle = (low + high) // 2
            behind = self.size - middle - self.done.count(middle, self.size)
            low, high = (middle + 1, high) if behind > surplus else (low, middle)
        return RowSet.of((*self.done.ranges, (low, self.size)))

    @functools.cached_property
    def _left(self) -> Sequence[int]:
        """The batches of which something is delivered."""
        if not self.done:
            return range(-(-min(self._target, self.size) // self.batch_size))
        return [batch for batch in range(self.batches) if self._rows_of(batch)]

    def _rows_of(self, batch: int) -> int:
        begin, end = self.share(batch)
        return end - begin - self.excluded.count(begin, end)

    def delivers(self, batch: int) -> int:
        """How many rows are to be delivered of a batch; the last one repeats some if need be."""
        padding = max(0, self._target - (self.size - len(self.done)))
        return self._rows_of(batch) + (padding if batch == self._left[-1] else 0)

    def tasks(self, count: int) -> list[Run]:
        """The batches that are left, in at most `count` runs of about as many each."""
        left = self._left
        parts = max(1, min(count, len(left)))
        cuts = [len(left) * index // parts for index in range(parts + 1)]
        runs = [left[begin:end] for begin, end in itertools.pairwise(cuts)]
        return [Run(run, sum(map(self.delivers, run))) for run in runs if run]

    def progress(self) -> Progress:
        """The beginning of the epoch."""
        return Progress(self.epoch, self.epoch * self.size, self.size)

    def order(self, run: Run) -> RunOrder:
        """What a reader delivers for a run of batches."""
        return RunOrder(
            SampleStream(self.size, self.run, self.seed),
            0,
            1,
            self.batch_size,
            self.epoch * self.size,
            self.size,
            "partial",
            plan=self,
            run=run,
        )


@dataclass(frozen=True)
class RunOrder(RankOrder):
    """Some batches of an epoch, one in each step."""

    plan: Any = None
    run: Any = None

    @property
    def steps(self) -> int:
        """One for each batch."""
        return len(self.run.batches)

    def taken_after(self, steps: int) -> int:
        """How many batches' worth of samples; not what a consumer has got."""
        return steps * self.batch_size

    def share(self, step: int) -> Range:
        """The rows of the batch of a step."""
        share: Range = self.plan.share(self.run.batches[step])
        return share

    def epoch_length(self, position: Position) -> int:  # noqa: ARG002
        """As if all batches were whole: what a smaller one lacks is found out when it is read."""
        return self.steps * self.batch_size

    def left_of_pass(self, position: Position) -> int:
        """Likewise."""
        return self.epoch_length(position) - position.delivered
