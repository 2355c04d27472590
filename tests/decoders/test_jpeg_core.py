# SPDX-License-Identifier: Apache-2.0
"""The JPEG decoder of the core on baseline files, against libjpeg-turbo and plain NumPy."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from PIL import Image

from daliesque import _kernels
from support.compare import assert_same
from support.jpeg_core import (
    OUTPUT_TYPES,
    SAMPLINGS,
    SIZES,
    Array,
    decode,
    encode,
    encode_pillow,
    failure,
    find,
    patched,
    picture,
    pillow,
    scan_start,
    segments,
)
from support.jpeg_makers import random_frame, write_jpeg
from support.reference import jpeg as reference

pytestmark = pytest.mark.usefixtures("instruction_set")


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_equals_libjpeg_turbo(size: tuple[int, int], sampling: str) -> None:
    for quality, restart, optimize in (
        (10, 0, False),
        (75, 1, False),
        (98, 5, True),
        (100, 0, True),
    ):
        data = encode(picture(*size, quality), sampling, quality, restart, optimize)
        context = (size, sampling, quality, restart)
        assert_same(decode(data), pillow(data, "RGB"), context)
        assert_same(decode(data, "BGR"), pillow(data, "BGR"), context)
        assert_same(decode(data, "GRAY"), pillow(data, "L"), context)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("size", [(1, 1), (3, 5), (8, 8), (17, 33), (40, 23)], ids=str)
def test_equals_the_formulas(size: tuple[int, int], sampling: str) -> None:
    data = encode(picture(*size), sampling, 92, restart=3)
    for fancy in (False, True):
        for output_type in OUTPUT_TYPES:
            expected = reference.decode_pixels(data, output_type, fancy)
            assert_same(decode(data, output_type, fancy), expected, (output_type, fancy))


def test_the_formulas_equal_libjpeg_turbo() -> None:
    for sampling in SAMPLINGS:
        data = encode(picture(21, 43), sampling)
        assert_same(reference.decode_pixels(data, "RGB", fancy=True), pillow(data, "RGB"), sampling)


@pytest.mark.parametrize("quality", [20, 75, 100])
def test_fast_transform(quality: int) -> None:
    for sampling in ("444", "420"):
        data = encode(picture(37, 45), sampling, quality)
        expected = reference.decode_pixels(data, "RGB", fancy=True, fast=True)
        assert_same(decode(data, fast_idct=True), expected, sampling)
        assert (decode(data) != expected).any()
        part = decode(data, fast_idct=True, region=(9, 5, 20, 17))
        assert_same(part, expected[5:22, 9:29], sampling)


@pytest.mark.parametrize("fancy", [False, True])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_region_equals_the_crop(sampling: str, fancy: bool) -> None:
    rng = np.random.default_rng(1)
    for height, width, restart in ((90, 130, 0), (61, 77, 4)):
        data = encode(picture(height, width), sampling, 95, restart)
        for output_type in OUTPUT_TYPES:
            whole = decode(data, output_type, fancy)
            for _ in range(25):
                x, y = int(rng.integers(width)), int(rng.integers(height))
                w = int(rng.integers(1, width - x + 1))
                h = int(rng.integers(1, height - y + 1))
                part = decode(data, output_type, fancy, region=(x, y, w, h))
                assert_same(part, whole[y : y + h, x : x + w], (output_type, x, y, w, h))


@pytest.mark.parametrize("output_type", OUTPUT_TYPES)
def test_gray_files(output_type: str) -> None:
    for size in SIZES:
        data = encode_pillow(picture(*size)[..., 0], quality=85, restart_marker_blocks=2)
        assert _kernels.jpeg_info(data)["color"] == "gray"
        assert_same(decode(data), pillow(data, "RGB"), size)
        expected = reference.decode_pixels(data, output_type, fancy=True)
        assert_same(decode(data, output_type), expected, size)


@pytest.mark.parametrize("output_type", OUTPUT_TYPES)
def test_rgb_files(output_type: str) -> None:
    data = encode_pillow(picture(37, 51), quality=85, keep_rgb=True)
    assert _kernels.jpeg_info(data)["color"] == "rgb"
    assert_same(decode(data), pillow(data, "RGB"))
    expected = reference.decode_pixels(data, output_type, fancy=True, rgb_file=True)
    assert_same(decode(data, output_type), expected)


def test_component_names_give_the_color_space_without_markers() -> None:
    data = encode_pillow(picture(24, 24), quality=85, subsampling="4:4:4")
    plain = data[:2] + data[2 + 18 :]
    assert _kernels.jpeg_info(plain)["color"] == "ycbcr"
    frame, scan = find(plain, 0xC0), find(plain, 0xDA)
    named = bytearray(plain)
    for i, name in enumerate(b"RGB"):
        named[frame + 10 + 3 * i] = name
        named[scan + 5 + 2 * i] = name
    assert _kernels.jpeg_info(bytes(named))["color"] == "rgb"
    assert_same(decode(bytes(named)), pillow(bytes(named), "RGB"))


def scans_apart(planes: list[Array], width: int, height: int, factors: list[int]) -> bytes:
    """A file with one scan for each plane, made of gray files that use the same tables."""
    files = [encode_pillow(plane, quality=90) for plane in planes]
    frame = find(files[0], 0xC0)
    entries = b"".join(bytes([i + 1, factor, 0]) for i, factor in enumerate(factors))
    length = struct.pack(">H", 8 + len(entries))
    sof = b"\xff\xc0" + length + struct.pack(">BHHB", 8, height, width, len(planes)) + entries
    out = files[0][:frame] + sof + files[0][frame + 13 : find(files[0], 0xDA)]
    for i, file in enumerate(files):
        scan_header = bytes([0xFF, 0xDA, 0, 8, 1, i + 1, 0, 0, 63, 0])
        out += scan_header + file[scan_start(file) : -2]
    return out + b"\xff\xd9"


@pytest.mark.parametrize(
    "factors",
    [
        [0x11, 0x11, 0x11],
        [0x22, 0x11, 0x11],
        [0x22, 0x21, 0x12],
        [0x41, 0x11, 0x21],
        [0x12, 0x11, 0x12],
    ],
    ids=str,
)
def test_components_in_scans_of_their_own(factors: list[int]) -> None:
    width, height = 75, 53
    h_max, v_max = max(f >> 4 for f in factors), max(f & 15 for f in factors)
    planes = [
        picture(-(-height * (f & 15) // v_max), -(-width * (f >> 4) // h_max), i)[..., i]
        for i, f in enumerate(factors)
    ]
    data = scans_apart(planes, width, height, factors)
    whole = pillow(data, "RGB")
    assert_same(decode(data), whole)
    assert_same(decode(data, "GRAY"), pillow(data, "L"))
    assert_same(decode(data, region=(20, 9, 31, 40)), whole[9:49, 20:51])
    samples = [pillow(encode_pillow(plane, quality=90), "L")[..., 0] for plane in planes]
    full = [
        reference.upsample(s, h_max // (f >> 4), v_max // (f & 15), fancy=False)[:height, :width]
        for s, f in zip(samples, factors, strict=True)
    ]
    assert_same(decode(data, fancy=False), reference.ycbcr_to_rgb(*full))
    status, message = failure(data[: data.rindex(b"\xff\xda")] + b"\xff\xd9")
    assert status == "corrupt"
    assert "without all of its components" in message


def test_sixteen_bit_quantization_tables() -> None:
    data = encode(picture(30, 30), "444")
    at = find(data, 0xDB)
    length = int.from_bytes(data[at + 2 : at + 4], "big")
    body = data[at + 4 : at + 2 + length]
    wide = b""
    while body:
        wide += bytes([16 | body[0]]) + b"".join(bytes([0, v]) for v in body[1:65])
        body = body[65:]
    segment = b"\xff\xdb" + struct.pack(">H", 2 + len(wide)) + wide
    extended = data[:at] + segment + data[at + 2 + length :]
    extended = patched(extended, find(extended, 0xC0) + 1, 0xC1)
    assert _kernels.jpeg_info(extended)["coding"] == "extended"
    assert_same(decode(extended), pillow(data, "RGB"))


def exif(order: str, orientation: int, type_id: int = 3, count: int = 1) -> bytes:
    mark = b"II*\0" if order == "<" else b"MM\0*"
    entries = struct.pack(order + "HHIHxx", 0x0100, 3, 1, 7)
    entries += struct.pack(order + "HHIHxx", 0x0112, type_id, count, orientation)
    return b"Exif\0\0" + mark + struct.pack(order + "IH", 8, 2) + entries + bytes(4)


def with_segment(data: bytes, marker: int, body: bytes) -> bytes:
    return data[:2] + bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body + data[2:]


@pytest.mark.parametrize("order", ["<", ">"])
def test_orientation(order: str) -> None:
    data = encode(picture(16, 24))
    assert _kernels.jpeg_info(data)["orientation"] == 1
    for value in range(1, 9):
        tagged = with_segment(data, 0xE1, exif(order, value))
        assert _kernels.jpeg_info(tagged)["orientation"] == value
        assert_same(decode(tagged), decode(data))
    for bad in (exif(order, 0), exif(order, 9), exif(order, 6, type_id=4), exif(order, 6, count=2)):
        assert _kernels.jpeg_info(with_segment(data, 0xE1, bad))["orientation"] == 1
    whole = exif(order, 6)
    for length in range(len(whole)):
        cut = _kernels.jpeg_info(with_segment(data, 0xE1, whole[:length]))
        assert cut["orientation"] in (1, 6)
        assert (cut["width"], cut["height"]) == (24, 16)


def test_orientation_written_by_pillow() -> None:
    tags = Image.Exif()
    tags[0x0112] = 8
    data = encode_pillow(picture(16, 24), exif=tags)
    assert _kernels.jpeg_info(data)["orientation"] == 8


def test_info() -> None:
    info = _kernels.jpeg_info(encode(picture(33, 65), "422", restart=7))
    assert info == {
        "status": "ok",
        "message": "no error",
        "width": 65,
        "height": 33,
        "components": 3,
        "precision": 8,
        "orientation": 1,
        "restart_interval": 7,
        "coding": "baseline",
        "arithmetic": False,
        "color": "ycbcr",
        "adobe": False,
        "sampling": [(2, 1), (1, 1), (1, 1)],
    }


def test_declined_kinds_still_have_a_size() -> None:
    image = picture(33, 65)
    baseline = encode(image, "420")
    frame = find(baseline, 0xC0)
    pair = random_frame(np.random.default_rng(0), 65, 33, [0x11, 0x11])
    cases = {
        "neither one, three nor four components": write_jpeg(pair, None),
        "a precision other than 8 bits": patched(baseline, frame + 4, 12),
        "arithmetic coding": patched(baseline, frame + 1, 0xC9),
        "lossless coding": patched(baseline, frame + 1, 0xC3),
        "hierarchical coding": patched(baseline, frame + 1, 0xC5),
        "a fractional sampling ratio": patched(baseline, frame + 11, 0x32, 0, 2, 0x22),
    }
    for reason, data in cases.items():
        info = _kernels.jpeg_info(data)
        assert (info["width"], info["height"], info["status"]) == (65, 33, "declined")
        assert failure(data) == ("declined", f"the JPEG uses {reason}")


def test_files_without_huffman_tables_are_declined() -> None:
    data = encode(picture(16, 16))
    while any(marker == 0xC4 for marker, _ in segments(data)):
        at = find(data, 0xC4)
        data = data[:at] + data[at + 2 + int.from_bytes(data[at + 2 : at + 4], "big") :]
    assert failure(data) == ("declined", "the JPEG uses Huffman tables that are not in the file")


def test_truncated_files() -> None:
    data = encode(picture(40, 56), "420", restart=2)
    scan = scan_start(data)
    for size in range(len(data)):
        status, message = failure(data[:size])
        assert status == "truncated", size
        if size == 0:
            assert message == "the data are empty"
        else:
            assert message.startswith(f"the JPEG ends after {size} bytes, ")
        if scan < size < len(data) - 100:
            assert message.endswith("inside the scan")
    assert failure(data[:-2])[1].endswith("before the end of the image")
    assert_same(decode(data), pillow(data, "RGB"))


def test_regions_do_not_need_what_lies_behind_them() -> None:
    data = encode(picture(120, 64), "420")
    whole = decode(data)
    assert_same(decode(data[: len(data) // 2], region=(5, 3, 40, 20)), whole[3:23, 5:45])


def test_bytes_behind_the_image_are_ignored() -> None:
    data = encode(picture(20, 20))
    assert_same(decode(data + b"\0" * 100), decode(data))
    assert_same(decode(data[:-2] + b"\x12\x34" + data[-2:]), decode(data))


def test_damage_is_named() -> None:
    data = encode(picture(64, 64), "444", restart=4)
    scan = scan_start(data)
    restart = data.index(b"\xff\xd1", scan)
    cases = [
        (patched(data, restart + 1, 0xD5), "a restart marker is missing", restart),
        (patched(data, scan + 40, 0xFF, 0xD9), "a marker or fill byte inside the scan", scan + 40),
        (patched(data, find(data, 0xDA) + 5, 9), "a scan component that the frame lacks", None),
        (patched(data, find(data, 0xC0) + 11, 0x51), "a sampling factor outside 1..4", None),
        (patched(data, find(data, 0xC0) + 5, 0, 0), "a frame header with an empty size", None),
        (patched(data, find(data, 0xDB) + 4, 7), "a quantization table number above 3", None),
        (patched(data, find(data, 0xC4) + 5, 9), "a Huffman table cut short", None),
        (patched(data, find(data, 0xC4) + 5, 3, 0, 3), "an invalid Huffman table", None),
        (patched(data, find(data, 0xC4), 0xFF, 0xF5), "an unknown marker", find(data, 0xC4)),
        (data[:2] + data, "a second start-of-image marker", 2),
        (data[: find(data, 0xDA)] + b"\xff\xd9", "the image ends before its scan", None),
    ]
    for broken, reason, offset in cases:
        status, message = failure(broken)
        assert status == "corrupt", reason
        assert message.startswith(f"the JPEG is damaged: {reason} at byte "), message
        if offset is not None:
            assert message.endswith(f"at byte {offset}"), message


def test_bits_that_are_no_code() -> None:
    data = encode(picture(64, 64), "444")
    at = scan_start(data) + 60
    ones = data[:at] + b"\xff\x00" * 20 + data[at:]
    status, message = failure(ones)
    assert status == "corrupt"
    reason, _, offset = message.rpartition(" at byte ")
    assert reason == "the JPEG is damaged: bits that are no Huffman code"
    assert at - 4 <= int(offset) <= at + 8


def test_not_a_jpeg() -> None:
    for data in (b"\x89PNG\r\n\x1a\n", b"\0\0", b"\xff\xd9\xff\xd8"):
        assert failure(data) == ("not_jpeg", "the data do not start with a JPEG signature")


def test_limits() -> None:
    data = encode(picture(33, 65))
    assert failure(data, max_pixels=33 * 65 - 1)[0] == "too_large"
    assert decode(data, max_pixels=33 * 65).shape == (33, 65, 3)
    for region in ((0, 0, 0, 4), (0, 0, 66, 1), (60, 0, 6, 1), (-1, 0, 2, 2), (0, 33, 1, 1)):
        assert failure(data, region=region)[0] == "bad_region"


def test_damaged_scans_equal_libjpeg_turbo_or_fail() -> None:
    rng = np.random.default_rng(5)
    outcomes: dict[str, int] = {}
    for i in range(400):
        size = (int(rng.integers(1, 60)), int(rng.integers(1, 60)))
        data = bytearray(encode(picture(*size, i), SAMPLINGS[i % 5], 80, restart=i % 3))
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(scan_start(data), len(data) - 2))] = int(rng.integers(256))
        pixels, status, message = _kernels.jpeg_decode(bytes(data))
        outcomes[status] = outcomes.get(status, 0) + 1
        if status == "ok":
            assert_same(pixels, pillow(bytes(data), "RGB"), i)
        else:
            assert message
    assert outcomes["ok"] > 20
    assert outcomes["corrupt"] > 20


def test_garbage() -> None:
    rng = np.random.default_rng(6)
    for _ in range(300):
        body = rng.integers(0, 256, int(rng.integers(200)), np.uint8).tobytes()
        assert failure(body)[0] in ("not_jpeg", "truncated")
        assert failure(b"\xff\xd8" + body)[0] in ("truncated", "corrupt", "declined")
