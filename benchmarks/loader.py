# SPDX-License-Identifier: Apache-2.0
"""Images per second from a folder of JPEGs to training batches, against the peers.

    python benchmarks/loader.py ROOT [--threads 2] [--reference PYTHON] [--rounds 5] [--chart FILE]
    python benchmarks/loader.py ROOT --modes

Two jobs, batches of 64 float32 CHW images handed over as one dense torch tensor:

- eval: decode, resize to 224x224 (antialiased), normalize;
- train: decode of a random crop, resize to 224x224, random mirror, normalize.

Every contestant runs in a process of its own, one after the other, round after round; the table
shows medians over the rounds. Contestants whose library is missing are left out. `--reference` is a
Python interpreter with the reference installed.

`--modes` compares our own ways to run the same loop instead: eager and deferred calls, capture, and
`prefetch`; with a consumer that does nothing, and with one that is busy as long as a batch takes:
"busy" is the time of the whole relative to the larger of the two, which would take 1 if loading and
consuming overlapped perfectly, and 2 if one always waited for the other.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

BATCH = 64
SIZE = 224
SECONDS = 2.0
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]
REFERENCE = "nvidia.dali.experimental.dynamic"

Epoch = Callable[[], Iterable[Any]]


def imperative(
    module: str, root: str, job: str, capture: bool = False, mode: str = "eager", passes: int = 1
) -> Epoch:
    """The same program for us and for the reference's dynamic mode; `passes` epochs in one loop."""
    import importlib

    ndd: Any = importlib.import_module(module)
    ndd.set_num_threads(THREADS)
    options = {"capture": True} if capture else {}
    reader = ndd.readers.File(file_root=root, random_shuffle=job == "train")

    def single() -> Iterator[Any]:
        for jpegs, _labels in reader.next_epoch(batch_size=BATCH, **options):
            if job == "train":
                images = ndd.decoders.image_random_crop(jpegs)
                mirror = ndd.random.coin_flip(batch_size=BATCH)
            else:
                images = ndd.decoders.image(jpegs)
                mirror = 0
            images = ndd.resize(images, size=[SIZE, SIZE])
            images = ndd.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)
            yield images.torch()

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


