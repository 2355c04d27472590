# SPDX-License-Identifier: Apache-2.0
"""Signals on accelerators."""

from __future__ import annotations

import functools
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.dtype import DType, float32, float64, from_code
from .gather import Window, windows_of
from .groups import Group
from .numbers import (
    constant,
    constants,
    first_true,
    from_float,
    last_true,
    to_float,
    widened,
)
from .ragged import Rows, compacted, elements_of, elementwise, separately
from .samples import DeviceSamples

Integers = NDArray[np.int64]

SignalStart: TypeAlias = _kernels.SignalStart


def preemphasis_filter(
    out: DeviceSamples, samples: DeviceSamples, coefficient: NDArray[np.float32], start: SignalStart
) -> None:
    """Values less a multiple of the ones before them."""
    kind = torch.float64 if from_code(samples.type_id) is float64 else torch.float32
    if samples.volume == 0:
        return
    shapes = samples.shape_array()
    sizes = shapes.prod(axis=1)
    begins = samples.begins()[sizes > 0]
    # What comes before the first value of each signal.
    second = np.minimum(1, sizes[sizes > 0] - 1) if start == SignalStart.reflect else 0
    values = to_float(samples.flat(), samples.type_id, kind)
    where, first = constants(values, begins, begins + second)
    before = torch.cat([values[:1], values[:-1]])
    if start == SignalStart.zero:
        before[where] = torch.zeros_like(values[:1])
    else:
        before[where] = values.index_select(0, first)
    made = samples.of_all(before, shapes, type_id=out.type_id)

    def emphasized(rows: Rows) -> torch.Tensor:
        (factor,) = rows.spread(coefficient)
        return from_float(rows.data - factor.to(kind) * next(earlier), out.type_id)

    earlier = iter(elements_of(made, samples, 0))
    wide = samples.of_all(values, shapes)
    out.become(elementwise(wide, emphasized, 0, type_id=out.type_id))


def nonsilent_region(
    begin: DeviceSamples,
    length: DeviceSamples,
    samples: DeviceSamples,
    cutoff_db: float,
    reference_power: float,
    window_length: int,
    reset_interval: int,
) -> None:
    """Where signals are loud: first position and length."""
    # Sums that begin again are for single precision.
    del reset_interval
    begins, lengths = [], []
    for indices, data, inside in _together(samples, window_length):
        count = data.shape[1]
        first = torch.zeros(len(data), dtype=torch.int64, device=data.device)
        size = first
        if count:
            window = min(window_length, count)
            power = _mean_squares(data, samples.type_id, window)
            if inside is not None:
                power = torch.where(inside, power, torch.full_like(power[:1, :1], -1))
            reference = power.amax(1, keepdim=True)
            if reference_power:
                reference = torch.full_like(reference, reference_power)
            loud = power >= reference * float(np.float32(10) ** np.float32(cutoff_db / 10))
            if inside is not None:
                loud = loud & inside
            end = last_true(loud) + 1
            first = (first_true(loud) - window + 1).clamp(min=0)
            any_loud = loud.any(1)
            first = torch.where(any_loud, first, torch.zeros_like(first))
            size = torch.where(any_loud, end - first, torch.zeros_like(first))
        begins.append(Group(indices, first.to(torch.int32)))
        lengths.append(Group(indices, size.to(torch.int32)))
    begin.become(begins)
    length.become(lengths)


def _together(samples: DeviceSamples, window_length: int) -> list[Window]:
    """Signals in few tensors, if none is shorter than the window."""
    if samples.volume and (samples.shape_array()[:, 0] >= window_length).all():
        return windows_of(samples)
    return [Window(indices, data, None) for indices, data in samples.groups]


def _mean_squares(data: torch.Tensor, type_id: int, window: int) -> torch.Tensor:
    """The mean squares of the `window` values up to each position."""
    dtype = from_code(type_id)
    bits, peak = 0, None
    if dtype.kind is not DType.Kind.float and dtype.bits <= 16:
        values = widened(data, type_id).to(torch.int64)
        squares = values * values
    else:
        squares, bits, peak = _fixed_squares(to_float(data, type_id))
    sums = squares.cumsum(1)
    earlier = torch.nn.functional.pad(sums[:, :-window], (window, 0))
    share = float(np.float32(1) / np.float32(window)) / 2.0**bits
    means = (sums - earlier).to(torch.float32) * share
    return means if peak is None else means * peak * peak


def _fixed_squares(values: torch.Tensor) -> tuple[torch.Tensor, int, torch.Tensor]:
    """Squares as integers: parts of 2^bits of the square of the largest value of each row.

    Differences of sums in single precision would have nothing left of what is quiet, and some
    devices have no other. There are as many bits as sums of so many allow: among a million
    values, what is 90 dB below the largest has 3 digits.
    """
    largest = values.abs().amax(1, keepdim=True)
    largest = torch.where((largest > 0) & largest.isfinite(), largest, torch.ones_like(largest))
    bits = 62 - int(np.ceil(np.log2(values.shape[1] + 1)))
    ratio = torch.nan_to_num(values / largest).clamp(-1, 1)
    return (ratio * ratio * 2.0**bits).to(torch.int64), bits, largest


# Between two neighboring values of a signal, the window is tabulated at this many positions.
_PHASES = 32
# How many products are made at once.
_MOST_PRODUCTS = 1 << 24


