# SPDX-License-Identifier: Apache-2.0
"""Boxes, masks and points go where operators move pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from daliesque._engine.op import registry
from daliesque._scene.dispatch import COMPOSED
from daliesque._scene.operators import EVERY_PART, GEOMETRIES, PHOTOMETRIC
from support.compare import assert_close
from support.scenes import (
    SIZES,
    interpolated,
    make_parts,
    make_scene,
    moved_boxes,
    rotation,
    scale,
    shift,
    transformed,
)

Array = NDArray[Any]
Call = Callable[[Any], Any]

ANGLES = ndd.batch(np.array([20.0, -75.0, 90.0, 133.0], np.float32))
FLAGS = ndd.batch(np.array([1, 0, 1, 0], np.int32))
MATRIX = np.array([[0.9, 0.3, -8], [-0.1, 1.2, 2]])
PERSPECTIVE = np.array([[1.3123, 0.3571, -7.123], [0.1117, 1.6091, -3.377], [0.00101, 0.0029, 1]])
BATCH = np.arange(len(SIZES))


def about_center(degrees: float, size: tuple[int, int], canvas: tuple[int, int]) -> Array:
    middle = shift(-size[1] / 2, -size[0] / 2)
    return shift(canvas[1] / 2, canvas[0] / 2) @ rotation(degrees) @ middle


def resized(size: tuple[int, int], target: tuple[float, float]) -> Array:
    return scale(target[1] / size[1], target[0] / size[0])


def cropped(size: tuple[int, int], window: tuple[int, int], x: float, y: float) -> Array:
    pairs = zip((x, y), size[::-1], window[::-1], strict=True)
    left, top = (np.floor(share * (whole - part) + 0.5) for share, whole, part in pairs)
    return shift(-left, -top)


# For each call, the matrix from sample number and size to positions in the result.
CALLS: dict[str, tuple[Call, Callable[[int, tuple[int, int], tuple[int, int]], Array]]] = {
    "flip": (
        lambda s: ndd.flip(s, horizontal=FLAGS, vertical=1),
        lambda i, size, _: (
            shift(size[1] if i in (0, 2) else 0, size[0]) @ scale(-1 if i in (0, 2) else 1, -1)
        ),
    ),
    "crop": (
        lambda s: ndd.crop(s, crop=(30, 34), crop_pos_x=0.9, crop_pos_y=0.2),
        lambda _i, size, _: cropped(size, (30, 34), 0.9, 0.2),
    ),
    "crop with a border": (
        lambda s: ndd.crop(s, crop=(80, 80), out_of_bounds_policy="pad"),
        lambda _i, size, _: shift(
            *(np.trunc((80 - e) / 2 + 0.5 * np.sign(80 - e)) for e in size[::-1])
        ),
    ),
    "crop_mirror_normalize": (
        lambda s: ndd.crop_mirror_normalize(s, crop=(30, 34), crop_pos_x=0.1, mirror=FLAGS),
        lambda i, size, _: (
            (shift(34, 0) @ scale(-1, 1) if i in (0, 2) else np.eye(3))
            @ cropped(size, (30, 34), 0.1, 0.5)
        ),
    ),
    "slice": (
        lambda s: ndd.slice(s, start=[5, 3], end=[38, 30]),
        lambda _i, _size, _: shift(-5, -3),
    ),
    "slice by inputs": (
        lambda s: ndd.slice(
            s,
            ndd.batch(np.stack([BATCH, BATCH + 2], axis=1).astype(np.int32)),
            ndd.batch(np.full((4, 2), 28, np.int32)),
        ),
        lambda i, _size, _: shift(-i, -i - 2),
    ),
    "pad": (lambda s: ndd.pad(s, axis_names="HW"), lambda _i, _size, _: np.eye(3)),
    "paste": (
        lambda s: ndd.paste(s, ratio=1.5, fill_value=0, n_channels=2, paste_x=0.2, paste_y=1.0),
        lambda _i, size, out: shift(np.trunc(0.2 * (out[1] - size[1])), out[0] - size[0]),
    ),
    "resize": (
        lambda s: ndd.resize(s, size=[90, 31]),
        lambda _i, size, _: resized(size, (90, 31)),
    ),
    "resize of a region": (
        lambda s: ndd.resize(s, size=[40, 50], roi_start=[5, 30], roi_end=[30, 10]),
        lambda _i, _size, _: scale(-50 / 20, 40 / 25) @ shift(-30, -5),
    ),
    "resize_crop_mirror": (
        lambda s: ndd.resize_crop_mirror(s, size=[60, 50], crop=[40, 30], mirror=3),
        lambda _i, size, _: (
            shift(30, 40) @ scale(-1, -1) @ shift(-10, -10) @ resized(size, (60, 50))
        ),
    ),
    "tensor_resize": (
        lambda s: ndd.tensor_resize(s, sizes=[60, 70], axis_names="HW"),
        lambda _i, size, _: resized(size, (60, 70)),
    ),
    "rotate": (
        lambda s: ndd.rotate(s, angle=ANGLES, fill_value=0),
        lambda i, size, out: about_center([20, -75, 90, 133][i], size, out),
    ),
    "rotate in the same size": (
        lambda s: ndd.rotate(s, angle=ANGLES, keep_size=True, fill_value=0),
        lambda i, size, out: about_center([20, -75, 90, 133][i], size, out),
    ),
    "shear_x": (
        lambda s: ndd.shear_x(s, shear=0.3, fill_value=0),
        lambda _i, _size, _: np.array([[1, 0.3, 0], [0, 1, 0], [0, 0, 1]]),
    ),
    "shear_y": (
        lambda s: ndd.shear_y(s, shear=-0.2, fill_value=0),
        lambda _i, _size, _: np.array([[1, 0, 0], [-0.2, 1, 0], [0, 0, 1]]),
    ),
    "translate_x": (
        lambda s: ndd.translate_x(s, offset=7.5, fill_value=0),
        lambda _i, _size, _: shift(7.5, 0),
    ),
    "translate_y": (
        lambda s: ndd.translate_y(s, offset_rel=-0.25, fill_value=0),
        lambda _i, size, _: shift(0, -0.25 * size[0]),
    ),
    "perspective": (
        lambda s: ndd.perspective(
            s,
            startpoints=[0, 0, 50, 0, 50, 40, 0, 40],
            endpoints=[2, 1, 47, 3, 50, 38, 1, 36],
            fill_value=0,
        ),
        lambda _i, _size, _: cv2.getPerspectiveTransform(
            np.float32([[0, 0], [50, 0], [50, 40], [0, 40]]),
            np.float32([[2, 1], [47, 3], [50, 38], [1, 36]]),
        ),
    ),
    "warp_affine": (
        lambda s: ndd.warp_affine(s, matrix=MATRIX.ravel(), inverse_map=False, fill_value=0),
        lambda _i, _size, _: np.vstack([MATRIX, [0, 0, 1]]),
    ),
    "warp_affine by an input": (
        lambda s: ndd.warp_affine(s, np.float32(MATRIX), size=[70, 80], fill_value=0),
        lambda _i, _size, _: np.linalg.inv(np.vstack([MATRIX, [0, 0, 1]])),
    ),
    "experimental.warp_perspective": (
        lambda s: ndd.experimental.warp_perspective(s, matrix=PERSPECTIVE.ravel()),
        lambda _i, _size, _: np.linalg.inv(PERSPECTIVE),
    ),
    "experimental.warp_perspective from centers": (
        lambda s: ndd.experimental.warp_perspective(
            s, matrix=PERSPECTIVE.ravel(), inverse_map=False, pixel_origin="center"
        ),
        lambda _i, _size, _: shift(0.5, 0.5) @ PERSPECTIVE @ shift(-0.5, -0.5),
    ),
}


def image_sizes(scene: ndd.Scene) -> list[tuple[int, int]]:
    layout = scene.image.layout
    axes = [layout.index("H"), layout.index("W")]
    return [tuple(shape[axis] for axis in axes) for shape in scene.image.shape]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("min_visibility", [0.0, 0.4])
def test_boxes_and_points_follow_a_model(name: str, min_visibility: float) -> None:
    call, find_matrix = CALLS[name]
    parts = make_parts()
    result = call(make_scene(min_visibility=min_visibility))
    assert isinstance(result, ndd.Scene)
    sizes = image_sizes(result)
    for i, (size, new_size) in enumerate(zip(SIZES, sizes, strict=True)):
        matrix = find_matrix(i, size, new_size)
        boxes, numbers = moved_boxes(matrix, parts["boxes"][i], new_size, min_visibility)
        assert_close(result.boxes.select(i), boxes, "rotated boxes")
        np.testing.assert_array_equal(result.labels.select(i), parts["labels"][i][numbers])
        assert result.masks.select(i).shape == (len(numbers), *new_size)
        points = transformed(matrix, parts["keypoints"][i])
        assert_close(result.keypoints.select(i), points, "rotated boxes")
        inside = ((points >= 0) & (points <= np.array(new_size)[::-1])).all(axis=1)
        np.testing.assert_array_equal(result.visible.select(i), inside)


RANDOM: dict[str, Call] = {
    "random_resized_crop": lambda s: ndd.random_resized_crop(s, size=[60, 70], antialias=False),
    "random_bbox_crop": lambda s: ndd.random_bbox_crop(
        s, scaling=[0.5, 0.9], aspect_ratio=[0.5, 2.0], allow_no_crop=False
    ),
    "random_crop_generator": lambda s: _generated(s),
}


def _generated(scene: ndd.Scene) -> ndd.Scene:
    begin, shape = ndd.random_crop_generator(scene, random_area=(0.5, 0.9))
    result: ndd.Scene = ndd.slice(scene, start=begin, shape=shape, axes=[0, 1])
    return result


def _maps(size: tuple[int, int]) -> tuple[Array, Array]:
    y, x = np.mgrid[: size[0] + 5, : size[1] - 3].astype(np.float32)
    return 1.1 * x + 3 * np.sin(y / 12), 0.9 * y + 2 * np.cos(x / 9)


ACROSS, DOWN = (ndd.batch([_maps(size)[axis] for size in SIZES]) for axis in (0, 1))
BENT: dict[str, Call] = {
    "experimental.remap": lambda s: ndd.experimental.remap(s, ACROSS, DOWN),
    "experimental.remap from centers": lambda s: ndd.experimental.remap(
        s, ACROSS, DOWN, pixel_origin="center"
    ),
    "sphere": lambda s: ndd.sphere(s, mask=FLAGS, interp_type=ndd.types.INTERP_LINEAR),
    "elastic_transform": lambda s: ndd.elastic_transform(s, alpha=40.0, sigma=6.0),
    "grid_distortion": lambda s: ndd.grid_distortion(s, num_steps=4),
}


@pytest.mark.parametrize("name", [*CALLS, *RANDOM, *BENT])
def test_points_are_where_their_pixels_are(name: str) -> None:
    """The pixel under a point holds the position that the point had."""
    call = {**RANDOM, **BENT}.get(name) or CALLS[name][0]
    ndd.random.set_seed(4)
    result = call(make_scene())
    tested = 0
    for i, size in enumerate(image_sizes(result)):
        image = np.asarray(result.image.select(i))
        image = image.transpose(1, 2, 0) if result.image.layout == "CHW" else image
        moved = np.asarray(result.keypoints.select(i))
        # Away from the border, which is mixed with what lies outside.
        inner = ((moved > 2) & (moved < np.array(size)[::-1] - 2)).all(axis=1)
        was = make_parts()["keypoints"][i][inner]
        assert_close(interpolated(image, moved[inner]), was, "positions of pixels")
        tested += int(inner.sum())
    assert tested > 5


def test_waves_move_points_within_a_pixel() -> None:
    """Its operator counts half a pixel off, as the reference's, where it takes nearest pixels."""
    result = ndd.water(make_scene(), ampl_x=5, ampl_y=4, freq_x=0.1, freq_y=0.12)
    for i, size in enumerate(SIZES):
        moved = np.asarray(result.keypoints.select(i))
        inner = ((moved > 2) & (moved < np.array(size)[::-1] - 2)).all(axis=1)
        image = np.asarray(result.image.select(i))
        found = image[tuple(moved[inner].astype(int).T[::-1])]
        assert_close(found, make_parts()["keypoints"][i][inner], "one pixel and a half")


