# SPDX-License-Identifier: Apache-2.0
"""Mixtures of samples on accelerators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .numbers import column, from_float, to_float
from .placement import on_device
from .samples import DeviceSamples


def mix(inputs: Sequence[Any], weights: NDArray[np.float32]) -> DeviceSamples:
    """Weighted sums of samples of equal shapes."""
    parts: list[DeviceSamples] = [on_device(part) for part in inputs]
    first = parts[0]

    def mixed(data: torch.Tensor, indices: Any) -> torch.Tensor:
        total = to_float(data, first.type_id) * column(weights[:, :1], indices, data)
        for number, part in enumerate(parts[1:], 1):
            values = to_float(part.select(indices.tolist()).dense(), first.type_id)
            total = total + values * column(weights[:, number : number + 1], indices, data)
        return from_float(total, first.type_id)

    return first.mapped(mixed)


def overlay(samples: DeviceSamples, over: Any, mask: Any) -> DeviceSamples:
    """Pixels of others where masks are not 0."""
    others, masks = on_device(over), on_device(mask)

    def covered(data: torch.Tensor, indices: Any) -> torch.Tensor:
        chosen = indices.tolist()
        shown = masks.select(chosen).dense().ne(0)[..., None]
        return torch.where(shown, others.select(chosen).dense(), data)

    return samples.mapped(covered)
