# SPDX-License-Identifier: Apache-2.0
"""What capture mode refuses and warns about, with the texts of the reference; what it allows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine import devices

UNEXPECTED = "The RNG of a captured operator was used unexpectedly"
GLOBAL = 5


def reader(count: int = 8, **options: Any) -> ndd.readers.Python:
    return ndd.readers.Python([np.full(2, n, np.int32) for n in range(count)], **options)


def numbers(count: int = 3, first: int = 0, **options: Any) -> ndd.ExternalSource:
    items = [ndd.batch([first + 10 * n, first + 10 * n + 1]) for n in range(count)]
    return ndd.ExternalSource(items, **options)


def is_captured(value: object) -> bool:
    return isinstance(value, ndd.capture.CapturedBatch)


def loop(body: Callable[[ndd.Batch, int], Any], capture: bool = True, epochs: int = 2) -> list[Any]:
    """What a body returns in each step."""
    source, step, found = reader(), 0, []
    for _ in range(epochs):
        for (batch,) in source.next_epoch(batch_size=2, capture=capture):
            found.append(body(batch, step))
            step += 1
    return found


def test_needs_a_batch_size() -> None:
    with pytest.raises(ValueError, match="capture=True requires a non-None batch_size"):
        reader().next_epoch(capture=True)


def test_nothing_captured() -> None:
    source = reader()
    for _ in range(2):
        with pytest.warns(UserWarning, match="no operators were captured during tracing") as caught:
            found = [batch.tolist() for (batch,) in source.next_epoch(2, capture=True)]
        assert caught[0].filename == __file__
        assert found == [[[n, n], [n + 1, n + 1]] for n in range(0, 8, 2)]
    # Then there is something.
    results = [batch + 1 for (batch,) in source.next_epoch(2, capture=True)]
    assert all(map(is_captured, results))


def test_other_batch_size_modes_and_breaks() -> None:
    source = reader()
    for size, capture in ((2, True), (4, True), (4, False), (2, True), (2, True)):
        found = []
        for (batch,) in source.next_epoch(batch_size=size, capture=capture):
            moved = batch + 1
            assert is_captured(moved) == capture
            found.append(moved.tolist())
            if len(found) == 2 and size == 4:
                break
        assert found[0] == [[n + 1, n + 1] for n in range(size)]
        assert source.get_metadata()["epoch_size"] == 8
    epoch = source.next_epoch(2, capture=True)
    (first,) = next(epoch)
    (again,) = next(source.next_epoch(2, capture=True))
    assert first.tolist() == again.tolist()
    with pytest.raises(StopIteration):
        next(epoch)


def test_explicit_batch_size() -> None:
    text = "Cannot change batch size to 3, the capture-mode loop uses 2."

    def body(batch: ndd.Batch, step: int) -> None:
        batch + 1
        if step == 1:
            ndd.zeros(shape=[2], batch_size=3)

    with pytest.raises(RuntimeError, match=text):
        loop(body)


def test_a_loop_that_failed_is_over() -> None:
    source = reader()
    epoch = source.next_epoch(2, capture=True)
    for step in range(2):
        (batch,) = next(epoch)
        batch + 1
        if step:
            with pytest.raises(RuntimeError, match="Cannot change batch size"):
                ndd.zeros(shape=[2], batch_size=3)
    with pytest.raises(RuntimeError, match="loop was invalidated and cannot continue"):
        next(epoch)
    assert len([batch + 1 for (batch,) in source.next_epoch(2, capture=True)]) == 4


def test_marks_must_stay() -> None:
    def body(batch: ndd.Batch, step: int) -> ndd.Batch:
        amount = ndd.capture.invariant(GLOBAL) if step < 3 else GLOBAL
        return ndd.brightness(batch, brightness_shift=amount)

    text = "An argument marked with ndd.capture.invariant when captured must remain marked."
    with pytest.raises(RuntimeError, match=text):
        loop(body)


def test_devices_must_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALIESQUE_GPU", "cpu")
    monkeypatch.setattr(devices, "_found", None)
    text = "Captured operator was traced with device=.* but called with device=.*Cannot change"
    with pytest.raises(RuntimeError, match=text):
        loop(lambda batch, step: ndd.cast(batch, dtype=ndd.int8, device="gpu" if step else "cpu"))


def test_one_context() -> None:
    source = reader()
    with ndd.EvalContext() as context:
        [batch + 1 for (batch,) in source.next_epoch(2, capture=True)]
    [batch + 1 for (batch,) in source.next_epoch(2, capture=True, ctx=context)]
    with pytest.raises(RuntimeError, match="Cannot change EvalContext for a capture-mode loop"):
        source.next_epoch(2, capture=True)


def test_one_loop_in_a_thread() -> None:
    outer, inner = reader().next_epoch(2, capture=True), reader().next_epoch(2, capture=True)
    next(outer)[0] + 1
    with pytest.raises(RuntimeError, match="Only one capture-mode loop can be active at a time"):
        next(inner)
    outer.close()
    for (batch,) in reader().next_epoch(2, capture=True):
        for (other,) in reader().next_epoch(2):
            assert not is_captured(other)
            assert not is_captured(batch + other)
        assert is_captured(batch + 1)


def generator_uses() -> Iterator[tuple[str, Callable[[ndd.random.RNG, int], Any]]]:
    def draw(rng: ndd.random.RNG) -> None:
        ndd.random.uniform(batch_size=2, rng=rng)

    yield "more", lambda rng, step: [draw(rng), rng() if step == 2 else None]
    yield "before", lambda rng, step: [rng() if step == 2 else None, draw(rng)]
    yield "fewer", lambda rng, step: [draw(rng), None if step == 2 else rng()]
    yield "none", lambda rng, step: None if step == 2 else draw(rng)
    yield "seed", lambda rng, step: [setattr(rng, "seed", 1) if step == 2 else None, draw(rng)]
    yield "state", lambda rng, _: [draw(rng), setattr(rng, "state", rng.state)]
    yield "skip", lambda rng, step: [draw(rng), rng.advance(step)]
    yield "other", lambda rng, step: draw(ndd.random.RNG(seed=3) if step == 2 else rng)


@pytest.mark.parametrize("name", [name for name, _ in generator_uses()])
def test_draws_must_be_as_traced(name: str) -> None:
    use = dict(generator_uses())[name]
    rng = ndd.random.RNG(seed=1)

    def body(batch: ndd.Batch, step: int) -> Any:
        return batch + 1, use(rng, step)

    with pytest.raises(RuntimeError, match=UNEXPECTED):
        loop(body)


@pytest.mark.parametrize("change", ["advance", "seed"])
def test_generators_between_epochs(change: str) -> None:
    rng, source = ndd.random.RNG(seed=1), numbers(cycle="raise")
    for epoch in range(2):
        if epoch and change == "advance":
            rng.advance(7)
        elif epoch:
            rng.seed = 5
        steps = source.captured(batch_size=2)
        if epoch:
            with pytest.raises(RuntimeError, match=UNEXPECTED):
                next(steps)
        else:
            for batch in steps:
                batch + ndd.random.uniform(batch_size=2, rng=rng)
    # A loop that failed is forgotten.
    assert len([batch + 1 for batch in source.captured(batch_size=2)]) == 3


def test_generators_that_are_not_captured_are_free() -> None:
    free = ndd.random.RNG(seed=2)

    def body(batch: ndd.Batch, step: int) -> Any:
        free.seed = step
        return (batch + 1).tolist(), ndd.random.uniform(shape=[2], rng=free).tolist()

    assert loop(body) == loop(body, capture=False)


def test_a_random_site_that_is_reached_twice() -> None:
    rng = ndd.random.RNG(seed=1)

    def body(_: ndd.Batch, __: int) -> Any:
        return [ndd.random.uniform(batch_size=2, rng=rng) for _ in range(2)]

    with pytest.warns(UserWarning, match="runs more than once per iteration") as caught:
        found = loop(body)
    assert caught[0].filename == __file__
    assert [is_captured(second) for _, second in found] == [True] + [False] * 7
    assert all(is_captured(first) for first, _ in found)
    state = rng.get_state()
    rng.seed = 1
    eager = loop(body, capture=False)
    assert [[part.tolist() for part in pair] for pair in found] == [
        [part.tolist() for part in pair] for pair in eager
    ]
    assert rng.get_state() == state


def test_sizes_of_random_calls() -> None:
    rng, other = ndd.random.RNG(seed=1), ndd.batch([1.0, 2.0, 3.0])

    def body(batch: ndd.Batch, step: int) -> Any:
        size = 2 if step == 0 else None
        single = ndd.random.uniform(rng=rng)
        three = ndd.noise.gaussian(other, rng=rng)
        if step < 2:
            return batch + 1, single, three
        return ndd.random.normal(batch_size=size, rng=rng) if step > 3 else (batch + 1, single)

    found = loop(lambda batch, step: body(batch, min(step, 1)))
    assert not any(is_captured(part) for step in found for part in step[1:])

    def changes(_: ndd.Batch, step: int) -> Any:
        return ndd.random.normal(batch_size=2 if step == 0 else None, rng=rng)

    text = "Captured random operator cannot change batch_size from 2 to None"
    with pytest.raises(RuntimeError, match=text):
        loop(changes)


def test_stale_batches_and_new_sites_are_eager() -> None:
    kept: list[ndd.Batch] = []

    def body(batch: ndd.Batch, step: int) -> Any:
        kept.append(batch)
        stale = ndd.cast(kept[0], dtype=ndd.float32)
        if step:
            return stale, batch * 2
        return stale, batch * 2

    found = loop(body)
    assert [is_captured(stale) for stale, _ in found] == [True] + [False] * 7
    assert [is_captured(late) for _, late in found] == [True] + [False] * 7
    assert all(stale.tolist() == [[0, 0], [1, 1]] for stale, _ in found)
    assert found[3][1].tolist() == [[12, 12], [14, 14]]


def test_sites_that_are_left_out_are_found_again() -> None:
    found = loop(lambda batch, step: batch + 1 if step % 2 == 0 else None)
    assert [is_captured(result) for result in found] == [True, False] * 4
    assert found[2].tolist() == [[5, 5], [6, 6]]


def test_feeders_are_read_ahead_and_delivered_in_order() -> None:
    source = reader(6)
    feeder = ndd.ExternalSource(np.int32(n) for n in range(100))
    found = []
    for _ in range(2):
        for (batch,) in source.next_epoch(2, capture=True):
            amount = feeder(batch_size=2)
            total = batch + amount
            assert is_captured(amount)
            assert is_captured(total)
            found.append(total.tolist()[0][0])
    assert found == [0, 3, 6, 3, 6, 9]


def test_sources_may_use_their_memory_again() -> None:
    def same_buffer() -> Iterator[Any]:
        buffer = np.zeros(2, np.int32)
        for number in range(6):
            buffer[:] = number
            yield buffer

    source = ndd.ExternalSource(same_buffer)
    found = [(batch + 1).tolist() for batch in source.captured(batch_size=1)]
    assert found == [[[n + 1, n + 1]] for n in range(6)]


def test_errors_of_sources_come_in_order() -> None:
    def fails() -> Iterator[Any]:
        yield from ([1], [2], [3])
        msg = "no more"
        raise KeyError(msg)

    epoch = ndd.ExternalSource(fails).captured(batch_size=1)
    assert [(next(epoch) * 2).tolist() for _ in range(3)] == [[[2]], [[4]], [[6]]]
    with pytest.raises(KeyError, match="no more"):
        next(epoch)


def test_marks_are_taken_off_everywhere() -> None:
    mark = ndd.capture.invariant
    images = ndd.as_batch(mark([np.zeros((4, 4, 3), np.uint8)] * 2), layout=mark("HWC"))
    size = [mark(2), mark(3)]
    assert ndd.resize(images, size=size).shape == [(2, 3, 3)] * 2
    assert ndd.resize(mark(images), size=mark((2, 3))).shape == [(2, 3, 3)] * 2
    assert ndd.zeros(shape=mark([2]), batch_size=mark(3)).batch_size == 3
    assert (ndd.tensor(mark([1, 2])) + mark(3)).tolist() == [4, 5]
    assert (mark(3) + ndd.tensor([1])).tolist() == [4]
    assert images.slice[mark(0) : mark(2)].shape == [(2, 4, 3)] * 2
    assert ndd.tensor([1, 2, 3])[mark(1)].item() == 2
    source = reader(mark(4), batch_size=mark(2), random_shuffle=mark(False))
    assert len(source.next_epoch()) == 2
    assert len(source.next_epoch(batch_size=mark(4))) == 1


def test_nothing_is_warned_about_without_reason() -> None:
    rng = ndd.random.RNG(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loop(lambda batch, _: batch + ndd.random.uniform(batch_size=2, rng=rng))
