# SPDX-License-Identifier: Apache-2.0
"""Batches of a loop body as global arrays of JAX."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import jax
import numpy as np

from .._engine.batch import Batch
from .._engine.tensor import Tensor
from .._readers.core.base import Reader
from .._readers.core.steps import LastBatch
from .._readers.python import Python
from .jax_shards import Shard, check_agreement, check_sharding, shard_of
from .loader import Iteration, Loader, Settings
from .loader_arguments import check_number, check_reader, check_shuffle, make_reader
from .loading import Transform

# The key of the mask in dicts.
_MASK = "valid"
_LAST_BATCHES = ("drop", "pad")
_MOST_SEED = 1 << 63


class _Loader(Loader):
    """What reads and computes this process's part of each batch."""

    where: ClassVar[str] = "jax.iterate"

    def __init__(
        self,
        reader: Reader[Any],
        transform: Transform | None,
        settings: Settings,
        sharding: Any,
        shard: Shard,
        mask: bool,
    ) -> None:
        super().__init__(reader, transform, settings)
        self._sharding = sharding
        self._shard = shard
        self._mask = mask
        # Types and shapes of the first batch, which all others must have.
        self._specs: dict[str, tuple[Any, ...]] | None = None

    def _ranks(self) -> tuple[int, int]:
        return self._shard

    def _finish(self, made: Any, count: int, valid: int) -> Any:
        if made is None:
            msg = f"{self.where}: 'transform' returned None. Let it return what a step delivers."
            raise TypeError(msg)
        if self._mask:
            made = self._with_mask(made, np.arange(count) < valid)
        shardings = self._sharding
        if isinstance(shardings, jax.sharding.Sharding):
            shardings = jax.tree.map(lambda _: self._sharding, made)
        specs: dict[str, tuple[Any, ...]] = {}

        def convert(path: Any, value: Any, sharding: Any) -> Any:
            name = jax.tree_util.keystr(path)
            array = self._host_array(value, name, count)
            specs[name] = (array.dtype, array.shape)
            self._check_spec(name, specs[name])
            # JAX holds on to the array, and with it to the memory of the batch, until it has been
            # transferred, or for good where devices use CPU memory.
            shape = (count * self._shard.parts, *array.shape[1:])
            made_of_parts: Any = jax.make_array_from_process_local_data
            return made_of_parts(sharding, array, shape)

        try:
            arrays = jax.tree_util.tree_map_with_path(convert, made, shardings)
        except ValueError as error:
            if "pytree" not in str(error) and "structure" not in str(error):
                raise
            msg = (
                f"{self.where}: 'sharding' must be one sharding, or have the form of what "
                f"'transform' returns: {error}"
            )
            raise ValueError(msg) from None
        if self._specs is None:
            self._specs = specs
        return arrays

    def _with_mask(self, made: Any, mask: Any) -> Any:
        if isinstance(made, Mapping):
            if _MASK in made:
                msg = (
                    f"{self.where}: with mask=True the entry {_MASK!r} is the mask, but "
                    "'transform' returned one of that name. Give it another."
                )
                raise ValueError(msg)
            return {**made, _MASK: mask}
        return (*made, mask) if type(made) is tuple else (made, mask)

    def _host_array(self, value: Any, name: str, count: int) -> Any:
        called = f"item {name}" if name else "the result"
        if isinstance(value, Batch):
            value = value.cpu()
            shapes = set(value.shape)
            if len(shapes) > 1:
                some = ", ".join(map(str, sorted(shapes)[:3]))
                msg = (
                    f"{self.where}: the samples of {called} have different shapes: {some}"
                    f"{', ...' * (len(shapes) > 3)}. Let 'transform' resize or pad them."
                )
                raise ValueError(msg)
            value = value.numpy()
        elif isinstance(value, Tensor):
            value = value.cpu().numpy()
        elif not isinstance(value, np.ndarray | jax.Array):
            msg = (
                f"{self.where}: 'transform' must return batches, in any tree of tuples, lists and "
                f"dicts; {called} is {type(value).__name__} {value!r:.60}."
            )
            raise TypeError(msg)
        if value.ndim == 0 or value.shape[0] != count:
            msg = (
                f"{self.where}: what 'transform' returns needs a row for each of the {count} "
                f"samples that this process has of a batch; {called} has the shape {value.shape}."
            )
            raise ValueError(msg)
        return value

    def _check_spec(self, name: str, spec: tuple[Any, ...]) -> None:
        known = None if self._specs is None else self._specs.get(name)
        if self._specs is not None and known != spec:
            called = f"item {name}" if name else "the result"
            first = "was not there" if known is None else f"had {known[0]} {known[1]}"
            msg = (
                f"{self.where}: all batches must have the same types and shapes, or programs would "
                f"be compiled again for each; {called} has {spec[0]} {spec[1]} and {first} in the "
                "first batch. Let 'transform' resize or pad to fixed sizes."
            )
            raise ValueError(msg)


