# SPDX-License-Identifier: Apache-2.0
"""How many threads kernels use."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from .. import _kernels
from .device import Device

T = TypeVar("T")

_CURRENT_DEVICE = -1


class ThreadPool:
    """Threads on which kernels run.

    Parameters
    ----------
    num_threads
        How many; by default `get_num_threads()`.
    device_id
        The accelerator the pool goes with; by default the current one.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.ThreadPool(2).num_threads
    2
    """

    __slots__ = ("_device_id", "native")

    def __init__(self, num_threads: int | None = None, *, device_id: int | None = -1) -> None:
        count = get_num_threads() if num_threads is None else check_thread_count(num_threads)
        current = device_id == _CURRENT_DEVICE
        self._device_id = Device.chosen().device_id if current else device_id
        self.native = _kernels.ThreadPool(count)

    @property
    def num_threads(self) -> int:
        """How many threads the pool has, the calling one included."""
        return self.native.num_threads

    @property
    def device_id(self) -> int | None:
        """The number of the accelerator the pool goes with."""
        return self._device_id

    def __repr__(self) -> str:
        return f"ThreadPool(num_threads={self.num_threads})"


def run_on_threads(
    function: Callable[[T], None], items: Sequence[T], threads: int | None = None
) -> None:
    """Call `function` for each item, on `threads` threads, or as many as kernels may use.

    For functions that release the interpreter's lock. If calls fail, all others still run, and the
    exception of the first item that failed comes out.
    """
    count = min(len(items), threads or _kernels.current_pool().num_threads)
    team = _kernels.Team()
    if count < 2:
        for item in items:
            function(item)
        team.end()
        return
    from concurrent.futures import ThreadPoolExecutor

    # Threads of its own for each call: they cost less than what such functions do, and none of
    # them is missing after a fork.
    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(team.call, function, item) for item in items]
    team.end()
    for future in futures:
        future.result()


def check_thread_count(count: object) -> int:
    """Return `count` if it is a sensible number of threads."""
    if not isinstance(count, int) or isinstance(count, bool):
        msg = f"the number of threads must be an integer; got {count!r}."
        raise TypeError(msg)
    most = 100 * (os.cpu_count() or 1)
    if not 0 < count <= most:
        msg = f"the number of threads must be positive and at most {most} here; got {count}."
        raise ValueError(msg)
    return count


def usable_cpus() -> int:
    """The CPUs this process may use: its affinity, cut down to its cgroup's quota."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return max(1, math.ceil(min(count, cgroup_quota())))


def cgroup_quota() -> float:
    """The CPUs' worth of time that the control group allows; infinity without a limit."""
    try:
        quota, period = _read("cpu.max").split()
        return math.inf if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    try:
        quota_us = int(_read("cpu/cpu.cfs_quota_us"))
        period_us = int(_read("cpu/cpu.cfs_period_us"))
        return quota_us / period_us if quota_us > 0 else math.inf
    except (OSError, ValueError):
        return math.inf


def _read(setting: str) -> str:
    # Not with pathlib, which would take a fiftieth of the time in which the package is imported.
    with open(f"/sys/fs/cgroup/{setting}") as file:
        return file.read()


def _default_num_threads() -> int:
    for variable in ("DALIESQUE_NUM_THREADS", "DALI_NUM_THREADS"):
        text = os.environ.get(variable)
        if text:
            try:
                return check_thread_count(int(text))
            except ValueError as error:
                msg = f"the environment variable {variable}={text!r} is not a number of threads."
                raise ValueError(msg) from error
    return usable_cpus()


class _Default:
    chosen: int | None = None
    pool: _kernels.ThreadPool | None = None


def default_native_pool() -> _kernels.ThreadPool:
    """The pool of contexts that have none of their own."""
    pool = _Default.pool
    if pool is None:
        pool = _Default.pool = _kernels.ThreadPool(get_num_threads())
        _kernels.set_default_pool(pool)
    return pool


def get_num_threads() -> int:
    """How many threads the default pool has.

    What `set_num_threads` set, else the environment variable DALIESQUE_NUM_THREADS, else
    DALI_NUM_THREADS, else the number of CPUs that this process may use.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.get_num_threads() >= 1
    True
    """
    return _Default.chosen if _Default.chosen is not None else _default_num_threads()


def set_num_threads(n: int | None) -> None:
    """Set how many threads the default pool has; None restores the default.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.set_num_threads(2)
    >>> ndd.get_num_threads()
    2
    >>> ndd.set_num_threads(None)
    """
    _Default.chosen = None if n is None else check_thread_count(n)
    pool = _Default.pool
    if pool is not None and pool.num_threads != get_num_threads():
        _Default.pool = None
