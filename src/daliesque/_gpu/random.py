# SPDX-License-Identifier: Apache-2.0
"""Random numbers on accelerators: the same as on the CPU, normal ones up to rounding.

Many numbers are drawn on the device. Few are drawn on the CPU and uploaded, which takes less time
than the launches. So are those for which it depends on all draws before them where their own words
are: beta-distributed numbers, which keep half of a pair of normal ones for the next element, and
choices of whole arrays, which take words one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import DType, from_code, int64
from .._engine.rng import RNGState
from .._engine.samples import HostSamples
from . import philox
from .accelerator import require_accelerator
from .fused import fused_double, fused_single
from .groups import carrier
from .numbers import constants, converted, from_float
from .placement import on_device
from .samples import DeviceSamples

Floats: TypeAlias = NDArray[np.float32]

# What is used instead of zero, whose logarithm is not a number.
_TINY = float(np.float32(1e-30))


def draw(out: DeviceSamples, kernel: Callable[..., None], *arguments: Any) -> None:
    """Fill an output with what a native kernel draws, by one transfer."""
    drawn = _kernels.empty(out.type_id, out.shape_array(), out.layout, len(out))
    kernel(drawn, *arguments)
    out.become(on_device(drawn))


def is_drawn_here(like: DeviceSamples, in_double: bool = False) -> bool:
    """Whether a number for each element is to be drawn on the device."""
    if like.volume < max(philox.FEWEST, 1):
        return False
    accelerator = require_accelerator("random")
    return accelerator.kind not in philox.NOT_ON and (accelerator.has_double or not in_double)


def _is_wide(type_id: int) -> bool:
    """Whether numbers of a type are drawn in double precision."""
    dtype = from_code(type_id)
    return dtype.bits > 32 or (dtype.bits == 32 and dtype.kind is not DType.Kind.float)


def _set(out: DeviceSamples, flat: torch.Tensor) -> None:
    out.become(out.of_all(flat, out.shape_array()))


class _Range(NamedTuple):
    """Ranges [low, high] for each sample, and the factors that spread random words over them."""

    low: NDArray[Any]
    high: NDArray[Any]
    factor: NDArray[Any]

    @staticmethod
    def of(range: Floats, type_id: int) -> _Range:
        real = np.float64 if _is_wide(type_id) else np.float32
        unit = real(2.0**-64 if _is_wide(type_id) else 2.0**-32)
        ends = _cut_off(range, from_code(type_id)).astype(real)
        start, end = ends[:, 0], np.nextafter(ends[:, 1], ends[:, 0])
        low, high = np.minimum(start, end), np.maximum(start, end)
        return _Range(low, high, (high - low) * unit)

    def is_exact(self) -> bool:
        """Whether words in single precision, times the factor, plus `low`, fit double precision."""
        if not self.low.any():
            return True
        numbers = np.stack([self.low, self.factor]).astype(np.float64)
        mantissas, exponents = np.frexp(numbers)
        # The value of the last bit that is set.
        bits = (mantissas * 2.0**53).astype(np.int64)
        last = np.ldexp((bits & -bits).astype(np.float64), exponents - 53)
        least = np.where(bits, last, np.inf).min(axis=0)
        largest = np.abs(numbers[0]) + numbers[1] * 2.0**32
        return bool((largest < least * 2.0**53).all())


def _cut_off(values: Floats, dtype: DType) -> NDArray[Any]:
    """Numbers as an integer type has them, by the conversions of x86; others as they are."""
    if dtype.kind is DType.Kind.float:
        return values
    wide = dtype.bits == 64 or (dtype.bits == 32 and dtype.kind is DType.Kind.unsigned)
    limit, lowest = (2.0**63, -(2**63)) if wide else (2.0**31, -(2**31))
    high = np.zeros(values.shape, bool)
    if dtype.bits == 64 and dtype.kind is DType.Kind.unsigned:
        high = values >= np.float32(2.0**63)
        values = np.where(high, values - np.float32(2.0**63), values)
    fits = (values >= -limit) & (values < limit)
    whole = np.where(fits, np.where(fits, values, 0).astype(np.int64), lowest)
    return np.where(high, whole ^ -(2**63), whole).astype(dtype.numpy)


def uniform(out: DeviceSamples, state: RNGState, range: Floats) -> None:
    """Numbers that are evenly distributed over a range."""
    if not is_drawn_here(out, True):
        draw(out, _kernels.uniform, state, range)
        return
    limits, type_id = _Range.of(range, out.type_id), out.type_id
    is_exact = limits.is_exact()
    ends = [values.astype(np.float64) for values in limits]

    def spread(words: torch.Tensor, *numbers: torch.Tensor) -> torch.Tensor:
        low, high, factor = numbers
        if len(words) == 2:
            value = fused_double(_double(words), factor, low)
        else:
            # A word has more bits than single precision.
            word = words[0].to(torch.float32).to(torch.float64)
            if is_exact:
                value = torch.addcmul(low, word, factor).to(torch.float32)
            else:
                value = fused_single(word, factor, low)
            high = high.to(torch.float32)
        return from_float(torch.minimum(value, high), type_id)

    _set(out, philox.draw_words(out, state, 2 if _is_wide(type_id) else 1, spread, ends))


def _double(words: torch.Tensor) -> torch.Tensor:
    """A number in double precision of two words, the low one first."""
    wide = words.to(torch.float64)
    return wide[1] * 2.0**32 + wide[0]


def uniform_values(out: DeviceSamples, state: RNGState, values: HostSamples) -> None:
    """Values of a list, all equally likely."""
    if not is_drawn_here(out):
        draw(out, _kernels.uniform_values, state, values)
        return
    lists = _kernels.cast(values, out.type_id)
    entries = np.concatenate([to_numpy(lists, index) for index in range(len(lists))])
    sizes = values.shape_array()[:, 0]
    kind = carrier(out.type_id)
    signed = entries.view(f"i{entries.itemsize}") if entries.dtype.kind == "u" else entries
    (table,) = constants(out.flat(), signed)

    def chosen(words: torch.Tensor, size: torch.Tensor, begin: torch.Tensor) -> torch.Tensor:
        index = (words[0] * size).bitwise_right_shift(32) + begin
        return table.index_select(0, index.reshape(-1)).view(kind)

    _set(out, philox.draw_words(out, state, 1, chosen, [sizes, _begins(sizes)]))


def normal_numbers(
    like: DeviceSamples, state: RNGState, mean: Floats, stddev: Floats, type_id: int
) -> DeviceSamples:
    """Normally distributed numbers of a type, for each element of other samples."""
    if not is_drawn_here(like, _is_wide(type_id)):
        drawn = _kernels.empty(type_id, like.shape_array(), like.layout, len(like))
        _kernels.normal(drawn, state, mean, stddev)
        return on_device(drawn)
    kind, words = (torch.float64, 4) if _is_wide(type_id) else (torch.float32, 2)

    def spread(words: torch.Tensor, mean: torch.Tensor, stddev: torch.Tensor) -> torch.Tensor:
        if len(words) == 4:
            first, second = _double(words[0:2]) * 2.0**-64, _double(words[2:4]) * 2.0**-64
        else:
            both = words.to(torch.float32) * 2.0**-32
            first, second = both[0], both[1]
        made = _normal(first, second)
        return from_float(torch.addcmul(mean.to(kind), made, stddev.to(kind)), type_id)

    flat = philox.draw_words(like, state, words, spread, [mean, stddev])
    return like.of_all(flat, like.shape_array(), type_id=type_id)


def _normal(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Box and Muller's method; instead of a first number that is zero, the other one is taken."""
    is_zero = first.eq(0)
    first = torch.where(is_zero, second.clamp(min=_TINY), first)
    second = torch.where(is_zero, torch.zeros_like(second), second)
    return torch.sqrt(torch.log(first) * -2) * torch.cos(second * (2 * np.pi))


