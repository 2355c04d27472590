# SPDX-License-Identifier: Apache-2.0
"""random_bbox_crop against plain formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import daliesque as ndd
from support.compare import TOLERANCES, assert_close
from support.strategies import box_tables


@given(box_tables(), st.integers(0, 1000))
def test_random_bbox_crop(boxes: Any, seed: int) -> None:
    labels = np.arange(len(boxes), dtype=np.int32) + 10
    anchor, shape, rest, rest_labels, indices = (
        np.asarray(part)
        for part in ndd.random_bbox_crop(
            boxes,
            labels,
            scaling=[0.3, 1],
            aspect_ratio=[0.5, 2],
            thresholds=[0.0, 0.1],
            num_attempts=20,
            all_boxes_above_threshold=False,
            output_bbox_indices=True,
            rng=ndd.random.RNG(seed=seed),
        )
    )
    assert (anchor >= 0).all()
    slack, ratio_slack = (TOLERANCES[k].absolute for k in ("unit values", "cropped boxes"))
    assert (anchor + shape <= 1 + slack).all()
    assert 0.5 - ratio_slack <= shape[0] / shape[1] <= 2 + ratio_slack
    assert (len(rest) > 0) == (len(boxes) > 0)
    np.testing.assert_array_equal(rest_labels, labels[indices])
    for box, moved in zip(boxes[indices], rest, strict=True):
        center = (box[:2] + box[2:]) / 2
        assert (center >= anchor - slack).all()
        assert (center <= anchor + shape + slack).all()
        expected = np.clip((box.reshape(2, 2) - anchor) / shape, 0, 1).ravel()
        assert_close(moved, expected, "cropped boxes")


def test_windows_of_fixed_shape() -> None:
    box = np.array([[0.4, 0.4, 0.2, 0.2]], np.float32)
    batch = ndd.batch([box] * 5)
    shapes = ndd.batch([[40 + k, 30] for k in range(5)])
    anchor, shape, _ = ndd.random_bbox_crop(
        batch, bbox_layout="xyWH", input_shape=[100, 50], crop_shape=shapes, shape_layout="HW"
    )
    for k in range(5):
        assert np.asarray(shape.select(k)).tolist() == [30, 40 + k]
        begin = np.asarray(anchor.select(k))
        assert (begin == np.round(begin)).all()
        assert (begin >= 0).all()
        assert (begin + [30, 40 + k] <= [50, 100]).all()


def test_boxes_in_space() -> None:
    box = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]], np.float32)
    anchor, shape, rest = ndd.random_bbox_crop(box, bbox_layout="xyzXYZ", scaling=[0.9, 1])
    assert (anchor.shape, shape.shape, rest.shape) == ((3,), (3,), (1, 6))


def test_searches_without_a_solution_end() -> None:
    boxes = np.array([[0, 0, 0.1, 0.1], [0.9, 0.9, 1, 1]], np.float32)
    arguments: dict[str, Any] = {"thresholds": [0.5], "scaling": [0.1, 0.2], "allow_no_crop": False}
    with pytest.raises(ndd.OpError, match=r"sample 0 has boxes that none of a million windows"):
        ndd.random_bbox_crop(boxes, **arguments)
    with pytest.warns(UserWarning, match=r"no window suits in 9 attempts; .* \(sample 0\)"):
        ndd.random_bbox_crop(boxes, total_num_attempts=9, **arguments)
    ndd.random_bbox_crop(boxes, total_num_attempts=9, quiet=True, **arguments)


BOX = np.array([[0.1, 0.1, 0.5, 0.5]], np.float32)
LABEL = np.array([1], np.int32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndd.random_bbox_crop(BOX[0]), "random_bbox_crop: boxes must have the shape"),
        (lambda: ndd.random_bbox_crop(BOX, thresholds=[]), "random_bbox_crop: 'thresholds' must"),
        (lambda: ndd.random_bbox_crop(BOX, thresholds=[2]), "random_bbox_crop: 'thresholds' must"),
        (lambda: ndd.random_bbox_crop(BOX, scaling=[1, 0]), "random_bbox_crop: 'scaling' must be"),
        (lambda: ndd.random_bbox_crop(BOX, num_attempts=0), "'num_attempts' must be positive"),
        (lambda: ndd.random_bbox_crop(BOX, total_num_attempts=0), "'total_num_attempts' must be"),
        (lambda: ndd.random_bbox_crop(BOX, crop_shape=[2, 2]), "'crop_shape' needs 'input_shape'"),
        (lambda: ndd.random_bbox_crop(BOX, bbox_layout="xyzw"), "'bbox_layout' must be xyXY or"),
        (lambda: ndd.random_bbox_crop(BOX, threshold_type="x"), "'threshold_type' must be 'iou'"),
        (
            lambda: ndd.random_bbox_crop(BOX, LABEL[:0]),
            r"random_bbox_crop: labels must be one for each box; got \[\(0,\)\] for \[1\]",
        ),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_boxes_outside_of_the_image() -> None:
    bad = ndd.batch([BOX, BOX + 0.6])
    with pytest.raises(ndd.OpError, match=r"random_bbox_crop: sample 1 has a box outside"):
        ndd.random_bbox_crop(bad)[0].evaluate()
