# SPDX-License-Identifier: Apache-2.0
"""Conversion between element types on accelerators, with the native rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.dtype import DType, bool_, float32, from_code, uint64
from .accelerator import require_accelerator
from .groups import carrier

_Kind = DType.Kind
SIGN_BIT = -(2**63)
# The largest float below 2**63, the limit of what converts to int64.
_LARGEST = 9223371487098961920.0
# The number below 0.5 in single and double precision; 0.5 would lift the number below it to 1.
_HALF = {torch.float32: 0.49999997019767761, torch.float64: 0.49999999999999994}


def is_float(type_id: int) -> bool:
    """Whether a type is a floating-point one."""
    return from_code(type_id).kind is _Kind.float


def constants(like: torch.Tensor, *values: NDArray[Any]) -> list[torch.Tensor]:
    """Arrays of parameters on the device of a tensor, in double precision only if it has that.

    All of them together are one transfer. Nobody may change them: others may get the same.
    """
    accelerator = require_accelerator("constant")
    arrays = [
        value.astype(np.float32)
        if value.dtype == np.float64 and not accelerator.has_double
        else value
        for value in values
    ]
    moved: list[torch.Tensor] = accelerator.upload_arrays(arrays, like.device)
    return moved


def constant(values: NDArray[Any], like: torch.Tensor) -> torch.Tensor:
    """One array of parameters on the device of a tensor."""
    return constants(like, values)[0]


def rows(values: NDArray[Any], indices: NDArray[np.int64]) -> NDArray[Any]:
    """The rows of an argument that belong to samples; a single row serves all."""
    return values if len(values) == 1 else values[indices]


def column(values: NDArray[Any], indices: NDArray[np.int64], like: torch.Tensor) -> torch.Tensor:
    """One number for each sample, shaped so that it broadcasts over the samples' axes."""
    chosen = constant(rows(values, indices), like)
    return chosen.reshape(-1, *(1,) * (like.ndim - 1))


def double() -> torch.dtype:
    """The most precise type of the accelerator: some have no double precision."""
    return torch.float64 if require_accelerator("double").has_double else torch.float32


def widened(data: torch.Tensor, type_id: int) -> torch.Tensor:
    """Integers as int32 or int64 of the same value; uint64 as the int64 of the same bits."""
    dtype = from_code(type_id)
    if dtype.kind is _Kind.unsigned and dtype.bits == 16:
        return data.to(torch.int32).bitwise_and(0xFFFF)
    if dtype.kind is _Kind.unsigned and dtype.bits == 32:
        return data.to(torch.int64).bitwise_and(0xFFFFFFFF)
    if dtype.bits < 32:
        return data.to(torch.int32)
    return data


def to_float(data: torch.Tensor, type_id: int, kind: torch.dtype = torch.float32) -> torch.Tensor:
    """The values as floating-point numbers."""
    if is_float(type_id):
        return data.to(kind)
    if from_code(type_id) is uint64:
        # What does not fit into int64 is halved; the lowest bit stays, so that it rounds the same.
        half = data.bitwise_right_shift(1).bitwise_and(2**63 - 1).bitwise_or(data.bitwise_and(1))
        return torch.where(data < 0, half.to(kind) * 2, data.to(kind))
    if data.dtype in (torch.uint8, torch.int8) or from_code(type_id).kind is not _Kind.unsigned:
        return data.to(kind)
    return widened(data, type_id).to(kind)


def rounded(values: torch.Tensor) -> torch.Tensor:
    """Whole numbers, halves away from zero."""
    half = torch.full((), _HALF[values.dtype], dtype=values.dtype, device=values.device)
    return torch.trunc(values + torch.copysign(half, values))


