# SPDX-License-Identifier: Apache-2.0
"""Operators on any data: copy and type conversion."""

from __future__ import annotations

from .._engine.convert import cast_samples
from .._engine.dtype import DType, from_code
from .._engine.op import Samples, op


@op(dtype=lambda _inputs, arguments: arguments["dtype"])
def cast(input: Samples, /, *, dtype: DType) -> Samples:
    """Convert to another element type.

    Values are rounded half away from zero and clamped to what the type can hold; NaN becomes 0 in
    integers.

    Parameters
    ----------
    dtype
        The wanted element type.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.cast(ndd.tensor([1.5, 300.0, -2.0]), dtype=ndd.uint8).torch().tolist()
    [2, 255, 0]
    """
    return cast_samples(input, dtype)


@op()
def cast_like(input: Samples, other: Samples, /) -> Samples:
    """Convert to the element type of another tensor or batch.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.cast_like(ndd.tensor([1.5, 2.0]), ndd.tensor([0])).dtype == ndd.int32
    True
    """
    return cast_samples(input, from_code(other.type_id))


@op(strided=True)
def copy(input: Samples, /) -> Samples:
    """Copy into memory of its own.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.copy(ndd.tensor([1, 2])).torch().tolist()
    [1, 2]
    """
    return input.copy()
