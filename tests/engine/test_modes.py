# SPDX-License-Identifier: Apache-2.0
"""When calls run, in which order, and how their failures reach the caller."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.invocation import Invocation

ASYNCHRONOUS = [ndd.EvalMode.eager, ndd.EvalMode.deferred]


def probe(body: Callable[[], None], *inputs: Any) -> ndd.Tensor:
    """A call that runs `body` and returns its first input, or a zero."""

    def run(data: tuple[Any, ...], _arguments: dict[str, Any]) -> Any:
        body()
        return data[0] if data else ndd.tensor(0)._data()

    invocation = Invocation("probe", run, inputs, {})
    invocation.start(ndd.EvalMode.current(), None)
    return ndd.Tensor._promised(invocation, 0, 1)


def test_modes_are_ordered() -> None:
    modes = [
        ndd.EvalMode.deferred,
        ndd.EvalMode.eager,
        ndd.EvalMode.sync_cpu,
        ndd.EvalMode.sync_full,
    ]
    assert sorted([*modes[2:], *modes[:2]]) == modes
    assert ndd.EvalMode.default is ndd.EvalMode.eager
    assert [mode.value for mode in modes] == [1, 2, 3, 4]
    with pytest.raises(TypeError):
        _ = ndd.EvalMode.eager < 3


def test_modes_nest_and_are_per_thread() -> None:
    seen = []
    assert ndd.EvalMode.current() is ndd.EvalMode.eager
    with ndd.EvalMode.deferred:
        with ndd.EvalMode.sync_full:
            assert ndd.EvalMode.current() is ndd.EvalMode.sync_full
            thread = threading.Thread(target=lambda: seen.append(ndd.EvalMode.current()))
            thread.start()
            thread.join()
        assert ndd.EvalMode.current() is ndd.EvalMode.deferred
    assert seen == [ndd.EvalMode.eager]


def test_deferred_runs_on_first_read_and_once() -> None:
    runs: list[int] = []
    with ndd.EvalMode.deferred:
        result = probe(lambda: runs.append(1))
        after = result + 1
    assert runs == []
    assert after.item() == 1
    assert result.item() == 0
    assert runs == [1]


def test_deferred_results_that_nobody_wants_are_not_computed() -> None:
    runs: list[int] = []
    with ndd.EvalMode.deferred:
        unwanted = probe(lambda: runs.append(1))
        del unwanted
    ndd.EvalContext.current().evaluate_all()
    assert runs == []


def test_deferred_runs_once_when_read_by_many_threads() -> None:
    runs: list[int] = []

    def slow() -> None:
        time.sleep(0.02)
        runs.append(1)

    with ndd.EvalMode.deferred:
        result = probe(slow) + 1
    barrier = threading.Barrier(6)
    read: list[int] = []

    def reader() -> None:
        barrier.wait()
        read.append(result.item())

    threads = [threading.Thread(target=reader) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runs == [1]
    assert read == [1] * 6


def test_eager_does_not_block_and_keeps_order() -> None:
    order: list[int] = []
    gate = threading.Event()
    big = ndd.tensor(np.zeros(4 << 20, np.uint8))
    first = probe(lambda: (gate.wait(5), order.append(0)), big)  # type: ignore[func-returns-value]
    rest = [probe(lambda k=k: order.append(k), big) for k in range(1, 10)]  # type: ignore[misc]
    assert order == []
    gate.set()
    rest[-1].evaluate()
    assert order == list(range(10))
    first.evaluate()


def test_metadata_does_not_block() -> None:
    gate = threading.Event()
    big = ndd.tensor(np.zeros(4 << 20, np.uint8))
    blocked = probe(lambda: gate.wait(5), big)  # type: ignore[arg-type,return-value]
    total = ndd.cast(blocked, dtype=ndd.float32)
    assert total.dtype == ndd.float32
    assert total.device == ndd.Device.CPU
    batch = ndd.as_batch([blocked, blocked])
    assert batch.batch_size == 2
    gate.set()
    assert total.shape == (4 << 20,)


def test_external_data_is_consumed_before_the_call_returns() -> None:
    array = np.zeros(10, np.int32)
    for _ in range(50):
        array[:] = 1
        result = ndd.as_tensor(array) + 1
        array[:] = 100
        assert np.asarray(result).tolist() == [2] * 10


def test_calls_inside_a_call() -> None:
    inner: list[int] = []

    def body() -> None:
        value = ndd.tensor([1, 2, 3]) * 2
        inner.extend(np.asarray(value + 1).tolist())

    for mode in (ndd.EvalMode.sync_cpu, *ASYNCHRONOUS):
        inner.clear()
        with mode:
            probe(body, ndd.tensor(np.zeros(4 << 20, np.uint8))).evaluate()
        assert inner == [3, 5, 7]


def test_a_call_may_read_an_earlier_pending_one() -> None:
    big = ndd.tensor(np.zeros(4 << 20, np.uint8))
    earlier = big + 1
    seen: list[int] = []
    probe(lambda: seen.append(int(earlier[0].item())), big).evaluate()
    assert seen == [1]


def fail_in_kernel() -> ndd.Tensor:
    first, second = ndd.tensor([1, 2, 3]), ndd.tensor([1, 2])
    return first + second  # the line that fails


@pytest.mark.parametrize("mode", ASYNCHRONOUS)
def test_failure_comes_out_where_it_is_read(mode: ndd.EvalMode) -> None:
    with ndd.EvalMode.sync_cpu, pytest.raises(ValueError, match=r"operator \+") as expected:
        fail_in_kernel()
    with mode:
        result = fail_in_kernel()
        with pytest.raises(ValueError, match=r"operator \+") as raised:
            result.evaluate()
    assert str(raised.value) == str(expected.value)
    assert type(raised.value) is type(expected.value)
    cause = raised.value.__cause__
    assert cause is not None
    assert str(cause) == str(expected.value)
    site = traceback.extract_tb(cause.__traceback__)[-1]
    assert site.line == "return first + second  # the line that fails"
    assert site.name == "fail_in_kernel"
    note, page = raised.value.__notes__
    assert page.startswith("See docs/errors/ValueError.md, or run: ")
    assert "operator +()" in note
    assert f"{__file__}:{site.lineno}" in note
    assert f"mode {mode.name}" in note


@pytest.mark.parametrize("mode", ASYNCHRONOUS)
def test_dependents_fail_alike_and_others_go_on(mode: ndd.EvalMode) -> None:
    with mode:
        bad = fail_in_kernel()
        worse = (bad * 2)[0]
        good = ndd.tensor([1]) + 1
    for result in (bad, worse, worse):
        with pytest.raises(ValueError, match=r"operator \+") as raised:
            result.evaluate()
        assert "operator +()" in raised.value.__notes__[0]
    assert good.item() == 2


class Awkward(Exception):
    """An exception that cannot be rebuilt from its arguments."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} {two}")


