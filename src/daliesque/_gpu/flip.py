# SPDX-License-Identifier: Apache-2.0
"""Samples on accelerators, mirrored."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .numbers import column, rows
from .samples import DeviceSamples

Integers = NDArray[np.int64]


def flip(samples: DeviceSamples, horizontal: Any, vertical: Any, depthwise: Any) -> DeviceSamples:
    """Samples mirrored along the axes W, H and D whose flags are set."""
    chosen = [
        (samples.layout.index(letter) + 1, flags != 0)
        for letter, flags in (("W", horizontal), ("H", vertical), ("D", depthwise))
        if letter in samples.layout
    ]

    def mirrored(data: torch.Tensor, indices: Integers) -> torch.Tensor:
        for axis, flags in chosen:
            data = flipped(data, axis, rows(flags, indices))
        return data

    return samples.mapped(mirrored)


def flipped(data: torch.Tensor, axis: int, flags: NDArray[np.bool_]) -> torch.Tensor:
    """Rows mirrored along an axis where their flag is set."""
    if not flags.any():
        return data
    if flags.all():
        return data.flip(axis)
    return torch.where(column(flags, np.arange(len(data)), data), data.flip(axis), data)
