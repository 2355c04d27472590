# SPDX-License-Identifier: Apache-2.0
"""Loops that tests resume, also in other processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from torchdata.nodes import Loader, Prefetcher

import daliesque as ndd
from daliesque.checkpoint import Checkpoint
from support.reader_checks import Count

SIDE = 6


class Pictures(ndd.readers.Reader):
    """Small images of noise, with labels."""

    def __init__(self, count: int = 9, **options: Any) -> None:
        self._count = count
        super().__init__(**options)

    def open_index(self) -> int:
        return self._count

    def fetch_sample(self, number: int) -> tuple[ndd.Tensor, int]:
        pixels = np.random.default_rng(number).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
        return ndd.as_tensor(pixels, layout="HWC"), number


class Epochs:
    """Counts epochs, and goes on counting after a checkpoint."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._done = 0

    def __iter__(self) -> Iterator[int]:
        while self._done < self._count:
            yield self._done
            self._done += 1

    def state_dict(self) -> dict[str, int]:
        return {"done": self._done}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._done = state["done"]


class Counting:
    """An iterator with a state of its own."""

    def __init__(self) -> None:
        self._next = 0

    def __iter__(self) -> Counting:
        return self

    def __next__(self) -> int:
        if self._next == 6:
            raise StopIteration
        self._next += 1
        return self._next

    def state_dict(self) -> dict[str, int]:
        return {"next": self._next}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._next = state["next"]


def augmented(images: ndd.Batch, rng: ndd.random.RNG | None = None) -> ndd.Batch:
    """Some random augmentations."""
    images = ndd.random_resized_crop(images, size=[4, 4], rng=rng)
    images = ndd.flip(images, horizontal=ndd.random.coin_flip(batch_size=3, rng=rng))
    return ndd.noise.gaussian(images, stddev=2.0, rng=rng)


def training(checkpoint: Checkpoint) -> Iterator[dict[str, Any]]:
    """Three epochs with augmentations, of generators of its own and of the default one."""
    reader = Pictures(random_shuffle=True, seed=5, prefetch_queue_depth=4)
    rng, epochs = ndd.random.RNG(seed=8), Epochs(3)
    ndd.random.set_seed(3)
    checkpoint.register(reader, "reader")
    checkpoint.register(rng, "rng")
    checkpoint.register(ndd.random.get_default_rng(), "default rng")
    checkpoint.register(epochs, "epochs")
    for epoch in epochs:
        for images, labels in reader.next_epoch(batch_size=3):
            yield {"images": augmented(images, rng), "labels": labels.torch(), "epoch": epoch}
            ndd.random.uniform(range=(0, 1))


def of_the_current_checkpoint() -> Iterator[Any]:
    """Registers with `checkpoint.current()`."""
    reader = Count(7, random_shuffle=True)
    ndd.checkpoint.current().register(reader)
    for (numbers,) in reader.next_epoch(batch_size=2):
        yield [numbers, np.asarray(numbers.tensors[0])]


def endless(checkpoint: Checkpoint) -> Iterator[Any]:
    """Never ends."""
    rng = ndd.random.RNG(seed=8)
    checkpoint.register(rng, "rng")
    while True:
        yield rng()


def without_generator(checkpoint: Checkpoint) -> Iterator[Any]:
    """Forgets to register a generator."""
    reader, rng = Pictures(), ndd.random.RNG(seed=8)
    checkpoint.register(reader, "reader")
    for images, _ in reader.next_epoch(batch_size=3):
        yield {"images": augmented(images, rng)}


def forgetful(checkpoint: Checkpoint) -> Iterator[Any]:
    """Begins at the first epoch again."""
    reader = Count(4)
    checkpoint.register(reader, "reader")
    for _ in range(2):
        for (numbers,) in reader.next_epoch(batch_size=2):
            yield numbers.shape


def with_state_only() -> Iterator[Any]:
    """Registers nothing."""
    yield from range(3)


def nodes(batch_size: int | None = 3, **options: Any) -> Any:
    """A chain of nodes with random augmentations."""
    ndd.random.set_seed(4)
    rng = ndd.random.RNG(seed=6)
    make = ndd.pytorch.nodes
    node = make.Reader(Pictures, batch_size=batch_size, random_shuffle=True, **options)
    node = make.DictMapper(node, augmented)
    node = make.DictMapper(
        node, lambda images: ndd.noise.shot(images, factor=9.0, rng=rng), rng=rng
    )
    return make.ToTorch(node)


def loader() -> Any:
    """A Loader of torchdata, for one epoch."""
    return Loader(nodes(), restart_on_stop_iteration=False)


def prefetching_loader() -> Any:
    """Runs ahead of the loop on a thread of torchdata; no random operators."""
    node = ndd.pytorch.nodes.Reader(Pictures, batch_size=2, random_shuffle=True)
    ahead = Prefetcher(ndd.pytorch.nodes.ToTorch(node), prefetch_factor=3)
    return Loader(ahead, restart_on_stop_iteration=False)


def augmented_pair(images: ndd.Batch, labels: ndd.Batch) -> tuple[ndd.Batch, ndd.Batch]:
    """Images with random augmentations, and labels."""
    return augmented(images), labels


def torch_epochs(checkpoint: Checkpoint) -> Iterator[Any]:
    """Two epochs of a loader for torch, with random augmentations."""
    loader = ndd.pytorch.DataLoader(
        Pictures(9), augmented_pair, batch_size=3, shuffle=True, last_batch="drop", seed=2
    )
    checkpoint.register(loader, "loader")
    while loader.epoch < 2:
        yield from loader
