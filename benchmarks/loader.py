# SPDX-License-Identifier: Apache-2.0
"""Images per second from a folder of JPEGs to training batches, against the peers.

    python benchmarks/loader.py ROOT [--threads 2] [--reference PYTHON] [--rounds 5] [--chart FILE]
    python benchmarks/loader.py ROOT --modes

The jobs and the contestants are those of `python -m daliesque bench`, in the images of a folder as
they are. Contestants whose library is missing are left out. `--reference` is a Python interpreter
with the reference installed.

`--modes` compares our own ways to run the same loop instead: eager and deferred calls, capture, and
`prefetch`; with a consumer that does nothing, and with one that is busy as long as a batch takes:
"busy" is the time of the whole relative to the larger of the two, which would take 1 if loading and
consuming overlapped perfectly, and 2 if one always waited for the other.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

from daliesque._cli.bench.chart import draw_chart
from daliesque._cli.bench.contestants import JOBS, Task, image_paths, imperative, peak_mb
from daliesque._cli.bench.measuring import available, compete, table

BATCH = 64
SECONDS = 2.0
# How many epochs one loop has, if our own modes are compared.
PASSES = 5
# Our own ways to run the loop.
MODES = ("eager", "deferred", "capture", "prefetch")


def mode_child(mode: str, task: Task) -> None:
    """Measure one of our own modes, with a consumer that does nothing and with a busy one."""
    importlib.import_module("torch")
    # The first batch is never loaded ahead: loops are long, however small the folder is.
    epoch = imperative(task, "daliesque", mode == "capture", mode, PASSES)
    steps = sum(1 for _ in epoch())
    images = len(image_paths(task.root)) * PASSES
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
    rate, peak = epochs * images / seconds, peak_mb(task.threads)
    print(json.dumps({"rate": rate, "cpu": cpu * 1e6, "busy": busy, "peak": peak}))


def run_mode(mode: str, options: argparse.Namespace, job: str) -> Any:
    """What one of our own modes achieves in a process of its own."""
    command = [sys.executable, __file__, options.root, "--child", mode, "--job", job]
    environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads)}
    done = subprocess.run(
        [*command, "--threads", str(options.threads)],
        capture_output=True,
        check=True,
        text=True,
        env=environment,
    )
    return json.loads(done.stdout.splitlines()[-1])


def compare_modes(options: argparse.Namespace) -> None:
    """Run our own modes, one after the other, round after round."""
    found: dict[tuple[str, str], list[Any]] = {}
    for _ in range(options.rounds):
        for job in JOBS:
            for mode in MODES:
                found.setdefault((mode, job), []).append(run_mode(mode, options, job))
    for job in JOBS:
        titles = ("images/s", "of eager", "CPU us", "busy", "peak MB")
        print("\n{:10s} {:>9s} {:>9s} {:>7s} {:>6s} {:>8s}".format(job, *titles))
        for mode in MODES:
            results = found[mode, job]
            rate, cpu, busy, peak = (
                statistics.median(r[key] for r in results)
                for key in ("rate", "cpu", "busy", "peak")
            )
            # Of each round by itself: the machine may be slower in one than in another.
            pairs = zip(results, found["eager", job], strict=True)
            ratio = statistics.median(ours["rate"] / eager["rate"] for ours, eager in pairs)
            print(f"{mode:10s} {rate:9.0f} {ratio:8.2f}x {cpu:7.0f} {busy:5.2f}x {peak:8.0f}")


def main() -> None:
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
    if options.child:
        mode_child(options.child, Task(options.root, options.job, options.threads, BATCH))
        return
    if options.modes:
        compare_modes(options)
        return
    names, missing = available(options.reference)
    results = compete(
        names,
        options.root,
        threads=options.threads,
        batch=BATCH,
        seconds=SECONDS,
        rounds=options.rounds,
        reference=options.reference,
    )
    for name, reason in {**missing, **results.left_out}.items():
        print(f"{name} left out: {reason}", file=sys.stderr)
    print(table(results))
    if options.chart:
        count = len(image_paths(options.root))
        draw_chart(
            results.rates(), f"{count} photographs, {options.threads} threads", options.chart
        )


if __name__ == "__main__":
    main()
