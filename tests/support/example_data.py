# SPDX-License-Identifier: Apache-2.0
"""Small stand-ins for the data files that the reference's examples read (DALI_extra)."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from daliesque.index import wds2idx
from support.audio_makers import pcm, signal, wav
from support.image_makers import jpeg, picture, save
from support.record_files import (
    datum,
    example,
    image_record,
    tensor_proto,
    tensor_protos,
    write_lmdb,
    write_recordio,
    write_tfrecord,
)
from support.video_makers import numbered

# As many as the batches of the examples that show images.
_IMAGES = 16
_DIGITS = 192
_CLIPS = 8
_NAMES = ("cat", "dog")


def make_example_data(root: Path) -> Path:
    """Write all files below `root`, as the folder that DALI_EXTRA_PATH names has them."""
    folder = root / "db"
    photos = [jpeg(picture(260 + k, 300 - k, seed=k)) for k in range(_IMAGES)]
    _write_images(folder / "single" / "mixed", photos)
    _write_records(folder, photos)
    _write_digits(folder / "MNIST")
    _write_coco(folder / "coco", photos)
    _write_audio(folder / "audio" / "wav")
    _write_volumes(folder / "3D" / "MRI" / "Knee")
    _write_videos(folder)
    return root


def _new(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write_images(folder: Path, photos: list[bytes]) -> None:
    for number, photo in enumerate(photos * 3):
        (_new(folder / _NAMES[number % 2]) / f"{number:02}.jpg").write_bytes(photo)


def _write_records(folder: Path, photos: list[bytes]) -> None:
    labels = [number % 2 for number in range(len(photos))]
    write_lmdb(
        folder / "lmdb",
        [datum(photo, label, True) for photo, label in zip(photos, labels, strict=True)],
    )
    records = [
        image_record(photo, [float(label)]) for photo, label in zip(photos, labels, strict=True)
    ]
    stored = _new(folder / "recordio")
    write_recordio([stored / "train.rec"], [records], stored / "train.idx")
    examples = []
    for photo, label in zip(photos, labels, strict=True):
        features: dict[str, Any] = {
            "image/encoded": [photo],
            "image/class/label": [label],
            "image/class/text": [_NAMES[label].encode()],
        }
        for edge, value in (("xmin", 0.1), ("ymin", 0.2), ("xmax", 0.7), ("ymax", 0.9)):
            features[f"image/object/bbox/{edge}"] = [value]
        examples.append(example(features))
    write_tfrecord(_new(folder / "tfrecord") / "train", examples)
    _write_archive(_new(folder / "webdataset") / "train.tar", photos, labels)


def _write_archive(path: Path, photos: list[bytes], labels: list[int]) -> None:
    with tarfile.open(path, "w") as archive:
        for number, (photo, label) in enumerate(zip(photos, labels, strict=True)):
            for ending, data in (("jpg", photo), ("cls", str(label).encode())):
                entry = tarfile.TarInfo(f"{number:04}.{ending}")
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    wds2idx(path, path.with_suffix(".idx"))


def _write_digits(folder: Path) -> None:
    """Images of 28 by 28 pixels, which a simple model can learn: bright where the class says."""
    rng = np.random.default_rng(0)
    for part, count in (("training", _DIGITS), ("testing", _DIGITS // 3)):
        values = []
        for number in range(count):
            label = number % 10
            digit = rng.integers(0, 60, (28, 28), np.uint8)
            digit[2 + 2 * label : 6 + 2 * label] += 180
            values.append(
                tensor_protos(tensor_proto([save(digit, "PNG", "L")]), tensor_proto([label]))
            )
        write_lmdb(folder / part, values)


def _write_coco(folder: Path, photos: list[bytes]) -> None:
    images, annotations = [], []
    for number, photo in enumerate(photos):
        name = f"{number:04}.jpg"
        (_new(folder / "images") / name).write_bytes(photo)
        extents = {"height": 260 + number, "width": 300 - number}
        images.append({"id": number, "file_name": name, **extents})
        for part in (0, 1):
            left, top, width, height = 20.0 + 90 * part, 30.0, 80.0, 100.0
            right, bottom = left + width, top + height
            annotations.append(
                {
                    "id": 2 * number + part,
                    "image_id": number,
                    "category_id": 1 + part,
                    "bbox": [left, top, width, height],
                    "area": width * height,
                    "iscrowd": 0,
                    "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
                }
            )
    categories = [{"id": 1 + k, "name": name} for k, name in enumerate(_NAMES)]
    text = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "instances.json").write_text(json.dumps(text))


def _write_audio(folder: Path) -> None:
    _new(folder)
    lines = []
    for number in range(8):
        values = signal(20000, seed=number)
        data, bits, _ = pcm(values, "i16")
        name = f"237-134500-{number:04}.wav"
        (folder / name).write_bytes(wav(data, bits))
        lines.append(f"{name} {number}\n")
    (folder / "file_list.txt").write_text("".join(lines))


def _write_volumes(folder: Path) -> None:
    volume = picture(288, 288, channels=4, seed=9).transpose(2, 0, 1).copy()
    slices = _new(folder / "npy_2d_slices" / "STU00001" / "SER00001")
    for number, plane in enumerate(volume):
        np.save(slices / f"{number}.npy", plane)
    np.save(_new(folder / "npy_3d" / "STU00001") / "SER00001.npy", volume)
    images = _new(folder / "Jpegs" / "STU00001" / "SER00008")
    for number in range(16):
        plane = picture(80, 96, channels=1, seed=number)[:, :, 0]
        (images / f"{number}.jpg").write_bytes(save(plane, "JPEG", "L"))


def _write_videos(folder: Path) -> None:
    # VP9, where the reference's decoder on the CPU reads the files.
    for path, frames, kind in (
        ("optical_flow/sintel_trailer/sintel_trailer_short.mp4", 20, "mpeg4-mov"),
        ("video/test_label.mp4", 250, "mpeg4-mov"),
        ("video/sintel/video_files/sintel_trailer-720p_0.mp4", 40, "vp9-webm"),
        ("video/sintel/video_files/sintel_trailer-720p_1.mp4", 40, "vp9-webm"),
        *((f"video/clips/{number}/video.mp4", 20, "vp9-webm") for number in range(_CLIPS)),
    ):
        file = folder / path
        _new(file.parent)
        file.write_bytes(numbered(frames, kind))
    for number in range(_CLIPS):
        # Milliseconds; the last clips go on beyond the end of their video.
        clips = [[80 * number, 80 * number + 240], [0, 40]]
        (folder / f"video/clips/{number}/clip.json").write_text(json.dumps(clips))
