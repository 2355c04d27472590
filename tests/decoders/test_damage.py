# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a file, and which."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import imagecodecs
import numpy as np
import pytest

import daliesque as ndd
from support.image_makers import as_samples, bmp, jpeg, picture, png, pnm, save, tiff

SOURCE = picture(40, 50)


def whole_files() -> dict[str, bytes]:
    return {
        "jpeg": jpeg(SOURCE),
        "progressive": jpeg(SOURCE, progressive=True),
        "png": png(SOURCE, 8, 2),
        "interlaced": png(SOURCE, 8, 2, interlaced=True),
        "tiff": tiff(SOURCE, 8, 2, compression=8, rows_per_strip=8),
        "bmp": bmp([row.tobytes() for row in SOURCE], 50, 24),
        "pnm": pnm(SOURCE, 6),
        "text": pnm(SOURCE, 3),
        "webp": save(SOURCE, "WEBP", lossless=True),
        "jpeg2000": imagecodecs.jpeg2k_encode(SOURCE, level=0, codecformat="jp2", reversible=True),
        "gif": save(SOURCE, "GIF"),
        "jpegxl": imagecodecs.jpegxl_encode(SOURCE, lossless=True),
    }


def decode(data: bytes, **arguments: Any) -> Any:
    with ndd.EvalMode.sync_cpu:
        return ndd.decoders.image(np.frombuffer(data, np.uint8), **arguments)


@pytest.mark.parametrize("kind", whole_files())
def test_truncation_is_never_silent(kind: str) -> None:
    data = whole_files()[kind]
    assert decode(data).shape == (40, 50, 3)
    for share in (0.02, 0.1, 0.5, 0.9, 0.99):
        with pytest.raises(ndd.DecodeError, match=r"^decoders\.image: sample 0 is .*\.\n"):
            decode(data[: int(len(data) * share)])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty."),
        (b"\xff\xd8", "is cut short: the JPEG ends after 2 bytes, before the frame header."),
        (b"hello, world", "is not an image of a known format (it begins with the bytes 68 65 6c"),
        (jpeg(SOURCE)[:900], "is cut short: the JPEG ends after 900 bytes, inside the scan."),
        (
            jpeg(SOURCE, progressive=True)[:900],
            "is cut short: the JPEG ends after 900 bytes, inside",
        ),
        (png(SOURCE, 8, 2)[:300], "is cut short: the PNG ends after 300 bytes, inside the image"),
        (png(SOURCE, 8, 2)[:-12], "before the end chunk."),
        (pnm(SOURCE, 6)[:99], "is cut short: the P6 image ends after 99 bytes, inside the pixels."),
        (b"P6 0 5 255 ", "is damaged: the P6 image has 5 rows, 0 columns, maximum 255."),
        (b"P2 2 1 255 1 x", "is damaged: the P2 image holds something that is not a number."),
        (b"P6 2 x 255 ", "is damaged: the header of the P6 image has no number at byte 4."),
        (png(SOURCE, 8, 2)[:24] + b"\x07" + bytes(50), "cannot have 7 bits"),
        (b"II*\0\xff\xff\xff\x7f", "is cut short: the TIFF ends after 8 bytes, inside the tags."),
        (b"BM" + bytes(60), "is damaged: the BMP has a header of 0 bytes."),
        (b"RIFF\x40\0\0\0WEBPVP9 " + bytes(60), "begins with a chunk b'VP9 '"),
        (
            b"RIFF\x40\0\0\0WEBPVP8 \x30\0\0\0\0\0\0\x9d\x01\x2a\x07\0\0\0" + bytes(60),
            "is damaged: the WebP has 0 x 7 pixels.",
        ),
    ],
)
def test_messages(data: bytes, message: str) -> None:
    with pytest.raises(ndd.DecodeError) as caught:
        decode(data)
    assert str(caught.value).startswith("decoders.image: sample 0 is ")
    assert message in str(caught.value)


def test_damage_that_libjpeg_repairs_is_repaired_like_there() -> None:
    data = bytearray(jpeg(SOURCE))
    data[-150:-148] = b"\xff\xd0"
    expected = imagecodecs.jpeg8_decode(bytes(data))
    np.testing.assert_array_equal(decode(bytes(data)), expected)


