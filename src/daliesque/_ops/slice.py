# SPDX-License-Identifier: Apache-2.0
"""Parts of arrays of any kind, and arrays padded to a shape."""

from __future__ import annotations

import numpy as np

from .._engine.args import FloatPerSample, FloatsPerSample, IntsPerSample
from .._engine.dtype import DType, float16, float32, from_code, full_names, uint8
from .._engine.enums import DALIImageType
from .._engine.metadata import Call, Metadata, NotKnown, Result, Shapes
from .._engine.op import Samples, op
from .._engine.samples import HostSamples
from .._shapes.slice_windows import SliceArguments, slice_windows
from .._shapes.windows import (
    Border,
    OutOfBounds,
    Windows,
    fill_row,
    fit_windows,
    named_axes,
    out_of_bounds,
    pad_windows,
    shape_rows,
)

# The layouts by which axes of inputs without one are found.
_IMPLIED_LAYOUTS = {2: "HW", 3: "HWC", 4: "DHWC"}
_SLICE_TYPES = (float32, float16, uint8)
ZERO = np.zeros((1, 1), np.float32)


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
        type_id=input.type_id,
        anchors=windows.anchors,
        shapes=windows.extents,
        border=Border.constant,
        fill=fill_value.reshape(-1, 1),
        channel_axis=-1,
    )


def implied_layout(data: Samples | Metadata) -> str:
    """The layout by which `slice` finds axes."""
    return data.layout or _IMPLIED_LAYOUTS.get(data.ndim, "")


def _sliced_shapes(call: Call) -> Shapes:
    if call["out_of_bounds_policy"] == "trim_to_shape" or call.has_input(1):
        raise NotKnown
    arguments = SliceArguments(*(call[name] for name in SliceArguments._fields))
    return slice_windows(
        call.input.shapes, implied_layout(call.input), arguments, None, None
    ).extents


@op(result=Result(dtype=("dtype", "output_dtype", "input"), shape=_sliced_shapes), by_sample=True)
def slice(
    data: Samples,
    anchor: HostSamples | None = None,
    shape_input: HostSamples | None = None,
    /,
    *,
    start: IntsPerSample | None = None,
    rel_start: FloatsPerSample | None = None,
    end: IntsPerSample | None = None,
    rel_end: FloatsPerSample | None = None,
    shape: IntsPerSample | None = None,
    rel_shape: FloatsPerSample | None = None,
    axes: IntsPerSample | None = None,
    axis_names: str = "WH",
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    out_of_bounds_policy: str = "error",
    fill_values: tuple[float, ...] = (0.0,),
    dtype: DType | None = None,
    image_type: DALIImageType | None = None,
    output_dtype: DType | None = None,
) -> Samples:
    """Take a part of arrays of any kind, given by begin and end or begin and shape.

    The part is described by keyword arguments, absolute or relative to the shape of the input, or
    by two more inputs, `anchor` and `shape_input`. What is left out reaches from the begin to the
    end of the axis.

    Parameters
    ----------
    anchor, shape_input
        Begin and shape of the part. Integers are absolute; floats are relative unless
        `normalized_anchor` or `normalized_shape` is False.
    start, rel_start
        Where the part begins, absolute or relative.
    end, rel_end, shape, rel_shape
        Where it ends, or how large it is; at most one of the four.
    axes
        The axes that these values belong to, in their order; negative ones count from the end, an
        empty list means all.
    axis_names
        The same by letters of the layout. The default, width and height, is used if `axes` is not
        given.
    normalized_anchor, normalized_shape
        Whether floats in `anchor` and `shape_input` are relative.
    out_of_bounds_policy, fill_values, dtype, image_type, output_dtype
        As in `crop`.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> image = ndd.as_tensor(np.zeros((480, 640, 3), np.uint8), layout="HWC")
    >>> ndd.slice(image, rel_start=[0.25, 0.25], shape=[100, 50]).shape
    (50, 100, 3)
    >>> ndd.slice(image, start=[10], axes=[0]).shape
    (470, 640, 3)
    """
    del image_type
    layout = implied_layout(data)
    shapes = shape_rows(data)
    arguments = SliceArguments(
        start,
        rel_start,
        end,
        rel_end,
        shape,
        rel_shape,
        axes,
        axis_names,
        normalized_anchor,
        normalized_shape,
    )
    windows = slice_windows(shapes, layout, arguments, anchor, shape_input)
    policy = out_of_bounds(out_of_bounds_policy)
    windows = fit_windows(windows, shapes, policy, "slice")
    return take_windows(data, windows, layout, policy, fill_values, dtype or output_dtype)


def take_windows(
    samples: Samples,
    windows: Windows,
    layout: str,
    policy: OutOfBounds,
    fill_values: list[float] | tuple[float, ...],
    dtype: DType | None,
) -> Samples:
    """A window of each sample, filled or continued where it leaves the sample."""
    own = from_code(samples.type_id)
    if dtype is not None and dtype != own and dtype not in _SLICE_TYPES:
        names = full_names(dict.fromkeys((own, *_SLICE_TYPES)))
        msg = f"'dtype' must be one of {names}; got {dtype.full_name}. Cast the result."
        raise ValueError(msg)
    fill, channel_axis = ZERO, -1
    if policy.action == "border" and policy.border == Border.constant:
        fill, channel_axis = fill_row(list(fill_values), layout, windows)
    return samples.kernels.slice(
        samples,
        type_id=samples.type_id if dtype is None else dtype.code,
        anchors=windows.anchors,
        shapes=windows.extents,
        border=policy.border,
        fill=fill,
        channel_axis=channel_axis,
    )
