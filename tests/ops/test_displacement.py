# SPDX-License-Identifier: Apache-2.0
"""sphere, water and jitter against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from support.compare import assert_close

Array = NDArray[Any]


def picked(image: Array, x: Array, y: Array, fill: float) -> Array:
    """The pixels that contain the coordinates."""
    column, row = np.floor(x).astype(int), np.floor(y).astype(int)
    height, width = image.shape[:2]
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    result = np.full((*x.shape, image.shape[2]), fill, image.dtype)
    result[inside] = image[row[inside], column[inside]]
    return result


def sphere_positions(height: int, width: int) -> tuple[Array, Array]:
    middle_x, middle_y = width / 2, height / 2
    y, x = np.mgrid[:height, :width] + 0.5
    distance = np.hypot(x - middle_x, y - middle_y) / int(max(middle_x, middle_y))
    return middle_x + distance * (x - middle_x), middle_y + distance * (y - middle_y)


@pytest.mark.parametrize("dtype", ["u1", "f4", "i2"])
def test_sphere(dtype: str) -> None:
    image = np.random.default_rng(0).integers(0, 200, (31, 70, 3)).astype(dtype)
    got = np.asarray(ndd.sphere(ndd.tensor(image, layout="HWC"), fill_value=9))
    expected = picked(image, *sphere_positions(31, 70), 9)
    # A coordinate on the edge between two pixels may fall to either side.
    assert (got == expected).mean() > 0.99


@pytest.mark.parametrize("dtype", ["u1", "f4", "i2"])
def test_water(dtype: str) -> None:
    image = np.random.default_rng(1).integers(0, 200, (51, 80, 3)).astype(dtype)
    arguments = {"ampl_x": 5.0, "freq_x": 0.3, "phase_x": 1.0, "ampl_y": 3.0, "freq_y": 0.1}
    got = np.asarray(ndd.water(ndd.tensor(image, layout="HWC"), fill_value=9, **arguments))
    y, x = np.mgrid[:51, :80].astype(float)
    expected = picked(image, x + 5 * np.sin(0.3 * y + 1), y + 3 * np.cos(0.1 * x), 9)
    assert (got == expected).mean() > 0.99


def test_linear_interpolation_moves_by_half_a_pixel() -> None:
    image = np.arange(40, dtype=np.float32).reshape(1, 40, 1)
    got = ndd.water(ndd.tensor(image, layout="HWC"), ampl_x=1, phase_x=np.pi / 6, ampl_y=0,
                    interp_type=1)  # fmt: skip
    # Coordinates are corners of pixels, values lie in their centers: x + 0.5 - 0.5, y - 0.5.
    assert_close(np.asarray(got)[0, 1:39, 0], np.arange(1, 39) / 2, "small values")


def test_jitter_moves_pixels_within_its_range() -> None:
    height, width = 60, 50
    y, x = np.mgrid[:height, :width]
    image = np.stack([y, x, y + x], axis=-1).astype(np.int32)
    for degree in (1, 2, 3, 4, 7):
        got = np.asarray(ndd.jitter(ndd.tensor(image, layout="HWC"), nDegree=degree))
        np.testing.assert_array_equal(got[..., 2], got[..., 0] + got[..., 1])
        moved = (got[..., :2] - image[..., :2])[8:-8, 8:-8].reshape(-1, 2)
        lowest = -(degree // 2)
        for axis in range(2):
            values, counts = np.unique(moved[:, axis], return_counts=True)
            np.testing.assert_array_equal(values, np.arange(lowest, lowest + degree))
            share = len(moved) / degree
            assert np.abs(counts - share).max() < 6 * np.sqrt(share)


def test_mask_and_seed() -> None:
    image = np.random.default_rng(2).integers(0, 255, (20, 30, 3), np.uint8)
    batch = ndd.batch([image, image], layout="HWC")
    mask = ndd.batch([np.int32(0), np.int32(1)])
    for operator in (ndd.sphere, ndd.water, ndd.jitter):
        kept, changed = operator(batch, mask=mask).tensors
        np.testing.assert_array_equal(np.asarray(kept), image)
        assert (np.asarray(changed) != image).any()
    first, second = (np.asarray(ndd.jitter(batch, rng=ndd.random.RNG(3)).tensors[0]) for _ in "ab")
    np.testing.assert_array_equal(first, second)


def test_wrong_arguments_are_refused() -> None:
    image = ndd.tensor(np.zeros((3, 4, 3), np.uint8), layout="HWC")
    with pytest.raises(
        ValueError, match="sphere: 'interp_type' must be INTERP_NN or INTERP_LINEAR"
    ):
        ndd.sphere(image, interp_type=3).evaluate()
    with pytest.raises(ValueError, match="jitter: 'nDegree' must be positive; got 0"):
        ndd.jitter(image, nDegree=0).evaluate()
