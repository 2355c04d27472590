# SPDX-License-Identifier: Apache-2.0
"""Linear filters, median, dilation and erosion against plain NumPy and OpenCV."""

from __future__ import annotations

import functools
from typing import Any

import cv2
import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close, assert_near, assert_same
from support.instruction_sets import use_instructions
from support.ramps import all_instruction_sets
from support.reference import filters as plain
from support.reference.color import to_type

Array = plain.Array
TYPES = ["uint8", "int8", "uint16", "int16", "int32", "float16", "float32", "float64"]


def make_data(dtype: str, shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(max(limits.min, -300), min(limits.max, 300), shape, dtype)


def call(name: str, data: Array, layout: str | None, *inputs: Any, **arguments: Any) -> Array:
    return np.array(getattr(ndd, name)(ndd.tensor(data, layout=layout), *inputs, **arguments))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("target", ["same", "float32"])
def test_gaussian_blur_types(dtype: str, target: str) -> None:
    data = make_data(dtype, (21, 34, 3))
    kind = dtype if target == "same" else target
    actual = call("gaussian_blur", data, "HWC", sigma=[1.5, 0.7], dtype=np.dtype(kind))
    windows = [plain.gaussian_window(1.5, 0), plain.gaussian_window(0.7, 0)]
    expected = to_type(plain.separable(data, windows), kind)
    assert_near(actual, expected, (dtype, target), magnitude=300)


@pytest.mark.parametrize(
    ("layout", "shape", "axes"),
    [
        (None, (40,), 1),
        ("W", (40,), 1),
        ("WC", (40, 3), 1),
        (None, (20, 13), 2),
        ("HWC", (20, 13, 2), 2),
        ("DHW", (6, 20, 13), 3),
        (None, (6, 20, 13), 3),
        ("DHWC", (6, 20, 13, 3), 3),
    ],
)
def test_one_window_for_each_axis(layout: str | None, shape: tuple[int, ...], axes: int) -> None:
    data = make_data("float32", shape)
    sigma = [0.5, 1.2, 2.0][:axes]
    actual = call("gaussian_blur", data, layout, sigma=sigma)
    windows = [plain.gaussian_window(value, 0) for value in sigma]
    assert_near(actual, plain.separable(data, windows).astype(np.float32), layout, magnitude=10)
    sizes = [3, 5, 7][:axes]
    actual = call("laplacian", data, layout, window_size=sizes, dtype=ndd.float32)
    expected = sum(plain.laplacian(data, sizes, None))
    assert_near(actual, np.asarray(expected, np.float32), layout, magnitude=1e5)


def test_planes_are_independent() -> None:
    data = make_data("uint8", (2, 3, 20, 13))
    whole = call("gaussian_blur", data, "FCHW", sigma=1.0)
    for frame in range(2):
        for channel in range(3):
            alone = call("gaussian_blur", data[frame, channel], "HW", sigma=1.0)
            assert_same(whole[frame, channel], alone)
    assert_same(call("gaussian_blur", data, "CFHW", sigma=1.0), whole)


def test_window_longer_than_image() -> None:
    data = make_data("float32", (3, 2, 3))
    actual = call("gaussian_blur", data, "HWC", sigma=5.0)
    window = plain.gaussian_window(5, 0)
    expected = plain.separable(data, [window, window]).astype(np.float32)
    assert_near(actual, expected)
    single = make_data("uint8", (1, 1, 3))
    assert_same(call("gaussian_blur", single, "HWC", sigma=5.0), single)


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 65, 3), (3, 2, 4), (31, 130, 1), (12, 999, 2)])
def test_gaussian_blur_of_bytes(shape: tuple[int, ...]) -> None:
    """Two rows are computed at once, the last one perhaps alone."""
    image = full_range("uint8", shape)
    for size in (1, 3, 5, 9, 21):
        window = plain.gaussian_window(0, size)
        expected = to_type(plain.separable(image, [window, window]), "uint8")
        actual = call("gaussian_blur", image, "HWC", window_size=size)
        assert_near(actual, expected, (shape, size), magnitude=300)


