# SPDX-License-Identifier: Apache-2.0
"""Artifacts of JPEG compression, against OpenCV."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from support.compare import assert_same
from support.instruction_sets import use_instructions

Array = NDArray[Any]


def image(*shape: int, dtype: str = "u1", seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 127, shape).astype(dtype)


def tensor(values: Array, layout: str = "HWC") -> ndd.Tensor:
    return ndd.tensor(values, layout=layout)


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("quality", [-5, 1, 20, 50, 90, 100])
@pytest.mark.parametrize("size", [(64, 48), (37, 51), (1, 1), (7, 130), (16, 33), (33, 95)])
def test_jpeg_compression_distortion(size: tuple[int, int], quality: int) -> None:
    import cv2

    y, x = np.mgrid[: size[0], : size[1]]
    source = np.stack([x * 3 % 256, 255 - y * 2 % 256, (x + y) % 256], -1).astype(np.uint8)
    source = cv2.blur(source, (3, 3))
    sampling = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420]
    wanted = [cv2.IMWRITE_JPEG_QUALITY, min(max(quality, 1), 100), *sampling]
    expected = cv2.imdecode(cv2.imencode(".jpg", source[..., ::-1], wanted)[1], 1)[..., ::-1]
    got = np.asarray(ndd.jpeg_compression_distortion(tensor(source), quality=quality))
    assert np.abs(got.astype(int) - expected).max() <= 1


@pytest.mark.parametrize("quality", [1, 30, 100])
def test_instruction_sets_agree(quality: int) -> None:
    """Also where coefficients are as large as they can be."""
    rng = np.random.default_rng(4)
    for size in ((49, 67), (16, 32), (8, 200)):
        for values in (rng.integers(0, 256, (*size, 3)), 255 * rng.integers(0, 2, (*size, 3))):
            source = tensor(values.astype(np.uint8))
            fast = np.asarray(ndd.jpeg_compression_distortion(source, quality=quality))
            for instructions in ("avx2", "portable"):
                with use_instructions(instructions):
                    other = ndd.jpeg_compression_distortion(source, quality=quality)
                    assert_same(np.asarray(other), fast)


@pytest.mark.parametrize("layout", ["HWC", "HW"])
def test_gray_images_are_compressed_as_such(layout: str) -> None:
    import cv2

    y, x = np.mgrid[:37, :51]
    source = cv2.blur(((x * 3 + y * 5) % 256).astype(np.uint8), (3, 3))
    options = [cv2.IMWRITE_JPEG_QUALITY, 20]
    expected = cv2.imdecode(cv2.imencode(".jpg", source, options)[1], 0)
    values = source if layout == "HW" else source[..., None]
    result = ndd.jpeg_compression_distortion(tensor(values, layout), quality=20)
    assert result.layout == layout
    assert np.abs(np.asarray(result).reshape(37, 51).astype(int) - expected).max() <= 1


def test_jpeg_needs_colors_or_gray() -> None:
    with pytest.raises(ValueError, match="jpeg_compression_distortion: the input must be RGB or"):
        ndd.jpeg_compression_distortion(tensor(image(5, 6, 2))).evaluate()
    mixed = ndd.batch([image(5, 6, 3), image(5, 6, 1)], layout="HWC")
    with pytest.raises(ValueError, match=r"got 1 channels \(sample 1\)"):
        ndd.jpeg_compression_distortion(mixed).evaluate()
