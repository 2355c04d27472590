# SPDX-License-Identifier: Apache-2.0
"""Capture-mode loops over external sources: who takes part in one, and in which role.

A loop has one source that it iterates over, the root; other sources that its body calls are its
feeders. `CaptureLoop` keeps their books and gives the batches of the root, while the body runs as
it stands: eagerly. Whatever is to run ahead overrides `pull`, which gets the next batches of a
source; the rest stays as it is.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Iterator
from typing import Any, NoReturn, Protocol

from .._engine.context import EvalContext


class Role(enum.Enum):
    """What a source is used for, until the loop that it belongs to ends before its time."""

    UNUSED = enum.auto()
    EAGER = enum.auto()
    FEEDER = enum.auto()
    ROOT = enum.auto()


class Source(Protocol):
    """What a loop needs of a source."""

    role: Role
    loop: CaptureLoop | None

    def pull(self, batch_size: int | None) -> Any:
        """The next outputs; StopIteration if there are none."""


class _Here(threading.local):
    """The loop whose body a thread is in, if any."""

    def __init__(self) -> None:
        self.loops: list[CaptureLoop] = []


_here = _Here()


def active_loop() -> CaptureLoop | None:
    """The loop whose body the calling thread is in."""
    return _here.loops[-1] if _here.loops else None


class CaptureLoop:
    """A loop over the batches of a root source, for one epoch after the other."""

    def __init__(self, root: Source, batch_size: int) -> None:
        self.root = root
        self.batch_size = batch_size
        self._context: EvalContext | None = None
        self._feeders: list[Source] = []
        self._read: list[Source] = []
        # In the first step ever, sources may become feeders.
        self._tracing = True
        self._alive = True
        # Whether an epoch was begun and is not over.
        self.in_epoch = False
        # The list of the thread that the body runs on, while this loop is in it.
        self._entered: list[CaptureLoop] | None = None

    def pull(self, source: Source) -> Any:
        """The next batches of a source of this loop; StopIteration at its end."""
        return source.pull(self.batch_size)

    def batches(self, ctx: EvalContext | None) -> Iterator[Any]:
        """One epoch."""
        context = EvalContext.current() if ctx is None else ctx
        if self._context is not None and context is not self._context:
            msg = "Cannot change EvalContext for a capture-mode loop."
            raise RuntimeError(msg)
        self._context = context
        self.in_epoch = True
        while True:
            try:
                step = self.pull(self.root)
            except StopIteration:
                self.in_epoch = False
                if self._tracing:
                    # An empty source is as it was before.
                    self.tear_down()
                return
            except Exception:
                self.tear_down()
                raise
            self._enter_body()
            try:
                yield step
            except GeneratorExit:
                self.tear_down()
                raise
            finally:
                self._leave_body()
            self._finish_step()

    def _enter_body(self) -> None:
        if _here.loops:
            self.fail("Only one capture-mode loop can be active at a time")
        self._read = []
        self._entered = _here.loops
        self._entered.append(self)

    def _leave_body(self) -> None:
        # The loop may go on on another thread.
        entered, self._entered = self._entered, None
        if entered is not None:
            entered.remove(self)

    def _finish_step(self) -> None:
        if not self._alive:
            msg = "The capture-mode loop was invalidated and cannot continue."
            raise RuntimeError(msg)
        for feeder in self._feeders:
            if feeder not in self._read:
                self.fail("An ExternalSource was not consumed this step")
        self._tracing = False

    def feed(self, source: Source, batch_size: int | None) -> Any:
        """What a source gives that the body calls."""
        if source.loop is not None and source.loop is not self:
            msg = "Already bound to a different capture context."
            raise RuntimeError(msg)
        if source.loop is None and not self._tracing:
            self.fail("ExternalSource wasn't seen during tracing")
        if batch_size is not None and batch_size != self.batch_size:
            self.fail(
                f"Cannot change batch size to {batch_size}, the capture-mode loop uses "
                f"{self.batch_size}."
            )
        if source in self._read:
            self.fail("An ExternalSource may be read only once per capture-mode step")
        try:
            step = self.pull(source)
        except StopIteration:
            if self._tracing:
                raise
            self.fail("A source was exhausted before the iteration ended")
        if source.loop is None:
            source.loop, source.role = self, Role.FEEDER
            self._feeders.append(source)
        self._read.append(source)
        return step

    def fail(self, message: str) -> NoReturn:
        """End the loop with an error."""
        self.tear_down()
        raise RuntimeError(message)

    def tear_down(self) -> None:
        """Release all sources; each of them can be used for something else."""
        self._alive = False
        self._leave_body()
        for source in (self.root, *self._feeders):
            if source.loop is self:
                source.role, source.loop = Role.UNUSED, None
        self._feeders = []
