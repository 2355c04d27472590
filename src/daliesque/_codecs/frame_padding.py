# SPDX-License-Identifier: Apache-2.0
"""Which frames to take where a video has none: before its beginning and after its end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The ways to pad, by their names.
PAD_MODES = {
    "none": "none",
    "": "none",
    "constant": "constant",
    "edge": "edge",
    "repeat": "edge",
    "reflect_1001": "reflect_1001",
    "symmetric": "reflect_1001",
    "reflect_101": "reflect_101",
    "reflect": "reflect_101",
}


def pad_frames(
    numbers: NDArray[np.int64], begin: int, end: int, mode: str
) -> tuple[NDArray[np.int64], int | None]:
    """Replace numbers outside of [begin, end); -1 stands for the fill value.

    Also returns the first number for which there is nothing, if mode is "none". As the reference
    does, reflections go from 0, not from `begin`.
    """
    outside = (numbers < begin) | (numbers >= end)
    if not outside.any():
        return numbers, None
    if mode == "none":
        return numbers, int(numbers[np.argmax(outside)])
    if mode == "constant":
        replaced = np.full_like(numbers, -1)
    elif mode == "edge":
        replaced = np.clip(numbers, begin, end - 1)
    elif mode == "reflect_1001":
        folded = numbers % (2 * end)
        replaced = np.minimum(folded, 2 * end - 1 - folded)
    else:
        period = max(1, 2 * end - 2)
        folded = numbers % period
        replaced = np.minimum(folded, period - folded) if end > 1 else np.zeros_like(numbers)
    return np.where(outside, replaced, numbers), None
