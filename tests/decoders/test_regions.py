# SPDX-License-Identifier: Apache-2.0
"""Orientation, and the decoders of regions: equal to decoding everything and cropping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque import types
from support.compare import assert_same
from support.image_decoding import decode, pillow
from support.image_makers import Array, as_samples, exif, jpeg, picture, png, png_chunk, save, tiff
from support.reference import pixels

SOURCE = picture(45, 61)
# Makers of files whose pixels are known, with an orientation.
FILES: dict[str, Callable[[int], bytes]] = {
    "jpeg": lambda o: jpeg(SOURCE, exif=exif(o)),
    "jpeg, big-endian": lambda o: jpeg(SOURCE, exif=exif(o, big_endian=True), subsampling=0),
    "progressive": lambda o: jpeg(SOURCE, exif=exif(o), progressive=True),
    "png": lambda o: png(SOURCE, 8, 2, before=png_chunk(b"eXIf", exif(o)[6:])),
    "png, late": lambda o: png(SOURCE, 8, 2, after=png_chunk(b"eXIf", exif(o)[6:])),
    "tiff": lambda o: tiff(SOURCE, 8, 2, tags={274: [o]}),
    "webp": lambda o: save(SOURCE, "WEBP", lossless=True, exif=exif(o)[6:]),
}
KINDS = pytest.mark.parametrize("kind", FILES)
ORIENTATIONS = pytest.mark.parametrize("orientation", range(1, 9))


def stored_pixels(kind: str) -> Array:
    """The pixels of a file without orientation."""
    return pillow(FILES[kind](1)) if kind in ("jpeg", "jpeg, big-endian", "progressive") else SOURCE


@KINDS
@ORIENTATIONS
def test_orientation(kind: str, orientation: int) -> None:
    data = FILES[kind](orientation)
    stored = stored_pixels(kind)
    upright = pixels.upright(stored, orientation)
    assert_same(decode(data), upright)
    assert_same(decode(data, adjust_orientation=False), stored)
    assert_same(decode(data, dtype=ndd.float32), pixels.rescale(upright, np.float32))
    assert_same(decode(data, output_type=types.BGR), upright[..., ::-1])
    shape = ndd.peek_image_shape(np.frombuffer(data, np.uint8))
    assert np.asarray(shape).tolist() == list(upright.shape)


@KINDS
@ORIENTATIONS
def test_crops_of_images_with_an_orientation(kind: str, orientation: int) -> None:
    data = np.frombuffer(FILES[kind](orientation), np.uint8)
    upright = pixels.upright(stored_pixels(kind), orientation)
    for y, x, h, w in ((0, 0, 5, 9), (11, 3, 20, 17), (1, 2, 1, 1), (20, 30, 16, 8)):
        for dtype in ("uint8", "uint16"):
            part = ndd.decoders.image_slice(
                data, start=[x, y], shape=[w, h], dtype=getattr(ndd, dtype)
            )
            assert_same(part, pixels.rescale(upright[y : y + h, x : x + w], dtype))


def crops() -> list[dict[str, Any]]:
    return [
        {},
        {"crop": (20, 30)},
        {"crop": (20.7, 30.2), "crop_pos_x": 0.0, "crop_pos_y": 1.0},
        {"crop_h": 17, "crop_w": 8, "crop_pos_x": 0.3, "rounding": "truncate"},
        {"crop_h": 0, "crop_w": 8},
        {"crop": (3, 20, 30)},
        {"crop_h": 17, "crop_w": 8, "crop_d": 4, "crop_pos_z": 0.1},
    ]


@KINDS
@pytest.mark.parametrize("arguments", crops(), ids=str)
def test_image_crop(kind: str, arguments: dict[str, Any]) -> None:
    data = ndd.as_tensor(np.frombuffer(FILES[kind](6), np.uint8))
    whole = ndd.as_tensor(decode(FILES[kind](6)), layout="HWC")
    expected = whole if not arguments else ndd.crop(whole, **arguments)
    assert_same(ndd.decoders.image_crop(data, **arguments), expected)


def slices() -> list[dict[str, Any]]:
    return [
        {"start": [3, 4], "end": [30, 40]},
        {"start": [3, 4], "shape": [17, 8]},
        {"rel_start": [0.1, 0.2], "rel_end": [0.77, 0.5]},
        {"rel_start": [0.1, 0.2], "rel_shape": [0.33, 0.5]},
        {"start": [4], "axes": [0]},
        {"rel_shape": [0.5], "axis_names": "W"},
        {"start": [5, 6], "shape": [7, 8], "axes": [-2, -1]},
        {"start": [5, 6], "shape": [7, 8], "axis_names": "HW"},
        {"start": [5, 6]},
    ]


@KINDS
@pytest.mark.parametrize("arguments", slices(), ids=str)
def test_image_slice(kind: str, arguments: dict[str, Any]) -> None:
    data = ndd.as_tensor(np.frombuffer(FILES[kind](6), np.uint8))
    whole = ndd.as_tensor(decode(FILES[kind](6)), layout="HWC")
    if "axes" in arguments:
        full = {**arguments, "axes": [axis % 2 for axis in arguments["axes"]]}
    else:
        full = arguments
    assert_same(ndd.decoders.image_slice(data, **arguments), ndd.slice(whole, **full))


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_image_slice_by_inputs(dtype: Any) -> None:
    data = np.frombuffer(FILES["jpeg"](1), np.uint8)
    whole = decode(FILES["jpeg"](1))
    if dtype is np.int32:
        anchor, shape = np.int32([4, 5]), np.int32([20, 10])
        part = ndd.decoders.image_slice(data, anchor, shape)
    else:
        anchor, shape = np.float32([0.1, 0.2]), np.float32([0.5, 0.25])
        part = ndd.decoders.image_slice(data, anchor, shape)
        left, top = round(61 * 0.1), round(45 * 0.2)
        assert_same(part, whole[top : round(45 * 0.45), left : round(61 * 0.6)])
        part = ndd.decoders.image_slice(
            data,
            np.float32([4, 5]),
            np.float32([20, 10]),
            normalized_anchor=False,
            normalized_shape=False,
        )
    assert_same(part, whole[5:15, 4:24])


def test_windows_for_each_sample() -> None:
    files = [FILES[kind](6) for kind in FILES]
    batch = ndd.batch(as_samples(files))
    count = len(files)
    positions = np.linspace(0, 1, count, dtype=np.float32)
    sizes = [np.array([8 + i, 9 + 2 * i], np.float32) for i in range(count)]
    result = ndd.decoders.image_crop(batch, crop=ndd.batch(sizes), crop_pos_x=ndd.batch(positions))
    for i, tensor in enumerate(result.tensors):
        alone = ndd.decoders.image_crop(batch.select(i), crop=sizes[i], crop_pos_x=positions[i])
        assert_same(tensor, alone)
        assert tensor.shape == (8 + i, 9 + 2 * i, 3)


@KINDS
def test_random_crop_is_that_of_the_generator(kind: str) -> None:
    files = [FILES[kind](orientation) for orientation in range(1, 9)]
    batch = ndd.batch(as_samples(files))
    whole = ndd.decoders.image(batch)
    arguments = {"random_area": [0.1, 0.6], "random_aspect_ratio": [0.5, 1.7], "num_attempts": 4}
    for seed in range(5):
        rng = ndd.random.RNG(seed=seed)
        begin, shape = ndd.random_crop_generator(ndd.peek_image_shape(batch), rng=rng, **arguments)
        rng = ndd.random.RNG(seed=seed)
        result = ndd.decoders.image_random_crop(batch, rng=rng, **arguments)
        expected = ndd.slice(whole, begin, shape, axis_names="HW")
        for got, wanted in zip(result.tensors, expected.tensors, strict=True):
            assert_same(got, wanted)


def test_random_crop_depends_on_the_generator_only() -> None:
    batch = ndd.batch(as_samples([FILES["jpeg"](1)] * 4))
    first = ndd.decoders.image_random_crop(batch, rng=ndd.random.RNG(seed=3)).shape
    assert first == ndd.decoders.image_random_crop(batch, rng=ndd.random.RNG(seed=3)).shape
    assert first != ndd.decoders.image_random_crop(batch, rng=ndd.random.RNG(seed=4)).shape
    assert len(set(first)) > 1


@pytest.mark.parametrize(
    ("operator", "arguments", "message"),
    [
        ("image_crop", {"crop": (46, 10)}, r"rows \[-1, 45\).*leaves the image"),
        ("image_slice", {"start": [-1, 0], "shape": [4, 4]}, r"columns \[-1, 3\) leaves"),
        ("image_slice", {"start": [50, 0], "end": [62, 4]}, r"columns \[50, 62\) leaves"),
        ("image_slice", {"start": [5, 5], "end": [5, 5]}, "is empty"),
    ],
)
def test_windows_outside(operator: str, arguments: dict[str, Any], message: str) -> None:
    data = np.frombuffer(FILES["jpeg"](1), np.uint8)
    with pytest.raises(
        ndd.OpError, match=f"decoders.{operator}: sample 0 has 45 x 61 pixels.*{message}"
    ):
        getattr(ndd.decoders, operator)(data, **arguments)


@pytest.mark.parametrize(
    ("operator", "arguments", "message"),
    [
        ("image_crop", {"crop": (5, 5), "crop_pos_x": 2.0}, r"'crop_pos_x' must lie in \[0, 1\]"),
        ("image_crop", {"crop": (5, 5), "crop_h": 4}, "exclude each other"),
        ("image_crop", {"crop": (5, 5), "rounding": "up"}, "'rounding' must be"),
        ("image_slice", {}, "the part to take is missing"),
        ("image_slice", {"start": [0], "axes": [2]}, r"'axes' must lie in \[-2, 1\]"),
        ("image_slice", {"start": [0], "axis_names": "C"}, "must name axes of the layout"),
        ("image_slice", {"start": [4, 4], "end": [3, 9]}, "end must not lie before the begin"),
        ("image_random_crop", {"random_area": [0.5, 0.2]}, "'random_area' must be a range"),
        ("image_random_crop", {"random_aspect_ratio": [0, 1]}, "'random_aspect_ratio' must be"),
    ],
)
def test_wrong_windows(operator: str, arguments: dict[str, Any], message: str) -> None:
    data = np.frombuffer(FILES["jpeg"](1), np.uint8)
    with pytest.raises(ValueError, match=f"decoders.{operator}: .*{message}"):
        getattr(ndd.decoders, operator)(data, **arguments)
