# SPDX-License-Identifier: Apache-2.0
"""Rows of `benchmarks/peers.py`: image files that are in memory, and loops over files of pictures.

CIFAR and MNIST stand for pictures of their sizes: color of 32x32, and strokes of 28x28.
"""

from __future__ import annotations

import atexit
import concurrent.futures
import functools
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import daliesque as ndd

from .peer_row import Array, Call, Row, drawn, pictures

MEAN, STD = [125.3, 123.0, 113.9], [63.0, 62.1, 66.7]
LOOP_FILES, LOOP_BATCH = 2048, 256


def encoded(images: Any, kind: str, **options: Any) -> list[Array]:
    """Files made by Pillow, which is one of our own requirements."""
    from PIL import Image

    files = []
    for image in images:
        file = io.BytesIO()
        picture = Image.fromarray(image.squeeze())
        if options.get("colors"):
            picture = picture.quantize(options["colors"])
        picture.save(file, kind)
        files.append(np.frombuffer(file.getvalue(), np.uint8))
    return files


def small(count: int = 1024, size: int = 32) -> list[Array]:
    rng = np.random.default_rng(2)
    different = [drawn(size, size, rng) for _ in range(256)]
    return [different[k % 256] for k in range(count)]


def strokes(count: int = 1024) -> list[Array]:
    """Lines on black, as digits are."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[:28, :28]
    found = []
    for _ in range(256):
        image = np.zeros((28, 28))
        for _ in range(3):
            begin, end = rng.uniform(6, 22, (2, 2))
            for part in np.linspace(0, 1, 40):
                at = begin * (1 - part) + end * part
                image = np.maximum(image, 255 * (1.6 - np.hypot(y - at[0], x - at[1])))
        found.append(image.clip(0, 255).astype(np.uint8))
    return [found[k % 256] for k in range(count)]


def deep(count: int = 8) -> Array:
    rng = np.random.default_rng(4)
    gray = pictures(count)[..., 1].astype(np.uint16) * 256
    return gray + rng.integers(0, 64, gray.shape).astype(np.uint16)


def by_opencv(files: list[Array], flags: int | None = None) -> list[Array]:
    import cv2

    return [cv2.imdecode(file, cv2.IMREAD_COLOR if flags is None else flags) for file in files]


def decoding(target: float, make_files: Callable[[], list[Array]], **arguments: Any) -> Row:
    def make() -> dict[str, Call]:
        files = make_files()
        batch = ndd.batch(files).evaluate()
        flags = 2 | 1 if "dtype" in arguments else None  # IMREAD_ANYDEPTH | IMREAD_COLOR
        return {
            "daliesque": lambda: ndd.decoders.image(batch, **arguments).evaluate(),
            "cv2": lambda: by_opencv(files, flags),
        }

    return Row(make, target)


def large_to_small() -> dict[str, Call]:
    """Twelve megapixels, of which 224x224 are wanted."""
    from PIL import Image

    rng = np.random.default_rng(5)
    files = []
    for _ in range(4):
        file = io.BytesIO()
        Image.fromarray(drawn(3000, 4000, rng)).save(file, "JPEG", quality=90)
        files.append(np.frombuffer(file.getvalue(), np.uint8))
    batch = ndd.batch(files).evaluate()

    def ours(**arguments: Any) -> Any:
        return ndd.resize(ndd.decoders.image(batch, **arguments), size=[224, 224]).evaluate()

    def opencv(flags: int) -> list[Array]:
        import cv2

        found = by_opencv(files, flags)
        return [cv2.resize(image, (224, 224), interpolation=cv2.INTER_AREA) for image in found]

    return {
        "daliesque": lambda: ours(size_hint=[224, 224]),
        "daliesque-full*": ours,
        "cv2-reduced8": lambda: opencv(65),
        "cv2-full*": lambda: opencv(1),
    }


@functools.cache
def folder(kind: str) -> Path:
    """Files on disk, in ten sub-folders."""
    made = tempfile.TemporaryDirectory()
    atexit.register(made.cleanup)
    images = small(LOOP_FILES) if kind == "cifar" else strokes(LOOP_FILES)
    for number, file in enumerate(encoded(images, "PNG")):
        path = Path(made.name, str(number % 10), f"{number:05d}.png")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file.tobytes())
    return Path(made.name)


def loop(kind: str) -> dict[str, Call]:
    """An epoch of batches: read, decode, normalize, as float32 with channels first."""
    root = folder(kind)
    reader = ndd.readers.File(file_root=root)
    gray = kind == "mnist"
    mean, std = ([33.3], [78.6]) if gray else (MEAN, STD)
    colors = ndd.types.GRAY if gray else ndd.types.RGB

    def ours() -> None:
        for files, _ in reader.next_epoch(batch_size=LOOP_BATCH):
            images = ndd.decoders.image(files, output_type=colors)
            ndd.crop_mirror_normalize(images, mean=mean, std=std).evaluate()

    paths = sorted(map(str, root.glob("*/*.png")))
    pool = concurrent.futures.ThreadPoolExecutor(2)

    def one(path: str) -> Array:
        import cv2

        image = cv2.imread(path, cv2.IMREAD_GRAYSCALE if gray else cv2.IMREAD_COLOR)
        rgb = image[..., None] if gray else image[..., ::-1]
        normal = (rgb.astype(np.float32) - np.float32(mean)) / np.float32(std)
        return np.ascontiguousarray(normal.transpose(2, 0, 1))

    def opencv() -> None:
        for begin in range(0, len(paths), LOOP_BATCH):
            np.stack(list(pool.map(one, paths[begin : begin + LOOP_BATCH])))

    return {"daliesque": ours, "cv2": opencv}


ROWS: dict[str, Row] = {
    "decode PNG 32x32 (1024)": decoding(2.0, lambda: encoded(small(), "PNG")),
    "decode PNG MNIST 28x28 (1024)": decoding(2.0, lambda: encoded(strokes(), "PNG")),
    "decode PNG 512": decoding(1.0, lambda: encoded(pictures(16), "PNG")),
    "decode PNG palette": decoding(1.0, lambda: encoded(pictures(16), "PNG", colors=256)),
    "decode PNG16gray 512": decoding(1.0, lambda: encoded(deep(), "PNG"), dtype=ndd.uint16),
    "decode BMP": decoding(1.0, lambda: encoded(pictures(), "BMP")),
    "decode PNM": decoding(1.0, lambda: encoded(pictures(), "PPM")),
    "decode GIF": decoding(1.0, lambda: encoded(pictures(16), "GIF", colors=256)),
    "12MP JPEG -> 224 (4)": Row(large_to_small),
    "loop over CIFAR-PNG": Row(lambda: loop("cifar"), 1.5),
    "loop over MNIST-PNG": Row(lambda: loop("mnist"), 1.5),
}
