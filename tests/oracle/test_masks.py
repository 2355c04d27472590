# SPDX-License-Identifier: Apache-2.0
"""Operators on masks give what the reference gives."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each, Generator, Single
from support.oracle import assert_agree, assert_both_refuse

pytestmark = pytest.mark.oracle


def each(values: Any, kind: Any = np.float32) -> Each:
    return Each([np.asarray(value, kind) for value in values])


def random_masks(rng: np.random.Generator, kind: str, count: int, ndim: int) -> list[Array]:
    made = []
    for _ in range(count):
        # The reference finds empty objects in masks of a single element.
        shape = tuple(rng.integers(2 if ndim == 1 else 1, 14, ndim))
        mask = rng.integers(0, int(rng.choice([2, 4])), shape)
        mask[rng.random(shape) < 0.4] = 0
        made.append(mask.astype(kind))
    return made


@pytest.mark.parametrize("seed", range(80))
def test_random_object_bbox(seed: int) -> None:
    choose = random.Random(seed)
    rng = np.random.default_rng(seed)
    ndim = choose.choice([1, 2, 2, 3])
    kind = choose.choice(["uint8", "int8", "uint16", "int16", "uint32", "int32"])
    arguments: dict[str, Any] = {"format": choose.choice(["anchor_shape", "start_end", "box"])}
    if choose.random() < 0.4:
        arguments["foreground_prob"] = choose.choice([0.0, 0.5, each([0.2, 0.9, 0.5])])
    if choose.random() < 0.3:
        arguments["ignore_class"] = True
    else:
        arguments["output_class"] = True
        if choose.random() < 0.4:
            arguments["classes"] = choose.choice([[1, 2, 3], [0, 1], [2], [3, 1]])
        if choose.random() < 0.4:
            count = len(arguments.get("classes", [1, 2, 3]))
            arguments["class_weights"] = [choose.choice([0.0, 1.0, 2.5]) for _ in range(count)]
    if choose.random() < 0.3 and "classes" not in arguments:
        arguments["background"] = choose.choice([0, 1])
    if choose.random() < 0.4:
        arguments["threshold"] = [choose.choice([1, 2, 3]) for _ in range(ndim)]
    if choose.random() < 0.4:
        arguments["k_largest"] = choose.choice([1, 2, 3])
    if choose.random() < 0.2:
        arguments["cache_objects"] = True
    masks = random_masks(rng, kind, 3, ndim)
    generator = Generator(choose.getrandbits(60))
    assert_agree("segmentation.random_object_bbox", masks, rng=generator, **arguments)


def test_objects_of_large_masks() -> None:
    rng = np.random.default_rng(5)
    masks = [(rng.random((300, 400)) < p).astype(np.uint8) for p in (0.3, 0.55, 0.6, 0.7)]
    for seed in range(3):
        for arguments in ({"ignore_class": True}, {"k_largest": 5}, {}):
            assert_agree("segmentation.random_object_bbox", masks, rng=Generator(seed), **arguments)


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "?"])
def test_random_mask_pixel(kind: str) -> None:
    rng = np.random.default_rng(6)
    for ndim in (1, 2, 3):
        masks = random_masks(rng, kind, 4, ndim)
        for seed, arguments in enumerate(
            (
                {},
                {"foreground": 1},
                {"foreground": each([0, 1, 1, 0], np.int32)},
                {"foreground": 1, "threshold": 1.5},
                {"foreground": 1, "value": 2},
                {"foreground": 1, "value": each([1, 2, 300, -1], np.int32)},
            )
        ):
            generator = Generator(seed + 10 * ndim)
            assert_agree("segmentation.random_mask_pixel", masks, rng=generator, **arguments)


@pytest.mark.parametrize("seed", range(40))
def test_roi_random_crop(seed: int) -> None:
    choose = random.Random(seed)
    ndim = choose.choice([1, 2, 3])
    shape = [choose.randint(5, 30) for _ in range(ndim)]
    start = [choose.randint(0, n - 1) for n in shape]
    end = [choose.randint(s, n) for s, n in zip(start, shape, strict=True)]
    arguments: dict[str, Any] = {
        "crop_shape": [choose.randint(1, n) for n in shape],
        "roi_start": start,
        "rng": Generator(seed),
    }
    if choose.random() < 0.5:
        arguments["roi_end"] = end
    else:
        arguments["roi_shape"] = [e - s for s, e in zip(start, end, strict=True)]
    inputs = []
    bounds = choose.choice(["input", "shape", "none"])
    if bounds == "input":
        inputs.append([np.zeros(shape, np.uint8)] * 3)
    else:
        arguments["batch_size"] = 3
        if bounds == "shape":
            arguments["in_shape"] = shape
    assert_agree("roi_random_crop", *inputs, **arguments)


def test_select_masks() -> None:
    polygons = np.array([[0, 0, 3], [1, 3, 7], [2, 7, 10]], np.int32)
    for kind in ("f4", "i4", "u1", "f8"):
        vertices = np.arange(20).reshape(10, 2).astype(kind)
        ids = [np.array(chosen, np.int32) for chosen in ([1], [2, 0], [0, 1, 2], [])]
        for reindex in (False, True):
            assert_agree(
                "segmentation.select_masks",
                ids,
                [polygons] * 4,
                [vertices] * 4,
                reindex_masks=reindex,
            )


@pytest.mark.parametrize(
    ("operator", "inputs", "arguments"),
    [
        ("segmentation.random_object_bbox", (Single(np.zeros((2, 2), "f4")),), {}),
        ("roi_random_crop", (), {"crop_shape": [2], "roi_start": [1]}),
    ],
)
def test_what_both_refuse(
    operator: str, inputs: tuple[Any, ...], arguments: dict[str, Any]
) -> None:
    assert_both_refuse(operator, *inputs, **arguments)
