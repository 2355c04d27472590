# SPDX-License-Identifier: Apache-2.0
"""Loops that are left, interrupted, forked, resumed or used by several threads."""

from __future__ import annotations

import gc
import linecache
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.started_threads import started_threads

PACKAGE = Path(ndd.__file__).parent
COUNT = 12


def reader(**options: Any) -> ndd.readers.Python:
    return ndd.readers.Python([np.full(2, n, np.int32) for n in range(COUNT)], **options)


def items() -> Iterator[Any]:
    for number in range(COUNT // 2):
        yield ndd.batch([[2 * number] * 2, [2 * number + 1] * 2], dtype=ndd.int32)


def steps_of_reader() -> Iterator[ndd.Batch]:
    return (batch for (batch,) in reader().next_epoch(batch_size=2, capture=True))


def steps_of_source() -> Iterator[ndd.Batch]:
    return ndd.ExternalSource(items).captured(batch_size=2)


EXPECTED = [[[n, n], [n + 1, n + 1]] for n in range(0, COUNT, 2)]
LOOPS = [steps_of_reader, steps_of_source]


def work(batch: ndd.Batch) -> Any:
    moved = ndd.cast(batch + 1, dtype=ndd.int64)
    return (moved - 1).tolist()


def busy_threads() -> list[str]:
    return [each.name for each in started_threads("daliesque capture", "daliesque reader")]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    gc.collect()
    before = descriptors()
    yield
    gc.collect()
    end = time.monotonic() + 20
    while busy_threads() and time.monotonic() < end:
        time.sleep(0.01)
    assert busy_threads() == []
    assert descriptors() <= before


@pytest.mark.parametrize("make", LOOPS)
@pytest.mark.parametrize("steps", range(5))
def test_loops_that_are_dropped(make: Callable[[], Iterator[ndd.Batch]], steps: int) -> None:
    epoch = make()
    assert [work(next(epoch)) for _ in range(steps)] == EXPECTED[:steps]
    del epoch


@pytest.mark.parametrize("make", LOOPS)
def test_exceptions_in_the_body(make: Callable[[], Iterator[ndd.Batch]]) -> None:
    def loop() -> None:
        for step, batch in enumerate(make()):
            work(batch)
            1 / (2 - step)

    with pytest.raises(ZeroDivisionError):
        loop()
    assert [work(batch) for batch in make()] == EXPECTED


@pytest.mark.parametrize("kind", ["source", "conversion"])
def test_items_that_fail(kind: str) -> None:
    def endless() -> Iterator[Any]:
        yield from [[0, 0]] * 3
        while True:
            if kind == "source":
                msg = "no item"
                raise ValueError(msg)
            yield ndd.batch([1, 2, 3])

    epoch = ndd.ExternalSource(endless).captured(batch_size=2)
    for _ in range(3):
        work(next(epoch))
    with pytest.raises(ValueError, match=r"no item|Expected batch size 2, got 3"):
        next(epoch)
    # The traceback may keep the epoch, and its thread, alive for a while.
    epoch.close()


@pytest.mark.parametrize("steps", range(1, COUNT // 2))
def test_nothing_is_lost_when_a_source_is_left(steps: int) -> None:
    source, feeder = ndd.ExternalSource(items), ndd.ExternalSource(iter(range(100)))
    epoch = source.captured(batch_size=2)
    for number in range(steps):
        batch, amount = next(epoch), feeder(batch_size=2)
        work(batch + amount)
        assert amount.tolist() == [number] * 2
    del epoch, batch
    assert feeder().item() == steps
    assert source().tolist() == EXPECTED[steps]


@pytest.mark.parametrize("kind", ["reader", "source"])
def test_resuming_at_every_step(kind: str) -> None:
    def loop(checkpoint: ndd.checkpoint.Checkpoint) -> Iterator[Any]:
        rng, feeder = ndd.random.RNG(seed=3), ndd.ExternalSource(range(100))
        files = reader(random_shuffle=True, initial_fill=4)
        source = ndd.ExternalSource(items)
        for name, part in (("rng", rng), ("feeder", feeder), (kind, vars()[names[kind]])):
            checkpoint.register(part, name)
        root: Any = source.captured(2)
        if kind == "reader":
            root = (batch for (batch,) in files.next_epoch(batch_size=2, capture=True))
        for batch in root:
            moved = batch + ndd.random.uniform(batch_size=2, shape=[2], rng=rng)
            yield ndd.cast(moved, dtype=ndd.float64), feeder(batch_size=2) + 0

    names = {"reader": "files", "source": "source"}
    ndd.testing.assert_resumes(loop, fresh_process=False)


class Interrupter:
    """Raises KeyboardInterrupt at line number `at` that runs in the machinery of capture."""

    FILES = ("_capture", "captured_epoch.py", "pulling.py")

    def __init__(self, at: int) -> None:
        self.left = at
        self.where = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(str(PACKAGE)) or not any(part in name for part in self.FILES):
            return None
        if frame.f_code.co_name in ("__del__", "close"):
            return None
        # The interpreter lets no signal come between the end of a block and what `with` does then.
        if event == "line" and not linecache.getline(name, frame.f_lineno).strip().startswith(
            "with"
        ):
            if self.left == 0:
                self.left = -1
                self.where = f"{name}:{frame.f_lineno}"
                raise KeyboardInterrupt
            self.left -= 1
        return self


@pytest.mark.parametrize("make", LOOPS)
def test_interruptions_at_every_line(make: Callable[[], Iterator[ndd.Batch]]) -> None:
    """A step is delivered once, whatever line is interrupted on the way to it."""
    at = 0
    while True:
        if make is steps_of_reader:
            epoch: Any = reader().next_epoch(batch_size=2, capture=True)
        else:
            epoch = make()
        found: list[Any] = []
        interrupter = Interrupter(at)
        while len(found) < 4:
            sys.settrace(interrupter)
            try:
                step = next(epoch)
            except KeyboardInterrupt:
                continue
            finally:
                sys.settrace(None)
            found.append(work(step[0] if make is steps_of_reader else step))
        assert found == EXPECTED[:4], (at, interrupter.where)
        epoch.close()
        if interrupter.left >= 0:
            break
        at += 1
    assert at > 100


def test_eight_threads() -> None:
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            rng = ndd.random.RNG(seed=number)
            expected, state = None, None
            for capture in (False, True):
                rng.seed = number
                source, found = reader(random_shuffle=True, initial_fill=number + 1), []
                for _ in range(3):
                    for (batch,) in source.next_epoch(batch_size=4, capture=capture):
                        moved = batch + ndd.random.uniform(batch_size=4, shape=[2], rng=rng)
                        found.append(ndd.cast(moved, dtype=ndd.float64).tolist())
                if capture:
                    assert found == expected
                    assert rng.get_state() == state
                expected, state = found, rng.get_state()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


PROGRAMS = {
    # An epoch that is half through when the interpreter ends.
    "exit": """
epoch = reader.next_epoch(batch_size=2, capture=True)
for _ in range(3):
    (batch,) = next(epoch)
    (batch + 1).evaluate()
""",
    "fork": """
import os
epoch, source = reader.next_epoch(batch_size=2, capture=True), None
for _ in range(3):
    (batch,) = next(epoch)
    (batch + 1).evaluate()
child = os.fork()
found = [(batch + 0).tolist()[0][0] for (batch,) in epoch]
assert found == [6, 8, 10], found
if child:
    _, status = os.waitpid(child, 0)
    assert status == 0, status
else:
    os._exit(0)
""",
    "fork with a source": """
import os
items = (ndd.batch([n]) for n in range(7))
epoch = ndd.ExternalSource(items).captured(batch_size=1)
for _ in range(3):
    (next(epoch) + 1).evaluate()
child = os.fork()
found = [(batch + 0).tolist()[0] for batch in epoch]
assert found == [3, 4, 5, 6], found
if child:
    _, status = os.waitpid(child, 0)
    assert status == 0, status
else:
    os._exit(0)
""",
}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_processes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\nimport daliesque as ndd\n"
        f"reader = ndd.readers.Python([np.full(2, n) for n in range({COUNT})])\n" + PROGRAMS[name]
    )
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
