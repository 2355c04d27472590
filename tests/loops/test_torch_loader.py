# SPDX-License-Identifier: Apache-2.0
"""`pytorch.DataLoader`: what it delivers, and in which order."""

from __future__ import annotations

import gc
import itertools
import pickle
import threading
import weakref
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque.pytorch import DataLoader
from support import loops
from support.loops import Pictures
from support.reader_checks import Count
from support.torch_loader import SIZE, Dataset, augment, labels_only, make, rows


def test_an_epoch_holds_every_sample_once_as_tensors() -> None:
    loader = DataLoader(Dataset(), batch_size=4, shuffle=True)
    assert len(loader) == 6
    batches = list(loader)
    assert [len(labels) for _, labels in batches] == [4, 4, 4, 4, 4, 3]
    images, labels = (torch.cat(parts) for parts in zip(*batches, strict=True))
    assert sorted(labels.tolist()) == list(range(SIZE))
    assert labels.tolist() != list(range(SIZE))
    # As torch's own loader makes them.
    expected = next(iter(torch.utils.data.DataLoader(Dataset(), batch_size=4)))
    assert (images.dtype, labels.dtype) == (expected[0].dtype, expected[1].dtype)
    assert torch.equal(images, labels[:, None, None].float().expand(-1, 4, 4))


def test_items_of_all_types() -> None:
    """As torch's own loader makes them."""
    items = [
        (
            number,
            np.uint8(number),
            np.float64(number / 3),
            np.full(3, number, np.float16),
            torch.tensor(number),
            torch.tensor([number > 2]),
            torch.full((2, 3), number / 3).T,
            torch.full((2,), number / 3, dtype=torch.bfloat16),
        )
        for number in range(6)
    ]
    expected = torch.utils.data.DataLoader(items, batch_size=2)
    for found, batch in zip(DataLoader(items, batch_size=2), expected, strict=True):
        assert [part.dtype for part in found] == [part.dtype for part in batch]
        assert all(map(torch.equal, found, batch))


