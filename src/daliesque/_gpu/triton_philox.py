# SPDX-License-Identifier: Apache-2.0
"""Philox 4x32-10 on accelerators in Triton: what `philox` computes, without passes over memory.

Imported only where there is Triton and a device that it compiles for. The words are those of
`philox._words`. Poisson-distributed numbers, for which it depends on the words how many of them are
needed, have no program in torch: the one in the native core is their reference
(random/std_random.h). Sums and products are rounded one by one, as there.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# Elements that one program computes.
_WORDS_BLOCK = 1024
_EVENTS_BLOCK = 128

# What an element does with its next four words, in `_events`.
_DONE = tl.constexpr(0)
_MULTIPLY = tl.constexpr(1)
_BEGIN = tl.constexpr(2)
_PAIR = tl.constexpr(3)
_TAIL = tl.constexpr(4)

_QUARTER_PI = tl.constexpr(0.7853981633974483096156608458198757)
_ROOT_HALF_PI = tl.constexpr(1.2533141373155002512078826424055226)
# 1 / 78, and e to the power of it.
_PART = tl.constexpr(0.0128205128205128205128205128205128)
_EXP_PART = tl.constexpr(1.0129030479320018583185514777512983)
_HALF_LOG_TWO_PI = tl.constexpr(0.9189385332046727417803297364056176)


@triton.jit
def _block(key0, key1, low, high):
    """The four words of a counter."""
    x0, x1 = low.to(tl.uint32), (low >> 32).to(tl.uint32)
    x2, x3 = high.to(tl.uint32), (high >> 32).to(tl.uint32)
    for _ in tl.static_range(10):
        even_high, odd_high = tl.umulhi(x0, 0xD2511F53), tl.umulhi(x2, 0xCD9E8D57)
        even_low, odd_low = x0 * 0xD2511F53, x2 * 0xCD9E8D57
        x0, x1, x2, x3 = odd_high ^ x1 ^ key0, odd_low, even_high ^ x3 ^ key1, even_low
        key0 += 0x9E3779B9
        key1 += 0xBB67AE85
    return x0, x1, x2, x3


@triton.jit
def _block_at(keys, low, high, spot):
    """The four words of the block that a word is in, counted from where its sample begins."""
    key0, key1 = tl.load(keys).to(tl.uint32), tl.load(keys + 1).to(tl.uint32)
    start = low.to(tl.uint64)
    own = start + (spot >> 2).to(tl.uint64)
    return _block(key0, key1, own, high.to(tl.uint64) + (own < start).to(tl.uint64))


@triton.jit
def _located(spots, highs, stride, total, columns, BY_ROW: tl.constexpr, BLOCK: tl.constexpr):
    """The elements of this program, and where the draws of each begin."""
    element = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = element < total
    column = element % columns
    spot = tl.load(spots + column, mask=inside, other=0)
    number = element // columns if BY_ROW else column
    high = tl.load(highs + number * stride, mask=inside, other=0)
    return element, inside, spot, high


@triton.jit(do_not_specialize=["low", "total", "columns"])
def _words(
    out,
    spots,
    highs,
    stride,
    keys,
    low,
    total,
    columns,
    COUNT: tl.constexpr,
    BY_ROW: tl.constexpr,
    BLOCK: tl.constexpr,
):
    element, inside, spot, high = _located(spots, highs, stride, total, columns, BY_ROW, BLOCK)
    first = low.to(tl.int64)
    # The first word may be the last one of its block.
    for number in tl.static_range((COUNT + 2) // 4 + 1):
        x0, x1, x2, x3 = _block_at(keys, first, high, spot + 4 * number)
        at = 4 * number - (spot & 3)
        target = out + at * total + element
        tl.store(target, x0.to(tl.int64), mask=inside & (at >= 0) & (at < COUNT))
        tl.store(target + total, x1.to(tl.int64), mask=inside & (at >= -1) & (at < COUNT - 1))
        tl.store(target + 2 * total, x2.to(tl.int64), mask=inside & (at >= -2) & (at < COUNT - 2))
        tl.store(target + 3 * total, x3.to(tl.int64), mask=inside & (at >= -3) & (at < COUNT - 3))


@triton.jit
def _unit(low, high):
    """A number in [0, 1) in double precision, of two words."""
    value = (low.to(tl.float64) + high.to(tl.float64) * 4294967296.0) * 5.421010862427522e-20
    return tl.where(value < 1.0, value, value - 1.1102230246251565e-16)


@triton.jit
def _two_units(keys, low, high, spot):
    """Two numbers of the next four words, which are in two blocks at most."""
    x0, x1, x2, x3 = _block_at(keys, low, high, spot)
    y0, y1, y2, _ = _block_at(keys, low, high, spot + 4)
    phase = spot & 3
    w0 = tl.where(phase < 2, tl.where(phase == 0, x0, x1), tl.where(phase == 2, x2, x3))
    w1 = tl.where(phase < 2, tl.where(phase == 0, x1, x2), tl.where(phase == 2, x3, y0))
    w2 = tl.where(phase < 2, tl.where(phase == 0, x2, x3), tl.where(phase == 2, y0, y1))
    w3 = tl.where(phase < 2, tl.where(phase == 0, x3, y0), tl.where(phase == 2, y1, y2))
    return _unit(w0, w1), _unit(w2, w3)


@triton.jit
def _log_factorial(n):
    """By Stirling's series from 16 on; numbers below that are multiplied up to it."""
    z = n + 1.0
    product = z * 0.0 + 1.0
    for _ in tl.static_range(15):
        is_small = z < 16.0
        product = tl.where(is_small, product * z, product)
        z = tl.where(is_small, z + 1.0, z)
    r = 1.0 / (z * z)
    series = 1.0 / 1260.0 - r * (1.0 / 1680.0 - r * (1.0 / 1188.0))
    series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * series)) / z
    return (z - 0.5) * tl.log(z) - z + _HALF_LOG_TWO_PI + series - tl.log(product)


