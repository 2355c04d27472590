# SPDX-License-Identifier: Apache-2.0
"""decoders.image: colors, element types, batches."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import daliesque as ndd
from daliesque import types
from support.compare import assert_close, assert_same
from support.image_decoding import decode, pillow
from support.image_makers import Array, as_samples, jpeg, picture, png, pnm, tiff
from support.reference import pixels

PIXEL_TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32"]


JPEGS = {
    "baseline": {},
    "4:4:4": {"subsampling": 0},
    "4:2:2": {"subsampling": 1},
    "progressive": {"progressive": True},
    "restarts": {"restart_marker_blocks": 2},
}


@pytest.mark.parametrize("kind", JPEGS)
def test_jpeg(kind: str) -> None:
    data = jpeg(picture(45, 61), **JPEGS[kind])
    expected = pillow(data)
    assert_same(decode(data), expected)
    assert_same(decode(data, output_type=types.BGR), expected[..., ::-1])
    assert_same(decode(data, output_type=types.ANY_DATA), expected)
    # The luma plane of the file.
    assert_same(decode(data, output_type=types.GRAY), pillow_luma(data))
    assert_within_one(decode(data, output_type=types.YCbCr), pixels.ycbcr(expected, np.uint8))


def pillow_luma(data: bytes) -> Array:
    with Image.open(io.BytesIO(data)) as image:
        image.draft("L", image.size)
        return np.asarray(image)[..., None]


def assert_within_one(actual: Array, expected: Array) -> None:
    """Sums in single and in double precision may fall on different sides of a half."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if actual.dtype.kind == "f":
        assert_close(actual, expected, "unit values")
    else:
        difference = np.abs(actual.astype(np.int64) - expected.astype(np.int64))
        step = max(1, int(pixels.top(actual.dtype)) >> 23)
        assert difference.max() <= step


@pytest.mark.parametrize("progressive", [False, True])
def test_gray_jpeg(progressive: bool) -> None:
    data = jpeg(picture(30, 41, 1), progressive=progressive)
    expected = pillow(data, "L")
    assert_same(decode(data, output_type=types.GRAY), expected)
    assert_same(decode(data, output_type=types.ANY_DATA), expected)
    assert_same(decode(data), np.repeat(expected, 3, axis=2))


@pytest.mark.parametrize("dtype", PIXEL_TYPES)
@pytest.mark.parametrize("bits", [8, 16])
def test_element_types(dtype: str, bits: int) -> None:
    source = picture(21, 34, 3, bits)
    data = png(source, bits, 2)
    wanted = getattr(ndd, dtype)
    assert_same(decode(data, dtype=wanted), pixels.rescale(source, dtype))
    assert_same(
        decode(data, dtype=wanted, output_type=types.BGR), decode(data, dtype=wanted)[..., ::-1]
    )
    assert_within_one(
        decode(data, dtype=wanted, output_type=types.YCbCr), pixels.ycbcr(source, dtype)
    )
    gray = decode(data, dtype=wanted, output_type=types.GRAY)
    native = decode(data, dtype=ndd.uint8 if bits == 8 else ndd.uint16, output_type=types.GRAY)
    assert_same(gray, pixels.rescale(native, dtype))
    # libpng cuts off what others round.
    error = pixels.gray(source).astype(np.int64) - native
    assert error.min() >= (0 if bits == 8 else -2)
    assert error.max() <= (1 if bits == 8 else 2)


@pytest.mark.parametrize("dtype", ["uint16", "int16", "float32"])
def test_element_types_of_jpegs(dtype: str) -> None:
    data = jpeg(picture(45, 61))
    expected = pillow(data)
    wanted = getattr(ndd, dtype)
    assert_same(decode(data, dtype=wanted), pixels.rescale(expected, dtype))
    assert_within_one(
        decode(data, dtype=wanted, output_type=types.YCbCr), pixels.ycbcr(expected, dtype)
    )
    gray = decode(data, dtype=wanted, output_type=types.GRAY)
    assert_same(gray, pixels.rescale(pillow_luma(data), dtype))


