# SPDX-License-Identifier: Apache-2.0
"""External sources: the same results and the same errors as with the reference."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from support.oracle import ours, reference

pytestmark = pytest.mark.oracle


def generate() -> Iterator[Any]:
    yield from (np.full((2, 2), number) for number in range(3))


class GeneratorCall:
    def __call__(self) -> Iterator[Any]:
        return (yield from generate())


class Callable1:
    def __call__(self) -> Any:
        return np.arange(3)


class Both:
    """Can be called and iterated over."""

    def __call__(self) -> Any:
        return 1.5

    def __iter__(self) -> Iterator[int]:
        return iter([1, 2])


# What makes the source, the arguments beside it, and those of each call.
CASES: dict[str, tuple[Callable[[ModuleType], Any], dict[str, Any], list[dict[str, Any]]]] = {
    "list": (lambda _: list(generate()), {}, [{}] * 5),
    "array": (lambda _: np.arange(6).reshape(2, 3), {}, [{}] * 3),
    "numbers": (lambda _: [1, 2.5, True, [1, 2], ()], {}, [{}] * 6),
    "generator": (lambda _: generate(), {}, [{}] * 4),
    "generator function": (lambda _: generate, {}, [{}] * 4),
    "partial generator function": (lambda _: functools.partial(generate), {}, [{}] * 4),
    "generator object": (lambda _: GeneratorCall(), {}, [{}] * 4),
    "callable object": (lambda _: Callable1(), {}, [{}] * 2),
    "both": (lambda _: Both(), {}, [{}] * 3),
    "cycle no": (lambda _: [1, 2], {"cycle": "no"}, [{}] * 4),
    "cycle false": (lambda _: [1, 2], {"cycle": False}, [{}] * 4),
    "cycle quiet": (lambda _: [1, 2], {"cycle": "quiet"}, [{}] * 5),
    "cycle true": (lambda _: generate, {"cycle": True}, [{}] * 5),
    "cycle raise": (lambda _: [1, 2], {"cycle": "raise"}, [{}] * 7),
    "cycle raise generator function": (lambda _: generate, {"cycle": "raise"}, [{}] * 7),
    "cycle of nothing": (lambda _: [], {"cycle": "quiet"}, [{}] * 2),
    "cycle of a generator": (lambda _: generate(), {"cycle": "raise"}, []),
    "cycle of a function": (lambda _: lambda: 1, {"cycle": "quiet"}, []),
    "cycle no of a function": (lambda _: lambda: 1, {"cycle": "no"}, []),
    "cycle wrong": (lambda _: [1], {"cycle": "loud"}, []),
    "cycle 1": (lambda _: [1], {"cycle": 2}, []),
    "a number": (lambda _: 5, {}, []),
    "a parameter": (lambda _: lambda info: info, {}, []),
    "a parameter with a default": (lambda _: lambda info=1: info, {}, []),
    "two parameters": (lambda _: lambda a, b: (a, b), {}, []),
    "variadic": (lambda _: lambda *a: a, {}, []),
    "variadic names": (lambda _: lambda **k: k, {}, []),
    "keyword only": (lambda _: lambda *, k: k, {}, []),
    "no outputs": (lambda _: [1], {"num_outputs": 0}, []),
    "broadcast": (lambda _: list(generate()), {}, [{"batch_size": 3}, {}, {"batch_size": 1}]),
    "batches": (lambda ndd: [ndd.batch([1, 2])] * 3, {}, [{}, {"batch_size": 2}]),
    "wrong batch": (lambda ndd: [ndd.batch([1, 2])] * 2, {}, [{"batch_size": 3}, {}]),
    "tensors": (lambda ndd: [ndd.tensor([1.5])], {}, [{"batch_size": 2}]),
    "mixed": (lambda ndd: [(1, ndd.batch([1, 2]))] * 2, {"num_outputs": 2}, [{}, {}]),
    "mixed broadcast": (
        lambda ndd: [(1, ndd.batch([1, 2]))],
        {"num_outputs": 2},
        [{"batch_size": 2}],
    ),
    "outputs": (lambda _: lambda: (1, [2.5, 3.5]), {"num_outputs": 2}, [{}, {"batch_size": 2}]),
    "outputs in a list": (lambda _: lambda: [1, 2], {"num_outputs": 2}, [{}]),
    "outputs in an array": (lambda _: lambda: np.zeros(2), {"num_outputs": 2}, [{}]),
    "too few outputs": (lambda _: lambda: (1,), {"num_outputs": 2}, [{}]),
    "too many outputs": (lambda _: lambda: (1, 2, 3), {"num_outputs": 2}, [{}]),
    "one output in a tuple": (lambda _: lambda: (1, 2), {}, [{}]),
    "layouts": (
        lambda _: lambda: (np.zeros((2, 2, 3)), np.zeros((2, 2))),
        {"num_outputs": 2, "layout": ["HWC", "HW"]},
        [{}, {"batch_size": 2}],
    ),
    "layout": (lambda _: lambda: np.zeros((2, 2)), {"layout": "HW"}, [{}, {"batch_size": 2}]),
    "too many layouts": (lambda _: [1], {"layout": ["H", "W"]}, []),
    "too few types": (lambda _: [1], {"num_outputs": 2, "dtype": []}, []),
}


def run(library: ModuleType, name: str) -> list[Any]:
    """What making and calling a source gives: results, or classes and texts of errors."""
    make, options, calls = CASES[name]
    try:
        source = library.ExternalSource(make(library), **options)
    except Exception as error:
        return [(type(error), str(error))]
    found: list[Any] = []
    for arguments in calls:
        try:
            result = source(**arguments)
            found.append([describe(library, part) for part in as_tuple(result)])
        except Exception as error:
            found.append((type(error), str(error)))
    return found


def as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def describe(library: ModuleType, value: Any) -> Any:
    is_batch = isinstance(value, library.Batch)
    samples = list(value.tensors) if is_batch else [value]
    arrays = [np.asarray(sample).tolist() for sample in samples]
    return (is_batch, str(value.dtype), value.layout or None, arrays)


@pytest.mark.parametrize("name", CASES)
def test_agreement(name: str) -> None:
    expected, got = run(reference, name), run(ours, name)
    assert len(got) == len(expected)
    for found, wanted in zip(got, expected, strict=True):
        if isinstance(wanted, tuple):
            assert isinstance(found, tuple), (found, wanted)
            assert found[0] is wanted[0], (found, wanted)
            assert wanted[1].rstrip(".") in found[1]
        else:
            assert found == wanted


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "float16"])
def test_types(dtype: str) -> None:
    data = np.array([[1.0, 2.5], [3.0, -4.0]])
    for batch_size in (None, 2):
        results = []
        for library in (reference, ours):
            kind = getattr(library, dtype)
            source = library.ExternalSource(lambda: (data, 7), 2, dtype=[kind, None])
            results.append([describe(library, part) for part in source(batch_size=batch_size)])
        assert results[0] == results[1]


@pytest.mark.parametrize("name", ["eager first", "root called", "bound root", "empty"])
def test_roles(name: str) -> None:
    """What capture-mode loops allow and refuse."""

    def outcome(library: ModuleType) -> Any:
        source = library.ExternalSource([library.batch([1, 2])] * (0 if name == "empty" else 3))
        try:
            if name == "eager first":
                source()
            for step in source.captured(batch_size=2):
                library.cast(step, dtype=library.float32)
                if name == "root called":
                    source()
            source()
        except Exception as error:
            return type(error), str(error)
        return "nothing"

    assert outcome(ours) == outcome(reference)
