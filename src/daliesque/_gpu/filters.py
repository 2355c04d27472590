# SPDX-License-Identifier: Apache-2.0
"""Filters on accelerators: products with windows, sums and extremes of shifted images."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.dtype import DType, from_code, uint64
from .gather import Border, border_indices, gathered
from .numbers import SIGN_BIT, column, constant, from_float, is_float, rows, to_float, widened
from .placement import on_device
from .ragged import in_windows, separately
from .samples import DeviceSamples

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
# Axes that count images, spatial axes, and whether an axis of channels follows.
Axes = tuple[int, int, bool]

Rank: TypeAlias = _kernels.Rank


# A window is applied to this many results at once, or to as many as it is long.
_BLOCK = 32


def _extended(
    data: torch.Tensor,
    axis: int,
    before: int,
    behind: int,
    border: Border,
    fill: torch.Tensor | None,
    extents: Integers,
) -> torch.Tensor:
    """The data with what lies beyond the ends of an axis, which are at `extents` for each row.

    If these are less than there is, as in padded samples, there is less of it.
    """
    steps = np.arange(-before, data.shape[axis] + behind)
    found = border_indices(steps[None], _single(extents)[:, None], border)
    outside = found < 0
    extended = _gathered_along(data, axis, np.where(outside, 0, found))
    if fill is None or not outside.any():
        return extended
    shape = [1] * data.ndim
    shape[0], shape[axis] = outside.shape
    return torch.where(constant(outside, data).reshape(shape), fill, extended)


def _gathered_along(data: torch.Tensor, axis: int, chosen: Integers) -> torch.Tensor:
    choices = [np.arange(e)[None] for e in data.shape[1:]]
    choices[axis - 1] = chosen
    return gathered(data, choices)


def _single(extents: Integers) -> Integers:
    """One number for all rows, if theirs are the same."""
    return extents[:1] if (extents == extents[:1]).all() else extents


def _weighted(values: torch.Tensor, axis: int, windows: Floats, extents: Integers) -> torch.Tensor:
    """Sums along an axis, mirrored at its ends, with a window for each row or for all.

    They are products of matrices, which hold the window in each row, with blocks of values.
    """
    most = windows.shape[1]
    if most == 1 and (windows == 1).all():
        return values
    results = values.shape[axis]
    size = min(results, max(_BLOCK, most))
    number, width = -(-results // size), size + most - 1
    steps = (np.arange(number)[:, None] * size + np.arange(width)).reshape(-1) - most // 2
    chosen = border_indices(steps[None], _single(extents)[:, None], Border.reflect_101)
    blocks = _gathered_along(values, axis, chosen).movedim(axis, 1)
    matrices = np.zeros((len(windows), 1, size, width), np.float32)
    for row in range(size):
        matrices[:, 0, row, row : row + most] = windows
    inputs = blocks.reshape(len(values), number, width, -1)
    product = torch.matmul(constant(matrices, values), inputs)
    made = product.reshape(len(values), number * size, *blocks.shape[2:])
    return made.narrow(1, 0, results).movedim(1, axis)


def _for_axis(values: NDArray[Any], axis: int) -> NDArray[Any]:
    """The value of an argument for one axis: its own, or the one for all."""
    return values[:, 0 if values.shape[1] == 1 else axis]


def _padded(windows: list[Floats]) -> Floats:
    """Windows of odd lengths, centered in rows of equal length."""
    longest = max((len(window) for window in windows), default=1)
    table = np.zeros((len(windows), longest), np.float32)
    for row, window in zip(table, windows, strict=True):
        begin = (longest - len(window)) // 2
        row[begin : begin + len(window)] = window
    return table


def _gaussian(sigma: float, size: int) -> Floats:
    # The relation between the two is that of OpenCV.
    if size == 0:
        size = 2 * int(np.ceil(np.float32(sigma) * np.float32(3))) + 1
    elif sigma == 0:
        sigma = ((size - 1) // 2 - 1) * 0.3 + 0.8
    offsets = np.arange(size, dtype=np.float32) - (size - 1) // 2
    weights = np.exp(-(offsets * offsets) * np.float32(0.5 / sigma / sigma))
    normal: Floats = (weights / weights.sum(dtype=np.float64)).astype(np.float32)
    return normal


def gaussian_blur(
    samples: DeviceSamples, type_id: int, axes: Axes, sigma: Floats, window_size: NDArray[np.int32]
) -> DeviceSamples:
    """A Gaussian window for each spatial axis."""
    outer, spatial, _ = axes
    tables = []
    for axis in range(spatial):
        given = np.broadcast_arrays(_for_axis(sigma, axis), _for_axis(window_size, axis))
        pairs = zip(given[0].tolist(), given[1].tolist(), strict=True)
        tables.append(_padded([_gaussian(deviation, size) for deviation, size in pairs]))

    def blurred(data: torch.Tensor, indices: Integers, shapes: Integers) -> torch.Tensor:
        values = to_float(data, samples.type_id)
        if data.numel():
            for axis, table in enumerate(tables, outer + 1):
                values = _weighted(values, axis, rows(table, indices), shapes[:, axis - 1])
        return from_float(values, type_id)

    return in_windows(samples, blurred, type_id)


def _binomial(size: int) -> Floats:
    window = np.ones(1, np.float32)
    while len(window) < size:
        window = np.convolve(window, np.ones(2, np.float32)).astype(np.float32)
    return window


def _second_derivative(size: int) -> Floats:
    derivative = np.array([1, -2, 1], np.float32)
    return np.convolve(_binomial(size - 2), derivative).astype(np.float32)


def laplacian(
    samples: DeviceSamples,
    type_id: int,
    axes: Axes,
    window_size: NDArray[np.int32],
    smoothing_size: NDArray[np.int32] | None,
    scale: Floats,
    normalized: bool,
) -> DeviceSamples:
    """The sum of second derivatives along the axes, each smoothed along the others."""
    outer, spatial, _ = axes
    terms = []
    for axis in range(spatial):
        sizes = _for_axis(window_size, axis)
        tables, total = [], np.zeros(1, np.int64)
        for other in range(spatial):
            chosen, make = sizes, _second_derivative
            if other != axis:
                make = _binomial
                if smoothing_size is not None:
                    chosen = _for_axis(smoothing_size, other)
            tables.append(_padded([make(int(size)) for size in chosen]))
            total = total + chosen
        factors = _for_axis(scale, axis)
        if normalized:
            factors = np.exp2(-(total - spatial - 2).astype(np.float32))
        terms.append((tables, factors))

    def derived(data: torch.Tensor, indices: Integers, shapes: Integers) -> torch.Tensor:
        values = to_float(data, samples.type_id)
        if data.numel() == 0:
            return from_float(values, type_id)
        result = torch.zeros_like(values)
        for tables, factors in terms:
            part = values
            for axis, table in enumerate(tables, outer + 1):
                part = _weighted(part, axis, rows(table, indices), shapes[:, axis - 1])
            result = result + part * column(factors, indices, values)
        return from_float(result, type_id)

    return in_windows(samples, derived, type_id)


def filter_samples(
    out: DeviceSamples,
    samples: DeviceSamples,
    axes: Axes,
    kernels: Any,
    anchor: NDArray[np.int32],
    border: Border,
    fill: Floats,
) -> None:
    """Weighted sums of neighbors, with a window of any shape for each sample."""
    windows: DeviceSamples = on_device(kernels)
    outer, count, _ = axes
    anchors = np.broadcast_to(anchor, (len(samples), count))
    sizes = np.broadcast_to(windows.shape_array(), (len(samples), count))
    # What the results have less than the samples, if the window does not leave them.
    less = samples.shape_array() - out.shape_array()

    def run(part: DeviceSamples, numbers: Integers) -> DeviceSamples:
        first = int(numbers[0])
        befores = zip(anchors[first].tolist(), sizes[first].tolist(), strict=True)
        ends = [] if less[first].any() else list(befores)

        def correlated(data: torch.Tensor, indices: Integers, own: Integers) -> torch.Tensor:
            chosen = numbers[indices]
            window = windows if len(windows) == 1 else windows.select(chosen.tolist())
            values = to_float(data, samples.type_id)
            shape = (len(data), *(np.array(data.shape[1:]) - less[first]).tolist())
            if 0 in shape:
                return from_float(values.new_zeros(shape), out.type_id)
            beyond = column(fill, chosen, values) if border == Border.constant else None
            for axis, (before, size) in enumerate(ends, outer + 1):
                behind = size - 1 - before
                values = _extended(values, axis, before, behind, border, beyond, own[:, axis - 1])
            total = _correlated(values, window.dense(), outer, shape)
            if not is_float(out.type_id):
                total = total.round()
            return from_float(total, out.type_id)

        return in_windows(part, correlated, out.type_id, less[first])

    out.become(separately(samples, np.concatenate([sizes, anchors, less], axis=1), run))


def _correlated(values: torch.Tensor, window: torch.Tensor, outer: int, shape: Any) -> torch.Tensor:
    total = torch.zeros(shape, dtype=torch.float32, device=values.device)
    spread = (-1, *(1,) * (values.ndim - 1))
    for tap in np.ndindex(*window.shape[1:]):
        part = values
        for k, begin in enumerate(tap, outer + 1):
            part = part.narrow(k, begin, shape[k])
        total = torch.addcmul(total, part, window[(slice(None), *tap)].reshape(spread))
    return total


def rank_filter(
    samples: DeviceSamples,
    axes: Axes,
    rank: Rank,
    window: NDArray[np.int32],
    anchor: NDArray[np.int32],
    border: Border,
) -> DeviceSamples:
    """The smallest, middle or largest value under a window of (width, height)."""
    shape = (len(samples), 2)
    windows, anchors = np.broadcast_to(window, shape), np.broadcast_to(anchor, shape)
    first = axes[0] + 1

    def run(part: DeviceSamples, numbers: Integers) -> DeviceSamples:
        (width, height), (left, above) = windows[numbers[0]].tolist(), anchors[numbers[0]].tolist()

        def ranked(data: torch.Tensor, _: Integers, own: Integers) -> torch.Tensor:
            if data.numel() == 0:
                return data
            values = _ordered(data, samples.type_id)
            # A constant border is the value that is never picked.
            fill = _never_picked(values, rank) if border == Border.constant else None
            ends = (above, height - 1 - above), (left, width - 1 - left)
            for axis, (before, behind) in enumerate(ends, first):
                values = _extended(values, axis, before, behind, border, fill, own[:, axis - 1])
            extents = data.shape[first], data.shape[first + 1]
            if rank == Rank.median:
                values = _median(values, first, (height, width), extents)
            else:
                values = _picked(values, first, height, extents[0], rank)
                values = _picked(values, first + 1, width, extents[1], rank)
            return _restored(values, data, samples.type_id)

        return in_windows(part, ranked)

    return separately(samples, np.concatenate([windows, anchors], axis=1), run)


def _ordered(data: torch.Tensor, type_id: int) -> torch.Tensor:
    """Values in a type that torch compares."""
    dtype = from_code(type_id)
    if dtype.kind is DType.Kind.float:
        return data
    values = widened(data, type_id)
    return values.bitwise_xor(SIGN_BIT) if dtype is uint64 else values


def _restored(values: torch.Tensor, data: torch.Tensor, type_id: int) -> torch.Tensor:
    if from_code(type_id) is uint64:
        values = values.bitwise_xor(SIGN_BIT)
    return values.to(data.dtype)


def _never_picked(values: torch.Tensor, rank: Rank) -> torch.Tensor:
    if values.dtype.is_floating_point:
        limit = float("-inf") if rank == Rank.largest else float("inf")
        return values.new_full((), limit)
    limits = torch.iinfo(values.dtype)
    return values.new_full((), limits.min if rank == Rank.largest else limits.max)


def _picked(values: torch.Tensor, axis: int, size: int, extent: int, rank: Rank) -> torch.Tensor:
    best = values.narrow(axis, 0, extent)
    for tap in range(1, size):
        other = values.narrow(axis, tap, extent)
        best = torch.maximum(best, other) if rank == Rank.largest else torch.minimum(best, other)
    return best


def _median(
    values: torch.Tensor, axis: int, window: tuple[int, int], extents: tuple[int, int]
) -> torch.Tensor:
    parts = [
        values.narrow(axis, y, extents[0]).narrow(axis + 1, x, extents[1])
        for y, x in np.ndindex(*window)
    ]
    return torch.stack(parts).sort(0).values[len(parts) // 2]