def test_exceptions_that_cannot_be_rebuilt() -> None:
    def body() -> None:
        raise Awkward(1, 2)

    with pytest.raises(Awkward, match="1 2"):
        probe(body).evaluate()


def test_many_threads_share_results() -> None:
    """Threads read each other's pending results; nothing deadlocks and all values are right."""
    count, rounds = 4, 150
    latest: list[Any] = [ndd.tensor(0)] * count
    errors: list[BaseException] = []
    barrier = threading.Barrier(count)

    def work(me: int) -> None:
        try:
            barrier.wait()
            for k in range(rounds):
                mode = (ndd.EvalMode.eager, ndd.EvalMode.deferred)[k % 2]
                with mode:
                    latest[me] = (
                        ndd.tensor(np.full(1000, k, np.int64)) + latest[(me + 1) % count] * 0
                    )
                if k % 7 == me:
                    assert np.asarray(latest[me])[0] == k
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert errors == []
    assert all(np.asarray(value)[0] == rounds - 1 for value in latest)


def test_evaluate_all() -> None:
    runs: list[int] = []
    with ndd.EvalContext() as context:
        with ndd.EvalMode.deferred:
            kept = probe(lambda: runs.append(1))
        also = probe(lambda: runs.append(2))
        context.evaluate_all()
        assert sorted(runs) == [1, 2]
    assert kept.item() == also.item() == 0


def test_forked_child_works_on() -> None:
    # In a process of its own: what other libraries do before a fork may let the call begin.
    program = (
        "import os, daliesque as ndd, numpy as np\n"
        "big = ndd.batch([np.full((500, 500, 3), k, np.uint8) for k in range(16)])\n"
        "pending = big + 1\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    value = np.asarray((pending + 1).tensors[15])[0, 0, 0]\n"
        "    more = np.asarray((ndd.copy(big) * 2).tensors[3])[0, 0, 0]\n"
        "    os._exit(0 if value == 17 and more == 6 else 1)\n"
        "assert os.waitpid(pid, 0)[1] == 0\n"
        "assert np.asarray(pending.tensors[15])[0, 0, 0] == 16\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_exit_with_work_in_flight() -> None:
    program = (
        "import daliesque as ndd, numpy as np\n"
        "big = ndd.batch([np.zeros((2000, 2000, 3), np.uint8)] * 8)\n"
        "for _ in range(20): big = big + 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
