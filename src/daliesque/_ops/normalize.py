# SPDX-License-Identifier: Apache-2.0
"""Operators on the distribution of values."""

from __future__ import annotations

import functools
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import Rule
from .._engine.constants import Constants, constant_key
from .._engine.convert import cast_samples, contiguous, to_samples
from .._engine.dtype import DType, float32
from .._engine.metadata import Result
from .._engine.op import Samples, op
from .._engine.samples import HostSamples, host
from .._shapes.windows import resolve_axes


class _ArrayPerSample(Rule):
    """A number or an array, for all samples or one for each; the body gets float32 Samples."""

    per_sample = True

    def __init__(self) -> None:
        self._constants: Constants[Samples] = Constants()

    def convert(self, value: Any, where: str) -> Samples:
        key = constant_key(value)
        made = None if key is None else self._constants.get(key)
        if made is None:
            made = self.from_samples(host(to_samples(value, None, None, where)), where)
            if key is not None:
                made = self._constants.keep(key, made)
        return made

    def from_samples(self, samples: Samples, where: str) -> Samples:
        del where
        return contiguous(cast_samples(samples, float32))


ArrayPerSample = Annotated[Any, _ArrayPerSample()]


@op(result=Result(shape="input"))
def normalize(
    input: Samples,
    /,
    *,
    mean: ArrayPerSample | None = None,
    stddev: ArrayPerSample | None = None,
    axes: tuple[int, ...] | None = None,
    axis_names: str | None = None,
    batch: bool = False,
    ddof: int = 0,
    epsilon: float = 0.0,
    scale: float = 1.0,
    shift: float = 0.0,
    dtype: DType = float32,
) -> Samples:
    """Subtract the mean and divide by the standard deviation.

    The result is ``scale * (input - mean) / stddev + shift``. What is not given is computed from
    the input: over the whole sample, or over the `axes` only, so that each index of the other axes
    has a mean and a deviation of its own. Where the deviation is 0, the result is `shift`.

    Parameters
    ----------
    mean, stddev
        A number, or an array with as many axes as the input, whose extents are 1 or those of the
        input. Without `axes`, those of extent 1 are the axes that the other one is computed over.
    axes
        The axes that are taken together; by default all. Negative ones count from the end.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    batch
        Compute mean and deviation over all samples together. Extents of the other axes must agree.
    ddof
        The variance divides by the number of values less this.
    epsilon
        Added to the variance.
    scale, shift
        Applied to the normalized values; useful for integer results.
    dtype
        Type of the result. Integers are rounded, halves away from zero, and clamped.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.normalize(ndd.tensor([1.0, 3.0])).torch().tolist()
    [-1.0, 1.0]
    >>> image = ndd.tensor([[[0, 10], [2, 30]]], layout="HWC")
    >>> ndd.normalize(image, axis_names="HW", dtype=ndd.int8).torch().tolist()
    [[[-1, -1], [1, 1]]]
    """
    reduced = _reduced_axes(input, mean, stddev, axes, axis_names)
    if epsilon < 0:
        msg = f"'epsilon' must not be negative; got {epsilon:g}."
        raise ValueError(msg)
    if batch and (mean is None or stddev is None):
        _check_batch(input, reduced)
    means = None if mean is None else _parameter(input, mean, reduced, "mean")
    factors = None
    if stddev is not None:
        deviations = _parameter(input, stddev, reduced, "stddev")
        factors = _kernels.deviation_factors(deviations, epsilon, scale)
    return input.kernels.normalize(
        input,
        type_id=dtype.code,
        means=means,
        factors=factors,
        reduced=reduced,
        batch=batch,
        ddof=ddof,
        epsilon=epsilon,
        scale=scale,
        shift=shift,
    )


def _reduced_axes(
    samples: Samples,
    mean: Samples | None,
    stddev: Samples | None,
    axes: list[int] | tuple[int, ...] | None,
    axis_names: str | None,
) -> list[bool]:
    """Which axes are taken together."""
    ndim = samples.ndim
    if axes is not None and axis_names is not None:
        msg = "'axes' and 'axis_names' exclude each other. Give one of them."
        raise ValueError(msg)
    if axes is not None:
        if not axes:
            msg = "'axes' must name at least one axis; got []. Leave it out to take all."
            raise ValueError(msg)
        found = resolve_axes(np.array([axes], np.int32), None, "", ndim)[0].tolist()
    elif axis_names:
        found = resolve_axes(None, axis_names, samples.layout, ndim)[0].tolist()
    else:
        reduced = [True] * ndim
        for given in (mean, stddev):
            if given is not None and given.ndim == ndim and len(given):
                for shape in [given.shape(0)] if given.uniform else given.shapes:
                    for axis, extent in enumerate(shape):
                        # Axes that the array varies along, in some sample, are not.
                        if extent != 1:
                            reduced[axis] = False
        return reduced
    return [axis in found for axis in range(ndim)]


def _parameter(samples: Samples, given: HostSamples, reduced: list[bool], name: str) -> HostSamples:
    """Check a given mean or deviation; a number gets axes of extent 1."""
    ndim = samples.ndim
    if given.ndim == 0 and ndim:
        return given.reshape(_ones(ndim), "")
    if given.ndim != ndim:
        msg = (
            f"'{name}' must be a number or an array with {ndim} axes, like the input; "
            f"got {given.ndim}."
        )
        raise ValueError(msg)
    if samples.uniform and given.uniform and len(samples) and len(given):
        for extent, whole, one in zip(given.shape(0), samples.shape(0), reduced, strict=True):
            if extent != 1 and (one or extent != whole):
                break
        else:
            return given
    shapes, extents = samples.shape_array(), given.shape_array()
    allowed = (extents == 1) | (np.where(reduced, 1, shapes) == extents)
    if not allowed.all():
        row = int(np.argmin(allowed.all(axis=1)))
        expected = tuple(np.where(reduced, 1, shapes)[row].tolist())
        msg = (
            f"'{name}' must have the shape {expected}, or 1 in place of some extents; "
            f"got {tuple(np.broadcast_to(extents, shapes.shape)[row].tolist())} (sample {row})."
        )
        raise ValueError(msg)
    return given


@functools.cache
def _ones(ndim: int) -> NDArray[np.int64]:
    """The shape of an array of one element."""
    return np.ones((1, ndim), np.int64)


def _check_batch(samples: Samples, reduced: list[bool]) -> None:
    kept = samples.shape_array()[:, ~np.array(reduced, np.bool_)]
    different = (kept != kept[:1]).any(axis=1)
    if different.any():
        row = int(np.argmax(different))
        msg = (
            f"with 'batch' all samples need the same extents along the axes that are not taken "
            f"together; got the shapes {samples.shape(0)} and {samples.shape(row)} (sample {row})."
        )
        raise ValueError(msg)
