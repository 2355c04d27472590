# SPDX-License-Identifier: Apache-2.0
"""Rows of the readers' benchmark that make their own data."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import wave
from collections.abc import Callable
from typing import Any

import numpy as np


def folder() -> str:
    """An empty folder that vanishes with the process."""
    path = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, path)
    return path


def arrays(count: int, shape: tuple[int, ...], order: Any = "C") -> str:
    """A folder of arrays."""
    root = folder()
    for index in range(count):
        array = np.full(shape, index, np.float32)
        np.save(f"{root}/{index:05d}.npy", np.array(array, order=order))
    return root


def coco(ndd: Any, **arguments: Any) -> Any:
    """A reader of 512 small files with five objects each."""
    root = folder()
    rng = np.random.default_rng(0)
    images, objects = [], []
    for number in range(512):
        name = f"{number}.jpg"
        with open(f"{root}/{name}", "wb") as file:
            file.write(bytes(50_000))
        images.append({"id": number, "file_name": name, "width": 640, "height": 480})
        for _ in range(5):
            left, top, width, height = rng.uniform(50, 250, 4).tolist()
            angles = np.linspace(0, 2 * np.pi, 40)
            x, y = np.cos(angles), np.sin(angles)
            points = np.stack([left + width / 2 * (1 + x), top + height / 2 * (1 + y)], 1)
            outline = points.ravel().round(2).tolist()
            box = {"image_id": number, "category_id": int(rng.integers(1, 81)), "iscrowd": 0}
            box |= {"bbox": [left, top, width, height], "segmentation": [outline]}
            objects.append(box)
    content = {"images": images, "annotations": objects}
    content["categories"] = [{"id": k} for k in range(1, 81)]
    with open(f"{root}/instances.json", "w") as text:
        json.dump(content, text)
    return ndd.readers.COCO(file_root=root, annotations_file=f"{root}/instances.json", **arguments)


def fits(count: int, shape: tuple[int, ...], bits: int) -> str:
    """A folder of FITS files, with an image in the primary unit."""
    root = folder()
    axes = [f"NAXIS{k + 1}  = {n:20d}" for k, n in enumerate(shape[::-1])]
    cards = [f"SIMPLE  = {'T':>20s}", f"BITPIX  = {bits:20d}", f"NAXIS   = {len(shape):20d}"]
    header = "".join(card.ljust(80) for card in [*cards, *axes, "END"]).ljust(2880).encode()
    data = np.zeros(shape, {16: ">i2", -32: ">f4"}[bits]).tobytes()
    for index in range(count):
        with open(f"{root}/{index:05d}.fits", "wb") as file:
            file.write(header + data + bytes(-len(data) % 2880))
    return root


def nemo_asr(ndd: Any, **arguments: Any) -> Any:
    """A reader of 128 clips of 1 to 8 seconds."""
    root = folder()
    rng = np.random.default_rng(0)
    lines = []
    for index in range(128):
        path = f"{root}/{index}.wav"
        seconds = 1 + index % 8
        with wave.open(path, "wb") as file:
            file.setparams((1, 2, 16_000, 0, "NONE", ""))
            file.writeframes(rng.integers(-9999, 9999, 16_000 * seconds, np.int16).tobytes())
        lines.append(json.dumps({"audio_filepath": path, "duration": seconds, "text": "word"}))
    with open(f"{root}/manifest.json", "w") as text:
        text.write("\n".join(lines))
    return ndd.readers.NemoAsr(manifest_filepaths=[f"{root}/manifest.json"], **arguments)


# Name: how to make the reader, and the batch size.
ROWS: dict[str, tuple[Callable[[Any, str], Any], int | None]] = {
    "Numpy": (lambda ndd, _: ndd.readers.Numpy(file_root=arrays(512, (224, 224, 3))), 64),
    "Numpy small": (lambda ndd, _: ndd.readers.Numpy(file_root=arrays(4096, (512,))), 64),
    "Numpy samples": (lambda ndd, _: ndd.readers.Numpy(file_root=arrays(4096, (512,))), None),
    "Numpy headers": (
        lambda ndd, _: ndd.readers.Numpy(
            file_root=arrays(4096, (512,)), cache_header_information=True
        ),
        64,
    ),
    "Numpy Fortran": (
        lambda ndd, _: ndd.readers.Numpy(file_root=arrays(256, (224, 224, 3), "F")),
        64,
    ),
    "Numpy region": (
        lambda ndd, _: ndd.readers.Numpy(
            file_root=arrays(128, (512, 512, 3)),
            roi_start=[100, 100],
            roi_shape=[224, 224],
            roi_axes=[0, 1],
        ),
        64,
    ),
    "Numpy padded": (
        lambda ndd, _: ndd.readers.Numpy(
            file_root=arrays(256, (200, 200, 3)),
            roi_shape=[224, 224],
            roi_axes=[0, 1],
            out_of_bounds_policy="pad",
        ),
        64,
    ),
    "COCO": (lambda ndd, _: coco(ndd), 64),
    "COCO polygons": (lambda ndd, _: coco(ndd, polygon_masks=True), 64),
    "COCO masks": (lambda ndd, _: coco(ndd, pixelwise_masks=True), 64),
    "COCO samples": (lambda ndd, _: coco(ndd), None),
    "NemoAsr": (lambda ndd, _: nemo_asr(ndd, read_text=True), 32),
    "NemoAsr 8 kHz": (lambda ndd, _: nemo_asr(ndd, sample_rate=8000.0), 32),
    "Fits": (
        lambda ndd, _: ndd.experimental.readers.Fits(
            file_root=fits(256, (3, 224, 224), -32), hdu_indices=[1]
        ),
        32,
    ),
    "Fits small": (
        lambda ndd, _: ndd.experimental.readers.Fits(
            file_root=fits(1024, (32, 32), 16), hdu_indices=[1]
        ),
        32,
    ),
}
