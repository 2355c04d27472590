# SPDX-License-Identifier: Apache-2.0
"""warp_affine and rotate give what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each, Type, each_frame
from support.oracle import assert_agree, assert_nearly_agree

pytestmark = pytest.mark.oracle

NEAREST, LINEAR = 0, 1
TYPES = ("u1", "i2", "i4", "f4")
MATRIX = np.array([[0.9, 0.3, -5.3], [-0.2, 1.1, 4.1]], np.float32)
VOLUME_MATRIX = np.array(
    [[0.9, 0.3, 0.1, -1.3], [-0.2, 1.1, 0.2, 1.1], [0.1, -0.3, 0.8, 0.7]], np.float32
)


def images(dtype: str, shapes: list[tuple[int, ...]], seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    high = 256 if dtype == "u1" else 10_000
    low = 0 if dtype == "u1" else -10_000
    return [rng.integers(low, high, shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("border", [{}, {"fill_value": 42.4}])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", TYPES)
def test_warp_affine_images(dtype: str, channels: int, border: dict[str, Any]) -> None:
    samples = images(dtype, [(30, 41, channels), (7, 300, channels), (1, 1, channels)])
    matrices = Each([MATRIX, MATRIX * np.float32(1.3), MATRIX])
    for arguments in ({"matrix": MATRIX}, {"matrix": matrices}, {"inverse_map": False}):
        full = {"matrix": MATRIX, **arguments, **border, "layout": "HWC"}
        assert_agree("warp_affine", samples, interp_type=NEAREST, **full)
        assert_nearly_agree("warp_affine", samples, **full)
        assert_nearly_agree("warp_affine", samples, size=(21, 310), **full)


@pytest.mark.parametrize("interp", [NEAREST, LINEAR])
@pytest.mark.parametrize(
    ("dtype", "result"), [("u1", "float32"), ("f4", "uint8"), ("i2", "float32")]
)
def test_warp_affine_types(dtype: str, result: str, interp: int) -> None:
    samples = images(dtype, [(30, 41, 3)])
    for border in ({}, {"fill_value": -3.6}):
        arguments = {"matrix": MATRIX, "interp_type": interp, "dtype": Type(result), **border}
        assert_nearly_agree("warp_affine", samples, layout="HWC", **arguments)


def test_matrices_as_input() -> None:
    samples = images("u1", [(30, 41, 3), (20, 20, 3)])
    matrices = [MATRIX, MATRIX * np.float32(0.5)]
    assert_nearly_agree("warp_affine", samples, matrices, layout="HWC")
    sizes = Each([np.array([5, 6], np.int32), np.array([40, 7], np.int32)])
    assert_nearly_agree("warp_affine", samples, matrices, layout="HWC", size=sizes)


@pytest.mark.parametrize("dtype", TYPES)
def test_volumes(dtype: str) -> None:
    samples = images(dtype, [(8, 30, 41, 3), (3, 9, 5, 3)])
    for border in ({}, {"fill_value": 7}):
        full: dict[str, Any] = {"layout": "DHWC", **border}
        assert_agree("warp_affine", samples, matrix=VOLUME_MATRIX, interp_type=NEAREST, **full)
        assert_nearly_agree("warp_affine", samples, matrix=VOLUME_MATRIX, **full)
        assert_nearly_agree("warp_affine", samples, matrix=VOLUME_MATRIX, inverse_map=False, **full)
        assert_nearly_agree("rotate", samples, angle=33.0, axis=(0.2, -1, 0.7), **full)
        assert_nearly_agree("rotate", samples, angle=-120.0, axis=(0, -3, 0), **full)


@pytest.mark.parametrize("layout", ["FHWC", "", "FDHWC"])
def test_sequences(layout: str) -> None:
    shape = (4, 12, 17, 3) if layout != "FDHWC" else (2, 4, 12, 17, 3)
    samples = images("u1", [shape, shape])
    axis = {"axis": (0, 0, 1)} if layout == "FDHWC" else {}
    matrix = VOLUME_MATRIX if layout == "FDHWC" else MATRIX
    assert_nearly_agree("warp_affine", samples, matrix=matrix, layout=layout or None)
    assert_nearly_agree("rotate", samples, angle=20.0, layout=layout or None, **axis)


@pytest.mark.parametrize("op", ["angle", "matrix"])
def test_values_for_frames(op: str) -> None:
    samples = images("u1", [(4, 12, 17, 3), (3, 21, 8, 3)])
    rng = np.random.default_rng(1)
    if op == "angle":
        values = [rng.uniform(-90, 90, len(s)).astype(np.float32) for s in samples]
    else:
        values = [
            np.stack([MATRIX * np.float32(1 + k / 9) for k in range(len(s))]) for s in samples
        ]
    operator = "rotate" if op == "angle" else "warp_affine"
    assert_nearly_agree(operator, samples, layout="FHWC", **{op: each_frame(values)})


@pytest.mark.parametrize("angle", [0, 0.5, 17, 45, 63.3, 90, -135, 180, 271, 1000])
def test_rotate(angle: float) -> None:
    samples = images("u1", [(30, 41, 3), (77, 300, 3), (1, 1, 3), (2, 5, 3), (270, 19, 3)])
    for arguments in ({}, {"keep_size": True}, {"size": (33, 44)}, {"fill_value": 9}):
        full: dict[str, Any] = {"angle": float(angle), "layout": "HWC", **arguments}
        assert_nearly_agree("rotate", samples, **full)
        assert_agree("rotate", samples, interp_type=NEAREST, **full)


def test_rotate_each() -> None:
    samples = images("f4", [(30, 41, 3), (20, 20, 3)])
    angles = Each([np.float32(20), np.float32(-75.5)])
    assert_nearly_agree("rotate", samples, angle=angles, layout="HWC", fill_value=0.5)


@pytest.mark.parametrize("shape", [(64, 700, 3), (512, 512, 3), (40, 1030, 1)])
def test_long_rows(shape: tuple[int, ...]) -> None:
    samples = images("u1", [shape])
    assert_agree("rotate", samples, angle=13.7, interp_type=NEAREST, fill_value=1, layout="HWC")
    assert_nearly_agree("rotate", samples, angle=13.7, layout="HWC")
