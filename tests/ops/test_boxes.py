# SPDX-License-Identifier: Apache-2.0
"""Operators on boxes against plain formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import daliesque as ndd
from support.compare import assert_close
from support.strategies import box_tables, coordinates


def to_sizes(boxes: Any) -> Any:
    return np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)


@given(box_tables(), st.booleans(), st.booleans())
def test_bb_flip(boxes: Any, horizontal: bool, vertical: bool) -> None:
    left, top, right, bottom = boxes.T
    if horizontal:
        left, right = 1 - right, 1 - left
    if vertical:
        top, bottom = 1 - bottom, 1 - top
    expected = np.stack([left, top, right, bottom], axis=1)
    arguments = {"horizontal": horizontal, "vertical": vertical}
    assert_close(ndd.bb_flip(boxes, ltrb=True, **arguments), expected, "unit values")
    flipped = np.asarray(ndd.bb_flip(to_sizes(boxes), **arguments))
    assert_close(flipped, to_sizes(expected), "unit values")


def test_shapes_of_boxes() -> None:
    box = np.array([0.1, 0.2, 0.5, 0.6], np.float32)
    assert ndd.bb_flip(box).shape == (4,)
    assert ndd.bb_flip(np.stack([[box, box]])).shape == (1, 2, 4)
    assert ndd.bbox_paste(np.zeros((0, 4), np.float32), ratio=2).shape == (0, 4)


@given(box_tables(), st.floats(1, 5, width=32), coordinates, coordinates)
def test_bbox_paste(boxes: Any, ratio: float, x: float, y: float) -> None:
    """A canvas of side `ratio` in units of the image, which begins at (x, y) * (ratio - 1)."""
    begin = np.array([x, y]) * (ratio - 1)
    expected = (boxes.reshape(-1, 2) + begin) / ratio
    pasted = np.asarray(ndd.bbox_paste(boxes, ratio=ratio, paste_x=x, paste_y=y, ltrb=True))
    assert_close(pasted.reshape(-1, 2), expected, "unit values")
    assert (pasted <= 1).all()
    sizes = np.asarray(ndd.bbox_paste(to_sizes(boxes), ratio=ratio, paste_x=x, paste_y=y))
    assert_close(sizes[:, 2:], to_sizes(boxes)[:, 2:] / ratio, "unit values")


def rotated_corners(box: Any, angle: float, shape: tuple[int, int], canvas: tuple[int, int]) -> Any:
    """The corners of a box in pixels, rotated around the middle of the image."""
    height, width = shape
    points = np.array([(x * width, y * height) for x in box[::2] for y in box[1::2]])
    centered = points - np.array([width, height]) / 2
    radians = np.deg2rad(angle)
    # y points down, so that this rotates counterclockwise.
    matrix = np.array([[np.cos(radians), np.sin(radians)], [-np.sin(radians), np.cos(radians)]])
    return centered @ matrix.T + np.array([canvas[1], canvas[0]]) / 2


@given(box_tables(), st.floats(-400, 400), st.integers(2, 300), st.integers(2, 300))
def test_bbox_rotate(boxes: Any, angle: float, height: int, width: int) -> None:
    size = [500.0, 700.0]
    rotated = np.asarray(
        ndd.bbox_rotate(boxes, angle=angle, input_shape=[height, width], size=size)
    )
    assert len(rotated) == len(boxes)
    for box, result in zip(boxes, rotated, strict=True):
        corners = rotated_corners(box, angle, (height, width), (500, 700)) / size[::-1]
        expected = [*corners.min(axis=0), *corners.max(axis=0)]
        assert_close(result, expected, "rotated boxes")


def test_rotated_boxes_are_cut_and_removed() -> None:
    """A rotation by 90 degrees about (100, 50) moves what is far to the left below the image."""
    boxes = np.array([[0, 0, 100, 10], [0, 45, 100, 55], [20, 45, 30, 55]], np.float32)
    labels = np.array([3, 4, 5], np.int32)
    arguments: dict[str, Any] = {
        "angle": 90,
        "input_shape": [100, 200, 3],
        "keep_size": True,
        "bbox_normalized": False,
        "shape_layout": "HWC",
    }
    rotated, rest = ndd.bbox_rotate(boxes, labels, **arguments)
    assert np.asarray(rest).tolist() == [3, 4]
    assert_close(rotated, [[50, 50, 60, 100], [95, 50, 105, 100]], "rotated pixels")
    _, everything = ndd.bbox_rotate(boxes, labels, remove_threshold=0.0, **arguments)
    assert np.asarray(everything).tolist() == [3, 4, 5]
    _, complete = ndd.bbox_rotate(boxes, labels[:, None], remove_threshold=0.6, **arguments)
    assert complete.shape == (0, 1)
    sizes = ndd.bbox_rotate(to_sizes(boxes), bbox_layout="xyWH", **arguments)
    assert_close(sizes, [[50, 50, 10, 50], [95, 50, 10, 50]], "rotated pixels")


def test_modes_of_rotation() -> None:
    box = np.array([[0.4, 0.45, 0.6, 0.55]], np.float32)
    arguments: dict[str, Any] = {"angle": 30, "input_shape": [100, 100], "keep_size": True}
    areas = []
    for mode in ("fixed", "halfway", "expand"):
        left, top, right, bottom = np.asarray(ndd.bbox_rotate(box, mode=mode, **arguments))[0]
        assert_close([left + right, top + bottom], [1, 1], "cropped boxes")
        areas.append((right - left) * (bottom - top))
    assert_close(areas[0], 0.2 * 0.1, "rotated areas")
    assert areas == sorted(areas)


def overlap(box: Any, other: Any) -> float:
    low, high = np.maximum(box[:2], other[:2]), np.minimum(box[2:], other[2:])
    common = np.prod(np.maximum(high - low, 0))
    return float(common / (np.prod(box[2:] - box[:2]) + np.prod(other[2:] - other[:2]) - common))


def centered(box: Any) -> Any:
    return np.concatenate([(box[:2] + box[2:]) / 2, box[2:] - box[:2]])


@given(box_tables(), box_tables(least=1), st.floats(0, 1), st.booleans())
def test_box_encoder(boxes: Any, anchors: Any, criteria: float, offset: bool) -> None:
    labels = np.arange(1, len(boxes) + 1, dtype=np.int32)
    means, stds = [0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]
    arguments: dict[str, Any] = {"means": means, "stds": stds, "scale": 3.0}
    encoded, found = ndd.box_encoder(
        boxes, labels, anchors=anchors, criteria=criteria, offset=offset, **arguments
    )
    overlaps = np.array([[overlap(box, anchor) for anchor in anchors] for box in boxes])
    overlaps = overlaps.reshape(len(boxes), len(anchors))
    for row in overlaps:
        row[len(row) - 1 - np.argmax(row[::-1])] = 2
    ordered = np.sort(overlaps, axis=None)
    unclear = np.abs(np.concatenate([np.diff(ordered), ordered - criteria])) < 1e-5
    if (unclear & (np.abs(np.concatenate([ordered[1:], ordered]) - 2) > 1e-3)).any():
        return
    for k, anchor in enumerate(anchors):
        column = overlaps[:, k]
        best = len(boxes) - 1 - int(np.argmax(column[::-1])) if len(boxes) else -1
        matched = best >= 0 and column[best] > criteria
        assert np.asarray(found)[k] == (labels[best] if matched else 0)
        expected = centered(boxes[best] if matched else anchor)
        if offset:
            own, other = expected * 3.0, centered(anchor) * 3.0
            raw = np.concatenate([(own - other)[:2] / other[2:], np.log(own[2:] / other[2:])])
            expected = (raw - means) / stds if matched else np.zeros(4)
        assert_close(np.asarray(encoded)[k], expected, "encoded boxes")


BOX = np.array([[0.1, 0.1, 0.5, 0.5]], np.float32)
LABEL = np.array([1], np.int32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndd.bb_flip(BOX[:, :3]), r"bb_flip: boxes have 4 numbers each; .* \(1, 3\)"),
        (lambda: ndd.bb_flip(BOX.astype("f8")), "bb_flip: the type float64 is not supported"),
        (lambda: ndd.bbox_paste(BOX, ratio=0), "bbox_paste: 'ratio' must be positive; got 0"),
        (
            lambda: ndd.bbox_rotate(BOX, angle=1, input_shape=[5]),
            "bbox_rotate: 'input_shape' needs 2 values",
        ),
        (
            lambda: ndd.bbox_rotate(BOX, angle=1, input_shape=[5, 5], mode="x"),
            "bbox_rotate: 'mode' must be 'expand', 'fixed' or 'halfway'; got 'x'",
        ),
        (
            lambda: ndd.bbox_rotate(BOX, angle=1, input_shape=[5, 5], remove_threshold=2),
            r"bbox_rotate: 'remove_threshold' must lie in \[0, 1\]; got 2",
        ),
        (
            lambda: ndd.bbox_rotate(BOX, angle=1, input_shape=[5, 5], keep_size=True, size=[1, 2]),
            "bbox_rotate: 'keep_size' and 'size' exclude each other",
        ),
        (
            lambda: ndd.bbox_rotate(BOX, LABEL[:0], angle=1, input_shape=[5, 5]),
            r"bbox_rotate: labels must have the shape .* got \[\(0,\)\] for \[1\] boxes",
        ),
        (lambda: ndd.box_encoder(BOX, LABEL, anchors=[1, 2]), "box_encoder: 'anchors' needs 4"),
        (
            lambda: ndd.box_encoder(BOX, LABEL, anchors=BOX, stds=[1, 0, 1, 1]),
            "box_encoder: 'stds' must not contain 0",
        ),
        (
            lambda: ndd.box_encoder(BOX, LABEL[:0], anchors=BOX),
            "box_encoder: labels must be int32, one for each box",
        ),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
