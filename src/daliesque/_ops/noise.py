# SPDX-License-Identifier: Apache-2.0
"""Noise on images: gaussian, shot, salt and pepper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.args import FloatPerSample
from .._engine.dtype import (
    float32,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .._engine.metadata import Result
from .._engine.op import RandomState, Samples, op

_TYPES = (uint8, uint16, uint32, uint64, int8, int16, int32, int64, float32)
# The reference documents 20, but uses this if no factor is given.
_DEFAULT_FACTOR = np.array([12], np.float32)


def _require(good: NDArray[np.bool_], name: str, rule: str, values: NDArray[Any]) -> None:
    if not good.all():
        sample = int(np.argmin(good))
        msg = f"'{name}' must be {rule}; got {values[sample].tolist()} (sample {sample})."
        raise ValueError(msg)


@op(name="noise.gaussian", dtypes=_TYPES, result=Result(shape="input"), weight=8, by_sample=True)
def gaussian(
    input: Samples,
    /,
    *,
    mean: FloatPerSample = 0.0,
    stddev: FloatPerSample = 1.0,
    rng: RandomState,
) -> Samples:
    """Add normally distributed numbers; results are rounded and clamped.

    Parameters
    ----------
    mean
        The mean of the distribution.
    stddev
        The standard deviation.

    Examples
    --------
    >>> image = ndd.tensor(np.full((8, 8, 3), 100, np.uint8), layout="HWC")
    >>> ndd.noise.gaussian(image, mean=20, stddev=0).torch().unique().tolist()
    [120]
    """
    return input.kernels.gaussian_noise(input, rng, mean, stddev)


@op(name="noise.shot", dtypes=_TYPES, result=Result(shape="input"), weight=40, by_sample=True)
def shot(input: Samples, /, *, factor: FloatPerSample | None = None, rng: RandomState) -> Samples:
    """Replace values by Poisson-distributed numbers with the same mean, as counting light does.

    `out = factor * poisson(in / factor)`; negative values become 0.

    Parameters
    ----------
    factor
        The brightness of one particle of light: the larger, the more noise. 12 unless given; 0
        gives zeros.

    Differs from DALI: values that are 2147483648 times `factor` or more are an error, not an
    endless loop.

    Examples
    --------
    >>> image = ndd.tensor(np.full((8, 8, 3), 100, np.uint8), layout="HWC")
    >>> bool((np.array(ndd.noise.shot(image, factor=5)) % 5 == 0).all())
    True
    """
    if factor is None:
        factor = _DEFAULT_FACTOR
    _require(np.isfinite(factor), "factor", "finite", factor)
    return input.kernels.shot_noise(input, rng, factor)


@op(
    name="noise.salt_and_pepper",
    dtypes=_TYPES,
    result=Result(shape="input"),
    weight=4,
    by_sample=True,
)
def salt_and_pepper(
    input: Samples,
    /,
    *,
    prob: FloatPerSample = 0.05,
    salt_vs_pepper: FloatPerSample = 0.5,
    per_channel: bool = False,
    salt_val: FloatPerSample | None = None,
    pepper_val: FloatPerSample | None = None,
    rng: RandomState,
) -> Samples:
    """Replace random pixels by a bright ("salt") or a dark ("pepper") one.

    Parameters
    ----------
    prob
        The probability that a pixel is replaced.
    salt_vs_pepper
        The share of salt among what is replaced.
    per_channel
        Treat channels by themselves, not all of a pixel alike. Otherwise, channels are the axis C,
        which must be the first or the last, or without a layout the last axis.
    salt_val
        The bright value; by default the highest of an integer type, 1 for float32.
    pepper_val
        The dark value; by default the lowest of an integer type, -1 for float32.

    Examples
    --------
    >>> image = ndd.tensor(np.full((8, 8, 3), 100, np.uint8), layout="HWC")
    >>> ndd.noise.salt_and_pepper(image, prob=1).torch().unique().tolist()
    [0, 255]
    """
    for name, values in (("prob", prob), ("salt_vs_pepper", salt_vs_pepper)):
        _require((values >= 0) & (values <= 1), name, "in [0, 1]", values)
    axis = -1 if per_channel else _channel_axis(input)
    return input.kernels.salt_and_pepper_noise(
        input,
        state=rng,
        probability=prob,
        salt_vs_pepper=salt_vs_pepper,
        salt=salt_val,
        pepper=pepper_val,
        channel_axis=axis,
    )


def _channel_axis(input: Samples) -> int:
    if not input.layout:
        return input.ndim - 1
    axis = input.layout.find("C")
    if axis not in (-1, 0, input.ndim - 1):
        msg = (
            f"channels (C) must be the first or the last axis; got the layout {input.layout!r}. "
            "Set 'per_channel' to treat them by themselves."
        )
        raise ValueError(msg)
    return axis