def test_float_files() -> None:
    source = (picture(20, 30, 3, 16) / np.float32(50000) - np.float32(0.1)).astype(np.float32)
    data = tiff(source, 32, 2, tags={339: [3, 3, 3]})
    assert_same(decode(data, dtype=ndd.float32), source)
    assert_same(decode(data), pixels.clamp_round(source * np.float32(255), np.uint8))
    assert_same(
        decode(data, dtype=ndd.int16), pixels.clamp_round(source * np.float32(32767), np.int16)
    )
    weights = np.float32([0.299, 0.587, 0.114])
    gray = decode(data, dtype=ndd.float32, output_type=types.GRAY)
    assert_close(gray[..., 0], source @ weights, "unit values")


def mixed_files(scale: int = 1) -> tuple[list[bytes], list[Array]]:
    sizes = [(20, 31), (9, 8), (40, 5), (33, 33), (20, 31), (16, 16)]
    sources = [picture(scale * h, scale * w, seed=i) for i, (h, w) in enumerate(sizes)]
    files = [
        jpeg(sources[0]),
        png(sources[1], 8, 2),
        jpeg(sources[2], progressive=True),
        pnm(sources[3], 6),
        jpeg(sources[4], subsampling=0),
        tiff(sources[5], 8, 2),
    ]
    return files, [pillow(data) for data in files]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("scale", [1, 10])
def test_batch_of_different_formats(threads: int, scale: int) -> None:
    files, expected = mixed_files(scale)
    with ndd.EvalContext(num_threads=threads):
        result = ndd.decoders.image(ndd.batch(as_samples(files)))
        assert result.layout == "HWC"
        assert result.dtype == ndd.uint8
        for tensor, array in zip(result.tensors, expected, strict=True):
            assert_same(tensor, array)


def test_equal_sizes_are_dense() -> None:
    files = [jpeg(picture(24, 32, seed=seed)) for seed in range(5)]
    result = ndd.decoders.image(ndd.batch(as_samples(files)))
    dense = result.torch().numpy()
    assert dense.shape == (5, 24, 32, 3)
    for array, data in zip(dense, files, strict=True):
        assert_same(array, pillow(data))


def test_source_is_kept() -> None:
    files, _ = mixed_files()
    tensors = ndd.Batch._of(ndd.batch(as_samples(files))._data(), tuple("abcdef"))
    assert ndd.decoders.image(tensors).source == list("abcdef")


@pytest.mark.parametrize("shape", [(1, 1), (1, 64), (64, 1), (7, 9), (8, 8), (17, 16), (20000, 1)])
def test_extreme_shapes(shape: tuple[int, int]) -> None:
    source = picture(*shape)
    for data in (jpeg(source), jpeg(source, subsampling=0), png(source, 8, 2), pnm(source, 6)):
        assert_same(decode(data), pillow(data))


def test_ignored_arguments_change_nothing() -> None:
    data = jpeg(picture(30, 40))
    plain = decode(data)
    assert_same(
        decode(
            data,
            jpeg_fancy_upsampling=True,
            affine=False,
            cache_size=10,
            cache_type="threshold",
            hw_decoder_load=0.1,
            hybrid_huffman_threshold=1,
            device_memory_padding=0,
            split_stages=True,
        ),
        plain,
    )


def test_experimental_names_are_aliases() -> None:
    for name in ("image", "image_crop", "image_random_crop", "image_slice"):
        assert getattr(ndd.experimental.decoders, name) is getattr(ndd.decoders, name)
    assert ndd.experimental.peek_image_shape is ndd.peek_image_shape


def test_wrong_arguments_are_refused() -> None:
    data = np.frombuffer(jpeg(picture(8, 8)), np.uint8)
    with pytest.raises(
        ValueError, match=r"decoders\.image: 'dtype' must be one of .*; got float64"
    ):
        ndd.decoders.image(data, dtype=ndd.float64)
    with pytest.raises(ValueError, match=r"decoders\.image: 'output_type' must be one of RGB"):
        ndd.decoders.image(data, output_type=7)
    with pytest.raises(
        ValueError, match=r"decoders\.image: encoded images must be one-dimensional"
    ):
        ndd.decoders.image(data.reshape(1, -1))
    with pytest.raises(ValueError, match=r"decoders\.image: encoded images must be"):
        ndd.decoders.image(data.astype(np.int32))
    with pytest.raises(ValueError, match=r"peek_image_shape: 'dtype' must be one of int32"):
        ndd.peek_image_shape(data, dtype=ndd.uint8)
