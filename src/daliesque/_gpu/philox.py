# SPDX-License-Identifier: Apache-2.0
"""Philox 4x32-10 on accelerators, in torch's integer operations: the words that the CPU draws.

Words depend on a counter only, so that all of them are computed at once. The counter of an element
follows from the state of the call, the number of its sample and its own number, as in the native
core (random/philox.h).
"""

from __future__ import annotations

import functools
import importlib
import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.rng import RNGState
from .accelerator import require_accelerator
from .numbers import SIGN_BIT, constants, rows
from .ragged import repeated
from .samples import DeviceSamples

Integers = NDArray[np.int64]

_logger = logging.getLogger("daliesque")
_ROUNDS = 10
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_KEY_STEPS = np.array([0x9E3779B9, 0xBB67AE85], np.uint64)
WORD = 0xFFFFFFFF
_SEQUENCES_PER_SAMPLE = 65537
_WORDS_PER_ELEMENT = 257
# Fewer elements than this are drawn on the CPU: uploading them takes less than the launches do.
FEWEST = 1 << 16
# What stands in for a device is the CPU, whose own generator is faster.
NOT_ON = frozenset({"cpu"})
# Devices that Triton compiles for, ROCm's among them.
WITH_TRITON = frozenset({"cuda", "xpu"})
# Blocks of four words that are made at once; each takes 48 bytes meanwhile.
_MOST_BLOCKS = 1 << 23


class _Position(NamedTuple):
    """The state of a generator."""

    key: int
    low: int
    high: int
    phase: int

    @staticmethod
    def of(state: RNGState) -> _Position:
        _, key, counter, phase = str(state).split("_")
        high, low = counter.split(":")
        return _Position(int(key, 16), int(low, 16), int(high, 16), int(phase, 16))

    @property
    def signed_low(self) -> int:
        """The low half of the counter, as an int64 of the same bits."""
        return self.low - (1 << 64) if self.low >> 63 else self.low

    def round_keys(self) -> NDArray[np.int32]:
        """Two words for each round."""
        first = np.array([self.key & WORD, self.key >> 32], np.uint64)
        keys = first + np.arange(_ROUNDS, dtype=np.uint64)[:, None] * _KEY_STEPS
        return keys.astype(np.uint32).view(np.int32)

    def highs(self, samples: Integers) -> Integers:
        """The high half of the counter for each sample."""
        with np.errstate(over="ignore"):
            moved = np.uint64(self.high) + samples.astype(np.uint64) * _SEQUENCES_PER_SAMPLE
        return moved.view(np.int64)


class Part(NamedTuple):
    """Elements that are drawn together: so many of each sample, from a first one on."""

    samples: Integers
    firsts: Integers
    counts: Integers

    @property
    def is_even(self) -> bool:
        """Whether it has the same elements of each sample."""
        return bool((self.counts == self.counts[0]).all() and (self.firsts == self.firsts[0]).all())


def parts_of(samples: Integers, counts: Integers, most: int) -> list[Part]:
    """Samples with so many elements, in parts of at most `most` elements; whole ones if it can be.

    Only a sample that is larger itself is cut up.
    """
    found: list[Part] = []
    begin = total = 0
    for end, count in enumerate(counts.tolist()):
        if end > begin and total + count > most:
            found += _whole(samples[begin:end], counts[begin:end], most)
            begin, total = end, 0
        total += count
    return found + _whole(samples[begin:], counts[begin:], most)


def _whole(samples: Integers, counts: Integers, most: int) -> list[Part]:
    if len(samples) != 1 or counts[0] <= most:
        return [Part(samples, np.zeros_like(counts), counts)] if counts.sum() else []
    firsts = np.arange(0, int(counts[0]), most)
    return [
        Part(samples, np.array([first]), np.array([min(most, int(counts[0]) - first)]))
        for first in firsts.tolist()
    ]


class _Located(NamedTuple):
    """Where the draws of elements begin, as tensors that go together with `shape`.

    That is (samples, elements of each) if it can be, else (elements,).
    """

    shape: tuple[int, ...]
    round_keys: torch.Tensor
    # Counted in words, from where the draws of the sample begin.
    spots: torch.Tensor
    # The high half of the counter.
    highs: torch.Tensor
    values: list[torch.Tensor]


def _located(
    part: Part,
    like: torch.Tensor,
    position: _Position,
    values: Sequence[NDArray[Any]],
    step: int,
) -> _Located:
    chosen = [rows(value, part.samples) for value in values]
    keys, highs = position.round_keys(), position.highs(part.samples)
    if part.is_even:
        count = int(part.counts[0])
        keys_there, high, *moved = constants(like, keys, highs, *chosen)
        begin = position.phase + step * int(part.firsts[0])
        spots = _progression(begin, step, count, like)
        shape = (len(part.samples), count)
        return _Located(shape, keys_there, spots, high[:, None], [row[:, None] for row in moved])
    total = int(part.counts.sum())
    before = np.cumsum(part.counts) - part.counts
    shifts = position.phase + step * (part.firsts - before)
    keys_there, counts, table, *moved = constants(
        like, keys, part.counts.astype(np.int32), np.stack([shifts, highs], axis=1), *chosen
    )
    numbers = repeated(counts, total)
    of_element = table.index_select(0, numbers)
    spots = _progression(0, step, total, like) + of_element[:, 0]
    spread = [row if len(row) == 1 else row.index_select(0, numbers) for row in moved]
    return _Located((total,), keys_there, spots, of_element[:, 1], spread)


def _progression(begin: int, step: int, count: int, like: torch.Tensor) -> torch.Tensor:
    return torch.arange(begin, begin + step * count, step, dtype=torch.int64, device=like.device)


