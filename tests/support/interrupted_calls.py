# SPDX-License-Identifier: Apache-2.0
"""What is interrupted: calls, readers and sources."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

import daliesque as ndd
from support.interruptions import Scenario
from support.reader_checks import Count


def expected(step: int) -> list[int]:
    """What `Operators` gives in a step."""
    return [((step * 4 + k) * 2 + 1) for k in range(4)]


class Operators(Scenario):
    """Calls of operators and reading their results, in one of the modes."""

    mode = ndd.EvalMode.eager
    # Samples of this many elements: large ones run in the background.
    extent = 1

    def step(self) -> Any:
        number = len(self.seen)
        with self.mode:
            data = np.arange(4)[:, None] + number * 4
            batch = ndd.copy(ndd.batch(data.repeat(self.extent, 1).astype(np.int32)))
            result = ndd.flip(batch * 2, horizontal=0) + 1 if self.extent > 1 else batch * 2 + 1
            return [int(np.asarray(sample)[-1]) for sample in result]

    def check(self) -> None:
        assert self.seen == [expected(step) for step in range(self.steps)]


class Sync(Operators):
    """Calls that run at once."""

    mode = ndd.EvalMode.sync_cpu


class QueuedChain(Scenario):
    """Calls on samples that are large and many enough to run together."""

    images = np.arange(8 * 200 * 200, dtype=np.int32).astype(np.uint8).reshape(8, 200, 200, 1)

    def __init__(self) -> None:
        super().__init__()
        self.batch = ndd.batch(self.images, layout="HWC").evaluate()

    def step(self) -> Any:
        flipped = ndd.flip(ndd.flip(self.batch), horizontal=0, vertical=1)
        return np.asarray(ndd.brightness(flipped, brightness=1.0 + len(self.seen)))

    def check(self) -> None:
        mirrored = self.images[:, ::-1, ::-1]
        for number, found in enumerate(self.seen):
            np.testing.assert_array_equal(found, np.minimum(mirrored * (1.0 + number), 255))


class Deferred(Operators):
    """Calls that run when they are read."""

    mode = ndd.EvalMode.deferred


class Context(Operators):
    """A context with threads of its own, which is entered for each step."""

    def __init__(self) -> None:
        super().__init__()
        self.context = ndd.EvalContext(num_threads=2)

    def step(self) -> Any:
        with self.context:
            return super().step()

    def check(self) -> None:
        super().check()
        # It is left: another thread may enter it.
        entered: list[bool] = []

        def enter() -> None:
            with self.context:
                entered.append(True)

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join(20)
        assert entered == [True]


class Pending(Scenario):
    """Results that were called for before, and are read one by one."""

    def __init__(self) -> None:
        super().__init__()
        first = ndd.copy(ndd.batch(np.arange(4, dtype=np.int32)[:, None]))
        self.results = [first]
        for _ in range(self.steps):
            self.results.append(self.results[-1] * 2)

    def step(self) -> Any:
        result = self.results[len(self.seen) + 1]
        return [int(np.asarray(sample)[0]) for sample in result]

    def check(self) -> None:
        assert self.seen == [[k * 2 ** (step + 1) for k in range(4)] for step in range(3)]


class Map(Scenario):
    """A Python function on the threads of a context."""

    def __init__(self) -> None:
        super().__init__()
        self.context = ndd.EvalContext(num_threads=3)

    def step(self) -> Any:
        number = len(self.seen)
        with self.context:
            batch = ndd.copy(ndd.batch(np.arange(6) + number))
            return [sample.item() for sample in ndd.map(lambda x: x * 3, batch, dtype=ndd.int64)]

    def check(self) -> None:
        assert self.seen == [[(k + step) * 3 for k in range(6)] for step in range(3)]


class Epochs(Scenario):
    """Steps of an epoch that is read ahead: every sample once, and the state is that of these."""

    batch_size: int | None = 3
    steps = 4
    size = 12

    def __init__(self) -> None:
        super().__init__()
        self.reader = Count(self.size, **self.options())
        self.epoch = self.reader.next_epoch(batch_size=self.batch_size)

    def options(self) -> dict[str, Any]:
        """The arguments of the reader."""
        return {"prefetch_queue_depth": 2}

    def take(self) -> Any:
        return next(self.epoch)

    def numbers(self, step: Any) -> list[int]:
        """The numbers of the samples of a step."""
        only = step[0] if isinstance(step, tuple) else step
        return np.atleast_1d(only.numpy()).tolist()

    def check(self) -> None:
        whole = [number for numbers in self.seen for number in numbers]
        assert whole == list(range(len(whole)))
        copy = Count(self.size, **self.options())
        copy.set_state(self.reader.get_state())
        others = copy.next_epoch(batch_size=self.batch_size)
        rest = [n for step in others for n in self.numbers(step)]
        assert whole + rest == list(range(self.size))
        here = [n for step in self.epoch for n in self.numbers(step)]
        assert here == rest

    def close(self) -> None:
        self.epoch.close()


class SingleSamples(Epochs):
    """Samples one by one, of which several are read at a time."""

    batch_size = None
    steps = 5


class BadSamples(Epochs):
    """Samples that cannot be read are left out, and listed once."""

    steps = 3

    def options(self) -> dict[str, Any]:
        """Samples 4 and 5 cannot be read."""
        return {"bad": [4, 5], "on_error": "skip"}

    def check(self) -> None:
        whole = [number for numbers in self.seen for number in numbers]
        assert whole == [0, 1, 2, 3, 6, 7, 8, 9, 10]
        assert [error.source for error in self.reader.errors] == ["number 4", "number 5"]


class EndOfEpoch(Epochs):
    """The end of one epoch, and the beginning of the next, which is shuffled otherwise."""

    size = 3
    steps = 3

    def __init__(self) -> None:
        super().__init__()
        self.whole: list[int] = []

    def options(self) -> dict[str, Any]:
        """Each epoch has another order."""
        return {"shuffle_after_epoch": True}

    def step(self) -> Any:
        if len(self.seen) == 1:
            for step in self.epoch:
                raise AssertionError(step)
            self.epoch = self.reader.next_epoch(batch_size=3)
            return None
        return super().step()

    def check(self) -> None:
        other = Count(self.size, **self.options())
        epochs = [self.numbers(step) for _ in range(3) for step in other.next_epoch(batch_size=3)]
        assert self.seen == [epochs[0], None, epochs[1]]


class Called(Epochs):
    """A reader that is called, without reading ahead, through the end of an epoch."""

    size = 5
    steps = 4

    def take(self) -> Any:
        return self.reader(batch_size=2)

    def check(self) -> None:
        assert self.seen == [[0, 1], [2, 3], [4, 0], [1, 2]]


class Resumed(Epochs):
    """A state is set, and the rest of that epoch is delivered."""

    def step(self) -> Any:
        if len(self.seen) == 1:
            self.reader.set_state(self.reader.get_state())
            return None
        if len(self.seen) == 2:
            self.epoch = self.reader.next_epoch(batch_size=3)
            return None
        return super().step()

    def check(self) -> None:
        assert self.seen == [[0, 1, 2], None, None, [3, 4, 5]]


class Source(Scenario):
    """Items of a source that gives each once."""

    steps = 4

    def __init__(self) -> None:
        super().__init__()
        self.source = ndd.ExternalSource(iter(range(10)))

    def take(self) -> Any:
        return self.source()

    def numbers(self, step: Any) -> Any:
        return step.item()

    def check(self) -> None:
        assert self.seen == [0, 1, 2, 3]
        other = ndd.ExternalSource(iter(range(10)))
        other.set_state(self.source.get_state())
        assert other().item() == 4


class CyclicSource(Source):
    """A source that begins again."""

    def __init__(self) -> None:
        super().__init__()
        self.source = ndd.ExternalSource([0], cycle="quiet")

    def check(self) -> None:
        assert self.seen == [0, 0, 0, 0]
        assert '"taken":1' in self.source.get_state()


class FunctionSource(Source):
    """A function that is called for each item."""

    def __init__(self) -> None:
        super().__init__()
        items = iter(range(10))
        self.source = ndd.ExternalSource(lambda: next(items))

    def check(self) -> None:
        assert self.seen == [0, 1, 2, 3]
        assert '"taken":4' in self.source.get_state()


CALLS: tuple[type[Scenario], ...] = (
    Operators,
    Sync,
    QueuedChain,
    Deferred,
    Context,
    Pending,
    Map,
    Epochs,
    SingleSamples,
    BadSamples,
    EndOfEpoch,
    Called,
    Resumed,
    Source,
    CyclicSource,
    FunctionSource,
)
