# SPDX-License-Identifier: Apache-2.0
"""Calls that are queued behind each other in eager mode run together: the same results."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine import executor, fusion

COUNT, HEIGHT, WIDTH = 16, 200, 220
MEAN, STD = [100.0, 110.0, 120.0], [50.0, 60.0, 70.0]


def images(count: int = COUNT) -> ndd.Batch:
    generator = np.random.default_rng(3)
    data = generator.integers(0, 255, (count, HEIGHT, WIDTH, 3), np.uint8)
    return ndd.batch(data, layout="HWC").evaluate()


def chain(batch: ndd.Batch, rng: ndd.random.RNG) -> ndd.Batch:
    batch = ndd.flip(batch, horizontal=ndd.random.coin_flip(batch_size=COUNT, rng=rng))
    batch = ndd.noise.gaussian(batch, stddev=20.0, rng=rng)
    batch = ndd.resize(batch, size=[90, 80])
    return ndd.crop_mirror_normalize(batch, mean=MEAN, std=STD)


def one_by_one(batch: ndd.Batch, call: Callable[..., ndd.Batch] = chain) -> np.ndarray:
    with ndd.EvalMode.sync_cpu:
        return np.asarray(call(batch, ndd.random.RNG(seed=3)))


class Gate:
    """A queue whose calls wait until it is opened, with the chains that are found in it."""

    def __init__(self) -> None:
        self.chains: list[list[str]] = []
        self._open = threading.Event()

    def close(self) -> None:
        """Queue a call that waits."""
        data = ndd.copy(ndd.batch(np.zeros((1, 1 << 21), np.uint8)))
        self._waiting = ndd.map(lambda x: (self._open.wait(60), x)[1], data, dtype=ndd.uint8)

    def open(self) -> None:
        self._open.set()

    def find(self, calls: list[Any]) -> Any:
        """Stands for `find_chain`."""
        found = fusion.find_chain(calls)
        if found is not None:
            self.chains.append([call.name for call in found[1]])
        return found


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate()
    monkeypatch.setattr(executor, "find_chain", made.find)
    # A new queue.
    with ndd.EvalContext(num_threads=2):
        yield made
        made.open()


NAMES = ["flip", "noise.gaussian", "resize", "crop_mirror_normalize"]


@pytest.mark.parametrize("in_background", [False, True])
def test_results_are_those_of_the_calls_one_by_one(gate: Gate, in_background: bool) -> None:
    batch = images()
    expected = one_by_one(batch)
    gate.close()
    result = chain(batch, ndd.random.RNG(seed=3))
    gate.open()
    if in_background:
        # What is queued behind the chain is done after it, and nobody asks for either.
        done = threading.Event()
        last = ndd.map(lambda x: (done.set(), x)[1], ndd.copy(batch), dtype=ndd.uint8)
        assert done.wait(60)
        del last
    np.testing.assert_array_equal(np.asarray(result), expected, strict=True)
    assert gate.chains[0] == NAMES


def test_results_that_somebody_has_are_made(gate: Gate) -> None:
    batch = images()
    gate.close()
    flipped = ndd.flip(batch)
    brighter = ndd.brightness(flipped, brightness=0.5)
    result = ndd.flip(brighter)
    shapes = ndd.resize(brighter, size=[20, 20])
    gate.open()
    expected = one_by_one(batch, lambda x, _: ndd.brightness(ndd.flip(x), brightness=0.5))
    np.testing.assert_array_equal(np.asarray(brighter), expected)
    np.testing.assert_array_equal(np.asarray(result), expected[:, :, ::-1])
    np.testing.assert_array_equal(np.asarray(flipped), np.asarray(batch)[:, :, ::-1])
    assert shapes.shape == [(20, 20, 3)] * COUNT
    assert gate.chains == []


def test_two_chains_from_one_result(gate: Gate) -> None:
    """The queue holds their calls in turn."""
    batch = images()
    gate.close()
    first, second = ndd.flip(batch), ndd.flip(batch, horizontal=0, vertical=1)
    first = ndd.brightness(first, brightness=0.5)
    second = ndd.brightness(second, brightness=2.0)
    first = ndd.flip(first)
    second = ndd.flip(second, horizontal=0, vertical=1)
    gate.open()
    for result, brightness in ((second, 2.0), (first, 0.5)):
        expected = one_by_one(batch, lambda x, _, b=brightness: ndd.brightness(x, brightness=b))
        np.testing.assert_array_equal(np.asarray(result), expected)
    assert gate.chains == [["flip", "brightness", "flip"]] * 2


def test_results_that_are_wanted_after_all(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody gets hold of a result in between when it has been left out already."""
    batch = images()
    found: list[np.ndarray] = []
    readers: list[threading.Thread] = []

    def find_and_read(calls: list[Any]) -> Any:
        chain = gate.find(calls)
        value = between()
        if chain is not None and value is not None:
            readers.append(threading.Thread(target=lambda: found.append(np.asarray(value))))
            readers[-1].start()
        return chain

    monkeypatch.setattr(executor, "find_chain", find_and_read)
    with ndd.EvalContext(num_threads=2):
        gate.close()
        flipped = ndd.flip(batch)
        between = weakref.ref(flipped)
        result = ndd.flip(flipped, horizontal=0, vertical=1)
        del flipped
        gate.open()
        np.testing.assert_array_equal(np.asarray(result), np.asarray(batch)[:, ::-1, ::-1])
        for reader in readers:
            reader.join(60)
    assert len(readers) == 1
    np.testing.assert_array_equal(found[0], np.asarray(batch)[:, :, ::-1])


