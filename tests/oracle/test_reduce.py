# SPDX-License-Identifier: Apache-2.0
"""Reductions give what the reference gives: integers exactly, float32 up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.compare import assert_close, assert_same
from support.libraries import Array, Each, Single, Type
from support.oracle import assert_agree, assert_both_refuse

pytestmark = pytest.mark.oracle

INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
SIMPLE = ("sum", "mean", "mean_square", "rms", "min", "max")
AXES: tuple[Any, ...] = (None, [0], [1], [-1], [0, 1], [0, 2], [1, 2], [2, 0, 1], [])


def values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, most: int) -> Array:
    if dtype == "float32":
        return (rng.normal(size=shape) + 2).astype(dtype)
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -most), min(limits.max, most)
    return rng.integers(low, high, shape, endpoint=True).astype(dtype)


def check(name: str, *inputs: Any, **arguments: Any) -> None:
    assert_agree(f"reductions.{name}", *inputs, check=near_sums, **arguments)


def near_sums(actual: Array, expected: Array, context: object) -> None:
    if expected.dtype.kind == "f":
        assert_close(actual, expected, "agreement of values", context)
    else:
        assert_same(actual, expected, context)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32"])
@pytest.mark.parametrize("name", SIMPLE)
def test_axes_and_types(name: str, dtype: str) -> None:
    rng = np.random.default_rng(3)
    # Squares of larger numbers overflow in the reference.
    samples = [values(rng, shape, dtype, 30000) for shape in ((4, 5, 3), (7, 2, 1), (1, 9, 4))]
    for axes in AXES:
        for keep in (False, True):
            check(name, samples, axes=axes, keep_dims=keep, layout="HWC")
    check(name, samples, axis_names="CH", layout="HWC")


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32"])
@pytest.mark.parametrize("name", ["sum", "mean", "mean_square", "max"])
def test_big_samples(name: str, dtype: str) -> None:
    rng = np.random.default_rng(4)
    sample = values(rng, (200, 300, 3), dtype, 1000)
    for axes in (None, [0], [1], [2], [0, 1], [1, 2], [0, 2]):
        check(name, [sample], axes=axes)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_types_of_results(dtype: str) -> None:
    rng = np.random.default_rng(5)
    small = [rng.integers(0, 4, (3, 4)).astype(dtype), rng.integers(0, 4, (2, 2)).astype(dtype)]
    wide = "u" * dtype.startswith("u") + "int64"
    for axes in (None, [0], [1]):
        for name, types in {
            "sum": {dtype, wide} | ({"float32"} if "64" not in dtype else set()),
            "mean": {dtype, "float32"},
            "mean_square": {wide, "float32"},
            "rms": {dtype, "float32"},
        }.items():
            for target in types:
                check(name, small, axes=axes, dtype=Type(target))
    large = [np.full(300, np.iinfo(dtype).max, dtype)]
    check("sum", large, dtype=Type(dtype))


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32"])
@pytest.mark.parametrize("name", ["variance", "std_dev"])
def test_deviations(name: str, dtype: str) -> None:
    rng = np.random.default_rng(6)
    samples = [values(rng, shape, dtype, 1000) for shape in ((4, 5, 3), (7, 2, 2), (2, 9, 4))]
    for axes in AXES:
        for keep in (False, True):
            chosen = tuple(range(3)) if axes is None else tuple(axes)
            means = [
                sample.mean(axis=chosen, keepdims=keep, dtype="f8").astype("f4")
                for sample in samples
            ]
            check(name, samples, means, axes=axes, keep_dims=keep, layout="HWC")
            check(name, samples, means, axes=axes, keep_dims=keep, ddof=1)
    check(name, samples, Single(np.float32(3.5)))
    check(name, Single(samples[0]), Each([np.float32(3.5), np.float32(-1)]))


def test_reductions_of_empty_arrays() -> None:
    empty = Single(np.zeros((0, 3), "f4"))
    for name in ("sum", "mean", "mean_square", "rms"):
        for axes in (None, [0], [1]):
            check(name, empty, axes=axes)
    for name in ("min", "max"):
        check(name, Single(np.zeros((0, 3), "i2")), axes=[0])
    for name in SIMPLE:
        check(name, Single(np.float32(5)))
        check(name, Single(np.float32(5)), axes=[], keep_dims=True)


@pytest.mark.parametrize(
    ("name", "dtype", "arguments"),
    [
        ("sum", "uint8", {"axes": [3]}),
        ("sum", "uint8", {"axes": [0, 0]}),
        ("sum", "uint8", {"axes": [0], "axis_names": "H"}),
        ("sum", "uint8", {"axis_names": "X"}),
        ("sum", "uint8", {"axis_names": "HH"}),
        ("sum", "float16", {}),
        ("max", "float64", {}),
        ("min", "bool", {}),
        ("sum", "uint8", {"dtype": Type("int64")}),
        ("mean", "uint8", {"dtype": Type("uint64")}),
        ("rms", "float32", {"dtype": Type("float64")}),
        ("sum", "int64", {"dtype": Type("float32")}),
    ],
)
def test_what_both_refuse(name: str, dtype: str, arguments: dict[str, Any]) -> None:
    assert_both_refuse(f"reductions.{name}", Single(np.zeros((2, 2, 3), dtype), "HWC"), **arguments)
