# SPDX-License-Identifier: Apache-2.0
"""Pending results say what the reference's say, and single samples go with sequences as there."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_same
from support.libraries import Array, Type, convert
from support.oracle import reference

pytestmark = pytest.mark.oracle

NEAREST = 0
RNG = np.random.default_rng(11)
IMAGES = [RNG.integers(0, 256, (6 + i, 8, 3), np.uint8) for i in range(3)]
VIDEOS = [RNG.integers(0, 256, (2 + i, 6, 8, 3), np.uint8) for i in range(3)]
SIGNALS = [RNG.random(400 + i).astype(np.float32) for i in range(3)]
POINTS = [RNG.random((5, 2)).astype(np.float32) for _ in range(3)]
MATRIX = np.array([[1, 0, 2], [0, 1, 1]], np.float32)

# Operator, inputs, layout of the first one, arguments.
CALLS: list[tuple[str, list[list[Array]], str | None, dict[str, Any]]] = [
    ("flip", [IMAGES], "HWC", {}),
    ("flip", [IMAGES], None, {}),
    ("cast", [IMAGES], "HWC", {"dtype": Type("float16")}),
    ("cast_like", [IMAGES, SIGNALS], None, {}),
    ("resize", [IMAGES], "HWC", {"size": [4, 5]}),
    ("resize", [IMAGES], None, {"size": [4, 5], "dtype": Type("float32")}),
    ("resize", [VIDEOS], "FHWC", {"resize_x": 5}),
    ("crop", [IMAGES], None, {"crop": [3, 4]}),
    ("crop", [IMAGES], "HWC", {"crop": [3, 4], "dtype": Type("float16")}),
    ("slice", [IMAGES], None, {"start": [1, 2], "end": [3, 5], "axes": [0, 1]}),
    ("crop_mirror_normalize", [IMAGES], "HWC", {"crop": [3, 4]}),
    ("crop_mirror_normalize", [VIDEOS], "FHWC", {"crop": [3, 4], "output_layout": "FCHW"}),
    ("crop_mirror_normalize", [IMAGES], None, {"output_layout": "HWC", "dtype": Type("int8")}),
    ("pad", [IMAGES], None, {"axes": [0, 1], "shape": [10, 10]}),
    ("transpose", [IMAGES], "HWC", {"perm": [2, 0, 1]}),
    ("transpose", [IMAGES], "HWC", {"perm": [2, 0, 1], "transpose_layout": False}),
    ("reshape", [SIGNALS], None, {"rel_shape": [1.0, -1.0]}),
    ("reshape", [IMAGES], "HWC", {"src_dims": [2, 0, 1]}),
    ("reinterpret", [SIGNALS], None, {"dtype": Type("uint8")}),
    ("squeeze", [[image[:, :, :1].copy() for image in IMAGES]], "HWC", {"axis_names": "C"}),
    ("expand_dims", [IMAGES], "HWC", {"axes": [0], "new_axis_names": "F"}),
    ("expand_dims", [IMAGES], "HWC", {"axes": [0]}),
    ("cat", [IMAGES, IMAGES], "HWC", {"axis": 1}),
    ("stack", [IMAGES, IMAGES], "HWC", {"axis": 0, "axis_name": "F"}),
    ("stack", [IMAGES, IMAGES], "HWC", {}),
    ("reductions.sum", [IMAGES], "HWC", {"axes": [0]}),
    ("reductions.mean", [IMAGES], "HWC", {"axis_names": "HW"}),
    ("reductions.max", [IMAGES], "HWC", {"axes": [2], "keep_dims": True}),
    ("brightness_contrast", [IMAGES], None, {"dtype": Type("float32")}),
    ("hsv", [VIDEOS], "FHWC", {"hue": 10.0}),
    ("color_space_conversion", [IMAGES], None, {"image_type": 0, "output_type": 2}),
    ("gaussian_blur", [IMAGES], None, {"sigma": 1.0}),
    ("gaussian_blur", [VIDEOS], "FHWC", {"sigma": 1.0, "dtype": Type("float32")}),
    ("laplacian", [IMAGES], "HWC", {"dtype": Type("float32")}),
    ("warp_affine", [IMAGES], None, {"matrix": MATRIX, "size": [4, 5]}),
    ("warp_affine", [VIDEOS], "FHWC", {"matrix": MATRIX, "dtype": Type("float32")}),
    ("rotate", [IMAGES], None, {"angle": 10.0}),
    ("erase", [IMAGES], None, {"anchor": [1.0, 2.0], "shape": [2.0, 2.0], "axes": [0, 1]}),
    ("lookup_table", [IMAGES], None, {"keys": [1], "values": [2.0]}),
    ("normalize", [IMAGES], "HWC", {}),
    ("one_hot", [[np.int32(i) for i in range(3)]], None, {"num_classes": 4}),
    ("spectrogram", [SIGNALS], None, {"nfft": 64, "window_length": 64}),
    ("to_decibels", [SIGNALS], None, {}),
    ("preemphasis_filter", [SIGNALS], None, {}),
    ("nonsilent_region", [SIGNALS], None, {}),
    ("coord_transform", [POINTS], None, {"M": np.eye(2, dtype=np.float32)}),
    ("coord_flip", [POINTS], None, {}),
    ("transforms.rotation", [], None, {"angle": 10.0, "batch_size": 3}),
    ("random.uniform", [], None, {"shape": [2, 3], "batch_size": 3}),
    ("random.normal", [IMAGES], None, {}),
    ("zeros", [], None, {"shape": [2, 3], "batch_size": 3, "dtype": Type("int16")}),
    ("full_like", [IMAGES, [np.uint8(1)] * 3], None, {}),
    ("per_frame", [POINTS], None, {}),
    ("element_extract", [VIDEOS], "FHWC", {"element_map": [0, 1]}),
    ("sequence_rearrange", [VIDEOS], "FHWC", {"new_order": [1, 0]}),
]


def metadata(library: Any, number: int) -> list[tuple[Any, ...]]:
    """Type, number of axes and layout of each result of a call, before it has run."""
    name, inputs, layout, arguments = CALLS[number]
    given = {key: convert(library, value) for key, value in arguments.items()}
    batches = [
        library.batch(samples, layout=layout if position == 0 else None)
        for position, samples in enumerate(inputs)
    ]
    with library.EvalMode.deferred:
        results = attrgetter(name)(library)(*batches, **given)
        results = results if isinstance(results, tuple | list) else (results,)
        return [(str(part.dtype), part.ndim, part.layout, part.batch_size) for part in results]


@pytest.mark.parametrize(
    "number", range(len(CALLS)), ids=lambda number: f"{CALLS[number][0]}-{number}"
)
def test_metadata(number: int) -> None:
    assert metadata(ndd, number) == metadata(reference, number)


def moved(frames: int, size: int) -> Array:
    """For each frame, a matrix that moves an image."""
    matrices = np.stack([np.eye(size, 3, dtype=np.float32)] * frames)
    matrices[:, 0, 2] = np.arange(frames)
    matrices[:, 1, 2] = -np.arange(frames)
    return matrices


def weights(frames: int) -> Array:
    """For each frame, a filter."""
    return np.stack([np.eye(3, dtype=np.float32) * (frame + 1) / 9 for frame in range(frames)])


@pytest.mark.parametrize(
    ("operator", "layout", "make"),
    [
        ("warp_affine", "HWC", lambda frames: moved(frames, 2)),
        ("warp_affine", None, lambda frames: moved(frames, 2)),
        ("experimental.warp_perspective", "HWC", lambda frames: moved(frames, 3)),
        ("experimental.warp_perspective", None, lambda frames: moved(frames, 3)),
        ("filter", "HWC", weights),
    ],
)
def test_single_images_beside_sequences(operator: str, layout: str | None, make: Any) -> None:
    """Each image is repeated for the frames of the second input."""
    found = []
    for library in (ndd, reference):
        images = library.batch(IMAGES, layout=layout)
        others = library.per_frame(library.batch([make(2 + i) for i in range(3)]))
        arguments = {} if operator == "filter" else {"interp_type": NEAREST}
        result = attrgetter(operator)(library)(images, others, **arguments)
        found.append((result.layout, result.ndim, [np.array(tensor) for tensor in result.tensors]))
    (layout_, ndim, arrays), (expected_layout, expected_ndim, expected) = found
    assert (layout_, ndim) == (expected_layout, expected_ndim) == ("FHWC", 4)
    for ours, theirs in zip(arrays, expected, strict=True):
        assert_same(ours, theirs)


def test_points_beside_matrices_for_frames() -> None:
    matrices = [weights(2 + i)[:, :2, :2].copy() for i in range(3)]
    for layout in (None, "NX"):
        found = []
        for library in (ndd, reference):
            points = library.batch(POINTS, layout=layout)
            frames = library.per_frame(library.batch(matrices))
            result = library.coord_transform(points, M=frames)
            found.append((result.layout, [np.array(tensor) for tensor in result.tensors]))
        assert found[0][0] == found[1][0]
        for ours, theirs in zip(found[0][1], found[1][1], strict=True):
            assert_same(ours, theirs)
