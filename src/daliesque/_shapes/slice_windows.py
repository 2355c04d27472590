# SPDX-License-Identifier: Apache-2.0
"""Windows given by begin and end or begin and shape, absolute or relative: slice, image_slice."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_stacked_numpy
from .._engine.samples import HostSamples
from .windows import (
    FaultKind,
    Floats,
    Integers,
    Windows,
    check_count,
    named_axes,
    raise_axis_fault,
    sample_note,
)


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


class _Bound(NamedTuple):
    """One end or the size: values for the axes, whether they are relative, the argument's name."""

    values: NDArray[Any]
    relative: bool
    name: str


def slice_windows(
    shapes: Integers,
    layout: str,
    arguments: SliceArguments,
    anchor: HostSamples | None,
    shape_input: HostSamples | None,
) -> Windows:
    """The windows that the arguments or the inputs `anchor` and `shape_input` describe."""
    axes, axis_names = arguments.axes, arguments.axis_names
    if axes is not None and axis_names not in ("", "WH"):
        msg = "'axes' and 'axis_names' exclude each other. Give one of them."
        raise ValueError(msg)
    which = named_axes(axes, axis_names, layout, shapes.shape[1])
    begin = _one_of(arguments, ("start", "rel_start"))
    end = _one_of(arguments, ("end", "rel_end", "shape", "rel_shape"))
    if anchor is not None or shape_input is not None:
        if anchor is None or shape_input is None:
            msg = "the inputs 'anchor' and 'shape_input' belong together. Give both."
            raise ValueError(msg)
        given = begin or end
        if given is not None:
            msg = f"the input 'anchor' and the argument '{given.name}' exclude each other."
            raise ValueError(msg)
        begin = _from_input(anchor, arguments.normalized_anchor, "anchor")
        size = _from_input(shape_input, arguments.normalized_shape, "shape_input")
        return _windows(shapes, which, begin, None, size, single_precision=False)
    if begin is None and end is None and all(value is None for value in arguments[:6]):
        msg = "the part to take is missing. Give 'start', 'end', 'shape' or a relative form."
        raise ValueError(msg)
    # The reference multiplies relative arguments in single precision, which decides how an extent
    # that lies just at a half is rounded.
    if end is not None and end.name in ("shape", "rel_shape"):
        return _windows(shapes, which, begin, None, end, single_precision=True)
    return _windows(shapes, which, begin, end, None, single_precision=True)


def _one_of(arguments: SliceArguments, names: tuple[str, ...]) -> _Bound | None:
    """The one argument that is given, if any; an empty list counts as not given."""
    found = None
    for name in names:
        values = getattr(arguments, name)
        if values is None or values.shape[1] == 0:
            continue
        if found is not None:
            msg = f"'{found.name}' and '{name}' exclude each other. Give one of them."
            raise ValueError(msg)
        found = _Bound(values, name.startswith("rel_"), name)
    return found


def _from_input(samples: HostSamples, normalized: bool, name: str) -> _Bound:
    """An input of coordinates; integers are always absolute."""
    if not samples.uniform:
        msg = f"'{name}' needs equally many values for each sample; got {samples.shapes}."
        raise ValueError(msg)
    values = to_stacked_numpy(samples)
    values = values.reshape(len(samples), -1 if len(samples) else 1)
    return _Bound(values, normalized and values.dtype.kind not in "iu", name)


def _windows(
    shapes: Integers,
    axes: NDArray[np.int32],
    begin: _Bound | None,
    end: _Bound | None,
    size: _Bound | None,
    single_precision: bool,
) -> Windows:
    anchors, extents, fault = _kernels.slice_windows(
        shapes=shapes,
        axes=axes,
        begin=_coordinates(begin, axes),
        end=_coordinates(end, axes),
        size=_coordinates(size, axes),
        relative=(
            begin is not None and begin.relative,
            end is not None and end.relative,
            size is not None and size.relative,
        ),
        single_precision=single_precision,
    )
    if fault is not None:
        note = sample_note(fault.sample, len(anchors))
        if fault.kind == FaultKind.negative_size and size is not None:
            msg = f"'{size.name}' must not be negative; got {fault.value:g}{note}."
            raise ValueError(msg)
        if fault.kind == FaultKind.order:
            msg = (
                f"the end must not lie before the begin, {fault.value:g}, along axis "
                f"{fault.axis}{note}."
            )
            raise ValueError(msg)
        raise_axis_fault(fault.kind, fault.value, shapes.shape[1])
    return Windows(anchors, extents)


def _coordinates(bound: _Bound | None, axes: NDArray[np.int32]) -> NDArray[np.float64] | None:
    if bound is None:
        return None
    check_count(bound.values, axes, bound.name)
    return bound.values.astype(np.float64)
