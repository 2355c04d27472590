# SPDX-License-Identifier: Apache-2.0
"""Imperative data loading and augmentation: `import daliesque as ndd`."""

from . import (
    auto_aug,
    decoders,
    io,
    math,
    noise,
    random,
    reductions,
    segmentation,
    transforms,
    types,
)
from ._compat import as_dali
from ._engine.batch import Batch, as_batch, batch
from ._engine.collate import teach_torch as _teach_torch
from ._engine.context import EvalContext, get_current_stream
from ._engine.device import Device, device
from ._engine.devices import register_backend as _register_backend
from ._engine.dtype import (
    DataType,
    DType,
    ImageType,
    InterpType,
    bfloat16,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    type_id,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._engine.dtype import bool_ as bool
from ._engine.errors import DecodeError, InternalError, OpError
from ._engine.memory import memory, set_memory_limit
from ._engine.modes import EvalMode
from ._engine.pictures import register_pictures as _register_pictures
from ._engine.stream import (
    Stream,
    get_default_stream,
    set_current_stream,
    set_default_stream,
    stream,
)
from ._engine.tensor import Tensor, as_tensor, tensor
from ._engine.threads import ThreadPool, get_num_threads, set_num_threads
from ._gpu import load as _load_gpu
from ._hooks import install as _install_hooks
from ._observe import inspect, replay, report, trace, watch
from ._ops.audio import audio_resample, nonsilent_region, preemphasis_filter
from ._ops.bbox_crop import random_bbox_crop
from ._ops.boxes import bb_flip, bbox_paste, bbox_rotate, box_encoder
from ._ops.color import (
    brightness,
    brightness_contrast,
    channel_shuffle,
    color_space_conversion,
    color_twist,
    contrast,
    grayscale,
    hsv,
    hue,
    rgb_shift,
    saturation,
)
from ._ops.compose import (
    erase,
    grid_mask,
    multi_paste,
    paste,
)
from ._ops.crop import crop, crop_mirror_normalize, random_crop_generator
from ._ops.debayer import debayer
from ._ops.displacement import elastic_transform, grid_distortion, jitter, sphere, water
from ._ops.dropout import coarse_dropout, random_erasing
from ._ops.fill import full, full_like, one_hot, ones, ones_like, zeros, zeros_like
from ._ops.filters import filter, gaussian_blur, laplacian, motion_blur, sharpness
from ._ops.flip import flip
from ._ops.generic import (
    batch_permutation,
    cast,
    cast_like,
    copy,
    dump_image,
    get_property,
    permute_batch,
)
from ._ops.image_decoders import peek_image_shape
from ._ops.imread import imread
from ._ops.join import cat, stack
from ._ops.jpeg import jpeg_compression_distortion
from ._ops.lookup import lookup_table
from ._ops.masks import roi_random_crop
from ._ops.mixing import copy_paste, cutmix, mixup, mosaic
from ._ops.normalize import normalize
from ._ops.points import coord_flip, coord_transform
from ._ops.remap import perspective
from ._ops.resize import random_resized_crop, resize, resize_crop_mirror, tensor_resize
from ._ops.shape import expand_dims, reinterpret, reshape, squeeze, transpose
from ._ops.slice import pad, slice
from ._ops.spectral import mel_filter_bank, mfcc, power_spectrum, spectrogram, to_decibels
from ._ops.tone import autocontrast, clahe, equalize, gamma, invert, posterize, solarize
from ._ops.video import element_extract, optical_flow, per_frame, sequence_rearrange
from ._ops.warp import rotate, shear_x, shear_y, translate_x, translate_y, warp_affine
from ._public import publish as _publish
from ._show import load as _load_pictures
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


# Loaded, and torch with it, when somebody asks for a "gpu".
_register_backend(_load_gpu)
_register_pictures(_load_pictures)
_install_hooks()
_teach_torch()
# What many programs do not use is loaded when they do; operators are all there.
_publish(
    globals(),
    {
        "ExternalSource": "._loops.external_source",
        "Scene": "._scene.scene",
        "capture": ".capture",
        "checkpoint": ".checkpoint",
        "experimental": ".experimental",
        "grain": ".grain",
        "jax": ".jax",
        "map": "._loops.map",
        "operator": "._loops.map",
        "prefetch": "._loops.prefetch",
        "pytorch": ".pytorch",
        "ray": ".ray",
        "readers": ".readers",
        "testing": ".testing",
        "tfrecord": ".tfrecord",
    },
)
