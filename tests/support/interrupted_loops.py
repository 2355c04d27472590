# SPDX-License-Identifier: Apache-2.0
"""What is interrupted: loops that run ahead, and captured ones."""

from __future__ import annotations

from typing import Any

import daliesque as ndd
from support.interruptions import Scenario
from support.reader_checks import Count


class Prefetched(Scenario):
    """A loading loop that runs ahead."""

    steps = 4

    def __init__(self) -> None:
        super().__init__()
        self.reader = Count(12)
        self.loop = iter(ndd.prefetch(self.load))

    def load(self) -> Any:
        """The loop."""
        for (numbers,) in self.reader.next_epoch(batch_size=3):
            yield numbers + 1

    def take(self) -> Any:
        return next(self.loop)

    def numbers(self, step: Any) -> Any:
        return step.tolist()

    def check(self) -> None:
        assert self.seen == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]][: len(self.seen)]

    def close(self) -> None:
        self.loop.close()


class PrefetchedEpochs(Prefetched):
    """A loading loop over two epochs, one after the other, with random numbers; a state is true."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = Count(4)
        self.rng = ndd.random.RNG(seed=5)

    def load(self) -> Any:
        """The loop."""
        for _ in range(2):
            for (numbers,) in self.reader.next_epoch(batch_size=2):
                yield numbers + ndd.random.uniform(range=(0, 100), batch_size=2, rng=self.rng)

    def check(self) -> None:
        other, rng = Count(4), ndd.random.RNG(seed=5)
        found = [
            (numbers + ndd.random.uniform(range=(0, 100), batch_size=2, rng=rng)).tolist()
            for _ in range(2)
            for (numbers,) in other.next_epoch(batch_size=2)
        ]
        assert self.seen == found
        assert self.rng.get_state() == rng.get_state()


class EndOfPrefetch(Prefetched):
    """The end of a loading loop, which stays the end."""

    steps = 6

    def take(self) -> Any:
        return next(self.loop, "end")

    def numbers(self, step: Any) -> Any:
        return step if step == "end" else step.tolist()

    def check(self) -> None:
        assert self.seen == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12], "end", "end"]


class Captured(Scenario):
    """Steps of a captured epoch of a reader: each once, and states are true."""

    steps = 6
    size, batch_size = 12, 2
    # How many steps there are before the one that is interrupted.
    before = 0

    def __init__(self) -> None:
        super().__init__()
        self.reader = Count(self.size)
        self.epoch = self.begin()
        for _ in range(self.before):
            self.seen.append(self.step())
        self.steps -= self.before

    def begin(self) -> Any:
        """The loop."""
        return self.reader.next_epoch(batch_size=self.batch_size, capture=True)

    def take(self) -> Any:
        return next(self.epoch)

    def numbers(self, step: Any) -> Any:
        return (ndd.cast(step[0] + 1, dtype=ndd.int64) - 1).tolist()

    def check(self) -> None:
        whole = [number for numbers in self.seen for number in numbers]
        assert whole == list(range(self.size))
        copy = Count(self.size)
        copy.set_state(self.reader.get_state())
        assert [step[0].tolist() for step in copy.next_epoch(batch_size=2)] == []

    def close(self) -> None:
        self.epoch.close()


class CapturedAhead(Captured):
    """The same where steps run ahead."""

    before = 2


class CapturedEpochs(Captured):
    """From epoch to epoch, across which steps run ahead."""

    steps = 6
    size = 4
    before = 1

    def take(self) -> Any:
        try:
            return next(self.epoch)
        except StopIteration:
            self.epoch = self.begin()
            return next(self.epoch)

    def check(self) -> None:
        assert self.seen == [[0, 1], [2, 3]] * 3


class LaterCapturedEpochs(CapturedEpochs):
    """The same, interrupted at the end of an epoch."""

    before = 3


class CapturedSource(Captured):
    """Items of a source, and of another that the body reads, each of which is given once."""

    steps = 4

    def begin(self) -> Any:
        items = ([number, number + 1] for number in range(10))
        self.source = ndd.ExternalSource(map(ndd.batch, items))
        self.feeder = ndd.ExternalSource(iter(range(10)))
        self.taken: Any = None
        return self.source.captured(batch_size=2)

    def take(self) -> Any:
        if self.taken is None:
            self.taken = next(self.epoch)
        # The loop may have to be asked for the same item again.
        fed = self.feeder(batch_size=2)
        taken, self.taken = self.taken, None
        return taken, fed

    def numbers(self, step: Any) -> Any:
        return (step[0] + step[1]).tolist()

    def check(self) -> None:
        assert self.seen == [[2 * k, 2 * k + 1] for k in range(4)]
        self.epoch.close()
        assert self.source().tolist() == [4, 5]
        assert self.feeder().item() == 4


class CapturedSourceAhead(CapturedSource):
    """The same where items are taken ahead."""

    before = 2


class CapturedFailures(Captured):
    """Samples that cannot be read: the step fails once, and the loop goes on."""

    def __init__(self) -> None:
        self.failures = 0
        super().__init__()

    def begin(self) -> Any:
        self.reader = Count(self.size, bad=[4])
        return super().begin()

    def take(self) -> Any:
        try:
            return next(self.epoch)
        except ndd.OpError:
            self.failures += 1
            return next(self.epoch)

    steps = 5
    before = 1

    def check(self) -> None:
        assert self.seen == [[0, 1], [2, 3], [6, 7], [8, 9], [10, 11]]


LOOPS: tuple[type[Scenario], ...] = (
    Prefetched,
    PrefetchedEpochs,
    EndOfPrefetch,
    Captured,
    CapturedAhead,
    CapturedEpochs,
    LaterCapturedEpochs,
    CapturedSource,
    CapturedSourceAhead,
    CapturedFailures,
)
