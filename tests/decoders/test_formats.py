# SPDX-License-Identifier: Apache-2.0
"""Each file format in its variants."""

from __future__ import annotations

import io
import struct
from typing import Any

import imagecodecs
import numpy as np
import pytest
from PIL import Image

import daliesque as ndd
from daliesque import types
from support.compare import assert_close, assert_same
from support.image_decoding import decode, pillow
from support.image_makers import (
    Array,
    bmp,
    exif,
    jpeg,
    pack_bits,
    picture,
    png,
    png_chunk,
    pnm,
    save,
    tiff,
)

ANY: dict[str, Any] = {"output_type": types.ANY_DATA}
GRAY: dict[str, Any] = {"output_type": types.GRAY}
H, W = 23, 37


def full_range(array: Array, bits: int) -> Array:
    """Numbers of some bits as uint8 or uint16."""
    top, dtype = (255, np.uint8) if bits <= 8 else (65535, np.uint16)
    return (array.astype(np.int64) * top // ((1 << bits) - 1)).astype(dtype)


def own_type(bits: int) -> ndd.DType:
    return ndd.uint8 if bits <= 8 else ndd.uint16


def check(data: bytes, expected: Array) -> None:
    """ANY_DATA gives the channels of the file, RGB the colors of them."""
    dtype = ndd.dtype(expected.dtype)
    assert_same(decode(data, dtype=dtype, **ANY), expected)
    colors = expected[..., [0, 0, 0] if expected.shape[2] < 3 else [0, 1, 2]]
    assert_same(decode(data, dtype=dtype), colors)
    if expected.shape[2] < 3:
        assert_same(decode(data, dtype=dtype, **GRAY), expected[..., :1])


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(
    ("color_type", "channels", "bits"),
    [(0, 1, b) for b in (1, 2, 4, 8, 16)]
    + [(t, c, b) for t, c in ((2, 3), (4, 2), (6, 4)) for b in (8, 16)],
)
def test_png(color_type: int, channels: int, bits: int, interlaced: bool) -> None:
    source = picture(H, W, channels, bits)
    check(png(source, bits, color_type, interlaced=interlaced), full_range(source, bits))


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_png_palette(bits: int, interlaced: bool) -> None:
    colors = np.random.default_rng(1).integers(0, 256, (1 << bits, 3), np.uint8)
    indices = picture(H, W, 1, bits)
    before = png_chunk(b"PLTE", colors.tobytes())
    for transparency in (b"", png_chunk(b"tRNS", bytes([0, 128]))):
        data = png(indices, bits, 3, interlaced=interlaced, before=before + transparency)
        check(data, colors[indices[..., 0]])


@pytest.mark.parametrize(("color_type", "channels", "bits"), [(0, 1, 8), (0, 1, 4), (2, 3, 16)])
def test_png_transparent_color_is_ignored(color_type: int, channels: int, bits: int) -> None:
    source = picture(H, W, channels, bits)
    key = struct.pack(f">{channels}H", *(int(v) for v in source[3, 4]))
    data = png(source, bits, color_type, before=png_chunk(b"tRNS", key))
    check(data, full_range(source, bits))


@pytest.mark.parametrize("bits", [8, 16])
def test_png_gamma_counts_for_gray(bits: int) -> None:
    source = picture(H, W, 3, bits)
    top = (1 << bits) - 1
    light = np.rint(top * (source / top) ** 2.2)
    gray = np.rint(light @ [0.299, 0.587, 0.114])
    expected = np.rint(top * (gray / top) ** (1 / 2.2))
    gamma = png_chunk(b"gAMA", struct.pack(">I", 45455))
    dtype = own_type(bits)
    for chunk in (gamma, png_chunk(b"sRGB", b"\0")):
        data = png(source, bits, 2, before=chunk)
        got = decode(data, dtype=dtype, **GRAY)[..., 0].astype(int)
        # The weights of libpng have 15 bits; dark grays lie far apart.
        off = np.abs(got - expected)[gray > top / 10]
        assert off.size > source.size / 6
        assert off.max() <= (1 if bits == 8 else 8)
        assert_same(decode(data, dtype=dtype), source)
    even = np.repeat(source[..., :1], 3, axis=2)
    assert_same(decode(png(even, bits, 2, before=gamma), dtype=dtype, **GRAY), even[..., :1])


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 3), (5, 4)])
def test_small_interlaced_png(shape: tuple[int, int]) -> None:
    source = picture(*shape, 3)
    check(png(source, 8, 2, interlaced=True), source)


