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
from .groups import Group, carrier, take_rows
from .numbers import SIGN_BIT, double, from_float, is_float, to_float, widened
from .placement import on_device
from .ragged import Rows, compacted, elementwise
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
    task = _Task(kind, samples.type_id, type_id, axes, ddof)
    shapes = samples.shape_array()
    counts = shapes[:, [axis - 1 for axis in axes]].prod(axis=1)
    center = None if means is None else _Center(on_device(means))
    is_padded, windows = _parts(samples, center, task.marked_axes())
    parts = []
    for indices, data, inside in windows:
        kept = [1 if axis in axes else extent for axis, extent in enumerate(data.shape)]
        kept[0] = len(data)
        own = None if center is None else center.of(indices).reshape(-1, *kept[1:])
        total = task.total(data, inside, own)
        shape = kept if keep_dims else [e for axis, e in enumerate(data.shape) if axis not in axes]
        parts.append((indices, total.reshape(shape)))
    ndim = samples.ndim if keep_dims else samples.ndim - len(axes)
    if is_padded:
        # Results have different sizes along axes that are left.
        shapes[:, [axis - 1 for axis in axes]] = 1
        left = [axis for axis in range(samples.ndim) if keep_dims or axis + 1 not in axes]
        first, last = ragged_axes(samples)
        ragged = [axis for axis in left if first <= axis < last]
        begin = left.index(ragged[0]) if ragged else 0
        made = compacted(samples, parts, shapes[:, ragged], begin, type_id)
        made.ndim, made.layout = ndim, layout
    else:
        made = samples.made([Group(*part) for part in parts], ndim, layout, type_id)
    if task.is_complete(parts):
        return made
    return elementwise(made, lambda rows: task.result(rows, counts), 0, layout, type_id)


class _Center:
    """Means that values are compared with, for each sample or one for all."""

    def __init__(self, given: DeviceSamples) -> None:
        self.given = given
        self._table: torch.Tensor | None = None

    def of(self, indices: NDArray[np.int64]) -> torch.Tensor:
        """The means of some samples, which have one shape."""
        if not self.given.uniform:
            chosen = self.given.select(indices.tolist()).dense()
            return to_float(chosen, self.given.type_id, double())
        if self._table is None:
            self._table = to_float(self.given.dense(), self.given.type_id, double())
        return self._table if len(self._table) == 1 else take_rows(self._table, indices)


def _parts(
    samples: DeviceSamples, center: _Center | None, marked: tuple[int, ...]
) -> tuple[bool, list[Window]]:
    """The samples in few tensors, unless some are empty or are compared with means of any size."""
    if 0 in samples.shape_array() or not (center is None or center.given.uniform):
        return False, [Window(indices, data, None) for indices, data in samples.groups]
    return not samples.uniform, windows_of(samples, marked)


class _Task(NamedTuple):
    """A reduction of elements of type `source` to numbers of type `target`."""

    kind: Reduction
    source: int
    target: int
    axes: tuple[int, ...]
    ddof: int

    @property
    def _is_extreme(self) -> bool:
        return self.kind in (Reduction.min, Reduction.max)

    @property
    def _is_variance(self) -> bool:
        return self.kind in (Reduction.variance, Reduction.std_dev)

    @property
    def _is_whole_sum(self) -> bool:
        return self.kind == Reduction.sum and not is_float(self.source)

    def marked_axes(self) -> tuple[int, ...]:
        """The axes along which padding must not count: for extremes, it repeats what does."""
        return () if self._is_extreme else tuple(axis - 1 for axis in self.axes)

    def total(
        self, data: torch.Tensor, inside: torch.Tensor | None, means: torch.Tensor | None
    ) -> torch.Tensor:
        """Extremes or sums along the axes; what is not inside does not count."""
        if self._is_extreme:
            return _extreme(data, self.source, self.kind == Reduction.min, self.axes)
        kind = torch.int64 if self._is_whole_sum else double()
        if inside is not None and means is None and from_code(self.source).bits <= 8:
            # Integers are finite: their products with 0 are 0.
            values, inside = data * (inside if self._is_whole_sum else inside.to(kind)), None
        elif self._is_whole_sum:
            values = widened(data, self.source).to(kind)
        else:
            values = to_float(data, self.source, kind)
        if means is not None:
            values = values - means
        if self._is_variance or self.kind in (Reduction.mean_square, Reduction.rms):
            values = values * values
        if inside is not None:
            values = values.masked_fill(inside.logical_not(), 0)
        return values.sum(self.axes, dtype=kind) if self.axes else values.to(kind)

    def is_complete(self, parts: list[tuple[Any, torch.Tensor]]) -> bool:
        """Whether the totals are results already."""
        if from_code(self.source) is uint64 or not parts:
            return self._is_extreme and not self.axes
        is_done = self._is_extreme or (self._is_whole_sum and not is_float(self.target))
        return is_done and parts[0][1].dtype == carrier(self.target)

    def result(self, rows: Rows, counts: NDArray[np.int64]) -> torch.Tensor:
        """What totals become: means and roots, in the type of the results."""
        total = rows.data
        if self._is_extreme:
            if from_code(self.source) is uint64:
                total = total.bitwise_xor(SIGN_BIT)
            return total.to(carrier(self.target))
        if self._is_whole_sum:
            if not is_float(self.target):
                return total.to(carrier(self.target))
            wide = self.source if from_code(self.source) is uint64 else int64.code
            return to_float(total, wide)
        if self.kind == Reduction.sum:
            return from_float(total, self.target)
        result = self._divided(rows, counts)
        if self.kind in (Reduction.rms, Reduction.std_dev):
            result = result.sqrt()
        return from_float(result, self.target, truncate=True)

    def _divided(self, rows: Rows, counts: NDArray[np.int64]) -> torch.Tensor:
        """A mean of nothing is not a number; a variance without degrees of freedom is zero."""
        total = rows.data
        divisors = counts - self.ddof if self._is_variance else counts
        if (divisors == divisors[0]).all():
            if divisors[0] > 0:
                return total / int(divisors[0])
            return torch.full_like(total, 0.0 if self._is_variance else float("nan"))
        (divisor,) = rows.spread(divisors.astype(np.float64))
        if (divisors > 0).all():
            return total / divisor
        return torch.where(divisor > 0, total / divisor, torch.zeros_like(total))


def _extreme(
    data: torch.Tensor, source: int, smallest: bool, axes: tuple[int, ...]
) -> torch.Tensor:
    """The smallest or largest element, in a wider type; NaN is ignored.

    Elements of type uint64 are moved such that int64 orders them.
    """
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
    return out


def _integer_limits(dtype: DType) -> tuple[int, int]:
    if dtype is uint64:
        return SIGN_BIT, -SIGN_BIT - 1
    if dtype.kind is DType.Kind.unsigned:
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1
