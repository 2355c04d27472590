# SPDX-License-Identifier: Apache-2.0
"""What a call costs, apart from its work.

    python benchmarks/overhead.py [--reference PYTHON] [--after-gpu]
    python benchmarks/overhead.py --before PYTHON [--images FOLDER]

Prints microseconds for each of a few calls on a batch of four 8x8x3 images (medians of rounds), and
the time `import` takes. With `--reference`, the same program also runs under a Python that has the
reference installed, in alternation, and both are shown side by side.

With `--after-gpu`, calls on the CPU are measured before and after the program has used a gpu, in
the same process, in CPU time; torch's CPU device stands in for one.

With `--before`, the same is measured under a Python that has another version of this library, in
alternation, in CPU time: what a change costs, such as the counters of `ndd.report()`, which are
always on. With `--images`, so is a loop over a folder of images: decode, resize, normalize.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

CALLS = 2000
ROUNDS = 5
# How often two versions are run, and how often each goes over a folder then.
PAIRS = 9
EPOCHS = 6

Clock: TypeAlias = Callable[[], float]


def per_call(function: Callable[[], Any], calls: int, clock: Clock) -> float:
    """Microseconds for a call, waiting for the last result only."""
    for _ in range(max(10, calls // 10)):
        result = function()
    result.evaluate()
    start = clock()
    for _ in range(calls):
        result = function()
    result.evaluate()
    return (clock() - start) / calls * 1e6


def measure(module: str, calls: int, clock: Clock = time.perf_counter) -> dict[str, float]:
    """One round with one of the two libraries."""
    import numpy as np

    ndd: Any = importlib.import_module(module)
    images = [np.zeros((8, 8, 3), np.uint8)] * 4
    batch = ndd.batch(images, layout="HWC")
    times = {
        "flip, eager": per_call(lambda: ndd.flip(batch), calls, clock),
        "flip and read": per_call(lambda: ndd.flip(batch).evaluate(), calls, clock),
        "a + 1": per_call(lambda: batch + 1, calls, clock),
        "random.uniform": per_call(lambda: ndd.random.uniform(batch_size=4), calls, clock),
        "batch([...])": per_call(lambda: ndd.batch(images), calls, clock),
    }
    with ndd.EvalMode.sync_cpu:
        times["flip, sync_cpu"] = per_call(lambda: ndd.flip(batch), calls, clock)
    with ndd.EvalMode.deferred:
        start = clock()
        kept = [ndd.flip(batch) for _ in range(calls)]
        times["flip, deferred, not run"] = (clock() - start) / calls * 1e6
        del kept
    return times


def use_gpu() -> None:
    """Load all that belongs to a gpu, and run something on it."""
    import numpy as np

    import daliesque as ndd

    images = ndd.batch(np.zeros((4, 8, 8, 3), np.uint8), layout="HWC")
    (ndd.flip(images.gpu()) + 1).cpu().evaluate()


def before_and_after(calls: int) -> dict[str, tuple[float, float]]:
    """The fastest of some rounds before and after the use of a gpu, for each kind of call."""
    # Both find the same objects in memory, no search of them for garbage falls into either at
    # random, and other programs disturb neither much.
    importlib.import_module("torch")
    gc.disable()

    def rounds() -> list[dict[str, float]]:
        made = []
        for _ in range(ROUNDS):
            made.append(measure("daliesque", calls, time.process_time))
            gc.collect()
        return made

    before = rounds()
    use_gpu()
    after = rounds()
    return {
        name: (min(times[name] for times in before), min(times[name] for times in after))
        for name in before[0]
    }


def compare_after_gpu(calls: int) -> None:
    """Print what calls on the CPU cost before and after the use of a gpu."""
    command = [sys.executable, __file__, "--child-after-gpu", "--calls", str(calls)]
    environment = {**os.environ, "DALIESQUE_GPU": "cpu"}
    rounds: list[dict[str, tuple[float, float]]] = []
    for _ in range(ROUNDS):
        done = subprocess.run(command, capture_output=True, check=True, env=environment)
        rounds.append(json.loads(done.stdout.splitlines()[-1]))
    print(f"{'us per call':26s} {'before':>10s} {'after gpu':>10s} {'ratio':>7s}")
    for name in rounds[0]:
        before, after = (statistics.median(times[name][k] for times in rounds) for k in (0, 1))
        ratio = statistics.median(times[name][1] / times[name][0] for times in rounds)
        print(f"{name:26s} {before:10.2f} {after:10.2f} {ratio:7.3f}")


def fastest(calls: int) -> dict[str, float]:
    """Each kind of call in CPU time, the fastest of some rounds."""
    gc.disable()
    rounds = [measure("daliesque", calls, time.process_time) for _ in range(ROUNDS)]
    return {name: min(times[name] for times in rounds) for name in rounds[0]}


def loop_over(folder: str) -> float:
    """CPU microseconds for an image of the usual loop: the fastest of some epochs."""
    import daliesque as ndd

    ndd.set_num_threads(2)
    reader = ndd.readers.File(file_root=folder)
    best = float("inf")
    for _ in range(EPOCHS):
        begin, count = time.process_time(), 0
        for jpegs, _labels in reader.next_epoch(batch_size=50):
            images = ndd.resize(ndd.decoders.image(jpegs), size=[224, 224])
            images = ndd.crop_mirror_normalize(images, mean=[124.0] * 3, std=[58.0] * 3)
            images.evaluate()
            count += len(jpegs)
        best = min(best, (time.process_time() - begin) / count * 1e6)
    return best


def compare_with(before: str, folder: str | None, calls: int) -> None:
    """Print what calls, and a loop, cost with another version of the library and with this one."""
    rounds: dict[str, list[dict[str, float]]] = {before: [], sys.executable: []}
    for _ in range(PAIRS):
        for python, found in rounds.items():
            command = [python, __file__, "--child-fastest", "--calls", str(calls)]
            command += ["--images", folder] if folder else []
            done = subprocess.run(command, capture_output=True, check=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
    print(f"{'CPU us':26s} {'before':>10s} {'after':>10s} {'more':>8s} {'share':>8s}")
    for name in rounds[before][0]:
        # Whatever disturbs a run makes it slower: the lower quartile is least disturbed.
        old, new = (
            statistics.quantiles([times[name] for times in found], n=4)[0]
            for found in rounds.values()
        )
        print(f"{name:26s} {old:10.3f} {new:10.3f} {new - old:+8.3f} {new / old - 1:+8.2%}")


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
    parser.add_argument("--after-gpu", action="store_true", help="before and after using a gpu")
    parser.add_argument("--before", help="a Python interpreter with another version installed")
    parser.add_argument("--images", help="a folder of images, in folders for classes")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--child-after-gpu", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--child-fastest", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--calls", type=int, default=CALLS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child, options.calls)))
        return
    if options.child_after_gpu:
        print(json.dumps(before_and_after(options.calls)))
        return
    if options.child_fastest:
        times = fastest(options.calls)
        if options.images:
            times["image of a loop"] = loop_over(options.images)
        print(json.dumps(times))
        return
    if options.after_gpu:
        compare_after_gpu(options.calls)
        return
    if options.before:
        compare_with(options.before, options.images, options.calls)
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
