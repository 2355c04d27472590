# SPDX-License-Identifier: Apache-2.0
"""Global arrays of JAX on eight devices: values, placement, states, and what is refused."""

from __future__ import annotations

import gc
import itertools
import json
import threading
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

import daliesque as ndd
from support.jax_data import SAMPLES, Counted, body

DEVICES = np.array(jax.devices())
P = PartitionSpec


def sharding(shape: tuple[int, ...], names: tuple[str, ...], spec: Any) -> NamedSharding:
    return NamedSharding(Mesh(DEVICES.reshape(shape), names), spec)


def as_numpy(tree: Any) -> Any:
    return jax.tree.map(np.asarray, tree)


def assert_equal_trees(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        jax.tree.map(np.testing.assert_array_equal, one, other)


def flat(lists: list[list[int]]) -> list[int]:
    return list(itertools.chain.from_iterable(lists))


def test_there_are_eight_devices() -> None:
    assert len(DEVICES) == 8


SHARDINGS = {
    "one device": SingleDeviceSharding(DEVICES[3]),
    "rows on eight": sharding((8,), ("data",), P("data")),
    "rows on four, repeated": sharding((4, 2), ("data", "model"), P("data")),
    "rows on two axes": sharding((4, 2), ("data", "model"), P(("data", "model"))),
    "all everywhere": sharding((8,), ("data",), P()),
    "in another order": NamedSharding(Mesh(DEVICES[::-1], ("data",)), P("data")),
}


@pytest.mark.parametrize("name", SHARDINGS)
def test_values_and_placement(name: str) -> None:
    chosen = SHARDINGS[name]
    batches = list(
        ndd.jax.iterate(Counted(), body, batch_size=8, sharding=chosen, last_batch="pad")
    )
    assert len(batches) == -(-SAMPLES // 8)
    for batch in batches:
        assert batch["image"].shape == (8, 6, 4, 3)
        for array in batch.values():
            assert array.sharding == chosen
            whole = np.asarray(array)
            for shard in array.addressable_shards:
                np.testing.assert_array_equal(np.asarray(shard.data), whole[shard.index])
        labels = np.asarray(batch["label"])
        expected = np.broadcast_to(labels[:, None, None, None], (8, 6, 4, 3))
        np.testing.assert_array_equal(batch["image"], expected)
    labels = np.concatenate([np.asarray(batch["label"]) for batch in batches])
    np.testing.assert_array_equal(labels[:SAMPLES], np.arange(SAMPLES))


def test_other_axes_may_be_divided_as_well() -> None:
    chosen = sharding((4, 2), ("data", "model"), P("data", None, "model"))
    tree = {"image": chosen, "label": NamedSharding(chosen.mesh, P("data"))}
    made = ndd.jax.iterate(
        Counted(),
        lambda images, labels: {"image": images, "label": labels},
        batch_size=8,
        sharding=tree,
    )
    for batch in made:
        assert batch["image"].addressable_shards[0].data.shape == (2, 6, 2, 3)
        assert batch["label"].sharding == tree["label"]
        labels = np.asarray(batch["label"])
        np.testing.assert_array_equal(np.asarray(batch["image"])[:, 5, 3, 2], labels)


def test_samples_and_random_numbers_do_not_depend_on_devices_or_batch_size() -> None:
    def rows(batch_size: int, chosen: Any) -> Any:
        made = ndd.jax.iterate(
            Counted(), body, batch_size=batch_size, sharding=chosen, shuffle=True, seed=7
        )
        parts = list(map(as_numpy, made))
        return {key: np.concatenate([part[key] for part in parts])[:32] for key in parts[0]}

    expected = rows(4, None)
    assert len(np.unique(expected["label"])) == 32
    assert len(np.unique(expected["noise"])) == 64
    for batch_size, chosen in [(8, SHARDINGS["rows on eight"]), (16, SHARDINGS["one device"])]:
        jax.tree.map(np.testing.assert_array_equal, rows(batch_size, chosen), expected)


def test_every_epoch_has_another_order() -> None:
    made = ndd.jax.iterate(Counted(), batch_size=8, shuffle=True, seed=1, epochs=3)
    assert len(made) == 12
    assert made.steps_per_epoch == 4
    epochs: list[list[int]] = [[], [], []]
    for index, (_, labels) in enumerate(made):
        epochs[index // 4] += labels.tolist()
    assert all(len(set(numbers)) == 32 for numbers in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    assert list(made) == []
    endless = ndd.jax.iterate(Counted(), batch_size=8, shuffle=True, seed=1, epochs=None)
    again = [labels.tolist() for _, labels in itertools.islice(endless, 12)]
    assert flat(again) == flat(epochs)
    assert endless.epoch == 3
    with pytest.raises(TypeError, match="no end"):
        len(endless)


def test_the_mask_says_which_rows_count() -> None:
    made = ndd.jax.iterate(Counted(), body, batch_size=8, last_batch="pad", mask=True)
    masks = np.concatenate([np.asarray(batch["valid"]) for batch in made])
    assert masks.tolist() == [True] * SAMPLES + [False] * 3
    *_, mask = list(ndd.jax.iterate(Counted(), batch_size=8, last_batch="pad", mask=True))[-1]
    assert mask.tolist() == [True] * 5 + [False] * 3


def test_programs_are_compiled_once() -> None:
    traces = []

    @jax.jit
    def step(batch: Any) -> Any:
        traces.append(1)
        return jnp.sum(batch["image"])

    made = ndd.jax.iterate(
        Counted(),
        body,
        batch_size=8,
        sharding=SHARDINGS["rows on eight"],
        last_batch="pad",
        epochs=2,
    )
    for batch in made:
        step(batch)
    assert len(traces) == 1


@pytest.mark.parametrize("epochs", [1, 2])
def test_it_goes_on_after_any_step(epochs: int) -> None:
    def make(batch_size: int = 8) -> Any:
        return ndd.jax.iterate(
            Counted(),
            body,
            batch_size=batch_size,
            sharding=SHARDINGS["rows on eight"],
            shuffle=True,
            seed=5,
            epochs=epochs,
        )

    made = make()
    states = [made.get_state()]
    whole = []
    for batch in made:
        whole.append(as_numpy(batch))
        states.append(made.get_state())
    for done, state in enumerate(states):
        assert json.loads(json.dumps(state)) == state
        assert state.keys() == states[0].keys()
        assert {type(value) for value in state.values()} == {int}
        again = make()
        again.set_state(json.loads(json.dumps(state)))
        assert len(again) == len(whole) - done
        assert_equal_trees(list(map(as_numpy, again)), whole[done:])
    # An iterator that was used goes back, and one that is over goes on.
    made.set_state(states[2])
    assert_equal_trees(list(map(as_numpy, made)), whole[2:])


def test_states_fit_another_batch_size() -> None:
    def labels(made: Any) -> list[int]:
        return np.concatenate([np.asarray(batch["label"]) for batch in made]).tolist()

    small = ndd.jax.iterate(Counted(), body, batch_size=4, shuffle=True)
    whole = labels(ndd.jax.iterate(Counted(), body, batch_size=4, shuffle=True))
    for _ in range(3):
        next(small)
    large = ndd.jax.iterate(Counted(), body, batch_size=8, shuffle=True)
    large.set_state(small.get_state())
    assert labels(large) == whole[12:36]


def test_batches_made_ahead_do_not_count() -> None:
    made = ndd.jax.iterate(Counted(), body, batch_size=4, prefetch=4)
    next(made)
    time.sleep(0.2)
    assert made.get_state()["taken"] == 4


def test_start_prefetch_begins_at_once() -> None:
    reader = Counted()
    begun = threading.Event()
    read = reader.fetch_sample

    def fetch_sample(number: int) -> Any:
        begun.set()
        return read(number)

    reader.fetch_sample = fetch_sample  # type: ignore[method-assign]
    made = ndd.jax.iterate(reader, body, batch_size=8)
    assert not begun.wait(0.2)
    made.start_prefetch()
    made.start_prefetch()
    assert begun.wait(10)
    assert made.get_state()["taken"] == 0
    assert next(made)["label"].tolist() == list(range(8))


def test_close_ends_it() -> None:
    before = threading.active_count()
    with ndd.jax.iterate(Counted(), body, batch_size=8) as made:
        next(made)
    made.close()
    assert len(made) == 0
    with pytest.raises(ValueError, match="the iterator is closed"):
        next(made)
    for _ in range(100):
        if threading.active_count() <= before:
            break
        time.sleep(0.05)
    assert threading.active_count() <= before


def test_arrays_keep_their_memory() -> None:
    """Devices of the CPU use the memory of batches, which no other batch may get meanwhile."""

    def large(images: ndd.Batch, labels: ndd.Batch) -> Any:
        return ndd.resize(images, size=[128, 128]), labels

    kept = []
    made = ndd.jax.iterate(
        Counted(200), large, batch_size=8, sharding=SHARDINGS["rows on eight"], epochs=2
    )
    for number, (images, labels) in enumerate(made):
        if number % 5 == 0:
            kept.append((images, np.asarray(labels)))
        del images
    gc.collect()
    for images, labels in kept:
        pixels = np.asarray(images)
        assert (pixels == labels[:, None, None, None]).all()


def test_devices_of_the_cpu_share_the_memory() -> None:
    addresses = []

    def remember(images: ndd.Batch, labels: ndd.Batch) -> Any:
        made = ndd.cast(ndd.resize(images, size=[64, 64]), dtype=ndd.float32)
        addresses.append(made._data().pointer(0))
        return made, labels

    made = ndd.jax.iterate(Counted(), remember, batch_size=8, sharding=SHARDINGS["rows on eight"])
    images, _ = next(made)
    assert images.addressable_shards[0].data.unsafe_buffer_pointer() == addresses[0]


def test_types() -> None:
    def types(images: ndd.Batch, _labels: ndd.Batch) -> Any:
        small = images.slice[0, 0, 0]
        names = ("uint8", "int8", "int16", "int32", "float16", "bfloat16", "float32", "bool")
        return {name: ndd.cast(small, dtype=getattr(ndd, name)) for name in names}

    batch = next(ndd.jax.iterate(Counted(), types, batch_size=4))
    assert {name: array.dtype for name, array in batch.items()} == {
        name: jnp.dtype(name) for name in batch
    }
    assert batch["bfloat16"].astype(jnp.float32).tolist() == [0, 1, 2, 3]
    assert batch["int8"].tolist() == [0, 1, 2, 3]
    assert batch["bool"].tolist() == [False, True, True, True]


def test_readers_and_classes_of_readers() -> None:
    from_class = ndd.jax.iterate(Counted, body, batch_size=5, samples=10)
    assert [batch["label"].tolist() for batch in from_class] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    pairs = [(np.zeros(3, np.float32), number) for number in range(4)]
    assert [b.tolist() for _, b in ndd.jax.iterate(pairs, batch_size=2)] == [[0, 1], [2, 3]]


def test_bad_samples_are_repeated_ones_of_the_batch() -> None:
    class Broken(Counted):
        def fetch_sample(self, number: int) -> Any:
            if number in (3, 9):
                msg = "broken"
                raise OSError(msg)
            return super().fetch_sample(number)

    made = ndd.jax.iterate(Broken(on_error="skip"), body, batch_size=8, mask=True)
    batches = list(map(as_numpy, made))
    assert all(batch["image"].shape == (8, 6, 4, 3) for batch in batches)
    counted = [batch["label"][batch["valid"]].tolist() for batch in batches]
    assert flat(counted) == [n for n in range(32) if n not in (3, 9)]
    with pytest.raises(OSError, match="broken"):
        list(ndd.jax.iterate(Broken(), body, batch_size=8))


def ragged(images: ndd.Batch, labels: ndd.Batch) -> Any:
    return ndd.resize(images, resize_x=labels + 1, resize_y=4)


def growing(images: ndd.Batch, labels: ndd.Batch) -> Any:
    return {"image": ndd.resize(images, size=[4, 4 + int(labels.tensors[0].item()) // 8])}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"batch_size": 6}, ValueError, r"batch_size=6, .* cannot be divided as the sharding asks"),
        ({"batch_size": 0}, ValueError, "'batch_size' must be at least 1"),
        ({"sharding": P("data")}, TypeError, r"\. Combine mesh and specification"),
        ({"sharding": "data"}, TypeError, "must be a jax.sharding.Sharding"),
        ({"last_batch": "partial"}, ValueError, "'drop' or 'pad'; .* compiled for again"),
        ({"transform": 8}, TypeError, "'transform' must be a function"),
        ({"transform": lambda _i, _l: None}, TypeError, "'transform' returned None"),
        ({"transform": lambda _i, _l: "text"}, TypeError, "must return batches"),
        (
            {"transform": lambda i, _l: i.slice[0].select([0])},
            ValueError,
            "a row for each of the 8",
        ),
        ({"transform": lambda i: i}, TypeError, "called with 2 batches"),
        ({"transform": ragged}, ValueError, "different shapes: .* resize or pad"),
        ({"transform": growing}, ValueError, r"item \['image'\] has uint8 \(8, 4, 5, 3\) and had"),
        ({"mask": True, "transform": lambda i, _l: {"valid": i}}, ValueError, "entry 'valid'"),
        ({"reader": Counted(num_shards=2)}, ValueError, "without 'shard_id' and 'num_shards'"),
        ({"reader": Counted(stick_to_shard=True)}, ValueError, "Leave it out"),
        ({"reader": "train"}, TypeError, "got the path 'train'"),
        ({"epochs": 0}, ValueError, "'epochs' must be at least 1"),
        ({"seed": "x"}, TypeError, "'seed' must be an integer"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str | dict) else "",
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments = {
        "reader": Counted(),
        "transform": None,
        "batch_size": 8,
        "sharding": SHARDINGS["rows on eight"],
        **options,
    }
    reader, transform = arguments.pop("reader"), arguments.pop("transform")
    with pytest.raises(error, match=message):
        list(ndd.jax.iterate(reader, transform, **arguments))


def test_shardings_that_do_not_go_together() -> None:
    tree = {"image": SHARDINGS["rows on eight"]}
    with pytest.raises(ValueError, match="form of what 'transform' returns"):
        next(ndd.jax.iterate(Counted(), body, batch_size=8, sharding=tree))


def test_states_of_others_are_refused() -> None:
    made = ndd.jax.iterate(Counted(), body, batch_size=8, shuffle=True)
    for change, message in [({"samples": 5}, "5 samples"), ({"seed": 9}, "seed=9")]:
        with pytest.raises(ValueError, match=message):
            made.set_state({**made.get_state(), **change})
