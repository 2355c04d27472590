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
from .ragged import by_buckets
from .samples import DeviceSamples
from .shape import transpose
from .slice import (
    RaggedWindows,
    chosen_indices,
    enough,
    fill_values,
    outside_mask,
    windows,
)

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

    def finished(
        window: torch.Tensor, indices: Integers, outside: torch.Tensor | None
    ) -> torch.Tensor:
        """The window, normalized and filled."""
        values = to_float(window, samples.type_id)
        means, deviations = (rows(v, indices).astype(np.float64) for v in (mean, std))
        # As the native kernel does: the shift is part of the mean.
        center = means - shift * (deviations / scale) if shift else means + 0 * deviations
        values = (values - per_channel(center, values)) * per_channel(scale / deviations, values)
        out = from_float(values, type_id)
        if outside is None:
            return out
        filling = fill_values(rows(fill, indices), type_id, channel_axis, out)
        return torch.where(outside, filling, out)

    if not samples.uniform and samples.volume:
        source = RaggedWindows(samples, anchors, shapes, Border.constant)
        mirrored = (width_axis, mirror != 0)

        def compute(indices: Integers, padded: list[int]) -> torch.Tensor:
            window, outside = source.read(indices, padded, mirrored)
            return finished(window, indices, outside)

        made = by_buckets(samples, source.extents[:, : source.ragged], 0, compute, type_id)
        return transpose(made, permutation, layout)
    split, anchors, shapes = windows(samples, anchors, shapes)
    groups = []
    for indices, data in split.groups:
        choices, masks = chosen_indices(
            anchors[indices], shapes[indices], data.shape[1:], Border.constant
        )
        window = gathered(enough(data, masks), choices)
        out = finished(window, indices, outside_mask(masks, window))
        out = flipped(out, width_axis + 1, rows(mirror != 0, indices))
        groups.append(Group(indices, out.permute(order).contiguous()))
    return samples.made(groups, layout=layout, type_id=type_id)
