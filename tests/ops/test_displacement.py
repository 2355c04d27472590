# SPDX-License-Identifier: Apache-2.0
"""sphere, water and jitter against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from support.compare import assert_close
from support.reference.sampling import sampled

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


def noise(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(9).integers(0, 256, shape, np.uint8)


@pytest.mark.parametrize("fill", [None, 31.0])
def test_elastic_transform_with_a_flow(fill: float | None) -> None:
    image = noise((30, 40, 3))
    flow = np.random.default_rng(2).normal(0, 4, (30, 40, 2)).astype(np.float32)
    y, x = np.mgrid[:30, :40]
    expected = sampled(image, [y + flow[..., 1], x + flow[..., 0]], fill)
    found = np.asarray(ndd.elastic_transform(image, flow, fill_value=fill))
    assert_close(found, expected, "warped integers")


def test_elastic_transform_draws_smooth_flows() -> None:
    """An image whose values are its own coordinates shows the displacements."""
    y, x = np.mgrid[:64, :80].astype(np.float32)
    image = np.stack([x, y], axis=2)
    images = ndd.batch([image, image], layout="HWC")
    made = ndd.elastic_transform(images, alpha=20, sigma=4, rng=ndd.random.RNG(3))
    flows = [np.asarray(sample)[8:-8, 8:-8] - image[8:-8, 8:-8] for sample in made.tensors]
    assert np.abs(flows[0] - flows[1]).max() > 0.1
    for flow in flows:
        # Noise of variance 1/3, averaged over a Gaussian window: 20 * sqrt(1/3 / (4 pi 16)).
        assert 0.4 < flow.std() < 1.6
        assert np.abs(np.diff(flow, axis=0)).max() < np.abs(flow).max() / 2
    again = ndd.elastic_transform(images, alpha=20, sigma=4, rng=ndd.random.RNG(3))
    assert (np.asarray(again) == np.asarray(made)).all()


def test_elastic_transform_of_sequences_shares_the_flow() -> None:
    clip = np.repeat(noise((1, 20, 24, 3)), 3, axis=0)
    made = np.asarray(ndd.elastic_transform(ndd.tensor(clip, layout="FHWC"), sigma=2.0))
    assert (made == made[:1]).all()
    assert (made != clip).any()


def grid_positions(nodes: Array, height: int, width: int) -> list[Array]:
    """Where the pixels between nodes come from, along each axis by np.interp."""
    rows, columns = nodes.shape[:2]
    v = np.clip((np.arange(height) + 0.5) * (rows - 1) / height, 0, rows - 1)
    u = np.clip((np.arange(width) + 0.5) * (columns - 1) / width, 0, columns - 1)
    found = []
    for axis in (1, 0):
        across = np.stack([np.interp(u, np.arange(columns), row) for row in nodes[..., axis]])
        down = [np.interp(v, np.arange(rows), across[:, k]) for k in range(width)]
        found.append(np.stack(down, axis=1) - 0.5)
    return found


def test_grid_distortion_with_nodes() -> None:
    image = noise((33, 47, 3))
    rng = np.random.default_rng(6)
    y, x = np.meshgrid(np.linspace(0, 33, 4), np.linspace(0, 47, 6), indexing="ij")
    nodes = np.stack([x, y], axis=2) + rng.normal(0, 3, (4, 6, 2))
    expected = sampled(image, grid_positions(nodes, 33, 47), 5.0)
    found = np.asarray(ndd.grid_distortion(image, nodes.astype(np.float32), fill_value=5))
    assert_close(found, expected, "warped integers")


def test_grid_distortion_draws_cells_within_limits() -> None:
    y, x = np.mgrid[:50, :60].astype(np.float32) + 0.5
    images = ndd.batch([np.stack([x, y], axis=2)] * 2, layout="HWC")
    made = ndd.grid_distortion(images, num_steps=5, distort_limit=0.4)
    first, second = (np.asarray(sample) for sample in made.tensors)
    assert (first != second).any()
    for seen in (first, second):
        steps = np.diff(seen[25, 1:-1, 0])
        # Cells keep their order, and shrink or grow by 1.4 / 0.6 at most.
        assert steps.min() > 0.6 / 1.4 - 0.01
        assert steps.max() < 1.4 / 0.6 + 0.01
        assert np.ptp(seen[:, 30, 0]) < 1e-3
    same = ndd.grid_distortion(images, distort_limit=0.0)
    assert_close(np.asarray(same.tensors[0]), np.stack([x, y], axis=2), "small values")


def test_errors_of_flows_and_grids() -> None:
    image = noise((6, 8, 3))
    with pytest.raises(ValueError, match=r"'flow' needs the shape \(6, 8, 2\); got \(6, 8, 3\)"):
        ndd.elastic_transform(image, image.astype(np.float32)).evaluate()
    with pytest.raises(ValueError, match="'sigma' must be positive; got 0"):
        ndd.elastic_transform(image, sigma=0).evaluate()
    with pytest.raises(ValueError, match=r"'nodes' needs the shape \(rows, columns, 2\)"):
        ndd.grid_distortion(image, np.zeros((1, 5, 2), np.float32)).evaluate()
    with pytest.raises(ValueError, match="'num_steps' must be between 1 and 1024; got 0"):
        ndd.grid_distortion(image, num_steps=0).evaluate()
    with pytest.raises(ValueError, match="'distort_limit' must be at least 0 and less than 1"):
        ndd.grid_distortion(image, distort_limit=1).evaluate()