def test_errors_are_those_of_the_calls_one_by_one(gate: Gate) -> None:
    batch = images()
    sizes = np.full((COUNT, 2), 40.0, np.float32)
    sizes[11] = 1000

    def failing(x: ndd.Batch) -> ndd.Batch:
        return ndd.flip(ndd.crop(ndd.flip(x), crop=ndd.batch(sizes)))

    with pytest.raises(ndd.OpError) as alone, ndd.EvalMode.sync_cpu:
        failing(batch)
    gate.close()
    result = failing(batch)
    good = chain(batch, ndd.random.RNG(seed=3))
    gate.open()
    for _ in range(2):
        with pytest.raises(ndd.OpError) as together:
            result.evaluate()
        assert str(together.value) == str(alone.value)
    assert any("from crop() at " in note for note in together.value.__notes__)
    np.testing.assert_array_equal(np.asarray(good), one_by_one(batch))


def test_calls_of_which_no_chain_can_be_made(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are made one by one, and no other result has anything to do with it."""

    def fail(_calls: list[Any]) -> Any:
        raise ValueError

    monkeypatch.setattr(fusion, "_chain_of", fail)
    batch = images()
    gate.close()
    results = [chain(batch, ndd.random.RNG(seed=3)) for _ in range(2)]
    gate.open()
    for result in results:
        np.testing.assert_array_equal(np.asarray(result), one_by_one(batch), strict=True)


@pytest.mark.pool
def test_no_batch_in_between(gate: Gate) -> None:
    batch = images(64)
    ndd.flip(ndd.flip(batch)).evaluate()
    gate.close()
    before = ndd.memory(release=True, reset_peak=True)
    result = ndd.resize(ndd.brightness(ndd.flip(batch), brightness=0.5), size=[64, 64])
    gate.open()
    result.evaluate()
    after = ndd.memory()
    sample = HEIGHT * WIDTH * 3
    # The result, and of each thread a sample before and after an operator.
    most = 9 / 8 * (64 * 64 * 64 * 3 + 2 * 2 * sample) + (2 << 20)
    assert after.peak_bytes - before.used_bytes < most < 64 * sample
    assert gate.chains == [["flip", "brightness", "resize"]]


def test_the_queue_is_worked_on_although_nobody_reads() -> None:
    """A while after the call, which may have returned long ago."""
    batch = images()
    for _ in range(20):
        done = threading.Event()
        result = ndd.map(lambda x, d=done: (d.set(), x)[1], ndd.flip(batch), dtype=ndd.uint8)
        assert done.wait(60)
        del result
