# SPDX-License-Identifier: Apache-2.0
"""Runs contestants, each in a process of its own, one after the other, round after round."""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import contestants
from .contestants import CONTESTANTS, JOBS, Task

# A run that takes longer hangs.
_MOST_SECONDS = 600.0


@dataclass
class Results:
    """What was measured, and which contestants were left out and why."""

    found: dict[tuple[str, str], list[dict[str, float]]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The contestants that took part, in their order."""
        return [name for name in CONTESTANTS if any(key[0] == name for key in self.found)]

    def median(self, name: str, job: str, key: str) -> float | None:
        """The median of the rounds; None if there was none."""
        rounds = self.found.get((name, job))
        return statistics.median(result[key] for result in rounds) if rounds else None

    def rates(self) -> dict[str, dict[str, float]]:
        """Images per second of each contestant and job."""
        pairs = ((name, job, self.median(name, job, "rate")) for name in self.names for job in JOBS)
        rates: dict[str, dict[str, float]] = {name: {} for name in self.names}
        for name, job, rate in pairs:
            if rate is not None:
                rates[name][job] = rate
        return rates


def available(python: str | None) -> tuple[list[str], dict[str, str]]:
    """The contestants whose libraries are installed, here or under another interpreter."""
    names, missing = [], {}
    for name, contestant in CONTESTANTS.items():
        if contestant.is_reference and python is not None:
            names.append(name)
        elif _is_installed(contestant.module):
            names.append(name)
        else:
            missing[name] = f"{contestant.module} is not installed"
    return names, missing


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def compete(
    names: Sequence[str],
    root: str,
    *,
    threads: int,
    batch: int,
    seconds: float,
    rounds: int,
    reference: str | None = None,
    progress: Callable[[], Any] = lambda: None,
) -> Results:
    """Measure contestants; one that fails is left out from then on."""
    results = Results()
    for _ in range(rounds):
        for job in JOBS:
            for name in names:
                contestant = CONTESTANTS[name]
                if job not in contestant.jobs or name in results.left_out:
                    continue
                own = reference if contestant.is_reference and reference else sys.executable
                outcome = run_child(own, name, Task(root, job, threads, batch), seconds)
                if isinstance(outcome, str):
                    results.left_out[name] = outcome
                else:
                    results.found.setdefault((name, job), []).append(outcome)
                progress()
    for name in results.left_out:
        for job in JOBS:
            results.found.pop((name, job), None)
    return results


def run_child(python: str, name: str, task: Task, seconds: float) -> dict[str, float] | str:
    """What a contestant achieves in a process of its own, or why it fails."""
    command = [python, str(Path(contestants.__file__)), task.root, "--contestant", name]
    command += ["--job", task.job, "--threads", str(task.threads), "--batch", str(task.batch)]
    try:
        done = subprocess.run(
            [*command, "--seconds", str(seconds)],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(task.threads)},
            check=False,
            timeout=_MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"it took more than {_MOST_SECONDS:.0f} seconds"
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line and not line.startswith("See ")]
        return lines[-1] if lines else f"it ended with the code {done.returncode}"
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def table(results: Results) -> str:
    """Rates, and how much faster we are, for each job."""
    lines = []
    for job in JOBS:
        title = f"{job:28s} {'images/s':>9s} {'ours is':>8s} {'first batch':>12s} {'peak MB':>8s}"
        lines += ["", title]
        ours = results.median("daliesque", job, "rate")
        for name in results.names:
            rate, first, peak = (results.median(name, job, k) for k in ("rate", "first", "peak"))
            if rate is not None and first is not None and peak is not None:
                ratio = f"{ours / rate:7.2f}x" if ours is not None else " " * 8
                lines.append(f"{name:28s} {rate:9.0f} {ratio} {first:10.2f} s {peak:8.0f}")
    return "\n".join(lines[1:])
