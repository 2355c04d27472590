# SPDX-License-Identifier: Apache-2.0
"""KeyboardInterrupt at every bytecode of the library.

CPython runs signal handlers between bytecodes of the main thread: after calls, at jumps backwards
and at the beginning of functions. `interrupted_runs` raises before every bytecode instead, which
covers these and all that versions to come may add.

A scenario makes its objects, then takes steps of them. What an interrupted step was about to do
must be done by the step that repeats it, and nothing else may have changed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import daliesque as ndd

_PACKAGE = os.path.dirname(os.path.abspath(ndd.__file__)) + os.sep


class Position(NamedTuple):
    """Where an interruption came out: file, function, line and bytecode."""

    file: str
    function: str
    line: int
    instruction: int


class Injector:
    """Raises KeyboardInterrupt before the bytecode number `at` of this package's functions."""

    def __init__(self, at: int) -> None:
        self._left = at
        # What came out of `__del__`, besides the interruption.
        self.lost: list[BaseException] = []
        self.position: Position | None = None

    def run(self, function: Callable[[], Any]) -> Any:
        """Call a function; the interruption comes out of it, unless it has fewer bytecodes.

        Or unless it comes in a `__del__`, which no exception leaves.
        """
        report, sys.unraisablehook = sys.unraisablehook, self._ignore
        sys.settrace(self._on_call)
        try:
            return function()
        finally:
            sys.settrace(None)
            sys.unraisablehook = report

    def _ignore(self, raised: Any) -> None:
        if raised.exc_type is not KeyboardInterrupt:
            self.lost.append(raised.exc_value)

    def _on_call(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event != "call" or not frame.f_code.co_filename.startswith(_PACKAGE):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._on_bytecode

    def _on_bytecode(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event != "opcode":
            return self._on_bytecode
        self._left -= 1
        if self._left == 0:
            code = frame.f_code
            name = code.co_filename.removeprefix(_PACKAGE)
            self.position = Position(name, code.co_name, frame.f_lineno, frame.f_lasti)
            sys.settrace(None)
            raise KeyboardInterrupt
        return self._on_bytecode


class Scenario:
    """Steps that can be repeated, and what they must have given in the end."""

    # How many steps there are.
    steps = 3

    def __init__(self) -> None:
        self.seen: list[Any] = []
        # What was delivered and is not looked at yet.
        self.held: Any = None

    def step(self) -> Any:
        """Take a step, and return what it gave: what `take` delivers once, as numbers."""
        if self.held is None:
            self.held = self.take()
        seen = self.numbers(self.held)
        self.held = None
        return seen

    def take(self) -> Any:
        """Take what is delivered once."""
        raise NotImplementedError

    def numbers(self, step: Any) -> Any:
        """What was delivered, as plain numbers."""
        return step

    def check(self) -> None:
        """What was seen is what the steps give without interruptions."""
        raise NotImplementedError

    def close(self) -> None:
        """End what was begun."""


def take_steps(scenario: Scenario, interrupted: int, injector: Injector | None) -> None:
    """Take all steps of a scenario; one of them may be interrupted, and is then repeated."""
    for number in range(scenario.steps):
        if number == interrupted and injector is not None:
            try:
                scenario.seen.append(injector.run(scenario.step))
                continue
            except KeyboardInterrupt:
                pass
        scenario.seen.append(scenario.step())


class Hung(Exception):
    """Something waits for ever."""


def within_time(function: Callable[[], None], seconds: float = 20.0) -> None:
    """Call a function on this thread; raises Hung if it takes too long."""

    def expire(_number: int, _frame: FrameType | None) -> None:
        raise Hung

    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        function()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def interrupt_everywhere(
    make: Callable[[], Scenario], stride: int = 1, offset: int = 0
) -> tuple[int, list[str]]:
    """Interrupt a scenario's second step before each `stride`-th bytecode.

    Returns how many interruptions there were and what went wrong.
    """
    faults: list[str] = []
    count, at = 0, 1 + offset
    while True:
        scenario, injector = make(), Injector(at)
        try:
            within_time(lambda s=scenario, i=injector: _run(s, i))  # type: ignore[misc]
        except Exception as error:
            faults.append(f"{at}: {injector.position}: {type(error).__name__}: {error}"[:300])
        finally:
            scenario.close()
        if injector.position is None:
            return count, faults
        count += 1
        at += stride


def _run(scenario: Scenario, injector: Injector) -> None:
    rng = ndd.random.get_default_rng()
    take_steps(scenario, 1, injector)
    assert injector.lost == []
    scenario.check()
    assert not ndd.EvalContext.current().executor.queue.nbytes
    assert ndd.EvalMode.current() is ndd.EvalMode.eager
    assert ndd.random.get_default_rng() is rng
