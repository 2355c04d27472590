# SPDX-License-Identifier: Apache-2.0
"""Operands for arithmetic tests, and how users write each operation."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.reference.arithmetic import BFLOAT16

# Longer than any vector register, and not a multiple of one.
LENGTH = 67

_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "fdiv": operator.truediv,
    "div": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "eq": operator.eq,
    "neq": operator.ne,
    "lt": operator.lt,
    "leq": operator.le,
    "gt": operator.gt,
    "geq": operator.ge,
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "minus": operator.neg,
    "bitnot": operator.invert,
    "abs": abs,
}


def call(library: Any, name: str, *operands: Any) -> Any:
    """Apply an operation by operator, or by function of `library.math`."""
    function = _OPERATORS.get(name) or getattr(library.math, name)
    return function(*operands)


def sample_values(dtype: np.dtype[Any], seed: int = 0, use: str = "") -> NDArray[Any]:
    """Random numbers of the whole range and the awkward ones.

    `use` is "divisor" for numbers that are neither 0 nor -1, or "shift" for numbers of bits.
    """
    rng = np.random.default_rng([seed, dtype.num])
    if dtype.kind == "b":
        return np.ones(LENGTH, bool) if use == "divisor" else rng.integers(0, 2, LENGTH) == 1
    if dtype.kind == "f" or dtype == BFLOAT16:
        values = rng.normal(size=LENGTH) * rng.choice([1, 10, 1000], LENGTH)
        special = [0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -5, -10, 100, np.inf, -np.inf, np.nan]
        values[: len(special)] = special
        rng.shuffle(values)
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    if use == "shift":
        return rng.integers(0, limits.bits, LENGTH, dtype=dtype)
    values = rng.integers(limits.min, limits.max, LENGTH, dtype=dtype, endpoint=True)
    values[:30] = rng.integers(max(limits.min, -20), 20, 30)
    values[:4] = [limits.min, limits.max, 0, 1]
    if limits.min < 0:
        values[4:6] = [-1, -2]
    rng.shuffle(values)
    if use == "divisor":
        values[np.isin(values, [0, -1] if limits.min < 0 else [0])] = 3
    return values


def operands_for(name: str, *types: np.dtype[Any]) -> list[NDArray[Any]]:
    """Operands for which DALI defines the result."""
    use = {"div": "divisor", "mod": "divisor", "lshift": "shift", "rshift": "shift"}.get(name, "")
    return [sample_values(t, k, use if k else "") for k, t in enumerate(types)]