@pytest.mark.parametrize("name", [*BENT, "water"])
def test_boxes_enclose_bent_masks(name: str) -> None:
    """The pixels of each mask are in its box, and reach its edges."""
    calls: dict[str, Call] = {**BENT, "water": lambda s: ndd.water(s, ampl_x=5, ampl_y=4)}
    boxes = [[[10, 8, 30, 28], [20, 15, 40, 31]]] * len(SIZES)
    masks = []
    for size in SIZES:
        planes = np.zeros((2, *size), np.uint8)
        planes[0, 8:28, 10:30] = planes[1, 15:31, 20:40] = 1
        masks.append(planes)
    scene = ndd.Scene(make_scene().image, boxes=boxes, masks=ndd.batch(masks))
    result = calls[name](scene)
    for found, planes in zip(result.boxes, result.masks, strict=True):
        assert len(found) == 2
        for box, plane in zip(np.asarray(found), np.asarray(planes), strict=True):
            y, x = np.nonzero(plane)
            outline = [x.min(), y.min(), x.max() + 1, y.max() + 1]
            assert_close(box, outline, "one pixel and a half")


def test_boxes_of_random_crops_are_cut_from_the_old_ones() -> None:
    """Each box that is left is where its own masks and pixels are."""
    for name, call in RANDOM.items():
        result = call(make_scene(seed=1))
        for i, size in enumerate(image_sizes(result)):
            image = np.asarray(result.image.select(i))
            # Positions change linearly across the image, except near its border.
            step = (image[-9, -9] - image[8, 8]) / (np.array(size)[::-1] - 17)
            first = image[8, 8] - step * 8.5
            labels = np.asarray(result.labels.select(i)) - 10 * i
            old = make_parts(1)["boxes"][i][labels]
            last = first + step * np.array(size)[::-1]
            cut = np.clip(old, np.tile(first, 2), np.tile(last, 2))
            found = np.asarray(result.boxes.select(i)) * np.tile(step, 2) + np.tile(first, 2)
            assert_close(found, cut, "positions of pixels", name)


