# SPDX-License-Identifier: Apache-2.0
"""`ray.iter_torch`: tensors, epochs and states."""

from __future__ import annotations

import io
import itertools
import json
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import ray
import ray.data
import torch
from ray.data.extensions import ArrowTensorArray

import daliesque as ndd
import daliesque.ray as ndr
from daliesque._ray.table import cut_tables, from_column
from support.ray_data import SAMPLES, Numbered, augment

pytestmark = pytest.mark.usefixtures("cluster")


def read(**options: Any) -> Any:
    arguments = {"batch_size": 8, "transform": augment, "seed": 3, "shuffle": True, "num_cpus": 1}
    return ndr.read(Numbered, **{**arguments, "shards": 3, **options})


def rows_in(batches: Any) -> dict[int, list[float]]:
    """What was delivered, by the number of the sample."""
    found: dict[int, list[float]] = {}
    for batch in batches:
        for label, image, noise in zip(batch["label"], batch["image"], batch["noise"], strict=True):
            assert int(label) not in found
            found[int(label)] = [*image.flatten().tolist(), *noise.tolist()]
    return found


def test_tensors_are_the_consumers_own() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        batches = list(ndr.iter_torch(read(), batch_size=8))
    batch = batches[0]
    assert {name: value.dtype for name, value in batch.items()} == {
        "image": torch.uint8,
        "label": torch.int64,
        "noise": torch.float32,
    }
    batch["image"].zero_()
    batch["noise"] += 1
    assert sorted(int(label) for batch in batches for label in batch["label"]) == list(
        range(SAMPLES)
    )
    chosen = next(iter(ndr.iter_torch(read(), batch_size=8, columns=["label"], device="cpu")))
    assert list(chosen) == ["label"]
    with pytest.raises(KeyError, match=r"no column 'x'\. There are: 'image', 'label', 'noise'"):
        next(iter(ndr.iter_torch(read(), batch_size=8, columns=["x"])))