class BatchIterator(Iterator[Any]):
    """What `jax.iterate` returns: global arrays, batch by batch.

    It has the methods of iterators of grain, so that Orbax and code for grain can save and restore
    it. States count what was delivered, and fit any number of processes and any batch size.
    """

    def __init__(self, loader: _Loader, epochs: int | None) -> None:
        self._loader = loader
        self._epochs = epochs
        self._iteration: Iteration | None = None
        self._closed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._closed:
            msg = "jax.iterate: the iterator is closed. Make another one."
            raise ValueError(msg)
        while True:
            if self._iteration is None:
                if self._is_over():
                    raise StopIteration
                self._iteration = iter(self._loader)
            try:
                return next(self._iteration)
            except StopIteration:
                self._iteration = None

    def _is_over(self) -> bool:
        return self._epochs is not None and self._loader.epoch >= self._epochs

    def __len__(self) -> int:
        """How many batches are left; TypeError if they never end."""
        if self._epochs is None:
            msg = "jax.iterate: there is no end with epochs=None; `steps_per_epoch` has one."
            raise TypeError(msg)
        if self._closed or self._is_over():
            return 0
        current = self._iteration or iter(self._loader)
        return len(current) + (self._epochs - 1 - self._loader.epoch) * len(self._loader)

    def __bool__(self) -> bool:
        return True

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next batch belongs to."""
        return self._loader.epoch

    @property
    def steps_per_epoch(self) -> int:
        """How many batches an epoch has."""
        return len(self._loader)

    def get_state(self) -> dict[str, Any]:
        """Return where the iterator is: a dict of a few integers, the same in all processes."""
        return self._loader.state_dict()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state, also one of other processes or of another batch size.

        Parameters
        ----------
        state
            What `get_state` returned.
        """
        self._loader.load_state_dict(dict(state))
        self._iteration = None

    async def save(self, directory: Any) -> Awaitable[None]:
        """Save the state as it is now, for Orbax: what is returned writes it, in the background.

        Parameters
        ----------
        directory
            A path, or one of Orbax that is being made.
        """
        return _write(directory, json.dumps(self.get_state()))

    async def load(self, directory: Any) -> Awaitable[None]:
        """Go on from what `save` has saved, with this number of processes or another.

        Parameters
        ----------
        directory
            The path.
        """

        async def restore() -> None:
            self.set_state(json.loads(await asyncio.to_thread(_read, directory)))

        return restore()

    def start_prefetch(self) -> None:
        """Begin to make batches, before the first one is asked for."""
        if self._iteration is None and not self._closed and not self._is_over():
            self._iteration = iter(self._loader)
        if self._iteration is not None:
            self._iteration.start()

    def close(self) -> None:
        """End the iterator and its threads."""
        self._closed = True
        self._loader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


def _own_name() -> str:
    """As iterators of grain name their files."""
    return f"process_{jax.process_index()}-of-{jax.process_count()}.json"


async def _write(directory: Any, state: str) -> None:
    if hasattr(directory, "await_creation"):
        directory = await directory.await_creation()
    await asyncio.to_thread((directory / _own_name()).write_text, state)


def _read(directory: Any) -> str:
    own = directory / _own_name()
    if own.exists():
        return str(own.read_text())
    # Another number of processes has saved it: their states are all the same.
    for other in sorted(directory.glob("process_*-of-*.json")):
        return str(other.read_text())
    msg = f"jax.iterate: there is no state of an iterator in {directory}."
    raise ValueError(msg)


def _checked_last_batch(where: str, given: Any) -> LastBatch:
    if given not in _LAST_BATCHES:
        advice = " Smaller batches would be compiled for again." if given == "partial" else ""
        msg = f"{where}: 'last_batch' must be 'drop' or 'pad'; got {given!r}.{advice}"
        raise ValueError(msg)
    chosen: LastBatch = given
    return chosen


