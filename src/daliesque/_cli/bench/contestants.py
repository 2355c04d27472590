# SPDX-License-Identifier: Apache-2.0
"""Loops from a folder of images to training batches, with this library and with others.

    python contestants.py ROOT --contestant NAME --job eval|train --threads N --seconds S

measures one of them, and prints a line of JSON. Run as a program, this file imports nothing of the
package, so that it also runs where only another library is installed.

Two jobs, batches of float32 CHW images handed over as one dense torch tensor:

- eval: decode, resize to 224x224 (antialiased), normalize;
- train: decode of a random crop, resize to 224x224, random mirror, normalize.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.util
import json
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

SIZE = 224
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
REFERENCE = "nvidia.dali.experimental.dynamic"
JOBS = ("eval", "train")

Epoch: TypeAlias = Callable[[], Iterable[Any]]


@dataclass(frozen=True)
class Task:
    """What is to be done: the folder, the job, and with how many threads."""

    root: str
    job: str
    threads: int
    batch: int


def imperative(
    task: Task, module: str, capture: bool = False, mode: str = "eager", passes: int = 1
) -> Epoch:
    """The same program for us and for the reference's dynamic mode; `passes` epochs in one loop."""
    ndd: Any = importlib.import_module(module)
    ndd.set_num_threads(task.threads)
    options = {"capture": True} if capture else {}
    size, mean, std, straight = [SIZE, SIZE], MEAN, STD, 0
    if capture:
        # Nothing else says that these never change: calls with them would not be captured.
        size, mean, std, straight = map(ndd.capture.invariant, (size, mean, std, straight))
    reader = ndd.readers.File(file_root=task.root, random_shuffle=task.job == "train")

    def single() -> Iterator[Any]:
        for jpegs, _labels in reader.next_epoch(batch_size=task.batch, **options):
            if task.job == "train":
                images = ndd.decoders.image_random_crop(jpegs)
                mirror = ndd.random.coin_flip(batch_size=task.batch)
            else:
                images = ndd.decoders.image(jpegs)
                mirror = straight
            images = ndd.resize(images, size=size)
            images = ndd.crop_mirror_normalize(images, mirror=mirror, mean=mean, std=std)
            yield images.torch() if has_torch() else np.asarray(ndd.as_tensor(images))

    def epoch() -> Iterator[Any]:
        for _ in range(passes):
            yield from single()

    if mode == "prefetch":
        return lambda: ndd.prefetch(epoch)
    if mode == "deferred":

        def deferred() -> Iterator[Any]:
            with ndd.EvalMode.deferred:
                yield from epoch()

        return deferred
    return epoch


@functools.cache
def has_torch() -> bool:
    """Whether torch is installed."""
    return importlib.util.find_spec("torch") is not None


