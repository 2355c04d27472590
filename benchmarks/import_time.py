# SPDX-License-Identifier: Apache-2.0
"""How long `import daliesque` takes, compared with `import numpy`.

    python benchmarks/import_time.py [--before PYTHON] [--rounds 15]

Starts fresh processes in alternation: without an import, with NumPy, with this library. Prints
medians of wall and CPU time, and the ratio to NumPy. With `--before`, so does a Python
that has another version of this library. Files are in the cache of the system: each program
has run once before. Measure in an environment into which the wheel was installed as a user
would do it; a package that Python finds through .pth files is slower to import.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

PROGRAMS = {"nothing": "pass", "numpy": "import numpy", "daliesque": "import daliesque"}
ROUNDS = 15


def run(python: str, program: str) -> tuple[float, float]:
    """Milliseconds of wall and of CPU time that a process takes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # The root has no modules that could be taken for those of Python.
    subprocess.run([python, "-c", program], check=True, cwd=os.path.abspath(os.sep))
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1e3, cpu * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description="How long `import daliesque` takes.")
    parser.add_argument("--before", help="a Python interpreter with another version installed")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    pythons = {"now": sys.executable}
    if options.before:
        pythons = {"before": options.before, **pythons}
    cells: dict[tuple[str, str], list[tuple[float, float]]] = {
        (name, program): [] for name in pythons for program in PROGRAMS
    }
    for number in range(options.rounds + 1):
        for (name, program), times in cells.items():
            taken = run(pythons[name], PROGRAMS[program])
            if number:
                times.append(taken)
    print(f"{'ms':20s} {'wall':>8s} {'CPU':>8s} {'wall / NumPy':>14s}")
    for (name, program), times in cells.items():
        wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
        pairs = zip(times, cells[name, "numpy"], strict=True)
        ratio = statistics.median(ours[0] / peer[0] for ours, peer in pairs)
        print(f"{name + ', ' + program:20s} {wall:8.1f} {cpu:8.1f} {ratio:14.2f}")


if __name__ == "__main__":
    main()