def iterate(
    reader: Any,
    transform: Transform | None = None,
    *,
    batch_size: int,
    sharding: Any = None,
    shuffle: bool | int | None = None,
    last_batch: Literal["drop", "pad"] = "drop",
    mask: bool = False,
    epochs: int | None = 1,
    seed: int = 0,
    prefetch: int = 2,
    **arguments: Any,
) -> BatchIterator:
    """Return an iterator over what a loop body makes of the batches of a reader, for JAX.

    Each item is what `transform` returns, with global arrays instead of batches: of `batch_size`
    rows, laid out over the devices of all processes as `sharding` says. Each process reads and
    computes the rows that its devices hold; processes that hold the same rows, as replicas do,
    read the same samples and draw the same random numbers. So samples and random numbers do not
    depend on the number of processes and devices, nor on interruptions.

    All batches have the same types and shapes, so that programs are compiled once.

    Parameters
    ----------
    reader
        A reader; or a class of readers, whose arguments follow as keywords; or a data set with
        `__len__` and `__getitem__`. The reader says whether samples are shuffled and what happens
        to bad ones; its own `seed` and shards are not used.
    transform
        The loop body: a function of the reader's outputs that returns batches, in any tree of
        tuples, lists and dicts. Random operators draw from the default generator: leave `rng` out.
    batch_size
        How many samples a batch has, for all processes together.
    sharding
        A `jax.sharding.Sharding` for all outputs, or one for each, in the form of what `transform`
        returns. Its partition of the first axis says which process reads what. By default arrays
        are on the first device.
    shuffle
        As for `pytorch.DataLoader`: whether to permute all samples, in each epoch in another way,
        or how many neighboring samples stay together. By default as the reader does.
    last_batch
        What becomes of the samples that are left after whole batches: they are left out ("drop"),
        or the last batch is filled up by repeating some ("pad").
    mask
        Add a mask of the rows that count: as the last item of a tuple, or as the entry "valid" of a
        dict. It is False for repeated samples.
    epochs
        After how many epochs to end; None for never.
    seed
        What the order and all random numbers follow from.
    prefetch
        How many batches to make ahead, and to transfer to the devices; 0 for none.
    **arguments
        Arguments of the class of readers.

    Returns
    -------
    BatchIterator
        An iterator with the methods of those of grain: `get_state`, `set_state`, `save` and `load`
        (for Orbax), `start_prefetch` and `close`.

    Examples
    --------
    >>> images = [np.full((4, 4, 3), number, np.uint8) for number in range(6)]
    >>> def body(images):
    ...     mirror = ndd.random.coin_flip(batch_size=images.batch_size)
    ...     return {"image": ndd.flip(images, horizontal=mirror)}
    >>> batches = ndd.jax.iterate(images, body, batch_size=2)
    >>> [batch["image"].shape for batch in batches]
    [(2, 4, 4, 3), (2, 4, 4, 3), (2, 4, 4, 3)]
    """
    where = _Loader.where
    if transform is not None and not callable(transform):
        msg = (
            f"{where}: 'transform' must be a function of the reader's outputs; got "
            f"{transform!r:.60}. Pass the batch size by its name."
        )
        raise TypeError(msg)
    size = check_number(where, "batch_size", batch_size, 1)
    chosen = check_sharding(where, sharding)
    shard = shard_of(where, chosen, size)
    opened = make_reader(where, reader, Python, arguments)
    check_reader(where, opened)
    if opened._settings["num_shards"] > 1:
        msg = (
            f"{where}: the sharding says which process reads what. Make the reader without "
            "'shard_id' and 'num_shards'."
        )
        raise ValueError(msg)
    settings = Settings(
        batch_size=size // shard.parts,
        shuffle=check_shuffle(where, shuffle),
        last_batch=_checked_last_batch(where, last_batch),
        epoch_batches=None,
        seed=check_number(where, "seed", seed, 0) % _MOST_SEED,
        prefetch=check_number(where, "prefetch", prefetch, 0),
    )
    limit = None if epochs is None else check_number(where, "epochs", epochs, 1)
    loader = _Loader(opened, transform, settings, chosen, shard, bool(mask))
    described: dict[str, Any] = {
        "samples": loader.num_samples,
        "batch_size": size,
        "shuffle": shuffle,
    }
    described |= {"last_batch": last_batch, "mask": mask, "epochs": epochs, "seed": seed}
    check_agreement(where, chosen, ", ".join(f"{k}={v!r}" for k, v in described.items()))
    return BatchIterator(loader, limit)
