# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

from collections.abc import Sequence
from typing import overload

from numpy.typing import ArrayLike

from ._engine.batch import Batch
from ._engine.device import DeviceLike
from ._engine.tensor import Tensor

__all__ = ["combine", "crop", "rotation", "scale", "shear", "translation"]

@overload
def combine(
    first: ArrayLike | Tensor,
    second: ArrayLike | Tensor,
    *more: ArrayLike | Tensor,
    batch_size: None = None,
    device: DeviceLike | None = None,
    reverse_order: bool | None = False,
) -> Tensor: ...
@overload
def combine(
    first: Batch,
    second: ArrayLike | Tensor | Batch,
    *more: ArrayLike | Tensor | Batch,
    batch_size: None = None,
    device: DeviceLike | None = None,
    reverse_order: bool | None = False,
) -> Batch: ...
@overload
def combine(
    first: ArrayLike | Tensor | Batch,
    second: ArrayLike | Tensor | Batch,
    *more: ArrayLike | Tensor | Batch,
    batch_size: None = None,
    device: DeviceLike | None = None,
    reverse_order: bool | None = False,
) -> Tensor | Batch: ...
@overload
def combine(
    first: ArrayLike | Tensor | Batch,
    second: ArrayLike | Tensor | Batch,
    *more: ArrayLike | Tensor | Batch,
    batch_size: int,
    device: DeviceLike | None = None,
    reverse_order: bool | None = False,
) -> Batch: ...
@overload
def crop(
    input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    absolute: bool | None = False,
    from_end: Sequence[float] | float | ArrayLike | Tensor | None = (1.0,),
    from_start: Sequence[float] | float | ArrayLike | Tensor | None = (0.0,),
    reverse_order: bool | None = False,
    to_end: Sequence[float] | float | ArrayLike | Tensor | None = (1.0,),
    to_start: Sequence[float] | float | ArrayLike | Tensor | None = (0.0,),
) -> Tensor: ...
@overload
def crop(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    absolute: bool | None = False,
    from_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    from_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    reverse_order: bool | None = False,
    to_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    to_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
) -> Batch: ...
@overload
def crop(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    absolute: bool | None = False,
    from_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    from_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    reverse_order: bool | None = False,
    to_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    to_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
) -> Tensor | Batch: ...
@overload
def crop(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    absolute: bool | None = False,
    from_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    from_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    reverse_order: bool | None = False,
    to_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    to_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
) -> Batch: ...
@overload
def rotation(
    input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor,
    axis: Sequence[float] | float | ArrayLike | Tensor | None = None,
    center: Sequence[float] | float | ArrayLike | Tensor | None = None,
    reverse_order: bool | None = False,
) -> Tensor: ...
@overload
def rotation(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    axis: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    center: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    reverse_order: bool | None = False,
) -> Batch: ...
@overload
def rotation(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    axis: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    center: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    reverse_order: bool | None = False,
) -> Tensor | Batch: ...
@overload
def rotation(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    axis: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    center: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    reverse_order: bool | None = False,
) -> Batch: ...
@overload
def scale(
    input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    scale: Sequence[float] | float | ArrayLike | Tensor,
    center: Sequence[float] | float | ArrayLike | Tensor | None = None,
    ndim: int | None = None,
    reverse_order: bool | None = False,
) -> Tensor: ...
@overload
def scale(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    scale: Sequence[float] | float | ArrayLike | Tensor | Batch,
    center: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    ndim: int | None = None,
    reverse_order: bool | None = False,
) -> Batch: ...
@overload
def scale(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    scale: Sequence[float] | float | ArrayLike | Tensor | Batch,
    center: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    ndim: int | None = None,
    reverse_order: bool | None = False,
) -> Tensor | Batch: ...
@overload
def scale(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    scale: Sequence[float] | float | ArrayLike | Tensor | Batch,
    center: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    ndim: int | None = None,
    reverse_order: bool | None = False,
) -> Batch: ...
@overload
def shear(
    input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angles: Sequence[float] | float | ArrayLike | Tensor | None = None,
    center: Sequence[float] | float | ArrayLike | Tensor | None = None,
    reverse_order: bool | None = False,
    shear: Sequence[float] | float | ArrayLike | Tensor | None = None,
) -> Tensor: ...
@overload
def shear(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angles: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    center: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    reverse_order: bool | None = False,
    shear: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def shear(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angles: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    center: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    reverse_order: bool | None = False,
    shear: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | Batch: ...
@overload
def shear(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    angles: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    center: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    reverse_order: bool | None = False,
    shear: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def translation(
    input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    offset: Sequence[float] | float | ArrayLike | Tensor,
    reverse_order: bool | None = False,
) -> Tensor: ...
@overload
def translation(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    offset: Sequence[float] | float | ArrayLike | Tensor | Batch,
    reverse_order: bool | None = False,
) -> Batch: ...
@overload
def translation(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    offset: Sequence[float] | float | ArrayLike | Tensor | Batch,
    reverse_order: bool | None = False,
) -> Tensor | Batch: ...
@overload
def translation(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    offset: Sequence[float] | float | ArrayLike | Tensor | Batch,
    reverse_order: bool | None = False,
) -> Batch: ...
