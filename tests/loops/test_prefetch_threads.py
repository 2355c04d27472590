# SPDX-License-Identifier: Apache-2.0
"""The thread of `prefetch`: breaks, interruption, garbage collection, fork and exit."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.started_threads import started_threads


class Numbers(ndd.readers.Reader):
    """The numbers from 0 to 99."""

    def open_index(self) -> int:
        return 100

    def fetch_sample(self, number: int) -> np.ndarray:
        return np.array([number], np.int64)


def load() -> Iterator[ndd.Batch]:
    for (numbers,) in Numbers().next_epoch(batch_size=5):
        yield numbers * 2


def prefetch_threads() -> list[threading.Thread]:
    return started_threads("daliesque prefetch")


def wait_until_gone() -> None:
    gc.collect()
    deadline = time.monotonic() + 20
    while prefetch_threads():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_break_ends_the_thread() -> None:
    for item in ndd.prefetch(load):
        assert np.asarray(item).ravel().tolist() == [0, 2, 4, 6, 8]
        assert len(prefetch_threads()) == 1
        break
    assert prefetch_threads() == []


def test_no_thread_without_a_consumer() -> None:
    made = []

    def generate() -> Iterator[int]:
        made.append(1)
        yield 1

    loop = ndd.prefetch(generate)
    items = iter(loop)
    assert prefetch_threads() == []
    del items
    with ndd.prefetch(generate()) as closed:
        pass
    assert made == []
    assert list(ndd.prefetch(generate())) == [1]
    assert list(closed) == []


def test_an_exception_in_the_body_ends_the_thread() -> None:
    def consume() -> None:
        for item in ndd.prefetch(load):
            _ = 1 / int(np.asarray(item).ravel()[0])

    with pytest.raises(ZeroDivisionError):
        consume()
    wait_until_gone()


def test_garbage_collection() -> None:
    class Owner:
        items: Any
        me: Any

    for _ in range(20):
        owner = Owner()
        owner.me = owner
        owner.items = iter(ndd.prefetch(load))
        next(owner.items)
    del owner
    wait_until_gone()


def test_a_loop_that_drops_itself() -> None:
    held: list[Any] = []
    ended = threading.Event()

    def generate() -> Iterator[int]:
        try:
            yield 1
            held.clear()
            yield 2
        finally:
            ended.set()

    held.append(iter(ndd.prefetch(generate, 1)))
    assert next(held[0]) == 1
    assert ended.wait(20)
    wait_until_gone()


def test_close_on_another_thread_wakes_the_consumer() -> None:
    waiting, go_on = threading.Event(), threading.Event()

    def generate() -> Iterator[int]:
        yield 1
        waiting.set()
        go_on.wait(20)
        yield 2

    items = iter(ndd.prefetch(generate))
    assert next(items) == 1
    assert waiting.wait(20)
    closer = threading.Thread(target=items.close)
    closer.start()
    threading.Timer(0.05, go_on.set).start()
    assert list(items) == []
    closer.join(20)
    assert not closer.is_alive()
    wait_until_gone()


def test_several_consumers_get_each_item_once() -> None:
    items = iter(ndd.prefetch(range(200), 4))
    found: list[int] = []
    consumers = [threading.Thread(target=lambda: found.extend(items)) for _ in range(4)]
    for consumer in consumers:
        consumer.start()
    for consumer in consumers:
        consumer.join(20)
    assert sorted(found) == list(range(200))


def test_keyboard_interrupt_while_waiting() -> None:
    go_on = threading.Event()

    def generate() -> Iterator[int]:
        for number in itertools.count():
            if number == 1:
                go_on.wait(20)
            yield number

    def interrupt() -> None:
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    items = iter(ndd.prefetch(generate))
    assert next(items) == 0
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        next(items)
    go_on.set()
    # Nothing is lost.
    assert [next(items), next(items)] == [1, 2]
    items.close()
    assert prefetch_threads() == []


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import daliesque as ndd

rng = np.random.default_rng(int(sys.argv[1]))

class Numbers(ndd.readers.Reader):
    def open_index(self):
        return 60
    def fetch_sample(self, number):
        return np.array([number], np.int64)

def load():
    reader = Numbers()
    generator = ndd.random.RNG(seed=1)
    for (numbers,) in reader.next_epoch(batch_size=2):
        noise = ndd.random.uniform(range=(0, 1), batch_size=2, rng=generator)
        yield numbers + 1, noise

done = threading.Event()
def interrupt():
    for delay in rng.exponential(0.003, 40):
        time.sleep(delay)
        if done.is_set():
            return
        os.kill(os.getpid(), signal.SIGINT)

# Interrupts count inside of the block that catches them, and once for each time it is entered.
catches = False
def handle(*_):
    global catches
    if catches:
        catches = False
        raise KeyboardInterrupt

signal.signal(signal.SIGINT, handle)
sender = threading.Thread(target=interrupt)
sender.start()
while sender.is_alive():
    try:
        catches = True
        for numbers, noise in ndd.prefetch(load):
            np.asarray(numbers), np.asarray(noise)
        catches = False
    except KeyboardInterrupt:
        pass
done.set()
signal.signal(signal.SIGINT, signal.SIG_IGN)
expected = [[2 * step + 1, 2 * step + 2] for step in range(30)]
assert [np.asarray(n).ravel().tolist() for n, _ in ndd.prefetch(load)] == expected
deadline = time.monotonic() + 20
import gc
gc.collect()
while any(t.name == "daliesque prefetch" for t in threading.enumerate()):
    assert time.monotonic() < deadline
    time.sleep(0.01)
print("done")
"""


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("seed", range(3))
def test_keyboard_interrupt_at_any_line(seed: int) -> None:
    assert run(INTERRUPTED, str(seed)).strip() == "done"


