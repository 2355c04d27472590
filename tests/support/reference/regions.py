# SPDX-License-Identifier: Apache-2.0
"""Connected regions by flood fill, slow and obvious."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Box = tuple[tuple[int, ...], tuple[int, ...]]


def region_boxes(mask: NDArray[Any], label: int) -> list[Box]:
    """Begin and end of the box around each face-connected region of a label."""
    left = {tuple(int(i) for i in pixel) for pixel in np.argwhere(mask == label)}
    boxes = []
    while left:
        region, border = [], [min(left)]
        left.remove(border[0])
        while border:
            pixel = border.pop()
            region.append(pixel)
            for axis in range(mask.ndim):
                for step in (-1, 1):
                    near = (*pixel[:axis], pixel[axis] + step, *pixel[axis + 1 :])
                    if near in left:
                        left.remove(near)
                        border.append(near)
        pixels = np.array(region)
        low = tuple(int(i) for i in pixels.min(axis=0))
        high = tuple(int(i) + 1 for i in pixels.max(axis=0))
        boxes.append((low, high))
    return boxes
