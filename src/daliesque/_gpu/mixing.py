# SPDX-License-Identifier: Apache-2.0
"""Mixtures of samples on accelerators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .numbers import from_float, to_float
from .placement import on_device
from .ragged import Rows, elements_of, elementwise
from .samples import DeviceSamples


def mix(inputs: Sequence[Any], weights: NDArray[np.float32]) -> DeviceSamples:
    """Weighted sums of samples of equal shapes."""
    parts: list[DeviceSamples] = [on_device(part) for part in inputs]
    first = parts[0]

    others = [iter(elements_of(part, first)) for part in parts[1:]]

    def mixed(rows: Rows) -> torch.Tensor:
        own, *shares = rows.spread(*weights.T)
        total = to_float(rows.data, first.type_id) * own
        for share, elements in zip(shares, others, strict=True):
            total = torch.addcmul(total, to_float(next(elements), first.type_id), share)
        return from_float(total, first.type_id)

    return elementwise(first, mixed)


def overlay(samples: DeviceSamples, over: Any, mask: Any) -> DeviceSamples:
    """Pixels of others where masks are not 0."""
    others, masks = on_device(over), on_device(mask)

    pixels, shown = iter(elements_of(others, samples)), iter(elements_of(masks, samples))

    def covered(rows: Rows) -> torch.Tensor:
        return torch.where(next(shown).ne(0)[..., None], next(pixels), rows.data)

    return elementwise(samples, covered)
