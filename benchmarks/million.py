# SPDX-License-Identifier: Apache-2.0
"""A million records: how long opening takes, how much memory, and whether both stay as they are.

    python benchmarks/million.py [--samples 1000000] [NAME ...]

Each row runs in a process of its own and shows the seconds until the reader is open and the most
memory until then, Python and libraries included; then the memory after a tenth, half and all of an
epoch, and the samples per second in its first and its last tenth. Exits with an error if opening
takes more than 2 s or 300 MB, or if the memory grows after the first tenth by more than 20 MB.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from soak import resident_mb

import daliesque as ndd

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support import record_files

BATCH_SIZE = 64
MOST_SECONDS, MOST_MB, MOST_GROWTH_MB = 2.0, 300.0, 20.0
# In an archive there is a header before each file, and each begins with a block of its own.
IMAGE, LABEL, BLOCK = 1000, 1, 512
STRIDE = 5 * BLOCK


def peak_mb() -> float:
    """The most memory that this process had so far."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024 / 1e6


def write_tfrecord(root: Path, samples: int) -> None:
    """A file with the same small record again and again, and its index."""
    contents = {"image": [bytes(100)], "label": [7]}
    record = record_files.record(record_files.example(contents))
    with open(root / "data.tfrecord", "wb") as file:
        for begin in range(0, samples, 1000):
            file.write(record * min(1000, samples - begin))
    size = len(record)
    lines = "".join(f"{k * size} {size}\n" for k in range(samples))
    (root / "data.tfrecord.idx").write_text(lines)


def write_tar(root: Path, samples: int) -> None:
    """The index of an archive, which consists of one hole."""
    with open(root / "data.tar", "wb") as file:
        file.truncate(samples * STRIDE)
    with open(root / "data.tar.idx", "w") as index:
        index.write(f"v1.2 {samples}\n")
        for k in range(samples):
            offset = k * STRIDE + BLOCK
            image = f"jpg {offset} {IMAGE} {k:07d}.jpg"
            index.write(f"{image} cls {offset + 3 * BLOCK} {LABEL} {k:07d}.cls\n")


def tfrecord(root: Path, index: bool = True, **options: Any) -> Any:
    """A reader of the records."""
    features = {
        "image": ndd.tfrecord.FixedLenFeature([], ndd.tfrecord.string, ""),
        "label": ndd.tfrecord.FixedLenFeature([1], ndd.tfrecord.int64, 0),
    }
    index_path = root / "data.tfrecord.idx" if index else None
    return ndd.readers.TFRecord(
        path=root / "data.tfrecord", index_path=index_path, features=features, **options
    )


def webdataset(root: Path, **options: Any) -> Any:
    """A reader of the archive."""
    files = {"paths": root / "data.tar", "index_paths": root / "data.tar.idx"}
    return ndd.readers.Webdataset(**files, ext=["jpg", "cls"], **options)


ROWS: dict[str, Callable[[Path, int], Any]] = {
    "TFRecord": lambda root, _: tfrecord(root),
    "TFRecord shuffled": lambda root, _: tfrecord(root, random_shuffle=True),
    "TFRecord permuted": lambda root, n: tfrecord(root, random_shuffle=True, initial_fill=n),
    "TFRecord without index": lambda root, _: tfrecord(root, index=False),
    "Webdataset": lambda root, _: webdataset(root),
    "Webdataset shuffled": lambda root, _: webdataset(root, random_shuffle=True),
    "Webdataset permuted": lambda root, n: webdataset(root, random_shuffle=True, initial_fill=n),
}


def run(name: str, root: Path, samples: int) -> None:
    """Open one of the readers, read an epoch, and print a line."""
    start = time.perf_counter()
    reader = ROWS[name](root, samples)
    opened, opened_mb = time.perf_counter() - start, peak_mb()
    tenth = samples // 10
    memory, times, seen = [], [time.perf_counter()], 0
    for _ in reader.next_epoch(batch_size=BATCH_SIZE):
        seen += BATCH_SIZE
        if seen >= (len(memory) + 1) * tenth and len(memory) < 10:
            memory.append(resident_mb())
            times.append(time.perf_counter())
    rates = [tenth / (end - begin) for begin, end in itertools.pairwise(times)]
    cells = [opened_mb, memory[0], memory[4], memory[9], rates[0], rates[9]]
    print(f"{name:24s}{opened:8.2f}" + "".join(f"{cell:10.0f}" for cell in cells), flush=True)
    if opened > MOST_SECONDS or opened_mb > MOST_MB or memory[9] - memory[0] > MOST_GROWTH_MB:
        sys.exit(f"{name}: a limit is exceeded")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(ROWS))
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.root:
        run(options.names[0], options.root, options.samples)
        return
    titles = ["MB", "MB 10%", "MB 50%", "MB 100%", "first /s", "last /s"]
    print(f"{'':24s}{'open s':>8s}" + "".join(f"{title:>10s}" for title in titles), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        write_tfrecord(Path(folder), options.samples)
        write_tar(Path(folder), options.samples)
        for path in Path(folder).iterdir():
            with open(path, "rb") as file:
                while file.read(1 << 24):
                    pass
        statuses = []
        for name in options.names:
            command = [sys.executable, __file__, name, "--samples", str(options.samples)]
            statuses.append(subprocess.run([*command, "--root", folder], check=False).returncode)
    sys.exit(any(statuses))


if __name__ == "__main__":
    main()
