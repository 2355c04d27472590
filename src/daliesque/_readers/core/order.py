# SPDX-License-Identifier: Apache-2.0
"""The order in which a reader visits its samples.

The samples of a shard form an endless stream, pass after pass. A pass visits each sample of a shard
once; unless the reader sticks to its shard, each pass takes the next one. The order of a pass is a
pure function of the arguments of `Order` and the number of the pass, so that a position in the
stream is a few numbers (`Position`), and any other process can find it again. The numbers are those
of the reference: the same arguments give the same samples.

An epoch is what one `next_epoch()` delivers: as many samples as the shard has, rounded up to whole
batches. Without padding the last batch takes what it lacks from the next pass, where the next epoch
then goes on; with padding it repeats the last sample, and each epoch is one pass. So is one whose
last batch is to be smaller, left out or padded (`LastBatch`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _kernels

# What the reference shuffles with by default.
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
    # The list is permuted in each pass, as `pass_seed` says, from how the pass before left it
    # (`cumulative`) or from how it was at first.
    each_pass: bool = False
    pass_seed: int = 0
    cumulative: bool = False

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any], permutes_list: bool) -> Shuffle:
        """What the arguments of a reader ask for."""
        pass_seed = settings["shuffle_after_epoch_seed"]
        pass_seed = DEFAULT_SHUFFLE_SEED if pass_seed is None else pass_seed
        drawn, each = settings["random_shuffle"], settings["shuffle_after_epoch"]
        return cls(
            once=drawn and permutes_list,
            reach=settings["initial_fill"] if drawn else 0,
            # The reference, too, looks at 32 bits of the one seed and 64 of the other.
            seed=settings["seed"] % (1 << 32) if drawn else 0,
            each_pass=each,
            pass_seed=pass_seed % (1 << 64) if each else 0,
            cumulative=each and not settings["enable_checkpointing"],
        )


class Remainder(NamedTuple):
    """What readers of another number of shards left of a pass when they were stopped.

    Each of them had taken `taken` samples since the beginning of pass `start`, which was itself
    what others had left over if `earlier` says so.
    """

    num_shards: int
    start: int
    taken: int
    earlier: Remainder | None


class Position(NamedTuple):
    """A position in the stream of a shard."""

    # Which epoch this is; it decides how many samples the epoch has.
    epoch: int = 0
    # Samples of this epoch that have been delivered.
    delivered: int = 0
    # `taken` samples of the stream have been used since pass `start` began.
    start: int = 0
    taken: int = 0
    # The sample delivered last, which padding repeats; -1 if not known.
    last: int = -1
    # Pass `start` consists of this.
    remainder: Remainder | None = None


@dataclass
class Order:
    """The order of `size` samples for one of `num_shards` readers.

    `groups` gives the ends of runs of samples (the files they are in) that `Shuffle.each_pass`
    keeps together: then the runs are permuted, not the samples.
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
        # Shards of a list that is permuted in each pass are new ones anyway.
        self._sticks = self.stick_to_shard or self.shuffle.each_pass
        self._initial: Numbers | None = None
        # The list as permuted for a pass: the number of the pass and the list.
        self._permuted: tuple[int, Numbers] | None = None
        # Where the generator of draws stands at the beginning of passes.
        self._engines: dict[int, int] = {0: _kernels.MinStd(self.shuffle.seed).state}
        self._remainders: dict[Remainder, tuple[int, Numbers]] = {}

    def shard(self, number: int) -> tuple[int, int]:
        """The first sample of a shard and the one after its last."""
        number %= self.num_shards
        return (
            self.size * number // self.num_shards,
            self.size * (number + 1) // self.num_shards,
        )

    def _shard_of_pass(self, pass_number: int) -> tuple[int, int]:
        return self.shard(self.shard_id if self._sticks else self.shard_id + pass_number)

    def epoch_length(self, position: Position) -> int:
        """How many samples the epoch has, without rounding up to batches."""
        if position.remainder is not None and position.epoch == position.start:
            _, samples = self._left(position.remainder)
            return -(-len(samples) // self.num_shards) if self.pad else len(self._share(samples))
        if self.pad:
            return -(-self.size // self.num_shards)
        rotation = 0 if self.stick_to_shard else position.epoch
        begin, end = self.shard(self.shard_id + rotation)
        return end - begin

    def left_of_pass(self, position: Position) -> int:
        """How many samples of the pass have not been taken."""
        pass_number, taken = self.locate(position)
        if position.remainder is not None and pass_number == position.start:
            return len(self.samples_of(pass_number, position.remainder)) - taken
        begin, end = self._shard_of_pass(pass_number)
        return end - begin - taken

    def length_within_pass(self, position: Position) -> int:
        """How many samples an epoch has that ends with its pass."""
        pass_number, taken = self.locate(position)
        # If it began with the pass, samples that were skipped count.
        gone = taken if position.epoch == position.start == pass_number else position.delivered
        return gone + self.left_of_pass(position)

    def samples_of(self, number: int, remainder: Remainder | None = None) -> Numbers:
        """The samples of a pass, in order."""
        if remainder is not None:
            return self._share(self._left(remainder)[1])
        begin, end = self._shard_of_pass(number)
        listed = self._listed(number)
        samples = _count(begin, end) if listed is None else listed[begin:end].copy()
        if self.shuffle.reach:
            engine = self._engine(number)
            engine.shuffle_nearby(samples, self.shuffle.reach)
            self._remember(number + 1, engine.state)
        return samples

    def walk(self, position: Position, within_pass: bool) -> Walk:
        """What takes samples from `position` on; with `within_pass`, those of one pass."""
        return Walk(self, position, within_pass)

    def locate(self, position: Position) -> tuple[int, int]:
        """The pass that the last sample taken belongs to, and how many of its samples are taken."""
        pass_number, taken = position.start, position.taken
        if self.pad:
            return pass_number, taken
        if position.remainder is not None:
            share = len(self.samples_of(pass_number, position.remainder))
            if taken <= share:
                return pass_number, taken
            pass_number, taken = pass_number + 1, taken - share
        begin, end = self._shard_of_pass(pass_number)
        passes, samples = (1, end - begin) if self._sticks else (self.num_shards, self.size)
        periods = max(0, taken - 1) // samples
        pass_number, taken = pass_number + periods * passes, taken - periods * samples
        while True:
            begin, end = self._shard_of_pass(pass_number)
            if taken <= end - begin:
                return pass_number, taken
            pass_number, taken = pass_number + 1, taken - (end - begin)

    def finished(self, position: Position) -> Position:
        """Where the next epoch begins after one that was delivered completely."""
        pass_number, taken = self.locate(position)
        if self.pad:
            return fresh(pass_number + 1)
        following = position._replace(epoch=position.epoch + 1, delivered=0)
        if position.remainder is not None:
            if pass_number == position.start:
                return fresh(pass_number + 1)
            following = following._replace(start=pass_number, taken=taken, remainder=None)
        return following

    def begun(self, position: Position) -> Position:
        """Where a new epoch begins: after the present one, or in a new pass if it is abandoned."""
        if position.delivered == 0:
            return position
        if position.delivered >= self.epoch_length(position):
            return self.finished(position)
        return self.abandoned(position)

    def abandoned(self, position: Position) -> Position:
        """The beginning of the next pass."""
        return fresh(self.locate(position)[0] + 1)

    def aligned(self, position: Position) -> Position:
        """Where an epoch begins that is one pass: not in the middle of one."""
        if position.delivered == 0 and position.taken > 0:
            return self.abandoned(position)
        return position

    def resharded(self, position: Position, num_shards: int) -> Position:
        """Where to go on after readers of `num_shards` shards that stopped at `position`."""
        taken = max(position.taken, position.delivered) if self.pad else position.taken
        if taken == 0 and position.remainder is None:
            return fresh(position.start)
        remainder = Remainder(num_shards, position.start, taken, position.remainder)
        pass_number, samples = self._left(remainder)
        if len(samples) == 0:
            return fresh(pass_number + 1)
        return fresh(pass_number)._replace(remainder=remainder)

    def known_engine(self, position: Position) -> tuple[int, int] | None:
        """A pass near `position` and where the generator of draws stood at its beginning."""
        if not self.shuffle.reach:
            return None
        pass_number, _ = self.locate(position)
        engines = self._engines  # a reading thread may replace it
        known = max(number for number in engines if number <= pass_number)
        return known, engines[known]

    def set_engine(self, pass_number: int, state: int) -> None:
        """Take over what `known_engine` of an equal Order returned."""
        self._remember(pass_number, state)

    def _listed(self, pass_number: int) -> Numbers | None:
        """The list of samples as it is in a pass; None if it is 0, 1, 2, ..."""
        shuffle = self.shuffle
        if shuffle.once and self._initial is None:
            first = _count(0, self.size)
            _kernels.shuffle_indices(first, DEFAULT_SHUFFLE_SEED, False)
            self._initial = first
        if not shuffle.each_pass:
            return self._initial
        if self.groups is not None:
            return self._grouped(pass_number)
        known = self._permuted
        if known is not None and known[0] == pass_number:
            return known[1]
        if known is not None and known[0] < pass_number and shuffle.cumulative:
            start, listed = known[0], known[1].copy()
        else:
            start = -1 if shuffle.cumulative else pass_number - 1
            listed = _count(0, self.size) if self._initial is None else self._initial.copy()
        for number in range(start + 1, pass_number + 1):
            _kernels.shuffle_indices(listed, self._pass_seed(number), True)
        self._permuted = (pass_number, listed)
        return listed

    def _grouped(self, pass_number: int) -> Numbers:
        assert self.groups is not None
        ends = self.groups
        begins = np.concatenate([[0], ends[:-1]])
        order = _count(0, len(ends))
        _kernels.shuffle_indices(order, self._pass_seed(pass_number), True)
        return np.concatenate([_count(begins[group], ends[group]) for group in order])

    def _pass_seed(self, pass_number: int) -> int:
        return (self.shuffle.pass_seed + ((pass_number + 1) << 32)) % (1 << 64)

    def _engine(self, pass_number: int) -> _kernels.MinStd:
        known = max(number for number in self._engines if number <= pass_number)
        engine = _kernels.MinStd(0)
        engine.state = self._engines[known]
        for number in range(known, pass_number):
            begin, end = self._shard_of_pass(number)
            engine.shuffle_nearby(np.empty(end - begin, np.int64), self.shuffle.reach)
        self._remember(pass_number, engine.state)
        return engine

    def _remember(self, pass_number: int, engine: int) -> None:
        # Pass 0 stays, to start from; of the others only the latest are ever needed.
        kept = sorted(number for number in self._engines if number != pass_number)[1:][-16:]
        engines = {number: self._engines[number] for number in (0, *kept)}
        self._engines = {**engines, pass_number: engine}

    def _share(self, samples: Numbers) -> Numbers:
        """This shard's part of what was left of a pass."""
        count = len(samples)
        begin = count * self.shard_id // self.num_shards
        end = count * (self.shard_id + 1) // self.num_shards
        # With padding every shard has a sample to repeat.
        return samples[-1:] if self.pad and begin == end else samples[begin:end]

    def _left(self, remainder: Remainder) -> tuple[int, Numbers]:
        """The pass that the slowest of the readers was in, and all samples left of it."""
        known = self._remainders.get(remainder)
        if known is not None:
            return known
        position = Position(
            start=remainder.start, taken=remainder.taken, remainder=remainder.earlier
        )
        shards = remainder.num_shards
        orders = [self._of_shard(i, shards) for i in range(shards)]
        positions = [order.locate(position) for order in orders]
        slowest = min(pass_number for pass_number, _ in positions)
        earlier = remainder.earlier if slowest == remainder.start else None
        parts = []
        for order, (pass_number, taken) in zip(orders, positions, strict=True):
            if pass_number == slowest:
                order._initial, order._permuted = self._initial, self._permuted
                parts.append(order.samples_of(slowest, earlier)[taken:])
                self._initial, self._permuted = order._initial, order._permuted
        left = self._remainders[remainder] = (slowest, np.concatenate(parts))
        return left

    def _of_shard(self, shard_id: int, num_shards: int) -> Order:
        """The same order for another reader."""
        other = replace(self, shard_id=shard_id, num_shards=num_shards)
        # What is left of a pass does not depend on who asks.
        other._remainders = self._remainders
        return other


def _count(begin: int, end: int) -> Numbers:
    return np.arange(begin, end, dtype=np.int64)


def fresh(pass_number: int) -> Position:
    """The beginning of a pass."""
    return Position(epoch=pass_number, start=pass_number)


class Walk:
    """Takes samples from the stream, one after the other; with `within_pass` from one pass."""

    def __init__(self, order: Order, position: Position, within_pass: bool) -> None:
        self._order = order
        self._within_pass = within_pass
        self._pass, self._taken = order.locate(position)
        remainder = position.remainder if self._pass == position.start else None
        self._samples = order.samples_of(self._pass, remainder)

    def begin_step(self) -> None:
        """Another step begins: all its samples come from one stream."""

    def previous(self, last: int) -> int:
        """The sample to repeat if the first ones of a step are missing: -1 to look for one."""
        return last

    def take(self, count: int) -> Numbers:
        """The next samples: `count`, or at most those that are left of the pass."""
        part = self.take_within_pass(count)
        if len(part) == count or self._within_pass:
            return part
        parts = [part]
        while (missing := count - sum(map(len, parts))) > 0:
            parts.append(self.take_within_pass(missing))
        return np.concatenate(parts)

    def take_within_pass(self, count: int) -> Numbers:
        """The next samples, at most `count`, of one pass: none if all of it is to be taken."""
        while self._taken == len(self._samples) and not self._within_pass:
            self._pass, self._taken = self._pass + 1, 0
            self._samples = self._order.samples_of(self._pass)
        part = self._samples[self._taken : self._taken + count]
        self._taken += len(part)
        return part

    def left_of_pass(self) -> int:
        """How many samples are left of the pass."""
        return len(self._samples) - self._taken

    def put_back(self, count: int) -> None:
        """Undo `take_within_pass`, which returned `count` samples."""
        self._taken -= count

    def upcoming(self, count: int, steps: int) -> list[Numbers]:
        """What taking `count` samples returns next, `steps` times, up to the end of the pass."""
        last = len(self._samples) - count
        begins = range(self._taken, last + 1, count)[:steps]
        return [self._samples[begin : begin + count] for begin in begins]

    def nearest_first(self) -> Iterator[int]:
        """The samples of the pass, nearest first: those to come, then those that have been."""
        yield from self._samples[self._taken :].tolist()
        yield from self._samples[: self._taken][::-1].tolist()
