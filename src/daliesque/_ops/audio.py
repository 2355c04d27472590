# SPDX-License-Identifier: Apache-2.0
"""Operators on signals in the order of time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._codecs.audio import lobes_for, resampled_lengths
from .._engine.args import FloatPerSample, Int64PerSample
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
from .._engine.errors import SampleError, join_names
from .._engine.metadata import Call, Result, Shapes, with_extents
from .._engine.op import Samples, op

_SIGNAL_TYPES = (int8, uint8, int16, uint16, int32, uint32, float32)
_LOUDNESS_TYPES = (uint8, int8, uint16, int16, uint32, int32, uint64, int64, float32)
_FILTER_TYPES = (*_LOUDNESS_TYPES, float64)
_STARTS = {start.name: start for start in _kernels.SignalStart}


def _rates(name: str, rates: Any, positive: bool) -> NDArray[np.float64]:
    """Check rates and widen them."""
    legal = (rates > 0) if positive else (rates >= 0)
    legal &= np.isfinite(rates)
    if not legal.all():
        rule = "positive" if positive else "0 or more"
        i = int(np.argmin(legal))
        which = f" (sample {i})" if len(rates) > 1 else ""
        msg = f"'{name}' must be {rule}; got {rates[i]:g}{which}."
        raise ValueError(msg)
    return np.asarray(rates, np.float64)


def _resampled_shapes(call: Call) -> Shapes:
    shapes = call.input.shapes
    if call.has("out_length"):
        lengths = call["out_length"]
    else:
        before = call["in_rate"] if call.has("in_rate") else np.ones(1)
        after = call["out_rate"] if call.has("out_rate") else call["scale"]
        rates = (np.asarray(rate, np.float64) for rate in (before, after))
        lengths = resampled_lengths(shapes[:, 0].copy(), *rates)
    return with_extents(shapes, 0, lengths)


@op(dtypes=_SIGNAL_TYPES, result=Result(shape=_resampled_shapes), weight=10)
def audio_resample(
    input: Samples,
    /,
    *,
    in_rate: FloatPerSample | None = None,
    out_rate: FloatPerSample | None = None,
    scale: FloatPerSample | None = None,
    out_length: Int64PerSample | None = None,
    quality: float = 50.0,
    dtype: DType | None = None,
) -> Samples:
    """Change the sampling rate of signals.

    Results are sums of neighboring samples under a sinc function with a Hann window. As in the
    reference, its width does not depend on the rates: when the rate becomes lower, frequencies
    above half of the new rate are not removed.

    Parameters
    ----------
    input
        Signals: (samples,) or (samples, channels).
    in_rate, out_rate
        The sampling rates before and after, in any unit; given together. Results have
        ``ceil(length * out_rate / in_rate)`` samples.
    scale
        Instead of the rates, their ratio ``out_rate / in_rate``.
    out_length
        Instead of the rates, the length of the result.
    quality
        0 to 100; the filter has 3 lobes on each side at 0, 16 at 50, 64 at 100.
    dtype
        Type of the result; by default that of the input. The range of an integer type stands for
        -1 to 1; the middle of that of an unsigned type for 0.

    Examples
    --------
    >>> import daliesque as ndd
    >>> wave = np.sin(np.arange(1600) / 20).astype(np.float32)
    >>> ndd.audio_resample(wave, in_rate=16000, out_rate=8000).shape
    (800,)
    """
    if input.ndim not in (1, 2):
        msg = f"the input must have the axes (samples,) or (samples, channels); got {input.ndim}."
        raise ValueError(msg)
    ways = (in_rate is not None or out_rate is not None, scale is not None, out_length is not None)
    if sum(ways) != 1 or (in_rate is None) != (out_rate is None):
        msg = "give 'in_rate' and 'out_rate', or 'scale', or 'out_length', and only one of these."
        raise ValueError(msg)
    wanted = from_code(input.type_id) if dtype is None else dtype
    if wanted not in _SIGNAL_TYPES:
        msg = f"'dtype' must be one of {full_names(_SIGNAL_TYPES)}; got {wanted.full_name}."
        raise ValueError(msg)
    lobes = lobes_for(quality)
    shapes = input.shape_array().copy()
    lengths = shapes[:, 0].copy()
    if out_length is not None:
        if (out_length < 0).any():
            msg = f"'out_length' must not be negative; got {out_length[out_length < 0][0]}."
            raise ValueError(msg)
        shapes[:, 0] = out_length
        impossible = (lengths == 0) & (shapes[:, 0] > 0)
        if impossible.any():
            i = int(np.argmax(impossible))
            raise SampleError(i, f"is empty; {shapes[i, 0]} values cannot be made of it")
        steps = lengths / np.maximum(shapes[:, 0], 1)
    else:
        before = _rates("in_rate", np.ones(1) if in_rate is None else in_rate, True)
        name, rates = ("scale", scale) if out_rate is None else ("out_rate", out_rate)
        after = _rates(name, rates, False)
        shapes[:, 0] = resampled_lengths(lengths, before, after)
        steps = before / np.where(after == 0, 1, after)
    out = input.kernels.empty(wanted.code, shapes, input.layout, len(input))
    steps = np.ascontiguousarray(np.broadcast_to(steps, len(input)))
    input.kernels.audio_resample(out, input, steps, lobes)
    return out


@op(dtypes=_FILTER_TYPES, result=Result(shape="input"), weight=2)
def preemphasis_filter(
    input: Samples,
    /,
    *,
    preemph_coeff: FloatPerSample = 0.97,
    border: str = "clamp",
    dtype: DType = float32,
) -> Samples:
    """Emphasize high frequencies: ``output[t] = input[t] - preemph_coeff * input[t - 1]``.

    Parameters
    ----------
    input
        Signals; the values of several axes are taken one after the other.
    preemph_coeff
        The coefficient.
    border
        What stands before the first value: "zero", "clamp" (the first value again) or "reflect"
        (the second value; the first if there is none).
    dtype
        Type of the result. Integers are rounded, halves away from zero, and clamped.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.preemphasis_filter(ndd.tensor([1.0, 2.0, 4.0]), preemph_coeff=0.5).torch().tolist()
    [0.5, 1.5, 3.0]
    """
    if border not in _STARTS:
        msg = f"'border' must be {join_names(_STARTS)}; got {border!r}."
        raise ValueError(msg)
    if dtype not in _FILTER_TYPES:
        msg = f"'dtype' must be one of {full_names(_FILTER_TYPES)}; got {dtype.full_name}."
        raise ValueError(msg)
    out = input.empty_like(dtype.code)
    input.kernels.preemphasis_filter(out, input, preemph_coeff, _STARTS[border])
    return out


@op(dtypes=_LOUDNESS_TYPES, outputs=2, result=Result(dtype=int32, ndim=0), weight=4)
def nonsilent_region(
    input: Samples,
    /,
    *,
    cutoff_db: float = -60.0,
    window_length: int = 2048,
    reference_power: float = 0.0,
    reset_interval: int = 8192,
) -> tuple[Samples, Samples]:
    """Find where a signal begins and ends, silence apart.

    A position is silent if the mean square of the `window_length` values up to it, in decibels
    relative to `reference_power`, is below `cutoff_db`. The first window that is not belongs to the
    region as a whole.

    Parameters
    ----------
    input
        Signals of one axis.
    cutoff_db
        The threshold.
    window_length
        How many values the mean is taken over; at most the length of the signal is used.
    reference_power
        What 0 dB stands for; 0 for the largest mean square of the signal.
    reset_interval
        After how many values the moving sum begins again, to keep its precision: a multiple of
        `window_length`, or -1 for never. Integer signals do not need it.

    Returns
    -------
    begin, length
        The first position of the region, and how long it is; 0 and 0 if all is silent.

    Examples
    --------
    >>> import daliesque as ndd
    >>> signal = np.concatenate([np.zeros(500), np.ones(300), np.zeros(200)]).astype(np.float32)
    >>> begin, length = ndd.nonsilent_region(signal, window_length=10, reset_interval=100)
    >>> int(begin), int(length)
    (491, 318)
    """
    if input.ndim != 1:
        msg = f"the input must be signals of one axis; got {input.ndim}."
        raise ValueError(msg)
    if window_length < 1:
        msg = f"'window_length' must be positive; got {window_length}."
        raise ValueError(msg)
    if reference_power < 0 or not np.isfinite(reference_power):
        msg = f"'reference_power' must be positive, or 0 for the largest; got {reference_power:g}."
        raise ValueError(msg)
    resets = input.type_id == float32.code and reset_interval != -1
    if resets and (reset_interval < 1 or reset_interval % window_length):
        msg = (
            "'reset_interval' must be a multiple of 'window_length', "
            f"{window_length}, or -1; got {reset_interval}."
        )
        raise ValueError(msg)
    begin = input.kernels.empty_uniform(int32.code, [], "", len(input))
    length = input.kernels.empty_uniform(int32.code, [], "", len(input))
    input.kernels.nonsilent_region(
        begin=begin,
        length=length,
        samples=input,
        cutoff_db=cutoff_db,
        reference_power=reference_power,
        window_length=window_length,
        reset_interval=reset_interval,
    )
    return begin, length
