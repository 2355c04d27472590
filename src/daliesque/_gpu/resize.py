# SPDX-License-Identifier: Apache-2.0
"""Resampling on accelerators: one multiplication by matrices of weights for each axis.

Results are made in blocks, each of which is a product of the inputs that it depends on with a
matrix of weights. One gather brings the inputs of all blocks together, for samples of similar size
at once, wherever their windows are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .buckets import buckets
from .gather import gathered_from
from .groups import by_row
from .numbers import constants, from_float, rows, to_float
from .ragged import compacted, separately
from .samples import DeviceSamples

Integers = NDArray[np.int64]

# Results in a block; fewer if each of them depends on many inputs, of which neighbors share most.
_BLOCK = 32
_SMALL_BLOCK = 16
_MANY_TAPS = 10


class _Geometry(NamedTuple):
    """Sizes, windows and filters: a row for each sample or one for all."""

    sizes: Integers
    starts: NDArray[np.float32]
    ends: NDArray[np.float32]
    min_filters: NDArray[np.int32]
    mag_filters: NDArray[np.int32]

    def of(self, indices: Integers) -> _Geometry:
        """Those of some samples."""
        return _Geometry(*(rows(part, indices) for part in self))


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
    where = _Geometry(geometry.sizes, geometry.starts, geometry.ends, min_filters, mag_filters)
    axes = range(first_axis, first_axis + where.sizes.shape[1])
    shapes = samples.shape_array()
    results = shapes.copy()
    results[:, axes] = where.sizes
    # Samples that differ along other axes, or have no elements, cannot be processed together.
    others = np.delete(shapes, axes, axis=1)
    empty = (shapes == 0).any(axis=1) | (results == 0).any(axis=1)
    keys = np.concatenate([others, empty[:, None]], axis=1)

    def run(part: DeviceSamples, indices: Integers) -> DeviceSamples:
        if empty[indices[0]]:
            made = DeviceSamples.empty(
                type_id, results[indices], part.layout, part.device, part.working_queue()
            )
            made.flat().zero_()
            return made
        return _resized(part, type_id, first_axis, where.of(indices), antialias)

    return separately(samples, keys, run, type_id)


def _resized(
    samples: DeviceSamples, type_id: int, first_axis: int, where: _Geometry, antialias: bool
) -> DeviceSamples:
    count = where.sizes.shape[1]
    axes = range(first_axis, first_axis + count)
    shapes = samples.shape_array()
    taps = _find_taps(shapes[:, axes], where, antialias)
    # How many inputs are gathered, along each axis.
    needed = np.stack([_Blocks.of(part).needed for part in taps], axis=1)
    needed = np.broadcast_to(needed, (len(samples), count))
    parts = []
    for indices in buckets(needed, int(np.delete(shapes[0], axes).prod())):
        blocks = [_Blocks.of(part.of(indices)) for part in taps]
        parts.append((indices, _resampled(samples, indices, type_id, first_axis, blocks)))
    sizes = np.broadcast_to(where.sizes, (len(samples), count))
    return compacted(samples, parts, sizes, first_axis, type_id)


class _Taps(NamedTuple):
    """For the results along an axis, the first input of each, and weights of it and the next ones.

    A row for each sample or one for all. Where a sample has fewer results, there is more than is
    needed, without weight.
    """

    starts: Integers
    weights: NDArray[np.float32]
    extents: Integers

    def of(self, indices: Integers) -> _Taps:
        """Those of some samples, with as many results as the largest has."""
        starts, weights, extents = (rows(part, indices) for part in self)
        used = (weights != 0).any(axis=0)
        return _Taps(
            starts[:, : _last(used.any(axis=1))],
            weights[:, : _last(used.any(axis=1)), : _last(used.any(axis=0))],
            extents,
        )


def _last(flags: NDArray[np.bool_]) -> int:
    """The number of flags up to the last that is set, at least 1."""
    found = np.flatnonzero(flags)
    return int(found[-1]) + 1 if len(found) else 1


def _find_taps(extents: Integers, where: _Geometry, antialias: bool) -> list[_Taps]:
    """What the native kernel resamples with, for each axis."""
    parts: list[NDArray[Any]] = [extents, *where]
    if all((part == part[:1]).all() for part in parts):
        parts = [part[:1] for part in parts]
    count = max(len(part) for part in parts)
    parts = [np.broadcast_to(part, (count, *part.shape[1:])) for part in parts]
    extents, sizes = parts[:2]
    found: list[tuple[Integers, list[Any]]] = []
    for indices in by_row(sizes):
        own, size, start, end, *filters = (np.ascontiguousarray(part[indices]) for part in parts)
        geometry = _kernels.ResizeGeometry.of(size, start, end)
        taps_of = _kernels.resample_taps(own, geometry, filters[0], filters[1], antialias)
        found.append((indices, taps_of))
    taps = []
    for axis in range(extents.shape[1]):
        shapes = [part[axis][1].shape[1:] for _, part in found]
        results, most = (max(extent) for extent in zip(*shapes, strict=True))
        starts = np.zeros((count, results), np.int64)
        weights = np.zeros((count, results, most), np.float32)
        for indices, part in found:
            first, own = part[axis]
            starts[indices, : own.shape[1]] = first
            # The blocks of what is not needed begin where others do.
            starts[indices, own.shape[1] :] = first[:, -1:]
            weights[indices, : own.shape[1], : own.shape[2]] = own
        taps.append(_Taps(starts, weights, extents[:, axis]))
    return taps


class _Blocks(NamedTuple):
    """Results along an axis in blocks, and the inputs that these depend on."""

    # Inputs of all blocks, one after the other: (samples, blocks * inputs).
    choices: Integers
    # Where the inputs of each result begin in those of its block: (samples, blocks, results).
    offsets: Integers
    weights: NDArray[np.float32]
    results: int

    @staticmethod
    def of(taps: _Taps) -> _Blocks:
        """Blocks for results with given taps."""
        starts, weights, extents = taps
        count, results, most = weights.shape
        if most == 1:
            # Each result is an input.
            choices = starts.clip(0, extents[:, None] - 1)
            return _Blocks(choices, np.zeros((count, 0, 0), np.int64), weights, results)
        size = min(results, _BLOCK if most <= _MANY_TAPS else _SMALL_BLOCK)
        number = -(-results // size)
        filled = np.pad(starts, ((0, 0), (0, number * size - results)), mode="edge")
        filled = filled.reshape(count, number, size)
        begins = filled.min(axis=2)
        width = int((filled.max(axis=2) - begins).max()) + most
        choices = (begins[:, :, None] + np.arange(width)).reshape(count, -1)
        choices = choices.clip(0, extents[:, None] - 1)
        return _Blocks(choices, filled - begins[:, :, None], weights, results)

    @property
    def needed(self) -> Integers:
        """How many inputs are gathered for each sample."""
        width = self.choices.shape[1]
        if self.offsets.size == 0:
            return np.full(len(self.choices), width)
        number, most = self.offsets.shape[1], self.weights.shape[2]
        spans = self.offsets.max(axis=(1, 2)) + most
        used = (self.weights != 0).any(axis=2).sum(axis=1)
        needed: Integers = spans * np.minimum(number, -(-used // self.offsets.shape[2]))
        return needed

    def blended(self, values: torch.Tensor, axis: int) -> torch.Tensor:
        """The results along an axis of what was gathered."""
        if self.offsets.size == 0:
            return values
        count, number, size = self.offsets.shape
        width = self.choices.shape[1] // number
        most = self.weights.shape[2]
        padding = number * size - self.results
        weights = np.pad(self.weights, ((0, 0), (0, padding), (0, 0)))
        taps = np.arange(most)
        first, steps, factors = constants(values, self.offsets, taps, weights)
        matrices = torch.zeros(
            (count, number, size, width), dtype=torch.float32, device=values.device
        )
        matrices = matrices.scatter(
            3, first[..., None] + steps, factors.reshape(count, number, size, most)
        )
        moved = values.movedim(axis, 1)
        rest = moved.shape[2:]
        product = torch.matmul(matrices, moved.reshape(len(values), number, width, -1))
        made = product.reshape(len(values), number * size, *rest).narrow(1, 0, self.results)
        return made.movedim(1, axis)


def _resampled(
    samples: DeviceSamples,
    indices: Integers,
    type_id: int,
    first_axis: int,
    blocks: list[_Blocks],
) -> torch.Tensor:
    """Some samples with their axes resampled one after the other, as far as the largest goes."""
    data = gathered_from(samples, indices, first_axis, [part.choices for part in blocks])
    if all(part.offsets.size == 0 for part in blocks) and samples.type_id == type_id:
        return data
    values = to_float(data, samples.type_id)
    # What shrinks most goes first: the others then have less to do.
    order = sorted(range(len(blocks)), key=lambda k: blocks[k].results / blocks[k].choices.shape[1])
    for axis in order:
        values = blocks[axis].blended(values, first_axis + axis + 1)
    return from_float(values, type_id).contiguous()
