# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

from collections.abc import Sequence
from typing import Literal, overload

from numpy.typing import ArrayLike

from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.dtype import DTypeLike
from .._engine.enums import DALIImageType, DALIInterpType
from .._engine.files import FileLike, Files
from .._engine.tensor import Tensor
from .._scene.scene import Scene
from . import decoders as decoders
from . import readers as readers

__all__ = [
    "decoders",
    "dilate",
    "erode",
    "median_blur",
    "peek_image_shape",
    "readers",
    "remap",
    "resize",
    "warp_perspective",
]

@overload
def dilate(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Tensor: ...
@overload
def dilate(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Batch: ...
@overload
def dilate(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Tensor | Batch: ...
@overload
def dilate(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Batch: ...
@overload
def dilate(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Scene: ...
@overload
def erode(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Tensor: ...
@overload
def erode(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Batch: ...
@overload
def erode(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Tensor | Batch: ...
@overload
def erode(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Batch: ...
@overload
def erode(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    mask_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1, -1),
    iterations: int | None = 1,
    border_mode: str | None = "constant",
) -> Scene: ...
@overload
def median_blur(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | None = (3, 3),
) -> Tensor: ...
@overload
def median_blur(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
) -> Batch: ...
@overload
def median_blur(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
) -> Tensor | Batch: ...
@overload
def median_blur(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
) -> Batch: ...
@overload
def median_blur(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3, 3),
) -> Scene: ...
@overload
def peek_image_shape(
    input: FileLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = ...,
    adjust_orientation: bool | None = True,
) -> Tensor: ...
@overload
def peek_image_shape(
    input: Batch | Files,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = ...,
    adjust_orientation: bool | None = True,
) -> Batch: ...
@overload
def peek_image_shape(
    input: FileLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = ...,
    adjust_orientation: bool | None = True,
) -> Tensor | Batch: ...
@overload
def peek_image_shape(
    input: FileLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = ...,
    adjust_orientation: bool | None = True,
) -> Batch: ...
@overload
def remap(
    input: ArrayLike | Tensor,
    mapx: ArrayLike | Tensor,
    mapy: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    interp: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Tensor: ...
@overload
def remap(
    input: Batch,
    mapx: ArrayLike | Tensor | Batch,
    mapy: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    interp: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Batch: ...
@overload
def remap(
    input: ArrayLike | Tensor | Batch,
    mapx: ArrayLike | Tensor | Batch,
    mapy: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    interp: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Tensor | Batch: ...
@overload
def remap(
    input: ArrayLike | Tensor | Batch,
    mapx: ArrayLike | Tensor | Batch,
    mapy: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    interp: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Batch: ...
@overload
def remap(
    input: Scene,
    mapx: ArrayLike | Tensor | Batch,
    mapy: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    interp: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Scene: ...
@overload
def warp_perspective(
    input: ArrayLike | Tensor,
    matrix_input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | None = None,
    inverse_map: bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | None = None,
    border_mode: str | None = "constant",
    fill_value: Sequence[float] | float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Tensor: ...
@overload
def warp_perspective(
    input: Batch,
    matrix_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    inverse_map: bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    border_mode: str | None = "constant",
    fill_value: Sequence[float] | float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Batch: ...
@overload
def warp_perspective(
    input: ArrayLike | Tensor | Batch,
    matrix_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    inverse_map: bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    border_mode: str | None = "constant",
    fill_value: Sequence[float] | float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Tensor | Batch: ...
@overload
def warp_perspective(
    input: ArrayLike | Tensor | Batch,
    matrix_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    inverse_map: bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    border_mode: str | None = "constant",
    fill_value: Sequence[float] | float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Batch: ...
@overload
def warp_perspective(
    input: Scene,
    matrix_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    inverse_map: bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    border_mode: str | None = "constant",
    fill_value: Sequence[float] | float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    pixel_origin: str | None = "corner",
) -> Scene: ...
@overload
def resize(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | None = None,
    resize_x: float | ArrayLike | Tensor | None = None,
    resize_y: float | ArrayLike | Tensor | None = None,
    resize_z: float | ArrayLike | Tensor | None = None,
    resize_shorter: float | ArrayLike | Tensor | None = None,
    resize_longer: float | ArrayLike | Tensor | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType | str | ArrayLike | Tensor | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[False] | None = False,
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Tensor: ...
@overload
def resize(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    resize_x: float | ArrayLike | Tensor | Batch | None = None,
    resize_y: float | ArrayLike | Tensor | Batch | None = None,
    resize_z: float | ArrayLike | Tensor | Batch | None = None,
    resize_shorter: float | ArrayLike | Tensor | Batch | None = None,
    resize_longer: float | ArrayLike | Tensor | Batch | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[False] | None = False,
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Batch: ...
@overload
def resize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    resize_x: float | ArrayLike | Tensor | Batch | None = None,
    resize_y: float | ArrayLike | Tensor | Batch | None = None,
    resize_z: float | ArrayLike | Tensor | Batch | None = None,
    resize_shorter: float | ArrayLike | Tensor | Batch | None = None,
    resize_longer: float | ArrayLike | Tensor | Batch | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[False] | None = False,
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Tensor | Batch: ...
@overload
def resize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    resize_x: float | ArrayLike | Tensor | Batch | None = None,
    resize_y: float | ArrayLike | Tensor | Batch | None = None,
    resize_z: float | ArrayLike | Tensor | Batch | None = None,
    resize_shorter: float | ArrayLike | Tensor | Batch | None = None,
    resize_longer: float | ArrayLike | Tensor | Batch | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[False] | None = False,
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Batch: ...
@overload
def resize(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | None = None,
    resize_x: float | ArrayLike | Tensor | None = None,
    resize_y: float | ArrayLike | Tensor | None = None,
    resize_z: float | ArrayLike | Tensor | None = None,
    resize_shorter: float | ArrayLike | Tensor | None = None,
    resize_longer: float | ArrayLike | Tensor | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType | str | ArrayLike | Tensor | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[True],
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> tuple[Tensor, Tensor]: ...
@overload
def resize(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    resize_x: float | ArrayLike | Tensor | Batch | None = None,
    resize_y: float | ArrayLike | Tensor | Batch | None = None,
    resize_z: float | ArrayLike | Tensor | Batch | None = None,
    resize_shorter: float | ArrayLike | Tensor | Batch | None = None,
    resize_longer: float | ArrayLike | Tensor | Batch | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[True],
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> tuple[Batch, Batch]: ...
@overload
def resize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    resize_x: float | ArrayLike | Tensor | Batch | None = None,
    resize_y: float | ArrayLike | Tensor | Batch | None = None,
    resize_z: float | ArrayLike | Tensor | Batch | None = None,
    resize_shorter: float | ArrayLike | Tensor | Batch | None = None,
    resize_longer: float | ArrayLike | Tensor | Batch | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[True],
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def resize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    resize_x: float | ArrayLike | Tensor | Batch | None = None,
    resize_y: float | ArrayLike | Tensor | Batch | None = None,
    resize_z: float | ArrayLike | Tensor | Batch | None = None,
    resize_shorter: float | ArrayLike | Tensor | Batch | None = None,
    resize_longer: float | ArrayLike | Tensor | Batch | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[True],
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> tuple[Batch, Batch]: ...
@overload
def resize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    resize_x: float | ArrayLike | Tensor | Batch | None = None,
    resize_y: float | ArrayLike | Tensor | Batch | None = None,
    resize_z: float | ArrayLike | Tensor | Batch | None = None,
    resize_shorter: float | ArrayLike | Tensor | Batch | None = None,
    resize_longer: float | ArrayLike | Tensor | Batch | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: bool | None = False,
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Tensor | tuple[Tensor, ...] | Batch | tuple[Batch, ...]: ...
@overload
def resize(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    resize_x: float | ArrayLike | Tensor | Batch | None = None,
    resize_y: float | ArrayLike | Tensor | Batch | None = None,
    resize_z: float | ArrayLike | Tensor | Batch | None = None,
    resize_shorter: float | ArrayLike | Tensor | Batch | None = None,
    resize_longer: float | ArrayLike | Tensor | Batch | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[False] | None = False,
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Scene: ...
@overload
def resize(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    resize_x: float | ArrayLike | Tensor | Batch | None = None,
    resize_y: float | ArrayLike | Tensor | Batch | None = None,
    resize_z: float | ArrayLike | Tensor | Batch | None = None,
    resize_shorter: float | ArrayLike | Tensor | Batch | None = None,
    resize_longer: float | ArrayLike | Tensor | Batch | None = None,
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: bool | None = False,
    subpixel_scale: bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[True],
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> tuple[Scene, Tensor | Batch]: ...
