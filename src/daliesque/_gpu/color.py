# SPDX-License-Identifier: Apache-2.0
"""Brightness, contrast, hue, saturation and color spaces on accelerators."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from .._engine.dtype import DType, from_code, uint8
from .._engine.enums import DALIImageType
from .numbers import constant, from_float, to_float
from .ragged import Rows, elementwise
from .samples import DeviceSamples

Floats = NDArray[np.float32]

# NTSC luminance and chrominance, to the digits that the reference uses, and the inverse that it
# finds.
_TO_YIQ = np.array(
    [[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]], np.float32
)
_FROM_YIQ = np.array(
    [
        [0.9996643662452698, 0.9565411806106567, 0.6208617091178894],
        [0.9996248483657837, -0.2722744643688202, -0.6474512815475464],
        [1.0028122663497925, -1.1068480014801025, 1.705405592918396],
    ],
    np.float32,
)


def _full_range(dtype: DType) -> float:
    """The highest value of an integer type, 1 for others."""
    if dtype.kind is DType.Kind.unsigned:
        return float(np.float32(2**dtype.bits - 1))
    return float(np.float32(2 ** (dtype.bits - 1) - 1)) if dtype.kind is DType.Kind.signed else 1.0


def _half_range(dtype: DType) -> float:
    """The middle of the range from 0 up."""
    if dtype.kind is DType.Kind.unsigned:
        return 2.0 ** (dtype.bits - 1)
    return 2.0 ** (dtype.bits - 2) if dtype.kind is DType.Kind.signed else 0.5


def brightness_contrast(
    samples: DeviceSamples,
    type_id: int,
    brightness: Floats,
    shift: Floats,
    contrast: Floats,
    center: Floats | None,
) -> DeviceSamples:
    """shift * range + brightness * (center + contrast * (value - center))."""
    full = np.float32(_full_range(from_code(type_id)))
    middle = np.float32(_half_range(from_code(samples.type_id)))
    pivot = np.full(1, middle) if center is None else center
    addend = shift * full + brightness * (pivot - contrast * pivot)
    multiplier = brightness * contrast

    def adjusted(rows: Rows) -> torch.Tensor:
        values = to_float(rows.data, samples.type_id)
        scale, shift = rows.spread(*np.broadcast_arrays(multiplier, addend))
        return from_float(torch.addcmul(shift, values, scale), type_id)

    return elementwise(samples, adjusted, type_id=type_id)


def color_twist(
    samples: DeviceSamples,
    type_id: int,
    hue: Floats,
    saturation: Floats,
    value: Floats,
    brightness: Floats,
    contrast: Floats,
) -> DeviceSamples:
    """All changes of color as one linear map of RGB."""
    floating = from_code(samples.type_id).kind is DType.Kind.float
    middle = np.float32(0.5 if floating else 128)
    angle = np.deg2rad(hue.astype(np.float64)).astype(np.float32)
    parts = np.broadcast_arrays(np.cos(angle), np.sin(angle), saturation, value)
    rotation = np.zeros((len(parts[0]), 3, 3), np.float32)
    cosine, sine, saturated, scale = parts
    rotation[:, 0, 0] = scale
    rotation[:, 1, 1] = rotation[:, 2, 2] = cosine * saturated * scale
    rotation[:, 1, 2] = sine * saturated * scale
    rotation[:, 2, 1] = -rotation[:, 1, 2]
    factor = (brightness * contrast)[:, None, None]
    matrices = (factor * (_FROM_YIQ @ rotation @ _TO_YIQ)).astype(np.float32)
    offsets = ((middle - middle * contrast) * brightness)[:, None]

    def twisted(rows: Rows) -> torch.Tensor:
        return from_float(_mapped(rows, samples.type_id, matrices, offsets), type_id)

    return elementwise(samples, twisted, type_id=type_id)


def _mapped(rows: Rows, type_id: int, matrices: Floats, offsets: Floats) -> torch.Tensor:
    """matrix @ pixel + offset, for the pixels along the last axis."""
    values = to_float(rows.data, type_id)
    # From columns to rows: pixels are rows, too.
    *columns, offset = rows.spread(*(matrices[:, :, k] for k in range(3)), offsets)
    result = offset
    for k, weights in enumerate(columns):
        result = torch.addcmul(result, values[..., k : k + 1], weights)
    return result


# ITU-R BT.601 with the reduced range of video: luma from 16 to 235, chroma around 128.
_TO_YCBCR = np.array(
    [
        [0.25678823529, 0.50412941176, 0.09790588235],
        [-0.14822289945, -0.29099278682, 0.43921568627],
        [0.43921568627, -0.36778831435, -0.07142737192],
    ],
    np.float32,
)
_FROM_YCBCR = np.array(
    [
        [255 / 219, 0, 1.5960267848],
        [255 / 219, -0.39176228842, -0.81296764538],
        [255 / 219, 2.0172321417, 0],
    ],
    np.float32,
)
_VIDEO = np.array([[16, 128, 128]], np.float32)
# ITU-R BT.601 luma of RGB in units of 2^-15.
_WEIGHTS = np.array([9798, 19235, 3735], np.int32)


def convert_color_space(samples: DeviceSamples, target: int, source: int) -> DeviceSamples:
    """uint8 pixels in another color space."""
    kinds = DALIImageType(target), DALIImageType(source)
    return elementwise(samples, lambda rows: _in_space(rows, *kinds))


def _in_space(rows: Rows, target: DALIImageType, source: DALIImageType) -> torch.Tensor:
    rgb, bgr, gray = DALIImageType.RGB, DALIImageType.BGR, DALIImageType.GRAY
    data = rows.data
    if target == source:
        return data.clone()
    if {target, source} == {rgb, bgr}:
        return data.flip(-1)
    if source == bgr:
        return _in_space(Rows(data.flip(-1), rows.indices), target, rgb)
    if target == bgr:
        return _in_space(rows, rgb, source).flip(-1)
    byte = uint8.code
    if target == gray:
        if source == rgb:
            total = (data.to(torch.int32) * constant(_WEIGHTS, data)).sum(-1, keepdim=True)
            return (total + (1 << 14)).bitwise_right_shift(15).to(torch.uint8)
        luma = data[..., :1].to(torch.float32)
        return from_float((luma - 16.0) * float(np.float32(255 / 219)), byte)
    if source == gray:
        if target == rgb:
            return data.expand(*data.shape[:-1], 3).contiguous()
        luma = from_float(data.to(torch.float32) * float(np.float32(219 / 255)) + 16.0, byte)
        middle = torch.full_like(luma, 128)
        return torch.cat([luma, middle, middle], -1)
    if source == rgb:
        return from_float(_mapped(rows, byte, _TO_YCBCR[None], _VIDEO), byte)
    offsets = -_VIDEO.astype(np.float64) @ _FROM_YCBCR.T
    return from_float(_mapped(rows, byte, _FROM_YCBCR[None], offsets.astype(np.float32)), byte)


def reorder_channels(samples: DeviceSamples, order: NDArray[np.int32]) -> DeviceSamples:
    """The channels, along the last axis, in another order."""

    def reordered(rows: Rows) -> torch.Tensor:
        (chosen,) = rows.spread(order.astype(np.int64))
        return torch.gather(rows.data, -1, chosen.expand(rows.data.shape))

    return elementwise(samples, reordered)
