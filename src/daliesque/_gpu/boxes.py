# SPDX-License-Identifier: Apache-2.0
"""Boxes on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.convert import to_numpy
from .._ops.boxes import check_boxes
from .groups import Group
from .numbers import constant, last_true, rows
from .samples import DeviceSamples

Floats = NDArray[np.float32]


def bb_flip(
    boxes: DeviceSamples,
    /,
    *,
    horizontal: NDArray[np.int32],
    vertical: NDArray[np.int32],
    ltrb: bool,
) -> DeviceSamples:
    """Boxes mirrored in the unit square."""
    check_boxes(boxes)

    def flipped(data: torch.Tensor, indices: Any) -> torch.Tensor:
        table = data.reshape(len(data), -1, 4)
        flips = np.stack(np.broadcast_arrays(horizontal != 0, vertical != 0), axis=1)
        mirrored = constant(rows(flips, indices), data)[:, None]
        low, high = table[..., :2], table[..., 2:]
        if not ltrb:
            high = high + low
        new_low = torch.where(mirrored, 1 - high, low)
        new_high = torch.where(mirrored, 1 - low, high)
        if not ltrb:
            new_high = new_high - new_low
        return torch.cat([new_low, new_high], -1).reshape(data.shape)

    return boxes.mapped(flipped)


def _centered(boxes: torch.Tensor) -> torch.Tensor:
    """Centers and sizes."""
    low, high = boxes[..., :2], boxes[..., 2:]
    return torch.cat([0.5 * (high + low), high - low], -1)


def _overlaps(boxes: torch.Tensor, anchors: torch.Tensor) -> torch.Tensor:
    """Intersection over union of boxes (n, b, 4) with anchors (a, 4)."""
    own, others = boxes[:, :, None], anchors[None, None]
    low = torch.maximum(own[..., :2], others[..., :2])
    high = torch.minimum(own[..., 2:], others[..., 2:])
    common = (high - low).clamp(min=0).prod(-1)
    areas = [(part[..., 2:] - part[..., :2]).prod(-1) for part in (own, others)]
    overlap = common / (areas[0] + areas[1] - common)
    return torch.where(common == 0, torch.zeros_like(common), overlap)


def _last_greatest(values: torch.Tensor, axis: int) -> torch.Tensor:
    """The index of the last of the greatest elements; 0 if some are not numbers."""
    return last_true(values == values.amax(axis, keepdim=True), axis).clamp(min=0)


def encode_boxes(
    out_boxes: DeviceSamples,
    out_labels: DeviceSamples,
    boxes: DeviceSamples,
    labels: DeviceSamples,
    anchors: Any,
    criteria: float,
    offset: bool,
    scale: float,
    means: Floats,
    stds: Floats,
) -> None:
    """For each anchor the box that fits it best, relative to it if `offset`, and its label."""
    table = to_numpy(anchors)
    box_groups, label_groups = [], []
    for indices, data in boxes.groups:
        corners = constant(table, data)
        other = _centered(corners)[None].expand(len(data), -1, -1)
        plain = torch.zeros_like(other) if offset else other
        if data.shape[1] == 0 or len(table) == 0:
            found, classes = plain.clone(), plain.new_zeros(plain.shape[:2], dtype=torch.int32)
        else:
            overlaps = _overlaps(data, corners)
            # More than any overlap, so that the anchor is the box's unless a later box takes it.
            favorite = _last_greatest(overlaps, 2)[..., None]
            overlaps = overlaps.scatter(2, favorite, 2.0)
            owner = _last_greatest(overlaps, 1)
            matched = overlaps.amax(1) > criteria
            index = owner[..., None].expand(-1, -1, 4)
            own = _centered(data.gather(1, index))
            if offset:
                own = _relative(own * scale, other * scale, means, stds)
            found = torch.where(matched[..., None], own, plain)
            names = labels.select(indices.tolist()).dense().reshape(len(data), -1)
            classes = torch.where(matched, names.gather(1, owner), torch.zeros_like(names[:, :1]))
        box_groups.append(Group(indices, found))
        label_groups.append(Group(indices, classes))
    out_boxes.become(box_groups)
    out_labels.become(label_groups)


def _relative(own: torch.Tensor, other: torch.Tensor, means: Floats, stds: Floats) -> torch.Tensor:
    center = (own[..., :2] - other[..., :2]) / other[..., 2:]
    size = torch.log(own[..., 2:] / other[..., 2:])
    parts = torch.cat([center, size], -1)
    return (parts - constant(means, own)) / constant(stds, own)
