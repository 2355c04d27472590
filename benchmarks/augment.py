# SPDX-License-Identifier: Apache-2.0
"""Augmentation against torchvision v2, Albumentations and kornia: images per CPU-second.

    python benchmarks/augment.py [--threads 2] [--batch 64] [--seconds 2] [--mode deferred]
        [--images ROOT] [NAME ...]

Needs `pip install torchvision albumentations kornia pillow`; a library that is missing is left out.

Each library gets its images as it likes them best: bytes (height, width, channels) for this library
and Albumentations, bytes (channels, height, width) or images of Pillow for torchvision, of which
the faster counts, and floats for kornia, which takes nothing else. Every image gets operations and
magnitudes of its own; torchvision and Albumentations therefore work on single images, and kornia,
which draws for a whole batch, on batches as far as the images are equally large. Where images are
moved, all of them interpolate linearly. This library runs in deferred mode, in which an image goes
through all operators of a chain before the next one does; `--mode eager` shows what the default
mode brings.

CPU time is counted: wall-clock time would count what else the machine does. This library and kornia
use `--threads` threads. The others, whose work is not divided that way, run in as many processes at
once, as under a DataLoader with workers, but without what it takes to hand over images. So all of
them keep the same cores busy, whose CPU time is worth less when they share a processor. Libraries
take part one after the other, round after round; the table shows medians.

Rows: `rand_augment` (two operations of magnitude 9), `auto_augment` (the policy of ImageNet),
`trivial_augment`, `mixup+cutmix` (half of the batches each, with labels; Albumentations has
neither) and `detection` (flip, rotation, crop with boxes, color and blur); for images of 224x224,
and as photographs are decoded (375x500 and similar). `--images` takes JPEG files of a folder.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import importlib.util
import itertools
import multiprocessing
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows.augment_peers import Data, albumentations_calls, kornia_calls, torchvision_calls
from rows.peer_row import drawn

import daliesque as ndd

Array = NDArray[Any]
Call = Callable[[], Any]
DECODED = ((375, 500), (500, 375), (333, 500), (480, 640), (375, 500), (500, 333))
THREADED = ("daliesque", "kornia")
ROWS = ("rand_augment", "auto_augment", "trivial_augment", "mixup+cutmix", "detection")


def batches(count: int, root: Path | None) -> dict[str, Data]:
    """The images to work on: of one size, and as they are decoded."""
    rng = np.random.default_rng(1)
    if root is None:
        sizes = itertools.islice(itertools.cycle(DECODED), count)
        decoded = [drawn(*size, rng) for size in sizes]
    else:
        files = sorted(path for path in root.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
        decoded = [np.asarray(ndd.decoders.image(path.read_bytes())) for path in files[:count]]
    small = [np.asarray(ndd.resize(image, size=[224, 224])) for image in decoded]
    return {"224x224": Data(small), "decoded": Data(decoded)}


def our_calls(data: Data, mode: ndd.EvalMode = ndd.EvalMode.deferred) -> dict[str, Call]:
    """The rows with this library."""
    images = ndd.batch(data.images, layout="HWC").evaluate()
    labels = ndd.batch(data.labels).evaluate()
    boxes = ndd.batch(data.relative_boxes).evaluate()
    shapes = ndd.batch([image.shape[:2] for image in data.images]).evaluate()
    classes = ndd.batch([np.zeros(len(rows), np.int32) for rows in data.boxes]).evaluate()
    count = len(data.images)
    mixes = itertools.cycle([ndd.mixup, ndd.cutmix])

    def detection() -> Any:
        mirrored = ndd.random.coin_flip(batch_size=count)
        angle = ndd.random.uniform(range=(-10, 10), batch_size=count)
        out = ndd.flip(images, horizontal=mirrored)
        moved = ndd.bb_flip(boxes, horizontal=mirrored, ltrb=True)
        out = ndd.rotate(out, angle=angle, keep_size=True, fill_value=0)
        moved, kept = ndd.bbox_rotate(
            moved, classes, angle=angle, input_shape=shapes, keep_size=True
        )
        start, shape, moved, kept = ndd.random_bbox_crop(
            moved, kept, scaling=(0.5, 1.0), thresholds=(0.0,), bbox_layout="xyXY"
        )
        out = ndd.slice(out, start, shape)
        factors = {
            name: ndd.random.uniform(range=(0.7, 1.3), batch_size=count)
            for name in ("brightness", "contrast", "saturation")
        }
        out = ndd.color_twist(out, **factors)
        out = ndd.gaussian_blur(out, sigma=1.0, window_size=5)
        return out.evaluate(), moved.evaluate(), kept.evaluate()

    def mixed() -> Any:
        out, soft = next(mixes)(images, labels, num_classes=data.num_classes)
        return out.evaluate(), soft.evaluate()

    calls: dict[str, Call] = {
        "rand_augment": lambda: ndd.auto_aug.rand_augment(images, 2, 9).evaluate(),
        "auto_augment": lambda: ndd.auto_aug.auto_augment(images).evaluate(),
        "trivial_augment": lambda: ndd.auto_aug.trivial_augment_wide(images).evaluate(),
        "detection": detection,
    }
    if data.is_uniform:
        calls["mixup+cutmix"] = mixed
    return {name: functools.partial(called_in, mode, call) for name, call in calls.items()}


def called_in(mode: ndd.EvalMode, call: Call) -> Any:
    """What a call returns that is made in a mode."""
    with mode:
        return call()


PEERS: dict[str, Callable[[Data], dict[str, Call]]] = {
    "torchvision": torchvision_calls,
    "albumentations": albumentations_calls,
    "kornia": kornia_calls,
}


def images_per_second(call: Call, count: int, seconds: float) -> float:
    """How many images a call processes in a second of CPU time."""
    begin, done = time.process_time(), 0
    while done == 0 or time.process_time() - begin < seconds:
        call()
        done += count
    return done / (time.process_time() - begin)


def in_processes(call: Call, count: int, seconds: float, processes: int) -> float:
    """The same for several processes at once, each of which makes the call."""
    context = multiprocessing.get_context("fork")
    rates = context.SimpleQueue()
    together = context.Barrier(processes)

    def work() -> None:
        if importlib.util.find_spec("torch"):
            importlib.import_module("torch").set_num_threads(1)
        call()
        together.wait()
        rates.put(images_per_second(call, count, seconds))

    workers = [context.Process(target=work) for _ in range(processes)]
    for worker in workers:
        worker.start()
    found = [rates.get() for _ in workers]
    for worker in workers:
        worker.join()
    return statistics.mean(found)


def measure(
    calls: dict[str, Call], count: int, seconds: float, rounds: int, threads: int
) -> dict[str, float]:
    """The medians of all libraries for one row."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for name, call in calls.items():
        if name in THREADED:
            call()
    for _ in range(rounds):
        for name, call in calls.items():
            share = seconds / rounds
            if name in THREADED:
                found[name].append(images_per_second(call, count, share))
            else:
                found[name].append(in_processes(call, count, share, threads))
    return {name: statistics.median(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", default=["*"], metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mode", choices=("deferred", "eager"), default="deferred")
    parser.add_argument("--images", type=Path, help="a folder of JPEG files")
    options = parser.parse_args()
    ndd.set_num_threads(options.threads)
    if importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(options.threads)
    present = {name: make for name, make in PEERS.items() if importlib.util.find_spec(name)}
    print(f"{'images per CPU-second':34}" + "".join(f"{n:>24}" for n in ("daliesque", *present)))
    for size, data in batches(options.batch, options.images).items():
        tables = {"daliesque": our_calls(data, ndd.EvalMode[options.mode])}
        tables |= {name: make(data) for name, make in present.items()}
        for row in ROWS:
            title = f"{row} {size}"
            if not any(fnmatch.fnmatch(title, f"{pattern}*") for pattern in options.names):
                continue
            calls = {name: table[row] for name, table in tables.items() if row in table}
            rates = measure(calls, options.batch, options.seconds, options.rounds, options.threads)
            own = rates.get("daliesque")
            if own is None:
                continue
            cells = [f"{own:.0f}"]
            for name in present:
                rate = rates.get(name)
                cells.append("-" if rate is None else f"{rate:.0f} ({own / rate:.1f}x)")
            print(f"{title:34}" + "".join(f"{cell:>24}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
