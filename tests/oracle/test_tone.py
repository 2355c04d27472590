# SPDX-License-Identifier: Apache-2.0
"""Tables, histograms and raw images against the reference library itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.compare import assert_near, assert_same
from support.libraries import Array, Each, Type, each_frame
from support.oracle import assert_agree

pytestmark = pytest.mark.oracle

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
TYPES = [*INTEGERS, "float16", "float32", "float64", "bool"]
POSITIONS = [[0, 0], [0, 1], [1, 0], [1, 1]]


def make_images(rng: np.random.Generator, shapes: list[Any], dtype: str = "uint8") -> list[Array]:
    """Noise, and smooth images with few values."""
    images = []
    for index, shape in enumerate(shapes):
        image = rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
        if index % 2:
            ramp = np.linspace(40, 200, image.size).reshape(shape)
            image = (ramp + image % 20).astype(dtype)
        images.append(image)
    return images


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", TYPES)
def test_lookup_table(source: str, target: str) -> None:
    rng = np.random.default_rng(1)
    limits = np.iinfo(source)
    low, high = max(limits.min, -500), min(limits.max, 70000)
    data = [rng.integers(low, high, (20, 30), source, endpoint=True) for _ in range(3)]
    data[0].flat[:3] = [limits.min, limits.max, 0]
    keys = rng.integers(0, 65536 if high > 300 else high + 1, 300)
    arguments = {
        "keys": keys.tolist(),
        "values": rng.uniform(-300, 300, 300).tolist(),
        "default_value": float(rng.uniform(-300, 300)),
        "dtype": Type(target),
    }
    assert_agree("lookup_table", data, **arguments)
    assert_agree("lookup_table", data, default_value=3.0)


@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "FHW", "FHWC", "FCHW", None])
def test_equalize(layout: str | None) -> None:
    rng = np.random.default_rng(2)
    extents = {"F": 3, "C": 3}
    name = layout or "HWC"
    for _ in range(5):
        shapes = [[extents.get(a) or int(rng.integers(1, 60)) for a in name] for _ in range(4)]
        assert_agree("equalize", make_images(rng, shapes), layout=layout)


def test_equalize_special_images() -> None:
    flat = [np.full((9, 7, 2), value, np.uint8) for value in (0, 7, 255)]
    two = [np.repeat(np.uint8([[[3], [200]]]), 5, axis=0)]
    many = [np.random.default_rng(3).integers(0, 256, (9, 8, 11), np.uint8)]
    assert_agree("equalize", flat + two + many, layout="HWC")


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("luma_only", [True, False])
def test_clahe(channels: int, luma_only: bool) -> None:
    rng = np.random.default_rng(4)
    for _ in range(12):
        shapes = [(*rng.integers(1, 150, 2), channels) for _ in range(4)]
        arguments = {
            "tiles_x": int(rng.integers(1, 12)),
            "tiles_y": int(rng.integers(1, 12)),
            "clip_limit": float(rng.choice([0, 0.5, 2, 3.7, 40, -1])),
            "luma_only": luma_only,
        }
        images = make_images(rng, shapes)
        assert_agree("clahe", images, layout="HWC", **arguments)


def test_clahe_of_all_colors() -> None:
    """Every color goes to CIE Lab and back."""
    colors = np.arange(2**24, dtype="<u4").view(np.uint8).reshape(4096, 4096, 4)
    image = np.ascontiguousarray(colors[..., :3])
    arguments = {"tiles_x": 4, "tiles_y": 4, "clip_limit": 2.0}
    assert_agree("clahe", [image], layout="HWC", **arguments)


@pytest.mark.parametrize("algorithm", ["bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_debayer(algorithm: str, dtype: str) -> None:
    if algorithm == "vng_ocv" and dtype == "uint16":
        return
    # OpenCV has a less exact 1/7 for the last pixels of a row, which may round the other way.
    same = assert_near if algorithm == "vng_ocv" else assert_same
    rng = np.random.default_rng(5)
    for layout in ("HW", "HWC"):
        for _ in range(6):
            shapes = [
                (*2 * rng.integers(1, 60, 2), *([1] if layout == "HWC" else [])) for _ in POSITIONS
            ]
            images = make_images(rng, shapes, dtype)
            positions = Each(POSITIONS, "int32")
            arguments = {"algorithm": algorithm, "blue_position": positions}
            assert_agree("debayer", images, layout=layout, check=same, **arguments)


@pytest.mark.parametrize("layout", ["FHW", "FHWC"])
def test_debayer_frames(layout: str) -> None:
    rng = np.random.default_rng(6)
    shape = (4, 20, 30) if layout == "FHW" else (4, 20, 30, 1)
    images = make_images(rng, [shape, shape])
    for position in ([1, 0], each_frame([POSITIONS, POSITIONS[::-1]], "int32")):
        arguments = {"blue_position": position}
        assert_agree("debayer", images, layout=layout, **arguments)


def test_default_algorithm() -> None:
    images = make_images(np.random.default_rng(7), [(20, 30)])
    assert_agree("debayer", images, blue_position=[0, 1])
