# SPDX-License-Identifier: Apache-2.0
"""Kernels refuse arguments with too few rows or values, however Python calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque import _kernels as kernels

STATE = kernels.Philox(5).state()


def floats(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def doubles(*shape: int) -> Any:
    return np.zeros(shape, np.float64)


def longs(*shape: int) -> Any:
    return np.ones(shape, np.int64)


def ints(*shape: int) -> Any:
    return np.ones(shape, np.int32)


def of(dtype: ndd.DType, *shape: int) -> Any:
    """Three samples."""
    return kernels.empty_uniform(dtype.code, shape, "", 3)


def crop_windows(**changed: Any) -> Any:
    arguments = {
        **dict.fromkeys(("depth", "height", "width", "x", "y", "z"), floats(1, 1)),
        **{"shapes": longs(3, 2), "layout": "HW", "crop": None, "truncate": False},
    }
    return kernels.crop_windows(**{**arguments, **changed})


def slice_windows(**changed: Any) -> Any:
    arguments = {
        **{"shapes": longs(3, 2), "axes": np.array([[0, 1]], np.int32), "single_precision": False},
        **dict.fromkeys(("begin", "end", "size")),
        "relative": (False, False, False),
    }
    return kernels.slice_windows(**{**arguments, **changed})


def pad_windows(**changed: Any) -> Any:
    axes = np.array([[0, 1]], np.int32)
    arguments = {"shapes": longs(3, 2), "axes": axes, "extents": None, "align": None}
    return kernels.pad_windows(**{**arguments, **changed})


def cut(anchors: Any, shapes: Any) -> Any:
    zeros = floats(1, 1)
    image = of(ndd.uint8, 4, 5)
    return kernels.slice(image, image.type_id, anchors, shapes, kernels.Border.constant, zeros, -1)


def mask_pixel(foreground: Any, value: Any, threshold: Any) -> Any:
    masks = of(ndd.uint8, 4, 5)
    return kernels.random_mask_pixel(of(ndd.int64, 2), STATE, masks, foreground, value, threshold)


def object_box(probability: Any, background: Any, threshold: Any, classes: Any = None) -> Any:
    outputs = of(ndd.int32, 2), of(ndd.int32, 2), of(ndd.int32)
    masks = of(ndd.uint8, 4, 5)
    return kernels.random_object_bbox(
        *outputs, STATE, masks, probability, background, classes, None, threshold, 0, False
    )


def bbox_crop(input_shape: Any, crop_shape: Any) -> Any:
    return kernels.random_bbox_crop(
        *(of(ndd.float32, 1, 4), STATE, [0, 1, 2, 3], False, [0.0], [1.0, 1.0], 0.5, 1.0),
        *(1, 1, 0.0, True, True, False, input_shape, crop_shape),
    )


def encode(means: Any, deviations: Any) -> Any:
    return kernels.encode_boxes(
        *(of(ndd.float32, 1, 4), of(ndd.int32, 1), of(ndd.float32, 1, 4), of(ndd.int32, 1)),
        *(of(ndd.float32, 1, 4), 0.5, False, 1.0, means, deviations),
    )


def geometry(**changed: Any) -> Any:
    arguments = {
        **{"shapes": longs(3, 2), "first_axis": 0, "axes": 2, "sizes": np.ones((1, 2), np.float32)},
        **{"roi_start": None, "roi_end": None, "roi_relative": False, "max_size": None},
        **{"alignment": None, "mode": 0, "rounding": 0, "subpixel_scale": True},
    }
    return kernels.ResizeGeometry.find(**{**arguments, **changed})


def paste(patch: list[int], offsets: tuple[int, ...] = (0, 1, 1, 1)) -> Any:
    """A patch: input, sample, position there, height and width, position on the canvas."""
    images = of(ndd.uint8, 4, 5, 2)
    shapes = np.array([[4, 6, 2]] * 3)
    return kernels.multi_paste(
        [images], images.type_id, shapes, np.array(offsets), np.array(patch, np.int64)
    )


def listed(ends: list[int]) -> Any:
    return kernels.read_listed_files(b"ab", np.array(ends), np.array([1]), b"", None)


# Each line: a call, and whether its arguments have enough rows.
CALLS: dict[str, list[tuple[bool, Callable[[], Any]]]] = {
    "random": [
        (True, lambda: kernels.uniform(of(ndd.float32), STATE, floats(1, 2))),
        (False, lambda: kernels.uniform(of(ndd.float32), STATE, floats(2, 2))),
        (False, lambda: kernels.uniform(of(ndd.float32), STATE, floats(3, 1))),
        (True, lambda: kernels.normal(of(ndd.float32), STATE, floats(3), floats(1))),
        (False, lambda: kernels.normal(of(ndd.float32), STATE, floats(3), floats(2))),
        (False, lambda: kernels.coin_flip(of(ndd.bool), STATE, floats(2))),
        (False, lambda: kernels.coin_flip(of(ndd.bool), STATE, floats(0))),
        (False, lambda: kernels.beta(of(ndd.float32), STATE, floats(2), floats(1))),
        (
            False,
            lambda: kernels.roi_random_crop(
                of(ndd.int64, 2), STATE, longs(2, 2), longs(1, 2), longs(1, 2), None
            ),
        ),
        (
            False,
            lambda: kernels.roi_random_crop(
                of(ndd.int64, 2), STATE, longs(1, 2), longs(1, 1), longs(1, 2), longs(1, 2)
            ),
        ),
        (False, lambda: kernels.random_crop(STATE, longs(3, 1), (1.0, 1.0), (0.5, 1.0), 1)),
    ],
    "windows": [
        (True, lambda: crop_windows(crop=floats(3, 2))),
        (False, lambda: crop_windows(crop=floats(2, 2))),
        (False, lambda: crop_windows(height=floats(2, 1))),
        (False, lambda: crop_windows(x=floats(4, 1), width=floats(3, 1))),
        (False, lambda: crop_windows(layout="AHW", height=np.ones((1, 1), np.float32))),
        (True, lambda: slice_windows(begin=doubles(1, 2), end=doubles(3, 1))),
        (False, lambda: slice_windows(begin=doubles(2, 2))),
        (False, lambda: slice_windows(size=doubles(3, 0))),
        (False, lambda: slice_windows(axes=np.array([[0, 1]] * 2, np.int32))),
        (True, lambda: pad_windows(extents=ints(1, 1), align=ints(3, 2))),
        (False, lambda: pad_windows(extents=ints(2, 1))),
        (False, lambda: pad_windows(align=ints(3, 0))),
        (True, lambda: kernels.fit_windows(longs(3, 2), longs(3, 2), longs(1, 2), True)),
        (False, lambda: kernels.fit_windows(longs(3, 2), longs(2, 2), longs(1, 2), True)),
        (False, lambda: kernels.fit_windows(longs(3, 2), longs(3, 2), longs(2, 2), True)),
        (False, lambda: kernels.fit_windows(longs(3, 2), longs(3, 2), longs(3, 1), True)),
        (True, lambda: cut(longs(1, 2), longs(3, 2))),
        (False, lambda: cut(longs(2, 2), longs(1, 2))),
        (False, lambda: cut(longs(1, 2), longs(3, 1))),
    ],
    "boxes": [
        (True, lambda: mask_pixel(ints(1), ints(3), floats(1))),
        (False, lambda: mask_pixel(ints(2), None, floats(1))),
        (False, lambda: mask_pixel(ints(1), ints(2), floats(1))),
        (False, lambda: mask_pixel(ints(1), None, floats(2))),
        (True, lambda: object_box(floats(1), None, ints(1, 2))),
        (False, lambda: object_box(floats(2), None, None)),
        (False, lambda: object_box(floats(1), ints(2), None)),
        (False, lambda: object_box(floats(1), None, ints(3, 1))),
        (
            False,
            lambda: object_box(
                floats(1), None, None, kernels.empty_uniform(ndd.int64.code, (1,), "", 2)
            ),
        ),
        (True, lambda: bbox_crop(longs(1, 2), None)),
        (False, lambda: bbox_crop(longs(2, 2), None)),
        (False, lambda: bbox_crop(longs(1, 2), longs(1, 1))),
        (False, lambda: encode(floats(3), floats(4))),
    ],
    "paste": [
        (True, lambda: paste([0, 2, 1, 1, 3, 4, 1, 2])),
        (False, lambda: paste([0, 2, 1, 1, 4, 4, 0, 0])),
        (False, lambda: paste([0, 2, 0, 0, 4, 5, 0, 2])),
        (False, lambda: paste([0, 3, 0, 0, 1, 1, 0, 0])),
        (False, lambda: paste([1, 0, 0, 0, 1, 1, 0, 0])),
        (False, lambda: paste([0, 0, -1, 0, 1, 1, 0, 0])),
        (False, lambda: paste([0, 0, 0, 0, 1, -1, 0, 0])),
        (False, lambda: paste([0, 0, 0, 0, 1, 1, 0, 0], (0, 1, 2, 2))),
        (False, lambda: paste([0, 0, 0, 0, 1, 1, 0, 0], (0, 1))),
    ],
    "resize": [
        (True, lambda: geometry()),
        (False, lambda: geometry(sizes=floats(2, 2))),
        (False, lambda: geometry(sizes=floats(3, 1))),
        (False, lambda: geometry(roi_start=floats(2, 2))),
        (False, lambda: geometry(roi_end=floats(1, 1))),
        (False, lambda: geometry(first_axis=1)),
        (False, lambda: geometry(max_size=[1.0])),
    ],
}


@pytest.mark.parametrize("subject", CALLS)
def test_rows_are_counted(subject: str) -> None:
    for number, (fits, call) in enumerate(CALLS[subject]):
        try:
            call()
        except ndd.InternalError:
            assert not fits, f"call {number}"
        else:
            assert fits, f"call {number}"


@pytest.mark.parametrize("ends", [[1, 3], [2, 1], [-1, 1]])
def test_names_end_within_the_names(ends: list[int]) -> None:
    with pytest.raises(ndd.InternalError, match="a name ends outside"):
        listed(ends)
