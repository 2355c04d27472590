# SPDX-License-Identifier: Apache-2.0
"""Random numbers in processes made by fork: those of torch's DataLoader and our own."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

import daliesque as ndd


class Draws(Dataset[float]):
    """A random number for each index, from the default generator or from one of its own."""

    def __init__(self, rng: ndd.random.RNG | None = None) -> None:
        self.rng = rng

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> float:
        if index >= len(self):
            raise IndexError
        return float(ndd.random.uniform(range=(0, 1), rng=self.rng).item())


def two_epochs(seed: int, own: bool) -> list[float]:
    """What two workers draw in two epochs."""
    ndd.random.set_seed(seed)
    data = Draws(ndd.random.RNG(seed=seed) if own else None)
    loader = DataLoader(data, batch_size=None, num_workers=2, multiprocessing_context="fork")
    return [float(value) for _ in range(2) for value in loader]


@pytest.mark.parametrize("own", [False, True], ids=["default", "own"])
def test_workers_draw_different_numbers_in_each_epoch(own: bool) -> None:
    first = two_epochs(0, own)
    assert len(set(first)) == 8
    # Neither other draws of torch nor the epochs before change a run with a seed.
    torch.rand(3)
    assert two_epochs(0, own) == first
    assert set(two_epochs(1, own)).isdisjoint(first)


def in_child(work: Callable[[], object]) -> object:
    """The result of a call in a process made by fork."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.write(writing, pickle.dumps(work()))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        result: object = pickle.loads(file.read())
    os.waitpid(process, 0)
    return result


def test_a_parent_goes_on_as_if_it_had_not_forked() -> None:
    rng = ndd.random.RNG(seed=7)
    in_child(rng)
    assert rng() == ndd.random.RNG(seed=7)()


def test_grandchildren_differ_from_each_other_and_from_their_parents() -> None:
    rng = ndd.random.RNG(seed=7)

    def family() -> list[object]:
        return [in_child(rng), rng(), in_child(rng), in_child(lambda: in_child(rng))]

    draws = [*family(), *map(int, in_child(family))]  # type: ignore[arg-type]
    assert len(set(draws)) == len(draws) == 8


def test_a_generator_with_a_new_seed_or_state_in_a_child_is_what_it_says() -> None:
    rng = ndd.random.RNG(seed=7)
    state = str(rng.state)

    def reset() -> list[int]:
        ndd.random.set_seed(7)
        rng.state = state
        return [ndd.random.get_default_rng()(), rng(), ndd.random.RNG(seed=7)()]

    assert in_child(reset) == [ndd.random.RNG(seed=7)()] * 3


def test_the_state_of_a_copied_generator_is_that_of_its_own_stream() -> None:
    rng = ndd.random.RNG(seed=7)

    def draw() -> tuple[int, int, int]:
        copy = pickle.loads(pickle.dumps(rng))
        return rng.clone()(), copy(), rng()

    cloned, pickled, drawn = in_child(draw)  # type: ignore[misc]
    assert cloned == pickled == drawn != rng()
