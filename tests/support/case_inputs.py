# SPDX-License-Identifier: Apache-2.0
"""Typical inputs of operators, for the contract suite."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def moving(rng: np.random.Generator) -> list[list[Array]]:
    """Three short videos in which everything moves by 2 pixels from frame to frame."""
    made = []
    for frames, height, width in ((2, 40, 48), (3, 33, 50), (4, 36, 36)):
        coarse = rng.integers(0, 256, (height // 4 + 1, width // 4 + 3, 3), np.uint8)
        wide = coarse.repeat(4, axis=0).repeat(4, axis=1)
        made.append(np.stack([wide[:height, 2 * f : 2 * f + width] for f in range(frames)]))
    return [made]


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


def equal_images(rng: np.random.Generator) -> list[list[Array]]:
    """Three uint8 HWC images of one size."""
    return [[rng.integers(0, 256, (9, 12, 3), np.uint8) for _ in range(3)]]


def images_and_classes(rng: np.random.Generator) -> list[list[Array]]:
    """Images of one size, and a class number for each."""
    return [*equal_images(rng), [np.array(number, np.int32) for number in (2, 0, 1)]]


def images_and_masks(rng: np.random.Generator) -> list[list[Array]]:
    """Images of one size, and masks of them."""
    return [*equal_images(rng), [rng.integers(0, 2, (9, 12), np.uint8) for _ in range(3)]]
