# SPDX-License-Identifier: Apache-2.0
"""Conversion between element types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_same
from support.reference.arithmetic import TYPES, is_float
from support.reference.arithmetic import cast as reference_cast

EDGES = [
    *(0.0, -0.0, 0.4, 0.49999997, 0.5, 0.50000006, -0.4, -0.5, -0.6, 1.5, 2.5, -1.5, -2.5),
    *(127.4, 127.5, 128, -128.4, -128.5, -129, 254.5, 255.5, 256, -1, 32767.5, 65535.5),
    *(65504, 65519, 65520, 65536, 2147483520, 2147483647, 2147483648, -2147483648, -2147483904),
    *(4294967040, 4294967295, 4294967296, 9.2233715e18, 2.0**63, 1.8446743e19, 2.0**64, 1e30),
    *(-1e30, 1e300, np.inf, -np.inf, np.nan, 2.0**-24, 2.0**-25, 2.0**-26, 3 * 2.0**-25),
    *(1.00048828125, 1.00146484375, 2049, 2051, 1.00390625, 1.01171875),
]


def values_of(dtype: np.dtype[Any]) -> Any:
    rng = np.random.default_rng(5)
    if dtype.kind == "b":
        return rng.integers(0, 2, 100) == 1
    if is_float(dtype):
        scale = rng.choice([1, 100, 1e4, 1e6, 1e10, 1e-5], 500)
        with np.errstate(over="ignore"):
            return np.concatenate([EDGES, rng.normal(size=500) * scale]).astype(dtype)
    limits = np.iinfo(dtype)
    powers = [
        sign * 2**p + d
        for p in (7, 8, 15, 16, 24, 31, 32, 53, 63)
        for d in (-1, 0, 1)
        for sign in (1, -1)
    ]
    edges = [v for v in (*powers, limits.min, limits.max, 0, 1) if limits.min <= v <= limits.max]
    anything = rng.integers(limits.min, limits.max, 300, dtype=dtype, endpoint=True)
    return np.concatenate([np.array(edges, dtype), anything])


@pytest.mark.parametrize("source", TYPES, ids=str)
@pytest.mark.usefixtures("instruction_set")
def test_all_pairs_of_types(source: np.dtype[Any]) -> None:
    values = values_of(source)
    for target in TYPES:
        result = ndd.cast(ndd.as_tensor(values), dtype=ndd.dtype(target))
        assert_same(np.asarray(result), reference_cast(values, target), (source, target))


def test_rounding_and_clamping() -> None:
    values = ndd.tensor([-1.0, 0.5, 1.5, 2.5, 254.5, 300.0, float("nan")])
    assert np.asarray(ndd.cast(values, dtype=ndd.uint8)).tolist() == [0, 1, 2, 3, 255, 255, 0]
    assert np.asarray(ndd.cast(values, dtype=ndd.bool)).tolist() == [True] * 7
    assert np.asarray(ndd.cast([0.4, -0.4, 0.6], dtype=ndd.bool)).tolist() == [False, False, True]


def test_float16_rounds_ties_away_from_zero() -> None:
    values = ndd.tensor([2049.0, -2049.0, 2051.0, 65519.0, 65520.0])
    result = np.asarray(ndd.cast(values, dtype=ndd.float16))
    assert result.tolist() == [2050.0, -2050.0, 2052.0, 65504.0, float("inf")]


def test_large_batches() -> None:
    rng = np.random.default_rng(6)
    # The results exceed the caches, and samples start anywhere within a cache line.
    images = [rng.integers(0, 256, (n, 3001, 3), np.uint8) for n in (701, 1, 1003)]
    for target in (np.float32, np.float16, np.int16):
        result = ndd.cast(ndd.batch(images), dtype=ndd.dtype(target))
        for sample, image in zip(result.tensors, images, strict=True):
            assert_same(np.asarray(sample), image.astype(target))


def test_layout_and_shape_stay() -> None:
    image = ndd.tensor(np.zeros((2, 3, 3), np.uint8), layout="HWC")
    result = ndd.cast(image, dtype=ndd.float32)
    assert (result.layout, result.shape) == ("HWC", (2, 3, 3))
    empty = ndd.cast(ndd.tensor(np.zeros((0, 3), np.uint8)), dtype=ndd.float32)
    assert empty.shape == (0, 3)


def test_enums_convert_to_and_from_integers_only() -> None:
    kinds = ndd.cast(ndd.tensor([1, 2]), dtype=ndd.InterpType)
    assert kinds.dtype == ndd.InterpType
    assert np.asarray(ndd.cast(kinds, dtype=ndd.uint8)).tolist() == [1, 2]
    with pytest.raises((TypeError, ValueError), match="enum types"):
        ndd.cast(kinds, dtype=ndd.float32).evaluate()
    with pytest.raises((TypeError, ValueError), match="enum types"):
        ndd.cast(ndd.tensor([1.0]), dtype=ndd.DataType).evaluate()
