# SPDX-License-Identifier: Apache-2.0
"""What the resize operators share: sizes, regions and filters, from arguments to kernel calls.

Everything here works on arrays with a row for each sample, or a single row that serves all.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.dtype import DType, float32, from_code
from .._engine.enums import DALIInterpType
from .._engine.errors import OpError, join_names
from .windows import shape_rows

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]
Filters: TypeAlias = NDArray[np.int32]

_MODES = {"default": 0, "stretch": 1, "not_larger": 2, "not_smaller": 3}
_ROUNDINGS = {"round": 0, "truncate": 1, "ceil": 2}
_LARGEST = 2**31 - 1


class Geometry(NamedTuple):
    """Where each axis is sampled: `sizes` outputs from the input interval [starts, ends)."""

    sizes: Integers
    starts: Floats
    ends: Floats


class SizeArguments(NamedTuple):
    """The ways to ask resize and resize_crop_mirror for a size."""

    size: Floats | None
    resize_x: Floats | None
    resize_y: Floats | None
    resize_z: Floats | None
    resize_shorter: Floats | None
    resize_longer: Floats | None


class RegionArguments(NamedTuple):
    """How sizes are understood, and which part of the input they are for."""

    mode: str
    max_size: list[float] | None
    roi_start: Floats | None
    roi_end: Floats | None
    roi_relative: bool
    subpixel_scale: bool


class FilterArguments(NamedTuple):
    """How pixels between pixels are made."""

    interp_type: Filters
    min_filter: Filters | None
    mag_filter: Filters | None
    antialias: bool


def spatial_axes(layout: str) -> tuple[int, int]:
    """The first and the number of the axes that are space, neither frames nor channels."""
    count = 3 if "D" in layout else 2
    return layout.index("D" if count == 3 else "H"), count


def wanted_sizes(arguments: SizeArguments, axes: int, mode: str) -> tuple[Floats, str]:
    """The requested size of each axis (0 where there is none) and the mode they are meant in."""
    one_by_one = {
        "resize_z": arguments.resize_z,
        "resize_y": arguments.resize_y,
        "resize_x": arguments.resize_x,
    }
    methods = {
        "size": arguments.size is not None,
        "resize_x/resize_y/resize_z": any(x is not None for x in one_by_one.values()),
        "resize_shorter": arguments.resize_shorter is not None,
        "resize_longer": arguments.resize_longer is not None,
    }
    given = [name for name, is_given in methods.items() if is_given]
    if len(given) != 1:
        got = " and ".join(given) or "none"
        msg = f"exactly one of {join_names(methods)} says how large; got {got}."
        raise ValueError(msg)
    if arguments.size is not None:
        return axis_values(arguments.size, axes, "size"), mode
    same = arguments.resize_longer if arguments.resize_shorter is None else arguments.resize_shorter
    if same is not None:
        if mode != "default":
            msg = f"'mode' and '{given[0]}' exclude each other; got the mode {mode!r}."
            raise ValueError(msg)
        mode = "not_larger" if arguments.resize_shorter is None else "not_smaller"
        return _finite(np.repeat(same.reshape(-1, 1), axes, axis=1), given[0]), mode
    rows = max(len(value) for value in one_by_one.values() if value is not None)
    sizes = np.zeros((rows, 3), np.float32)
    for axis, (name, value) in enumerate(one_by_one.items()):
        if value is not None:
            sizes[:, axis] = _finite(value, name)
    return np.ascontiguousarray(sizes[:, 3 - axes :]), mode


def axis_values(values: Floats, axes: int, name: str) -> Floats:
    """Check that an argument has a finite value for each axis; a single one serves all."""
    if values.shape[1] == 1 and axes != 1:
        values = np.repeat(values, axes, axis=1)
    if values.shape[1] != axes:
        msg = f"'{name}' needs {axes} values, one for each axis, or one for all; "
        raise ValueError(msg + f"got {values.shape[1]}: {values[0].tolist()}.")
    return _finite(values, name)


def _finite(values: Floats, name: str) -> Floats:
    if not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values).reshape(len(values), -1).all(axis=1)))
        msg = f"'{name}' must be finite; got {values[row].tolist()}{_at(row, values)}."
        raise ValueError(msg)
    return values


def _at(row: int, values: NDArray[Any]) -> str:
    return f" (sample {row})" if len(values) > 1 else ""


def find_geometry(
    shapes: Integers,
    first_axis: int,
    axes: int,
    sizes: Floats,
    region: RegionArguments,
    alignment: Floats | None = None,
    size_rounding: str = "round",
) -> Geometry:
    """Complete the sizes, round them, and find the region that each axis is sampled from."""
    if region.mode not in _MODES:
        msg = f"'mode' must be {join_names(_MODES)}; got {region.mode!r}."
        raise ValueError(msg)
    if size_rounding not in _ROUNDINGS:
        msg = f"'size_rounding' must be {join_names(_ROUNDINGS)}; got {size_rounding!r}."
        raise ValueError(msg)
    start, end = region.roi_start, region.roi_end
    if (start is None) != (end is None):
        msg = "'roi_start' and 'roi_end' go together; got only one of them."
        raise ValueError(msg)
    geometry = Geometry(
        *_kernels.resize_geometry(
            shapes,
            first_axis,
            axes,
            sizes,
            None if start is None else axis_values(start, axes, "roi_start"),
            None if end is None else axis_values(end, axes, "roi_end"),
            region.roi_relative,
            _limits(region.max_size, axes),
            alignment,
            _MODES[region.mode],
            _ROUNDINGS[size_rounding],
            region.subpixel_scale,
        )
    )
    _check_extents(geometry.sizes)
    return geometry


def _limits(max_size: list[float] | None, axes: int) -> list[float] | None:
    if max_size is None or len(max_size) == 0:
        return None
    if len(max_size) not in (1, axes):
        msg = f"'max_size' needs 1 or {axes} values; got {len(max_size)}: {list(max_size)}."
        raise ValueError(msg)
    return list(max_size) * (axes // len(max_size))


def _check_extents(sizes: Integers) -> None:
    if sizes.size and sizes.max() > _LARGEST:
        row = int(np.argmax(sizes.max(axis=1)))
        msg = f"a size of {int(sizes[row].max())} pixels is too large{_at(row, sizes)}."
        raise ValueError(msg)


def resample(
    samples: _kernels.Samples,
    first_axis: int,
    geometry: Geometry,
    filters: FilterArguments,
    dtype: DType | None,
) -> _kernels.Samples:
    """Resample the axes that the geometry describes."""
    given = from_code(samples.type_id)
    if dtype is not None and dtype not in (given, float32):
        msg = f"'dtype' must be that of the input ({given}) or float32; got {dtype}."
        raise ValueError(msg)
    shrinking = filters.interp_type if filters.min_filter is None else filters.min_filter
    growing = filters.interp_type if filters.mag_filter is None else filters.mag_filter
    for name in ("interp_type", "min_filter", "mag_filter"):
        _check_filters(getattr(filters, name), name)
    return _kernels.resize(
        samples,
        samples.type_id if dtype is None else dtype.code,
        first_axis,
        geometry.sizes,
        geometry.starts,
        geometry.ends,
        shrinking,
        growing,
        filters.antialias,
    )


def _check_filters(values: Filters | None, name: str) -> None:
    if values is None or not values.size:
        return
    if values.min() < 0 or values.max() >= len(DALIInterpType):
        unknown = (values < 0) | (values >= len(DALIInterpType))
        row = int(np.argmax(unknown))
        known = ", ".join(member.name for member in DALIInterpType)
        msg = f"'{name}' must be one of {known}; got {int(values[row])}{_at(row, values)}."
        raise ValueError(msg)


def crop_geometry(geometry: Geometry, anchors: Integers, extents: Integers) -> Geometry:
    """The geometry whose result is the given window of what `geometry` makes."""
    starts, ends = geometry.starts, geometry.ends
    scale = (ends - starts).astype(np.float64) / np.maximum(geometry.sizes, 1)
    offset = starts.astype(np.float64)
    return Geometry(
        np.ascontiguousarray(extents),
        (anchors * scale + offset).astype(np.float32),
        ((anchors + extents) * scale + offset).astype(np.float32),
    )


def mirror_geometry(geometry: Geometry, flags: NDArray[np.bool_]) -> Geometry:
    """The geometry that runs backwards along the axes whose flags are set."""
    return Geometry(
        geometry.sizes,
        np.where(flags, geometry.ends, geometry.starts),
        np.where(flags, geometry.starts, geometry.ends),
    )


def require_pixels(samples: _kernels.Samples, operator: str) -> None:
    """Refuse samples without elements."""
    shapes = shape_rows(samples)
    if shapes.size and shapes.min() == 0:
        row = int(np.argmax(shapes.min(axis=1) == 0))
        shape = tuple(shapes[row].tolist())
        msg = f"{operator}: an image without pixels, of shape {shape}{_at(row, shapes)}."
        raise OpError(msg)