NEAREST: dict[str, Call] = {
    "flip": lambda m: ndd.flip(m, horizontal=FLAGS),
    "crop": lambda m: ndd.crop(m, crop=(80, 80), out_of_bounds_policy="reflect"),
    "pad": lambda m: ndd.pad(m, axis_names="HW"),
    "resize": lambda m: ndd.resize(m, size=[90, 31], interp_type=ndd.types.INTERP_NN),
    "random_resized_crop": lambda m: ndd.random_resized_crop(
        m, size=[30, 30], interp_type=ndd.types.INTERP_NN, rng=ndd.random.RNG(seed=3)
    ),
    "rotate": lambda m: ndd.rotate(m, angle=ANGLES, interp_type=ndd.types.INTERP_NN),
    "warp_affine": lambda m: ndd.warp_affine(
        m, matrix=MATRIX.ravel(), fill_value=0, interp_type=ndd.types.INTERP_NN
    ),
    "experimental.warp_perspective": lambda m: ndd.experimental.warp_perspective(
        m, matrix=PERSPECTIVE.ravel(), interp_type=ndd.types.INTERP_NN
    ),
}


@pytest.mark.parametrize("name", NEAREST)
@pytest.mark.parametrize("kind", ["HW", "HWC", "CHW", "stack"])
def test_masks_move_as_images_with_nearest_pixels(name: str, kind: str) -> None:
    """A mask is what the operator makes of it as an image, without interpolation."""
    rng = np.random.default_rng(2)
    planes = [rng.integers(0, 200, (*size, 2)).astype(np.uint8) for size in SIZES]
    expected = NEAREST[name](ndd.batch(planes, layout="HWC"))
    masks = {
        "HW": [plane[..., 0].copy() for plane in planes],
        "HWC": planes,
        "CHW": [plane.transpose(2, 0, 1).copy() for plane in planes],
        "stack": [plane.transpose(2, 0, 1).copy() for plane in planes],
    }[kind]
    given = ndd.batch(masks, layout=None if kind == "stack" else kind)
    image = ndd.batch([np.zeros((*size, 3), np.uint8) for size in SIZES], layout="HWC")
    result = NEAREST[name](ndd.Scene(image, masks=given))
    for i in range(len(SIZES)):
        was = np.asarray(expected.select(i))
        if kind == "HW":
            was = was[..., 0]
        elif kind != "HWC":
            was = was.transpose(2, 0, 1)
        np.testing.assert_array_equal(result.masks.select(i), was)
    assert result.masks.layout == given.layout


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int32", "uint32", "int64", "float16", "float32", "float64"]
)
@pytest.mark.parametrize("name", ["resize", "rotate", "crop", "flip"])
def test_masks_of_all_types(dtype: str, name: str) -> None:
    numbers = np.random.default_rng(0).integers(0, 2**16, (40, 50)).astype(dtype)
    if dtype in ("int32", "int64"):
        numbers *= -(2**15)
    rows, columns = np.mgrid[:40, :50].astype(np.uint16)
    angle = ndd.batch(np.array([90.0], np.float32))
    call: Call = {
        "resize": lambda s: ndd.resize(s, size=[23, 77], interp_type=ndd.types.INTERP_NN),
        "rotate": lambda s: ndd.rotate(s, angle=angle, interp_type=ndd.types.INTERP_NN),
        "crop": lambda s: ndd.crop(s, crop=(17, 23)),
        "flip": lambda s: ndd.flip(s),
    }[name]
    positions = np.stack([rows, columns], axis=2)
    where = np.asarray(call(ndd.batch([positions], layout="HWC")).select(0))
    scene = ndd.Scene(np.zeros((1, 40, 50, 3), np.uint8), masks=ndd.batch([numbers]))
    found = np.asarray(call(scene).masks.select(0))
    assert found.dtype == numbers.dtype
    np.testing.assert_array_equal(found, numbers[where[..., 0], where[..., 1]])