EXITING = """
import sys
import numpy as np
import daliesque as ndd

def load():
    images = ndd.batch(np.zeros((8, 64, 64, 3), np.uint8), layout="HWC")
    while True:
        yield ndd.gaussian_blur(ndd.resize(images, size=[128, 128]), sigma=2.0)

items = iter(ndd.prefetch(load))
next(items)
if sys.argv[1] == "global":
    everything = [items]
elif sys.argv[1] == "cycle":
    items = [items]
    items.append(items)
elif sys.argv[1] == "thread":
    import threading
    threading.Thread(target=lambda: [next(items) for _ in range(3)]).start()
elif sys.argv[1] == "exception":
    raise SystemExit(0)
print("done")
"""


@pytest.mark.parametrize("how", ["global", "cycle", "thread", "exception"])
def test_interpreter_exit(how: str) -> None:
    assert run(EXITING, how).strip() == ("" if how == "exception" else "done")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_fork() -> None:
    reader = Numbers()

    def generate() -> Iterator[ndd.Batch]:
        for (numbers,) in reader.next_epoch(batch_size=5):
            yield numbers

    items = iter(ndd.prefetch(generate, 3))
    next(items)
    state = reader.get_state()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                next(items)
            except RuntimeError as error:
                code = 2 if "another process" not in str(error) else 3
            # What was delivered counts here, too.
            if code == 3 and reader.get_state() == state:
                first = next(iter(ndd.prefetch(reader.next_epoch(batch_size=5))))
                code = 0 if len(np.asarray(first[0])) == 5 else 4
            items.close()
            del items
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert np.asarray(next(items)).ravel().tolist() == [5, 6, 7, 8, 9]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_fork_inside_the_loop() -> None:
    rng = ndd.random.RNG(seed=5)

    def generate() -> Iterator[int]:
        rng()
        for _ in range(3):
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                os.write(writing, str(rng()).encode())
                os._exit(0)
            os.waitpid(child, 0)
            yield int(os.read(reading, 100))
            os.close(reading)
            os.close(writing)

    # Each process draws numbers of its own.
    assert len(set(ndd.prefetch(generate))) == 3
