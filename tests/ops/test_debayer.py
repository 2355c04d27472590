# SPDX-License-Identifier: Apache-2.0
"""Raw images against OpenCV."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_near, assert_same
from support.ramps import make_image, raises, run

POSITIONS = {(0, 0): "BG", (0, 1): "GB", (1, 0): "GR", (1, 1): "RG"}
SUFFIXES = {"bilinear_ocv": "RGB", "edgeaware_ocv": "RGB_EA", "vng_ocv": "RGB_VNG"}


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("algorithm", SUFFIXES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_debayer(position: tuple[int, int], algorithm: str, dtype: str) -> None:
    if algorithm == "vng_ocv" and dtype == "uint16":
        return
    code = getattr(cv2, f"COLOR_Bayer{POSITIONS[position]}2{SUFFIXES[algorithm]}")
    # OpenCV has a less exact 1/7 for the last pixels of a row, which may round the other way.
    same = assert_near if algorithm == "vng_ocv" else assert_same
    for shape in ((2, 6), (4, 4), (10, 12), (38, 70), (64, 300)):
        image = make_image(shape, dtype)
        if dtype == "uint16":
            image = image * np.uint16(290)
        actual = run("debayer", image, blue_position=position, algorithm=algorithm)
        if min(shape) == 2:  # too small for neighbors on both sides
            assert_same(actual, np.zeros((*shape, 3), dtype))
        else:
            same(actual, cv2.demosaicing(image, code))


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_debayer_to_gray(position: tuple[int, int], dtype: str) -> None:
    code = getattr(cv2, f"COLOR_Bayer{POSITIONS[position]}2GRAY")
    image = make_image((24, 50), dtype)
    actual = run("debayer", image[..., None], blue_position=position, algorithm="gray_ocv")
    assert_same(actual, cv2.demosaicing(image, code)[..., None])


def test_debayer_restores_flat_colors() -> None:
    """A sensor that looks at one color: red, green and blue where the documentation says."""
    color = np.array([200, 120, 40], np.uint8)
    raw = np.full((10, 12), color[1])
    raw[1::2, 1::2], raw[::2, ::2] = color[2], color[0]
    for algorithm in SUFFIXES:
        actual = run("debayer", raw, blue_position=[0, 0], algorithm=algorithm)
        assert_same(actual, np.broadcast_to(color, (10, 12, 3)))


def test_debayer_frames_and_samples() -> None:
    video = make_image((4, 10, 12))
    positions = ndd.tensor(np.array(list(POSITIONS), np.int32), layout="FK")
    result = ndd.debayer(ndd.tensor(video, layout="FHW"), blue_position=positions)
    assert result.layout == "FHWC"
    frames = [run("debayer", f, blue_position=p) for f, p in zip(video, POSITIONS, strict=True)]
    assert_same(np.array(result), np.stack(frames))
    batch = ndd.batch(list(video), layout="HW")
    result = ndd.debayer(batch, blue_position=ndd.batch([np.int32(p) for p in POSITIONS]))
    for sample, frame in zip(result.tensors, frames, strict=True):
        assert_same(np.array(sample), frame)


def test_debayer_errors() -> None:
    raw = make_image((4, 6))
    with raises(r"debayer: 'algorithm' must be 'bilinear_ocv', .*; got 'default_npp'"):
        run("debayer", raw, blue_position=[0, 0], algorithm="default_npp")
    with raises("debayer: 'algorithm' can be 'vng_ocv' for uint8 only; got uint16"):
        run("debayer", raw.astype("uint16"), blue_position=[0, 0], algorithm="vng_ocv")
    with raises(r"debayer: 'blue_position' must be 0 or 1; got \[0, 2\] \(sample 0\)"):
        run("debayer", raw, blue_position=[0, 2])
    with raises(r"debayer: 'blue_position' needs two values \(row, column\); got \[0, 1, 0\]"):
        run("debayer", raw, blue_position=[0, 1, 0])
    with raises(r"debayer: height and width must be even; got the shape \(3, 6\) \(sample 0\)"):
        run("debayer", raw[:3], blue_position=[0, 0])
    with raises(r"debayer: images must have one channel; got the shape \(4, 6, 3\) \(sample 0\)"):
        run("debayer", np.dstack([raw] * 3), blue_position=[0, 0])
    with raises("debayer: the type float32 is not supported"):
        run("debayer", raw.astype("float32"), blue_position=[0, 0])
