# SPDX-License-Identifier: Apache-2.0
"""`prefetch`: order, bounds, states, errors."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import daliesque as ndd


class Numbers(ndd.readers.Reader):
    """The numbers from 0 to 23, as arrays of one element."""

    def open_index(self) -> int:
        return 24

    def fetch_sample(self, number: int) -> np.ndarray:
        return np.array([number], np.int64)


def values(batch: ndd.Batch) -> list[int]:
    return [int(sample.item()) for sample in batch]


def loop_over(
    reader: Numbers, rng: ndd.random.RNG | None = None, epochs: int = 1
) -> Callable[[], Iterator[tuple[ndd.Batch, ndd.Batch]]]:
    def load() -> Iterator[tuple[ndd.Batch, ndd.Batch]]:
        for _ in range(epochs):
            for (numbers,) in reader.next_epoch(batch_size=3):
                noise = ndd.random.uniform(range=(0, 1), batch_size=3, rng=rng)
                yield numbers * 10, noise

    return load


def as_lists(items: Any) -> list[list[list[Any]]]:
    return [[np.asarray(part).tolist() for part in item] for item in items]


@pytest.mark.parametrize("mode", list(ndd.EvalMode), ids=lambda mode: mode.name)
@pytest.mark.parametrize("depth", [1, 2, 7])
def test_the_items_are_those_of_the_loop(mode: ndd.EvalMode, depth: int) -> None:
    with mode:
        ndd.random.set_seed(5)
        expected = as_lists(loop_over(Numbers(random_shuffle=True), epochs=2)())
        after = ndd.random.get_default_rng().get_state()
        ndd.random.set_seed(5)
        loop = ndd.prefetch(loop_over(Numbers(random_shuffle=True), epochs=2), depth)
        assert as_lists(loop) == expected
        assert len(expected) == 16
        assert ndd.random.get_default_rng().get_state() == after


def test_what_can_be_a_loop() -> None:
    assert list(ndd.prefetch([1, 2, 3])) == [1, 2, 3]
    assert list(ndd.prefetch(iter([1, 2, 3]))) == [1, 2, 3]
    assert list(ndd.prefetch(x for x in range(3))) == [0, 1, 2]
    assert list(ndd.prefetch(lambda: iter("ab"))) == ["a", "b"]
    assert list(ndd.prefetch(functools.partial(range, 3))) == [0, 1, 2]
    assert [values(part) for (part,) in ndd.prefetch(Numbers().next_epoch(12))] == [
        list(range(12)),
        list(range(12, 24)),
    ]
    for wrong, error, text in [
        (3, TypeError, "prefetch: 'loop' must be a generator function"),
        (Numbers(), TypeError, "Iterate over reader.next_epoch"),
        (lambda _x: iter(()), TypeError, "must have no parameters"),
    ]:
        with pytest.raises(error, match=text):
            ndd.prefetch(wrong)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="must return an iterator"):
        next(ndd.prefetch(lambda: 3))  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match="prefetch: 'depth' must be positive; got 0"):
        ndd.prefetch([], 0)
    with pytest.raises(TypeError, match="prefetch: 'max_bytes' must be an integer; got 'x'"):
        ndd.prefetch([], max_bytes="x")  # type: ignore[arg-type]


def test_every_for_loop_begins_again() -> None:
    loop = ndd.prefetch(loop_over(Numbers()))
    for _ in range(2):
        assert [values(numbers) for numbers, _ in loop] == [
            [30 * step, 30 * step + 10, 30 * step + 20] for step in range(8)
        ]
    again = ndd.prefetch([1, 2, 3])
    assert next(again) == 1
    assert list(again) == [2, 3]
    assert list(ndd.prefetch([])) == []


def test_length() -> None:
    epoch = Numbers().next_epoch(batch_size=3)
    loop = ndd.prefetch(epoch, 3)
    assert len(loop) == 8
    items = iter(loop)
    next(items)
    next(items)
    assert len(items) == len(epoch) == 6
    listed = iter(ndd.prefetch([1, 2, 3]))
    next(listed)
    assert len(listed) == 2
    with pytest.raises(TypeError, match="has no length"):
        len(ndd.prefetch(loop_over(Numbers())))


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_at_most_depth_items_are_made_ahead(depth: int) -> None:
    made = 0
    moved = threading.Condition()

    def load() -> Iterator[int]:
        nonlocal made
        for number in itertools.count():
            with moved:
                made = number + 1
                moved.notify_all()
            yield number

    with iter(ndd.prefetch(load, depth)) as items:
        for taken in range(1, 6):
            assert next(items) == taken - 1
            with moved:
                assert moved.wait_for(lambda taken=taken: made >= taken + depth, 20)
            time.sleep(0.02)
            assert made == taken + depth


def test_bytes_are_bounded() -> None:
    made = 0

    @dataclasses.dataclass
    class Item:
        number: int
        parts: dict[str, Any]

    def load() -> Iterator[Item]:
        nonlocal made
        for number in range(12):
            made = number + 1
            yield Item(number, {"a": np.zeros(700), "b": [ndd.full(1, shape=[100])]})

    # An item takes 6000 bytes: there is space for two.
    with iter(ndd.prefetch(load, 10, max_bytes=13000)) as items:
        for number in range(12):
            assert next(items).number == number
            time.sleep(0.02)
            assert made <= number + 3
    # There is always at least one.
    assert [item.number for item in ndd.prefetch(load, 10, max_bytes=1)] == list(range(12))


def test_states_are_those_of_the_consumer() -> None:
    reader, plain = Numbers(random_shuffle=True), Numbers(random_shuffle=True)
    rng, plain_rng = ndd.random.RNG(seed=3), ndd.random.RNG(seed=3)
    loop = ndd.prefetch(loop_over(reader, rng, 2), 4)
    for _item, _expected in zip(loop, loop_over(plain, plain_rng, 2)(), strict=True):
        time.sleep(0.005)
        assert reader.get_state() == plain.get_state()
        assert rng.get_state() == plain_rng.get_state()
    assert reader.get_state() == plain.get_state()
    assert rng.get_state() == plain_rng.get_state()
    assert rng() == plain_rng()


@pytest.mark.parametrize("steps", [1, 3, 7, 8])
def test_break_leaves_readers_and_generators_after_the_last_item(steps: int) -> None:
    reader, plain = Numbers(random_shuffle=True), Numbers(random_shuffle=True)
    rng, plain_rng = ndd.random.RNG(seed=3), ndd.random.RNG(seed=3)
    closed = []

    def load() -> Iterator[Any]:
        try:
            yield from loop_over(reader, rng, 3)()
        finally:
            closed.append(threading.current_thread().name)

    for loop in (ndd.prefetch(load, 3), loop_over(plain, plain_rng, 3)()):
        for _ in itertools.islice(loop, steps):
            pass
        del loop
    assert closed == ["daliesque prefetch"]
    assert reader.get_state() == plain.get_state()
    assert rng() == plain_rng()
    assert as_lists(loop_over(reader, rng)()) == as_lists(loop_over(plain, plain_rng)())


def test_an_epoch_goes_on_after_break() -> None:
    reader = Numbers()
    epoch = reader.next_epoch(batch_size=3)
    taken = itertools.islice(ndd.prefetch(epoch, 5), 2)
    assert [values(numbers) for (numbers,) in taken] == [[0, 1, 2], [3, 4, 5]]
    del taken
    assert len(epoch) == 6
    assert values(next(epoch)[0]) == [6, 7, 8]
    # All of it is made, and some of it is not delivered.
    rest = iter(ndd.prefetch(epoch, 9))
    next(rest)
    rest.close()
    assert [values(numbers)[0] for (numbers,) in epoch] == [12, 15, 18, 21]
    called = Numbers()
    for (item,) in ndd.prefetch(iter(lambda: (called(batch_size=5),), None), 6):
        assert values(item) == [0, 1, 2, 3, 4]
        break
    assert values(called(batch_size=5)) == [5, 6, 7, 8, 9]


def test_external_sources_are_where_the_consumer_is() -> None:
    source = ndd.ExternalSource([1, 2, 3, 4, 5, 6])
    plain = ndd.ExternalSource([1, 2, 3, 4, 5, 6])

    def load() -> Iterator[ndd.Tensor]:
        while True:
            yield source()

    for number, item in enumerate(ndd.prefetch(load, 4), 1):
        assert item.item() == plain().item() == number
        time.sleep(0.005)
        assert source.get_state() == plain.get_state()
        if number == 2:
            break
    assert source.get_state() == plain.get_state()
    assert source().item() == 3


def make_resumable_loop(checkpoint: Any) -> Any:
    reader = Numbers(random_shuffle=True, seed=4)
    rng = ndd.random.RNG(seed=9)
    checkpoint.register(reader, "reader")
    checkpoint.register(rng, "rng")
    return ndd.prefetch(loop_over(reader, rng), 3)


def test_it_can_be_resumed() -> None:
    ndd.testing.assert_resumes(make_resumable_loop, fresh_process=False)


def test_checkpoints_inside_and_outside() -> None:
    reader = Numbers()
    seen = []

    def load() -> Iterator[ndd.Batch]:
        ndd.checkpoint.current().register(reader, "reader")
        for (numbers,) in reader.next_epoch(batch_size=6):
            seen.append(reader.get_state())
            yield numbers

    with ndd.EvalContext() as context:
        states = []
        for _ in ndd.prefetch(load, 4):
            context.checkpoint.collect()
            states.append(context.checkpoint.get_state("reader"))
    assert states == seen
    assert len(set(states)) == 4


def test_the_surroundings_of_the_consumer() -> None:
    found: list[Any] = []

    def load() -> Iterator[int]:
        context = ndd.EvalContext.current()
        found.append((ndd.EvalMode.current(), context.num_threads, ndd.Device.chosen()))
        found.append(ndd.random.get_default_rng())
        yield 1

    with ndd.EvalMode.sync_cpu, ndd.EvalContext(num_threads=3):
        assert list(ndd.prefetch(load)) == [1]
    assert found[0] == (ndd.EvalMode.sync_cpu, 3, ndd.Device.CPU)
    assert found[1] is ndd.random.get_default_rng()
    # Outside, nothing has changed.
    assert ndd.EvalMode.current() is ndd.EvalMode.eager


def test_nested_loops() -> None:
    reader, rng = Numbers(), ndd.random.RNG(seed=1)
    plain, plain_rng = Numbers(), ndd.random.RNG(seed=1)

    def outer(source: Any) -> Iterator[Any]:
        for numbers, noise in source:
            yield numbers + 1, noise

    twice = ndd.prefetch(functools.partial(outer, ndd.prefetch(loop_over(reader, rng), 2)), 2)
    once = outer(loop_over(plain, plain_rng)())
    for _ in range(5):
        assert as_lists([next(twice)]) == as_lists([next(once)])
        assert reader.get_state() == plain.get_state()
        assert rng.get_state() == plain_rng.get_state()
    twice.close()
    assert reader.get_state() == plain.get_state()
    assert rng() == plain_rng()


def test_draws_outside_of_the_loop() -> None:
    # They are others than those of the loop, and the same in every run.
    runs = []
    for _ in range(2):
        ndd.random.set_seed(8)
        inside, outside = [], []
        for _, noise in ndd.prefetch(loop_over(Numbers()), 2):
            inside += np.asarray(noise).tolist()
            outside += np.asarray(ndd.random.uniform(range=(0, 1), batch_size=3)).tolist()
        runs.append((inside, outside))
        assert len(set(inside + outside)) == 48
    assert runs[0] == runs[1]
    ndd.random.set_seed(8)
    plain = [np.asarray(noise).tolist() for _, noise in loop_over(Numbers())()]
    assert runs[0][0] == list(itertools.chain(*plain))


def test_generators_of_the_loop_itself() -> None:
    def load() -> Iterator[int]:
        for seed in range(5):
            rng = ndd.random.RNG(seed=seed)
            rng.advance(2)
            yield rng()

    assert list(ndd.prefetch(load)) == list(load())


def test_errors_of_the_loop() -> None:
    reader = Numbers()

    def load() -> Iterator[ndd.Batch]:
        for step, (numbers,) in enumerate(reader.next_epoch(batch_size=3)):
            if step == 3:
                numbers.tolist().index("the fourth step")
            yield numbers

    items = iter(ndd.prefetch(load, 2))
    assert [values(next(items)) for _ in range(3)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    with pytest.raises(ValueError, match="not in list") as caught:
        next(items)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert 'numbers.tolist().index("the fourth step")' in lines
    assert lines[0] == "next(items)"
    with pytest.raises(StopIteration):
        next(items)
    plain = Numbers()
    for _ in itertools.islice(plain.next_epoch(batch_size=3), 4):
        pass
    assert reader.get_state() == plain.get_state()


def test_errors_of_operators_in_the_loop() -> None:
    def load() -> Iterator[ndd.Batch]:
        for height in (4, 9, 8):
            images = ndd.copy(ndd.batch(np.zeros((2, 8, 8, 3), np.uint8), layout="HWC"))
            yield ndd.crop(images, crop=[height, 4])

    outcomes: list[Any] = []
    for item in ndd.prefetch(load):
        # As in a loop that does not run ahead, it is the reading that fails.
        try:
            outcomes.append(tuple(item.torch().shape))
        except ndd.OpError as error:
            outcomes.append(error)
    assert outcomes[::2] == [(2, 4, 4, 3), (2, 8, 4, 3)]
    assert str(outcomes[1]).startswith("crop: ")
    assert f"crop() at {__file__}" in outcomes[1].__notes__[0]
    assert "in load" in outcomes[1].__notes__[0]


def test_a_generator_that_fails_when_it_is_closed() -> None:
    def load() -> Iterator[int]:
        try:
            yield from itertools.count()
        finally:
            {}["while closing"]

    items = iter(ndd.prefetch(load))
    next(items)
    with pytest.raises(LookupError, match="while closing"):
        items.close()
    items.close()
    assert list(items) == []
