# SPDX-License-Identifier: Apache-2.0
"""What the machines of a cluster have: CPUs, and this package."""

from __future__ import annotations

import math
from typing import Any

import ray

from .._version import __version__

# How many CPUs a task takes by default: one process with several threads does more than several
# processes with one.
_USUAL_CPUS = 4
# How many tasks to make for each that can run at a time, so that all processors are busy until
# the end, and little is done again if a machine fails.
_WAVES = 4
# Fewer batches than that are not worth a task.
_LEAST_BATCHES = 4


def start() -> None:
    """Connect to a cluster, or begin one on this machine, as Ray Data does."""
    if not ray.is_initialized():
        ray.init()


def largest_node() -> float:
    """The CPUs of the machine that has most of them."""
    nodes = [node for node in ray.nodes() if node["Alive"]]
    return max((float(node["Resources"].get("CPU", 0)) for node in nodes), default=0.0)


def check_cpus(where: str, given: Any) -> float:
    """The argument `num_cpus`: a number that some machine has."""
    largest = largest_node()
    if given is None:
        return max(1.0, min(_USUAL_CPUS, math.floor(largest)))
    if not isinstance(given, int | float) or isinstance(given, bool):
        msg = f"{where}: 'num_cpus' must be a number; got {given!r:.60}."
        raise TypeError(msg)
    if given <= 0:
        msg = f"{where}: 'num_cpus' must be positive; got {given}."
        raise ValueError(msg)
    if given > largest > 0:
        msg = (
            f"{where}: 'num_cpus' must be at most what a machine has: {largest:g} is the most in "
            f"this cluster; got {given:g}. Tasks would wait for ever. Pass num_cpus={largest:g}."
        )
        raise ValueError(msg)
    return float(given)


def default_shards(batches: int, num_cpus: float) -> int:
    """How many tasks to make of some batches."""
    total = float(ray.cluster_resources().get("CPU", 1))
    slots = max(1, math.floor(total / num_cpus))
    return max(1, min(slots * _WAVES, batches // _LEAST_BATCHES))


def _installed_version() -> str | None:
    """The version of the package where this runs; None if it is missing."""
    import importlib

    try:
        module = importlib.import_module("daliesque")
    except ModuleNotFoundError as error:
        if error.name != "daliesque":
            raise
        return None
    return str(module.__version__)


# Sent by value, so that it runs where the package is missing.
_installed_version.__module__ = "__main__"


def check_workers(where: str, options: dict[str, Any]) -> None:
    """Raise ImportError if the processes of the cluster do not have this package."""
    found = ray.get(ray.remote(**{**options, "num_cpus": 0})(_installed_version).remote())
    if found is None:
        msg = (
            f"{where}: the workers of the cluster cannot import daliesque. Install it on all "
            "machines, or let Ray do that: ray.init(runtime_env={'pip': ['daliesque[ray]']})."
        )
        raise ImportError(msg, name="daliesque")
    if found != __version__:
        msg = (
            f"{where}: the workers of the cluster have daliesque {found}, this process has "
            f"{__version__}. Install the same version on all machines."
        )
        raise ImportError(msg, name="daliesque")


def run_task(function: Any, *arguments: Any, options: dict[str, Any]) -> Any:
    """Call a function in a process of the cluster; what it raises is raised here as it was."""
    try:
        return ray.get(ray.remote(**options)(function).remote(*arguments))
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, FileNotFoundError):
            cause.add_note(
                "This is a worker of the cluster, with a working directory of its own. Pass "
                "absolute paths that all machines can read, or URLs."
            )
        if isinstance(cause, Exception):
            raise cause from error
        raise
