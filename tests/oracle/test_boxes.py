# SPDX-License-Identifier: Apache-2.0
"""Boxes, points, masks and transformations are those of the reference."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from support.compare import assert_close
from support.libraries import Array, Each, Generator, Passed, Single, Type
from support.oracle import assert_agree, assert_both_refuse, assert_nearly_agree, ours, reference

pytestmark = pytest.mark.oracle


def corners(rng: np.random.Generator, count: int, ndim: int = 2) -> Array:
    ends = np.sort(rng.uniform(0, 1, (count, 2, ndim)), axis=1)
    return ends.reshape(count, 2 * ndim).astype(np.float32)


def some_boxes(seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [corners(rng, count) for count in (3, 0, 8)]


def each(values: Any, kind: Any = np.float32) -> Each:
    return Each([np.asarray(value, kind) for value in values])


def test_bb_flip() -> None:
    for arguments in (
        {},
        {"vertical": 1},
        {"horizontal": 0, "vertical": 1},
        {"horizontal": each([0, 1, 5], np.int32), "vertical": each([1, 0, 1], np.int32)},
    ):
        for ltrb in (False, True):
            assert_agree("bb_flip", some_boxes(1), ltrb=ltrb, **arguments)
    assert_agree("bb_flip", Single(some_boxes(2)[0][0]))


def test_bbox_paste() -> None:
    for arguments in (
        {"ratio": 1.0},
        {"ratio": 0.5},
        {"ratio": 1.7, "paste_x": 1.0, "paste_y": 0.99999},
        {"ratio": each([1.1, 2.3, 3.7]), "paste_x": each([0.1, 1, 0]), "paste_y": each([1, 1, 1])},
    ):
        for ltrb in (False, True):
            assert_agree("bbox_paste", some_boxes(3), ltrb=ltrb, **arguments)
    for ratio in np.random.default_rng(0).uniform(1, 4, 40).tolist():
        assert_agree("bbox_paste", some_boxes(4), ratio=ratio, paste_x=1.0, paste_y=1.0, ltrb=True)


def near_boxes(actual: Array, expected: Array, context: object) -> None:
    """Kept boxes and labels agree; coordinates up to rounding."""
    largest = float(np.abs(expected).max(initial=1))
    assert_close(actual, expected, "agreement of values", context, magnitude=largest)


@pytest.mark.parametrize("seed", range(40))
def test_bbox_rotate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = some_boxes(seed)
    labels = [np.arange(len(sample), dtype=np.int32) for sample in boxes]
    arguments: dict[str, Any] = {
        "angle": each(rng.uniform(-400, 400, 3)) if seed % 2 else float(rng.uniform(-400, 400)),
        "input_shape": [int(n) for n in rng.integers(20, 300, 2)],
        "mode": ("expand", "fixed", "halfway")[seed % 3],
        "remove_threshold": (0.0, 0.1, 0.5, 0.9)[seed % 4],
    }
    if seed % 5 == 0:
        arguments["keep_size"] = True
    elif seed % 5 == 1:
        arguments["size"] = [float(n) for n in rng.uniform(50, 400, 2)]
    if seed % 7 == 0:
        arguments["input_shape"] = Each([np.array([40, 50 + k, 3], np.int64) for k in range(3)])
        arguments["shape_layout"] = "WHC"
    if seed % 6 >= 3:
        arguments["bbox_layout"] = "xyWH"
        boxes = [np.concatenate([b[:, :2], b[:, 2:] - b[:, :2]], axis=1) for b in boxes]
    if seed % 4 == 2:
        arguments["bbox_normalized"] = False
        boxes = [sample * np.float32(30) for sample in boxes]
    assert_agree("bbox_rotate", boxes, labels, check=near_boxes, **arguments)
    assert_agree("bbox_rotate", boxes, check=near_boxes, **arguments)


@pytest.mark.parametrize("seed", range(20))
def test_box_encoder(seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = [corners(rng, count) for count in (3, 0, 8, 1)]
    labels = [rng.integers(1, 90, len(sample)).astype(np.int32) for sample in boxes]
    anchors = corners(rng, 200).ravel().tolist()
    for arguments in (
        {},
        {"criteria": float(rng.uniform(0, 1))},
        {"offset": True},
        {
            "offset": True,
            "scale": 300.0,
            "means": [0.1, 0.2, 0.3, 0.4],
            "stds": [0.1, 0.1, 0.2, 0.2],
        },
    ):
        assert_agree("box_encoder", boxes, labels, check=near_boxes, anchors=anchors, **arguments)


def bbox_crop_arguments(choose: random.Random, ndim: int) -> dict[str, Any]:
    letters = "xyzXYZ" if ndim == 3 else "xyXY"
    arguments: dict[str, Any] = {
        "num_attempts": choose.choice([1, 3, 10]),
        "total_num_attempts": choose.choice([1, 20, 100]),
        "thresholds": choose.choice([[0.0], [0.0, 0.1, 0.3, 0.5], [0.9], [0.2]]),
        "threshold_type": choose.choice(["iou", "overlap"]),
        "all_boxes_above_threshold": choose.random() < 0.6,
        "bbox_layout": "".join(choose.sample(letters, len(letters))),
        "quiet": True,
        "output_bbox_indices": True,
    }
    if choose.random() < 0.3:
        arguments["bbox_prune_threshold"] = choose.choice([0.0, 0.2, 0.8])
    shape = [choose.randint(50, 200) for _ in range(ndim)]
    if choose.random() < 0.3:
        arguments["input_shape"] = shape
        arguments["crop_shape"] = [choose.randint(30, 220) for _ in range(ndim)]
        arguments["allow_no_crop"] = False
        arguments["shape_layout"] = "".join(choose.sample("WHD"[:ndim], ndim))
        return arguments
    arguments["allow_no_crop"] = choose.random() < 0.5
    arguments["scaling"] = choose.choice([[0.3, 1.0], [0.5, 0.5], [0.1, 0.9]])
    ratios = [[0.5, 2.0], [1.0, 1.0], [1.5, 1.5]]
    if ndim == 3:
        ratios.append([0.5, 2.0, 0.3, 3.0, 1.0, 1.0])
    arguments["aspect_ratio"] = choose.choice(ratios)
    if choose.random() < 0.4:
        arguments["input_shape"] = shape
    return arguments


@pytest.mark.parametrize("seed", range(120))
def test_random_bbox_crop(seed: int) -> None:
    choose = random.Random(seed)
    rng = np.random.default_rng(seed)
    ndim = choose.choice([2, 2, 3])
    arguments = bbox_crop_arguments(choose, ndim)
    layout = arguments["bbox_layout"]
    ordered = [corners(rng, choose.choice([0, 1, 2, 5]), ndim) * 0.98 for _ in range(4)]
    letters = "xyzXYZ" if ndim == 3 else "xyXY"
    columns = [letters.index(letter) for letter in layout]
    boxes = [np.ascontiguousarray(sample[:, columns]) for sample in ordered]
    labels = [np.arange(len(sample), dtype=np.int32) + 5 for sample in boxes]
    generator = Generator(choose.getrandbits(60))
    inputs = [boxes, labels] if seed % 2 else [boxes]
    assert_agree("random_bbox_crop", *inputs, rng=generator, **arguments)


def test_boxes_of_begin_and_extent() -> None:
    boxes = [np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.25, 0.125]], np.float32)]
    for seed in range(10):
        for layout in ("xyWH", "HxWy"):
            columns = ["xyWH".index(letter) for letter in layout]
            given = [np.ascontiguousarray(sample[:, columns]) for sample in boxes]
            arguments = {"scaling": [0.4, 1.0], "thresholds": [0.1], "rng": Generator(seed)}
            assert_agree("random_bbox_crop", given, bbox_layout=layout, **arguments)


def random_masks(rng: np.random.Generator, kind: str, count: int, ndim: int) -> list[Array]:
    made = []
    for _ in range(count):
        # The reference finds empty objects in masks of a single element.
        shape = tuple(rng.integers(2 if ndim == 1 else 1, 14, ndim))
        mask = rng.integers(0, int(rng.choice([2, 4])), shape)
        mask[rng.random(shape) < 0.4] = 0
        made.append(mask.astype(kind))
    return made


@pytest.mark.parametrize("seed", range(80))
def test_random_object_bbox(seed: int) -> None:
    choose = random.Random(seed)
    rng = np.random.default_rng(seed)
    ndim = choose.choice([1, 2, 2, 3])
    kind = choose.choice(["uint8", "int8", "uint16", "int16", "uint32", "int32"])
    arguments: dict[str, Any] = {"format": choose.choice(["anchor_shape", "start_end", "box"])}
    if choose.random() < 0.4:
        arguments["foreground_prob"] = choose.choice([0.0, 0.5, each([0.2, 0.9, 0.5])])
    if choose.random() < 0.3:
        arguments["ignore_class"] = True
    else:
        arguments["output_class"] = True
        if choose.random() < 0.4:
            arguments["classes"] = choose.choice([[1, 2, 3], [0, 1], [2], [3, 1]])
        if choose.random() < 0.4:
            count = len(arguments.get("classes", [1, 2, 3]))
            arguments["class_weights"] = [choose.choice([0.0, 1.0, 2.5]) for _ in range(count)]
    if choose.random() < 0.3 and "classes" not in arguments:
        arguments["background"] = choose.choice([0, 1])
    if choose.random() < 0.4:
        arguments["threshold"] = [choose.choice([1, 2, 3]) for _ in range(ndim)]
    if choose.random() < 0.4:
        arguments["k_largest"] = choose.choice([1, 2, 3])
    if choose.random() < 0.2:
        arguments["cache_objects"] = True
    masks = random_masks(rng, kind, 3, ndim)
    generator = Generator(choose.getrandbits(60))
    assert_agree("segmentation.random_object_bbox", masks, rng=generator, **arguments)


def test_objects_of_large_masks() -> None:
    rng = np.random.default_rng(5)
    masks = [(rng.random((300, 400)) < p).astype(np.uint8) for p in (0.3, 0.55, 0.6, 0.7)]
    for seed in range(3):
        for arguments in ({"ignore_class": True}, {"k_largest": 5}, {}):
            assert_agree("segmentation.random_object_bbox", masks, rng=Generator(seed), **arguments)


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "?"])
def test_random_mask_pixel(kind: str) -> None:
    rng = np.random.default_rng(6)
    for ndim in (1, 2, 3):
        masks = random_masks(rng, kind, 4, ndim)
        for seed, arguments in enumerate(
            (
                {},
                {"foreground": 1},
                {"foreground": each([0, 1, 1, 0], np.int32)},
                {"foreground": 1, "threshold": 1.5},
                {"foreground": 1, "value": 2},
                {"foreground": 1, "value": each([1, 2, 300, -1], np.int32)},
            )
        ):
            generator = Generator(seed + 10 * ndim)
            assert_agree("segmentation.random_mask_pixel", masks, rng=generator, **arguments)


@pytest.mark.parametrize("seed", range(40))
def test_roi_random_crop(seed: int) -> None:
    choose = random.Random(seed)
    ndim = choose.choice([1, 2, 3])
    shape = [choose.randint(5, 30) for _ in range(ndim)]
    start = [choose.randint(0, n - 1) for n in shape]
    end = [choose.randint(s, n) for s, n in zip(start, shape, strict=True)]
    arguments: dict[str, Any] = {
        "crop_shape": [choose.randint(1, n) for n in shape],
        "roi_start": start,
        "rng": Generator(seed),
    }
    if choose.random() < 0.5:
        arguments["roi_end"] = end
    else:
        arguments["roi_shape"] = [e - s for s, e in zip(start, end, strict=True)]
    inputs = []
    bounds = choose.choice(["input", "shape", "none"])
    if bounds == "input":
        inputs.append([np.zeros(shape, np.uint8)] * 3)
    else:
        arguments["batch_size"] = 3
        if bounds == "shape":
            arguments["in_shape"] = shape
    assert_agree("roi_random_crop", *inputs, **arguments)


def test_select_masks() -> None:
    polygons = np.array([[0, 0, 3], [1, 3, 7], [2, 7, 10]], np.int32)
    for kind in ("f4", "i4", "u1", "f8"):
        vertices = np.arange(20).reshape(10, 2).astype(kind)
        ids = [np.array(chosen, np.int32) for chosen in ([1], [2, 0], [0, 1, 2], [])]
        for reindex in (False, True):
            assert_agree(
                "segmentation.select_masks",
                ids,
                [polygons] * 4,
                [vertices] * 4,
                reindex_masks=reindex,
            )


def test_coord_flip() -> None:
    rng = np.random.default_rng(7)
    for ndim in (1, 2, 3):
        points = [rng.normal(size=(count, ndim)).astype(np.float32) for count in (4, 1, 0)]
        for layout in ("", "xyz"[:ndim], "xyz"[:ndim][::-1]):
            for arguments in (
                {},
                {"flip_x": 0, "flip_y": 1, "flip_z": 1},
                {"center_x": each([0, 1, 2]), "flip_y": each([1, 0, 1], np.int32)},
            ):
                # Calls in one context remember the layout of the first.
                with reference.EvalContext():
                    assert_agree("coord_flip", points, layout=Passed(layout), **arguments)


@pytest.mark.parametrize("kind", ["u1", "i2", "u2", "i4", "f4"])
def test_coord_transform(kind: str) -> None:
    rng = np.random.default_rng(8)
    for columns in range(1, 7):
        points = [rng.integers(0, 200, (n, columns)).astype(kind) for n in (5, 1, 700)]
        for rows in (1, 2, 3, 6):
            matrix = rng.normal(size=(rows, columns)).astype(np.float32)
            offset = rng.normal(size=rows).astype(np.float32) * 20
            combined = np.concatenate([matrix, offset[:, None]], axis=1)
            for arguments in (
                {"M": matrix},
                {"M": matrix, "T": offset},
                {"MT": combined},
                {"M": Each([matrix, matrix * 2, matrix - 1]), "T": each([1.5, -2, 7])},
            ):
                assert_agree("coord_transform", points, **arguments)
        assert_agree("coord_transform", points)
        assert_agree("coord_transform", points, M=2.5, T=-3.25, layout="XY")
        name = {"u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "f4": "float32"}[kind]
        assert_agree("coord_transform", points, M=1.3, T=-30.5, dtype=Type(name))


def test_frames_of_points() -> None:
    rng = np.random.default_rng(9)
    clips = [rng.normal(size=(n, 4, 2)).astype(np.float32) for n in (2, 3)]
    matrix = rng.normal(size=(3, 2)).astype(np.float32)
    assert_agree("coord_transform", clips, M=matrix, layout="FXY")
    assert_agree("coord_transform", clips, T=each([1, 2]), layout="FXY")


@pytest.mark.parametrize(
    ("operator", "inputs", "arguments"),
    [
        ("bb_flip", (Single(np.zeros((1, 4))),), {}),
        ("bbox_paste", (Single(np.zeros((1, 5), "f4")),), {"ratio": 2.0}),
        ("bbox_paste", (Single(np.zeros((1, 4), "f4")),), {}),
        ("bbox_rotate", (Single(np.zeros((1, 4), "f4")),), {"angle": 1.0, "input_shape": [5]}),
        ("box_encoder", (Single(np.zeros((1, 4), "f4")), Single([1])), {"anchors": [1.0]}),
        ("random_bbox_crop", (Single(np.full((1, 4), 2, "f4")),), {}),
        ("random_bbox_crop", (Single(np.zeros((1, 4), "f4")),), {"thresholds": [2.0]}),
        ("coord_flip", (Single(np.zeros((1, 4), "f4")),), {}),
        ("coord_flip", (Single([[1, 2]]),), {}),
        ("coord_transform", (Single(np.zeros(2, "f4")),), {}),
        ("coord_transform", (Single(np.zeros((1, 2), "f4")),), {"T": [1.0, 2.0, 3.0]}),
        ("coord_transform", (Single(np.zeros((1, 2), "f8")),), {}),
        ("coord_transform", (Single(np.zeros((1, 2), "f4")),), {"dtype": Type("int32")}),
        ("segmentation.random_object_bbox", (Single(np.zeros((2, 2), "f4")),), {}),
        ("roi_random_crop", (), {"crop_shape": [2], "roi_start": [1]}),
    ],
)
def test_what_both_refuse(
    operator: str, inputs: tuple[Any, ...], arguments: dict[str, Any]
) -> None:
    assert_both_refuse(operator, *inputs, **arguments)


def test_transforms() -> None:
    rng = np.random.default_rng(10)
    matrices = [rng.normal(size=(2, 3)).astype(np.float32) for _ in range(3)]
    space = [rng.normal(size=(3, 4)).astype(np.float32) for _ in range(3)]
    two, three = [1.5, -2.25], [0.5, 3.0, -1.25]
    exact: list[tuple[str, list[Any], dict[str, Any]]] = [
        ("translation", [], {"offset": two}),
        ("translation", [matrices], {"offset": each(rng.normal(size=(3, 2)))}),
        ("translation", [space], {"offset": three, "reverse_order": True}),
        ("scale", [], {"scale": three, "center": [1.0, 2.0, 3.0]}),
        ("scale", [], {"scale": 2.5, "ndim": 4}),
        ("scale", [matrices], {"scale": 1.5}),
        ("crop", [], {"from_start": two, "from_end": [5.0, 7.0], "to_end": [9.0, 3.0]}),
        ("crop", [matrices], {"from_end": each(rng.uniform(1, 9, (3, 2)))}),
        ("crop", [], {"from_start": [5.0, 1.0], "from_end": [1.0, 5.0], "absolute": True}),
        ("combine", [matrices, matrices], {}),
        ("combine", [matrices, matrices, matrices], {"reverse_order": True}),
        ("combine", [space, Single(space[0])], {}),
    ]
    for name, inputs, arguments in exact:
        size = {} if inputs else {"batch_size": 2}
        assert_agree(f"transforms.{name}", *inputs, **arguments, **size)
    rounded: list[tuple[str, list[Any], dict[str, Any]]] = [
        ("rotation", [], {"angle": each(rng.uniform(-400, 400, 3))}),
        ("rotation", [matrices], {"angle": 33.0, "center": two}),
        ("rotation", [], {"angle": 33.0, "axis": three, "batch_size": 2}),
        ("rotation", [space], {"angle": -120.0, "axis": [0.0, -2.0, 0.0], "center": three}),
        ("rotation", [], {"angle": 0.0, "axis": [0.0, 0.0, 0.0], "batch_size": 1}),
        ("shear", [], {"shear": two, "batch_size": 2}),
        ("shear", [matrices], {"angles": [30.0, -60.0], "center": two}),
        ("shear", [], {"shear": np.float32([[1, 2], [3, 4], [5, 6]]), "batch_size": 1}),
        ("shear", [space], {"angles": np.float32([[1, 2], [3, 4], [5, 6]]), "center": three}),
    ]
    for name, inputs, arguments in rounded:
        assert_nearly_agree(
            f"transforms.{name}", *inputs, tolerance="agreement of matrices", **arguments
        )


def per_frame(library: Any, values: Any) -> Any:
    return library.per_frame(library.batch(values))


def test_transforms_of_frames() -> None:
    rng = np.random.default_rng(11)
    offsets = [rng.normal(size=(n, 2)).astype(np.float32) for n in (3, 1)]
    results = []
    for library in (reference, ours):
        moved = library.transforms.translation(offset=per_frame(library, offsets))
        fixed = library.transforms.scale(moved, scale=[2.0, 3.0])
        angles = per_frame(library, [values[:, 0].copy() for values in offsets])
        rotated = library.transforms.rotation(fixed, angle=angles)
        joined = library.transforms.combine(library.transforms.shear(shear=[1.0, 2.0]), rotated)
        single = library.transforms.scale(
            library.tensor(np.eye(2, 3, dtype=np.float32)),
            scale=library.per_frame(library.tensor(offsets[0])),
        )
        for part in (moved, fixed, rotated, joined, single):
            tensors = part.tensors if hasattr(part, "tensors") else [part]
            results.append((part.layout, [np.asarray(tensor) for tensor in tensors]))
    half = len(results) // 2
    for (layout, theirs), (our_layout, mine) in zip(results[:half], results[half:], strict=True):
        assert our_layout == layout
        for a, b in zip(mine, theirs, strict=True):
            assert_close(a, b, "agreement of frames")


@pytest.mark.parametrize(
    ("name", "inputs", "arguments"),
    [
        ("translation", (), {"offset": [1.0] * 7}),
        ("translation", (Single(np.zeros((2, 2), "f4")),), {"offset": [1.0, 2.0]}),
        ("translation", (Single(np.zeros((2, 3), "f4")),), {"offset": [1.0, 2.0, 3.0]}),
        ("scale", (), {"scale": [1.0, 2.0], "center": [1.0, 2.0, 3.0]}),
        ("rotation", (), {"angle": 1.0, "axis": [1.0, 2.0]}),
        ("shear", (), {}),
        ("shear", (), {"shear": [1.0, 2.0], "angles": [1.0, 2.0]}),
        ("shear", (), {"shear": [1.0, 2.0, 3.0]}),
        ("shear", (), {"angles": [91.0, 0.0]}),
        ("crop", (), {"from_start": [1.0, 2.0], "from_end": [1.0, 2.0, 3.0]}),
        ("combine", (Single(np.zeros((2, 3), "f4")),), {}),
        ("combine", (Single(np.zeros((2, 3), "f4")), Single(np.zeros((3, 4), "f4"))), {}),
    ],
)
def test_transforms_both_refuse(
    name: str, inputs: tuple[Any, ...], arguments: dict[str, Any]
) -> None:
    assert_both_refuse(f"transforms.{name}", *inputs, **arguments)
