# SPDX-License-Identifier: Apache-2.0
"""The data that programs on the pages of the documentation read.

A page finds below its working directory:

| path | holds |
|---|---|
| `train`, `val` | JPEG files of photographs, in a folder for each of two classes |
| `images`, `annotations.json` | JPEG files and their annotations in the format of COCO |
| `masks` | a PNG file with a mask for each of `images` |
| `shards/train.tar` | the photographs as a WebDataset |
| `train.tfrecord`, `train.parquet` | the same as records |
| `speech` | WAV files, and a manifest of NeMo |
| `clips` | videos of 40 frames |
| `volumes` | arrays of 16 x 32 x 32 numbers |
| `train-images-idx3-ubyte`, `train-labels-idx1-ubyte` | digits in the format of MNIST |
"""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from support.audio_makers import pcm, signal, wav
from support.image_makers import jpeg
from support.record_files import example, write_tfrecord
from support.video_makers import numbered

Array = NDArray[np.uint8]
# Left, top, right, bottom.
Box = tuple[int, int, int, int]
CLASSES = ("cat", "dog")
_IMAGES = 24


def make_page_data(folder: Path) -> Path:
    """Write everything."""
    photos = [_photo(number) for number in range(_IMAGES)]
    files = [jpeg(photo) for photo, _ in photos]
    for part, chosen in (("train", range(16)), ("val", range(16, _IMAGES))):
        for number in chosen:
            target = folder / part / CLASSES[number % 2]
            target.mkdir(parents=True, exist_ok=True)
            (target / f"{number:03}.jpg").write_bytes(files[number])
    _write_annotations(folder, photos, files)
    _write_records(folder, files)
    _write_speech(folder / "speech")
    _write_digits(folder)
    for name, count in (("clips", 3), ("volumes", 6)):
        (folder / name).mkdir()
        for number in range(count):
            if name == "clips":
                (folder / name / f"{number}.mp4").write_bytes(numbered(40, "mpeg4-mov"))
            else:
                volume = np.random.default_rng(number).normal(size=(16, 32, 32))
                np.save(folder / name / f"{number}.npy", volume.astype(np.float32))
    return folder


def _photo(number: int) -> tuple[Array, list[Box]]:
    """A picture with one or two discs, and the boxes around them."""
    rng = np.random.default_rng(number)
    height, width = 200 + 4 * (number % 5), 260 - 6 * (number % 4)
    corners = rng.integers(90, 256, (2, 2, 3)).astype(np.uint8)
    image = Image.fromarray(corners).resize((width, height), Image.Resampling.BICUBIC)
    boxes = []
    for part in range(1 + number % 2):
        left, top = 20 + 110 * part + int(rng.integers(0, 20)), int(rng.integers(10, 90))
        box = (left, top, left + 80, top + 90)
        ImageDraw.Draw(image).ellipse(box, fill=((200, 60, 50), (50, 80, 200))[number % 2])
        boxes.append(box)
    return np.asarray(image), boxes


def _write_annotations(
    folder: Path,
    photos: list[tuple[Array, list[Box]]],
    files: list[bytes],
) -> None:
    (folder / "images").mkdir()
    (folder / "masks").mkdir()
    images, annotations = [], []
    for number, (photo, boxes) in enumerate(photos):
        (folder / "images" / f"{number:03}.jpg").write_bytes(files[number])
        height, width = photo.shape[:2]
        images.append(
            {"id": number, "file_name": f"{number:03}.jpg", "height": height, "width": width}
        )
        mask = Image.new("L", (width, height))
        for left, top, right, bottom in boxes:
            ImageDraw.Draw(mask).ellipse((left, top, right, bottom), fill=1 + number % 2)
            corners = [left, top, right, top, right, bottom, left, bottom]
            annotations.append(
                {
                    "id": len(annotations),
                    "image_id": number,
                    "category_id": 1 + number % 2,
                    "bbox": [left, top, right - left, bottom - top],
                    "area": (right - left) * (bottom - top),
                    "iscrowd": 0,
                    "segmentation": [corners],
                }
            )
        mask.save(folder / "masks" / f"{number:03}.png")
    categories = [{"id": 1 + k, "name": name} for k, name in enumerate(CLASSES)]
    text = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "annotations.json").write_text(json.dumps(text))


def _write_records(folder: Path, files: list[bytes]) -> None:
    (folder / "shards").mkdir()
    with tarfile.open(folder / "shards" / "train.tar", "w") as archive:
        for number, data in enumerate(files):
            for ending, contents in (("jpg", data), ("cls", str(number % 2).encode())):
                entry = tarfile.TarInfo(f"{number:03}.{ending}")
                entry.size = len(contents)
                archive.addfile(entry, io.BytesIO(contents))
    examples = [
        example({"image/encoded": [data], "image/class/label": [number % 2]})
        for number, data in enumerate(files)
    ]
    write_tfrecord(folder / "train.tfrecord", examples)
    table = pa.table({"image": files, "label": [number % 2 for number in range(len(files))]})
    pq.write_table(table, folder / "train.parquet")


def _write_speech(folder: Path) -> None:
    folder.mkdir()
    lines = []
    for number in range(6):
        values = signal(12000 + 2000 * number, seed=number)
        data, bits, _ = pcm(values, "i16")
        (folder / f"{number}.wav").write_bytes(wav(data, bits))
        entry = {"audio_filepath": f"speech/{number}.wav", "duration": len(values) / 16000}
        lines.append(json.dumps({**entry, "text": f"utterance {number}"}) + "\n")
    (folder / "manifest.json").write_text("".join(lines))


def _write_digits(folder: Path) -> None:
    digits = np.random.default_rng(0).integers(0, 256, (7, 28, 28), np.uint8)
    for name, array in (
        ("train-images-idx3-ubyte", digits),
        ("train-labels-idx1-ubyte", np.arange(7, dtype=np.uint8)),
    ):
        header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
        (folder / name).write_bytes(header + array.tobytes())
