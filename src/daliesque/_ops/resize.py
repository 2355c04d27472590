# SPDX-License-Identifier: Apache-2.0
"""Operators that change the size of images, sequences, volumes and other arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import FloatPerSample, FloatsPerSample, InterpPerSample, IntPerSample
from .._engine.convert import to_stacked_numpy
from .._engine.dtype import DType, float32, int16, int32, uint8, uint16
from .._engine.enums import DALIImageType, DALIInterpType
from .._engine.metadata import Call, Result, Shapes
from .._engine.op import RandomState, Samples, op
from .._engine.outputs import Flag, Outputs
from .._shapes.resampling import (
    FilterArguments,
    Geometry,
    Integers,
    RegionArguments,
    SizeArguments,
    axis_values,
    crop_geometry,
    find_geometry,
    mirror_geometry,
    require_pixels,
    resample,
    spatial_axes,
    wanted_sizes,
)
from .._shapes.windows import (
    CropArguments,
    check_attempts,
    crop_windows,
    positive_range,
    resolve_axes,
    shape_rows,
)
from .crop import crop_extents

_LAYOUTS = "HWC FHWC CHW FCHW CFHW DHWC FDHWC CDHW FCDHW CFDHW"
_TYPES = (uint8, uint16, int16, float32)
_LINEAR = DALIInterpType.INTERP_LINEAR


def _resized_shapes(call: Call) -> Shapes:
    shapes, layout = call.input.shapes, call.input.layout
    sizes = SizeArguments(*(call[name] for name in SizeArguments._fields))
    region = RegionArguments(*(call[name] for name in RegionArguments._fields))
    geometry = resized_geometry(shapes, layout, sizes, region)
    return _with_sizes(shapes, *spatial_axes(layout), geometry.sizes)


def _with_sizes(shapes: Integers, first: int, axes: int, sizes: Integers) -> Integers:
    resized = np.repeat(shapes, len(sizes) if len(shapes) == 1 else 1, axis=0)
    resized[:, first : first + axes] = sizes
    return resized


def _spatial_count(call: Call) -> list[list[int]]:
    return [[spatial_axes(call.input.layout)[1]]]


@op(
    layouts=_LAYOUTS,
    dtypes=_TYPES,
    outputs=Outputs(1, Flag("save_attrs")),
    result=(
        Result(shape=_resized_shapes),
        Result(dtype=int32, ndim=1, shape=_spatial_count),
    ),
    weight=2,
    by_sample=True,
)
def resize(
    input: Samples,
    /,
    *,
    size: FloatsPerSample | None = None,
    resize_x: FloatPerSample | None = None,
    resize_y: FloatPerSample | None = None,
    resize_z: FloatPerSample | None = None,
    resize_shorter: FloatPerSample | None = None,
    resize_longer: FloatPerSample | None = None,
    mode: str = "default",
    max_size: list[float] | None = None,
    roi_start: FloatsPerSample | None = None,
    roi_end: FloatsPerSample | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    interp_type: InterpPerSample = _LINEAR,
    min_filter: InterpPerSample | None = None,
    mag_filter: InterpPerSample | None = None,
    antialias: bool = True,
    dtype: DType | None = None,
    save_attrs: bool = False,
    image_type: DALIImageType | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
) -> Samples | tuple[Samples, Samples]:
    """Resize images, the frames of sequences, or volumes.

    Each output pixel is a weighted mean of input pixels around the position it comes from. Pixels
    beyond the edge repeat the edge.

    Parameters
    ----------
    size
        Wanted extents, (height, width) or (depth, height, width), or one for all. 0 leaves an
        extent to `mode`; a negative extent mirrors. Fractions are rounded, see `subpixel_scale`.
    resize_x, resize_y, resize_z
        The same, one by one.
    resize_shorter, resize_longer
        Wanted length of the shorter or longer side; the aspect ratio is kept.
    mode
        "default": extents not given are scaled by the mean (geometric) of the others;
        "stretch": they stay; "not_larger" and "not_smaller": the aspect ratio is kept, and no
        extent gets larger (smaller) than given.
    max_size
        Limit of the extents, one for all axes or one each. It overrides "not_smaller" and
        `resize_shorter`, whose aspect ratio is kept.
    roi_start, roi_end
        Resize only this part of the input, in pixels, ordered as `size`. Where the start lies
        behind the end, the result is mirrored.
    roi_relative
        The region is given in fractions of the input's extents.
    subpixel_scale
        Where a size was rounded, take a slightly larger or smaller part of the input, around the
        center of the region, so that the scale is exactly what was asked for.
    interp_type
        Filter, of `daliesque.types`: INTERP_NN, INTERP_LINEAR, INTERP_CUBIC, INTERP_LANCZOS3,
        INTERP_TRIANGULAR (linear, widened when scaling down) or INTERP_GAUSSIAN.
    min_filter, mag_filter
        The filter for axes that shrink, and for others; by default `interp_type`.
    antialias
        Widen filters when scaling down, so that every input pixel counts.
    dtype
        Type of the result: that of the input or float32.
    save_attrs
        Also return the extents of the input, int32.
    image_type, minibatch_size, temp_buffer_hint
        Ignored.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> image = ndd.as_tensor(np.zeros((480, 640, 3), np.uint8), layout="HWC")
    >>> ndd.resize(image, size=[224, 224]).shape
    (224, 224, 3)
    >>> ndd.resize(image, resize_shorter=256).shape
    (256, 341, 3)

    Differs from DALI: regions that leave the image work with INTERP_NN, too, and filters may be
    mixed with INTERP_NN in regions.
    """
    del image_type, minibatch_size, temp_buffer_hint
    shapes = shape_rows(input)
    first, axes = spatial_axes(input.layout)
    sizes = SizeArguments(size, resize_x, resize_y, resize_z, resize_shorter, resize_longer)
    region = RegionArguments(mode, max_size, roi_start, roi_end, roi_relative, subpixel_scale)
    geometry = resized_geometry(shapes, input.layout, sizes, region)
    filters = FilterArguments(interp_type, min_filter, mag_filter, antialias)
    out = resample(input, first, geometry, filters, dtype)
    if not save_attrs:
        return out
    return out, _extents(shapes[:, first : first + axes], len(input))


def _extents(rows: Integers, count: int) -> Samples:
    out = _kernels.empty_uniform(int32.code, [rows.shape[1]], "", count)
    if count:
        to_stacked_numpy(out)[...] = rows
    return out


class TensorSizes(NamedTuple):
    """The arguments of tensor_resize that say how large the results are."""

    sizes: Any
    scales: Any
    axes: list[int] | None
    axis_names: str | None
    alignment: Any
    size_rounding: str


def tensor_geometry(
    shapes: Integers, layout: str, arguments: TensorSizes, region: RegionArguments
) -> Geometry:
    """What tensor_resize makes of arrays of the given shapes, for all axes."""
    sizes, scales, axes, axis_names, alignment, size_rounding = arguments
    ndim = shapes.shape[1]
    chosen = np.zeros(0, np.int64)
    if axes is None or axes:
        named = None if axes is None else np.array([axes], np.int32)
        chosen = resolve_axes(named, axis_names, layout, ndim)[0]
    extents = shapes.astype(np.float32)
    zero, one = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)

    def spread(values: Any, name: str, default: Any) -> Any:
        return None if values is None else _spread(values, chosen, name, default, ndim)

    wanted = spread(sizes, "sizes", extents)
    if wanted is None:
        wanted = spread(scales, "scales", one) * extents
    limits = None
    if region.max_size:
        # 0 sets no limit.
        limits = spread(np.array([region.max_size], np.float32), "max_size", zero)[0].tolist()
    whole = region._replace(
        max_size=limits,
        roi_start=spread(region.roi_start, "roi_start", zero),
        roi_end=spread(region.roi_end, "roi_end", one if region.roi_relative else extents),
    )
    aligned = spread(alignment, "alignment", zero)
    return find_geometry(shapes, 0, ndim, wanted, whole, aligned, size_rounding)


def _tensor_shapes(call: Call) -> Shapes:
    arguments = TensorSizes(*(call[name] for name in TensorSizes._fields))
    region = RegionArguments(*(call[name] for name in RegionArguments._fields))
    return tensor_geometry(call.input.shapes, call.input.layout, arguments, region).sizes


@op(dtypes=_TYPES, result=Result(shape=_tensor_shapes), weight=2)
def tensor_resize(
    input: Samples,
    /,
    *,
    sizes: FloatsPerSample | None = None,
    scales: FloatsPerSample | None = None,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    alignment: FloatsPerSample | None = None,
    size_rounding: str = "round",
    mode: str = "default",
    max_size: list[float] | None = None,
    roi_start: FloatsPerSample | None = None,
    roi_end: FloatsPerSample | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    interp_type: InterpPerSample = _LINEAR,
    min_filter: InterpPerSample | None = None,
    mag_filter: InterpPerSample | None = None,
    antialias: bool = True,
    dtype: DType | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
) -> Samples:
    """Resize arrays along any axes, of which the first and last to change enclose at most three.

    Parameters
    ----------
    sizes
        Wanted extents; 0 leaves an extent to `mode`, a negative one mirrors.
    scales
        Factors by which extents change, instead of `sizes`.
    axes, axis_names
        The axes that `sizes`, `scales`, `max_size`, `alignment` and the region are for, by number
        (negative ones count from the end) or by letters of the layout. All of them by default.
    alignment
        Where an extent was rounded, the point of the region, from 0 (start) to 1 (end), that keeps
        its position; one for all axes or one each. The center by default.
    size_rounding
        "round" (halves up), "truncate" or "ceil".
    mode, max_size, roi_start, roi_end, roi_relative, subpixel_scale
        As for `resize`. Scales work with the modes "default" and "stretch".
    interp_type, min_filter, mag_filter, antialias, dtype
        As for `resize`.
    minibatch_size, temp_buffer_hint
        Ignored.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> data = ndd.as_tensor(np.zeros((3, 100, 40), np.float32))
    >>> ndd.tensor_resize(data, scales=[0.5, 2], axes=[1, 2]).shape
    (3, 50, 80)
    """
    del minibatch_size, temp_buffer_hint
    if input.ndim == 0:
        msg = "the input must have at least one axis; got a scalar."
        raise ValueError(msg)
    if (sizes is None) == (scales is None):
        msg = "exactly one of 'sizes' and 'scales' says how large."
        raise ValueError(msg)
    if scales is not None and mode in ("not_larger", "not_smaller"):
        msg = f"'scales' and the mode {mode!r} exclude each other. Use 'sizes'."
        raise ValueError(msg)
    if axes is not None and axis_names is not None:
        msg = "'axes' and 'axis_names' exclude each other. Give one of them."
        raise ValueError(msg)
    if len(input) == 0:
        return input.empty_like(input.type_id if dtype is None else dtype.code)
    shapes = shape_rows(input)
    region = RegionArguments(mode, max_size, roi_start, roi_end, roi_relative, subpixel_scale)
    arguments = TensorSizes(sizes, scales, axes, axis_names, alignment, size_rounding)
    geometry = tensor_geometry(shapes, input.layout, arguments, region)
    first, geometry = _changing_axes(shapes, geometry)
    filters = FilterArguments(interp_type, min_filter, mag_filter, antialias)
    return resample(input, first, geometry, filters, dtype)


def _spread(values: Any, axes: Integers, name: str, default: Any, ndim: int) -> Any:
    """Values for some axes as values for all; the others get the default."""
    if len(axes):
        values = axis_values(values, len(axes), name)
    full = np.empty((max(len(values), len(default)), ndim), np.float32)
    full[...] = default
    full[:, axes] = values[:, : len(axes)]
    return full


def _changing_axes(shapes: Integers, geometry: Geometry) -> tuple[int, Geometry]:
    """Leave out axes at both ends that stay as they are; two at least remain if there are two."""
    stay = (
        (geometry.sizes == shapes)
        & (np.trunc(geometry.starts) == 0)
        & (np.trunc(geometry.ends) == shapes)
    ).all(axis=0)
    first, last = 0, shapes.shape[1]
    while last - first > 2 and stay[first]:
        first += 1
    while last - first > 2 and stay[last - 1]:
        last -= 1
    if last - first > 3:
        msg = (
            f"the axes that change must lie within three neighboring ones; got axes {first} to "
            f"{last - 1}. Resize in two steps."
        )
        raise ValueError(msg)
    kept = np.s_[:, first:last]
    return first, _kernels.ResizeGeometry.of(
        np.ascontiguousarray(geometry.sizes[kept]),
        np.ascontiguousarray(geometry.starts[kept]),
        np.ascontiguousarray(geometry.ends[kept]),
    )


def _resized_and_cropped(call: Call) -> Shapes:
    return crop_extents(call, _resized_shapes(call))


@op(
    layouts=_LAYOUTS,
    dtypes=_TYPES,
    result=Result(shape=_resized_and_cropped),
    weight=2,
    by_sample=True,
)
def resize_crop_mirror(
    input: Samples,
    /,
    *,
    size: FloatsPerSample | None = None,
    resize_x: FloatPerSample | None = None,
    resize_y: FloatPerSample | None = None,
    resize_z: FloatPerSample | None = None,
    resize_shorter: FloatPerSample | None = None,
    resize_longer: FloatPerSample | None = None,
    mode: str = "default",
    max_size: list[float] | None = None,
    roi_start: FloatsPerSample | None = None,
    roi_end: FloatsPerSample | None = None,
    roi_relative: bool = False,
    subpixel_scale: bool = True,
    crop: FloatsPerSample | None = None,
    crop_d: FloatPerSample = 0.0,
    crop_h: FloatPerSample = 0.0,
    crop_w: FloatPerSample = 0.0,
    crop_pos_x: FloatPerSample = 0.5,
    crop_pos_y: FloatPerSample = 0.5,
    crop_pos_z: FloatPerSample = 0.5,
    rounding: str = "round",
    mirror: IntPerSample = 0,
    interp_type: InterpPerSample = _LINEAR,
    min_filter: InterpPerSample | None = None,
    mag_filter: InterpPerSample | None = None,
    antialias: bool = True,
    dtype: DType | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
) -> Samples:
    """Resize, crop and mirror in one step; only pixels that are kept are computed.

    Parameters
    ----------
    size, resize_x, resize_y, resize_z, resize_shorter, resize_longer, mode, max_size
        The size before cropping, as for `resize`.
    roi_start, roi_end, roi_relative, subpixel_scale
        The part of the input to resize, as for `resize`.
    crop, crop_d, crop_h, crop_w, crop_pos_x, crop_pos_y, crop_pos_z, rounding
        The window of the resized image, as for `crop`. It may be larger than the image, whose edge
        pixels are repeated then.
    mirror
        Sum of 1 (left to right), 2 (top to bottom) and 4 (front to back).
    interp_type, min_filter, mag_filter, antialias, dtype
        As for `resize`.
    minibatch_size, temp_buffer_hint
        Ignored.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> image = ndd.as_tensor(np.zeros((480, 640, 3), np.uint8), layout="HWC")
    >>> ndd.resize_crop_mirror(image, resize_shorter=256, crop=[224, 224], mirror=1).shape
    (224, 224, 3)

    Differs from DALI: `mirror` means the same for all layouts.
    """
    del minibatch_size, temp_buffer_hint
    sizes = SizeArguments(size, resize_x, resize_y, resize_z, resize_shorter, resize_longer)
    region = RegionArguments(mode, max_size, roi_start, roi_end, roi_relative, subpixel_scale)
    window = CropArguments(
        crop, crop_d, crop_h, crop_w, crop_pos_x, crop_pos_y, crop_pos_z, rounding
    )
    geometry = cropped_geometry(shape_rows(input), input.layout, sizes, region, window, mirror)
    filters = FilterArguments(interp_type, min_filter, mag_filter, antialias)
    return resample(input, spatial_axes(input.layout)[0], geometry, filters, dtype)


def resized_geometry(
    shapes: Integers, layout: str, sizes: SizeArguments, region: RegionArguments
) -> Geometry:
    """What resize makes of arrays of the given shapes, for the axes that are space."""
    first, axes = spatial_axes(layout)
    wanted, mode = wanted_sizes(sizes, axes, region.mode)
    return find_geometry(shapes, first, axes, wanted, region._replace(mode=mode))


def cropped_geometry(
    shapes: Integers,
    layout: str,
    sizes: SizeArguments,
    region: RegionArguments,
    window: CropArguments,
    mirror: NDArray[np.int32],
) -> Geometry:
    """What resize_crop_mirror makes of arrays of the given shapes."""
    first, axes = spatial_axes(layout)
    geometry = resized_geometry(shapes, layout, sizes, region)
    resized = _with_sizes(shapes, first, axes, geometry.sizes)
    anchors, extents = crop_windows(resized, layout, window)
    space = np.s_[:, first : first + axes]
    geometry = crop_geometry(geometry, anchors[space], extents[space])
    if mirror.any():
        bits = 1 << np.arange(axes - 1, -1, -1)
        geometry = mirror_geometry(geometry, (mirror[:, None] & bits) != 0)
    return geometry


def _chosen_size(call: Call) -> Shapes:
    first, axes = spatial_axes(call.input.layout)
    size = call["size"]
    return _with_sizes(call.input.shapes, first, axes, np.array([[size[0], size[-1]]], np.int64))


@op(
    layouts="HWC CHW FHWC FCHW CFHW",
    dtypes=_TYPES,
    result=Result(shape=_chosen_size),
    weight=2,
    by_sample=True,
)
def random_resized_crop(
    input: Samples,
    /,
    *,
    rng: RandomState,
    size: list[int],
    random_aspect_ratio: tuple[float, ...] = (3 / 4, 4 / 3),
    random_area: tuple[float, ...] = (0.08, 1.0),
    num_attempts: int = 10,
    interp_type: InterpPerSample = _LINEAR,
    min_filter: InterpPerSample | None = None,
    mag_filter: InterpPerSample | None = None,
    antialias: bool = True,
    dtype: DType | None = None,
    minibatch_size: int = 32,
    temp_buffer_hint: int = 0,
) -> Samples:
    """Resize a window of random area and aspect ratio; the frames of a sequence share it.

    Parameters
    ----------
    size
        Extents of the result, (height, width) or one for both.
    random_aspect_ratio, random_area, num_attempts
        What windows are drawn from, as for `random_crop_generator`.
    interp_type, min_filter, mag_filter, antialias, dtype
        As for `resize`.
    minibatch_size, temp_buffer_hint
        Ignored.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> image = ndd.as_tensor(np.zeros((480, 640, 3), np.uint8), layout="HWC")
    >>> ndd.random_resized_crop(image, size=[224, 224]).shape
    (224, 224, 3)
    """
    del minibatch_size, temp_buffer_hint
    windows = RandomWindows(size, random_aspect_ratio, random_area, num_attempts)
    geometry = random_geometry(input, rng, windows)
    filters = FilterArguments(interp_type, min_filter, mag_filter, antialias)
    return resample(input, spatial_axes(input.layout)[0], geometry, filters, dtype)


class RandomWindows(NamedTuple):
    """The arguments of random_resized_crop that say what becomes of an image."""

    size: list[int]
    random_aspect_ratio: tuple[float, ...]
    random_area: tuple[float, ...]
    num_attempts: int


def random_geometry(input: Samples, rng: RandomState, arguments: RandomWindows) -> Geometry:
    """The windows that random_resized_crop draws, and the size that they get."""
    size, random_aspect_ratio, random_area, num_attempts = arguments
    if len(size) not in (1, 2) or min(size) < 0:
        msg = f"'size' needs a height and a width, or one extent for both; got {size}."
        raise ValueError(msg)
    require_pixels(input, "random_resized_crop")
    first, _ = spatial_axes(input.layout)
    images = np.ascontiguousarray(input.shape_array()[:, first : first + 2])
    aspect = positive_range(random_aspect_ratio, "random_aspect_ratio")
    area = positive_range(random_area, "random_area", or_zero=True)
    drawn = _kernels.random_crop(rng, images, aspect, area, check_attempts(num_attempts))
    anchors, extents = (to_stacked_numpy(part).astype(np.float32) for part in drawn)
    sizes = np.array([[size[0], size[-1]]], np.int64)
    if len(input) == 0:
        anchors = extents = np.zeros((1, 2), np.float32)
    return _kernels.ResizeGeometry.of(sizes, anchors, anchors + extents)
