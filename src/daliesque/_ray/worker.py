# SPDX-License-Identifier: Apache-2.0
"""What a process of Ray does first: it takes as many threads as it has CPUs, and its memory."""

from __future__ import annotations

import math
import os
from collections import OrderedDict
from typing import Any

import ray

from .. import _kernels
from .._engine.memory import set_memory_limit
from .._engine.threads import get_num_threads, set_num_threads
from .._readers.core.base import Reader
from .._readers.sources import discovery

# Readers whose index is kept, so that the tasks of a process open it once.
_MOST_READERS = 2
_readers: OrderedDict[bytes, Reader[Any]] = OrderedDict()


def prepare() -> None:
    """Take as many threads as Ray has assigned CPUs, and as much of the memory.

    In a process that is none of Ray's, as when somebody tries a transform, nothing changes.
    """
    if not ray.is_initialized():
        return
    context = ray.get_runtime_context()
    if context.get_task_id() is None and context.get_actor_id() is None:
        return
    threads = max(1, math.floor(context.get_assigned_resources().get("CPU", 0)))
    if get_num_threads() != threads:
        set_num_threads(threads)
    _limit_memory(threads)
    # Other processes of this machine read the same files: those that are small enough stay in the
    # system's memory once, not in that of each process.
    discovery.KEPT_BYTES = 0


def _limit_memory(cpus: int) -> None:
    share = min(1.0, cpus / (os.cpu_count() or 1))
    limit = int(_kernels.available_memory() * share / 2)
    if _kernels.total_limit() != limit:
        set_memory_limit(limit)


def unpickled(pickled: bytes, what: str) -> Any:
    """What was pickled where the data set was made."""
    try:
        return ray.cloudpickle.loads(pickled)
    except ModuleNotFoundError as error:
        msg = (
            f"ray.read: the workers of the cluster cannot import {error.name}, which {what} needs. "
            "Install it on all machines, or ship it: ray.init(runtime_env={'working_dir': '.'}) or "
            "'py_modules'."
        )
        raise ImportError(msg, name=error.name) from None


def opened(pickled: bytes) -> Reader[Any]:
    """The reader that was pickled as a class and its arguments; the same one for each task here."""
    reader = _readers.pop(pickled, None)
    if reader is None:
        kind, positional, named = unpickled(pickled, "the reader")
        reader = kind(*positional, **named)
    _readers[pickled] = reader
    while len(_readers) > _MOST_READERS:
        _readers.popitem(last=False)
    return reader
