# SPDX-License-Identifier: Apache-2.0
"""Readers and loop bodies for the tests with Ray, whose processes find this module as well."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import daliesque as ndd

SAMPLES = 43


class Numbered(ndd.readers.Reader):
    """Images whose pixels are the number of the sample, which is the second output."""

    def __init__(self, samples: int = SAMPLES, **options: Any) -> None:
        super().__init__(**options)
        self._samples = samples

    def open_index(self) -> int:
        return self._samples

    def fetch_sample(self, number: int) -> Any:
        return np.full((6, 5, 3), number, np.uint8), np.int64(number)


class Slow(Numbered):
    """The same, one after the other."""

    def fetch_sample(self, number: int) -> Any:
        time.sleep(0.02)
        return super().fetch_sample(number)


class Broken(Numbered):
    """Some samples cannot be read."""

    def fetch_sample(self, number: int) -> Any:
        if number % 10 == 7:
            msg = f"no sample {number} today"
            raise OSError(msg)
        return super().fetch_sample(number)


def augment(images: ndd.Batch, labels: ndd.Batch) -> dict[str, Any]:
    """A loop body with random numbers, one number of which belongs to each sample."""
    count = images.batch_size
    images = ndd.resize(images, size=[4, 4])
    images = ndd.flip(images, horizontal=ndd.random.coin_flip(batch_size=count))
    noise = ndd.random.uniform(range=(0, 1), shape=[3], batch_size=count)
    return {"image": images, "label": labels, "noise": noise}


def decode(jpegs: ndd.Batch, labels: ndd.Batch) -> dict[str, Any]:
    """The usual loop body of a training."""
    images = ndd.decoders.image_random_crop(jpegs)
    images = ndd.resize(images, size=[32, 32])
    images = ndd.crop_mirror_normalize(
        images,
        mirror=ndd.random.coin_flip(batch_size=jpegs.batch_size),
        mean=[124.0, 116.0, 104.0],
        std=[58.0, 57.0, 57.0],
    )
    return {"image": images, "label": labels}


def describe_worker(images: ndd.Batch, labels: ndd.Batch) -> dict[str, Any]:
    """What a process of Ray has: threads, as said and as seen, CPUs and limits."""
    import ray

    from daliesque import _kernels

    seen: set[int] = set()

    def note(sample: Any) -> Any:
        seen.add(threading.get_ident())
        time.sleep(0.02)
        return sample

    ndd.map(note, images).evaluate()
    cpus = ray.get_runtime_context().get_assigned_resources()["CPU"]
    count = labels.batch_size
    return {
        "threads": [ndd.get_num_threads()] * count,
        "native": [_kernels.current_pool().num_threads] * count,
        "python": [len(seen)] * count,
        "cpus": [float(cpus)] * count,
        "limit": [ndd.memory().total_limit_bytes] * count,
        "cache": [ndd.memory().file_cache_bytes] * count,
        "process": [os.getpid()] * count,
    }


def refuse_some(images: ndd.Batch, labels: ndd.Batch) -> dict[str, Any]:
    """A body that cannot process some samples."""

    def check(sample: Any) -> Any:
        if sample.flat[0] % 10 == 3:
            msg = "no threes"
            raise ValueError(msg)
        return sample

    return {"image": ndd.map(check, images), "label": labels}


class Logged:
    """A loop body that leaves a file named after each machine on which it was called."""

    def __init__(self, body: Any, folder: str) -> None:
        self._body = body
        self._folder = Path(folder)

    def __call__(self, *inputs: Any) -> Any:
        import ray

        (self._folder / ray.get_runtime_context().get_node_id()).touch()
        return self._body(*inputs)


class KilledOnce:
    """A loop body whose process is killed the first time that it sees a sample."""

    def __init__(self, body: Any, flag: str, number: int) -> None:
        self._body = body
        self._flag = flag
        self._number = number

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        labels = [*inputs, *named.values()][-1]
        if self._number in labels.tolist():
            try:
                os.close(os.open(self._flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return self._body(*inputs, **named)


def jpeg(number: int, width: int = 40, height: int = 30) -> bytes:
    """A photograph of noise that follows from a number."""
    pixels = np.random.default_rng(number).integers(0, 256, (height // 5, width // 5, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).resize((width, height)).save(file, "JPEG")
    return file.getvalue()


def write_jpegs(folder: Path, count: int) -> None:
    """A folder of photographs, of different sizes, with a folder for each of three classes."""
    for number in range(count):
        path = folder / f"class{number % 3}" / f"{number:03}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpeg(number, 40 + number % 4 * 10, 30 + number % 3 * 20))


def digest(value: Any) -> str:
    """The contents of an array, with its type and shape."""
    array = np.ascontiguousarray(value)
    return hashlib.sha256(f"{array.dtype} {array.shape}".encode() + array.tobytes()).hexdigest()
