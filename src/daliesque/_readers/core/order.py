# SPDX-License-Identifier: Apache-2.0
"""The order in which a reader visits its samples.

The samples of a shard form an endless stream, lap after lap. A lap visits each sample of a shard
once; unless the reader sticks to its shard, each lap takes the next one. What a lap looks like is a
pure function of the arguments of `Order` and the number of the lap, so that a place in the stream
is a few numbers (`Position`), and any other process can find it again. The numbers are those of
the reference: the same arguments give the same samples.

An epoch is what one `next_epoch()` delivers: as many samples as the shard has, rounded up to whole
batches. Without padding the last batch takes what it lacks from the next lap, where the next epoch
then goes on; with padding it repeats the last sample, and each epoch is one lap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _kernels

# What the reference shuffles with unless told otherwise.
DEFAULT_SHUFFLE_SEED = 524287

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Shuffle:
    """How samples are mixed. All zero: they come as listed."""

    # The list of samples is permuted once, always in the same way.
    once: bool = False
    # Each sample is drawn from that many which are next; the draws depend on `seed`.
    reach: int = 0
    seed: int = 0
    # The list is permuted anew in each lap, as `lap_seed` says, from how the lap before left it
    # (`cumulative`) or from how it was at first.
    each_lap: bool = False
    lap_seed: int = 0
    cumulative: bool = False


class Leftover(NamedTuple):
    """What readers of another number of shards left of a lap when they were stopped.

    Each of them had taken `taken` samples since the beginning of lap `start`, which was itself
    what others had left over if `earlier` says so.
    """

    num_shards: int
    start: int
    taken: int
    earlier: Leftover | None


class Position(NamedTuple):
    """A place in the stream of a shard."""

    # Which epoch this is; it decides how many samples the epoch has.
    epoch: int = 0
    # Samples of this epoch that have been delivered.
    delivered: int = 0
    # `taken` samples of the stream have been used since lap `start` began.
    start: int = 0
    taken: int = 0
    # The sample delivered last, which padding repeats; -1 if not known.
    last: int = -1
    # Lap `start` consists of this.
    leftover: Leftover | None = None


@dataclass
class Order:
    """The order of `size` samples for one of `num_shards` readers.

    `groups` gives the ends of runs of samples (the files they are in) that `Shuffle.each_lap` keeps
    together: then the runs change places, not the samples.
    """

    size: int
    shuffle: Shuffle
    shard_id: int = 0
    num_shards: int = 1
    stick_to_shard: bool = False
    pad: bool = False
    groups: Numbers | None = None

    def __post_init__(self) -> None:
        # What is remembered is replaced and never changed: a thread of an epoch that was abandoned
        # may still be looking at it.
        # Shards of a list that is permuted in each lap are new ones anyway.
        self._sticks = self.stick_to_shard or self.shuffle.each_lap
        self._initial: Numbers | None = None
        # The list as permuted for a lap: the lap's number and the list.
        self._permuted: tuple[int, Numbers] | None = None
        # Where the generator of draws stands at the beginning of laps.
        self._engines: dict[int, int] = {0: _kernels.MinStd(self.shuffle.seed).state}
        self._leftovers: dict[Leftover, tuple[int, Numbers]] = {}

    def shard(self, number: int) -> tuple[int, int]:
        """The first sample of a shard and the one after its last."""
        number %= self.num_shards
        return (
            self.size * number // self.num_shards,
            self.size * (number + 1) // self.num_shards,
        )

    def _shard_of_lap(self, lap: int) -> tuple[int, int]:
        return self.shard(self.shard_id if self._sticks else self.shard_id + lap)

    def epoch_length(self, position: Position) -> int:
        """How many samples the epoch has, without rounding up to batches."""
        if position.leftover is not None and position.epoch == position.start:
            _, samples = self._left(position.leftover)
            return -(-len(samples) // self.num_shards) if self.pad else len(self._share(samples))
        if self.pad:
            return -(-self.size // self.num_shards)
        rotation = 0 if self.stick_to_shard else position.epoch
        begin, end = self.shard(self.shard_id + rotation)
        return end - begin

    def lap(self, number: int, leftover: Leftover | None = None) -> Numbers:
        """The samples of a lap, in order."""
        if leftover is not None:
            return self._share(self._left(leftover)[1])
        begin, end = self._shard_of_lap(number)
        listed = self._listed(number)
        samples = _count(begin, end) if listed is None else listed[begin:end].copy()
        if self.shuffle.reach:
            engine = self._engine(number)
            engine.shuffle_nearby(samples, self.shuffle.reach)
            self._remember(number + 1, engine.state)
        return samples

    def locate(self, position: Position) -> tuple[int, int]:
        """The lap that the last sample taken belongs to, and how many of the lap are taken."""
        lap, taken = position.start, position.taken
        if self.pad:
            return lap, taken
        if position.leftover is not None:
            share = len(self.lap(lap, position.leftover))
            if taken <= share:
                return lap, taken
            lap, taken = lap + 1, taken - share
        begin, end = self._shard_of_lap(lap)
        laps, samples = (1, end - begin) if self._sticks else (self.num_shards, self.size)
        periods = max(0, taken - 1) // samples
        lap, taken = lap + periods * laps, taken - periods * samples
        while True:
            begin, end = self._shard_of_lap(lap)
            if taken <= end - begin:
                return lap, taken
            lap, taken = lap + 1, taken - (end - begin)

    def finished(self, position: Position) -> Position:
        """Where the next epoch begins after one that was delivered completely."""
        lap, taken = self.locate(position)
        if self.pad:
            return fresh(lap + 1)
        following = position._replace(epoch=position.epoch + 1, delivered=0)
        if position.leftover is not None:
            if lap == position.start:
                return fresh(lap + 1)
            following = following._replace(start=lap, taken=taken, leftover=None)
        return following

    def begun(self, position: Position) -> Position:
        """Where a new epoch begins: after the present one, or in a new lap if it is abandoned."""
        if position.delivered == 0:
            return position
        if position.delivered >= self.epoch_length(position):
            return self.finished(position)
        return fresh(self.locate(position)[0] + 1)

    def resharded(self, position: Position, num_shards: int) -> Position:
        """Where to go on after readers of `num_shards` shards that stopped at `position`."""
        taken = max(position.taken, position.delivered) if self.pad else position.taken
        if taken == 0 and position.leftover is None:
            return fresh(position.start)
        leftover = Leftover(num_shards, position.start, taken, position.leftover)
        lap, samples = self._left(leftover)
        if len(samples) == 0:
            return fresh(lap + 1)
        return fresh(lap)._replace(leftover=leftover)

    def known_engine(self, position: Position) -> tuple[int, int] | None:
        """A lap near `position` and where the generator of draws stood at its beginning."""
        if not self.shuffle.reach:
            return None
        lap, _ = self.locate(position)
        engines = self._engines  # a reading thread may replace it
        known = max(number for number in engines if number <= lap)
        return known, engines[known]

    def set_engine(self, lap: int, state: int) -> None:
        """Take over what `known_engine` of an equal Order returned."""
        self._remember(lap, state)

    def _listed(self, lap: int) -> Numbers | None:
        """The list of samples as it is in a lap; None if it is 0, 1, 2, ..."""
        shuffle = self.shuffle
        if shuffle.once and self._initial is None:
            first = _count(0, self.size)
            _kernels.shuffle_indices(first, DEFAULT_SHUFFLE_SEED, False)
            self._initial = first
        if not shuffle.each_lap:
            return self._initial
        if self.groups is not None:
            return self._grouped(lap)
        known = self._permuted
        if known is not None and known[0] == lap:
            return known[1]
        if known is not None and known[0] < lap and shuffle.cumulative:
            start, listed = known[0], known[1].copy()
        else:
            start = -1 if shuffle.cumulative else lap - 1
            listed = _count(0, self.size) if self._initial is None else self._initial.copy()
        for number in range(start + 1, lap + 1):
            _kernels.shuffle_indices(listed, self._lap_seed(number), True)
        self._permuted = (lap, listed)
        return listed

    def _grouped(self, lap: int) -> Numbers:
        assert self.groups is not None
        ends = self.groups
        begins = np.concatenate([[0], ends[:-1]])
        order = _count(0, len(ends))
        _kernels.shuffle_indices(order, self._lap_seed(lap), True)
        return np.concatenate([_count(begins[group], ends[group]) for group in order])

    def _lap_seed(self, lap: int) -> int:
        return (self.shuffle.lap_seed + ((lap + 1) << 32)) % (1 << 64)

    def _engine(self, lap: int) -> _kernels.MinStd:
        known = max(number for number in self._engines if number <= lap)
        engine = _kernels.MinStd(0)
        engine.state = self._engines[known]
        for number in range(known, lap):
            begin, end = self._shard_of_lap(number)
            engine.shuffle_nearby(np.empty(end - begin, np.int64), self.shuffle.reach)
        self._remember(lap, engine.state)
        return engine

    def _remember(self, lap: int, engine: int) -> None:
        # Lap 0 stays, to start from; of the others only the latest are ever needed.
        kept = sorted(number for number in self._engines if number != lap)[1:][-16:]
        engines = {number: self._engines[number] for number in (0, *kept)}
        self._engines = {**engines, lap: engine}

    def _share(self, samples: Numbers) -> Numbers:
        """This shard's part of what was left of a lap."""
        count = len(samples)
        begin = count * self.shard_id // self.num_shards
        end = count * (self.shard_id + 1) // self.num_shards
        # With padding every shard has a sample to repeat.
        return samples[-1:] if self.pad and begin == end else samples[begin:end]

    def _left(self, leftover: Leftover) -> tuple[int, Numbers]:
        """The lap that the slowest of the readers was in, and all samples left of it."""
        known = self._leftovers.get(leftover)
        if known is not None:
            return known
        position = Position(start=leftover.start, taken=leftover.taken, leftover=leftover.earlier)
        orders = [self._of_shard(i, leftover.num_shards) for i in range(leftover.num_shards)]
        places = [order.locate(position) for order in orders]
        slowest = min(lap for lap, _ in places)
        earlier = leftover.earlier if slowest == leftover.start else None
        parts = []
        for order, (lap, taken) in zip(orders, places, strict=True):
            if lap == slowest:
                order._initial, order._permuted = self._initial, self._permuted
                parts.append(order.lap(slowest, earlier)[taken:])
                self._initial, self._permuted = order._initial, order._permuted
        left = self._leftovers[leftover] = (slowest, np.concatenate(parts))
        return left

    def _of_shard(self, shard_id: int, num_shards: int) -> Order:
        """The same order for another reader."""
        other = replace(self, shard_id=shard_id, num_shards=num_shards)
        # What is left of a lap does not depend on who asks.
        other._leftovers = self._leftovers
        return other


