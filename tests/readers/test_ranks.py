# SPDX-License-Identifier: Apache-2.0
"""One order for any number of processes: permutations without memory, shares of steps."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import daliesque as ndd
from daliesque._readers.core.permutation import Permutation, SampleStream
from daliesque._readers.core.ranks import RankOrder
from support.reader_checks import Numbers

WORD = (1 << 64) - 1


def mixed(word: int) -> int:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014), in integers of any size."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def permuted(index: int, size: int, key: int) -> int:
    """What `Permutation` computes, one number at a time."""
    keys = [mixed(key + number & WORD) for number in range(1, 9)]
    if size <= 1 << 16:
        return sorted(range(size), key=lambda k: mixed(keys[0] + k & WORD))[index]
    side = math.isqrt(size - 1) + 1
    while True:
        left, right = divmod(index, side)
        for each in keys:
            left, right = right, (left + mixed(right ^ each) % side) % side
        index = left * side + right
        if index < size:
            return index


@pytest.mark.parametrize(
    "size", [1, 2, 5, 1000, 1 << 16, (1 << 16) + 1, 10**6 + 3, 10**10, 1 << 45]
)
def test_permutations_are_as_described(size: int) -> None:
    """Another version would deliver other samples for the same seed."""
    key = 0xFEDCBA9876543210
    indices = sorted({0, size - 1, size // 2, size // 3, min(size - 1, 65_536)})
    found = Permutation(size, key)(np.array(indices)).tolist()
    assert found == [permuted(index, size, key) for index in indices]


@pytest.mark.parametrize("size", [1, 2, 7, 65_535, 65_537, 250_001])
def test_permutations_have_every_number_once(size: int) -> None:
    for key in (0, 1, WORD):
        numbers = Permutation(size, key)(np.arange(size))
        assert numbers.dtype == np.int64
        assert np.array_equal(np.sort(numbers), np.arange(size))
        if size > 100:
            # A random permutation has about one fixed point, and neighbors that are far apart.
            assert np.count_nonzero(numbers == np.arange(size)) < 12
            assert abs(np.abs(np.diff(numbers)).mean() / (size / 3) - 1) < 0.02


def test_small_permutations_are_equally_frequent() -> None:
    found = Counter(tuple(Permutation(4, key)(np.arange(4)).tolist()) for key in range(4800))
    assert len(found) == 24
    chi_square = sum((count - 200) ** 2 / 200 for count in found.values())
    # The quantile at 0.9999 for 23 degrees of freedom.
    assert chi_square < 57


def test_large_permutations_spread_evenly() -> None:
    """A thousand neighbors of 10**10 samples, in 20 equal parts of the data."""
    numbers = Permutation(10**10, 5)(np.arange(4_000_000_000, 4_000_001_000))
    counts = np.bincount(numbers // (10**10 // 20), minlength=20)
    assert ((counts - 50) ** 2 / 50).sum() < 50


@given(
    size=st.integers(1, 60), run=st.integers(0, 70), seed=st.integers(0, 3), first=st.integers(0, 9)
)
@settings(max_examples=200, deadline=None)
def test_streams_have_every_sample_once_in_a_pass(
    size: int, run: int, seed: int, first: int
) -> None:
    stream = SampleStream(size, run, seed)
    for pass_number in range(2):
        begin = pass_number * size
        whole = stream.between(begin, begin + size)
        assert sorted(whole.tolist()) == list(range(size))
        # In any pieces.
        cut = begin + min(first, size)
        parts = [stream.between(begin, cut), stream.between(cut, begin + size)]
        assert np.array_equal(np.concatenate(parts), whole)
    both = stream.between(size - 1, size + 1)
    assert both.tolist() == [
        stream.between(size - 1, size).tolist()[0],
        stream.between(size, size + 1).tolist()[0],
    ]


def test_runs_stay_together() -> None:
    stream = SampleStream(1000, 100, 3)
    orders = []
    for pass_number in range(3):
        numbers = stream.between(pass_number * 1000, pass_number * 1000 + 1000).reshape(10, 100)
        for run in numbers:
            # Neighbors, on a circle.
            gaps = np.diff(np.sort(run))
            assert sorted(gaps.tolist())[:98] == [1] * 98
            assert sorted(run.tolist()) != run.tolist()
        orders.append(numbers.tolist())
    assert orders[0] != orders[1] != orders[2]
    # What comes last is not always the same: with "drop" it would never be seen.
    odd = SampleStream(1050, 100, 3)
    last = [frozenset(odd.between(k * 1050 + 1000, k * 1050 + 1050).tolist()) for k in range(5)]
    assert len(set(last)) == 5


def test_streams_as_listed_and_permuted() -> None:
    assert SampleStream(5, 0, 9).between(3, 12).tolist() == [3, 4, 0, 1, 2, 3, 4, 0, 1]
    stream = SampleStream(10**10, 10**10, 1)
    assert stream.between(0, 3).tolist() != stream.between(10**10, 10**10 + 3).tolist()
    assert stream.between(5, 7).tolist() == SampleStream(10**10, 10**11, 1).between(5, 7).tolist()


@given(
    length=st.integers(0, 40),
    world_size=st.integers(1, 5),
    batch_size=st.integers(1, 6),
    policy=st.sampled_from(["partial", "pad", "drop"]),
    goes_on=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_processes_share_each_step(
    length: int, world_size: int, batch_size: int, policy: Any, goes_on: bool
) -> None:
    stream = SampleStream(40, 40, 7)
    orders = [
        RankOrder(stream, rank, world_size, batch_size, 11, length, policy, goes_on)
        for rank in range(world_size)
    ]
    (steps,) = {order.steps for order in orders}
    step_size = world_size * batch_size
    drops = policy == "drop" and not goes_on
    assert steps == (length // step_size if drops else math.ceil(length / step_size))
    seen = []
    for step in range(steps):
        parts = [order.numbers(step).tolist() for order in orders]
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
        assert max(map(len, parts)) <= batch_size
        seen += itertools.chain.from_iterable(parts)
    total = steps * step_size if goes_on or drops else length
    # The same samples as one process would get, in the same order.
    assert seen == stream.between(11, 11 + total).tolist()


def batches_of(reader: Any, **options: Any) -> list[tuple[list[int], int]]:
    loader = ndd.pytorch.DataLoader(reader, output="ndd", **options)
    return [(numbers.tolist(), numbers.valid) for (numbers,) in loader]


@pytest.mark.parametrize("policy", ["partial", "pad", "drop"])
def test_bad_samples_change_no_other_batch(policy: str) -> None:
    """A batch never takes samples of the next one, which belong to other processes as well."""
    size, bad = 14, (1, 4, 5, 6, 7)
    found = [
        batches_of(
            Numbers(size, bad, on_error="skip"),
            batch_size=2,
            rank=rank,
            world_size=2,
            last_batch=policy,
        )
        for rank in range(2)
    ]
    steps = 3 if policy == "drop" else 4
    assert [len(batches) for batches in found] == [steps, steps]
    seen = sorted(n for batches in found for numbers, valid in batches for n in numbers[:valid])
    end = 12 if policy == "drop" else size
    assert seen == [number for number in range(end) if number not in bad]
    sizes = {len(numbers) for batches in found for numbers, _ in batches}
    assert sizes == ({1, 2} if policy == "partial" else {2})
    # Samples 4 and 5, and 6 and 7, are a batch each of which nothing is left.
    assert found[0][1][1] == found[1][1][1] == 0
    assert all(n not in bad for batches in found for numbers, _ in batches for n in numbers)


def test_replaced_samples() -> None:
    reader = Numbers(6, (0, 4), on_error="replace")
    assert batches_of(reader, batch_size=3) == [([1, 1, 2], 3), ([3, 3, 5], 3)]
    assert [error.source for error in reader.errors] == ["sample 0", "sample 4"]


def test_nothing_can_be_read() -> None:
    loader = ndd.pytorch.DataLoader(Numbers(5, tuple(range(5)), on_error="skip"), batch_size=2)
    with pytest.raises(OSError, match="no sample can be read"):
        next(iter(loader))


def test_archives_are_shuffled_in_runs() -> None:
    """Without `random_shuffle`, as listed; readers of archives read on where they are."""
    assert [n for numbers, _ in batches_of(Numbers(9), batch_size=4) for n in numbers] == list(
        range(9)
    )

    class Archive(Numbers):
        _permutes_list = False

    for reader, run in (
        (Numbers(200, random_shuffle=True, initial_fill=20), 200),
        (Numbers(200, shuffle_after_epoch=True), 200),
        (Archive(200, random_shuffle=True, initial_fill=20), 20),
        (Archive(200, shuffle_after_epoch=True, initial_fill=20), 20),
    ):
        numbers = [n for batch, _ in batches_of(reader, batch_size=20, seed=3) for n in batch]
        assert numbers == SampleStream(200, run, 3).between(0, 200).tolist()
