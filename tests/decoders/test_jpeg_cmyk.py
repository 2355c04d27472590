# SPDX-License-Identifier: Apache-2.0
"""JPEGs of four components, against libjpeg-turbo (in imagecodecs) and plain NumPy."""

from __future__ import annotations

import collections
from typing import Any

import imagecodecs
import numpy as np
import pytest

import daliesque as ndd
from daliesque import _kernels
from support.compare import assert_close, assert_same
from support.image_makers import jpeg, with_exif
from support.jpeg_core import (
    OUTPUT_TYPES,
    SIZES,
    Array,
    decode,
    encode,
    failure,
    find,
    patched,
    picture,
    scan_start,
    segments,
)
from support.jpeg_makers import Scan, random_frame, random_script, with_adobe, write_jpeg
from support.reference import jpeg as reference

pytestmark = pytest.mark.usefixtures("instruction_set")

FACTORS = (
    [0x11, 0x11, 0x11, 0x11],
    [0x22, 0x11, 0x11, 0x22],
    [0x21, 0x11, 0x11, 0x21],
    [0x12, 0x11, 0x11, 0x12],
    [0x41, 0x11, 0x11, 0x11],
    [0x11, 0x21, 0x12, 0x22],
)
# CMYK without a marker; CMYK, an unknown transform, which means YCCK, and YCCK by Adobe's.
TRANSFORMS = (None, 0, 1, 2)
GRAY = {"output_type": ndd.types.GRAY}
ANY = {"output_type": ndd.types.ANY_DATA}


def cmyk_pixels(height: int, width: int, seed: int = 0) -> Array:
    return np.concatenate([picture(height, width, seed), picture(height, width, 9)[..., 1:2]], -1)


def ycck(source: Array, quality: int = 90) -> bytes:
    return imagecodecs.jpeg8_encode(source, quality, colorspace="CMYK", outcolorspace="YCCK")


def libjpeg(data: bytes) -> Array:
    return np.asarray(imagecodecs.jpeg8_decode(data))


