# SPDX-License-Identifier: Apache-2.0
"""Equalized histograms against plain NumPy and OpenCV."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_near, assert_same
from support.ramps import Array, all_instruction_sets, make_image, raises, run

TILES = {"tiles_x": 3, "tiles_y": 2, "clip_limit": 2.0}


def equalize_plane(plane: Array) -> Array:
    """Equalize by sorting: a value's rank among all above the lowest one."""
    lowest = plane.min()
    above = np.sort(plane[plane > lowest])
    if above.size == 0:
        return plane.copy()
    rank = np.searchsorted(above, plane, side="right").astype(np.float64)
    result: Array = np.rint(rank * 255 / above.size).astype(np.uint8)
    return result


@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"])
def test_equalize(layout: str) -> None:
    extents = {"F": 2, "C": 3, "H": 23, "W": 34}
    image = make_image(tuple(extents[axis] for axis in layout))
    expected = np.empty_like(image)
    planes = [axis for axis, name in enumerate(layout) if name in "FC"]
    for index in np.ndindex(*(image.shape[axis] for axis in planes)):
        where: list[Any] = [slice(None)] * image.ndim
        for axis, number in zip(planes, index, strict=True):
            where[axis] = number
        expected[tuple(where)] = equalize_plane(image[tuple(where)])
    # Ranks that are scaled to halves round by the last bit of a float.
    assert_near(run("equalize", image, layout), expected)


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7])
def test_equalize_against_opencv(channels: int) -> None:
    for seed in range(5):
        shape = (*np.random.default_rng(seed).integers(1, 70, 2), channels)
        image = make_image(shape, seed=seed)
        planes = [cv2.equalizeHist(np.ascontiguousarray(image[..., c])) for c in range(channels)]
        assert_same(run("equalize", image, "HWC"), np.stack(planes, axis=-1))


@pytest.mark.parametrize("value", [0, 9, 255])
def test_equalize_keeps_flat_images(value: int) -> None:
    image = np.full((5, 6, 3), value, np.uint8)
    assert_same(run("equalize", image, "HWC"), image)


def opencv_clahe(image: Array, tiles_x: int, tiles_y: int, clip_limit: float) -> Array:
    result: Array = cv2.createCLAHE(clip_limit, (tiles_x, tiles_y)).apply(image)
    return result


@pytest.mark.parametrize("shape", [(40, 60), (37, 61), (1, 1), (5, 90), (200, 150)])
@pytest.mark.parametrize("clip_limit", [0.0, 0.5, 2.0, 40.0])
@pytest.mark.parametrize("tiles", [(1, 1), (4, 5), (8, 8), (100, 3)])
def test_clahe_of_gray(shape: tuple[int, int], clip_limit: float, tiles: tuple[int, int]) -> None:
    image = make_image(shape)
    arguments = {"tiles_x": tiles[0], "tiles_y": tiles[1], "clip_limit": clip_limit}
    expected = opencv_clahe(image, **arguments)
    assert_same(run("clahe", image, "HW", **arguments), expected)
    assert_same(run("clahe", image[..., None], "HWC", **arguments), expected[..., None])


def test_clahe_of_colors() -> None:
    image = np.random.default_rng(3).integers(0, 256, (67, 90, 3), np.uint8)
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2Lab)
    lab[..., 0] = opencv_clahe(np.ascontiguousarray(lab[..., 0]), **TILES)
    assert_same(run("clahe", image, "HWC", **TILES), cv2.cvtColor(lab, cv2.COLOR_Lab2RGB))
    planes = [opencv_clahe(np.ascontiguousarray(image[..., c]), **TILES) for c in range(3)]
    actual = run("clahe", image, "HWC", luma_only=False, **TILES)
    assert_same(actual, np.stack(planes, axis=-1))


def test_clahe_keeps_colors() -> None:
    """The lightness changes; hues, which OpenCV's Lab in bytes keeps to a few degrees, do not."""
    ramp = np.linspace(0.3, 0.9, 64)[None, :, None]
    image = np.broadcast_to(ramp * [200, 120, 60], (64, 64, 3)).astype(np.uint8)
    result = run("clahe", image, "HWC", tiles_x=2, tiles_y=2, clip_limit=3.0).astype(np.float64)
    assert np.abs(result - image).max() > 30
    shares = result[:, 32] / result[:, 32].sum(axis=-1, keepdims=True)
    assert np.abs(shares - np.array([200, 120, 60]) / 380).max() < 0.1


def test_clahe_errors() -> None:
    image = make_image((8, 8, 3))
    for name in ("tiles_x", "tiles_y", "bins"):
        with raises(f"clahe: '{name}' must be positive; got 0"):
            run("clahe", image, "HWC", **TILES | {name: 0})
    with raises("clahe: there may be at most 1048576 tiles; got 65536 by 65536"):
        run("clahe", image, "HWC", tiles_x=65536, tiles_y=65536, clip_limit=1.0)
    with raises(r"clahe: images must have 1 or 3 channels; got the shape \(8, 8, 2\) \(sample 0\)"):
        run("clahe", image[..., :2], "HWC", **TILES)
    with pytest.raises(TypeError, match="clahe: the argument 'clip_limit' is missing"):
        ndd.clahe(image, tiles_x=1, tiles_y=1)
