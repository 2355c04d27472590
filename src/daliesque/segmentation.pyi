# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

from collections.abc import Sequence
from typing import Literal, overload

from numpy.typing import ArrayLike

from ._engine.batch import Batch
from ._engine.device import DeviceLike
from ._engine.rng import RNG
from ._engine.tensor import Tensor

__all__ = ["random_mask_pixel", "random_object_bbox", "select_masks"]

@overload
def random_mask_pixel(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    foreground: int | ArrayLike | Tensor | None = 0,
    threshold: float | ArrayLike | Tensor | None = 0.0,
    value: int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def random_mask_pixel(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    foreground: int | ArrayLike | Tensor | Batch | None = 0,
    threshold: float | ArrayLike | Tensor | Batch | None = 0.0,
    value: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def random_mask_pixel(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    foreground: int | ArrayLike | Tensor | Batch | None = 0,
    threshold: float | ArrayLike | Tensor | Batch | None = 0.0,
    value: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def random_mask_pixel(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    foreground: int | ArrayLike | Tensor | Batch | None = 0,
    threshold: float | ArrayLike | Tensor | Batch | None = 0.0,
    value: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | None = None,
    classes: ArrayLike | Tensor | None = None,
    foreground_prob: float | ArrayLike | Tensor | None = 1.0,
    format: Literal["box"],
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[False] | None = False,
    threshold: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def random_object_bbox(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["box"],
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[False] | None = False,
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["box"],
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[False] | None = False,
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["box"],
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[False] | None = False,
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | None = None,
    classes: ArrayLike | Tensor | None = None,
    foreground_prob: float | ArrayLike | Tensor | None = 1.0,
    format: Literal["box"],
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[True],
    threshold: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def random_object_bbox(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["box"],
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[True],
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["box"],
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[True],
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["box"],
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[True],
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | None = None,
    classes: ArrayLike | Tensor | None = None,
    foreground_prob: float | ArrayLike | Tensor | None = 1.0,
    format: Literal["anchor_shape", "start_end"] | None = "anchor_shape",
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[False] | None = False,
    threshold: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def random_object_bbox(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["anchor_shape", "start_end"] | None = "anchor_shape",
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[False] | None = False,
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["anchor_shape", "start_end"] | None = "anchor_shape",
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[False] | None = False,
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["anchor_shape", "start_end"] | None = "anchor_shape",
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[False] | None = False,
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | None = None,
    classes: ArrayLike | Tensor | None = None,
    foreground_prob: float | ArrayLike | Tensor | None = 1.0,
    format: Literal["anchor_shape", "start_end"] | None = "anchor_shape",
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[True],
    threshold: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def random_object_bbox(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["anchor_shape", "start_end"] | None = "anchor_shape",
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[True],
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch]: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["anchor_shape", "start_end"] | None = "anchor_shape",
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[True],
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor] | tuple[Batch, Batch, Batch]: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: Literal["anchor_shape", "start_end"] | None = "anchor_shape",
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: Literal[True],
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch]: ...
@overload
def random_object_bbox(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    background: int | ArrayLike | Tensor | Batch | None = None,
    cache_objects: bool | None = False,
    class_weights: ArrayLike | Tensor | Batch | None = None,
    classes: ArrayLike | Tensor | Batch | None = None,
    foreground_prob: float | ArrayLike | Tensor | Batch | None = 1.0,
    format: str | None = "anchor_shape",
    ignore_class: bool | None = False,
    k_largest: int | None = None,
    output_class: bool | None = False,
    threshold: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | tuple[Tensor, ...] | Batch | tuple[Batch, ...]: ...
@overload
def select_masks(
    mask_ids: ArrayLike | Tensor,
    polygons: ArrayLike | Tensor,
    vertices: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    reindex_masks: bool | None = False,
) -> tuple[Tensor, Tensor]: ...
@overload
def select_masks(
    mask_ids: Batch,
    polygons: ArrayLike | Tensor | Batch,
    vertices: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    reindex_masks: bool | None = False,
) -> tuple[Batch, Batch]: ...
@overload
def select_masks(
    mask_ids: ArrayLike | Tensor | Batch,
    polygons: ArrayLike | Tensor | Batch,
    vertices: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    reindex_masks: bool | None = False,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def select_masks(
    mask_ids: ArrayLike | Tensor | Batch,
    polygons: ArrayLike | Tensor | Batch,
    vertices: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    reindex_masks: bool | None = False,
) -> tuple[Batch, Batch]: ...
