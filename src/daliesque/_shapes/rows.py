# SPDX-License-Identifier: Apache-2.0
"""Batches of short rows (boxes, points, labels) as one array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.op import HostSamples, Samples
from .windows import Integers


def row_counts(samples: Samples, width: int) -> Integers:
    """How many rows of `width` elements each sample has."""
    counts: Integers = samples.shape_array().prod(axis=1) // max(width, 1)
    return counts


def rows_of(samples: HostSamples, width: int) -> NDArray[Any]:
    """All rows of all samples, one after the other; shares their memory if they lie together."""
    packed = samples if samples.packed else samples.copy()
    return to_numpy(packed.flat_view()).reshape(-1, max(width, 1))


def empty_rows(
    type_id: int, counts: Integers, shape: tuple[int, ...], layout: str = ""
) -> HostSamples:
    """Uninitialized samples with `counts` rows of the given shape."""
    tail = np.broadcast_to(np.array(shape, np.int64), (len(counts), len(shape)))
    shapes = np.concatenate([counts.reshape(-1, 1), tail], axis=1)
    return _kernels.empty(type_id, np.ascontiguousarray(shapes), layout, len(counts))


def spread(values: NDArray[Any], counts: Integers) -> NDArray[Any]:
    """An argument of samples as an argument of rows."""
    return values if len(values) == 1 else np.repeat(values, counts, axis=0)


def take_rows(samples: HostSamples, chosen: NDArray[Any], counts: Integers) -> HostSamples:
    """The chosen rows (numbered through all samples), of which sample i gets `counts[i]`."""
    tails = samples.shape_array()[:, 1:]
    if samples.ndim == 0 or (tails != tails[:1]).any():
        msg = f"rows of one batch must have one shape; got {samples.shapes}."
        raise ValueError(msg)
    shape = tuple(tails[0].tolist()) if len(tails) else (0,) * (samples.ndim - 1)
    out = empty_rows(samples.type_id, counts, shape, samples.layout)
    width = int(np.prod(shape, dtype=np.int64))
    if len(chosen) and width:
        rows_of(out, width)[...] = rows_of(samples, width)[chosen]
    return out
