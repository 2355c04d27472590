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
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import daliesque as ndd
from support.reader_checks import Count

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
        self.position: Position | None = None

    def run(self, function: Callable[[], Any]) -> Any:
        """Call a function; the interruption comes out of it, unless it has fewer bytecodes."""
        sys.settrace(self._on_call)
        try:
            return function()
        finally:
            sys.settrace(None)

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
    take_steps(scenario, 1, injector)
    scenario.check()
    assert not ndd.EvalContext.current().executor.queue.nbytes
    assert ndd.EvalMode.current() is ndd.EvalMode.eager


def expected(step: int) -> list[int]:
    """What `Operators` gives in a step."""
    return [((step * 4 + k) * 2 + 1) for k in range(4)]


class Operators(Scenario):
    """Calls of operators and reading their results, in one of the modes."""

    mode = ndd.EvalMode.eager
    # Samples of this many elements: large ones run in the background.
    extent = 1

    def step(self) -> Any:
        number = len(self.seen)
        with self.mode:
            data = np.arange(4)[:, None] + number * 4
            batch = ndd.copy(ndd.batch(data.repeat(self.extent, 1).astype(np.int32)))
            result = ndd.flip(batch * 2, horizontal=0) + 1 if self.extent > 1 else batch * 2 + 1
            return [int(np.asarray(sample)[-1]) for sample in result]

    def check(self) -> None:
        assert self.seen == [expected(step) for step in range(self.steps)]


class Sync(Operators):
    """Calls that run at once."""

    mode = ndd.EvalMode.sync_cpu


class Deferred(Operators):
    """Calls that run when they are read."""

    mode = ndd.EvalMode.deferred


class Context(Operators):
    """A context with threads of its own, which is entered for each step."""

    def __init__(self) -> None:
        super().__init__()
        self.context = ndd.EvalContext(num_threads=2)

    def step(self) -> Any:
        with self.context:
            return super().step()

    def check(self) -> None:
        super().check()
        # It is left: another thread may enter it.
        entered: list[bool] = []

        def enter() -> None:
            with self.context:
                entered.append(True)

        thread = threading.Thread(target=enter)
        thread.start()
        thread.join(20)
        assert entered == [True]


class Pending(Scenario):
    """Results that were called for before, and are read one by one."""

    def __init__(self) -> None:
        super().__init__()
        first = ndd.copy(ndd.batch(np.arange(4, dtype=np.int32)[:, None]))
        self.results = [first]
        for _ in range(self.steps):
            self.results.append(self.results[-1] * 2)

    def step(self) -> Any:
        result = self.results[len(self.seen) + 1]
        return [int(np.asarray(sample)[0]) for sample in result]

    def check(self) -> None:
        assert self.seen == [[k * 2 ** (step + 1) for k in range(4)] for step in range(3)]


class Map(Scenario):
    """A Python function on the threads of a context."""

    def __init__(self) -> None:
        super().__init__()
        self.context = ndd.EvalContext(num_threads=3)

    def step(self) -> Any:
        number = len(self.seen)
        with self.context:
            batch = ndd.copy(ndd.batch(np.arange(6) + number))
            return [sample.item() for sample in ndd.map(lambda x: x * 3, batch, dtype=ndd.int64)]

    def check(self) -> None:
        assert self.seen == [[(k + step) * 3 for k in range(6)] for step in range(3)]


class Epochs(Scenario):
    """Steps of an epoch that is read ahead: every sample once, and the state is that of these."""

    batch_size: int | None = 3
    steps = 4
    size = 12

    def __init__(self) -> None:
        super().__init__()
        self.reader = Count(self.size, **self.options())
        self.epoch = self.reader.next_epoch(batch_size=self.batch_size)

    def options(self) -> dict[str, Any]:
        """The arguments of the reader."""
        return {"prefetch_queue_depth": 2}

    def take(self) -> Any:
        return next(self.epoch)

    def numbers(self, step: Any) -> list[int]:
        """The numbers of the samples of a step."""
        only = step[0] if isinstance(step, tuple) else step
        return np.atleast_1d(only.numpy()).tolist()

    def check(self) -> None:
        whole = [number for numbers in self.seen for number in numbers]
        assert whole == list(range(len(whole)))
        copy = Count(self.size, **self.options())
        copy.set_state(self.reader.get_state())
        others = copy.next_epoch(batch_size=self.batch_size)
        rest = [n for step in others for n in self.numbers(step)]
        assert whole + rest == list(range(self.size))
        here = [n for step in self.epoch for n in self.numbers(step)]
        assert here == rest

    def close(self) -> None:
        self.epoch.close()


