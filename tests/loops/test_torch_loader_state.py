# SPDX-License-Identifier: Apache-2.0
"""`pytorch.DataLoader`: how it goes on from a state."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from daliesque.pytorch import DataLoader
from support.torch_loader import make, rows


def states_of(loader: DataLoader, epochs: int) -> Iterator[tuple[dict[str, Any], Any]]:
    """The state before each batch, and the batch."""
    for _ in range(epochs):
        batches = iter(loader)
        for _ in range(len(loader)):
            state = loader.state_dict()
            yield state, next(batches)


@pytest.mark.parametrize("prefetch", [0, 3])
def test_resumed_after_every_batch(prefetch: int) -> None:
    """States go through JSON and through torch, into loaders that are new or used."""
    pairs = list(states_of(make(prefetch=prefetch), 2))
    used = make(prefetch=prefetch)
    next(iter(used))
    for done, (state, _) in enumerate(pairs):
        saved = io.BytesIO()
        torch.save(state, saved)
        saved.seek(0)
        assert torch.load(saved, weights_only=True) == state
        assert list(state) == list(pairs[0][0])
        assert all(type(value) is int for value in state.values())
        assert len(json.dumps(state)) < 200
        for loader in (make(prefetch=prefetch), used):
            loader.load_state_dict(json.loads(json.dumps(state)))
            assert loader.state_dict() == state
            batches = list(loader)
            assert len(batches) == 6 - done % 6
            if done < 6:
                batches += loader
            assert rows(batches) == rows(batch for _, batch in pairs[done:])


def test_the_state_counts_what_was_delivered() -> None:
    loader = make(prefetch=4)
    batches = iter(loader)
    states = [loader.state_dict() for _ in batches]
    assert [state["taken"] for state in states] == [4, 8, 12, 16, 20, 0]
    assert [state["epoch"] for state in states] == [0, 0, 0, 0, 0, 1]


def test_the_state_after_the_last_batch_is_the_next_epoch() -> None:
    """Whether or not anybody has asked for another batch."""
    expected = [rows(loader) for loader in [make()] for _ in range(2)]
    for finished in (False, True):
        loader = make()
        batches = iter(loader)
        for _ in range(len(loader)):
            next(batches)
        if finished:
            assert next(batches, None) is None
        again = make()
        again.load_state_dict(loader.state_dict())
        assert again.epoch == 1
        assert rows(again) == expected[1]


@pytest.mark.parametrize("set_before", [False, True])
def test_a_resumed_epoch_is_not_moved_by_set_epoch(set_before: bool) -> None:
    """Frameworks call it after they have loaded a state, for the epoch that they are in."""
    whole = make()
    pairs: list[Any] = []
    for epoch in range(2):
        if set_before:
            whole.set_epoch(epoch)
        pairs += states_of(whole, 1)
    loader = make()
    loader.load_state_dict(pairs[8][0])
    loader.set_epoch(1)
    iter(loader)
    loader.set_epoch(1)
    assert rows(loader) == rows(batch for _, batch in pairs[8:])
    loader.set_epoch(1)
    assert rows(loader) == rows(batch for _, batch in pairs[6:])
    # Another one is begun.
    loader.load_state_dict(pairs[8][0])
    loader.set_epoch(0)
    assert rows(loader) == rows(batch for _, batch in pairs[:6])


def test_a_loader_that_is_cycled_through() -> None:
    """Shorter loaders begin again within an epoch of their framework, which counts otherwise."""
    loader = make()
    loader.set_epoch(0)
    rows(loader)
    expected = rows(itertools.islice(loader, 2))
    state = loader.state_dict()
    assert (state["epoch"], state["set_epoch"]) == (1, 0)
    again = make()
    again.load_state_dict(state)
    again.set_epoch(0)
    rest = rows(again)
    loader.set_epoch(1)
    assert rows(loader) == expected + rest
    again.load_state_dict(state)
    again.set_epoch(1)
    assert rows(again) == expected + rest


@pytest.mark.parametrize("before", [1, 2, 3])
@pytest.mark.parametrize("after", [1, 2, 3])
def test_resumed_with_another_number_of_processes(before: int, after: int) -> None:
    expected = rows(make())
    loaders = [make(batch_size=2, rank=rank, world_size=before) for rank in range(before)]
    steps = [list(itertools.islice(loader, 2)) for loader in loaders]
    seen = [row for step in zip(*steps, strict=True) for row in rows(step)]
    states = [loader.state_dict() for loader in loaders]
    # Any of them will do.
    assert all(state == states[0] for state in states)
    resumed = [make(batch_size=3, rank=rank, world_size=after, mask=True) for rank in range(after)]
    parts = []
    for loader in resumed:
        loader.load_state_dict(states[0])
        parts.append(list(loader))
    assert len({len(part) for part in parts}) == 1
    for step in zip(*parts, strict=True):
        for batch in step:
            seen += rows([{key: value[batch["valid"]] for key, value in batch.items()}])
    assert seen == expected
    assert {loader.epoch for loader in resumed} == {1}


def test_resumed_where_nothing_whole_is_left() -> None:
    loader = make(batch_size=4, last_batch="drop")
    for _ in itertools.islice(loader, 4):
        pass
    state = loader.state_dict()
    assert state["taken"] == 16
    larger = make(batch_size=10, last_batch="drop")
    larger.load_state_dict(state)
    whole = make()
    next(iter(whole))
    assert rows(larger) == rows(whole)[:20]
