# SPDX-License-Identifier: Apache-2.0
"""What is interrupted: iterations over loaders."""

from __future__ import annotations

from typing import Any

import daliesque as ndd
from support.interruptions import Scenario
from support.reader_checks import Count

SIZE = 10


def doubled(numbers: ndd.Batch) -> ndd.Batch:
    """A transform with a random operator."""
    return numbers * 2 + ndd.random.coin_flip(batch_size=numbers.batch_size)


class Loaded(Scenario):
    """Batches of a loader that runs ahead: each once, and the state is that of these."""

    steps = 3
    prefetch = 2

    def __init__(self) -> None:
        super().__init__()
        self.loader = self.make()
        # What is dropped ends in `__del__`, out of which no interruption comes.
        self.kept: list[Any] = []
        self.batches = self.begin()

    def begin(self) -> Any:
        """Begin an iteration."""
        self.kept.append(iter(self.loader))
        return self.kept[-1]

    def make(self) -> Any:
        """A loader."""
        return ndd.pytorch.DataLoader(
            Count(SIZE), doubled, batch_size=3, shuffle=True, prefetch=self.prefetch
        )

    def take(self) -> Any:
        return next(self.batches)

    def numbers(self, step: Any) -> Any:
        return step.tolist()

    def check(self) -> None:
        whole = [batch.tolist() for batch in self.make()]
        assert self.seen == whole[: self.steps]
        copy = self.make()
        copy.load_state_dict(self.loader.state_dict())
        assert [batch.tolist() for batch in copy] == whole[self.steps :]
        assert [batch.tolist() for batch in self.batches] == whole[self.steps :]

    def close(self) -> None:
        self.loader.close()


class LoadedDirectly(Loaded):
    """Without running ahead: the transform is interrupted as well."""

    prefetch = 0


class BegunAgain(Loaded):
    """The first batch of another epoch, after one that was left."""

    def step(self) -> Any:
        if len(self.seen) == 1 and self.held is None:
            # Until the iteration has begun, each repetition makes another one.
            self.batches = self.begin()
        return super().step()

    def check(self) -> None:
        epochs = self.make()
        first = next(iter(epochs)).tolist()
        # An iteration that was begun and interrupted has left its epoch.
        others = [[batch.tolist() for batch in epochs] for _ in range(2)]
        assert self.seen[0] == first
        assert self.seen[1:] in (others[0][:2], others[1][:2])
        assert self.loader.state_dict()["taken"] == 6


class EndOfLoader(Loaded):
    """The end of one epoch, and the beginning of the next."""

    steps = 2

    def __init__(self) -> None:
        super().__init__()
        self.first = [batch.tolist() for batch in self.batches]
        self.batches = iter(self.loader)

    def make(self) -> Any:
        """One batch in an epoch."""
        return ndd.pytorch.DataLoader(
            Count(SIZE), doubled, batch_size=SIZE, shuffle=True, prefetch=self.prefetch
        )

    def step(self) -> Any:
        if len(self.seen) == 1:
            for batch in self.batches:
                raise AssertionError(batch)
            return None
        return super().step()

    def check(self) -> None:
        whole = self.make()
        epochs = [[batch.tolist() for batch in whole] for _ in range(3)]
        assert [self.first, [self.seen[0]], None] == [*epochs[:2], self.seen[1]]
        assert [batch.tolist() for batch in self.loader] == epochs[2]


class LoaderResumed(Loaded):
    """A state is loaded, and the rest of that epoch is delivered."""

    def step(self) -> Any:
        if len(self.seen) == 1:
            self.loader.load_state_dict(self.loader.state_dict())
            self.loader.set_epoch(0)
            self.batches = self.begin()
            return None
        return super().step()

    def check(self) -> None:
        whole = [batch.tolist() for batch in self.make()]
        assert self.seen == [whole[0], None, whole[1]]
        assert [batch.tolist() for batch in self.batches] == whole[2:]


LOADERS: tuple[type[Scenario], ...] = (
    Loaded,
    LoadedDirectly,
    BegunAgain,
    EndOfLoader,
    LoaderResumed,
)
