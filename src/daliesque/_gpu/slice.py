# SPDX-License-Identifier: Apache-2.0
"""Moving elements on accelerators: mirror, crop, pad, transpose, join."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.dtype import DType, float16, float32, from_code
from .numbers import column, constant, from_float, from_integer, rows, to_float, widened
from .placement import on_device
from .samples import DeviceSamples, Group, index_tensor

Integers = NDArray[np.int64]


# The border modes of the native core.
CONSTANT, CLAMP, REFLECT_1001, REFLECT_101, WRAP = range(5)


def flip(samples: DeviceSamples, horizontal: Any, vertical: Any, depthwise: Any) -> DeviceSamples:
    """Samples mirrored along the axes W, H and D whose flags are set."""
    chosen = [
        (samples.layout.index(letter) + 1, flags != 0)
        for letter, flags in (("W", horizontal), ("H", vertical), ("D", depthwise))
        if letter in samples.layout
    ]

    def mirrored(data: torch.Tensor, indices: Integers) -> torch.Tensor:
        for axis, flags in chosen:
            data = _flipped(data, axis, rows(flags, indices))
        return data

    return samples.mapped(mirrored)


def _flipped(data: torch.Tensor, axis: int, flags: NDArray[np.bool_]) -> torch.Tensor:
    """Rows mirrored along an axis where their flag is set."""
    if not flags.any():
        return data
    if flags.all():
        return data.flip(axis)
    return torch.where(column(flags, np.arange(len(data)), data), data.flip(axis), data)


def border_indices(positions: Integers, extent: int, border: int) -> Integers:
    """The indices in [0, extent) that positions stand for; -1 for a constant border."""
    inside = (positions >= 0) & (positions < extent)
    if border == CONSTANT or extent == 0:
        return np.where(inside, positions, -1)
    if border == CLAMP:
        return positions.clip(0, extent - 1)
    period = {WRAP: extent, REFLECT_1001: 2 * extent, REFLECT_101: 2 * extent - 2}[border]
    if period == 0:
        return np.zeros_like(positions)
    folded = positions % period
    mirrored = period - folded - (border == REFLECT_1001)
    return np.where(folded < extent, folded, mirrored)


def gathered(data: torch.Tensor, choices: list[Integers]) -> torch.Tensor:
    """Elements chosen along each axis by index, one row of them for each sample or for all."""
    for axis, chosen in enumerate(choices, 1):
        if len(chosen) == 1:
            data = _taken(data, axis, chosen[0])
    differing = [axis for axis, chosen in enumerate(choices, 1) if len(chosen) > 1]
    if not differing:
        return data
    # One gather over all axes up to the last that differs from sample to sample.
    last = differing[-1]
    index = [torch.arange(len(data), device=data.device).reshape(-1, *(1,) * last)]
    for axis in range(1, last + 1):
        shape = [1] * (last + 1)
        if axis in differing:
            chosen = choices[axis - 1]
            shape[0], shape[axis] = chosen.shape
            index.append(index_tensor(chosen, data.device).reshape(shape))
        else:
            shape[axis] = data.shape[axis]
            index.append(torch.arange(data.shape[axis], device=data.device).reshape(shape))
    return data[tuple(index)]


def _taken(data: torch.Tensor, axis: int, chosen: Integers) -> torch.Tensor:
    count = len(chosen)
    if count == 0:
        return data.narrow(axis, 0, 0)
    first = int(chosen[0])
    if np.array_equal(chosen, np.arange(first, first + count)):
        return data.narrow(axis, first, count)
    return data.index_select(axis, index_tensor(chosen, data.device))


def _chosen_indices(
    anchors: Integers, extents: Integers, shape: Any, border: int
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


def _filled(
    window: torch.Tensor, outside: list[NDArray[np.bool_] | None], fill: torch.Tensor
) -> torch.Tensor:
    """The window, with a value in place of what is outside of the input."""
    beyond = None
    for axis, mask in enumerate(outside):
        if mask is not None:
            spread = _spread(mask, axis, len(outside), window)
            beyond = spread if beyond is None else beyond | spread
    return window if beyond is None else torch.where(beyond, fill, window)


def _windows(
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
    return samples.made(groups)


def _enough(data: torch.Tensor, outside: list[NDArray[np.bool_] | None]) -> torch.Tensor:
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
    border: int,
    fill: NDArray[np.float32],
    channel_axis: int,
) -> DeviceSamples:
    """A window of each sample, which may leave it."""
    split, anchors, shapes = _windows(samples, anchors, shapes)
    groups = []
    for group in split.groups:
        choices, outside = _chosen_indices(
            anchors[group.indices], shapes[group.indices], group.data.shape[1:], border
        )
        window = gathered(_enough(group.data, outside), choices)
        window = _truncated(window, samples.type_id, type_id)
        if any(mask is not None for mask in outside):
            values = _fill_values(rows(fill, group.indices), type_id, channel_axis, window)
            window = _filled(window, outside, values)
        groups.append(Group(group.indices, window))
    return samples.made(groups, type_id=type_id)


def _fill_values(
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


def transpose(samples: DeviceSamples, permutation: list[int], layout: str) -> DeviceSamples:
    """Axes in another order."""
    order = (0, *(axis + 1 for axis in permutation))
    return samples.mapped(lambda data, _: data.permute(order).contiguous(), layout=layout)


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
    split, anchors, shapes = _windows(samples, anchors, shapes)
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
        choices, outside = _chosen_indices(
            anchors[indices], shapes[indices], group.data.shape[1:], CONSTANT
        )
        window = to_float(gathered(_enough(group.data, outside), choices), samples.type_id)
        means, deviations = (rows(v, indices).astype(np.float64) for v in (mean, std))
        # As the native kernel does: the shift is part of the mean.
        center = means - shift * (deviations / scale) if shift else means + 0 * deviations
        window = (window - per_channel(center, window)) * per_channel(scale / deviations, window)
        out = from_float(window, type_id)
        if any(mask is not None for mask in outside):
            values = _fill_values(rows(fill, indices), type_id, channel_axis, out)
            out = _filled(out, outside, values)
        out = _flipped(out, width_axis + 1, rows(mirror != 0, indices))
        groups.append(Group(indices, out.permute(order).contiguous()))
    return samples.made(groups, layout=layout, type_id=type_id)
