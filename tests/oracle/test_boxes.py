# SPDX-License-Identifier: Apache-2.0
"""Boxes are those of the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.compare import assert_close
from support.libraries import Array, Each, Single
from support.oracle import assert_agree, assert_both_refuse

pytestmark = pytest.mark.oracle


def corners(rng: np.random.Generator, count: int, ndim: int = 2) -> Array:
    ends = np.sort(rng.uniform(0, 1, (count, 2, ndim)), axis=1)
    return ends.reshape(count, 2 * ndim).astype(np.float32)


def some_boxes(seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [corners(rng, count) for count in (3, 0, 8)]


def each(values: Any, kind: Any = np.float32) -> Each:
    return Each([np.asarray(value, kind) for value in values])


def test_bb_flip() -> None:
    for arguments in (
        {},
        {"vertical": 1},
        {"horizontal": 0, "vertical": 1},
        {"horizontal": each([0, 1, 5], np.int32), "vertical": each([1, 0, 1], np.int32)},
    ):
        for ltrb in (False, True):
            assert_agree("bb_flip", some_boxes(1), ltrb=ltrb, **arguments)
    assert_agree("bb_flip", Single(some_boxes(2)[0][0]))


def test_bbox_paste() -> None:
    for arguments in (
        {"ratio": 1.0},
        {"ratio": 0.5},
        {"ratio": 1.7, "paste_x": 1.0, "paste_y": 0.99999},
        {"ratio": each([1.1, 2.3, 3.7]), "paste_x": each([0.1, 1, 0]), "paste_y": each([1, 1, 1])},
    ):
        for ltrb in (False, True):
            assert_agree("bbox_paste", some_boxes(3), ltrb=ltrb, **arguments)
    for ratio in np.random.default_rng(0).uniform(1, 4, 40).tolist():
        assert_agree("bbox_paste", some_boxes(4), ratio=ratio, paste_x=1.0, paste_y=1.0, ltrb=True)


def near_boxes(actual: Array, expected: Array, context: object) -> None:
    """Kept boxes and labels agree; coordinates up to rounding."""
    largest = float(np.abs(expected).max(initial=1))
    assert_close(actual, expected, "agreement of values", context, magnitude=largest)


@pytest.mark.parametrize("seed", range(40))
def test_bbox_rotate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = some_boxes(seed)
    labels = [np.arange(len(sample), dtype=np.int32) for sample in boxes]
    arguments: dict[str, Any] = {
        "angle": each(rng.uniform(-400, 400, 3)) if seed % 2 else float(rng.uniform(-400, 400)),
        "input_shape": [int(n) for n in rng.integers(20, 300, 2)],
        "mode": ("expand", "fixed", "halfway")[seed % 3],
        "remove_threshold": (0.0, 0.1, 0.5, 0.9)[seed % 4],
    }
    if seed % 5 == 0:
        arguments["keep_size"] = True
    elif seed % 5 == 1:
        arguments["size"] = [float(n) for n in rng.uniform(50, 400, 2)]
    if seed % 7 == 0:
        arguments["input_shape"] = Each([np.array([40, 50 + k, 3], np.int64) for k in range(3)])
        arguments["shape_layout"] = "WHC"
    if seed % 6 >= 3:
        arguments["bbox_layout"] = "xyWH"
        boxes = [np.concatenate([b[:, :2], b[:, 2:] - b[:, :2]], axis=1) for b in boxes]
    if seed % 4 == 2:
        arguments["bbox_normalized"] = False
        boxes = [sample * np.float32(30) for sample in boxes]
    assert_agree("bbox_rotate", boxes, labels, check=near_boxes, **arguments)
    assert_agree("bbox_rotate", boxes, check=near_boxes, **arguments)


@pytest.mark.parametrize("seed", range(20))
def test_box_encoder(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = [corners(rng, count) for count in (3, 0, 8, 1)]
    labels = [rng.integers(1, 90, len(sample)).astype(np.int32) for sample in boxes]
    anchors = corners(rng, 200).ravel().tolist()
    for arguments in (
        {},
        {"criteria": float(rng.uniform(0, 1))},
        {"offset": True},
        {
            "offset": True,
            "scale": 300.0,
            "means": [0.1, 0.2, 0.3, 0.4],
            "stds": [0.1, 0.1, 0.2, 0.2],
        },
    ):
        assert_agree("box_encoder", boxes, labels, check=near_boxes, anchors=anchors, **arguments)


@pytest.mark.parametrize(
    ("operator", "inputs", "arguments"),
    [
        ("bb_flip", (Single(np.zeros((1, 4))),), {}),
        ("bbox_paste", (Single(np.zeros((1, 5), "f4")),), {"ratio": 2.0}),
        ("bbox_paste", (Single(np.zeros((1, 4), "f4")),), {}),
        ("bbox_rotate", (Single(np.zeros((1, 4), "f4")),), {"angle": 1.0, "input_shape": [5]}),
        ("box_encoder", (Single(np.zeros((1, 4), "f4")), Single([1])), {"anchors": [1.0]}),
    ],
)
def test_what_both_refuse(
    operator: str, inputs: tuple[Any, ...], arguments: dict[str, Any]
) -> None:
    assert_both_refuse(operator, *inputs, **arguments)
