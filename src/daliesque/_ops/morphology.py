# SPDX-License-Identifier: Apache-2.0
"""Filters that pick one of the values under a window: median, maximum, minimum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.args import IntsPerFrame, IntsPerSample
from .._engine.dtype import NUMERIC
from .._engine.errors import join_names
from .._engine.metadata import Result
from .._engine.op import Samples, op
from .._shapes.windows import BORDERS

_LAYOUTS = "HW HWC FHWC CHW FCHW"
_SMALLEST, _MEDIAN, _LARGEST = range(3)
_BORDER_NAMES = {
    "constant": "constant",
    "replicate": "clamp",
    "reflect": "reflect_1001",
    "reflect_101": "reflect_101",
    "wrap": "wrap",
}
_DEFAULT_SIZE = 3


def _axes(input: Samples) -> tuple[int, int, bool]:
    return int(input.layout.startswith("C")), 2, input.layout.endswith("C")


def _pairs(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """One value or two (width, height) for each sample, as two."""
    if values.size and values.shape[1] not in (1, 2):
        msg = f"'{name}' needs one or two values (width, height); got {values[0].tolist()}."
        raise ValueError(msg)
    return np.ascontiguousarray(np.broadcast_to(values, (len(values), 2)), np.int32)


def _require(good: NDArray[np.bool_], name: str, rule: str, values: NDArray[Any]) -> None:
    if not good.all():
        sample = int(np.argmin(good.all(axis=1)))
        shown = values[min(sample, len(values) - 1)].tolist()
        msg = f"'{name}' must be {rule}; got {shown} (sample {sample})."
        raise ValueError(msg)


@op(
    name="experimental.median_blur",
    layouts=_LAYOUTS,
    dtypes=NUMERIC,
    sequences=True,
    result=Result(shape="input"),
    weight=8,
)
def median_blur(input: Samples, /, *, window_size: IntsPerSample = (3, 3)) -> Samples:
    """Replace each pixel by the median of its neighbors, channel by channel.

    Beyond the edges the outermost pixels are repeated. Runs on the GPU only in the reference.

    Parameters
    ----------
    window_size
        Width and height of the neighborhood, or one number for both. An even number of neighbors
        has no middle one: the next larger is taken.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[1, 2, 90, 3, 4]], np.uint8), layout="HW")
    >>> ndd.experimental.median_blur(image).torch().tolist()
    [[1, 2, 3, 4, 4]]
    """
    window = _pairs("window_size", window_size)
    _require(window > 0, "window_size", "positive", window)
    anchor = np.asarray(window // 2, np.int32)
    return input.kernels.rank_filter(input, _axes(input), _MEDIAN, window, anchor, BORDERS["clamp"])


def _morphology(
    input: Samples,
    rank: int,
    mask_size: NDArray[Any],
    anchor: NDArray[Any],
    iterations: int,
    border_mode: str,
) -> Samples:
    if border_mode not in _BORDER_NAMES:
        msg = f"'border_mode' must be {join_names(_BORDER_NAMES)}; got {border_mode!r}."
        raise ValueError(msg)
    if iterations < 1:
        msg = f"'iterations' must be positive; got {iterations}."
        raise ValueError(msg)
    size = _pairs("mask_size", mask_size)
    anchors = _pairs("anchor", anchor)
    unset = (size == -1).any(axis=1, keepdims=True)
    size = np.where(unset, np.int32(_DEFAULT_SIZE), size)
    _require(size > 0, "mask_size", "positive", size)
    if len(anchors) and len(size):
        anchors = np.where(anchors < 0, size // 2, anchors)
        _require(anchors < size, "anchor", "inside the structuring element", anchors)
    border = BORDERS[_BORDER_NAMES[border_mode]]
    for _ in range(iterations):
        input = input.kernels.rank_filter(input, _axes(input), rank, size, anchors, border)
    return input


@op(
    name="experimental.dilate",
    layouts=_LAYOUTS,
    dtypes=NUMERIC,
    sequences=True,
    result=Result(shape="input"),
    weight=4,
)
def dilate(
    input: Samples,
    /,
    *,
    mask_size: IntsPerFrame = (3, 3),
    anchor: IntsPerFrame = (-1, -1),
    iterations: int = 1,
    border_mode: str = "constant",
) -> Samples:
    """Replace each pixel by the largest of its neighbors, channel by channel.

    Runs on the GPU only in the reference.

    Parameters
    ----------
    mask_size
        Width and height of the neighborhood (the structuring element), or one number for both.
    anchor
        The column and row of the structuring element that lie over the pixel; -1 stands for the
        middle.
    iterations
        How often to do it.
    border_mode
        What lies beyond the edges: "constant" (nothing that counts), "replicate", "reflect",
        "reflect_101" or "wrap".

    Examples
    --------
    >>> image = ndd.tensor(np.array([[0, 0, 9, 0, 0]], np.uint8), layout="HW")
    >>> ndd.experimental.dilate(image).torch().tolist()
    [[0, 9, 9, 9, 0]]
    """
    return _morphology(input, _LARGEST, mask_size, anchor, iterations, border_mode)


@op(
    name="experimental.erode",
    layouts=_LAYOUTS,
    dtypes=NUMERIC,
    sequences=True,
    result=Result(shape="input"),
    weight=4,
)
def erode(
    input: Samples,
    /,
    *,
    mask_size: IntsPerFrame = (3, 3),
    anchor: IntsPerFrame = (-1, -1),
    iterations: int = 1,
    border_mode: str = "constant",
) -> Samples:
    """Replace each pixel by the smallest of its neighbors, channel by channel.

    Runs on the GPU only in the reference.

    Parameters
    ----------
    mask_size
        Width and height of the neighborhood (the structuring element), or one number for both.
    anchor
        The column and row of the structuring element that lie over the pixel; -1 stands for the
        middle.
    iterations
        How often to do it.
    border_mode
        What lies beyond the edges: "constant" (nothing that counts), "replicate", "reflect",
        "reflect_101" or "wrap".

    Examples
    --------
    >>> image = ndd.tensor(np.array([[9, 9, 0, 9, 9, 9]], np.uint8), layout="HW")
    >>> ndd.experimental.erode(image).torch().tolist()
    [[9, 0, 0, 0, 9, 9]]
    """
    return _morphology(input, _SMALLEST, mask_size, anchor, iterations, border_mode)
