# SPDX-License-Identifier: Apache-2.0
"""Calls whose results with the reference are kept in `goldens/`, to be made with either library.

`tools/record_calls.py` writes the results down, `tests/ops/test_recorded.py` compares with them.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
GOLDENS = Path(__file__).parents[1] / "goldens"


class Each(NamedTuple):
    """A Batch: one value for each sample."""

    values: list[Any]


class Call(NamedTuple):
    """An operator, the layout, shape and type of its two samples, and arguments."""

    operator: str
    layout: str
    shape: tuple[int, ...]
    dtype: str
    arguments: dict[str, Any]


def samples_of(call: Call) -> list[Array]:
    """Two samples; the second has one row and one column less."""
    made = []
    for k in range(2):
        shape = tuple(
            n - k if a in "HW" else n for a, n in zip(call.layout, call.shape, strict=True)
        )
        values = (np.arange(np.prod(shape)) * (37 + k) + 11) ** 2 % 256
        made.append(values.reshape(shape).astype(call.dtype))
    return made


def run_call(ndd: ModuleType, call: Call) -> list[Array]:
    """The samples that the call produces with the library `ndd`."""
    arguments = {name: _decode(ndd, name, value) for name, value in call.arguments.items()}
    batch = ndd.as_batch(samples_of(call), layout=call.layout)
    result = getattr(ndd, call.operator)(batch, **arguments)
    return [np.asarray(tensor) for tensor in result.tensors]


def _decode(ndd: ModuleType, name: str, value: Any) -> Any:
    if name == "dtype":
        return getattr(ndd, value)
    if name == "rng":
        return ndd.random.RNG(seed=value)
    return ndd.batch(value.values) if isinstance(value, Each) else value


def load(name: str, index: int, call: Call) -> list[Array]:
    """What the reference made of call number `index` of the record `name`."""
    with np.load(GOLDENS / f"{name}.npz") as record:
        assert record["calls"][index] == repr(call), "the record is out of date"
        return [record[f"{index}.{k}"] for k in range(2)]
