# SPDX-License-Identifier: Apache-2.0
"""Colors of images: brightness, contrast, hue, saturation, color spaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.args import FloatPerFrame
from .._engine.dtype import NUMERIC, DType, uint8
from .._engine.enums import DALIImageType
from .._engine.metadata import Result, with_extents
from .._engine.op import Samples, op

_LAYOUTS = "HWC FHWC DHWC FDHWC"
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


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
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


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
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


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
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


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
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


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
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


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
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


@op(layouts=_LAYOUTS, dtypes=NUMERIC, sequences=True, result=Result(shape="input"))
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
    shapes = input.shape_array()
    shapes[:, -1] = _CHANNELS[output_type]
    out = input.kernels.empty(input.type_id, shapes, input.layout, len(input))
    input.kernels.convert_color_space(out, input, output_type, image_type)
    return out