def _count(begin: int, end: int) -> Numbers:
    return np.arange(begin, end, dtype=np.int64)


def fresh(lap: int) -> Position:
    """The beginning of a lap."""
    return Position(epoch=lap, start=lap)


class Walk:
    """Takes samples from the stream, one after the other."""

    def __init__(self, order: Order, position: Position) -> None:
        self._order = order
        self._lap, self._taken = order.locate(position)
        leftover = position.leftover if self._lap == position.start else None
        self._samples = order.lap(self._lap, leftover)

    def take(self, count: int) -> Numbers:
        """The next samples: `count`, or with padding at most those that are left of the lap."""
        part = self.take_within_lap(count)
        if len(part) == count or self._order.pad:
            return part
        parts = [part]
        while (missing := count - sum(map(len, parts))) > 0:
            parts.append(self.take_within_lap(missing))
        return np.concatenate(parts)

    def take_within_lap(self, count: int) -> Numbers:
        """The next samples, at most `count`, of one lap: at least one, or none with padding."""
        while self._taken == len(self._samples) and not self._order.pad:
            self._lap, self._taken = self._lap + 1, 0
            self._samples = self._order.lap(self._lap)
        part = self._samples[self._taken : self._taken + count]
        self._taken += len(part)
        return part

    def put_back(self, count: int) -> None:
        """Undo `take_within_lap`, which returned `count` samples."""
        self._taken -= count

    def upcoming(self, count: int, steps: int) -> list[Numbers]:
        """What taking `count` samples will return next, `steps` times, up to the end of the lap."""
        last = len(self._samples) - count
        begins = range(self._taken, last + 1, count)[:steps]
        return [self._samples[begin : begin + count] for begin in begins]

    def neighbours(self) -> Iterator[int]:
        """The samples of the lap, nearest first: those to come, then those that have been."""
        yield from self._samples[self._taken :].tolist()
        yield from self._samples[: self._taken][::-1].tolist()