def test_sigma_of_each_frame() -> None:
    video = make_data("uint8", (3, 20, 13, 3))
    sigma = np.array([[0.5, 1], [1, 2], [2, 3]], np.float32)
    result = ndd.gaussian_blur(
        ndd.tensor(video, layout="FHWC"), sigma=ndd.tensor(sigma, layout="FK")
    )
    for frame in range(3):
        alone = call("gaussian_blur", video[frame], "HWC", sigma=sigma[frame].tolist())
        assert_same(np.array(result)[frame], alone)


def test_laplacian_of_known_functions() -> None:
    y, x = np.mgrid[:20, :20].astype(np.float32)
    inside = (slice(5, 15), slice(5, 15))
    for function, curvature in ((3 * x + y, 0.0), (x**2 + 2 * y**2, 6.0)):
        actual = call("laplacian", function, "HW", window_size=3, normalized_kernel=True)
        assert_close(actual[inside], curvature, "small values")
    parts = plain.laplacian(x**2, [3, 3], [1, 1])
    actual = call("laplacian", x**2, "HW", smoothing_size=1, scale=[2.0, 3.0])
    assert_near(actual, (2 * parts[0] + 3 * parts[1]).astype(np.float32))


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 1), (9, 70, 3), (40, 33, 4), (5, 1000, 2)])
def test_laplacian_of_bytes(shape: tuple[int, ...]) -> None:
    """Small windows are computed with integers, which gives what exact arithmetic gives."""
    image = full_range("uint8", shape)
    for size, smoothing in ((3, None), (5, None), (7, None), (3, 1), (3, 5)):
        parts = plain.laplacian(image, [size] * 2, smoothing and [smoothing] * 2)
        arguments = {"window_size": size, "smoothing_size": smoothing}
        for scale in (1.0, -0.5):
            expected = scale * parts[0] + scale * parts[1]
            for target in ("uint8", "int16", "float32"):
                actual = call(
                    "laplacian", image, "HWC", **arguments, scale=scale, dtype=np.dtype(target)
                )
                note = (shape, size, smoothing, scale, target)
                if target != "float32" and scale != 1:
                    # Halves are not the same to all.
                    assert_near(actual, to_type(expected, target), note)
                else:
                    assert_same(actual, to_type(expected, target), note)


@pytest.mark.parametrize("border", plain.PAD_MODES)
@pytest.mark.parametrize("dtype", TYPES)
def test_filter(border: str, dtype: str) -> None:
    rng = np.random.default_rng(4)
    data = make_data(dtype, (17, 23, 3))
    # If no weight is zero, two rows are computed at once.
    for size in ((1, 1), (3, 3), (4, 7), (9, 2), (3, 9), (5, 5), (11, 11)):
        window = rng.normal(0, 0.3, size).astype(np.float32)
        anchor = [int(rng.integers(0, n)) for n in size]
        inputs = [window, np.array(5, dtype)] if border == "constant" else [window]
        actual = call("filter", data, "HWC", *inputs, border=border, anchor=anchor)
        expected = plain.correlate(data, window, anchor, border, 5)
        if np.dtype(dtype).kind != "f":
            expected = np.rint(expected)
        assert_near(actual, to_type(expected, dtype), (border, dtype, size), magnitude=1000)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_all_builds_filter_alike(dtype: str) -> None:
    data = make_data(dtype, (23, 150, 3))
    for size in ((2, 1), (3, 3), (3, 9), (5, 5), (9, 4)):
        window = np.random.default_rng(6).normal(0, 0.3, size).astype(np.float32)
        results = []
        for instructions in ("vector", "avx2", "portable"):
            with use_instructions(instructions):
                results.append(call("filter", data, "HWC", window))
        assert_same(results[1], results[0], size)
        assert_same(results[2], results[0], size)


