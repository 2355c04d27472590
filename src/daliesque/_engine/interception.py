# SPDX-License-Identifier: Apache-2.0
"""Calls that somebody looks at before they are made: capture-mode loops, and marks of values.

A call of an operator, of an arithmetic function or of `batch.slice[...]` asks `interception.on`,
and nothing else as long as no loop was captured and no value marked in this process.
"""

from __future__ import annotations

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
    recorder = thread.recorder
    if recorder is not None and not _kernels.inside_call():
        return recorder.call(target, inputs, batch_size, device, given)
    if interception.marks:
        for value in (*inputs, batch_size, device, *given.values()):
            kind = type(value)
            if kind in _CONTAINERS or issubclass(kind, Invariant):
                return _invoke_plain(target, inputs, batch_size, device, given)
    return PASSED


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
