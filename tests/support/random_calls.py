# SPDX-License-Identifier: Apache-2.0
"""Calls of random operators as data, to be made with this library or with the reference.

A call is a dict: operator, seed of its RNG, how many times to make it, inputs and arguments.
Values that are not plain numbers are {"batch": [...], "type": ...}, {"tensor": ..., "type": ...}
or {"dtype": ...}.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from support import libraries
from support.libraries import Array, Each, Single, Type

RECORD = Path(__file__).parents[1] / "goldens" / "random.npz"


def _described(value: Any) -> Any:
    if isinstance(value, dict):
        if "dtype" in value:
            return Type(value["dtype"])
        if "tensor" in value:
            return Single(value["tensor"], dtype=value["type"])
        return Each(value["batch"], value["type"])
    return value


def run_call(library: ModuleType, call: dict[str, Any], rng: Any = None) -> list[Array]:
    """The samples that the call produces with a library."""
    if rng is None:
        rng = library.random.RNG(seed=call["seed"])
    inputs = [_described(value) for value in call["inputs"]]
    arguments = {name: _described(value) for name, value in call["args"].items()}
    samples = []
    for _ in range(call["times"]):
        operator = f"random.{call['op']}"
        samples += libraries.call(library, operator, inputs, rng=rng, **arguments).arrays
    return samples


def load_record() -> tuple[dict[str, Any], list[list[Array]]]:
    """What tools/record_random.py wrote: the description and the samples of each call."""
    with np.load(RECORD) as file:
        about = json.loads(str(file["about"]))
        data = file["data"].tobytes()
    results = []
    at = 0
    for call in about["calls"]:
        dtype = np.dtype(call["dtype"])
        samples = []
        for shape in call["shapes"]:
            count = int(np.prod(shape))
            samples.append(np.frombuffer(data, dtype, count, at).reshape(shape))
            at += count * dtype.itemsize
        results.append(samples)
    assert at == len(data)
    return about, results


def same_bits(first: Array, second: Array) -> bool:
    """Equal in type, shape and every bit (so that -0 and NaN count)."""
    return (
        first.dtype == second.dtype
        and first.shape == second.shape
        and first.tobytes() == second.tobytes()
    )