class SingleSamples(Epochs):
    """Samples one by one, of which several are read at a time."""

    batch_size = None
    steps = 5


class BadSamples(Epochs):
    """Samples that cannot be read are left out, and listed once."""

    steps = 3

    def options(self) -> dict[str, Any]:
        """Samples 4 and 5 cannot be read."""
        return {"bad": [4, 5], "on_error": "skip"}

    def check(self) -> None:
        whole = [number for numbers in self.seen for number in numbers]
        assert whole == [0, 1, 2, 3, 6, 7, 8, 9, 10]
        assert [error.source for error in self.reader.errors] == ["number 4", "number 5"]


class EndOfEpoch(Epochs):
    """The end of one epoch, and the beginning of the next, which is shuffled otherwise."""

    size = 3
    steps = 3

    def __init__(self) -> None:
        super().__init__()
        self.whole: list[int] = []

    def options(self) -> dict[str, Any]:
        """Each epoch has another order."""
        return {"shuffle_after_epoch": True}

    def step(self) -> Any:
        if len(self.seen) == 1:
            for step in self.epoch:
                raise AssertionError(step)
            self.epoch = self.reader.next_epoch(batch_size=3)
            return None
        return super().step()

    def check(self) -> None:
        other = Count(self.size, **self.options())
        epochs = [self.numbers(step) for _ in range(3) for step in other.next_epoch(batch_size=3)]
        assert self.seen == [epochs[0], None, epochs[1]]


class Called(Epochs):
    """A reader that is called, without reading ahead, through the end of an epoch."""

    size = 5
    steps = 4

    def take(self) -> Any:
        return self.reader(batch_size=2)

    def check(self) -> None:
        assert self.seen == [[0, 1], [2, 3], [4, 0], [1, 2]]


class Resumed(Epochs):
    """A state is set, and the rest of that epoch is delivered."""

    def step(self) -> Any:
        if len(self.seen) == 1:
            self.reader.set_state(self.reader.get_state())
            return None
        if len(self.seen) == 2:
            self.epoch = self.reader.next_epoch(batch_size=3)
            return None
        return super().step()

    def check(self) -> None:
        assert self.seen == [[0, 1, 2], None, None, [3, 4, 5]]


class Source(Scenario):
    """Items of a source that gives each once."""

    steps = 4

    def __init__(self) -> None:
        super().__init__()
        self.source = ndd.ExternalSource(iter(range(10)))

    def take(self) -> Any:
        return self.source()

    def numbers(self, step: Any) -> Any:
        return step.item()

    def check(self) -> None:
        assert self.seen == [0, 1, 2, 3]
        other = ndd.ExternalSource(iter(range(10)))
        other.set_state(self.source.get_state())
        assert other().item() == 4


class CyclicSource(Source):
    """A source that begins again."""

    def __init__(self) -> None:
        super().__init__()
        self.source = ndd.ExternalSource([0], cycle="quiet")

    def check(self) -> None:
        assert self.seen == [0, 0, 0, 0]
        assert '"taken":1' in self.source.get_state()


class FunctionSource(Source):
    """A function that is called for each item."""

    def __init__(self) -> None:
        super().__init__()
        items = iter(range(10))
        self.source = ndd.ExternalSource(lambda: next(items))

    def check(self) -> None:
        assert self.seen == [0, 1, 2, 3]
        assert '"taken":4' in self.source.get_state()


class Prefetched(Scenario):
    """A loading loop that runs ahead."""

    steps = 4

    def __init__(self) -> None:
        super().__init__()
        self.reader = Count(12)
        self.loop = iter(ndd.prefetch(self.load))

    def load(self) -> Any:
        """The loop."""
        for (numbers,) in self.reader.next_epoch(batch_size=3):
            yield numbers + 1

    def take(self) -> Any:
        return next(self.loop)

    def numbers(self, step: Any) -> Any:
        return step.tolist()

    def check(self) -> None:
        assert self.seen == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]][: len(self.seen)]

    def close(self) -> None:
        self.loop.close()


SCENARIOS: dict[str, type[Scenario]] = {
    kind.__name__: kind
    for kind in (
        Operators,
        Sync,
        Deferred,
        Context,
        Pending,
        Map,
        Epochs,
        SingleSamples,
        BadSamples,
        EndOfEpoch,
        Called,
        Resumed,
        Source,
        CyclicSource,
        FunctionSource,
        Prefetched,
    )
}
