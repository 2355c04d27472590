# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

from collections.abc import Sequence
from typing import overload

from numpy.typing import ArrayLike

from ._engine.batch import Batch
from ._engine.device import DeviceLike
from ._engine.enums import DALIInterpType
from ._engine.rng import RNG
from ._engine.tensor import Tensor
from ._loops.auto_augment import auto_augment as auto_augment
from ._loops.auto_augment import auto_augment_policy as auto_augment_policy
from ._loops.auto_augment import rand_augment as rand_augment
from ._loops.auto_augment import random_policy as random_policy
from ._loops.auto_augment import trivial_augment_wide as trivial_augment_wide
from ._scene.scene import Scene
from ._shapes.policies import Augmentation as Augmentation

__all__ = [
    "Augmentation",
    "apply",
    "augmix",
    "auto_augment",
    "auto_augment_policy",
    "rand_augment",
    "random_policy",
    "trivial_augment_wide",
]

@overload
def apply(
    images: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    policy: ArrayLike | Tensor,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    fill_value: float | None = 128.0,
    repeat_border: bool | None = False,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def apply(
    images: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    policy: ArrayLike | Tensor | Batch,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 128.0,
    repeat_border: bool | None = False,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def apply(
    images: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    policy: ArrayLike | Tensor | Batch,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 128.0,
    repeat_border: bool | None = False,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def apply(
    images: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    policy: ArrayLike | Tensor | Batch,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 128.0,
    repeat_border: bool | None = False,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def apply(
    images: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    policy: ArrayLike | Tensor | Batch,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 128.0,
    repeat_border: bool | None = False,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def augmix(
    images: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    severity: int | None = 3,
    mixture_width: int | None = 3,
    chain_depth: int | None = -1,
    alpha: float | None = 1.0,
    all_ops: bool | None = True,
    fill_value: float | None = 128.0,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def augmix(
    images: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    severity: int | None = 3,
    mixture_width: int | None = 3,
    chain_depth: int | None = -1,
    alpha: float | None = 1.0,
    all_ops: bool | None = True,
    fill_value: float | None = 128.0,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def augmix(
    images: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    severity: int | None = 3,
    mixture_width: int | None = 3,
    chain_depth: int | None = -1,
    alpha: float | None = 1.0,
    all_ops: bool | None = True,
    fill_value: float | None = 128.0,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def augmix(
    images: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    severity: int | None = 3,
    mixture_width: int | None = 3,
    chain_depth: int | None = -1,
    alpha: float | None = 1.0,
    all_ops: bool | None = True,
    fill_value: float | None = 128.0,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
