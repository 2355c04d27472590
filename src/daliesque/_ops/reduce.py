# SPDX-License-Identifier: Apache-2.0
"""Operators that reduce arrays along axes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _kernels
from .._engine.convert import cast_samples
from .._engine.dtype import (
    DType,
    float32,
    from_code,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .._engine.metadata import Call, Result, Shapes
from .._engine.op import Samples, op
from .fill import filled_with
from .shape import chosen_axes

_TYPES = (uint8, uint16, uint32, uint64, int8, int16, int32, int64, float32)
_WIDE = {DType.Kind.unsigned: uint64, DType.Kind.signed: int64, DType.Kind.float: float32}


def _same_or_float(found: DType) -> tuple[DType, ...]:
    return (float32,) if found is float32 else (found, float32)


def _wide_or_float(found: DType) -> tuple[DType, ...]:
    return (float32,) if found is float32 else (_WIDE[found.kind], float32)


def _sum_types(found: DType) -> tuple[DType, ...]:
    """A sum of 64-bit integers stays one."""
    if found.bits == 64 or found is float32:
        return (found,)
    return (found, _WIDE[found.kind], float32)


def _checked_type(
    samples: Samples, dtype: DType | None, default: DType, allowed: Callable[[DType], Any]
) -> int:
    if dtype is None:
        return default.code
    choices = allowed(from_code(samples.type_id))
    if dtype not in choices:
        names = " or ".join(choice.full_name for choice in choices)
        found = from_code(samples.type_id)
        msg = (
            f"'dtype' must be {names} for an input of type {found.full_name};"
            f" got {dtype.full_name}."
        )
        raise ValueError(msg)
    return dtype.code


def _reduce(
    samples: Samples,
    kind: _kernels.Reduction,
    type_id: int,
    axes: list[int] | None,
    axis_names: str | None,
    keep_dims: bool,
    means: Samples | None = None,
    ddof: int = 0,
) -> Samples:
    ndim, layout = samples.ndim, samples.layout
    chosen = chosen_axes(axes, axis_names, layout, ndim)
    reduced = [chosen is None or axis in chosen for axis in range(ndim)]
    if layout and not keep_dims:
        layout = "".join(name for name, gone in zip(layout, reduced, strict=True) if not gone)
    if means is not None:
        if chosen == []:
            return filled_with(samples.empty_like(type_id), 0)
        means = _fitting_means(samples, means, reduced)
    return samples.kernels.reduce(
        samples,
        kind=kind,
        type_id=type_id,
        reduced=reduced,
        keep_dims=keep_dims,
        layout=layout,
        means=means,
        ddof=ddof,
    )


def _fitting_means(samples: Samples, means: Samples, reduced: list[bool]) -> Samples:
    """As many means as there are results; a single one serves all."""
    means = cast_samples(means, float32)
    kept = [axis for axis, gone in enumerate(reduced) if not gone]
    shapes = np.ascontiguousarray(samples.shape_array()[:, kept])
    wanted, given = shapes.prod(axis=1), means.shape_array().prod(axis=1)
    if np.array_equal(wanted, given):
        return means
    bad = (given != wanted) & (given != 1)
    if bad.any():
        sample = int(np.argmax(bad))
        msg = (
            f"the mean must be one number, or one for each of the {wanted[sample]} results; got "
            f"the shape {means.shape(sample)} (sample {sample})."
        )
        raise ValueError(msg)
    spread = samples.kernels.empty(float32.code, shapes, "", len(samples))
    single = given == 1
    if not single.all():
        msg = "the mean must be one number for all samples, or fit the results of all."
        raise ValueError(msg)
    spread.kernels.fill(spread, means.reshape(np.ones((len(means), 1), np.int64), ""))
    return spread


def _kept_axes(call: Call) -> list[bool]:
    metadata = call.input
    chosen = chosen_axes(call["axes"], call["axis_names"], metadata.layout, metadata.ndim)
    return [chosen is not None and axis not in chosen for axis in range(metadata.ndim)]


def _reduced_ndim(call: Call) -> int:
    return call.input.ndim if call["keep_dims"] else _kept_axes(call).count(True)


def _reduced_layout(call: Call) -> str:
    layout = call.input.layout
    return layout if call["keep_dims"] else "".join(itertools.compress(layout, _kept_axes(call)))


def _reduced_shapes(call: Call) -> Shapes:
    kept = np.array(_kept_axes(call), np.bool_)
    shapes = call.input.shapes
    return np.where(kept, shapes, 1) if call["keep_dims"] else shapes[:, kept]


def _reduction(default: Callable[[Call], DType]) -> Result:
    def dtype(call: Call) -> DType:
        given: DType = call["dtype"] if call.has("dtype") else default(call)
        return given

    return Result(dtype=dtype, ndim=_reduced_ndim, layout=_reduced_layout, shape=_reduced_shapes)


_FLOAT = _reduction(lambda _: float32)
_SAME = _reduction(lambda call: call.input.dtype)
_SUM = _reduction(lambda call: _WIDE[call.input.dtype.kind])


@op(name="reductions.sum", dtypes=_TYPES, result=_SUM)
def sum(
    input: Samples,
    /,
    *,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    dtype: DType | None = None,
    keep_dims: bool = False,
) -> Samples:
    """Add up the elements along axes.

    Integers are added exactly, floating-point numbers in double precision.

    Parameters
    ----------
    input
        Integers or float32.
    axes
        The axes to reduce; negative ones count from the end. By default all.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    dtype
        The type of the result: by default 64-bit integers for integers, which may also keep their
        type (and wrap around) or become float32, unless they have 64 bits.
    keep_dims
        Keep reduced axes, with an extent of 1.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.reductions.sum(ndd.tensor([[1, 2], [3, 4]]), axes=[0]).torch().tolist()
    [4, 6]
    """
    default = _WIDE[from_code(input.type_id).kind]
    type_id = _checked_type(input, dtype, default, _sum_types)
    return _reduce(input, _kernels.Reduction.sum, type_id, axes, axis_names, keep_dims)


@op(name="reductions.mean", dtypes=_TYPES, result=_FLOAT)
def mean(
    input: Samples,
    /,
    *,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    dtype: DType | None = None,
    keep_dims: bool = False,
) -> Samples:
    """Compute the mean of the elements along axes.

    The mean of nothing is NaN.

    Differs from DALI: sums do not overflow when `dtype` is a small integer type.

    Parameters
    ----------
    input
        Integers or float32.
    axes
        The axes to reduce; negative ones count from the end. By default all.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    dtype
        The type of the result: float32, or that of the input, the fraction being cut off.
    keep_dims
        Keep reduced axes, with an extent of 1.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.reductions.mean(ndd.tensor([[1, 2], [3, 4]]), axes=[1]).torch().tolist()
    [1.5, 3.5]
    """
    type_id = _checked_type(input, dtype, float32, _same_or_float)
    return _reduce(input, _kernels.Reduction.mean, type_id, axes, axis_names, keep_dims)


@op(name="reductions.mean_square", dtypes=_TYPES, result=_FLOAT)
def mean_square(
    input: Samples,
    /,
    *,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    dtype: DType | None = None,
    keep_dims: bool = False,
) -> Samples:
    """Compute the mean of the squares of the elements along axes.

    The mean of nothing is NaN.

    Differs from DALI: squares of uint16 and of 64-bit integers do not overflow.

    Parameters
    ----------
    input
        Integers or float32.
    axes
        The axes to reduce; negative ones count from the end. By default all.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    dtype
        The type of the result: float32, or for integers the 64-bit type of their kind, the fraction
        being cut off.
    keep_dims
        Keep reduced axes, with an extent of 1.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.reductions.mean_square(ndd.tensor([1, 3])).item()
    5.0
    """
    type_id = _checked_type(input, dtype, float32, _wide_or_float)
    return _reduce(input, _kernels.Reduction.mean_square, type_id, axes, axis_names, keep_dims)


@op(name="reductions.rms", dtypes=_TYPES, result=_FLOAT)
def rms(
    input: Samples,
    /,
    *,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    dtype: DType | None = None,
    keep_dims: bool = False,
) -> Samples:
    """Compute the root of the mean of the squares of the elements along axes.

    Differs from DALI: nothing overflows when `dtype` is an integer type.

    Parameters
    ----------
    input
        Integers or float32.
    axes
        The axes to reduce; negative ones count from the end. By default all.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    dtype
        The type of the result: float32, or that of the input, the fraction being cut off.
    keep_dims
        Keep reduced axes, with an extent of 1.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.reductions.rms(ndd.tensor([3.0, 3.0, 4.0, 4.0]) * 2).item()
    7.0710678...
    """
    type_id = _checked_type(input, dtype, float32, _same_or_float)
    return _reduce(input, _kernels.Reduction.rms, type_id, axes, axis_names, keep_dims)


@op(name="reductions.min", dtypes=_TYPES, result=_SAME)
def min(
    input: Samples,
    /,
    *,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
) -> Samples:
    """Find the smallest element along axes.

    NaN is ignored. The minimum of nothing is the largest number of the type.

    Differs from DALI: infinities are not replaced by the largest finite number.

    Parameters
    ----------
    input
        Integers or float32. The result has the same type.
    axes
        The axes to reduce; negative ones count from the end. By default all.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    keep_dims
        Keep reduced axes, with an extent of 1.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.reductions.min(ndd.tensor([[5, 2], [3, 4]]), axes=[0]).torch().tolist()
    [3, 2]
    """
    return _reduce(input, _kernels.Reduction.min, input.type_id, axes, axis_names, keep_dims)


@op(name="reductions.max", dtypes=_TYPES, result=_SAME)
def max(
    input: Samples,
    /,
    *,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    keep_dims: bool = False,
) -> Samples:
    """Find the largest element along axes.

    NaN is ignored. The maximum of nothing is the smallest number of the type.

    Differs from DALI: infinities are not replaced by the largest finite number.

    Parameters
    ----------
    input
        Integers or float32. The result has the same type.
    axes
        The axes to reduce; negative ones count from the end. By default all.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    keep_dims
        Keep reduced axes, with an extent of 1.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.reductions.max(ndd.tensor([[5, 2], [3, 4]]), axes=[1]).torch().tolist()
    [5, 4]
    """
    return _reduce(input, _kernels.Reduction.max, input.type_id, axes, axis_names, keep_dims)


@op(name="reductions.variance", dtypes=_TYPES, result=_FLOAT)
def variance(
    data: Samples,
    mean: Samples,
    /,
    *,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    ddof: int = 0,
    keep_dims: bool = False,
) -> Samples:
    """Compute the variance of the elements along axes, given their mean.

    Parameters
    ----------
    data
        Integers or float32. The result is float32.
    mean
        The mean of the elements: a number, or one for each result.
    axes
        The axes to reduce; negative ones count from the end. By default all.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    ddof
        The sum of squares is divided by the number of elements less this.
    keep_dims
        Keep reduced axes, with an extent of 1.

    Differs from DALI: the mean need not be float32, and its number of elements is checked.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.reductions.variance(ndd.tensor([1, 3]), 2).item()
    1.0
    """
    kind, type_id = _kernels.Reduction.variance, float32.code
    return _reduce(data, kind, type_id, axes, axis_names, keep_dims, mean, ddof)


@op(name="reductions.std_dev", dtypes=_TYPES, result=_FLOAT)
def std_dev(
    data: Samples,
    mean: Samples,
    /,
    *,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    ddof: int = 0,
    keep_dims: bool = False,
) -> Samples:
    """Compute the standard deviation of the elements along axes, given their mean.

    Parameters
    ----------
    data
        Integers or float32. The result is float32.
    mean
        The mean of the elements: a number, or one for each result.
    axes
        The axes to reduce; negative ones count from the end. By default all.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    ddof
        The sum of squares is divided by the number of elements less this.
    keep_dims
        Keep reduced axes, with an extent of 1.

    Differs from DALI: the mean need not be float32, and its number of elements is checked.

    Examples
    --------
    >>> import daliesque as ndd
    >>> x = ndd.tensor([[1.0, 3.0], [4.0, 8.0]])
    >>> mean = ndd.reductions.mean(x, axes=[1])
    >>> ndd.reductions.std_dev(x, mean, axes=[1]).torch().tolist()
    [1.0, 2.0]
    """
    kind, type_id = _kernels.Reduction.std_dev, float32.code
    return _reduce(data, kind, type_id, axes, axis_names, keep_dims, mean, ddof)
