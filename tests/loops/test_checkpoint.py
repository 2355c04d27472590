# SPDX-License-Identifier: Apache-2.0
"""Checkpoint: objects, names, states and text."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from typing import Any

import pytest

import daliesque as ndd
from daliesque.checkpoint import Checkpoint
from support.reader_checks import Count, epoch_of, flat, numbers_of


def taken(**objects: Any) -> str:
    """The states of objects, as text."""
    checkpoint = Checkpoint()
    for name, op in objects.items():
        checkpoint.register(op, name)
    checkpoint.collect()
    return checkpoint.serialize()


def given(text: str, **objects: Any) -> Checkpoint:
    """Let objects continue from states."""
    checkpoint = Checkpoint()
    checkpoint.deserialize(text)
    for name, op in objects.items():
        checkpoint.register(op, name)
    return checkpoint


def text_of(states: Any, version: Any = 2) -> str:
    return json.dumps({"version": version, "states": states})


class Tally:
    """Has a state in the manner of torch."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {"count": 0, "parts": [1.5, "x", None, True]}

    def state_dict(self) -> dict[str, Any]:
        return self.state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.state = state


def test_the_text_is_that_of_the_reference() -> None:
    checkpoint = Checkpoint()
    first, second = ndd.random.RNG(seed=3), ndd.random.RNG(seed=4)
    assert checkpoint.register(first) == "__op_0"
    assert checkpoint.register(Count(5), "reader") == "reader"
    assert checkpoint.register(second) == "__op_2"
    assert checkpoint.register(first) == "__op_0"
    assert checkpoint.names == ("__op_0", "reader", "__op_2")
    assert len(checkpoint) == 3
    assert "reader" in checkpoint
    assert "other" not in checkpoint
    checkpoint.collect()
    payload = json.loads(checkpoint.serialize())
    assert set(payload) == {"version", "states"}
    assert payload["version"] == 2
    assert payload["states"]["__op_0"] == {
        "state": "Philox_0000000000000003_0000000000000000:0000000000000000_0",
        "type": "RNG",
    }
    assert payload["states"]["reader"]["type"] == "Count"
    assert isinstance(payload["states"]["reader"]["state"], str)


def test_a_checkpoint_of_the_reference_can_be_read() -> None:
    # Written by release 2.4.0, after three draws.
    text = (
        '{"version": 2, "states": {"__op_0": {"state": '
        '"Philox_0000000000000003_0000000000000000:0000000000000000_3", "type": "RNG"}}}'
    )
    rng, other = ndd.random.RNG(seed=9), ndd.random.RNG(seed=3)
    checkpoint = Checkpoint()
    checkpoint.deserialize(text)
    assert checkpoint.register(rng) == "__op_0"
    other.advance(3)
    assert rng() == other()


def test_collect_and_restore() -> None:
    rng, reader, counter = ndd.random.RNG(seed=1), Count(10), Tally()
    checkpoint = Checkpoint()
    for name, op in (("rng", rng), ("reader", reader), ("counter", counter)):
        checkpoint.register(op, name)
        assert checkpoint.get_state(name) is None
    steps = reader.next_epoch(batch_size=2)
    next(steps)
    checkpoint.collect()
    assert checkpoint.is_complete
    assert not checkpoint.is_loaded
    text = checkpoint.serialize()
    assert checkpoint.get_state("rng") == rng.get_state()
    expected = rng(), flat(map(numbers_of, steps))
    counter.state["count"] = 7
    checkpoint.deserialize(text)
    assert checkpoint.is_loaded
    assert not checkpoint.is_complete
    checkpoint.restore()
    assert (rng(), flat(epoch_of(reader, 2))) == expected
    assert counter.state == {"count": 0, "parts": [1.5, "x", None, True]}
    checkpoint.clear()
    assert len(checkpoint) == 0
    assert not checkpoint.is_loaded


