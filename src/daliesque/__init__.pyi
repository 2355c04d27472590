# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

import builtins
from collections.abc import Sequence
from typing import Literal, overload

from numpy.typing import ArrayLike

from . import auto_aug as auto_aug
from . import capture as capture
from . import checkpoint as checkpoint
from . import decoders as decoders
from . import experimental as experimental
from . import grain as grain
from . import io as io
from . import jax as jax
from . import math as math
from . import noise as noise
from . import pytorch as pytorch
from . import random as random
from . import ray as ray
from . import readers as readers
from . import reductions as reductions
from . import segmentation as segmentation
from . import testing as testing
from . import tfrecord as tfrecord
from . import transforms as transforms
from . import types as types
from ._compat import as_dali as as_dali
from ._engine.batch import Batch
from ._engine.batch import as_batch as as_batch
from ._engine.batch import batch as batch
from ._engine.context import EvalContext as EvalContext
from ._engine.context import get_current_stream as get_current_stream
from ._engine.device import Device as Device
from ._engine.device import DeviceLike
from ._engine.device import device as device
from ._engine.dtype import DataType as DataType
from ._engine.dtype import DType as DType
from ._engine.dtype import DTypeLike
from ._engine.dtype import ImageType as ImageType
from ._engine.dtype import InterpType as InterpType
from ._engine.dtype import bfloat16 as bfloat16
from ._engine.dtype import bool_ as bool
from ._engine.dtype import dtype as dtype
from ._engine.dtype import float16 as float16
from ._engine.dtype import float32 as float32
from ._engine.dtype import float64 as float64
from ._engine.dtype import int8 as int8
from ._engine.dtype import int16 as int16
from ._engine.dtype import int32 as int32
from ._engine.dtype import int64 as int64
from ._engine.dtype import type_id as type_id
from ._engine.dtype import uint8 as uint8
from ._engine.dtype import uint16 as uint16
from ._engine.dtype import uint32 as uint32
from ._engine.dtype import uint64 as uint64
from ._engine.enums import DALIImageType, DALIInterpType
from ._engine.errors import DecodeError as DecodeError
from ._engine.errors import InternalError as InternalError
from ._engine.errors import OpError as OpError
from ._engine.files import FileLike, Files
from ._engine.memory import memory as memory
from ._engine.memory import set_memory_limit as set_memory_limit
from ._engine.modes import EvalMode as EvalMode
from ._engine.rng import RNG
from ._engine.stream import Stream as Stream
from ._engine.stream import get_default_stream as get_default_stream
from ._engine.stream import set_current_stream as set_current_stream
from ._engine.stream import set_default_stream as set_default_stream
from ._engine.stream import stream as stream
from ._engine.tensor import Tensor
from ._engine.tensor import as_tensor as as_tensor
from ._engine.tensor import tensor as tensor
from ._engine.threads import ThreadPool as ThreadPool
from ._engine.threads import get_num_threads as get_num_threads
from ._engine.threads import set_num_threads as set_num_threads
from ._loops.external_source import ExternalSource as ExternalSource
from ._loops.map import map as map
from ._loops.map import operator as operator
from ._loops.prefetch import prefetch as prefetch
from ._observe import inspect as inspect
from ._observe import replay as replay
from ._observe import report as report
from ._observe import trace as trace
from ._observe import watch as watch
from ._ops.imread import imread as imread
from ._scene.scene import Scene
from ._version import __version__ as __version__

__all__ = [
    "Batch",
    "DType",
    "DataType",
    "DecodeError",
    "Device",
    "EvalContext",
    "EvalMode",
    "ExternalSource",
    "ImageType",
    "InternalError",
    "InterpType",
    "OpError",
    "Scene",
    "Stream",
    "Tensor",
    "ThreadPool",
    "as_batch",
    "as_dali",
    "as_tensor",
    "audio_resample",
    "auto_aug",
    "autocontrast",
    "batch",
    "batch_permutation",
    "bb_flip",
    "bbox_paste",
    "bbox_rotate",
    "bfloat16",
    "bool",
    "box_encoder",
    "brightness",
    "brightness_contrast",
    "capture",
    "cast",
    "cast_like",
    "cat",
    "channel_shuffle",
    "checkpoint",
    "clahe",
    "coarse_dropout",
    "color_space_conversion",
    "color_twist",
    "contrast",
    "coord_flip",
    "coord_transform",
    "copy",
    "copy_paste",
    "crop",
    "crop_mirror_normalize",
    "cutmix",
    "debayer",
    "decoders",
    "device",
    "dtype",
    "dump_image",
    "elastic_transform",
    "element_extract",
    "equalize",
    "erase",
    "expand_dims",
    "experimental",
    "filter",
    "flip",
    "float16",
    "float32",
    "float64",
    "full",
    "full_like",
    "gamma",
    "gaussian_blur",
    "get_current_stream",
    "get_default_stream",
    "get_num_threads",
    "get_property",
    "grain",
    "grayscale",
    "grid_distortion",
    "grid_mask",
    "hsv",
    "hue",
    "imread",
    "inspect",
    "int8",
    "int16",
    "int32",
    "int64",
    "invert",
    "io",
    "jax",
    "jitter",
    "jpeg_compression_distortion",
    "laplacian",
    "lookup_table",
    "map",
    "math",
    "mel_filter_bank",
    "memory",
    "mfcc",
    "mixup",
    "mosaic",
    "motion_blur",
    "multi_paste",
    "noise",
    "nonsilent_region",
    "normalize",
    "one_hot",
    "ones",
    "ones_like",
    "operator",
    "optical_flow",
    "pad",
    "paste",
    "peek_image_shape",
    "per_frame",
    "permute_batch",
    "perspective",
    "posterize",
    "power_spectrum",
    "preemphasis_filter",
    "prefetch",
    "pytorch",
    "random",
    "random_bbox_crop",
    "random_crop_generator",
    "random_erasing",
    "random_resized_crop",
    "ray",
    "readers",
    "reductions",
    "reinterpret",
    "replay",
    "report",
    "reshape",
    "resize",
    "resize_crop_mirror",
    "rgb_shift",
    "roi_random_crop",
    "rotate",
    "saturation",
    "segmentation",
    "sequence_rearrange",
    "set_current_stream",
    "set_default_stream",
    "set_memory_limit",
    "set_num_threads",
    "sharpness",
    "shear_x",
    "shear_y",
    "slice",
    "solarize",
    "spectrogram",
    "sphere",
    "squeeze",
    "stack",
    "stream",
    "tensor",
    "tensor_resize",
    "testing",
    "tfrecord",
    "to_decibels",
    "trace",
    "transforms",
    "translate_x",
    "translate_y",
    "transpose",
    "type_id",
    "types",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "warp_affine",
    "watch",
    "water",
    "zeros",
    "zeros_like",
]

