# SPDX-License-Identifier: Apache-2.0
"""Scenes and calls whose results with torchvision and Albumentations are kept in `goldens/`.

`tools/record_scenes.py` writes the results down, `tests/scenes/test_libraries.py` compares with
them. Positions count from the corners of pixels here, as in boxes of both libraries; their
keypoints count from the centers where images are mirrored.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

RECORD = Path(__file__).parents[1] / "goldens" / "scenes.npz"
SIZE = (48, 64)
# Left, top, right, bottom.
BOXES = np.array(
    [[10, 5, 30, 20], [40, 10, 60, 35], [1, 30, 12, 47], [20, 20, 44, 40], [55, 2, 63, 9]],
    np.float32,
)
POINTS = np.array([[10, 5], [50, 30], [3, 44], [32, 24], [60, 8]], np.float32)
# Both remove boxes of which less is left.
LEAST_PART = 0.3


class Call(NamedTuple):
    """What is done, with which numbers."""

    name: str
    numbers: dict[str, Any]


CALLS = (
    Call("flip", {"horizontal": 1, "vertical": 0}),
    Call("flip", {"horizontal": 0, "vertical": 1}),
    Call("crop", {"top": 8, "left": 15, "height": 30, "width": 34}),
    Call("resize", {"height": 80, "width": 50}),
    Call("resized_crop", {"top": 4, "left": 9, "height": 36, "width": 44, "size": [60, 33]}),
    Call("pad", {"height": 60, "width": 70}),
    Call("rotate", {"angle": 20.0}),
    Call("rotate", {"angle": -70.0}),
    Call("affine", {"angle": 10.0, "x": 3.0, "y": 4.0, "scale": 1.2, "shear": 0.0}),
    Call("affine", {"angle": -25.0, "x": -5.0, "y": 2.0, "scale": 0.8, "shear": 0.0}),
)


def mask() -> Array:
    """A number for each box in its pixels, the last ones above the first."""
    values = np.zeros(SIZE, np.uint8)
    for number, (left, top, right, bottom) in enumerate(BOXES.astype(int), 1):
        values[top:bottom, left:right] = number
    return values
