# SPDX-License-Identifier: Apache-2.0
"""Operators that choose and take a part of the input."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import FloatPerSample, FloatsPerSample, IntPerSample
from .._engine.convert import to_numpy
from .._engine.dtype import DType, float32, from_code, int32
from .._engine.enums import DALIImageType
from .._engine.metadata import Call, NotKnown, Result, Shapes, with_extents
from .._engine.op import RandomState, Samples, op
from .._engine.samples import HostSamples
from .._shapes.windows import (
    CropArguments,
    OutOfBounds,
    check_attempts,
    crop_windows,
    fit_windows,
    out_of_bounds,
    positive_range,
    shape_rows,
)
from .slice import ZERO, take_windows

_IMAGE_LAYOUTS = "HWC CHW DHWC CDHW FHWC FCHW CFHW FDHWC FCDHW CFDHW"


def crop_extents(call: Call, shapes: Shapes) -> Shapes:
    """The extents of the windows that a call crops; they do not depend on the positions."""
    middle = np.full(1, 0.5, np.float32)
    arguments = CropArguments(
        call["crop"],
        call["crop_d"],
        call["crop_h"],
        call["crop_w"],
        middle,
        middle,
        middle,
        call["rounding"],
    )
    return crop_windows(shapes, call.input.layout, arguments).extents


def _cropped_shapes(call: Call) -> Shapes:
    if call["out_of_bounds_policy"] == "trim_to_shape":
        raise NotKnown
    return crop_extents(call, call.input.shapes)


@op(
    layouts=_IMAGE_LAYOUTS,
    result=Result(dtype=("dtype", "output_dtype", "input"), shape=_cropped_shapes),
    by_sample=True,
)
def crop(
    input: Samples,
    /,
    *,
    crop: FloatsPerSample | None = None,
    crop_d: FloatPerSample = 0.0,
    crop_h: FloatPerSample = 0.0,
    crop_w: FloatPerSample = 0.0,
    crop_pos_x: FloatPerSample = 0.5,
    crop_pos_y: FloatPerSample = 0.5,
    crop_pos_z: FloatPerSample = 0.5,
    rounding: str = "round",
    out_of_bounds_policy: str = "error",
    fill_values: tuple[float, ...] = (0.0,),
    dtype: DType | None = None,
    image_type: DALIImageType | None = None,
    output_dtype: DType | None = None,
) -> Samples:
    """Take a window of given size out of images, sequences or volumes.

    The window begins at ``position * (input extent - window extent)`` along each axis.

    Parameters
    ----------
    crop
        Size of the window: (height, width) or (depth, height, width).
    crop_d, crop_h, crop_w
        The same, one by one; 0 keeps the whole axis. Excludes `crop`. In a sequence without a depth
        axis, the depth counts frames.
    crop_pos_x, crop_pos_y, crop_pos_z
        Where the window lies, from 0 (left, top, front) to 1 (right, bottom, back).
    rounding
        How the begin of the window becomes a whole number: "round" (halves away from zero) or
        "truncate".
    out_of_bounds_policy
        For windows that leave the input: "error", "trim_to_shape" (only the part inside), "pad"
        (with `fill_values`), or a border made of the input: "edge", "reflect" (repeats the edge),
        "reflect_101" (does not), "wrap".
    fill_values
        Padding: one value, or one for each channel.
    dtype
        Type of the result: that of the input, float32, float16 or uint8. Values are clamped and
        their fraction is cut off.
    image_type
        Ignored.
    output_dtype
        Old name of `dtype`.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> image = ndd.as_tensor(np.zeros((480, 640, 3), np.uint8), layout="HWC")
    >>> ndd.crop(image, crop=(224, 224), crop_pos_x=0.0).shape
    (224, 224, 3)
    """
    del image_type
    shapes = shape_rows(input)
    arguments = CropArguments(
        crop, crop_d, crop_h, crop_w, crop_pos_x, crop_pos_y, crop_pos_z, rounding
    )
    windows = crop_windows(shapes, input.layout, arguments)
    policy = out_of_bounds(out_of_bounds_policy)
    windows = fit_windows(windows, shapes, policy, "crop")
    return take_windows(input, windows, input.layout, policy, fill_values, dtype or output_dtype)


def _normalized_layout(call: Call) -> str:
    layout: str = call["output_layout"] or call.input.layout
    return layout


def _normalized_shapes(call: Call) -> Shapes:
    layout = call.input.layout
    extents = _cropped_shapes(call)
    if call["pad_output"]:
        channels = layout.index("C")
        counts = [_next_power_of_2(count) for count in extents[:, channels].tolist()]
        extents = with_extents(extents, channels, counts)
    return extents[:, [layout.index(letter) for letter in _normalized_layout(call)]]


@op(
    layouts=_IMAGE_LAYOUTS,
    strided=True,
    result=Result(
        dtype=("output_dtype", "dtype"), layout=_normalized_layout, shape=_normalized_shapes
    ),
    by_sample=True,
)
def crop_mirror_normalize(
    input: Samples,
    /,
    *,
    crop: FloatsPerSample | None = None,
    crop_d: FloatPerSample = 0.0,
    crop_h: FloatPerSample = 0.0,
    crop_w: FloatPerSample = 0.0,
    crop_pos_x: FloatPerSample = 0.5,
    crop_pos_y: FloatPerSample = 0.5,
    crop_pos_z: FloatPerSample = 0.5,
    rounding: str = "round",
    mirror: IntPerSample = 0,
    mean: FloatsPerSample = (0.0,),
    std: FloatsPerSample = (1.0,),
    scale: float = 1.0,
    shift: float = 0.0,
    dtype: DType = float32,
    output_layout: str = "CHW",
    pad_output: bool = False,
    out_of_bounds_policy: str = "error",
    fill_values: tuple[float, ...] = (0.0,),
    image_type: DALIImageType | None = None,
    output_dtype: DType | None = None,
) -> Samples:
    """Crop, mirror and normalize images, convert them and reorder their axes, in one pass.

    The result is ``scale * (input - mean) / std + shift``; integers are rounded, halves away from
    zero, and clamped. Without cropping arguments the whole input is taken.

    Parameters
    ----------
    crop, crop_d, crop_h, crop_w, crop_pos_x, crop_pos_y, crop_pos_z, rounding
        The window, as in `crop`.
    mirror
        Not zero: reverse the width axis.
    mean, std
        One value, or one for each channel.
    scale, shift
        Applied to the normalized values; useful for integer results.
    dtype
        Type of the result.
    output_layout
        Order of the axes of the result; "" keeps that of the input.
    pad_output
        Pad the number of channels to a power of 2, with `fill_values` if the policy is "pad" and
        zeros otherwise.
    out_of_bounds_policy
        For windows that leave the input: "error", "trim_to_shape" or "pad".
    fill_values
        Padding, not normalized: one value, or one for each channel.
    image_type
        Ignored.
    output_dtype
        Old name of `dtype`.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> image = ndd.as_tensor(np.zeros((480, 640, 3), np.uint8), layout="HWC")
    >>> out = ndd.crop_mirror_normalize(image, crop=(224, 224), mean=[128.0], std=[64.0])
    >>> out.shape, out.layout
    ((3, 224, 224), 'CHW')
    """
    del image_type
    shapes = shape_rows(input)
    layout = input.layout
    arguments = CropArguments(
        crop, crop_d, crop_h, crop_w, crop_pos_x, crop_pos_y, crop_pos_z, rounding
    )
    policy = out_of_bounds(out_of_bounds_policy, borders=False)
    windows = crop_windows(shapes, layout, arguments)
    windows = fit_windows(windows, shapes, policy, "crop_mirror_normalize")
    wanted = output_layout or layout
    if sorted(wanted) != sorted(layout):
        msg = (
            f"'output_layout' must have the letters of the input's layout {layout!r} in some "
            f"order, or be empty; got {wanted!r}."
        )
        raise ValueError(msg)
    channel_axis = layout.index("C")
    channels = shapes[:, channel_axis].tolist()
    _check_channels("mean", mean.shape[1], channels)
    _check_channels("std", std.shape[1], channels)
    padded = channels
    if pad_output:
        padded = [_next_power_of_2(count) for count in channels]
        windows.extents[:, channel_axis] = padded
    return input.kernels.crop_mirror_normalize(
        input,
        type_id=(output_dtype or dtype).code,
        anchors=windows.anchors,
        shapes=windows.extents,
        permutation=[layout.index(letter) for letter in wanted],
        layout=wanted,
        mirror=mirror,
        mean=mean,
        std=std,
        scale=scale,
        shift=shift,
        fill=_padding(list(fill_values), policy, channels, padded),
        width_axis=layout.index("W"),
        channel_axis=channel_axis,
    )


def _check_channels(name: str, given: int, channels: list[int]) -> None:
    if given == 1:
        return
    for sample, count in enumerate(channels):
        if count != given:
            at = f" (sample {sample})" if len(channels) > 1 else ""
            msg = f"'{name}' needs 1 value or {count}, one for each channel; got {given}{at}."
            raise ValueError(msg)


def _next_power_of_2(count: int) -> int:
    return 1 << max(count - 1, 0).bit_length() if count else 0


def _padding(
    fill_values: list[float], policy: OutOfBounds, channels: list[int], padded: list[int]
) -> NDArray[np.float32]:
    """The fill values for each output channel, of shape (1, 1) or (1, channels)."""
    if policy.action != "border" or not fill_values:
        return ZERO
    given = len(fill_values)
    if given > 1:
        for sample, counts in enumerate(zip(channels, padded, strict=True)):
            if given not in counts or counts[1] != padded[0]:
                msg = (
                    f"'fill_values' needs 1 value or {counts[1]}, one for each channel; "
                    f"got {given} (sample {sample})."
                )
                raise ValueError(msg)
        # Channels that only the output has, and that no value was given for, become 0.
        fill_values = fill_values + [0.0] * (padded[0] - given)
    return np.array([fill_values], np.float32)


@op(outputs=2, result=Result(dtype=int32, ndim=1, shape=lambda _: [[2]]))
def random_crop_generator(
    input: HostSamples,
    /,
    *,
    rng: RandomState,
    random_aspect_ratio: tuple[float, ...] = (3 / 4, 4 / 3),
    random_area: tuple[float, ...] = (0.08, 1.0),
    num_attempts: int = 10,
) -> tuple[Samples, Samples]:
    """Draw a window of random area and aspect ratio for each image.

    The input holds shapes of images, (height, width) or (height, width, channels). The results,
    begin and shape of the windows as (height, width), suit `slice` and the slicing decoders. The
    logarithm of the aspect ratio is evenly distributed.

    Parameters
    ----------
    random_aspect_ratio
        Smallest and largest width divided by height.
    random_area
        Smallest and largest part of the image's area.
    num_attempts
        How many draws may fail to fit into the image before a window as large as possible is taken.

    Examples
    --------
    >>> import daliesque as ndd
    >>> begin, shape = ndd.random_crop_generator(ndd.tensor([480, 640, 3]))
    >>> begin.shape, shape.shape, shape.dtype == ndd.int32
    ((2,), (2,), True)
    """
    dtype = from_code(input.type_id)
    if dtype.kind not in (DType.Kind.signed, DType.Kind.unsigned):
        msg = f"the input must hold integers, the shapes of images; got {dtype.full_name}."
        raise ValueError(msg)
    sizes = np.zeros((len(input), 2), np.int64)
    if input.ndim != 1:
        msg = f"the input must have 1 axis, the shape of an image; got {input.ndim}."
        raise ValueError(msg)
    for i, (count,) in enumerate(input.shapes):
        if count not in (2, 3):
            msg = f"the shape of an image needs 2 or 3 values; got {count} (sample {i})."
            raise ValueError(msg)
        sizes[i] = to_numpy(input, i)[:2]
    empty = ((sizes < 1) | (sizes >= 2**31)).any(axis=1)
    if empty.any():
        i = int(np.argmax(empty))
        msg = f"images need at least one pixel; got the shape {sizes[i].tolist()} (sample {i})."
        raise ValueError(msg)
    aspect = positive_range(random_aspect_ratio, "random_aspect_ratio")
    area = positive_range(random_area, "random_area", or_zero=True)
    begins, shapes = _kernels.random_crop(rng, sizes, aspect, area, check_attempts(num_attempts))
    return begins, shapes
