# SPDX-License-Identifier: Apache-2.0
"""The JPEG decoder of the core on progressive files, against libjpeg-turbo (in Pillow)."""

from __future__ import annotations

import collections
import struct

import imagecodecs
import numpy as np
import pytest

import daliesque as ndd
from daliesque import _kernels
from support.compare import assert_same
from support.jpeg_core import (
    OUTPUT_TYPES,
    SAMPLINGS,
    SIZES,
    decode,
    encode,
    encode_pillow,
    failure,
    find,
    patched,
    picture,
    pillow,
)
from support.jpeg_makers import Frame, Scan, random_frame, random_script, write_jpeg
from support.reference import jpeg as reference

pytestmark = pytest.mark.usefixtures("instruction_set")

FACTORS = (
    [0x11],
    [0x22],
    [0x11, 0x11, 0x11],
    [0x22, 0x11, 0x11],
    [0x21, 0x11, 0x11],
    [0x12, 0x11, 0x11],
    [0x41, 0x11, 0x11],
    [0x22, 0x21, 0x12],
)
# What libjpeg writes, with all four kinds of scans.
USUAL = [
    *(Scan([0, 1, 2], 0, 0, 0, 1), Scan([0], 1, 5, 0, 2), Scan([2], 1, 63, 0, 1)),
    *(Scan([1], 1, 63, 0, 1), Scan([0], 6, 63, 0, 2), Scan([0], 1, 63, 2, 1)),
    *(Scan([0, 1, 2], 0, 0, 1, 0), Scan([2], 1, 63, 1, 0), Scan([1], 1, 63, 1, 0)),
    Scan([0], 1, 63, 1, 0),
]


def frame(
    seed: int = 0, factors: list[int] | None = None, size: tuple[int, int] = (40, 56)
) -> Frame:
    height, width = size
    chosen = [0x22, 0x11, 0x11] if factors is None else factors
    return random_frame(np.random.default_rng(seed), width, height, chosen)


def scans(data: bytes) -> list[int]:
    """Where the scan headers are."""
    found, at = [], data.find(b"\xff\xda")
    while at >= 0:
        found.append(at)
        at = data.find(b"\xff\xda", at + 2)
    return found


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_equals_libjpeg_turbo(size: tuple[int, int], sampling: str) -> None:
    for quality, restart in ((10, 0), (75, 1), (98, 5), (100, 0)):
        data = encode(picture(*size, quality), sampling, quality, restart, progressive=True)
        assert _kernels.jpeg_info(data)["coding"] == "progressive"
        context = (size, sampling, quality, restart)
        assert_same(decode(data), pillow(data, "RGB"), context)
        assert_same(decode(data, "BGR"), pillow(data, "BGR"), context)
        assert_same(decode(data, "GRAY"), pillow(data, "L"), context)


