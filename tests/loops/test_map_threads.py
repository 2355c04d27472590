# SPDX-License-Identifier: Apache-2.0
"""The threads of `map`: nesting, sharing, interruption, fork and exit."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import daliesque as ndd


def numbers(batch: ndd.Batch) -> list[Any]:
    return [sample.item() for sample in batch]


def map_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "daliesque map"]


def wait_until_gone(threads: list[threading.Thread]) -> None:
    gc.collect()
    deadline = time.monotonic() + 20
    while any(thread.is_alive() for thread in threads):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("mode", list(ndd.EvalMode), ids=lambda mode: mode.name)
@pytest.mark.parametrize("threads", [1, 3])
def test_functions_may_call_operators(mode: ndd.EvalMode, threads: int) -> None:
    with mode, ndd.EvalContext(num_threads=threads):
        # Not computed yet when the functions need it, and behind them in the queue.
        later: list[ndd.Tensor] = []
        go_on = threading.Event()

        def function(x: np.ndarray) -> ndd.Tensor:
            assert go_on.wait(30)
            inner = ndd.map(lambda y: y + 1, ndd.batch([x, x, x]) * 2)
            return inner.select(1) + later[0]

        if mode in (ndd.EvalMode.eager, ndd.EvalMode.deferred):
            result = ndd.map(function, ndd.copy(ndd.batch(list(range(20)))))
            later.append(ndd.copy(ndd.batch([100])).select(0))
            go_on.set()
        else:
            later.append(ndd.tensor(100))
            go_on.set()
            result = ndd.map(function, ndd.batch(list(range(20))))
        assert numbers(result) == [2 * number + 101 for number in range(20)]


def test_deep_nesting() -> None:
    def descend(x: np.ndarray) -> int:
        depth = int(x)
        if depth == 0:
            return 1
        return sum(numbers(ndd.map(descend, ndd.batch([depth - 1] * 3))))

    with ndd.EvalContext(num_threads=4):
        assert numbers(ndd.map(descend, ndd.batch([4, 4]))) == [81, 81]


def test_functions_see_the_context_of_the_call() -> None:
    with ndd.EvalContext(num_threads=3) as context:
        seen = []
        ndd.map(
            lambda _: seen.append(ndd.EvalContext.current()) or 0, ndd.batch([0] * 9)
        ).evaluate()
    assert set(map(id, seen)) == {id(context)}
    assert ndd.EvalContext.current() is not context


def test_several_threads_call() -> None:
    before = set(map_threads())
    found: dict[int, list[int]] = {}

    def work(number: int) -> None:
        for _ in range(20):
            batch = ndd.copy(ndd.batch(list(range(10))))
            found[number] = numbers(ndd.map(lambda x: int(x) * number, batch))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {number: [k * number for k in range(10)] for number in range(6)}
    # Contexts of threads end with these.
    wait_until_gone([thread for thread in map_threads() if thread not in before])


def test_threads_are_few_and_end_with_their_context() -> None:
    before = set(map_threads())
    context = ndd.EvalContext(num_threads=4)
    with context:
        for _ in range(30):
            ndd.map(lambda _: time.sleep(0.0001) or 1, ndd.batch([0] * 16)).evaluate()
        own = [thread for thread in map_threads() if thread not in before]
        assert len(own) == 3
    del context
    wait_until_gone(own)


def test_results_outlive_their_context() -> None:
    with ndd.EvalMode.deferred:
        context = ndd.EvalContext(num_threads=4)
        with context:
            result = ndd.map(lambda x: x + 1, ndd.copy(ndd.batch([1, 2, 3])))
        del context
        gc.collect()
        assert numbers(result) == [2, 3, 4]


def test_interruption() -> None:
    """Ctrl-C ends a call that the main thread runs; the context works on."""
    inside = threading.Event()

    def interrupt() -> None:
        assert inside.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    def slow(_: np.ndarray) -> int:
        inside.set()
        for _ in range(1000):
            time.sleep(0.01)
        return 1

    sender = threading.Thread(target=interrupt)
    with ndd.EvalContext(num_threads=1), ndd.EvalMode.sync_cpu:
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            ndd.map(slow, ndd.batch([0] * 4))
        sender.join()
        assert numbers(ndd.map(lambda x: x + 1, ndd.batch([1, 2]))) == [2, 3]


PROGRAM = """
import os, sys, threading, time
import numpy as np
import daliesque as ndd

def add(x):
    return x + 1

def numbers(batch):
    return [sample.item() for sample in batch]

with ndd.EvalContext(num_threads=3) as context:
    assert numbers(ndd.map(add, ndd.batch([1, 2, 3, 4]))) == [2, 3, 4, 5]
    {}
"""


def run(program: str) -> str:
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            PROGRAM.replace("{}", program.replace("\n", "\n    ")),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_a_forked_process_has_threads_of_its_own() -> None:
    program = """\
import warnings; warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()
if child == 0:
    ok = numbers(ndd.map(add, ndd.batch([5, 6, 7]))) == [6, 7, 8]
    threads = [t for t in threading.enumerate() if t.name == "daliesque map"]
    os._exit(0 if ok and len(threads) == 2 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(numbers(ndd.map(add, ndd.batch([1]))))"""
    assert run(program) == "0\n[2]\n"


def test_a_program_may_end_at_any_time() -> None:
    assert run("result = ndd.map(lambda x: time.sleep(0.2) or 1, ndd.batch([0] * 4))") == ""
    assert run("print(1); sys.exit()") == "1\n"
