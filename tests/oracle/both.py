# SPDX-License-Identifier: Apache-2.0
"""Calls the reference and daliesque with the same arguments."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ours

reference: ModuleType = pytest.importorskip("nvidia.dali.experimental.dynamic")

Array = NDArray[Any]


@dataclass(frozen=True)
class Type:
    """An element type by name."""

    name: str


@dataclass(frozen=True)
class Each:
    """A Batch: one value for each sample."""

    values: list[Any]


@dataclass(frozen=True)
class Generator:
    """A random number generator, by its seed."""

    seed: int


@dataclass(frozen=True)
class Result:
    """What an operator made."""

    arrays: list[Array]
    layout: str | None
    dtype: str


def call(library: ModuleType, operator: str, inputs: list[list[Array]], **arguments: Any) -> Result:
    """Call an operator on batches; the first input has the layout `layout`, if given."""
    layout = arguments.pop("layout", None)
    batches = [
        library.as_batch(samples, layout=layout if position == 0 else None)
        for position, samples in enumerate(inputs)
    ]
    converted = {name: _convert(library, value) for name, value in arguments.items()}
    result = getattr(library, operator)(*batches, **converted)
    arrays = [np.asarray(tensor) for tensor in result.tensors]
    return Result(arrays, result.layout, str(result.dtype))


def _convert(library: ModuleType, value: Any) -> Any:
    if isinstance(value, Type):
        return getattr(library, value.name)
    if isinstance(value, Each):
        return library.as_batch(value.values)
    if isinstance(value, Generator):
        return library.random.RNG(seed=value.seed)
    return value


def call_both(operator: str, *inputs: list[Array], **arguments: Any) -> tuple[Result, Result]:
    """The reference's result and ours."""
    expected = call(reference, operator, list(inputs), **arguments)
    return expected, call(ours, operator, list(inputs), **arguments)


def assert_same(operator: str, *inputs: list[Array], **arguments: Any) -> None:
    """Both libraries make the same arrays, layouts and types."""
    expected, got = call_both(operator, *inputs, **arguments)
    assert (got.layout, got.dtype) == (expected.layout, expected.dtype)
    assert len(got.arrays) == len(expected.arrays)
    for ours_array, theirs in zip(got.arrays, expected.arrays, strict=True):
        np.testing.assert_array_equal(ours_array, theirs)


def assert_close(
    operator: str, *inputs: list[Array], relative: float = 1e-5, **arguments: Any
) -> None:
    """As assert_same, with a tolerance relative to the largest value; integers may differ by 1."""
    expected, got = call_both(operator, *inputs, **arguments)
    assert (got.layout, got.dtype) == (expected.layout, expected.dtype)
    for ours_array, theirs in zip(got.arrays, expected.arrays, strict=True):
        assert ours_array.shape == theirs.shape
        if theirs.size == 0:
            continue
        wide = theirs.astype(np.float64)
        largest = np.abs(wide).max()
        allowed = 1.0 if theirs.dtype.kind in "iu" else relative * max(largest, 1e-30)
        assert np.abs(ours_array.astype(np.float64) - wide).max() <= allowed
