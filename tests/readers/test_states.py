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


# Saved by readers of 24 files of the reference, release 2.4.0; what they delivered next.
OF_THE_REFERENCE = [
    ({}, "Cg8KCTUzNzQxMzE4MhABGBA=", [16, 17, 18, 19, 20, 21, 22, 23]),
    (
        {"num_shards": 3, "shard_id": 1, "random_shuffle": True, "seed": 7},
        "ChAKCjE5ODA0NzM1NDAQAhgF",
        [17, 14, 19, 22, 8, 6, 4, 18],
    ),
    ({"shuffle_after_epoch": True}, "Cg8KCTUzNzQxMzE4MhACGBY=", [19, 12, 8, 20, 15, 9, 4, 18]),
]


@pytest.mark.parametrize(("options", "state", "following"), OF_THE_REFERENCE)
def test_states_of_the_reference(options: dict[str, Any], state: str, following: list[int]) -> None:
    reader = Count(24, enable_checkpointing=True, **options)
    reader.set_state(state)
    found = flat(epoch_of(reader, 1)) + flat(epoch_of(reader, 1))
    assert found[: len(following)] == following


def test_states_of_the_reference_that_do_not_fit() -> None:
    state = OF_THE_REFERENCE[0][1]
    with pytest.raises(ValueError, match="a shard of at least 16 samples; the reader has 15"):
        Count(15).set_state(state)
    with pytest.raises(ValueError, match="with enable_checkpointing=True"):
        Count(24, shuffle_after_epoch=True).set_state(state)
    for text in ("", "AAAA", state[:-4], state[4:], "Cgd4"):
        with pytest.raises(ValueError, match="not the state of a reader"):
            Count(24).set_state(text)