def test_epochs_differ_and_the_seed_decides() -> None:
    runs = []
    for seed in (3, 3, 4):
        loader = make(seed=seed)
        runs.append([rows(loader) for _ in range(3)])
        assert loader.epoch == 3
    assert runs[0] == runs[1]
    orders = [[row[0] for row in epoch] for run in runs[1:] for epoch in run]
    assert all(a != b for a, b in itertools.combinations(orders, 2))
    assert all(sorted(order) == list(range(SIZE)) for order in orders)
    in_order = make(shuffle=False)
    assert [row[0] for row in rows(in_order)] == list(range(SIZE))
    # The order stays, random numbers do not.
    first, second = rows(make(shuffle=False)), rows(in_order)
    assert [row[0] for row in first] == [row[0] for row in second]
    assert all(a[1] != b[1] for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_what_runs_ahead_changes_nothing(prefetch: int) -> None:
    expected = rows(make())
    state = ndd.random.get_default_rng().get_state()
    assert rows(make(prefetch=prefetch)) == expected
    assert ndd.random.get_default_rng().get_state() == state


@pytest.mark.parametrize(("world_size", "batch_size"), [(1, 7), (2, 2), (3, 1), (4, 3), (5, 5)])
def test_samples_do_not_depend_on_processes_and_batches(world_size: int, batch_size: int) -> None:
    """Order and augmentations are those of one process."""
    expected = rows(make())
    parts = [
        list(make(batch_size=batch_size, world_size=world_size, rank=rank, mask=True))
        for rank in range(world_size)
    ]
    (steps,) = {len(part) for part in parts}
    found = []
    for step in range(steps):
        for part in parts:
            keep = part[step]["valid"]
            assert keep.dtype == torch.bool
            found += rows([{key: value[keep] for key, value in part[step].items()}])
    assert found == expected


@pytest.mark.parametrize("policy", ["partial", "pad", "drop"])
@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_uneven_data(world_size: int, policy: Any) -> None:
    """Equal steps in all processes and epochs, and the samples that the policy says."""
    loaders = [
        DataLoader(
            Dataset(),
            labels_only,
            batch_size=4,
            shuffle=True,
            last_batch=policy,
            mask=True,
            rank=rank,
            world_size=world_size,
        )
        for rank in range(world_size)
    ]
    step_size = 4 * world_size
    expected = SIZE // step_size if policy == "drop" else -(-SIZE // step_size)
    for _ in range(3):
        seen: Counter[int] = Counter()
        for loader in loaders:
            assert len(loader) == expected
            batches = list(loader)
            assert len(batches) == expected
            for labels, mask in batches:
                assert len(labels) == len(mask)
                seen.update(labels[mask].tolist())
                assert policy == "partial" or len(labels) == 4
                assert len(labels) >= 1
        assert set(seen.values()) == {1}
        assert len(seen) == (expected * step_size if policy == "drop" else SIZE)


def test_fewer_samples_than_processes() -> None:
    for rank in range(5):
        loader = DataLoader([10, 11, 12], batch_size=2, rank=rank, world_size=5, mask=True)
        ((numbers, mask),) = list(loader)
        first, end = 3 * rank // 5, 3 * (rank + 1) // 5
        assert numbers[mask].tolist() == [10, 11, 12][first:end]
        assert len(numbers) == 1


def test_masks_in_every_output() -> None:
    outputs: list[Any] = [
        lambda numbers: numbers,
        lambda numbers: (numbers, numbers),
        lambda numbers: {"x": numbers},
        lambda numbers: [numbers],
    ]
    for transform in outputs:
        loader = DataLoader(
            list(range(5)), transform, batch_size=4, last_batch="pad", mask=True, rank=1,
            world_size=2,
        )  # fmt: skip
        (batch,) = list(loader)
        mask = batch["valid"] if isinstance(batch, dict) else batch[-1]
        assert mask.tolist() == [True, True, True, False]
    with pytest.raises(ValueError, match="Give it another"):
        next(iter(DataLoader([1, 2], lambda x: {"valid": x}, batch_size=1, mask=True)))


def test_iter_twice_is_harmless() -> None:
    """Frameworks call `iter` just to see whether they can."""
    loader = make()
    expected = rows(make())
    before = set(threading.enumerate())
    iter(loader)
    batches = iter(loader)
    iter(loader)
    assert set(threading.enumerate()) <= before
    assert loader.state_dict() == make().state_dict()
    assert rows(batches) == expected
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()
    assert list(batches) == []


def test_leaving_an_epoch_begins_the_next_one() -> None:
    whole = make()
    epochs = [rows(whole) for _ in range(4)]
    loader = make()
    for _ in itertools.islice(loader, 2):
        pass
    assert rows(loader) == epochs[1]
    for _ in loader:
        break
    assert rows(loader) == epochs[3]
    loader.set_epoch(1)
    assert rows(loader) == epochs[1]
    assert loader.epoch == 2
    loader.set_epoch(0)
    assert rows(itertools.islice(loader, 2)) == epochs[0][:8]
    # Also the one that was left.
    loader.set_epoch(0)
    assert rows(loader) == epochs[0]


def test_several_iterations_at_a_time() -> None:
    whole = make()
    epochs = [rows(whole) for _ in range(3)]
    loader = make()
    first, second = zip(*zip(loader, loader, strict=True), strict=True)
    assert rows(first) == epochs[0]
    assert rows(second) == epochs[1]
    together = zip(make(), make(seed=9), strict=True)
    assert rows(a for a, _ in together) == epochs[0]
    # The state is that of the one that began last.
    older, newer = iter(loader), iter(loader)
    next(older)
    next(newer)
    state = loader.state_dict()
    next(older)
    assert loader.state_dict() == state
    assert state["epoch"] == 3


def test_epochs_of_any_length() -> None:
    """They go on where the one before ended; each sample comes once in each pass."""
    loader = DataLoader(Dataset(), labels_only, batch_size=4, shuffle=True, epoch_batches=4)
    assert len(loader) == 4
    epochs = [[int(n) for labels in loader for n in labels] for _ in range(12)]
    assert all(len(epoch) == 16 for epoch in epochs)
    stream = list(itertools.chain.from_iterable(epochs))
    passes = [stream[k : k + SIZE] for k in range(0, len(stream) - SIZE + 1, SIZE)]
    assert all(sorted(part) == list(range(SIZE)) for part in passes)
    assert len({tuple(part) for part in passes}) == len(passes)
    loader.set_epoch(5)
    batches = iter(loader)
    found = [int(n) for labels in itertools.islice(batches, 3) for n in labels]
    assert found == epochs[5][:12]
    state = loader.state_dict()
    other = DataLoader(
        Dataset(), labels_only, batch_size=2, shuffle=True, epoch_batches=3, rank=1, world_size=2
    )
    other.load_state_dict(state)
    # What was left of the epoch, then its own.
    assert [labels.tolist() for labels in other] == [epochs[5][14:]]
    assert [labels.tolist() for labels in other] == [epochs[6][k : k + 2] for k in (2, 6, 10)]
    endless = DataLoader([1, 2, 3], batch_size=2, epoch_batches=5)
    assert [numbers.tolist() for (numbers,) in endless] == [[1, 2], [3, 1], [2, 3], [1, 2], [3, 1]]


def test_a_loader_of_a_class_with_its_arguments() -> None:
    loader = DataLoader(Pictures, augment, batch_size=4, seed=3, count=SIZE, random_shuffle=True)
    assert rows(loader) == rows(make())
    assert isinstance(loader.reader, Pictures)
    # The reader itself stays where it is.
    reader = Pictures(SIZE)
    state = reader.get_state()
    rows(DataLoader(reader, augment, batch_size=4))
    assert reader.get_state() == state


def test_readers_that_deliver_dicts() -> None:
    items = [{"image": np.full((2, 2), k, np.uint8), "label": k} for k in range(6)]
    loader = DataLoader(items, batch_size=4)
    batch = next(iter(loader))
    assert list(batch) == ["image", "label"]
    assert batch["label"].tolist() == [0, 1, 2, 3]

    def transform(batch: dict[str, ndd.Batch]) -> dict[str, ndd.Batch]:
        return {"twice": batch["label"] * 2}

    assert next(iter(DataLoader(items, transform, batch_size=2)))["twice"].tolist() == [0, 2]


def test_outputs() -> None:
    def transform(numbers: ndd.Batch) -> dict[str, Any]:
        return {
            "batch": numbers,
            "torch": torch.ones(2),
            "numpy": np.arange(3),
            "nested": ({"deep": numbers.torch()}, [numbers, 5]),
            "source": list(numbers.source),
            "text": "text",
            "none": None,
        }

    batch = next(iter(DataLoader(list(range(4)), transform, batch_size=2)))
    assert batch["batch"].tolist() == [0, 1]
    assert batch["torch"].tolist() == [1, 1]
    assert torch.equal(batch["numpy"], torch.arange(3))
    assert batch["nested"][0]["deep"].tolist() == [0, 1]
    assert batch["nested"][1][0].tolist() == [0, 1]
    assert batch["nested"][1][1] == 5
    assert batch["source"] == ["list[0]", "list[1]"]
    assert (batch["text"], batch["none"]) == ("text", None)
    ours = next(iter(DataLoader(list(range(4)), transform, batch_size=2, output="ndd")))
    assert isinstance(ours["batch"], ndd.Batch)
    raw = next(iter(DataLoader([1, 2], lambda _: object(), batch_size=2, output="ndd")))
    assert type(raw) is object


def test_padded_samples_are_known_to_the_transform() -> None:
    valid = []

    def transform(numbers: ndd.Batch) -> ndd.Batch:
        valid.append(numbers.valid)
        return numbers * 2

    loader = DataLoader(Count(7), transform, batch_size=4, last_batch="pad", prefetch=0)
    assert [batch.tolist() for batch in loader] == [[0, 2, 4, 6], [8, 10, 12, 12]]
    assert valid == [4, 3]
    assert DataLoader(Count(7, pad_last_batch=True), batch_size=4)._settings.last_batch == "pad"


def test_draws_of_the_transform_itself() -> None:
    """Calling the generator gives each step, process and epoch numbers of its own."""

    def transform(_numbers: ndd.Batch) -> dict[str, Any]:
        rng = ndd.random.get_default_rng()
        return {"drawn": np.array([rng(), rng()])}

    drawn = []
    for rank in range(2):
        loader = DataLoader(Count(12), transform, batch_size=2, rank=rank, world_size=2, seed=5)
        drawn += [int(n) for _ in range(2) for batch in loader for n in batch["drawn"]]
    assert len(set(drawn)) == len(drawn) == 2 * 2 * 3 * 2
    again = DataLoader(Count(12), transform, batch_size=2, rank=1, world_size=2, seed=5)
    assert [int(n) for batch in again for n in batch["drawn"]] == drawn[12:18]


def test_seeds_set_by_the_transform_stay_there() -> None:
    def transform(numbers: ndd.Batch) -> ndd.Batch:
        ndd.random.set_seed(1)
        return ndd.random.uniform(range=(0, 1), batch_size=numbers.batch_size)

    for prefetch in (0, 2):
        before = ndd.random.get_default_rng().get_state()
        first, second = list(DataLoader(Count(4), transform, batch_size=2, prefetch=prefetch))
        assert torch.equal(first, second)
        assert ndd.random.get_default_rng().get_state() == before


def test_assert_resumes_takes_a_loader() -> None:
    ndd.testing.assert_resumes(loops.torch_epochs)


def test_checkpoints_take_a_loader() -> None:
    loader = make()
    checkpoint = ndd.checkpoint.Checkpoint()
    checkpoint.register(loader, "loader")
    batches = iter(loader)
    next(batches)
    checkpoint.collect()
    text = checkpoint.serialize()
    expected = rows(batches)
    other, again = ndd.checkpoint.Checkpoint(), make()
    other.deserialize(text)
    other.register(again, "loader")
    assert rows(again) == expected


def test_a_loader_can_be_pickled() -> None:
    loader = DataLoader(
        Pictures(SIZE), loops.augmented_pair, batch_size=3, shuffle=True, last_batch="drop", seed=6
    )
    batches = iter(loader)
    next(batches)
    copied = pickle.loads(pickle.dumps(loader))
    assert len(copied) == len(loader)
    expected, found = (
        [(images.tolist(), labels.tolist()) for images, labels in each]
        for each in (batches, copied)
    )
    assert found == expected
    assert len(found) == SIZE // 3 - 1


def test_threads_end_with_the_iteration() -> None:
    def running() -> int:
        return sum(thread.name.startswith("daliesque") for thread in threading.enumerate())

    gc.collect()
    before = running()
    loader = make(prefetch=3)
    batches = iter(loader)
    next(batches)
    assert running() > before
    loader.close()
    assert next(batches, None) is None
    for _ in loader:
        break
    with make() as other:
        kept = iter(other)
        next(kept)
    reference = weakref.ref(loader)
    del loader, batches, kept, other
    gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith("daliesque reader"):
            thread.join(5)
    assert running() <= before
    assert reference() is None


def test_attributes_that_frameworks_look_for() -> None:
    loader = make(last_batch="drop")
    assert loader.sampler is loader
    assert (loader.batch_size, loader.num_workers, loader.drop_last) == (4, 0, True)
    assert (loader.rank, loader.world_size, loader.seed) == (0, 1, 3)
    assert loader.prefetch_factor is None
    assert len(loader.dataset) == loader.num_samples == SIZE  # type: ignore[arg-type]
    assert bool(loader)
    assert "process 0 of 1" in repr(loader)
    # Asking costs nothing: no epoch begins.
    assert loader.epoch == 0


def test_as_torch_is_a_loader_of_torch() -> None:
    epochs = [rows(loader) for loader in [make()] for _ in range(2)]
    ours = make()
    loader = ours.as_torch()
    assert isinstance(loader, torch.utils.data.DataLoader)
    assert len(loader) == 6
    assert rows(loader) == epochs[0]
    assert rows(loader) == epochs[1]
    loader.set_epoch(0)  # type: ignore[attr-defined]
    batches = iter(loader)
    next(batches)
    other = make().as_torch()
    other.load_state_dict(loader.state_dict())  # type: ignore[attr-defined]
    assert rows(other) == epochs[0][4:]


def test_batches_by_their_numbers() -> None:
    """What skips batches rebuilds a loader of torch from the parts of this one."""
    epochs = [rows(loader) for loader in [make()] for _ in range(2)]
    loader = make()
    parts = torch.utils.data.DataLoader(
        loader.dataset, batch_sampler=loader.batch_sampler, collate_fn=loader.collate_fn
    )
    assert len(parts) == len(loader)
    assert rows(parts) == epochs[0]
    assert rows(parts) == epochs[1]
    loader.set_epoch(1)
    skipping = torch.utils.data.DataLoader(
        loader.dataset, batch_sampler=[[3], [4], [5]], collate_fn=loader.collate_fn
    )
    assert rows(itertools.islice(skipping, 2)) == epochs[1][12:20]
    assert loader.state_dict()["taken"] == 20
    with pytest.raises(TypeError, match="Iterate over the loader"):
        loader.dataset[0]


def test_pinned_memory_needs_an_accelerator() -> None:
    loader = DataLoader(Dataset(), batch_size=4, device=torch.device("cpu"))
    images, _ = next(iter(loader))
    assert images.device.type == "cpu"
    with pytest.warns(UserWarning, match="no effect without an accelerator"):
        pinned = DataLoader(Dataset(), batch_size=4, pin_memory=True)
    assert len(next(iter(pinned))) == 2
