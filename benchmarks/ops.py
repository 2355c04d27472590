# SPDX-License-Identifier: Apache-2.0
"""Every operator against the reference: milliseconds for a batch, and the ratio.

    python benchmarks/ops.py --reference PYTHON [--threads 2] [--rounds 5] [NAME ...]

Two processes, one with each library, take turns on each operator; the table shows medians. Inputs
are in `op_rows.py`: mostly 32 images of 512x512x3. Operators that one of the libraries lacks on the
CPU are listed at the end.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import statistics
import subprocess
import sys
import time
from typing import Any

from op_rows import ROWS

LEAST_SECONDS = 0.08


def serve(module: str, threads: int) -> None:
    """Answer requests on standard input: an operator's name, then a line with its time."""
    ndd: Any = importlib.import_module(module)
    ndd.set_num_threads(threads)
    prepared: dict[str, Any] = {}
    for line in sys.stdin:
        name = line.strip()
        try:
            make, call = ROWS[name]
            if name not in prepared:
                prepared.clear()
                prepared[name] = make(ndd)
            answer = {"seconds": measure(lambda: call(ndd, *prepared[name]))}  # noqa: B023
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error)[:100]}"}
        print(json.dumps(answer), flush=True)


def measure(call: Any) -> float:
    """Seconds for a call, each waited for."""

    def once() -> None:
        result = call()
        for part in result if isinstance(result, tuple) else (result,):
            part.evaluate()

    once()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < LEAST_SECONDS or count < 2:
        once()
        count += 1
    return (time.perf_counter() - start) / count


class Library:
    """A process with one of the libraries."""

    def __init__(self, python: str, module: str, threads: int) -> None:
        command = [python, __file__, "--serve", module, "--threads", str(threads)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, name: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="operators to measure; all by default")
    parser.add_argument("--reference", help="a Python interpreter with the reference installed")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.threads)
        return
    libraries = [Library(sys.executable, "daliesque", options.threads)]
    if options.reference:
        module = "nvidia.dali.experimental.dynamic"
        libraries.append(Library(options.reference, module, options.threads))
    print(f"{'ms per batch':34s} {'daliesque':>10s} {'reference':>10s} {'ratio':>7s}")
    ratios, missing = [], []
    for name in options.names or ROWS:
        times: list[list[float]] = [[] for _ in libraries]
        errors = []
        for _ in range(options.rounds):
            for library, found in zip(libraries, times, strict=True):
                answer = library.ask(name)
                if "error" in answer:
                    errors.append(answer["error"])
                else:
                    found.append(answer["seconds"] * 1e3)
            if errors:
                break
        if errors:
            missing.append(f"{name}: {errors[0]}")
            continue
        medians = [statistics.median(found) for found in times]
        line = f"{name:34s} " + " ".join(f"{median:10.2f}" for median in medians)
        if len(medians) == 2:
            ratios.append(medians[1] / medians[0])
            line += f" {ratios[-1]:7.2f}"
        print(line, flush=True)
    if ratios:
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
        slower = sum(ratio < 1 for ratio in ratios)
        print(f"geometric mean {mean:.2f} over {len(ratios)}; {slower} slower than the reference")
    for line in missing:
        print("not compared:", line)


if __name__ == "__main__":
    main()