def test_windows_that_are_products() -> None:
    """They are applied along rows and columns, but give the same."""
    rng = np.random.default_rng(5)
    data = make_data("float32", (30, 40, 3))
    for window in (
        np.ones((7, 9)) / 63,
        np.outer([1, 2, 1], [-1, 0, 1]),
        np.outer(rng.normal(size=6), rng.normal(size=8)),
        np.outer([0, 1, 0], [1, 1, 1, 1, 1]),
    ):
        weights = window.astype(np.float32)
        actual = call("filter", data, "HWC", weights, border="constant")
        middle = [n // 2 for n in window.shape]
        expected = plain.correlate(data, weights, middle, "constant").astype(np.float32)
        assert_near(actual, expected, magnitude=100)


def test_filter_of_volumes() -> None:
    rng = np.random.default_rng(6)
    data = make_data("float32", (6, 9, 8, 2))
    window = rng.normal(size=(3, 2, 4)).astype(np.float32)
    for border in plain.PAD_MODES:
        actual = call("filter", data, "DHWC", window, border=border, anchor=[0, 1, 2])
        expected = plain.correlate(data, window, [0, 1, 2], border).astype(np.float32)
        assert_near(actual, expected, border, magnitude=100)
    valid = call("filter", data, "DHWC", window, mode="valid")
    inside = plain.correlate(data, window, [0, 0, 0])[:4, :8, :5].astype(np.float32)
    assert_near(valid, inside, magnitude=100)


def test_filter_of_each_frame() -> None:
    rng = np.random.default_rng(7)
    video = make_data("uint8", (3, 12, 14, 3))
    windows = rng.normal(size=(3, 3, 3)).astype(np.float32)
    fill = np.array([1, 50, 100], np.uint8)
    result = ndd.filter(
        ndd.tensor(video, layout="FHWC"),
        ndd.tensor(windows, layout="FHW"),
        ndd.tensor(fill, layout="F"),
        border="constant",
    )
    assert result.layout == "FHWC"
    for frame in range(3):
        alone = call("filter", video[frame], "HWC", windows[frame], fill[frame], border="constant")
        assert_same(np.array(result)[frame], alone)


def test_halves_go_to_even() -> None:
    data = np.arange(8, dtype=np.uint8).reshape(1, 8)
    assert call("filter", data, "HW", np.array([[0.5]])).tolist() == [[0, 0, 1, 2, 2, 2, 3, 4]]


def test_wrong_arguments_are_refused() -> None:
    image = ndd.tensor(make_data("uint8", (9, 8, 3)), layout="HWC")
    window = np.ones((3, 5), np.float32)
    for match, arguments in (
        (r"'sigma' must be positive where 'window_size' is 0", {}),
        (r"'sigma' must be between 0 and a million; got \[-1.0\] \(sample 0\)", {"sigma": -1}),
        (r"'sigma' must be between", {"sigma": float("nan")}),
        (r"'sigma' needs one value, or one for each of the 2 spatial axes", {"sigma": [1, 2, 3]}),
        (r"'window_size' must be odd and positive, or 0; got \[4\]", {"window_size": 4}),
        (r"'dtype' must be", {"sigma": 1, "dtype": ndd.bool}),
    ):
        with pytest.raises(ValueError, match="gaussian_blur: " + match):
            ndd.gaussian_blur(image, **arguments).evaluate()
    for match, arguments in (
        (r"'window_size' must be odd and between 3 and 31; got \[1\]", {"window_size": 1}),
        (r"'smoothing_size' must be odd and between 1 and 31", {"smoothing_size": [1, 32]}),
        (r"'scale' cannot be given", {"scale": 1.0, "normalized_kernel": True}),
    ):
        with pytest.raises(ValueError, match="laplacian: " + match):
            ndd.laplacian(image, **arguments).evaluate()
    for match, arguments in (
        (r"'border' must be 'reflect_101'", {"border": "isolated"}),
        (r"'mode' must be 'same' or 'valid'", {"mode": "full"}),
        (r"'anchor' must be -1 or inside the filter; got \[3, 0\]", {"anchor": [3, 0]}),
    ):
        with pytest.raises(ValueError, match="filter: " + match):
            ndd.filter(image, window, **arguments).evaluate()
    with pytest.raises(ValueError, match="filter: the filter needs an axis for each of the 2"):
        ndd.filter(image, np.ones((3, 3, 3), np.float32)).evaluate()
    with pytest.raises(ValueError, match="filter: 'filter' must be no larger than the data"):
        ndd.filter(image, np.ones((10, 3), np.float32), mode="valid").evaluate()
    with pytest.raises(ValueError, match="gaussian_blur: the layout 'HCW' is not supported"):
        ndd.gaussian_blur(ndd.tensor(np.zeros((4, 3, 5)), layout="HCW"), sigma=1).evaluate()
    with pytest.raises(ValueError, match="laplacian: without a layout the input must have 1 to 3"):
        ndd.laplacian(np.zeros((2, 3, 4, 5), np.uint8)).evaluate()


NUMERIC_TYPES = [
    *("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64"),
]
BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
}


