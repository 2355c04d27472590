# SPDX-License-Identifier: Apache-2.0
"""Random pixels and objects of masks, selected polygons, windows around regions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd
from daliesque import segmentation
from support.reference.regions import region_boxes

mask_arrays = hnp.arrays(
    st.sampled_from([np.uint8, np.int16, np.int32]),
    hnp.array_shapes(min_dims=1, max_dims=3, max_side=7),
    elements=st.integers(0, 3),
)


@given(mask_arrays, st.integers(0, 100))
def test_random_mask_pixel(mask: Any, seed: int) -> None:
    rng = ndd.random.RNG(seed=seed)
    for arguments, wanted in (
        ({"foreground": 1}, mask > 0),
        ({"foreground": 1, "threshold": 1.5}, mask > 1.5),
        ({"foreground": 1, "value": 2}, mask == 2),
        ({"foreground": 1, "value": 1000}, mask < 0),
        ({}, mask < 0),
    ):
        result = segmentation.random_mask_pixel(mask, rng=rng, **arguments)
        assert result.dtype == ndd.int64
        position = tuple(np.asarray(result).tolist())
        assert (
            wanted[position]
            if wanted.any()
            else all(0 <= k < extent for k, extent in zip(position, mask.shape, strict=True))
        )


def test_all_pixels_are_equally_likely() -> None:
    mask = np.zeros((3, 4), np.float32)
    mask[0, 1] = mask[1, 3] = mask[2, 2] = 1
    batch = ndd.Batch.broadcast(mask, 3000)
    drawn = Counter(
        tuple(np.asarray(p).tolist()) for p in segmentation.random_mask_pixel(batch, foreground=1)
    )
    assert set(drawn) == {(0, 1), (1, 3), (2, 2)}
    assert all(abs(count - 1000) < 150 for count in drawn.values())


@given(mask_arrays, st.integers(0, 100))
def test_random_object_bbox(mask: Any, seed: int) -> None:
    rng = ndd.random.RNG(seed=seed)
    start, end, label = (
        np.asarray(part)
        for part in segmentation.random_object_bbox(
            mask, format="start_end", output_class=True, rng=rng
        )
    )
    box = (tuple(start.tolist()), tuple(end.tolist()))
    if mask.any():
        assert label.item() in np.unique(mask)
        assert label.item() != 0
        assert box in region_boxes(mask, label.item())
    else:
        assert label.item() == 0
        assert box == ((0,) * mask.ndim, mask.shape)


def test_every_object_is_drawn() -> None:
    rng = np.random.default_rng(3)
    mask = (rng.random((40, 50)) < 0.3) * rng.integers(1, 3, (40, 50))
    batch = ndd.Batch.broadcast(mask.astype(np.uint8), 4000)
    boxes = segmentation.random_object_bbox(batch, format="box", ignore_class=True)
    drawn = {tuple(np.asarray(box).tolist()) for box in boxes}
    known = {low + high for label in (1, 2) for low, high in region_boxes(mask, label)}
    assert drawn <= known
    assert len(drawn) > 0.95 * len(known)


def test_choice_of_objects() -> None:
    mask = np.zeros((8, 8), np.int32)
    mask[0, 0] = 1
    mask[2:4, 2:5] = 1
    mask[6:8, 0:2] = 7
    draw = segmentation.random_object_bbox
    for _ in range(20):
        anchor, shape = draw(mask, classes=[1], threshold=[2, 2])
        assert np.asarray(anchor).tolist() + np.asarray(shape).tolist() == [2, 2, 2, 3]
        assert np.asarray(draw(mask, k_largest=1, classes=[1])[0]).tolist() == [2, 2]
        assert np.asarray(draw(mask, classes=[1, 7], class_weights=[0, 2])[0]).tolist() == [6, 0]
        assert np.asarray(draw(mask, foreground_prob=0)[1]).tolist() == [8, 8]
        whole, label = draw(mask, classes=[0], threshold=[9, 9], output_class=True, format="box")
        assert np.asarray(whole).tolist() == [0, 0, 8, 8]
        assert np.asarray(label).item() == -1


def test_select_masks() -> None:
    polygons = [[0, 0, 3], [1, 3, 7], [2, 7, 10]]
    vertices = np.arange(20, dtype=np.float32).reshape(10, 2)
    chosen, points = segmentation.select_masks([1], polygons, vertices)
    assert np.asarray(chosen).tolist() == [[1, 0, 4]]
    np.testing.assert_array_equal(np.asarray(points), vertices[3:7])
    chosen, points = segmentation.select_masks([2, 0], polygons, vertices, reindex_masks=True)
    assert np.asarray(chosen).tolist() == [[0, 0, 3], [1, 3, 6]]
    np.testing.assert_array_equal(np.asarray(points), vertices[[7, 8, 9, 0, 1, 2]])
    ragged = ndd.batch([np.zeros((10, 2)), np.ones((10, 3))])
    _, points = segmentation.select_masks([1], polygons, ragged)
    assert points.shape == [(4, 2), (4, 3)]


@given(st.integers(1, 9), st.integers(0, 5), st.integers(0, 9), st.integers(0, 50))
def test_roi_random_crop(crop: int, start: int, extent: int, seed: int) -> None:
    rng = ndd.random.RNG(seed=seed)
    arguments: dict[str, Any] = {"crop_shape": [crop], "roi_start": [start], "rng": rng}
    begin = int(ndd.roi_random_crop(roi_shape=[extent], **arguments)[0])
    if extent >= crop:
        assert start <= begin <= start + extent - crop
    else:
        assert begin <= start
        assert begin + crop >= start + extent
    bounded = int(ndd.roi_random_crop(np.zeros(20), roi_end=[start + extent], **arguments)[0])
    assert 0 <= bounded <= 20 - crop


MASK = np.ones((3, 3), np.uint8)
POLYGONS = np.array([[0, 0, 2]], np.int32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: segmentation.random_mask_pixel(MASK, value=1, threshold=2.0),
            "segmentation.random_mask_pixel: 'value' and 'threshold' exclude each other",
        ),
        (
            lambda: segmentation.random_object_bbox(MASK, format="x"),
            "segmentation.random_object_bbox: 'format' must be 'anchor_shape', 'start_end' or",
        ),
        (
            lambda: segmentation.random_object_bbox(MASK, ignore_class=True, classes=[1]),
            "'ignore_class' excludes",
        ),
        (
            lambda: segmentation.random_object_bbox(MASK, k_largest=0),
            "'k_largest' must be positive",
        ),
        (
            lambda: segmentation.random_object_bbox(MASK, threshold=[1]),
            "'threshold' needs 2 values",
        ),
        (
            lambda: segmentation.random_object_bbox(MASK, classes=[1, 2], class_weights=[1.0]),
            r"'class_weights' needs one number for each of 'classes'; got 1 for 2 \(sample 0\)",
        ),
        (
            lambda: segmentation.random_object_bbox(MASK, classes=[1, 2], background=2),
            r"'background' must not be one of 'classes'; got 2 \(sample 0\)",
        ),
        (
            lambda: segmentation.random_object_bbox(MASK.astype(np.float32)),
            "segmentation.random_object_bbox: the type float32 is not supported",
        ),
        (
            lambda: segmentation.select_masks(np.int32([0]), POLYGONS[:, :2], np.zeros((2, 2))),
            r"polygons must be int32 of the shape \(polygons, 3\)",
        ),
        (
            lambda: ndd.roi_random_crop(MASK, crop_shape=[1], roi_start=[0]),
            "roi_random_crop: takes either 'roi_end' or 'roi_shape'",
        ),
        (
            lambda: ndd.roi_random_crop(MASK, crop_shape=[4], roi_start=[0], roi_end=[1]),
            r"'crop_shape' must fit into the data; got \[4\] for \[3\] \(sample 0\)",
        ),
        (
            lambda: ndd.roi_random_crop(MASK, crop_shape=[2], roi_start=[0], roi_end=[4]),
            r"the region must lie in the data; got \[0\] to \[4\] for \[3\] \(sample 0\)",
        ),
        (
            lambda: ndd.roi_random_crop(MASK, crop_shape=[2], roi_start=[0, 0], roi_end=[4]),
            "'roi_start' needs 1 values, as many as 'crop_shape'; got 2",
        ),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: segmentation.random_mask_pixel(np.zeros((0, 3), np.uint8)),
            "segmentation.random_mask_pixel: sample 0 has no pixels",
        ),
        (
            lambda: segmentation.select_masks(np.int32([0, 0]), POLYGONS, np.zeros((2, 2))),
            "segmentation.select_masks: sample 0 selects mask 0 more than once",
        ),
        (
            lambda: segmentation.select_masks(np.int32([4]), POLYGONS, np.zeros((2, 2))),
            "segmentation.select_masks: sample 0 has no mask 4",
        ),
        (
            lambda: segmentation.select_masks(np.int32([0]), POLYGONS, np.zeros((1, 2))),
            "sample 0 has a mask 0 of the vertices 0 to 2; there are 1",
        ),
    ],
)
def test_masks_of_wrong_shape_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ndd.OpError, match=message):
        call()


def test_a_threshold_is_given_even_if_it_is_the_default() -> None:
    masks = ndd.batch(np.ones((2, 3, 4), np.int32))
    with pytest.raises(ValueError, match="'value' and 'threshold' exclude each other"):
        ndd.segmentation.random_mask_pixel(masks, value=1, threshold=0.0).evaluate()
