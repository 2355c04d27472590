# SPDX-License-Identifier: Apache-2.0
"""normalize against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close
from support.reference import moves as reference


def make_samples(dtype: str) -> list[Any]:
    rng = np.random.default_rng(5)
    return [(rng.uniform(0, 120, (h, w, 3))).astype(dtype) for h, w in ((40, 50), (30, 50))]


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 1), (0,), (0, 2)])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4", "f8", "i8"])
def test_statistics_of_the_input(dtype: str, axes: tuple[int, ...], batch: bool) -> None:
    samples = make_samples(dtype)
    out = ndd.normalize(ndd.as_batch(samples), axes=axes, batch=batch, ddof=1, epsilon=0.5)
    for got, expected in zip(
        out.tensors, reference.normalize(samples, axes, batch, 1, 0.5), strict=True
    ):
        assert_close(got, expected, "statistics")


@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 1), (1,), (0,), (2,), (1, 2)])
def test_big_images(axes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(6)
    image = rng.integers(0, 256, (400, 700, 3), np.uint8)
    out = ndd.normalize(ndd.as_tensor(image), axes=axes, epsilon=1.0)
    (expected,) = reference.normalize([image], axes, epsilon=1.0)
    assert_close(out, expected, "statistics of large images")


def test_given_statistics() -> None:
    (image, _) = make_samples("u1")
    mean, stddev = np.float32([[[1, 2, 3]]]), np.float32([[[4, 5, 0]]])
    out = ndd.normalize(ndd.as_tensor(image), mean=mean, stddev=stddev)
    expected = (image - mean) / np.where(stddev == 0, np.inf, stddev)
    assert_close(out, expected, "float32")
    numbers = ndd.normalize(ndd.as_tensor(image), mean=10.0, stddev=4.0, scale=2.0, shift=1.0)
    assert_close(numbers, (image - 10.0) / 2 + 1, "float32")


def test_a_given_mean_says_which_axes_are_reduced() -> None:
    (image, _) = make_samples("f4")
    mean = np.float32([[[50, 60, 70]]])
    out = ndd.normalize(ndd.as_tensor(image), mean=mean)
    deviation = np.sqrt(((image - mean) ** 2).mean((0, 1), keepdims=True))
    assert_close(out, (image - mean) / deviation, "normalized")
    number = ndd.normalize(ndd.as_tensor(image), mean=50.0, axes=[0, 1])
    spread = np.sqrt(((image - 50.0) ** 2).mean((0, 1), keepdims=True))
    assert_close(number, (image - 50.0) / spread, "normalized")


def test_a_mean_for_each_sample() -> None:
    samples = [np.ones((2, 4), np.float32), np.ones((2, 3), np.float32)]
    means = [np.full((1, 4), 0.5, np.float32), np.full((1, 3), 3.0, np.float32)]
    out = ndd.normalize(ndd.as_batch(samples), mean=ndd.as_batch(means), stddev=2.0)
    for got, sample, mean in zip(out.tensors, samples, means, strict=True):
        np.testing.assert_array_equal(np.asarray(got), (sample - mean) / 2)


def test_constant_input_becomes_shift() -> None:
    out = ndd.normalize(ndd.as_tensor(np.full((3, 4), 7, np.uint8)), shift=5.0)
    assert (np.asarray(out) == 5).all()


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "u2", "i4"])
def test_integer_results_are_rounded_and_clamped(dtype: str) -> None:
    values = np.float32([-300.5, -2.5, -0.5, 0.5, 1.49, 2.5, 127.5, 70000.0])
    out = ndd.normalize(
        ndd.as_tensor(values), mean=0.0, stddev=1.0, dtype=ndd.dtype(np.dtype(dtype))
    )
    np.testing.assert_array_equal(np.asarray(out), reference.convert(values, dtype))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axes": []}, "normalize: 'axes' must name at least one axis"),
        ({"axes": [3]}, r"'axes' must lie in \[-3, 2\]"),
        ({"axes": [1, 1]}, "name each axis once"),
        ({"axes": [1], "axis_names": "W"}, "exclude each other"),
        ({"axis_names": "D"}, "got 'D' for 'HWC'"),
        ({"mean": [1.0, 2.0]}, "'mean' must be a number or an array with 3 axes"),
        ({"mean": np.ones((1, 1, 2))}, r"'mean' must have the shape \(1, 1, 3\)"),
        ({"mean": np.ones((1, 1, 3)), "axes": [2]}, r"'mean' must have the shape \(40, 50, 1\)"),
        ({"batch": True, "axes": [1]}, r"same extents.*\(sample 1\)"),
        ({"epsilon": -1.0}, "'epsilon' must not be negative"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with ndd.EvalMode.sync_cpu, pytest.raises(ValueError, match=message):
        ndd.normalize(ndd.as_batch(make_samples("u1"), layout="HWC"), **arguments)