def test_masks_are_filled_where_there_was_no_image() -> None:
    scene = ndd.Scene(np.zeros((4, 6, 3), np.uint8), masks=np.ones((4, 6), np.int32), mask_fill=255)
    result = np.asarray(ndd.crop(scene, crop=(4, 8), out_of_bounds_policy="pad").masks)
    np.testing.assert_array_equal(result[0], [255, 1, 1, 1, 1, 1, 1, 255])


@pytest.mark.parametrize("box_format", ["ltrb", "ltwh", "cxcywh"])
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("name", ["rotate", "crop", "random_bbox_crop", "flip"])
def test_formats_of_boxes_give_the_same(box_format: str, relative: bool, name: str) -> None:
    call = RANDOM[name] if name in RANDOM else CALLS[name][0]
    parts = make_parts()

    def converted(boxes: Array, size: tuple[int, int], back: bool) -> Array:
        boxes = boxes.astype(np.float64)
        whole = np.tile([size[1], size[0]], 2) if relative else np.ones(4)
        if back:
            boxes = boxes * whole
        low, rest = boxes[:, :2], boxes[:, 2:]
        if box_format == "ltwh":
            rest = low + rest if back else rest - low
        elif box_format == "cxcywh":
            low, rest = (low - rest / 2, low + rest / 2) if back else ((low + rest) / 2, rest - low)
        boxes = np.concatenate([low, rest], axis=1)
        return boxes if back else boxes / whole

    boxes = [
        converted(rows, size, False).astype(np.float32)
        for rows, size in zip(parts["boxes"], SIZES, strict=True)
    ]
    scene = make_scene().replace(boxes=None)
    other = ndd.Scene(
        scene.image,
        ndd.batch(boxes),
        labels=scene.labels,
        box_format=box_format,
        relative=relative,
    )
    ndd.random.set_seed(7)
    expected = call(make_scene())
    ndd.random.set_seed(7)
    result = call(other)
    for i, size in enumerate(image_sizes(expected)):
        found = converted(np.asarray(result.boxes.select(i)), size, True)
        assert_close(found, expected.boxes.select(i), "points")
        np.testing.assert_array_equal(result.labels.select(i), expected.labels.select(i))


