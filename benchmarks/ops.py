# SPDX-License-Identifier: Apache-2.0
"""Every operator against the reference: milliseconds for a batch, and the ratio.

    python benchmarks/ops.py --reference PYTHON [--threads 2] [--rounds 5] [--save FILE] [NAME ...]
    python benchmarks/ops.py --before PYTHON [NAME ...]
    python benchmarks/ops.py --device gpu [NAME ...]

Two processes, one with each library, alternate on each operator; the table shows medians. Inputs
are in `rows/operators.py` (mostly 32 images of 512x512x3) and `rows/audio.py`. An operator that
the reference has only on the GPU has no ratio. With `--device gpu`, inputs are on the accelerator
and each call is waited for; the reference, if given, uses its own. At the end: the geometric mean
of the ratios, what is slower than the reference or nearly so, and what failed. With `--before`, the
other process has another version of this library instead: what a change costs or gains.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rows import audio, operators

ROWS = operators.ROWS | audio.ROWS
LEAST_SECONDS = 0.08


def serve(module: str, threads: int, device: str) -> None:
    """Answer requests on standard input: an operator's name, then a line with its time."""
    ndd: Any = importlib.import_module(module)
    ndd.set_num_threads(threads)

    def prepare(make: Any) -> Any:
        inputs = make(ndd)
        if device == "cpu":
            return inputs
        return [part.gpu() if isinstance(part, ndd.Batch | ndd.Tensor) else part for part in inputs]

    # An accelerator goes on working after the result of a call is there.
    mode = ndd.EvalMode.eager if device == "cpu" else ndd.EvalMode.sync_full
    prepared: dict[str, Any] = {}
    for line in sys.stdin:
        name = line.strip()
        answer: dict[str, Any]
        try:
            make, call = ROWS[name]
            if name not in prepared:
                prepared.clear()
                prepared[name] = prepare(make)
            answer = {"seconds": measure(lambda: call(ndd, *prepared[name]), mode)}  # noqa: B023
            answer |= describe(call(ndd, *prepared[name]), prepared[name])
        except Exception as error:
            text = " ".join(str(error.__cause__ or error).split())[:100]
            answer = {"error": f"{type(error).__name__}: {text}"}
        print(json.dumps(answer), flush=True)


def describe(result: Any, inputs: Any) -> dict[str, Any]:
    """How many samples there are, and the shape of one of the first input, or of the result."""
    outputs = result if isinstance(result, tuple) else (result,)
    for part in (*inputs, *outputs):
        if hasattr(part, "batch_size"):
            return {"samples": part.batch_size, "shape": list(part.shape[0])}
    return {}


def measure(call: Any, mode: Any) -> float:
    """Seconds for a call, each waited for."""

    def once() -> None:
        with mode:
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

    def __init__(self, python: str, module: str, threads: int, device: str) -> None:
        # What the last operator was called with.
        self.described: dict[str, Any] = {}
        command = [python, __file__, "--serve", module, "--threads", str(threads)]
        command += ["--device", device]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, name: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        self.described = {key: answer[key] for key in ("samples", "shape") if key in answer}
        return answer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="operators, or patterns of names; all by default")
    parser.add_argument("--reference", help="a Python interpreter with the reference installed")
    parser.add_argument("--before", help="one with another version of this library instead")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--save", type=Path, help="a JSON file for the results")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.threads, options.device)
        return
    libraries = [Library(sys.executable, "daliesque", options.threads, options.device)]
    other = "reference"
    if options.reference:
        module = "nvidia.dali.experimental.dynamic"
        libraries.append(Library(options.reference, module, options.threads, options.device))
    elif options.before:
        other = "before"
        libraries.append(Library(options.before, "daliesque", options.threads, options.device))
    patterns = options.names or ["*"]
    names = [name for name in ROWS if any(fnmatch.fnmatchcase(name, p) for p in patterns)]
    print(f"{'ms per batch':40s} {'daliesque':>10s} {other:>10s} {'ratio':>7s}")
    ratios: dict[str, float] = {}
    saved: dict[str, dict[str, Any]] = {}
    notes = []
    for name in names:
        results = alternate(name, libraries, options.rounds)
        notes += [f"{name}: {result}" for result in results if isinstance(result, str)]
        cells = [f"{'-':>10s}" if isinstance(r, str) else f"{r:10.2f}" for r in results]
        if all(isinstance(result, float) for result in results) and len(results) == 2:
            ratios[name] = float(results[1]) / float(results[0])
            cells.append(f"{ratios[name]:7.2f}")
        print(f"{name:40s} " + " ".join(cells), flush=True)
        if isinstance(results[0], float):
            saved[name] = {"milliseconds": round(results[0], 4), **libraries[0].described}
            if name in ratios:
                saved[name]["ratio"] = round(ratios[name], 2)
    summarize(ratios, other)
    if options.save:
        options.save.write_text(json.dumps({"threads": options.threads, "rows": saved}, indent=1))
    for note in notes:
        print("no result:", note)


def alternate(name: str, libraries: list[Library], rounds: int) -> list[float | str]:
    """The median of each library in milliseconds, or why there is none."""
    times: list[list[float]] = [[] for _ in libraries]
    failures: dict[int, str] = {}
    for _ in range(rounds):
        for k, library in enumerate(libraries):
            if k not in failures:
                answer = library.ask(name)
                if "error" in answer:
                    failures[k] = answer["error"]
                else:
                    times[k].append(answer["seconds"] * 1e3)
    return [failures.get(k) or statistics.median(found) for k, found in enumerate(times)]


def summarize(ratios: dict[str, float], other: str) -> None:
    if not ratios:
        return
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
    print(f"geometric mean {mean:.2f} over {len(ratios)}")
    titles: dict[str, tuple[float, float]] = {
        "slower than the reference": (0, 1),
        "less than twice as fast": (1, 2),
    }
    if other == "before":
        titles = {"slower than before": (0, 0.97), "faster than before": (1.03, math.inf)}
    for title, (low, high) in titles.items():
        found = sorted((ratio, name) for name, ratio in ratios.items() if low <= ratio < high)
        print(f"{title}:", ", ".join(f"{name} ({ratio:.2f})" for ratio, name in found) or "none")


if __name__ == "__main__":
    main()
