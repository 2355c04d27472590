# SPDX-License-Identifier: Apache-2.0
"""`replay`: the same batches again and again."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._loops.run_ahead import count_samples


def load(closed: list[bool] | None = None) -> Iterator[ndd.Batch]:
    try:
        for number in range(100):
            yield ndd.batch([number] * 4) + 1
    finally:
        if closed is not None:
            closed.append(True)


def firsts(replay: Any) -> list[int]:
    return [batch.tolist()[0] for batch in replay]


def test_the_first_items_come_again() -> None:
    closed: list[bool] = []
    replay = ndd.replay(load(closed), keep=3, steps=7)
    assert firsts(replay) == [1, 2, 3, 1, 2, 3, 1]
    assert closed == [True]


def test_as_many_steps_as_the_loop_has() -> None:
    assert firsts(ndd.replay([ndd.batch([k]) for k in range(5)], keep=2)) == [0, 1, 0, 1, 0]


def test_fewer_items_than_asked_for() -> None:
    assert firsts(ndd.replay([ndd.batch([k]) for k in range(2)], keep=8, steps=3)) == [0, 1, 0]
    assert firsts(ndd.replay([], steps=3)) == []


def test_it_ends_after_some_seconds() -> None:
    served = 0
    for _ in ndd.replay(load, seconds=0.05):
        served += 1
        time.sleep(0.01)
    assert 1 <= served <= 6


def test_the_speed_is_measured() -> None:
    ndd.report(reset=True)
    replay = ndd.replay(load, keep=2, steps=5)
    begin = time.perf_counter()
    for _ in replay:
        time.sleep(0.02)
    most = time.perf_counter() - begin
    speed = replay.samples_per_second
    assert speed is not None
    # Twenty samples in at least five sleeps, and in less than what the whole has taken.
    assert 20 / most <= speed <= 20 / (5 * 0.02)
    report = ndd.report()
    totals = report.counters.totals
    assert (totals.replay_steps, totals.replay_samples) == (5, 20)
    assert 5 * 0.02 <= totals.replay_wall <= most
    assert report.estimates.perfect_is_measured
    assert f"your loop runs at {20 / totals.replay_wall:,.0f} samples/s" in report.sentence
    # It is no loop over data: nothing waits there.
    assert totals.loop_steps == 0


def test_steps_of_readers_stay_usable() -> None:
    class Numbers(ndd.readers.Reader):
        def open_index(self) -> int:
            return 12

        def fetch_sample(self, number: int) -> int:
            return number

    reader = Numbers()
    items = [x.tolist() for (x,) in ndd.replay(reader.next_epoch(batch_size=3), keep=2, steps=4)]
    assert items == [[0, 1, 2], [3, 4, 5]] * 2
    assert [x.tolist() for (x,) in reader.next_epoch(batch_size=6)] == [
        [0, 1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10, 11],
    ]
    with pytest.raises(TypeError, match="is a capture-mode epoch"):
        ndd.replay(reader.next_epoch(batch_size=3, capture=True))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"keep": 0}, ValueError, "'keep' must be positive; got 0"),
        ({"keep": 1.5}, TypeError, "'keep' must be an integer; got 1.5"),
        ({"steps": -1}, ValueError, "'steps' must be positive; got -1"),
        ({"seconds": 0}, ValueError, "'seconds' must be positive; got 0"),
        ({"seconds": math.nan}, ValueError, "'seconds' must be positive; got nan"),
    ],
)
def test_errors(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ndd.replay(load, **options)


def test_no_loop() -> None:
    with pytest.raises(TypeError, match="replay: 'loop' must be a generator function"):
        ndd.replay(3)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("item", "count"),
    [
        (ndd.batch([1, 2, 3]), 3),
        (ndd.tensor([1, 2, 3]), 1),
        ((7, ndd.batch([1, 2])), 2),
        ({"image": np.zeros((5, 4)), "label": np.zeros(5)}, 5),
        ([np.zeros(()), 3], 1),
        (3, 1),
        ("text", 1),
    ],
)
def test_samples_of_an_item(item: Any, count: int) -> None:
    assert count_samples(item) == count
