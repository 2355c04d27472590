# SPDX-License-Identifier: Apache-2.0
"""Values replaced by way of tables."""

from __future__ import annotations

import numpy as np

from .._engine.convert import cast_samples, to_samples
from .._engine.dtype import (
    NUMERIC,
    DType,
    bool_,
    float32,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .._engine.metadata import Result
from .._engine.op import Samples, op

_INTEGERS = (uint8, uint16, uint32, uint64, int8, int16, int32, int64)
_HIGHEST_KEY = 65535


@op(dtypes=_INTEGERS, result=Result(dtype=("output_dtype", "dtype"), shape="input"), by_sample=True)
def lookup_table(
    input: Samples,
    /,
    *,
    keys: tuple[int, ...] = (),
    values: tuple[float, ...] = (),
    default_value: float = 0.0,
    dtype: DType = float32,
    output_dtype: DType | None = None,
) -> Samples:
    """Replace integers by what a table says.

    Parameters
    ----------
    keys
        The integers that the table has, from 0 to 65535. Of equal ones the last counts.
    values
        What becomes of each of `keys`, rounded and clamped to `dtype`.
    default_value
        What becomes of all other integers.
    dtype
        Element type of the result.
    output_dtype
        An old name of `dtype`.

    Examples
    --------
    >>> labels = ndd.tensor(np.array([1, 4, 7], np.uint8))
    >>> ndd.lookup_table(labels, keys=[1, 4], values=[0.5, 2.5], default_value=-1).torch().tolist()
    [0.5, 2.5, -1.0]
    """
    kind = dtype if output_dtype is None else output_dtype
    if kind not in (*NUMERIC, bool_):
        msg = f"'dtype' must be a type of numbers or bool; got {kind}."
        raise ValueError(msg)
    if len(keys) != len(values):
        msg = f"'keys' and 'values' must be equally long; got {len(keys)} and {len(values)}."
        raise ValueError(msg)
    highest = max(keys, default=-1)
    if keys and (min(keys) < 0 or highest > _HIGHEST_KEY):
        wrong = next(key for key in keys if not 0 <= key <= _HIGHEST_KEY)
        msg = f"'keys' must be from 0 to {_HIGHEST_KEY}; got {wrong}."
        raise ValueError(msg)
    table = np.full(highest + 1, default_value, np.float32)
    table[np.array(keys, np.int64)] = np.array(values, np.float32)
    otherwise = np.array([default_value], np.float32)
    entries, rest = (
        cast_samples(to_samples(array, None, None, "lookup_table"), kind)
        for array in (table, otherwise)
    )
    return input.kernels.look_up(input, entries, rest)
