# SPDX-License-Identifier: Apache-2.0
"""One row for each operator: typical inputs and arguments. The contract suite runs over them."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import daliesque as ndd
from support.audio_makers import pcm, wav
from support.image_makers import as_samples, exif, jpeg, png, png_chunk
from support.video_makers import numbered

Array = NDArray[Any]
# Makes the samples of each input: one list of arrays for each.
MakeInputs = Callable[[np.random.Generator], list[list[Array]]]


@dataclass(frozen=True)
class Case:
    """How to call an operator."""

    operator: str
    inputs: MakeInputs
    arguments: dict[str, Any] = field(default_factory=dict)
    layout: str | None = None
    # For some per-sample argument: three different values, one for each of three samples.
    per_sample: dict[str, list[Any]] = field(default_factory=dict)
    # The operator draws random numbers: it is called with a fresh RNG of a fixed seed.
    random: bool = False
    # The number of samples changes the result of each (normalizing over the batch, permuting, ...).
    depends_on_batch: bool = False


def images(rng: np.random.Generator) -> list[list[Array]]:
    """Three uint8 HWC images of different sizes."""
    return [[rng.integers(0, 256, (h, w, 3), np.uint8) for h, w in ((9, 12), (16, 7), (5, 5))]]


def encoded_images(rng: np.random.Generator) -> list[list[Array]]:
    """Three files: a JPEG, one for another codec, and a PNG with an orientation."""
    files = []
    for size, options in (((20, 31), {}), ((33, 18), {"progressive": True})):
        files.append(jpeg(rng.integers(0, 256, (*size, 3), np.uint8), **options))
    chunk = png_chunk(b"eXIf", exif(6)[6:])
    files.append(png(rng.integers(0, 256, (16, 24, 3), np.uint8), 8, 2, before=chunk))
    return [as_samples(files)]


def encoded_videos(_rng: np.random.Generator) -> list[list[Array]]:
    """Three videos of different sizes."""
    sizes = ((64, 96), (80, 112), (66, 98))
    return [as_samples([numbered(5, "mpeg4-mov", size) for size in sizes])]


def vectors(rng: np.random.Generator) -> list[list[Array]]:
    """Three float32 vectors of different lengths."""
    return [[rng.normal(size=n).astype(np.float32) for n in (4, 1, 7)]]


def image_shapes(_rng: np.random.Generator) -> list[list[Array]]:
    """Three shapes of images."""
    return [[np.array(shape, np.int32) for shape in ((480, 640, 3), (20, 9, 3), (7, 300, 1))]]


def nothing(_rng: np.random.Generator) -> list[list[Array]]:
    """No inputs."""
    return []


def images_and_maps(rng: np.random.Generator) -> list[list[Array]]:
    """Three images and the coordinates to take pixels from."""
    sizes = ((4, 6), (9, 9), (1, 3))
    maps = [[rng.uniform(-1, 9, size).astype(np.float32) for size in sizes] for _ in range(2)]
    return [*images(rng), *maps]


def two_vectors(rng: np.random.Generator) -> list[list[Array]]:
    """Two inputs of equal shapes."""
    return [*vectors(rng), *vectors(rng)]


def two_images(rng: np.random.Generator) -> list[list[Array]]:
    """Two inputs of equal shapes, the second without a layout."""
    return [*images(rng), *images(rng)]


def classes(_rng: np.random.Generator) -> list[list[Array]]:
    """Class numbers, as vectors."""
    return [[np.array(numbers, np.int32) for numbers in ([1, 0, 2], [2, 2], [0, 9, -1, 1])]]


def numbers(_rng: np.random.Generator) -> list[list[Array]]:
    """Single numbers."""
    return [[np.array(number, np.float32) for number in (1.5, -2.0, 7.0)]]


def columns(rng: np.random.Generator) -> list[list[Array]]:
    """Three int16 images with one channel."""
    return [[rng.integers(-9, 9, (h, w, 1), np.int16) for h, w in ((4, 6), (2, 3), (5, 1))]]


def clips(rng: np.random.Generator) -> list[list[Array]]:
    """Three short videos."""
    return [[rng.integers(0, 256, (f, 4, 5, 3), np.uint8) for f in (2, 3, 4)]]


def numpy_files(rng: np.random.Generator) -> list[list[Array]]:
    """The bytes of three .npy files."""
    files = []
    for shape in ((2, 3), (4, 1), (0, 5)):
        file = io.BytesIO()
        np.save(file, np.asfortranarray(rng.integers(-9, 9, shape, np.int32)))
        files.append(np.frombuffer(file.getvalue(), np.uint8))
    return [files]


def compressed(_rng: np.random.Generator) -> list[list[Array]]:
    """Three LZ4 blocks: 20 times the same, 4 bytes as they are, 20 bytes as they are."""
    blocks = [
        bytes([0x1F, 7, 1, 0, 0, 0]),
        bytes([0x40, 1, 2, 3, 4]),
        bytes([0xF0, 5, *range(20)]),
    ]
    return [[np.frombuffer(block, np.uint8) for block in blocks]]


def boxes(rng: np.random.Generator) -> list[list[Array]]:
    """Boxes (left, top, right, bottom); one sample has none."""
    made = []
    for count in (2, 5, 0):
        corners = np.sort(rng.uniform(0, 1, (count, 2, 2)), axis=1)
        made.append(corners.reshape(count, 4).astype(np.float32))
    return [made]


def boxes_and_labels(rng: np.random.Generator) -> list[list[Array]]:
    """Boxes, and a label for each."""
    made = boxes(rng)
    return [*made, [np.arange(len(sample), dtype=np.int32) + 7 for sample in made[0]]]


def points(rng: np.random.Generator) -> list[list[Array]]:
    """Points in the plane."""
    return [[rng.normal(size=(count, 2)).astype(np.float32) for count in (4, 1, 6)]]


def masks(rng: np.random.Generator) -> list[list[Array]]:
    """Masks of the labels 0 to 3."""
    return [[rng.integers(0, 4, shape, np.uint8) for shape in ((6, 7), (3, 9), (1, 1))]]


def mask_polygons(rng: np.random.Generator) -> list[list[Array]]:
    """Numbers of masks, polygons and their vertices."""
    polygons = np.array([[5, 0, 3], [2, 3, 7], [8, 7, 10]], np.int32)
    chosen = [np.array(ids, np.int32) for ids in ([2], [8, 5], [5, 2, 8])]
    return [chosen, [polygons] * 3, [rng.normal(size=(10, 2)) for _ in range(3)]]


def matrices(rng: np.random.Generator) -> list[list[Array]]:
    """Affine transformations of the plane."""
    return [[rng.normal(size=(2, 3)).astype(np.float32) for _ in range(3)]]


def two_matrices(rng: np.random.Generator) -> list[list[Array]]:
    """Two inputs of affine transformations."""
    return [*matrices(rng), *matrices(rng)]


def images_and_numbers(rng: np.random.Generator) -> list[list[Array]]:
    """Images, and a number for each."""
    return [*images(rng), *numbers(rng)]


def data_and_means(rng: np.random.Generator) -> list[list[Array]]:
    """Images, and three means for each."""
    return [*images(rng), [rng.uniform(0, 255, 3).astype(np.float32) for _ in range(3)]]


def images_and_windows(rng: np.random.Generator) -> list[list[Array]]:
    """Images, and a window of weights for each."""
    return [*images(rng), [rng.normal(0, 0.2, (3, 3)).astype(np.float32) for _ in range(3)]]


def paths(_rng: np.random.Generator) -> list[list[Array]]:
    """The paths of three files, as characters."""
    files = [*Path(__file__).parent.glob("*.py")][:3]
    return [[np.frombuffer(str(file).encode(), np.uint8) for file in files]]


def sensors(rng: np.random.Generator) -> list[list[Array]]:
    """Raw images of one channel, of even sizes."""
    return [[rng.integers(0, 256, shape, np.uint8) for shape in ((10, 12), (16, 8), (8, 8))]]


def signals(rng: np.random.Generator) -> list[list[Array]]:
    """Three signals of different lengths."""
    return [[rng.uniform(-1, 1, n).astype(np.float32) for n in (700, 90, 1234)]]


def encoded_audio(rng: np.random.Generator) -> list[list[Array]]:
    """Three WAV files."""
    files = []
    for frames, rate in ((900, 16000), (300, 8000), (40, 44100)):
        data, bits, _ = pcm(rng.uniform(-1, 1, (frames, 2)), "i16")
        files.append(wav(data, bits, 2, rate))
    return [as_samples(files)]


def spectra(rng: np.random.Generator) -> list[list[Array]]:
    """Three spectrograms of 33 frequencies."""
    return [[rng.uniform(0, 1, (33, n)).astype(np.float32) for n in (20, 1, 41)]]


CASES = [
    Case(
        "audio_resample",
        signals,
        {"in_rate": 2.0, "out_rate": 1.7},
        per_sample={"in_rate": [1.0, 2.5, 0.4]},
    ),
    Case("batch_permutation", nothing, random=True, depends_on_batch=True),
    Case(
        "bb_flip",
        boxes,
        {"ltrb": True},
        per_sample={"horizontal": [0, 1, 0], "vertical": [1, 0, 0]},
    ),
    Case(
        "bbox_paste",
        boxes,
        {"ratio": 2.0},
        per_sample={"ratio": [1.0, 1.5, 3.0], "paste_x": [0.0, 0.3, 1.0]},
    ),
    Case(
        "bbox_rotate",
        boxes_and_labels,
        {"angle": 30.0, "input_shape": [90, 120]},
        per_sample={"angle": [0.0, 45.0, -100.0], "input_shape": [[90, 120], [20, 30], [55, 13]]},
    ),
    Case("box_encoder", boxes_and_labels, {"anchors": [0.0, 0.0, 0.5, 0.5, 0.3, 0.2, 0.9, 0.8]}),
    Case("brightness", images, {"brightness": 1.4}, "HWC", {"brightness_shift": [0.1, -0.2, 0.3]}),
    Case(
        "brightness_contrast",
        images,
        {"contrast": 1.4},
        "HWC",
        {"brightness": [0.1, 1.2, 2.0], "contrast_center": [0.0, 100.0, 200.0]},
    ),
    Case("cast", images, {"dtype": np.dtype("float32")}, "HWC"),
    Case("cast_like", two_vectors),
    Case("clahe", images, {"tiles_x": 2, "tiles_y": 3, "clip_limit": 2.0}, "HWC"),
    Case(
        "color_space_conversion",
        images,
        {"image_type": ndd.types.RGB, "output_type": ndd.types.YCbCr},
        "HWC",
    ),
    Case("color_twist", images, {"hue": 40}, "HWC", {"brightness": [0.5, 1.5, 0.9]}),
    Case("contrast", images, {"contrast": 0.6}, "HWC", {"contrast": [0.0, 0.5, 3.0]}),
    Case("cat", two_images, {"axis": 1}, "HWC"),
    Case("coord_flip", points, per_sample={"flip_y": [0, 1, 1], "center_x": [0.0, 0.5, 2.0]}),
    Case(
        "coord_transform",
        points,
        {"M": [0.5, 1.0, -1.0, 2.0, 3.0, 0.25]},
        per_sample={"T": [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [9.0, 8.0, 7.0]]},
    ),
    Case("copy", images, layout="HWC"),
    Case(
        "debayer",
        sensors,
        {"blue_position": [0, 1]},
        "HW",
        {"blue_position": [[0, 0], [1, 0], [1, 1]]},
    ),
    Case("equalize", images, {}, "HWC"),
    Case(
        "erase",
        images,
        {"anchor": [1, 1], "shape": [2, 3], "axis_names": "HW"},
        "HWC",
        per_sample={"anchor": [[0, 0], [1, 2], [4, 4]], "fill_value": [[1], [2], [3]]},
    ),
    Case("grid_mask", images, {"tile": 4}, "HWC", per_sample={"angle": [0.0, 0.3, 2.0]}),
    Case("io.file.read", paths),
    Case(
        "crop",
        images,
        {"crop": (4, 5)},
        "HWC",
        per_sample={"crop_pos_x": [0.0, 0.5, 1.0], "crop": [[4, 5], [2, 3], [5, 1]]},
    ),
    Case(
        "crop_mirror_normalize",
        images,
        {"crop": (4, 5), "std": [2.0]},
        "HWC",
        per_sample={"mirror": [0, 1, 1], "mean": [[1, 2, 3], [4, 5, 6], [7, 8, 9]]},
    ),
    Case("decoders.image", encoded_images),
    Case(
        "decoders.image_crop",
        encoded_images,
        {"crop": (8, 9)},
        per_sample={"crop_pos_x": [0.0, 0.5, 1.0], "crop": [[4, 5], [16, 3], [5, 12]]},
    ),
    Case("decoders.image_random_crop", encoded_images, random=True),
    Case(
        "decoders.image_slice",
        encoded_images,
        {"rel_shape": [0.5, 0.4]},
        per_sample={"rel_start": [[0.1, 0.2], [0.5, 0.5], [0.0, 0.3]]},
    ),
    Case("experimental.dilate", images, {}, "HWC", {"mask_size": [[3, 1], [2, 5], [1, 1]]}),
    Case(
        "experimental.erode", images, {"iterations": 2}, "HWC", {"anchor": [[0, 1], [2, 2], [1, 0]]}
    ),
    Case("experimental.median_blur", images, {}, "HWC", {"window_size": [[3, 3], [5, 1], [1, 7]]}),
    Case("decoders.inflate", compressed, {"shape": [5, 4]}),
    Case("decoders.numpy", numpy_files, {"dtype": np.dtype("int16")}),
    Case(
        "decoders.video",
        encoded_videos,
        {"sequence_length": 3, "pad_mode": "edge"},
        per_sample={"start_frame": [0, 4, 2], "stride": [2, 1, 3]},
    ),
    Case("dump_image", images, {"suffix": "contract"}, "HWC"),
    Case("element_extract", clips, {"element_map": [1, 0]}, "FHWC"),
    Case("experimental.remap", images_and_maps, layout="HWC"),
    Case(
        "experimental.warp_perspective",
        images,
        {"matrix": [0.9, 0.2, 1, -0.3, 1.1, 0.4, 0.01, 0.02, 1]},
        "HWC",
        per_sample={"size": [[3, 4], [20, 30], [1, 1]]},
    ),
    Case(
        "filter",
        images_and_windows,
        {"border": "wrap"},
        "HWC",
        {"anchor": [[0, 1], [2, 2], [1, 0]]},
    ),
    Case("flip", images, {}, "HWC", per_sample={"horizontal": [1, 0, 1], "vertical": [0, 0, 1]}),
    Case("gaussian_blur", images, {"sigma": 0.7}, "HWC", {"sigma": [[1.0], [0.5], [2.0]]}),
    Case("get_property", images, {"key": "layout"}, "HWC"),
    Case("hsv", images, {"hue": 40}, "HWC", {"saturation": [0.5, 1.5, 0.9]}),
    Case("hue", images, {"hue": 40}, "HWC", {"hue": [10, 50, 300]}),
    Case("jitter", images, {"nDegree": 3}, "HWC", per_sample={"mask": [0, 1, 0]}, random=True),
    Case("expand_dims", images, {"axes": [0, 2], "new_axis_names": "FZ"}, "HWC"),
    Case("flip", images, {}, "HWC", per_sample={"horizontal": [1, 0, 1], "vertical": [0, 0, 1]}),
    Case("hsv", images, {"hue": 40}, "HWC", {"saturation": [0.5, 1.5, 0.9]}),
    Case("hue", images, {"hue": 40}, "HWC", {"hue": [10, 50, 300]}),
    Case(
        "full",
        numbers,
        {"shape": [2, 3]},
        per_sample={"shape": [[1, 2], [0, 4], [5, 5]]},
    ),
    Case("full_like", images_and_numbers, {}, "HWC"),
    Case("jpeg_compression_distortion", images, {}, "HWC", per_sample={"quality": [5, 50, 95]}),
    Case("laplacian", images, {}, "HWC", {"window_size": [[3], [5], [7]]}),
    Case("lookup_table", images, {"keys": [3, 200], "values": [0.5, 7.0]}, "HWC"),
    Case(
        "multi_paste",
        images,
        {"output_size": (20, 20), "out_anchors_rel": [[0.2, 0.1]]},
        "HWC",
        per_sample={"in_anchors": [[[0, 0]], [[1, 2]], [[4, 4]]]},
    ),
    Case("noise.gaussian", images, {}, "HWC", {"stddev": [0.5, 10.0, 100.0]}, random=True),
    Case("noise.salt_and_pepper", images, {}, "HWC", {"prob": [0.1, 0.9, 0.5]}, random=True),
    Case("noise.shot", images, {}, "HWC", {"factor": [1.0, 20.0, 5.0]}, random=True),
    Case("normalize", images, {"axes": [0, 1]}, "HWC"),
    Case("one_hot", classes, {"num_classes": 3}),
    Case("ones", nothing, {"shape": [2, 3]}, per_sample={"shape": [[1], [0], [5]]}),
    Case("ones_like", images, {"dtype": np.dtype("float16")}, "HWC"),
    Case(
        "pad",
        images,
        {"align": 4},
        "HWC",
        per_sample={"fill_value": [1.0, 2.0, 3.0]},
        depends_on_batch=True,
    ),
    Case(
        "paste",
        images,
        {"ratio": 1.5, "fill_value": [1, 2, 3]},
        "HWC",
        per_sample={"paste_x": [0.0, 0.4, 1.0], "ratio": [1.0, 1.5, 2.1]},
    ),
    Case("peek_image_shape", encoded_images),
    Case("per_frame", vectors),
    Case(
        "permute_batch",
        images,
        {"indices": 0},
        "HWC",
        per_sample={"indices": [2, 0, 1]},
        depends_on_batch=True,
    ),
    Case(
        "random.beta", nothing, {"shape": [6]}, per_sample={"alpha": [0.5, 1.0, 2.0]}, random=True
    ),
    Case("random.choice", vectors, {"shape": [6]}, random=True),
    Case(
        "random.coin_flip",
        nothing,
        {"shape": [6]},
        per_sample={"probability": [0.1, 0.4, 0.9]},
        random=True,
    ),
    Case("random.normal", nothing, {"shape": [6]}, per_sample={"mean": [0, 5, 9]}, random=True),
    Case(
        "random.uniform",
        vectors,
        per_sample={"range": [[0, 1], [-5, 5], [8, 9]]},
        random=True,
    ),
    Case(
        "random_bbox_crop",
        boxes_and_labels,
        {
            "scaling": [0.3, 1.0],
            "thresholds": [0.0, 0.2],
            "total_num_attempts": 40,
            "quiet": True,
            "output_bbox_indices": True,
        },
        random=True,
    ),
    Case("random_crop_generator", image_shapes, random=True),
    Case(
        "roi_random_crop",
        nothing,
        {"crop_shape": [3, 4], "roi_start": [1, 2], "roi_end": [9, 3]},
        per_sample={"roi_start": [[0, 0], [5, 1], [8, 2]]},
        random=True,
    ),
    Case("rotate", images, {"angle": 20}, "HWC", per_sample={"angle": [10, -50, 130]}),
    Case("saturation", images, {"saturation": 0.4}, "HWC", {"saturation": [0.0, 0.5, 3.0]}),
    Case("reductions.max", images, {"axes": [1]}, "HWC"),
    Case("reductions.mean", images, {"axis_names": "HW"}, "HWC"),
    Case("reductions.mean_square", images, {"axes": [-1]}, "HWC"),
    Case("reductions.min", images, {"axes": [0, 2]}, "HWC"),
    Case("reductions.rms", images, {"keep_dims": True}, "HWC"),
    Case("reductions.std_dev", data_and_means, {"axes": [0, 1], "ddof": 1}, "HWC"),
    Case("reductions.sum", images, {"axes": [0]}, "HWC"),
    Case("reductions.variance", data_and_means, {"axes": [0, 1]}, "HWC"),
    Case("reinterpret", columns, {"dtype": np.dtype("uint8")}, "HWC"),
    Case("reshape", columns, {"shape": [-1, 1]}, "HWC"),
    Case(
        "random_resized_crop",
        images,
        {"size": [8, 6]},
        "HWC",
        per_sample={"interp_type": [0, 1, 2]},
        random=True,
    ),
    Case(
        "resize",
        images,
        {"size": [8, 6], "roi_start": [1, 2], "roi_end": [4, 5]},
        "HWC",
        per_sample={
            "size": [[8.0, 6.0], [4.5, -3.0], [20.0, 0.0]],
            "interp_type": [0, 1, 3],
            "roi_start": [[0.0, 0.0], [0.5, 1.0], [5.0, 2.0]],
        },
    ),
    Case(
        "resize_crop_mirror",
        images,
        {"resize_shorter": 8, "crop": [6, 5]},
        "HWC",
        per_sample={"mirror": [0, 1, 3], "crop": [[2, 3], [8, 8], [9, 4]]},
    ),
    Case(
        "segmentation.random_mask_pixel",
        masks,
        {"foreground": 1},
        per_sample={"foreground": [0, 1, 1], "value": [1, 2, 9]},
        random=True,
    ),
    Case(
        "segmentation.random_object_bbox",
        masks,
        {"output_class": True},
        per_sample={"classes": [[1, 2], [3, 1], [2, 0]], "foreground_prob": [0.0, 0.5, 1.0]},
        random=True,
    ),
    Case("segmentation.select_masks", mask_polygons, {"reindex_masks": True}),
    Case(
        "sequence_rearrange",
        clips,
        {"new_order": [1, 0, 1]},
        "FHWC",
        per_sample={"new_order": [[0, 1], [1, 1], [1, 0]]},
    ),
    Case(
        "slice",
        images,
        {"rel_shape": [0.5, 0.4]},
        "HWC",
        per_sample={"rel_start": [[0.1, 0.2], [0.5, 0.5], [0.0, 0.3]]},
    ),
    Case(
        "tensor_resize",
        images,
        {"sizes": [8, 6], "axes": [0, 1]},
        "HWC",
        per_sample={
            "sizes": [[8.0, 6.0], [4.5, -3.0], [20.0, 0.0]],
            "alignment": [0.0, 0.5, 1.0],
        },
    ),
    Case("sphere", images, {}, "HWC", per_sample={"mask": [0, 1, 2]}),
    Case("transforms.combine", two_matrices),
    Case(
        "transforms.crop",
        matrices,
        {"from_end": [2.0, 5.0]},
        per_sample={"to_start": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]},
    ),
    Case(
        "transforms.rotation", matrices, {"angle": 30.0}, per_sample={"angle": [10.0, -90.0, 400.0]}
    ),
    Case(
        "transforms.scale",
        matrices,
        {"scale": [2.0, 3.0]},
        per_sample={"center": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]},
    ),
    Case(
        "transforms.shear",
        nothing,
        {"shear": [2.0, 3.0]},
        per_sample={"shear": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]},
    ),
    Case(
        "transforms.translation",
        nothing,
        {"offset": [1.0, 2.0]},
        per_sample={"offset": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]},
    ),
    Case("transpose", images, {"perm": [2, 0, 1]}, "HWC"),
    Case(
        "warp_affine",
        images,
        {"matrix": [0.9, 0.2, 1, -0.3, 1.1, 0.4]},
        "HWC",
        per_sample={"size": [[3, 4], [20, 30], [1, 1]]},
    ),
    Case("water", images, {"ampl_x": 2.0}, "HWC", per_sample={"mask": [0, 1, 1]}),
    Case("squeeze", columns, {"axis_names": "C"}, "HWC"),
    Case("stack", two_images, {"axis": 2, "axis_name": "Z"}, "HWC"),
    Case("transpose", images, {"perm": [2, 0, 1]}, "HWC"),
    Case("zeros", nothing, {"shape": [2, 3]}, per_sample={"shape": [[1], [0], [5]]}),
    Case("zeros_like", images, {}, "HWC"),
    Case("mel_filter_bank", spectra, {"nfilter": 12}, "ft"),
    Case("mfcc", spectra, {"n_mfcc": 7}, "ft"),
    Case("nonsilent_region", signals, {"window_length": 16, "reset_interval": 64}),
    Case("power_spectrum", signals),
    Case("preemphasis_filter", signals, per_sample={"preemph_coeff": [0.5, 0.0, 0.9]}),
    Case("spectrogram", signals, {"window_length": 50, "window_step": 20, "nfft": 60}),
    Case("spectrogram", signals, {"window_length": 203, "window_step": 20, "nfft": 256}),
    Case("to_decibels", spectra, {"cutoff_db": -30.0}, "ft"),
    Case(
        "decoders.audio",
        encoded_audio,
        {"sample_rate": 12000.0},
        per_sample={"sample_rate": [8000.0, 16000.0, 9999.0]},
    ),
]
