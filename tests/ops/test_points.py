# SPDX-License-Identifier: Apache-2.0
"""Points against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd
from support.compare import assert_close

numbers = st.floats(-10, 10, width=32)


@given(
    st.sampled_from([np.uint8, np.int16, np.uint16, np.int32, np.float32]),
    st.integers(1, 6),
    st.integers(1, 6),
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6),
    st.integers(0, 1000),
)
def test_coord_transform(
    kind: Any, components: int, rows: int, shape: tuple[int, ...], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 100, (*shape, components)).astype(kind)
    matrix = rng.normal(size=(rows, components)).astype(np.float32)
    offset = rng.normal(size=rows).astype(np.float32)
    expected = points.astype(np.float64) @ matrix.T.astype(np.float64) + offset
    if components * rows > 1:
        for given_matrix in (matrix, matrix.ravel().tolist()):
            result = ndd.coord_transform(points, M=given_matrix, T=offset)
            assert_close(result, expected, "points")
    combined = np.concatenate([matrix, offset[:, None]], axis=1)
    result = ndd.coord_transform(points, MT=combined)
    assert_close(result, expected, "points")
    double = ndd.coord_transform(points, M=2, T=1, dtype=ndd.dtype(np.dtype(kind)))
    np.testing.assert_array_equal(np.asarray(double), (points * 2 + 1).astype(kind))


def test_coord_transform_rounds_and_clamps() -> None:
    points = np.array([[10, 200]], np.uint8)
    result = ndd.coord_transform(points, M=[[0.25, 0], [0, 2]], T=[-10, 0], dtype=ndd.uint8)
    assert np.asarray(result).tolist() == [[0, 255]]
    many = np.arange(30000, dtype=np.float32).reshape(100, 100, 3)
    gray = ndd.coord_transform(ndd.tensor(many, layout="HWC"), M=[[0.5, 0.25, 0.25]])
    assert (gray.shape, gray.layout) == ((100, 100, 1), "HWC")
    assert_close(gray, many @ np.float32([[0.5], [0.25], [0.25]]), "one rounding")


def test_frames_of_points() -> None:
    points = ndd.tensor(np.ones((2, 3, 2), np.float32), layout="FNC")
    moved = ndd.coord_transform(points, T=ndd.per_frame(np.float32([[1, 2], [3, 4]])))
    np.testing.assert_array_equal(np.asarray(moved)[:, 0], [[2, 3], [4, 5]])
    single = ndd.tensor(np.ones((3, 2), np.float32), layout="NC")
    spread = ndd.coord_transform(single, T=ndd.per_frame(np.float32([1, 2, 3])))
    assert (spread.shape, spread.layout) == ((3, 3, 2), "FNC")


@given(st.integers(1, 3), st.integers(0, 4), st.data())
def test_coord_flip(ndim: int, count: int, data: Any) -> None:
    points = np.arange(count * ndim, dtype=np.float32).reshape(count, ndim)
    layout = "".join(data.draw(st.permutations("xyz"[:ndim])))
    flips = {letter: data.draw(st.booleans()) for letter in "xyz"}
    centers = {letter: data.draw(numbers) for letter in "xyz"}
    arguments: dict[str, Any] = {f"flip_{k}": int(v) for k, v in flips.items()}
    arguments |= {f"center_{k}": v for k, v in centers.items()}
    result = np.asarray(ndd.coord_flip(points, layout=layout, **arguments))
    for column, letter in enumerate(layout):
        mirrored = 2 * np.float32(centers[letter]) - points[:, column]
        expected = mirrored if flips[letter] else points[:, column]
        assert_close(result[:, column], expected, "float32")


POINTS = np.zeros((2, 2), np.float32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndd.coord_transform(POINTS[0]), "coord_transform: the input needs an axis of"),
        (lambda: ndd.coord_transform(POINTS, M=[1, 2, 3]), "'M' must be a matrix of 2 columns"),
        (lambda: ndd.coord_transform(POINTS, M=[], T=[1, 2]), "'M' must be a matrix of 2 columns"),
        (lambda: ndd.coord_transform(POINTS, T=[1, 2, 3]), "'T' needs 2 values"),
        (lambda: ndd.coord_transform(POINTS, M=1, MT=1), "'MT' excludes 'M' and 'T'"),
        (
            lambda: ndd.coord_transform(POINTS, dtype=ndd.int32),
            "'dtype' must be float32 or that of",
        ),
        (lambda: ndd.coord_transform(np.zeros((1, 7), "f4")), "points have 1 to 6 coordinates"),
        (lambda: ndd.coord_flip(POINTS, layout="xz"), "coord_flip: 'layout' must be 'xy'"),
        (lambda: ndd.coord_flip(POINTS[0]), "coord_flip: points must have the shape"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call().evaluate()
