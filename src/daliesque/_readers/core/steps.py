# SPDX-License-Identifier: Apache-2.0
"""From an order of samples to what an epoch delivers, step by step."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ... import _kernels
from .bad_samples import Failed
from .order import Numbers, Position, Walk
from .source import EpochSource, Fetched, Fetcher

# What to do about the last batch of an epoch if there are not enough samples for it.
LastBatch: TypeAlias = Literal["fill", "partial", "drop", "pad"]
LAST_BATCHES: tuple[str, ...] = get_args(LastBatch)

# The bytes that small batches may have to be read together, so that the thread which reads ahead
# is not woken for each of them.
_MOST_BYTES_TOGETHER = 4 << 20

# Instead of a row of data: the sample that was delivered before.
_PREVIOUS = -1


class Step(NamedTuple):
    """One batch, or some small batches or single samples.

    `positions` says where the reader is after each of them. `valid` says how many samples of a
    batch count. If `failure` is set, it is to be raised instead.
    """

    outputs: tuple[_kernels.Samples, ...]
    numbers: list[int]
    positions: list[Position]
    failed: list[Failed]
    failure: Exception | None = None
    valid: int = 0

    @property
    def nbytes(self) -> int:
        """The bytes of all outputs."""
        return sum(samples.nbytes for samples in self.outputs)

    def batch(self, index: int) -> Step:
        """One batch of several."""
        if len(self.positions) == 1:
            return self
        begin, end = index * self.valid, (index + 1) * self.valid
        outputs = tuple(samples.between(begin, end) for samples in self.outputs)
        numbers = self.numbers[begin:end]
        return self._replace(outputs=outputs, numbers=numbers)


class Capacity(NamedTuple):
    """How much may be read ahead: so many steps, of so many bytes together."""

    steps: int
    nbytes: int


class Steps:
    """The steps of an epoch of `length` samples, from `position` on.

    `capacity` returns, whenever a step begins, how much may be read ahead. With it, a step may
    consist of several batches, of at most `together` samples.
    """

    def __init__(
        self,
        source: EpochSource,
        position: Position,
        length: int,
        batch_size: int | None,
        last_batch: LastBatch,
        capacity: Callable[[], Capacity] | None = None,
        together: int = 0,
    ) -> None:
        self._source = source
        self._position = position
        self._length = length
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._capacity = capacity
        self._together = 0 if capacity is None else together
        # How many samples the next step may have, if these are several batches.
        self._samples = 0
        # Samples that were read together, some of which failed: each batch is made by itself.
        self._waiting = _Waiting(np.empty(0, np.int64), Fetched((), {}))
        self._fetcher: Fetcher | None = None
        # Whether there are no more; a generator that was interrupted ends as well.
        self.finished = False

    def __iter__(self) -> Iterator[Step]:
        if self._position.delivered >= self._length:
            self.finished = True
            return
        walk = self._source.order.walk(self._position, self._last_batch != "fill")
        self._fetcher = None if self._capacity is None else self._source.make_fetcher()
        try:
            yield from self._read_all(walk)
            self.finished = True
        finally:
            if self._fetcher is not None:
                self._fetcher.close()

    def _read_all(self, walk: Walk) -> Iterator[Step]:
        while (left := self._length - self._position.delivered) > 0:
            if self._batch_size is None:
                yield from self._read_samples(walk, min(left, self._source.samples_at_once))
            elif self._last_batch == "drop" and left < self._batch_size:
                return
            elif (step := self._read_small(walk, left, self._batch_size)) is not None:
                yield step
            elif self._last_batch == "partial":
                yield self._counted(self._read_batch, walk, min(left, self._batch_size))
            else:
                yield self._counted(self._read_batch, walk, self._batch_size)

    def _counted(
        self, read: Callable[[Walk, int], Step], walk: Walk, count: int, calls: int = 1
    ) -> Step:
        """A step, the reading of which is counted for the reader."""
        step: Step = _kernels.run_under(self._source.operator, True, calls, read, walk, count)
        if self._together:
            # Twice as many as this time, one batch after something was wrong.
            fitting = count * _MOST_BYTES_TOGETHER // max(step.nbytes, 1)
            twice = 2 * count if step.positions else 0
            self._samples = min(twice, self._together, fitting)
        return step

    def _read_small(self, walk: Walk, left: int, size: int) -> Step | None:
        """Some batches that are read together; None if there is to be one, or something is wrong.

        Their number doubles from step to step, so that the first batch is not late.
        """
        batches = min(self._samples, left, walk.left_of_pass()) // size
        if batches < 2 or self._waiting.count:
            return None
        step = self._counted(self._read_together, walk, batches * size, 0)
        if not step.positions:
            return None
        _kernels.count_calls(self._source.operator, True, batches, 0, 0)
        return step

    def _read_samples(self, walk: Walk, count: int) -> Iterator[Step]:
        """Single samples, read together as long as nothing goes wrong."""
        step = self._counted(self._read_together, walk, count)
        if step.positions:
            yield step
            return
        for _ in range(max(1, len(step.numbers))):
            yield self._counted(self._read_batch, walk, 1)

    def _read_together(self, walk: Walk, count: int) -> Step:
        """Samples or batches that are read as one; without positions if something is wrong."""
        numbers = walk.take_within_pass(count)
        fetched = self._fetched(numbers, walk, count) if len(numbers) else None
        if isinstance(fetched, Fetched) and not fetched.errors:
            size = self._batch_size or 1
            lasts = numbers.tolist()[size - 1 :: size]
            positions = [self._advance(size, size, number) for number in lasts]
            return Step(fetched.outputs, numbers.tolist(), positions, [], valid=size)
        walk.put_back(len(numbers))
        if isinstance(fetched, Fetched):
            self._waiting = _Waiting(numbers, fetched)
        return Step((), numbers.tolist(), [], [])

    def _read_batch(self, walk: Walk, count: int) -> Step:
        bad_samples = self._source.bad_samples
        walk.begin_step()
        batch = _Batch(walk.previous(self._position.last))
        failed: list[Failed] = []
        taken = unread = 0
        valid = min(count, self._length - self._position.delivered)
        failure: Exception | None = None
        while (missing := count - len(batch.rows)) > 0 and failure is None:
            numbers = walk.take(missing)
            if len(numbers) == 0:
                valid = min(valid, len(batch.rows))
                # Samples that were skipped make a smaller batch, but not one of nothing.
                batch.pad(max(1 - valid, 0) if self._last_batch == "partial" else missing)
                break
            taken += len(numbers)
            fetched = self._fetched(numbers, walk, count)
            if isinstance(fetched, Exception):
                failure = fetched
                break
            for index, error in fetched.errors.items():
                where = len(batch.rows) + index if self._batch_size is not None else None
                failed.append(self._explain(int(numbers[index]), error, where))
            batch.add(numbers, fetched, bad_samples.policy == "replace")
            unread = 0 if fetched.outputs else unread + len(numbers)
            if failed and bad_samples.policy == "raise":
                failure = failed[0].exception
            elif unread >= self._source.order.size:
                failure = bad_samples.none_left(failed[-1].exception)
        if failure is None:
            try:
                batch.complete(self._source, walk)
            except Exception as error:
                failure = error
        if failure is not None:
            position = self._advance(count, taken, self._position.last)
            return Step((), [], [position], failed, failure)
        position = self._advance(count, taken, batch.numbers[-1])
        return Step(batch.outputs, batch.numbers, [position], failed, valid=valid)

    def _fetched(self, numbers: Numbers, walk: Walk, count: int) -> Fetched | Exception:
        """Samples, some of which may wait; those of the next step are the next `count`."""
        waiting = self._waiting.take(numbers)
        known = waiting.count
        if known == len(numbers):
            return waiting.fetched
        read = self._read(numbers[known:], walk, count)
        if known == 0 or isinstance(read, Exception):
            return read
        errors = {known + index: error for index, error in read.errors.items()}
        outputs = _join(waiting.fetched.outputs, read.outputs)
        return Fetched(outputs, waiting.fetched.errors | errors)

    def _read(self, numbers: Numbers, walk: Walk, count: int) -> Fetched | Exception:
        try:
            if self._fetcher is None or self._capacity is None:
                return self._source.fetch(numbers)
            capacity = self._capacity()
            left = max(0, self._length - self._position.delivered - count)
            expected = walk.upcoming(count, min(capacity.steps, -(-left // count)))
            return self._fetcher.fetch(numbers, expected, capacity.nbytes)
        except Exception as error:
            return error

    def _explain(self, number: int, error: Exception, index: int | None) -> Failed:
        name = self._source.full_name(number)
        return Failed(number, name, self._source.bad_samples.explain(name, error, index))

    def _advance(self, delivered: int, taken: int, last: int) -> Position:
        position = self._position
        self._position = position._replace(
            delivered=position.delivered + delivered, taken=position.taken + taken, last=last
        )
        return self._position


class _Waiting:
    """Samples that were read and not used yet, in the order in which they are wanted."""

    def __init__(self, numbers: Numbers, fetched: Fetched) -> None:
        self._numbers = numbers
        self.fetched = fetched
        self.count = len(numbers)

    def take(self, numbers: Numbers) -> _Waiting:
        """The first of them, which are the first of `numbers`."""
        count = min(len(numbers), self.count)
        taken = _Waiting(self._numbers[:count], self._between(0, count))
        assert (taken._numbers == numbers[:count]).all()
        self.fetched = self._between(count, self.count)
        self._numbers, self.count = self._numbers[count:], self.count - count
        return taken

    def _between(self, begin: int, end: int) -> Fetched:
        outputs, errors = self.fetched
        first, last = (k - sum(index < k for index in errors) for k in (begin, end))
        chosen = {k - begin: error for k, error in errors.items() if begin <= k < end}
        if first == last:
            return Fetched((), chosen)
        return Fetched(tuple(samples.between(first, last) for samples in outputs), chosen)


class _Batch:
    """A batch in the making: samples that were read, and which of them goes where."""

    def __init__(self, previous: int) -> None:
        self.outputs: tuple[_kernels.Samples, ...] = ()
        self.numbers: list[int] = []
        # For each sample of the batch, which sample of `outputs` it gets.
        self.rows: list[int] = []
        self._previous = previous

    def add(self, numbers: Numbers, fetched: Fetched, repeat: bool) -> None:
        """Append samples; those that failed are left out, or replaced by the one before."""
        if not fetched.errors:
            self.rows += range(len(self.numbers), len(self.numbers) + len(numbers))
            self.numbers += numbers.tolist()
        else:
            for index, number in enumerate(numbers.tolist()):
                if index not in fetched.errors:
                    self.rows.append(len(self.numbers))
                    self.numbers.append(number)
                elif repeat:
                    self.pad(1)
        self.outputs = _join(self.outputs, fetched.outputs)

    def pad(self, count: int) -> None:
        """Append the last sample again."""
        self.rows += [self.rows[-1] if self.rows else _PREVIOUS] * count

    def complete(self, source: EpochSource, walk: Walk) -> None:
        """Put the samples in order; then `outputs` and `numbers` are the batch."""
        if _PREVIOUS in self.rows:
            self._find_previous(source, walk)
        if self.rows != list(range(len(self.numbers))):
            self.outputs = tuple(samples.select(self.rows) for samples in self.outputs)
            self.numbers = [self.numbers[row] for row in self.rows]

    def _find_previous(self, source: EpochSource, walk: Walk) -> None:
        """The first samples are missing: get what the batch before ended with."""
        if self._previous < 0 and self.numbers:
            self.rows = [max(row, 0) for row in self.rows]
            return
        error: Exception | None = None
        # What could be read before may be gone by now.
        first = [self._previous] if self._previous >= 0 else []
        for number in itertools.chain(first, walk.nearest_first()):
            outputs, errors = source.fetch(np.array([number], np.int64))
            if not errors:
                self.outputs = _join(outputs, self.outputs)
                self.numbers.insert(0, number)
                self.rows = [row + 1 for row in self.rows]
                return
            error = errors[0]
        assert error is not None
        raise source.bad_samples.none_left(error)


def _join(
    first: tuple[_kernels.Samples, ...], second: tuple[_kernels.Samples, ...]
) -> tuple[_kernels.Samples, ...]:
    """Samples of both for each output; either may have none."""
    if not first or not second:
        return first or second
    return tuple(_kernels.join([a, b]) for a, b in zip(first, second, strict=True))
