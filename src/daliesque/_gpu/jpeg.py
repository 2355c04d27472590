# SPDX-License-Identifier: Apache-2.0
"""What JPEG compression leaves of images, on accelerators, in the integers of the native kernel."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from .gather import gathered
from .numbers import constants, rows
from .ragged import in_windows
from .samples import DeviceSamples

Integers = NDArray[np.int64]

# The example tables of ITU-T T.81, annex K.
_LUMA = np.array(
    [
        *(16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55),
        *(14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62),
        *(18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92),
        *(49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99),
    ],
    np.int64,
)
_CHROMA = np.full((8, 8), 99, np.int64)
_CHROMA[:4, :4] = [[17, 18, 24, 47], [18, 21, 26, 66], [24, 26, 56, 99], [47, 66, 99, 99]]


def _scaled(base: NDArray[np.int64], quality: NDArray[np.int32]) -> NDArray[np.int32]:
    """Quantization tables of shape (samples, 8, 8)."""
    wanted = quality.astype(np.int64)
    percent = np.where(wanted < 50, 5000 // wanted, 200 - 2 * wanted)[:, None]
    table = ((base.reshape(1, 64) * percent + 50) // 100).clip(1, 255)
    return table.reshape(-1, 8, 8).astype(np.int32)


# 16-bit fractions of ITU-R BT.601; those of each row of the first sum up to 65536 or 0.
_HALF = 1 << 15
_TO_YCC = np.array([[19595, 38470, 7471], [-11059, -21709, 32768], [32768, -27439, -5329]])
_TO_RGB = np.array([[65536, 0, 91881], [65536, -22554, -46802], [65536, 116130, 0]])
# Values are kept around 0 until they are colors again.
_YCC_BIAS = np.array([_HALF - (128 << 16), _HALF - 1, _HALF - 1])
_RGB_BIAS = _HALF - 128 * _TO_RGB[:, 1:].sum(axis=1)


def _forward_matrix() -> Integers:
    """A dimension of the accurate integer transform, without its last shift."""
    v = np.eye(8, dtype=np.int64)
    s, d = v[:4] + v[:3:-1], v[:4] - v[:3:-1]
    e0, e3, e1, e2 = s[0] + s[3], s[0] - s[3], s[1] + s[2], s[1] - s[2]
    even = (e2 + e3) * 4433
    z1, z2 = (d[3] + d[0]) * -7373, (d[2] + d[1]) * -20995
    z5 = (d[3] + d[1] + d[2] + d[0]) * 9633
    z3, z4 = (d[3] + d[1]) * -16069 + z5, (d[2] + d[0]) * -3196 + z5
    return np.stack(
        [
            (e0 + e1) * 8192,
            d[0] * 12299 + z1 + z4,
            even + e3 * 6270,
            d[1] * 25172 + z2 + z3,
            (e0 - e1) * 8192,
            d[2] * 16819 + z2 + z4,
            even - e2 * 15137,
            d[3] * 2446 + z1 + z3,
        ]
    )


def _inverse_matrix() -> Integers:
    """The inverse of a dimension, likewise."""
    c = np.eye(8, dtype=np.int64)
    z1 = (c[2] + c[6]) * 4433
    low, high = z1 - c[6] * 15137, z1 + c[2] * 6270
    sum_, difference = (c[0] + c[4]) * 8192, (c[0] - c[4]) * 8192
    even = np.stack([sum_ + high, difference + low, difference - low, sum_ - high])
    z5 = (c[7] + c[3] + c[5] + c[1]) * 9633
    z3, z4 = (c[7] + c[3]) * -16069 + z5, (c[5] + c[1]) * -3196 + z5
    z1, z2 = (c[7] + c[1]) * -7373, (c[5] + c[3]) * -20995
    odd = np.stack(
        [
            c[1] * 12299 + z1 + z4,
            c[3] * 25172 + z2 + z3,
            c[5] * 16819 + z2 + z4,
            c[7] * 2446 + z1 + z3,
        ]
    )
    return np.concatenate([even + odd, (even - odd)[::-1]])


_FORWARD, _INVERSE = _forward_matrix(), _inverse_matrix()


def jpeg_distortion(samples: DeviceSamples, quality: NDArray[np.int32]) -> DeviceSamples:
    """Images as they come out of compression with the given quality."""

    def distorted(data: torch.Tensor, indices: Integers, shapes: Integers) -> torch.Tensor:
        if data.numel() == 0:
            return data
        return _distorted(data, rows(quality, indices), shapes[:, :2])

    return in_windows(samples, distorted)


def _distorted(data: torch.Tensor, quality: NDArray[np.int32], sizes: Integers) -> torch.Tensor:
    """Images, which may be padded, of given sizes."""
    height, width = data.shape[1:3]
    half = (height + 1) // 2, (width + 1) // 2
    halves = (sizes + 1) // 2
    # Whole blocks, also at half the resolution.
    columns = 2 * _whole_blocks(half[1])
    whole = _extended(data, _whole_blocks(height), columns, sizes)
    pixels = _mapped(whole, _TO_YCC, _YCC_BIAS, 16)
    luma = pixels[:, :, : _whole_blocks(width), :1]
    chroma = _downsampled(pixels[:, : 2 * half[0], :, 1:])
    chroma = _extended(chroma, _whole_blocks(half[0]), chroma.shape[2], halves[:, :1])
    count = luma.numel() // (64 * len(data))
    total = count + chroma.numel() // (64 * len(data))
    blocks = torch.empty((len(data), total, 8, 8), dtype=torch.int32, device=data.device)
    _in_blocks(blocks[:, :count], luma).copy_(_by_blocks(luma))
    _in_blocks(blocks[:, count:], chroma).copy_(_by_blocks(chroma))
    left = _quantized(blocks, count, quality)
    colors = torch.empty((*luma.shape[:3], 3), dtype=torch.int32, device=data.device)
    torch.clamp(_in_blocks(left[:, :count], luma), 0, 255, out=_by_blocks(colors[..., :1]))
    torch.clamp(_in_blocks(left[:, count:], chroma), 0, 255, out=_by_blocks(chroma))
    colors = colors[:, :height, :width]
    _upsample(chroma[:, : half[0], : half[1]], halves, colors[..., 1:])
    sums = _sums(colors, _TO_RGB, _RGB_BIAS).clamp_(0, (256 << 16) - 1)
    made = torch.empty(data.shape, dtype=torch.uint8, device=data.device)
    return torch.bitwise_right_shift(sums, 16, out=made)


def _mapped(values: torch.Tensor, matrix: Integers, bias: Integers, bits: int) -> torch.Tensor:
    """Products of a matrix with vectors along the last axis, plus numbers, shifted to the right."""
    return _sums(values, matrix, bias).bitwise_right_shift(bits)


def _sums(values: torch.Tensor, matrix: Integers, bias: Integers) -> torch.Tensor:
    """The same, not shifted. In integers: single precision would not be exact."""
    added = np.zeros_like(matrix)
    added[:, 0] = bias
    table, first = constants(values, matrix.astype(np.int32), added.astype(np.int32))
    products = torch.addcmul(first, values[..., None, :], table)
    return products.sum(-1, dtype=torch.int32)


def _extended(plane: torch.Tensor, height: int, width: int, sizes: Integers) -> torch.Tensor:
    """Planes up to a size; beyond their own, given for the first axes, the last is repeated."""
    choices = []
    for axis, size in enumerate((height, width)):
        steps = np.arange(size)[None]
        if axis < sizes.shape[1]:
            own = sizes[:, axis, None]
            steps = steps.clip(max=own[:1] - 1 if (own == own[:1]).all() else own - 1)
        choices.append(steps)
    return gathered(plane, choices)


def _whole_blocks(extent: int) -> int:
    return (extent + 7) // 8 * 8


def _downsampled(planes: torch.Tensor) -> torch.Tensor:
    """Half the resolution; alternating 1 and 2 keeps the average."""
    count, height, width, number = planes.shape
    pairs = planes.reshape(count, height // 2, 2, width // 2, 2, number)
    (added,) = constants(planes, (1 + np.arange(width // 2) % 2).astype(np.int32)[:, None])
    return (pairs.sum((2, 4), dtype=torch.int32) + added).bitwise_right_shift(2)


def _upsample(planes: torch.Tensor, halves: Integers, target: torch.Tensor) -> None:
    """Twice the resolution: three quarters of the nearest value and a quarter of the next."""
    for axis, extent in enumerate(planes.shape[1:3]):
        steps = np.arange(2 * extent)
        own = halves[:, axis, None]
        last = own[:1] - 1 if (own == own[:1]).all() else own - 1
        next_ones = (steps // 2 + np.where(steps % 2, 1, -1)).clip(0, last)
        whole = [np.arange(extent)[None] for extent in planes.shape[1 : axis + 1]]
        far = gathered(planes, [*whole, next_ones])
        pairs = far.reshape(*far.shape[: axis + 1], extent, 2, *far.shape[axis + 2 :])
        planes = torch.add(pairs, planes.unsqueeze(axis + 2), alpha=3).reshape(far.shape)
    rounding = 8 - (np.arange(planes.shape[2]) % 2).astype(np.int32)
    (added,) = constants(planes, rounding[:, None])
    height, width = target.shape[1:3]
    torch.bitwise_right_shift((planes + added)[:, :height, :width], 4, out=target)


def _by_blocks(planes: torch.Tensor) -> torch.Tensor:
    """A view of (samples, height, width, planes): (samples, planes, rows, columns, 8, 8)."""
    count, height, width, number = planes.shape
    cut = planes.view(count, height // 8, 8, width // 8, 8, number)
    return cut.permute(0, 5, 1, 3, 2, 4)


def _in_blocks(blocks: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A view of (samples, blocks, 8, 8) that goes with that of planes."""
    count, height, width, number = like.shape
    return blocks.view(count, number, height // 8, width // 8, 8, 8)


def _quantized(blocks: torch.Tensor, luma: int, quality: NDArray[np.int32]) -> torch.Tensor:
    """What is left of blocks, of which the first ones are of luma; as colors around 128."""
    steps = np.stack([_scaled(base, quality) for base in (_LUMA, _CHROMA)], axis=1)
    wide = steps.astype(np.float32) * 8
    # A little more than one half: what single precision loses does not matter before cutting off.
    half = np.float32(0.5) + np.float32(0.5) / wide
    tables = np.stack([half, np.float32(1) / wide, steps.view(np.float32)])
    kinds = (np.arange(blocks.shape[1]) >= luma).astype(np.int32)
    moved, kind = constants(blocks, tables, kinds)
    added, factor, bits = moved.index_select(2, kind).unbind(0)
    values = _both_axes(blocks, _FORWARD, (11, 15), 0)
    levels = torch.addcmul(torch.copysign(added, values), values, factor).to(torch.int32)
    left = (levels * bits.view(torch.int32)).transpose(2, 3)
    return _both_axes(left, _INVERSE, (11, 18), 128).transpose(2, 3)


def _both_axes(
    blocks: torch.Tensor, matrix: Integers, bits: tuple[int, int], middle: int
) -> torch.Tensor:
    """A transform along the last axis, then along the one before; what is 0 becomes `middle`."""
    first, second = (np.array([1 << (count - 1)]) for count in bits)
    inner = _mapped(blocks, matrix, first, bits[0]).transpose(2, 3)
    made = _mapped(inner, matrix, second + (middle << bits[1]), bits[1])
    return made.transpose(2, 3)