def _words(at: _Located, position: _Position, last_spot: int, count: int) -> torch.Tensor:
    """The first `count` words of all elements, along the first axis, as int64."""
    kernels = triton_kernels()
    if kernels is not None:
        start = at.shape, at.spots, at.highs, at.round_keys
        drawn: torch.Tensor = kernels.words(*start, position.signed_low, count)
        return drawn
    # The first word may be the last one of its block.
    blocks = (count + 2) // 4 + 1
    signed = position.signed_low
    low = at.spots.bitwise_right_shift(2) + signed
    words = torch.zeros((blocks, 4, *at.shape), dtype=torch.int64, device=low.device)
    for number in range(blocks):
        own = low + number if number else low
        high = at.highs
        if position.low + (last_spot >> 2) + number >= 1 << 64:
            high = high + (own.bitwise_xor(SIGN_BIT) < signed ^ SIGN_BIT)
        for row, half in enumerate((own, own.bitwise_right_shift(32))):
            _low_half(words[number, row]).copy_(half)
        for row, half in enumerate((high, high.bitwise_right_shift(32)), 2):
            _low_half(words[number, row]).copy_(half)
    _run_rounds(words, at.round_keys)
    lane = at.spots.bitwise_and(3)[None]
    if count > 1:
        lane = lane + _progression(0, 1, count, low).reshape(-1, *(1,) * at.spots.ndim)
    index = lane.reshape(count, *(1,) * (len(at.shape) - at.spots.ndim), *at.spots.shape)
    found = words.reshape(-1, *at.shape).gather(0, index.expand(count, *at.shape))
    return found.bitwise_and(WORD)


def _low_half(numbers: torch.Tensor) -> torch.Tensor:
    """A view of the low 32 bits: all accelerators, and their hosts, have them first."""
    return numbers.view(torch.int32)[..., 0::2]


def _high_half(numbers: torch.Tensor) -> torch.Tensor:
    return numbers.view(torch.int32)[..., 1::2]


def _run_rounds(words: torch.Tensor, round_keys: torch.Tensor) -> None:
    """Make random words of counters; both are the low halves of four numbers of 64 bits.

    Products of 32 by 32 bits are whole in 64 bits, signed or not. Numbers to be multiplied, at 0
    and 2 along the second axis, have no bits in their high halves; products lie at 1 and 3.
    """
    factors, products = words[:, 0::2], words[:, 1::2]
    targets = _low_half(factors)
    former = products
    current = torch.empty(products.shape, dtype=torch.int64, device=words.device)
    keys = round_keys.reshape(_ROUNDS, 1, 2, *(1,) * (words.ndim - 2))
    for number in range(_ROUNDS):
        torch.mul(factors[:, 1], _MULTIPLIERS[1], out=current[:, 0])
        torch.mul(factors[:, 0], _MULTIPLIERS[0], out=current[:, 1])
        torch.bitwise_xor(_high_half(current), _low_half(former), out=targets)
        targets.bitwise_xor_(keys[number])
        former, current = current, former


def triton_kernels() -> Any:
    """The module of kernels in Triton; None where it cannot run."""
    return _tried_kernels(require_accelerator("random").kind)


@functools.cache
def _tried_kernels(kind: str) -> Any:
    """Try a small kernel: besides itself, Triton needs a compiler of C to start kernels."""
    if kind not in WITH_TRITON:
        return None
    try:
        kernels = importlib.import_module(".triton_philox", __package__)
        zeros = torch.zeros(20, dtype=torch.int64, device=kind)
        kernels.words((1,), zeros, zeros, zeros.to(torch.int32), 0, 1)
    except Exception as error:
        _logger.debug("random numbers are drawn without Triton: %s", error)
        return None
    return kernels


def draw_events(samples: DeviceSamples, state: RNGState, means: torch.Tensor) -> torch.Tensor:
    """A Poisson-distributed number for each mean; these are in one row, as samples in memory."""
    position, kernels = _Position.of(state), triton_kernels()
    order = samples.stored_order()
    counts = samples.shape_array().prod(axis=1)[order]
    made, begin = [], 0
    for part in parts_of(order, counts, _MOST_BLOCKS):
        end = begin + int(part.counts.sum())
        at = _located(part, means, position, (), _WORDS_PER_ELEMENT)
        start = at.shape, at.spots, at.highs, at.round_keys
        made.append(kernels.events(means[begin:end], *start, position.signed_low))
        begin = end
    return made[0] if len(made) == 1 else torch.cat(made)


def draw_words(
    samples: DeviceSamples,
    state: RNGState,
    count: int,
    compute: Callable[..., torch.Tensor],
    values: Sequence[NDArray[Any]] = (),
    elements: Integers | None = None,
    step: int = 1,
) -> torch.Tensor:
    """What a function makes of the first `count` words of all elements, in one row.

    Samples come in the order in which they lie in memory. Each has as many elements as `elements`
    says, by default its own, and its draws are those of every `step`-th one. The function gets a
    tensor (count, ...) with the words, and one for each of `values`, arrays with a number for each
    sample or for all.
    """
    position = _Position.of(state)
    order = samples.stored_order()
    counts = (samples.shape_array().prod(axis=1) if elements is None else elements)[order]
    target = require_accelerator("random").torch_device(samples.device.device_id)
    like = torch.empty(0, dtype=torch.int64, device=target)
    made = []
    for part in parts_of(order, counts, _MOST_BLOCKS // ((count + 2) // 4 + 1)):
        at = _located(part, like, position, values, _WORDS_PER_ELEMENT * step)
        last = position.phase + _WORDS_PER_ELEMENT * step * int((part.firsts + part.counts).max())
        words = _words(at, position, last, count)
        made.append(compute(words, *at.values).reshape(-1))
    return made[0] if len(made) == 1 else torch.cat(made)
