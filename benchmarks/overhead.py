# SPDX-License-Identifier: Apache-2.0
"""What a call costs, apart from its work.

    python benchmarks/overhead.py [--reference PYTHON]

Prints microseconds for each of a few calls on a batch of four 8x8x3 images (medians of rounds), and
the time `import` takes. With `--reference`, the same program also runs under a Python that has the
reference installed, in alternation, and both are shown side by side.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

CALLS = 2000
ROUNDS = 5


def per_call(function: Callable[[], Any], calls: int) -> float:
    """Microseconds for a call, waiting for the last result only."""
    for _ in range(max(10, calls // 10)):
        result = function()
    result.evaluate()
    start = time.perf_counter()
    for _ in range(calls):
        result = function()
    result.evaluate()
    return (time.perf_counter() - start) / calls * 1e6


def measure(module: str, calls: int) -> dict[str, float]:
    """One round with one of the two libraries."""
    import importlib

    import numpy as np

    ndd: Any = importlib.import_module(module)
    images = [np.zeros((8, 8, 3), np.uint8)] * 4
    batch = ndd.batch(images, layout="HWC")
    times = {
        "flip, eager": per_call(lambda: ndd.flip(batch), calls),
        "flip and read": per_call(lambda: ndd.flip(batch).evaluate(), calls),
        "a + 1": per_call(lambda: batch + 1, calls),
        "random.uniform": per_call(lambda: ndd.random.uniform(batch_size=4), calls),
        "batch([...])": per_call(lambda: ndd.batch(images), calls),
    }
    with ndd.EvalMode.sync_cpu:
        times["flip, sync_cpu"] = per_call(lambda: ndd.flip(batch), calls)
    with ndd.EvalMode.deferred:
        start = time.perf_counter()
        kept = [ndd.flip(batch) for _ in range(calls)]
        times["flip, deferred, not run"] = (time.perf_counter() - start) / calls * 1e6
        del kept
    return times


def import_seconds(python: str, module: str) -> float:
    """Seconds that a fresh interpreter needs for the import."""
    program = (
        f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    )
    return float(subprocess.run([python, "-c", program], capture_output=True, check=True).stdout)


def child(python: str, module: str, calls: int) -> dict[str, float]:
    """A round in a process of its own."""
    command = [python, __file__, "--child", module, "--calls", str(calls)]
    done = subprocess.run(command, capture_output=True, check=True)
    times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    times["import (us)"] = import_seconds(python, module) * 1e6
    return times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--reference", help="a Python interpreter with the reference installed")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=int, default=CALLS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child, options.calls)))
        return
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(child(sys.executable, "daliesque", options.calls))
        if options.reference:
            module = "nvidia.dali.experimental.dynamic"
            theirs.append(child(options.reference, module, options.calls // 10))
    print(
        f"{'us per call':26s} {'daliesque':>10s}"
        + (f" {'reference':>10s} {'ratio':>7s}" * bool(theirs))
    )
    for name in ours[0]:
        mine = statistics.median(times[name] for times in ours)
        line = f"{name:26s} {mine:10.1f}"
        if theirs:
            other = statistics.median(times[name] for times in theirs)
            line += f" {other:10.1f} {other / mine:7.1f}"
        print(line)


if __name__ == "__main__":
    main()
