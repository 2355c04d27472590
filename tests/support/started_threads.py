# SPDX-License-Identifier: Apache-2.0
"""The threads that a test has started itself: others may have left loops that are still running."""

from __future__ import annotations

import threading
import weakref

_others: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def note_threads() -> None:
    """Remember the threads that there are before a test."""
    _others.clear()
    _others.update(threading.enumerate())


def started_threads(*names: str) -> list[threading.Thread]:
    """Those with certain names that were started since."""
    return [each for each in threading.enumerate() if each.name in names and each not in _others]
