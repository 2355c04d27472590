# SPDX-License-Identifier: Apache-2.0
"""What `benchmarks/ops.py` measures: one row for each operator, the same for both libraries."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 32
SIDE = 512

# Makes the inputs, given the library; and calls the operator, given the library and the inputs.
Row = tuple[Callable[[Any], list[Any]], Callable[..., Any]]


def random_array(shape: tuple[int, ...], dtype: Any = np.uint8) -> Any:
    rng = np.random.default_rng(1)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=shape).astype(dtype)
    return rng.integers(0, 255, shape).astype(dtype)


def images(ndd: Any) -> list[Any]:
    return [ndd.batch(random_array((BATCH, SIDE, SIDE, 3)), layout="HWC")]


def images_and(values: Any) -> Callable[[Any], list[Any]]:
    """Images and an array for each of them."""
    return lambda ndd: [*images(ndd), ndd.batch([np.float32(values)] * BATCH)]


def two_images(ndd: Any) -> list[Any]:
    return images(ndd) * 2


def float_images(ndd: Any) -> list[Any]:
    return [ndd.batch(random_array((BATCH, SIDE, SIDE, 3), np.float32), layout="HWC")]


def gray(ndd: Any) -> list[Any]:
    return [ndd.batch(random_array((BATCH, SIDE, SIDE, 1)), layout="HWC")]


def small_images(ndd: Any) -> list[Any]:
    return [ndd.batch(random_array((BATCH, 128, 128, 3)), layout="HWC")]


def maps(ndd: Any) -> list[Any]:
    grid = np.linspace(0, SIDE - 1, SIDE, dtype=np.float32)
    x, y = np.meshgrid(grid, grid)
    return [*images(ndd), *(ndd.batch(np.stack([m] * BATCH), layout="HW") for m in (x, y))]


def boxes(ndd: Any) -> list[Any]:
    rng = np.random.default_rng(5)
    corners = rng.random((BATCH, 20, 2, 2)).astype(np.float32)
    ltrb = np.concatenate([corners.min(2), corners.max(2)], -1)
    return [ndd.batch(ltrb)]


def labeled_boxes(ndd: Any) -> list[Any]:
    return [*boxes(ndd), ndd.batch(np.ones((BATCH, 20), np.int32))]


def points(ndd: Any) -> list[Any]:
    return [ndd.batch(random_array((BATCH, 1000, 2), np.float32))]


def labels(ndd: Any) -> list[Any]:
    return [ndd.batch(random_array((BATCH, 64), np.int32))]


def masks(ndd: Any) -> list[Any]:
    blobs = np.zeros((BATCH, 256, 256, 1), np.int32)
    blobs[:, 20:60, 30:90] = 1
    blobs[:, 100:200, 120:180] = 2
    return [ndd.batch(blobs, layout="HWC")]


def matrices(ndd: Any) -> list[Any]:
    return [ndd.batch(random_array((BATCH, 2, 3), np.float32))] * 2


def polygons(ndd: Any) -> list[Any]:
    rows = np.array([[k, 30 * k, 30 * k + 30] for k in range(20)], np.int32)
    chosen = np.arange(0, 20, 2, dtype=np.int32)
    vertices = random_array((600, 2), np.float32)
    return [ndd.batch([part] * BATCH) for part in (chosen, rows, vertices)]


def numpy_files(ndd: Any) -> list[Any]:
    file = io.BytesIO()
    np.save(file, random_array((SIDE, SIDE, 3)))
    return [ndd.batch([np.frombuffer(file.getvalue(), np.uint8)] * BATCH)]


def sequences(ndd: Any) -> list[Any]:
    return [ndd.batch(random_array((8, 8, 128, 128, 3)), layout="FHWC")]


def jpegs(ndd: Any) -> list[Any]:
    import cv2

    rng = np.random.default_rng(6)
    streams = []
    for k in range(BATCH):
        shapes = rng.integers(0, 255, (40, 60, 3)).astype(np.uint8)
        smooth = cv2.resize(shapes, (500 + k, 375), interpolation=cv2.INTER_CUBIC)
        texture = rng.normal(0, 8, smooth.shape)
        image = np.clip(smooth + texture, 0, 255).astype(np.uint8)
        streams.append(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 90])[1])
    return [ndd.batch(streams)]


def video_files(ndd: Any) -> list[Any]:
    import cv2

    directory = scratch_directory()
    files = []
    for k in range(4):
        path = str(directory / f"{k}.webm")
        writer = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"VP90"), 25, (320, 240))
        picture = cv2.resize(random_array((24 + k, 32, 3)), (320, 240))
        for frame in range(30):
            writer.write(np.roll(picture, 3 * frame, axis=1))
        writer.release()
        files.append(np.fromfile(path, np.uint8))
    return [ndd.batch(files)]


def audio_files(ndd: Any) -> list[Any]:
    import wave

    rng = np.random.default_rng(7)
    files = []
    for seconds in rng.integers(1, 15, BATCH):
        buffer = io.BytesIO()
        with wave.open(buffer, "wb") as file:
            file.setparams((1, 2, 16000, 0, "NONE", ""))
            file.writeframes(rng.integers(-3000, 3000, 16000 * seconds, np.int16).tobytes())
        files.append(np.frombuffer(buffer.getvalue(), np.uint8))
    return [ndd.batch(files)]


def compressed(ndd: Any) -> list[Any]:
    import imagecodecs

    grid = np.add.outer(np.arange(SIDE), np.arange(SIDE)) // 8 % 256
    data = np.stack([grid] * 3, axis=-1).astype(np.uint8).tobytes()
    stream = np.frombuffer(imagecodecs.lz4_encode(data, header=False), np.uint8)
    return [ndd.batch([stream] * BATCH)]


def scratch_directory() -> Path:
    """A directory for files, which becomes the current one and lasts as long as the process."""
    _directories.append(tempfile.TemporaryDirectory())
    os.chdir(_directories[-1].name)
    return Path(_directories[-1].name)


_directories: list[Any] = []


def dumped_images(ndd: Any) -> list[Any]:
    scratch_directory()
    return small_images(ndd)


def paths(ndd: Any) -> list[Any]:
    directory = scratch_directory()
    names = [str(directory / f"{k}.bin") for k in range(BATCH)]
    for name in names:
        Path(name).write_bytes(random_array((100_000,)).tobytes())
    return [ndd.batch([np.frombuffer(name.encode(), np.uint8) for name in names])]


def image_shapes(ndd: Any) -> list[Any]:
    return [ndd.batch([np.array([480, 640, 3], np.int64)] * BATCH)]


def nothing(_ndd: Any) -> list[Any]:
    return []


def simple(name: str, **arguments: Any) -> Callable[..., Any]:
    """Call the operator `name` with fixed arguments."""

    def call(ndd: Any, *inputs: Any) -> Any:
        function = ndd
        for part in name.split("."):
            function = getattr(function, part)
        return function(*inputs, **arguments)

    return call


MEAN, STD = [124.0, 116.0, 104.0], [58.0, 57.0, 57.0]
MATRIX = [[0.9, 0.1, 10.0], [-0.1, 0.9, 20.0]]

ROWS: dict[str, Row] = {
    "cast": (images, lambda ndd, x: ndd.cast(x, dtype=ndd.float32)),
    "cast_like": (lambda ndd: [*images(ndd), ndd.tensor(0.0)], simple("cast_like")),
    "copy": (images, simple("copy")),
    "a + b": (two_images, lambda _ndd, a, b: a + b),
    "a * 2.5": (images, lambda _ndd, a: a * 2.5),
    "a < b": (two_images, lambda _ndd, a, b: a < b),
    "math.sqrt": (float_images, simple("math.sqrt")),
    "random.uniform": (nothing, simple("random.uniform", batch_size=BATCH, shape=[100000])),
    "random.normal": (nothing, simple("random.normal", batch_size=BATCH, shape=[100000])),
    "random.coin_flip": (nothing, simple("random.coin_flip", batch_size=BATCH, shape=[100000])),
    "random.beta": (nothing, simple("random.beta", batch_size=BATCH, shape=[100000])),
    "random.choice": (
        lambda ndd: [ndd.tensor(list(range(10)))],
        simple("random.choice", batch_size=BATCH, shape=[100000]),
    ),
    "resize": (images, simple("resize", size=[224, 224])),
    "resize up": (images, simple("resize", size=[700, 700])),
    "resize cubic": (
        images,
        lambda ndd, x: ndd.resize(x, size=[224, 224], interp_type=_interp(ndd, 2)),
    ),
    "experimental.resize": (images, simple("experimental.resize", size=[224, 224])),
    "random_crop_generator": (image_shapes, simple("random_crop_generator")),
    "random_resized_crop": (images, simple("random_resized_crop", size=[224, 224])),
    "resize_crop_mirror": (
        images,
        simple("resize_crop_mirror", resize_shorter=256.0, crop=[224.0, 224.0], mirror=1),
    ),
    "tensor_resize": (images, simple("tensor_resize", sizes=[224.0, 224.0], axes=[0, 1])),
    "crop": (images, simple("crop", crop=[224.0, 224.0])),
    "slice": (images, simple("slice", start=[10, 20], end=[400, 450], axes=[0, 1])),
    "flip": (images, simple("flip")),
    "flip both": (images, simple("flip", vertical=1)),
    "crop_mirror_normalize": (
        images,
        simple("crop_mirror_normalize", mean=MEAN, std=STD, mirror=1),
    ),
    "normalize": (images, simple("normalize")),
    "transpose": (images, simple("transpose", perm=[2, 0, 1])),
    "pad": (images, simple("pad", axes=[0, 1], shape=[600, 600])),
    "decoders.image": (jpegs, simple("decoders.image")),
    "decoders.image_crop": (jpegs, simple("decoders.image_crop", crop=[224.0, 224.0])),
    "decoders.image_random_crop": (jpegs, simple("decoders.image_random_crop")),
    "decoders.image_slice": (
        jpegs,
        simple("decoders.image_slice", rel_start=[0.2, 0.2], rel_end=[0.8, 0.8], axes=[0, 1]),
    ),
    "peek_image_shape": (jpegs, simple("peek_image_shape")),
    "experimental.decoders.image": (jpegs, simple("experimental.decoders.image")),
    "experimental.decoders.image_crop": (
        jpegs,
        simple("experimental.decoders.image_crop", crop=[224.0, 224.0]),
    ),
    "experimental.decoders.image_random_crop": (
        jpegs,
        simple("experimental.decoders.image_random_crop"),
    ),
    "experimental.decoders.image_slice": (
        jpegs,
        simple("experimental.decoders.image_slice", start=[50, 60], end=[300, 400], axes=[0, 1]),
    ),
    "experimental.peek_image_shape": (jpegs, simple("experimental.peek_image_shape")),
    "io.file.read": (paths, simple("io.file.read")),
    "decoders.audio": (audio_files, simple("decoders.audio")),
    "decoders.video": (video_files, simple("decoders.video")),
    "brightness": (images, simple("brightness", brightness=1.2)),
    "contrast": (images, simple("contrast", contrast=1.2)),
    "brightness_contrast": (images, simple("brightness_contrast", brightness=1.2, contrast=0.9)),
    "hue": (images, simple("hue", hue=30.0)),
    "saturation": (images, simple("saturation", saturation=1.5)),
    "hsv": (images, simple("hsv", hue=20.0, saturation=1.2, value=0.9)),
    "color_twist": (images, simple("color_twist", hue=20.0, saturation=1.2, brightness=1.1)),
    "color_space_conversion": (
        images,
        lambda ndd, x: ndd.color_space_conversion(
            x, image_type=_image_type(ndd, 0), output_type=_image_type(ndd, 3)
        ),
    ),
    "equalize": (images, simple("equalize")),
    "clahe": (images, simple("clahe", tiles_x=8, tiles_y=8, clip_limit=2.0)),
    "lookup_table": (
        images,
        lambda ndd, x: ndd.lookup_table(
            x, keys=list(range(255)), values=[float(k) for k in range(255)], dtype=ndd.uint8
        ),
    ),
    "debayer": (gray, simple("debayer", blue_position=[0, 0], algorithm="bilinear_ocv")),
    "gaussian_blur": (images, simple("gaussian_blur", sigma=1.5)),
    "laplacian": (images, lambda ndd, x: ndd.laplacian(x, window_size=3, dtype=ndd.float32)),
    "filter": (
        images,
        lambda ndd, x: ndd.filter(x, ndd.tensor(np.ones((5, 5), np.float32) / 25)),
    ),
    "experimental.median_blur": (images, simple("experimental.median_blur")),
    "experimental.dilate": (images, simple("experimental.dilate")),
    "experimental.erode": (images, simple("experimental.erode")),
    "rotate": (images, simple("rotate", angle=30.0)),
    "warp_affine": (images_and(MATRIX), simple("warp_affine")),
    "experimental.warp_perspective": (
        images_and([*MATRIX, [0.0001, 0.0001, 1.0]]),
        simple("experimental.warp_perspective"),
    ),
    "experimental.remap": (maps, simple("experimental.remap")),
    "jitter": (images, simple("jitter")),
    "sphere": (images, simple("sphere")),
    "water": (images, simple("water")),
    "paste": (images, simple("paste", ratio=1.2, fill_value=[0, 0, 0])),
    "multi_paste": (
        images,
        lambda ndd, x: ndd.multi_paste(
            x,
            in_ids=np.arange(4, dtype=np.int32),
            shapes=np.full((4, 2), SIDE // 2, np.int32),
            out_anchors=np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int32) * (SIDE // 2),
            output_size=[SIDE, SIDE],
        ),
    ),
    "erase": (images, simple("erase", anchor=[50.0, 60.0], shape=[100.0, 120.0])),
    "grid_mask": (images, simple("grid_mask", tile=51, ratio=0.38, angle=0.34)),
    "jpeg_compression_distortion": (images, simple("jpeg_compression_distortion", quality=30)),
    "noise.gaussian": (small_images, simple("noise.gaussian", stddev=10.0)),
    "noise.shot": (small_images, simple("noise.shot", factor=5.0)),
    "noise.salt_and_pepper": (small_images, simple("noise.salt_and_pepper")),
    "bb_flip": (boxes, simple("bb_flip", ltrb=True)),
    "bbox_paste": (boxes, simple("bbox_paste", ratio=1.5, ltrb=True)),
    "bbox_rotate": (boxes, simple("bbox_rotate", angle=30.0, input_shape=[480, 640])),
    "box_encoder": (
        labeled_boxes,
        simple("box_encoder", anchors=np.tile([0.1, 0.1, 0.6, 0.6], 2000).tolist()),
    ),
    "random_bbox_crop": (
        labeled_boxes,
        simple(
            "random_bbox_crop",
            thresholds=[0.0, 0.3, 0.5],
            scaling=[0.3, 1.0],
            total_num_attempts=50,
        ),
    ),
    "coord_flip": (points, simple("coord_flip")),
    "coord_transform": (
        points,
        simple("coord_transform", M=[[0.9, 0.1], [-0.1, 0.9]], T=[1.0, 2.0]),
    ),
    "coord_transform image": (
        images,
        simple("coord_transform", M=[[0.3, 0.6, 0.1], [0.5, -0.5, 0], [0, 0.5, 0.5]]),
    ),
    "segmentation.random_object_bbox": (masks, simple("segmentation.random_object_bbox")),
    "segmentation.random_mask_pixel": (
        masks,
        simple("segmentation.random_mask_pixel", foreground=1),
    ),
    "roi_random_crop": (
        images,
        simple(
            "roi_random_crop",
            crop_shape=[200, 200, 3],
            roi_start=[50, 50, 0],
            roi_end=[400, 400, 3],
        ),
    ),
    "reshape": (images, simple("reshape", shape=[-1, 3])),
    "reinterpret": (images, simple("reinterpret", shape=[SIDE * SIDE * 3])),
    "squeeze": (gray, simple("squeeze", axis_names="C")),
    "expand_dims": (images, simple("expand_dims", axes=[0])),
    "cat": (two_images, simple("cat", axis=0)),
    "stack": (two_images, simple("stack", axis=0)),
    "one_hot": (labels, simple("one_hot", num_classes=256)),
    "full": (
        lambda ndd: [ndd.tensor(3.0)],
        lambda ndd, x: ndd.full(x, shape=[SIDE, SIDE, 3], batch_size=BATCH),
    ),
    "zeros": (nothing, simple("zeros", shape=[SIDE, SIDE, 3], batch_size=BATCH)),
    "zeros_like": (images, simple("zeros_like")),
    "ones": (nothing, simple("ones", shape=[SIDE, SIDE, 3], batch_size=BATCH)),
    "ones_like": (images, simple("ones_like")),
    "optical_flow": (sequences, simple("optical_flow", preset=0.5)),
    "full_like": (
        lambda ndd: [*images(ndd), ndd.tensor([1, 2, 3])],
        simple("full_like"),
    ),
    "per_frame": (points, simple("per_frame")),
    "get_property": (images, simple("get_property", key="layout")),
    "dump_image": (dumped_images, simple("dump_image", suffix="dump")),
    "decoders.inflate": (compressed, simple("decoders.inflate", shape=[SIDE, SIDE, 3])),
    "decoders.numpy": (numpy_files, simple("decoders.numpy")),
    "segmentation.select_masks": (polygons, simple("segmentation.select_masks")),
    "element_extract": (sequences, simple("element_extract", element_map=[1, 3])),
    "sequence_rearrange": (sequences, simple("sequence_rearrange", new_order=[7, 5, 3, 1])),
    "permute_batch": (images, lambda ndd, x: ndd.permute_batch(x, indices=_reversed(ndd))),
    "batch_permutation": (nothing, simple("batch_permutation", batch_size=BATCH)),
    "reductions.sum": (images, simple("reductions.sum", axes=[0, 1])),
    "reductions.mean": (images, simple("reductions.mean", axes=[0, 1])),
    "reductions.mean_square": (images, simple("reductions.mean_square", axes=[0, 1])),
    "reductions.rms": (float_images, simple("reductions.rms", axes=[0])),
    "reductions.min": (images, simple("reductions.min", axes=[2])),
    "reductions.max": (images, simple("reductions.max")),
    "reductions.variance": (
        float_images,
        lambda ndd, x: ndd.reductions.variance(x, ndd.tensor([0.0, 0.0, 0.0]), axes=[0, 1]),
    ),
    "reductions.std_dev": (float_images, lambda ndd, x: ndd.reductions.std_dev(x, ndd.tensor(0.0))),
    "transforms.rotation": (nothing, simple("transforms.rotation", angle=30.0, batch_size=BATCH)),
    "transforms.translation": (
        nothing,
        simple("transforms.translation", offset=[1.0, 2.0], batch_size=BATCH),
    ),
    "transforms.scale": (
        nothing,
        simple("transforms.scale", scale=[1.0, 2.0], center=[5.0, 5.0], batch_size=BATCH),
    ),
    "transforms.shear": (
        nothing,
        simple("transforms.shear", shear=[1.0, 2.0], batch_size=BATCH),
    ),
    "transforms.crop": (
        nothing,
        simple("transforms.crop", from_start=[1.0, 2.0], from_end=[5.0, 7.0], batch_size=BATCH),
    ),
    "transforms.combine": (matrices, simple("transforms.combine")),
}


def _types(ndd: Any) -> Any:
    if ndd.__name__ == "daliesque":
        return ndd.types
    from nvidia.dali import types

    return types


def _interp(ndd: Any, number: int) -> Any:
    return _types(ndd).DALIInterpType(number)


def _image_type(ndd: Any, number: int) -> Any:
    return _types(ndd).DALIImageType(number)


def _reversed(ndd: Any) -> Any:
    return ndd.batch(list(range(BATCH))[::-1])
