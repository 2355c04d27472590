# SPDX-License-Identifier: Apache-2.0
"""States, readers and values can be pickled, copied and sent to other processes."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd
from support.reader_checks import Count, epoch_of, flat, values_of

COPIES: list[Callable[[Any], Any]] = [
    lambda value: pickle.loads(pickle.dumps(value)),
    copy.copy,
    copy.deepcopy,
]
NAMES = [f"{number}.jpg" for number in range(10)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, name in enumerate(NAMES):
        (tmp_path / name).write_bytes(bytes([number] * (number + 1)))
    return tmp_path


def test_states_go_through_torch_save() -> None:
    reader = Count(10, random_shuffle=True)
    rng = ndd.random.RNG(seed=4)
    next(reader.next_epoch(batch_size=3))
    rng()
    checkpoint = ndd.checkpoint.Checkpoint()
    checkpoint.register(reader, "reader")
    checkpoint.collect()
    file = io.BytesIO()
    states = {"reader": reader.get_state(), "rng": rng.get_state(), "all": checkpoint.serialize()}
    torch.save(states, file)
    file.seek(0)
    assert torch.load(file, weights_only=True) == states


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("make_copy", COPIES)
def test_readers_are_copied_with_their_position(
    make_copy: Callable[[Any], Any], lazy: bool, folder: Path
) -> None:
    def make(**options: Any) -> ndd.readers.File:
        labels = list(range(10, 20))
        return ndd.readers.File(
            file_root=folder, files=NAMES, labels=labels, random_shuffle=True, **options
        )

    whole = [values_of(step) for step in make().next_epoch(batch_size=2)]
    reader = make(lazy_init=lazy)
    untouched = make_copy(reader)
    assert repr(untouched) == repr(reader)
    steps = reader.next_epoch(batch_size=2)
    next(steps)
    next(steps)
    other = make_copy(reader)
    assert type(other) is ndd.readers.File
    assert [values_of(step) for step in other.next_epoch(batch_size=2)] == whole[2:]
    assert [values_of(step) for step in untouched.next_epoch(batch_size=2)] == whole
    # The copies are independent, and nothing has happened to the original.
    assert [values_of(step) for step in steps] == whole[2:]
    assert [values_of(step) for step in make_copy(reader).next_epoch(batch_size=2)] == [
        values_of(step) for step in reader.next_epoch(batch_size=2)
    ]


def test_readers_of_ones_own_are_pickled() -> None:
    reader = Count(9, bad=[4], on_error="skip", num_shards=2, shard_id=1)
    epoch = reader.next_epoch(batch_size=1)
    next(epoch)
    other = pickle.loads(pickle.dumps(reader))
    assert other.bad == {4}
    # The shard is 4 to 8, without 4; the epoch has as many steps, and goes on with the next shard.
    assert epoch_of(other, 1) == [[6], [7], [8], [0]]
    with pytest.raises(TypeError, match=r"readers\.Count: an epoch cannot be copied or pickled"):
        pickle.dumps(epoch)


def in_another_process(reader: Count, numbers: Any) -> None:
    numbers.put(flat(epoch_of(reader, 2)))


def test_readers_go_to_spawned_processes() -> None:
    reader = Count(10, random_shuffle=True)
    next(reader.next_epoch(batch_size=2))
    context = multiprocessing.get_context("spawn")
    numbers = context.Queue()
    process = context.Process(target=in_another_process, args=(reader, numbers))
    process.start()
    assert numbers.get(timeout=120) == flat(epoch_of(pickle.loads(pickle.dumps(reader)), 2))
    process.join()
    assert process.exitcode == 0


@pytest.mark.parametrize("make_copy", COPIES)
def test_values(make_copy: Callable[[Any], Any], folder: Path) -> None:
    reader = ndd.readers.File(file_root=folder, files=NAMES)
    contents, _ = next(reader.next_epoch(batch_size=3))
    other = make_copy(contents)
    assert values_of((other,)) == values_of((contents,))
    assert make_copy(contents.tensors[1]).source == NAMES[1]
    *_, (last, _) = reader.next_epoch(batch_size=4, last_batch="pad")
    assert make_copy(last).valid == last.valid == 2
    image = ndd.as_tensor(np.arange(12, dtype=np.uint8).reshape(2, 2, 3), layout="HWC")
    for value in (image, ndd.flip(image), ndd.as_tensor([1.5, 2.5], dtype=ndd.bfloat16)):
        same = make_copy(value)
        assert (same.dtype, same.layout, same.shape) == (value.dtype, value.layout, value.shape)
        assert np.array_equal(np.asarray(same), np.asarray(value))
    for dtype in (ndd.uint8, ndd.bfloat16, ndd.bool):
        assert make_copy(dtype) == dtype
    assert make_copy(ndd.random.RNG(seed=3))() == ndd.random.RNG(seed=3)()
