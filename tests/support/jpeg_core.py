# SPDX-License-Identifier: Apache-2.0
"""Calls of the JPEG decoder of the core, and files for it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from daliesque import _kernels

Array: TypeAlias = NDArray[Any]

SAMPLINGS = ("444", "422", "420", "440", "411")
SIZES = ((1, 1), (1, 40), (40, 1), (2, 2), (7, 9), (8, 8), (15, 17), (16, 16), (33, 65), (70, 129))
OUTPUT_TYPES = ("RGB", "BGR", "GRAY", "YCbCr")


def picture(height: int, width: int, seed: int = 0) -> Array:
    """Waves, an edge and some noise, in RGB."""
    rng = np.random.default_rng([seed, height, width])
    y, x = np.mgrid[0:height, 0:width]
    waves = [127 + 90 * np.sin(x / (3 + c) + seed) * np.cos(y / (4 + 2 * c)) for c in range(3)]
    image = np.stack(waves, -1) + rng.integers(-20, 21, (height, width, 3))
    image[height // 2 :, width // 3 :] *= 0.5
    return np.clip(image, 0, 255).astype(np.uint8)


def encode(
    image: Array,
    sampling: str = "420",
    quality: int = 90,
    restart: int = 0,
    optimize: bool = False,
    progressive: bool = False,
) -> bytes:
    """A JPEG by OpenCV, that is by libjpeg-turbo."""
    options = [
        (
            cv2.IMWRITE_JPEG_SAMPLING_FACTOR,
            getattr(cv2, f"IMWRITE_JPEG_SAMPLING_FACTOR_{sampling}"),
        ),
        (cv2.IMWRITE_JPEG_QUALITY, quality),
        (cv2.IMWRITE_JPEG_RST_INTERVAL, restart),
        (cv2.IMWRITE_JPEG_OPTIMIZE, int(optimize)),
        (cv2.IMWRITE_JPEG_PROGRESSIVE, int(progressive)),
    ]
    ok, data = cv2.imencode(".jpg", image[..., ::-1], [int(v) for pair in options for v in pair])
    assert ok
    return data.tobytes()


def encode_pillow(image: Array, **options: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "JPEG", **options)
    return file.getvalue()


def pillow(data: bytes, mode: str) -> Array:
    """libjpeg-turbo's pixels; "L" is its luma plane."""
    image = Image.open(io.BytesIO(data))
    if mode == "L":
        image.draft("L", image.size)
        return np.asarray(image)[..., None]
    return np.asarray(image.convert("RGB"))[..., :: -1 if mode == "BGR" else 1]


def decode(data: bytes, *args: Any, **kwargs: Any) -> Array:
    pixels, status, message = _kernels.jpeg_decode(data, *args, **kwargs)
    assert (status, message) == ("ok", "")
    return np.asarray(pixels)


def failure(data: bytes, *args: Any, **kwargs: Any) -> tuple[str, str]:
    pixels, status, message = _kernels.jpeg_decode(data, *args, **kwargs)
    assert pixels is None
    return status, message


def segments(data: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """Marker and offset of each segment up to the scan."""
    at = 2
    while True:
        yield data[at + 1], at
        if data[at + 1] == 0xDA:
            return
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")


def find(data: bytes | bytearray, *markers: int) -> int:
    return next(at for marker, at in segments(data) if marker in markers)


def scan_start(data: bytes | bytearray) -> int:
    at = find(data, 0xDA)
    return at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")


def patched(data: bytes, at: int, *values: int) -> bytes:
    return data[:at] + bytes(values) + data[at + len(values) :]
