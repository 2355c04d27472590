# SPDX-License-Identifier: Apache-2.0
"""The class Scene: construction, parts, conversions, errors, modes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import daliesque as ndd
from support.coco_data import make_dataset
from support.compare import assert_close
from support.scenes import SIZES, make_parts, make_scene

IMAGE = np.zeros((40, 60, 3), np.uint8)


def single(**parts: Any) -> ndd.Scene:
    return ndd.Scene(image=IMAGE, **parts)


def batch_of(count: int, **parts: Any) -> ndd.Scene:
    return ndd.Scene(image=np.zeros((count, 40, 60, 3), np.uint8), **parts)


def test_parts_are_attributes() -> None:
    scene = single(boxes=[[1, 2, 3, 4]], labels=[5], per_box={"crowd": [True]}, name="a.jpg")
    assert isinstance(scene.image, ndd.Tensor)
    assert scene.image.layout == "HWC"
    assert scene.boxes.tolist() == [[1, 2, 3, 4]]
    assert (scene.masks, scene.keypoints, scene.visible) == (None, None, None)
    assert (scene.name, scene.crowd.tolist()) == ("a.jpg", [True])
    assert list(scene.parts) == ["image", "boxes", "labels", "crowd", "name"]
    with pytest.raises(AttributeError, match="no part 'area'; it has image, boxes, labels, crowd"):
        _ = scene.area


def test_single_scenes_stay_single() -> None:
    scene = single(boxes=[[10, 5, 30, 20]], labels=[3], masks=np.ones((1, 40, 60), np.uint8))
    result = ndd.crop(scene, crop=(20, 30), crop_pos_x=0, crop_pos_y=0)
    assert isinstance(result.boxes, ndd.Tensor)
    assert result.boxes.tolist() == [[10, 5, 30, 20]]
    assert result.masks.shape == (1, 20, 30)
    assert isinstance(ndd.rotate(scene, angle=ndd.batch([1.0, 2.0])).labels, ndd.Batch)


def test_everything_that_belongs_to_a_box_follows_it() -> None:
    scene = batch_of(
        2,
        boxes=[[[0, 0, 5, 5], [30, 10, 50, 30]], [[31, 11, 32, 12]]],
        labels=[[1, 2], [3]],
        keypoints=[np.full((2, 4, 3), 35.0), np.full((1, 4, 3), 31.5)],
        masks=[np.ones((2, 40, 60), bool), np.ones((1, 40, 60), bool)],
        per_box={"area": [[25.0, 400.0], [1.0]]},
        number=[7, 8],
    )
    result = ndd.slice(scene, start=[30, 10], shape=[20, 20])
    assert result.boxes.tolist() == [[[0, 0, 20, 20]], [[1, 1, 2, 2]]]
    assert result.labels.tolist() == [[2], [3]]
    assert result.area.tolist() == [[400], [1]]
    assert result.masks.shape == [(1, 20, 20), (1, 20, 20)]
    assert result.keypoints.shape == [(1, 4, 3), (1, 4, 3)]
    assert result.number == [7, 8]


def test_points_outside_are_marked_for_good() -> None:
    scene = single(keypoints=[[10.0, 10.0, 2.0], [50.0, 10.0, 1.0], [20.0, 20.0, 0.0]])
    cut = ndd.crop(scene, crop=(40, 30), crop_pos_x=0)
    assert cut.keypoints.tolist() == [[10, 10, 2], [50, 10, 0], [20, 20, 0]]
    assert cut.visible.tolist() == [True, False, False]
    larger = ndd.crop(cut, crop=(40, 90), out_of_bounds_policy="pad")
    assert larger.keypoints.tolist() == [[40, 10, 2], [80, 10, 0], [50, 20, 0]]
    assert larger.visible.tolist() == [True, False, False]
    assert ndd.flip(single(keypoints=[[0.0, 0.0]])).visible.tolist() == [True]


def test_boxes_are_kept_by_visibility_and_size() -> None:
    boxes = [[0, 0, 20, 40], [8, 0, 12, 40], [0, 0, 9, 9], [-30, 0, 30, 40]]
    window = {"start": [10, 0], "shape": [50, 40]}
    kept = ndd.slice(single(boxes=boxes, labels=[0, 1, 2, 3]), **window)
    assert kept.labels.tolist() == [0, 1, 3]
    assert kept.boxes.tolist() == [[0, 0, 10, 40], [0, 0, 2, 40], [0, 0, 20, 40]]
    visible = single(boxes=boxes, labels=[0, 1, 2, 3], min_visibility=0.5)
    assert ndd.slice(visible, **window).labels.tolist() == [0, 1]
    large = single(boxes=boxes, labels=[0, 1, 2, 3], min_size=3)
    assert ndd.slice(large, **window).labels.tolist() == [0, 3]
    whole = single(boxes=boxes, labels=[0, 1, 2, 3], clip=False)
    assert ndd.slice(whole, **window).boxes.tolist() == [
        [-10, 0, 10, 40],
        [-2, 0, 2, 40],
        [-40, 0, 20, 40],
    ]


def test_samples_without_boxes() -> None:
    nothing = batch_of(2, boxes=[[], []], labels=[[], []], keypoints=[[], []])
    for call in (ndd.flip, lambda s: ndd.rotate(s, angle=30), ndd.random_bbox_crop):
        result = call(nothing)
        assert result.boxes.shape == [(0, 4), (0, 4)]
        assert result.labels.shape == [(0,), (0,)]
    empty = ndd.flip(batch_of(0, boxes=ndd.batch([], dtype=ndd.float32)))
    assert (len(empty), len(empty.boxes)) == (0, 0)
    no_pixels = ndd.Scene(np.zeros((0, 6, 3), np.uint8), boxes=[[0, 0, 1, 1]])
    assert ndd.flip(no_pixels).boxes.shape == (0, 4)


@pytest.mark.parametrize("relative", [False, True])
def test_images_without_pixels_have_no_boxes(relative: bool) -> None:
    scene = ndd.Scene(
        np.zeros((40, 60, 3), np.uint8),
        boxes=[[0.1, 0.1, 0.9, 0.9]],
        keypoints=[[0.5, 0.5]],
        relative=relative,
    )
    result = ndd.crop(scene, crop=(0.4, 0.4), rounding="truncate")
    assert result.boxes.shape[1] == 4
    assert np.isfinite(result.keypoints.numpy()).all()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "labels": (
        {"boxes": [[[0, 0, 1, 1]], []], "labels": [[1], [2]]},
        r"sample 1 needs a row of 'labels' for each of its 0 boxes; got the shape \(1,\)",
    ),
    "masks": (
        {"boxes": [[[0, 0, 1, 1]], []], "masks": [np.ones((2, 40, 60)), np.ones((0, 40, 60))]},
        r"sample 0 needs a row of 'masks' for each of its 1 boxes; got the shape \(2, 40, 60\)",
    ),
    "size of masks": (
        {"masks": [np.ones((40, 60)), np.ones((40, 61))]},
        r"sample 1 has an image of 40x60 pixels, but masks of the shape \(40, 61\)",
    ),
    "masks with channels": (
        {"masks": [np.ones((40, 60, 1))] * 2},
        r"masks of the shape \(40, 60, 1\). Masks with channels need the layout 'HWC'",
    ),
    "axes of masks": ({"masks": [np.ones(40)] * 2}, "masks must be .* got 1 axes"),
    "NaN": (
        {"boxes": [[], [[0, 0, float("nan"), 1]]]},
        r"sample 1 has a box that is not finite or ends before it begins: \[0.0, 0.0, nan, 1.0\]",
    ),
    "order": (
        {"boxes": [[[0, 0, 1, 1], [5, 5, 4, 6]], []]},
        r"sample 0 has a box that .* \[5.0, 5.0, 4.0, 6.0\]. Say what .* 'box_format'",
    ),
    "width of boxes": (
        {"boxes": [np.ones((1, 4)), np.ones((1, 5))]},
        r"sample 1 needs boxes of the shape \(boxes, 4\); got \(1, 5\)",
    ),
    "keypoints": ({"keypoints": [np.ones((2, 4))] * 2}, "keypoints must have the shape"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("mode", [ndd.EvalMode.eager, ndd.EvalMode.sync_cpu], ids=lambda m: m.name)
def test_wrong_parts_are_named(name: str, mode: ndd.EvalMode) -> None:
    parts, message = WRONG[name]
    with mode, pytest.raises((ValueError, ndd.OpError), match=message):
        ndd.flip(batch_of(2, **parts)).evaluate()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ndd.Scene(None), TypeError, "'image' must be an image"),
        (lambda: single(box_format="xyz"), ValueError, "'box_format' must be 'ltrb', .*'xyz'"),
        (lambda: single(min_visibility=2), ValueError, r"'min_visibility' must lie in \[0, 1\]"),
        (lambda: single(min_size=-1), ValueError, "'min_size' must be a number of pixels; got -1"),
        (lambda: batch_of(2, boxes=[[]]), ValueError, "'boxes' has 1 samples, but 'image' 2"),
        (
            lambda: batch_of(2, boxes=ndd.tensor([[0, 0, 1, 1]])),
            TypeError,
            "'image' is a Batch, but 'boxes' is a Tensor",
        ),
        (lambda: ndd.Scene(np.zeros(3)), ValueError, "'image' needs the layout .* got 1 axes"),
        (lambda: single(torch=1), ValueError, "a part cannot have the name 'torch'"),
        (lambda: len(single()), TypeError, "no length"),
        (lambda: single()[0], TypeError, r"no \[\.\.\.\]"),
        (lambda: single().replace(image=None), TypeError, "needs an image"),
        (lambda: ndd.random_bbox_crop(single()), ValueError, "without boxes"),
        (
            lambda: ndd.random_bbox_crop(single(boxes=[]), ltrb=True),
            TypeError,
            "knows its boxes and labels; got 'ltrb'",
        ),
        (lambda: ndd.decoders.image(single()), TypeError, "does not go through"),
        (lambda: ndd.warp_affine(IMAGE, single()), TypeError, "must be the first input"),
        (
            lambda: ndd.random_resized_crop(single(labels=[1]), size=[4, 4], rng=3),
            TypeError,
            "'rng' must be",
        ),
        (
            lambda: ndd.flip(
                ndd.Scene(ndd.tensor(np.zeros((2, 4, 4, 3)), layout="FHWC"), boxes=[])
            ),
            ValueError,
            "needs the layout HWC, CHW or HW; got 'FHWC'",
        ),
        (lambda: ndd.flip(single(boxes=[]), horizontall=1), TypeError, "unexpected keyword"),
    ],
)
def test_errors(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_replacing_parts() -> None:
    scene = make_scene()
    labels = [[1] * count for count in (3, 0, 1, 6)]
    changed = scene.replace(labels=labels, masks=None, extra=scene.labels, note="x")
    assert changed.labels.tolist() == labels
    assert (changed.masks, changed.note) == (None, "x")
    assert scene.masks is not None
    with pytest.raises(ValueError, match="needs a row of 'labels'"):
        scene.replace(labels=[[1], [], [], []])


def test_indexing_and_iteration() -> None:
    scene = make_scene()
    assert len(scene) == len(SIZES)
    assert scene[1].image.shape == (*SIZES[1], 2)
    assert scene[-1].boxes.shape == (6, 4)
    assert [one.labels.tolist() for one in scene] == scene.labels.tolist()
    assert scene[1:3].boxes.shape == [(0, 4), (1, 4)]
    assert scene[[3, 0]].boxes.shape == [(6, 4), (3, 4)]
    with pytest.raises(IndexError):
        scene[4]


def test_repr_is_short_and_does_not_wait() -> None:
    with ndd.EvalMode.deferred:
        scene = ndd.flip(make_scene())
        text = repr(scene)
        assert scene.boxes._pending is not None
    assert text == (
        "Scene(4 samples, boxes ltrb in pixels; image: float32 HWC; boxes: float32 2 axes; "
        "labels: int32 1 axes; masks: uint8 3 axes; keypoints: float32 2 axes; "
        "visible: bool 1 axes)"
    )


def test_pickling() -> None:
    scene = ndd.flip(make_scene(box_format="ltwh", min_visibility=0.25, note="n"))
    other = pickle.loads(pickle.dumps(scene))
    assert other.boxes.tolist() == scene.boxes.tolist()
    assert (other.box_format, other.note, other.image.layout) == ("ltwh", "n", "HWC")
    assert ndd.flip(other).labels.tolist() == ndd.flip(scene).labels.tolist()


def test_conversions() -> None:
    scene = ndd.resize(make_scene(pixels=ndd.batch([[1], [2], [3], [4]])), size=[20, 30])
    for converted in (scene.torch(), scene.numpy()):
        assert converted["image"].shape == (4, 20, 30, 2)
        assert [len(rows) for rows in converted["boxes"]] == [3, 0, 1, 6]
        assert [rows.shape for rows in converted["masks"]] == [
            (count, 20, 30) for count in (3, 0, 1, 6)
        ]
        assert converted["pixels"].shape == (4, 1)
    padded = scene.numpy(pad=True)
    assert padded["boxes"].shape == (4, 6, 4)
    targets = [one.torch() for one in scene]
    assert targets[3]["boxes"].shape == (6, 4)
    semantic = batch_of(2, masks=np.ones((2, 40, 60), np.int64))
    assert semantic.torch()["masks"].shape == (2, 40, 60)
    with pytest.raises(ValueError, match="pad=True"):
        make_scene().numpy()


@pytest.mark.parametrize(
    "mode",
    [ndd.EvalMode.eager, ndd.EvalMode.deferred, ndd.EvalMode.sync_full],
    ids=lambda m: m.name,
)
def test_modes_give_the_same(mode: ndd.EvalMode) -> None:
    def chain() -> ndd.Scene:
        ndd.random.set_seed(3)
        scene = ndd.flip(make_scene(), horizontal=ndd.random.coin_flip(batch_size=len(SIZES)))
        angle = ndd.random.uniform(range=(-20, 20), batch_size=len(SIZES))
        scene = ndd.rotate(scene, angle=angle, fill_value=0)
        scene = ndd.random_bbox_crop(scene, scaling=[0.5, 1.0])
        return ndd.random_resized_crop(ndd.brightness(scene, brightness=1.2), size=[24, 24])

    with ndd.EvalMode.sync_cpu:
        expected = chain().evaluate()
    with mode:
        found = chain()
        if mode is ndd.EvalMode.deferred:
            pending = found.boxes._pending
            assert pending is not None
            assert not pending.done
    for name, part in expected.parts.items():
        for one, other in zip(part, found.parts[name], strict=True):
            np.testing.assert_array_equal(one, other)


def test_metadata_before_the_call_has_run() -> None:
    with ndd.EvalMode.deferred:
        result = ndd.crop(make_scene(), crop=(10, 12))
        assert result.image.shape == [(10, 12, 2)] * 4
        assert (result.boxes.dtype, result.boxes.ndim) == (ndd.float32, 2)
        assert (result.labels.dtype, result.masks.dtype) == (ndd.int32, ndd.uint8)
        assert (result.visible.dtype, result.visible.ndim) == (ndd.bool, 1)
        assert result.boxes._pending is not None


@pytest.mark.parametrize("relative", [False, True])
def test_scenes_from_a_coco_reader(tmp_path: Path, relative: bool) -> None:
    for image in make_dataset(tmp_path)["images"]:
        pixels = np.zeros((image["height"], image["width"], 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / image["file_name"], "PNG")
    reader = ndd.readers.COCO(
        file_root=tmp_path,
        annotations_file=tmp_path / "instances.json",
        ratio=relative,
        pixelwise_masks=True,
    )
    (encoded, boxes, labels, masks), *_ = reader.next_epoch(batch_size=8)
    scene = ndd.Scene(
        image=ndd.decoders.image(encoded),
        boxes=boxes,
        labels=labels,
        masks=masks,
        box_format="ltwh",
        relative=relative,
    )
    result = ndd.flip(scene)
    assert result.image.source == encoded.source
    for i, (height, width, _) in enumerate(scene.image.shape):
        whole = np.array([width, height]) if relative else np.ones(2)
        old = np.asarray(boxes.select(i)).reshape(-1, 4) * np.tile(whole, 2)
        new = np.asarray(result.boxes.select(i)) * np.tile(whole, 2)
        assert_close(new[:, 0], width - old[:, 0] - old[:, 2], "rotated boxes")
        assert_close(new[:, 1:], old[:, 1:], "rotated boxes")
        np.testing.assert_array_equal(result.labels.select(i), labels.select(i))
        np.testing.assert_array_equal(result.masks.select(i), np.asarray(masks.select(i))[:, ::-1])


@pytest.mark.parametrize("layout", ["HWC", "CHW", "HW"])
@pytest.mark.parametrize(
    "call",
    [
        lambda s: ndd.slice(s, start=[1, 2], shape=[20, 20]),
        lambda s: ndd.crop(s, crop=(20, 20), crop_pos_x=0.025, crop_pos_y=0.1),
        lambda s: ndd.resize(s, roi_start=[2, 1], roi_end=[22, 21], size=[20, 20]),
        lambda s: ndd.warp_affine(s, matrix=[1, 0, 1, 0, 1, 2], size=[20, 20], fill_value=0),
        lambda s: ndd.experimental.warp_perspective(
            s, matrix=[1, 0, 1, 0, 1, 2, 0, 0, 1], size=[20, 20]
        ),
    ],
)
def test_layouts_of_images(layout: str, call: Any) -> None:
    shape = {"HWC": (40, 60, 3), "CHW": (3, 40, 60), "HW": (40, 60)}[layout]
    mask = np.arange(40 * 60 * 2).reshape(40, 60, 2)
    scene = ndd.Scene(
        ndd.tensor(np.zeros(shape, np.uint8), layout=layout),
        boxes=[[1, 2, 11, 12]],
        masks=ndd.tensor(mask, layout="HWC"),
    )
    result = call(scene)
    assert result.image.layout == layout
    assert_close(result.boxes, [[0, 0, 10, 10]], "cropped boxes")
    np.testing.assert_array_equal(result.masks, mask[2:22, 1:21])


def test_given_parts_are_not_changed() -> None:
    parts: dict[str, list[NDArray[Any]]] = make_parts()
    scene = ndd.Scene(**parts)  # type: ignore[arg-type]
    ndd.rotate(scene, angle=30).evaluate()
    for name, arrays in make_parts().items():
        for given, expected in zip(parts[name], arrays, strict=True):
            np.testing.assert_array_equal(given, expected)
