# SPDX-License-Identifier: Apache-2.0
"""Median, dilation and erosion against plain NumPy and OpenCV."""

from __future__ import annotations

import functools
from typing import Any

import cv2
import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_same
from support.reference import filters as plain

Array = plain.Array
TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
TYPES += ["float16", "float32", "float64"]
BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
}


def make_data(dtype: str, shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def call(name: str, data: Array, layout: str, **arguments: Any) -> Array:
    return np.array(getattr(ndd.experimental, name)(ndd.tensor(data, layout=layout), **arguments))


def upper_median(values: Array) -> Array:
    return np.sort(values, axis=-1)[..., values.shape[-1] // 2]


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_equals_the_formula(dtype: str) -> None:
    data = make_data(dtype, (19, 23, 3))
    anchor = (2, 1)
    median = call("median_blur", data, "HWC", window_size=[5, 3])
    assert_same(median, plain.pick(data, (5, 3), anchor, "clamp", upper_median))
    for name, choose in (("dilate", np.max), ("erode", np.min)):
        actual = call(name, data, "HWC", mask_size=[5, 3], border_mode="wrap")
        expected = plain.pick(data, (5, 3), anchor, "wrap", functools.partial(choose, axis=-1))
        assert_same(actual, expected)


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_median_against_opencv(size: int, dtype: str) -> None:
    image = make_data(dtype, (37, 41, 3))
    assert_same(call("median_blur", image, "HWC", window_size=size), cv2.medianBlur(image, size))


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (4, 3), (17, 16), (31, 9)])
def test_median_of_any_size(size: tuple[int, int]) -> None:
    image = make_data("uint8", (20, 25))
    anchor = (size[0] // 2, size[1] // 2)
    actual = call("median_blur", image, "HW", window_size=list(size))
    assert_same(actual, plain.pick(image, size, anchor, "clamp", upper_median))


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("name", ["dilate", "erode"])
def test_morphology_against_opencv(name: str, border: str) -> None:
    rng = np.random.default_rng(8)
    for dtype in ("uint8", "uint16", "float32"):
        image = make_data(dtype, (37, 41, 3))
        for _ in range(6):
            size = [int(n) for n in rng.integers(1, 9, 2)]
            anchor = [int(rng.integers(-1, n)) for n in size]
            iterations = int(rng.integers(1, 4)) if border == "constant" else 1
            expected = getattr(cv2, name)(
                image,
                cv2.getStructuringElement(cv2.MORPH_RECT, size),
                anchor=[a if a >= 0 else n // 2 for a, n in zip(anchor, size, strict=True)],
                iterations=iterations,
                borderType=BORDERS[border],
            )
            arguments = {"mask_size": size, "anchor": anchor, "iterations": iterations}
            actual = call(name, image, "HWC", border_mode=border, **arguments)
            assert_same(actual, expected, (size, anchor, iterations))


def test_mask_sizes_for_each_frame() -> None:
    video = make_data("uint8", (2, 3, 12, 14))
    sizes = ndd.tensor(np.array([[3, 5], [7, 1]], np.int32), layout="FK")
    result = np.array(ndd.experimental.dilate(ndd.tensor(video, layout="FCHW"), mask_size=sizes))
    for frame, size in enumerate(([3, 5], [7, 1])):
        for channel in range(3):
            alone = call("dilate", video[frame, channel], "HW", mask_size=size)
            assert_same(result[frame, channel], alone)


def test_default_mask() -> None:
    image = make_data("uint8", (12, 14))
    for size in (-1, [-1, 5]):
        assert_same(call("erode", image, "HW", mask_size=size), call("erode", image, "HW"))


def test_wrong_arguments_are_refused() -> None:
    image = ndd.tensor(make_data("uint8", (9, 8, 3)), layout="HWC")
    with pytest.raises(ValueError, match=r"experimental.median_blur: 'window_size' must be positi"):
        ndd.experimental.median_blur(image, window_size=0).evaluate()
    for match, arguments in (
        (r"'mask_size' needs one or two values", {"mask_size": [1, 2, 3]}),
        (r"'mask_size' must be positive; got \[0, 3\]", {"mask_size": [0, 3]}),
        (r"'anchor' must be inside the structuring element; got \[3, 1\]", {"anchor": [3, 1]}),
        (r"'iterations' must be positive", {"iterations": 0}),
        (r"'border_mode' must be 'constant'", {"border_mode": "clamp"}),
    ):
        with pytest.raises(ValueError, match=r"experimental.dilate: " + match):
            ndd.experimental.dilate(image, **arguments).evaluate()