def from_float(values: torch.Tensor, type_id: int, truncate: bool = False) -> torch.Tensor:
    """Floating-point numbers as elements of a type: rounded (or cut off) and clamped."""
    dtype = from_code(type_id)
    kind = carrier(type_id)
    if dtype.kind is _Kind.float:
        return values.to(kind)
    if values.dtype not in _HALF:
        values = values.to(torch.float32)
    if dtype is bool_:
        return rounded(values).ne(0)
    low, high = _limits(dtype)
    if dtype.bits <= 16:
        short = _to_short(values, low, high, truncate)
        # What a signed carrier does not hold wraps around on its way through a wider type.
        return (short.to(torch.int32) if high > torch.iinfo(kind).max else short).to(kind)
    whole = torch.trunc(values) if truncate else rounded(values)
    whole = torch.where(whole.isnan(), torch.zeros_like(whole), whole)
    if dtype is uint64:
        return _to_uint64(whole)
    wide = whole.clamp(-_LARGEST, _LARGEST).to(torch.int64)
    wide = torch.where(whole >= 2.0**63, torch.full_like(wide, 2**63 - 1), wide)
    wide = torch.where(whole <= -(2.0**63), torch.full_like(wide, SIGN_BIT), wide)
    return wide.clamp(low, high).to(kind)


def _to_short(values: torch.Tensor, low: int, high: int, truncate: bool) -> torch.Tensor:
    """Numbers within limits of at most 16 bits, in as few passes as can be.

    Converting them to integers cuts off the fraction. NaN becomes 0 or the lowest int32, by device;
    the low bits of both are 0.
    """
    if truncate:
        return values.clamp(low, high)
    half = _HALF[values.dtype]
    if low == 0:
        # Where this rounds wrongly, below 0, the result is 0 anyway.
        lifted = values + half
    else:
        lifted = values + torch.copysign(values.new_full((), half), values)
    return lifted.clamp_(low, high)


def _limits(dtype: DType) -> tuple[int, int]:
    if dtype.kind is _Kind.unsigned:
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


def first_true(flags: torch.Tensor, axis: int = 1) -> torch.Tensor:
    """The index of the first true value along an axis; its extent if there is none.

    Which of equal values `argmax` finds is not the same on all devices.
    """
    numbers = _numbers_along(flags, axis)
    return torch.where(flags, numbers, torch.full_like(numbers, flags.shape[axis])).amin(axis)


def last_true(flags: torch.Tensor, axis: int = 1) -> torch.Tensor:
    """The index of the last true value along an axis; -1 if there is none."""
    numbers = _numbers_along(flags, axis)
    return torch.where(flags, numbers, torch.full_like(numbers, -1)).amax(axis)


def _numbers_along(like: torch.Tensor, axis: int) -> torch.Tensor:
    shape = [1] * like.ndim
    shape[axis] = like.shape[axis]
    return torch.arange(like.shape[axis], device=like.device).reshape(shape)


def _to_uint64(whole: torch.Tensor) -> torch.Tensor:
    """Whole numbers as the bits of uint64."""
    positive = whole.clamp(min=0.0)
    large = positive >= 2.0**63
    shifted = torch.where(large, positive - 2.0**63, positive).clamp(max=_LARGEST)
    bits = shifted.to(torch.int64)
    bits = torch.where(large, bits.bitwise_xor(SIGN_BIT), bits)
    return torch.where(positive >= 2.0**64, torch.full_like(bits, -1), bits)


def converted(data: torch.Tensor, source: int, target: int) -> torch.Tensor:
    """Elements of one type as elements of another: rounded and clamped."""
    if source == target:
        return data
    old, new = from_code(source), from_code(target)
    if old.kind is _Kind.float:
        precise = old.bits == 64 and new is not float32
        return from_float(data if precise else data.to(torch.float32), target)
    if new.kind is _Kind.float:
        if carrier(target) is torch.float64:
            return to_float(data, source, torch.float64)
        return to_float(data, source).to(carrier(target))
    if new is bool_:
        return data.ne(0)
    return from_integer(widened(data, source), old is uint64, target)


def from_integer(values: torch.Tensor, unsigned: bool, target: int) -> torch.Tensor:
    """Integers, or the bits of uint64 if `unsigned`, clamped to an integer type."""
    dtype = from_code(target)
    low, high = _limits(dtype)
    if unsigned:
        if dtype is uint64:
            return values
        largest = torch.full_like(values, high)
        return torch.where(values < 0, largest, values.clamp(max=high)).to(carrier(target))
    if dtype is uint64:
        return values.to(torch.int64).clamp(min=0)
    if dtype.bits == 64:
        return values.to(torch.int64)
    if values.dtype is torch.int32 and dtype.bits == 32:
        return values.clamp(min=max(low, -(2**31)))
    return values.clamp(low, high).to(carrier(target))
