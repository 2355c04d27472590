# SPDX-License-Identifier: Apache-2.0
"""Calls that somebody looks at before they are made: capture-mode loops, marks of values, watchers.

A call of an operator, of an arithmetic function or of `batch.slice[...]` asks `interception.on`,
and nothing else as long as no loop was captured and no value marked in this process, and nobody
watches.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

from .. import _kernels
from .invariant import Invariant, unwrap_invariants
from .thread_state import interception, thread


class Target(Protocol):
    """What is called: an operator, or anything that is called like one."""

    @property
    def name(self) -> str:
        """How messages call it."""

    @property
    def is_pure(self) -> bool:
        """Whether the result depends on the arguments alone, and on random numbers."""

    def __hash__(self) -> int: ...

    def invoke(
        self,
        raw_inputs: tuple[Any, ...],
        batch_size: Any,
        device: Any,
        given: dict[str, Any],
    ) -> Any:
        """Make a call."""


class Recorder(Protocol):
    """Makes the calls of a thread in its own way."""

    def call(
        self,
        target: Target,
        inputs: tuple[Any, ...],
        batch_size: Any,
        device: Any,
        given: dict[str, Any],
    ) -> Any:
        """Make a call, or return what is known about its result."""

    def note_draw(self, rng: Any) -> None:
        """A random number generator is about to be used."""


class Watcher(Protocol):
    """Watches the calls of all threads."""

    def call(
        self,
        target: Target,
        inputs: tuple[Any, ...],
        given: dict[str, Any],
        make: Callable[[], Any],
    ) -> Any:
        """Make a call by `make`, and return its result."""


def add_watcher(watcher: Watcher) -> None:
    """Let somebody watch."""
    interception.watchers = (*interception.watchers, watcher)
    interception.on = True


def remove_watcher(watcher: Watcher) -> None:
    """End that. Calls go on asking `intercept`, which costs them little."""
    others = tuple(other for other in interception.watchers if other is not watcher)
    interception.watchers = others


class _Passed:
    """Instead of a result: the call is to be made as it is."""


PASSED = _Passed()


def intercept(
    target: Target,
    inputs: tuple[Any, ...],
    batch_size: Any,
    device: Any,
    given: dict[str, Any],
) -> Any:
    """The result of a call, or PASSED if it is to be made as it is."""
    if interception.watchers and not thread.watched:
        return _watched(target, inputs, batch_size, device, given)
    recorder = thread.recorder
    if recorder is not None and not _kernels.inside_call():
        return recorder.call(target, inputs, batch_size, device, given)
    if interception.marks:
        for value in (*inputs, batch_size, device, *given.values()):
            kind = type(value)
            if kind in _CONTAINERS or issubclass(kind, Invariant):
                return _invoke_plain(target, inputs, batch_size, device, given)
    return PASSED


def _watched(
    target: Target, inputs: tuple[Any, ...], batch_size: Any, device: Any, given: dict[str, Any]
) -> Any:
    """Make a call that watchers see; what it consists of is not seen."""
    make = functools.partial(target.invoke, inputs, batch_size, device, dict(given))
    for watcher in interception.watchers:
        make = functools.partial(watcher.call, target, inputs, given, make)
    thread.watched = True
    try:
        return make()
    finally:
        thread.watched = False


# What marks may be inside of.
_CONTAINERS = frozenset((list, tuple, dict, slice))


def _invoke_plain(
    target: Target, inputs: tuple[Any, ...], batch_size: Any, device: Any, given: dict[str, Any]
) -> Any:
    """The result of a call without the marks of its arguments, or PASSED if there are none."""
    call = (inputs, batch_size, device)
    plain, values = unwrap_invariants(call), unwrap_invariants(given)
    if plain is call and values is given:
        return PASSED
    return target.invoke(*plain, values)
