# SPDX-License-Identifier: Apache-2.0
"""Philox 4x32-10 in plain Python, and how random operators use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

MASK = 2**32 - 1
WORDS_PER_CALL = 7
SEQUENCES_PER_SAMPLE = 65537
WORDS_PER_ELEMENT = 257


def block(key: int, counter: int) -> list[int]:
    """The four words of one value of the counter."""
    x = [counter >> 32 * k & MASK for k in range(4)]
    k0, k1 = key & MASK, key >> 32 & MASK
    for _ in range(10):
        even, odd = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [odd >> 32 ^ x[1] ^ k0, odd & MASK, even >> 32 ^ x[3] ^ k1, even & MASK]
        k0, k1 = k0 + 0x9E3779B9 & MASK, k1 + 0xBB67AE85 & MASK
    return x


class Position(NamedTuple):
    """A position in the stream of words that belongs to a key."""

    key: int
    word: int

    def words(self) -> Iterator[int]:
        """The words from here on."""
        at = self.word
        while True:
            yield block(self.key, at // 4 % 2**128)[at % 4]
            at += 1


def element_words(seed: int, sample: int, element: int) -> Iterator[int]:
    """The words of an element in the first call that uses a generator with this seed."""
    stream = Position(seed, 0).words()
    w = [next(stream) for _ in range(WORDS_PER_CALL)]
    counter = w[2] | w[3] << 32 | w[4] << 64 | w[5] << 96
    counter += sample * SEQUENCES_PER_SAMPLE << 64
    start = 4 * counter + (w[6] & 3) + element * WORDS_PER_ELEMENT
    return Position(w[0] | w[1] << 32, start).words()
