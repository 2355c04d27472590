# SPDX-License-Identifier: Apache-2.0
"""JPEGs decoded at a part of their size: equal to the reduced decoding of libjpeg-turbo."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

import daliesque as ndd
from daliesque import types
from support.compare import assert_same
from support.image_decoding import decode
from support.image_makers import Array, as_samples, exif, jpeg, picture, png
from support.instruction_sets import use_instructions
from support.reference import pixels

REDUCTIONS = pytest.mark.parametrize("reduction", [2, 4, 8])
HEIGHT, WIDTH = 83, 121


@pytest.fixture(params=["vector", "portable"])
def instructions(request: pytest.FixtureRequest) -> Iterator[None]:
    with use_instructions(request.param):
        yield


def ceiling(extent: int, reduction: int) -> int:
    return -(-extent // reduction)


def reduced(data: bytes, reduction: int, mode: str = "RGB") -> Array:
    """The pixels by Pillow, which lets libjpeg-turbo reduce them."""
    with Image.open(io.BytesIO(data)) as image:
        width, height = image.size
        image.draft(mode, (width // reduction, height // reduction))
        assert image.size == (ceiling(width, reduction), ceiling(height, reduction))
        array = np.asarray(image.convert(mode))
    return array if array.ndim == 3 else array[..., None]


def hint(reduction: int, height: int = HEIGHT, width: int = WIDTH) -> list[int]:
    """One that is met exactly."""
    return [ceiling(height, reduction), ceiling(width, reduction)]


@pytest.mark.usefixtures("instructions")
@REDUCTIONS
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"restart_marker_blocks": 3}])
@pytest.mark.parametrize("quality", [30, 95])
def test_colors(reduction: int, subsampling: str, options: dict[str, Any], quality: int) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    for source in (picture(HEIGHT, WIDTH), noise):
        data = jpeg(source, subsampling=subsampling, quality=quality, **options)
        assert_same(decode(data, size_hint=hint(reduction)), reduced(data, reduction))
        gray = decode(data, size_hint=hint(reduction), output_type=types.GRAY)
        assert_same(gray, reduced(data, reduction, "L"))


@pytest.mark.usefixtures("instructions")
@REDUCTIONS
@pytest.mark.parametrize("size", [(16, 16), (17, 24), (64, 9), (1, 40), (39, 2), (1, 1), (8, 120)])
def test_sizes(reduction: int, size: tuple[int, int]) -> None:
    for options in ({"subsampling": 0}, {"subsampling": 1}, {"subsampling": 2}):
        data = jpeg(picture(*size), **options)
        # Smaller images than the reduction can make are not what a hint asks for.
        if min(size) >= reduction:
            assert_same(decode(data, size_hint=hint(reduction, *size)), reduced(data, reduction))
        assert decode(data, size_hint=size).shape == (*size, 3)
    gray = jpeg(picture(*size, 1))
    if min(size) >= reduction:
        assert_same(
            decode(gray, size_hint=hint(reduction, *size), output_type=types.ANY_DATA),
            reduced(gray, reduction, "L"),
        )


def test_the_smallest_scale_that_suffices() -> None:
    data = jpeg(picture(160, 240))
    for needed, size in {
        (160, 240): (160, 240),
        (81, 1): (160, 240),
        (80, 121): (160, 240),
        (80, 120): (80, 120),
        (41, 60): (80, 120),
        (40, 60): (40, 60),
        (20, 30): (20, 30),
        (1, 1): (20, 30),
        (500, 500): (160, 240),
    }.items():
        assert decode(data, size_hint=needed).shape == (*size, 3)


def test_a_hint_for_each_sample() -> None:
    files = [jpeg(picture(160, 240)), jpeg(picture(96, 64)), png(picture(40, 50), 8, 2)]
    hints = [np.array(pair, np.int32) for pair in ([40, 60], [90, 60], [10, 10])]
    out = ndd.decoders.image(as_samples(files), size_hint=ndd.batch(hints))
    assert out.shape == [(40, 60, 3), (96, 64, 3), (40, 50, 3)]
    one = ndd.decoders.image(as_samples(files), size_hint=[40, 30])
    assert one.shape == [(40, 60, 3), (48, 32, 3), (40, 50, 3)]


@REDUCTIONS
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(reduction: int, orientation: int) -> None:
    data = jpeg(picture(HEIGHT, WIDTH), exif=exif(orientation))
    stored = reduced(data, reduction)
    upright = pixels.upright(stored, orientation)
    assert_same(decode(data, size_hint=upright.shape[:2]), upright)
    assert_same(decode(data, size_hint=stored.shape[:2], adjust_orientation=False), stored)
    for dtype in (np.uint16, np.float32):
        wide = decode(data, size_hint=upright.shape[:2], dtype=ndd.dtype(dtype))
        assert_same(wide, pixels.rescale(upright, dtype))


@REDUCTIONS
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
@pytest.mark.parametrize("progressive", [False, True])
def test_windows(reduction: int, orientation: int, progressive: bool) -> None:
    """A window holds every reduced pixel that it touches."""
    stored = picture(HEIGHT, WIDTH)
    data = jpeg(stored, exif=exif(orientation), progressive=progressive)
    upright = pixels.upright(reduced(data, reduction), orientation)
    # Which reduced row and column each pixel belongs to.
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] // reduction
    rows = pixels.upright(rows[..., None], orientation)[..., 0]
    columns = pixels.upright(columns[..., None], orientation)[..., 0]
    numbers = pixels.upright(
        np.arange(upright.shape[0] * upright.shape[1]).reshape(
            ceiling(HEIGHT, reduction), ceiling(WIDTH, reduction), 1
        ),
        orientation,
    )[..., 0]
    for y, x, h, w in ((0, 0, 40, 40), (11, 3, 33, 70), (30, 20, 50, 61)):
        part = ndd.decoders.image_slice(
            np.frombuffer(data, np.uint8),
            start=[x, y],
            shape=[w, h],
            size_hint=[h // reduction, w // reduction],
        )
        touched = np.isin(
            numbers,
            rows[y : y + h, x : x + w] * ceiling(WIDTH, reduction) + columns[y : y + h, x : x + w],
        )
        inside = np.argwhere(touched)
        (top, left), (bottom, right) = inside.min(axis=0), inside.max(axis=0) + 1
        assert_same(part, np.ascontiguousarray(upright[top:bottom, left:right]))


def test_other_decoders() -> None:
    data = np.frombuffer(jpeg(picture(160, 240)), np.uint8)
    whole = reduced(data.tobytes(), 4)
    cropped = ndd.decoders.image_crop(data, crop=(80, 160), size_hint=[20, 40])
    assert_same(cropped, np.ascontiguousarray(whole[10:30, 10:50]))
    drawn = ndd.decoders.image_random_crop(
        data, random_area=[1.0, 1.0], random_aspect_ratio=[1.5, 1.5], size_hint=[40, 60]
    )
    assert_same(drawn, whole)


def test_what_another_codec_decodes_is_reduced_as_well() -> None:
    whole = jpeg(picture(64, 96), restart_marker_blocks=4)
    # libjpeg-turbo goes on after a restart marker with a wrong number, the native decoder does not.
    data = whole.replace(b"\xff\xd1", b"\xff\xd2", 1)
    means = decode(data).reshape(16, 4, 24, 4, 3).mean(axis=(1, 3))
    out = decode(data, size_hint=[16, 24])
    assert out.shape == (16, 24, 3)
    assert np.abs(out - means).max() <= 0.5


def test_pixels_are_close_to_those_of_a_full_decode() -> None:
    y, x = np.mgrid[:800, :1200]
    waves = [np.sin(x / 40 + y / 90), np.cos(x / 70 - y / 50), np.sin(y / 60)]
    data = jpeg((128 + 100 * np.stack(waves, axis=2)).astype(np.uint8), quality=90)
    samples = np.frombuffer(data, np.uint8)
    expected = np.asarray(ndd.resize(ndd.decoders.image(samples), size=[100, 150])).astype(float)
    for needed in ([400, 600], [200, 300], [100, 150]):
        small = ndd.decoders.image(samples, size_hint=needed)
        out = np.asarray(ndd.resize(small, size=[100, 150]))
        assert np.abs(out - expected).mean() < 1.0


@pytest.mark.parametrize("wrong", [[0, 5], [5, -1], [5], [1, 2, 3]])
def test_hints_that_are_none(wrong: list[int]) -> None:
    data = jpeg(picture(16, 16))
    with pytest.raises(ValueError, match=r"size_hint' must be a height and a width of 1 or more"):
        decode(data, size_hint=wrong)


def test_damage_is_found() -> None:
    data = jpeg(picture(160, 240))
    with pytest.raises(ndd.DecodeError, match="cut short"):
        decode(data[: len(data) // 2], size_hint=[20, 30])