def reference_pipeline(root: str, job: str) -> Epoch:
    """The reference's pipeline mode."""
    import numpy as np
    import torch
    from nvidia.dali import fn, pipeline_def

    @pipeline_def(batch_size=BATCH, num_threads=THREADS, device_id=None)
    def graph() -> Any:
        jpegs, _labels = fn.readers.file(
            file_root=root, random_shuffle=job == "train", name="reader"
        )
        if job == "train":
            images = fn.decoders.image_random_crop(jpegs)
            mirror = fn.random.coin_flip()
        else:
            images = fn.decoders.image(jpegs)
            mirror = 0
        images = fn.resize(images, size=[SIZE, SIZE])
        return fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)

    pipe = graph()
    pipe.build()
    steps = -(-pipe.epoch_size("reader") // BATCH)

    def epoch() -> Iterator[Any]:
        for _ in range(steps):
            (images,) = pipe.run()
            yield torch.from_numpy(np.array(images.as_tensor()))

    return epoch


def torch_loader(dataset: Any, shuffle: bool) -> Epoch:
    """A DataLoader with as many worker processes as threads."""
    from torch.utils.data import DataLoader

    loader = DataLoader(
        dataset, BATCH, shuffle=shuffle, num_workers=THREADS, persistent_workers=True
    )

    def epoch() -> Iterator[Any]:
        for images, _labels in loader:
            yield images

    return epoch


def torchvision(root: str, job: str) -> Epoch:
    """torchvision's transforms (Pillow) in a DataLoader."""
    from torchvision import datasets, transforms

    first = (
        [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip()]
        if job == "train"
        else [transforms.Resize((SIZE, SIZE))]
    )
    normalize = transforms.Normalize([m / 255 for m in MEAN], [s / 255 for s in STD])
    steps = transforms.Compose([*first, transforms.ToTensor(), normalize])
    return torch_loader(datasets.ImageFolder(root, steps), job == "train")


def albumentations(root: str, job: str) -> Epoch:
    """Albumentations (OpenCV) in a DataLoader."""
    import albumentations as A
    import cv2
    import torch
    from torch.utils.data import Dataset

    cv2.setNumThreads(1)
    first = (
        [A.RandomResizedCrop((SIZE, SIZE)), A.HorizontalFlip()]
        if job == "train"
        else [A.Resize(SIZE, SIZE, interpolation=cv2.INTER_AREA)]
    )
    steps = A.Compose([*first, A.Normalize([m / 255 for m in MEAN], [s / 255 for s in STD])])
    paths = image_paths(root)

    class Images(Dataset):  # type: ignore[type-arg]
        def __len__(self) -> int:
            return len(paths)

        def __getitem__(self, index: int) -> tuple[Any, int]:
            image = cv2.cvtColor(cv2.imread(paths[index]), cv2.COLOR_BGR2RGB)
            array = steps(image=image)["image"].transpose(2, 0, 1)
            return torch.from_numpy(array.copy()), 0

    return torch_loader(Images(), job == "train")


def libjpeg_alone(root: str, _job: str) -> Epoch:
    """libjpeg-turbo decoding the same files on as many threads, and nothing else."""
    from concurrent.futures import ThreadPoolExecutor

    import imagecodecs

    paths = image_paths(root)
    pool = ThreadPoolExecutor(THREADS)

    def decode(path: str) -> Any:
        data = Path(path).read_bytes()
        try:
            return imagecodecs.jpeg8_decode(data, outcolorspace="RGB")
        except imagecodecs.Jpeg8Error:
            return imagecodecs.jpeg8_decode(data)

    def epoch() -> Iterator[Any]:
        for start in range(0, len(paths), BATCH):
            yield list(pool.map(decode, paths[start : start + BATCH]))

    return epoch


def image_paths(root: str) -> list[str]:
    return sorted(str(path) for path in Path(root).glob("*/*") if path.is_file())


CONTESTANTS: dict[str, tuple[bool, Callable[[str, str], Epoch]]] = {
    "daliesque": (False, lambda root, job: imperative("daliesque", root, job)),
    "DALI, dynamic": (True, lambda root, job: imperative(REFERENCE, root, job)),
    "DALI, capture": (True, lambda root, job: imperative(REFERENCE, root, job, capture=True)),
    "DALI, pipeline": (True, reference_pipeline),
    "torchvision + DataLoader": (False, torchvision),
    "albumentations + DataLoader": (False, albumentations),
    "libjpeg-turbo decode alone": (False, libjpeg_alone),
}

# How many epochs one loop has, if our own modes are compared.
PASSES = 5
# Our own ways to run the loop.
MODES = ("eager", "deferred", "capture", "prefetch")

THREADS = 2


def peak_mb() -> float:
    """The largest resident size of this process and its children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    own, children = (resource.getrusage(kind).ru_maxrss / 1024 for kind in kinds)
    return own + children * THREADS


def child(name: str, root: str, job: str) -> None:
    """Measure one contestant: whole epochs of some seconds, after one to warm up.

    The time to the first batch counts from the first line of the contestant's own program, with
    the import of its library; torch, which every one of them hands its batches to, is there.
    """
    import torch  # noqa: F401

    start = time.perf_counter()
    epoch = CONTESTANTS[name][1](root, job)
    first: float | None = None
    for _ in epoch():
        first = first or time.perf_counter() - start
    begin, epochs = time.perf_counter(), 0
    while (seconds := time.perf_counter() - begin) < SECONDS:
        for _ in epoch():
            pass
        epochs += 1
    rate = epochs * len(image_paths(root)) / seconds
    print(json.dumps({"rate": rate, "first": first, "peak": peak_mb()}))


def mode_child(mode: str, root: str, job: str) -> None:
    """Measure one of our own modes, with a consumer that does nothing and with a busy one."""
    import torch  # noqa: F401

    # The first batch is never loaded ahead: loops are long, however small the folder is.
    epoch = imperative("daliesque", root, job, mode == "capture", mode, PASSES)
    steps = sum(1 for _ in epoch())
    images = len(image_paths(root)) * PASSES
    begin, begin_cpu, epochs = time.perf_counter(), time.process_time(), 0
    while (seconds := time.perf_counter() - begin) < SECONDS:
        for _ in epoch():
            pass
        epochs += 1
    cpu = (time.process_time() - begin_cpu) / (epochs * images)
    batch_seconds = seconds / (epochs * steps)
    begin = time.perf_counter()
    for _ in range(epochs):
        for _ in epoch():
            time.sleep(batch_seconds)
    busy = (time.perf_counter() - begin) / seconds
    rate = epochs * images / seconds
    print(json.dumps({"rate": rate, "cpu": cpu * 1e6, "busy": busy, "peak": peak_mb()}))


def compare_modes(options: argparse.Namespace) -> None:
    """Run our own modes, one after the other, round after round."""
    found: dict[tuple[str, str], list[Any]] = {}
    for _ in range(options.rounds):
        for job in ("eval", "train"):
            for mode in MODES:
                result = run_child(sys.executable, mode, options, job)
                if result is not None:
                    found.setdefault((mode, job), []).append(result)
    for job in ("eval", "train"):
        titles = ("images/s", "of eager", "CPU us", "busy", "peak MB")
        print("\n{:10s} {:>9s} {:>9s} {:>7s} {:>6s} {:>8s}".format(job, *titles))
        for mode in MODES:
            results = found.get((mode, job))
            if not results:
                continue
            rate, cpu, busy, peak = (
                statistics.median(r[key] for r in results)
                for key in ("rate", "cpu", "busy", "peak")
            )
            # Of each round by itself: the machine may be slower in one than in another.
            pairs = zip(results, found["eager", job], strict=False)
            ratio = statistics.median(ours["rate"] / eager["rate"] for ours, eager in pairs)
            print(f"{mode:10s} {rate:9.0f} {ratio:8.2f}x {cpu:7.0f} {busy:5.2f}x {peak:8.0f}")


def run_child(python: str, name: str, options: argparse.Namespace, job: str) -> Any:
    command = [python, __file__, options.root, "--child", name, "--job", job]
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    done = subprocess.run(
        [*command, "--threads", str(options.threads)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no output"
        print(f"{name} ({job}) left out: {reason}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def chart(results: dict[str, dict[str, float]], target: str) -> None:
    """A bar chart of the rates."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(reversed(results))
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 0.5 * len(names) + 1.2), sharey=True)
    for axis, job in zip(axes, ("eval", "train"), strict=True):
        rates = [results[name].get(job, 0.0) for name in names]
        colors = ["#c0392b" if name == "daliesque" else "#95a5a6" for name in names]
        bars = axis.barh(names, rates, color=colors)
        axis.bar_label(bars, [f"{rate:.0f}" if rate else "" for rate in rates], padding=3)
        axis.set_title(f"{job}: images per second")
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0.15)
    figure.tight_layout()
    figure.savefig(target, dpi=110)