def full_range(dtype: str, shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def experimental(name: str, data: Array, layout: str, **arguments: Any) -> Array:
    return np.array(getattr(ndd.experimental, name)(ndd.tensor(data, layout=layout), **arguments))


def upper_median(values: Array) -> Array:
    return np.sort(values, axis=-1)[..., values.shape[-1] // 2]


@pytest.mark.parametrize("dtype", NUMERIC_TYPES)
def test_every_type_equals_the_formula(dtype: str) -> None:
    data = full_range(dtype, (19, 23, 3))
    anchor = (2, 1)
    median = experimental("median_blur", data, "HWC", window_size=[5, 3])
    assert_same(median, plain.pick(data, (5, 3), anchor, "clamp", upper_median))
    for name, choose in (("dilate", np.max), ("erode", np.min)):
        actual = experimental(name, data, "HWC", mask_size=[5, 3], border_mode="wrap")
        expected = plain.pick(data, (5, 3), anchor, "wrap", functools.partial(choose, axis=-1))
        assert_same(actual, expected)


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_median_against_opencv(size: int, dtype: str) -> None:
    image = full_range(dtype, (37, 41, 3))
    assert_same(
        experimental("median_blur", image, "HWC", window_size=size),
        cv2.medianBlur(image, size),
    )


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (4, 3), (17, 16), (31, 9)])
def test_median_of_any_size(size: tuple[int, int]) -> None:
    image = full_range("uint8", (20, 25))
    anchor = (size[0] // 2, size[1] // 2)
    actual = experimental("median_blur", image, "HW", window_size=list(size))
    assert_same(actual, plain.pick(image, size, anchor, "clamp", upper_median))


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("name", ["dilate", "erode"])
def test_morphology_against_opencv(name: str, border: str) -> None:
    rng = np.random.default_rng(8)
    for dtype in ("uint8", "uint16", "float32"):
        image = full_range(dtype, (37, 41, 3))
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
            actual = experimental(name, image, "HWC", border_mode=border, **arguments)
            assert_same(actual, expected, (size, anchor, iterations))


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("dtype", NUMERIC_TYPES)
def test_rank_filters_of_every_size_and_type(dtype: str) -> None:
    image = full_range(dtype, (37, 71, 3))
    for size in ((3, 3), (7, 6), (17, 1), (1, 40), (33, 12)):
        anchor = (size[0] // 2, size[1] // 2)
        for name, choose in (("dilate", np.max), ("erode", np.min)):
            actual = experimental(name, image, "HWC", mask_size=list(size), border_mode="wrap")
            expected = plain.pick(image, size, anchor, "wrap", functools.partial(choose, axis=-1))
            assert_same(actual, expected, (name, size))
    expected = plain.pick(image, (3, 3), (1, 1), "clamp", upper_median)
    assert_same(experimental("median_blur", image, "HWC", window_size=3), expected)


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("border", BORDERS)
def test_morphology_of_wide_images(border: str) -> None:
    """Borders repeat pixels of their own strip, however wide the window is."""
    for dtype, width in (("uint8", 4111), ("int16", 3000), ("float32", 2001)):
        image = full_range(dtype, (9, width, 3))
        for size in ((301, 3), (64, 50), (5, 9)):
            expected = cv2.dilate(
                image, cv2.getStructuringElement(cv2.MORPH_RECT, size), borderType=BORDERS[border]
            )
            actual = experimental("dilate", image, "HWC", mask_size=list(size), border_mode=border)
            assert_same(actual, expected, (dtype, size))


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("width", [2560, 2551])
@pytest.mark.parametrize(("dtype", "height"), [("uint8", 2301), ("uint16", 1151), ("float32", 577)])
def test_rank_filters_of_large_images(dtype: str, height: int, width: int) -> None:
    """That do not fit into the caches, with rows that are multiples of a cache line or not."""
    image = full_range(dtype, (height, width, 3))
    for size in ((3, 3), (1, 5), (9, 1), (4, 60)):
        expected = cv2.erode(image, cv2.getStructuringElement(cv2.MORPH_RECT, size))
        assert_same(experimental("erode", image, "HWC", mask_size=list(size)), expected, size)
    median = experimental("median_blur", image, "HWC", window_size=3)
    assert_same(median, cv2.medianBlur(image, 3))


def test_mask_sizes_for_each_frame() -> None:
    video = full_range("uint8", (2, 3, 12, 14))
    sizes = ndd.tensor(np.array([[3, 5], [7, 1]], np.int32), layout="FK")
    result = np.array(ndd.experimental.dilate(ndd.tensor(video, layout="FCHW"), mask_size=sizes))
    for frame, size in enumerate(([3, 5], [7, 1])):
        for channel in range(3):
            alone = experimental("dilate", video[frame, channel], "HW", mask_size=size)
            assert_same(result[frame, channel], alone)


def test_default_mask() -> None:
    image = full_range("uint8", (12, 14))
    for size in (-1, [-1, 5]):
        assert_same(
            experimental("erode", image, "HW", mask_size=size),
            experimental("erode", image, "HW"),
        )


def test_wrong_arguments_of_rank_filters() -> None:
    image = ndd.tensor(full_range("uint8", (9, 8, 3)), layout="HWC")
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


SMOOTHING = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]]) / 13


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
@pytest.mark.parametrize("factor", [0.0, 0.4, 1.0, 1.9])
def test_sharpness(dtype: str, factor: float) -> None:
    data = make_data(dtype, (19, 23, 3))
    window = (1 - factor) * SMOOTHING
    window[1, 1] += factor
    expected = cv2.filter2D(data.astype(np.float64), -1, window, borderType=cv2.BORDER_REFLECT_101)
    assert_near(call("sharpness", data, "HWC", sharpness=factor), to_type(expected, dtype))


