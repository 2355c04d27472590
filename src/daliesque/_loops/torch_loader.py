# SPDX-License-Identifier: Apache-2.0
"""A loader for training loops with PyTorch, and for the frameworks that are built on it."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from .._engine.device import DeviceLike
from .._engine.device import device as to_device
from .._readers.core.base import Reader
from .._readers.core.caller import warn_caller
from .loader import Iteration, Loader, Settings
from .loader_arguments import (
    check_last_batch,
    check_number,
    check_ranks,
    check_reader,
    check_shuffle,
    make_reader,
)
from .loading import Transform

try:
    import torch
    import torch.utils.data
except ModuleNotFoundError as _error:
    if _error.name != "torch":
        raise
    _msg = "pytorch.DataLoader: torch is not installed. Install daliesque[torch]."
    raise ImportError(_msg, name="torch") from None

from .torch_accelerate import begin_watch
from .torch_dataset import DatasetReader, refuse_arguments, refuse_dataset
from .torch_output import check_made, exported, moved, to_tensors, with_mask
from .torch_ranks import Agreement, current_ranks

# Seeds are stored in states, as numbers that everybody can read.
_MOST_SEED = 1 << 63


class DataLoader(Loader):
    """The body of a loading loop as a loader: what `transform` makes of the batches of a reader.

    Iterating over it delivers an epoch; the loop body runs ahead on a thread, on batches that are
    read ahead, and there are no worker processes. It is not a subclass of torch's DataLoader, which
    frameworks take apart and rebuild; `as_torch()` is one for code that insists.

    Everything follows from `seed`: the order of the samples, and what random operators draw from
    the default generator. Both are functions of the epoch and of the index in it, so they are the
    same with any number of processes and any batch size, after any interruption.

    Processes share each step: with `world_size` processes, a step takes as many batches out of one
    order, and each process gets one. All of them make the same number of steps in all epochs.

    Parameters
    ----------
    reader
        A reader; or a class of readers, whose arguments follow as keywords; or a data set with
        `__len__` and `__getitem__`, such as a torch Dataset, for `readers.Python`. The reader says
        whether samples are shuffled and what happens to bad ones; its own `seed` is not used.
    transform
        The loop body: a function of the reader's outputs (one argument for each; or one dict, if
        they have names) that returns a batch, or a tuple, list or dict of batches. Torch tensors,
        arrays, numbers and strings may be in there as well. Random operators draw from the default
        generator: leave `rng` out. By default, the outputs are delivered as they are.
    batch_size
        How many samples a batch of each process has.
    shuffle
        Whether to permute all samples, in each epoch in another way. A number keeps runs of that
        many neighboring samples together, for storage that is read in order: the runs come in
        random order, and so do the samples of each. By default as the reader does: with
        `random_shuffle` or `shuffle_after_epoch` everything, in readers of archives runs of
        `initial_fill` samples. A permutation takes no memory, whatever the number of samples.
    last_batch
        What becomes of the samples that are left when all processes have had whole batches. They
        are divided evenly into smaller batches ("partial"), which are repeated samples where there
        are fewer samples than processes; or these are filled up by repeating ("pad"); or left out
        ("drop"). By default "pad" if the reader has `pad_last_batch`, otherwise "partial".
    mask
        Add a mask of the samples that count, a tensor of bool: as the last item of a tuple, or as
        the entry "valid" of a dict. It is False for repeated samples.
    epoch_batches
        How many batches an epoch has. Then epochs go on where the one before ended, from one pass
        over the data to the next, and all batches are full.
    rank, world_size
        Which process this is, and of how many; by default what torch.distributed says when an
        iteration begins, or one process.
    seed
        What the order and all random numbers follow from.
    prefetch
        How many batches to make ahead, 0 for none: then `transform` runs in the calling thread,
        where a debugger can stop.
    device
        Where the tensors are to be; by default where `transform` has put them.
    pin_memory
        Put those in CPU memory into pinned memory, for transfers to an accelerator.
    output
        "torch" for torch tensors; "ndd" for what `transform` returns, as it is.
    **arguments
        Arguments of the class of readers, or of `readers.Python`.

    Examples
    --------
    >>> pairs = [(np.full((2, 2), number, np.uint8), number) for number in range(10)]
    >>> def transform(images, labels):
    ...     images = ndd.flip(images, horizontal=ndd.random.coin_flip(batch_size=images.batch_size))
    ...     return {"image": images, "label": labels}
    >>> loader = ndd.pytorch.DataLoader(pairs, transform, batch_size=4, shuffle=True, seed=1)
    >>> len(loader)
    3
    >>> [batch["label"].tolist() for batch in loader]
    [[7, 2, 8, 3], [9, 0, 5, 1], [4, 6]]

    Stop anywhere, and go on in another process:

    >>> batches = iter(loader)
    >>> next(batches)["label"].tolist()
    [6, 8, 0, 5]
    >>> state = loader.state_dict()
    >>> again = ndd.pytorch.DataLoader(pairs, transform, batch_size=4, shuffle=True, seed=1)
    >>> again.load_state_dict(state)
    >>> [batch["label"].tolist() for batch in again]
    [[3, 7, 4, 1], [2, 9]]
    """

    where: ClassVar[str] = "pytorch.DataLoader"

    # What code that was written for torch's loaders asks for.
    num_workers: ClassVar[int] = 0
    prefetch_factor: ClassVar[None] = None

    def __init__(
        self,
        reader: Any,
        transform: Transform | None = None,
        *,
        batch_size: int,
        shuffle: bool | int | None = None,
        last_batch: Literal["partial", "pad", "drop"] | None = None,
        mask: bool = False,
        epoch_batches: int | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        seed: int = 0,
        prefetch: int = 2,
        device: DeviceLike | None = None,
        pin_memory: bool = False,
        output: Literal["torch", "ndd"] = "torch",
        **arguments: Any,
    ) -> None:
        where = self.where
        if transform is not None and not callable(transform):
            msg = (
                f"{where}: 'transform' must be a function of the reader's outputs; got "
                f"{transform!r:.60}. Pass the batch size by its name."
            )
            raise TypeError(msg)
        if output not in ("torch", "ndd"):
            msg = f"{where}: 'output' must be 'torch' or 'ndd'; got {output!r:.60}."
            raise ValueError(msg)
        refuse_arguments(where, arguments)
        refuse_dataset(where, reader)
        opened = make_reader(where, reader, DatasetReader, arguments)
        check_reader(where, opened)
        steps = epoch_batches
        settings = Settings(
            batch_size=check_number(where, "batch_size", batch_size, 1),
            shuffle=check_shuffle(where, shuffle),
            last_batch=check_last_batch(where, last_batch, opened),
            epoch_batches=None if steps is None else check_number(where, "epoch_batches", steps, 1),
            seed=check_number(where, "seed", seed, 0) % _MOST_SEED,
            prefetch=check_number(where, "prefetch", prefetch, 0),
        )
        super().__init__(opened, transform, settings)
        self._given_ranks = check_ranks(where, opened, rank, world_size)
        self._mask = bool(mask)
        self._device = to_device(device)
        self._output = output
        self.pin_memory = bool(pin_memory)
        self._pins = self.pin_memory and self._can_pin()
        self._agreement = Agreement()
        # What lets Accelerate know that an epoch ends.
        self._watch: Any = None
        self._dataset = _Dataset(self)

    def _can_pin(self) -> bool:
        if torch.accelerator.is_available():
            return True
        warn_caller(f"{self.where}: pin_memory=True has no effect without an accelerator.")
        return False

    def _ranks(self) -> tuple[int, int]:
        return self._given_ranks or current_ranks()

    def _note_begin(self, description: str) -> None:
        if self._given_ranks is None:
            self._agreement.check(self.where, description)
        self._watch = begin_watch()

    def _note_end(self) -> None:
        if self._watch is not None:
            self._watch.end()
            self._watch = None

    def _finish(self, made: Any, count: int, valid: int) -> Any:
        if self._output == "torch":
            check_made(made, self.where)
        if self._mask:
            made = with_mask(made, count, valid, self.where)
        if self._device is not None:
            made = moved(made, self._device)
        return made if self._output == "ndd" else to_tensors(made, self._pins, self.where)

    def _hand_out(self, value: Any, is_last: bool) -> Any:
        if self._watch is not None:
            self._watch.end_of_dataloader = is_last
        return value if self._output == "ndd" else exported(value)

    @property
    def drop_last(self) -> bool:
        """Whether samples that do not make a whole batch are left out."""
        return self._settings.last_batch == "drop"

    @property
    def sampler(self) -> DataLoader:
        """The loader itself: frameworks call `sampler.set_epoch`."""
        return self

    @property
    def dataset(self) -> torch.utils.data.Dataset[Any]:
        """The samples, for code that asks how many there are.

        With `batch_sampler` and `collate_fn` it is a data set for torch's DataLoader, whose items
        are whole batches: so code that skips batches of an epoch works.
        """
        return self._dataset

    @property
    def batch_sampler(self) -> _BatchSampler:
        """The numbers of the batches of an epoch."""
        return _BatchSampler(self)

    def collate_fn(self, batch: Any) -> Any:
        """Return what the data set has made, which is a batch already.

        Parameters
        ----------
        batch
            The batch.
        """
        return batch

    def as_torch(self) -> torch.utils.data.DataLoader[Any]:
        """Return a DataLoader of torch that delivers the same batches.

        It is for code that accepts nothing else. It has `set_epoch`, `state_dict` and
        `load_state_dict`, which are those of this loader.

        Examples
        --------
        >>> loader = ndd.pytorch.DataLoader(list(range(4)), batch_size=2)
        >>> [numbers.tolist() for (numbers,) in loader.as_torch()]
        [[0, 1], [2, 3]]
        """
        return _TorchLoader(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the reader, the arguments and the state."""
        ranks = (None, None) if self._given_ranks is None else self._given_ranks
        arguments = {
            **self._settings._asdict(),
            "mask": self._mask,
            "rank": ranks[0],
            "world_size": ranks[1],
            "device": None if self._device is None else str(self._device),
            "pin_memory": self.pin_memory,
            "output": self._output,
        }
        parts = self._reader, self._transform, arguments, self.state_dict()
        if not _called_by_cloudpickle():
            _check_pickled(self.where, *parts[:2])
        return _remake, (type(self), *parts)

    def __repr__(self) -> str:
        rank, world_size = self._ranks()
        return f"<{self.where}: {self._reader!r}, process {rank} of {world_size}>"


