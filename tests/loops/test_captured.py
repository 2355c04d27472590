# SPDX-License-Identifier: Apache-2.0
"""Capture-mode loops over external sources: the same results, and who may take part."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import daliesque as ndd


def batches(first: int = 0, count: int = 3, size: int = 2) -> list[ndd.Batch]:
    return [ndd.batch([first + 10 * number + k for k in range(size)]) for number in range(count)]


def source(first: int = 0, count: int = 3, **options: Any) -> ndd.ExternalSource:
    return ndd.ExternalSource(batches(first, count), **options)


def step(epoch: Any) -> ndd.Batch:
    """A step with something that can be captured in its body."""
    result: ndd.Batch = next(epoch) + 0
    return result


def lists(epoch: Any) -> list[list[int]]:
    return [(numbers + 0).torch().tolist() for numbers in epoch]


def test_results_are_those_of_eager_mode() -> None:
    captured, eager = source(cycle="raise"), source(cycle="raise")
    for _ in range(3):
        expected = [eager(batch_size=2).torch().tolist() for _ in range(3)]
        with pytest.raises(StopIteration):
            eager()
        assert lists(captured.captured(batch_size=2)) == expected


def test_samples_are_repeated() -> None:
    assert lists(ndd.ExternalSource([1, 2]).captured(3)) == [[1] * 3, [2] * 3]


def test_several_outputs() -> None:
    pairs = ndd.ExternalSource(zip(batches(), batches(100), strict=True), 2)
    found = [((a + 0).torch().tolist(), b.torch().tolist()) for a, b in pairs.captured(2)]
    assert found[1] == ([10, 11], [110, 111])
    assert len(found) == 3


def test_without_cycle_there_is_one_epoch() -> None:
    root = source()
    assert len(lists(root.captured(2))) == 3
    assert lists(root.captured(2)) == []


def test_an_empty_source_is_as_before() -> None:
    root = ndd.ExternalSource([])
    assert lists(root.captured(2)) == []
    with pytest.raises(StopIteration):
        root()


def test_wrong_batch_size() -> None:
    with pytest.raises(ValueError, match="Expected batch size 4, got 2"):
        lists(source().captured(4))
    for bad in (None, -1):
        with pytest.raises(ValueError, match="batch_size"):
            source().captured(bad)  # type: ignore[arg-type]


def test_batch_size_may_change_between_epochs() -> None:
    root = ndd.ExternalSource([7], cycle="raise")
    assert lists(root.captured(2)) == [[7, 7]]
    assert lists(root.captured(3)) == [[7, 7, 7]]


def test_feeders() -> None:
    root, feeder = source(cycle="raise"), source(100, cycle="quiet")
    for _ in range(2):
        found = [(numbers + feeder()).torch().tolist() for numbers in root.captured(2)]
        assert found == [[100, 102], [120, 122], [140, 142]]


def test_leaving_a_loop() -> None:
    root, feeder = source(cycle="raise"), source(100)
    for _ in root.captured(2):
        feeder()
        break
    # Both can be used for anything.
    assert feeder().torch().tolist() == [110, 111]
    assert lists(root.captured(2)) == [[10, 11], [20, 21]]


def test_leaving_a_loop_by_an_error() -> None:
    root = source(cycle="raise")
    epoch = root.captured(2)
    step(epoch)
    # It is still there, and is invalidated by the next one.
    assert lists(root.captured(2)) == [[10, 11], [20, 21]]
    with pytest.raises(RuntimeError, match="was invalidated and cannot continue"):
        step(epoch)


def test_eager_first() -> None:
    root = source()
    root()
    with pytest.raises(RuntimeError, match="This ExternalSource was already used eagerly"):
        root.captured(2)
    for numbers in source().captured(2):
        numbers + 0
        with pytest.raises(RuntimeError, match="This ExternalSource was already used eagerly"):
            root()


def test_bound_sources_are_not_called_elsewhere() -> None:
    root, feeder = source(cycle="raise"), source(cycle="quiet")
    for numbers in root.captured(2):
        numbers + feeder()
    for bound in (root, feeder):
        with pytest.raises(RuntimeError, match="is already used in a capture-mode loop"):
            bound()
    with pytest.raises(RuntimeError, match="Instance already used through __call__"):
        feeder.captured(2)


def test_the_root_is_not_called() -> None:
    root = source()
    for numbers in root.captured(2):
        numbers + 0
        with pytest.raises(RuntimeError, match=r"Instance already used through \.captured\(\)"):
            root()


def continues(epoch: Any) -> None:
    with pytest.raises(RuntimeError, match="was invalidated and cannot continue"):
        step(epoch)


def test_feeders_must_be_there_from_the_beginning() -> None:
    epoch = source().captured(2)
    step(epoch)
    step(epoch)
    with pytest.raises(RuntimeError, match="ExternalSource wasn't seen during tracing"):
        source()()
    continues(epoch)


def test_feeders_are_read_once_a_step() -> None:
    feeder = source()
    epoch = source().captured(2)
    step(epoch)
    feeder()
    with pytest.raises(RuntimeError, match="may be read only once per capture-mode step"):
        feeder()
    continues(epoch)
    epoch = source().captured(2)
    step(epoch)
    feeder()
    step(epoch)
    with pytest.raises(RuntimeError, match="was not consumed this step"):
        step(epoch)


def test_feeders_belong_to_one_loop() -> None:
    feeder = source(cycle="quiet")
    first, second = source().captured(2), source().captured(2)
    for numbers in first:
        numbers + feeder()
    step(second)
    with pytest.raises(RuntimeError, match="Already bound to a different capture context"):
        feeder()


def test_feeders_end_with_the_root() -> None:
    feeder = source(count=1)
    epoch = source().captured(2)
    step(epoch)
    feeder()
    step(epoch)
    with pytest.raises(RuntimeError, match="A source was exhausted before the iteration ended"):
        feeder()
    continues(epoch)


def test_feeders_have_the_batch_size_of_the_loop() -> None:
    epoch = source().captured(2)
    step(epoch)
    text = "Cannot change batch size to 3, the capture-mode loop uses 2"
    with pytest.raises(RuntimeError, match=text):
        source()(batch_size=3)
    continues(epoch)


def test_one_loop_at_a_time() -> None:
    outer, inner = source().captured(2), source().captured(2)
    step(outer)
    with pytest.raises(RuntimeError, match="Only one capture-mode loop can be active at a time"):
        step(inner)
    assert step(outer).torch().tolist() == [10, 11]


def test_a_loop_may_move_between_threads() -> None:
    epoch = source().captured(2)
    found = []

    def take() -> None:
        found.append(step(epoch).torch().tolist())

    for _ in range(3):
        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
    assert found == [[0, 1], [10, 11], [20, 21]]
    # This thread was never inside of it.
    assert source()().torch().tolist() == [0, 1]


def test_a_loop_has_one_context() -> None:
    root = source(cycle="raise")
    with ndd.EvalContext() as context:
        lists(root.captured(2))
    assert len(lists(root.captured(2, ctx=context))) == 3
    with pytest.raises(RuntimeError, match="Cannot change EvalContext for a capture-mode loop"):
        lists(root.captured(2))
    with pytest.raises(TypeError, match="'ctx' must be an EvalContext"):
        root.captured(2, ctx=5)  # type: ignore[arg-type]


def test_states_in_loops() -> None:
    root = source(cycle="raise")
    for number, numbers in enumerate(root.captured(2)):
        numbers + 0
        if number == 1:
            break
    resumed = source(cycle="raise")
    resumed.set_state(root.get_state())
    assert lists(resumed.captured(2)) == [[20, 21]]
    assert lists(resumed.captured(2)) == [[0, 1], [10, 11], [20, 21]]
