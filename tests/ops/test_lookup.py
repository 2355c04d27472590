# SPDX-License-Identifier: Apache-2.0
"""Tables against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_same
from support.ramps import all_instruction_sets, make_image, raises, run
from support.reference.color import to_type

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
TYPES = [*INTEGERS, "float16", "float32", "float64"]


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", TYPES)
def test_lookup_table(source: str, target: str) -> None:
    rng = np.random.default_rng(1)
    limits = np.iinfo(source)
    data = rng.integers(max(limits.min, -50), min(limits.max, 400), (30, 40), source)
    data.flat[:2] = [limits.min, limits.max]
    table = {int(key): float(rng.uniform(-300, 300)) for key in rng.integers(0, 300, 100)}
    values = np.array([table.get(int(key), 7.25) for key in data.flat], np.float32)
    actual = run(
        "lookup_table",
        data,
        keys=list(table),
        values=list(table.values()),
        default_value=7.25,
        dtype=np.dtype(target),
    )
    assert_same(actual, to_type(values.reshape(data.shape), target))


def test_lookup_table_defaults_and_repeated_keys() -> None:
    data = np.array([0, 5, 65535, 65536, -1], np.int32)
    assert_same(run("lookup_table", data), np.zeros(5, np.float32))
    actual = run("lookup_table", data, keys=[5, 65535, 5], values=[1, 2, 3], output_dtype=ndd.int16)
    assert_same(actual, np.array([0, 3, 2, 0, 0], np.int16))


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
def test_lookup_table_of_large_arrays() -> None:
    """Beyond the size from which results bypass the caches."""
    data = np.random.default_rng(2).integers(0, 256, (3, 1201, 1603), np.uint8)
    for dtype in (ndd.uint8, ndd.float32):
        actual = run("lookup_table", data, keys=range(256), values=range(255, -1, -1), dtype=dtype)
        assert_same(actual, (255 - data).astype(actual.dtype))


def test_lookup_table_keeps_the_layout() -> None:
    image = ndd.tensor(make_image((4, 5, 3)), layout="HWC")
    assert ndd.lookup_table(image).layout == "HWC"


def test_lookup_table_errors() -> None:
    image = make_image((2, 2))
    with raises("lookup_table: 'keys' and 'values' must be equally long; got 2 and 1"):
        run("lookup_table", image, keys=[1, 2], values=[3])
    for key in (-1, 65536):
        with raises(f"lookup_table: 'keys' must be from 0 to 65535; got {key}"):
            run("lookup_table", image, keys=[1, key], values=[3, 4])
    with raises("lookup_table: the type float32 is not supported"):
        run("lookup_table", image.astype(np.float32))
