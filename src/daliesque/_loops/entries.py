# SPDX-License-Identifier: Apache-2.0
"""Items that were taken from a source before they are delivered.

They are kept until the cursor says that they were delivered: nothing is lost if whoever took them
does not deliver them.
"""

from __future__ import annotations

import os
import time
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from .. import _kernels
from .._engine.batch import Batch
from .._engine.tensor import Tensor
from .pulling import Puller

# Seconds to wait for a source that is giving an item.
_PATIENCE = 5.0
_PAUSE = 0.001


class Mark(NamedTuple):
    """Where a source is after an item: the state as text, or why there is none."""

    number: int
    state: str | Exception


class Entry(NamedTuple):
    """An item, or what was raised instead, and where the source is then."""

    number: int
    item: Any
    failure: BaseException | None
    mark: Mark


class Cursor:
    """Where a source is for the user, if it has run ahead; None if it has not."""

    position: Mark | None = None


class Entries:
    """The items of a source that are taken ahead, in order."""

    def __init__(self, puller: Puller) -> None:
        self.cursor = Cursor()
        # Held while something is taken.
        self.mutex = _kernels.Mutex()
        self._puller = puller
        # How many entries there have been, and those that may not be delivered yet.
        self._number = 0
        self._entries: deque[Entry] = deque()
        # What was taken for an entry that is not there yet.
        self._pulled: tuple[Any, BaseException | None] | None = None
        _all.add(self)

    def next(self) -> Entry | None:
        """The next entry to be delivered, if one was taken already."""
        found: Entry | None = _kernels.call_locked(self.mutex, self._next)
        return found

    def _next(self) -> Entry | None:
        self._drop_delivered()
        return self._entries[0] if self._entries else None

    def hold(self) -> Cursor:
        """Where the source is for the user, from now on also if it runs ahead."""
        if self.cursor.position is None:
            _kernels.call_locked(self.mutex, self._hold)
        return self.cursor

    def _hold(self) -> None:
        self.cursor.position = self._mark(self._number - 1)

    def clear(self) -> None:
        """Forget what was taken."""
        self._entries.clear()
        self.cursor.position = self._pulled = None

    def next_number(self) -> int:
        """The number of the entry after those that were delivered."""
        mark = self.cursor.position
        return self._number if mark is None else mark.number + 1

    def entry(self, number: int) -> Entry:
        """Take an entry without delivering it, or find it if it was taken before."""
        found: Entry = _kernels.call_locked(self.mutex, self._entry, number)
        return found

    def _entry(self, number: int) -> Entry:
        self._drop_delivered()
        for entry in self._entries:
            if entry.number == number:
                return entry
        return self._take()

    def _take(self) -> Entry:
        """Take an item; if this is interrupted anywhere, the next call goes on with it."""
        number = self._number
        if not self._entries or self._entries[-1].number < number:
            if self._pulled is None:
                self._pull()
            assert self._pulled is not None
            item, failure = self._pulled
            self._entries.append(Entry(number, snapshot(item), failure, self._mark(number)))
        self._number, self._pulled = number + 1, None
        return self._entries[-1]

    def _pull(self) -> None:
        """Set `_pulled`, together with what the puller changes."""
        try:
            item, steps, failure = self._puller.prepare()
        except Exception as error:
            item, steps, failure = None, (), error
        _kernels.carry_out((*steps, (setattr, (self, "_pulled", (item, failure)))))

    def _mark(self, number: int) -> Mark:
        try:
            return Mark(number, self._puller.get_state())
        except TypeError as error:
            return Mark(number, error)

    def _drop_delivered(self) -> None:
        if self._pulled is not None:
            # Somebody was interrupted before the entry was complete.
            self._take()
        first = self.next_number()
        while self._entries and self._entries[0].number < first:
            self._entries.popleft()


def snapshot(item: Any) -> Any:
    """An item that stays as it is when the source uses the same memory again."""
    if isinstance(item, np.ndarray):
        return item.copy()
    if isinstance(item, Tensor | Batch):
        return item._copied() if item._is_external() else item
    if isinstance(item, list):
        return [snapshot(part) for part in item]
    if isinstance(item, tuple):
        return tuple(snapshot(part) for part in item)
    # Tensors of torch.
    clone = getattr(item, "clone", None)
    return clone() if callable(clone) else item


_all: weakref.WeakSet[Entries] = weakref.WeakSet()


class _Fork:
    """Lets no process be forked while another thread takes an item: it would be halfway there."""

    def __init__(self) -> None:
        self._held: list[Entries] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._hold, after_in_parent=self._release, after_in_child=self._release
            )

    def _hold(self) -> None:
        for entries in list(_all):
            if entries.cursor.position is not None and _entered(entries.mutex):
                self._held.append(entries)

    def _release(self) -> None:
        held, self._held = self._held, []
        for entries in held:
            entries.mutex.leave()


def _entered(mutex: _kernels.Mutex) -> bool:
    """Whether a mutex could be taken within some time."""
    end = time.monotonic() + _PATIENCE
    while not mutex.try_enter():
        if time.monotonic() > end:
            return False
        time.sleep(_PAUSE)
    return True


_fork = _Fork()
