# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

from collections.abc import Sequence
from typing import overload

from numpy.typing import ArrayLike

from ._engine.batch import Batch
from ._engine.device import DeviceLike
from ._engine.dtype import DTypeLike
from ._engine.tensor import Tensor

__all__ = ["max", "mean", "mean_square", "min", "rms", "std_dev", "sum", "variance"]

@overload
def max(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    keep_dims: bool | None = False,
) -> Tensor: ...
@overload
def max(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def max(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    keep_dims: bool | None = False,
) -> Tensor | Batch: ...
@overload
def max(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def mean(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Tensor: ...
@overload
def mean(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def mean(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Tensor | Batch: ...
@overload
def mean(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def mean_square(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Tensor: ...
@overload
def mean_square(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def mean_square(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Tensor | Batch: ...
@overload
def mean_square(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def min(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    keep_dims: bool | None = False,
) -> Tensor: ...
@overload
def min(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def min(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    keep_dims: bool | None = False,
) -> Tensor | Batch: ...
@overload
def min(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def rms(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Tensor: ...
@overload
def rms(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def rms(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Tensor | Batch: ...
@overload
def rms(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def std_dev(
    data: ArrayLike | Tensor,
    mean: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    ddof: int | None = 0,
    keep_dims: bool | None = False,
) -> Tensor: ...
@overload
def std_dev(
    data: Batch,
    mean: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    ddof: int | None = 0,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def std_dev(
    data: ArrayLike | Tensor | Batch,
    mean: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    ddof: int | None = 0,
    keep_dims: bool | None = False,
) -> Tensor | Batch: ...
@overload
def std_dev(
    data: ArrayLike | Tensor | Batch,
    mean: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    ddof: int | None = 0,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def sum(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Tensor: ...
@overload
def sum(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def sum(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Tensor | Batch: ...
@overload
def sum(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    dtype: DTypeLike | None = None,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def variance(
    data: ArrayLike | Tensor,
    mean: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    ddof: int | None = 0,
    keep_dims: bool | None = False,
) -> Tensor: ...
@overload
def variance(
    data: Batch,
    mean: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    ddof: int | None = 0,
    keep_dims: bool | None = False,
) -> Batch: ...
@overload
def variance(
    data: ArrayLike | Tensor | Batch,
    mean: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    ddof: int | None = 0,
    keep_dims: bool | None = False,
) -> Tensor | Batch: ...
@overload
def variance(
    data: ArrayLike | Tensor | Batch,
    mean: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    ddof: int | None = 0,
    keep_dims: bool | None = False,
) -> Batch: ...
