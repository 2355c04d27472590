# SPDX-License-Identifier: Apache-2.0
"""Random numbers: uniform, normal, coin_flip, choice, beta."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.args import FloatListsPerSample, FloatPerSample, FloatsPerSample, Ints64PerSample
from .._engine.convert import (
    contiguous,
    to_numpy,
    to_stacked_numpy,
)
from .._engine.dtype import (
    DType,
    bool_,
    float32,
    float64,
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
from .._engine.op import HostSamples, Kernels, RandomState, Samples, op

_INTEGERS = (uint8, uint16, uint32, uint64, int8, int16, int32, int64)
_NUMBERS = (*_INTEGERS, float32, float64)


def _requested_shape(
    shape_like: Samples | None, shape: NDArray[np.int64] | None
) -> NDArray[np.int64] | None:
    """The extents that a caller asked for, one row for each sample or for all."""
    if shape_like is not None:
        if shape is not None:
            msg = "takes 'shape' or an input to take the shape from, not both."
            raise ValueError(msg)
        shape = shape_like.shape_array()
    if shape is not None and shape.size and shape.min() < 0:
        sample = int(np.argmax((shape < 0).any(axis=1)))
        extents = tuple(shape[sample].tolist())
        msg = f"'shape' must not be negative; got {extents} (sample {sample})."
        raise ValueError(msg)
    return shape


def _make_output(
    kernels: Kernels,
    dtype: DType,
    shape_like: Samples | None,
    shape: NDArray[np.int64] | None,
    count: int,
) -> Samples:
    return _allocate(kernels, dtype.code, _requested_shape(shape_like, shape), count)


def _allocate(kernels: Kernels, code: int, shape: NDArray[np.int64] | None, count: int) -> Samples:
    if shape is None:
        return kernels.empty_uniform(code, [], "", count)
    return kernels.empty(code, shape, "", count)


def _require(good: NDArray[np.bool_], name: str, rule: str, values: NDArray[Any]) -> None:
    """Raise an error about the first sample whose entry of `good` is false."""
    if not good.all():
        sample = int(np.argmin(good))
        msg = f"'{name}' must be {rule}; got {values[sample].tolist()} (sample {sample})."
        raise ValueError(msg)


def _drawn_ndim(call: Call) -> int:
    if call.has_input(0):
        return call.input.ndim
    return call.width("shape") if call.has("shape") else 0


def _drawn_shapes(call: Call) -> Shapes:
    shapes: Shapes = call.input.shapes if call.has_input(0) else call["shape"]
    return shapes


_DRAWN = Result(dtype=("dtype",), ndim=_drawn_ndim, layout="", shape=_drawn_shapes)


@op(name="random.uniform", strided=True, output_dtypes=_NUMBERS, result=_DRAWN)
def uniform(
    shape_like: Samples | None = None,
    /,
    *,
    dtype: DType = float32,
    range: FloatsPerSample = (-1.0, 1.0),
    shape: Ints64PerSample | None = None,
    values: FloatListsPerSample | None = None,
    rng: RandomState,
    kernels: Kernels,
    batch_size: int,
    given: frozenset[str],
) -> Samples:
    """Draw numbers that are evenly distributed over a range, or over a list of values.

    Parameters
    ----------
    shape_like
        Take the shape of the output from this, in place of `shape`.
    dtype
        An integer type, float32 or float64. Numbers are rounded and clamped to an integer type, so
        that the upper end of the range can occur.
    range
        The lower end, which can occur, and the upper end, which cannot. For an integer type both
        are cut to integers first.
    shape
        The shape of each sample; by default a sample is a single number.
    values
        Draw one of these with equal probability, in place of numbers from a range.

    Differs from DALI: `range` and `values` together are an error.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.random.uniform(range=(0, 10), shape=[2], batch_size=3).shape
    [(2,), (2,), (2,)]
    """
    out = _make_output(kernels, dtype, shape_like, shape, batch_size)
    if batch_size == 0:
        return out
    if values is not None:
        if "range" in given:
            msg = "takes 'range' or 'values', not both."
            raise ValueError(msg)
        if any(extent == (0,) for extent in values.shapes):
            msg = "'values' must hold at least one number; got an empty list."
            raise ValueError(msg)
        kernels.uniform_values(out, rng, values)
        return out
    if range.shape[1] != 2:
        msg = f"'range' must hold two numbers (from, to); got {range[0].tolist()}."
        raise ValueError(msg)
    # One range for all samples, as a rule; then this costs less than the drawing.
    if len(range) > 1 or not range.item(0) < range.item(1):
        _require(range[:, 0] < range[:, 1], "range", "two ascending numbers (from, to)", range)
    kernels.uniform(out, rng, range)
    return out


@op(name="random.normal", strided=True, output_dtypes=_NUMBERS, result=_DRAWN)
def normal(
    shape_like: Samples | None = None,
    /,
    *,
    dtype: DType = float32,
    mean: FloatPerSample = 0.0,
    shape: Ints64PerSample | None = None,
    stddev: FloatPerSample = 1.0,
    rng: RandomState,
    kernels: Kernels,
    batch_size: int,
) -> Samples:
    """Draw normally distributed numbers.

    Parameters
    ----------
    shape_like
        Take the shape of the output from this, in place of `shape`.
    dtype
        An integer type (numbers are rounded and clamped), float32 or float64.
    mean
        The mean of the distribution.
    shape
        The shape of each sample; by default a sample is a single number.
    stddev
        The standard deviation.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.random.normal(mean=10, stddev=2, shape=[3, 4]).shape
    (3, 4)
    """
    out = _make_output(kernels, dtype, shape_like, shape, batch_size)
    kernels.normal(out, rng, mean, stddev)
    return out


@op(name="random.coin_flip", strided=True, output_dtypes=(bool_, uint8, int32), result=_DRAWN)
def coin_flip(
    shape_like: Samples | None = None,
    /,
    *,
    dtype: DType = int32,
    probability: FloatPerSample = 0.5,
    shape: Ints64PerSample | None = None,
    rng: RandomState,
    kernels: Kernels,
    batch_size: int,
) -> Samples:
    """Draw ones with the given probability, and zeros otherwise.

    Parameters
    ----------
    shape_like
        Take the shape of the output from this, in place of `shape`.
    dtype
        bool, uint8 or int32.
    probability
        How often a one occurs, in [0, 1].
    shape
        The shape of each sample; by default a sample is a single number.

    Differs from DALI: a probability outside of [0, 1] is an error.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.random.coin_flip(probability=1, shape=[4]).torch().tolist()
    [1, 1, 1, 1]
    """
    fair = (probability >= 0) & (probability <= 1)
    _require(fair, "probability", "in [0, 1]", probability)
    out = _make_output(kernels, dtype, shape_like, shape, batch_size)
    kernels.coin_flip(out, rng, probability)
    return out


@op(name="random.beta", strided=True, output_dtypes=(float32, float64), result=_DRAWN)
def beta(
    shape_like: Samples | None = None,
    /,
    *,
    alpha: FloatPerSample = 1.0,
    beta: FloatPerSample = 1.0,
    dtype: DType = float32,
    shape: Ints64PerSample | None = None,
    rng: RandomState,
    kernels: Kernels,
    batch_size: int,
) -> Samples:
    """Draw numbers in [0, 1] that follow the beta distribution.

    Its density is proportional to ``x**(alpha - 1) * (1 - x)**(beta - 1)``.

    Parameters
    ----------
    shape_like
        Take the shape of the output from this, in place of `shape`.
    alpha, beta
        The parameters of the distribution, positive and finite.
    dtype
        float32 or float64.
    shape
        The shape of each sample; by default a sample is a single number.

    Examples
    --------
    >>> import daliesque as ndd
    >>> bool(ndd.random.beta(alpha=0.4, beta=0.4) <= 1)
    True
    """
    for name, values in (("alpha", alpha), ("beta", beta)):
        _require((values > 0) & (values < np.inf), name, "positive and finite", values)
    out = _make_output(kernels, dtype, shape_like, shape, batch_size)
    kernels.beta(out, rng, alpha, beta)
    return out


def _entry_counts(source: HostSamples) -> NDArray[np.int64]:
    """How many entries each sample has to choose from."""
    counts: NDArray[np.int64]
    if source.ndim > 0:
        counts = source.shape_array()[:, 0]
    else:
        if from_code(source.type_id) not in _INTEGERS:
            msg = (
                f"the input must be an integer n (to choose from 0 ... n-1) or an array; got one "
                f"number of type {from_code(source.type_id).full_name}."
            )
            raise ValueError(msg)
        counts = to_stacked_numpy(source).astype(np.int64) if len(source) else np.empty(0, int)
    if counts.size and counts.min() < 1:
        sample = int(np.argmin(counts))
        msg = f"there must be something to choose from; got {counts[sample]} entries "
        raise ValueError(msg + f"(sample {sample}).")
    return counts


def _check_weights(weights: HostSamples, counts: NDArray[np.int64]) -> None:
    for sample in range(len(weights)):
        given = to_numpy(weights, sample)
        wanted = counts if len(weights) == 1 else counts[sample : sample + 1]
        if (wanted != given.size).any():
            entries = int(wanted[wanted != given.size][0])
            msg = f"'p' needs one probability for each of the {entries} entries; got {given.size} "
            raise ValueError(msg + f"(sample {sample}).")
        if not ((given >= 0) & (given <= 1)).all():
            msg = f"'p' must hold numbers in [0, 1]; got {given.tolist()} (sample {sample})."
            raise ValueError(msg)
        total = float(given.sum(dtype=np.float64))
        if not abs(total - 1) < 1e-4:
            msg = f"'p' must sum to 1; got the sum {total:g} (sample {sample})."
            raise ValueError(msg)


def _chosen_ndim(call: Call) -> int:
    inner = max(call.input.ndim - 1, 0)
    if call.has_input(1):
        return call.other(1).ndim + inner
    return (call.width("shape") if call.has("shape") else 0) + inner


def _chosen_layout(call: Call) -> str:
    layout = call.input.layout
    return _choice_layout(layout, _chosen_ndim(call)) if layout else ""


def _chosen_shapes(call: Call) -> Shapes:
    entries = call.input.shapes[:, 1:]
    extents = np.zeros((1, 0), np.int64)
    if call.has_input(1):
        extents = call.other(1).shapes
    elif call.has("shape"):
        extents = call["shape"]
    rows = max(len(entries), len(extents))
    parts = (np.broadcast_to(part, (rows, part.shape[1])) for part in (extents, entries))
    return np.concatenate(tuple(parts), axis=1)


@op(
    name="random.choice",
    strided=True,
    result=Result(ndim=_chosen_ndim, layout=_chosen_layout, shape=_chosen_shapes),
)
def choice(
    a: HostSamples,
    shape_like: Samples | None = None,
    /,
    *,
    p: FloatListsPerSample | None = None,
    shape: Ints64PerSample | None = None,
    rng: RandomState,
    kernels: Kernels,
    batch_size: int,
) -> Samples:
    """Choose entries of an array at random, with replacement.

    Parameters
    ----------
    a
        The entries are those along the first axis. An integer n stands for 0, 1, ..., n - 1.
    shape_like
        Choose as many entries as this has elements, in place of `shape`.
    p
        The probability of each entry; by default all are equally likely. Must sum to 1.
    shape
        How many entries to choose, as a shape; by default one. The shape of an entry is added.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.random.choice([224, 256], p=[0, 1], shape=[3]).torch().tolist()
    [256, 256, 256]
    """
    source = contiguous(a)
    counts = _entry_counts(source)
    if p is not None:
        _check_weights(p, counts)
    extents = _requested_shape(shape_like, shape)
    if source.ndim > 1:
        entries = source.shape_array()[:, 1:]
        if extents is None:
            extents = np.ascontiguousarray(entries)
        else:
            rows = extents if len(extents) == len(entries) else extents.repeat(len(entries), axis=0)
            extents = np.concatenate([rows, entries], axis=1)
    out = _allocate(kernels, source.type_id, extents, batch_size)
    if source.layout:
        out = out.with_layout(_choice_layout(source.layout, out.ndim))
    if batch_size > 0:
        kernels.choice(out, rng, source, p)
    return out


def _choice_layout(layout: str, ndim: int) -> str:
    """The entries of one sample in a row have its layout; a single entry lacks the first axis."""
    if ndim == len(layout):
        return layout
    return layout[1:] if ndim == len(layout) - 1 else ""
