# SPDX-License-Identifier: Apache-2.0
"""The table of kernels for data on accelerators.

Each has the name and the parameters of a native kernel. To add one, write it in the module of its
subject and list it here: operators whose bodies name only kernels of this table run on a gpu.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import cast as as_type

import numpy as np
from numpy.typing import NDArray

from .._engine.samples import Kernels
from .arithmetic import arithmetic
from .audio import audio_resample, nonsilent_region, preemphasis_filter
from .auto_aug import mean_contrast
from .boxes import encode_boxes
from .call import current_target
from .color import brightness_contrast, color_twist, convert_color_space, reorder_channels
from .compose import erase, grid_mask, multi_paste
from .crop import crop_mirror_normalize
from .debayer import debayer
from .displacement import jitter, sphere, warp_flow, warp_grid, water
from .fill import fill, one_hot
from .filters import filter_samples as filter
from .filters import gaussian_blur, laplacian, rank_filter
from .flip import flip
from .generic import batch_permutation, cast, join
from .join import concatenate
from .jpeg import jpeg_distortion
from .lookup import look_up
from .mixing import mix, overlay
from .noise import gaussian_noise, salt_and_pepper_noise, shot_noise
from .normalize import normalize
from .points import transform_points
from .random import (
    beta,
    choice,
    coin_flip,
    normal,
    uniform,
    uniform_values,
)
from .reduce import reduce
from .remap import warp_map, warp_perspective
from .resize import resize
from .samples import DeviceSamples
from .shape import transpose
from .slice import slice_samples as slice
from .spectral import mel_filter_bank, multiply_axis, spectrogram, to_decibels
from .tone import apply_curve, autocontrast, clahe, equalize
from .warp import warp_affine

__all__ = [
    "apply_curve",
    "arithmetic",
    "audio_resample",
    "autocontrast",
    "batch_permutation",
    "beta",
    "brightness_contrast",
    "cast",
    "choice",
    "clahe",
    "coin_flip",
    "color_twist",
    "concatenate",
    "convert_color_space",
    "crop_mirror_normalize",
    "debayer",
    "empty",
    "empty_uniform",
    "encode_boxes",
    "equalize",
    "erase",
    "fill",
    "filter",
    "flip",
    "gaussian_blur",
    "gaussian_noise",
    "grid_mask",
    "jitter",
    "join",
    "jpeg_distortion",
    "laplacian",
    "look_up",
    "mean_contrast",
    "mel_filter_bank",
    "mix",
    "multi_paste",
    "multiply_axis",
    "nonsilent_region",
    "normal",
    "normalize",
    "one_hot",
    "overlay",
    "preemphasis_filter",
    "rank_filter",
    "reduce",
    "reorder_channels",
    "resize",
    "salt_and_pepper_noise",
    "shot_noise",
    "slice",
    "spectrogram",
    "sphere",
    "to_decibels",
    "transform_points",
    "transpose",
    "uniform",
    "uniform_values",
    "warp_affine",
    "warp_flow",
    "warp_grid",
    "warp_map",
    "warp_perspective",
    "water",
]


def empty(type_id: int, shapes: NDArray[np.int64], layout: str, count: int) -> DeviceSamples:
    """Uninitialized samples on the device of the call that is running."""
    target = current_target()
    rows = np.broadcast_to(shapes, (count, shapes.shape[1]))
    return DeviceSamples.empty(type_id, rows, layout, target.device, target.queue)


def empty_uniform(type_id: int, shape: Sequence[int], layout: str, count: int) -> DeviceSamples:
    """The same with one shape."""
    return empty(type_id, np.array([shape], np.int64).reshape(1, -1), layout, count)


# Parameters of the functions here are samples on a device, which the protocol does not say.
table = as_type("Kernels", sys.modules[__name__])
