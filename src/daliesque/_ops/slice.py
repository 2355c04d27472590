# SPDX-License-Identifier: Apache-2.0
"""Operators that add to the input: padding."""

from __future__ import annotations

from .._engine.args import FloatPerSample, IntsPerSample
from .._engine.metadata import Call, Result, Shapes
from .._engine.op import Samples, op
from .._shapes.windows import CONSTANT_BORDER, named_axes, pad_windows, shape_rows


def _padded_shapes(call: Call) -> Shapes:
    metadata = call.input
    which = named_axes(call["axes"], call["axis_names"], metadata.layout, metadata.ndim)
    return pad_windows(metadata.shapes, which, call["shape"], call["align"]).extents


@op(result=Result(shape=_padded_shapes))
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
    which = named_axes(axes, axis_names, input.layout, input.ndim)
    windows = pad_windows(shape_rows(input), which, shape, align)
    return input.kernels.slice(
        input,
        input.type_id,
        windows.anchors,
        windows.extents,
        CONSTANT_BORDER,
        fill_value.reshape(-1, 1),
        -1,
    )
