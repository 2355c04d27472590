# SPDX-License-Identifier: Apache-2.0
"""Sums, means and extremes on accelerators."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.dtype import DType, from_code, int64, uint64
from .gather import Window, ragged_axes, windows_of
from .groups import Group, carrier
from .numbers import SIGN_BIT, constants, double, from_float, is_float, to_float, widened
from .placement import on_device
from .ragged import compacted
from .samples import DeviceSamples

Reduction: TypeAlias = _kernels.Reduction


def reduce(
    samples: DeviceSamples,
    kind: Reduction,
    type_id: int,
    reduced: list[bool],
    keep_dims: bool,
    layout: str,
    means: Any,
    ddof: int,
) -> DeviceSamples:
    """Reduce the marked axes of each sample."""
    axes = tuple(axis for axis, gone in enumerate(reduced, 1) if gone)
    given: DeviceSamples | None = None if means is None else on_device(means)
    ndim = samples.ndim if keep_dims else samples.ndim - len(axes)
    parts = []
    shapes = samples.shape_array()
    windows = _parts(samples, given)
    for indices, data, inside in windows:
        kept = [1 if axis in axes else extent for axis, extent in enumerate(data.shape)]
        kept[0] = len(data)
        center = None
        if given is not None:
            chosen = given if len(given) == 1 else given.select(indices.tolist())
            center = to_float(chosen.dense(), given.type_id, double())
            center = center.reshape(-1, *kept[1:])
        counts = np.ones(len(indices), np.int64)
        for axis in axes:
            counts = counts * shapes[indices, axis - 1]
        task = _Task(kind, samples.type_id, type_id, axes, ddof)
        out = task.run(data, inside, counts, center)
        shape = kept if keep_dims else [e for axis, e in enumerate(data.shape) if axis not in axes]
        parts.append((indices, out.reshape(shape)))
    if all(inside is None for _, _, inside in windows):
        return samples.made([Group(*part) for part in parts], ndim, layout, type_id)
    # Results have different sizes along axes that are left.
    shapes[:, [axis - 1 for axis in axes]] = 1
    left = [axis for axis in range(samples.ndim) if keep_dims or axis + 1 not in axes]
    first, last = ragged_axes(samples)
    ragged = [axis for axis in left if first <= axis < last]
    begin = left.index(ragged[0]) if ragged else 0
    made = compacted(samples, parts, shapes[:, ragged], begin, type_id)
    made.ndim, made.layout = ndim, layout
    return made


def _parts(samples: DeviceSamples, means: DeviceSamples | None) -> list[Window]:
    """The samples in few tensors, unless some are empty or are compared with means of any size."""
    if 0 in samples.shape_array() or not (means is None or means.uniform):
        return [Window(indices, data, None) for indices, data in samples.groups]
    return windows_of(samples)


class _Task(NamedTuple):
    """A reduction of elements of type `source` to numbers of type `target`."""

    kind: Reduction
    source: int
    target: int
    axes: tuple[int, ...]
    ddof: int

    def run(
        self,
        data: torch.Tensor,
        inside: torch.Tensor | None,
        counts: NDArray[np.int64],
        means: torch.Tensor | None,
    ) -> torch.Tensor:
        """The results for samples, in which what is not inside does not count."""
        kind, axes = self.kind, self.axes
        if kind in (Reduction.min, Reduction.max):
            # What is not inside repeats what is.
            return _extreme(data, self.source, kind == Reduction.min, axes)
        if kind == Reduction.sum and not is_float(self.source):
            total = _masked(widened(data, self.source).to(torch.int64), inside)
            total = total.sum(axes) if axes else total
            if not is_float(self.target):
                return total.to(carrier(self.target))
            wide = self.source if from_code(self.source) is uint64 else int64.code
            return to_float(total, wide)
        values = to_float(data, self.source, double())
        if kind in (Reduction.variance, Reduction.std_dev):
            assert means is not None
            values = values - means
        if kind in (Reduction.mean_square, Reduction.rms, Reduction.variance, Reduction.std_dev):
            values = values * values
        values = _masked(values, inside)
        total = values.sum(axes) if axes else values
        if kind == Reduction.sum:
            return from_float(total, self.target)
        result = self._divided(total, counts)
        if kind in (Reduction.rms, Reduction.std_dev):
            result = result.sqrt()
        return from_float(result, self.target, truncate=True)

    def _divided(self, total: torch.Tensor, counts: NDArray[np.int64]) -> torch.Tensor:
        """A mean of nothing is not a number; a variance without degrees of freedom is zero."""
        is_variance = self.kind in (Reduction.variance, Reduction.std_dev)
        divisors = counts - self.ddof if is_variance else counts
        if (divisors == divisors[0]).all():
            if divisors[0] > 0:
                return total / int(divisors[0])
            return torch.full_like(total, 0.0 if is_variance else float("nan"))
        (moved,) = constants(total, divisors.astype(np.float64))
        divisor = moved.reshape(-1, *(1,) * (total.ndim - 1))
        return torch.where(divisor > 0, total / divisor, torch.zeros_like(total))


def _masked(values: torch.Tensor, inside: torch.Tensor | None) -> torch.Tensor:
    if inside is None:
        return values
    return torch.where(inside, values, torch.zeros_like(values[:1, :1]))


def _extreme(
    data: torch.Tensor, source: int, smallest: bool, axes: tuple[int, ...]
) -> torch.Tensor:
    """The smallest or largest element; NaN is ignored."""
    dtype = from_code(source)
    if not axes:
        return data
    if dtype.kind is DType.Kind.float:
        values = data.to(torch.float32)
        nothing = float("inf") if smallest else float("-inf")
        values = torch.where(values.isnan(), torch.full_like(values, nothing), values)
        empty = nothing
    else:
        values = widened(data, source)
        if dtype is uint64:
            values = values.bitwise_xor(SIGN_BIT)
        low, high = _integer_limits(dtype)
        empty = high if smallest else low
    if any(data.shape[axis] == 0 for axis in axes):
        shape = [extent for axis, extent in enumerate(data.shape) if axis not in axes]
        out = torch.full(shape, empty, dtype=values.dtype, device=data.device)
    else:
        out = values.amin(axes) if smallest else values.amax(axes)
    if dtype is uint64:
        out = out.bitwise_xor(SIGN_BIT)
    return out.to(carrier(source))


def _integer_limits(dtype: DType) -> tuple[int, int]:
    if dtype is uint64:
        return SIGN_BIT, -SIGN_BIT - 1
    if dtype.kind is DType.Kind.unsigned:
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1
