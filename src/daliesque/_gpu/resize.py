# SPDX-License-Identifier: Apache-2.0
"""Resampling on accelerators: one multiplication by a matrix of weights for each axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .gather import gathered
from .groups import Group
from .numbers import constant, from_float, rows, to_float
from .samples import DeviceSamples

Integers = NDArray[np.int64]


# Images of different sizes are padded to the largest, and resized together, unless that makes more
# than this many pixels of one.
_MOST_PADDING = 4
# From this many columns on, products with a matrix of weights from the left are efficient.
_WIDE_ROWS = 16


def resize(
    samples: DeviceSamples,
    type_id: int,
    first_axis: int,
    geometry: _kernels.ResizeGeometry,
    min_filters: NDArray[np.int32],
    mag_filters: NDArray[np.int32],
    antialias: bool,
) -> DeviceSamples:
    """Resample the axes of the geometry, from `first_axis` on."""
    axes = geometry.sizes.shape[1]
    inner = slice(first_axis, first_axis + axes)
    sizes = np.broadcast_to(geometry.sizes, (len(samples), axes))
    extents = samples.shape_array()[:, inner]
    together = _together(samples, inner).split(sizes)
    groups = []
    for indices, data in together.groups:
        shape = list(data.shape)
        shape[1 + first_axis : 1 + first_axis + axes] = sizes[indices[0]].tolist()
        if 0 in shape or data.numel() == 0:
            nothing = torch.zeros(shape, dtype=torch.float32, device=data.device)
            groups.append(Group(indices, from_float(nothing, type_id)))
            continue
        where = (geometry.sizes, geometry.starts, geometry.ends, min_filters, mag_filters)
        taps = _taps(extents[indices], [rows(v, indices) for v in where], antialias)
        groups.append(Group(indices, _resampled(data, samples.type_id, type_id, first_axis, taps)))
    return samples.made(groups, type_id=type_id)


def _together(samples: DeviceSamples, inner: slice) -> DeviceSamples:
    """The samples as one group if they differ in the resampled extents only, and not too much."""
    if len(samples.groups) < 2:
        return samples
    shapes = samples.shape_array()
    outer = np.delete(shapes, np.arange(samples.ndim)[inner], axis=1)
    if (outer != outer[0]).any() or shapes.min() == 0:
        return samples
    volume = len(shapes) * int(shapes.max(axis=0).prod())
    return samples.padded() if volume <= _MOST_PADDING * samples.volume else samples


def _taps(extents: Integers, where: list[NDArray[Any]], antialias: bool) -> list[Any]:
    """First inputs and weights for each axis; in a single row if all samples have the same."""
    if all((part == part[:1]).all() for part in (extents, *where)):
        extents, where = extents[:1], [part[:1] for part in where]
    sizes, starts, ends, shrinking, growing = (np.ascontiguousarray(part) for part in where)
    geometry = _kernels.ResizeGeometry.of(sizes, starts, ends)
    return _kernels.resample_taps(
        np.ascontiguousarray(extents), geometry, shrinking, growing, antialias
    )


def _resampled(
    data: torch.Tensor, source: int, target: int, first_axis: int, taps: list[Any]
) -> torch.Tensor:
    """The data with its axes resampled one after the other."""
    picks, blends = [], []
    for axis, (starts, weights) in enumerate(taps, first_axis + 1):
        if weights.shape[2] == 1:
            picks.append((axis, starts))
        else:
            blends.append((axis, starts, weights))
    if picks:
        choices: list[Integers] = [np.arange(extent)[None] for extent in data.shape[1:]]
        for axis, starts in picks:
            choices[axis - 1] = starts
        data = gathered(data, choices)
    if not blends and source == target:
        return data
    values = to_float(data, source)
    # What shrinks most goes first: the others then have less to do.
    for axis, starts, weights in sorted(blends, key=lambda b: b[1].shape[1] / data.shape[b[0]]):
        values = _blended(values, axis, starts, weights)
    return from_float(values, target)


def _blended(
    values: torch.Tensor, axis: int, starts: Integers, weights: NDArray[np.float32]
) -> torch.Tensor:
    """Weighted sums along an axis, with weights for each sample or for all."""
    count, outputs, taps = weights.shape
    extent = values.shape[axis]
    first = constant(starts, values)[:, :, None]
    inputs = (first + torch.arange(taps, device=values.device)).clamp(max=extent - 1)
    matrix = torch.zeros((count, outputs, extent), dtype=torch.float32, device=values.device)
    matrix = matrix.scatter_add(2, inputs, constant(weights, values))
    before, behind = values.shape[1:axis], values.shape[axis + 1 :]
    inner = int(np.prod(behind))
    flat = values.reshape(len(values), -1, extent, inner)
    if inner >= _WIDE_ROWS:
        product = torch.matmul(matrix[:, None], flat)
    else:
        # Few columns make poor products: rows of pixels become rows of a matrix.
        rows_of = flat.transpose(2, 3).reshape(len(values), -1, extent)
        product = torch.matmul(rows_of, matrix.transpose(1, 2))
        product = product.reshape(len(values), -1, inner, outputs).transpose(2, 3)
    return product.reshape(len(values), *before, outputs, *behind)