def normal(out: DeviceSamples, state: RNGState, mean: Floats, stddev: Floats) -> None:
    """Normally distributed numbers."""
    out.become(normal_numbers(out, state, mean, stddev, out.type_id))


def coin_flip(out: DeviceSamples, state: RNGState, probability: Floats) -> None:
    """Zeros, and ones with a given probability."""
    if not is_drawn_here(out):
        draw(out, _kernels.coin_flip, state, probability)
        return
    scaled = probability.astype(np.float64) * 2.0**32
    thresholds = np.minimum(scaled, 2.0**32 - 1).astype(np.int64)
    kind = carrier(out.type_id)

    def flipped(words: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
        return words[0].le(threshold).to(kind)

    _set(out, philox.draw_words(out, state, 1, flipped, [thresholds]))


def beta(out: DeviceSamples, state: RNGState, alpha: Floats, beta: Floats) -> None:
    """Numbers that have a beta distribution."""
    draw(out, _kernels.beta, state, alpha, beta)


def choice(
    out: DeviceSamples, state: RNGState, entries: HostSamples, weights: HostSamples | None
) -> None:
    """Entries of arrays."""
    sizes = _entry_counts(entries) if entries.ndim < 2 else None
    words = 2 if weights is not None else _words_to_choose(sizes, out.volume)
    if sizes is None or words is None or not is_drawn_here(out, weights is not None):
        draw(out, _kernels.choice, state, entries, weights)
        return
    table, kind = _entry_table(entries, out), carrier(out.type_id)
    values = [_begins(sizes)]
    if weights is None:
        sums, values = None, [*values, sizes, (1 << 32) % sizes]
    else:
        shares = [_running_sums(to_numpy(weights, row)) for row in range(len(weights))]
        counts = np.array([len(share) for share in shares])
        (sums,) = constants(out.flat(), np.concatenate(shares))
        values = [*values, _begins(counts), counts]

    def chosen(words: torch.Tensor, *numbers: torch.Tensor) -> torch.Tensor:
        begin, *rest = numbers
        index = _index(words, *rest) if sums is None else _index_by_weight(words, sums, *rest)
        if table is None:
            return converted(index, int64.code, out.type_id)
        return table.index_select(0, (index + begin).reshape(-1)).view(kind)

    _set(out, philox.draw_words(out, state, words, chosen, values))


def _begins(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(counts) - counts


def _entry_counts(entries: HostSamples) -> NDArray[np.int64]:
    if entries.ndim:
        return entries.shape_array()[:, 0]
    return np.array([int(to_numpy(entries, index)) for index in range(len(entries))], np.int64)


def _words_to_choose(sizes: NDArray[np.int64] | None, count: int) -> int | None:
    """How many words each of `count` choices is given; None if no number of them is enough.

    A word is not used if the low half of its product with the size is below a limit. That an
    element rejects all of its words happens once in 10**15 calls, or less often.
    """
    if sizes is None or (sizes > 1 << 32).any():
        return None
    rejected = float(((1 << 32) % sizes).max()) * 2.0**-32
    return next((words for words in (1, 4, 8) if rejected**words * count < 1e-15), None)


def _index(words: torch.Tensor, size: torch.Tensor, least: torch.Tensor) -> torch.Tensor:
    """By Lemire's method: the high half of the first product whose low half is not below `least`.

    Products of 64 bits have the same bits whether they are signed or not.
    """
    products = words * size
    high = products.bitwise_right_shift(32).bitwise_and(philox.WORD)
    index = high[-1]
    if len(words) > 1:
        is_used = products.bitwise_and(philox.WORD).ge(least)
        for number in reversed(range(len(words) - 1)):
            index = torch.where(is_used[number], high[number], index)
    return index


def _running_sums(weights: Floats) -> NDArray[np.float64]:
    """Sums of the shares of all entries up to each one, in the order of the native core."""
    wide = weights.astype(np.float64)
    sums = np.cumsum(wide / np.cumsum(wide)[-1])
    sums[-1] = 1
    return sums


def _index_by_weight(
    words: torch.Tensor, sums: torch.Tensor, begin: torch.Tensor, size: torch.Tensor
) -> torch.Tensor:
    """How many of an element's sums are less than a random number: a binary search."""
    target = (_double(words) * 2.0**-64).clamp(max=1 - 2.0**-53)
    found = torch.zeros_like(words[0])
    step = 1 << (len(sums) - 1).bit_length()
    while step:
        end = found + step
        last = torch.minimum(end, size) + (begin - 1)
        is_less = sums.index_select(0, last.reshape(-1)).reshape(last.shape) < target
        found = torch.where(is_less & (end <= size), end, found)
        step //= 2
    return found


def _entry_table(entries: HostSamples, out: DeviceSamples) -> torch.Tensor | None:
    """All entries in one row, as integers of their bits; None if they are numbers from 0 on."""
    if entries.ndim == 0:
        return None
    numbers = np.concatenate([to_numpy(entries, index) for index in range(len(entries))])
    (table,) = constants(out.flat(), numbers.view(f"i{numbers.itemsize}"))
    return table
