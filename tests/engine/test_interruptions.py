# SPDX-License-Identifier: Apache-2.0
"""KeyboardInterrupt that is caught: no hang, no sample lost or twice, states are true.

`make test-interruptions` interrupts before every bytecode; here some of them are enough.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time

import numpy as np
import pytest

import daliesque as ndd
from support.interrupted_calls import CALLS
from support.interrupted_loaders import LOADERS
from support.interrupted_loops import LOOPS
from support.interruptions import Scenario, interrupt_everywhere, within_time
from support.reader_checks import Count

# Steps of captured loops have thousands of bytecodes.
STRIDES = {**dict.fromkeys((*CALLS, *LOADERS), "29"), **dict.fromkeys(LOOPS, "101")}


@pytest.mark.parametrize("scenario", STRIDES, ids=lambda kind: kind.__name__)
def test_interruption_before_each_bytecode(scenario: type[Scenario]) -> None:
    stride = int(os.environ.get("INTERRUPTION_STRIDE", STRIDES[scenario]))
    count, faults = interrupt_everywhere(scenario, stride)
    assert faults == []
    assert count > 0


def test_signals_at_random_times() -> None:
    """Real signals, also while the thread waits: each sample comes once."""
    generator = random.Random(7)
    epoch = Count(2000, prefetch_queue_depth=2).next_epoch(batch_size=2)
    delivered: list[tuple[object, list[int]]] = []
    interruptions = 0

    def note(step: object) -> None:
        # Unless it is noted already: a signal may come at the end of this function as well.
        if step is not None and (not delivered or delivered[-1][0] is not step):
            delivered.append((step, (ndd.copy(step[0]) + 0).tolist()))  # type: ignore[index]

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    # An exception in a callback of other libraries would be lost.
    callbacks, gc.callbacks[:] = gc.callbacks[:], []
    previous = signal.signal(signal.SIGALRM, interrupt)
    step = None
    try:
        while len(epoch):
            try:
                signal.setitimer(signal.ITIMER_REAL, generator.uniform(1e-5, 2e-3))
                # Not next(): a signal may come between its return and the assignment.
                for step in epoch:
                    note(step)
            except KeyboardInterrupt:
                interruptions += 1
                note(step)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        gc.callbacks[:] = callbacks
    assert interruptions > 0
    assert [number for _, numbers in delivered for number in numbers] == list(range(2000))


def test_waiting_for_another_thread_is_interrupted() -> None:
    begun = threading.Event()

    def slow(x: np.ndarray) -> np.ndarray:
        begun.set()
        time.sleep(1.0)
        return x

    result = ndd.map(slow, ndd.copy(ndd.batch(np.zeros((1, 1 << 21), np.uint8))))
    assert begun.wait(20)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        result.evaluate()
    timer.join()
    within_time(lambda: np.testing.assert_array_equal(result.numpy().max(), 0))
