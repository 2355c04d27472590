# SPDX-License-Identifier: Apache-2.0
"""What tests of readers share: a reader of numbers, and checks that fit any reader."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import daliesque as ndd
from daliesque import _kernels
from daliesque.readers import Reader


@contextlib.contextmanager
def at_most_ahead(nbytes: int) -> Iterator[None]:
    """Let readers read so many bytes ahead."""
    previous = _kernels.set_most_bytes_ahead(nbytes)
    try:
        yield
    finally:
        _kernels.set_most_bytes_ahead(previous)


class Numbers(Reader[Any]):
    """Each sample is its number, a scalar; some cannot be read."""

    def __init__(self, size: int, bad: tuple[int, ...] = (), **options: Any) -> None:
        super().__init__(**options)
        self.size, self.bad = size, bad

    def open_index(self) -> int:
        return self.size

    def fetch_sample(self, number: int) -> int:
        if number in self.bad:
            raise OSError(number)
        return number


class Count(Reader):
    """Delivers 0, 1, 2, ...; some of the numbers cannot be read."""

    operator = "readers.Count"

    def __init__(self, size: int, bad: Iterable[int] = (), **options: Any) -> None:
        self._size = size
        self.bad = set(bad)
        self.fetched: list[int] = []
        super().__init__(**options)

    def open_index(self) -> int:
        return self._size

    def fetch_sample(self, number: int) -> Sequence[Any]:
        self.fetched.append(number)
        if number in self.bad:
            msg = f"number {number} is bad"
            raise ValueError(msg)
        return (np.int32(number),)

    def source_name(self, number: int) -> str:
        return f"number {number}"


def values_of(step: Any) -> Any:
    """All values of a step, comparable with ==."""
    if isinstance(step, dict):
        return {name: values_of((output,)) for name, output in step.items()}
    parts = []
    for output in step:
        samples = list(output) if isinstance(output, ndd.Batch) else [output]
        arrays = [np.asarray(sample) for sample in samples]
        parts.append([(str(a.dtype), a.shape, a.tobytes()) for a in arrays])
        parts.append(output.source)
    return parts


def numbers_of(step: Any) -> list[int]:
    """The numbers in a step of a Count."""
    (output,) = step
    samples = list(output) if isinstance(output, ndd.Batch) else [output]
    return [int(sample.item()) for sample in samples]


def epoch_of(reader: Reader, batch_size: int | None = None) -> list[list[int]]:
    """The numbers of an epoch of a Count, batch by batch."""
    return [numbers_of(step) for step in reader.next_epoch(batch_size=batch_size)]


def flat(lists: Iterable[Iterable[int]]) -> list[int]:
    """All numbers in one list."""
    return [number for part in lists for number in part]


def assert_resumes(
    make: Callable[[], Reader], batch_size: int | None, epochs: int = 3, used: bool = False
) -> None:
    """After any number of steps, a restored reader goes on exactly like the one that was saved.

    With `used`, the state is restored by a reader that is in the middle of something else.
    """
    reader = make()
    states, steps = [(0, str(reader.get_state()))], []
    for epoch in range(epochs):
        for step in reader.next_epoch(batch_size=batch_size):
            steps.append((epoch, values_of(step)))
            states.append((len(steps), str(reader.get_state())))
        states.append((len(steps), str(reader.get_state())))
    for count, state in states:
        assert len(state) < 300
        json.loads(state)
        restored = make()
        if used:
            for _, step in zip(range(3), restored.next_epoch(batch_size=2), strict=False):
                del step
        restored.set_state(state)
        tail: list[Any] = []
        while len(tail) < len(steps) - count:
            tail += [values_of(step) for step in restored.next_epoch(batch_size=batch_size)]
        assert tail[: len(steps) - count] == [step for _, step in steps[count:]]


def open_files(folder: Path) -> list[str]:
    """The files below a folder that this process has open; needs /proc."""
    links = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            links.append(os.readlink(f"/proc/self/fd/{number}"))
    return [link for link in links if link.startswith(str(folder))]


def assert_nothing_is_left(folder: Path, threads: Iterable[threading.Thread]) -> None:
    """Check that all files below a folder are closed, and threads end, before long."""
    started = list(threads)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and (
        open_files(folder) or any(thread.is_alive() for thread in started)
    ):
        gc.collect()
        time.sleep(0.01)
    assert open_files(folder) == []
    assert not any(thread.is_alive() for thread in started)
