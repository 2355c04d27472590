# SPDX-License-Identifier: Apache-2.0
"""Random numbers for accelerators: drawn on the CPU, so that seeds mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.rng import RNGState
from .._engine.samples import HostSamples
from .placement import on_device
from .samples import DeviceSamples

Floats: TypeAlias = NDArray[np.float32]


def draw(out: DeviceSamples, kernel: Callable[..., None], *arguments: Any) -> None:
    """Fill an output with what a native kernel draws, by one transfer."""
    drawn = _kernels.empty(out.type_id, out.shape_array(), out.layout, len(out))
    kernel(drawn, *arguments)
    out.become(on_device(drawn).groups)


def uniform(out: DeviceSamples, state: RNGState, range: Floats) -> None:
    """Numbers that are evenly distributed over a range."""
    draw(out, _kernels.uniform, state, range)


def uniform_values(out: DeviceSamples, state: RNGState, values: HostSamples) -> None:
    """Values of a list, all equally likely."""
    draw(out, _kernels.uniform_values, state, values)


def normal(out: DeviceSamples, state: RNGState, mean: Floats, stddev: Floats) -> None:
    """Normally distributed numbers."""
    draw(out, _kernels.normal, state, mean, stddev)


def coin_flip(out: DeviceSamples, state: RNGState, probability: Floats) -> None:
    """Zeros, and ones with a given probability."""
    draw(out, _kernels.coin_flip, state, probability)


def beta(out: DeviceSamples, state: RNGState, alpha: Floats, beta: Floats) -> None:
    """Numbers that have a beta distribution."""
    draw(out, _kernels.beta, state, alpha, beta)


def choice(
    out: DeviceSamples, state: RNGState, entries: HostSamples, weights: HostSamples | None
) -> None:
    """Entries of arrays."""
    draw(out, _kernels.choice, state, entries, weights)
