# SPDX-License-Identifier: Apache-2.0
"""The colors of CIE Lab on accelerators, with the tables and integers of the native kernel."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from .numbers import constants

# Primaries of sRGB and white of D65, to the digits that OpenCV uses.
_WHITE = np.array([0.950456, 1.0, 1.088754])
_RGB_TO_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
)
_XYZ_TO_RGB = np.array(
    [
        [3.240479, -1.53715, -0.498535],
        [-0.969256, 1.875991, 0.041556],
        [0.055648, -0.204043, 1.057311],
    ]
)
# Linear values are counted in eighths of a level.
_LINEAR_SCALE = 255 * 8
_ROOTS = 3072


class _LabTables(NamedTuple):
    """The tables of lab.cpp: fixed-point numbers with 12, 14 or 15 fraction bits."""

    to_xyz: NDArray[np.int32]  # (channel, value, component)
    root: NDArray[np.int32]
    y: NDArray[np.int32]
    y_root: NDArray[np.int32]
    to_rgb: NDArray[np.int32]  # (channel, component)
    gamma: NDArray[np.uint8]


def _nearest(values: Any) -> NDArray[np.int32]:
    rounded: NDArray[np.int32] = np.rint(values).astype(np.int32)
    return rounded


@functools.cache
def _lab_tables() -> _LabTables:
    single = np.float32
    value = np.arange(256, dtype=single) / single(255)
    exact = value.astype(np.float64)
    linear = np.where(exact <= 0.04045, exact / 12.92, ((exact + 0.055) / 1.055) ** 2.4)
    scaled = _nearest(single(_LINEAR_SCALE) * linear.astype(single))
    weights = _nearest((1 << 12) * _RGB_TO_XYZ / _WHITE[:, None])
    to_xyz = scaled[None, :, None] * weights.T[:, None, :]
    to_xyz[0] += (1 << 12) // 2
    argument = single(1) / single(_LINEAR_SCALE) * np.arange(_ROOTS, dtype=single)
    level = np.arange(256)
    straight = level <= 20
    steep = (level * 100 * (1 << 14)).astype(single) / single(255 * 116) + single(
        16 * (1 << 14)
    ) / single(116)
    slow_y = (level * (1 << 14) * 20 * 9).astype(single) / single(17 * 29 * 29 * 29)
    slow_root = single(1 << 14) * (
        single(16) / single(116) + (level * 5).astype(single) / single(3 * 17 * 29)
    )
    cubed = steep * steep * steep / single((1 << 14) * (1 << 14))
    bent = np.arange(4096, dtype=np.float64) / (1 << 12)
    gamma = np.where(bent <= 0.0031308, bent * 12.92, bent ** (1 / 2.4) * 1.055 - 0.055)
    return _LabTables(
        to_xyz,
        _nearest(single(1 << 15) * _cie_root(argument)),
        _nearest(np.where(straight, slow_y, cubed)),
        _nearest(np.where(straight, slow_root, steep)),
        _nearest((1 << 12) * _XYZ_TO_RGB * _WHITE),
        np.rint(np.float32(255) * gamma.astype(single)).astype(np.uint8),
    )


def _cie_root(argument: NDArray[np.float32]) -> NDArray[np.float32]:
    """f of CIE Lab: a cube root, cut off, with a straight beginning."""
    wide = argument.astype(np.float64)
    knee, slope, base = (np.float32(v) for v in (216 / 24389, 841 / 108, 16 / 116))
    root = np.cbrt(wide)
    rounded = root.astype(np.float32)
    cut = np.where(rounded.astype(np.float64) > root, np.nextafter(rounded, np.float32(0)), rounded)
    line = (wide * np.float64(slope) + np.float64(base)).astype(np.float32)
    return np.where(argument < knee, line, cut).astype(np.float32)


# Integers that are mapped are sums of products, shifted to the right.
_TO_LAB = np.array([[0, 296, 0], [500, -500, 0], [0, 200, -200]], np.int32)
_LAB_BIAS = np.array([(1 << 14) - 1336934, *2 * [(128 << 15) + (1 << 14)]], np.int32)


def _looked_up(bytes_: torch.Tensor, tables: NDArray[np.int32]) -> torch.Tensor:
    """Rows of a table for each of three channels (3, 256, columns), as int32."""
    channels = np.arange(3, dtype=np.int32) * 256
    moved, begins = constants(bytes_, tables.reshape(768, -1), channels)
    index = (bytes_ + begins).reshape(-1)
    return moved.index_select(0, index).reshape(*bytes_.shape, -1)


def _mapped(
    values: torch.Tensor, matrix: NDArray[np.int32], bias: NDArray[np.int32]
) -> torch.Tensor:
    """Products of a matrix with vectors along the last axis, plus numbers."""
    added = np.zeros_like(matrix)
    added[:, 0] = bias
    table, first = constants(values, matrix, added)
    return torch.addcmul(first, values[..., None, :], table).sum(-1, dtype=torch.int32)


def to_lab(pixels: torch.Tensor) -> torch.Tensor:
    """Bytes of lightness, a and b along the last axis."""
    tables = _lab_tables()
    linear = _looked_up(pixels, tables.to_xyz).sum(-2, dtype=torch.int32).bitwise_right_shift(12)
    (roots,) = constants(pixels, tables.root)
    found = roots.index_select(0, linear.reshape(-1)).reshape(pixels.shape)
    wide = _mapped(found, _TO_LAB, _LAB_BIAS)
    return wide.bitwise_right_shift(15).clamp_(0, 255).to(torch.uint8)


def to_rgb(lab: torch.Tensor) -> torch.Tensor:
    """The inverse, as bytes."""
    tables = _lab_tables()
    x_z, y = _components(lab)
    xyz = torch.cat([x_z[..., :1], y, x_z[..., 1:]], -1)
    bias = np.full(3, 1 << 13, np.int32)
    level = _mapped(xyz, tables.to_rgb, bias).bitwise_right_shift(14).clamp_(0, 4095)
    (gamma,) = constants(lab, tables.gamma)
    return gamma.index_select(0, level.reshape(-1)).reshape(lab.shape)


def _components(lab: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """X and Z, and Y of CIE XYZ, with 14 fraction bits."""
    tables = _lab_tables()
    level, one = np.arange(256, dtype=np.int64), 1 << 14
    of_a = ((5 * level * 53687 + (1 << 7)) >> 13) - 128 * one // 500
    of_b = -((level * 41943 + (1 << 4)) >> 9) + 128 * one // 200 - 1
    unused = np.zeros_like(level)
    columns = [[tables.y, tables.y_root], [of_a, unused], [of_b, unused]]
    found = _looked_up(lab, np.array(columns, np.int32).transpose(0, 2, 1).copy())
    root = found[..., 1:, 0] + found[..., :1, 1]
    # The inverse of f of CIE Lab; divisions cut off.
    straight = torch.div(root * 108, 841, rounding_mode="trunc") - 290
    square = (root * root).bitwise_right_shift(14)
    x_z = torch.where(root <= 3390, straight, (square * root).bitwise_right_shift(14))
    return x_z, found[..., :1, 0]
