# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

from collections.abc import Sequence
from typing import overload

from numpy.typing import ArrayLike

from ._engine.batch import Batch
from ._engine.device import DeviceLike
from ._engine.dtype import DTypeLike
from ._engine.rng import RNG
from ._engine.rng import get_default_rng as get_default_rng
from ._engine.rng import set_seed as set_seed
from ._engine.tensor import Tensor

__all__ = ["RNG", "beta", "choice", "coin_flip", "get_default_rng", "normal", "set_seed", "uniform"]

@overload
def beta(
    shape_like: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | ArrayLike | Tensor | None = 1.0,
    beta: float | ArrayLike | Tensor | None = 1.0,
    dtype: DTypeLike | None = ...,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def beta(
    shape_like: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | ArrayLike | Tensor | Batch | None = 1.0,
    beta: float | ArrayLike | Tensor | Batch | None = 1.0,
    dtype: DTypeLike | None = ...,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def beta(
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | ArrayLike | Tensor | Batch | None = 1.0,
    beta: float | ArrayLike | Tensor | Batch | None = 1.0,
    dtype: DTypeLike | None = ...,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def beta(
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    alpha: float | ArrayLike | Tensor | Batch | None = 1.0,
    beta: float | ArrayLike | Tensor | Batch | None = 1.0,
    dtype: DTypeLike | None = ...,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def choice(
    a: ArrayLike | Tensor,
    shape_like: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    p: ArrayLike | Tensor | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def choice(
    a: Batch,
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    p: ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def choice(
    a: ArrayLike | Tensor | Batch,
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    p: ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def choice(
    a: ArrayLike | Tensor | Batch,
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    p: ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def coin_flip(
    shape_like: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    probability: float | ArrayLike | Tensor | None = 0.5,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def coin_flip(
    shape_like: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    probability: float | ArrayLike | Tensor | Batch | None = 0.5,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def coin_flip(
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    probability: float | ArrayLike | Tensor | Batch | None = 0.5,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def coin_flip(
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    probability: float | ArrayLike | Tensor | Batch | None = 0.5,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def normal(
    shape_like: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    mean: float | ArrayLike | Tensor | None = 0.0,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    stddev: float | ArrayLike | Tensor | None = 1.0,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def normal(
    shape_like: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    mean: float | ArrayLike | Tensor | Batch | None = 0.0,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    stddev: float | ArrayLike | Tensor | Batch | None = 1.0,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def normal(
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    mean: float | ArrayLike | Tensor | Batch | None = 0.0,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    stddev: float | ArrayLike | Tensor | Batch | None = 1.0,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def normal(
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    mean: float | ArrayLike | Tensor | Batch | None = 0.0,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    stddev: float | ArrayLike | Tensor | Batch | None = 1.0,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def uniform(
    shape_like: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    range: Sequence[float] | float | ArrayLike | Tensor | None = (-1.0, 1.0),
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    values: ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def uniform(
    shape_like: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    range: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (-1.0, 1.0),
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    values: ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def uniform(
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    range: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (-1.0, 1.0),
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    values: ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def uniform(
    shape_like: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    range: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (-1.0, 1.0),
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    values: ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
