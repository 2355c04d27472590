# SPDX-License-Identifier: Apache-2.0
"""The resize operators give what the reference gives, up to one level of integers.

Left out, because the reference reads or writes the wrong pixels there: INTERP_NN in regions that
leave the image, INTERP_NN for one axis and another filter for the next in regions, and mirroring of
layouts that do not begin with space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each, Generator, Single, Type
from support.oracle import assert_agree, assert_both_refuse, assert_nearly_agree

pytestmark = pytest.mark.oracle

NN = 0
SMOOTH = (1, 2, 3, 4, 5)
TYPES = ("u1", "u2", "i2", "f4")
IMAGES = ("HWC", "FHWC", "CHW", "FCHW", "CFHW")
VOLUMES = ("DHWC", "FDHWC", "CDHW", "FCDHW", "CFDHW")

Rng = np.random.Generator


def random_array(rng: Rng, shape: list[int], dtype: str) -> Array:
    if dtype == "f4":
        return (rng.normal(size=shape) * 100).astype(np.float32)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, np.dtype(dtype), endpoint=True)


def random_samples(rng: Rng, layout: str, dtype: str) -> list[Array]:
    channels = int(rng.choice([1, 2, 3, 3, 4, 5, 18]))
    largest = 25 if "D" in layout else 80

    def extent(axis: str) -> int:
        return channels if axis == "C" else int(rng.integers(1, 4 if axis == "F" else largest))

    count = int(rng.integers(1, 4))
    return [random_array(rng, [extent(axis) for axis in layout], dtype) for _ in range(count)]


def space(layout: str) -> int:
    return 3 if "D" in layout else 2


class Arguments:
    """Draws arguments, some of them with a value for each sample."""

    def __init__(self, rng: Rng, samples: list[Array]) -> None:
        self.rng = rng
        self.samples = samples
        self.chosen: dict[str, Any] = {}

    def often(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def put(self, name: str, make: Callable[[], Any], dtype: Any = np.float32) -> None:
        if self.often(0.4):
            self.chosen[name] = Each([np.array(make(), dtype) for _ in self.samples])
        else:
            self.chosen[name] = make()

    def number(self) -> float:
        return float(np.round(self.rng.uniform(1, 60), int(self.rng.integers(0, 3))))

    def sizes(self, axes: int) -> list[float]:
        values = [self.number() for _ in range(axes)]
        if self.often(0.2):
            values[int(self.rng.integers(axes))] = 0.0
        if self.often(0.2):
            values[int(self.rng.integers(axes))] *= -1
        return values

    def put_size(self, axes: int) -> None:
        form = int(self.rng.integers(5))
        if form == 0:
            self.put("size", self.number)
        elif form == 1:
            self.put("size", lambda: self.sizes(axes))
        elif form == 2:
            for axis in "xyz"[:axes]:
                if self.often(0.6) or axis == "x":
                    self.put(f"resize_{axis}", self.number)
        else:
            self.put("resize_shorter" if form == 3 else "resize_longer", self.number)
        if form <= 2 and self.often(0.6):
            modes = ["default", "stretch", "not_larger", "not_smaller"]
            self.chosen["mode"] = str(self.rng.choice(modes))
        limits = [float(limit) for limit in self.rng.uniform(20, 80, axes)]
        self.chosen["max_size"] = limits if self.often(0.5) else 90.0
        if self.often(0.3):
            self.chosen["subpixel_scale"] = False

    def put_region(self, axes: int) -> None:
        starts, ends = [], []
        for _ in self.samples:
            start, end = self.rng.uniform(0, 0.45, axes), self.rng.uniform(0.55, 1, axes)
            if self.often(0.3):
                start, end = end, start
            if self.often(0.4):
                start, end = start - 0.3, end + 0.3
            starts.append(start.astype(np.float32))
            ends.append(end.astype(np.float32))
        alike = self.often(0.5)
        self.chosen["roi_start"] = starts[0].tolist() if alike else Each(starts)
        self.chosen["roi_end"] = ends[0].tolist() if alike else Each(ends)
        self.chosen["roi_relative"] = True

    def put_filters(self) -> None:
        form = int(self.rng.integers(4))

        def pick() -> int:
            return int(self.rng.choice(SMOOTH))

        for name in ((), ("interp_type",), ("min_filter", "mag_filter"), ("min_filter",))[form]:
            self.put(name, pick, np.int32)
        if self.often(0.4):
            self.chosen["antialias"] = self.often(0.5)
        if self.often(0.25):
            self.chosen["dtype"] = Type("float32")


@pytest.mark.parametrize("layout", IMAGES + VOLUMES)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("antialias", [True, False])
def test_every_filter_layout_and_type(layout: str, dtype: str, antialias: bool) -> None:
    rng = np.random.default_rng(1)
    for interp in (NN, *SMOOTH):
        samples = random_samples(rng, layout, dtype)
        size = [float(extent) for extent in rng.integers(1, 60, space(layout))]
        check = assert_agree if interp == NN else assert_nearly_agree
        arguments = {"layout": layout, "size": size, "antialias": antialias}
        check("resize", samples, interp_type=interp, **arguments)
        if dtype != "f4":
            check("resize", samples, interp_type=interp, dtype=Type("float32"), **arguments)


@pytest.mark.parametrize("seed", range(40))
def test_resize(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(5):
        layout, dtype = str(rng.choice(IMAGES + VOLUMES)), str(rng.choice(TYPES))
        arguments = Arguments(rng, random_samples(rng, layout, dtype))
        arguments.put_size(space(layout))
        if arguments.often(0.5):
            arguments.put_region(space(layout))
        arguments.put_filters()
        assert_nearly_agree("resize", arguments.samples, layout=layout, **arguments.chosen)


@pytest.mark.parametrize("seed", range(10))
def test_nearest_in_regions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout, dtype = str(rng.choice(IMAGES + VOLUMES)), str(rng.choice(TYPES))
    samples = random_samples(rng, layout, dtype)
    start, end = rng.uniform(0, 0.45, space(layout)), rng.uniform(0.55, 1, space(layout))
    if seed % 2:
        start, end = end, start
    arguments = {
        "size": [float(extent) for extent in rng.integers(1, 60, space(layout))],
        "roi_start": start.tolist(),
        "roi_end": end.tolist(),
        "roi_relative": True,
        "interp_type": NN,
    }
    assert_agree("resize", samples, layout=layout, **arguments)


@pytest.mark.parametrize(
    ("in_size", "out_size"),
    [
        ((1500, 2000), (50, 67)),
        ((333, 500), (224, 224)),
        ((64, 64), (640, 500)),
        ((3, 1300), (64, 8)),
    ],
)
@pytest.mark.parametrize("interp", SMOOTH)
def test_hard_contrast(in_size: tuple[int, int], out_size: tuple[int, int], interp: int) -> None:
    rows, columns = np.ogrid[: in_size[0], : in_size[1]]
    rng = np.random.default_rng(0)
    patterns = [
        (rows + columns) % 2,
        (columns // 3) % 2,
        rng.integers(0, 2, in_size),
        np.ones(in_size, int),
    ]
    samples = [np.repeat(p[..., None] * 255, 3, axis=2).astype(np.uint8) for p in patterns]
    assert_nearly_agree("resize", samples, layout="HWC", size=out_size, interp_type=interp)


@pytest.mark.parametrize("layout", ["HWC", "CFHW", "CDHW"])
def test_original_sizes(layout: str) -> None:
    samples = random_samples(np.random.default_rng(0), layout, "u1")
    assert_nearly_agree("resize", samples, layout=layout, size=5, save_attrs=True)


@pytest.mark.parametrize("seed", range(40))
def test_tensor_resize(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(5):
        ndim = int(rng.integers(1, 6))
        largest = (400, 60, 20, 9, 6)[ndim - 1]
        shapes = rng.integers(1, largest, (int(rng.integers(1, 4)), ndim)).tolist()
        dtype = str(rng.choice(TYPES))
        samples = [random_array(rng, shape, dtype) for shape in shapes]
        draw = Arguments(rng, samples)
        count = int(rng.integers(1, min(3, ndim) + 1))
        first = int(rng.integers(0, ndim - count + 1))
        axes = list(range(first, first + count))
        draw.chosen["axes"] = [axis - ndim for axis in axes[::-1]] if draw.often(0.3) else axes
        if draw.often(0.5):
            draw.put("sizes", lambda n=count: np.round(rng.uniform(1, 30, n), 1).tolist())
            modes = ["default", "stretch"]
            if ndim <= 3:  # keeping the aspect ratio changes all axes
                modes += ["not_larger", "not_smaller"]
        else:
            draw.put("scales", lambda n=count: rng.uniform(0.3, 2.5, n).tolist())
            modes = ["default", "stretch"]
        if draw.often(0.4):
            draw.chosen["mode"] = str(rng.choice(modes))
        if draw.often(0.4):
            draw.put("alignment", lambda n=count: rng.random(n).tolist())
        if draw.often(0.4):
            draw.chosen["size_rounding"] = str(rng.choice(["round", "truncate", "ceil"]))
        if draw.often(0.3):
            draw.chosen["max_size"] = rng.uniform(5, 20, count).tolist()
        if draw.often(0.4):
            draw.put_region(count)
        draw.put_filters()
        assert_nearly_agree("tensor_resize", samples, **draw.chosen)


@pytest.mark.parametrize("seed", range(40))
def test_resize_crop_mirror(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(5):
        layout, dtype = str(rng.choice(IMAGES + VOLUMES)), str(rng.choice(TYPES))
        axes = space(layout)
        draw = Arguments(rng, random_samples(rng, layout, dtype))
        draw.put_size(axes)
        if draw.often(0.3):
            draw.put_region(axes)

        def window(n: int = axes) -> list[float]:
            return [float(extent) for extent in rng.integers(1, 50, n)]

        if draw.often(0.5):
            draw.put("crop", window)
        else:
            draw.put("crop_h", lambda: window(1)[0])
            draw.put("crop_w", lambda: window(1)[0])
        for axis in "xyz"[:axes]:
            if draw.often(0.5):
                draw.put(f"crop_pos_{axis}", lambda: float(rng.random()))
        if draw.often(0.3):
            draw.chosen["rounding"] = "truncate"
        if layout[0] in "DH":
            draw.put("mirror", lambda: int(rng.integers(8)), np.int32)
        draw.put_filters()
        assert_nearly_agree("resize_crop_mirror", draw.samples, layout=layout, **draw.chosen)


@pytest.mark.parametrize("seed", range(40))
def test_random_resized_crop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout, dtype = str(rng.choice(IMAGES)), str(rng.choice(TYPES))
    draw = Arguments(rng, random_samples(rng, layout, dtype))
    draw.chosen["size"] = [int(extent) for extent in rng.integers(1, 60, 2)]
    if draw.often(0.5):
        draw.chosen["random_area"] = [seed % 3 / 10, float(rng.uniform(0.3, 1))]
    if draw.often(0.5):
        draw.chosen["random_aspect_ratio"] = [0.5, float(rng.uniform(0.6, 3))]
    if draw.often(0.3):
        draw.chosen["num_attempts"] = int(rng.integers(5))
    draw.put_filters()
    assert_nearly_agree(
        "random_resized_crop", draw.samples, layout=layout, rng=Generator(seed), **draw.chosen
    )


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("resize", {}),
        ("resize", {"size": 3, "resize_x": 4}),
        ("resize", {"size": [1, 2, 3]}),
        ("resize", {"size": 3, "mode": "larger"}),
        ("resize", {"resize_shorter": 3, "mode": "stretch"}),
        ("resize", {"size": 3, "roi_start": [0, 0]}),
        ("resize", {"size": 3, "max_size": [1, 2, 3]}),
        ("resize", {"size": 3, "interp_type": 9}),
        ("resize", {"size": 3, "dtype": Type("int16")}),
        ("tensor_resize", {}),
        ("tensor_resize", {"sizes": 3, "scales": 3}),
        ("tensor_resize", {"scales": 2, "mode": "not_larger"}),
        ("tensor_resize", {"scales": 2, "axes": [3]}),
        ("tensor_resize", {"scales": 2, "axes": [0, 0]}),
        ("tensor_resize", {"scales": 2, "axis_names": "D"}),
        ("tensor_resize", {"scales": 2, "size_rounding": "floor"}),
        ("resize_crop_mirror", {"crop": [2, 2]}),
        ("resize_crop_mirror", {"size": 4, "crop": [2, 2], "crop_pos_x": 1.5}),
        ("random_resized_crop", {"size": [1, 2, 3]}),
        ("random_resized_crop", {"size": 3, "random_area": [0.5, 0.2]}),
    ],
)
def test_both_refuse(operator: str, arguments: dict[str, Any]) -> None:
    assert_both_refuse(operator, Single(np.zeros((6, 7, 3), np.uint8), "HWC"), **arguments)
