# SPDX-License-Identifier: Apache-2.0
"""PNG, decoded natively: every kind, filter and way of compressing, against libpng and zlib."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import imagecodecs
import numpy as np
import pytest

import daliesque as ndd
from daliesque import _kernels, types
from support.compare import assert_same
from support.image_decoding import decode
from support.image_makers import Array, as_samples, exif, picture, png_chunk
from support.instruction_sets import use_instructions
from support.png_makers import KINDS, SIGNATURE, Packing, filtered_png, png_of_stream

ANY: dict[str, Any] = {"output_type": types.ANY_DATA}
PALETTE = np.random.default_rng(0).integers(0, 256, (256, 3), np.uint8)


@pytest.fixture(params=["vector", "portable"])
def instructions(request: pytest.FixtureRequest) -> Iterator[None]:
    with use_instructions(request.param):
        yield


def palette_chunk(color_type: int, bits: int) -> bytes:
    return png_chunk(b"PLTE", PALETTE[: 1 << bits].tobytes()) if color_type == 3 else b""


def by_libpng(data: bytes) -> Array:
    array = imagecodecs.png_decode(data)
    return array if array.ndim == 3 else array[..., None]


def check(data: bytes) -> None:
    """The same pixels as libpng, whole and in part."""
    expected = by_libpng(data)
    dtype = ndd.dtype(expected.dtype)
    assert_same(decode(data, dtype=dtype, **ANY), expected)
    height, width = expected.shape[:2]
    begin, end = [width // 3, height // 4], [width // 3 + (width + 1) // 2, height // 4 + 1]
    part = ndd.decoders.image_slice(
        np.frombuffer(data, np.uint8), start=begin, end=end, dtype=dtype, **ANY
    )
    assert_same(part, expected[begin[1] : end[1], begin[0] : end[0]])


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize(("color_type", "channels", "bits"), KINDS)
def test_filters(color_type: int, channels: int, bits: int) -> None:
    before = palette_chunk(color_type, bits)
    for width in (1, 2, 3, 5, 8, 9, 17, 40):
        noise = np.random.default_rng(width).integers(0, 1 << bits, (9, width, channels))
        for source in (picture(9, width, channels, bits), noise):
            for filters in ([0], [1], [2], [3], [4], [4, 3, 1, 2, 0, 3]):
                check(filtered_png(source, bits, color_type, filters=filters, before=before))


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize(
    "strategy",
    [zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE, zlib.Z_FIXED],
)
def test_ways_of_compressing(level: int, strategy: int) -> None:
    rng = np.random.default_rng(level)
    smooth, noise = picture(150, 301), rng.integers(0, 256, (150, 301, 3), np.uint8)
    repeated = np.tile(noise[:4], (30, 1, 1))
    flat = np.zeros((150, 301, 3), np.uint8)
    for k, source in enumerate((smooth, noise, repeated, flat)):
        flush = [zlib.Z_NO_FLUSH, zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH][k % 3]
        packing = Packing(level, strategy, [15, 9, 12, 15][k], flush, pieces=1 + 5 * k)
        check(filtered_png(source, 8, 2, filters=[k], packing=packing))


def test_rows_that_are_longer_than_what_is_expanded_at_once() -> None:
    noise = np.random.default_rng(3).integers(0, 1 << 16, (3, 20_000, 4)).astype(np.uint16)
    for level in (0, 1):
        check(filtered_png(np.repeat(noise, 2, axis=0), 16, 6, packing=Packing(level)))


@pytest.mark.parametrize("distance", [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 257, 32767, 32768])
def test_matches_of_every_distance(distance: int) -> None:
    pattern = np.random.default_rng(distance).integers(0, 256, distance, np.uint8)
    width = 8191
    count = max(3, -(-3 * distance // width))
    values = np.resize(pattern, count * (width + 1)).reshape(count, width + 1)
    values[:, 0] = 0
    stream = zlib.compress(values.tobytes(), 9)
    expected = by_libpng(png_of_stream(stream, width, count))
    assert_same(decode(png_of_stream(stream, width, count), **ANY), expected)


@pytest.mark.parametrize("interlaced", [False, True])
def test_orientation_and_gray_of_all_kinds(interlaced: bool) -> None:
    for color_type, channels, bits in KINDS:
        source = picture(13, 21, channels, bits)
        for orientation in (1, 3, 6):
            before = png_chunk(b"eXIf", exif(orientation)[6:]) + palette_chunk(color_type, bits)
            data = filtered_png(source, bits, color_type, interlaced=interlaced, before=before)
            plain = decode(data, adjust_orientation=False)
            upright = {1: plain, 3: plain[::-1, ::-1], 6: np.rot90(plain, -1)}[orientation]
            assert_same(decode(data), np.ascontiguousarray(upright))
            assert decode(data, output_type=types.GRAY).shape == (*upright.shape[:2], 1)


def test_bits_beyond_the_palette_are_black() -> None:
    indices = np.array([[[0], [1], [200]]], np.uint8)
    data = filtered_png(indices, 8, 3, before=png_chunk(b"PLTE", PALETTE[:2].tobytes()))
    assert_same(decode(data)[0], np.array([*PALETTE[:2], [0, 0, 0]], np.uint8))


ROWS = b"".join(b"\0" + bytes(range(k, k + 30)) for k in range(20))
STREAM = zlib.compress(ROWS)


def small(stream: bytes, **options: Any) -> bytes:
    return png_of_stream(stream, 30, 20, **options)


def bad_sum(data: bytes, name: bytes) -> bytes:
    """The file with one wrong bit in the checksum of a chunk."""
    begin = data.index(name) - 4
    (length,) = struct.unpack_from(">I", data, begin)
    changed = bytearray(data)
    changed[begin + 8 + length] ^= 1
    return bytes(changed)


DAMAGED = {
    "rows end": (small(zlib.compress(ROWS[:-1])), "less image data than pixels"),
    "stream ends": (small(STREAM[:-20]), "less image data than pixels"),
    "no checksum": (small(STREAM[:-4]), "less image data than pixels"),
    "no stream": (small(b""), "less image data than pixels"),
    "wrong checksum": (small(STREAM[:-1] + bytes([STREAM[-1] ^ 1])), "the checksum of the compr"),
    "no zlib": (small(b"\x77\x85" + STREAM[2:]), "do not begin like a zlib stream"),
    "dictionary": (small(b"\x78\xbb" + STREAM[2:]), "do not begin like a zlib stream"),
    "kind of block": (small(STREAM[:2] + b"\x07" + STREAM[3:]), "block of an unknown kind"),
    "stored length": (small(b"\x78\x01\x01\x10\0\0\0" + bytes(50)), "of contradictory length"),
    "no distance": (small(b"\x78\x01\x03\x02\0\0\0\0"), "before their beginning"),
    "filter": (small(zlib.compress(b"\5" + ROWS[1:])), "filter of the unknown kind 5"),
    "method": (small(STREAM, methods=b"\1\0\0"), "compression 1, filter 0, interlace method 0"),
    "interlace": (small(STREAM, methods=b"\0\0\2"), "compression 0, filter 0, interlace method 2"),
    "sum of header": (bad_sum(small(STREAM), b"IHDR"), "the checksum of the PNG's header"),
    "sum of pixels": (bad_sum(small(STREAM), b"IDAT"), "the checksum of image data in the PNG"),
    "no palette": (small(STREAM, color_type=3), "no palette before its image data"),
    "odd palette": (
        small(STREAM, color_type=3, before=png_chunk(b"PLTE", bytes(4))),
        "a palette of 4 bytes",
    ),
    "two palettes": (
        small(STREAM, color_type=3, before=png_chunk(b"PLTE", bytes(6)) * 2),
        "has two palettes",
    ),
    "sum of palette": (
        bad_sum(small(STREAM, color_type=3, before=png_chunk(b"PLTE", bytes(6))), b"PLTE"),
        "the checksum of the PNG's palette",
    ),
    "chunk": (small(STREAM)[:-12] + b"\0\0\0\x40a\xffb'", r"inside a chunk b'a\xffb\''"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damage(kind: str) -> None:
    data, message = DAMAGED[kind]
    with pytest.raises(ndd.DecodeError) as caught:
        decode(data)
    assert str(caught.value).startswith("decoders.image: sample 0 is ")
    assert message in str(caught.value)
    # libpng does not look for the end.
    if kind != "chunk":
        with pytest.raises(RuntimeError):
            imagecodecs.png_decode(data)


def test_a_wrong_checksum_is_the_cause_of_what_follows() -> None:
    changed = bytearray(small(STREAM))
    changed[changed.index(b"IDAT") + 30] ^= 0x55
    with pytest.raises(ndd.DecodeError, match="the checksum of image data in the PNG is wrong"):
        decode(bytes(changed))


@pytest.mark.parametrize(
    "data",
    [
        small(zlib.compress(ROWS + b"more")),
        small(STREAM + b"more"),
        small(STREAM)[:-12] + png_chunk(b"IDAT", b"more") + png_chunk(b"IEND", b""),
        small(STREAM)[:-4],
        small(STREAM, before=png_chunk(b"PLTE", b"odd!")),
        small(STREAM, before=png_chunk(b"CRIT", b"unknown")),
    ],
)
def test_harmless_surplus(data: bytes) -> None:
    expected = np.frombuffer(ROWS, np.uint8).reshape(20, 31, 1)[:, 1:]
    assert_same(decode(data, **ANY), expected)


def test_parts_do_not_look_at_later_rows() -> None:
    data = np.frombuffer(small(zlib.compress(ROWS[:-31])), np.uint8)
    part = ndd.decoders.image_slice(data, start=[5, 3], end=[25, 19], **ANY)
    rows = np.frombuffer(ROWS, np.uint8).reshape(20, 31, 1)[:, 1:]
    assert_same(part, rows[3:19, 5:25])
    with pytest.raises(ndd.DecodeError, match="less image data than pixels"):
        ndd.decoders.image_slice(data, start=[5, 3], end=[25, 20], **ANY).evaluate()


def test_small_files_on_several_threads() -> None:
    files = [filtered_png(picture(32, 32, seed=seed), 8, 2) for seed in range(40)]
    with ndd.EvalContext(num_threads=3):
        decoded = ndd.decoders.image(ndd.batch(as_samples(files * 8))).torch().numpy()
    for array, data in zip(decoded, files * 8, strict=True):
        assert_same(array, by_libpng(data))


def test_the_first_damaged_file_is_named() -> None:
    whole, broken = small(STREAM), small(STREAM[:-20])
    files = ndd.batch(as_samples([whole, broken, SIGNATURE, whole]))
    # Headers are read before pixels.
    with pytest.raises(ndd.DecodeError, match="sample 2 is cut short: the PNG ends after 8 bytes"):
        ndd.decoders.image(files).evaluate()
    files = ndd.batch(as_samples([whole, broken, broken, whole]))
    with pytest.raises(ndd.DecodeError, match="sample 1 is damaged"):
        ndd.decoders.image(files).evaluate()


def test_orientation_of_exif_blocks() -> None:
    for orientation in range(1, 9):
        for big_endian in (False, True):
            block = exif(orientation, big_endian)
            assert _kernels.exif_orientation(block) == orientation
            assert _kernels.exif_orientation(block[6:]) == orientation
            assert _kernels.exif_orientation(block[:26]) == orientation
            for size in range(26):
                assert _kernels.exif_orientation(block[:size]) == 1
    assert _kernels.exif_orientation(exif(9)) == 1