def _called_by_cloudpickle() -> bool:
    """Whether cloudpickle is at work, or a copy of it: it can send functions of any kind."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        if "cloudpickle" in frame.f_globals.get("__name__", ""):
            return True
    return False


def _check_pickled(where: str, reader: Reader[Any], transform: Transform | None) -> None:
    for what, part in (("the reader", reader), ("'transform'", transform)):
        try:
            pickle.dumps(part)
        except Exception as error:
            msg = (
                f"{where}: the loader cannot be sent to another process, because {what} cannot: "
                f"{error}. Let 'transform' be a function of a module, and the reader open files in "
                "open_index; or make the loader in that process."
            )
            raise TypeError(msg) from error


def _remake(
    kind: type[DataLoader],
    reader: Reader[Any],
    transform: Transform | None,
    arguments: dict[str, Any],
    state: dict[str, Any],
) -> DataLoader:
    loader = kind(reader, transform, **arguments)
    loader.load_state_dict(state)
    return loader


class _Dataset(torch.utils.data.Dataset[Any]):
    """The batches of the epoch by their numbers, for torch's DataLoader."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._iteration: Iteration | None = None
        self._next = 0

    def __len__(self) -> int:
        return self._loader.num_samples

    def __getitem__(self, index: int) -> Any:
        msg = f"{self._loader.where}: the data set has batches only. Iterate over the loader."
        raise TypeError(msg)

    def __getitems__(self, steps: list[int]) -> Any:
        (step,) = steps
        if self._iteration is None or step != self._next:
            self._iteration = Iteration(self._loader, step)
        self._next = step + 1
        return next(self._iteration)

    def begin(self) -> None:
        """Let the next batch begin an iteration."""
        self._iteration = None


class _BatchSampler(torch.utils.data.Sampler[list[int]]):
    """The numbers of batches, one in each list."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[list[int]]:
        self._loader._dataset.begin()
        for step in range(len(self._loader)):
            yield [step]

    def __len__(self) -> int:
        return len(self._loader)

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration begin with an epoch."""
        self._loader.set_epoch(epoch)


class _Batches(torch.utils.data.IterableDataset[Any]):
    """All batches of the epoch; with a state, for torchdata."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self.state_dict = loader.state_dict
        self.load_state_dict = loader.load_state_dict

    def __iter__(self) -> Iterator[Any]:
        return iter(self._loader)

    def __len__(self) -> int:
        return len(self._loader)


class _TorchLoader(torch.utils.data.DataLoader[Any]):
    """A loader of torch around one of ours."""

    # Accelerate would divide the batches among processes once more.
    _is_accelerate_prepared = True

    def __init__(self, loader: DataLoader) -> None:
        super().__init__(_Batches(loader), batch_size=None)
        self.set_epoch = loader.set_epoch
        self.state_dict = loader.state_dict
        self.load_state_dict = loader.load_state_dict
