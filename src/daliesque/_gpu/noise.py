# SPDX-License-Identifier: Apache-2.0
"""Noise on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import DType, float32, float64, from_code, int64, uint8, uint64
from .groups import carrier
from .numbers import SIGN_BIT, from_float, from_integer, to_float, widened
from .philox import draw_events, draw_words, triton_kernels
from .placement import on_device
from .ragged import Rows, elements_of, elementwise
from .random import is_drawn_here, normal_numbers
from .samples import DeviceSamples

# What stands for unchanged pixels, pepper and salt in the masks that are drawn.
_SAME, _PEPPER, _SALT = 0, 1, 2
# From so many events on average on, the method of the native core does not end.
_MOST_EVENTS = 2.0**31


def gaussian_noise(samples: DeviceSamples, state: Any, mean: Any, stddev: Any) -> DeviceSamples:
    """Add normally distributed numbers."""
    own = from_code(samples.type_id)
    # Noise for wide integers is drawn in double precision, and rounded then.
    wide = own.bits > 16 and own.kind is not DType.Kind.float
    drawn = int64 if wide else float64 if own is float64 else float32
    moved = normal_numbers(samples, state, mean, stddev, drawn.code)
    kind = None if wide else carrier(drawn.code)

    numbers = iter(elements_of(moved, samples))

    def noisy(rows: Rows) -> torch.Tensor:
        added = next(numbers)
        if kind is None:
            return _increased(rows.data, added, samples.type_id)
        return from_float(to_float(rows.data, samples.type_id, kind) + added, samples.type_id)

    return elementwise(samples, noisy)


def _increased(data: torch.Tensor, added: torch.Tensor, type_id: int) -> torch.Tensor:
    """Sums of integers, clamped; in integers, since some devices have no double precision."""
    dtype = from_code(type_id)
    if dtype.bits < 64:
        total = widened(data, type_id).to(torch.int64) + added.clamp(-(2**62), 2**62)
        return from_integer(total, False, type_id)
    total = data + added
    if dtype is uint64:
        less = total.bitwise_xor(SIGN_BIT) < data.bitwise_xor(SIGN_BIT)
        above = torch.where(less, torch.full_like(total, -1), total)
        below = torch.where(less, total, torch.zeros_like(total))
        return torch.where(added < 0, below, above)
    limit = torch.where(added < 0, SIGN_BIT, -SIGN_BIT - 1)
    overflown = (data.bitwise_xor(total) & added.bitwise_xor(total)) < 0
    return torch.where(overflown, limit, total)


def salt_and_pepper_noise(
    samples: DeviceSamples,
    state: Any,
    probability: Any,
    salt_vs_pepper: Any,
    salt: Any,
    pepper: Any,
    channel_axis: int,
) -> DeviceSamples:
    """Replace random pixels by a bright or a dark one."""
    moved = _grain_kinds(samples, state, probability, salt_vs_pepper, channel_axis)
    own = from_code(samples.type_id)
    if own.kind is DType.Kind.float:
        lowest, highest = -1, 1
    elif own.kind is DType.Kind.unsigned:
        # All bits set, in the signed type that stores them.
        lowest, highest = 0, 255 if own.bits == 8 else -1
    else:
        lowest, highest = -(2 ** (own.bits - 1)), 2 ** (own.bits - 1) - 1

    # Pixels are one after the other if their channels are together, or all in planes of their own.
    inner = max(1, samples.ndim - channel_axis) if channel_axis >= 0 else 1
    marks = iter(elements_of(moved, samples, inner))

    def grainy(rows: Rows) -> torch.Tensor:
        kinds, data = next(marks), rows.data
        dark = data.new_full((), lowest)
        bright = data.new_full((), highest)
        if pepper is not None:
            dark = from_float(rows.spread(pepper)[0], samples.type_id)
        if salt is not None:
            bright = from_float(rows.spread(salt)[0], samples.type_id)
        return torch.where(kinds == _SALT, bright, torch.where(kinds == _PEPPER, dark, data))

    return elementwise(samples, grainy, inner)


def _grain_kinds(
    samples: DeviceSamples, state: Any, probability: Any, salt_vs_pepper: Any, channel_axis: int
) -> DeviceSamples:
    """Which pixels become grains, and of which kind."""
    shapes = samples.shape_array()
    if channel_axis >= 0:
        shapes[:, channel_axis] = np.minimum(shapes[:, channel_axis], 1)
    if is_drawn_here(samples):
        limits = [_words_below(probability), _words_below(probability * salt_vs_pepper)]

        def counted(words: torch.Tensor, *limits: torch.Tensor) -> torch.Tensor:
            noise, salt = (words[0].lt(limit) for limit in limits)
            return noise.to(torch.uint8) + salt

        kinds = draw_words(samples, state, 1, counted, limits, shapes.prod(axis=1))
        return samples.of_all(kinds, shapes, "", uint8.code)
    mask = _kernels.empty(uint8.code, shapes, "", len(samples))
    for index in range(len(samples)):
        to_numpy(mask, index)[...] = _SAME
    salt_mark, pepper_mark = (np.array([value], np.float32) for value in (_SALT, _PEPPER))
    return on_device(
        _kernels.salt_and_pepper_noise(
            mask,
            state=state,
            probability=probability,
            salt_vs_pepper=salt_vs_pepper,
            salt=salt_mark,
            pepper=pepper_mark,
            channel_axis=channel_axis,
        )
    )


def _words_below(probability: NDArray[np.float32]) -> NDArray[np.int64]:
    """How many words w there are for which w * 2**-32, in single precision, is less."""
    low = np.zeros(probability.shape, np.int64)
    high = np.full_like(low, 1 << 32)
    while (low < high).any():
        middle = (low + high) // 2
        is_less = middle.astype(np.float32) * np.float32(2.0**-32) < probability
        low, high = np.where(is_less, middle + 1, low), np.where(is_less, high, middle)
    return low & 0xFFFFFFFF


def shot_noise(samples: DeviceSamples, state: Any, factor: Any) -> DeviceSamples:
    """Replace values by Poisson-distributed numbers.

    How many words a number takes depends on the words. torch could only draw the most that any may
    take, for all; Triton draws for each what it takes. Where there is no Triton, this is computed
    on the CPU, which has to wait for the device.
    """
    if not _draws_events_here(samples, factor):
        moved: DeviceSamples = on_device(_kernels.shot_noise(samples.to_host(), state, factor))
        return moved
    with np.errstate(divide="ignore"):
        inverse = np.where(factor == 0, 0, np.float32(1) / factor)
    factors: list[torch.Tensor] = []

    def to_means(rows: Rows) -> torch.Tensor:
        factor_there, inverse_there = rows.spread(factor, inverse)
        factors.append(factor_there)
        return to_float(rows.data, samples.type_id) * inverse_there

    means = elementwise(samples, to_means, 0, type_id=float32.code)
    flat = means.flat()
    # The comparison lets NaN become 0.
    used = torch.where((flat > 0) & (flat < _MOST_EVENTS), flat, torch.zeros_like(flat))
    events = draw_events(means, state, used)
    if samples.type_id == float32.code:
        # The CPU raises an error, for which the host would have to wait here.
        events = torch.where(flat >= _MOST_EVENTS, torch.full_like(events, np.nan), events)
    drawn = means.of_all(events, means.shape_array())
    spread = iter(factors)

    def scaled(rows: Rows) -> torch.Tensor:
        return from_float(rows.data * next(spread), samples.type_id)

    return elementwise(drawn, scaled, 0, type_id=samples.type_id)


def _draws_events_here(samples: DeviceSamples, factor: NDArray[np.float32]) -> bool:
    """Whether numbers of events are drawn on the device: not if too large means are an error."""
    own = from_code(samples.type_id)
    if not is_drawn_here(samples, True) or triton_kernels() is None:
        return False
    return own is float32 or (
        own.bits <= 16 and (2**own.bits < _MOST_EVENTS * np.abs(factor[factor != 0])).all()
    )
