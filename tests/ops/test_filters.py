# SPDX-License-Identifier: Apache-2.0
"""Linear filters against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close, assert_near, assert_same
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


@pytest.mark.parametrize("border", plain.PAD_MODES)
@pytest.mark.parametrize("dtype", TYPES)
def test_filter(border: str, dtype: str) -> None:
    rng = np.random.default_rng(4)
    data = make_data(dtype, (17, 23, 3))
    for size in ((1, 1), (3, 3), (4, 7), (9, 2)):
        window = rng.normal(0, 0.3, size).astype(np.float32)
        anchor = [int(rng.integers(0, n)) for n in size]
        inputs = [window, np.array(5, dtype)] if border == "constant" else [window]
        actual = call("filter", data, "HWC", *inputs, border=border, anchor=anchor)
        expected = plain.correlate(data, window, anchor, border, 5)
        if np.dtype(dtype).kind != "f":
            expected = np.rint(expected)
        assert_near(actual, to_type(expected, dtype), (border, dtype, size), magnitude=1000)


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