@functools.lru_cache(maxsize=8)
def _window_table(lobes: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A row of weights for each phase, and their differences to the next one."""
    count, center = 2 * _PHASES * lobes + 1, _PHASES * lobes
    k = np.arange(count, dtype=np.float32) - np.float32(center)
    x = k * (np.float32(2 * lobes) / np.float32(count - 1))
    y = k * (np.float32(2) / np.float32(count))
    hann = 0.5 * (1 + np.cos(y.astype(np.float64) * np.pi))
    values = np.zeros(count + 1, np.float32)
    values[:count] = np.sinc(x.astype(np.float64)) * hann
    entries = np.arange(_PHASES + 1)[:, None] + _PHASES * np.arange(2 * lobes)
    weights = values[entries]
    return weights, values[entries + 1] - weights


def audio_resample(
    out: DeviceSamples, samples: DeviceSamples, steps: NDArray[np.float64], lobes: int
) -> None:
    """Signals at another rate."""
    shapes, results = samples.shape_array(), out.shape_array()
    empty = (shapes == 0).any(axis=1) | (results == 0).any(axis=1)
    # Signals with other channels, or without values, cannot be processed together.
    keys = np.concatenate([shapes[:, 1:], empty[:, None]], axis=1)

    def run(part: DeviceSamples, indices: Integers) -> DeviceSamples:
        if empty[indices[0]]:
            made = DeviceSamples.empty(
                out.type_id, results[indices], part.layout, part.device, part.working_queue()
            )
            made.flat().zero_()
            return made
        parts = []
        for numbers, data, _ in windows_of(part, ()):
            values = _normalized(data, samples.type_id, _is_signed(out.type_id))
            # Channels to the front.
            planes = values.reshape(len(data), data.shape[1], -1).transpose(1, 2)
            chosen = indices[numbers]
            count = int(results[chosen, 0].max())
            made_of = _resampled(planes, shapes[chosen, 0], steps[chosen], count, lobes)
            if from_code(out.type_id) is not float32:
                made_of = made_of * _largest(out.type_id)
            made_of = made_of.transpose(1, 2).reshape(len(data), count, *data.shape[2:])
            parts.append((numbers, from_float(made_of, out.type_id).contiguous()))
        return compacted(part, parts, results[indices, :1], 0, out.type_id)

    out.become(separately(samples, keys, run, out.type_id))


def _resampled(
    planes: torch.Tensor, lengths: Integers, steps: NDArray[np.float64], count: int, lobes: int
) -> torch.Tensor:
    """So many results of planes (samples, channels, length), some at a time."""
    chunk = max(1, _MOST_PRODUCTS // (planes.shape[0] * planes.shape[1] * 2 * lobes))
    parts = [
        _resampled_part(planes, lengths, steps, begin, min(chunk, count - begin), lobes)
        for begin in range(0, count, chunk)
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts, 2)


def _resampled_part(
    planes: torch.Tensor,
    lengths: Integers,
    steps: NDArray[np.float64],
    begin: int,
    count: int,
    lobes: int,
) -> torch.Tensor:
    """Results [begin, begin + count) of planes, of which only so much of the length counts."""
    weights, changes = _window_table(lobes)
    taps = weights.shape[1]
    # Positions are counted in binary fractions, since some devices have no double precision.
    whole = np.floor(steps * begin)
    first = steps * begin - whole
    bits = 61 - int(np.ceil(np.log2((first + steps * count).max() + 1)))
    number = torch.arange(count, device=planes.device)
    fixed = np.rint(np.ldexp([first, steps], bits)).astype(np.int64)
    start, step = constant(fixed, planes)[..., None]
    position = start + step * number
    following = (position + ((1 << bits) - 1)).bitwise_right_shift(bits)
    before = following.bitwise_left_shift(bits) - position
    phase = before.to(torch.float32) * (_PHASES / 2.0**bits)
    row = phase.to(torch.int64).clamp(max=_PHASES)
    part = (phase - row)[..., None]
    weight = constant(weights, planes)[row] + constant(changes, planes)[row] * part
    following = following + constant(whole.astype(np.int64), planes)[:, None]
    position = following[..., None] + (torch.arange(taps, device=planes.device) - taps // 2)
    inside = (position >= 0) & (position < constant(lengths, planes).reshape(-1, 1, 1))
    weight = torch.where(inside, weight, torch.zeros_like(weight))
    sample = torch.arange(len(planes), device=planes.device).reshape(-1, 1, 1)
    values = planes.transpose(1, 2)[sample, position.clamp(0, planes.shape[2] - 1)]
    return (values * weight[..., None]).sum(2).transpose(1, 2)


def _is_signed(type_id: int) -> bool:
    return from_code(type_id).kind is not DType.Kind.unsigned


def _largest(type_id: int) -> float:
    dtype = from_code(type_id)
    bits = dtype.bits - (0 if dtype.kind is DType.Kind.unsigned else 1)
    return float(np.float32(2**bits - 1))


def _normalized(data: torch.Tensor, type_id: int, signed: bool) -> torch.Tensor:
    """Values in [-1, 1] or [0, 1]; the middle of an unsigned range stands for 0."""
    values = to_float(data, type_id)
    if from_code(type_id) is not float32:
        values = values * float(np.float32(1) / np.float32(_largest(type_id)))
    if signed == _is_signed(type_id):
        return values
    return values * 2 - 1 if signed else (values + 1) * 0.5