@triton.jit
def _candidate(region, n, y, floor, d, cx):
    """A number of events less the mean, the logarithm of its weight, and whether it is outside."""
    inverse_cx = 1.0 / cx
    left = tl.floor(-tl.abs(n) * tl.sqrt(floor) - 1.0)
    right = 1.0 + tl.abs(n) * tl.sqrt(cx / 2.0)
    x = tl.where(region == 3, 0.0, tl.where(region == 2, -1.0, 1.0))
    w = tl.where(region == 4, y * 0.0 + _PART, 0.0)
    x = tl.where(region == 5, tl.ceil(y), x)
    w = tl.where(region == 5, -d * inverse_cx * (1.0 + y / 2.0), w)
    x = tl.where(region == 1, tl.ceil(right), tl.where(region == 0, left, x))
    w = tl.where(region == 1, right * (2.0 - right) * inverse_cx, w)
    w = tl.where(region == 0, -n * n / 2.0, w)
    is_outside = ((region == 0) & (x < -floor)) | ((region == 1) & (x > d))
    return x, w, is_outside


@triton.jit
def _regions(mean):
    """Where candidates for events come from, for means from 12 on."""
    floor = tl.floor(mean)
    dx = tl.sqrt(2.0 * floor * tl.log(32.0 * floor / _QUARTER_PI))
    d = tl.floor(tl.maximum(tl.minimum(floor, dx), 6.0) + 0.5)
    cx = 2.0 * floor + d
    inverse_cx = 1.0 / cx
    c1 = tl.sqrt(floor) * _ROOT_HALF_PI
    c2 = tl.sqrt(cx * _QUARTER_PI) * tl.exp(inverse_cx) + c1
    c5 = c2 + 1.0 + 1.0 + _EXP_PART
    c = 2.0 * cx * tl.exp(-d * inverse_cx * (1.0 + d / 2.0)) / d + c5
    return floor, d, cx, c1, c2, c5, c


@triton.jit
def _region(u, c1, c2, c5):
    """Which of the six regions a number is in."""
    left = tl.where(u <= c1, 0, tl.where(u <= c2, 1, 2))
    right = tl.where(u <= c2 + 1.0 + 1.0, 3, tl.where(u <= c5, 4, 5))
    return tl.where(u <= c2 + 1.0, left, right)


