# SPDX-License-Identifier: Apache-2.0
"""Sums, means and extremes on accelerators."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import torch

from .. import _kernels
from .._engine.dtype import DType, from_code, int64, uint64
from .groups import Group, carrier
from .numbers import SIGN_BIT, double, from_float, is_float, to_float, widened
from .placement import on_device
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
    groups = []
    for indices, data in samples.groups:
        kept = [1 if axis in axes else extent for axis, extent in enumerate(data.shape)]
        kept[0] = len(data)
        center = None
        if given is not None:
            chosen = given if len(given) == 1 else given.select(indices.tolist())
            center = to_float(chosen.dense(), given.type_id, double())
            center = center.reshape(-1, *kept[1:])
        out = _reduced(data, samples.type_id, kind, type_id, axes, center, ddof)
        shape = kept if keep_dims else [e for axis, e in enumerate(data.shape) if axis not in axes]
        groups.append(Group(indices, out.reshape(shape)))
    ndim = samples.ndim if keep_dims else samples.ndim - len(axes)
    return samples.made(groups, ndim, layout, type_id)


def _reduced(
    data: torch.Tensor,
    source: int,
    kind: Reduction,
    target: int,
    axes: tuple[int, ...],
    means: torch.Tensor | None,
    ddof: int,
) -> torch.Tensor:
    if kind in (Reduction.min, Reduction.max):
        return _extreme(data, source, kind == Reduction.min, axes)
    if kind == Reduction.sum and not is_float(source):
        total = widened(data, source).to(torch.int64)
        total = total.sum(axes) if axes else total
        if not is_float(target):
            return total.to(carrier(target))
        return to_float(total, source if from_code(source) is uint64 else int64.code)
    precise = double()
    values = to_float(data, source, precise)
    count = int(np.prod([data.shape[axis] for axis in axes])) if axes else 1
    if kind in (Reduction.variance, Reduction.std_dev):
        assert means is not None
        values = values - means
    if kind in (Reduction.mean_square, Reduction.rms, Reduction.variance, Reduction.std_dev):
        values = values * values
    total = values.sum(axes) if axes else values
    if kind == Reduction.sum:
        return from_float(total, target)
    divisor = count - ddof if kind in (Reduction.variance, Reduction.std_dev) else count
    result = total / divisor if divisor > 0 else _without_count(total, kind)
    if kind in (Reduction.rms, Reduction.std_dev):
        result = result.sqrt()
    return from_float(result, target, truncate=True)


def _without_count(total: torch.Tensor, kind: Reduction) -> torch.Tensor:
    """A mean of nothing is not a number; a variance without degrees of freedom is zero."""
    empty = float("nan") if kind not in (Reduction.variance, Reduction.std_dev) else 0.0
    return torch.full_like(total, empty)


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
