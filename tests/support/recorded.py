# SPDX-License-Identifier: Apache-2.0
"""Calls whose results with the reference are kept in `goldens/`, to be made with either library.

`tools/record_calls.py` writes the results down, `tests/ops/test_recorded.py` compares with them.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from support import libraries
from support.libraries import Array

GOLDENS = Path(__file__).parents[1] / "goldens"


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


def run_call(library: ModuleType, call: Call) -> list[Array]:
    """The samples that the call produces with a library."""
    inputs = [samples_of(call)]
    return libraries.call(
        library, call.operator, inputs, layout=call.layout, **call.arguments
    ).arrays


def load(name: str, index: int, call: Call) -> list[Array]:
    """What the reference made of call number `index` of the record `name`."""
    with np.load(GOLDENS / f"{name}.npz") as record:
        assert record["calls"][index] == repr(call), "the record is out of date"
        return [record[f"{index}.{k}"] for k in range(2)]
