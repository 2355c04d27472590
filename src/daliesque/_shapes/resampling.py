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
from .._engine.samples import Samples
from .windows import shape_rows

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]
Filters: TypeAlias = NDArray[np.int32]
# Where each axis is sampled: `sizes` outputs from the input interval [starts, ends).
Geometry: TypeAlias = _kernels.ResizeGeometry

_MODES = {"default": 0, "stretch": 1, "not_larger": 2, "not_smaller": 3}
_ROUNDINGS = {"round": 0, "truncate": 1, "ceil": 2}
_FILTER_COUNT = len(DALIInterpType)


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
    depth = layout.find("D")
    return (layout.index("H"), 2) if depth < 0 else (depth, 3)


def wanted_sizes(arguments: SizeArguments, axes: int, mode: str) -> tuple[Floats, str]:
    """The requested size of each axis (0 where there is none) and the mode they are meant in."""
    size, x, y, z, shorter, longer = arguments
    one_by_one = x is not None or y is not None or z is not None
    ways = one_by_one + (size is not None) + (shorter is not None) + (longer is not None)
    if ways != 1:
        names = ("size", "resize_x, resize_y or resize_z", "resize_shorter", "resize_longer")
        msg = f"exactly one of {', '.join(names)} says how large; got {ways or 'none'} of them."
        raise ValueError(msg)
    if size is not None:
        return axis_values(size, axes, "size"), mode
    if one_by_one:
        return _join_sizes((z, y, x)[3 - axes :]), mode
    if mode != "default":
        msg = f"'mode' excludes 'resize_shorter' and 'resize_longer'; got the mode {mode!r}."
        raise ValueError(msg)
    if longer is not None:
        return np.repeat(longer[:, None], axes, axis=1), "not_larger"
    assert shorter is not None
    return np.repeat(shorter[:, None], axes, axis=1), "not_smaller"


def _join_sizes(parts: tuple[Floats | None, ...]) -> Floats:
    rows = max((len(part) for part in parts if part is not None), default=1)
    sizes = np.zeros((rows, len(parts)), np.float32)
    for axis, part in enumerate(parts):
        if part is not None:
            sizes[:, axis] = part
    return sizes


def axis_values(values: Floats, axes: int, name: str) -> Floats:
    """Check that an argument has a value for each axis; a single one serves all."""
    count = values.shape[1]
    if count == axes:
        return values
    if len(values) == 0:
        return np.zeros((0, axes), np.float32)
    if count == 1:
        return np.repeat(values, axes, axis=1)
    msg = f"'{name}' needs {axes} values, one for each axis, or one for all; "
    raise ValueError(msg + f"got {count}: {values[0].tolist()}.")


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
    geometry = _kernels.ResizeGeometry.find(
        shapes=shapes,
        first_axis=first_axis,
        axes=axes,
        sizes=sizes,
        roi_start=None if start is None else axis_values(start, axes, "roi_start"),
        roi_end=None if end is None else axis_values(end, axes, "roi_end"),
        roi_relative=region.roi_relative,
        max_size=_limits(region.max_size, axes),
        alignment=alignment,
        mode=_MODES[region.mode],
        rounding=_ROUNDINGS[size_rounding],
        subpixel_scale=region.subpixel_scale,
    )
    row = geometry.find_unusable()
    if row >= 0:
        raise _unusable(row, geometry, sizes, region)
    return geometry


def _limits(max_size: list[float] | None, axes: int) -> list[float] | None:
    if not max_size:
        return None
    if len(max_size) not in (1, axes):
        msg = f"'max_size' needs 1 or {axes} values; got {len(max_size)}: {list(max_size)}."
        raise ValueError(msg)
    return list(max_size) * (axes // len(max_size))


def _unusable(row: int, geometry: Geometry, sizes: Floats, region: RegionArguments) -> ValueError:
    where = _at(row, geometry.sizes)
    for name, values in (("roi_start", region.roi_start), ("roi_end", region.roi_end)):
        if values is not None and not np.isfinite(values).all():
            return ValueError(f"'{name}' must be finite; got {_row(values, row)}{where}.")
    got = _row(sizes, row)
    if not np.isfinite(got).all():
        return ValueError(f"sizes must be finite; got {got}{where}.")
    largest = int(geometry.sizes[row].max())
    return ValueError(f"a size of {largest} pixels is too large; asked for {got}{where}.")


def _row(values: NDArray[Any], row: int) -> list[Any]:
    chosen: list[Any] = values[row if len(values) > 1 else 0].tolist()
    return chosen


def _at(row: int, values: NDArray[Any]) -> str:
    return f" (sample {row})" if len(values) > 1 else ""


def resample(
    samples: Samples,
    first_axis: int,
    geometry: Geometry,
    filters: FilterArguments,
    dtype: DType | None,
) -> Samples:
    """Resample the axes that the geometry describes."""
    code = samples.type_id
    if dtype is not None and dtype.code != code:
        if dtype is not float32:
            given = from_code(code)
            msg = (
                f"'dtype' must be that of the input ({given.full_name}) or float32;"
                f" got {dtype.full_name}."
            )
            raise ValueError(msg)
        code = dtype.code
    common, shrinking, growing, antialias = filters
    _check_filters(common, "interp_type")
    if shrinking is None:
        shrinking = common
    else:
        _check_filters(shrinking, "min_filter")
    if growing is None:
        growing = common
    else:
        _check_filters(growing, "mag_filter")
    kernels = samples.kernels
    return kernels.resize(
        samples,
        type_id=code,
        first_axis=first_axis,
        geometry=geometry,
        min_filters=shrinking,
        mag_filters=growing,
        antialias=antialias,
    )


def _check_filters(values: Filters, name: str) -> None:
    if len(values) == 1 and 0 <= values.item() < _FILTER_COUNT:
        return
    unknown = (values < 0) | (values >= _FILTER_COUNT)
    if unknown.any():
        row = int(np.argmax(unknown))
        known = ", ".join(member.name for member in DALIInterpType)
        msg = f"'{name}' must be one of {known}; got {int(values[row])}{_at(row, values)}."
        raise ValueError(msg)


def crop_geometry(geometry: Geometry, anchors: Integers, extents: Integers) -> Geometry:
    """The geometry whose result is the given window of what `geometry` makes."""
    starts, ends = geometry.starts, geometry.ends
    scale = (ends - starts).astype(np.float64) / np.maximum(geometry.sizes, 1)
    offset = starts.astype(np.float64)
    return _kernels.ResizeGeometry.of(
        np.ascontiguousarray(extents),
        (anchors * scale + offset).astype(np.float32),
        ((anchors + extents) * scale + offset).astype(np.float32),
    )


def mirror_geometry(geometry: Geometry, flags: NDArray[np.bool_]) -> Geometry:
    """The geometry that runs backwards along the axes whose flags are set."""
    return _kernels.ResizeGeometry.of(
        geometry.sizes,
        np.where(flags, geometry.ends, geometry.starts),
        np.where(flags, geometry.starts, geometry.ends),
    )


def require_pixels(samples: Samples, operator: str) -> None:
    """Refuse samples without elements."""
    shapes = shape_rows(samples)
    if shapes.size and shapes.min() == 0:
        row = int(np.argmax(shapes.min(axis=1) == 0))
        shape = tuple(shapes[row].tolist())
        msg = f"{operator}: an image without pixels, of shape {shape}{_at(row, shapes)}."
        raise OpError(msg)
