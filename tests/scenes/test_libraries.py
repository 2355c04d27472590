# SPDX-License-Identifier: Apache-2.0
"""Scenes as torchvision (v2, tv_tensors) and Albumentations move them, with the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close
from support.scene_calls import BOXES, CALLS, LEAST_PART, POINTS, RECORD, SIZE, Call, mask

with np.load(RECORD) as record:
    RECORDED = dict(record)


def affine_matrix(angle: float, x: float, y: float, factor: float) -> list[float]:
    """The matrix of a clockwise rotation about the center, a scale and a translation."""
    radians = np.deg2rad(angle)
    c, s = factor * np.cos(radians), factor * np.sin(radians)
    center = np.array([SIZE[1] / 2, SIZE[0] / 2])
    linear = np.array([[c, -s], [s, c]])
    offset = center + [x, y] - linear @ center
    return [float(value) for value in np.column_stack([linear, offset]).ravel()]


def run(call: Call, scene: ndd.Scene) -> ndd.Scene:
    numbers = call.numbers
    begin = [numbers.get("left", 0), numbers.get("top", 0)]
    extent = [numbers.get("width", 0), numbers.get("height", 0)]
    match call.name:
        case "flip":
            return ndd.flip(scene, **numbers)
        case "crop":
            return ndd.slice(scene, start=begin, shape=extent)
        case "resize":
            return ndd.resize(scene, size=extent[::-1])
        case "resized_crop":
            end = np.add(begin, extent)[::-1]
            return ndd.resize(scene, roi_start=begin[::-1], roi_end=end, size=numbers["size"])
        case "pad":
            return ndd.pad(scene, axis_names="HW", shape=extent[::-1])
        case "rotate":
            return ndd.rotate(scene, angle=numbers["angle"], keep_size=True, fill_value=0)
    matrix = affine_matrix(numbers["angle"], numbers["x"], numbers["y"], numbers["scale"])
    return ndd.warp_affine(scene, matrix=matrix, inverse_map=False, fill_value=0)


def make_scene(shift: float, **options: Any) -> ndd.Scene:
    return ndd.Scene(
        np.zeros((*SIZE, 3), np.uint8),
        boxes=BOXES,
        labels=np.arange(len(BOXES)),
        masks=mask(),
        keypoints=POINTS + np.float32(shift),
        **options,
    )


NUMBERS = range(len(CALLS))


def test_the_record_is_up_to_date() -> None:
    assert RECORDED["calls"].tolist() == [repr(call) for call in CALLS], "run record_scenes.py"
    assert "torchvision" in str(RECORDED["producers"])


@pytest.mark.parametrize("number", NUMBERS, ids=lambda i: f"{CALLS[i].name} {i}")
def test_as_torchvision(number: int) -> None:
    """It neither cuts nor removes boxes here; points count from centers where it mirrors."""
    shift = 0.5 if CALLS[number].name == "flip" else 0.0
    result = run(CALLS[number], make_scene(shift, clip=False))
    boxes, points, pixels = (
        RECORDED[f"{number}.torchvision.{part}"] for part in ("boxes", "points", "mask")
    )
    kept = result.labels.numpy()
    height, width = pixels.shape
    inside = (boxes[:, :2] < [width, height]).all(axis=1) & (boxes[:, 2:] > 0).all(axis=1)
    np.testing.assert_array_equal(kept, np.flatnonzero(inside))
    assert_close(result.boxes, boxes[kept], "rotated boxes")
    assert_close(result.keypoints.numpy() - shift, points, "rotated boxes")
    np.testing.assert_array_equal(result.masks, pixels)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda i: f"{CALLS[i].name} {i}")
def test_as_albumentations(number: int) -> None:
    """Its points count from the centers of pixels where they are mirrored or rotated."""
    shift = 0.5 if CALLS[number].name in ("flip", "rotate", "affine") else 0.0
    result = run(CALLS[number], make_scene(shift, min_visibility=LEAST_PART))
    boxes, labels, points, pixels = (
        RECORDED[f"{number}.albumentations.{part}"]
        for part in ("boxes", "labels", "points", "mask")
    )
    np.testing.assert_array_equal(result.labels, labels)
    assert_close(result.boxes, boxes, "rotated boxes")
    assert_close(result.keypoints.numpy() - shift, points, "rotated boxes")
    np.testing.assert_array_equal(result.masks, pixels)
