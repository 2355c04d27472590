# SPDX-License-Identifier: Apache-2.0
"""Affine transformations against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd
from daliesque import transforms
from support.compare import assert_close

numbers = st.floats(-10, 10, width=32)


def vectors(ndim: int) -> Any:
    return hnp.arrays(np.float32, ndim, elements=numbers)


def square(matrix: Any) -> Any:
    """With the last row that all affine transformations share."""
    matrix = np.asarray(matrix, np.float64)
    return np.vstack([matrix, np.eye(len(matrix) + 1)[-1]])


def moved_to(center: Any, linear: Any) -> Any:
    """A linear map around another fixed point, as a square matrix."""
    ndim = len(linear)
    matrix = np.eye(ndim + 1)
    matrix[:ndim, :ndim] = linear
    matrix[:ndim, ndim] = center - linear @ center
    return matrix


def assert_matrix(result: Any, expected: Any) -> None:
    result = np.asarray(result)
    assert result.dtype == np.float32
    assert_close(result, expected[:-1], "matrices")


@given(st.data(), st.integers(1, 6))
def test_translation_and_scale(data: Any, ndim: int) -> None:
    offset, factors, center = (data.draw(vectors(ndim)) for _ in range(3))
    matrix = np.eye(ndim + 1)
    matrix[:ndim, ndim] = offset
    assert_matrix(transforms.translation(offset=offset), matrix)
    expected = moved_to(center.astype(float), np.diag(factors.astype(float)))
    assert_matrix(transforms.scale(scale=factors, center=center), expected)
    assert_matrix(transforms.scale(scale=2, ndim=ndim), moved_to(np.zeros(ndim), 2 * np.eye(ndim)))


@given(st.floats(-500, 500, width=32), vectors(2))
def test_rotation_of_the_plane(angle: float, center: Any) -> None:
    radians = np.deg2rad(angle)
    linear = np.array([[np.cos(radians), -np.sin(radians)], [np.sin(radians), np.cos(radians)]])
    assert_matrix(transforms.rotation(angle=angle, center=center), moved_to(center, linear))


@given(st.floats(-500, 500, width=32), vectors(3), vectors(3))
def test_rotation_of_space(angle: float, axis: Any, center: Any) -> None:
    """The formula of Rodrigues."""
    length = np.linalg.norm(axis)
    if length < 1e-3:
        return
    u, v, w = axis / length
    cross = np.array([[0, -w, v], [w, 0, -u], [-v, u, 0]])
    radians = np.deg2rad(angle)
    linear = np.eye(3) + np.sin(radians) * cross + (1 - np.cos(radians)) * cross @ cross
    result = transforms.rotation(angle=angle, axis=axis, center=center)
    assert_close(result, moved_to(center, linear)[:-1], "rotations of space")


@given(vectors(2), vectors(6), vectors(2), vectors(3))
def test_shear(two: Any, six: Any, center: Any, center_3d: Any) -> None:
    plane = np.array([[1, two[0]], [two[1], 1]], float)
    assert_matrix(transforms.shear(shear=two, center=center), moved_to(center, plane))
    xy, xz, yx, yz, zx, zy = six
    space = np.array([[1, xy, xz], [yx, 1, yz], [zx, zy, 1]], float)
    for given_as in (six, six.reshape(3, 2)):
        result = transforms.shear(shear=given_as, center=center_3d)
        assert_close(result, moved_to(center_3d, space)[:-1], "points")
    angles = transforms.shear(angles=[45, -45])
    assert_close(angles, [[1, 1, 0], [-1, 1, 0]], "unit values")


@given(st.data(), st.integers(1, 6))
def test_crop_maps_corners(data: Any, ndim: int) -> None:
    start, to_start, to_end = (data.draw(vectors(ndim)) for _ in range(3))
    end = start + data.draw(hnp.arrays(np.float32, ndim, elements=st.floats(1, 5, width=32)))
    arguments = {"from_start": start, "from_end": end, "to_start": to_start, "to_end": to_end}
    matrix = square(transforms.crop(**arguments))
    for source, target in ((start, to_start), (end, to_end)):
        mapped = matrix @ np.append(source, 1)
        assert_close(mapped[:-1], target, "corners")
    ordered = square(transforms.crop(absolute=True, **arguments))
    assert (np.diag(ordered) >= 0).all()


@given(st.integers(1, 6), st.integers(2, 4), st.booleans(), st.integers(0, 1000))
def test_combine(ndim: int, count: int, reverse: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(ndim, ndim + 1)).astype(np.float32) for _ in range(count)]
    expected = np.eye(ndim + 1)
    for part in parts[::-1] if reverse else parts:
        expected = square(part) @ expected
    assert_matrix(transforms.combine(*parts, reverse_order=reverse), expected)
    offset = rng.normal(size=ndim).astype(np.float32)
    move = square(transforms.translation(offset=offset))
    after = transforms.translation(parts[0], offset=offset)
    assert_matrix(after, move @ square(parts[0]))
    before = transforms.translation(parts[0], offset=offset, reverse_order=True)
    assert_matrix(before, square(parts[0]) @ move)


def test_batches_and_frames() -> None:
    batch = transforms.rotation(angle=ndd.batch(np.float32([0, 90])), center=[1, 1])
    assert (batch.shape, batch.layout) == ([(2, 3), (2, 3)], "**")
    assert transforms.scale(scale=[1, 2, 3], batch_size=4).shape == [(3, 4)] * 4
    offsets = np.arange(6, dtype=np.float32).reshape(3, 2)
    frames = transforms.translation(offset=ndd.per_frame(offsets))
    assert (frames.shape, frames.layout) == ((3, 2, 3), "F**")
    np.testing.assert_array_equal(np.asarray(frames)[:, :, 2], offsets)
    more = transforms.combine(np.eye(2, 3, dtype=np.float32), frames, frames)
    np.testing.assert_array_equal(np.asarray(more)[:, :, 2], 2 * offsets)
    ragged = ndd.per_frame(ndd.batch([offsets, offsets[:1]]))
    both = transforms.rotation(transforms.translation(offset=ragged), angle=ndd.batch([0.0, 90.0]))
    assert both.shape == [(3, 2, 3), (1, 2, 3)]


POINTS = np.zeros((2, 2), np.float32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: transforms.translation(offset=[1] * 7), "transforms.translation: .* ask for 7"),
        (lambda: transforms.translation(offset=[]), "transforms.translation: .* ask for 0"),
        (
            lambda: transforms.translation(POINTS, offset=[1, 2]),
            r"transforms.translation: the input must be matrices of one shape \(n, n \+ 1\)",
        ),
        (
            lambda: transforms.translation(np.eye(2, 3), offset=[1, 2, 3]),
            "transforms.translation: the input has 2 dimensions, but the arguments ask for 3",
        ),
        (lambda: transforms.scale(scale=[1, 2], center=[1, 2, 3]), "'center' needs 2 values"),
        (lambda: transforms.rotation(angle=1, axis=[1, 2]), "transforms.rotation: 'axis' needs 3"),
        (lambda: transforms.rotation(angle=1, axis=[0, 0, 0]), "'axis' must not have the length 0"),
        (lambda: transforms.shear(), "transforms.shear: takes either 'shear' or 'angles'"),
        (lambda: transforms.shear(shear=[1, 2, 3]), "'shear' needs 2 values, or 6"),
        (lambda: transforms.shear(angles=[91, 0]), r"'angles' must lie in \[-90, 90\]; got 91"),
        (lambda: transforms.crop(from_start=[1, 2], to_end=[1, 2, 3]), "'from_start' needs 3"),
        (
            lambda: transforms.combine(np.eye(2, 3), np.eye(3, 4)),
            "transforms.combine: all transformations must have one shape",
        ),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call().evaluate()
