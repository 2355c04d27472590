# SPDX-License-Identifier: Apache-2.0
"""Scenes for tests, and what operators should do to them, written with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import daliesque as ndd

Array = NDArray[Any]

SIZES = ((48, 64), (61, 40), (50, 50), (33, 71))
BOX_COUNTS = (3, 0, 1, 6)


def coordinates(size: tuple[int, int]) -> Array:
    """An image whose pixels hold the positions of their centers, (x, y)."""
    y, x = np.mgrid[: size[0], : size[1]]
    return np.stack([x + 0.5, y + 0.5], axis=2).astype(np.float32)


def random_boxes(rng: np.random.Generator, size: tuple[int, int], count: int) -> Array:
    """Boxes (left, top, right, bottom) inside of an image, with fractions of pixels."""
    extent = np.array([size[1], size[0]])
    low = rng.uniform(0, 0.7, (count, 2))
    high = low + rng.uniform(0.05, 1, (count, 2)) * (1 - low)
    return np.concatenate([low * extent, high * extent], axis=1).astype(np.float32)


def filled(boxes: Array, size: tuple[int, int]) -> Array:
    """A mask (boxes, height, width) with ones in the whole pixels of each box."""
    masks = np.zeros((len(boxes), *size), np.uint8)
    for mask, (left, top, right, bottom) in zip(masks, boxes.astype(int), strict=True):
        mask[top:bottom, left:right] = 1
    return masks


def make_parts(seed: int = 0) -> dict[str, list[Array]]:
    """The parts of a batch of scenes: images of different sizes, one of them without boxes."""
    rng = np.random.default_rng(seed)
    boxes = [random_boxes(rng, *pair) for pair in zip(SIZES, BOX_COUNTS, strict=True)]
    points = [rng.uniform(0.2, 0.8, (5, 2)) * (width, height) for height, width in SIZES]
    return {
        "image": [coordinates(size) for size in SIZES],
        "boxes": boxes,
        "labels": [np.arange(len(rows), dtype=np.int32) + 10 * i for i, rows in enumerate(boxes)],
        "masks": [filled(*pair) for pair in zip(boxes, SIZES, strict=True)],
        "keypoints": [rows.astype(np.float32) for rows in points],
    }


def make_scene(seed: int = 0, **options: Any) -> ndd.Scene:
    """A batch of scenes with memory of its own, so that calls are asynchronous."""
    parts = make_parts(seed)
    image = ndd.batch(parts.pop("image"), layout="HWC")
    return ndd.Scene(image, **{name: ndd.batch(part) for name, part in parts.items()}, **options)


def transformed(matrix: Array, points: Array) -> Array:
    """Points (x, y) moved by a 3x3 matrix."""
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T
    result: Array = homogeneous[:, :2] / homogeneous[:, 2:]
    return result


def moved_boxes(
    matrix: Array, boxes: Array, size: tuple[int, int], min_visibility: float = 0.0
) -> tuple[Array, Array]:
    """Boxes around transformed boxes, cut to an image, and the numbers of those that are left."""
    found, numbers = [], []
    for number, (left, top, right, bottom) in enumerate(boxes.astype(np.float64)):
        corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
        ends = transformed(matrix, corners)
        low, high = ends.min(axis=0), ends.max(axis=0)
        limit = np.array([size[1], size[0]])
        cut_low, cut_high = np.clip(low, 0, limit), np.clip(high, 0, limit)
        remaining = np.prod(cut_high - cut_low)
        if remaining > 0 and remaining / np.prod(high - low) >= min_visibility:
            found.append(np.concatenate([cut_low, cut_high]))
            numbers.append(number)
    return np.array(found).reshape(-1, 4), np.array(numbers, int)


def shift(x: float, y: float) -> Array:
    """The matrix that moves points."""
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1.0]])


def scale(x: float, y: float) -> Array:
    """The matrix that scales positions."""
    return np.diag([x, y, 1.0])


def rotation(degrees: float) -> Array:
    """The matrix that rotates counterclockwise, as seen with y downwards."""
    angle = np.deg2rad(degrees)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


def interpolated(image: Array, points: Array) -> Array:
    """The values of an image at positions (x, y), linear between the centers of pixels."""
    x, y = points[:, 0] - 0.5, points[:, 1] - 0.5
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    across, down = (x - left)[:, None], (y - top)[:, None]
    upper = image[top, left] * (1 - across) + image[top, left + 1] * across
    lower = image[top + 1, left] * (1 - across) + image[top + 1, left + 1] * across
    result: Array = upper * (1 - down) + lower * down
    return result
