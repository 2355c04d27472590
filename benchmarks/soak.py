# SPDX-License-Identifier: Apache-2.0
"""Small calls and epochs of a reader from four threads: memory, threads and files stay as many.

    python benchmarks/soak.py [CALLS]
    python benchmarks/soak.py --hours 8

Exits with an error if the resident memory grows by more than 20 MB after a warm-up of a tenth, or
if threads or open files are left behind.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import daliesque as ndd

THREADS = 4
LIMIT_MB = 20.0


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def work(calls: int, seed: int) -> None:
    rng = ndd.random.RNG(seed=seed)
    images = ndd.batch([np.zeros((8, 8, 3), np.uint8)] * 4, layout="HWC")
    for k in range(calls // 5):
        shifted = images + k % 7
        noise = ndd.random.uniform(batch_size=4, rng=rng)
        scaled = ndd.cast(shifted, dtype=ndd.float32) * noise
        if k % 3 == 0:
            with ndd.EvalMode.deferred:
                scaled = scaled + 1
        if k % 5 == 0:
            scaled.evaluate()
        else:
            ndd.copy(images)


def run(calls: int) -> None:
    threads = [threading.Thread(target=work, args=(calls // THREADS, k)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def read(folder: Path) -> None:
    """Epochs of a reader, some of them left early, some files damaged."""
    for seed in range(4):
        reader = ndd.readers.File(
            file_root=folder, random_shuffle=True, seed=seed, on_error="skip", pad_last_batch=True
        )
        for step, (files, _) in enumerate(reader.next_epoch(batch_size=8)):
            ndd.resize(ndd.decoders.image(files), size=[8, 8]).evaluate()
            if seed % 2 and step == 3:
                break


def write_files(folder: Path) -> None:
    (folder / "0").mkdir()
    for number in range(64):
        content = b"P5 16 16 255 " + bytes([number]) * (256 if number % 16 else 9)
        (folder / "0" / f"{number}.pgm").write_bytes(content)


def resources() -> tuple[float, int, int]:
    """Resident megabytes, threads and open files."""
    return resident_mb(), threading.active_count(), len(os.listdir("/proc/self/fd"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--hours", type=float, default=None)
    options = parser.parse_args()
    rounds = 0
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name))
        run(options.calls // 10)
        read(Path(name))
        before, begin = resources(), time.monotonic()
        while rounds == 0 or (
            options.hours is not None and time.monotonic() - begin < 3600 * options.hours
        ):
            run(options.calls if options.hours is None else 100_000)
            read(Path(name))
            rounds += 1
        after = resources()
    calls = options.calls if options.hours is None else 100_000 * rounds
    print(f"{calls} calls from {THREADS} threads and {4 * rounds} epochs, resident MB, threads and")
    print(f"open files: {before} before, {after} after {time.monotonic() - begin:.0f} s")
    print(ndd.memory())
    if after[0] - before[0] > LIMIT_MB:
        sys.exit(f"memory grew by {after[0] - before[0]:.1f} MB")
    if after[1] > before[1] or after[2] > before[2]:
        sys.exit("threads or files were left behind")


if __name__ == "__main__":
    main()
