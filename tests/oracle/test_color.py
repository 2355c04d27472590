# SPDX-License-Identifier: Apache-2.0
"""Color operators against the reference library itself: all results are equal to the bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each, Type, each_frame
from support.oracle import assert_agree, ours

pytestmark = pytest.mark.oracle

RANGES: dict[str, tuple[float, float]] = {
    "brightness": (-0.5, 3.0),
    "brightness_shift": (-0.5, 0.5),
    "contrast": (-0.5, 3.0),
    "contrast_center": (-50.0, 250.0),
    "hue": (-400.0, 400.0),
    "saturation": (-0.5, 3.0),
    "value": (-0.5, 3.0),
}
BRIGHTNESS = ["brightness", "brightness_shift"]
CONTRAST = ["contrast", "contrast_center"]
OPERATORS = {
    "brightness": BRIGHTNESS,
    "contrast": CONTRAST,
    "brightness_contrast": BRIGHTNESS + CONTRAST,
    "hue": ["hue"],
    "saturation": ["saturation"],
    "hsv": ["hue", "saturation", "value"],
    "color_twist": ["hue", "saturation", "brightness", "contrast"],
}
TYPES = ["uint8", "int16", "int32", "float32"]


def types_of(name: str) -> list[str]:
    return TYPES if OPERATORS[name][0] in BRIGHTNESS + CONTRAST else [*TYPES, "float16"]


def make_images(rng: np.random.Generator, dtype: str, shapes: list[Any]) -> list[Array]:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return [rng.normal(0.5, 1, shape).astype(kind) for shape in shapes]
    # Mostly moderate values, so that not everything is clamped.
    limits = np.iinfo(kind)
    low, high = max(limits.min, -1000), min(limits.max, 1000)
    images = [rng.integers(low, high, shape, kind, endpoint=True) for shape in shapes]
    images[0].flat[:6] = [limits.min, limits.max, limits.max - 1, 0, 1, limits.min + 1]
    return images


def make_arguments(
    rng: np.random.Generator, name: str, frames: list[int] | None, count: int
) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for argument in OPERATORS[name]:
        low, high = RANGES[argument]
        form = rng.choice(["default", "one", "each sample", "each frame"])
        if form == "one":
            arguments[argument] = float(rng.uniform(low, high))
        elif form == "each sample":
            arguments[argument] = Each(rng.uniform(low, high, count), "float32")
        elif form == "each frame" and frames is not None:
            arguments[argument] = each_frame([rng.uniform(low, high, n).tolist() for n in frames])
    return arguments


@pytest.mark.parametrize("name", OPERATORS)
def test_every_pair_of_types(name: str) -> None:
    rng = np.random.default_rng(len(name))
    for source, target in itertools.product(types_of(name), [None, *types_of(name)]):
        images = make_images(rng, source, [(9, 12, 3), (16, 7, 3), (31, 33, 3)])
        arguments = make_arguments(rng, name, None, 3)
        if target is not None:
            arguments["dtype"] = Type(target)
        assert_agree(name, images, layout="HWC", **arguments)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("layout", ["HWC", "FHWC", "DHWC", None])
def test_arguments(name: str, layout: str | None) -> None:
    rng = np.random.default_rng(len(name))
    for _ in range(10):
        frames = [3, 1, 4]
        outer = [()] * 3 if layout == "HWC" else [(n,) for n in frames]
        shapes = [(*n, *rng.integers(1, 20, 2), 3) for n in outer]
        images = make_images(rng, str(rng.choice(types_of(name))), shapes)
        arguments = make_arguments(rng, name, frames if layout == "FHWC" else None, 3)
        assert_agree(name, images, layout=layout, **arguments)


@pytest.mark.parametrize("name", ["brightness", "contrast", "brightness_contrast"])
def test_any_number_of_channels(name: str) -> None:
    rng = np.random.default_rng(5)
    images = make_images(rng, "uint8", [(9, 12, 1), (16, 7, 4), (31, 33, 2), (5, 4, 0)])
    assert_agree(name, images, layout="HWC", **make_arguments(rng, name, None, 4))


SPACES = list(itertools.permutations(["RGB", "BGR", "GRAY", "YCbCr"], 2))


@pytest.mark.parametrize("spaces", SPACES, ids="-".join)
def test_color_spaces(spaces: tuple[str, str]) -> None:
    source, target = spaces
    if source == "GRAY":
        image = np.arange(256, dtype=np.uint8).reshape(8, 32, 1)
    else:
        # Every color there is.
        colors = np.arange(2**24, dtype="<u4").view(np.uint8).reshape(4096, 4096, 4)
        image = np.ascontiguousarray(colors[..., :3])
    arguments = {
        "image_type": getattr(ours.types, source).value,
        "output_type": getattr(ours.types, target).value,
    }
    assert_agree("color_space_conversion", [image], layout="HWC", **arguments)


@pytest.mark.parametrize("layout", ["HWC", "FHWC", "DHWC", "FDHWC", None])
def test_color_space_layouts(layout: str | None) -> None:
    rng = np.random.default_rng(6)
    shape = (2, 3, 9, 12, 3)[5 - len(layout or "FHWC") :]
    images = [rng.integers(0, 256, shape, np.uint8) for _ in range(3)]
    arguments = {"image_type": ours.types.RGB.value, "output_type": ours.types.GRAY.value}
    assert_agree("color_space_conversion", images, layout=layout, **arguments)
