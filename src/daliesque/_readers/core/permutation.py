# SPDX-License-Identifier: Apache-2.0
"""Permutations of any number of samples that take no memory, and the order that is made of them.

A reader's own order (`Order`) is that of the reference, which permutes a list. Here the sample at
any index of a pass is computed from the index and a seed, so that 10**10 samples cost as much as
ten, and no process has to know what others have read.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from ..._engine.rng import derived_seed
from .order import Numbers

# Up to so many indices are sorted by random numbers: a permutation as good as any.
_MOST_SORTED = 1 << 16
# More are computed by a Feistel network, each round of which adds a hash of one half to the other.
_ROUNDS = 8

_Words = NDArray[np.uint64]


class Permutation:
    """A permutation of 0 to `size - 1` that follows from a 64-bit key."""

    def __init__(self, size: int, key: int) -> None:
        self._size = size
        self._keys = _mixed(np.uint64(key) + np.arange(1, _ROUNDS + 1, dtype=np.uint64))
        self._side = math.isqrt(max(0, size - 1)) + 1
        self._table: Numbers | None = None
        if size <= _MOST_SORTED:
            words = _mixed(self._keys[0] + np.arange(size, dtype=np.uint64))
            self._table = np.argsort(words, kind="stable")

    def __call__(self, indices: Numbers) -> Numbers:
        """What some indices are mapped to."""
        if self._table is not None:
            return self._table[indices]
        words = self._once(indices.astype(np.uint64))
        # The network permutes a square that is a little larger: go on until a number is inside.
        while len(outside := np.flatnonzero(words >= self._size)):
            words[outside] = self._once(words[outside])
        return words.astype(np.int64)

    def _once(self, words: _Words) -> _Words:
        side = np.uint64(self._side)
        left, right = words // side, words % side
        for key in self._keys:
            left, right = right, (left + _mixed(right ^ key) % side) % side
        return left * side + right


def _mixed(words: _Words) -> _Words:
    """The finalizer of SplitMix64: each bit depends on all others."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


class SampleStream:
    """All samples, pass after pass without end, as they come with a seed.

    Runs of `run` neighboring samples stay together: the runs come in random order, and so do the
    samples of each. With `run` 0 all samples come as listed; with one as large as the data, each
    pass is a permutation.
    """

    def __init__(self, size: int, run: int, seed: int) -> None:
        self.size = size
        self.run = min(run, size)
        self.seed = seed

    def between(self, begin: int, end: int) -> Numbers:
        """The samples at some indices of the stream."""
        parts = [np.empty(0, np.int64)]
        while begin < end:
            pass_number, first = divmod(begin, self.size)
            after = self._end_of_run(first)
            count = min(end - begin, after - first)
            parts.append(self._of_run(pass_number, first, first + count))
            begin += count
        return np.concatenate(parts)

    def _end_of_run(self, index: int) -> int:
        if self.run == 0:
            return self.size
        return min(self.size, (index // self.run + 1) * self.run)

    def _of_run(self, pass_number: int, begin: int, end: int) -> Numbers:
        """The samples at some indices of a pass, all of one run."""
        if self.run == 0:
            return np.arange(begin, end)
        slot, whole = begin // self.run, self.size // self.run
        # What is left after whole runs comes last. So that these are not always the same samples,
        # the first run begins with another sample in each pass.
        shift = derived_seed("shift", self.seed, pass_number) % self.size
        number = slot
        if slot < whole:
            number = int(_permutation(whole, self.seed, pass_number, -1)(np.array([slot]))[0])
        length = self._end_of_run(begin) - slot * self.run
        within = np.arange(begin, end) - slot * self.run
        samples = _permutation(length, self.seed, pass_number, number)(within)
        return (samples + (number * self.run + shift)) % self.size


@functools.lru_cache(maxsize=64)
def _permutation(size: int, seed: int, pass_number: int, run: int) -> Permutation:
    return Permutation(size, derived_seed("order", seed, pass_number, run))
