# SPDX-License-Identifier: Apache-2.0
"""Arrays of constants and one-hot vectors are those of the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Each, Passed, Single, Type
from support.oracle import assert_agree, assert_both_refuse

pytestmark = pytest.mark.oracle

NAMES = (
    *("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "bool"),
)


@pytest.mark.parametrize("dtype", NAMES)
def test_full(dtype: str) -> None:
    for values, shape in (
        (np.array(1), []),
        (np.array(1), [3, 2]),
        (np.array([0, 1, 1]), [2, 3]),
        (np.array([[0], [1]]), [2, 3]),
        (np.arange(6).reshape(2, 1, 3), [2, 4, 3]),
        (np.arange(4).reshape(1, 2, 2), [3, 2, 2]),
    ):
        assert_agree("full", Single(values.astype(dtype)), shape=shape)
    assert_agree("full", Single(np.array(1, dtype)), shape=[2, 2], layout=Passed("HW"))
    assert_agree("full", [np.array(k, dtype) for k in (0, 1)], shape=Each([[1], [2]]))
    assert_agree("full", Single(np.array(1, dtype)), shape=[2], batch_size=3)
    assert_agree("full_like", [np.zeros((2, 3), dtype), np.zeros((1, 3), dtype)], Single(1.6))
    assert_agree("full_like", Single(np.zeros((2, 3), dtype), "HW"), Single([[300.4], [-2.5]]))


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize(("name", "like"), [("zeros", "zeros_like"), ("ones", "ones_like")])
def test_zeros_and_ones(name: str, like: str, dtype: str) -> None:
    for arguments in (
        {},
        {"shape": [2, 3], "layout": Passed("AB")},
        {"shape": [0], "batch_size": 2},
        {"shape": Each([[1, 2], [3, 0]])},
    ):
        assert_agree(name, dtype=Type(dtype), **arguments)
    samples = [np.full((2, 1), 7, dtype), np.full((3, 2), 7, dtype)]
    assert_agree(like, samples, layout="XY")
    assert_agree(like, samples, dtype=Type("float16"))


@pytest.mark.parametrize("dtype", [name for name in NAMES if name not in ("float16", "bool")])
def test_one_hot(dtype: str) -> None:
    labels = np.array([[1, 0, 2], [5, 3, 2]], dtype)
    for arguments in (
        {},
        {"axis": 0},
        {"axis": 1},
        {"axis": -1, "axis_name": "C"},
        {"on_value": 2.7, "off_value": 1.2, "dtype": Type(dtype)},
        {"axis": 0, "dtype": Type("int8"), "on_value": -3, "off_value": 7},
    ):
        for layout in ("AB",) if "axis_name" in arguments else ("AB", None):
            assert_agree("one_hot", [labels, labels[:1]], num_classes=4, layout=layout, **arguments)
    for single in (labels[0, 0], labels[:1, :1], labels[0, :1]):
        assert_agree("one_hot", [single], num_classes=3)
        assert_agree("one_hot", [single], num_classes=3, axis_name="C")
        assert_agree("one_hot", [single], num_classes=3, axis=0)


def test_one_hot_of_odd_values() -> None:
    assert_agree("one_hot", Single(np.array([1.0, 2.4, 2.6, -0.5, -1, 3], "f4")), num_classes=3)
    assert_agree("one_hot", Single(np.array([1, 2])), num_classes=0)
    assert_agree("one_hot", Single(np.zeros((0, 2), "i4")), num_classes=2)
    arguments: dict[str, Any] = {"num_classes": 2, "on_value": 300, "off_value": -2.6}
    assert_agree("one_hot", Single(np.array([1, 0])), dtype=Type("uint8"), **arguments)


@pytest.mark.parametrize(
    ("operator", "inputs", "arguments"),
    [
        ("full", (Single([1, 2, 3]),), {"shape": [2, 2]}),
        ("full", (Single(5),), {"shape": [2, 2], "layout": Passed("H")}),
        ("full", (Single(5),), {"shape": [-1]}),
        ("full_like", (Single([1, 2]), Single([1, 2, 3])), {}),
        ("zeros", (), {"shape": [-2]}),
        ("ones", (), {"shape": [2], "layout": Passed("AB")}),
        ("one_hot", (Single([1, 2]),), {"axis": 2}),
        ("one_hot", (Single([1, 2]),), {"axis": -2}),
        ("one_hot", (Single([1, 2]),), {"axis_name": "C"}),
        ("one_hot", (Single([1, 2]),), {"axis_name": "CD"}),
        ("one_hot", (Single([True]),), {}),
        ("one_hot", (Single([1, 2]),), {"dtype": Type("float16")}),
    ],
)
def test_what_both_refuse(
    operator: str, inputs: tuple[Any, ...], arguments: dict[str, Any]
) -> None:
    assert_both_refuse(operator, *inputs, **arguments)