def test_first_bad_sample_and_its_source_are_named() -> None:
    good = jpeg(SOURCE)
    files = [good, good, good[:700], b"no image", good]
    names = tuple(f"cats/{i}.jpg" for i in range(5))
    batch = ndd.Batch._of(ndd.batch(as_samples(files))._data(), names)
    message = r'sample 3 \("cats/3.jpg"\) is not an image'
    with pytest.raises(ndd.DecodeError, match=rf"^decoders\.image: {message}"):
        ndd.decoders.image(batch).evaluate()
    files[3] = good
    batch = ndd.Batch._of(ndd.batch(as_samples(files))._data(), names)
    message = r'sample 2 \("cats/2.jpg"\) is cut short: the JPEG ends after 700 bytes'
    with pytest.raises(ndd.DecodeError, match=rf"^decoders\.image: {message}"):
        ndd.decoders.image(batch).evaluate()
    with pytest.raises(ndd.DecodeError, match=r'^decoders\.image_crop: sample 2 \("cats/2.jpg"\)'):
        ndd.decoders.image_crop(batch, crop=(30, 30)).evaluate()


@pytest.mark.parametrize("mode", ["deferred", "eager", "sync_cpu"])
def test_modes_raise_the_same(mode: str) -> None:
    batch = ndd.batch(as_samples([jpeg(SOURCE), jpeg(SOURCE)[:500]]))
    with (
        getattr(ndd.EvalMode, mode),
        pytest.raises(RuntimeError, match="sample 1 is cut short: the JPEG ends after 500 bytes"),
    ):
        ndd.decoders.image(batch).evaluate()


def test_regions_do_not_look_at_what_they_do_not_need() -> None:
    data = np.frombuffer(jpeg(picture(64, 64))[:-200], np.uint8)
    part = ndd.decoders.image_slice(data, start=[0, 0], shape=[64, 8])
    expected = imagecodecs.jpeg8_decode(jpeg(picture(64, 64)))[:8]
    np.testing.assert_array_equal(part, expected)


@pytest.fixture
def few_pixels() -> Iterator[None]:
    previous = ndd.decoders.set_max_pixels(1999)
    yield
    ndd.decoders.set_max_pixels(previous)


@pytest.mark.usefixtures("few_pixels")
@pytest.mark.parametrize("kind", whole_files())
def test_pixel_limit(kind: str) -> None:
    data = whole_files()[kind]
    message = r"sample 0 has (40 x 50|2000) pixels, more than the limit of 1999\. .*set_max_pixels"
    with pytest.raises(ndd.DecodeError, match=message):
        decode(data)
    ndd.decoders.set_max_pixels(2000)
    assert decode(data).shape == (40, 50, 3)


def test_bombs_are_refused_before_memory_is_reserved() -> None:
    huge = 60000
    bombs = [
        jpeg(SOURCE).replace(b"\x08\x00\x28\x00\x32\x03", b"\x08\xea\x60\xea\x60\x03"),
        png(SOURCE, 8, 2).replace(b"\0\0\0\x32\0\0\0\x28", huge.to_bytes(4, "big") * 2),
        b"P6 60000 60000 255 ",
        tiff(SOURCE, 8, 2, tags={256: [huge], 257: [huge]}),
    ]
    for data in bombs:
        with pytest.raises(ndd.DecodeError, match="has 60000 x 60000 pixels, more than the limit"):
            decode(data)
        shape = ndd.peek_image_shape(np.frombuffer(data, np.uint8))
        assert np.asarray(shape).tolist() == [60000, 60000, 3]


@pytest.mark.usefixtures("few_pixels")
def test_channels_count() -> None:
    data = tiff(picture(20, 20, 40), 8, 1, tags={338: [0] * 39})
    with pytest.raises(ndd.DecodeError, match="has 20 x 20 pixels of 40 channels, more than the"):
        decode(data)
    ndd.decoders.set_max_pixels(4000)
    assert decode(data).shape == (20, 20, 3)


def test_sizes_that_wrap_around() -> None:
    size = struct.pack(">II", 3263716133, 3618234987)
    data = png(SOURCE, 8, 2).replace(b"\0\0\0\x32\0\0\0\x28", size)
    with pytest.raises(ndd.DecodeError, match="has 3618234987 x 3263716133 pixels"):
        decode(data)


@pytest.mark.parametrize("value", [0, -5, 1.5, True, "many"])
def test_wrong_limits(value: Any) -> None:
    with pytest.raises(
        (TypeError, ValueError), match=r"decoders\.set_max_pixels: 'max_pixels' must"
    ):
        ndd.decoders.set_max_pixels(value)


def test_header_and_pixels_must_agree() -> None:
    data = bytearray(save(SOURCE, "GIF"))
    data[6:10] = b"\x05\0\x05\0"
    with pytest.raises(ndd.DecodeError, match="is damaged"):
        decode(bytes(data))