@pytest.mark.parametrize("batch_size", [1, 4, 7, 8, 20, 50])
def test_batches_of_any_size(batch_size: int, ordered: Any) -> None:
    assert ordered.preserve_order
    batches = list(ndr.iter_torch(read(shuffle=False), batch_size=batch_size))
    labels = [batch["label"].tolist() for batch in batches]
    expected = [list(range(k, min(k + batch_size, SAMPLES))) for k in range(0, SAMPLES, batch_size)]
    assert labels == expected
    assert [batch["image"].flatten(1)[:, 0].tolist() for batch in batches] == expected
    whole = ndr.iter_torch(read(shuffle=False), batch_size=batch_size, drop_last=True)
    assert [batch["label"].tolist() for batch in whole] == expected[: SAMPLES // batch_size]


def test_tensors_in_the_object_store() -> None:
    """Without copies each iteration delivers the same memory."""
    data = read().materialize()

    def images(**options: Any) -> list[torch.Tensor]:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            return [batch["image"] for batch in ndr.iter_torch(data, batch_size=8, **options)]

    def addresses(tensors: list[torch.Tensor]) -> list[int]:
        return [tensor.data_ptr() for tensor in tensors]

    shared, own = images(copy=False), images()
    assert addresses(images(copy=False)) == addresses(shared)
    assert addresses(images(copy=False, device="cpu")) == addresses(shared)
    for others in (own, images(device="cpu")):
        assert not set(addresses(others)) & set(addresses(shared))
        assert all(map(torch.equal, others, shared))


def test_batches_are_cut_without_copies() -> None:
    """Also those of blocks of several chunks, which Ray makes of batches."""

    def table(first: int) -> pa.Table:
        values = np.full((4, 2, 3), first, np.float32)
        values += np.arange(4, dtype=np.float32)[:, None, None]
        return pa.table({"x": ArrowTensorArray.from_numpy(values)})

    def addresses(part: pa.Table) -> list[int]:
        buffers = [chunk.storage.flatten().buffers()[1].address for chunk in part["x"].chunks]
        offsets = [chunk.storage.flatten().offset * 4 for chunk in part["x"].chunks]
        return [buffer + offset for buffer, offset in zip(buffers, offsets, strict=True)]

    blocks = [pa.concat_tables([table(0), table(4)]), table(8)]
    starts = [address for block in blocks for address in addresses(block)]
    row = 2 * 3 * 4
    for size, expected in {
        4: [[starts[0]], [starts[1]], [starts[2]]],
        2: [[start + half] for start in starts for half in (0, 2 * row)],
        6: [[starts[0], starts[1]], [starts[1] + 2 * row, starts[2]]],
    }.items():
        parts = list(cut_tables(blocks, size, False))
        assert [addresses(part) for part in parts] == expected
        found = [from_column(part["x"], part.schema.field("x")).numpy() for part in parts]
        assert np.concatenate(found)[:, 0, 0].tolist() == list(range(12))


def test_batches_over_blocks_of_different_shapes(ordered: Any) -> None:
    assert ordered.preserve_order

    def growing(images: ndd.Batch, labels: ndd.Batch) -> Any:
        size = 2 + int(labels.tensors[0].item()) // 8
        return {"image": ndd.resize(images, size=[size, 2]), "label": labels}

    dataset = read(transform=growing, shuffle=False, shards=6)
    batches = list(ndr.iter_torch(dataset, batch_size=12))
    assert batches[0]["label"].tolist() == list(range(12))
    shapes = [tuple(image.shape) for batch in batches for image in batch["image"]]
    assert shapes == [(2 + label // 8, 2, 3) for label in range(SAMPLES)]


def test_epochs_follow_each_other() -> None:
    dataset = read()
    batches = ndr.iter_torch(dataset, batch_size=8)
    assert len(batches) == -(-SAMPLES // 8)
    assert len(ndr.iter_torch(dataset, batch_size=8, drop_last=True)) == SAMPLES // 8
    dataset.take(1)
    epochs = []
    for epoch in range(3):
        assert batches.epoch == max(0, epoch - 1) if epoch else batches.epoch == 0
        epochs.append(rows_in(batches))
        assert batches.epoch == epoch
    assert all(sorted(rows) == list(range(SAMPLES)) for rows in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    batches.set_epoch(1)
    assert rows_in(batches) == epochs[1]
    assert rows_in(batches) == epochs[2]
    # Another iterable of the same data set begins where the data set does.
    assert rows_in(ndr.iter_torch(dataset, batch_size=5)) == epochs[0]
    next(iter(batches))
    assert batches.epoch == 3
    assert rows_in(ndr.iter_torch(read(epoch=2), batch_size=8)) == epochs[2]


@pytest.mark.parametrize("consumed", [8, 5])
def test_it_goes_on_after_any_step(consumed: int) -> None:
    """Also in the middle of a batch that the loop body has made."""
    dataset = read()
    batches = ndr.iter_torch(dataset, batch_size=consumed)
    states, before = [batches.state_dict()], [{}]
    for batch in batches:
        states.append(batches.state_dict())
        before.append({**before[-1], **rows_in([batch])})
    whole = before[-1]
    assert sorted(whole) == list(range(SAMPLES))
    for state, delivered in list(zip(states, before, strict=True))[:-1:2]:
        assert json.loads(json.dumps(state)) == state
        again = ndr.iter_torch(dataset, batch_size=8)
        again.load_state_dict(_saved_and_loaded(state))
        assert again.state_dict() == state
        rest = rows_in(again)
        assert {**delivered, **rest} == whole
        assert delivered.keys() & rest.keys() == set()
    # The state after the last batch: another epoch comes.
    again = ndr.iter_torch(dataset, batch_size=8)
    again.load_state_dict(states[-1])
    following = rows_in(again)
    assert again.epoch == 1
    batches.set_epoch(1)
    assert rows_in(batches) == following
    # The epoch after the rest of one is whole.
    again.load_state_dict(states[2])
    rows_in(again)
    assert rows_in(again) == following


def _saved_and_loaded(state: dict[str, Any]) -> Any:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def test_a_data_set_is_made_to_go_on() -> None:
    batches = ndr.iter_torch(read(), batch_size=8)
    whole = rows_in(batches)
    batches.set_epoch(0)
    delivered = rows_in(itertools.islice(batches, 2))
    state = batches.state_dict()
    for shards, batch_size in [(1, 8), (4, 3), (2, 50)]:
        dataset = read(start=state, shards=shards, batch_size=batch_size)
        assert dataset.count() == SAMPLES - 16
        rest = ndr.iter_torch(dataset, batch_size=8)
        assert rest.state_dict() == state
        assert {**delivered, **rows_in(rest)} == whole
        assert len(rows_in(rest)) == SAMPLES
    complete = read(start={**state, "rows": [[0, SAMPLES]]})
    assert ndr.iter_torch(complete, batch_size=8).epoch == 1


def test_consumers_of_a_split_go_on_together() -> None:
    @ray.remote(num_cpus=0)
    def consume(iterator: Any, steps: int | None) -> Any:
        batches = ndr.iter_torch(iterator, batch_size=4)
        found = rows_in(itertools.islice(batches, steps))
        return found, batches.state_dict()

    whole = rows_in(ndr.iter_torch(read(), batch_size=8))
    dataset = read(batch_size=4, splits=2, last_batch="drop")
    (one, first), (two, second) = ray.get(
        [consume.remote(part, 2) for part in dataset.streaming_split(2, equal=True)]
    )
    assert len(one) == len(two) == 8
    assert one.keys() & two.keys() == set()
    resumed = read(batch_size=4, splits=3, last_batch="drop", start=[first, second])
    results = ray.get(
        [consume.remote(part, None) for part in resumed.streaming_split(3, equal=True)]
    )
    rest = {key: value for found, _ in results for key, value in found.items()}
    assert {len(found) for found, _ in results} == {8}
    assert rest.keys() & {*one, *two} == set()
    assert all(whole[key] == value for key, value in {**one, **two, **rest}.items())
    assert len(rest) == 24


def test_states_that_do_not_fit() -> None:
    dataset = read()
    batches = ndr.iter_torch(dataset, batch_size=8)
    state = batches.state_dict()
    for change, error, message in [
        ({"seed": 4}, ValueError, "with seed=4; here it is 3"),
        ({"samples": 9}, ValueError, "with samples=9"),
        ({"rows": [[0, 99]]}, ValueError, "row 98 of 43 samples"),
        ({"rows": [[0]]}, ValueError, "'rows' must be ranges"),
        ({"epoch": "x"}, ValueError, "'epoch' must be an integer"),
        ({"version": 9}, ValueError, "unknown version 9"),
    ]:
        with pytest.raises(error, match=message):
            batches.load_state_dict({**state, **change})
        with pytest.raises(error, match=message):
            read(start={**state, **change})
    with pytest.raises(TypeError, match=r"what state_dict\(\) returned; got str"):
        batches.load_state_dict("state")
    with pytest.raises(ValueError, match="different epochs"):
        read(start=[state, {**state, "epoch": 2}])
    with pytest.raises(ValueError, match="at least one"):
        read(start=[])
    (part,) = dataset.streaming_split(1)
    split = ndr.iter_torch(part, batch_size=8)
    with pytest.raises(RuntimeError, match=r"ray\.read\(\.\.\., start=\[the states"):
        split.load_state_dict({**state, "rows": [[0, 8]]})
    with pytest.raises(ValueError, match=r"epoch=5"):
        split.set_epoch(5)
    with pytest.raises(TypeError, match="not known"):
        len(split)


def test_other_data_sets_have_no_state() -> None:
    batches = ndr.iter_torch(ray.data.range(10), batch_size=4)
    assert [batch["id"].tolist() for batch in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    with pytest.raises(RuntimeError, match=r"was not made by ray\.read"):
        batches.state_dict()
    with pytest.raises(TypeError, match="must be a data set"):
        ndr.iter_torch([1, 2], batch_size=4)
    without = ndr.iter_torch(read(source=None), batch_size=8)
    assert len(list(without)) == 6
    with pytest.raises(RuntimeError, match="source"):
        without.state_dict()


def test_after_other_operations() -> None:
    dataset = read().map_batches(
        lambda table: table.drop_columns(["noise"]), batch_format="pyarrow", batch_size=8
    )
    batches = ndr.iter_torch(dataset, batch_size=8)
    found = [batch["label"].tolist() for batch in itertools.islice(batches, 2)]
    again = ndr.iter_torch(dataset, batch_size=8)
    again.load_state_dict(batches.state_dict())
    found += [batch["label"].tolist() for batch in again]
    assert sorted(itertools.chain(*found)) == list(range(SAMPLES))
    assert ndd.__version__
