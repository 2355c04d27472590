# SPDX-License-Identifier: Apache-2.0
"""Reading ahead: in order, within bounds, and without leaving anything behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import daliesque as ndd
from daliesque._readers.core.order import Numbers
from daliesque._readers.core.prefetch import Prefetcher
from daliesque._readers.core.source import Fetched
from daliesque._readers.core.steps import Capacity
from support.reader_checks import Count, at_most_ahead, numbers_of
from support.started_threads import started_threads


def wait_until(condition: Callable[[], bool]) -> None:
    """Return when a condition holds that another thread brings about."""
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    assert condition()


def reading_threads() -> int:
    return len(started_threads("daliesque reader"))


def tasks() -> int:
    """All threads of the process, native ones as well."""
    return len(os.listdir("/proc/self/task"))


@pytest.fixture(autouse=True)
def _no_threads_left() -> Iterator[None]:
    yield
    gc.collect()
    wait_until(lambda: reading_threads() == 0)


@pytest.mark.parametrize("depth", [1, 3])
def test_reads_ahead_as_far_as_asked(depth: int) -> None:
    reader = Count(100, prefetch_queue_depth=depth)
    epoch = reader.next_epoch(batch_size=2)
    assert reader.fetched == []
    for step in range(5):
        next(epoch)
        # The batches in the queue, and one that is ready to be queued.
        ahead = 2 * (step + 1 + depth + 1)
        wait_until(lambda ahead=ahead: len(reader.fetched) == ahead)
    time.sleep(0.05)
    assert len(reader.fetched) == ahead


def test_bytes_are_bounded() -> None:
    reader = Count(100, prefetch_queue_depth=50)
    with at_most_ahead(20):
        epoch = reader.next_epoch(batch_size=2)
        next(epoch)
        # One batch delivered, two of 8 bytes in the queue.
        wait_until(lambda: len(reader.fetched) == 6)
        time.sleep(0.05)
        assert len(reader.fetched) == 6
        assert [numbers_of(step)[0] for step in epoch] == list(range(2, 100, 2))


def test_failure_of_the_iterator() -> None:
    def items(_capacity: Callable[[], Capacity]) -> Iterator[int]:
        yield 1
        raise KeyError

    prefetcher = Prefetcher(items, 2, lambda _item: 1)
    assert prefetcher.first() == 1
    # Until it is dropped, it is the first.
    assert prefetcher.first() == 1
    prefetcher.drop()
    with pytest.raises(KeyError):
        prefetcher.first()
    assert prefetcher.broken


class Foreseen(Count):
    """Notes which samples are fetched, and which ones are expected after them."""

    def __init__(self, size: int, **options: Any) -> None:
        super().__init__(size, **options)
        self.steps: list[tuple[list[int], list[list[int]]]] = []
        self.closed = 0

    def _make_fetcher(self) -> ForeseenFetcher:
        return ForeseenFetcher(self)


class ForeseenFetcher:
    """Reads step by step, and notes what it is asked for."""

    def __init__(self, reader: Foreseen) -> None:
        self._reader = reader

    def fetch(self, numbers: Numbers, expected: Sequence[Numbers], most_bytes: int) -> Fetched:
        assert most_bytes <= 1 << 28
        self._reader.steps.append((numbers.tolist(), [some.tolist() for some in expected]))
        return self._reader.fetch(numbers)

    def close(self) -> None:
        self._reader.closed += 1


@pytest.mark.parametrize("batch_size", [None, 1, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"random_shuffle": True}, {"pad_last_batch": True}, {"bad": [4, 5], "on_error": "skip"}],
)
def test_what_is_expected_comes(batch_size: int | None, options: dict[str, Any]) -> None:
    reader = Foreseen(100, prefetch_queue_depth=3, **options)
    delivered = [numbers_of(step) for step in reader.next_epoch(batch_size=batch_size)]
    assert sum(map(len, delivered)) >= 100
    assert reader.closed == 1
    assert max(len(expected) for _, expected in reader.steps) == 3
    fetched = [numbers for numbers, _ in reader.steps]
    surprises = sum(
        fetched[step + 1 : step + 1 + len(expected)] != expected
        for step, (_, expected) in enumerate(reader.steps)
    )
    # A sample that is left out shifts the others.
    assert surprises <= (12 if "bad" in options else 0)


def test_setting_a_state_ends_the_reading_ahead() -> None:
    reader = Foreseen(100)
    epoch = reader.next_epoch(batch_size=2)
    next(epoch)
    reader.set_state(reader.get_state())
    wait_until(lambda: reader.closed == 1)
    assert len(epoch) == 0
    with pytest.raises(RuntimeError, match="this epoch ended when the reader's state was set"):
        next(epoch)
    assert numbers_of(next(reader.next_epoch(batch_size=2))) == [2, 3]


def test_the_reader_ends_what_it_expects() -> None:
    reader = Foreseen(100)
    epoch = reader.next_epoch(batch_size=2)
    next(epoch)
    epoch.close()
    wait_until(lambda: reader.closed == 1)


def test_no_thread_after_the_end() -> None:
    reader = Count(10)
    before = tasks()
    for _ in range(3):
        for _ in reader.next_epoch(batch_size=2):
            pass
        wait_until(lambda: reading_threads() == 0)
    wait_until(lambda: tasks() <= before)


def test_no_thread_after_leaving() -> None:
    reader = Count(1000)
    before = tasks()
    for _ in reader.next_epoch(batch_size=2):
        assert reading_threads() == 1
        break
    wait_until(lambda: reading_threads() == 0)
    epoch = reader.next_epoch(batch_size=2)
    next(epoch)
    other = reader.next_epoch(batch_size=2)
    wait_until(lambda: reading_threads() == 0)
    next(other)
    other.close()
    wait_until(lambda: tasks() <= before)


def test_no_thread_after_an_exception() -> None:
    def fail() -> None:
        for _ in Count(1000).next_epoch(batch_size=2):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    gc.collect()
    wait_until(lambda: reading_threads() == 0)


def test_no_files_left_open(tmp_path: Path) -> None:
    files = [tmp_path / str(i) for i in range(50)]
    for file in files:
        file.write_text("x")
    reader = ndd.readers.File(files=files, on_error="skip")
    files[7].unlink()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        for _ in reader.next_epoch(batch_size=7):
            pass
        for _ in reader.next_epoch(batch_size=7):
            break
    wait_until(lambda: len(os.listdir("/proc/self/fd")) == before)


@pytest.mark.filterwarnings("ignore")
def test_a_forked_process_goes_on_by_itself() -> None:
    reader = Count(100, random_shuffle=True)
    epoch = reader.next_epoch(batch_size=3)
    for _ in range(4):
        next(epoch)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            text = repr([numbers_of(step) for step in epoch])
            os.write(write_end, text.encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    assert text == repr([numbers_of(step) for step in epoch])


@pytest.mark.parametrize("how", ["pass", "raise SystemExit(3)", "del epoch", "del reader"])
def test_exit_in_the_middle_of_an_epoch(tmp_path: Path, how: str) -> None:
    for i in range(20):
        (tmp_path / f"{i}.jpg").write_bytes(b"x" * 100_000)
    program = f"""
import os
import daliesque as ndd
files = [{str(tmp_path)!r} + f"/{{i}}.jpg" for i in range(20)] * 100
reader = ndd.readers.File(files=files, prefetch_queue_depth=4)
epoch = reader.next_epoch(batch_size=16)
next(epoch)
{how}
"""
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", program], check=False, timeout=60, capture_output=True
        )
        assert done.stderr == b""
        assert done.returncode == (3 if "3" in how else 0)
