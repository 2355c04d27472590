# SPDX-License-Identifier: Apache-2.0
"""Scenes that policies move, and scenes that are made of several ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close
from support.scenes import SIZES, make_parts, make_scene, moved_boxes, shift


def test_policies_move_all_parts() -> None:
    """A bright square and the box around it stay together, whatever is drawn."""
    image = np.zeros((80, 100, 3), np.uint8)
    image[35:45, 45:55] = 255
    images = ndd.batch([image] * 40, layout="HWC")
    boxes = ndd.batch([np.array([[45, 35, 55, 45]], np.float32)] * 40)
    scene = ndd.Scene(image=images, boxes=boxes)
    geometric = ["brightness", "contrast", "color", "sharpness", "posterize", "solarize"]
    left_out = [*geometric, "equalize", "auto_contrast"]
    moved = ndd.auto_aug.rand_augment(
        scene, 2, 15, fill_value=0, max_translate_abs=20, excluded=left_out, seed=3
    )
    assert any((np.asarray(sample) != image).any() for sample in moved.image.tensors)
    y, x = np.mgrid[:80, :100] + 0.5
    for sample, rows in zip(moved.image.tensors, moved.boxes.tensors, strict=True):
        weights = np.asarray(sample)[..., 0].astype(np.float64)
        center = [(weights * part).sum() / weights.sum() for part in (x, y)]
        ((left, top, right, bottom),) = np.asarray(rows)
        assert_close([(left + right) / 2, (top + bottom) / 2], center, "centers of objects")


@pytest.mark.parametrize("fill", [0, 7])
def test_mosaics_hold_the_parts_of_four_scenes(fill: int) -> None:
    """Positions that pixels hold say where each box comes from."""
    ndd.random.set_seed(2)
    scene = make_scene(min_visibility=0.2, mask_fill=fill)
    semantic = [np.full(size, i + 1, np.uint8) for i, size in enumerate(SIZES)]
    both = [scene, scene.replace(masks=ndd.batch(semantic))]
    rng = [ndd.random.RNG(seed=6) for _ in both]
    stacked, flat = (
        ndd.mosaic(s, size=[70, 90], fill_value=-1.0, rng=r) for s, r in zip(both, rng, strict=True)
    )
    parts = make_parts()
    for i in range(len(SIZES)):
        image, owner = np.asarray(flat.image.select(i)), np.asarray(flat.masks.select(i))
        labels, boxes = (np.asarray(p.select(i)) for p in (stacked.labels, stacked.boxes))
        masks = np.asarray(stacked.masks.select(i))
        assert masks.shape == (len(labels), 70, 90)
        seen = {}
        for member in range(len(SIZES)):
            rows, columns = np.nonzero(owner == member + 1)
            if member + 1 == fill or len(rows) == 0:
                continue
            # What is added to positions in the image of the member.
            offset = [columns[0] + 0.5, rows[0] + 0.5] - image[rows[0], columns[0]]
            matrix = shift(*offset)
            moved, numbers = moved_boxes(matrix, parts["boxes"][member], (70, 90), 0.2)
            seen.update({10 * member + n: b for n, b in zip(numbers, moved, strict=True)})
            for number in numbers:
                was = parts["masks"][member][number]
                y, x = np.nonzero(was)
                y, x = y + int(offset[1]), x + int(offset[0])
                inside = (y >= 0) & (y < 70) & (x >= 0) & (x < 90)
                plane = masks[labels.tolist().index(10 * member + number)]
                assert (plane == 1).sum() == inside.sum()
                assert (plane[y[inside], x[inside]] == 1).all()
        assert sorted(labels.tolist()) == sorted(seen)
        for label, box in zip(labels.tolist(), boxes, strict=True):
            assert_close(box, seen[label], "rotated boxes")
        nowhere = image[..., 0] == -1
        assert (owner[nowhere] == fill).all()


def paste_scene(**options: Any) -> ndd.Scene:
    """Two scenes: objects of the second hide one of the first, half of another, none of a third."""
    boxes = [[[2, 2, 8, 8], [10, 4, 20, 12], [30, 4, 38, 12]], [[1, 1, 9, 9], [15, 0, 22, 20]]]
    masks = []
    for rows in boxes:
        planes = np.zeros((len(rows), 24, 40), np.uint8)
        for plane, (left, top, right, bottom) in zip(planes, rows, strict=True):
            plane[top:bottom, left:right] = 1
        masks.append(planes)
    images = np.stack([np.full((24, 40, 3), value, np.uint8) for value in (50, 200)])
    return ndd.Scene(
        ndd.batch(images, layout="HWC"),
        boxes=boxes,
        labels=[[0, 1, 2], [10, 11]],
        masks=ndd.batch(masks),
        keypoints=[[[5.0, 5.0], [32.0, 6.0]], [[2.0, 2.0], [35.0, 20.0]]],
        **options,
    )


def test_pasted_objects_bring_their_parts() -> None:
    result = ndd.copy_paste(paste_scene())
    image, masks = np.asarray(result.image.select(0)), np.asarray(result.masks.select(0))
    assert result.labels.select(0).tolist() == [1, 2, 10, 11]
    # The second box reaches to the pasted object only.
    assert result.boxes.select(0).tolist() == [
        [10, 4, 15, 12],
        [30, 4, 38, 12],
        [1, 1, 9, 9],
        [15, 0, 22, 20],
    ]
    pasted = masks[2:].any(axis=0)
    np.testing.assert_array_equal(image[..., 0], np.where(pasted, 200, 50))
    assert not (masks[:2].any(axis=0) & pasted).any()
    assert masks[0].sum() == 5 * 8
    assert result.visible.select(0).tolist() == [False, True, True, False]


def test_hidden_objects_are_removed_by_visibility() -> None:
    result = ndd.copy_paste(paste_scene(min_visibility=0.6))
    assert result.labels.select(0).tolist() == [2, 10, 11]
    with pytest.raises(ValueError, match="needs masks"):
        ndd.copy_paste(paste_scene().replace(masks=None))


def test_pasted_objects_in_masks_of_pixels() -> None:
    scene = paste_scene().replace(
        masks=ndd.batch([np.eye(24, 40, k, np.int32) * (k + 1) for k in (0, 5)])
    )
    result = np.asarray(ndd.copy_paste(scene).masks.select(0))
    own, other = np.eye(24, 40, 0, np.int32), np.eye(24, 40, 5, np.int32) * 6
    np.testing.assert_array_equal(result, np.where(other != 0, other, own))
