# SPDX-License-Identifier: Apache-2.0
"""States that an earlier version saved: the same steps lead to them, and they can be restored."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from support.reader_checks import Count, epoch_of, flat


class Saved(NamedTuple):
    """A state of a reader of 11 numbers, after an epoch left early, a whole one, and `steps`."""

    options: dict[str, Any]
    steps: int
    shuffle: list[int]
    shard: list[int]
    position: list[Any]
    engine: list[int] | None
    # What is left of the epoch, in batches of 3.
    rest: list[int]

    def text(self) -> str:
        """The state as it was saved."""
        fields = {
            "version": 1,
            "samples": 11,
            "shuffle": self.shuffle,
            "shard": self.shard,
            "position": self.position,
            "engine": self.engine,
        }
        return json.dumps(fields, separators=(",", ":"))


SAVED = [
    Saved({}, 2, [0, 0, 0, 0, 0, 0], [0, 1], [2, 6, 1, 18, 6, None], None, [7, 8, 9, 10, 0, 1]),
    Saved(
        {"random_shuffle": True, "initial_fill": 4, "num_shards": 2, "shard_id": 1},
        1,
        [1, 4, 4294967295, 0, 0, 0],
        [1, 2],
        [2, 3, 1, 9, 1, None],
        [2, 1648056143],
        [3, 5, 2],
    ),
    Saved(
        {"shuffle_after_epoch": True, "pad_last_batch": True},
        3,
        [0, 0, 0, 1, 524287, 1],
        [0, 1],
        [2, 9, 2, 9, 4, None],
        None,
        [9, 5, 5],
    ),
    Saved(
        {"bad": [2, 3], "on_error": "replace", "random_shuffle": True, "seed": 5},
        2,
        [1, 1024, 5, 0, 0, 0],
        [0, 1],
        [2, 6, 1, 18, 4, None],
        [2, 203268540],
        [8, 10, 6, 7, 6, 5],
    ),
    Saved(
        {"bad": [2, 3], "on_error": "skip", "pad_last_batch": True},
        1,
        [0, 0, 0, 0, 0, 0],
        [0, 1],
        [2, 3, 2, 5, 4, None],
        None,
        [5, 6, 7, 8, 9, 10, 10, 10, 10],
    ),
]
# Readers of 2 shards had stopped after 2 samples each; then this one took over, for one sample.
RESHARDED = Saved(
    {"num_shards": 3, "shard_id": 1, "random_shuffle": True},
    0,
    [1, 1024, 4294967295, 0, 0, 0],
    [1, 3],
    [0, 1, 0, 1, 0, [2, 0, 2, None]],
    [0, 537413182],
    [9, 3, 5],
)


@pytest.mark.parametrize("saved", SAVED, ids=lambda saved: str(saved.options))
def test_the_same_steps_lead_to_the_same_state(saved: Saved) -> None:
    reader = Count(11, **saved.options)
    next(reader.next_epoch(3))
    list(reader.next_epoch(3))
    epoch = reader.next_epoch(3)
    for _ in range(saved.steps):
        next(epoch)
    assert str(reader.get_state()) == saved.text()


@pytest.mark.parametrize("saved", [*SAVED, RESHARDED], ids=lambda saved: str(saved.options))
def test_saved_states_can_be_restored(saved: Saved) -> None:
    reader = Count(11, **saved.options)
    reader.set_state(saved.text())
    assert flat(epoch_of(reader, 3)) == saved.rest
