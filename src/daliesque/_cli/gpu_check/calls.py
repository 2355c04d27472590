# SPDX-License-Identifier: Apache-2.0
"""Calls of operators that run on accelerators, with inputs made up for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# Heights and widths, of which some are equal.
_SIZES = [(48, 64), (64, 48), (48, 64), (75, 33), (20, 97), (48, 64)]
_CLASSES = 3


@dataclass(frozen=True)
class Call:
    """An operator, what it is called with, and how its results are compared.

    `inputs` makes the samples of each input, for sizes.
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    inputs: Callable[[list[tuple[int, int]]], list[list[Array]]] = lambda sizes: [_images(sizes)]
    layout: str | None = "HWC"
    # Of the largest value; integers may always differ by one.
    tolerance: float = 1e-5
    random: bool = False
    waits: bool = False

    def samples(self, equal: bool) -> list[list[Array]]:
        """The samples of each input, of equal sizes or not."""
        return self.inputs([_SIZES[0]] * len(_SIZES) if equal else _SIZES)


def _images(sizes: list[tuple[int, int]]) -> list[Array]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (*size, 3), np.uint8) for size in sizes]


def _signals(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    rng = np.random.default_rng(4)
    return [[rng.normal(size=200 + 9 * width).astype(np.float32) for _, width in sizes]]


def _spectra(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    rng = np.random.default_rng(5)
    return [[rng.random((65, width)).astype(np.float32) + 0.01 for _, width in sizes]]


def _points(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    rng = np.random.default_rng(6)
    return [[rng.random((height, 2)).astype(np.float32) for height, _ in sizes]]


def _two(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    return [_images(sizes), [np.flip(image).copy() for image in _images(sizes)]]


def _maps(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    rng = np.random.default_rng(7)
    shifts = [rng.normal(size=(2, *size)).astype(np.float32) for size in sizes]
    grids = [np.indices(size).astype(np.float32) for size in sizes]
    x = [grid[1] + shift[1] for grid, shift in zip(grids, shifts, strict=True)]
    y = [grid[0] + shift[0] for grid, shift in zip(grids, shifts, strict=True)]
    return [_images(sizes), x, y]


def _with_means(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    images = _images(sizes)
    return [images, [image.mean((0, 1), np.float32)[None, None] for image in images]]


def _windows(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    rng = np.random.default_rng(8)
    return [_images(sizes), [rng.random((3, 5)).astype(np.float32) / 8 for _ in sizes]]


def _boxes(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    rng = np.random.default_rng(9)
    return [[np.sort(rng.random((width, 4)), axis=1).astype(np.float32) for _, width in sizes]]


def _numbers(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    return [[np.arange(width) % _CLASSES for _, width in sizes]]


def _mosaics(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    return [
        [
            image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2, 0].copy()
            for image in _images(sizes)
        ]
    ]


def _labeled(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    labels = [np.array(number % _CLASSES, np.int64) for number in range(len(sizes))]
    return [_images([sizes[0]] * len(sizes)), labels]


def _nothing(sizes: list[tuple[int, int]]) -> list[list[Array]]:
    del sizes
    return []


_AFFINE = [0.9, 0.2, 1.0, -0.3, 1.1, 0.4]
_PERSPECTIVE = [0.9, 0.2, 1.0, -0.3, 1.1, 0.4, 0.001, 0.002, 1.0]
_WARPED = 2e-4

CALLS = [
    Call("audio_resample", {"in_rate": 2.0, "out_rate": 1.7}, _signals, None, 4e-3),
    Call("autocontrast"),
    Call("auto_aug.augmix", {}, tolerance=_WARPED, random=True),
    Call("bb_flip", {"ltrb": True, "horizontal": 1}, _boxes, None),
    Call("brightness", {"brightness": 1.4}),
    Call("brightness_contrast", {"contrast": 1.4, "brightness": 0.8}),
    Call("cast", {"dtype": np.dtype("float32")}),
    Call("cat", {"axis": 1}, _two),
    Call("channel_shuffle", {"order": [2, 0, 1]}),
    Call("clahe", {"tiles_x": 2, "tiles_y": 3, "clip_limit": 2.0}),
    Call("coarse_dropout", {"num_holes_range": [1, 4]}, random=True),
    Call("color_twist", {"hue": 40, "saturation": 1.4, "contrast": 0.8}),
    Call("contrast", {"contrast": 0.6}),
    Call("coord_flip", {"flip_y": 1}, _points, None),
    Call("coord_transform", {"M": _AFFINE}, _points, None),
    Call("copy"),
    Call("crop", {"crop": (16, 20)}),
    Call("crop_mirror_normalize", {"crop": (16, 20), "mirror": 1, "std": [50.0], "mean": [90.0]}),
    Call("cutmix", {"num_classes": _CLASSES}, _labeled, random=True),
    Call("debayer", {"blue_position": [0, 1]}, _mosaics, "HW"),
    Call("elastic_transform", {"alpha": 3.0}, tolerance=_WARPED, random=True),
    Call("equalize"),
    Call("erase", {"anchor": [4, 5], "shape": [8, 9], "axis_names": "HW"}),
    Call("experimental.dilate", {"mask_size": [3, 5]}),
    Call("experimental.erode", {"mask_size": [3, 5]}),
    Call("experimental.median_blur", {"window_size": [3, 3]}),
    Call("experimental.remap", {}, _maps, tolerance=_WARPED),
    Call("experimental.warp_perspective", {"matrix": _PERSPECTIVE}, tolerance=_WARPED),
    Call("filter", {}, _windows),
    Call("flip", {"horizontal": 1}),
    Call("gamma", {"gamma": 1.5}),
    Call("gaussian_blur", {"sigma": 1.5}),
    Call("grayscale"),
    Call("grid_distortion", tolerance=_WARPED, random=True),
    Call("grid_mask", {"tile": 12, "angle": 0.3}),
    Call("hsv", {"hue": 40}),
    Call("invert"),
    Call("jitter", random=True),
    Call("jpeg_compression_distortion", {"quality": 40}),
    Call("laplacian", {"window_size": 5}),
    Call("lookup_table", {"keys": [3, 200], "values": [0.5, 7.0]}),
    Call("mel_filter_bank", {"nfilter": 12}, _spectra, "ft", 1e-4),
    Call("mfcc", {"n_mfcc": 7}, _spectra, "ft"),
    Call("mixup", {"num_classes": _CLASSES}, _labeled, random=True),
    Call("motion_blur", {"size": 5, "angle": 30.0}),
    Call("noise.gaussian", {"stddev": 20.0}, random=True),
    Call("noise.salt_and_pepper", {"prob": 0.1}, random=True),
    Call("noise.shot", {"factor": 10.0}, random=True, waits=True),
    Call("nonsilent_region", {"window_length": 16}, _signals, None),
    Call("normalize", {"axes": [0, 1]}),
    Call("one_hot", {"num_classes": _CLASSES}, _numbers, None),
    Call("pad", {"align": 16}),
    Call("paste", {"ratio": 1.5, "fill_value": [1, 2, 3]}),
    Call("perspective", tolerance=_WARPED, random=True),
    Call("posterize", {"bits": 3}),
    Call("preemphasis_filter", {"preemph_coeff": 0.9}, _signals, None),
    Call("random.choice", {"shape": [1000]}, _numbers, None, random=True),
    Call("random.coin_flip", {"shape": [1000], "batch_size": 6}, _nothing, random=True),
    Call("random.normal", {"shape": [1000], "batch_size": 6}, _nothing, random=True),
    Call("random.uniform", {"shape": [1000], "batch_size": 6}, _nothing, random=True),
    Call("random_erasing", random=True),
    Call("random_resized_crop", {"size": [16, 20]}, random=True),
    Call("reductions.max", {"axes": [0]}),
    Call("reductions.mean", {"axis_names": "HW"}),
    Call("reductions.min", {"axes": [0, 2]}),
    Call("reductions.rms", {"axes": [0, 1]}),
    Call("reductions.std_dev", {"axes": [0, 1]}, _with_means, tolerance=1e-4),
    Call("reductions.sum", {"axes": [0, 1]}),
    Call("resize", {"size": [16, 20]}),
    Call("resize_crop_mirror", {"resize_shorter": 20, "crop": [16, 16]}),
    Call("rgb_shift", {"r_shift": 20}),
    Call("rotate", {"angle": 20.0}, tolerance=_WARPED),
    Call("sharpness", {"sharpness": 1.7}),
    Call("shear_x", {"shear": 0.2}, tolerance=_WARPED),
    Call("slice", {"rel_start": [0.1, 0.2], "rel_shape": [0.5, 0.4]}),
    Call("solarize", {"threshold": 100.0}),
    Call("spectrogram", {"window_length": 50, "window_step": 20}, _signals, None, 1e-4),
    Call("sphere", tolerance=_WARPED),
    Call("stack", {"axis": 2}, _two),
    Call("to_decibels", {"cutoff_db": -30.0}, _spectra, "ft"),
    Call("translate_y", {"offset_rel": 0.2}, tolerance=_WARPED),
    Call("transpose", {"perm": [2, 0, 1]}),
    Call("warp_affine", {"matrix": _AFFINE}, tolerance=_WARPED),
    Call("water", {"ampl_x": 2.0}, tolerance=_WARPED),
]
