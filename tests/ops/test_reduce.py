# SPDX-License-Identifier: Apache-2.0
"""Reductions against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd
from support.compare import assert_close, assert_same
from support.ramps import all_instruction_sets

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
TYPES = [*INTEGERS, "float32"]


def numpy_reduction(name: str, array: Any, axes: tuple[int, ...], keep: bool) -> Any:
    """The same in double precision."""
    wide = array.astype(np.float64)
    if name in ("min", "max"):
        return getattr(array, name)(axis=axes, keepdims=keep)
    if name == "sum":
        if array.dtype.kind == "f":
            return wide.sum(axis=axes, keepdims=keep).astype(np.float32)
        return array.sum(axis=axes, keepdims=keep, dtype=f"{array.dtype.kind}8")
    terms = wide if name == "mean" else wide**2
    mean = terms.mean(axis=axes, keepdims=keep)
    return (np.sqrt(mean) if name == "rms" else mean).astype(np.float32)


def assert_reduced(actual: Any, expected: Any, scale: float) -> None:
    """Equal up to rounding of float32, relative to the values that went in."""
    actual = np.asarray(actual)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if expected.dtype.kind == "f":
        assert_close(actual, expected, "sums", magnitude=scale)
    else:
        np.testing.assert_array_equal(actual, expected)


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype == "float32":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    bound = 2**20
    return rng.integers(
        max(limits.min, -bound), min(limits.max, bound), shape, endpoint=True
    ).astype(dtype)


@given(
    st.sampled_from(["sum", "mean", "mean_square", "rms", "min", "max"]),
    hnp.array_shapes(min_dims=1, max_dims=5, max_side=6),
    st.sampled_from(TYPES),
    st.booleans(),
    st.integers(0, 2**32 - 1),
    st.data(),
)
def test_reductions(
    name: str, shape: tuple[int, ...], dtype: str, keep: bool, seed: int, data: Any
) -> None:
    array = values(np.random.default_rng(seed), shape, dtype)
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
    given_axes = [axis - (len(shape) if data.draw(st.booleans()) else 0) for axis in axes]
    result = getattr(ndd.reductions, name)(array, axes=given_axes, keep_dims=keep)
    scale = float(np.abs(array.astype(np.float64)).max()) ** (2 if name == "mean_square" else 1)
    expected = numpy_reduction(name, array, tuple(axes), keep)
    assert_reduced(result, expected, scale * (array.size if name == "sum" else 1))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 1), (2,), (0,), (1,), (0, 2), (1, 2)])
@pytest.mark.parametrize("shape", [(211, 317, 3), (5, 40001, 2), (300, 2, 1200), (1, 270000, 1)])
def test_big_reductions(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> None:
    """Long enough to be cut into pieces, and into lanes of 32 bits that must not overflow."""
    array = values(np.random.default_rng(1), shape, dtype)
    scale = float(np.abs(array.astype(np.float64)).max())
    with ndd.EvalContext(num_threads=2):
        for name in ("sum", "mean", "mean_square", "max"):
            result = getattr(ndd.reductions, name)(array, axes=list(axes))
            expected = numpy_reduction(name, array, axes, False)
            whole = {"sum": array.size, "mean_square": scale}.get(name, 1)
            assert_reduced(result, expected, scale * whole)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "int8"])
def test_lanes_hold_the_largest_values(dtype: str) -> None:
    limits = np.iinfo(dtype)
    for value in (limits.max, limits.min):
        array = np.full((40000, 96), value, dtype)
        total = int(value) * array.size
        assert np.asarray(ndd.reductions.sum(array)).item() == total
        for columns in (1, 2, 3, 4, 12, 96, 1920):
            rows = array.size // columns
            sums = np.asarray(ndd.reductions.sum(array.reshape(rows, columns), axes=[0]))
            assert set(sums.tolist()) == {value * rows}
        square = np.asarray(ndd.reductions.mean_square(array)).item()
        assert_close(square, float(value) ** 2, "float32")


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("shape", [(1, 1003), (67, 1), (67, 3), (67, 4), (67, 5), (23, 1003)])
def test_sums_of_floats(shape: tuple[int, int]) -> None:
    """Each value takes part once, and sums that are too large for a float do no harm."""
    powers = np.exp2(np.arange(np.prod(shape)) % 24).astype(np.float32).reshape(shape)
    large = np.full(shape, 3e38, np.float32)
    large[1::2] *= -1
    large[:, 1::2] *= -1
    for array in (powers, large):
        for axes in ([0], [1], [0, 1]):
            with np.errstate(over="ignore"):
                expected = array.sum(axis=tuple(axes), dtype=np.float64).astype(np.float32)
            assert_same(ndd.reductions.sum(array, axes=axes), expected)


@given(
    hnp.array_shapes(min_dims=1, max_dims=4, max_side=6),
    st.sampled_from(TYPES),
    st.integers(0, 3),
    st.booleans(),
    st.data(),
)
def test_deviations(shape: tuple[int, ...], dtype: str, ddof: int, keep: bool, data: Any) -> None:
    array = values(np.random.default_rng(2), shape, dtype)
    axes = tuple(data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1)))
    mean = array.mean(axis=axes, keepdims=True, dtype=np.float64).astype(np.float32)
    count = np.prod([shape[axis] for axis in axes]) - ddof
    squares = ((array.astype(np.float64) - mean) ** 2).sum(axis=axes, keepdims=keep)
    if count <= 0:
        return
    given_mean = mean if keep else mean.squeeze(axes)
    arguments = {"axes": list(axes), "ddof": ddof, "keep_dims": keep}
    variance = ndd.reductions.variance(array, given_mean, **arguments)
    assert_close(variance, squares / count, "variance")
    deviation = ndd.reductions.std_dev(array, given_mean, **arguments)
    assert_close(deviation, np.sqrt(squares / count), "variance")


def test_one_mean_for_all() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = np.asarray(ndd.reductions.variance(array, 1, axes=[0]))
    assert_close(result, ((array - 1) ** 2).mean(axis=0), "one rounding")
    assert_same(ndd.reductions.std_dev(array, array, axes=[]), np.zeros((2, 3), np.float32))


def test_layout_of_the_remaining_axes() -> None:
    image = ndd.zeros(shape=[4, 5, 3], layout="HWC")
    assert ndd.reductions.sum(image, axis_names="HW").layout == "C"
    assert ndd.reductions.sum(image, axis_names="CH").layout == "W"
    assert ndd.reductions.sum(image, axes=[0], keep_dims=True).layout == "HWC"
    assert ndd.reductions.sum(image).layout is None
    assert ndd.reductions.max(image, axes=[]).shape == (4, 5, 3)


def test_types_of_results() -> None:
    bytes_ = np.array([200, 100], np.uint8)
    assert ndd.reductions.sum(bytes_).dtype == ndd.uint64
    assert np.asarray(ndd.reductions.sum(bytes_, dtype=ndd.uint8)).item() == 300 % 256
    assert np.asarray(ndd.reductions.sum(bytes_, dtype=ndd.float32)).item() == 300.0
    assert np.asarray(ndd.reductions.mean(bytes_, dtype=ndd.uint8)).item() == 150
    assert np.asarray(ndd.reductions.rms(bytes_, dtype=ndd.uint8)).item() == 158
    assert np.asarray(ndd.reductions.mean(np.array([-1, -2], np.int8), dtype=ndd.int8)).item() == -1
    words = np.array([65535, 65535], np.uint16)
    assert np.asarray(ndd.reductions.mean_square(words)).item() == np.float32(65535.0**2)


def test_nothing_infinities_and_nan() -> None:
    empty = np.zeros((0, 2), np.float32)
    assert np.asarray(ndd.reductions.sum(empty, axes=[0])).tolist() == [0, 0]
    assert np.isnan(np.asarray(ndd.reductions.mean(empty, axes=[0]))).all()
    assert ndd.reductions.sum(empty, axes=[1]).shape == (0,)
    assert np.asarray(ndd.reductions.max(np.zeros((0, 1), np.uint8), axes=[0])).tolist() == [0]
    odd = np.array([-np.inf, np.nan], np.float32)
    assert np.asarray(ndd.reductions.max(odd)).item() == -np.inf
    assert np.asarray(ndd.reductions.min(np.array([np.nan, 3], np.float32))).item() == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: ndd.reductions.sum(x, axes=[2]),
            r"reductions.sum: 'axes' must lie in",
        ),
        (
            lambda x: ndd.reductions.sum(x, axes=[0, 0]),
            "reductions.sum: 'axes' must name each",
        ),
        (lambda x: ndd.reductions.sum(x, axis_names="X"), "reductions.sum: 'axis_names' must name"),
        (
            lambda x: ndd.reductions.mean(x, dtype=ndd.int64),
            "reductions.mean: 'dtype' must be uint8 or float32 for an input of type uint8; "
            "got int64",
        ),
        (
            lambda x: ndd.reductions.max(ndd.cast(x, dtype=ndd.float16)),
            "reductions.max: the type float16 is not supported",
        ),
        (
            lambda x: ndd.reductions.variance(x, [1.0, 2.0, 3.0, 4.0], axes=[0]),
            r"reductions.variance: the mean must be one number, or one for each of the 3 results",
        ),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        call(np.zeros((2, 3), np.uint8)).evaluate()
