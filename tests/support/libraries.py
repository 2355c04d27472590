# SPDX-License-Identifier: Apache-2.0
"""The same call with either library, this one or the reference.

Inputs and arguments are plain values, or descriptions of what each library makes for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# Called for each call: library, operator, inputs and arguments, results.
note_call: Callable[[str, str, tuple[Sequence[Any], str], list[Result]], None] | None = None


@dataclass(frozen=True)
class Type:
    """An element type by name."""

    name: str


@dataclass(frozen=True)
class Each:
    """A Batch: one value for each sample, as an array of a type if that is given."""

    values: Sequence[Any]
    dtype: str | None = None
    layout: str | None = None


def each_frame(values: Sequence[Any], dtype: str = "float32") -> Each:
    """A Batch of arguments for frames: a list with one for each frame, for each sequence."""
    return Each(values, dtype, "F" + "K" * (np.ndim(values[0]) - 1))


@dataclass(frozen=True)
class Single:
    """A Tensor, as an array of a type if that is given."""

    value: Any
    layout: str | None = None
    dtype: str | None = None


@dataclass(frozen=True)
class Generator:
    """A random number generator, by its seed."""

    seed: int


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


def call(library: ModuleType, operator: str, inputs: Sequence[Any], **arguments: Any) -> Result:
    """Call an operator that has one result.

    Lists are batches, of which the first has the layout `layout`, if given.
    """
    (result,) = call_all(library, operator, inputs, **arguments)
    return result


def call_all(
    library: ModuleType, operator: str, inputs: Sequence[Any], **arguments: Any
) -> list[Result]:
    """Call an operator that may have several results."""
    is_argument = isinstance(arguments.get("layout"), Passed)
    layout = None if is_argument else arguments.pop("layout", None)
    values = [
        library.as_batch(value, layout=layout if position == 0 else None)
        if isinstance(value, list)
        else convert(library, value)
        for position, value in enumerate(inputs)
    ]
    converted = {name: convert(library, value) for name, value in arguments.items()}
    results = attrgetter(operator)(library)(*values, **converted)
    read = [_read(part) for part in (results if isinstance(results, tuple) else (results,))]
    if note_call is not None:
        note_call(library.__name__, operator, (inputs, repr(arguments)), read)
    return read


def _read(result: Any) -> Result:
    tensors = result.tensors if hasattr(result, "tensors") else [result]
    arrays = [np.asarray(tensor) for tensor in tensors]
    return Result(arrays, result.layout, str(result.dtype))


def convert(library: ModuleType, value: Any) -> Any:
    """What a library makes of a description; other values as they are."""
    match value:
        case Type(name):
            return getattr(library, name)
        case Each(values, dtype, layout):
            typed = values if dtype is None else [np.array(entry, dtype) for entry in values]
            return library.as_batch(typed, layout=layout)
        case Generator(seed):
            return library.random.RNG(seed=seed)
        case Single(content, layout, dtype):
            typed = content if dtype is None else np.array(content, dtype)
            return library.tensor(typed, layout=layout)
        case Passed(content):
            return content
    return value
