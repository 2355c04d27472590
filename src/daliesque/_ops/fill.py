# SPDX-License-Identifier: Apache-2.0
"""Operators that make arrays of constants."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .._engine.args import Ints64PerSample
from .._engine.convert import cast_samples, to_samples
from .._engine.dtype import (
    DType,
    float32,
    float64,
    from_code,
    full_names,
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
from .._engine.op import Kernels, Samples, op
from .._shapes.windows import Integers
from .shape import check_letters

_ONE_HOT_TYPES = (
    *(uint8, uint16, uint32, uint64, int8, int16, int32, int64),
    *(float32, float64),
)


def _allocate(
    kernels: Kernels, dtype: DType, shape: Integers | None, layout: str | None, count: int
) -> Samples:
    ndim = 0 if shape is None else shape.shape[1]
    check_letters(layout or "", ndim)
    if shape is None:
        return kernels.empty_uniform(dtype.code, [], "", count)
    if shape.size and shape.min() < 0:
        sample = int(np.argmax((shape < 0).any(axis=1)))
        extents = tuple(shape[sample].tolist())
        msg = f"'shape' must not be negative; got {extents} (sample {sample})."
        raise ValueError(msg)
    return kernels.empty(dtype.code, shape, layout or "", count)


@functools.lru_cache
def _number(value: int, dtype: DType) -> Samples:
    if dtype.kind is DType.Kind.enum:
        msg = f"the type {dtype.full_name} holds no numbers. Use a number type such as int32."
        raise ValueError(msg)
    return cast_samples(to_samples(np.int32(value), None, None, "constant"), dtype)


def _filled(out: Samples, values: Samples) -> Samples:
    try:
        out.kernels.fill(out, cast_samples(values, from_code(out.type_id)))
    except ValueError:
        for sample, (whole, part) in enumerate(zip(out.shapes, values.shapes, strict=True)):
            if not _fits(part, whole):
                msg = f"values of shape {part} cannot be broadcast to {whole} (sample {sample})."
                raise ValueError(msg) from None
        raise
    return out


def _fits(part: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    padded = (1,) * (len(part) - len(whole)) + whole
    pairs = zip(part[::-1], padded[::-1], strict=False)
    return all(extent in (1, wanted) for extent, wanted in pairs)


def _shape_width(call: Call) -> int:
    return call.width("shape") if call.has("shape") else 0


def _layout(call: Call) -> str:
    layout: str | None = call["layout"]
    return layout or ""


_SHAPED = Result(ndim=_shape_width, layout=_layout, shape=lambda call: call["shape"])
_LIKE_INPUT = Result(shape="input")


@op(result=_SHAPED)
def full(
    fill_value: Samples,
    /,
    *,
    layout: str | None = None,
    shape: Ints64PerSample | None = None,
    batch_size: int,
) -> Samples:
    """Make arrays of a given shape, filled with a value.

    Parameters
    ----------
    fill_value
        A number, or an array that is broadcast to the shape. The result has its type.
    layout
        The layout of the result.
    shape
        The shape of each sample; by default a sample is a single number.

    Differs from DALI: values that cannot be broadcast to the shape are an error, not cut off.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.full([1.5, 2.5], shape=[2, 2]).torch().tolist()
    [[1.5, 2.5], [1.5, 2.5]]
    """
    out = _allocate(fill_value.kernels, from_code(fill_value.type_id), shape, layout, batch_size)
    return _filled(out, fill_value)


@op(result=_LIKE_INPUT)
def full_like(data_like: Samples, fill_value: Samples, /) -> Samples:
    """Make arrays of the shape, type and layout of others, filled with a value.

    Parameters
    ----------
    data_like
        What to take shape, type and layout from.
    fill_value
        A number, or an array that is broadcast to the shape.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.full_like(ndd.tensor([[1, 2], [3, 4]]), [5, 6]).torch().tolist()
    [[5, 6], [5, 6]]
    """
    return _filled(data_like.empty_like(), fill_value)


@op(result=_SHAPED)
def zeros(
    *,
    dtype: DType = int32,
    layout: str | None = None,
    shape: Ints64PerSample | None = None,
    kernels: Kernels,
    batch_size: int,
) -> Samples:
    """Make arrays of zeros.

    Parameters
    ----------
    dtype
        The element type.
    layout
        The layout of the result.
    shape
        The shape of each sample; by default a sample is a single number.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.zeros(shape=[2], batch_size=2).torch().tolist()
    [[0, 0], [0, 0]]
    """
    return filled_with(_allocate(kernels, dtype, shape, layout, batch_size), 0)


@op(result=_SHAPED)
def ones(
    *,
    dtype: DType = int32,
    layout: str | None = None,
    shape: Ints64PerSample | None = None,
    kernels: Kernels,
    batch_size: int,
) -> Samples:
    """Make arrays of ones.

    Parameters
    ----------
    dtype
        The element type.
    layout
        The layout of the result.
    shape
        The shape of each sample; by default a sample is a single number.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.ones(shape=[3], dtype=ndd.float32).torch().tolist()
    [1.0, 1.0, 1.0]
    """
    return filled_with(_allocate(kernels, dtype, shape, layout, batch_size), 1)


@op(strided=True, result=_LIKE_INPUT)
def zeros_like(data_like: Samples, /, *, dtype: DType | None = None) -> Samples:
    """Make arrays of zeros with the shape, type and layout of others.

    Parameters
    ----------
    data_like
        What to take shape, type and layout from.
    dtype
        The element type, if it shall be another one.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.zeros_like(ndd.tensor([1.5, 2.5])).torch().tolist()
    [0.0, 0.0]
    """
    return filled_with(data_like.empty_like(dtype.code if dtype else data_like.type_id), 0)


@op(strided=True, result=_LIKE_INPUT)
def ones_like(data_like: Samples, /, *, dtype: DType | None = None) -> Samples:
    """Make arrays of ones with the shape, type and layout of others.

    Parameters
    ----------
    data_like
        What to take shape, type and layout from.
    dtype
        The element type, if it shall be another one.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.ones_like(ndd.tensor([[7, 8]]), dtype=ndd.uint8).torch().tolist()
    [[1, 1]]
    """
    return filled_with(data_like.empty_like(dtype.code if dtype else data_like.type_id), 1)


def filled_with(out: Samples, value: int) -> Samples:
    """`out`, all elements of which have become `value`."""
    out.kernels.fill(out, _number(value, from_code(out.type_id)))
    return out


def _outer_shapes(call: Call) -> Shapes:
    """The shapes of the indices; single numbers have no axes unless an axis is named."""
    shapes = call.input.shapes
    alone = call["axis"] is None and (shapes.prod(axis=1) == 1).all()
    return shapes[:, :0] if alone else shapes


def _hot_axis(call: Call, ndim: int) -> int:
    axis: int | None = call["axis"]
    return ndim if axis is None or axis < 0 else axis


def _hot_ndim(call: Call) -> int:
    axis = call["axis"]
    return (call.input.ndim if axis is not None else _outer_shapes(call).shape[1]) + 1


def _hot_layout(call: Call) -> str:
    name: str | None = call["axis_name"]
    if name is None:
        return ""
    ndim = _hot_ndim(call) - 1
    return _layout_with(name, call.input.layout if ndim else "", _hot_axis(call, ndim), ndim)


def _hot_shapes(call: Call) -> Shapes:
    shapes = _outer_shapes(call)
    axis = _hot_axis(call, shapes.shape[1])
    return np.insert(shapes, axis, call["num_classes"], axis=1)


@op(
    dtypes=_ONE_HOT_TYPES,
    result=Result(ndim=_hot_ndim, layout=_hot_layout, shape=_hot_shapes),
    by_sample=True,
)
def one_hot(
    input: Samples,
    /,
    *,
    axis: int | None = None,
    axis_name: str | None = None,
    dtype: DType = float32,
    num_classes: int = 0,
    off_value: float = 0.0,
    on_value: float = 1.0,
) -> Samples:
    """Convert class numbers to vectors that mark the class.

    A number outside of [0, `num_classes`) gives a vector without a mark; fractions are cut off.

    Parameters
    ----------
    input
        Class numbers.
    axis
        The index of the new axis; -1 stands for the last. By default it is the last, too, but a
        batch in which each sample has one element gives vectors, whatever the number of axes.
    axis_name
        The letter of the new axis in the layout. Without it, the result has no layout.
    dtype
        The element type of the result: an integer type, float32 or float64.
    num_classes
        The number of classes.
    off_value, on_value
        What stands for other classes, and for the class. In an integer type the fraction is cut off
        and what does not fit wraps around.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.one_hot(ndd.batch([2, 0]), num_classes=3).torch().tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    if dtype not in _ONE_HOT_TYPES:
        names = full_names(_ONE_HOT_TYPES)
        msg = f"'dtype' must be one of {names}; got {dtype.full_name}."
        raise ValueError(msg)
    if num_classes < 0:
        msg = f"'num_classes' must not be negative; got {num_classes}."
        raise ValueError(msg)
    ndim = input.ndim
    if axis is not None and not -1 <= axis <= ndim:
        msg = f"'axis' must lie in [-1, {ndim}] for an input with {ndim} axes; got {axis}."
        raise ValueError(msg)
    shapes = input.shape_array()
    if axis is None and (shapes.prod(axis=1) == 1).all():
        shapes, layout = shapes[:, :0], ""
    else:
        layout = input.layout
    position = shapes.shape[1] if axis is None or axis < 0 else axis
    if axis_name is None:
        layout = ""
    else:
        layout = _layout_with(axis_name, layout, position, shapes.shape[1])
    out_shapes = np.insert(shapes, position, num_classes, axis=1)
    numbers = [_as_number(value, dtype) for value in (on_value, off_value)]
    values = to_samples(np.array(numbers), dtype, None, "one_hot")
    return input.kernels.one_hot(input, dtype.code, out_shapes, layout, position, values)


def _layout_with(axis_name: str, layout: str, position: int, ndim: int) -> str:
    if len(axis_name) != 1:
        msg = f"'axis_name' must be a single letter; got {axis_name!r}."
        raise ValueError(msg)
    if len(layout) != ndim:
        msg = "'axis_name' needs an input with a layout. Leave it out, or give one."
        raise ValueError(msg)
    return layout[:position] + axis_name + layout[position:]


def _as_number(value: float, dtype: DType) -> Any:
    """The value in float32, and then in the type, as C converts: cut off, wrapping around."""
    single = np.float32(value)
    if dtype.kind is DType.Kind.float:
        return dtype.numpy.type(single)
    if not np.isfinite(single):
        msg = f"{value:g} cannot be written as {dtype.full_name}."
        raise ValueError(msg)
    wrapped = int(single) % 2**dtype.bits
    return np.array(wrapped, f"u{dtype.bytes}").view(dtype.numpy)[()]
