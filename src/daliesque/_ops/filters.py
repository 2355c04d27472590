# SPDX-License-Identifier: Apache-2.0
"""Filters: weighted sums of neighboring pixels, and their median, maximum or minimum."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import (
    FloatPerFrame,
    FloatsPerFrame,
    IntPerFrame,
    IntsPerFrame,
    IntsPerSample,
)
from .._engine.convert import cast_samples, to_stacked_numpy
from .._engine.dtype import NUMERIC, DType, float32
from .._engine.errors import join_names
from .._engine.metadata import Call, Metadata, Result, Shapes
from .._engine.op import Samples, op
from .._engine.samples import HostSamples
from .._shapes.draws import as_rows
from .._shapes.windows import BORDERS, Border

_LAYOUTS = "HW HWC FHWC CHW FCHW"
Rank: TypeAlias = _kernels.Rank
_BORDER_NAMES = {
    "constant": "constant",
    "replicate": "clamp",
    "reflect": "reflect_1001",
    "reflect_101": "reflect_101",
    "wrap": "wrap",
}
_DEFAULT_SIZE = 3

# Axes that count images, spatial axes, and whether an axis of channels follows.
Axes: TypeAlias = tuple[int, int, bool]

_LONGEST_LAPLACIAN = 31
_LARGEST_SIGMA = 1e6
# Beyond these, memory or patience runs out before the result is there.
_LONGEST_GAUSSIAN = 2**24 - 1
_LONGEST_MEDIAN = 1023
_LONGEST_MASK = 4096
_LONGEST_MOTION = 255
_MOST_ITERATIONS = 65536
_FILTER_BORDERS = ("reflect_101", "reflect_1001", "wrap", "clamp", "constant")


def _type_id(input: Samples, dtype: DType | None) -> int:
    if dtype is None:
        return input.type_id
    if dtype not in NUMERIC:
        msg = f"'dtype' must be an integer or floating-point type; got {dtype.full_name}."
        raise ValueError(msg)
    return dtype.code


def _find_axes(input: Samples | Metadata) -> Axes:
    layout = input.layout
    if not layout:
        if not 1 <= input.ndim <= 3:
            msg = (
                f"without a layout the input must have 1 to 3 axes; got {input.ndim}. "
                'Give it a layout such as "HWC".'
            )
            raise ValueError(msg)
        return 0, input.ndim, False
    inner = layout.lstrip("CF")
    spatial = inner.removesuffix("C")
    outer = len(layout) - len(inner)
    if outer > 2 or not 1 <= len(spatial) <= 3 or set(spatial) & set("CF"):
        msg = (
            f"the layout {layout!r} is not supported. Use 1 to 3 spatial axes, with channels "
            "before or after them."
        )
        raise ValueError(msg)
    return outer, len(spatial), spatial != inner


def _check_width(name: str, values: NDArray[Any], axes: Axes) -> None:
    if len(values) and values.shape[1] not in (1, axes[1]):
        msg = (
            f"'{name}' needs one value, or one for each of the {axes[1]} spatial axes; got "
            f"{values.shape[1]}: {values[0].tolist()}."
        )
        raise ValueError(msg)


def _require(good: NDArray[np.bool_], name: str, rule: str, values: NDArray[Any]) -> None:
    """Raise an error about the first sample for which something is wrong."""
    if not good.all():
        sample = int(np.argmin(good.reshape(len(good), -1).all(axis=1)))
        shown = values[min(sample, len(values) - 1)].tolist()
        msg = f"'{name}' must be {rule}; got {shown} (sample {sample})."
        raise ValueError(msg)


@op(dtypes=NUMERIC, sequences=True, result=Result(shape="input"), weight=8, by_sample=True)
def gaussian_blur(
    input: Samples,
    /,
    *,
    sigma: FloatsPerFrame = (0.0,),
    window_size: IntsPerFrame = (0,),
    dtype: DType | None = None,
) -> Samples:
    """Blur with a Gaussian window.

    Every axis but frames (F) and channels (C, first or last) is blurred; beyond the edges the
    input is mirrored.

    Parameters
    ----------
    sigma
        Standard deviation of the window in pixels: one value, or one for each blurred axis from
        the outermost on. 0 stands for `0.3 * ((window_size - 1) / 2 - 1) + 0.8`.
    window_size
        Length of the window, odd: one value, or one for each axis. 0 stands for
        `2 * ceil(3 * sigma) + 1`.
    dtype
        Element type of the result; by default that of the input.

    Examples
    --------
    >>> line = ndd.tensor(np.array([0, 0, 0, 100, 0, 0, 0], np.uint8), layout="W")
    >>> ndd.gaussian_blur(line, sigma=1).torch().tolist()
    [1, 5, 24, 40, 24, 5, 1]
    """
    axes = _find_axes(input)
    _check_width("sigma", sigma, axes)
    _check_width("window_size", window_size, axes)
    _require((sigma >= 0) & (sigma <= _LARGEST_SIGMA), "sigma", "between 0 and a million", sigma)
    _require(
        (window_size == 0) | ((window_size > 0) & (window_size % 2 == 1)),
        "window_size",
        "odd and positive, or 0",
        window_size,
    )
    good = window_size <= _LONGEST_GAUSSIAN
    _require(good, "window_size", f"at most {_LONGEST_GAUSSIAN}", window_size)
    if len(sigma) and len(window_size):
        given = (sigma != 0) | (window_size != 0)
        _require(given, "sigma", "positive where 'window_size' is 0", sigma)
    return input.kernels.gaussian_blur(input, _type_id(input, dtype), axes, sigma, window_size)


@op(dtypes=NUMERIC, sequences=True, result=Result(shape="input"), weight=8, by_sample=True)
def laplacian(
    input: Samples,
    /,
    *,
    window_size: IntsPerFrame = (3,),
    smoothing_size: IntsPerFrame | None = None,
    scale: FloatsPerFrame | None = None,
    normalized_kernel: bool = False,
    dtype: DType | None = None,
) -> Samples:
    """Add up the second derivatives along all axes.

    Each derivative is smoothed along the other axes. Frames (F) and channels (C, first or last)
    are no such axes; beyond the edges the input is mirrored.

    Parameters
    ----------
    window_size
        Length of the windows that take derivatives, odd, 3 to 31: one value, or one for each axis.
    smoothing_size
        Length of the windows that smooth, odd, 1 to 31: one value, or one for each axis. By
        default as long as the window of the derivative; 1 does not smooth.
    scale
        Factors of the derivatives: one value, or one for each axis; 1 unless given.
    normalized_kernel
        Scale each derivative such that its window has unit gain; not together with `scale`.
    dtype
        Element type of the result; by default that of the input.

    Examples
    --------
    >>> line = ndd.tensor(np.array([0, 0, 5, 5, 5], np.float32), layout="W")
    >>> ndd.laplacian(line).torch().tolist()
    [0.0, 5.0, -5.0, 0.0, 0.0]
    """
    axes = _find_axes(input)
    for name, sizes, least in (
        ("window_size", window_size, 3),
        ("smoothing_size", smoothing_size, 1),
    ):
        if sizes is not None:
            _check_width(name, sizes, axes)
            good = (sizes >= least) & (sizes <= _LONGEST_LAPLACIAN) & (sizes % 2 == 1)
            _require(good, name, f"odd and between {least} and {_LONGEST_LAPLACIAN}", sizes)
    if scale is None:
        scale = np.ones((1, 1), np.float32)
    elif normalized_kernel:
        msg = "'scale' cannot be given together with 'normalized_kernel'."
        raise ValueError(msg)
    _check_width("scale", scale, axes)
    return input.kernels.laplacian(
        input,
        type_id=_type_id(input, dtype),
        axes=axes,
        window_size=window_size,
        smoothing_size=smoothing_size,
        scale=scale,
        normalized=normalized_kernel,
    )


def _filtered_shapes(call: Call) -> Shapes:
    shapes = call.input.shapes
    if call["mode"].lower() == "same":
        return shapes
    first, count, _ = _find_axes(call.input)
    shapes = shapes.copy()
    shapes[:, first : first + count] -= call.other(1).shapes - 1
    return shapes


@op(dtypes=NUMERIC, sequences=True, result=Result(shape=_filtered_shapes), weight=8)
def filter(
    data: Samples,
    filter: Samples,
    fill_value: HostSamples | None = None,
    /,
    *,
    anchor: IntsPerFrame = (-1,),
    border: str = "reflect_101",
    mode: str = "same",
    dtype: DType | None = None,
) -> Samples:
    """Replace each pixel by a weighted sum of its neighbors.

    The second input holds the weights: an array with an axis for each spatial axis of the data,
    not mirrored, for each sample or (layout "F...") each frame. The third input, a number for each
    sample or frame, is what lies outside a constant border; 0 unless given. Integer results are
    rounded, halves to even.

    Parameters
    ----------
    anchor
        The element of the window that lies over the pixel it is computed for: one value, or one
        for each spatial axis. -1 stands for the middle. Does not matter for mode "valid".
    border
        What lies beyond the edges: "reflect_101" (mirrored without the edge), "reflect_1001"
        (mirrored with it), "wrap", "clamp" or "constant".
    mode
        "same" keeps the size; "valid" drops what needs pixels beyond the edges.
    dtype
        Element type of the result; by default that of the data.

    Examples
    --------
    >>> image = ndd.tensor(np.arange(9, dtype=np.uint8).reshape(3, 3), layout="HW")
    >>> ndd.filter(image, np.ones((3, 3), np.float32), mode="valid").torch().tolist()
    [[36]]
    """
    axes = _find_axes(data)
    number = BORDERS.get(border.lower())
    if number is None:
        msg = f"'border' must be {join_names(_FILTER_BORDERS)}; got {border!r}."
        raise ValueError(msg)
    if mode.lower() not in ("same", "valid"):
        msg = f"'mode' must be 'same' or 'valid'; got {mode!r}."
        raise ValueError(msg)
    _check_windows(data, filter, axes)
    windows = filter.shape_array()
    shapes = data.shape_array()
    if mode.lower() == "valid":
        spatial = slice(axes[0], axes[0] + axes[1])
        _require(
            windows <= shapes[:, spatial],
            "filter",
            "no larger than the data in mode valid",
            windows,
        )
        shapes[:, spatial] -= windows - 1
    out = data.kernels.empty(_type_id(data, dtype), shapes, data.layout, len(data))
    data.kernels.filter(
        out,
        data,
        axes=axes,
        kernels=cast_samples(filter, float32),
        anchor=_anchor_rows(anchor, windows, axes),
        border=number,
        fill=_fill_values(fill_value),
    )
    return out


def _check_windows(data: Samples, filter: Samples, axes: Axes) -> None:
    if axes[1] == 1:
        msg = f"the data must have 2 or 3 spatial axes; got the layout {data.layout!r}."
        raise ValueError(msg)
    if filter.ndim != axes[1]:
        msg = (
            f"the filter needs an axis for each of the {axes[1]} spatial axes of the data; got "
            f"{filter.ndim}. Layouts say which axes are spatial."
        )
        raise ValueError(msg)
    if len(filter) != len(data):
        msg = f"one filter for each frame is needed; got {len(filter)} for {len(data)} frames."
        raise ValueError(msg)
    windows = filter.shape_array()
    _require(windows > 0, "filter", "not empty", windows)


def _anchor_rows(
    anchor: NDArray[np.int32], windows: NDArray[np.int64], axes: Axes
) -> NDArray[np.int32]:
    _check_width("anchor", anchor, axes)
    if len(anchor) == 0:
        return np.zeros((0, axes[1]), np.int32)
    _require((anchor >= -1) & (anchor < windows), "anchor", "-1 or inside the filter", anchor)
    return np.where(anchor < 0, windows // 2, anchor).astype(np.int32)


def _fill_values(fill_value: HostSamples | None) -> NDArray[np.float32]:
    if fill_value is None:
        return np.zeros(1, np.float32)
    if any(int(np.prod(shape)) != 1 for shape in fill_value.shapes):
        msg = f"the fill value must be one number; got the shapes {fill_value.shapes}."
        raise ValueError(msg)
    if len(fill_value) == 0:
        return np.zeros(0, np.float32)
    return np.ascontiguousarray(to_stacked_numpy(cast_samples(fill_value, float32)).reshape(-1))


def _axes(input: Samples) -> tuple[int, int, bool]:
    return int(input.layout.startswith("C")), 2, input.layout.endswith("C")


def _pairs(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """One value or two (width, height) for each sample, as two."""
    if len(values) and values.shape[1] not in (1, 2):
        msg = f"'{name}' needs one or two values (width, height); got {values[0].tolist()}."
        raise ValueError(msg)
    if len(values) == 0:
        return np.zeros((0, 2), np.int32)
    return np.ascontiguousarray(np.broadcast_to(values, (len(values), 2)), np.int32)


@op(
    name="experimental.median_blur",
    layouts=_LAYOUTS,
    dtypes=NUMERIC,
    sequences=True,
    result=Result(shape="input"),
    weight=8,
)
def median_blur(input: Samples, /, *, window_size: IntsPerSample = (3, 3)) -> Samples:
    """Replace each pixel by the median of its neighbors, channel by channel.

    Beyond the edges the outermost pixels are repeated. Runs on the GPU only in the reference.

    Parameters
    ----------
    window_size
        Width and height of the neighborhood, or one number for both. An even number of neighbors
        has no middle one: the next larger is taken.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[1, 2, 90, 3, 4]], np.uint8), layout="HW")
    >>> ndd.experimental.median_blur(image).torch().tolist()
    [[1, 2, 3, 4, 4]]
    """
    window = _pairs("window_size", window_size)
    _require(window > 0, "window_size", "positive", window)
    good = window <= _LONGEST_MEDIAN
    _require(good, "window_size", f"at most {_LONGEST_MEDIAN} along each axis", window)
    anchor = np.asarray(window // 2, np.int32)
    return input.kernels.rank_filter(
        input, _axes(input), Rank.median, window, anchor, BORDERS["clamp"]
    )


def _morphology(
    input: Samples,
    rank: Rank,
    mask_size: NDArray[Any],
    anchor: NDArray[Any],
    iterations: int,
    border_mode: str,
) -> Samples:
    if border_mode not in _BORDER_NAMES:
        msg = f"'border_mode' must be {join_names(_BORDER_NAMES)}; got {border_mode!r}."
        raise ValueError(msg)
    if not 1 <= iterations <= _MOST_ITERATIONS:
        rule = "positive" if iterations < 1 else f"at most {_MOST_ITERATIONS}"
        msg = f"'iterations' must be {rule}; got {iterations}."
        raise ValueError(msg)
    size = _pairs("mask_size", mask_size)
    anchors = _pairs("anchor", anchor)
    unset = (size == -1).any(axis=1, keepdims=True)
    size = np.where(unset, np.int32(_DEFAULT_SIZE), size)
    _require(size > 0, "mask_size", "positive", size)
    _require(size <= _LONGEST_MASK, "mask_size", f"at most {_LONGEST_MASK} along each axis", size)
    if len(anchors) and len(size):
        anchors = np.where(anchors < 0, size // 2, anchors)
        _require(anchors < size, "anchor", "inside the structuring element", anchors)
    border = BORDERS[_BORDER_NAMES[border_mode]]
    for _ in range(iterations):
        input = input.kernels.rank_filter(input, _axes(input), rank, size, anchors, border)
    return input


@op(
    name="experimental.dilate",
    layouts=_LAYOUTS,
    dtypes=NUMERIC,
    sequences=True,
    result=Result(shape="input"),
    weight=4,
)
def dilate(
    input: Samples,
    /,
    *,
    mask_size: IntsPerFrame = (3, 3),
    anchor: IntsPerFrame = (-1, -1),
    iterations: int = 1,
    border_mode: str = "constant",
) -> Samples:
    """Replace each pixel by the largest of its neighbors, channel by channel.

    Runs on the GPU only in the reference.

    Parameters
    ----------
    mask_size
        Width and height of the neighborhood (the structuring element), or one number for both.
    anchor
        The column and row of the structuring element that lie over the pixel; -1 stands for the
        middle.
    iterations
        How often to do it.
    border_mode
        What lies beyond the edges: "constant" (nothing that counts), "replicate", "reflect",
        "reflect_101" or "wrap".

    Examples
    --------
    >>> image = ndd.tensor(np.array([[0, 0, 9, 0, 0]], np.uint8), layout="HW")
    >>> ndd.experimental.dilate(image).torch().tolist()
    [[0, 9, 9, 9, 0]]
    """
    return _morphology(input, Rank.largest, mask_size, anchor, iterations, border_mode)


@op(
    name="experimental.erode",
    layouts=_LAYOUTS,
    dtypes=NUMERIC,
    sequences=True,
    result=Result(shape="input"),
    weight=4,
)
def erode(
    input: Samples,
    /,
    *,
    mask_size: IntsPerFrame = (3, 3),
    anchor: IntsPerFrame = (-1, -1),
    iterations: int = 1,
    border_mode: str = "constant",
) -> Samples:
    """Replace each pixel by the smallest of its neighbors, channel by channel.

    Runs on the GPU only in the reference.

    Parameters
    ----------
    mask_size
        Width and height of the neighborhood (the structuring element), or one number for both.
    anchor
        The column and row of the structuring element that lie over the pixel; -1 stands for the
        middle.
    iterations
        How often to do it.
    border_mode
        What lies beyond the edges: "constant" (nothing that counts), "replicate", "reflect",
        "reflect_101" or "wrap".

    Examples
    --------
    >>> image = ndd.tensor(np.array([[9, 9, 0, 9, 9, 9]], np.uint8), layout="HW")
    >>> ndd.experimental.erode(image).torch().tolist()
    [[9, 0, 0, 0, 9, 9]]
    """
    return _morphology(input, Rank.smallest, mask_size, anchor, iterations, border_mode)


def sharpened(input: Samples, magnitude: NDArray[np.float32]) -> Samples:
    """Images with more or less (negative) of what a smoothing window would take away."""
    blur = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], np.float32) / 13
    middle = np.zeros((3, 3), np.float32)
    middle[1, 1] = 1
    strength = magnitude[:, None, None]
    return _filtered(input, -strength * blur + (1 + strength) * middle)


def _filtered(input: Samples, windows: NDArray[np.float32]) -> Samples:
    """Images filtered with square windows, one for all or one for each; mirrored at the edges."""
    stacked = np.broadcast_to(windows, (len(input), *windows.shape[1:]))
    out = input.empty_like()
    if len(input):
        input.kernels.filter(
            out,
            input,
            axes=_find_axes(input),
            kernels=as_rows(stacked, "filter"),
            anchor=np.full((1, 2), windows.shape[1] // 2, np.int32),
            border=Border.reflect_101,
            fill=np.zeros(1, np.float32),
        )
    return out


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"), weight=8)
def sharpness(input: Samples, /, *, sharpness: FloatPerFrame = 1.0) -> Samples:
    """Sharpen or smooth images.

    Parameters
    ----------
    sharpness
        1 changes nothing, 0 smooths, 2 sharpens as much as 0 smooths. Beyond the edges images are
        mirrored.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[0, 0, 130, 0, 0]] * 3, np.uint8), layout="HW")
    >>> ndd.sharpness(image, sharpness=0).torch()[1].tolist()
    [0, 30, 70, 30, 0]
    """
    return sharpened(input, sharpness - np.float32(1))


def _motion_windows(
    size: NDArray[np.int32], angle: NDArray[np.float32], direction: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Lines through the middle of square windows, with weights that add up to 1."""
    lengths, degrees, slopes = np.broadcast_arrays(size, angle, direction)
    reach = int(lengths.max(initial=1)) // 2
    offset = np.arange(-reach, reach + 1, dtype=np.float64)
    radians = np.deg2rad(degrees.astype(np.float64))[:, None, None]
    # How far along the line and beside it each element lies; y points downwards.
    along = np.cos(radians) * offset - np.sin(radians) * offset[:, None]
    beside = np.sin(radians) * offset + np.cos(radians) * offset[:, None]
    half = (lengths // 2)[:, None, None]
    ramp = slopes[:, None, None] * np.clip(along, -half, half) / np.maximum(half, 1)
    cover = np.clip(half + 1 - np.abs(along), 0, 1) * np.clip(1 - np.abs(beside), 0, 1)
    weights = cover * (1 + ramp)
    windows: NDArray[np.float32] = weights / weights.sum(axis=(1, 2), keepdims=True)
    return windows.astype(np.float32)


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"), weight=8)
def motion_blur(
    input: Samples,
    /,
    *,
    size: IntPerFrame = 7,
    angle: FloatPerFrame = 0.0,
    direction: FloatPerFrame = 0.0,
) -> Samples:
    """Blur images along a line, as if the camera had moved.

    Parameters
    ----------
    size
        Length of the line in pixels, odd. Beyond the edges images are mirrored.
    angle
        Direction of the line in degrees, counterclockwise; 0 is horizontal.
    direction
        From -1 to 1: the end of the line with more weight; 0 gives both the same.

    Examples
    --------
    >>> line = ndd.tensor(np.array([[0, 0, 0, 90, 0, 0, 0]], np.uint8), layout="HW")
    >>> ndd.motion_blur(line, size=3).torch().tolist()
    [[0, 0, 30, 30, 30, 0, 0]]
    """
    good = (size > 0) & (size % 2 == 1) & (size <= _LONGEST_MOTION)
    _require(good, "size", f"odd and between 1 and {_LONGEST_MOTION}", size)
    _require(np.isfinite(angle), "angle", "a finite number", angle)
    _require(np.abs(direction) <= 1, "direction", "between -1 and 1", direction)
    return _filtered(input, _motion_windows(size, angle, direction))
