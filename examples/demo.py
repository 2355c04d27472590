# SPDX-License-Identifier: Apache-2.0
"""The main job, end to end: a folder of JPEGs to augmented training batches.

    python examples/demo.py [FOLDER]

Without a folder (one sub-folder for each class) a small labeled set is generated. Runs two epochs
of a training input pipeline, prints how fast it was, and writes a contact sheet of one augmented
batch to demo-output/contact-sheet.png.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import daliesque as ndd

BATCH = 64
SIZE = 224
MEAN = np.array([124.0, 116.0, 104.0], np.float32)
STD = np.array([58.0, 57.0, 57.0], np.float32)
SHAPES = ("circle", "square", "triangle", "cross")


def draw(shape: str, rng: np.random.Generator) -> Image.Image:
    """A picture of a shape on a soft gradient."""
    width, height = (int(n) for n in rng.integers(250, 500, 2))
    corners = rng.integers(0, 256, (2, 2, 3)).astype(np.uint8)
    image = Image.fromarray(corners).resize((width, height), Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    radius = int(rng.integers(50, 100))
    x, y = int(rng.integers(radius, width - radius)), int(rng.integers(radius, height - radius))
    color = tuple(int(c) for c in rng.integers(0, 256, 3))
    box = (x - radius, y - radius, x + radius, y + radius)
    if shape == "circle":
        pen.ellipse(box, fill=color)
    elif shape == "square":
        pen.rectangle(box, fill=color)
    elif shape == "triangle":
        pen.polygon([(x, y - radius), (x - radius, y + radius), (x + radius, y + radius)], color)
    else:
        pen.line((x - radius, y, x + radius, y), color, radius // 2)
        pen.line((x, y - radius, x, y + radius), color, radius // 2)
    return image


def generate(root: Path, per_class: int = 128) -> None:
    """Write a labeled set of JPEGs."""
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        folder = root / shape
        folder.mkdir(parents=True)
        for k in range(per_class):
            draw(shape, rng).save(folder / f"{k:04d}.jpg", quality=90)


def augment(jpegs: ndd.Batch) -> ndd.Batch:
    """Random crop, resize, mirror and normalize, as for training a classifier."""
    images = ndd.decoders.image_random_crop(jpegs, random_area=[0.3, 1.0])
    images = ndd.resize(images, size=[SIZE, SIZE])
    mirror = ndd.random.coin_flip(batch_size=jpegs.batch_size)
    return ndd.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)


def contact_sheet(images: ndd.Batch, target: Path, columns: int = 8) -> None:
    """Show the first images of a batch, normalization undone."""
    pixels = np.asarray(ndd.as_tensor(images))[: columns * 4]
    pixels = pixels.transpose(0, 2, 3, 1) * STD + MEAN
    pixels = np.clip(pixels, 0, 255).astype(np.uint8)[:, ::2, ::2]
    # The last row is filled up with black.
    missing = -len(pixels) % columns
    pixels = np.pad(pixels, [(0, missing), (0, 0), (0, 0), (0, 0)])
    rows = [
        np.concatenate(list(pixels[k : k + columns]), axis=1)
        for k in range(0, len(pixels), columns)
    ]
    target.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.concatenate(rows)).save(target)


def progress(done: int, total: int, rate: float) -> None:
    filled = 30 * done // max(1, total)
    bar = "#" * filled + "." * (30 - filled)
    print(f"\r[{bar}] {done}/{total} images, {rate:.0f}/s", end="", flush=True)


def run(root: Path) -> None:
    ndd.random.set_seed(1)
    reader = ndd.readers.File(file_root=str(root), random_shuffle=True, pad_last_batch=True)
    total = reader.get_metadata()["epoch_size"]
    batch = min(BATCH, total)
    print(f"{total} images in {root}, batches of {batch}, {ndd.get_num_threads()} threads")
    for epoch in range(2):
        done, start = 0, time.perf_counter()
        for jpegs, labels in reader.next_epoch(batch_size=batch):
            images = augment(jpegs)
            pixels, targets = np.asarray(ndd.as_tensor(images)), np.asarray(ndd.as_tensor(labels))
            assert len(pixels) == len(targets)
            done = min(total, done + len(pixels))
            progress(done, total, done / (time.perf_counter() - start))
        print(f"   epoch {epoch + 1}: {total / (time.perf_counter() - start):.0f} images/s")
    target = Path("demo-output/contact-sheet.png")
    contact_sheet(images, target)
    print(f"one augmented batch: {target}")


def main() -> None:
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        print(f"drawing {len(SHAPES) * 128} JPEGs of {', '.join(SHAPES)} ...")
        generate(Path(folder) / "shapes")
        run(Path(folder) / "shapes")


if __name__ == "__main__":
    main()
