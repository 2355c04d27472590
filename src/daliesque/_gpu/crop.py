# SPDX-License-Identifier: Apache-2.0
"""Windows of images on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .flip import flipped
from .gather import Border, gathered
from .groups import Group
from .numbers import constant, from_float, rows, to_float
from .samples import DeviceSamples
from .slice import chosen_indices, enough, fill_values, filled, windows

Integers = NDArray[np.int64]


def crop_mirror_normalize(
    samples: DeviceSamples,
    type_id: int,
    anchors: Integers,
    shapes: Integers,
    permutation: list[int],
    layout: str,
    mirror: NDArray[np.int32],
    mean: NDArray[np.float32],
    std: NDArray[np.float32],
    scale: float,
    shift: float,
    fill: NDArray[np.float32],
    width_axis: int,
    channel_axis: int,
) -> DeviceSamples:
    """A window of each sample, normalized, mirrored, and with its axes in another order."""
    split, anchors, shapes = windows(samples, anchors, shapes)
    order = (0, *(axis + 1 for axis in permutation))
    shape = [1] * (samples.ndim + 1)

    def per_channel(values: NDArray[Any], data: torch.Tensor) -> torch.Tensor:
        wide = values
        if 1 < values.shape[1] < data.shape[channel_axis + 1]:
            # Channels that only the output has are fill, whatever they are normalized with.
            missing = data.shape[channel_axis + 1] - values.shape[1]
            wide = np.pad(values, ((0, 0), (0, missing)), constant_values=1)
        spread = shape.copy()
        spread[0], spread[channel_axis + 1] = wide.shape
        return constant(wide.astype(np.float32), data).reshape(spread)

    groups = []
    for group in split.groups:
        indices = group.indices
        choices, outside = chosen_indices(
            anchors[indices], shapes[indices], group.data.shape[1:], Border.constant
        )
        window = to_float(gathered(enough(group.data, outside), choices), samples.type_id)
        means, deviations = (rows(v, indices).astype(np.float64) for v in (mean, std))
        # As the native kernel does: the shift is part of the mean.
        center = means - shift * (deviations / scale) if shift else means + 0 * deviations
        window = (window - per_channel(center, window)) * per_channel(scale / deviations, window)
        out = from_float(window, type_id)
        if any(mask is not None for mask in outside):
            values = fill_values(rows(fill, indices), type_id, channel_axis, out)
            out = filled(out, outside, values)
        out = flipped(out, width_axis + 1, rows(mirror != 0, indices))
        groups.append(Group(indices, out.permute(order).contiguous()))
    return samples.made(groups, layout=layout, type_id=type_id)
