# SPDX-License-Identifier: Apache-2.0
"""Windows given by begin and end or begin and shape, absolute or relative: slice, image_slice."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_stacked_numpy
from .windows import Floats, Integers, Windows, resolve_axes, round_half_away, values_for_axes


class SliceArguments(NamedTuple):
    """The arguments that slice and image_slice share."""

    start: NDArray[np.int32] | None
    rel_start: Floats | None
    end: NDArray[np.int32] | None
    rel_end: Floats | None
    shape: NDArray[np.int32] | None
    rel_shape: Floats | None
    axes: NDArray[np.int32] | None
    axis_names: str
    normalized_anchor: bool
    normalized_shape: bool


def slice_windows(
    shapes: Integers,
    layout: str,
    arguments: SliceArguments,
    anchor: _kernels.Samples | None,
    shape_input: _kernels.Samples | None,
) -> Windows:
    """The windows that the arguments or the inputs `anchor` and `shape_input` describe."""
    axes, axis_names = arguments.axes, arguments.axis_names
    if axes is not None and axis_names not in ("", "WH"):
        msg = "'axes' and 'axis_names' exclude each other. Give one of them."
        raise ValueError(msg)
    which = resolve_axes(axes, axis_names, layout, shapes.shape[1])
    taken = _extents_along(shapes, which)
    named = {
        "start": arguments.start,
        "rel_start": arguments.rel_start,
        "end": arguments.end,
        "rel_end": arguments.rel_end,
        "shape": arguments.shape,
        "rel_shape": arguments.rel_shape,
    }
    given = {
        name: values_for_axes(value, which, name)
        for name, value in named.items()
        if value is not None and value.shape[1] > 0
    }
    if anchor is None and shape_input is None:
        if all(value is None for value in named.values()):
            msg = "the part to take is missing. Give 'start', 'end', 'shape' or a relative form."
            raise ValueError(msg)
        begins, ends = _named_bounds(given, taken)
    else:
        if given:
            msg = f"the input 'anchor' and the argument '{next(iter(given))}' exclude each other."
            raise ValueError(msg)
        if anchor is None or shape_input is None:
            msg = "the inputs 'anchor' and 'shape_input' belong together. Give both."
            raise ValueError(msg)
        begins, ends = _input_bounds(
            _values_of(anchor, which, "anchor"),
            _values_of(shape_input, which, "shape_input"),
            taken,
            (arguments.normalized_anchor, arguments.normalized_shape),
        )
    return _windows_between(begins, ends, shapes, which)


def _extents_along(shapes: Integers, axes: Integers) -> Integers:
    """The extents of the chosen axes, of shape (1 or N, k)."""
    if len(axes) == 1:
        return shapes[:, axes[0]]
    rows = max(len(shapes), len(axes)) if len(shapes) else 0
    spread = np.broadcast_to(shapes, (rows, shapes.shape[1]))
    return np.take_along_axis(spread, axes[:rows], axis=1)


def _named_bounds(
    given: dict[str, NDArray[Any]], taken: Integers
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    for names in (("start", "rel_start"), ("end", "rel_end", "shape", "rel_shape")):
        both = [name for name in names if name in given]
        if len(both) > 1:
            msg = f"'{both[0]}' and '{both[1]}' exclude each other. Give one of them."
            raise ValueError(msg)
    for name in ("shape", "rel_shape"):
        if name in given and not (given[name] >= 0).all():
            msg = f"'{name}' must not be negative; got {given[name].ravel().tolist()}."
            raise ValueError(msg)
    # Products of single values are made in float32, as in the reference: they decide how an extent
    # that lies just at a half is rounded.
    single = taken.astype(np.float32)
    extents = taken.astype(np.float64)
    begins = np.zeros_like(extents)
    if "start" in given:
        begins = given["start"].astype(np.float64)
    elif "rel_start" in given:
        begins = (given["rel_start"] * single).astype(np.float64)
    ends = extents
    if "end" in given:
        ends = given["end"].astype(np.float64)
    elif "rel_end" in given:
        ends = (given["rel_end"] * single).astype(np.float64)
    elif "shape" in given:
        ends = begins + given["shape"]
    elif "rel_shape" in given and "rel_start" in given:
        ends = (given["rel_start"].astype(np.float64) + given["rel_shape"]) * extents
    elif "rel_shape" in given:
        ends = begins + given["rel_shape"] * single
    return begins, ends


def _values_of(samples: _kernels.Samples, axes: Integers, name: str) -> NDArray[Any]:
    """An input of coordinates as an array with a row for each sample."""
    if len(samples) and not samples.uniform:
        msg = f"'{name}' needs equally many values for each sample; got {samples.shapes}."
        raise ValueError(msg)
    values = to_stacked_numpy(samples).reshape(len(samples), -1 if len(samples) else 0)
    if len(samples) and values.shape[1] != axes.shape[1]:
        msg = f"'{name}' needs {axes.shape[1]} values, one for each axis; got {values.shape[1]}."
        raise ValueError(msg)
    return values


def _input_bounds(
    anchor: NDArray[Any], shape: NDArray[Any], taken: Integers, normalized: tuple[bool, bool]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    relative_anchor = normalized[0] and anchor.dtype.kind not in "iu"
    relative_shape = normalized[1] and shape.dtype.kind not in "iu"
    begins = anchor.astype(np.float64)
    sizes = shape.astype(np.float64)
    if relative_anchor and relative_shape:
        return begins * taken, (begins + sizes) * taken
    if relative_anchor:
        begins = begins * taken
    if relative_shape:
        sizes = sizes * taken
    return begins, begins + sizes


def _windows_between(
    begins: NDArray[np.float64], ends: NDArray[np.float64], shapes: Integers, axes: Integers
) -> Windows:
    begins, ends = np.broadcast_arrays(begins, ends)
    # Also false for NaN.
    usable = (np.abs(begins) < 2.0**62) & (np.abs(ends) < 2.0**62) & (ends >= begins)
    if not usable.all():
        row = int(np.argmin(usable.all(axis=1)))
        msg = (
            f"the end must not lie before the begin; got [{begins[row].tolist()}, "
            f"{ends[row].tolist()}) (sample {row})."
        )
        raise ValueError(msg)
    rows = 0 if len(shapes) == 0 else max(len(shapes), len(begins), len(axes))
    first = np.zeros((rows, shapes.shape[1]), np.int64)
    extents = np.broadcast_to(shapes, first.shape).copy()
    if rows:
        where = (np.arange(rows)[:, None], axes)
        first[where] = round_half_away(begins)
        extents[where] = round_half_away(ends) - first[where]
    return Windows(first, extents)