def test_interlaced_png_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    decode(png(picture(H, W, 3, 16), 16, 2, interlaced=True))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("kind", "channels"), [(2, 1), (3, 3), (5, 1), (6, 3)])
@pytest.mark.parametrize("top", [255, 65535, 100, 1000])
def test_pnm(kind: int, channels: int, top: int) -> None:
    source = (picture(H, W, channels, 16).astype(np.int64) * top // 65535).astype(np.uint16)
    full, dtype = (255, np.uint8) if top < 256 else (65535, np.uint16)
    check(pnm(source, kind, top), (source.astype(np.int64) * full // top).astype(dtype))


@pytest.mark.parametrize("kind", [1, 4])
def test_bitmap(kind: int) -> None:
    black = picture(H, W, 1, 1)
    check(pnm(black, kind), np.where(black, 0, 255).astype(np.uint8))


def test_text_bitmap_without_spaces() -> None:
    check(b"P1 3 2\n101\n010", np.array([[0, 255, 0], [255, 0, 255]], np.uint8)[..., None])


PALETTE = np.random.default_rng(2).integers(0, 256, (256, 3), np.uint8)


@pytest.mark.parametrize("bits", [1, 4, 8])
@pytest.mark.parametrize("header_size", [12, 40])
def test_bmp_palette(bits: int, header_size: int) -> None:
    colors = PALETTE[: 1 << bits]
    indices = picture(H, W, 1, bits)[..., 0]
    entries = colors[:, ::-1]
    if header_size == 40:
        entries = np.concatenate([entries, np.zeros((len(colors), 1), np.uint8)], axis=1)
    rows = [pack_bits(row, bits) for row in indices]
    data = bmp(rows, W, bits, palette=entries.tobytes(), header_size=header_size)
    check(data, colors[indices])


def test_bmp_gray_palette_is_gray() -> None:
    source = picture(H, W, 1)
    check(save(source, "BMP"), source)


@pytest.mark.parametrize("top_down", [False, True])
def test_bmp_true_color(top_down: bool) -> None:
    source = picture(H, W)
    check(bmp([row[:, ::-1].tobytes() for row in source], W, 24, top_down=top_down), source)


@pytest.mark.parametrize("masks", [(), (0x7C00, 0x3E0, 0x1F), (0xF800, 0x7E0, 0x1F)])
def test_bmp_16_bits(masks: tuple[int, ...]) -> None:
    words = np.random.default_rng(3).integers(0, 1 << 16, (H, W), np.uint16)
    data = bmp([row.tobytes() for row in words], W, 16, compression=3 if masks else 0, masks=masks)
    red, green, blue = masks or (0x7C00, 0x3E0, 0x1F)
    expected = np.empty((H, W, 3), np.uint8)
    for channel, mask in enumerate((red, green, blue)):
        low = (mask & -mask).bit_length() - 1
        expected[..., channel] = ((words & mask) >> low) << (8 - (mask >> low).bit_length())
    check(data, expected)


def test_bmp_32_bits() -> None:
    source = picture(H, W, 4)
    rows = [row[:, [2, 1, 0, 3]].tobytes() for row in source]
    check(bmp(rows, W, 32), source)
    masks = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    check(bmp(rows, W, 32, compression=3, masks=masks, header_size=124), source)
    swapped = [row.tobytes() for row in source]
    masks = (0xFF, 0xFF00, 0xFF0000, 0xFF000000)
    check(bmp(swapped, W, 32, compression=3, masks=masks, header_size=108), source)


def test_bmp_run_lengths() -> None:
    indices = np.array([[1, 1, 1, 2], [3, 3, 0, 0]], np.uint8)
    runs = bytes([2, 3, 2, 0, 0, 0, 3, 1, 1, 2, 0, 1])
    palette = np.concatenate([PALETTE[:, ::-1], np.zeros((256, 1), np.uint8)], axis=1).tobytes()
    header = struct.pack("<IiiHHIIiiII", 40, 4, 2, 1, 8, 1, len(runs), 0, 0, 0, 0)
    offset = 54 + len(palette)
    file = struct.pack("<2sIHHI", b"BM", offset + len(runs), 0, 0, offset)
    check(file + header + palette + runs, PALETTE[indices])


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("compression", [1, 5, 8, 50000])
def test_tiff(channels: int, bits: int, compression: int) -> None:
    source = picture(H, W, channels, bits)
    if (channels, bits) == (2, 16):
        # Gray and colors of such files have 8 bits.
        source = (source >> 8) * np.uint16(257)
    photometric = 1 if channels < 3 else 2
    extra = {338: [2] * (channels - (1 if channels < 3 else 3))} if channels in (2, 4, 5) else {}
    data = tiff(
        source, bits, photometric, compression=compression, rows_per_strip=7, tags=dict(extra)
    )
    check(data, source)


@pytest.mark.parametrize("options", [{"order": ">"}, {"big": True}, {"big": True, "order": ">"}])
def test_tiff_byte_orders(options: dict[str, Any]) -> None:
    source = picture(H, W, 3, 16)
    check(tiff(source, 16, 2, **options), source)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("tile", [None, (16, 32)])
def test_tiff_tiles_and_planes(bits: int, planar: bool, tile: tuple[int, int] | None) -> None:
    source = picture(H, W, 3, bits)
    check(tiff(source, bits, 2, planar=planar, tile=tile, compression=8), source)


@pytest.mark.parametrize("bits", [1, 2, 4, 10, 12, 14])
def test_tiff_odd_depths(bits: int) -> None:
    source = picture(H, W, 1, bits)
    data = tiff(source, bits, 1)
    if bits < 8:
        check(data, full_range(source, bits))
    else:
        check(data, source << (16 - bits))


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_tiff_palette(bits: int) -> None:
    colors = np.random.default_rng(4).integers(0, 65536, (3, 1 << bits))
    indices = picture(H, W, 1, bits)
    data = tiff(indices, bits, 3, tags={320: colors.ravel().tolist()})
    check(data, colors.T[indices[..., 0]].astype(np.uint16))


def test_tiff_white_is_zero() -> None:
    source = picture(H, W, 1)
    check(tiff(source, 8, 0), 255 - source)
    bits = picture(H, W, 1, 1)
    check(tiff(bits, 1, 0), np.where(bits, 0, 255).astype(np.uint8))


def test_tiff_numbers_the_reference_refuses() -> None:
    source = picture(H, W, 1, 16)
    wide = source.astype(np.uint32) << 16
    expected = (wide / (2**32 - 1)).astype(np.float32)
    assert_same(decode(tiff(wide, 32, 1), dtype=ndd.float32, **ANY), expected)
    signed = (source.astype(np.int32) - 32768).astype(np.int16)
    data = tiff(signed, 16, 1, tags={339: [2]})
    assert_same(decode(data, dtype=ndd.int16, **ANY), signed)
    double = source / 65535
    data = tiff(double, 64, 1, tags={339: [3]})
    assert_same(decode(data, dtype=ndd.float32, **ANY), double.astype(np.float32))


def test_tiff_defaults_of_missing_tags() -> None:
    source = picture(H, W, 1)
    check(tiff(source, 8, 1, tags={277: None, 262: None, 278: None}), source)


def test_tiff_takes_the_first_page() -> None:
    pages = [Image.fromarray(picture(H, W, seed=seed)) for seed in range(2)]
    out = io.BytesIO()
    pages[0].save(out, "TIFF", save_all=True, append_images=pages[1:])
    check(out.getvalue(), np.asarray(pages[0]))


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("form", ["jp2", "j2k"])
def test_jpeg2000(bits: int, channels: int, form: str) -> None:
    source = picture(H, W, channels, bits)
    squeezed = source[..., 0] if channels == 1 else source
    data = imagecodecs.jpeg2k_encode(squeezed, level=0, codecformat=form, reversible=True)
    check(data, source)


def test_jpeg2000_of_12_bits_counts_as_16() -> None:
    source = picture(H, W, 3, 12)
    data = imagecodecs.jpeg2k_encode(
        source, level=0, codecformat="jp2", reversible=True, bitspersample=12
    )
    check(data, source)


@pytest.mark.parametrize("channels", [3, 4])
def test_lossless_webp(channels: int) -> None:
    source = picture(H, W, channels)
    check(save(source, "WEBP", lossless=True, exact=True), source)
    check(save(source, "WEBP", lossless=True, exact=True, exif=exif(1)[6:]), source)


@pytest.mark.parametrize("channels", [3, 4])
def test_lossy_webp(channels: int) -> None:
    data = save(picture(H, W, channels), "WEBP", quality=80)
    check(data, pillow(data, "RGB" if channels == 3 else "RGBA"))


@pytest.mark.parametrize("kind", ["WEBP", "PNG", "GIF"])
def test_animations_give_the_first_frame(kind: str) -> None:
    frames = [Image.fromarray(picture(H, W, seed=seed)) for seed in range(2)]
    options = {"lossless": True} if kind == "WEBP" else {}
    out = io.BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], **options)
    check(out.getvalue(), pillow(out.getvalue()))


def test_avif_and_jpeg_xl() -> None:
    source = picture(H, W)
    check(imagecodecs.jpegxl_encode(source, lossless=True), source)
    data = imagecodecs.avif_encode(source, level=90)
    check(data, imagecodecs.avif_decode(data))


@pytest.mark.parametrize("bits", [8, 12, 16])
@pytest.mark.parametrize("channels", [1, 3])
def test_lossless_jpeg(bits: int, channels: int) -> None:
    source = picture(H, W, channels, bits)
    squeezed = source[..., 0] if channels == 1 else source
    data = imagecodecs.jpeg8_encode(squeezed, lossless=True, bitspersample=bits)
    decoded = decode(data, dtype=own_type(bits), **ANY)
    expected = source if bits != 12 else np.floor(source * (65535 / 4095) + 0.5).astype(np.uint16)
    assert_same(decoded, expected)


def test_jpeg_of_12_bits() -> None:
    source = picture(H, W, 3, 12)
    data = imagecodecs.jpeg8_encode(source, 100, bitspersample=12, subsampling="444")
    decoded = decode(data, dtype=ndd.float32)
    assert_close(decoded, source / 4095, "lossy pixels")


@pytest.mark.parametrize("colorspace", ["CMYK", "YCCK"])
def test_cmyk_jpeg(colorspace: str) -> None:
    cmyk = picture(H, W, 4)
    data = imagecodecs.jpeg8_encode(cmyk, 100, colorspace="CMYK", outcolorspace=colorspace)
    stored = imagecodecs.jpeg8_decode(data).astype(np.int64)
    # The encoder writes an Adobe marker, so CMYK is stored as complements.
    expected = stored[..., :3] * stored[..., 3:] // 255
    assert_same(decode(data), expected.astype(np.uint8))
    assert_same(decode(data, **ANY), stored.astype(np.uint8))
    gray = np.float32(expected) @ np.float32([0.299, 0.587, 0.114])
    assert np.abs(decode(data, **GRAY)[..., 0] - gray).max() <= 1.001


def test_cmyk_jpeg_without_adobe_marker() -> None:
    data = imagecodecs.jpeg8_encode(picture(H, W, 4), 100, colorspace="CMYK", outcolorspace="CMYK")
    begin = data.index(b"\xff\xee")
    (length,) = struct.unpack_from(">H", data, begin + 2)
    bare = data[:begin] + data[begin + 2 + length :]
    stored = 255 - imagecodecs.jpeg8_decode(bare).astype(np.int64)
    assert_same(decode(bare), (stored[..., :3] * stored[..., 3:] // 255).astype(np.uint8))


def test_rgb_jpeg() -> None:
    data = imagecodecs.jpeg8_encode(picture(H, W), 95, colorspace="RGB", outcolorspace="RGB")
    check(data, imagecodecs.jpeg8_decode(data))


def test_trailing_bytes_are_ignored() -> None:
    data = jpeg(picture(H, W))
    assert_same(decode(data + b"more" * 30), pillow(data))