@pytest.mark.parametrize("seed", range(48))
def test_any_order_of_scans(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    factors = FACTORS[seed % len(FACTORS)]
    height, width = (int(n) for n in rng.integers(1, 70, 2))
    source = random_frame(rng, width, height, factors)
    mcu_blocks = sum((factor >> 4) * (factor & 15) for factor in factors)
    script = random_script(rng, len(factors), mcu_blocks)
    data = write_jpeg(source, script, restart=seed // 8 % 4, seed=seed)
    expected = pillow(write_jpeg(source, None), "RGB")
    assert_same(pillow(data, "RGB"), expected, "the maker of the files")
    assert_same(decode(data), expected, script)
    x, y = int(rng.integers(width)), int(rng.integers(height))
    part = decode(data, region=(x, y, width - x, height - y))
    assert_same(part, expected[y:, x:], script)
    part = decode(data, region=(0, 0, x + 1, y + 1))
    assert_same(part, expected[: y + 1, : x + 1], script)


def test_all_bits_one_by_one() -> None:
    for factors in ([0x11], [0x11, 0x11, 0x11]):
        source = frame(3, factors)
        everything = [*range(len(factors))]
        script = [Scan(everything, 0, 0, 0, 13), *(Scan([i], 1, 63, 0, 13) for i in everything)]
        for low in range(12, -1, -1):
            script += [Scan([i], 1, 63, low + 1, low) for i in everything]
            script.append(Scan(everything, 0, 0, low + 1, low))
        data = write_jpeg(source, script, restart=3)
        expected = pillow(write_jpeg(source, None), "RGB")
        assert_same(pillow(data, "RGB"), expected)
        assert_same(decode(data), expected)


def test_coefficients_that_overflow() -> None:
    rng = np.random.default_rng(8)
    for i in range(20):
        source = frame(i, [0x11], (24, 32))
        for block in source.blocks:
            block[..., 1:] = rng.integers(-32767, 32768, block[..., 1:].shape)
            block[..., 0] = rng.integers(-16384, 16384, block.shape[:2])
            block[rng.random(block.shape) < 0.7] = 0
        data = write_jpeg(source, [Scan([0], 0, 0, 0, 1), Scan([0], 1, 63, 0, 1)])
        # Without the last bit libjpeg guesses.
        assert_same(decode(data), pillow(data, "RGB"), i)
        data = write_jpeg(source, [Scan([0], 0, 0, 0, 1), Scan([0], 1, 63, 0, 0)])
        assert_same(decode(data), pillow(data, "RGB"), i)


@pytest.mark.parametrize("factors", [[0x11, 0x11, 0x11], [0x22, 0x11, 0x11]], ids=str)
def test_fast_transform(factors: list[int]) -> None:
    source = frame(1, factors, (37, 45))
    expected = reference.decode_pixels(write_jpeg(source, None), "RGB", fancy=True, fast=True)
    data = write_jpeg(source, USUAL)
    assert_same(decode(data, fast_idct=True), expected)
    assert (decode(data) != expected).any()
    part = decode(data, fast_idct=True, region=(9, 5, 20, 17))
    assert_same(part, expected[5:22, 9:29])


@pytest.mark.parametrize("output_type", OUTPUT_TYPES)
def test_equals_the_formulas(output_type: str) -> None:
    for factors in ([0x11], [0x11, 0x11, 0x11], [0x22, 0x11, 0x11], [0x21, 0x11, 0x11]):
        source = frame(2, factors, (21, 43))
        script = USUAL if len(factors) == 3 else [s for s in USUAL if s.components == [0]]
        if len(factors) == 1:
            script = [Scan([0], 0, 0), *script]
        for fancy in (False, True):
            expected = reference.decode_pixels(write_jpeg(source, None), output_type, fancy)
            got = decode(write_jpeg(source, script), output_type, fancy)
            assert_same(got, expected, (factors, fancy))


@pytest.mark.parametrize("fancy", [False, True])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_region_equals_the_crop(sampling: str, fancy: bool) -> None:
    rng = np.random.default_rng(1)
    for height, width, restart in ((90, 130, 0), (61, 77, 4)):
        data = encode(picture(height, width), sampling, 95, restart, progressive=True)
        for output_type in OUTPUT_TYPES:
            whole = decode(data, output_type, fancy)
            for _ in range(12):
                x, y = int(rng.integers(width)), int(rng.integers(height))
                w = int(rng.integers(1, width - x + 1))
                h = int(rng.integers(1, height - y + 1))
                part = decode(data, output_type, fancy, region=(x, y, w, h))
                assert_same(part, whole[y : y + h, x : x + w], (output_type, x, y, w, h))


def test_gray_and_rgb_files() -> None:
    for size in SIZES:
        data = encode_pillow(picture(*size)[..., 0], progressive=True, restart_marker_blocks=2)
        assert_same(decode(data), pillow(data, "RGB"), size)
        assert_same(decode(data, "GRAY"), pillow(data, "L"), size)
        data = encode_pillow(picture(*size), progressive=True, keep_rgb=True)
        assert _kernels.jpeg_info(data)["color"] == "rgb"
        assert_same(decode(data), pillow(data, "RGB"), size)


def test_each_component_has_the_quantization_table_of_its_first_scan() -> None:
    script = [Scan([i], 0, 0) for i in range(3)] + [Scan([i], 1, 63) for i in range(3)]
    data = write_jpeg(frame(), script)
    expected = pillow(data, "RGB")
    for number in range(1, 6):
        start = data.rindex(b"\xff\xc4", 0, data.rindex(b"\xff\xc4", 0, scans(data)[number]))
        table = b"\xff\xdb" + struct.pack(">HB", 67, 0) + bytes(range(1, 65))
        changed = data[:start] + table + data[start:]
        assert_same(decode(changed), pillow(changed, "RGB"), number)
        assert (decode(changed) != expected).any() == (number < 3)


def test_scans_that_a_gray_result_does_not_need() -> None:
    data = encode(picture(40, 56), "420", progressive=True)
    # The third scan is that of a chroma component.
    at = scans(data)[2] + 20
    broken = data[:at] + b"\xff\x00" * 30 + data[at + 60 :]
    assert failure(broken)[0] == "corrupt"
    assert_same(decode(broken, "GRAY"), pillow(data, "L"))


def test_unfinished_files_are_smoothed() -> None:
    data = encode(picture(40, 56), "420", progressive=True)
    for end in scans(data)[4:]:
        start = data.rindex(b"\xff\xc4", 0, end) if data.find(b"\xff\xc4", end - 300) < end else end
        cut = data[:start] + b"\xff\xd9"
        assert_same(decode(cut), imagecodecs.jpeg8_decode(cut))


def test_what_libjpeg_does_not_smooth() -> None:
    source = frame(5, [0x11])
    for script in (
        [Scan([0], 0, 0, 0, 2), Scan([0], 1, 63)],
        [Scan([0], 0, 0), Scan([0], 1, 9)],
        [Scan([0], 0, 0), Scan([0], 1, 9), Scan([0], 10, 63, 0, 2)],
    ):
        data = write_jpeg(source, script)
        assert_same(decode(data), pillow(data, "RGB"), script)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([Scan([0], 0, 0), Scan([0], 1, 64)], "a scan of an impossible band"),
        ([Scan([0], 0, 0), Scan([0], 9, 8)], "a scan of an impossible band"),
        ([Scan([0, 1, 2], 0, 5)], "a scan of an impossible band"),
        ([Scan([0, 1, 2], 0, 0), Scan([0, 1], 1, 63)], "a scan of an impossible band"),
        ([Scan([0, 1, 2], 0, 0, 0, 14)], "a scan of impossible precision"),
        ([Scan([0, 1, 2], 0, 0, 0, 3), Scan([0], 0, 0, 3, 1)], "a scan of impossible precision"),
        ([Scan([0], 1, 63)], "a scan that comes before that of its DC coefficients"),
        ([Scan([0, 1, 2], 0, 0), Scan([0], 1, 63, 2, 1)], "a scan out of order"),
        ([Scan([0], 0, 0), Scan([0], 1, 9), Scan([0], 9, 63)], "a scan out of order"),
        ([Scan([0], 0, 0), Scan([0], 0, 0)], "a scan out of order"),
        ([Scan([0, 1], 0, 0)], "the image ends without all of its components"),
    ],
    ids=str,
)
def test_scripts_that_make_no_sense(script: list[Scan], reason: str) -> None:
    status, message = failure(write_jpeg(frame(), script))
    assert status == "corrupt"
    assert message.startswith(f"the JPEG is damaged: {reason} at byte "), message


