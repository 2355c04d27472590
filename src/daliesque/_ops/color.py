# SPDX-License-Identifier: Apache-2.0
"""Colors of images: brightness, contrast, hue, saturation, color spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import FloatPerFrame, IntsPerFrame
from .._engine.dtype import NUMERIC, DType, from_code, uint8
from .._engine.enums import DALIImageType
from .._engine.metadata import Result, with_extents
from .._engine.op import RandomState, Samples, op
from .._shapes.draws import Integers, permutation_rows, sequences, uniform_rows
from .._shapes.windows import Border

_LAYOUTS = "HWC FHWC DHWC FDHWC"
# For operators that treat all elements alike, wherever the channels are.
_ANY_ORDER = f"{_LAYOUTS} HW CHW DHW CDHW FHW FCHW FDHW FCDHW"
_ZERO = np.zeros(1, np.float32)
_ONE = np.ones(1, np.float32)
_CHANNELS = {
    DALIImageType.RGB: 3,
    DALIImageType.BGR: 3,
    DALIImageType.GRAY: 1,
    DALIImageType.YCbCr: 3,
}


def _type_id(input: Samples, dtype: DType | None) -> int:
    if dtype is None:
        return input.type_id
    if dtype not in NUMERIC:
        msg = f"'dtype' must be an integer or floating-point type; got {dtype.full_name}."
        raise ValueError(msg)
    return dtype.code


def _require_channels(input: Samples, count: int, what: str) -> None:
    for sample, shape in enumerate(input.shapes):
        if shape[-1] != count:
            msg = (
                f"{what} have {count} {'channel' if count == 1 else 'channels'}; got the shape "
                f"{shape} (sample {sample})."
            )
            raise ValueError(msg)


@op(
    layouts=_ANY_ORDER, dtypes=NUMERIC, sequences=True, result=Result(shape="input"), by_sample=True
)
def brightness(
    input: Samples,
    /,
    *,
    brightness: FloatPerFrame = 1.0,
    brightness_shift: FloatPerFrame = 0.0,
    dtype: DType | None = None,
) -> Samples:
    """Adjust the brightness of images.

    `out = brightness_shift * range + brightness * in`, where `range` is the highest value of an
    integer output type, or 1.

    Parameters
    ----------
    brightness
        The factor; 1 changes nothing.
    brightness_shift
        Added after multiplying, in units of the output's range.
    dtype
        Element type of the result; by default that of the input.

    Examples
    --------
    >>> image = ndd.tensor(np.full((1, 1, 3), 100, np.uint8), layout="HWC")
    >>> ndd.brightness(image, brightness=1.5).torch().tolist()
    [[[150, 150, 150]]]
    """
    kind = _type_id(input, dtype)
    return input.kernels.brightness_contrast(input, kind, brightness, brightness_shift, _ONE, None)


@op(
    layouts=_ANY_ORDER, dtypes=NUMERIC, sequences=True, result=Result(shape="input"), by_sample=True
)
def contrast(
    input: Samples,
    /,
    *,
    contrast: FloatPerFrame = 1.0,
    contrast_center: FloatPerFrame | None = None,
    dtype: DType | None = None,
) -> Samples:
    """Adjust the contrast of images.

    `out = contrast_center + contrast * (in - contrast_center)`

    Parameters
    ----------
    contrast
        The factor; 1 changes nothing, 0 gives a uniform gray.
    contrast_center
        The level that stays. By default the middle of the input type's positive range (128 for
        uint8), or 0.5.
    dtype
        Element type of the result; by default that of the input.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[28, 128, 228]]], np.uint8), layout="HWC")
    >>> ndd.contrast(image, contrast=0.5).torch().tolist()
    [[[78, 128, 178]]]
    """
    kind = _type_id(input, dtype)
    return input.kernels.brightness_contrast(input, kind, _ONE, _ZERO, contrast, contrast_center)


@op(
    layouts=_ANY_ORDER, dtypes=NUMERIC, sequences=True, result=Result(shape="input"), by_sample=True
)
def brightness_contrast(
    input: Samples,
    /,
    *,
    brightness: FloatPerFrame = 1.0,
    brightness_shift: FloatPerFrame = 0.0,
    contrast: FloatPerFrame = 1.0,
    contrast_center: FloatPerFrame | None = None,
    dtype: DType | None = None,
) -> Samples:
    """Adjust brightness and contrast of images.

    `out = brightness_shift * range + brightness * (contrast_center + contrast * (in -
    contrast_center))`, where `range` is the highest value of an integer output type, or 1.

    Parameters
    ----------
    brightness
        The factor of brightness; 1 changes nothing.
    brightness_shift
        Added last, in units of the output's range.
    contrast
        The factor of contrast; 1 changes nothing, 0 gives a uniform gray.
    contrast_center
        The level that contrast leaves alone. By default the middle of the input type's positive
        range (128 for uint8), or 0.5.
    dtype
        Element type of the result; by default that of the input.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[28, 128, 228]]], np.uint8), layout="HWC")
    >>> ndd.brightness_contrast(image, brightness=0.5, contrast=0.5).torch().tolist()
    [[[39, 64, 89]]]
    """
    kind = _type_id(input, dtype)
    return input.kernels.brightness_contrast(
        input, kind, brightness, brightness_shift, contrast, contrast_center
    )


def _twist(
    input: Samples,
    dtype: DType | None,
    image_type: DALIImageType,
    hue: Any = _ZERO,
    saturation: Any = _ONE,
    value: Any = _ONE,
    brightness: Any = _ONE,
    contrast: Any = _ONE,
) -> Samples:
    if image_type == DALIImageType.GRAY:
        msg = "'image_type' must be a color space of three channels; got GRAY."
        raise ValueError(msg)
    _require_channels(input, 3, "color images")
    kind = _type_id(input, dtype)
    return input.kernels.color_twist(
        input,
        type_id=kind,
        hue=hue,
        saturation=saturation,
        value=value,
        brightness=brightness,
        contrast=contrast,
    )


def saturated(input: Samples, factor: NDArray[np.float32]) -> Samples:
    """RGB images of another saturation; gray ones stay as they are."""
    colored = input.shape_array()[:, -1] == 3
    if not colored.all():
        rows = np.flatnonzero(colored)
        if len(rows) == 0:
            return input
        own = factor if len(factor) == 1 else factor[rows]
        made = saturated(input.select(rows.tolist()), own)
        order = np.argsort(np.concatenate([np.flatnonzero(~colored), rows]), kind="stable")
        gray = input.select(np.flatnonzero(~colored).tolist())
        return input.kernels.join([gray, made]).select(order.tolist())
    return _twist(input, None, DALIImageType.RGB, saturation=factor)


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"), by_sample=True)
def hue(
    input: Samples,
    /,
    *,
    hue: FloatPerFrame = 0.0,
    image_type: DALIImageType = DALIImageType.RGB,
    dtype: DType | None = None,
) -> Samples:
    """Shift the hue of RGB images, by a linear map that keeps luminance.

    Parameters
    ----------
    hue
        The angle in degrees.
    image_type
        Not GRAY; otherwise without effect, as in the reference: the channels are red, green and
        blue.
    dtype
        Element type of the result; by default that of the input.

    Examples
    --------
    >>> red = ndd.tensor(np.array([[[200, 0, 0]]], np.uint8), layout="HWC")
    >>> ndd.hue(red, hue=120).torch().tolist()
    [[[0, 147, 0]]]
    """
    return _twist(input, dtype, image_type, hue=hue)


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"), by_sample=True)
def saturation(
    input: Samples,
    /,
    *,
    saturation: FloatPerFrame = 1.0,
    image_type: DALIImageType = DALIImageType.RGB,
    dtype: DType | None = None,
) -> Samples:
    """Change the saturation of RGB images.

    Parameters
    ----------
    saturation
        The factor; 1 changes nothing, 0 leaves shades of gray.
    image_type
        Not GRAY; otherwise without effect, as in the reference: the channels are red, green and
        blue.
    dtype
        Element type of the result; by default that of the input.

    Examples
    --------
    >>> red = ndd.tensor(np.array([[[200, 0, 0]]], np.uint8), layout="HWC")
    >>> ndd.saturation(red, saturation=0).torch().tolist()
    [[[60, 60, 60]]]
    """
    return _twist(input, dtype, image_type, saturation=saturation)


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"), by_sample=True)
def hsv(
    input: Samples,
    /,
    *,
    hue: FloatPerFrame = 0.0,
    saturation: FloatPerFrame = 1.0,
    value: FloatPerFrame = 1.0,
    dtype: DType = uint8,
) -> Samples:
    """Change hue, saturation and value of RGB images, by one linear map.

    Parameters
    ----------
    hue
        The angle in degrees that hues are shifted by.
    saturation
        The factor of saturation.
    value
        The factor of brightness.
    dtype
        Element type of the result, uint8 unless given.

    Examples
    --------
    >>> red = ndd.tensor(np.array([[[200, 0, 0]]], np.uint8), layout="HWC")
    >>> ndd.hsv(red, hue=120, value=0.5).torch().tolist()
    [[[0, 73, 0]]]
    """
    rgb = DALIImageType.RGB
    return _twist(input, dtype, rgb, hue=hue, saturation=saturation, value=value)


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"), by_sample=True)
def color_twist(
    input: Samples,
    /,
    *,
    hue: FloatPerFrame = 0.0,
    saturation: FloatPerFrame = 1.0,
    contrast: FloatPerFrame = 1.0,
    brightness: FloatPerFrame = 1.0,
    image_type: DALIImageType = DALIImageType.RGB,
    dtype: DType | None = None,
) -> Samples:
    """Change hue, saturation, contrast and brightness of RGB images, by one linear map.

    Parameters
    ----------
    hue
        The angle in degrees that hues are shifted by.
    saturation
        The factor of saturation; 0 leaves shades of gray.
    contrast
        The factor of contrast around 128, or 0.5 for floating-point images; 0 gives a uniform
        gray.
    brightness
        The factor of brightness, which comes last.
    image_type
        Not GRAY; otherwise without effect, as in the reference: the channels are red, green and
        blue.
    dtype
        Element type of the result; by default that of the input.

    Examples
    --------
    >>> red = ndd.tensor(np.array([[[200, 0, 0]]], np.uint8), layout="HWC")
    >>> ndd.color_twist(red, saturation=0, brightness=2).torch().tolist()
    [[[120, 120, 120]]]
    """
    return _twist(
        input,
        dtype,
        image_type,
        hue=hue,
        saturation=saturation,
        brightness=brightness,
        contrast=contrast,
    )


@op(
    layouts=_LAYOUTS,
    dtypes=(uint8,),
    sequences=True,
    result=Result(
        shape=lambda call: with_extents(call.input.shapes, -1, _CHANNELS[call["output_type"]])
    ),
    by_sample=True,
)
def color_space_conversion(
    input: Samples, /, *, image_type: DALIImageType, output_type: DALIImageType
) -> Samples:
    """Convert images between RGB, BGR, gray and YCbCr.

    YCbCr is that of ITU-R BT.601 with luma from 16 to 235.

    Parameters
    ----------
    image_type
        Color space of the input: types.RGB, BGR, GRAY or YCbCr.
    output_type
        Color space of the result, likewise.

    Examples
    --------
    >>> red = ndd.tensor(np.array([[[255, 0, 0]]], np.uint8), layout="HWC")
    >>> gray = ndd.types.GRAY
    >>> ndd.color_space_conversion(red, image_type=ndd.types.RGB, output_type=gray).shape
    (1, 1, 1)
    """
    for name, space in (("image_type", image_type), ("output_type", output_type)):
        if space not in _CHANNELS:
            msg = f"'{name}' must be RGB, BGR, GRAY or YCbCr; got {space.name}."
            raise ValueError(msg)
    _require_channels(input, _CHANNELS[image_type], f"{image_type.name} images")
    return input.kernels.convert_color_space(input, output_type, image_type)


@op(
    layouts=_LAYOUTS,
    dtypes=NUMERIC,
    sequences=True,
    result=Result(
        shape=lambda call: with_extents(call.input.shapes, -1, call["num_output_channels"])
    ),
)
def grayscale(input: Samples, /, *, num_output_channels: int = 3) -> Samples:
    """Make RGB images gray: the luminance 0.299 R + 0.587 G + 0.114 B.

    Parameters
    ----------
    num_output_channels
        1, or 3 for images whose channels are equal.

    Examples
    --------
    >>> red = ndd.tensor(np.array([[[200, 0, 0]]], np.uint8), layout="HWC")
    >>> ndd.grayscale(red).torch().tolist()
    [[[60, 60, 60]]]
    """
    if num_output_channels not in (1, 3):
        msg = f"'num_output_channels' must be 1 or 3; got {num_output_channels}."
        raise ValueError(msg)
    _require_channels(input, 3, "RGB images")
    if from_code(input.type_id) is not uint8:
        # One channel of gray colors, once or three times.
        gray = _twist(input, None, DALIImageType.RGB, saturation=_ZERO)
        if num_output_channels == 3:
            return gray.kernels.reorder_channels(gray, np.zeros((1, 3), np.int32))
        return _first_channel(gray)
    gray = input.kernels.convert_color_space(input, DALIImageType.GRAY, DALIImageType.RGB)
    if num_output_channels == 1:
        return gray
    return input.kernels.convert_color_space(gray, DALIImageType.RGB, DALIImageType.GRAY)


def _first_channel(input: Samples) -> Samples:
    shapes = input.shape_array()
    shapes[:, -1] = 1
    return input.kernels.slice(
        input,
        type_id=input.type_id,
        anchors=np.zeros_like(shapes),
        shapes=shapes,
        border=Border.constant,
        fill=np.zeros((1, 1), np.float32),
        channel_axis=-1,
    )


@op(layouts=_LAYOUTS, sequences=True, result=Result(shape="input"))
def channel_shuffle(
    input: Samples,
    /,
    *,
    order: IntsPerFrame | None = None,
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> Samples:
    """Put the channels of images into another order.

    Parameters
    ----------
    order
        For each channel of the result, the number of the channel of the input that it is. By
        default each sample gets a random order, the same for all frames of a sequence.
    rng
        The generator to draw from.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[1, 2, 3]]], np.uint8), layout="HWC")
    >>> ndd.channel_shuffle(image, order=[2, 0, 1]).torch().tolist()
    [[[3, 1, 2]]]
    """
    channels = input.shape_array()[:, -1]
    if not channels.any():
        return input
    if (channels != channels[0]).any():
        msg = f"all images need equally many channels; got {sorted(set(channels.tolist()))}."
        raise ValueError(msg)
    if order is None:
        count, owner = sequences(frame_counts, len(input))
        order = permutation_rows(uniform_rows(rng, count, int(channels[0])))[owner]
    elif order.shape[1] != channels[0]:
        msg = f"'order' must name each of the {channels[0]} channels once; got {order[0].tolist()}."
        raise ValueError(msg)
    elif (np.sort(order, axis=1) != np.arange(channels[0])).any():
        wrong = (np.sort(order, axis=1) != np.arange(channels[0])).any(axis=1)
        sample = int(np.argmax(wrong))
        msg = (
            f"'order' must name each of the {channels[0]} channels once; "
            f"got {order[sample].tolist()} (sample {sample})."
        )
        raise ValueError(msg)
    return input.kernels.reorder_channels(input, np.ascontiguousarray(order))


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
def rgb_shift(
    input: Samples,
    /,
    *,
    r_shift: FloatPerFrame = 0.0,
    g_shift: FloatPerFrame = 0.0,
    b_shift: FloatPerFrame = 0.0,
) -> Samples:
    """Add a number to each channel of RGB images.

    Parameters
    ----------
    r_shift, g_shift, b_shift
        What is added to red, green and blue, in levels of the image: from -255 to 255 for uint8.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[100, 100, 250]]], np.uint8), layout="HWC")
    >>> ndd.rgb_shift(image, r_shift=20, g_shift=-20, b_shift=10).torch().tolist()
    [[[120, 80, 255]]]
    """
    _require_channels(input, 3, "RGB images")
    shifts = np.stack(np.broadcast_arrays(r_shift, g_shift, b_shift), axis=1)
    parameters = np.zeros((len(shifts), 3, 2), np.float32)
    parameters[:, :, 0] = shifts
    return input.kernels.apply_curve(input, _kernels.Curve.shift, parameters.reshape(-1, 6), 0)
