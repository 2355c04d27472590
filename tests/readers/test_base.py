# SPDX-License-Identifier: Apache-2.0
"""What all readers do: epochs, shards, padding, shuffling, state, errors."""

from __future__ import annotations

import gc
import json
import math
import random
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import daliesque as ndd
from daliesque.readers import Reader
from support.reader_checks import Count, assert_resumes, epoch_of, flat, numbers_of, values_of

SHUFFLES: list[dict[str, Any]] = [
    {},
    {"random_shuffle": True, "initial_fill": 4},
    {"random_shuffle": True, "initial_fill": 1024, "seed": 3},
    {"shuffle_after_epoch": True},
    {"shuffle_after_epoch": True, "enable_checkpointing": True},
]
shuffles = st.sampled_from(SHUFFLES)


@st.composite
def worlds(draw: Any) -> tuple[int, int]:
    """A number of samples and of shards."""
    size = draw(st.integers(1, 40))
    return size, draw(st.integers(1, min(size, 9)))


@given(worlds(), st.integers(1, 12), shuffles, st.booleans())
@settings(deadline=None, max_examples=150)
def test_an_epoch_of_all_shards_is_the_data_set(
    world: tuple[int, int], batch_size: int, shuffle: dict[str, Any], sample_mode: bool
) -> None:
    size, shards = world
    readers = [Count(size, num_shards=shards, shard_id=i, **shuffle) for i in range(shards)]
    delivered = []
    for shard, reader in enumerate(readers):
        length = size * (shard + 1) // shards - size * shard // shards
        batches = epoch_of(reader, None if sample_mode else batch_size)
        sizes = {1 if sample_mode else batch_size}
        assert {len(batch) for batch in batches} == sizes
        assert len(batches) == -(-length // sizes.pop())
        # What the last batch has beyond the shard is the beginning of the next pass.
        delivered += flat(batches)[:length]
    assert sorted(delivered) == list(range(size))


@given(worlds(), st.integers(1, 12), shuffles, st.booleans())
@settings(deadline=None, max_examples=150)
def test_padded_epochs_of_all_shards(
    world: tuple[int, int], batch_size: int, shuffle: dict[str, Any], stick: bool
) -> None:
    size, shards = world
    stick = stick and "shuffle_after_epoch" not in shuffle
    readers = [
        Count(
            size,
            num_shards=shards,
            shard_id=shard,
            pad_last_batch=True,
            stick_to_shard=stick,
            **shuffle,
        )
        for shard in range(shards)
    ]
    steps = math.ceil(math.ceil(size / shards) / batch_size)
    for _ in range(3):
        epochs = [epoch_of(reader, batch_size) for reader in readers]
        assert {len(epoch) for epoch in epochs} == {steps}
        real = []
        for epoch in epochs:
            samples = flat(epoch)
            distinct = list(dict.fromkeys(samples))
            assert samples == distinct + distinct[-1:] * (len(samples) - len(distinct))
            real += distinct
        assert sorted(real) == list(range(size))


@pytest.mark.parametrize("shuffle", SHUFFLES[1:], ids=str)
def test_shuffled_epochs_differ_and_repeat(shuffle: dict[str, Any]) -> None:
    first, second = (
        [flat(epoch_of(reader)) for _ in range(4)]
        for reader in (Count(100, **shuffle), Count(100, **shuffle))
    )
    assert first == second
    assert all(sorted(epoch) == list(range(100)) for epoch in first)
    assert len({tuple(epoch) for epoch in first}) == 4


def test_a_fill_as_large_as_the_data_permutes_all_of_it() -> None:
    """Each sample occurs in all parts of the epochs."""
    reader = Count(8, random_shuffle=True, initial_fill=8)
    positions = np.array([np.argsort(flat(epoch_of(reader))) for _ in range(200)])
    for sample in range(8):
        counts = np.bincount(positions[:, sample], minlength=8)
        # 25 are expected at each position; the standard deviation is 4.7.
        assert counts.min() > 4
        assert counts.max() < 46


def test_seeds_matter() -> None:
    def order(**arguments: Any) -> list[int]:
        return flat(epoch_of(Count(50, **arguments)))

    assert order(random_shuffle=True, seed=1) != order(random_shuffle=True, seed=2)
    assert order(random_shuffle=True) == order(random_shuffle=True, seed=-1)
    assert order(random_shuffle=True, seed=2**40) == order(random_shuffle=True, seed=0)
    assert order(shuffle_after_epoch=True) == order(
        shuffle_after_epoch=True, shuffle_after_epoch_seed=524287
    )
    assert order(shuffle_after_epoch=True) != order(
        shuffle_after_epoch=True, shuffle_after_epoch_seed=1
    )


def test_last_batch_goes_on_with_the_next_epoch() -> None:
    reader = Count(5)
    assert epoch_of(reader, 3) == [[0, 1, 2], [3, 4, 0]]
    assert epoch_of(reader, 3) == [[1, 2, 3], [4, 0, 1]]
    reader = Count(5, num_shards=2)
    assert epoch_of(reader, 3) == [[0, 1, 2]]
    assert epoch_of(reader, 3) == [[3, 4, 0]]


def test_padding_repeats_the_last_sample() -> None:
    reader = Count(5, pad_last_batch=True)
    assert epoch_of(reader, 3) == epoch_of(reader, 3) == [[0, 1, 2], [3, 4, 4]]
    assert epoch_of(Count(5, num_shards=2, pad_last_batch=True)) == [[0], [1], [1]]


def test_shards_rotate_unless_stuck() -> None:
    reader = Count(6, num_shards=3, shard_id=1)
    assert [epoch_of(reader, 2) for _ in range(4)] == [[[2, 3]], [[4, 5]], [[0, 1]], [[2, 3]]]
    reader = Count(6, num_shards=3, shard_id=1, stick_to_shard=True)
    assert [epoch_of(reader, 2) for _ in range(2)] == [[[2, 3]], [[2, 3]]]


def test_metadata() -> None:
    reader = Count(7, num_shards=2, shard_id=1, pad_last_batch=True)
    assert reader.get_metadata() == {
        "epoch_size": 7,
        "epoch_size_padded": 8,
        "number_of_shards": 2,
        "shard_id": 1,
        "pad_last_batch": 1,
        "stick_to_shard": 0,
    }
    assert Count(7, num_shards=2).get_metadata()["epoch_size_padded"] == 7
    assert Count(7, shuffle_after_epoch=True).get_metadata()["stick_to_shard"] == 1


def test_an_epoch_may_be_left() -> None:
    reader = Count(10)
    for _ in range(3):
        for step in reader.next_epoch(batch_size=3):
            assert numbers_of(step) == [0, 1, 2]
            break
    assert epoch_of(reader, 5) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_what_follows_an_abandoned_epoch() -> None:
    """The next pass, from its beginning: as if the abandoned one had been finished."""
    complete, broken = (Count(10, random_shuffle=True, pad_last_batch=True) for _ in range(2))
    epochs = [epoch_of(complete, 3) for _ in range(4)]
    for count, epoch in enumerate(epochs):
        steps = broken.next_epoch(batch_size=3)
        assert [numbers_of(next(steps)) for _ in range(count + 1)] == epoch[: count + 1]


def test_leaving_after_the_last_step_is_no_abandoning() -> None:
    reader, other = Count(5), Count(5)
    for _ in range(4):
        steps = reader.next_epoch(batch_size=3)
        assert [numbers_of(next(steps)) for _ in range(len(steps))] == epoch_of(other, 3)


def test_an_old_epoch_cannot_be_continued() -> None:
    reader = Count(10)
    old = reader.next_epoch(batch_size=2)
    next(old)
    new = reader.next_epoch(batch_size=2)
    with pytest.raises(StopIteration):
        next(old)
    assert numbers_of(next(new)) == [0, 1]
    state = reader.get_state()
    reader.set_state(state)
    with pytest.raises(RuntimeError, match=r"readers\.Count: this epoch ended"):
        next(new)


def test_epochs_that_were_not_started_count_for_nothing() -> None:
    reader = Count(4, random_shuffle=True)
    first = epoch_of(Count(4, random_shuffle=True))
    for _ in range(5):
        reader.next_epoch()
    assert epoch_of(reader) == first


def test_batch_size_may_change_and_modes_alternate() -> None:
    reader = Count(6)
    assert epoch_of(reader, 2) == [[0, 1], [2, 3], [4, 5]]
    assert epoch_of(reader, 3) == [[0, 1, 2], [3, 4, 5]]
    assert epoch_of(reader) == [[0], [1], [2], [3], [4], [5]]
    (contents,) = next(reader.next_epoch())
    assert isinstance(contents, ndd.Tensor)
    assert contents.source == "number 0"
    (contents,) = next(reader.next_epoch(6))
    assert isinstance(contents, ndd.Batch)
    assert contents.source == [f"number {i}" for i in range(6)]


def test_batch_size_of_the_constructor() -> None:
    for reader in (Count(6, batch_size=4), Count(6, max_batch_size=4)):
        assert len(numbers_of(next(reader.next_epoch()))) == 4
        assert len(numbers_of(next(reader.next_epoch(batch_size=2)))) == 2
        assert reader().batch_size == 4


def test_length_of_an_epoch() -> None:
    epoch = Count(10).next_epoch(batch_size=4)
    assert [len(epoch), *(len(epoch) for _ in epoch), len(epoch)] == [3, 2, 1, 0, 0]
    epoch = Count(10).next_epoch()
    assert len(epoch) == 10
    epoch.close()
    assert list(epoch) == []


def test_calls_go_on_for_ever() -> None:
    reader = Count(4)
    assert [reader(batch_size=3).tolist() for _ in range(4)] == [
        [0, 1, 2],
        [3, 0, 1],
        [2, 3, 0],
        [1, 2, 3],
    ]
    assert reader().item() == 0
    assert reader(batch_size=2).tolist() == [1, 2]


def test_dict_outputs() -> None:
    class Named(Count):
        output_names = ("number", "half")

        def fetch_sample(self, number: int) -> Sequence[Any]:
            return number, np.float32([number / 2])

    for batch_size in (None, 3):
        step = next(Named(5).next_epoch(batch_size=batch_size))
        assert list(step) == ["number", "half"]
        assert step["half"].dtype == ndd.float32


def test_several_readers_in_threads() -> None:
    results: dict[int, list[list[int]]] = {}

    def read(index: int) -> None:
        reader = Count(50, random_shuffle=True, seed=index)
        results[index] = [flat(epoch_of(reader, 7)) for _ in range(5)]

    threads = [threading.Thread(target=read, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, epochs in results.items():
        reader = Count(50, random_shuffle=True, seed=index)
        assert epochs == [flat(epoch_of(reader, 7)) for _ in range(5)]


@pytest.mark.parametrize("shuffle", SHUFFLES, ids=str)
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("batch_size", [None, 1, 4, 7])
def test_resumes_anywhere(shuffle: dict[str, Any], pad: bool, batch_size: int | None) -> None:
    def make() -> Reader:
        return Count(11, num_shards=2, shard_id=1, pad_last_batch=pad, **shuffle)

    assert_resumes(make, batch_size)
    assert_resumes(make, batch_size, used=True)


def test_resuming_after_an_abandoned_epoch() -> None:
    def make() -> Reader:
        reader = Count(11, random_shuffle=True, initial_fill=5)
        next(reader.next_epoch(batch_size=4))
        reader.next_epoch()
        return reader

    assert_resumes(make, 4)


def test_a_resumed_epoch_is_the_rest_of_the_interrupted_one() -> None:
    reader, restored = Count(10), Count(10)
    next(reader.next_epoch(batch_size=4))
    restored.set_state(reader.get_state())
    assert epoch_of(restored, 3) == [[4, 5, 6], [7, 8, 9]]
    assert epoch_of(restored, 5) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    steps = reader.next_epoch(batch_size=5)
    last = [numbers_of(step) for step in (next(steps), next(steps))]
    restored.set_state(str(reader.get_state()))
    assert epoch_of(restored, 5) == []
    assert epoch_of(restored, 5) == last


def test_state_of_one_shard_serves_the_others() -> None:
    readers = [Count(20, num_shards=4, shard_id=i, random_shuffle=True) for i in range(4)]
    steps = [reader.next_epoch(batch_size=2) for reader in readers]
    for step in steps:
        next(step)
    state = str(readers[2].get_state())
    for shard, step in enumerate(steps):
        restored = Count(20, num_shards=4, shard_id=shard, random_shuffle=True)
        restored.set_state(state)
        assert epoch_of(restored, 2) == [numbers_of(rest) for rest in step]


@given(worlds(), st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), shuffles, st.booleans())
@settings(deadline=None, max_examples=200)
def test_resuming_with_other_shards_gives_exactly_the_rest(
    world: tuple[int, int],
    other_shards: int,
    batch_size: int,
    steps: int,
    shuffle: dict[str, Any],
    pad: bool,
) -> None:
    size, shards = world
    other_shards = min(other_shards, size)
    readers = [
        Count(size, num_shards=shards, shard_id=i, pad_last_batch=pad, **shuffle)
        for i in range(shards)
    ]
    seen: list[int] = []
    # As long as no batch goes beyond the shard, all shards are in the same pass.
    steps = min(steps, size // shards // batch_size)
    last_steps = []
    for reader in readers:
        epoch = reader.next_epoch(batch_size=batch_size)
        delivered = [numbers_of(next(epoch)) for _ in range(steps)]
        seen += flat(delivered)
        last_steps += delivered[-1:]
    state = str(random.Random(size).choice(readers).get_state())
    missing = set(range(size)) - set(seen)
    rest: list[int] = []
    for shard in range(other_shards):
        reader = Count(size, num_shards=other_shards, shard_id=shard, pad_last_batch=pad, **shuffle)
        reader.set_state(state)
        rest += flat(epoch_of(reader))
    if other_shards == shards and pad:
        # Shards that are through go on repeating their last samples.
        assert missing <= set(rest)
        assert set(rest) - missing <= {numbers[-1] for numbers in last_steps}
    elif not missing:
        assert set(rest) <= set(range(size))
    elif pad:
        assert set(rest) == missing
    else:
        assert sorted(rest) == sorted(missing)


def test_resharding_twice_in_one_epoch() -> None:
    shuffle = {"random_shuffle": True, "initial_fill": 7}
    seen: list[int] = []
    state = None
    for shards in (4, 3, 2, 5):
        states = []
        for shard in range(shards):
            reader = Count(48, num_shards=shards, shard_id=shard, **shuffle)
            if state is not None:
                reader.set_state(state)
            steps = reader.next_epoch(batch_size=1)
            if shards == 5:
                seen += flat(map(numbers_of, steps))
            else:
                seen += numbers_of(next(steps)) + numbers_of(next(steps))
            states.append(str(reader.get_state()))
        state = states[0]
        assert len(state) < 300
    assert sorted(seen) == list(range(48))


def test_states_that_do_not_fit() -> None:
    reader = Count(10)
    state = reader.get_state()
    assert type(state) is str
    reader.set_state(state.encode())
    with pytest.raises(TypeError, match=r"readers\.Count: set_state needs a ReaderState"):
        reader.set_state(42)  # type: ignore[arg-type]
    for text in ("", "{}", "[1]", state[:-5], state.replace("samples", "x"), '{"version":1}'):
        with pytest.raises(ValueError, match="not the state of a reader"):
            reader.set_state(text)
    fields = json.loads(state)
    with pytest.raises(ValueError, match="not the state of a reader"):
        reader.set_state(json.dumps({**fields, "position": [0, 0, -1, 0, 0, None]}))
    with pytest.raises(ValueError, match="unknown version 7"):
        reader.set_state(json.dumps({**fields, "version": 7}))
    with pytest.raises(ValueError, match="belongs to 10 samples; the reader has 11"):
        Count(11).set_state(state)
    with pytest.raises(ValueError, match="shuffled in another way"):
        Count(10, random_shuffle=True).set_state(state)


def test_a_reader_without_a_seed_takes_that_of_the_state() -> None:
    first = Count(10, random_shuffle=True, seed=7)
    steps = first.next_epoch(batch_size=4)
    next(steps)
    state = first.get_state()
    rest = [numbers_of(step) for step in steps]
    second = Count(10, random_shuffle=True)
    second.set_state(state)
    assert epoch_of(second, 4) == rest
    assert epoch_of(second, 4) == epoch_of(first, 4)
    with pytest.raises(ValueError, match="shuffled in another way"):
        Count(10, random_shuffle=True, seed=8).set_state(state)


def test_bad_sample_raises_and_the_epoch_goes_on() -> None:
    reader = Count(8, bad=[3])
    steps = reader.next_epoch(batch_size=2)
    assert numbers_of(next(steps)) == [0, 1]
    match = r'readers\.Count: cannot read "number 3" \(sample 1 of the batch\): number 3 is bad\.'
    with pytest.raises(ndd.OpError, match=match) as caught:
        next(steps)
    assert isinstance(caught.value.__cause__, ValueError)
    assert [numbers_of(step) for step in steps] == [[4, 5], [6, 7]]
    steps = reader.next_epoch()
    assert [numbers_of(next(steps)) for _ in range(3)] == [[0], [1], [2]]
    with pytest.raises(ndd.OpError, match=r'cannot read "number 3": number 3 is bad\.'):
        next(steps)
    assert [numbers_of(step) for step in steps] == [[4], [5], [6], [7]]
    assert reader.errors == []


def test_skipping() -> None:
    reader = Count(8, bad=[1, 2, 7], on_error="skip")
    assert epoch_of(reader, 4) == [[0, 3, 4, 5], [6, 0, 3, 4]]
    assert [error.source for error in reader.errors] == ["number 1", "number 2", "number 7"]
    assert all(isinstance(error.exception, ndd.OpError) for error in reader.errors)
    assert flat(epoch_of(reader)) == [5, 6, 0, 3, 4, 5, 6, 0]
    assert len(reader.errors) == 3
    reader = Count(8, bad=[1, 2, 7], on_error="skip", pad_last_batch=True)
    assert epoch_of(reader, 4) == [[0, 3, 4, 5], [6, 6, 6, 6]]
    assert flat(epoch_of(reader)) == [0, 3, 4, 5, 6, 6, 6, 6]


def test_replacing() -> None:
    for batch_size in (None, 1, 2, 3, 8):
        reader = Count(8, bad=[0, 1, 4, 5], on_error="replace", pad_last_batch=True)
        numbers = flat(epoch_of(reader, batch_size))
        assert numbers[2:8] == [2, 3, 3, 3, 6, 7]
        assert len(reader.errors) == 4
    assert epoch_of(Count(4, bad=[0], on_error="replace"), 4) == [[1, 1, 2, 3]]
    assert epoch_of(Count(4, bad=[2, 3], on_error="replace"), 2) == [[0, 1], [1, 1]]


@pytest.mark.parametrize("policy", ["skip", "replace"])
@pytest.mark.parametrize("pad", [False, True])
def test_resumes_in_spite_of_bad_samples(policy: str, pad: bool) -> None:
    def make() -> Reader:
        return Count(9, bad=[2, 3, 8], on_error=policy, pad_last_batch=pad)

    for batch_size in (None, 2, 4):
        assert_resumes(make, batch_size)


@pytest.mark.parametrize("policy", ["skip", "replace"])
def test_nothing_but_bad_samples(policy: str) -> None:
    for options in ({}, {"pad_last_batch": True}):
        reader = Count(5, bad=range(5), on_error=policy, **options)
        for batch_size in (None, 2):
            with pytest.raises(ndd.OpError, match=r"readers\.Count: no sample can be read"):
                next(reader.next_epoch(batch_size=batch_size))


def test_error_budget() -> None:
    for limit in (2, 0.2):
        reader = Count(10, bad=[1, 3, 5], on_error="skip", max_errors=limit)
        steps = reader.next_epoch(batch_size=2)
        assert numbers_of(next(steps)) == [0, 2]
        match = rf"3 samples could not be read, more than max_errors={limit} allows\."
        with pytest.raises(ndd.OpError, match=match):
            list(steps)
        assert len(reader.errors) == 3
    reader = Count(10, bad=[1, 3, 5], on_error="skip", max_errors=3)
    for _ in range(3):
        epoch_of(reader, 2)
    with pytest.raises(ndd.OpError):
        list(Count(10, bad=[9], on_error="skip", max_errors=0).next_epoch())


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"num_shards": 0}, ValueError, "'num_shards' must be positive; got 0"),
        ({"num_shards": 11}, ValueError, "'num_shards' must be at most.*got 11 for 10"),
        ({"shard_id": 2, "num_shards": 2}, ValueError, r"'shard_id' must be in \[0\.\.1\]; got 2"),
        ({"shard_id": -1}, ValueError, "'shard_id' must be in"),
        ({"shard_id": "a"}, TypeError, "'shard_id' must be an integer"),
        ({"initial_fill": 0}, ValueError, "'initial_fill' must be positive"),
        ({"prefetch_queue_depth": 0}, ValueError, "'prefetch_queue_depth' must be positive"),
        ({"on_error": "ignore"}, ValueError, "'on_error' must be 'raise', 'skip' or 'replace'"),
        ({"max_errors": -1}, ValueError, "'max_errors' must not be negative"),
        ({"batch_size": 0}, ValueError, "'batch_size' must be positive; got 0"),
        ({"batch_size": "x"}, TypeError, "'batch_size' must be an integer"),
        ({"shufle": True}, TypeError, "unexpected keyword argument 'shufle'"),
        (
            {"shuffle_after_epoch": True, "random_shuffle": True},
            ValueError,
            "'shuffle_after_epoch' and 'random_shuffle' exclude each other",
        ),
        (
            {"shuffle_after_epoch": True, "stick_to_shard": True},
            ValueError,
            "'shuffle_after_epoch' and 'stick_to_shard' exclude each other",
        ),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=rf"readers\.Count.*{match}"):
        Count(10, **arguments)


