# SPDX-License-Identifier: Apache-2.0
"""Images seen from another side are what the reference gives."""

from __future__ import annotations

import numpy as np
import pytest

from support.libraries import Array
from support.oracle import assert_agree

pytestmark = pytest.mark.oracle
MATRIX = np.array([[1.1, 0.2, -3], [-0.1, 0.9, 2.5], [0.003, -0.002, 1]], np.float32)


@pytest.mark.parametrize("interp", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4"])
@pytest.mark.parametrize("border", ["constant", "replicate", "reflect", "reflect_101", "wrap"])
def test_warp_perspective(border: str, dtype: str, interp: int) -> None:
    for channels in (1, 3, 4):
        image = np.random.default_rng(1).integers(0, 256, (40, 60, channels)).astype(dtype)
        for arguments in ({}, {"size": (70, 33)}, {"inverse_map": False}, {"fill_value": 3},
                          {"pixel_origin": "center"}):  # fmt: skip
            full = {"border_mode": border, "interp_type": interp, "matrix": MATRIX, **arguments}
            operator = "experimental.warp_perspective"
            assert_agree(operator, [image], layout="HWC", check=mostly_within_one, **full)


def mostly_within_one(actual: Array, expected: Array, context: object) -> None:
    """Coordinates halfway between two steps of 1/32 may be rounded to either."""
    assert actual.shape == expected.shape, context
    difference = np.abs(actual.astype(float) - expected.astype(float))
    assert (difference > 1.01).mean() < 0.002, (context, difference.max())


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4"])
def test_warp_perspective_rounds_halves(dtype: str, channels: int) -> None:
    """Nearest neighbors of coordinates halfway between pixels, for widths of any remainder."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        matrix = np.eye(3, dtype=np.float32)
        matrix[:2, :2] = rng.integers(5, 20, 2)[:, None] / 10 * np.eye(2)
        matrix[:2, :2] += rng.integers(-5, 5, (2, 2)) / 10
        matrix[:2, 2] = rng.integers(-10, 40, 2) / 2
        if seed % 3 == 0:
            # Some of these divide by 0.
            matrix[2, :2] = rng.integers(-3, 4, 2) / 100
        image = rng.integers(0, 256, (50, 70, channels)).astype(dtype)
        size = rng.integers(1, 130, 2).tolist()
        arguments = {"matrix": matrix, "interp_type": 0, "pixel_origin": "center", "size": size}
        assert_agree("experimental.warp_perspective", [image], layout="HWC", **arguments)
