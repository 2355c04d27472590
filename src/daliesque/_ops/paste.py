# SPDX-License-Identifier: Apache-2.0
"""Operators that add to the input: padding."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .._engine.args import FloatPerSample, IntsPerSample
from .._engine.op import Samples, op
from .windows import CONSTANT_BORDER, resolve_axes, shape_rows, values_for_axes


@op()
def pad(
    input: Samples,
    /,
    *,
    fill_value: FloatPerSample = 0.0,
    axes: IntsPerSample | None = None,
    axis_names: str | None = None,
    align: IntsPerSample | None = None,
    shape: IntsPerSample | None = None,
) -> Samples:
    """Pad at the end of axes, by default up to the largest extent in the batch.

    Parameters
    ----------
    fill_value
        The value to pad with.
    axes
        The axes to pad; negative ones count from the end. By default all.
    axis_names
        The same by letters of the layout. Excludes `axes`.
    align
        Extents become multiples of this: one value, or one for each of the axes.
    shape
        Smallest extents of the result, one for each of the axes. -1 stands for the largest extent
        in the batch, 1 for no padding except that for `align`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ragged = ndd.batch([[1, 2, 3], [4]])
    >>> ndd.pad(ragged, fill_value=-1).torch().tolist()
    [[1, 2, 3], [4, -1, -1]]
    >>> ndd.pad(ragged, shape=[1], align=[2]).shape
    [(4,), (2,)]
    """
    if axes is not None and axes.shape[1] and axis_names:
        msg = "'axes' and 'axis_names' exclude each other. Give one of them."
        raise ValueError(msg)
    which = resolve_axes(axes, axis_names, input.layout, input.ndim)
    shapes = shape_rows(input)
    wanted = np.full((1, 1), -1) if shape is None else values_for_axes(shape, which, "shape")
    steps = np.ones((1, 1), np.int64) if align is None else values_for_axes(align, which, "align")
    if not (steps > 0).all():
        msg = f"'align' must be positive; got {steps.ravel().tolist()}."
        raise ValueError(msg)
    rows = 0 if len(input) == 0 else max(len(rows) for rows in (shapes, which, wanted, steps))
    extents = np.broadcast_to(shapes, (rows, input.ndim)).copy()
    if rows:
        chosen = (np.arange(rows)[:, None], which)
        largest = np.broadcast_to(shapes.max(axis=0), extents.shape)[chosen]
        padded = np.maximum(extents[chosen], np.where(wanted > 0, wanted, largest))
        extents[chosen] = -(-padded // steps) * steps
    return _kernels.slice(
        input,
        input.type_id,
        np.zeros((1, input.ndim), np.int64),
        extents,
        CONSTANT_BORDER,
        fill_value.reshape(-1, 1),
        -1,
    )
