# SPDX-License-Identifier: Apache-2.0
"""experimental.remap and experimental.warp_perspective against OpenCV."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close
from support.reference.sampling import sampled

FILTERS = {0: cv2.INTER_NEAREST, 1: cv2.INTER_LINEAR, 2: cv2.INTER_CUBIC}
BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
    "wrap": cv2.BORDER_WRAP,
}
MATRIX = np.array([[1.1, 0.2, -3], [-0.1, 0.9, 2.5], [0.003, -0.002, 1]], np.float32)


def smooth(height: int, width: int, dtype: str) -> Any:
    """An image without sharp edges: OpenCV works with coordinates of 1/32 of a pixel."""
    noise = np.random.default_rng(0).uniform(0, 250, (height // 4 + 2, width // 4 + 2, 3))
    return (
        cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC).clip(0, 255).astype(dtype)
    )


@pytest.mark.parametrize("interp", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_remap(dtype: str, interp: int) -> None:
    image = smooth(40, 60, dtype)
    rng = np.random.default_rng(1)
    x = rng.uniform(-3, 63, (30, 37)).astype(np.float32)
    y = rng.uniform(-3, 43, (30, 37)).astype(np.float32)
    expected = cv2.remap(image, x, y, FILTERS[interp]).astype(float)
    got = ndd.experimental.remap(
        ndd.tensor(image, layout="HWC"), x, y, interp=interp, pixel_origin="center"
    )
    difference = np.abs(np.asarray(got).astype(float) - expected)
    assert (difference > 4).mean() < 0.01
    corner = ndd.experimental.remap(
        ndd.tensor(image, layout="HWC"), x + np.float32(0.5), y + np.float32(0.5), interp=interp
    )
    assert np.abs(np.asarray(corner).astype(float) - np.asarray(got)).mean() < 0.05


@pytest.mark.parametrize("interp", [0, 1, 2])
@pytest.mark.parametrize("border", list(BORDERS))
def test_warp_perspective(border: str, interp: int) -> None:
    image = smooth(40, 60, "u1")
    expected = cv2.warpPerspective(
        image, MATRIX, (50, 70), flags=FILTERS[interp] | cv2.WARP_INVERSE_MAP,
        borderMode=BORDERS[border], borderValue=(10, 20, 30),
    )  # fmt: skip
    got = ndd.experimental.warp_perspective(
        ndd.tensor(image, layout="HWC"), matrix=MATRIX, size=(70, 50), interp_type=interp,
        border_mode=border, fill_value=[10, 20, 30] if border == "constant" else None,
        pixel_origin="center",
    )  # fmt: skip
    difference = np.abs(np.asarray(got).astype(int) - expected)
    assert (difference > 4).mean() < 0.01


def test_layouts_agree() -> None:
    image = smooth(20, 30, "u1")
    expected = np.asarray(
        ndd.experimental.warp_perspective(ndd.tensor(image, layout="HWC"), matrix=MATRIX)
    )
    planar = ndd.tensor(np.ascontiguousarray(image.transpose(2, 0, 1)), layout="CHW")
    got = ndd.experimental.warp_perspective(planar, matrix=MATRIX)
    assert got.layout == "CHW"
    np.testing.assert_array_equal(np.asarray(got).transpose(1, 2, 0), expected)
    plane = ndd.tensor(np.ascontiguousarray(image[..., 1]), layout="HW")
    np.testing.assert_array_equal(
        np.asarray(ndd.experimental.warp_perspective(plane, matrix=MATRIX)), expected[..., 1]
    )
    clip = ndd.tensor(np.stack([image, image[::-1]]), layout="FHWC")
    frames = np.asarray(ndd.experimental.warp_perspective(clip, matrix=MATRIX))
    np.testing.assert_array_equal(frames[0], expected)


def test_inverse_map() -> None:
    image = ndd.tensor(smooth(20, 30, "f4"), layout="HWC")
    forward = ndd.experimental.warp_perspective(
        image, matrix=np.linalg.inv(MATRIX.astype(float)), inverse_map=False
    )
    backward = ndd.experimental.warp_perspective(image, matrix=MATRIX)
    assert np.abs(np.asarray(forward) - np.asarray(backward)).mean() < 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": [1, 2]}, r"'matrix' needs 9 values \(3x3\); got 2"),
        ({"matrix": MATRIX, "border_mode": "edge"}, "'border_mode' must be .*; got 'edge'"),
        ({"matrix": MATRIX, "pixel_origin": "x"}, "'pixel_origin' must be 'corner' or 'center'"),
        ({"matrix": MATRIX, "interp_type": 3}, "'interp_type' must be INTERP_NN, INTERP_LINEAR"),
        ({"matrix": MATRIX, "fill_value": [1, 2]}, "'fill_value' needs 1 value or 3"),
        ({"matrix": [0] * 9, "inverse_map": False}, "'matrix' must have an inverse"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    image = ndd.tensor(np.zeros((3, 4, 3), np.uint8), layout="HWC")
    with pytest.raises(ValueError, match=f"^experimental.warp_perspective: .*{message}"):
        ndd.experimental.warp_perspective(image, **arguments).evaluate()


def test_maps_of_different_shapes() -> None:
    image = ndd.tensor(np.zeros((3, 4, 3), np.uint8), layout="HWC")
    with pytest.raises(
        ValueError, match=r"experimental\.remap: 'mapx' and 'mapy' need equal shapes"
    ):
        ndd.experimental.remap(
            image, np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32)
        ).evaluate()


@pytest.mark.parametrize("fill", [None, 12.0])
def test_perspective(fill: float | None) -> None:
    """The matrix of OpenCV for the same points; positions are those of corners of pixels."""
    image = np.random.default_rng(4).integers(0, 256, (40, 60, 3), np.uint8)
    start = np.array([[0, 0], [59, 0], [59, 39], [0, 39]], np.float32)
    end = np.array([[5, 3], [50, 8], [57, 36], [2, 30]], np.float32)
    matrix = cv2.getPerspectiveTransform(end, start)
    y, x = np.mgrid[:40, :60] + 0.5
    u, v, w = matrix @ np.stack([x, y, np.ones_like(x)]).reshape(3, -1)
    positions = [(part / w - 0.5).reshape(40, 60) for part in (v, u)]
    expected = sampled(image, positions, fill)
    found = ndd.perspective(image, endpoints=end.ravel().tolist(), fill_value=fill)
    assert_close(np.asarray(found), expected, "warped integers")
    points = {"startpoints": start.ravel().tolist(), "endpoints": end.ravel().tolist()}
    again = ndd.perspective(image, fill_value=fill, **points)
    assert (np.asarray(again) == np.asarray(found)).all()


def test_perspective_draws_points_inside() -> None:
    y, x = np.mgrid[:50, :80].astype(np.float32) + 0.5
    images = ndd.batch([np.stack([x, y], axis=2)] * 4, layout="HWC")
    made = np.asarray(ndd.perspective(images, fill_value=-1, distortion_scale=0.3))
    shown = (made >= 0).all(axis=3)
    # The middle of the image is always seen, corners seldom are.
    assert shown[:, 15:35, 24:56].all()
    assert len(np.unique(shown.sum(axis=(1, 2)))) > 1
    same = np.asarray(ndd.perspective(images, distortion_scale=0.0))
    assert_close(same[0], np.stack([x, y], axis=2), "small values")


def test_errors_of_perspective() -> None:
    image = np.zeros((5, 6, 3), np.uint8)
    with pytest.raises(ValueError, match=r"'endpoints' needs 8 values, four points .*; got 4"):
        ndd.perspective(image, endpoints=[0, 0, 1, 1]).evaluate()
    with pytest.raises(ValueError, match="no three of the points may lie on a line"):
        ndd.perspective(image, endpoints=[0, 0, 1, 1, 2, 2, 3, 3]).evaluate()
    with pytest.raises(ValueError, match="'distortion_scale' must be between 0 and 1; got 2"):
        ndd.perspective(image, distortion_scale=2).evaluate()
