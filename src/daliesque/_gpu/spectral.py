# SPDX-License-Identifier: Apache-2.0
"""Spectra on accelerators."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import float32
from .groups import Group
from .numbers import constant
from .samples import DeviceSamples

Integers = NDArray[np.int64]
SignalPadding: TypeAlias = _kernels.SignalPadding


def _joined(samples: DeviceSamples) -> tuple[torch.Tensor, Integers, Integers]:
    """All samples one after the other, where each begins, and how long each is."""
    lengths = samples.shape_array().prod(axis=1)
    begins = np.zeros(len(samples), np.int64)
    at = 0
    for indices, data in samples.groups:
        size = data[0].numel()
        begins[indices] = at + np.arange(len(indices)) * size
        at += data.numel()
    flat = torch.cat([data.reshape(-1) for _, data in samples.groups])
    return flat, begins, lengths


def spectrogram(
    out: DeviceSamples,
    samples: DeviceSamples,
    nfft: int,
    window: NDArray[np.float32],
    window_step: int,
    padding: SignalPadding,
    magnitude: bool,
    time_major: bool,
) -> None:
    """Spectra of windows of signals, of all samples at once."""
    if len(samples) == 0:
        return
    flat, begins, lengths = _joined(samples)
    counts = out.shape_array()[:, 0 if time_major else 1]
    owner = np.repeat(np.arange(len(samples)), counts)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    size = len(window)
    first = number * window_step - (0 if padding == SignalPadding.none else size // 2)
    position = constant(first, flat)[:, None] + torch.arange(size, device=flat.device)
    extent = constant(lengths[owner], flat)[:, None]
    inside = (position >= 0) & (position < extent)
    if padding == SignalPadding.reflect:
        period = (2 * extent - 2).clamp(min=1)
        folded = torch.remainder(position, period)
        position = torch.where(folded < extent, folded, period - folded)
        inside = torch.ones_like(inside)
    index = position.clamp(min=0).minimum(extent - 1) + constant(begins[owner], flat)[:, None]
    frames = torch.where(
        inside, flat[index], torch.zeros((), dtype=torch.float32, device=flat.device)
    )
    spectra = torch.fft.rfft(frames * constant(window, flat), nfft)
    power = spectra.real.square() + spectra.imag.square()
    if magnitude:
        power = power.sqrt()
    groups, begin = [], 0
    if (counts == counts[0]).all():
        whole = power.reshape(len(samples), int(counts[0]), -1)
        groups.append(Group(np.arange(len(samples)), whole))
    else:
        for sample, count in enumerate(counts.tolist()):
            groups.append(Group(np.array([sample]), power[begin : begin + count][None]))
            begin += count
    if not time_major:
        groups = [Group(indices, data.transpose(1, 2)) for indices, data in groups]
    out.become(groups)


def _multiplied(data: torch.Tensor, axis: int, matrix: NDArray[np.float32]) -> torch.Tensor:
    """matrix @ data along an axis."""
    table = constant(matrix, data)
    moved = torch.matmul(data.movedim(axis, -1), table.transpose(0, 1))
    return moved.movedim(-1, axis)


@functools.lru_cache(maxsize=16)
def _mel_matrix(frequencies: int, filters: int, *arguments: Any) -> NDArray[np.float32]:
    """What the native kernel multiplies spectra with."""
    identity = _kernels.wrap_buffer(np.eye(frequencies, dtype=np.float32), float32.code, "")
    shapes = np.array([[filters, frequencies]], np.int64)
    out = _kernels.empty(float32.code, shapes, "", 1)
    _kernels.mel_filter_bank(out, identity, 0, filters, *arguments)
    return np.array(to_numpy(out))


def mel_filter_bank(
    out: DeviceSamples,
    samples: DeviceSamples,
    axis: int,
    filters: int,
    sample_rate: float,
    low: float,
    high: float,
    htk: bool,
    normalize: bool,
) -> None:
    """Spectra of frequencies as spectra of the mel scale."""
    groups = []
    for indices, data in samples.groups:
        arguments = (filters, sample_rate, low, high, htk, normalize)
        matrix = _mel_matrix(data.shape[axis + 1], *arguments)
        groups.append(Group(indices, _multiplied(data, axis + 1, matrix)))
    out.become(groups)


def multiply_axis(
    out: DeviceSamples, samples: DeviceSamples, axis: int, tables: list[NDArray[np.float32]]
) -> None:
    """A matrix times each sample, along an axis."""
    groups = []
    for indices, data in samples.groups:
        matrix = tables[0 if len(tables) == 1 else int(indices[0])]
        groups.append(Group(indices, _multiplied(data, axis + 1, matrix)))
    out.become(groups)


def to_decibels(
    out: DeviceSamples,
    samples: DeviceSamples,
    multiplier: float,
    reference: float,
    min_ratio: float,
) -> None:
    """multiplier * log10(value / reference); 0 stands for the largest value of a sample."""
    groups = []
    for indices, data in samples.groups:
        scale: Any = 1 / reference if reference else None
        if scale is None and data.numel():
            flat = torch.nan_to_num(data.reshape(len(data), -1), nan=0.0, posinf=float("inf"))
            largest = flat.amax(1).clamp(min=0)
            largest = torch.where(largest == 0, torch.ones_like(largest), largest)
            scale = (1 / largest).reshape(-1, *(1,) * (data.ndim - 1))
        ratio = data * (1.0 if scale is None else scale)
        above = torch.where(ratio > min_ratio, ratio, torch.full_like(ratio, min_ratio))
        groups.append(Group(indices, multiplier * torch.log10(above)))
    out.become(groups)
