# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

from typing import overload

from numpy.typing import ArrayLike

from ._engine.batch import Batch
from ._engine.device import DeviceLike
from ._engine.rng import RNG
from ._engine.tensor import Tensor
from ._scene.scene import Scene

__all__ = ["gaussian", "salt_and_pepper", "shot"]

@overload
def gaussian(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mean: float | ArrayLike | Tensor | None = 0.0,
    stddev: float | ArrayLike | Tensor | None = 1.0,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def gaussian(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mean: float | ArrayLike | Tensor | Batch | None = 0.0,
    stddev: float | ArrayLike | Tensor | Batch | None = 1.0,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def gaussian(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mean: float | ArrayLike | Tensor | Batch | None = 0.0,
    stddev: float | ArrayLike | Tensor | Batch | None = 1.0,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def gaussian(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    mean: float | ArrayLike | Tensor | Batch | None = 0.0,
    stddev: float | ArrayLike | Tensor | Batch | None = 1.0,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def gaussian(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    mean: float | ArrayLike | Tensor | Batch | None = 0.0,
    stddev: float | ArrayLike | Tensor | Batch | None = 1.0,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def salt_and_pepper(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    prob: float | ArrayLike | Tensor | None = 0.05,
    salt_vs_pepper: float | ArrayLike | Tensor | None = 0.5,
    per_channel: bool | None = False,
    salt_val: float | ArrayLike | Tensor | None = None,
    pepper_val: float | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def salt_and_pepper(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    prob: float | ArrayLike | Tensor | Batch | None = 0.05,
    salt_vs_pepper: float | ArrayLike | Tensor | Batch | None = 0.5,
    per_channel: bool | None = False,
    salt_val: float | ArrayLike | Tensor | Batch | None = None,
    pepper_val: float | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def salt_and_pepper(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    prob: float | ArrayLike | Tensor | Batch | None = 0.05,
    salt_vs_pepper: float | ArrayLike | Tensor | Batch | None = 0.5,
    per_channel: bool | None = False,
    salt_val: float | ArrayLike | Tensor | Batch | None = None,
    pepper_val: float | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def salt_and_pepper(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    prob: float | ArrayLike | Tensor | Batch | None = 0.05,
    salt_vs_pepper: float | ArrayLike | Tensor | Batch | None = 0.5,
    per_channel: bool | None = False,
    salt_val: float | ArrayLike | Tensor | Batch | None = None,
    pepper_val: float | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def salt_and_pepper(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    prob: float | ArrayLike | Tensor | Batch | None = 0.05,
    salt_vs_pepper: float | ArrayLike | Tensor | Batch | None = 0.5,
    per_channel: bool | None = False,
    salt_val: float | ArrayLike | Tensor | Batch | None = None,
    pepper_val: float | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def shot(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    factor: float | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def shot(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    factor: float | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def shot(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    factor: float | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def shot(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    factor: float | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def shot(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    factor: float | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Scene: ...
