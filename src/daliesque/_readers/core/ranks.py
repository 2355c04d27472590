# SPDX-License-Identifier: Apache-2.0
"""The order of samples for processes that take each batch together.

The processes, numbered by their rank, share one stream of samples. A step takes `batch_size`
samples for each of them out of the stream, and each process gets its part: so the steps are those
of one process with a batch that is as many times larger, whatever the number of processes is, and
where they all are in the stream is one number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .order import Numbers, Position, Walk
from .permutation import SampleStream
from .steps import LastBatch

# How many samples to look up at a time where any one will do.
_SEARCHED = 64


@dataclass(frozen=True)
class RankOrder:
    """What process `rank` of `world_size` gets of `length` samples from index `begin` on.

    If the rest is too small for a step, it is divided evenly, unless `last_batch` says "drop"; all
    processes make the same number of steps. If the stream `goes_on` after the samples, the last
    step takes what it lacks from there.
    """

    stream: SampleStream
    rank: int
    world_size: int
    batch_size: int
    begin: int
    length: int
    last_batch: LastBatch
    goes_on: bool = False
    # All processes count as many samples; what one of them lacks is repeated.
    pad: bool = True

    @property
    def size(self) -> int:
        """How many samples there are in all."""
        return self.stream.size

    @property
    def step_size(self) -> int:
        """How many samples all processes take in a step."""
        return self.batch_size * self.world_size

    @property
    def steps(self) -> int:
        """How many steps there are, for every process."""
        drops = self.last_batch == "drop" and not self.goes_on
        return self.length // self.step_size if drops else -(-self.length // self.step_size)

    def taken_after(self, steps: int) -> int:
        """How many of the samples all processes have taken after some steps."""
        taken = steps * self.step_size
        return taken if self.goes_on else min(taken, self.length)

    def share(self, step: int) -> tuple[int, int]:
        """Where the samples of this process in a step begin and end, counted from `begin`."""
        first = step * self.step_size
        count = self.taken_after(step + 1) - first
        return (
            first + count * self.rank // self.world_size,
            first + count * (self.rank + 1) // self.world_size,
        )

    def numbers(self, step: int) -> Numbers:
        """The samples of this process in a step."""
        first, end = self.share(step)
        return self.stream.between(self.begin + first, self.begin + end)

    def epoch_length(self, position: Position) -> int:  # noqa: ARG002
        """How many samples a process delivers, repeated ones included: the same for all."""
        if self.last_batch != "partial" or self.goes_on or self.length % self.step_size == 0:
            return self.steps * self.batch_size
        rest = self.length % self.step_size
        return (self.steps - 1) * self.batch_size + -(-rest // self.world_size)

    def length_within_pass(self, position: Position) -> int:
        """The same: there are no passes here."""
        return self.epoch_length(position)

    def left_of_pass(self, position: Position) -> int:
        """How many samples this process has yet to get, repeated ones not counted."""
        done, steps = position.delivered // self.batch_size, self.steps
        if done >= steps:
            return 0
        first, end = self.share(steps - 1)
        return (steps - 1 - done) * self.batch_size + end - first

    def finished(self, position: Position) -> Position:
        """The end; whoever has made the order also says how it goes on."""
        return position

    def abandoned(self, position: Position) -> Position:
        """The same."""
        return position

    def begun(self, position: Position) -> Position:
        """The same."""
        return position

    def aligned(self, position: Position) -> Position:
        """The same."""
        return position

    def walk(self, position: Position, within_pass: bool) -> Walk:  # noqa: ARG002
        """What takes samples from `position` on."""
        return RankWalk(self, position.delivered // self.batch_size)


class RankWalk(Walk):
    """Takes the samples of one step after the other.

    A step that lacks samples never takes those of the next one, which belong to other processes as
    well; and what it repeats does not depend on how the process came there.
    """

    def __init__(self, order: RankOrder, step: int) -> None:
        self._ranks = order
        self._next_step = step
        self._within_pass = True
        self._samples, self._taken = np.empty(0, np.int64), 0

    def begin_step(self) -> None:
        """Another step begins."""
        step, self._next_step = self._next_step, self._next_step + 1
        self._samples, self._taken = self._ranks.numbers(step), 0

    def previous(self, last: int) -> int:  # noqa: ARG002
        """Always another sample of the step, or one near it."""
        return -1

    def upcoming(self, count: int, steps: int) -> list[Numbers]:  # noqa: ARG002
        """The samples of the next steps."""
        first = self._next_step
        return [self._ranks.numbers(step) for step in range(first, self._ranks.steps)[:steps]]

    def nearest_first(self) -> Iterator[int]:
        """All samples, from the first one of the step on, then those before it."""
        order = self._ranks
        middle, _ = order.share(self._next_step - 1)
        for begin in range(middle, order.length, _SEARCHED):
            yield from self._between(begin, min(order.length, begin + _SEARCHED))
        for end in range(min(middle, order.length), 0, -_SEARCHED):
            yield from self._between(max(0, end - _SEARCHED), end)[::-1]

    def _between(self, begin: int, end: int) -> list[int]:
        first = self._ranks.begin
        numbers: list[int] = self._ranks.stream.between(first + begin, first + end).tolist()
        return numbers
