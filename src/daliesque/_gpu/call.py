# SPDX-License-Identifier: Apache-2.0
"""The call that a thread is running, as far as kernels need to know."""

from __future__ import annotations

import threading
from typing import Any, Protocol

from .._engine.device import Device


class Place(Protocol):
    """Where a call runs."""

    device: Device
    queue: Any


class _Local(threading.local):
    place: Place | None = None


_local = _Local()


def exchange_place(place: Place | None) -> Place | None:
    """Set where the call of this thread runs; returns what it was."""
    previous, _local.place = _local.place, place
    return previous


def current_place() -> Place:
    """Where the call that this thread is inside of runs."""
    place = _local.place
    assert place is not None
    return place


def is_inside_call() -> bool:
    """Whether this thread runs a call that has a queue."""
    return _local.place is not None
