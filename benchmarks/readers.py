# SPDX-License-Identifier: Apache-2.0
"""Every reader against the reference: samples per second, without decoding, and the ratio.

    python benchmarks/readers.py ROOT --reference PYTHON [--threads 2] [--rounds 7] [NAME ...]

Two processes, one with each library, alternate; the table shows medians. The first run brings the
files into the system's cache. The rows named "many" read so many bytes, or each file under so many
names, that neither library can keep all of them at hand: that is how large data sets behave.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rows import archives, datasets

LEAST_SECONDS = 0.3
SETTLED_SECONDS = 3.0
MANY = 4096


def many(root: str) -> list[str]:
    """Links to all files in the sub-folders, so many that each file has several."""
    found = sorted(str(path) for path in Path(root).resolve().glob("*/*") if path.is_file())
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    links = [f"{folder}/{index}" for index in range(MANY)]
    for link, target in zip(links, itertools.cycle(found), strict=False):
        os.symlink(target, link)
    return links


# Name: how to make the reader, and the batch size.
ROWS: dict[str, tuple[Callable[[Any, str], Any], int | None]] = {
    "File": (lambda ndd, root: ndd.readers.File(file_root=root), 64),
    "File shuffled": (lambda ndd, root: ndd.readers.File(file_root=root, random_shuffle=True), 64),
    "File samples": (lambda ndd, root: ndd.readers.File(file_root=root), None),
    "File many": (lambda ndd, root: ndd.readers.File(files=many(root)), 64),
    "File many shuffled": (
        lambda ndd, root: ndd.readers.File(files=many(root), random_shuffle=True),
        64,
    ),
    **datasets.ROWS,
    **archives.ROWS,
}


def serve(module: str, root: str, threads: int, names: Sequence[str]) -> None:
    """Answer requests on standard input: one of the names, then a line with the row's rate."""
    ndd: Any = importlib.import_module(module)
    ndd.set_num_threads(threads)
    readers = {name: ROWS[name][0](ndd, root) for name in names}
    # Files that were written a moment ago are not kept in memory: they might still change.
    time.sleep(SETTLED_SECONDS)
    for line in sys.stdin:
        name = line.strip()
        print(json.dumps(measure(readers[name], ROWS[name][1])), flush=True)


def measure(reader: Any, batch_size: int | None) -> float:
    """Samples per second over some whole epochs."""
    samples, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < LEAST_SECONDS:
        for outputs in reader.next_epoch(batch_size=batch_size):
            for output in outputs.values() if isinstance(outputs, dict) else outputs:
                output.evaluate()
            samples += batch_size or 1
    return samples / elapsed


class Library:
    """A process with one of the libraries."""

    def __init__(self, python: str, module: str, options: argparse.Namespace) -> None:
        command = [python, __file__, options.root, *options.names, "--serve", module]
        self.process = subprocess.Popen(
            [*command, "--threads", str(options.threads)],
            # Without this the reference wants a driver for reading FITS files.
            env={**os.environ, "DALI_RESTRICT_PINNED_MEM": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, name: str) -> float:
        """The rate of a row."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        rate: float = json.loads(self.process.stdout.readline())
        return rate


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("names", nargs="*", default=list(ROWS))
    parser.add_argument("--reference", help="a Python that has the reference installed")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.root, options.threads, options.names)
        return
    libraries = {"daliesque": Library(sys.executable, "daliesque", options)}
    if options.reference:
        module = "nvidia.dali.experimental.dynamic"
        libraries["reference"] = Library(options.reference, module, options)
    print(f"{'samples/s':30s}" + "".join(f"{name:>12s}" for name in libraries) + f"{'ratio':>8s}")
    for name in options.names:
        for library in libraries.values():
            library.ask(name)
        rates = [[lib.ask(name) for lib in libraries.values()] for _ in range(options.rounds)]
        medians = [statistics.median(column) for column in zip(*rates, strict=True)]
        ratio = f"{medians[0] / medians[1]:8.2f}" if len(medians) > 1 else ""
        print(f"{name:30s}" + "".join(f"{rate:12.0f}" for rate in medians) + ratio)


if __name__ == "__main__":
    main()