def motion_window(size: int, angle: float, direction: float) -> Array:
    """A line through the middle, element by element."""
    window = np.zeros((size, size))
    half = size // 2
    for y, x in np.ndindex(size, size):
        radians = np.deg2rad(angle)
        along = np.cos(radians) * (x - half) - np.sin(radians) * (y - half)
        beside = np.sin(radians) * (x - half) + np.cos(radians) * (y - half)
        cover = min(max(half + 1 - abs(along), 0), 1) * max(1 - abs(beside), 0)
        window[y, x] = cover * (1 + direction * min(max(along, -half), half) / max(half, 1))
    return window / window.sum()


@pytest.mark.parametrize(
    ("size", "angle", "direction"), [(1, 10, 0), (3, 0, 0), (5, 90, 1), (7, 30, -0.5), (9, 135, 0)]
)
def test_motion_blur(size: int, angle: float, direction: float) -> None:
    data = make_data("float32", (29, 33, 3))
    window = motion_window(size, angle, direction)
    expected = cv2.filter2D(data.astype(np.float64), -1, window, borderType=cv2.BORDER_REFLECT_101)
    found = call("motion_blur", data, "HWC", size=size, angle=angle, direction=direction)
    assert_close(found, expected, "interpolated values")


def test_motion_blur_moves_along_the_line() -> None:
    """A point becomes a line: horizontal, vertical, and upwards to the right."""
    point = np.zeros((9, 9), np.float32)
    point[4, 4] = 1
    across = call("motion_blur", point, "HW", size=5)
    assert np.flatnonzero(across.sum(axis=0)).tolist() == [2, 3, 4, 5, 6]
    assert np.flatnonzero(across.sum(axis=1)).tolist() == [4]
    upwards = call("motion_blur", point, "HW", size=5, angle=45)
    assert upwards[3, 5] > 0.1
    assert upwards[5, 3] > 0.1
    assert upwards[3, 3] == upwards[5, 5] == 0


def test_errors_of_motion_blur() -> None:
    image = make_data("uint8", (4, 4, 3))
    for size in (0, 4, 257):
        with pytest.raises(ValueError, match="'size' must be odd and between 1 and 255; got"):
            call("motion_blur", image, "HWC", size=size)
    with pytest.raises(ValueError, match="'direction' must be between -1 and 1; got 2"):
        call("motion_blur", image, "HWC", direction=2)
