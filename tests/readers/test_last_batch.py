# SPDX-License-Identifier: Apache-2.0
"""The last batch of an epoch: filled, smaller, left out or padded, and how many samples count."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import daliesque as ndd
from support.reader_checks import Count, Numbers, numbers_of

POLICIES = ["fill", "partial", "drop", "pad"]


def epoch_of(reader: ndd.readers.Reader[Any], size: int, last: Any) -> list[ndd.Batch]:
    """The batches of an epoch, whose length must have been announced."""
    epoch = reader.next_epoch(size, last_batch=last)
    steps, samples = len(epoch), epoch.num_samples
    batches = [batch for (batch,) in epoch]
    assert len(batches) == steps
    assert sum(batch.valid for batch in batches) == samples
    return batches


def values(batches: list[ndd.Batch]) -> list[list[int]]:
    return [batch.torch().tolist() for batch in batches]


def valid_values(batches: list[ndd.Batch]) -> list[int]:
    return [value for b in batches for value in b.torch().tolist()[: b.valid]]


@pytest.mark.parametrize(
    ("policy", "first", "valid", "second"),
    [
        (None, [[0, 1, 2], [3, 4, 0]], [3, 2], [[1, 2, 3], [4, 0, 1]]),
        ("fill", [[0, 1, 2], [3, 4, 0]], [3, 2], [[1, 2, 3], [4, 0, 1]]),
        ("partial", [[0, 1, 2], [3, 4]], [3, 2], [[0, 1, 2], [3, 4]]),
        ("drop", [[0, 1, 2]], [3], [[0, 1, 2]]),
        ("pad", [[0, 1, 2], [3, 4, 4]], [3, 2], [[0, 1, 2], [3, 4, 4]]),
    ],
)
def test_five_samples_in_batches_of_three(
    policy: Any, first: Any, valid: list[int], second: Any
) -> None:
    reader = Numbers(5)
    batches = epoch_of(reader, 3, policy)
    assert values(batches) == first
    assert [batch.valid for batch in batches] == valid
    assert values(epoch_of(reader, 3, policy)) == second


@pytest.mark.parametrize("policy", POLICIES)
def test_whole_batches_do_not_depend_on_it(policy: str) -> None:
    reader = Numbers(6)
    for _ in range(2):
        batches = epoch_of(reader, 3, policy)
        assert values(batches) == [[0, 1, 2], [3, 4, 5]]
        assert [batch.valid for batch in batches] == [3, 3]


@pytest.mark.parametrize("shuffle", [{}, {"random_shuffle": True}, {"shuffle_after_epoch": True}])
@pytest.mark.parametrize("stick", [False, True])
@pytest.mark.parametrize("pads", [False, True])
@pytest.mark.parametrize("policy", ["partial", "pad"])
@pytest.mark.parametrize("size", [3, 4, 64])
def test_all_shards_together_count_each_sample_once_in_each_epoch(
    shuffle: dict[str, bool], stick: bool, pads: bool, policy: str, size: int
) -> None:
    if stick and "shuffle_after_epoch" in shuffle:
        shuffle = {}
    options = {"num_shards": 3, "stick_to_shard": stick, "pad_last_batch": pads, **shuffle}
    readers = [Numbers(25, shard_id=shard, **options) for shard in range(3)]
    for _ in range(4):
        epochs = [epoch_of(reader, size, policy) for reader in readers]
        assert sorted(v for batches in epochs for v in valid_values(batches)) == list(range(25))
        if pads:
            assert len({len(batches) for batches in epochs}) == 1


def test_250_images_count_250_times(tmp_path: Any) -> None:
    for number in range(250):
        (tmp_path / f"{number:03}.jpg").write_bytes(b"x")
    reader = ndd.readers.File(file_root=str(tmp_path), files=[f"{n:03}.jpg" for n in range(250)])
    for policy, last in (("fill", 64), ("partial", 58), ("pad", 64)):
        batches = [files for files, _ in reader.next_epoch(64, last_batch=policy)]  # type: ignore[arg-type]
        assert [batch.valid for batch in batches] == [64, 64, 64, 58]
        assert batches[-1].batch_size == last


def test_operators_that_keep_samples_keep_valid() -> None:
    last = epoch_of(Numbers(5), 3, "pad")[-1]
    assert last.valid == 2
    images = ndd.full(ndd.cast(last, dtype=ndd.uint8), shape=[4, 4, 1], layout="HWC")
    kept = [
        last + 1,
        -last,
        ndd.cast(last, dtype=ndd.float32),
        ndd.reshape(last, shape=[1]).slice[0],
        ndd.cat(ndd.expand_dims(last, axes=0), ndd.expand_dims(last, axes=0)),
        ndd.as_batch([1, 2, 3]) * last,
        ndd.flip(ndd.resize(images, size=[2, 2])),
        ndd.warp_affine(images, matrix=[1, 0, 0, 0, 1, 0]),
        *ndd.resize(images, size=[2, 2], save_attrs=True),
    ]
    for result in kept:
        assert result.valid == 2
        assert result.evaluate().valid == 2
    with ndd.EvalMode.sync_cpu:
        assert ndd.cast(last, dtype=ndd.float32).valid == 2
    assert last.select([2, 1]).valid == 2
    assert last.select(range(last.valid)).torch().tolist() == [3, 4]
    assert ndd.permute_batch(last, indices=[2, 1, 0]).valid == 3
    assert ndd.batch([1, 2]).valid == 2


def test_a_fill_epoch_before_does_not_shorten_the_pass() -> None:
    reader = Numbers(5)
    assert values(epoch_of(reader, 3, "fill")) == [[0, 1, 2], [3, 4, 0]]
    assert values(epoch_of(reader, 3, "partial")) == [[0, 1, 2], [3, 4]]
    assert values(epoch_of(reader, 3, "fill")) == [[0, 1, 2], [3, 4, 0]]


@pytest.mark.parametrize("policy", POLICIES)
def test_an_epoch_is_resumed_with_what_was_left(policy: Any) -> None:
    reader, other = Numbers(8), Numbers(8)
    epoch = reader.next_epoch(3, last_batch=policy)
    next(epoch)
    other.set_state(str(reader.get_state()))
    left = [batch.torch().tolist() for (batch,) in epoch]
    assert values(epoch_of(other, 3, policy)) == left
    assert values(epoch_of(other, 3, policy)) == values(epoch_of(reader, 3, policy))


def test_a_batch_larger_than_the_data() -> None:
    reader = Numbers(2)
    assert epoch_of(reader, 5, "drop") == []
    assert values(epoch_of(reader, 5, "partial")) == [[0, 1]]
    assert values(epoch_of(reader, 5, "pad")) == [[0, 1, 1, 1, 1]]


@pytest.mark.parametrize(
    ("policy", "wanted", "valid"),
    [
        ("fill", [[0, 2, 3], [4, 0, 2]], [3, 2]),
        ("partial", [[0, 2, 3], [4]], [3, 1]),
        ("pad", [[0, 2, 3], [4, 4, 4]], [3, 1]),
        ("drop", [[0, 2, 3]], [3]),
    ],
)
def test_samples_that_are_skipped_do_not_count(policy: Any, wanted: Any, valid: list[int]) -> None:
    batches = [b for (b,) in Numbers(5, (1,), on_error="skip").next_epoch(3, last_batch=policy)]
    assert values(batches) == wanted
    assert [batch.valid for batch in batches] == valid


def test_a_batch_of_nothing_but_skipped_samples_counts_nothing() -> None:
    reader = Numbers(4, (3,), on_error="skip")
    batches = [batch for (batch,) in reader.next_epoch(3, last_batch="partial")]
    assert [batch.valid for batch in batches] == [3, 0]
    assert batches[1].torch().tolist() == [2]


def test_wrong_values() -> None:
    with pytest.raises(ValueError, match="Numbers: 'last_batch' must be 'fill', 'partial', 'drop'"):
        Numbers(5).next_epoch(3, last_batch="keep")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="exclude each other"):
        Numbers(5, pad_last_batch=True).next_epoch(3, last_batch="fill")


def test_a_reader_says_how_to_iterate_and_to_count() -> None:
    reader = Numbers(5)
    with pytest.raises(TypeError, match=r"Iterate over reader\.next_epoch\(batch_size=\.\.\.\)"):
        list(reader)
    with pytest.raises(TypeError, match=r"len\(reader\.next_epoch\(batch_size=\.\.\.\)\)"):
        len(reader)
    assert reader


def test_pickled_batches_keep_valid() -> None:
    last = pickle.loads(pickle.dumps(epoch_of(Numbers(5), 3, "pad")[-1]))
    assert last.valid == 2
    assert last.tolist() == [3, 4, 4]


class Vanishing(Count):
    """Each number can be read once only, but for the first ones."""

    def fetch_sample(self, number: int) -> Any:
        if number > 1 and number in self.fetched:
            self.bad.add(number)
        return super().fetch_sample(number)


def test_a_sample_to_repeat_that_is_gone() -> None:
    """The last batch has no sample of its own, and those before cannot be read any more."""
    reader = Vanishing(6, bad=[4, 5], on_error="skip")
    steps = list(reader.next_epoch(batch_size=2, last_batch="partial"))
    assert [numbers_of(step) for step in steps] == [[0, 1], [2, 3], [1]]
    assert [step[0].valid for step in steps][-1] == 0