def test_damage_is_named() -> None:
    data = encode(picture(64, 64), "444", restart=4, progressive=True)
    restart = data.index(b"\xff\xd1")
    last = scans(data)[-1]
    tables = data.rindex(b"\xff\xc4")
    symbols = sum(data[tables + 5 : tables + 21])
    cases = [
        (patched(data, restart + 1, 0xD5), "a restart marker is missing", restart),
        (patched(data, last + 12, 0xFF, 0xD9), "a marker or fill byte inside the scan", last + 12),
        (patched(data, tables + 5, symbols, *[0] * 15), "an invalid Huffman table", None),
        (patched(data, tables, 0xFF, 0xF5), "an unknown marker", tables),
        (patched(data, find(data, 0xC2) + 12, 3), "a scan without its quantization table", None),
    ]
    for broken, reason, offset in cases:
        status, message = failure(broken)
        assert status == "corrupt", reason
        assert message.startswith(f"the JPEG is damaged: {reason} at byte "), message
        if offset is not None:
            assert message.endswith(f"at byte {offset}"), message


@pytest.mark.parametrize("number", [0, 1])
def test_tables_that_are_not_in_the_file(number: int) -> None:
    data = write_jpeg(frame(0, [0x11]), [Scan([0], 0, 0), Scan([0], 1, 63)])
    tables = scans(data)[number] + 6
    unused = {0x00, 0x11, 0x22, 0x33} - {data[at + 6] for at in scans(data)}
    changed = patched(data, tables, unused.pop())
    assert failure(changed) == ("declined", "the JPEG uses Huffman tables that are not in the file")


