# SPDX-License-Identifier: Apache-2.0
"""Windows around boxes are what the reference draws."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Generator, Single
from support.oracle import assert_agree, assert_both_refuse

pytestmark = pytest.mark.oracle


def corners(rng: np.random.Generator, count: int, ndim: int = 2) -> Array:
    ends = np.sort(rng.uniform(0, 1, (count, 2, ndim)), axis=1)
    return ends.reshape(count, 2 * ndim).astype(np.float32)


def bbox_crop_arguments(choose: random.Random, ndim: int) -> dict[str, Any]:
    letters = "xyzXYZ" if ndim == 3 else "xyXY"
    arguments: dict[str, Any] = {
        "num_attempts": choose.choice([1, 3, 10]),
        "total_num_attempts": choose.choice([1, 20, 100]),
        "thresholds": choose.choice([[0.0], [0.0, 0.1, 0.3, 0.5], [0.9], [0.2]]),
        "threshold_type": choose.choice(["iou", "overlap"]),
        "all_boxes_above_threshold": choose.random() < 0.6,
        "bbox_layout": "".join(choose.sample(letters, len(letters))),
        "quiet": True,
        "output_bbox_indices": True,
    }
    if choose.random() < 0.3:
        arguments["bbox_prune_threshold"] = choose.choice([0.0, 0.2, 0.8])
    shape = [choose.randint(50, 200) for _ in range(ndim)]
    if choose.random() < 0.3:
        arguments["input_shape"] = shape
        arguments["crop_shape"] = [choose.randint(30, 220) for _ in range(ndim)]
        arguments["allow_no_crop"] = False
        arguments["shape_layout"] = "".join(choose.sample("WHD"[:ndim], ndim))
        return arguments
    arguments["allow_no_crop"] = choose.random() < 0.5
    arguments["scaling"] = choose.choice([[0.3, 1.0], [0.5, 0.5], [0.1, 0.9]])
    ratios = [[0.5, 2.0], [1.0, 1.0], [1.5, 1.5]]
    if ndim == 3:
        ratios.append([0.5, 2.0, 0.3, 3.0, 1.0, 1.0])
    arguments["aspect_ratio"] = choose.choice(ratios)
    if choose.random() < 0.4:
        arguments["input_shape"] = shape
    return arguments


@pytest.mark.parametrize("seed", range(120))
def test_random_bbox_crop(seed: int) -> None:
    choose = random.Random(seed)
    rng = np.random.default_rng(seed)
    ndim = choose.choice([2, 2, 3])
    arguments = bbox_crop_arguments(choose, ndim)
    layout = arguments["bbox_layout"]
    ordered = [corners(rng, choose.choice([0, 1, 2, 5]), ndim) * 0.98 for _ in range(4)]
    letters = "xyzXYZ" if ndim == 3 else "xyXY"
    columns = [letters.index(letter) for letter in layout]
    boxes = [np.ascontiguousarray(sample[:, columns]) for sample in ordered]
    labels = [np.arange(len(sample), dtype=np.int32) + 5 for sample in boxes]
    generator = Generator(choose.getrandbits(60))
    inputs = [boxes, labels] if seed % 2 else [boxes]
    assert_agree("random_bbox_crop", *inputs, rng=generator, **arguments)


def test_boxes_of_begin_and_extent() -> None:
    boxes = [np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.25, 0.125]], np.float32)]
    for seed in range(10):
        for layout in ("xyWH", "HxWy"):
            columns = ["xyWH".index(letter) for letter in layout]
            given = [np.ascontiguousarray(sample[:, columns]) for sample in boxes]
            arguments = {"scaling": [0.4, 1.0], "thresholds": [0.1], "rng": Generator(seed)}
            assert_agree("random_bbox_crop", given, bbox_layout=layout, **arguments)


@pytest.mark.parametrize(
    ("operator", "inputs", "arguments"),
    [
        ("random_bbox_crop", (Single(np.full((1, 4), 2, "f4")),), {}),
        ("random_bbox_crop", (Single(np.zeros((1, 4), "f4")),), {"thresholds": [2.0]}),
    ],
)
def test_what_both_refuse(
    operator: str, inputs: tuple[Any, ...], arguments: dict[str, Any]
) -> None:
    assert_both_refuse(operator, *inputs, **arguments)
