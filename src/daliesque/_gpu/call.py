# SPDX-License-Identifier: Apache-2.0
"""The call that a thread is running, as far as kernels need to know."""

from __future__ import annotations

import threading
from typing import Any, Protocol

from .._engine.device import Device


class Target(Protocol):
    """Where a call runs: the device of its results, and the queue of its work."""

    device: Device
    queue: Any


class _Local(threading.local):
    target: Target | None = None


_local = _Local()


def exchange_target(target: Target | None) -> Target | None:
    """Set where the call of this thread runs; returns what it was."""
    previous, _local.target = _local.target, target
    return previous


def current_target() -> Target:
    """Where the call that this thread is inside of runs."""
    target = _local.target
    assert target is not None
    return target


def is_inside_call() -> bool:
    """Whether this thread runs a call that has a queue."""
    return _local.target is not None
