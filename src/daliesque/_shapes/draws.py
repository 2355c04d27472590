# SPDX-License-Identifier: Apache-2.0
"""Random numbers that decide what happens to samples, drawn in CPU memory.

What is drawn for a sample depends on the state and on the number of the sample only. Frames of a
sequence share what is drawn for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_samples, to_stacked_numpy
from .._engine.dtype import float32
from .._engine.rng import RNGState
from .._engine.samples import HostSamples, host

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

_UNIT = np.array([[0, 1]], np.float32)


def uniform_rows(rng: RNGState, count: int, width: int) -> Floats:
    """Rows of `width` numbers from [0, 1), one row for each of `count` samples."""
    if count == 0 or width == 0:
        return np.zeros((count, width), np.float32)
    drawn = _kernels.empty_uniform(float32.code, (width,), "", count)
    _kernels.uniform(drawn, rng, _UNIT)
    return to_stacked_numpy(drawn)


# Parameters beyond this make draws of 0.5 only, and far beyond it overflow.
_LARGEST_ALPHA = 1e9


def check_alpha(alpha: float) -> None:
    """Make sure that the parameter of a symmetric distribution of weights can be drawn with."""
    if not 0 < alpha <= _LARGEST_ALPHA:
        msg = f"'alpha' must be positive, and at most {_LARGEST_ALPHA:g}; got {alpha:g}."
        raise ValueError(msg)


def beta_rows(rng: RNGState, count: int, alphas: list[float], betas: list[float]) -> Floats:
    """Rows of numbers of beta distributions, one for each pair of parameters."""
    columns = [np.zeros((count, 0), np.float32)]
    for alpha, beta, words in zip(alphas, betas, _streams(rng, len(alphas)), strict=True):
        drawn = _kernels.empty_uniform(float32.code, (1,), "", count)
        shapes = (np.full(1, value, np.float32) for value in (alpha, beta))
        _kernels.beta(drawn, words, *shapes)
        columns.append(np.zeros((0, 1), np.float32) if count == 0 else to_stacked_numpy(drawn))
    return np.concatenate(columns, axis=1)


def _streams(rng: RNGState, count: int) -> list[RNGState]:
    """States for several draws of one call, all different."""
    generator = _kernels.Philox(rng)
    return [generator.draw_operator_state() for _ in range(count)]


def split(rng: RNGState, count: int) -> list[RNGState]:
    """States for `count` parts of a call that draw by themselves."""
    return _streams(rng, count)


def dirichlet_rows(rng: RNGState, count: int, alpha: float, width: int) -> Floats:
    """Rows of `width` weights that add up to 1, of a symmetric Dirichlet distribution."""
    others = [alpha * left for left in range(width - 1, 0, -1)]
    shares = beta_rows(rng, count, [alpha] * (width - 1), others)
    weights = np.empty((count, width), np.float32)
    rest = np.ones(count, np.float32)
    for column in range(width - 1):
        weights[:, column] = rest * shares[:, column]
        rest = rest - weights[:, column]
    weights[:, -1] = rest
    return weights


def permutation_rows(numbers: Floats) -> NDArray[np.int32]:
    """A permutation for each row of uniform numbers."""
    return np.argsort(numbers, axis=1, kind="stable").astype(np.int32)


def sequences(frame_counts: Integers | None, count: int) -> tuple[int, Integers]:
    """How many sequences there are, and to which of them each of `count` samples belongs."""
    if frame_counts is None:
        return count, np.arange(count)
    return len(frame_counts), np.repeat(np.arange(len(frame_counts)), frame_counts)


def between(range_: tuple[float, float], numbers: Any) -> Any:
    """Uniform numbers from [0, 1) as numbers from another range."""
    low, high = range_
    return low + (high - low) * numbers


def as_rows(array: NDArray[Any], operator: str) -> HostSamples:
    """The rows of an array as samples."""
    return host(to_samples(np.ascontiguousarray(array), None, None, operator)).unfold()