def rgb_of(stored: Array, adobe: bool) -> Array:
    light = stored.astype(int) if adobe else 255 - stored.astype(int)
    return (light[..., :3] * light[..., 3:] // 255).astype(np.uint8)


def oriented_rgb_of(stored: Array) -> Array:
    """The reference's other way: CMYK is always stored as complements."""
    light, black = stored[..., :3].astype(int), stored[..., 3:].astype(int)
    return (black - ((255 - light) * black >> 8)).astype(np.uint8)


def image(data: bytes, **arguments: Any) -> Array:
    return np.asarray(ndd.decoders.image(np.frombuffer(data, np.uint8), **arguments))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_equals_libjpeg_turbo(size: tuple[int, int]) -> None:
    for quality in (10, 75, 100):
        source = cmyk_pixels(*size, quality)
        options = {"quality": quality, "mode": "CMYK"}
        for data, color in (
            (ycck(source, quality), "ycck"),
            (jpeg(source, **options, restart_marker_blocks=3), "cmyk"),
            (jpeg(source, **options, progressive=True), "cmyk"),
            (jpeg(source, **options, progressive=True, subsampling="4:2:0"), "cmyk"),
        ):
            info = _kernels.jpeg_info(data)
            assert (info["status"], info["color"], info["adobe"]) == ("ok", color, True)
            assert_same(decode(data, "CMYK"), libjpeg(data), (color, quality))


@pytest.mark.parametrize("seed", range(24))
def test_any_sampling_and_order_of_scans(seed: int) -> None:
    rng = np.random.default_rng([11, seed])
    factors = FACTORS[seed % len(FACTORS)]
    height, width = (int(n) for n in rng.integers(1, 70, 2))
    source = random_frame(rng, width, height, factors)
    mcu_blocks = sum((factor >> 4) * (factor & 15) for factor in factors)
    script = random_script(rng, 4, mcu_blocks, largest_low=1)
    transform = TRANSFORMS[seed // len(FACTORS)]
    for scans in (script, None) if mcu_blocks <= 10 else (script,):
        data = with_adobe(write_jpeg(source, scans, restart=seed % 3), transform)
        expected = libjpeg(data)
        assert_same(decode(data, "CMYK"), expected, scans)
        x, y = int(rng.integers(width)), int(rng.integers(height))
        part = decode(data, "CMYK", region=(x, y, width - x, height - y))
        assert_same(part, expected[y:, x:], scans)
        part = decode(data, "CMYK", region=(0, 0, x + 1, y + 1))
        assert_same(part, expected[: y + 1, : x + 1], scans)


@pytest.mark.parametrize("factors", FACTORS[:5], ids=str)
@pytest.mark.parametrize("transform", [0, 2])
def test_equals_the_formulas(factors: list[int], transform: int) -> None:
    source = random_frame(np.random.default_rng(3), 43, 21, factors)
    script = [Scan(range(4), 0, 0, 0, 1), *(Scan([i], 1, 63) for i in range(4))]
    script.append(Scan(range(4), 0, 0, 1, 0))
    baseline, progressive = write_jpeg(source, None), write_jpeg(source, script)
    for fancy in (False, True):
        for fast in (False, True):
            expected = reference.decode_cmyk(baseline, transform == 2, fancy, fast)
            for data in (baseline, progressive):
                marked = with_adobe(data, transform)
                got = decode(marked, "CMYK", fancy, fast)
                assert_same(got, expected, (fancy, fast))
                part = decode(marked, "CMYK", fancy, fast, region=(9, 5, 20, 13))
                assert_same(part, expected[5:18, 9:29], (fancy, fast))


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_converted_colors_equal_the_formulas(transform: int | None) -> None:
    source = random_frame(np.random.default_rng(4), 43, 31, FACTORS[1])
    data = with_adobe(write_jpeg(source, None), transform)
    stored = libjpeg(data)
    rgb = rgb_of(stored, transform is not None)
    assert_same(image(data), rgb)
    assert_same(image(data, output_type=ndd.types.BGR), np.ascontiguousarray(rgb[..., ::-1]))
    limited = reference.rgb_to_limited_ycbcr(rgb)
    assert_same(image(data, output_type=ndd.types.YCbCr), limited)
    weights = np.float32([0.299, 0.587, 0.114])
    gray = (rgb * weights).astype(np.float32)
    cut = (gray[..., 0] + gray[..., 1] + gray[..., 2]).astype(np.uint8)
    assert_same(image(data, **GRAY), cut[..., None])
    assert_same(image(data, **ANY), stored)
    assert_close(image(data, dtype=ndd.float32), rgb / 255, "one rounding")
    fast = reference.decode_cmyk(data, bool(transform), fancy=True, fast=True)
    assert_same(image(data, use_fast_idct=True), rgb_of(fast, transform is not None))
    part = ndd.decoders.image_slice(np.frombuffer(data, np.uint8), start=[5, 3], end=[40, 20])
    assert_same(np.asarray(part), np.ascontiguousarray(rgb[3:20, 5:40]))


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_images_with_an_orientation(transform: int | None) -> None:
    whole = random_frame(np.random.default_rng(8), 43, 31, FACTORS[1])
    unfinished = [Scan(range(4), 0, 0), *(Scan([i], 1, 63, 0, 1) for i in range(4))]
    for script in (None, unfinished):
        data = with_exif(with_adobe(write_jpeg(whole, script), transform), 3)
        stored = libjpeg(data)
        rgb = oriented_rgb_of(stored)[::-1, ::-1]
        assert_same(image(data), np.ascontiguousarray(rgb), script)
        gray = (rgb.astype(int) @ [4899, 9617, 1868] + (1 << 13) >> 14).astype(np.uint8)
        assert_same(image(data, **GRAY), gray[..., None], script)
        assert_same(image(data, **ANY), np.ascontiguousarray(stored[::-1, ::-1]), script)
        stays = rgb_of(stored, transform is not None)
        assert_same(image(data, adjust_orientation=False), stays, script)
        part = ndd.decoders.image_slice(np.frombuffer(data, np.uint8), start=[5, 3], end=[40, 20])
        assert_same(np.asarray(part), np.ascontiguousarray(rgb[3:20, 5:40]), script)


def test_cmyk_of_files_with_very_many_scans() -> None:
    source = random_frame(np.random.default_rng(9), 20, 9, FACTORS[0])
    script = [
        Scan(range(4), 0, 0, 0, 5),
        *(Scan([i], k, k) for i in range(4) for k in range(1, 64)),
    ]
    script += [Scan(range(4), 0, 0, low + 1, low) for low in range(4, -1, -1)]
    data = write_jpeg(source, script)
    assert len(script) == 258
    assert_same(image(data), oriented_rgb_of(libjpeg(data)))


def test_files_that_the_core_declines_are_converted_alike() -> None:
    plain = jpeg(cmyk_pixels(31, 43), mode="CMYK")
    # Common Huffman tables and Adobe's marker, in this order.
    for marker in (0xC4, 0xC4, 0xC4, 0xC4, 0xEE):
        if marker in [found for found, _ in segments(plain)]:
            at = find(plain, marker)
            plain = plain[:at] + plain[at + 2 + int.from_bytes(plain[at + 2 : at + 4], "big") :]
    for transform in TRANSFORMS:
        data = with_adobe(plain, transform)
        assert failure(data, "CMYK")[0] == "declined"
        assert_same(image(data), rgb_of(libjpeg(data), transform is not None), transform)
        assert_same(image(data, **ANY), libjpeg(data), transform)


def test_components_in_scans_of_their_own() -> None:
    source = random_frame(np.random.default_rng(6), 43, 31, FACTORS[1])
    whole = write_jpeg(source, None)
    script = [Scan([i]) for i in (2, 0, 3, 1)]
    apart = write_jpeg(source, script, sequential=True)
    assert_same(decode(apart, "CMYK"), libjpeg(whole))
    cut = apart[: apart.rindex(b"\xff\xda")] + b"\xff\xd9"
    status, message = failure(cut, "CMYK")
    assert status == "corrupt"
    assert "without all of its components" in message


def test_colors_that_a_file_does_not_have() -> None:
    outcome = ("declined", "the JPEG uses other colors than those asked for")
    for output_type in OUTPUT_TYPES:
        assert failure(ycck(cmyk_pixels(9, 9)), output_type) == outcome
    assert failure(encode(picture(9, 9)), "CMYK") == outcome


def test_too_many_blocks_in_a_unit() -> None:
    data = ycck(cmyk_pixels(33, 47))
    frame = find(data, 0xC0)
    status, message = failure(patched(data, frame + 14, 0x22), "CMYK")
    assert status == "corrupt"
    assert "more than ten blocks in a unit" in message


@pytest.mark.parametrize("progressive", [False, True])
def test_truncated_files(progressive: bool) -> None:
    data = jpeg(cmyk_pixels(24, 40), mode="CMYK", progressive=progressive)
    for size in range(1, len(data)):
        status, message = failure(data[:size], "CMYK")
        assert status == "truncated", size
        assert message.startswith(f"the JPEG ends after {size} bytes, ")
    with (
        ndd.EvalMode.sync_cpu,
        pytest.raises(ndd.DecodeError, match="sample 0 is cut short: the JPEG ends after 900"),
    ):
        image(data[:900])


@pytest.mark.parametrize("progressive", [False, True])
def test_damaged_scans_equal_libjpeg_turbo_or_fail(progressive: bool) -> None:
    rng = np.random.default_rng(7)
    outcomes: collections.Counter[str] = collections.Counter()
    for i in range(200):
        source = cmyk_pixels(int(rng.integers(1, 50)), int(rng.integers(1, 50)), i)
        if progressive or i % 2:
            whole = jpeg(source, mode="CMYK", quality=80, progressive=progressive)
        else:
            whole = ycck(source, 80)
        data = bytearray(whole)
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(scan_start(whole), len(data) - 2))] = int(rng.integers(256))
        pixels, status, message = _kernels.jpeg_decode(bytes(data), "CMYK")
        outcomes[status] += 1
        if status == "ok":
            assert_same(pixels, libjpeg(bytes(data)), i)
        else:
            assert message
    assert outcomes["ok"] > 10
    assert outcomes["corrupt"] > 10
