# SPDX-License-Identifier: Apache-2.0
"""Color operators against plain NumPy and OpenCV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_near, assert_same
from support.ramps import all_instruction_sets
from support.reference import color as plain

Array = plain.Array
TYPES = ["uint8", "uint16", "int8", "int16", "int32", "float16", "float32", "float64"]
BRIGHTNESS = {"brightness": 1.3, "brightness_shift": -0.1}
CONTRAST = {"contrast": 0.7, "contrast_center": 90.0}
CALLS: dict[str, tuple[Callable[..., Array], dict[str, float]]] = {
    "brightness": (plain.brightness_contrast, BRIGHTNESS),
    "contrast": (plain.brightness_contrast, CONTRAST),
    "brightness_contrast": (plain.brightness_contrast, BRIGHTNESS | CONTRAST),
    "hue": (plain.color_twist, {"hue": 77.0}),
    "saturation": (plain.color_twist, {"saturation": 1.8}),
    "hsv": (plain.color_twist, {"hue": -30.0, "saturation": 0.4, "value": 1.2}),
    "color_twist": (
        plain.color_twist,
        {"hue": 200.0, "saturation": 0.4, "brightness": 0.8, "contrast": 1.3},
    ),
}


def make_image(dtype: str, shape: tuple[int, ...] = (21, 17, 3)) -> Array:
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind == "f":
        return rng.random(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(max(limits.min, -300), min(limits.max, 300), shape, dtype)


def call(name: str, image: Any, **arguments: Any) -> Array:
    return np.array(getattr(ndd, name)(ndd.tensor(image, layout="HWC"), **arguments))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("source", TYPES)
def test_against_numpy(name: str, source: str) -> None:
    reference, arguments = CALLS[name]
    image = make_image(source)
    for target in TYPES:
        actual = call(name, image, dtype=np.dtype(target), **arguments)
        expected = reference(image, target, **arguments)
        magnitude = max(1000, float(np.abs(expected).max()))
        assert_near(actual, expected, (name, source, target), magnitude)


@pytest.mark.parametrize("name", CALLS)
def test_defaults_change_nothing(name: str) -> None:
    image = make_image("uint8")
    assert_same(call(name, image), image)


def test_default_types() -> None:
    image = ndd.tensor(make_image("int16"), layout="HWC")
    assert ndd.contrast(image).dtype == ndd.int16
    assert ndd.color_twist(image).dtype == ndd.int16
    assert ndd.hsv(image).dtype == ndd.uint8


@pytest.mark.parametrize(("source", "center"), [("uint8", 128), ("int16", 16384), ("float32", 0.5)])
def test_default_contrast_center(source: str, center: float) -> None:
    actual = call("contrast", make_image(source), contrast=0)
    assert_same(actual, np.full_like(actual, center))


def test_lines_of_bytes_are_exact() -> None:
    rng = np.random.default_rng(11)
    every = np.arange(16 * 256).astype(np.uint8).reshape(16, 256, 1)
    for steepest in (0.1, 1.0, 3.0, 200.0):
        for _ in range(60):
            factor, shift = rng.uniform(-0.1 * steepest, steepest), rng.uniform(-1, 1)
            sums = every.astype(np.float32) * np.float32(factor) + np.float32(shift) * 255
            expected = np.floor(sums.astype(np.float64) + 0.5).clip(0, 255).astype(np.uint8)
            actual = call("brightness", every, brightness=factor, brightness_shift=shift)
            assert_same(actual, expected, (factor, shift))


def test_extreme_arguments_saturate() -> None:
    image = make_image("uint8")
    big = 3e38
    assert call("brightness", image, brightness=big).max() == 255
    assert call("brightness", image + 1, brightness=-big).max() == 0
    assert call("saturation", image, saturation=big).dtype == np.uint8
    not_a_number = call("brightness", image, brightness=float("nan"))
    assert_same(not_a_number, np.zeros_like(image))


def test_frames_of_sequences() -> None:
    video = make_image("uint8", (3, 6, 5, 3))
    factors = ndd.tensor(np.array([0.5, 1, 2], np.float32), layout="F")
    for name, argument in (("brightness", "brightness"), ("saturation", "saturation")):
        result = getattr(ndd, name)(ndd.tensor(video, layout="FHWC"), **{argument: factors})
        reference = CALLS[name][0]
        frames = [
            reference(frame, "uint8", **{argument: factor})
            for frame, factor in zip(video, (0.5, 1, 2), strict=True)
        ]
        assert_near(np.array(result), np.stack(frames))


def test_volumes_are_colored_like_images() -> None:
    volume = make_image("uint8", (4, 6, 5, 3))
    result = ndd.color_twist(ndd.tensor(volume, layout="DHWC"), hue=50)
    assert result.layout == "DHWC"
    assert_near(np.array(result), plain.color_twist(volume, "uint8", hue=50))


@pytest.mark.parametrize(
    ("source", "target", "code"),
    [
        ("RGB", "BGR", cv2.COLOR_RGB2BGR),
        ("BGR", "RGB", cv2.COLOR_BGR2RGB),
        ("RGB", "GRAY", cv2.COLOR_RGB2GRAY),
        ("BGR", "GRAY", cv2.COLOR_BGR2GRAY),
        ("GRAY", "RGB", cv2.COLOR_GRAY2RGB),
        ("GRAY", "BGR", cv2.COLOR_GRAY2BGR),
    ],
)
def test_color_spaces_against_opencv(source: str, target: str, code: int) -> None:
    image = make_image("uint8", (37, 41, 1 if source == "GRAY" else 3))
    actual = convert(image, source, target)
    assert_same(actual, cv2.cvtColor(image, code).reshape(actual.shape))


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("shape", [(5, 13, 3), (9, 64, 3), (2400, 2531, 3)])
def test_order_of_channels(shape: tuple[int, ...]) -> None:
    """Also of an image that does not fit into the caches."""
    image = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    assert_same(convert(image, "RGB", "BGR"), image[..., ::-1])


def convert(image: Array, source: str, target: str) -> Array:
    types = {"image_type": getattr(ndd.types, source), "output_type": getattr(ndd.types, target)}
    return call("color_space_conversion", image, **types)


def test_ycbcr() -> None:
    """Primaries have the well-known coordinates; going back and forth loses two levels at most."""
    names = {
        (0, 0, 0): (16, 128, 128),
        (255, 255, 255): (235, 128, 128),
        (255, 0, 0): (81, 90, 240),
    }
    for rgb, ycbcr in names.items():
        assert convert(np.uint8([[rgb]]), "RGB", "YCbCr").tolist() == [[list(ycbcr)]]
        assert convert(np.uint8([[rgb[::-1]]]), "BGR", "YCbCr").tolist() == [[list(ycbcr)]]
    image = make_image("uint8", (50, 50, 3))
    for space in ("RGB", "BGR"):
        back = convert(convert(image, space, "YCbCr"), "YCbCr", space)
        assert np.abs(back.astype(int) - image).max() <= 2
    gray = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    luma = convert(gray, "GRAY", "YCbCr")
    assert luma[..., 0].min() == 16
    assert luma[..., 0].max() == 235
    assert (luma[..., 1:] == 128).all()
    assert np.abs(convert(luma, "YCbCr", "GRAY").astype(int) - gray).max() <= 1


def test_same_color_space_copies() -> None:
    image = make_image("uint8")
    assert_same(convert(image, "RGB", "RGB"), image)


def test_wrong_arguments_are_refused() -> None:
    image = ndd.tensor(make_image("uint8"), layout="HWC")
    with pytest.raises(ValueError, match=r"hue: color images have 3 channels; got .*\(4, 5, 1\)"):
        ndd.hue(ndd.tensor(np.zeros((4, 5, 1), np.uint8), layout="HWC")).evaluate()
    with pytest.raises(ValueError, match="saturation: 'image_type' must be"):
        ndd.saturation(image, image_type=ndd.types.GRAY).evaluate()
    with pytest.raises(ValueError, match=r"brightness: 'dtype' must be .*; got bool"):
        ndd.brightness(image, dtype=ndd.bool).evaluate()
    with pytest.raises(ValueError, match="contrast: the layout 'WHC' is not supported"):
        ndd.contrast(ndd.tensor(make_image("uint8"), layout="WHC")).evaluate()
    with pytest.raises(ValueError, match="color_twist: the type bool is not supported"):
        ndd.color_twist(ndd.tensor(np.zeros((4, 5, 3), bool), layout="HWC")).evaluate()
    with pytest.raises(ValueError, match="color_space_conversion: 'output_type' must be"):
        convert(make_image("uint8"), "RGB", "ANY_DATA")
    with pytest.raises(ValueError, match="color_space_conversion: GRAY images have 1 channel;"):
        convert(make_image("uint8"), "GRAY", "RGB")
    per_frame = ndd.tensor(np.ones(21, np.float32), layout="F")
    with pytest.raises(ValueError, match="hue: 'hue' has one value for each frame, but"):
        ndd.hue(image, hue=per_frame).evaluate()


def test_grayscale() -> None:
    image = np.random.default_rng(3).integers(0, 256, (20, 30, 3), np.uint8)
    luminance = image.astype(np.float64) @ [0.299, 0.587, 0.114]
    for count in (1, 3):
        found = np.asarray(ndd.grayscale(image, num_output_channels=count)).astype(np.float64)
        assert found.shape == (20, 30, count)
        assert np.abs(found - luminance[..., None]).max() <= 1
        assert (found == found[..., :1]).all()
    soft = (image / 255).astype(np.float32)
    found = np.asarray(ndd.grayscale(soft, num_output_channels=1))
    assert np.abs(found[..., 0] - luminance / 255).max() <= 1 / 255
    assert (np.asarray(ndd.grayscale(soft)) == found).all()
    with pytest.raises(ValueError, match="'num_output_channels' must be 1 or 3; got 2"):
        ndd.grayscale(image, num_output_channels=2).evaluate()
    with pytest.raises(ValueError, match="RGB images have 3 channels; got the shape"):
        ndd.grayscale(image[..., :2]).evaluate()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_channel_shuffle(dtype: str) -> None:
    rng = np.random.default_rng(4)
    for channels in (1, 2, 3, 4):
        image = rng.integers(0, 100, (7, 9, channels)).astype(dtype)
        order = rng.permutation(channels)
        found = np.asarray(ndd.channel_shuffle(image, order=order.tolist()))
        assert (found == image[..., order]).all()
        drawn = np.asarray(ndd.channel_shuffle(image))
        assert sorted(map(tuple, drawn.reshape(-1, channels).T.tolist())) == sorted(
            map(tuple, image.reshape(-1, channels).T.tolist())
        )
    with pytest.raises(ValueError, match="'order' must name each of the 3 channels once"):
        ndd.channel_shuffle(np.zeros((2, 2, 3), np.uint8), order=[0, 0, 1]).evaluate()
    mixed = ndd.batch([np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2, 1), np.uint8)], layout="HWC")
    with pytest.raises(ValueError, match="all images need equally many channels; got"):
        ndd.channel_shuffle(mixed).evaluate()


def test_channel_shuffle_draws_every_order() -> None:
    images = ndd.batch([np.array([[[0, 1, 2]]], np.uint8)] * 200, layout="HWC")
    found = np.asarray(ndd.channel_shuffle(images, rng=ndd.random.RNG(5)))
    assert len(np.unique(found.reshape(-1, 3), axis=0)) == 6


def test_rgb_shift() -> None:
    image = np.random.default_rng(5).integers(0, 256, (20, 30, 3), np.uint8)
    found = np.asarray(ndd.rgb_shift(image, r_shift=30, g_shift=-40.4, b_shift=0.6))
    expected = np.clip(np.floor(image + np.array([30, -40.4, 0.6]) + 0.5), 0, 255)
    assert (found == expected).all()
    soft = (image / 255).astype(np.float32)
    found = np.asarray(ndd.rgb_shift(soft, g_shift=0.25))
    assert_near(found, soft + np.array([0, 0.25, 0], np.float32))