def reference_pipeline(task: Task) -> Epoch:
    """The reference's pipeline mode."""
    from nvidia.dali import fn, pipeline_def

    @pipeline_def(batch_size=task.batch, num_threads=task.threads, device_id=None)  # type: ignore[untyped-decorator]
    def graph() -> Any:
        jpegs, _labels = fn.readers.file(
            file_root=task.root, random_shuffle=task.job == "train", name="reader"
        )
        if task.job == "train":
            images = fn.decoders.image_random_crop(jpegs)
            mirror = fn.random.coin_flip()
        else:
            images = fn.decoders.image(jpegs)
            mirror = 0
        images = fn.resize(images, size=[SIZE, SIZE])
        return fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)

    pipe = graph()
    pipe.build()
    steps = -(-pipe.epoch_size("reader") // task.batch)

    def epoch() -> Iterator[Any]:
        for _ in range(steps):
            (images,) = pipe.run()
            array = np.array(images.as_tensor())
            yield importlib.import_module("torch").from_numpy(array) if has_torch() else array

    return epoch


def torch_loader(task: Task, dataset: Any) -> Epoch:
    """A DataLoader with as many worker processes as threads."""
    from torch.utils.data import DataLoader

    loader: Any = DataLoader(
        dataset,
        task.batch,
        shuffle=task.job == "train",
        num_workers=task.threads,
        persistent_workers=True,
    )

    def epoch() -> Iterator[Any]:
        for images, _labels in loader:
            yield images

    return epoch


def torchvision(task: Task) -> Epoch:
    """torchvision's transforms (Pillow) in a DataLoader."""
    from torchvision import datasets, transforms

    first = (
        [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip()]
        if task.job == "train"
        else [transforms.Resize((SIZE, SIZE))]
    )
    normalize = transforms.Normalize([m / 255 for m in MEAN], [s / 255 for s in STD])
    steps = transforms.Compose([*first, transforms.ToTensor(), normalize])
    return torch_loader(task, datasets.ImageFolder(task.root, steps))


def albumentations(task: Task) -> Epoch:
    """Albumentations (OpenCV) in a DataLoader."""
    import albumentations as A
    import cv2
    import torch
    from torch.utils.data import Dataset

    cv2.setNumThreads(1)
    first = (
        [A.RandomResizedCrop((SIZE, SIZE)), A.HorizontalFlip()]
        if task.job == "train"
        else [A.Resize(SIZE, SIZE, interpolation=cv2.INTER_AREA)]
    )
    steps = A.Compose([*first, A.Normalize([m / 255 for m in MEAN], [s / 255 for s in STD])])
    paths = image_paths(task.root)

    class Images(Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return len(paths)

        def __getitem__(self, index: int) -> tuple[Any, int]:
            image: Any = cv2.imread(paths[index])
            array = steps(image=cv2.cvtColor(image, cv2.COLOR_BGR2RGB))["image"]
            return torch.from_numpy(array.transpose(2, 0, 1).copy()), 0

    return torch_loader(task, Images())


def libjpeg_alone(task: Task) -> Epoch:
    """libjpeg-turbo decoding the same files on as many threads, and nothing else."""
    from concurrent.futures import ThreadPoolExecutor

    import imagecodecs

    paths = image_paths(task.root)
    pool = ThreadPoolExecutor(task.threads)

    def decode(path: str) -> Any:
        data = Path(path).read_bytes()
        try:
            return imagecodecs.jpeg8_decode(data, outcolorspace="RGB")
        except imagecodecs.Jpeg8Error:
            return imagecodecs.jpeg8_decode(data)

    def epoch() -> Iterator[Any]:
        for start in range(0, len(paths), task.batch):
            yield list(pool.map(decode, paths[start : start + task.batch]))

    return epoch


def image_paths(root: str) -> list[str]:
    """The files in the folders of a folder."""
    return sorted(str(path) for path in Path(root).glob("*/*") if path.is_file())


class Contestant:
    """A way to run the loop, and the module that it needs."""

    def __init__(self, module: str, make: Callable[[Task], Epoch], jobs: tuple[str, ...] = JOBS):
        self.module = module
        self.make = make
        self.jobs = jobs

    @property
    def is_reference(self) -> bool:
        """Whether it needs the reference."""
        return self.module.startswith("nvidia")


CONTESTANTS = {
    "daliesque": Contestant("daliesque", lambda task: imperative(task, "daliesque")),
    "daliesque, prefetch": Contestant(
        "daliesque", lambda task: imperative(task, "daliesque", mode="prefetch")
    ),
    "DALI, dynamic": Contestant("nvidia.dali", lambda task: imperative(task, REFERENCE)),
    "DALI, capture": Contestant("nvidia.dali", lambda task: imperative(task, REFERENCE, True)),
    "DALI, pipeline": Contestant("nvidia.dali", reference_pipeline),
    "torchvision + DataLoader": Contestant("torchvision", torchvision),
    "albumentations + DataLoader": Contestant("albumentations", albumentations),
    "libjpeg-turbo decode alone": Contestant("imagecodecs", libjpeg_alone, ("eval",)),
}


def peak_mb(threads: int) -> float:
    """The largest resident size of this process and its children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    own, children = (resource.getrusage(kind).ru_maxrss / 1024 for kind in kinds)
    return own + children * threads


def measure(name: str, task: Task, seconds: float) -> dict[str, float]:
    """Measure a contestant: whole epochs of some seconds, after one to warm up.

    The time to the first batch counts from the first line of the contestant's own program, with
    the import of its library; torch, which every one of them hands its batches to, is there, unless
    the interpreter has none: then batches are arrays.
    """
    if has_torch():
        importlib.import_module("torch")
    start = time.perf_counter()
    epoch = CONTESTANTS[name].make(task)
    first: float | None = None
    for _ in epoch():
        first = first or time.perf_counter() - start
    begin, epochs = time.perf_counter(), 0
    while (passed := time.perf_counter() - begin) < seconds or epochs == 0:
        for _ in epoch():
            pass
        epochs += 1
    rate = epochs * len(image_paths(task.root)) / passed
    return {"rate": rate, "first": first or 0.0, "peak": peak_mb(task.threads)}


def main() -> None:
    """Measure the contestant that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--contestant", required=True)
    parser.add_argument("--job", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    given = parser.parse_args()
    task = Task(given.root, given.job, given.threads, given.batch)
    result = measure(given.contestant, task, given.seconds)
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
