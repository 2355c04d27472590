# SPDX-License-Identifier: Apache-2.0
"""Calls the reference and daliesque with the same arguments."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
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
class Single:
    """A Tensor, as an input or an argument."""

    value: Any
    layout: str | None = None


@dataclass(frozen=True)
class Passed:
    """The operator's own argument `layout`, as opposed to the layout of the first input."""

    value: str


@dataclass(frozen=True)
class Result:
    """What an operator made."""

    arrays: list[Array]
    layout: str | None
    dtype: str


def call(library: ModuleType, operator: str, inputs: list[Any], **arguments: Any) -> Result:
    """Call an operator on batches; the first input has the layout `layout`, if given."""
    (result,) = call_all(library, operator, inputs, **arguments)
    return result


def call_all(
    library: ModuleType, operator: str, inputs: list[Any], **arguments: Any
) -> list[Result]:
    """Call an operator that may have several results."""
    is_argument = isinstance(arguments.get("layout"), Passed)
    layout = None if is_argument else arguments.pop("layout", None)
    values = [
        library.as_batch(value, layout=layout if position == 0 else None)
        if isinstance(value, list)
        else _convert(library, value)
        for position, value in enumerate(inputs)
    ]
    converted = {name: _convert(library, value) for name, value in arguments.items()}
    results = attrgetter(operator)(library)(*values, **converted)
    return [_read(part) for part in (results if isinstance(results, tuple) else (results,))]


def _read(result: Any) -> Result:
    tensors = result.tensors if hasattr(result, "tensors") else [result]
    arrays = [np.asarray(tensor) for tensor in tensors]
    return Result(arrays, result.layout, str(result.dtype))


def _convert(library: ModuleType, value: Any) -> Any:
    if isinstance(value, Type):
        return getattr(library, value.name)
    if isinstance(value, Each):
        return library.as_batch(value.values)
    if isinstance(value, Generator):
        return library.random.RNG(seed=value.seed)
    if isinstance(value, Single):
        return library.tensor(value.value, layout=value.layout)
    if isinstance(value, Passed):
        return value.value
    return value


def call_both(operator: str, *inputs: Any, **arguments: Any) -> tuple[Result, Result]:
    """The reference's result and ours."""
    expected = call(reference, operator, list(inputs), **arguments)
    return expected, call(ours, operator, list(inputs), **arguments)


def assert_same(operator: str, *inputs: Any, **arguments: Any) -> None:
    """Both libraries make the same arrays, layouts and types."""
    wanted = call_all(reference, operator, list(inputs), **arguments)
    results = call_all(ours, operator, list(inputs), **arguments)
    assert len(results) == len(wanted)
    for got, expected in zip(results, wanted, strict=True):
        assert (got.layout, got.dtype) == (expected.layout, expected.dtype)
        assert len(got.arrays) == len(expected.arrays)
        for ours_array, theirs in zip(got.arrays, expected.arrays, strict=True):
            np.testing.assert_array_equal(ours_array, theirs, strict=True)


def assert_both_refuse(operator: str, *inputs: Any, **arguments: Any) -> None:
    """Both libraries raise an error; ours is of the class that a wrong call deserves."""
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError)):
        call_all(reference, operator, list(inputs), **arguments)
    name = operator.rpartition(".")[2]
    with pytest.raises((ValueError, TypeError, RuntimeError), match=name):
        call_all(ours, operator, list(inputs), **arguments)


def assert_close(operator: str, *inputs: Any, relative: float = 1e-5, **arguments: Any) -> None:
    """As assert_same, with a tolerance relative to the largest value; integers may differ by 1."""
    expected, got = call_both(operator, *inputs, **arguments)
    assert len(got.arrays) == len(expected.arrays)
    assert (got.layout, got.dtype) == (expected.layout, expected.dtype)
    for ours_array, theirs in zip(got.arrays, expected.arrays, strict=True):
        assert ours_array.shape == theirs.shape
        if theirs.size == 0:
            continue
        wide = theirs.astype(np.float64)
        largest = np.abs(wide).max()
        allowed = 1.0 if theirs.dtype.kind in "iu" else relative * max(largest, 1e-30)
        assert np.abs(ours_array.astype(np.float64) - wide).max() <= allowed
