# SPDX-License-Identifier: Apache-2.0
"""Video against the reference and against a plain PyAV loop: frames per second, and the ratios.

    python benchmarks/video.py FOLDER [ROW ...] [--reference PYTHON] [--threads 2] [--rounds 5]

FOLDER holds videos. They are first converted to VP9 and Motion JPEG, which is what the reference
decodes on a CPU. Processes, one for each library, alternate; the table shows medians. The PyAV
loop runs on as many threads: over whole files, or for clips in random order and clips with gaps,
from the nearest keyframe on. It converts each frame with PyAV's default, which is less exact than
what both libraries do.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

LEAST_SECONDS = 1.0
FRAMES = 120
CLIP = 16


def convert(source: Path, target: Path, codec: str, options: dict[str, str]) -> None:
    """The first frames of a video in another codec."""
    import av

    with av.open(source) as opened, av.open(target, "w") as output:
        stream = output.add_stream(codec, rate=25, options=options)
        first = opened.streams.video[0]
        stream.width, stream.height = first.width // 2 * 2, first.height // 2 * 2
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        for number, frame in enumerate(opened.decode(first)):
            if number == FRAMES:
                break
            fresh = frame.reformat(stream.width, stream.height, stream.pix_fmt)
            fresh.pts, fresh.time_base = number, Fraction(1, 25)
            output.mux(stream.encode(fresh))
        output.mux(stream.encode(None))


def prepare(folder: Path, target: Path) -> None:
    """Folders of files for each codec."""
    sources = sorted(path for path in folder.iterdir() if path.suffix in {".mp4", ".avi", ".mkv"})
    fast = {"deadline": "realtime", "cpu-used": "8", "g": "60"}
    for name, codec, ending, options in (
        ("vp9", "libvpx-vp9", ".webm", fast),
        ("mjpeg", "mjpeg", ".avi", {}),
    ):
        (target / name).mkdir()
        for source in sources:
            convert(source, target / name / (source.stem + ending), codec, options)
    (target / "given").mkdir()
    for source in sources:
        (target / "given" / source.name).symlink_to(source.resolve())


Run = Callable[[], int]


def decoder(ndd: Any, names: list[str], threads: int) -> Run:
    """All frames of files in memory."""
    if ndd is None:
        return loop(names, threads)
    batch = ndd.as_batch([np.fromfile(name, np.uint8) for name in names])

    def run() -> int:
        return sum(shape[0] for shape in ndd.decoders.video(batch).evaluate().shape)

    return run


def loop(names: list[str], threads: int) -> Run:
    """A plain loop for each file."""
    import av

    def decode(name: str) -> int:
        count = 0
        with av.open(name) as file:
            stream = file.streams.video[0]
            stream.thread_count = 1
            for frame in file.decode(stream):
                frame.to_ndarray(format="rgb24")
                count += 1
        return count

    def run() -> int:
        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(decode, names))

    return run


def clip_loop(names: list[str], threads: int, shuffled: bool, stride: int) -> Run:
    """A plain loop for each clip. It knows the times of the frames beforehand."""
    import av

    clips = []
    for name in names:
        with av.open(name) as file:
            stamps = sorted(p.pts for p in file.demux(file.streams.video[0]) if p.pts is not None)
        starts = range(0, len(stamps) - CLIP * stride + 1, CLIP)
        clips += [(name, stamps[start : start + CLIP * stride : stride]) for start in starts]

    def decode(clip: tuple[str, list[int]]) -> int:
        name, stamps = clip
        wanted = set(stamps)
        with av.open(name) as file:
            stream = file.streams.video[0]
            stream.thread_count = 1
            file.seek(stamps[0], stream=stream)
            for frame in file.decode(stream):
                if frame.pts in wanted:
                    frame.to_ndarray(format="rgb24")
                    wanted.remove(frame.pts)
                    if not wanted:
                        break
        return len(stamps)

    def run() -> int:
        order = random.sample(clips, len(clips)) if shuffled else clips
        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(decode, order))

    return run


def reader(**options: Any) -> Callable[[Any, list[str], int], Run]:
    """Clips of files."""

    def make(ndd: Any, names: list[str], threads: int) -> Run:
        if ndd is None:
            shuffled, stride = options.get("random_shuffle", False), options.get("stride", 1)
            plain = not shuffled and stride == 1
            return loop(names, threads) if plain else clip_loop(names, threads, shuffled, stride)
        source = ndd.experimental.readers.Video(filenames=names, sequence_length=CLIP, **options)

        def run() -> int:
            count = 0
            for (frames,) in source.next_epoch(batch_size=4):
                frames.evaluate()
                count += 4 * CLIP
            return count

        return run

    return make


# Codec and how to make what is measured.
ROWS: dict[str, tuple[str, Callable[[Any, list[str], int], Run]]] = {
    "decoder vp9": ("vp9", decoder),
    "decoder mjpeg": ("mjpeg", decoder),
    "reader vp9": ("vp9", reader()),
    "reader vp9 shuffled": ("vp9", reader(random_shuffle=True)),
    "reader vp9 stride 4": ("vp9", reader(stride=4, step=CLIP)),
    "reader mjpeg": ("mjpeg", reader()),
    "reader mjpeg shuffled": ("mjpeg", reader(random_shuffle=True)),
    "decoder given": ("given", decoder),
    "reader given": ("given", reader()),
    "reader given shuffled": ("given", reader(random_shuffle=True)),
}


def serve(module: str, folder: Path, threads: int) -> None:
    """Answer requests on standard input: a row's name, then a line with its rate, or null."""
    ndd: Any = None if module == "plain" else importlib.import_module(module)
    if ndd is not None:
        ndd.set_num_threads(threads)
    runs: dict[str, Run] = {}
    for line in sys.stdin:
        name = line.strip()
        codec, make = ROWS[name]
        if module.startswith("nvidia") and codec == "given":
            print("null", flush=True)
            continue
        if name not in runs:
            runs[name] = make(ndd, sorted(map(str, (folder / codec).iterdir())), threads)
        frames, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < LEAST_SECONDS:
            frames += runs[name]()
        print(json.dumps(frames / elapsed), flush=True)


class Library:
    """A process with one of the libraries."""

    def __init__(self, python: str, module: str, folder: str, threads: int) -> None:
        command = [python, __file__, folder, "--serve", module, "--threads", str(threads)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, name: str) -> float:
        """The rate of a row; not a number if the library cannot do it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        rate = json.loads(self.process.stdout.readline())
        return float("nan") if rate is None else rate


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(ROWS))
    parser.add_argument("--reference", help="a Python that has the reference installed")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.folder, options.threads)
        return
    with tempfile.TemporaryDirectory() as target:
        prepare(options.folder, Path(target))
        modules = {"daliesque": (sys.executable, "daliesque"), "PyAV": (sys.executable, "plain")}
        if options.reference:
            modules["reference"] = (options.reference, "nvidia.dali.experimental.dynamic")
        libraries = [Library(*call, target, options.threads) for call in modules.values()]
        print(f"{'frames/s':24s}" + "".join(f"{name:>12s}" for name in modules) + "      ratios")
        for name in options.names:
            for library in libraries:
                library.ask(name)
            rates = [[library.ask(name) for library in libraries] for _ in range(options.rounds)]
            medians = [statistics.median(column) for column in zip(*rates, strict=True)]
            ratios = "".join(f"{medians[0] / other:8.2f}" for other in medians[1:])
            print(f"{name:24s}" + "".join(f"{rate:12.0f}" for rate in medians) + ratios)


if __name__ == "__main__":
    main()