def main() -> None:
    global THREADS
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--reference", help="a Python interpreter with the reference installed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chart", help="write a bar chart to this PNG")
    parser.add_argument("--modes", action="store_true", help="compare our own modes")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    THREADS = options.threads
    if options.child:
        measure = mode_child if options.child in MODES else child
        measure(options.child, options.root, options.job)
        return
    if options.modes:
        compare_modes(options)
        return
    names = [n for n, (foreign, _) in CONTESTANTS.items() if options.reference or not foreign]
    found: dict[tuple[str, str], list[Any]] = {}
    for _ in range(options.rounds):
        for job in ("eval", "train"):
            for name in names:
                if name.startswith("libjpeg") and job == "train":
                    continue
                python = options.reference if CONTESTANTS[name][0] else sys.executable
                result = run_child(python, name, options, job)
                if result is not None:
                    found.setdefault((name, job), []).append(result)
    names = [name for name in names if any(key[0] == name for key in found)]
    report(names, found)
    if options.chart:
        rates = {
            name: {
                job: statistics.median(r["rate"] for r in found[name, job])
                for job in ("eval", "train")
                if (name, job) in found
            }
            for name in names
        }
        chart(rates, options.chart)


def report(names: list[str], found: dict[tuple[str, str], list[Any]]) -> None:
    for job in ("eval", "train"):
        print(f"\n{job:28s} {'images/s':>9s} {'ours is':>8s} {'first batch':>12s} {'peak MB':>8s}")
        ours = statistics.median(r["rate"] for r in found["daliesque", job])
        for name in names:
            results = found.get((name, job))
            if results:
                rate, first, peak = (
                    statistics.median(r[key] for r in results) for key in ("rate", "first", "peak")
                )
                print(f"{name:28s} {rate:9.0f} {ours / rate:7.2f}x {first:10.2f} s {peak:8.0f}")


if __name__ == "__main__":
    main()
