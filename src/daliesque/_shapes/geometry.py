# SPDX-License-Identifier: Apache-2.0
"""Matrices of transformations of the plane, one for each sample.

Positions are (x, y), where (0, 0) is the corner of the first pixel. Who moves boxes, points or
masks along with an image uses the same ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


def shears(x: Floats, y: Floats) -> Floats:
    """Rows of 2x3 matrices: x + shear_x * y and y + shear_y * x."""
    matrices = np.zeros((max(len(x), len(y)), 6), np.float32)
    matrices[:, 0] = matrices[:, 4] = 1
    matrices[:, 1], matrices[:, 3] = x, y
    return matrices


def translations(x: Floats, y: Floats) -> Floats:
    """Rows of 2x3 matrices: x + offset_x and y + offset_y."""
    matrices = np.zeros((max(len(x), len(y)), 6), np.float32)
    matrices[:, 0] = matrices[:, 4] = 1
    matrices[:, 2], matrices[:, 5] = x, y
    return matrices


def corners(sizes: NDArray[np.int64]) -> Doubles:
    """The middles of the corner pixels (x, y): top left, top right, bottom right, bottom left."""
    # Those of an image of one row or column must not coincide.
    right, bottom = (np.maximum(sizes[:, axis] - 1.0, 1.0) for axis in (1, 0))
    zero = np.zeros(len(sizes))
    points = ((zero, zero), (right, zero), (right, bottom), (zero, bottom))
    return np.stack([np.stack(point, axis=1) for point in points], axis=1)


def perspectives(start: Doubles, end: Doubles) -> Doubles:
    """3x3 matrices, (N, 9), that lead each of four points (N, 4, 2) of `start` to one of `end`."""
    count = len(start)
    system = np.zeros((count, 8, 8))
    x, y = start[..., 0], start[..., 1]
    for axis in (0, 1):
        rows, target = system[:, axis::2], end[..., axis]
        rows[:, :, 3 * axis], rows[:, :, 3 * axis + 1], rows[:, :, 3 * axis + 2] = x, y, 1
        rows[:, :, 6], rows[:, :, 7] = -x * target, -y * target
    solution = np.linalg.solve(system, end.reshape(count, 8, 1))[..., 0]
    return np.concatenate([solution, np.ones((count, 1))], axis=1)
