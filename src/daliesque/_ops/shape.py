# SPDX-License-Identifier: Apache-2.0
"""Operators on the shape and the order of axes."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from .._engine.args import FloatsPerSample, Ints64PerSample, IntsPerSample
from .._engine.convert import to_stacked_numpy
from .._engine.dtype import DType, from_code
from .._engine.metadata import Call, NotKnown, Result, Shapes
from .._engine.op import Samples, op
from .._engine.samples import HostSamples
from .._shapes.windows import Floats, Integers, resolve_axes, round_half_away


def chosen_axes(
    axes: list[int] | None, axis_names: str | None, layout: str, ndim: int
) -> list[int] | None:
    """The axes that an operator was given by number or by name; None if it was given neither."""
    if axes is not None and axis_names is not None:
        msg = "'axes' and 'axis_names' exclude each other. Give one of them."
        raise ValueError(msg)
    if axes is None and axis_names is None:
        return None
    if not axes and not axis_names:
        return []
    numbers = None if axes is None else np.array([axes], np.int32)
    found: list[int] = resolve_axes(numbers, axis_names, layout, ndim)[0].tolist()
    return found


def check_letters(layout: str, ndim: int) -> None:
    """Raise an error about a layout that does not suit the number of axes."""
    if layout and len(layout) != ndim:
        msg = f"'layout' needs {ndim} letters, one for each axis; got {layout!r}."
        raise ValueError(msg)


def _view_ndim(call: Call) -> int:
    if call.has_input(1):
        return int(call.other(1).shapes[0, 0])
    for name in ("shape", "rel_shape", "src_dims"):
        if call.has(name):
            return call.width(name)
    return call.input.ndim


def _view_layout(call: Call) -> str:
    given: str | None = call["layout"]
    if given is not None:
        return given
    layout = call.input.layout
    return layout if len(layout) == _view_ndim(call) else ""


def _view_type(call: Call) -> DType:
    dtype: DType = call["dtype"] if call.has("dtype") else call.input.dtype
    return dtype


def _view_shapes(call: Call) -> Shapes:
    metadata = call.input
    if call.has_input(1):
        raise NotKnown
    arguments = (call[name] for name in ("shape", "rel_shape", "src_dims"))
    wanted = _wanted_shapes(metadata.shapes, None, *arguments)
    old, new = (dtype.bytes for dtype in (metadata.dtype, _view_type(call)))
    if old != new and not call.has("shape") and not call.has("rel_shape"):
        wanted = _adjust_innermost(old, wanted, new)
    return _complete(metadata.shapes, wanted, old, new)


_VIEW = Result(ndim=_view_ndim, layout=_view_layout, shape=_view_shapes)


@op(result=_VIEW)
def reshape(
    data: Samples,
    shape_input: HostSamples | None = None,
    /,
    *,
    layout: str | None = None,
    rel_shape: FloatsPerSample | None = None,
    shape: Ints64PerSample | None = None,
    src_dims: IntsPerSample | None = None,
) -> Samples:
    """See the same data as an array of another shape or layout. Nothing is copied.

    Parameters
    ----------
    data
        What to reshape.
    shape_input
        The shape as an input, in place of `shape`.
    layout
        The layout of the result; "" for none. By default it stays if the number of axes does.
    rel_shape
        The shape relative to that of the input: ``input.shape[i] * rel_shape[i]``, rounded.
        Excludes `shape`. A last value of -1 may belong to a new axis at the end.
    shape
        The shape. One extent may be negative: it becomes what the amount of data asks for.
    src_dims
        The axes of the input whose extents are the shape, or that `rel_shape` refers to; -1 stands
        for a new axis of extent 1.

    Differs from DALI: `src_dims` works, which the dynamic mode of DALI 2.4 ignores.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.zeros(shape=[480, 640, 3])
    >>> ndd.reshape(image, shape=[240, -1]).shape
    (240, 3840)
    >>> ndd.reshape(image, src_dims=[-1, 0, 1, 2]).shape
    (1, 480, 640, 3)
    """
    if shape_input is None and shape is None and rel_shape is None:
        if layout is None and src_dims is None:
            msg = "nothing to do. Give a shape or a layout."
            raise ValueError(msg)
    wanted = _wanted_shapes(data.shape_array(), shape_input, shape, rel_shape, src_dims)
    return _view(data, data.type_id, wanted, layout)


@op(result=_VIEW)
def reinterpret(
    data: Samples,
    shape_input: HostSamples | None = None,
    /,
    *,
    dtype: DType | None = None,
    layout: str | None = None,
    rel_shape: FloatsPerSample | None = None,
    shape: Ints64PerSample | None = None,
    src_dims: IntsPerSample | None = None,
) -> Samples:
    """See the same bytes as an array of another type, shape or layout. Nothing is copied.

    Parameters
    ----------
    data
        What to reinterpret.
    shape_input
        The shape as an input, in place of `shape`.
    dtype
        The new element type. If no shape is given, the innermost extent changes so that the number
        of bytes stays the same.
    layout, rel_shape, shape, src_dims
        As for `reshape`.

    Differs from DALI: `src_dims` works, which the dynamic mode of DALI 2.4 ignores.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.reinterpret(ndd.tensor([1, 256]), dtype=ndd.uint8).torch().tolist()
    [1, 0, 0, 0, 0, 1, 0, 0]
    """
    shapes_given = shape_input is not None or shape is not None or rel_shape is not None
    if not shapes_given and layout is None and src_dims is None and dtype is None:
        msg = "nothing to do. Give a type, a shape or a layout."
        raise ValueError(msg)
    wanted = _wanted_shapes(data.shape_array(), shape_input, shape, rel_shape, src_dims)
    if dtype is None:
        return _view(data, data.type_id, wanted, layout)
    size = dtype.bytes
    if not shapes_given and size != data.itemsize:
        wanted = _adjust_innermost(data.itemsize, wanted, size)
    return _view(data, dtype.code, wanted, layout)


def _wanted_shapes(
    current: Integers,
    shape_input: HostSamples | None,
    shape: Integers | None,
    rel_shape: Floats | None,
    src_dims: NDArray[np.int32] | None,
) -> Integers:
    """The shapes that arguments ask for; -1 where the extent follows from the amount of data."""
    if (shape_input is not None) + (shape is not None) + (rel_shape is not None) > 1:
        msg = "'shape', 'rel_shape' and a shape as an input exclude each other. Give one of them."
        raise ValueError(msg)
    count, ndim = current.shape
    if src_dims is not None:
        _check_sources(src_dims, ndim)
    if shape_input is not None:
        shape = _shape_rows(shape_input)
    if shape is not None:
        return np.broadcast_to(shape, (count, shape.shape[1]))
    if rel_shape is not None:
        sources = _relative_sources(rel_shape, src_dims, ndim)
    elif src_dims is not None:
        sources = src_dims
    else:
        return current
    # The last column stands for new axes.
    padded = np.concatenate([current, np.ones((count, 1), np.int64)], axis=1)
    chosen = np.broadcast_to(sources % (ndim + 1), (count, sources.shape[1]))
    extents = np.take_along_axis(padded, chosen, axis=1)
    if rel_shape is None:
        return extents
    shares = np.where(rel_shape < 0, np.float32(0), rel_shape)
    scaled = round_half_away((extents.astype(np.float32) * shares).astype(np.float64))
    return np.where(rel_shape < 0, -1, scaled)


def _check_sources(src_dims: NDArray[np.int32], ndim: int) -> None:
    outside = (src_dims < -1) | (src_dims >= ndim)
    if outside.any():
        msg = (
            f"'src_dims' must hold axes of the input, 0 to {ndim - 1}, or -1 for a new axis; "
            f"got {src_dims[outside][0]}."
        )
        raise ValueError(msg)


def _shape_rows(shape_input: HostSamples) -> Integers:
    """The shapes given as an input."""
    if from_code(shape_input.type_id).kind not in (DType.Kind.signed, DType.Kind.unsigned):
        found = from_code(shape_input.type_id)
        msg = f"the shape as an input must consist of integers; got {found.full_name}."
        raise ValueError(msg)
    if shape_input.ndim != 1 or not shape_input.uniform:
        msg = f"the shape as an input must be a list of integers; got {shape_input.shapes}."
        raise ValueError(msg)
    return to_stacked_numpy(shape_input).astype(np.int64)


def _relative_sources(
    rel_shape: Floats, src_dims: NDArray[np.int32] | None, ndim: int
) -> NDArray[np.int32]:
    """The axes whose extents are multiplied."""
    count = rel_shape.shape[1]
    if src_dims is not None:
        if count != src_dims.shape[1]:
            msg = f"'src_dims' and 'rel_shape' differ in length: {src_dims.shape[1]} and {count}."
            raise ValueError(msg)
        return src_dims
    inferred = count > 0 and bool((rel_shape[:, -1] < 0).all())
    if count > ndim + inferred:
        msg = (
            f"'rel_shape' has {count} values for an input with {ndim} axes. "
            "Say with 'src_dims' which axes they belong to."
        )
        raise ValueError(msg)
    return np.array([[axis if axis < ndim else -1 for axis in range(count)]], np.int32)


def _adjust_innermost(old_size: int, wanted: Integers, size: int) -> Integers:
    if wanted.shape[1] == 0:
        msg = f"a number of {old_size} bytes cannot become one of {size}. Give a shape."
        raise ValueError(msg)
    inner = wanted[:, -1] * old_size
    if (inner % size).any():
        sample = int(np.argmax(inner % size != 0))
        msg = (
            f"the innermost axis must hold a multiple of {size} bytes; got {inner[sample]} "
            f"(sample {sample}). Give a shape."
        )
        raise ValueError(msg)
    return np.concatenate([wanted[:, :-1], inner[:, None] // size], axis=1)


def _view(data: Samples, type_id: int, wanted: Integers, layout: str | None) -> Samples:
    ndim = wanted.shape[1]
    if layout is None:
        layout = data.layout if len(data.layout) == ndim else ""
    check_letters(layout, ndim)
    size = from_code(type_id).bytes
    shapes = _complete(data.shape_array(), wanted, data.itemsize, size)
    return data.reshape(type_id, shapes, layout)


def _complete(current: Integers, wanted: Integers, old_size: int, new_size: int) -> Integers:
    """Replace negative extents, and check that the number of bytes stays."""
    negative = wanted < 0
    have = current.prod(axis=1) * old_size
    if negative.any():
        if (negative.sum(axis=1) > 1).any():
            sample = int(np.argmax(negative.sum(axis=1) > 1))
            msg = f"only one extent may be negative; got {row(wanted, sample)} (sample {sample})."
            raise ValueError(msg)
        others = np.where(negative, 1, wanted).prod(axis=1) * new_size
        unknown = negative.any(axis=1) & (others == 0)
        if unknown.any():
            sample = int(np.argmax(unknown))
            msg = (
                f"the negative extent of {row(wanted, sample)} cannot be found, because another "
                f"one is 0 (sample {sample})."
            )
            raise ValueError(msg)
        wanted = np.where(negative, (have // np.maximum(others, 1))[:, None], wanted)
    bad = wanted.prod(axis=1) * new_size != have
    if bad.any():
        sample = int(np.argmax(bad))
        msg = (
            f"the amount of data must stay the same; got the shape {row(wanted, sample)} for "
            f"{row(current, sample)}"
            + (f" and items of {new_size} bytes for {old_size}" if new_size != old_size else "")
            + f" (sample {sample})."
        )
        raise ValueError(msg)
    return np.ascontiguousarray(wanted)


def row(shapes: Integers, sample: int) -> tuple[int, ...]:
    """The shape of a sample."""
    return tuple(shapes[sample].tolist())


def _squeezed_axes(call: Call) -> Shapes:
    """For each sample, or once for all, the axes that are removed."""
    axes, names = call["axes"], call["axis_names"]
    if names == "" or (axes is not None and axes.shape[1] == 0):
        return np.zeros((1, 0), np.int64)
    return resolve_axes(axes, names, call.input.layout, call.input.ndim)


def _squeezed_ndim(call: Call) -> int:
    if call["axis_names"] is None:
        return call.input.ndim - call.width("axes")
    return call.input.ndim - len(call["axis_names"])


def _squeezed_layout(call: Call) -> str:
    layout, removed = call.input.layout, _squeezed_axes(call)
    if not layout or (np.sort(removed) != np.sort(removed[:1])).any():
        return ""
    gone = removed[0].tolist()
    return "".join(letter for axis, letter in enumerate(layout) if axis not in gone)


def _squeezed_shapes(call: Call) -> Shapes:
    shapes, removed = call.input.shapes, _squeezed_axes(call)
    rows = max(len(shapes), len(removed))
    kept = np.ones((rows, shapes.shape[1]), np.bool_)
    np.put_along_axis(kept, np.broadcast_to(removed, (rows, removed.shape[1])), False, axis=1)
    return np.broadcast_to(shapes, kept.shape)[kept].reshape(rows, -1)


@op(result=Result(ndim=_squeezed_ndim, layout=_squeezed_layout, shape=_squeezed_shapes))
def squeeze(
    data: Samples,
    /,
    *,
    axes: IntsPerSample | None = None,
    axis_names: str | None = None,
) -> Samples:
    """Remove axes of extent 1. Nothing is copied.

    Parameters
    ----------
    data
        What to remove axes from.
    axes
        The axes to remove; negative ones count from the end.
    axis_names
        The same by letters of the layout. Excludes `axes`.

    Differs from DALI: `axes` works, which the dynamic mode of DALI 2.4 refuses.

    Examples
    --------
    >>> import daliesque as ndd
    >>> gray = ndd.zeros(shape=[480, 640, 1], layout="HWC")
    >>> ndd.squeeze(gray, axis_names="C").shape
    (480, 640)
    >>> ndd.squeeze(gray, axes=[-1]).layout
    'HW'
    """
    if axes is not None and axis_names is not None:
        msg = "'axes' and 'axis_names' exclude each other. Give one of them."
        raise ValueError(msg)
    if axes is None and axis_names is None:
        msg = "which axes? Give 'axes' or 'axis_names'."
        raise ValueError(msg)
    if axis_names == "" or (axes is not None and axes.shape[1] == 0):
        return data
    removed = resolve_axes(axes, axis_names, data.layout, data.ndim)
    current = data.shape_array()
    kept = np.ones((len(removed), data.ndim), np.bool_)
    np.put_along_axis(kept, removed, False, axis=1)
    width = data.ndim - removed.shape[1]
    shapes = current[np.broadcast_to(kept, current.shape)].reshape(len(data), width)
    bad = shapes.prod(axis=1) != current.prod(axis=1)
    if bad.any():
        sample = int(np.argmax(bad))
        gone = ~np.broadcast_to(kept, current.shape)[sample] & (current[sample] != 1)
        axis = int(np.argmax(gone))
        msg = (
            f"only axes of extent 1 can be removed; axis {axis} has {current[sample, axis]} "
            f"(sample {sample})."
        )
        raise ValueError(msg)
    layout = ""
    if data.layout and (kept == kept[0]).all():
        layout = "".join(itertools.compress(data.layout, kept[0]))
    return data.reshape(shapes, layout)


def _with_new_axes(layout: str, axes: list[int], names: str, ndim: int) -> str:
    if not axes:
        return layout
    if not names:
        return ""
    new, old = dict(zip(axes, names, strict=False)), iter(layout)
    return "".join(new[k] if k in new else next(old, "") for k in range(ndim))


def _expanded_layout(call: Call) -> str:
    axes, names, layout = call["axes"], call["new_axis_names"], call.input.layout
    return _with_new_axes(layout, axes, names, call.input.ndim + len(axes))


def _expanded_shapes(call: Call) -> Shapes:
    old, axes = call.input.shapes, call["axes"]
    ndim = old.shape[1] + len(axes)
    shapes = np.ones((len(old), ndim), np.int64)
    shapes[:, [axis for axis in range(ndim) if axis not in axes]] = old
    return shapes


@op(
    result=Result(
        ndim=lambda call: call.input.ndim + len(call["axes"]),
        layout=_expanded_layout,
        shape=_expanded_shapes,
    )
)
def expand_dims(
    data: Samples,
    /,
    *,
    axes: list[int],
    new_axis_names: str = "",
) -> Samples:
    """Insert axes of extent 1. Nothing is copied.

    Parameters
    ----------
    data
        What to insert axes into.
    axes
        The indices of the new axes in the shape of the result.
    new_axis_names
        The letters of the new axes in the layout, in the order of `axes`. Without them, the result
        has no layout.

    Examples
    --------
    >>> import daliesque as ndd
    >>> frame = ndd.zeros(shape=[480, 640, 3], layout="HWC")
    >>> video = ndd.expand_dims(frame, axes=[0], new_axis_names="F")
    >>> video.shape, video.layout
    ((1, 480, 640, 3), 'FHWC')
    """
    ndim = data.ndim + len(axes)
    if new_axis_names and len(new_axis_names) != len(axes):
        msg = (
            f"'new_axis_names' needs {len(axes)} letters, one for each new axis; "
            f"got {new_axis_names!r}."
        )
        raise ValueError(msg)
    if new_axis_names and data.ndim and not data.layout:
        msg = "'new_axis_names' needs an input with a layout. Leave it out, or give one."
        raise ValueError(msg)
    for axis in axes:
        if not 0 <= axis < ndim:
            msg = f"'axes' must lie in [0, {ndim - 1}], the axes of the result; got {axis}."
            raise ValueError(msg)
    if len(set(axes)) != len(axes):
        msg = f"'axes' must name each axis once; got {axes}."
        raise ValueError(msg)
    layout = _with_new_axes(data.layout, axes, new_axis_names, ndim)
    shapes = np.ones((len(data), ndim), np.int64)
    shapes[:, [axis for axis in range(ndim) if axis not in axes]] = data.shape_array()
    return data.reshape(shapes, layout)


def _order(call: Call) -> list[int]:
    return list(call["perm"] or range(call.input.ndim)[::-1])


def _transposed_layout(call: Call) -> str:
    layout = call.input.layout
    if call.has("output_layout"):
        given: str = call["output_layout"]
        return given
    if call["transpose_layout"] and layout:
        return "".join(layout[axis] for axis in _order(call))
    return layout


@op(result=Result(layout=_transposed_layout, shape=lambda call: call.input.shapes[:, _order(call)]))
def transpose(
    input: Samples,
    /,
    *,
    perm: tuple[int, ...] | None = None,
    transpose_layout: bool = True,
    output_layout: str | None = None,
) -> Samples:
    """Reorder the axes: axis ``k`` of the result is axis ``perm[k]`` of the input.

    Parameters
    ----------
    perm
        A permutation of the axes; by default their order is reversed.
    transpose_layout
        Reorder the letters of the layout, too; otherwise the layout stays as it is.
    output_layout
        The layout of the result, whatever `transpose_layout` says.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1, 2, 3], [4, 5, 6]]], layout="HWC")
    >>> planes = ndd.transpose(image, perm=[2, 0, 1])
    >>> planes.shape, planes.layout
    ((3, 1, 2), 'CHW')
    """
    ndim = input.ndim
    order = list(perm) if perm else list(range(ndim))[::-1]
    if sorted(order) != list(range(ndim)):
        msg = f"'perm' must hold each of the axes 0 to {ndim - 1} once; got {order}."
        raise ValueError(msg)
    layout = input.layout
    if output_layout is not None:
        if len(output_layout) != ndim:
            msg = f"'output_layout' needs {ndim} letters, one for each axis; got {output_layout!r}."
            raise ValueError(msg)
        layout = output_layout
    elif transpose_layout and layout:
        layout = "".join(layout[axis] for axis in order)
    return input.kernels.transpose(input, order, layout)
