# SPDX-License-Identifier: Apache-2.0
"""Pixels between pixels, with plain NumPy in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def sampled(image: Array, positions: list[Array], fill: float | None) -> Array:
    """Linear interpolation of `image` at index coordinates, one array for each spatial axis."""
    whole = [np.floor(position).astype(int) for position in positions]
    rest = [position - index for position, index in zip(positions, whole, strict=True)]
    result = np.zeros((*positions[0].shape, image.shape[-1]))
    for corner in np.ndindex(*(2,) * len(positions)):
        indices = [index + bit for index, bit in zip(whole, corner, strict=True)]
        weight = np.ones(positions[0].shape)
        outside = np.zeros(positions[0].shape, bool)
        for index, part, bit, extent in zip(indices, rest, corner, image.shape, strict=False):
            weight = weight * (part if bit else 1 - part)
            outside |= (index < 0) | (index >= extent)
        clipped = tuple(
            np.clip(index, 0, extent - 1)
            for index, extent in zip(indices, image.shape, strict=False)
        )
        values = image[clipped].astype(float)
        if fill is not None:
            values[outside] = fill
        result += weight[..., None] * values
    return result


def affine_positions(matrix: Array, size: tuple[int, ...]) -> list[Array]:
    """Source indices (outermost axis first) of the pixels of a result of the given size."""
    grid = np.stack(np.meshgrid(*(np.arange(n) + 0.5 for n in size), indexing="ij"), -1)[..., ::-1]
    dims = len(size)
    positions = grid @ matrix[:, :dims].T + matrix[:, dims] - 0.5
    return [positions[..., dims - 1 - axis] for axis in range(dims)]