def test_every_step_of_an_epoch_counts_what_was_delivered() -> None:
    """Not what was read ahead; on used readers, too."""
    reader = Count(23, random_shuffle=True, prefetch_queue_depth=8)
    used = Count(23, random_shuffle=True, prefetch_queue_depth=3)
    checkpoint = Checkpoint()
    checkpoint.register(reader, "reader")
    steps = reader.next_epoch(batch_size=2)
    whole = flat(epoch_of(Count(23, random_shuffle=True), 2))
    for step in range(1, 13):
        next(steps)
        checkpoint.collect()
        text = checkpoint.serialize()
        given(text, reader=used)
        assert flat(epoch_of(used, 2)) == whole[2 * step :]


def test_twenty_checkpoints_in_a_chain_do_not_drift() -> None:
    def make() -> tuple[Count, ndd.random.RNG]:
        return Count(50, random_shuffle=True, seed=3, initial_fill=7), ndd.random.RNG(seed=2)

    reader, rng = make()
    expected = [(numbers_of(step), rng()) for step in reader.next_epoch(batch_size=2)]
    seen = []
    text = ""
    for _ in range(20):
        reader, rng = make()
        if text:
            given(text, reader=reader, rng=rng)
        seen.append((numbers_of(next(reader.next_epoch(batch_size=2))), rng()))
        text = taken(reader=reader, rng=rng)
        assert len(text) < 2000
    assert seen == expected[:20]


