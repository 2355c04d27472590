# SPDX-License-Identifier: Apache-2.0
"""Comparisons with the reference; tests that import this are skipped where it is not installed."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import daliesque as ours
from support.compare import Check, alike, assert_same
from support.libraries import Result, call, call_all

reference: ModuleType = pytest.importorskip("nvidia.dali.experimental.dynamic")


def call_both(operator: str, *inputs: Any, **arguments: Any) -> tuple[Result, Result]:
    """The reference's result and ours."""
    expected = call(reference, operator, inputs, **arguments)
    return expected, call(ours, operator, inputs, **arguments)


def assert_agree(operator: str, *inputs: Any, check: Check = assert_same, **arguments: Any) -> None:
    """Both libraries make the same layouts, types and, by `check`, the same arrays."""
    wanted = call_all(reference, operator, inputs, **arguments)
    results = call_all(ours, operator, inputs, **arguments)
    assert len(results) == len(wanted)
    for output, (got, expected) in enumerate(zip(results, wanted, strict=True)):
        assert (got.layout, got.dtype) == (expected.layout, expected.dtype)
        assert len(got.arrays) == len(expected.arrays)
        for index, (found, theirs) in enumerate(zip(got.arrays, expected.arrays, strict=True)):
            check(found, theirs, (operator, arguments, output, index))


def assert_nearly_agree(
    operator: str, *inputs: Any, tolerance: str = "agreement", **arguments: Any
) -> None:
    """As assert_agree, with a tolerance for floating-point numbers; integers may differ by 1."""
    assert_agree(operator, *inputs, check=alike(tolerance), **arguments)


def assert_both_refuse(operator: str, *inputs: Any, **arguments: Any) -> None:
    """Both libraries raise an error; ours is of the class that a wrong call deserves."""
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError)):
        call_all(reference, operator, inputs, **arguments)
    name = operator.rpartition(".")[2]
    with pytest.raises((ValueError, TypeError, RuntimeError), match=name):
        call_all(ours, operator, inputs, **arguments)