@triton.jit(do_not_specialize=["low", "total", "columns"])
def _events(
    out,
    means,
    spots,
    highs,
    stride,
    keys,
    low,
    total,
    columns,
    BY_ROW: tl.constexpr,
    BLOCK: tl.constexpr,
):
    element, inside, spot, high = _located(spots, highs, stride, total, columns, BY_ROW, BLOCK)
    first = low.to(tl.int64)
    given = tl.load(means + element, mask=inside, other=0.0).to(tl.float64)
    is_small = given < 12.0
    threshold = tl.exp(-given)
    mean = tl.where(is_small, 12.0, given)
    floor, d, cx, c1, c2, c5, c = _regions(mean)
    log_mean, limit = tl.log(mean), _log_factorial(floor)

    step = tl.where(inside, tl.where(is_small, _MULTIPLY, _BEGIN), _DONE)
    region, has_saved = step * 0, step < 0
    saved, e, result = given * 0.0, given * 0.0, given * 0.0
    product = result + 1.0
    while tl.max(step, 0) > 0:
        a, b = _two_units(keys, first, high, spot)
        begins, pairs, tails = step == _BEGIN, step == _PAIR, step == _TAIL
        spot += tl.where(tails, 2, 4)
        # Small means: how many numbers may be multiplied until the product is small.
        once = product * a
        product = once * b
        counts = (step == _MULTIPLY) & (once > threshold)
        result = tl.where(counts, result + tl.where(product > threshold, 2.0, 1.0), result)
        goes_on = counts & (product > threshold)
        # Others: a candidate, by its region, and whether it is accepted.
        region = tl.where(begins, _region(c * a, c1, c2, c5), region)
        e = tl.where(begins, -tl.log(1.0 - b), e)
        h, v = 2.0 * a - 1.0, 2.0 * b - 1.0
        square = h * h + v * v
        is_pair = pairs & (square <= 1.0) & (square > 0.0)
        square = tl.where(is_pair, square, 0.5)
        scale = tl.sqrt(-2.0 * tl.log(square) / square)
        takes_saved = begins & (region < 2) & has_saved
        n = tl.where(is_pair, v * scale, saved)
        saved = tl.where(is_pair, h * scale, saved)
        has_saved = is_pair | (has_saved & (takes_saved == 0))
        y = d - tl.log(1.0 - a) * (2.0 * cx) / d
        x, w, is_outside = _candidate(region, n, y, floor, d, cx)
        events = x + floor
        weight = limit - _log_factorial(tl.maximum(events, 0.0))
        is_rejected = is_outside | (w - e - x * log_mean > weight)
        is_ready = is_pair | takes_saved | tails | (begins & (region >= 2) & (region < 5))
        result = tl.where(is_ready, events, result)
        later = tl.where(is_ready, tl.where(is_rejected, _BEGIN, _DONE), _PAIR)
        later = tl.where(begins & (region == 5), _TAIL, later)
        step = tl.where(step > _MULTIPLY, later, tl.where(goes_on, _MULTIPLY, _DONE))
    tl.store(out + element, result.to(tl.float32), mask=inside)


def words(
    shape: tuple[int, ...],
    spots: torch.Tensor,
    highs: torch.Tensor,
    keys: torch.Tensor,
    low: int,
    count: int,
) -> torch.Tensor:
    """The first words of all elements, along the first axis, as int64."""
    out = torch.empty((count, *shape), dtype=torch.int64, device=spots.device)
    total = out[0].numel()
    start = (spots, highs, highs.stride(0), keys, low)
    by_row = len(shape) > 1
    grid = (triton.cdiv(total, _WORDS_BLOCK),)
    _words[grid](out, *start, total, shape[-1], count, by_row, _WORDS_BLOCK)
    return out


def events(
    means: torch.Tensor,
    shape: tuple[int, ...],
    spots: torch.Tensor,
    highs: torch.Tensor,
    keys: torch.Tensor,
    low: int,
) -> torch.Tensor:
    """Poisson-distributed numbers of given means, float32 from 0 to 2**31."""
    total = means.numel()
    out = torch.empty(total, dtype=torch.float32, device=means.device)
    start = (spots, highs, highs.stride(0), keys, low)
    by_row = len(shape) > 1
    grid = (triton.cdiv(total, _EVENTS_BLOCK),)
    options = {"enable_fp_fusion": False}
    _events[grid](out, means, *start, total, shape[-1], by_row, _EVENTS_BLOCK, **options)
    return out
