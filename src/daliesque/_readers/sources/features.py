# SPDX-License-Identifier: Apache-2.0
"""Descriptions of the features of TFRecord files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..._engine.enums import DALIDataType

int64 = DALIDataType.INT64
float32 = DALIDataType.FLOAT
string = DALIDataType.STRING


@dataclass(frozen=True)
class Feature:
    """A feature of a record.

    Parameters
    ----------
    shape
        The shape of its values; None if it varies in the first axis.
    dtype
        `int64`, `float32` or `string`.
    default
        What records without the feature get.
    partial_shape
        The extents after the first axis of a feature of varying length.
    """

    shape: tuple[int, ...] | None
    dtype: DALIDataType
    default: Any
    partial_shape: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.dtype not in (int64, float32, string):
            msg = (
                f"tfrecord: a feature's type must be int64, float32 or string; got {self.dtype!r}."
            )
            raise ValueError(msg)


def FixedLenFeature(shape: Sequence[int] | int, dtype: DALIDataType, default: Any) -> Feature:
    """Describe a feature with a fixed number of values.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.tfrecord.FixedLenFeature([1], ndd.tfrecord.int64, -1).shape
    (1,)
    """
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    return Feature(extents, dtype, default)


def VarLenFeature(*args: Any) -> Feature:
    """Describe a feature with any number of values.

    Takes the type and the default, or before them the extents after the first axis.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.tfrecord.VarLenFeature(ndd.tfrecord.float32, 0.0).shape is None
    True
    """
    if len(args) == 2:
        dtype, default = args
        return Feature(None, dtype, default)
    if len(args) == 3:
        partial, dtype, default = args
        return Feature(None, dtype, default, tuple(partial))
    msg = f"tfrecord.VarLenFeature: takes [partial_shape,] dtype, default; got {len(args)} values."
    raise TypeError(msg)