@overload
def audio_resample(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    in_rate: float | ArrayLike | Tensor | None = None,
    out_rate: float | ArrayLike | Tensor | None = None,
    scale: float | ArrayLike | Tensor | None = None,
    out_length: int | ArrayLike | Tensor | None = None,
    quality: float | None = 50.0,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def audio_resample(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    in_rate: float | ArrayLike | Tensor | Batch | None = None,
    out_rate: float | ArrayLike | Tensor | Batch | None = None,
    scale: float | ArrayLike | Tensor | Batch | None = None,
    out_length: int | ArrayLike | Tensor | Batch | None = None,
    quality: float | None = 50.0,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def audio_resample(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    in_rate: float | ArrayLike | Tensor | Batch | None = None,
    out_rate: float | ArrayLike | Tensor | Batch | None = None,
    scale: float | ArrayLike | Tensor | Batch | None = None,
    out_length: int | ArrayLike | Tensor | Batch | None = None,
    quality: float | None = 50.0,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def audio_resample(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    in_rate: float | ArrayLike | Tensor | Batch | None = None,
    out_rate: float | ArrayLike | Tensor | Batch | None = None,
    scale: float | ArrayLike | Tensor | Batch | None = None,
    out_length: int | ArrayLike | Tensor | Batch | None = None,
    quality: float | None = 50.0,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def nonsilent_region(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    cutoff_db: float | None = -60.0,
    window_length: int | None = 2048,
    reference_power: float | None = 0.0,
    reset_interval: int | None = 8192,
) -> tuple[Tensor, Tensor]: ...
@overload
def nonsilent_region(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    cutoff_db: float | None = -60.0,
    window_length: int | None = 2048,
    reference_power: float | None = 0.0,
    reset_interval: int | None = 8192,
) -> tuple[Batch, Batch]: ...
@overload
def nonsilent_region(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    cutoff_db: float | None = -60.0,
    window_length: int | None = 2048,
    reference_power: float | None = 0.0,
    reset_interval: int | None = 8192,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def nonsilent_region(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    cutoff_db: float | None = -60.0,
    window_length: int | None = 2048,
    reference_power: float | None = 0.0,
    reset_interval: int | None = 8192,
) -> tuple[Batch, Batch]: ...
@overload
def preemphasis_filter(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    preemph_coeff: float | ArrayLike | Tensor | None = 0.97,
    border: str | None = "clamp",
    dtype: DTypeLike | None = ...,
) -> Tensor: ...
@overload
def preemphasis_filter(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    preemph_coeff: float | ArrayLike | Tensor | Batch | None = 0.97,
    border: str | None = "clamp",
    dtype: DTypeLike | None = ...,
) -> Batch: ...
@overload
def preemphasis_filter(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    preemph_coeff: float | ArrayLike | Tensor | Batch | None = 0.97,
    border: str | None = "clamp",
    dtype: DTypeLike | None = ...,
) -> Tensor | Batch: ...
@overload
def preemphasis_filter(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    preemph_coeff: float | ArrayLike | Tensor | Batch | None = 0.97,
    border: str | None = "clamp",
    dtype: DTypeLike | None = ...,
) -> Batch: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[False] | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def random_bbox_crop(
    boxes: Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[False] | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[False] | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor] | tuple[Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[False] | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[True],
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
@overload
def random_bbox_crop(
    boxes: Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[True],
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[True],
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor] | tuple[Batch, Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[True],
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor,
    labels: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[False] | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
@overload
def random_bbox_crop(
    boxes: Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[False] | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[False] | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor] | tuple[Batch, Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[False] | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor,
    labels: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[True],
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]: ...
@overload
def random_bbox_crop(
    boxes: Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[True],
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[True],
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor] | tuple[Batch, Batch, Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[True],
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Batch, Batch, Batch, Batch, Batch]: ...
@overload
def random_bbox_crop(
    boxes: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: builtins.bool | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Tensor, ...] | tuple[Batch, ...]: ...
@overload
def random_bbox_crop(
    boxes: Scene,
    labels: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[False] | None = False,
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def random_bbox_crop(
    boxes: Scene,
    labels: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    all_boxes_above_threshold: builtins.bool | None = True,
    allow_no_crop: builtins.bool | None = True,
    aspect_ratio: Sequence[float] | float | None = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    ltrb: builtins.bool | None = True,
    num_attempts: int | None = 1,
    output_bbox_indices: Literal[True],
    quiet: builtins.bool | None = False,
    scaling: Sequence[float] | float | None = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str | None = "iou",
    thresholds: Sequence[float] | float | None = (0.0,),
    total_num_attempts: int | None = -1,
    rng: RNG | None = None,
) -> tuple[Scene, Tensor | Batch]: ...
@overload
def bb_flip(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    horizontal: int | ArrayLike | Tensor | None = 1,
    ltrb: builtins.bool | None = False,
    vertical: int | ArrayLike | Tensor | None = 0,
) -> Tensor: ...
@overload
def bb_flip(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    horizontal: int | ArrayLike | Tensor | Batch | None = 1,
    ltrb: builtins.bool | None = False,
    vertical: int | ArrayLike | Tensor | Batch | None = 0,
) -> Batch: ...
@overload
def bb_flip(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    horizontal: int | ArrayLike | Tensor | Batch | None = 1,
    ltrb: builtins.bool | None = False,
    vertical: int | ArrayLike | Tensor | Batch | None = 0,
) -> Tensor | Batch: ...
@overload
def bb_flip(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    horizontal: int | ArrayLike | Tensor | Batch | None = 1,
    ltrb: builtins.bool | None = False,
    vertical: int | ArrayLike | Tensor | Batch | None = 0,
) -> Batch: ...
@overload
def bbox_paste(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    ratio: float | ArrayLike | Tensor,
    ltrb: builtins.bool | None = False,
    paste_x: float | ArrayLike | Tensor | None = 0.5,
    paste_y: float | ArrayLike | Tensor | None = 0.5,
) -> Tensor: ...
@overload
def bbox_paste(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    ratio: float | ArrayLike | Tensor | Batch,
    ltrb: builtins.bool | None = False,
    paste_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    paste_y: float | ArrayLike | Tensor | Batch | None = 0.5,
) -> Batch: ...
@overload
def bbox_paste(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    ratio: float | ArrayLike | Tensor | Batch,
    ltrb: builtins.bool | None = False,
    paste_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    paste_y: float | ArrayLike | Tensor | Batch | None = 0.5,
) -> Tensor | Batch: ...
@overload
def bbox_paste(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    ratio: float | ArrayLike | Tensor | Batch,
    ltrb: builtins.bool | None = False,
    paste_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    paste_y: float | ArrayLike | Tensor | Batch | None = 0.5,
) -> Batch: ...
@overload
def bbox_rotate(
    bboxes: ArrayLike | Tensor,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor,
    input_shape: Sequence[int] | int | ArrayLike | Tensor,
    bbox_layout: str | None = "xyXY",
    bbox_normalized: builtins.bool | None = True,
    keep_size: builtins.bool | None = False,
    mode: str | None = "expand",
    remove_threshold: float | None = 0.1,
    shape_layout: str | None = "HW",
    size: Sequence[float] | float | ArrayLike | Tensor | None = None,
) -> Tensor: ...
@overload
def bbox_rotate(
    bboxes: Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    bbox_layout: str | None = "xyXY",
    bbox_normalized: builtins.bool | None = True,
    keep_size: builtins.bool | None = False,
    mode: str | None = "expand",
    remove_threshold: float | None = 0.1,
    shape_layout: str | None = "HW",
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def bbox_rotate(
    bboxes: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    bbox_layout: str | None = "xyXY",
    bbox_normalized: builtins.bool | None = True,
    keep_size: builtins.bool | None = False,
    mode: str | None = "expand",
    remove_threshold: float | None = 0.1,
    shape_layout: str | None = "HW",
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | Batch: ...
@overload
def bbox_rotate(
    bboxes: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    bbox_layout: str | None = "xyXY",
    bbox_normalized: builtins.bool | None = True,
    keep_size: builtins.bool | None = False,
    mode: str | None = "expand",
    remove_threshold: float | None = 0.1,
    shape_layout: str | None = "HW",
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def bbox_rotate(
    bboxes: ArrayLike | Tensor,
    labels: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor,
    input_shape: Sequence[int] | int | ArrayLike | Tensor,
    bbox_layout: str | None = "xyXY",
    bbox_normalized: builtins.bool | None = True,
    keep_size: builtins.bool | None = False,
    mode: str | None = "expand",
    remove_threshold: float | None = 0.1,
    shape_layout: str | None = "HW",
    size: Sequence[float] | float | ArrayLike | Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def bbox_rotate(
    bboxes: Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    bbox_layout: str | None = "xyXY",
    bbox_normalized: builtins.bool | None = True,
    keep_size: builtins.bool | None = False,
    mode: str | None = "expand",
    remove_threshold: float | None = 0.1,
    shape_layout: str | None = "HW",
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def bbox_rotate(
    bboxes: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    bbox_layout: str | None = "xyXY",
    bbox_normalized: builtins.bool | None = True,
    keep_size: builtins.bool | None = False,
    mode: str | None = "expand",
    remove_threshold: float | None = 0.1,
    shape_layout: str | None = "HW",
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def bbox_rotate(
    bboxes: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    bbox_layout: str | None = "xyXY",
    bbox_normalized: builtins.bool | None = True,
    keep_size: builtins.bool | None = False,
    mode: str | None = "expand",
    remove_threshold: float | None = 0.1,
    shape_layout: str | None = "HW",
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def bbox_rotate(
    bboxes: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    input_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    bbox_layout: str | None = "xyXY",
    bbox_normalized: builtins.bool | None = True,
    keep_size: builtins.bool | None = False,
    mode: str | None = "expand",
    remove_threshold: float | None = 0.1,
    shape_layout: str | None = "HW",
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | tuple[Tensor, ...] | Batch | tuple[Batch, ...]: ...
@overload
def box_encoder(
    input_0: ArrayLike | Tensor,
    input_1: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    anchors: ArrayLike | Tensor,
    criteria: float | None = 0.5,
    means: Sequence[float] | float | None = (0.0, 0.0, 0.0, 0.0),
    offset: builtins.bool | None = False,
    scale: float | None = 1.0,
    stds: Sequence[float] | float | None = (1.0, 1.0, 1.0, 1.0),
) -> tuple[Tensor, Tensor]: ...
@overload
def box_encoder(
    input_0: Batch,
    input_1: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    anchors: ArrayLike | Tensor | Batch,
    criteria: float | None = 0.5,
    means: Sequence[float] | float | None = (0.0, 0.0, 0.0, 0.0),
    offset: builtins.bool | None = False,
    scale: float | None = 1.0,
    stds: Sequence[float] | float | None = (1.0, 1.0, 1.0, 1.0),
) -> tuple[Batch, Batch]: ...
@overload
def box_encoder(
    input_0: ArrayLike | Tensor | Batch,
    input_1: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    anchors: ArrayLike | Tensor | Batch,
    criteria: float | None = 0.5,
    means: Sequence[float] | float | None = (0.0, 0.0, 0.0, 0.0),
    offset: builtins.bool | None = False,
    scale: float | None = 1.0,
    stds: Sequence[float] | float | None = (1.0, 1.0, 1.0, 1.0),
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def box_encoder(
    input_0: ArrayLike | Tensor | Batch,
    input_1: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    anchors: ArrayLike | Tensor | Batch,
    criteria: float | None = 0.5,
    means: Sequence[float] | float | None = (0.0, 0.0, 0.0, 0.0),
    offset: builtins.bool | None = False,
    scale: float | None = 1.0,
    stds: Sequence[float] | float | None = (1.0, 1.0, 1.0, 1.0),
) -> tuple[Batch, Batch]: ...
@overload
def brightness(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | None = 0.0,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def brightness(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def brightness(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def brightness(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def brightness(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def brightness_contrast(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | None = 0.0,
    contrast: float | ArrayLike | Tensor | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def brightness_contrast(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def brightness_contrast(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def brightness_contrast(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def brightness_contrast(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def channel_shuffle(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    order: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def channel_shuffle(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    order: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def channel_shuffle(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    order: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def channel_shuffle(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    order: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def channel_shuffle(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    order: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def color_space_conversion(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    image_type: DALIImageType | str,
    output_type: DALIImageType | str,
) -> Tensor: ...
@overload
def color_space_conversion(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    image_type: DALIImageType | str,
    output_type: DALIImageType | str,
) -> Batch: ...
@overload
def color_space_conversion(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    image_type: DALIImageType | str,
    output_type: DALIImageType | str,
) -> Tensor | Batch: ...
@overload
def color_space_conversion(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    image_type: DALIImageType | str,
    output_type: DALIImageType | str,
) -> Batch: ...
@overload
def color_space_conversion(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    image_type: DALIImageType | str,
    output_type: DALIImageType | str,
) -> Scene: ...
@overload
def color_twist(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | None = 0.0,
    saturation: float | ArrayLike | Tensor | None = 1.0,
    contrast: float | ArrayLike | Tensor | None = 1.0,
    brightness: float | ArrayLike | Tensor | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def color_twist(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def color_twist(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def color_twist(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def color_twist(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    brightness: float | ArrayLike | Tensor | Batch | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def contrast(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    contrast: float | ArrayLike | Tensor | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def contrast(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def contrast(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def contrast(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def contrast(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    contrast: float | ArrayLike | Tensor | Batch | None = 1.0,
    contrast_center: float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def grayscale(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    num_output_channels: int | None = 3,
) -> Tensor: ...
@overload
def grayscale(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    num_output_channels: int | None = 3,
) -> Batch: ...
@overload
def grayscale(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    num_output_channels: int | None = 3,
) -> Tensor | Batch: ...
@overload
def grayscale(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    num_output_channels: int | None = 3,
) -> Batch: ...
@overload
def grayscale(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    num_output_channels: int | None = 3,
) -> Scene: ...
@overload
def hsv(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | None = 0.0,
    saturation: float | ArrayLike | Tensor | None = 1.0,
    value: float | ArrayLike | Tensor | None = 1.0,
    dtype: DTypeLike | None = ...,
) -> Tensor: ...
@overload
def hsv(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    value: float | ArrayLike | Tensor | Batch | None = 1.0,
    dtype: DTypeLike | None = ...,
) -> Batch: ...
@overload
def hsv(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    value: float | ArrayLike | Tensor | Batch | None = 1.0,
    dtype: DTypeLike | None = ...,
) -> Tensor | Batch: ...
@overload
def hsv(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    value: float | ArrayLike | Tensor | Batch | None = 1.0,
    dtype: DTypeLike | None = ...,
) -> Batch: ...
@overload
def hsv(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    value: float | ArrayLike | Tensor | Batch | None = 1.0,
    dtype: DTypeLike | None = ...,
) -> Scene: ...
@overload
def hue(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | None = 0.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def hue(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def hue(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def hue(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def hue(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    hue: float | ArrayLike | Tensor | Batch | None = 0.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def rgb_shift(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    r_shift: float | ArrayLike | Tensor | None = 0.0,
    g_shift: float | ArrayLike | Tensor | None = 0.0,
    b_shift: float | ArrayLike | Tensor | None = 0.0,
) -> Tensor: ...
@overload
def rgb_shift(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    r_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    g_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    b_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Batch: ...
@overload
def rgb_shift(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    r_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    g_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    b_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Tensor | Batch: ...
@overload
def rgb_shift(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    r_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    g_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    b_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Batch: ...
@overload
def rgb_shift(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    r_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    g_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
    b_shift: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Scene: ...
@overload
def saturation(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    saturation: float | ArrayLike | Tensor | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def saturation(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def saturation(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def saturation(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def saturation(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    saturation: float | ArrayLike | Tensor | Batch | None = 1.0,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def erase(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    anchor: ArrayLike | Tensor | None = None,
    shape: ArrayLike | Tensor | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    normalized: builtins.bool | None = None,
    normalized_anchor: builtins.bool | None = False,
    normalized_shape: builtins.bool | None = False,
    centered_anchor: builtins.bool | None = False,
    fill_value: Sequence[float] | float | ArrayLike | Tensor | None = (0.0,),
) -> Tensor: ...
@overload
def erase(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    anchor: ArrayLike | Tensor | Batch | None = None,
    shape: ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    normalized: builtins.bool | None = None,
    normalized_anchor: builtins.bool | None = False,
    normalized_shape: builtins.bool | None = False,
    centered_anchor: builtins.bool | None = False,
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
) -> Batch: ...
@overload
def erase(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    anchor: ArrayLike | Tensor | Batch | None = None,
    shape: ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    normalized: builtins.bool | None = None,
    normalized_anchor: builtins.bool | None = False,
    normalized_shape: builtins.bool | None = False,
    centered_anchor: builtins.bool | None = False,
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
) -> Tensor | Batch: ...
@overload
def erase(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    anchor: ArrayLike | Tensor | Batch | None = None,
    shape: ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    normalized: builtins.bool | None = None,
    normalized_anchor: builtins.bool | None = False,
    normalized_shape: builtins.bool | None = False,
    centered_anchor: builtins.bool | None = False,
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
) -> Batch: ...
@overload
def erase(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    anchor: ArrayLike | Tensor | Batch | None = None,
    shape: ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    normalized: builtins.bool | None = None,
    normalized_anchor: builtins.bool | None = False,
    normalized_shape: builtins.bool | None = False,
    centered_anchor: builtins.bool | None = False,
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
) -> Scene: ...
@overload
def grid_mask(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    tile: int | ArrayLike | Tensor | None = 100,
    ratio: float | ArrayLike | Tensor | None = 0.5,
    angle: float | ArrayLike | Tensor | None = 0.0,
    shift_x: float | ArrayLike | Tensor | None = 0.0,
    shift_y: float | ArrayLike | Tensor | None = 0.0,
) -> Tensor: ...
@overload
def grid_mask(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    tile: int | ArrayLike | Tensor | Batch | None = 100,
    ratio: float | ArrayLike | Tensor | Batch | None = 0.5,
    angle: float | ArrayLike | Tensor | Batch | None = 0.0,
    shift_x: float | ArrayLike | Tensor | Batch | None = 0.0,
    shift_y: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Batch: ...
@overload
def grid_mask(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    tile: int | ArrayLike | Tensor | Batch | None = 100,
    ratio: float | ArrayLike | Tensor | Batch | None = 0.5,
    angle: float | ArrayLike | Tensor | Batch | None = 0.0,
    shift_x: float | ArrayLike | Tensor | Batch | None = 0.0,
    shift_y: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Tensor | Batch: ...
@overload
def grid_mask(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    tile: int | ArrayLike | Tensor | Batch | None = 100,
    ratio: float | ArrayLike | Tensor | Batch | None = 0.5,
    angle: float | ArrayLike | Tensor | Batch | None = 0.0,
    shift_x: float | ArrayLike | Tensor | Batch | None = 0.0,
    shift_y: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Batch: ...
@overload
def grid_mask(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    tile: int | ArrayLike | Tensor | Batch | None = 100,
    ratio: float | ArrayLike | Tensor | Batch | None = 0.5,
    angle: float | ArrayLike | Tensor | Batch | None = 0.0,
    shift_x: float | ArrayLike | Tensor | Batch | None = 0.0,
    shift_y: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Scene: ...
@overload
def multi_paste(
    input_0: ArrayLike | Tensor,
    *inputs: ArrayLike | Tensor,
    batch_size: None = None,
    device: DeviceLike | None = None,
    in_ids: ArrayLike | Tensor | None = None,
    in_anchors: ArrayLike | Tensor | None = None,
    in_anchors_rel: ArrayLike | Tensor | None = None,
    shapes: ArrayLike | Tensor | None = None,
    shapes_rel: ArrayLike | Tensor | None = None,
    out_anchors: ArrayLike | Tensor | None = None,
    out_anchors_rel: ArrayLike | Tensor | None = None,
    output_size: Sequence[int] | int | ArrayLike | Tensor | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def multi_paste(
    input_0: Batch,
    *inputs: ArrayLike | Tensor | Batch,
    batch_size: None = None,
    device: DeviceLike | None = None,
    in_ids: ArrayLike | Tensor | Batch | None = None,
    in_anchors: ArrayLike | Tensor | Batch | None = None,
    in_anchors_rel: ArrayLike | Tensor | Batch | None = None,
    shapes: ArrayLike | Tensor | Batch | None = None,
    shapes_rel: ArrayLike | Tensor | Batch | None = None,
    out_anchors: ArrayLike | Tensor | Batch | None = None,
    out_anchors_rel: ArrayLike | Tensor | Batch | None = None,
    output_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def multi_paste(
    input_0: ArrayLike | Tensor | Batch,
    *inputs: ArrayLike | Tensor | Batch,
    batch_size: None = None,
    device: DeviceLike | None = None,
    in_ids: ArrayLike | Tensor | Batch | None = None,
    in_anchors: ArrayLike | Tensor | Batch | None = None,
    in_anchors_rel: ArrayLike | Tensor | Batch | None = None,
    shapes: ArrayLike | Tensor | Batch | None = None,
    shapes_rel: ArrayLike | Tensor | Batch | None = None,
    out_anchors: ArrayLike | Tensor | Batch | None = None,
    out_anchors_rel: ArrayLike | Tensor | Batch | None = None,
    output_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def multi_paste(
    input_0: ArrayLike | Tensor | Batch,
    *inputs: ArrayLike | Tensor | Batch,
    batch_size: int,
    device: DeviceLike | None = None,
    in_ids: ArrayLike | Tensor | Batch | None = None,
    in_anchors: ArrayLike | Tensor | Batch | None = None,
    in_anchors_rel: ArrayLike | Tensor | Batch | None = None,
    shapes: ArrayLike | Tensor | Batch | None = None,
    shapes_rel: ArrayLike | Tensor | Batch | None = None,
    out_anchors: ArrayLike | Tensor | Batch | None = None,
    out_anchors_rel: ArrayLike | Tensor | Batch | None = None,
    output_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def paste(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    ratio: float | ArrayLike | Tensor,
    fill_value: Sequence[int] | int,
    n_channels: int | None = 3,
    paste_x: float | ArrayLike | Tensor | None = 0.5,
    paste_y: float | ArrayLike | Tensor | None = 0.5,
    min_canvas_size: float | ArrayLike | Tensor | None = 0.0,
) -> Tensor: ...
@overload
def paste(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    ratio: float | ArrayLike | Tensor | Batch,
    fill_value: Sequence[int] | int,
    n_channels: int | None = 3,
    paste_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    paste_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    min_canvas_size: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Batch: ...
@overload
def paste(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    ratio: float | ArrayLike | Tensor | Batch,
    fill_value: Sequence[int] | int,
    n_channels: int | None = 3,
    paste_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    paste_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    min_canvas_size: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Tensor | Batch: ...
@overload
def paste(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    ratio: float | ArrayLike | Tensor | Batch,
    fill_value: Sequence[int] | int,
    n_channels: int | None = 3,
    paste_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    paste_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    min_canvas_size: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Batch: ...
@overload
def paste(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    ratio: float | ArrayLike | Tensor | Batch,
    fill_value: Sequence[int] | int,
    n_channels: int | None = 3,
    paste_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    paste_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    min_canvas_size: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Scene: ...
@overload
def crop(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | None = None,
    crop_d: float | ArrayLike | Tensor | None = 0.0,
    crop_h: float | ArrayLike | Tensor | None = 0.0,
    crop_w: float | ArrayLike | Tensor | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | None = 0.5,
    rounding: str | None = "round",
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def crop(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def crop(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def crop(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def crop(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def crop_mirror_normalize(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | None = None,
    crop_d: float | ArrayLike | Tensor | None = 0.0,
    crop_h: float | ArrayLike | Tensor | None = 0.0,
    crop_w: float | ArrayLike | Tensor | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | None = 0,
    mean: Sequence[float] | float | ArrayLike | Tensor | None = (0.0,),
    std: Sequence[float] | float | ArrayLike | Tensor | None = (1.0,),
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_layout: str | None = "CHW",
    pad_output: builtins.bool | None = False,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def crop_mirror_normalize(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | Batch | None = 0,
    mean: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    std: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_layout: str | None = "CHW",
    pad_output: builtins.bool | None = False,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def crop_mirror_normalize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | Batch | None = 0,
    mean: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    std: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_layout: str | None = "CHW",
    pad_output: builtins.bool | None = False,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def crop_mirror_normalize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | Batch | None = 0,
    mean: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    std: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_layout: str | None = "CHW",
    pad_output: builtins.bool | None = False,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def crop_mirror_normalize(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | Batch | None = 0,
    mean: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    std: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (1.0,),
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_layout: str | None = "CHW",
    pad_output: builtins.bool | None = False,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def random_crop_generator(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def random_crop_generator(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def random_crop_generator(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def random_crop_generator(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def random_crop_generator(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    rng: RNG | None = None,
) -> tuple[Tensor | Batch, Tensor | Batch]: ...
@overload
def debayer(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    blue_position: Sequence[int] | int | ArrayLike | Tensor,
    algorithm: str | None = "bilinear_ocv",
) -> Tensor: ...
@overload
def debayer(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    blue_position: Sequence[int] | int | ArrayLike | Tensor | Batch,
    algorithm: str | None = "bilinear_ocv",
) -> Batch: ...
@overload
def debayer(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    blue_position: Sequence[int] | int | ArrayLike | Tensor | Batch,
    algorithm: str | None = "bilinear_ocv",
) -> Tensor | Batch: ...
@overload
def debayer(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    blue_position: Sequence[int] | int | ArrayLike | Tensor | Batch,
    algorithm: str | None = "bilinear_ocv",
) -> Batch: ...
@overload
def debayer(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    blue_position: Sequence[int] | int | ArrayLike | Tensor | Batch,
    algorithm: str | None = "bilinear_ocv",
) -> Scene: ...
@overload
def elastic_transform(
    input: ArrayLike | Tensor,
    flow: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | ArrayLike | Tensor | None = 50.0,
    sigma: float | ArrayLike | Tensor | None = 5.0,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def elastic_transform(
    input: Batch,
    flow: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | ArrayLike | Tensor | Batch | None = 50.0,
    sigma: float | ArrayLike | Tensor | Batch | None = 5.0,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def elastic_transform(
    input: ArrayLike | Tensor | Batch,
    flow: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | ArrayLike | Tensor | Batch | None = 50.0,
    sigma: float | ArrayLike | Tensor | Batch | None = 5.0,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def elastic_transform(
    input: ArrayLike | Tensor | Batch,
    flow: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    alpha: float | ArrayLike | Tensor | Batch | None = 50.0,
    sigma: float | ArrayLike | Tensor | Batch | None = 5.0,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def elastic_transform(
    input: Scene,
    flow: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    alpha: float | ArrayLike | Tensor | Batch | None = 50.0,
    sigma: float | ArrayLike | Tensor | Batch | None = 5.0,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def grid_distortion(
    input: ArrayLike | Tensor,
    nodes: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    num_steps: int | None = 5,
    distort_limit: float | ArrayLike | Tensor | None = 0.3,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def grid_distortion(
    input: Batch,
    nodes: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    num_steps: int | None = 5,
    distort_limit: float | ArrayLike | Tensor | Batch | None = 0.3,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def grid_distortion(
    input: ArrayLike | Tensor | Batch,
    nodes: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    num_steps: int | None = 5,
    distort_limit: float | ArrayLike | Tensor | Batch | None = 0.3,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def grid_distortion(
    input: ArrayLike | Tensor | Batch,
    nodes: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    num_steps: int | None = 5,
    distort_limit: float | ArrayLike | Tensor | Batch | None = 0.3,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def grid_distortion(
    input: Scene,
    nodes: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    num_steps: int | None = 5,
    distort_limit: float | ArrayLike | Tensor | Batch | None = 0.3,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def jitter(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    nDegree: int | None = 2,
    mask: int | ArrayLike | Tensor | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def jitter(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    nDegree: int | None = 2,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def jitter(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    nDegree: int | None = 2,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def jitter(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    nDegree: int | None = 2,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def jitter(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    nDegree: int | None = 2,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def sphere(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mask: int | ArrayLike | Tensor | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Tensor: ...
@overload
def sphere(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Batch: ...
@overload
def sphere(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Tensor | Batch: ...
@overload
def sphere(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Batch: ...
@overload
def sphere(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Scene: ...
@overload
def water(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    ampl_x: float | None = 10.0,
    ampl_y: float | None = 10.0,
    freq_x: float | None = 0.04908738521234052,
    freq_y: float | None = 0.04908738521234052,
    phase_x: float | None = 0.0,
    phase_y: float | None = 0.0,
    mask: int | ArrayLike | Tensor | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Tensor: ...
@overload
def water(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    ampl_x: float | None = 10.0,
    ampl_y: float | None = 10.0,
    freq_x: float | None = 0.04908738521234052,
    freq_y: float | None = 0.04908738521234052,
    phase_x: float | None = 0.0,
    phase_y: float | None = 0.0,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Batch: ...
@overload
def water(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    ampl_x: float | None = 10.0,
    ampl_y: float | None = 10.0,
    freq_x: float | None = 0.04908738521234052,
    freq_y: float | None = 0.04908738521234052,
    phase_x: float | None = 0.0,
    phase_y: float | None = 0.0,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Tensor | Batch: ...
@overload
def water(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    ampl_x: float | None = 10.0,
    ampl_y: float | None = 10.0,
    freq_x: float | None = 0.04908738521234052,
    freq_y: float | None = 0.04908738521234052,
    phase_x: float | None = 0.0,
    phase_y: float | None = 0.0,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Batch: ...
@overload
def water(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    ampl_x: float | None = 10.0,
    ampl_y: float | None = 10.0,
    freq_x: float | None = 0.04908738521234052,
    freq_y: float | None = 0.04908738521234052,
    phase_x: float | None = 0.0,
    phase_y: float | None = 0.0,
    mask: int | ArrayLike | Tensor | Batch | None = 1,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_NN,
    fill_value: float | None = 0.0,
) -> Scene: ...
@overload
def coarse_dropout(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    num_holes_range: Sequence[int] | int | None = (1, 2),
    hole_height_range: Sequence[float] | float | None = (0.1, 0.2),
    hole_width_range: Sequence[float] | float | None = (0.1, 0.2),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | None = (0.0,),
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def coarse_dropout(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    num_holes_range: Sequence[int] | int | None = (1, 2),
    hole_height_range: Sequence[float] | float | None = (0.1, 0.2),
    hole_width_range: Sequence[float] | float | None = (0.1, 0.2),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    rng: RNG | None = None,
) -> Batch: ...
@overload
def coarse_dropout(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    num_holes_range: Sequence[int] | int | None = (1, 2),
    hole_height_range: Sequence[float] | float | None = (0.1, 0.2),
    hole_width_range: Sequence[float] | float | None = (0.1, 0.2),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def coarse_dropout(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    num_holes_range: Sequence[int] | int | None = (1, 2),
    hole_height_range: Sequence[float] | float | None = (0.1, 0.2),
    hole_width_range: Sequence[float] | float | None = (0.1, 0.2),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    rng: RNG | None = None,
) -> Batch: ...
@overload
def coarse_dropout(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    num_holes_range: Sequence[int] | int | None = (1, 2),
    hole_height_range: Sequence[float] | float | None = (0.1, 0.2),
    hole_width_range: Sequence[float] | float | None = (0.1, 0.2),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    rng: RNG | None = None,
) -> Scene: ...
@overload
def random_erasing(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    probability: float | ArrayLike | Tensor | None = 0.5,
    scale: Sequence[float] | float | None = (0.02, 0.33),
    ratio: Sequence[float] | float | None = (0.3, 3.3),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | None = (0.0,),
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def random_erasing(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    probability: float | ArrayLike | Tensor | Batch | None = 0.5,
    scale: Sequence[float] | float | None = (0.02, 0.33),
    ratio: Sequence[float] | float | None = (0.3, 3.3),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    rng: RNG | None = None,
) -> Batch: ...
@overload
def random_erasing(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    probability: float | ArrayLike | Tensor | Batch | None = 0.5,
    scale: Sequence[float] | float | None = (0.02, 0.33),
    ratio: Sequence[float] | float | None = (0.3, 3.3),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def random_erasing(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    probability: float | ArrayLike | Tensor | Batch | None = 0.5,
    scale: Sequence[float] | float | None = (0.02, 0.33),
    ratio: Sequence[float] | float | None = (0.3, 3.3),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    rng: RNG | None = None,
) -> Batch: ...
@overload
def random_erasing(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    probability: float | ArrayLike | Tensor | Batch | None = 0.5,
    scale: Sequence[float] | float | None = (0.02, 0.33),
    ratio: Sequence[float] | float | None = (0.3, 3.3),
    fill_value: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    rng: RNG | None = None,
) -> Scene: ...
@overload
def full(
    fill_value: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
) -> Tensor: ...
@overload
def full(
    fill_value: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def full(
    fill_value: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | Batch: ...
@overload
def full(
    fill_value: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def full_like(
    data_like: ArrayLike | Tensor,
    fill_value: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Tensor: ...
@overload
def full_like(
    data_like: Batch,
    fill_value: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Batch: ...
@overload
def full_like(
    data_like: ArrayLike | Tensor | Batch,
    fill_value: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Tensor | Batch: ...
@overload
def full_like(
    data_like: ArrayLike | Tensor | Batch,
    fill_value: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
) -> Batch: ...
@overload
def one_hot(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = None,
    axis_name: str | None = None,
    dtype: DTypeLike | None = ...,
    num_classes: int | None = 0,
    off_value: float | None = 0.0,
    on_value: float | None = 1.0,
) -> Tensor: ...
@overload
def one_hot(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = None,
    axis_name: str | None = None,
    dtype: DTypeLike | None = ...,
    num_classes: int | None = 0,
    off_value: float | None = 0.0,
    on_value: float | None = 1.0,
) -> Batch: ...
@overload
def one_hot(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = None,
    axis_name: str | None = None,
    dtype: DTypeLike | None = ...,
    num_classes: int | None = 0,
    off_value: float | None = 0.0,
    on_value: float | None = 1.0,
) -> Tensor | Batch: ...
@overload
def one_hot(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axis: int | None = None,
    axis_name: str | None = None,
    dtype: DTypeLike | None = ...,
    num_classes: int | None = 0,
    off_value: float | None = 0.0,
    on_value: float | None = 1.0,
) -> Batch: ...
@overload
def ones(
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
) -> Tensor: ...
@overload
def ones(
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | Batch: ...
@overload
def ones(
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def ones_like(
    data_like: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def ones_like(
    data_like: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def ones_like(
    data_like: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def ones_like(
    data_like: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def zeros(
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
) -> Tensor: ...
@overload
def zeros(
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | Batch: ...
@overload
def zeros(
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = ...,
    layout: str | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def zeros_like(
    data_like: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def zeros_like(
    data_like: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def zeros_like(
    data_like: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def zeros_like(
    data_like: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def filter(
    data: ArrayLike | Tensor,
    filter: ArrayLike | Tensor,
    fill_value: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    anchor: Sequence[int] | int | ArrayLike | Tensor | None = (-1,),
    border: str | None = "reflect_101",
    mode: str | None = "same",
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def filter(
    data: Batch,
    filter: ArrayLike | Tensor | Batch,
    fill_value: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1,),
    border: str | None = "reflect_101",
    mode: str | None = "same",
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def filter(
    data: ArrayLike | Tensor | Batch,
    filter: ArrayLike | Tensor | Batch,
    fill_value: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1,),
    border: str | None = "reflect_101",
    mode: str | None = "same",
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def filter(
    data: ArrayLike | Tensor | Batch,
    filter: ArrayLike | Tensor | Batch,
    fill_value: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1,),
    border: str | None = "reflect_101",
    mode: str | None = "same",
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def filter(
    data: Scene,
    filter: ArrayLike | Tensor | Batch,
    fill_value: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    anchor: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (-1,),
    border: str | None = "reflect_101",
    mode: str | None = "same",
    dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def gaussian_blur(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    sigma: Sequence[float] | float | ArrayLike | Tensor | None = (0.0,),
    window_size: Sequence[int] | int | ArrayLike | Tensor | None = (0,),
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def gaussian_blur(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    sigma: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (0,),
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def gaussian_blur(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    sigma: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (0,),
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def gaussian_blur(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    sigma: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (0,),
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def gaussian_blur(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    sigma: Sequence[float] | float | ArrayLike | Tensor | Batch | None = (0.0,),
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (0,),
    dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def laplacian(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | None = (3,),
    smoothing_size: Sequence[int] | int | ArrayLike | Tensor | None = None,
    scale: Sequence[float] | float | ArrayLike | Tensor | None = None,
    normalized_kernel: builtins.bool | None = False,
    dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def laplacian(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3,),
    smoothing_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    scale: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    normalized_kernel: builtins.bool | None = False,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def laplacian(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3,),
    smoothing_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    scale: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    normalized_kernel: builtins.bool | None = False,
    dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def laplacian(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3,),
    smoothing_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    scale: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    normalized_kernel: builtins.bool | None = False,
    dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def laplacian(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    window_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = (3,),
    smoothing_size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    scale: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    normalized_kernel: builtins.bool | None = False,
    dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def motion_blur(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: int | ArrayLike | Tensor | None = 7,
    angle: float | ArrayLike | Tensor | None = 0.0,
    direction: float | ArrayLike | Tensor | None = 0.0,
) -> Tensor: ...
@overload
def motion_blur(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: int | ArrayLike | Tensor | Batch | None = 7,
    angle: float | ArrayLike | Tensor | Batch | None = 0.0,
    direction: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Batch: ...
@overload
def motion_blur(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: int | ArrayLike | Tensor | Batch | None = 7,
    angle: float | ArrayLike | Tensor | Batch | None = 0.0,
    direction: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Tensor | Batch: ...
@overload
def motion_blur(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    size: int | ArrayLike | Tensor | Batch | None = 7,
    angle: float | ArrayLike | Tensor | Batch | None = 0.0,
    direction: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Batch: ...
@overload
def motion_blur(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    size: int | ArrayLike | Tensor | Batch | None = 7,
    angle: float | ArrayLike | Tensor | Batch | None = 0.0,
    direction: float | ArrayLike | Tensor | Batch | None = 0.0,
) -> Scene: ...
@overload
def sharpness(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    sharpness: float | ArrayLike | Tensor | None = 1.0,
) -> Tensor: ...
@overload
def sharpness(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    sharpness: float | ArrayLike | Tensor | Batch | None = 1.0,
) -> Batch: ...
@overload
def sharpness(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    sharpness: float | ArrayLike | Tensor | Batch | None = 1.0,
) -> Tensor | Batch: ...
@overload
def sharpness(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    sharpness: float | ArrayLike | Tensor | Batch | None = 1.0,
) -> Batch: ...
@overload
def sharpness(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    sharpness: float | ArrayLike | Tensor | Batch | None = 1.0,
) -> Scene: ...
@overload
def flip(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    horizontal: int | ArrayLike | Tensor | None = 1,
    vertical: int | ArrayLike | Tensor | None = 0,
    depthwise: int | ArrayLike | Tensor | None = 0,
) -> Tensor: ...
@overload
def flip(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    horizontal: int | ArrayLike | Tensor | Batch | None = 1,
    vertical: int | ArrayLike | Tensor | Batch | None = 0,
    depthwise: int | ArrayLike | Tensor | Batch | None = 0,
) -> Batch: ...
@overload
def flip(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    horizontal: int | ArrayLike | Tensor | Batch | None = 1,
    vertical: int | ArrayLike | Tensor | Batch | None = 0,
    depthwise: int | ArrayLike | Tensor | Batch | None = 0,
) -> Tensor | Batch: ...
@overload
def flip(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    horizontal: int | ArrayLike | Tensor | Batch | None = 1,
    vertical: int | ArrayLike | Tensor | Batch | None = 0,
    depthwise: int | ArrayLike | Tensor | Batch | None = 0,
) -> Batch: ...
@overload
def flip(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    horizontal: int | ArrayLike | Tensor | Batch | None = 1,
    vertical: int | ArrayLike | Tensor | Batch | None = 0,
    depthwise: int | ArrayLike | Tensor | Batch | None = 0,
) -> Scene: ...
def batch_permutation(
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    allow_repetitions: builtins.bool | None = False,
    no_fixed_points: builtins.bool | None = False,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def cast(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike,
) -> Tensor: ...
@overload
def cast(
    input: Batch, /, *, batch_size: None = None, device: DeviceLike | None = None, dtype: DTypeLike
) -> Batch: ...
@overload
def cast(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike,
) -> Tensor | Batch: ...
@overload
def cast(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dtype: DTypeLike,
) -> Batch: ...
@overload
def cast(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike,
) -> Scene: ...
@overload
def cast_like(
    input: ArrayLike | Tensor,
    other: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Tensor: ...
@overload
def cast_like(
    input: Batch,
    other: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Batch: ...
@overload
def cast_like(
    input: ArrayLike | Tensor | Batch,
    other: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Tensor | Batch: ...
@overload
def cast_like(
    input: ArrayLike | Tensor | Batch,
    other: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
) -> Batch: ...
@overload
def cast_like(
    input: Scene,
    other: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
) -> Scene: ...
@overload
def copy(
    input: ArrayLike | Tensor, /, *, batch_size: None = None, device: DeviceLike | None = None
) -> Tensor: ...
@overload
def copy(
    input: Batch, /, *, batch_size: None = None, device: DeviceLike | None = None
) -> Batch: ...
@overload
def copy(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Tensor | Batch: ...
@overload
def copy(
    input: ArrayLike | Tensor | Batch, /, *, batch_size: int, device: DeviceLike | None = None
) -> Batch: ...
@overload
def copy(
    input: Scene, /, *, batch_size: int | None = None, device: DeviceLike | None = None
) -> Scene: ...
@overload
def dump_image(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    input_layout: str | None = "HWC",
    suffix: str | None = "",
) -> Tensor: ...
@overload
def dump_image(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    input_layout: str | None = "HWC",
    suffix: str | None = "",
) -> Batch: ...
@overload
def dump_image(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    input_layout: str | None = "HWC",
    suffix: str | None = "",
) -> Tensor | Batch: ...
@overload
def dump_image(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    input_layout: str | None = "HWC",
    suffix: str | None = "",
) -> Batch: ...
@overload
def get_property(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    key: str,
) -> Tensor: ...
@overload
def get_property(
    input: Batch, /, *, batch_size: None = None, device: DeviceLike | None = None, key: str
) -> Batch: ...
@overload
def get_property(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    key: str,
) -> Tensor | Batch: ...
@overload
def get_property(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    key: str,
) -> Batch: ...
@overload
def permute_batch(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    indices: Sequence[int] | int | ArrayLike | Tensor,
) -> Tensor: ...
@overload
def permute_batch(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    indices: Sequence[int] | int | ArrayLike | Tensor | Batch,
) -> Batch: ...
@overload
def permute_batch(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    indices: Sequence[int] | int | ArrayLike | Tensor | Batch,
) -> Tensor | Batch: ...
@overload
def permute_batch(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    indices: Sequence[int] | int | ArrayLike | Tensor | Batch,
) -> Batch: ...
@overload
def permute_batch(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    indices: Sequence[int] | int | ArrayLike | Tensor | Batch,
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
    adjust_orientation: builtins.bool | None = True,
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
    adjust_orientation: builtins.bool | None = True,
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
    adjust_orientation: builtins.bool | None = True,
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
    adjust_orientation: builtins.bool | None = True,
) -> Batch: ...
@overload
def cat(
    *inputs: ArrayLike | Tensor,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = 0,
    axis_name: str | None = None,
) -> Tensor: ...
@overload
def cat(
    *inputs: Batch | Sequence[Batch],
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = 0,
    axis_name: str | None = None,
) -> Batch: ...
@overload
def cat(
    *inputs: ArrayLike | Tensor | Batch,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = 0,
    axis_name: str | None = None,
) -> Tensor | Batch: ...
@overload
def cat(
    *inputs: ArrayLike | Tensor | Batch,
    batch_size: int,
    device: DeviceLike | None = None,
    axis: int | None = 0,
    axis_name: str | None = None,
) -> Batch: ...
@overload
def stack(
    *inputs: ArrayLike | Tensor,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = 0,
    axis_name: str | None = None,
) -> Tensor: ...
@overload
def stack(
    *inputs: Batch | Sequence[Batch],
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = 0,
    axis_name: str | None = None,
) -> Batch: ...
@overload
def stack(
    *inputs: ArrayLike | Tensor | Batch,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = 0,
    axis_name: str | None = None,
) -> Tensor | Batch: ...
@overload
def stack(
    *inputs: ArrayLike | Tensor | Batch,
    batch_size: int,
    device: DeviceLike | None = None,
    axis: int | None = 0,
    axis_name: str | None = None,
) -> Batch: ...
@overload
def jpeg_compression_distortion(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    quality: int | ArrayLike | Tensor | None = 50,
) -> Tensor: ...
@overload
def jpeg_compression_distortion(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    quality: int | ArrayLike | Tensor | Batch | None = 50,
) -> Batch: ...
@overload
def jpeg_compression_distortion(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    quality: int | ArrayLike | Tensor | Batch | None = 50,
) -> Tensor | Batch: ...
@overload
def jpeg_compression_distortion(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    quality: int | ArrayLike | Tensor | Batch | None = 50,
) -> Batch: ...
@overload
def jpeg_compression_distortion(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    quality: int | ArrayLike | Tensor | Batch | None = 50,
) -> Scene: ...
@overload
def lookup_table(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    keys: Sequence[int] | int | None = (),
    values: Sequence[float] | float | None = (),
    default_value: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def lookup_table(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    keys: Sequence[int] | int | None = (),
    values: Sequence[float] | float | None = (),
    default_value: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def lookup_table(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    keys: Sequence[int] | int | None = (),
    values: Sequence[float] | float | None = (),
    default_value: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def lookup_table(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    keys: Sequence[int] | int | None = (),
    values: Sequence[float] | float | None = (),
    default_value: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def lookup_table(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    keys: Sequence[int] | int | None = (),
    values: Sequence[float] | float | None = (),
    default_value: float | None = 0.0,
    dtype: DTypeLike | None = ...,
    output_dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def roi_random_crop(
    input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor,
    roi_start: Sequence[int] | int | ArrayLike | Tensor,
    in_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    roi_end: Sequence[int] | int | ArrayLike | Tensor | None = None,
    roi_shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def roi_random_crop(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    roi_start: Sequence[int] | int | ArrayLike | Tensor | Batch,
    in_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    roi_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def roi_random_crop(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    roi_start: Sequence[int] | int | ArrayLike | Tensor | Batch,
    in_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    roi_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def roi_random_crop(
    input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    crop_shape: Sequence[int] | int | ArrayLike | Tensor | Batch,
    roi_start: Sequence[int] | int | ArrayLike | Tensor | Batch,
    in_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    roi_shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def copy_paste(
    images: ArrayLike | Tensor,
    masks: ArrayLike | Tensor,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | None = None,
    num_classes: int | None = None,
) -> Tensor: ...
@overload
def copy_paste(
    images: Batch,
    masks: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    num_classes: int | None = None,
) -> Batch: ...
@overload
def copy_paste(
    images: ArrayLike | Tensor | Batch,
    masks: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    num_classes: int | None = None,
) -> Tensor | Batch: ...
@overload
def copy_paste(
    images: ArrayLike | Tensor | Batch,
    masks: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    num_classes: int | None = None,
) -> Batch: ...
@overload
def copy_paste(
    images: ArrayLike | Tensor,
    masks: ArrayLike | Tensor,
    labels: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | None = None,
    num_classes: int | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def copy_paste(
    images: Batch,
    masks: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    num_classes: int | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def copy_paste(
    images: ArrayLike | Tensor | Batch,
    masks: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    num_classes: int | None = None,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def copy_paste(
    images: ArrayLike | Tensor | Batch,
    masks: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    num_classes: int | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def copy_paste(
    images: ArrayLike | Tensor | Batch,
    masks: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    num_classes: int | None = None,
) -> Tensor | tuple[Tensor, ...] | Batch | tuple[Batch, ...]: ...
@overload
def copy_paste(
    images: Scene,
    masks: None = None,
    labels: None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    num_classes: int | None = None,
) -> Scene: ...
@overload
def cutmix(
    images: ArrayLike | Tensor,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | None = None,
    boxes: Sequence[int] | int | ArrayLike | Tensor | None = None,
    partners: int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def cutmix(
    images: Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    boxes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def cutmix(
    images: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    boxes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def cutmix(
    images: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    boxes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def cutmix(
    images: ArrayLike | Tensor,
    labels: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | None = None,
    boxes: Sequence[int] | int | ArrayLike | Tensor | None = None,
    partners: int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def cutmix(
    images: Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    boxes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def cutmix(
    images: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    boxes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def cutmix(
    images: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    boxes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def cutmix(
    images: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    boxes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | tuple[Tensor, ...] | Batch | tuple[Batch, ...]: ...
@overload
def mixup(
    images: ArrayLike | Tensor,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | None = None,
    partners: int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def mixup(
    images: Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def mixup(
    images: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def mixup(
    images: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def mixup(
    images: ArrayLike | Tensor,
    labels: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | None = None,
    partners: int | ArrayLike | Tensor | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def mixup(
    images: Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def mixup(
    images: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def mixup(
    images: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def mixup(
    images: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    alpha: float | None = 1.0,
    num_classes: int | None = None,
    lam: float | ArrayLike | Tensor | Batch | None = None,
    partners: int | ArrayLike | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Tensor | tuple[Tensor, ...] | Batch | tuple[Batch, ...]: ...
@overload
def mosaic(
    images: ArrayLike | Tensor,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def mosaic(
    images: Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def mosaic(
    images: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def mosaic(
    images: ArrayLike | Tensor | Batch,
    labels: None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def mosaic(
    images: ArrayLike | Tensor,
    labels: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def mosaic(
    images: Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def mosaic(
    images: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> tuple[Tensor, Tensor] | tuple[Batch, Batch]: ...
@overload
def mosaic(
    images: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> tuple[Batch, Batch]: ...
@overload
def mosaic(
    images: ArrayLike | Tensor | Batch,
    labels: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> Tensor | tuple[Tensor, ...] | Batch | tuple[Batch, ...]: ...
@overload
def mosaic(
    images: Scene,
    labels: None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def mosaic(
    images: Scene,
    labels: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    centers: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    partners: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = 0.0,
    num_classes: int | None = None,
    rng: RNG | None = None,
) -> tuple[Scene, Tensor | Batch]: ...
@overload
def normalize(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mean: ArrayLike | Tensor | None = None,
    stddev: ArrayLike | Tensor | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    batch: builtins.bool | None = False,
    ddof: int | None = 0,
    epsilon: float | None = 0.0,
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
) -> Tensor: ...
@overload
def normalize(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mean: ArrayLike | Tensor | Batch | None = None,
    stddev: ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    batch: builtins.bool | None = False,
    ddof: int | None = 0,
    epsilon: float | None = 0.0,
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
) -> Batch: ...
@overload
def normalize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    mean: ArrayLike | Tensor | Batch | None = None,
    stddev: ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    batch: builtins.bool | None = False,
    ddof: int | None = 0,
    epsilon: float | None = 0.0,
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
) -> Tensor | Batch: ...
@overload
def normalize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    mean: ArrayLike | Tensor | Batch | None = None,
    stddev: ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    batch: builtins.bool | None = False,
    ddof: int | None = 0,
    epsilon: float | None = 0.0,
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
) -> Batch: ...
@overload
def normalize(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    mean: ArrayLike | Tensor | Batch | None = None,
    stddev: ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    batch: builtins.bool | None = False,
    ddof: int | None = 0,
    epsilon: float | None = 0.0,
    scale: float | None = 1.0,
    shift: float | None = 0.0,
    dtype: DTypeLike | None = ...,
) -> Scene: ...
@overload
def coord_flip(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    center_x: float | ArrayLike | Tensor | None = 0.5,
    center_y: float | ArrayLike | Tensor | None = 0.5,
    center_z: float | ArrayLike | Tensor | None = 0.5,
    flip_x: int | ArrayLike | Tensor | None = 1,
    flip_y: int | ArrayLike | Tensor | None = 0,
    flip_z: int | ArrayLike | Tensor | None = 0,
    layout: str | None = "",
) -> Tensor: ...
@overload
def coord_flip(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    center_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    center_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    center_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    flip_x: int | ArrayLike | Tensor | Batch | None = 1,
    flip_y: int | ArrayLike | Tensor | Batch | None = 0,
    flip_z: int | ArrayLike | Tensor | Batch | None = 0,
    layout: str | None = "",
) -> Batch: ...
@overload
def coord_flip(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    center_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    center_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    center_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    flip_x: int | ArrayLike | Tensor | Batch | None = 1,
    flip_y: int | ArrayLike | Tensor | Batch | None = 0,
    flip_z: int | ArrayLike | Tensor | Batch | None = 0,
    layout: str | None = "",
) -> Tensor | Batch: ...
@overload
def coord_flip(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    center_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    center_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    center_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    flip_x: int | ArrayLike | Tensor | Batch | None = 1,
    flip_y: int | ArrayLike | Tensor | Batch | None = 0,
    flip_z: int | ArrayLike | Tensor | Batch | None = 0,
    layout: str | None = "",
) -> Batch: ...
@overload
def coord_transform(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    M: Sequence[float] | float | ArrayLike | Tensor | None = None,
    MT: Sequence[float] | float | ArrayLike | Tensor | None = None,
    T: Sequence[float] | float | ArrayLike | Tensor | None = None,
    dtype: DTypeLike | None = ...,
) -> Tensor: ...
@overload
def coord_transform(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    M: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    MT: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    T: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = ...,
) -> Batch: ...
@overload
def coord_transform(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    M: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    MT: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    T: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = ...,
) -> Tensor | Batch: ...
@overload
def coord_transform(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    M: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    MT: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    T: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    dtype: DTypeLike | None = ...,
) -> Batch: ...
@overload
def perspective(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    startpoints: Sequence[float] | float | ArrayLike | Tensor | None = None,
    endpoints: Sequence[float] | float | ArrayLike | Tensor | None = None,
    distortion_scale: float | ArrayLike | Tensor | None = 0.5,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def perspective(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    startpoints: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    endpoints: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    distortion_scale: float | ArrayLike | Tensor | Batch | None = 0.5,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def perspective(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    startpoints: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    endpoints: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    distortion_scale: float | ArrayLike | Tensor | Batch | None = 0.5,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def perspective(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    startpoints: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    endpoints: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    distortion_scale: float | ArrayLike | Tensor | Batch | None = 0.5,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def perspective(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    startpoints: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    endpoints: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    distortion_scale: float | ArrayLike | Tensor | Batch | None = 0.5,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    rng: RNG | None = None,
) -> Scene: ...
@overload
def random_resized_crop(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    interp_type: DALIInterpType | str | ArrayLike | Tensor | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
    rng: RNG | None = None,
) -> Tensor: ...
@overload
def random_resized_crop(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def random_resized_crop(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
    rng: RNG | None = None,
) -> Tensor | Batch: ...
@overload
def random_resized_crop(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    size: Sequence[int] | int,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
    rng: RNG | None = None,
) -> Batch: ...
@overload
def random_resized_crop(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    size: Sequence[int] | int,
    random_aspect_ratio: Sequence[float] | float | None = (0.75, 1.3333333333333333),
    random_area: Sequence[float] | float | None = (0.08, 1.0),
    num_attempts: int | None = 10,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
    rng: RNG | None = None,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType | str | ArrayLike | Tensor | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    antialias: builtins.bool | None = True,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType | str | ArrayLike | Tensor | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    antialias: builtins.bool | None = True,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: builtins.bool | None = False,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    save_attrs: Literal[True],
    image_type: DALIImageType | str | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> tuple[Scene, Tensor | Batch]: ...
@overload
def resize_crop_mirror(
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    crop: Sequence[float] | float | ArrayLike | Tensor | None = None,
    crop_d: float | ArrayLike | Tensor | None = 0.0,
    crop_h: float | ArrayLike | Tensor | None = 0.0,
    crop_w: float | ArrayLike | Tensor | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | None = 0,
    interp_type: DALIInterpType | str | ArrayLike | Tensor | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Tensor: ...
@overload
def resize_crop_mirror(
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | Batch | None = 0,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Batch: ...
@overload
def resize_crop_mirror(
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | Batch | None = 0,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Tensor | Batch: ...
@overload
def resize_crop_mirror(
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | Batch | None = 0,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Batch: ...
@overload
def resize_crop_mirror(
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
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    crop: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    crop_d: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_h: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_w: float | ArrayLike | Tensor | Batch | None = 0.0,
    crop_pos_x: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_y: float | ArrayLike | Tensor | Batch | None = 0.5,
    crop_pos_z: float | ArrayLike | Tensor | Batch | None = 0.5,
    rounding: str | None = "round",
    mirror: int | ArrayLike | Tensor | Batch | None = 0,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Scene: ...
@overload
def tensor_resize(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    sizes: Sequence[float] | float | ArrayLike | Tensor | None = None,
    scales: Sequence[float] | float | ArrayLike | Tensor | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    alignment: Sequence[float] | float | ArrayLike | Tensor | None = None,
    size_rounding: str | None = "round",
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | None = None,
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType | str | ArrayLike | Tensor | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Tensor: ...
@overload
def tensor_resize(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    sizes: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    scales: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    alignment: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    size_rounding: str | None = "round",
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Batch: ...
@overload
def tensor_resize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    sizes: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    scales: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    alignment: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    size_rounding: str | None = "round",
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Tensor | Batch: ...
@overload
def tensor_resize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    sizes: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    scales: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    alignment: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    size_rounding: str | None = "round",
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Batch: ...
@overload
def tensor_resize(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    sizes: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    scales: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | None = None,
    axis_names: str | None = None,
    alignment: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    size_rounding: str | None = "round",
    mode: str | None = "default",
    max_size: Sequence[float] | float | None = None,
    roi_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    roi_relative: builtins.bool | None = False,
    subpixel_scale: builtins.bool | None = True,
    interp_type: DALIInterpType
    | str
    | ArrayLike
    | Tensor
    | Batch
    | None = DALIInterpType.INTERP_LINEAR,
    min_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    mag_filter: DALIInterpType | str | ArrayLike | Tensor | Batch | None = None,
    antialias: builtins.bool | None = True,
    dtype: DTypeLike | None = None,
    minibatch_size: int | None = 32,
    temp_buffer_hint: int | None = 0,
) -> Scene: ...
@overload
def expand_dims(
    data: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int,
    new_axis_names: str | None = "",
) -> Tensor: ...
@overload
def expand_dims(
    data: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int,
    new_axis_names: str | None = "",
) -> Batch: ...
@overload
def expand_dims(
    data: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int,
    new_axis_names: str | None = "",
) -> Tensor | Batch: ...
@overload
def expand_dims(
    data: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int,
    new_axis_names: str | None = "",
) -> Batch: ...
@overload
def reinterpret(
    data: ArrayLike | Tensor,
    shape_input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
    layout: str | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    src_dims: Sequence[int] | int | ArrayLike | Tensor | None = None,
) -> Tensor: ...
@overload
def reinterpret(
    data: Batch,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
    layout: str | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    src_dims: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def reinterpret(
    data: ArrayLike | Tensor | Batch,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
    layout: str | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    src_dims: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | Batch: ...
@overload
def reinterpret(
    data: ArrayLike | Tensor | Batch,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dtype: DTypeLike | None = None,
    layout: str | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    src_dims: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def reshape(
    data: ArrayLike | Tensor,
    shape_input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    src_dims: Sequence[int] | int | ArrayLike | Tensor | None = None,
) -> Tensor: ...
@overload
def reshape(
    data: Batch,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    src_dims: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def reshape(
    data: ArrayLike | Tensor | Batch,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    src_dims: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | Batch: ...
@overload
def reshape(
    data: ArrayLike | Tensor | Batch,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    layout: str | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    src_dims: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def squeeze(
    data: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | ArrayLike | Tensor | None = None,
    axis_names: str | None = None,
) -> Tensor: ...
@overload
def squeeze(
    data: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = None,
) -> Batch: ...
@overload
def squeeze(
    data: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = None,
) -> Tensor | Batch: ...
@overload
def squeeze(
    data: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = None,
) -> Batch: ...
@overload
def transpose(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    perm: Sequence[int] | int | None = None,
    transpose_layout: builtins.bool | None = True,
    output_layout: str | None = None,
) -> Tensor: ...
@overload
def transpose(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    perm: Sequence[int] | int | None = None,
    transpose_layout: builtins.bool | None = True,
    output_layout: str | None = None,
) -> Batch: ...
@overload
def transpose(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    perm: Sequence[int] | int | None = None,
    transpose_layout: builtins.bool | None = True,
    output_layout: str | None = None,
) -> Tensor | Batch: ...
@overload
def transpose(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    perm: Sequence[int] | int | None = None,
    transpose_layout: builtins.bool | None = True,
    output_layout: str | None = None,
) -> Batch: ...
@overload
def pad(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    fill_value: float | ArrayLike | Tensor | None = 0.0,
    axes: Sequence[int] | int | ArrayLike | Tensor | None = None,
    axis_names: str | None = None,
    align: Sequence[int] | int | ArrayLike | Tensor | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
) -> Tensor: ...
@overload
def pad(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    fill_value: float | ArrayLike | Tensor | Batch | None = 0.0,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = None,
    align: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def pad(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    fill_value: float | ArrayLike | Tensor | Batch | None = 0.0,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = None,
    align: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | Batch: ...
@overload
def pad(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    fill_value: float | ArrayLike | Tensor | Batch | None = 0.0,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = None,
    align: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def pad(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    fill_value: float | ArrayLike | Tensor | Batch | None = 0.0,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = None,
    align: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
) -> Scene: ...
@overload
def slice(
    data: ArrayLike | Tensor,
    anchor: ArrayLike | Tensor | None = None,
    shape_input: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    start: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rel_start: Sequence[float] | float | ArrayLike | Tensor | None = None,
    end: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rel_end: Sequence[float] | float | ArrayLike | Tensor | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | None = None,
    axes: Sequence[int] | int | ArrayLike | Tensor | None = None,
    axis_names: str | None = "WH",
    normalized_anchor: builtins.bool | None = True,
    normalized_shape: builtins.bool | None = True,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def slice(
    data: Batch,
    anchor: ArrayLike | Tensor | Batch | None = None,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    start: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    end: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = "WH",
    normalized_anchor: builtins.bool | None = True,
    normalized_shape: builtins.bool | None = True,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def slice(
    data: ArrayLike | Tensor | Batch,
    anchor: ArrayLike | Tensor | Batch | None = None,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    start: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    end: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = "WH",
    normalized_anchor: builtins.bool | None = True,
    normalized_shape: builtins.bool | None = True,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def slice(
    data: ArrayLike | Tensor | Batch,
    anchor: ArrayLike | Tensor | Batch | None = None,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    start: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    end: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = "WH",
    normalized_anchor: builtins.bool | None = True,
    normalized_shape: builtins.bool | None = True,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def slice(
    data: Scene,
    anchor: ArrayLike | Tensor | Batch | None = None,
    shape_input: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    start: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_start: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    end: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_end: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    shape: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    rel_shape: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    axes: Sequence[int] | int | ArrayLike | Tensor | Batch | None = None,
    axis_names: str | None = "WH",
    normalized_anchor: builtins.bool | None = True,
    normalized_shape: builtins.bool | None = True,
    out_of_bounds_policy: str | None = "error",
    fill_values: Sequence[float] | float | None = (0.0,),
    dtype: DTypeLike | None = None,
    image_type: DALIImageType | str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def mel_filter_bank(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    nfilter: int | None = 128,
    sample_rate: float | None = 44100.0,
    freq_low: float | None = 0.0,
    freq_high: float | None = 0.0,
    normalize: builtins.bool | None = True,
    mel_formula: str | None = "slaney",
) -> Tensor: ...
@overload
def mel_filter_bank(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    nfilter: int | None = 128,
    sample_rate: float | None = 44100.0,
    freq_low: float | None = 0.0,
    freq_high: float | None = 0.0,
    normalize: builtins.bool | None = True,
    mel_formula: str | None = "slaney",
) -> Batch: ...
@overload
def mel_filter_bank(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    nfilter: int | None = 128,
    sample_rate: float | None = 44100.0,
    freq_low: float | None = 0.0,
    freq_high: float | None = 0.0,
    normalize: builtins.bool | None = True,
    mel_formula: str | None = "slaney",
) -> Tensor | Batch: ...
@overload
def mel_filter_bank(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    nfilter: int | None = 128,
    sample_rate: float | None = 44100.0,
    freq_low: float | None = 0.0,
    freq_high: float | None = 0.0,
    normalize: builtins.bool | None = True,
    mel_formula: str | None = "slaney",
) -> Batch: ...
@overload
def mfcc(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    n_mfcc: int | None = 20,
    dct_type: int | None = 2,
    normalize: builtins.bool | None = False,
    axis: int | None = 0,
    lifter: float | None = 0.0,
) -> Tensor: ...
@overload
def mfcc(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    n_mfcc: int | None = 20,
    dct_type: int | None = 2,
    normalize: builtins.bool | None = False,
    axis: int | None = 0,
    lifter: float | None = 0.0,
) -> Batch: ...
@overload
def mfcc(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    n_mfcc: int | None = 20,
    dct_type: int | None = 2,
    normalize: builtins.bool | None = False,
    axis: int | None = 0,
    lifter: float | None = 0.0,
) -> Tensor | Batch: ...
@overload
def mfcc(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    n_mfcc: int | None = 20,
    dct_type: int | None = 2,
    normalize: builtins.bool | None = False,
    axis: int | None = 0,
    lifter: float | None = 0.0,
) -> Batch: ...
@overload
def power_spectrum(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = -1,
    nfft: int | None = None,
    power: int | None = 2,
) -> Tensor: ...
@overload
def power_spectrum(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = -1,
    nfft: int | None = None,
    power: int | None = 2,
) -> Batch: ...
@overload
def power_spectrum(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    axis: int | None = -1,
    nfft: int | None = None,
    power: int | None = 2,
) -> Tensor | Batch: ...
@overload
def power_spectrum(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    axis: int | None = -1,
    nfft: int | None = None,
    power: int | None = 2,
) -> Batch: ...
@overload
def spectrogram(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    nfft: int | None = None,
    window_length: int | None = 512,
    window_step: int | None = 256,
    window_fn: Sequence[float] | float | None = None,
    power: int | None = 2,
    center_windows: builtins.bool | None = True,
    reflect_padding: builtins.bool | None = True,
    layout: str | None = "ft",
) -> Tensor: ...
@overload
def spectrogram(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    nfft: int | None = None,
    window_length: int | None = 512,
    window_step: int | None = 256,
    window_fn: Sequence[float] | float | None = None,
    power: int | None = 2,
    center_windows: builtins.bool | None = True,
    reflect_padding: builtins.bool | None = True,
    layout: str | None = "ft",
) -> Batch: ...
@overload
def spectrogram(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    nfft: int | None = None,
    window_length: int | None = 512,
    window_step: int | None = 256,
    window_fn: Sequence[float] | float | None = None,
    power: int | None = 2,
    center_windows: builtins.bool | None = True,
    reflect_padding: builtins.bool | None = True,
    layout: str | None = "ft",
) -> Tensor | Batch: ...
@overload
def spectrogram(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    nfft: int | None = None,
    window_length: int | None = 512,
    window_step: int | None = 256,
    window_fn: Sequence[float] | float | None = None,
    power: int | None = 2,
    center_windows: builtins.bool | None = True,
    reflect_padding: builtins.bool | None = True,
    layout: str | None = "ft",
) -> Batch: ...
@overload
def to_decibels(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    multiplier: float | None = 10.0,
    reference: float | None = 0.0,
    cutoff_db: float | None = -200.0,
) -> Tensor: ...
@overload
def to_decibels(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    multiplier: float | None = 10.0,
    reference: float | None = 0.0,
    cutoff_db: float | None = -200.0,
) -> Batch: ...
@overload
def to_decibels(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    multiplier: float | None = 10.0,
    reference: float | None = 0.0,
    cutoff_db: float | None = -200.0,
) -> Tensor | Batch: ...
@overload
def to_decibels(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    multiplier: float | None = 10.0,
    reference: float | None = 0.0,
    cutoff_db: float | None = -200.0,
) -> Batch: ...
@overload
def autocontrast(
    input: ArrayLike | Tensor, /, *, batch_size: None = None, device: DeviceLike | None = None
) -> Tensor: ...
@overload
def autocontrast(
    input: Batch, /, *, batch_size: None = None, device: DeviceLike | None = None
) -> Batch: ...
@overload
def autocontrast(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Tensor | Batch: ...
@overload
def autocontrast(
    input: ArrayLike | Tensor | Batch, /, *, batch_size: int, device: DeviceLike | None = None
) -> Batch: ...
@overload
def autocontrast(
    input: Scene, /, *, batch_size: int | None = None, device: DeviceLike | None = None
) -> Scene: ...
@overload
def clahe(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int | None = 256,
    luma_only: builtins.bool | None = True,
) -> Tensor: ...
@overload
def clahe(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int | None = 256,
    luma_only: builtins.bool | None = True,
) -> Batch: ...
@overload
def clahe(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int | None = 256,
    luma_only: builtins.bool | None = True,
) -> Tensor | Batch: ...
@overload
def clahe(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int | None = 256,
    luma_only: builtins.bool | None = True,
) -> Batch: ...
@overload
def clahe(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    bins: int | None = 256,
    luma_only: builtins.bool | None = True,
) -> Scene: ...
@overload
def equalize(
    input: ArrayLike | Tensor, /, *, batch_size: None = None, device: DeviceLike | None = None
) -> Tensor: ...
@overload
def equalize(
    input: Batch, /, *, batch_size: None = None, device: DeviceLike | None = None
) -> Batch: ...
@overload
def equalize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Tensor | Batch: ...
@overload
def equalize(
    input: ArrayLike | Tensor | Batch, /, *, batch_size: int, device: DeviceLike | None = None
) -> Batch: ...
@overload
def equalize(
    input: Scene, /, *, batch_size: int | None = None, device: DeviceLike | None = None
) -> Scene: ...
@overload
def gamma(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    gamma: float | ArrayLike | Tensor | None = 1.0,
    gain: float | ArrayLike | Tensor | None = 1.0,
) -> Tensor: ...
@overload
def gamma(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    gamma: float | ArrayLike | Tensor | Batch | None = 1.0,
    gain: float | ArrayLike | Tensor | Batch | None = 1.0,
) -> Batch: ...
@overload
def gamma(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    gamma: float | ArrayLike | Tensor | Batch | None = 1.0,
    gain: float | ArrayLike | Tensor | Batch | None = 1.0,
) -> Tensor | Batch: ...
@overload
def gamma(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    gamma: float | ArrayLike | Tensor | Batch | None = 1.0,
    gain: float | ArrayLike | Tensor | Batch | None = 1.0,
) -> Batch: ...
@overload
def gamma(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    gamma: float | ArrayLike | Tensor | Batch | None = 1.0,
    gain: float | ArrayLike | Tensor | Batch | None = 1.0,
) -> Scene: ...
@overload
def invert(
    input: ArrayLike | Tensor, /, *, batch_size: None = None, device: DeviceLike | None = None
) -> Tensor: ...
@overload
def invert(
    input: Batch, /, *, batch_size: None = None, device: DeviceLike | None = None
) -> Batch: ...
@overload
def invert(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
) -> Tensor | Batch: ...
@overload
def invert(
    input: ArrayLike | Tensor | Batch, /, *, batch_size: int, device: DeviceLike | None = None
) -> Batch: ...
@overload
def invert(
    input: Scene, /, *, batch_size: int | None = None, device: DeviceLike | None = None
) -> Scene: ...
@overload
def posterize(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    bits: int | ArrayLike | Tensor | None = 4,
) -> Tensor: ...
@overload
def posterize(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    bits: int | ArrayLike | Tensor | Batch | None = 4,
) -> Batch: ...
@overload
def posterize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    bits: int | ArrayLike | Tensor | Batch | None = 4,
) -> Tensor | Batch: ...
@overload
def posterize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    bits: int | ArrayLike | Tensor | Batch | None = 4,
) -> Batch: ...
@overload
def posterize(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    bits: int | ArrayLike | Tensor | Batch | None = 4,
) -> Scene: ...
@overload
def solarize(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    threshold: float | ArrayLike | Tensor | None = None,
) -> Tensor: ...
@overload
def solarize(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    threshold: float | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def solarize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    threshold: float | ArrayLike | Tensor | Batch | None = None,
) -> Tensor | Batch: ...
@overload
def solarize(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    threshold: float | ArrayLike | Tensor | Batch | None = None,
) -> Batch: ...
@overload
def solarize(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    threshold: float | ArrayLike | Tensor | Batch | None = None,
) -> Scene: ...
@overload
def element_extract(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    element_map: int,
) -> Tensor: ...
@overload
def element_extract(
    input: Batch, /, *, batch_size: None = None, device: DeviceLike | None = None, element_map: int
) -> Batch: ...
@overload
def element_extract(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    element_map: int,
) -> Tensor | Batch: ...
@overload
def element_extract(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    element_map: int,
) -> Batch: ...
@overload
def element_extract(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    element_map: tuple[int, int, *tuple[int, ...]],
) -> tuple[Tensor, Tensor, *tuple[Tensor, ...]]: ...
@overload
def element_extract(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    element_map: tuple[int, int, *tuple[int, ...]],
) -> tuple[Batch, Batch, *tuple[Batch, ...]]: ...
@overload
def element_extract(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    element_map: tuple[int, int, *tuple[int, ...]],
) -> tuple[Tensor, Tensor, *tuple[Tensor, ...]] | tuple[Batch, Batch, *tuple[Batch, ...]]: ...
@overload
def element_extract(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    element_map: tuple[int, int, *tuple[int, ...]],
) -> tuple[Batch, Batch, *tuple[Batch, ...]]: ...
@overload
def element_extract(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    element_map: Sequence[int],
) -> Tensor | tuple[Tensor, ...] | Batch | tuple[Batch, ...]: ...
@overload
def optical_flow(
    input_0: ArrayLike | Tensor,
    input_1: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    preset: float | None = 0.0,
    output_grid: int | None = 4,
    hint_grid: int | None = 4,
    enable_temporal_hints: builtins.bool | None = False,
    enable_external_hints: builtins.bool | None = False,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    output_format: int | None = None,
) -> Tensor: ...
@overload
def optical_flow(
    input_0: Batch,
    input_1: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    preset: float | None = 0.0,
    output_grid: int | None = 4,
    hint_grid: int | None = 4,
    enable_temporal_hints: builtins.bool | None = False,
    enable_external_hints: builtins.bool | None = False,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    output_format: int | None = None,
) -> Batch: ...
@overload
def optical_flow(
    input_0: ArrayLike | Tensor | Batch,
    input_1: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    preset: float | None = 0.0,
    output_grid: int | None = 4,
    hint_grid: int | None = 4,
    enable_temporal_hints: builtins.bool | None = False,
    enable_external_hints: builtins.bool | None = False,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    output_format: int | None = None,
) -> Tensor | Batch: ...
@overload
def optical_flow(
    input_0: ArrayLike | Tensor | Batch,
    input_1: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    preset: float | None = 0.0,
    output_grid: int | None = 4,
    hint_grid: int | None = 4,
    enable_temporal_hints: builtins.bool | None = False,
    enable_external_hints: builtins.bool | None = False,
    image_type: DALIImageType | str | None = DALIImageType.RGB,
    output_format: int | None = None,
) -> Batch: ...
@overload
def per_frame(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    replace: builtins.bool | None = False,
) -> Tensor: ...
@overload
def per_frame(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    replace: builtins.bool | None = False,
) -> Batch: ...
@overload
def per_frame(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    replace: builtins.bool | None = False,
) -> Tensor | Batch: ...
@overload
def per_frame(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    replace: builtins.bool | None = False,
) -> Batch: ...
@overload
def sequence_rearrange(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    new_order: ArrayLike | Tensor,
) -> Tensor: ...
@overload
def sequence_rearrange(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    new_order: ArrayLike | Tensor | Batch,
) -> Batch: ...
@overload
def sequence_rearrange(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    new_order: ArrayLike | Tensor | Batch,
) -> Tensor | Batch: ...
@overload
def sequence_rearrange(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    new_order: ArrayLike | Tensor | Batch,
) -> Batch: ...
@overload
def rotate(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor,
    axis: Sequence[float] | float | ArrayLike | Tensor | None = None,
    keep_size: builtins.bool | None = False,
    size: Sequence[float] | float | ArrayLike | Tensor | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def rotate(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    axis: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    keep_size: builtins.bool | None = False,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def rotate(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    axis: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    keep_size: builtins.bool | None = False,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def rotate(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    axis: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    keep_size: builtins.bool | None = False,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def rotate(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    angle: float | ArrayLike | Tensor | Batch,
    axis: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    keep_size: builtins.bool | None = False,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Scene: ...
@overload
def shear_x(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Tensor: ...
@overload
def shear_x(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor | Batch,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Batch: ...
@overload
def shear_x(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor | Batch,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Tensor | Batch: ...
@overload
def shear_x(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor | Batch,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Batch: ...
@overload
def shear_x(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor | Batch,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Scene: ...
@overload
def shear_y(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Tensor: ...
@overload
def shear_y(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor | Batch,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Batch: ...
@overload
def shear_y(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor | Batch,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Tensor | Batch: ...
@overload
def shear_y(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor | Batch,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Batch: ...
@overload
def shear_y(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    shear: float | ArrayLike | Tensor | Batch,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Scene: ...
@overload
def translate_x(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | None = None,
    offset_rel: float | ArrayLike | Tensor | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Tensor: ...
@overload
def translate_x(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | Batch | None = None,
    offset_rel: float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Batch: ...
@overload
def translate_x(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | Batch | None = None,
    offset_rel: float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Tensor | Batch: ...
@overload
def translate_x(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | Batch | None = None,
    offset_rel: float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Batch: ...
@overload
def translate_x(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | Batch | None = None,
    offset_rel: float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Scene: ...
@overload
def translate_y(
    input: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | None = None,
    offset_rel: float | ArrayLike | Tensor | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Tensor: ...
@overload
def translate_y(
    input: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | Batch | None = None,
    offset_rel: float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Batch: ...
@overload
def translate_y(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | Batch | None = None,
    offset_rel: float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Tensor | Batch: ...
@overload
def translate_y(
    input: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | Batch | None = None,
    offset_rel: float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Batch: ...
@overload
def translate_y(
    input: Scene,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    offset: float | ArrayLike | Tensor | Batch | None = None,
    offset_rel: float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
) -> Scene: ...
@overload
def warp_affine(
    data: ArrayLike | Tensor,
    mtx: ArrayLike | Tensor | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | None = None,
    inverse_map: builtins.bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor: ...
@overload
def warp_affine(
    data: Batch,
    mtx: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    inverse_map: builtins.bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def warp_affine(
    data: ArrayLike | Tensor | Batch,
    mtx: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    inverse_map: builtins.bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor | Batch: ...
@overload
def warp_affine(
    data: ArrayLike | Tensor | Batch,
    mtx: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    inverse_map: builtins.bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Batch: ...
@overload
def warp_affine(
    data: Scene,
    mtx: ArrayLike | Tensor | Batch | None = None,
    /,
    *,
    batch_size: int | None = None,
    device: DeviceLike | None = None,
    matrix: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    inverse_map: builtins.bool | None = True,
    size: Sequence[float] | float | ArrayLike | Tensor | Batch | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType | str | None = DALIInterpType.INTERP_LINEAR,
    dtype: DTypeLike | None = None,
    output_dtype: DTypeLike | None = None,
) -> Scene: ...
