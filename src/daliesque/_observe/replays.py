# SPDX-License-Identifier: Apache-2.0
"""Serves the same batches again and again: what a loop does with a perfect loader."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from .. import _kernels
from .._loops.prefetch import begin_loop, check_loop, length_of
from .._loops.run_ahead import count_samples, end_items, evaluate_item
from .._readers.core.captured_epoch import CapturedEpoch

T = TypeVar("T")


class Replay(Generic[T]):
    """What `replay` returns: each `for` loop over it takes a few items of the loop again."""

    def __init__(self, loop: Any, keep: int, steps: int | None, seconds: float) -> None:
        self._loop = loop
        self._keep = keep
        self._steps = steps
        self._seconds = seconds
        self._rate: float | None = None

    @property
    def samples_per_second(self) -> float | None:
        """How many samples the last `for` loop consumed in a second; None before its end."""
        return self._rate

    def __iter__(self) -> Iterator[T]:
        steps = self._steps
        if steps is None and hasattr(self._loop, "__len__"):
            steps = length_of(self._loop)
        items = self._taken()
        if not items:
            return
        counts = [count_samples(item) for item in items]
        pace = _kernels.Pace(_kernels.PaceKind.replay)
        samples, begin = 0, time.perf_counter()
        for number in itertools.count() if steps is None else range(steps):
            pace.arrive()
            if time.perf_counter() - begin > self._seconds:
                break
            which = number % len(items)
            pace.depart(counts[which])
            yield items[which]
            samples += counts[which]
        pace.arrive()
        pace.depart(0)
        self._rate = samples / (time.perf_counter() - begin)

    def _taken(self) -> list[T]:
        """The first items of the loop, with all results in them computed."""
        loop = begin_loop(self._loop, "replay")
        try:
            items = list(itertools.islice(loop, self._keep))
            for item in items:
                evaluate_item(item)
        finally:
            end_items(loop)
        return items


def make_replay(loop: Any, keep: int, steps: int | None, seconds: float) -> Replay[Any]:
    """Check the arguments of `replay`."""
    check_loop(loop, "replay")
    if isinstance(loop, CapturedEpoch):
        msg = (
            "replay: 'loop' is a capture-mode epoch, whose batches belong to a step. Give a "
            "generator function that has the epoch in it and yields what you consume."
        )
        raise TypeError(msg)
    for name, value in (("keep", keep), ("steps", steps)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            msg = f"replay: {name!r} must be an integer; got {value!r}."
            raise TypeError(msg)
        if value is not None and value < 1:
            msg = f"replay: {name!r} must be positive; got {value}."
            raise ValueError(msg)
    if not seconds > 0:
        msg = f"replay: 'seconds' must be positive; got {seconds!r}."
        raise ValueError(msg)
    return Replay(loop, keep, steps, seconds)