def test_bad_arguments_of_methods() -> None:
    reader = Count(10)
    with pytest.raises(ValueError, match=r"readers\.Count: 'batch_size' must be positive; got -1"):
        reader.next_epoch(batch_size=-1)
    with pytest.raises(TypeError, match=r"readers\.Count: 'ctx' must be an EvalContext"):
        reader.next_epoch(ctx=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="capture=True requires a non-None batch_size"):
        reader.next_epoch(capture=True)
    with pytest.raises(ValueError, match="there are no samples"):
        Count(0)
    with pytest.warns(UserWarning, match="'shuffle_after_epoch_seed' has no effect"):
        Count(10, shuffle_after_epoch_seed=3)


@pytest.mark.filterwarnings("ignore:capture=True was specified:UserWarning")
def test_context_and_capture_change_nothing() -> None:
    with ndd.EvalContext() as context:
        steps = Count(4).next_epoch(batch_size=2, ctx=context, capture=True)
        assert [numbers_of(step) for step in steps] == [[0, 1], [2, 3]]


def test_explicit_none_is_the_default() -> None:
    reader = Count(4, shard_id=None, num_shards=None, seed=None, on_error=None, max_errors=None)
    assert epoch_of(reader, 2) == [[0, 1], [2, 3]]


def test_readers_and_epochs_are_garbage_collected() -> None:
    import weakref

    reader = Count(100)
    epoch = reader.next_epoch(batch_size=2)
    next(epoch)
    reader(batch_size=3)
    reader_alive, epoch_alive = weakref.ref(reader), weakref.ref(epoch)
    values_of(next(reader.next_epoch(batch_size=2)))
    del reader, epoch
    for _ in range(100):
        gc.collect()
        if reader_alive() is None:
            break
        threading.Event().wait(0.01)
    assert reader_alive() is None
    assert epoch_alive() is None
