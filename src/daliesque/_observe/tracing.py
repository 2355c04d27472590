# SPDX-License-Identifier: Apache-2.0
"""Writes a trace: what every thread did, as Chrome and Perfetto show it."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable
from os import PathLike
from typing import Any, Self, TypeAlias

from .. import _kernels
from .._engine.errors import user_site
from .._engine.interception import Target, add_watcher, remove_watcher
from .._engine.invocation import Invocation
from .._engine.samples import Samples
from .._engine.thread_state import interception
from .._engine.value import Value

# Says when something happened.
Moment: TypeAlias = Callable[[], int]
# How many calls a device may be behind before it is waited for.
_MOST_SPANS = 1000

# Functions here are between the user's line and a call, for those who look for that line.
_HANDS_ON_CALLS = True


class Trace:
    """A trace that is written as long as a `with` statement lasts. See `ndd.trace`."""

    def __init__(self, path: str | PathLike[str], capacity: int) -> None:
        self._path = os.fspath(path)
        self._capacity = capacity
        self._events = self._dropped = 0
        # Calls on devices that may not be done yet.
        self._spans: deque[tuple[str, str, Moment, Moment]] = deque()

    @property
    def events(self) -> int:
        """How many events were written."""
        return self._events

    @property
    def dropped(self) -> int:
        """How many were left out, because they came faster than they could be written."""
        return self._dropped

    def __enter__(self) -> Self:
        code = _kernels.begin_trace(self._path, self._capacity)
        if code == errno.EBUSY:
            msg = "trace: a trace is being written already. Leave its 'with' statement first."
            raise RuntimeError(msg)
        if code:
            raise OSError(code, os.strerror(code), self._path)
        add_watcher(self)
        interception.spans = self._span
        # Asking each time whether somebody wants to know would cost all calls time.
        Invocation.result = _noted_result  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        Invocation.result = _result  # type: ignore[method-assign]
        interception.spans = None
        remove_watcher(self)
        while self._spans:
            self._write_span(*self._spans.popleft())
        self._events, self._dropped, code = _kernels.end_trace()
        if code:
            raise OSError(code, f"trace: not all was written: {os.strerror(code)}", self._path)

    def call(
        self,
        target: Target,
        inputs: tuple[Any, ...],
        given: dict[str, Any],
        make: Callable[[], Any],
    ) -> Any:
        """Make a call, and note it."""
        del inputs, given
        site = _shown_site()
        begin, number = _kernels.clock_now(), _kernels.begin_call(site)
        try:
            result = make()
        finally:
            _kernels.end_call(getattr(target, "shown", target.name), begin)
        for value in result if isinstance(result, tuple) else (result,):
            if isinstance(value, Value) and value._pending is not None:
                value._pending.mark = number, site
        return result

    def _span(self, device: str, begin: Moment, end: Moment) -> None:
        """Note that a device got the work of a call; how long that takes is asked for later."""
        self._spans.append((_kernels.current_name(), device, begin, end))
        if len(self._spans) > _MOST_SPANS:
            self._write_span(*self._spans.popleft())

    def _write_span(self, name: str, device: str, begin: Moment, end: Moment) -> None:
        first = begin()
        _kernels.trace_event(
            kind=_kernels.TraceKind.device,
            name=name,
            site=None,
            begin=first,
            end=max(first, end()),
            number=0,
            flow=_kernels.TraceFlow.none,
            row=f"device {device}",
        )


_result = Invocation.result


def _noted_result(self: Invocation, output: int) -> Samples:
    """The result of a call, and a note that a consumer has read it for the first time."""
    begin, mark = _kernels.clock_now(), getattr(self, "mark", None)
    try:
        return _result(self, output)
    finally:
        if mark is not None and not _kernels.inside_call():
            del self.mark
            _kernels.trace_event(
                kind=_kernels.TraceKind.read,
                name=f"read {self.name}",
                site=_shown_site(),
                begin=begin,
                end=_kernels.clock_now(),
                number=mark[0],
                flow=_kernels.TraceFlow.ends,
                row=None,
            )


def _shown_site() -> str | None:
    site = user_site()
    return None if site is None else str(site)
