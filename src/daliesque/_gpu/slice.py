# SPDX-License-Identifier: Apache-2.0
"""Parts of samples on accelerators, filled or continued beyond their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.dtype import DType, float16, float32, from_code
from .gather import Border, border_indices, gathered
from .groups import Group
from .numbers import constant, from_float, from_integer, rows, to_float, widened
from .samples import DeviceSamples

Integers = NDArray[np.int64]


def chosen_indices(
    anchors: Integers, extents: Integers, shape: Any, border: Border
) -> tuple[list[Integers], list[NDArray[np.bool_] | None]]:
    """For each axis, which elements a window consists of, and where it leaves the input."""
    choices, outside = [], []
    for axis, extent in enumerate(shape):
        begin = anchors[:, axis]
        if (begin == begin[0]).all():
            begin = begin[:1]
        positions = begin[:, None] + np.arange(int(extents[0, axis]))
        found = border_indices(positions, int(extent), border)
        missing = found < 0
        choices.append(np.where(missing, 0, found))
        outside.append(missing if missing.any() else None)
    return choices, outside


def _spread(mask: NDArray[np.bool_], axis: int, ndim: int, like: torch.Tensor) -> torch.Tensor:
    """A mask of (rows, elements of an axis), shaped to broadcast over a window."""
    shape = [1] * (ndim + 1)
    shape[0], shape[axis + 1] = mask.shape
    return constant(mask, like).reshape(shape)


def filled(
    window: torch.Tensor, outside: list[NDArray[np.bool_] | None], fill: torch.Tensor
) -> torch.Tensor:
    """The window, with a value in place of what is outside of the input."""
    beyond = None
    for axis, mask in enumerate(outside):
        if mask is not None:
            spread = _spread(mask, axis, len(outside), window)
            beyond = spread if beyond is None else beyond | spread
    return window if beyond is None else torch.where(beyond, fill, window)


def windows(
    samples: DeviceSamples, anchors: Integers, extents: Integers
) -> tuple[DeviceSamples, Integers, Integers]:
    """Windows for each sample, and groups in which they are equally large."""
    shape = (len(samples), samples.ndim)
    anchors, extents = np.broadcast_to(anchors, shape), np.broadcast_to(extents, shape)
    within = (anchors >= 0) & (anchors + extents <= samples.shape_array())
    if len(samples.groups) > 1 and within.all():
        return _cut(samples, anchors, extents), np.zeros_like(anchors), extents
    return samples.split(extents), anchors, extents


def _cut(samples: DeviceSamples, anchors: Integers, extents: Integers) -> DeviceSamples:
    """Windows inside of samples that differ in shape: where they are equally large, one group.

    The windows are views, so that a single copy puts all of them together.
    """
    groups = []
    for group in samples.groups:
        for row, index in enumerate(group.indices.tolist()):
            part = group.data[row : row + 1]
            window = zip(anchors[index].tolist(), extents[index].tolist(), strict=True)
            for axis, (begin, count) in enumerate(window, 1):
                part = part.narrow(axis, begin, count)
            groups.append(Group(np.array([index]), part))
    return samples.viewed(groups)


def enough(data: torch.Tensor, outside: list[NDArray[np.bool_] | None]) -> torch.Tensor:
    """The data; at least one element along axes that nothing is taken from."""
    for axis, mask in enumerate(outside, 1):
        if mask is not None and data.shape[axis] == 0:
            shape = list(data.shape)
            shape[axis] = 1
            data = data.new_zeros(shape)
    return data


def slice_samples(
    samples: DeviceSamples,
    type_id: int,
    anchors: Integers,
    shapes: Integers,
    border: Border,
    fill: NDArray[np.float32],
    channel_axis: int,
) -> DeviceSamples:
    """A window of each sample, which may leave it."""
    split, anchors, shapes = windows(samples, anchors, shapes)
    groups = []
    for group in split.groups:
        choices, outside = chosen_indices(
            anchors[group.indices], shapes[group.indices], group.data.shape[1:], border
        )
        window = gathered(enough(group.data, outside), choices)
        window = _truncated(window, samples.type_id, type_id)
        if any(mask is not None for mask in outside):
            values = fill_values(rows(fill, group.indices), type_id, channel_axis, window)
            window = filled(window, outside, values)
        groups.append(Group(group.indices, window))
    return samples.made(groups, type_id=type_id)


def fill_values(
    fill: NDArray[np.float32], type_id: int, channel_axis: int, like: torch.Tensor
) -> torch.Tensor:
    """Fill values in the type of the output, shaped to broadcast over it."""
    shape = [len(fill)] + [1] * (like.ndim - 1)
    if fill.shape[1] > 1:
        shape[channel_axis + 1] = fill.shape[1]
    return from_float(constant(fill, like).reshape(shape), type_id)


def _truncated(data: torch.Tensor, source: int, target: int) -> torch.Tensor:
    """Elements in another type, clamped and cut off as slicing does."""
    if source == target:
        return data
    old, new = from_code(source), from_code(target)
    if new is float32:
        return to_float(data, source)
    if new is float16:
        return to_float(data, source).clamp(-65504.0, 65504.0).to(torch.float16)
    if old.kind is DType.Kind.float:
        return from_float(data, target, truncate=True)
    return from_integer(widened(data, source), old.name == "u64", target)
