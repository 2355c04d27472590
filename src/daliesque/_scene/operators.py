# SPDX-License-Identifier: Apache-2.0
"""What each operator does to a scene.

`GEOMETRIES` has a function for each operator that moves pixels: from the image, its further inputs
and the arguments, as the body of the operator gets them, to a `Geometry`. It calls the functions
that the body calls, so that boxes, masks and points move as the pixels do, random draws included.
Operators of `PHOTOMETRIC` change the image and leave positions as they are, those of `EVERY_PART`
are applied to each part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from .._ops.auto_aug import canvas_of, maps_of, stages_of
from .._ops.compose import paste_windows
from .._ops.remap import (
    corner_maps,
    perspective_border,
    perspective_matrices,
)
from .._ops.resize import (
    RandomWindows,
    TensorSizes,
    cropped_geometry,
    random_geometry,
    resized_geometry,
    tensor_geometry,
)
from .._ops.warp import (
    affine_matrices,
    given_sizes,
    offsets,
    output_sizes,
    rotation_matrices,
    shear_maps,
    translation_maps,
)
from .._shapes.resampling import RegionArguments, SizeArguments
from .._shapes.slice_windows import SliceArguments, slice_windows
from .._shapes.windows import (
    Border,
    CropArguments,
    Windows,
    crop_windows,
    fit_windows,
    named_axes,
    out_of_bounds,
    pad_windows,
)
from . import bends
from .bends import fill_border
from .call import Call, Finder
from .gather import Gathered, mosaic
from .geometry import Chain, Flipped, Geometry, Projected, Resampled, Still, Warped, Windowed
from .pasting import Pasted


def still(call: Call) -> Geometry:
    """Nothing moves; only what is outside of the image is cut."""
    return Still(call.sizes)


def _flip(call: Call) -> Geometry:
    return Flipped(call.sizes, call["horizontal"], call["vertical"])


def _fitted(call: Call, windows: Windows, name: str, borders: bool = True) -> Windowed:
    policy = out_of_bounds(call["out_of_bounds_policy"], borders)
    return Windowed(fit_windows(windows, call.shapes, policy, name), call.axes, policy.border)


def _crop_arguments(call: Call) -> CropArguments:
    return CropArguments(*(call[name] for name in CropArguments._fields))


def _crop(call: Call) -> Geometry:
    return _fitted(call, crop_windows(call.shapes, call.layout, _crop_arguments(call)), "crop")


def _crop_mirror_normalize(call: Call) -> Geometry:
    windows = crop_windows(call.shapes, call.layout, _crop_arguments(call))
    window = _fitted(call, windows, "crop_mirror_normalize", borders=False)
    none = np.zeros(1, np.int32)
    return Chain(window, Flipped(window.sizes, call["mirror"], none))


def _slice(call: Call) -> Geometry:
    arguments = SliceArguments(*(call[name] for name in SliceArguments._fields))
    windows = slice_windows(call.shapes, call.layout, arguments, *call.others)
    return _fitted(call, windows, "slice")


def _pad(call: Call) -> Geometry:
    which = named_axes(call["axes"], call["axis_names"], call.image.layout, call.image.ndim)
    windows = pad_windows(call.shapes, which, call["shape"], call["align"])
    return Windowed(windows, call.axes, Border.constant)


def _paste(call: Call) -> Geometry:
    names = ("ratio", "min_canvas_size", "paste_x", "paste_y")
    windows = paste_windows(call.image.shape_array(), *(call[name] for name in names))
    return Windowed(windows, call.axes, Border.constant)


def _sizes_and_region(call: Call) -> tuple[SizeArguments, RegionArguments]:
    sizes = SizeArguments(*(call[name] for name in SizeArguments._fields))
    return sizes, RegionArguments(*(call[name] for name in RegionArguments._fields))


def _resize(call: Call) -> Geometry:
    return Resampled(resized_geometry(call.shapes, call.layout, *_sizes_and_region(call)))


def _resize_crop_mirror(call: Call) -> Geometry:
    sizes, region = _sizes_and_region(call)
    window, mirror = _crop_arguments(call), call["mirror"]
    return Resampled(cropped_geometry(call.shapes, call.layout, sizes, region, window, mirror))


def _random_resized_crop(call: Call) -> Geometry:
    windows = RandomWindows(*(call[name] for name in RandomWindows._fields))
    return Resampled(random_geometry(call.image, call["rng"], windows))


def _tensor_resize(call: Call) -> Geometry:
    sizes = TensorSizes(*(call[name] for name in TensorSizes._fields))
    region = RegionArguments(*(call[name] for name in RegionArguments._fields))
    first = call.axes[0]
    found = tensor_geometry(call.shapes, call.layout, sizes, region)
    return Resampled(found, slice(first, first + 2))


def _rotate(call: Call) -> Geometry:
    matrices, sizes = rotation_matrices(
        call.image, call["angle"], None, keep_size=call["keep_size"], size=call["size"]
    )
    return Warped(matrices, sizes, fill_border(call))


def _warp_affine(call: Call) -> Geometry:
    (mtx,) = call.others
    matrices = affine_matrices(call.image, mtx, call["matrix"], call["inverse_map"])
    return Warped(matrices, output_sizes(call.image, call["size"]), fill_border(call))


def _warp_perspective(call: Call) -> Geometry:
    (matrix_input,) = call.others
    centers = perspective_matrices(
        matrix_input, call["matrix"], call["inverse_map"], call["pixel_origin"]
    )
    size = call["size"]
    sizes = call.sizes if size is None or size.size == 0 else given_sizes(size, 2)
    return Projected(centers, sizes, perspective_border(call["border_mode"]))


def _shear(axis: int) -> Finder:
    def find(call: Call) -> Geometry:
        return Warped(shear_maps(call["shear"], axis), call.sizes, fill_border(call))

    return find


def _translate(axis: int) -> Finder:
    def find(call: Call) -> Geometry:
        moved = offsets(call["offset"], call["offset_rel"], call.sizes[:, 1 - axis])
        return Warped(translation_maps(moved, axis), call.sizes, fill_border(call))

    return find


def _perspective(call: Call) -> Geometry:
    names = ("startpoints", "endpoints", "distortion_scale", "rng")
    centers = corner_maps(call.all_sizes, *(call[name] for name in names))
    return Projected(centers, call.sizes, fill_border(call))


def _apply(call: Call) -> Geometry:
    sizes, policy = call.all_sizes, call["policy"]
    fill, repeats = call["fill_value"], call["repeat_border"]
    canvas = canvas_of(fill, repeats, call["interp_type"], call["shape"], len(sizes))
    border = Border.clamp if repeats else Border.constant
    geometry: Geometry = Still(sizes)
    for stage in stages_of(policy, call["rng"], len(sizes)):
        step = Warped(maps_of(policy, stage, sizes, canvas), sizes, border)
        geometry = Chain(geometry, step)
    return geometry


# Geometry of each sample, or of what is gathered from several.
AnyFinder: TypeAlias = Callable[[Call], Geometry | Gathered | Pasted]

GEOMETRIES: dict[str, AnyFinder] = {
    "auto_aug.apply": _apply,
    "crop": _crop,
    "crop_mirror_normalize": _crop_mirror_normalize,
    "elastic_transform": bends.elastic_transform,
    "experimental.remap": bends.remap,
    "experimental.warp_perspective": _warp_perspective,
    "flip": _flip,
    "grid_distortion": bends.grid_distortion,
    "mosaic": mosaic,
    "pad": _pad,
    "paste": _paste,
    "perspective": _perspective,
    "random_resized_crop": _random_resized_crop,
    "resize": _resize,
    "resize_crop_mirror": _resize_crop_mirror,
    "rotate": _rotate,
    "shear_x": _shear(0),
    "shear_y": _shear(1),
    "slice": _slice,
    "sphere": bends.sphere,
    "tensor_resize": _tensor_resize,
    "translate_x": _translate(0),
    "translate_y": _translate(1),
    "warp_affine": _warp_affine,
    "water": bends.water,
}

# They change values of the image, not where things are. `jitter` exchanges neighboring pixels.
PHOTOMETRIC = frozenset(
    {
        "autocontrast",
        "brightness",
        "brightness_contrast",
        "cast",
        "cast_like",
        "channel_shuffle",
        "clahe",
        "coarse_dropout",
        "color_space_conversion",
        "color_twist",
        "contrast",
        "debayer",
        "equalize",
        "erase",
        "experimental.dilate",
        "experimental.erode",
        "experimental.median_blur",
        "filter",
        "gamma",
        "gaussian_blur",
        "grayscale",
        "grid_mask",
        "hsv",
        "hue",
        "invert",
        "jitter",
        "jpeg_compression_distortion",
        "laplacian",
        "lookup_table",
        "motion_blur",
        "noise.gaussian",
        "noise.salt_and_pepper",
        "noise.shot",
        "normalize",
        "posterize",
        "random_erasing",
        "rgb_shift",
        "saturation",
        "sharpness",
        "solarize",
    }
)

# What they do to a batch, they do to all batches of a scene.
EVERY_PART = frozenset({"copy", "permute_batch"})
