# SPDX-License-Identifier: Apache-2.0
"""Measure the usual loops over your own images, beside torchvision and DALI if they are installed.

Two jobs, from files to batches of normalized float32 images of 224x224 pixels in torch: "eval"
decodes and resizes, "train" decodes a random crop, resizes and mirrors it. Every contestant runs in
a process of its own, round after round, with as many threads or worker processes; medians count.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from ..._engine.threads import get_num_threads
from ..progress import Progress
from .chart import draw_chart
from .contestants import CONTESTANTS
from .files import find_images, link_images, without_broken
from .measuring import Results, available, compete, table

# An epoch has at least so many batches.
_LEAST_BATCHES = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("folder", type=Path, help="a folder of images, with or without subfolders")
    parser.add_argument("-o", "--output", type=Path, default=Path("bench.png"), help="the chart")
    parser.add_argument("--json", type=Path, help="also write all numbers to this file")
    parser.add_argument("--threads", type=int, help="by default all usable cores")
    parser.add_argument("--batch", type=int, default=64, help="samples in a batch")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each run takes")
    parser.add_argument("--rounds", type=int, default=3, help="how many runs of each contestant")
    parser.add_argument("--most", type=int, default=2000, help="use no more images than this")
    parser.add_argument("--reference", help="a Python interpreter that has DALI installed")


def run(options: argparse.Namespace) -> int:
    """Measure and write the chart; the exit code is 2 if there is nothing to measure."""
    threads = get_num_threads() if options.threads is None else options.threads
    try:
        paths = find_images(options.folder, options.most)
        with Progress("images looked at", len(paths)) as progress:
            good = without_broken(paths, progress.advance)
    except OSError as error:
        sys.stderr.write(f"bench: {error}\n")
        return 2
    if not good:
        sys.stderr.write(f"bench: no images were found in {options.folder}\n")
        return 2
    if len(good) < len(paths):
        sys.stderr.write(f"bench: {len(paths) - len(good)} images cannot be decoded, left out\n")
    names, missing = available(options.reference)
    with tempfile.TemporaryDirectory(prefix="daliesque-bench-") as folder:
        count = link_images(good, Path(folder), _LEAST_BATCHES * options.batch)
        runs = options.rounds * sum(len(CONTESTANTS[name].jobs) for name in names)
        with Progress("runs", runs) as progress:
            results = compete(
                names,
                folder,
                threads=threads,
                batch=options.batch,
                seconds=options.seconds,
                rounds=options.rounds,
                reference=options.reference,
                progress=progress.advance,
            )
    results.left_out.update(missing)
    return _report(results, options, count, threads)


def _report(results: Results, options: argparse.Namespace, count: int, threads: int) -> int:
    """Print the table, write the chart."""
    for name, reason in results.left_out.items():
        sys.stderr.write(f"bench: {name} left out: {reason}\n")
    if not results.found:
        return 2
    sys.stdout.write(table(results) + "\n")
    title = f"{count:,} images of {options.folder}, batches of {options.batch}, {threads} threads"
    draw_chart(results.rates(), title, options.output)
    sys.stdout.write(f"\n{options.output}: {title}\n")
    if options.json is not None:
        found = {f"{name}: {job}": rounds for (name, job), rounds in results.found.items()}
        numbers = {"title": title, "threads": threads, "images": count, "runs": found}
        options.json.write_text(json.dumps({**numbers, "left_out": results.left_out}, indent=2))
    return 0