def test_conversion_between_formats() -> None:
    scene = ndd.Scene(np.zeros((100, 200, 3), np.uint8), boxes=[[10, 20, 60, 80]])
    found = scene.to_format("cxcywh", relative=True)
    assert_close(found.boxes, [[0.175, 0.5, 0.25, 0.6]], "float32")
    assert (found.box_format, found.relative) == ("cxcywh", True)
    assert_close(found.to_format("ltwh", relative=False).boxes, [[10, 20, 50, 60]], "float32")


@pytest.mark.parametrize("name", sorted(PHOTOMETRIC & {"brightness", "gaussian_blur", "cast"}))
def test_photometric_operators_touch_the_image_only(name: str) -> None:
    arguments = {"cast": {"dtype": ndd.float16}, "gaussian_blur": {"sigma": 1.0}}
    given: Any = arguments.get(name, {"brightness": 1.5})
    scene = make_scene()
    result = getattr(ndd, name)(scene, **given)
    expected = getattr(ndd, name)(scene.image, **given)
    for i in range(len(SIZES)):
        np.testing.assert_array_equal(result.image.select(i), expected.select(i))
    for part in ("boxes", "labels", "masks", "keypoints"):
        assert result.parts[part] is scene.parts[part]


def test_every_part_is_permuted() -> None:
    order = [2, 0, 3, 1]
    scene = make_scene()
    result = ndd.permute_batch(scene, indices=order)
    for name, part in scene.parts.items():
        assert [s.tolist() for s in result.parts[name]] == [part.select(i).tolist() for i in order]


