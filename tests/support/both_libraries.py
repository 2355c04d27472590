# SPDX-License-Identifier: Apache-2.0
"""The same call made with this library and with the reference, for comparisons."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from support.compare import assert_same

Array = NDArray[Any]


class EachSample(NamedTuple):
    """An argument with a value for each sample."""

    values: Sequence[Any]
    dtype: str = "float32"


class EachFrame(NamedTuple):
    """An argument with a value for each frame: one list of them for each sequence."""

    values: Sequence[Sequence[Any]]
    dtype: str = "float32"


class Result(NamedTuple):
    """What a call gave."""

    arrays: list[Array]
    layout: str | None


def decode(library: ModuleType, value: Any) -> Any:
    """The argument of `library` that `value` stands for; types are given as NumPy's."""
    if isinstance(value, EachSample):
        return library.batch([np.array(entry, value.dtype) for entry in value.values])
    if isinstance(value, EachFrame):
        arrays = [np.array(entry, value.dtype) for entry in value.values]
        return library.batch(arrays, layout="F" + "K" * (arrays[0].ndim - 1))
    if isinstance(value, np.dtype):
        return getattr(library, value.name)
    return value


def make_call(
    library: ModuleType, name: str, inputs: Sequence[Any], arguments: dict[str, Any]
) -> Result:
    """Call an operator. An input is a list of arrays, or a pair of one and a layout."""
    batches = []
    for given in inputs:
        samples, layout = given if isinstance(given, tuple) else (given, None)
        batches.append(library.batch(samples, layout=layout))
    decoded = {key: decode(library, value) for key, value in arguments.items()}
    result = operator.attrgetter(name)(library)(*batches, **decoded).evaluate()
    return Result([np.array(sample) for sample in result.tensors], result.layout)


def assert_agree(
    libraries: tuple[ModuleType, ModuleType],
    name: str,
    inputs: Sequence[Any],
    arguments: dict[str, Any],
    same: Callable[[Any, Any, object], None] = assert_same,
) -> None:
    """Both libraries give results that are the same in every sample, and the same layout."""
    found, expected = (make_call(library, name, inputs, arguments) for library in libraries)
    assert found.layout == expected.layout, (name, arguments)
    assert len(found.arrays) == len(expected.arrays)
    for index, (ours, theirs) in enumerate(zip(found.arrays, expected.arrays, strict=True)):
        same(ours, theirs, (name, arguments, index))
