# SPDX-License-Identifier: Apache-2.0
"""What JPEG compression leaves of images, on accelerators, in the integers of the native kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .gather import Border, border_indices, gathered
from .numbers import constant, rows
from .samples import DeviceSamples

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


def jpeg_distortion(samples: DeviceSamples, quality: NDArray[np.int32]) -> DeviceSamples:
    """Images as they come out of compression with the given quality."""

    def distorted(data: torch.Tensor, indices: Any) -> torch.Tensor:
        if data.numel() == 0:
            return data
        height, width = data.shape[1:3]
        chosen = rows(quality, indices)
        luma, *chroma = _to_ycbcr(data.to(torch.int32))
        luma = _quantized(luma, _scaled(_LUMA, chosen))
        table = _scaled(_CHROMA, chosen)
        half = (height + 1) // 2, (width + 1) // 2
        wide = []
        for plane in chroma:
            left = _quantized(_downsampled(plane), table)
            wide.append(_upsampled(left[:, : half[0], : half[1]])[:, :height, :width])
        return _to_rgb(luma[:, :height, :width], wide[0] - 128, wide[1] - 128)

    return samples.mapped(distorted)


def _to_ycbcr(pixels: torch.Tensor) -> list[torch.Tensor]:
    # 16-bit fractions of ITU-R BT.601; those of each row sum up to 65536 or 0.
    half = 1 << 15
    middle = (128 << 16) + half - 1
    r, g, b = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    return [
        (19595 * r + 38470 * g + 7471 * b + half).bitwise_right_shift(16),
        (-11059 * r - 21709 * g + 32768 * b + middle).bitwise_right_shift(16),
        (32768 * r - 27439 * g - 5329 * b + middle).bitwise_right_shift(16),
    ]


def _to_rgb(luma: torch.Tensor, cb: torch.Tensor, cr: torch.Tensor) -> torch.Tensor:
    half = 1 << 15
    red = luma + (91881 * cr + half).bitwise_right_shift(16)
    green = luma + (-22554 * cb - 46802 * cr + half).bitwise_right_shift(16)
    blue = luma + (116130 * cb + half).bitwise_right_shift(16)
    return torch.stack([red, green, blue], -1).clamp(0, 255).to(torch.uint8)


def _extended(plane: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """The plane with its last row and column repeated up to a size."""
    choices = [
        border_indices(np.arange(size), extent, Border.clamp)[None]
        for size, extent in zip((height, width), plane.shape[1:], strict=True)
    ]
    return gathered(plane, choices)


def _whole_blocks(extent: int) -> int:
    return (extent + 7) // 8 * 8


def _downsampled(plane: torch.Tensor) -> torch.Tensor:
    """Half the resolution; alternating 1 and 2 keeps the average."""
    height, width = plane.shape[1:]
    columns = 2 * _whole_blocks((width + 1) // 2)
    whole = _extended(plane, (height + 1) // 2 * 2, columns)
    sums = whole.reshape(len(plane), -1, 2, columns // 2, 2).sum((2, 4)).to(torch.int32)
    parity = torch.arange(columns // 2, device=plane.device).bitwise_and(1).to(torch.int32)
    return (sums + 1 + parity).bitwise_right_shift(2)


def _upsampled(plane: torch.Tensor) -> torch.Tensor:
    """Twice the resolution: three quarters of the nearest value and a quarter of the next."""
    height, width = plane.shape[1:]
    near = np.arange(2 * height) // 2
    far = (near + np.where(np.arange(2 * height) % 2, 1, -1)).clip(0, height - 1)
    columns = [np.arange(width)[None]]
    sums = 3 * gathered(plane, [near[None], *columns]) + gathered(plane, [far[None], *columns])
    every = [np.arange(2 * height)[None]]
    before = gathered(sums, [*every, (np.arange(width) - 1).clip(0)[None]])
    behind = gathered(sums, [*every, (np.arange(width) + 1).clip(max=width - 1)[None]])
    even = (3 * sums + before + 8).bitwise_right_shift(4)
    odd = (3 * sums + behind + 7).bitwise_right_shift(4)
    return torch.stack([even, odd], -1).reshape(len(plane), 2 * height, 2 * width)


def _quantized(plane: torch.Tensor, table: NDArray[np.int32]) -> torch.Tensor:
    """What is left of the blocks of a plane."""
    height, width = (_whole_blocks(extent) for extent in plane.shape[1:])
    whole = _extended(plane, height, width) - 128
    # (samples, blocks down, blocks across, row, column)
    blocks = whole.reshape(len(plane), height // 8, 8, width // 8, 8).permute(0, 1, 3, 2, 4)
    steps = constant(table, plane)[:, None, None]
    values = _forward(_forward(blocks, 4, True), 3, False)
    # Adding one half before cutting off makes the division by a float exact.
    levels = ((values.abs() + steps * 4).to(torch.float32) + 0.5) * (
        1.0 / (steps * 8).to(torch.float32)
    )
    coefficients = torch.where(values < 0, -levels.to(torch.int32), levels.to(torch.int32)) * steps
    left = _inverse(_inverse(coefficients, 3, 11), 4, 18) + 128
    return left.clamp(0, 255).permute(0, 1, 3, 2, 4).reshape(len(plane), height, width)


def _shifted(values: torch.Tensor, bits: int) -> torch.Tensor:
    return (values + (1 << (bits - 1))).bitwise_right_shift(bits)


def _forward(blocks: torch.Tensor, axis: int, first: bool) -> torch.Tensor:
    """One dimension of the accurate integer transform; the first pass keeps 2 more bits."""
    v = [blocks.select(axis, k) for k in range(8)]
    s = [v[k] + v[7 - k] for k in range(4)]
    d = [v[k] - v[7 - k] for k in range(4)]
    e0, e3, e1, e2 = s[0] + s[3], s[0] - s[3], s[1] + s[2], s[1] - s[2]
    out: list[Any] = [None] * 8
    for row, value in ((0, e0 + e1), (4, e0 - e1)):
        out[row] = value * 4 if first else _shifted(value, 2)
    bits = 11 if first else 15
    even = (e2 + e3) * 4433
    out[2], out[6] = _shifted(even + e3 * 6270, bits), _shifted(even - e2 * 15137, bits)
    z1, z2 = (d[3] + d[0]) * -7373, (d[2] + d[1]) * -20995
    z5 = (d[3] + d[1] + d[2] + d[0]) * 9633
    z3, z4 = (d[3] + d[1]) * -16069 + z5, (d[2] + d[0]) * -3196 + z5
    out[7] = _shifted(d[3] * 2446 + z1 + z3, bits)
    out[5] = _shifted(d[2] * 16819 + z2 + z4, bits)
    out[3] = _shifted(d[1] * 25172 + z2 + z3, bits)
    out[1] = _shifted(d[0] * 12299 + z1 + z4, bits)
    return torch.stack(out, axis)


def _inverse(blocks: torch.Tensor, axis: int, bits: int) -> torch.Tensor:
    """The inverse of a dimension; the results are shifted right by `bits`."""
    c = [blocks.select(axis, k) for k in range(8)]
    z1 = (c[2] + c[6]) * 4433
    low, high = z1 - c[6] * 15137, z1 + c[2] * 6270
    sum_, difference = (c[0] + c[4]) * 8192, (c[0] - c[4]) * 8192
    even = [sum_ + high, difference + low, difference - low, sum_ - high]
    z5 = (c[7] + c[3] + c[5] + c[1]) * 9633
    z3, z4 = (c[7] + c[3]) * -16069 + z5, (c[5] + c[1]) * -3196 + z5
    z1, z2 = (c[7] + c[1]) * -7373, (c[5] + c[3]) * -20995
    odd = [
        c[1] * 12299 + z1 + z4,
        c[3] * 25172 + z2 + z3,
        c[5] * 16819 + z2 + z4,
        c[7] * 2446 + z1 + z3,
    ]
    upper = [_shifted(e + o, bits) for e, o in zip(even, odd, strict=True)]
    lower = [_shifted(e - o, bits) for e, o in zip(even, odd, strict=True)]
    return torch.stack([*upper, *lower[::-1]], axis)
