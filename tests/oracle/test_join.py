# SPDX-License-Identifier: Apache-2.0
"""Joined samples are what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Single
from support.oracle import assert_agree, assert_both_refuse

pytestmark = pytest.mark.oracle
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?")


def numbers(shape: tuple[int, ...], dtype: str = "u1") -> Array:
    return (np.arange(np.prod(shape)) % 100).astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", TYPES)
def test_joins(dtype: str) -> None:
    first = [numbers((2, 3), dtype), numbers((4, 3), dtype)]
    second = [numbers((1, 3), dtype), numbers((0, 3), dtype)]
    assert_agree("cat", first, second, layout="HW")
    assert_agree("cat", first, second, axis_name="H", layout="HW")
    assert_agree("cat", first, first, first, axis=-1)
    assert_agree("cat", first, Single(numbers((2, 3), dtype)))
    assert_agree("cat", first)
    for axis in range(-2, 3):
        assert_agree("stack", first, first, first, axis=axis)
        assert_agree("stack", first, first, axis=axis, axis_name="C", layout="HW")
    assert_agree("stack", first)


def test_joins_of_odd_inputs() -> None:
    empty = Single(np.zeros((0, 5), "u1"))
    assert_agree("cat", empty, Single(numbers((2, 3))))
    assert_agree("cat", Single(numbers((2, 3)), "HW"), empty)
    assert_agree("cat", empty)
    assert_agree("cat", Single(numbers((2, 3)), "HW"), Single(numbers((1, 3)), "AB"))
    assert_agree("cat", Single(numbers((2, 3))), Single(numbers((1, 3)), "AB"))
    assert_agree("stack", empty, empty)
    assert_agree("stack", Single(1), Single(2), axis_name="C")
    assert_agree("stack", Single(1), Single(2))


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("cat", {"axis": 2}),
        ("cat", {"axis": 1}),
        ("cat", {"axis_name": "X"}),
        ("cat", {"axis_name": "HW"}),
        ("cat", {"axis_name": "H", "axis": 1}),
        ("stack", {}),
        ("stack", {"axis": -3}),
        ("stack", {"axis": 3}),
    ],
)
def test_joins_both_refuse(operator: str, arguments: dict[str, Any]) -> None:
    parts = (Single(numbers((2, 3)), "HW"), Single(numbers((1, 3)), "HW"))
    assert_both_refuse(operator, *parts, **arguments)
    assert_both_refuse(operator, Single(numbers((2, 3), "u1")), Single(numbers((2, 3), "i1")))