def test_truncated_files() -> None:
    data = encode(picture(40, 56), "420", restart=2, progressive=True)
    for size in range(1, len(data)):
        status, message = failure(data[:size])
        assert status == "truncated", size
        assert message.startswith(f"the JPEG ends after {size} bytes, ")
    assert failure(data[:-2])[1].endswith("before the end of the image")
    assert_same(decode(data + b"\0" * 100), pillow(data, "RGB"))


def test_sizes_that_the_data_cannot_fill() -> None:
    data = encode(picture(40, 56), "420", progressive=True)
    huge = patched(data, find(data, 0xC2) + 5, 0x40, 0, 0x40, 0)
    status, message = failure(huge)
    assert status == "corrupt"
    assert "more blocks than there are bits" in message


def many_scans(count: int) -> bytes:
    """A file that refines 63 coefficients bit by bit, each in scans of its own."""
    source = frame(0, [0x11], (8, 8))
    script = [Scan([0], 0, 0)]
    for low in range(13, -1, -1):
        script += [Scan([0], k, k, low + 1 if low < 13 else 0, low) for k in range(1, 64)]
    return write_jpeg(source, script[:count])


def test_too_many_scans() -> None:
    assert_same(decode(many_scans(256)), pillow(many_scans(256), "RGB"))
    assert failure(many_scans(257)) == ("declined", "the JPEG uses more than 256 scans")
    with ndd.EvalMode.sync_cpu:
        encoded = np.frombuffer(many_scans(501), np.uint8)
        with pytest.raises(ndd.DecodeError, match="sample 0 is a JPEG of more than 500 scans"):
            ndd.decoders.image(encoded)
        encoded = np.frombuffer(many_scans(500), np.uint8)
        smoothed = imagecodecs.jpeg8_decode(encoded.tobytes())
        np.testing.assert_array_equal(np.asarray(ndd.decoders.image(encoded))[..., 0], smoothed)


def test_damaged_scans_equal_libjpeg_turbo_or_fail() -> None:
    rng = np.random.default_rng(5)
    outcomes: collections.Counter[str] = collections.Counter()
    for i in range(400):
        size = (int(rng.integers(1, 60)), int(rng.integers(1, 60)))
        data = bytearray(encode(picture(*size, i), SAMPLINGS[i % 5], 80, i % 3, progressive=True))
        for _ in range(int(rng.integers(1, 4))):
            start = scans(bytes(data))[0] + 14
            data[int(rng.integers(start, len(data) - 2))] = int(rng.integers(256))
        pixels, status, message = _kernels.jpeg_decode(bytes(data))
        outcomes[status] += 1
        if status == "ok":
            assert_same(pixels, pillow(bytes(data), "RGB"), i)
        else:
            assert message
    assert outcomes["ok"] > 20
    assert outcomes["corrupt"] > 20
