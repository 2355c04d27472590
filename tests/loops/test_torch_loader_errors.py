# SPDX-License-Identifier: Apache-2.0
"""`pytorch.DataLoader`: what is wrong is said at the user's line, with what to do about it."""

from __future__ import annotations

import itertools
import pickle
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._loops import torch_ranks
from daliesque.pytorch import DataLoader
from support.loops import Pictures
from support.reader_checks import Count


class Stream(torch.utils.data.IterableDataset[Any]):
    """It even has a length."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(3))

    def __len__(self) -> int:
        return 3


@pytest.mark.parametrize(
    ("reader", "kind", "message"),
    [
        (Stream(), TypeError, "IterableDataset.*__len__ and __getitem__.*ExternalSource"),
        ((number for number in range(3)), TypeError, "got generator.*ExternalSource"),
        (torch.utils.data.DataLoader([1]), TypeError, r"loader\.dataset"),
        ("photos", TypeError, r"readers\.File\(file_root="),
        (5, TypeError, "must be a reader, a class of readers, or a data set"),
        (dict, TypeError, "class of readers; got the class dict"),
        ({"a": 1}, TypeError, "items by number"),
        (Count(3).next_epoch(), TypeError, "got Epoch"),
        (Count(9, stick_to_shard=True), ValueError, "Leave it out"),
    ],
)
def test_readers(reader: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        DataLoader(reader, batch_size=1)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"batch_size": 0}, ValueError, "'batch_size' must be at least 1; got 0"),
        ({"batch_size": 2.5}, TypeError, "'batch_size' must be an integer"),
        ({"batch_size": True}, TypeError, "'batch_size' must be an integer"),
        ({"last_batch": "fill"}, ValueError, "'partial', 'pad' or 'drop'; got 'fill'"),
        ({"shuffle": -1}, ValueError, "'shuffle' must be at least 1"),
        ({"epoch_batches": 0}, ValueError, "'epoch_batches' must be at least 1"),
        ({"seed": None}, TypeError, "'seed' must be an integer"),
        ({"seed": -1}, ValueError, "'seed' must be at least 0"),
        ({"prefetch": -1}, ValueError, "'prefetch' must be at least 0"),
        ({"output": "jax"}, ValueError, "'torch' or 'ndd'; got 'jax'"),
        ({"rank": 1}, ValueError, "'world_size' is missing"),
        ({"world_size": 2}, ValueError, "'rank' is missing"),
        ({"rank": 2, "world_size": 2}, ValueError, r"'rank' must be in \[0\.\.1\]; got 2"),
        ({"file_root": "x"}, TypeError, "unexpected argument 'file_root'.*the class instead"),
        ({"device": "gpu"}, RuntimeError, "DALIESQUE_GPU=cpu"),
    ],
)
def test_arguments(options: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        DataLoader(Count(9), **{"batch_size": 2, **options})


def test_arguments_in_the_order_of_torch() -> None:
    with pytest.raises(TypeError, match=r"got 64. Pass the batch size by its name"):
        DataLoader([1, 2], 64, batch_size=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"no argument 'num_workers'.*'num_threads'"):
        DataLoader([1, 2], batch_size=1, num_workers=4)
    with pytest.raises(TypeError, match=r"no argument 'drop_last'. Use last_batch='drop'"):
        DataLoader([1, 2], batch_size=1, drop_last=True)


def test_shards_of_the_reader() -> None:
    sharded = Count(9, shard_id=1, num_shards=3)
    loader = DataLoader(sharded, batch_size=3)
    assert (loader.rank, loader.world_size) == (1, 3)
    assert [numbers.tolist() for (numbers,) in loader] == [[3, 4, 5]]
    with pytest.raises(ValueError, match=r"shard 1 of 3, the loader for rank 0 of 2"):
        DataLoader(sharded, batch_size=3, rank=0, world_size=2)


def test_no_complete_batch() -> None:
    loader = DataLoader(Count(5), batch_size=3, rank=0, world_size=2, last_batch="drop")
    assert len(loader) == 0
    with pytest.raises(ValueError, match=r"no complete batch.*5 samples.*2 processes.*'last"):
        next(iter(loader))


class Box:
    """Nothing that a loader knows."""


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (lambda _: None, "returned None. Let it return"),
        (lambda _: Box(), "it is Box .*Return its batches"),
        (lambda _: 5, "it is int 5"),
        (lambda numbers: {"x": (numbers, Box())}, r"its item \['x'\]\[1\] is Box"),
        (lambda _: (n for n in [1]), "it is generator"),
        (lambda numbers: {numbers.batch_size}, "it is set"),
    ],
)
@pytest.mark.parametrize("prefetch", [0, 2])
def test_what_a_transform_returns(transform: Any, message: str, prefetch: int) -> None:
    with pytest.raises(TypeError, match=message):
        next(iter(DataLoader(Count(3), transform, batch_size=2, prefetch=prefetch)))


def test_ragged_batches() -> None:
    items = [np.zeros((k + 1, 2), np.uint8) for k in range(5)]
    with pytest.raises(ValueError, match=r"shapes: \(1, 2\), \(2, 2\), \(3, 2\), \.\.\.\. .*pad"):
        next(iter(DataLoader(items, lambda x: {"x": x}, batch_size=5)))
    with pytest.raises(ValueError, match=r"item \['x'\] have different shapes"):
        next(iter(DataLoader(items, lambda x: {"x": x}, batch_size=5)))
    padded = next(iter(DataLoader(items, lambda x: x.torch(pad=True), batch_size=5)))
    assert padded.shape == (5, 5, 2)
    kept = next(iter(DataLoader(items, lambda x: x, batch_size=5, output="ndd")))
    assert kept.shape == [(k + 1, 2) for k in range(5)]


def test_parameters_of_a_transform() -> None:
    def transform(image: Any) -> Any:
        return image

    with pytest.raises(TypeError, match=r"2 batches, one for each output.*transform\(image"):
        next(iter(DataLoader(Pictures(4), transform, batch_size=2)))

    def other(image: Any, label: Any) -> Any:
        return image, label

    items = [{"image": 1, "label": 2}]
    with pytest.raises(TypeError, match=r"one dict, with the outputs \['image', 'label'\]"):
        next(iter(DataLoader(items, other, batch_size=1)))


def failing(numbers: ndd.Batch) -> ndd.Batch:
    if 3 in numbers.tolist():
        msg = "three"
        raise KeyError(msg)
    return numbers


@pytest.mark.parametrize("prefetch", [0, 3])
def test_errors_of_a_transform(prefetch: int) -> None:
    """They come in their turn, show the line that raised them, and end nothing but their batch."""
    loader = DataLoader(Count(8), failing, batch_size=2, prefetch=prefetch)
    batches = iter(loader)
    assert next(batches).tolist() == [0, 1]
    with pytest.raises(KeyError, match=r"three") as caught:
        next(batches)
    lines = "".join(traceback.format_exception(caught.value))
    assert "in failing" in lines
    assert "raise KeyError(msg)" in lines
    assert "next(batches)" in lines
    assert "in batch 1 of epoch 0" in lines
    assert loader.state_dict()["taken"] == 4
    assert [batch.tolist() for batch in batches] == [[4, 5], [6, 7]]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_errors_of_operators(prefetch: int) -> None:
    """They name the operator, the sample and the line of the call, as in any loop."""

    def transform(contents: ndd.Batch) -> ndd.Batch:
        return ndd.decoders.image(contents)

    loader = DataLoader([b"no image at all"] * 2, transform, batch_size=2, prefetch=prefetch)
    with pytest.raises(ndd.DecodeError, match=r"decoders.image.*list\[") as caught:
        next(iter(loader))
    lines = "".join(traceback.format_exception(caught.value))
    assert "return ndd.decoders.image(contents)" in lines


def test_errors_of_the_reader() -> None:
    batches = iter(DataLoader(Count(6, bad=[2]), batch_size=2))
    next(batches)
    with pytest.raises(ndd.OpError, match=r"number 2 is bad"):
        next(batches)
    assert [numbers.tolist() for (numbers,) in batches] == [[4, 5]]


def test_a_transform_that_stops() -> None:
    def transform(_numbers: ndd.Batch) -> ndd.Batch:
        return next(iter([]))

    for prefetch in (0, 2):
        loader = DataLoader(Count(4), transform, batch_size=2, prefetch=prefetch)
        with pytest.raises(RuntimeError, match=r"'transform' raised StopIteration"):
            next(iter(loader))


def test_an_interrupted_batch_is_made_again() -> None:
    """With prefetch=0 the transform runs in the main thread, where Ctrl-C may hit it."""
    interrupted = []

    def transform(numbers: ndd.Batch) -> ndd.Batch:
        if len(interrupted) == 0 and 2 in numbers.tolist():
            interrupted.append(True)
            raise KeyboardInterrupt
        return numbers + ndd.random.uniform(range=(0, 1), batch_size=2)

    loader = DataLoader(Count(6), transform, batch_size=2, prefetch=0)
    batches = iter(loader)
    found = [next(batches)]
    with pytest.raises(KeyboardInterrupt):
        next(batches)
    assert loader.state_dict()["taken"] == 2
    found += batches
    loader.set_epoch(0)
    assert [batch.tolist() for batch in found] == [batch.tolist() for batch in loader]


def test_an_iteration_ends_when_a_state_is_loaded() -> None:
    loader = DataLoader(Count(6), batch_size=2)
    batches = iter(loader)
    next(batches)
    loader.load_state_dict(loader.state_dict())
    with pytest.raises(RuntimeError, match=r"ended when a state was loaded. Iterate"):
        next(batches)
    assert [numbers.tolist() for (numbers,) in loader] == [[2, 3], [4, 5]]


Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda _: None, TypeError, r"what state_dict\(\) returned; got NoneType"),
        (lambda _: {}, ValueError, "'version' must be an integer; got None"),
        (lambda state: {**state, "version": 2}, ValueError, "unknown version 2"),
        (lambda state: {**state, "samples": 7}, ValueError, "7 samples.*has 6. Give it the same"),
        (lambda state: {**state, "seed": 1}, ValueError, "seed=1; the loader has 0.*same 'seed'"),
        (lambda state: {**state, "shuffle": 6}, ValueError, "shuffle=6; the loader has 0"),
        (lambda state: {**state, "taken": -1}, ValueError, "'taken' must be an integer; got -1"),
        (lambda state: {**state, "taken": 1.0}, ValueError, "'taken' must be an integer; got 1.0"),
        (lambda state: {**state, "epoch": 1 << 70}, ValueError, "'epoch' must be an integer"),
        (lambda state: {**state, "begin": 3}, ValueError, "loader with 'epoch_batches'"),
    ],
)
def test_states(change: Change, kind: type[Exception], message: str) -> None:
    loader = DataLoader(Count(6), batch_size=2)
    for _ in itertools.islice(loader, 1):
        pass
    state = loader.state_dict()
    with pytest.raises(kind, match=message):
        loader.load_state_dict(change(state))
    # Nothing has changed.
    assert loader.state_dict() == state


def test_states_of_no_loader() -> None:
    loader = DataLoader(Count(6), batch_size=2, epoch_batches=2)
    state = loader.state_dict()
    with pytest.raises(ValueError, match=r"no loader can have had this state"):
        loader.load_state_dict({**state, "length": 0})
    # More was taken than there is: another epoch begins.
    loader.load_state_dict({**state, "taken": 1000})
    assert [numbers.tolist() for (numbers,) in loader] == [[4, 5], [0, 1]]


def test_epochs_that_are_none() -> None:
    loader = DataLoader(Count(6), batch_size=2)
    with pytest.raises(ValueError, match=r"'epoch' must be at least 0"):
        loader.set_epoch(-1)
    with pytest.raises(TypeError, match=r"'epoch' must be an integer"):
        loader.set_epoch("last")  # type: ignore[arg-type]


def test_what_cannot_be_pickled() -> None:
    class Local(Count):
        pass

    with pytest.raises(TypeError, match=r"because the reader cannot.*make the loader in that proc"):
        pickle.dumps(DataLoader(Local(3), batch_size=1))
    with pytest.raises(TypeError, match=r"because 'transform' cannot.*function of a module"):
        pickle.dumps(DataLoader(Count(3), lambda x: x, batch_size=1))


def test_cloudpickle_sends_any_function() -> None:
    from numba import cloudpickle

    sent = cloudpickle.dumps(DataLoader(Count(4), lambda x: x * 2, batch_size=2))
    assert [batch.tolist() for batch in pickle.loads(sent)] == [[0, 2], [4, 6]]


@pytest.fixture
def one_of_two(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process that believes that there is another one."""
    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    )
    with monkeypatch.context() as patch:
        patch.setattr(torch.distributed, "get_world_size", lambda: 2)
        yield
    torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("one_of_two")
def test_processes_that_were_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What those before them have written into the store is not about them."""

    def begin(seed: int) -> Any:
        # As in another process.
        monkeypatch.setattr(torch_ranks, "_numbers", itertools.count())
        return next(iter(DataLoader(Count(6), batch_size=2, seed=seed)))

    begin(1)
    begin(1)
    with pytest.raises(RuntimeError, match=r"do not read the same epoch.*seed=1.*seed=2"):
        begin(2)
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    begin(2)
