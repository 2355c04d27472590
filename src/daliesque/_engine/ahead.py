# SPDX-License-Identifier: Apache-2.0
"""Where readers and generators are for a loop that runs ahead, and where for everybody else.

A loop that runs ahead of its consumer takes more from readers and draws more numbers than its
consumer has seen the results of. Its thread sees these objects where the loop is, all others see
them where the consumer is: `thread.ahead` of the loop's thread is an `Ahead`, which holds the
loop's own version of whatever it has moved. Each step carries a `Snapshot`; when the step is
delivered, the objects move on for everybody. So there is nothing to undo if a loop is left.
"""

from __future__ import annotations

import os
import weakref
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from .interrupts import Step, Steps
from .thread_state import thread

T = TypeVar("T")


class Moving(Protocol):
    """What a loop that runs ahead may move."""

    def _begin_ahead(self, outer: Ahead | None) -> tuple[Any, Any]:
        """The loop's own version, and the state that it begins with: None if it is not delivered.

        `outer` is what the consumer of the loop sees, if that is itself in a loop that runs ahead.
        """

    def _frozen(self, own: Any) -> Any:
        """The state of the loop's version."""

    def _moving(self, expected: Any, state: Any) -> Steps | None:
        """What moves it on; None if somebody else has moved it: it is no longer where expected."""

    def _end_ahead(self) -> None:
        """The loop is over."""


# An object, the state that the loop found it in, and where it is after a step.
Snapshot: TypeAlias = list[tuple[Moving, Any, Any]]


class Ahead:
    """What a loop that runs ahead has moved; for the thread of that loop."""

    def __init__(self, outer: Ahead | None) -> None:
        self._outer = outer
        self._own: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._found: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._ended = False

    def own(self, moving: Any) -> Any:
        """The loop's own version of an object."""
        try:
            return self._own[moving]
        except KeyError:
            own, self._found[moving] = moving._begin_ahead(self._outer)
            self._own[moving] = own
            return own

    def has(self, moving: Any) -> bool:
        """Whether the loop has a version of its own of an object."""
        return moving in self._own

    def replace(self, moving: Any, own: Any) -> None:
        """Set the loop's own version of an object."""
        self.own(moving)
        self._own[moving] = own

    def snapshot(self) -> Snapshot:
        """Where everything is now."""
        return [
            (moving, self._found[moving], moving._frozen(own)) for moving, own in self._own.items()
        ]

    def end(self) -> None:
        """Let all objects know, once, that nobody sees the loop's versions any more."""
        if self._ended:
            return
        for moving, found in list(self._found.items()):
            if found is not None:
                moving._end_ahead()
                # If this is interrupted, those that know are left alone.
                self._found[moving] = None
        self._ended = True


class Deliveries:
    """The consumer's side: moves objects on, step by step."""

    def __init__(self) -> None:
        self._last: dict[weakref.ref[Any], Any] = {}
        # What others have moved, which is theirs from then on.
        self._given_up: frozenset[weakref.ref[Any]] = frozenset()

    def prepare(self, snapshot: Snapshot) -> Steps:
        """What moves everything to where it is after a step."""
        last: dict[weakref.ref[Any], Any] = {}
        given_up: set[weakref.ref[Any]] = set()
        steps: list[Step] = []
        for moving, found, state in snapshot:
            key = weakref.ref(moving)
            moved = None
            if key not in self._given_up:
                moved = moving._moving(self._last.get(key, found), state)
            if moved is None:
                given_up.add(key)
            else:
                steps.extend(moved)
                last[key] = state
        steps.append((setattr, (self, "_last", last)))
        steps.append((setattr, (self, "_given_up", frozenset(given_up))))
        return tuple(steps)


class Cell(Generic[T]):
    """A value, of which a loop that runs ahead has a version of its own once it has set it.

    The values are never changed, only replaced.
    """

    __slots__ = ("__weakref__", "_value")

    def __init__(self, value: T) -> None:
        self._value = value

    @property
    def value(self) -> T:
        """The value, as this thread sees it."""
        return self._seen(thread.ahead)

    @value.setter
    def value(self, value: T) -> None:
        ahead = thread.ahead
        if ahead is None:
            self._value = value
        else:
            ahead.replace(self, value)

    def setting(self, value: T) -> Step:
        """The step that sets the value; see `interrupts`."""
        ahead = thread.ahead
        if ahead is None:
            return setattr, (self, "_value", value)
        # Signal handlers run on the main thread, and no loop runs ahead there.
        return ahead.replace, (self, value)

    def _seen(self, ahead: Ahead | None) -> T:
        while ahead is not None:
            if ahead.has(self):
                own: T = ahead.own(self)
                return own
            ahead = ahead._outer
        return self._value

    def _begin_ahead(self, outer: Ahead | None) -> tuple[T, T]:
        value = self._seen(outer)
        return value, value

    def _frozen(self, own: T) -> T:
        return own

    def _moving(self, expected: T, state: T) -> Steps | None:
        return None if self.value is not expected else (self.setting(state),)

    def _end_ahead(self) -> None:
        pass


def _forget_in_child() -> None:
    # The loop stayed in the parent; this process has what was delivered there.
    thread.ahead = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