def test_draws_are_taken_once() -> None:
    """A Scene draws as many random numbers as its image alone."""
    states = []
    for value in (make_scene(), make_scene().image):
        rng = ndd.random.RNG(seed=5)
        ndd.random_resized_crop(value, size=[20, 20], rng=rng)
        states.append(rng.get_state())
    assert states[0] == states[1]
    ndd.random.set_seed(5)
    scene = ndd.random_resized_crop(make_scene(), size=[20, 20])
    image = ndd.random_resized_crop(make_scene().image, size=[20, 20], rng=ndd.random.RNG(seed=5))
    np.testing.assert_array_equal(scene.image.torch(), image.torch())


def test_more_results_than_an_image() -> None:
    scene, extents = ndd.resize(make_scene(), size=[20, 30], save_attrs=True)
    assert isinstance(scene, ndd.Scene)
    assert extents.tolist() == [list(size) for size in SIZES]
    cut, numbers = ndd.random_bbox_crop(make_scene(), output_bbox_indices=True)
    assert [len(rows) for rows in cut.boxes] == [len(rows) for rows in numbers]


def test_window_of_a_fixed_size() -> None:
    result = ndd.random_bbox_crop(make_scene(), crop_shape=[30, 20])
    assert image_sizes(result) == [(20, 30)] * len(SIZES)


def test_every_operator_on_images_is_sorted() -> None:
    """An operator on images moves pixels, recolors them, or is listed here."""
    refused = {
        *("auto_aug.augmix", "cutmix", "decoders.video", "dump_image", "element_extract"),
        *("multi_paste", "optical_flow", "per_frame", "sequence_rearrange"),
    }
    known = [set(GEOMETRIES), PHOTOMETRIC, EVERY_PART, set(COMPOSED), refused]
    for i, names in enumerate(known):
        for others in known[i + 1 :]:
            assert names & others == set()
    images = {
        name
        for name, spec in registry.items()
        if any("HW" in layout for layout in spec.allowed_layouts)
    }
    assert images - set().union(*known) == set()
    assert set().union(*known) <= set(registry)


@pytest.mark.parametrize("call", [ndd.transpose, ndd.multi_paste, ndd.stack, ndd.reductions.mean])
def test_other_operators_refuse(call: Any) -> None:
    with pytest.raises(TypeError, match=r"a Scene does not go through .* scene\.replace\(image="):
        call(make_scene())


def test_perspective_that_goes_behind_the_eye() -> None:
    """A box that crosses the horizon reaches to the border; one behind it is gone."""
    matrix = np.array([[1, 0, 0], [0, 1, 0], [0, -0.02, 1.0]])
    scene = ndd.Scene(
        np.zeros((100, 100, 3), np.uint8),
        boxes=[[10, 10, 20, 30], [10, 40, 20, 70], [0, 60, 9, 90]],
    )
    result = ndd.experimental.warp_perspective(scene, matrix=matrix.ravel(), inverse_map=False)
    boxes = np.asarray(result.boxes)
    expected, _ = moved_boxes(matrix, np.array([[10.0, 10, 20, 30]]), (100, 100))
    assert_close(boxes[:1], expected, "points")
    # At y = 40 the depth is 0.2: x = 50 to 100, y = 200, beyond the image.
    assert len(boxes) == 1
