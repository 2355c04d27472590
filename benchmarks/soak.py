# SPDX-License-Identifier: Apache-2.0
"""A million small calls from four threads: memory must stay flat.

    python benchmarks/soak.py [CALLS]

Exits with an error if the resident memory grows by more than 20 MB after a warm-up of a tenth.
"""

from __future__ import annotations

import os
import sys
import threading
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


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    run(calls // 10)
    before = resident_mb()
    run(calls)
    after = resident_mb()
    print(f"{calls} calls from {THREADS} threads: {before:.1f} MB before, {after:.1f} MB after")
    print(ndd.memory())
    if after - before > LIMIT_MB:
        sys.exit(f"memory grew by {after - before:.1f} MB")


if __name__ == "__main__":
    main()
