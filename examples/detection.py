# SPDX-License-Identifier: Apache-2.0
"""Batches for an object detector: images and boxes that are cropped, mirrored and encoded together.

    python examples/detection.py [FOLDER ANNOTATIONS.json]

Without a data set in COCO's format, a small one is generated. Runs one epoch of the augmentation
that single-shot detectors are trained with, and writes images with their boxes to
demo-output/detection.png.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

import daliesque as ndd

BATCH = 16
SIZE = 300
MEAN = np.array([124.0, 116.0, 104.0], np.float32)
STD = np.array([58.0, 57.0, 57.0], np.float32)
COLORS = {"red": (200, 40, 40), "green": (40, 160, 60), "blue": (50, 70, 200)}


def generate(folder: Path, count: int = 64) -> Path:
    """Write JPEGs of colored discs, and the boxes around them."""
    rng = np.random.default_rng(0)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for number in range(count):
        width, height = (int(n) for n in rng.integers(300, 500, 2))
        corners = rng.integers(120, 256, (2, 2, 3)).astype(np.uint8)
        image = Image.fromarray(corners).resize((width, height), Image.Resampling.BICUBIC)
        pen = ImageDraw.Draw(image)
        for _ in range(rng.integers(1, 5)):
            w, h = (int(n) for n in rng.integers(40, 120, 2))
            x, y = int(rng.integers(0, width - w)), int(rng.integers(0, height - h))
            category = int(rng.integers(0, len(COLORS)))
            pen.ellipse((x, y, x + w, y + h), fill=list(COLORS.values())[category])
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": category + 1,
                    "bbox": [x, y, w, h],
                    "area": w * h,
                    "iscrowd": 0,
                }
            )
        name = f"{number:04d}.jpg"
        image.save(folder / name, quality=90)
        images.append({"id": number, "file_name": name, "width": width, "height": height})
    categories = [{"id": k + 1, "name": name} for k, name in enumerate(COLORS)]
    target = folder / "annotations.json"
    everything = {"images": images, "annotations": annotations, "categories": categories}
    target.write_text(json.dumps(everything))
    return target


def make_anchors() -> list[float]:
    """Boxes on a grid, in three sizes: left, top, right, bottom, relative to the image."""
    positions = (np.arange(16) + 0.5) / 16
    y, x = np.meshgrid(positions, positions, indexing="ij")
    half = np.array([0.1, 0.2, 0.3])
    boxes = [x[..., None] - half, y[..., None] - half, x[..., None] + half, y[..., None] + half]
    return list(np.stack(boxes, axis=-1).clip(0, 1).ravel())


def augment(
    jpegs: ndd.Batch, boxes: ndd.Batch, labels: ndd.Batch
) -> tuple[ndd.Batch, ndd.Batch, ndd.Batch]:
    """A random crop that keeps some boxes, other colors, and a mirror image of half of them."""
    count = jpegs.batch_size
    start, shape, boxes, labels = ndd.random_bbox_crop(
        boxes,
        labels,
        aspect_ratio=[0.5, 2.0],
        thresholds=[0, 0.1, 0.3, 0.5, 0.7, 0.9],
        scaling=[0.3, 1.0],
        bbox_layout="xyXY",
        allow_no_crop=True,
    )
    images = ndd.decoders.image_slice(jpegs, start, shape)
    images = ndd.resize(images, size=[SIZE, SIZE])
    images = ndd.color_twist(
        images,
        hue=ndd.random.uniform(range=[-18, 18], batch_size=count),
        saturation=ndd.random.uniform(range=[0.5, 1.5], batch_size=count),
        brightness=ndd.random.uniform(range=[0.9, 1.1], batch_size=count),
    )
    mirror = ndd.random.coin_flip(batch_size=count)
    boxes = ndd.bb_flip(boxes, ltrb=True, horizontal=mirror)
    return (
        ndd.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD),
        boxes,
        labels,
    )


def picture(images: ndd.Batch, boxes: ndd.Batch, labels: ndd.Batch, target: Path) -> None:
    """Show images with their boxes."""
    shown = []
    for image, rectangles, classes in zip(images, boxes, labels, strict=True):
        pixels = np.asarray(image).transpose(1, 2, 0) * STD + MEAN
        sheet = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
        pen = ImageDraw.Draw(sheet)
        for box, label in zip(np.asarray(rectangles), np.asarray(classes).ravel(), strict=True):
            pen.rectangle([float(edge) * SIZE for edge in box], outline="yellow", width=3)
            pen.text((float(box[0]) * SIZE + 6, float(box[1]) * SIZE + 4), str(label), "yellow")
        shown.append(np.asarray(sheet)[::2, ::2])
    rows = [np.concatenate(shown[k : k + 8], axis=1) for k in range(0, len(shown) // 8 * 8, 8)]
    target.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.concatenate(rows)).save(target)


def run(root: Path, annotations: Path) -> None:
    ndd.random.set_seed(2)
    anchors = make_anchors()
    reader = ndd.readers.COCO(
        file_root=str(root),
        annotations_file=str(annotations),
        ltrb=True,
        ratio=True,
        skip_empty=True,
        random_shuffle=True,
        pad_last_batch=True,
    )
    matched = seen = 0
    for jpegs, boxes, labels in reader.next_epoch(batch_size=BATCH):
        images, boxes, labels = augment(jpegs, boxes, labels)
        offsets, targets = ndd.box_encoder(
            boxes, labels, anchors=anchors, offset=True, stds=[0.1, 0.1, 0.2, 0.2], scale=SIZE
        )
        # What a training step takes: images, and for each anchor a box and a class (0: nothing).
        assert ndd.as_tensor(offsets).shape == (*ndd.as_tensor(targets).shape, 4)
        matched += int((np.asarray(ndd.as_tensor(targets)) > 0).sum())
        seen += images.batch_size
    print(f"{seen} images, {matched / seen:.1f} of {len(anchors) // 4} anchors matched on average")
    target = Path("demo-output/detection.png")
    picture(images, boxes, labels, target)
    print(f"the last batch with its boxes: {target}")


def main() -> None:
    if len(sys.argv) > 2:
        run(Path(sys.argv[1]), Path(sys.argv[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), generate(Path(folder)))


if __name__ == "__main__":
    main()
