# SPDX-License-Identifier: Apache-2.0
"""Dense optical flow between two gray images, by OpenCV's "dense inverse search" (DIS)."""

from __future__ import annotations

import functools
import math
import types
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Smaller images are extended to this size: OpenCV has no check of its own for some of them.
_LEAST_EXTENT = 32
_PATCH = 8


class Preset(NamedTuple):
    """How carefully flow is searched: the smaller the numbers but the last, the slower."""

    # The search ends at images of half the size, 2 ** finest_scale times.
    finest_scale: int
    patch_stride: int
    descent_steps: int
    refinement_steps: int


BEST = Preset(0, 3, 25, 10)
MEDIUM = Preset(1, 3, 25, 5)
FAST = Preset(2, 4, 16, 5)


@functools.cache
def opencv() -> types.ModuleType:
    """OpenCV, which is optional."""
    try:
        import cv2
    except ModuleNotFoundError as error:
        msg = (
            "optical_flow: flow is searched by OpenCV, which is not installed. Run: "
            "pip install daliesque[flow]"
        )
        raise ModuleNotFoundError(msg, name="cv2") from error
    module: types.ModuleType = cv2
    return module


def find_flow(image: Array, other: Array, preset: Preset, hint: Array | None) -> Array:
    """For each pixel of a gray image (uint8), where it is in the other one, as (x, y) offsets.

    `hint` is a guess of the result.
    """
    height, width = image.shape
    margins = [(0, max(0, _LEAST_EXTENT - extent)) for extent in (height, width)]
    if any(after for _, after in margins):
        image, other = (np.pad(part, margins, mode="edge") for part in (image, other))
        if hint is not None:
            hint = np.pad(hint, [*margins, (0, 0)], mode="edge")
    cv2 = opencv()
    search = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    search.setPatchSize(_PATCH)
    search.setFinestScale(min(preset.finest_scale, _coarsest_scale(image.shape)))
    search.setPatchStride(preset.patch_stride)
    search.setGradientDescentIterations(preset.descent_steps)
    search.setVariationalRefinementIterations(preset.refinement_steps)
    # The search writes into what it is given.
    start = None if hint is None else np.array(hint, np.float32)
    image, other = (np.ascontiguousarray(part) for part in (image, other))
    flow: Array = search.calc(image, other, start)
    return flow[:height, :width]


def _coarsest_scale(shape: tuple[int, ...]) -> int:
    """The scale at which OpenCV begins for images of a shape; it must not end at a coarser one."""
    by_width = int(math.log2(max(shape) / (4 * _PATCH)) + 0.5)
    return max(0, min(by_width, int(math.log2(min(shape) / _PATCH))))


def gray_frames(frames: Array, order: str) -> Array:
    """Frames FHWC of one or three channels (`order` "RGB" or "BGR") as gray ones FHW of uint8.

    Other types than uint8 are stretched from their smallest to their largest value.
    """
    if frames.dtype != np.uint8:
        frames = _stretched(frames)
    if frames.shape[-1] == 1:
        return frames[..., 0]
    cv2 = opencv()
    code = cv2.COLOR_RGB2GRAY if order == "RGB" else cv2.COLOR_BGR2GRAY
    return np.stack([cv2.cvtColor(np.ascontiguousarray(frame), code) for frame in frames])


def _stretched(frames: Array) -> Array:
    values = frames.astype(np.float32)
    low, high = float(values.min()), float(values.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        msg = "frames must hold finite numbers; got infinities or NaN."
        raise ValueError(msg)
    scale = 255 / (high - low) if high > low else 0.0
    return np.asarray(np.rint((values - low) * scale), np.uint8)


def reduced(flow: Array, grid: int) -> Array:
    """The mean flow of each cell of a grid; the last ones may be smaller."""
    if grid == 1:
        return flow
    for axis in (0, 1):
        starts = np.arange(0, flow.shape[axis], grid)
        counts = np.diff(np.append(starts, flow.shape[axis]))
        sums = np.add.reduceat(flow, starts, axis=axis)
        flow = sums / counts.reshape((-1, 1, 1) if axis == 0 else (1, -1, 1)).astype(np.float32)
    return flow


def enlarged(hint: Array, grid: int, height: int, width: int) -> Array:
    """One vector for each pixel, from one for each cell of a grid."""
    return hint.repeat(grid, axis=0).repeat(grid, axis=1)[:height, :width]
