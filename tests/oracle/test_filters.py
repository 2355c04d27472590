# SPDX-License-Identifier: Apache-2.0
"""Filters against the reference library itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.compare import assert_near
from support.libraries import Array, Each, Type, each_frame
from support.oracle import assert_agree

pytestmark = pytest.mark.oracle

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
# Both libraries add up in float, in the same order. The reference multiplies float64 in double, and
# keeps intermediate results of float16 in float16.
EXACT = [*INTEGERS, "float32"]
LAYOUTS = [
    "HW",
    "HWC",
    "CHW",
    "FHW",
    "FHWC",
    "FCHW",
    "CFHW",
    "DHW",
    "DHWC",
    "CDHW",
    "FDHWC",
    "FCDHW",
]
EXTENTS = {"F": 3, "C": 3, "D": 4}


def make_data(
    rng: np.random.Generator, dtype: str, layout: str, count: int = 3, most: int = 40
) -> list[Array]:
    def extent(axis: str) -> int:
        return EXTENTS.get(axis) or int(rng.integers(1, most))

    kind = np.dtype(dtype)
    shapes = [tuple(extent(axis) for axis in layout) for _ in range(count)]
    if kind.kind == "f":
        return [rng.normal(0, 1, shape).astype(kind) for shape in shapes]
    limits = np.iinfo(kind)
    low, high = max(limits.min, -(2**40)), min(limits.max, 2**40)
    return [rng.integers(low, high, shape, kind, endpoint=True) for shape in shapes]


def spatial_axes(layout: str) -> int:
    return len(layout.lstrip("CF").removesuffix("C"))


def argument(rng: np.random.Generator, layout: str, make: Any, dtype: str) -> Any:
    """A value for all samples, for each, or for each frame; one number or one for each axis."""
    axes = spatial_axes(layout)
    form = rng.choice(["one", "each axis", "each sample", "each sample and axis", "each frame"])
    if form == "each frame" and layout.startswith("F"):
        return each_frame(
            [[[make() for _ in range(axes)] for _ in range(3)] for _ in range(3)], dtype
        )
    if form == "each sample":
        return Each([make() for _ in range(3)], dtype)
    if form == "each sample and axis":
        return Each([[make() for _ in range(axes)] for _ in range(3)], dtype)
    return [make() for _ in range(axes)] if form == "each axis" else make()


def odd(rng: np.random.Generator, low: int, high: int) -> int:
    return 2 * int(rng.integers(low // 2, high // 2 + 1)) + 1


@pytest.mark.parametrize("dtype", EXACT)
def test_gaussian_blur_types(dtype: str) -> None:
    rng = np.random.default_rng(1)
    for target in (None, "float32"):
        arguments: dict[str, Any] = {"sigma": [1.5, 0.8]}
        if target:
            arguments["dtype"] = Type(target)
        for layout in ("HW", "HWC"):
            data = make_data(rng, dtype, layout)
            assert_agree("gaussian_blur", data, layout=layout, **arguments)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("gaussian_blur", "float16"), ("gaussian_blur", "float64"), ("laplacian", "float16")],
)
def test_other_types(name: str, dtype: str) -> None:
    data = make_data(np.random.default_rng(2), dtype, "HWC")
    arguments = {"window_size": 5}
    assert_agree(name, data, layout="HWC", check=near_sums, **arguments)


def near_sums(actual: Array, expected: Array, context: object) -> None:
    assert_near(actual, expected, context, magnitude=100)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gaussian_blur_arguments(layout: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(12):
        data = make_data(rng, str(rng.choice(["uint8", "int16", "float32"])), layout, most=25)
        form = rng.choice(["sigma", "window_size", "both"])
        arguments: dict[str, Any] = {}
        if form != "window_size":
            arguments["sigma"] = argument(rng, layout, lambda: rng.uniform(0.3, 4), "float32")
        if form != "sigma":
            arguments["window_size"] = argument(rng, layout, lambda: odd(rng, 1, 30), "int32")
        assert_agree("gaussian_blur", data, layout=layout, **arguments)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_laplacian_arguments(layout: str) -> None:
    rng = np.random.default_rng(4)
    for _ in range(12):
        data = make_data(rng, str(rng.choice(["uint8", "int16", "float32"])), layout, most=25)
        arguments: dict[str, Any] = {}
        if rng.random() < 0.8:
            arguments["window_size"] = argument(rng, layout, lambda: odd(rng, 3, 30), "int32")
        if rng.random() < 0.5:
            arguments["smoothing_size"] = argument(rng, layout, lambda: odd(rng, 1, 30), "int32")
        if rng.random() < 0.3:
            arguments["normalized_kernel"] = True
        elif rng.random() < 0.6:
            arguments["scale"] = argument(rng, layout, lambda: rng.uniform(-2, 2), "float32")
        if rng.random() < 0.5:
            arguments["dtype"] = Type("float32")
        assert_agree("laplacian", data, layout=layout, **arguments)


@pytest.mark.parametrize("dtype", EXACT)
def test_laplacian_types(dtype: str) -> None:
    rng = np.random.default_rng(5)
    for layout in ("HW", "HWC", "DHWC"):
        data = make_data(rng, dtype, layout)
        arguments = {"window_size": 5, "smoothing_size": 3}
        assert_agree("laplacian", data, layout=layout, **arguments)


@pytest.mark.parametrize("layout", [None, "HW"])
def test_without_layout(layout: str | None) -> None:
    rng = np.random.default_rng(6)
    data = make_data(rng, "uint8", "HW")
    assert_agree("gaussian_blur", data, layout=layout, sigma=2.0)
    assert_agree("laplacian", data, layout=layout)
    kernels = [np.ones((3, 3), np.float32) / 9] * 3
    assert_agree("filter", data, kernels, layout=layout, check=one_level)


def one_level(actual: Array, expected: Array, context: object) -> None:
    """OpenCV, which the reference uses, may contract products and sums, or work by DFT."""
    assert_near(actual, expected, context, magnitude=1000)


@pytest.mark.parametrize("border", ["reflect_101", "reflect_1001", "wrap", "clamp", "constant"])
@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "FHWC", "FCHW", "FHW"])
def test_filter(border: str, layout: str) -> None:
    rng = np.random.default_rng(7)
    for dtype in ["uint8", "uint16", "int16", "float32"]:
        data = make_data(rng, dtype, layout, most=30)
        sizes = rng.integers(1, 10, (3, 2))
        kernels = [rng.normal(0, 0.1, size).astype(np.float32) for size in sizes]
        arguments: dict[str, Any] = {"border": border}
        inputs: list[Any] = [data, kernels]
        if border == "constant" and rng.random() < 0.7:
            inputs.append([np.array(7, dtype), np.array(100, dtype), np.array(0, dtype)])
        if rng.random() < 0.6:
            anchors = [[int(rng.integers(-1, n)) for n in size] for size in sizes]
            arguments["anchor"] = Each(anchors, "int32")
        if rng.random() < 0.5:
            arguments["dtype"] = Type("float32")
        same = one_level if dtype != "float32" else near_sums
        if "dtype" in arguments and dtype != "float32":
            same = float_of_integers
        assert_agree("filter", *inputs, layout=layout, check=same, **arguments)


def float_of_integers(actual: Array, expected: Array, context: object) -> None:
    assert_near(actual, expected, context, magnitude=65536)


def test_filter_valid() -> None:
    rng = np.random.default_rng(8)
    data = [rng.integers(0, 256, (20, 30, 3), np.uint8) for _ in range(3)]
    kernels = [rng.normal(0, 0.2, (4, n)).astype(np.float32) for n in (1, 6, 9)]
    arguments = {"mode": "valid", "anchor": 0}
    assert_agree("filter", data, kernels, layout="HWC", check=one_level, **arguments)


def test_filter_frames() -> None:
    rng = np.random.default_rng(9)
    data = [rng.integers(0, 256, (3, 20, 30, 3), np.uint8) for _ in range(2)]
    kernels = [rng.normal(0, 0.2, (3, 4, 5)).astype(np.float32) for _ in range(2)]
    fill = [np.array([1, 100, 30], np.uint8), np.array([0, 9, 200], np.uint8)]
    anchors = each_frame([[[0, 0], [3, 4], [-1, 2]]] * 2, "int32")
    inputs = [data, Each(kernels, layout="FHW"), Each(fill, layout="F")]
    arguments = {"border": "constant", "anchor": anchors}
    assert_agree("filter", *inputs, layout="FHWC", check=one_level, **arguments)


def test_large_filters() -> None:
    """Here the reference uses a DFT."""
    rng = np.random.default_rng(10)
    for dtype, same in (("uint8", one_level), ("float32", near_sums)):
        data = make_data(rng, dtype, "HWC", 2, 60)
        kernels = [np.full((25, 31), 1 / 775, np.float32)] * 2
        assert_agree("filter", data, kernels, layout="HWC", check=same)


def test_halves_are_rounded_alike() -> None:
    data = [np.arange(256, dtype=np.uint8).reshape(16, 16)]
    kernels = [np.array([[0.5]], np.float32)]
    assert_agree("filter", data, kernels, layout="HW")