@pytest.mark.parametrize("seed", range(30))
def test_other_batch_sizes_and_numbers_of_shards(seed: int) -> None:
    """What readers have left of an epoch, others deliver: each sample once."""
    rng = random.Random(seed)
    size = rng.randint(20, 60)
    options = rng.choice(
        [
            {},
            {"random_shuffle": True, "seed": seed, "initial_fill": 5},
            {"shuffle_after_epoch": True},
        ]
    )
    left = Counter(range(size))
    text = ""
    # Twice, with other numbers of shards and samples.
    for _ in range(2):
        shards, batch_size = rng.randint(1, 4), rng.randint(1, 3)
        share = sum(left.values()) // shards
        steps = rng.randint(0, max(0, share // batch_size // 2))
        for shard in range(shards):
            reader = Count(size, num_shards=shards, shard_id=shard, **options)
            if text:
                given(text, reader=reader)
            epoch = reader.next_epoch(batch_size=batch_size)
            for _ in range(steps):
                left -= Counter(numbers_of(next(epoch)))
            last = taken(reader=reader)
        text = last
        assert len(text) < 2000
    shards, batch_size = rng.randint(1, 4), rng.randint(1, 3)
    total = sum(left.values())
    rest: Counter[int] = Counter()
    for shard in range(shards):
        reader = Count(size, num_shards=shards, shard_id=shard, **options)
        given(text, reader=reader)
        share = total * (shard + 1) // shards - total * shard // shards
        rest += Counter(flat(epoch_of(reader, batch_size))[:share])
    assert rest == left


def test_names() -> None:
    checkpoint = Checkpoint()
    rng = ndd.random.RNG(seed=1)
    checkpoint.register(rng, "rng")
    with pytest.raises(RuntimeError, match="registered as 'rng' already; got 'other'"):
        checkpoint.register(rng, "other")
    for name in ("", "__op_7"):
        with pytest.raises(ValueError, match="must not be empty or start with '__op_'"):
            checkpoint.register(Count(3), name)
    with pytest.raises(TypeError, match=r"replace operator 'rng' of type 'RNG' by .*'Count'"):
        checkpoint.register(Count(3), "rng")
    checkpoint.register(ndd.random.RNG(seed=2), "rng")
    assert len(checkpoint) == 1
    with pytest.raises(TypeError, match="get_state and set_state"):
        checkpoint.register(object(), "object")  # type: ignore[arg-type]
    checkpoint.collect()
    for name in (None, "late"):
        with pytest.raises(RuntimeError, match="completed by collect"):
            checkpoint.register(Count(3), name)
    with pytest.raises(KeyError, match="no object 'late'"):
        checkpoint.get_state("late")
    with pytest.raises(KeyError, match="no object 'late'"):
        checkpoint.set_state("late", "...")


def test_states_and_objects_must_correspond() -> None:
    checkpoint = Checkpoint()
    with pytest.raises(RuntimeError, match="empty"):
        checkpoint.serialize()
    first, second = ndd.random.RNG(seed=1), ndd.random.RNG(seed=2)
    checkpoint.register(first, "first")
    checkpoint.register(second, "second")
    checkpoint.restore()
    checkpoint.set_state("first", second.get_state())
    with pytest.raises(RuntimeError, match=r"incomplete: there are none for \['second'\]"):
        checkpoint.restore()
    checkpoint.set_state("third", "...")
    for method in (checkpoint.restore, checkpoint.collect):
        with pytest.raises(RuntimeError, match=r"no corresponding registered ops: \['third'\]"):
            method()
    loaded = Checkpoint()
    loaded.deserialize(taken(first=first))
    for name in (None, "other"):
        with pytest.raises(KeyError, match=r"has no state for .*; it has \['first'\]"):
            loaded.register(second, name)


def test_states_belong_to_classes() -> None:
    text = taken(x=ndd.random.RNG(seed=1))
    checkpoint = Checkpoint()
    checkpoint.deserialize(text)
    with pytest.raises(TypeError, match=r"Type mismatch for 'x': .*'RNG'.*'Count'"):
        checkpoint.register(Count(3), "x")
    # The right object can still be registered.
    rng = ndd.random.RNG(seed=7)
    checkpoint.register(rng, "x")
    assert rng() == ndd.random.RNG(seed=1)()
    for op_type in (ndd.random.RNG, "RNG"):
        other = Checkpoint()
        other.set_state("x", "...", op_type=op_type)
        with pytest.raises(TypeError, match="Type mismatch"):
            other.register(Count(3), "x")
    with pytest.raises(TypeError, match="'op_type' must be a class or its name; got 42"):
        checkpoint.set_state("x", "...", op_type=42)  # type: ignore[arg-type]


def test_an_object_that_fails_can_be_registered_again() -> None:
    class Failing:
        def get_state(self) -> str:
            return "x"

        def set_state(self, value: str) -> None:
            msg = f"cannot take {value}"
            raise RuntimeError(msg)

    checkpoint = Checkpoint()
    checkpoint.deserialize(text_of({"a": {"state": "s", "type": None}}))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot take s"):
            checkpoint.register(Failing(), "a")
    assert "a" not in checkpoint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[]", '"states"'),
        ('{"version": 2}', '"states"'),
        (text_of([]), '"states"'),
        (text_of({}, 3), "unknown version 3; known are 1 and 2"),
        (text_of({}, None), "unknown version None"),
        (text_of({"a": {"state": "x"}}, 1), "entry for 'a': in version 1 it must be text"),
        (text_of({"a": "x"}), "Invalid checkpoint entry for 'a'"),
        (text_of({"a": {"type": "x"}}), "Invalid checkpoint entry for 'a'"),
        (text_of({"a": {"state": "x", "type": 4}}), "Invalid `type` of the checkpoint entry"),
    ],
)
def test_text_that_is_no_checkpoint(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Checkpoint().deserialize(text)


def test_the_first_version_is_read() -> None:
    rng = ndd.random.RNG(seed=1)
    text = text_of({"rng": ndd.random.RNG(seed=5).get_state()}, 1)
    given(text, rng=rng)
    assert rng() == ndd.random.RNG(seed=5)()


@pytest.mark.parametrize("state", [{"a": {1: 2}}, {"a": [object()]}, {"a": {2, 3}}, {"a": b"x"}])
def test_states_that_text_would_change_are_refused(state: dict[str, Any]) -> None:
    counter = Tally()
    counter.state = state
    with pytest.raises(TypeError, match="the state of 'counter' must consist of dicts"):
        taken(counter=counter)


def test_the_checkpoint_of_a_context() -> None:
    default = ndd.checkpoint.current()
    assert default is ndd.EvalContext.current().checkpoint
    with ndd.EvalContext(num_threads=1) as context:
        assert ndd.checkpoint.current() is context.checkpoint
        assert context.checkpoint is not default
    assert ndd.checkpoint.current() is default
