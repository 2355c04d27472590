# SPDX-License-Identifier: Apache-2.0
"""Samples on accelerators, joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .groups import Group
from .placement import on_device
from .samples import DeviceSamples


def concatenate(parts: list[Any], axis: int, layout: str) -> DeviceSamples:
    """Samples joined along an axis."""
    inputs: list[DeviceSamples] = [on_device(part) for part in parts]
    first = inputs[0]
    keys = np.concatenate([part.shape_array() for part in inputs], axis=1)
    groups = []
    for group in first.split(keys).groups:
        chosen = [part.select(group.indices.tolist()).dense() for part in inputs]
        groups.append(Group(group.indices, torch.cat(chosen, axis + 1)))
    return first.made(groups, layout=layout)
