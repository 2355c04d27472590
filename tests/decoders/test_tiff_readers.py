# SPDX-License-Identifier: Apache-2.0
"""TIFFs that the reference gives to its second reader, against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

import daliesque as ndd
from daliesque import types
from support.compare import assert_same
from support.image_decoding import decode
from support.image_makers import Array, save, tiff

HEIGHT, WIDTH = 33, 47
ORIENTED: dict[int, Any] = {274: [3]}
STRAIGHT_ALPHA, MULTIPLIED_ALPHA = {338: [2]}, {338: [1]}
GRAY, ANY = {"output_type": types.GRAY}, {"output_type": types.ANY_DATA}


def noise(channels: int, bits: int = 8) -> Array:
    values = np.random.default_rng(channels).integers(0, 1 << bits, (HEIGHT, WIDTH, channels))
    return values.astype(np.uint8 if bits <= 8 else np.uint16)


def half_rotated(array: Array) -> Array:
    return np.ascontiguousarray(array[::-1, ::-1])


def gray_of(rgb: Array) -> Array:
    weighted = rgb[..., :3].astype(int) @ [4899, 9617, 1868]
    return (weighted + (1 << 13) >> 14).astype(rgb.dtype)[..., None]


def multiplied(array: Array) -> Array:
    wide = array.astype(int)
    wide[..., :-1] = (wide[..., :-1] * wide[..., -1:] + 127) // 255
    return wide.astype(np.uint8)


@pytest.mark.parametrize("bits", [8, 16])
def test_gray(bits: int) -> None:
    source = noise(3, bits)
    own = {"dtype": ndd.uint8 if bits == 8 else ndd.uint16}
    for options in ({"planar": True}, {"tile": (24, 24)}):
        data = tiff(source, bits, 2, **options)
        assert_same(decode(data, **GRAY, **own), gray_of(source), options)
    data = tiff(source, bits, 2, tags=ORIENTED)
    assert_same(decode(data, **GRAY, **own), half_rotated(gray_of(source)))
    assert_same(decode(data, **own), half_rotated(source))
    weights = np.float32([0.299, 0.587, 0.114])
    parts = source * weights
    usual = parts[..., :1] + parts[..., 1:2] + parts[..., 2:]
    got = decode(data, adjust_orientation=False, **GRAY, **own)
    # Halves are rounded away from zero.
    assert_same(got, np.floor(usual.astype(np.float64) + 0.5).astype(source.dtype))


@pytest.mark.parametrize("bits", [10, 12, 14])
def test_gray_is_rounded_before_it_is_shifted(bits: int) -> None:
    source = noise(3, bits)
    expected = gray_of(source) << (16 - bits)
    assert_same(decode(tiff(source, bits, 2), dtype=ndd.uint16, **GRAY), expected)


@pytest.mark.parametrize("planar", [False, True])
def test_straight_alpha_is_multiplied_in(planar: bool) -> None:
    source = noise(4)
    for alpha, expected in ((STRAIGHT_ALPHA, multiplied(source)), (MULTIPLIED_ALPHA, source)):
        data = tiff(source, 8, 2, planar=planar, tags=ORIENTED | alpha)
        assert_same(decode(data, **ANY), half_rotated(expected), alpha)
        assert_same(decode(data), half_rotated(expected[..., :3]), alpha)
        assert_same(decode(data, **GRAY), half_rotated(gray_of(expected)), alpha)
    data = tiff(source, 8, 2, planar=planar, tags=STRAIGHT_ALPHA)
    assert_same(decode(data, **ANY), multiplied(source) if planar else source)
    deep = noise(4, 16)
    data = tiff(deep, 16, 2, planar=planar, tags=ORIENTED | STRAIGHT_ALPHA)
    assert_same(decode(data, dtype=ndd.uint16, **ANY), half_rotated(deep))


@pytest.mark.parametrize("planar", [False, True])
def test_gray_with_alpha_has_8_bits(planar: bool) -> None:
    deep = noise(2, 16)
    narrow = (deep.astype(int) + 128) // 257 if planar else deep >> 8
    data = tiff(deep, 16, 1, planar=planar, tags=MULTIPLIED_ALPHA)
    assert_same(decode(data, **GRAY), narrow[..., :1].astype(np.uint8))
    assert_same(decode(data, dtype=ndd.uint16, **ANY), deep)
    source = noise(2)
    expected = multiplied(source) if planar else source
    data = tiff(source, 8, 1, planar=planar, tags=STRAIGHT_ALPHA)
    assert_same(decode(data, **GRAY), expected[..., :1])
    assert_same(decode(data), np.repeat(expected[..., :1], 3, axis=2))


@pytest.mark.parametrize("top", [65535, 255])
def test_palettes_of_images_with_an_orientation_have_8_bits(top: int) -> None:
    colors = np.random.default_rng(0).integers(0, top + 1, (3, 256))
    indices = noise(1)
    data = tiff(indices, 8, 3, tags=ORIENTED | {320: colors.ravel().tolist()})
    narrow = (colors.T >> (8 if top > 255 else 0)).astype(np.uint8)
    assert_same(decode(data), half_rotated(narrow[indices[..., 0]]))
    usual = colors.T.astype(np.uint16)[indices[..., 0]]
    assert_same(decode(data, adjust_orientation=False, dtype=ndd.uint16), usual)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_what_libtiff_converts_is_oriented_once(orientation: int) -> None:
    cmyk = noise(4)
    light = 255 - cmyk.astype(int)
    upright = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180}
    upright |= {4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE}
    upright |= {6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE}
    upright |= {8: Image.Transpose.ROTATE_90}
    for order in "<>":
        data = tiff(cmyk, 8, 5, order=order, tags={274: [orientation]})
        stored = (light[..., :3] * light[..., 3:] // 255).astype(np.uint8)
        assert_same(decode(data, adjust_orientation=False), stored)
        expected = Image.fromarray(stored)
        if orientation > 1:
            expected = expected.transpose(upright[orientation])
        assert_same(decode(data), np.asarray(expected))


def test_jpeg_with_an_orientation_in_tiff() -> None:
    source = noise(3)
    straight = save(source, "TIFF", compression="jpeg")
    data = save(source, "TIFF", compression="jpeg", tiffinfo={274: 3})
    assert_same(decode(data), half_rotated(decode(straight)))
    assert_same(decode(data, adjust_orientation=False), decode(straight))
