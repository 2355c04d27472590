# SPDX-License-Identifier: Apache-2.0
"""What an epoch needs of a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ... import _kernels
from ..._engine.ahead import Cell
from ..._engine.batch import as_batch
from ..._engine.device import Device
from ..._engine.interrupts import Steps
from ..._engine.samples import host
from .bad_samples import BadSamples
from .order import Numbers, Position, Walk


class Fetched(NamedTuple):
    """What reading some samples brought.

    `outputs` holds the samples that could be read, in order, for each output of the reader (it is
    empty if there is none); `errors` says by position in the request why others could not.
    `Fetched.of` makes it of batches.
    """

    outputs: tuple[_kernels.Samples, ...]
    errors: dict[int, Exception]

    @classmethod
    def of(cls, outputs: Iterable[Any], errors: Mapping[int, Exception] | None = None) -> Fetched:
        """Make it of a Batch, or of what `as_batch` takes, for each output.

        Examples
        --------
        >>> images = np.zeros((2, 4, 4, 3), np.uint8)
        >>> len(ndd.readers.Fetched.of([ndd.as_batch(images, layout="HWC"), [7, 8]]).outputs)
        2
        """
        batches = [as_batch(output) for output in outputs]
        for index, batch in enumerate(batches):
            if batch.device != Device.CPU:
                msg = f"Fetched.of: output {index} must be on the CPU; got {batch.device}."
                raise TypeError(msg)
        return cls(tuple(host(batch._data()) for batch in batches), dict(errors or {}))


class Fetcher(Protocol):
    """Reads the samples of an epoch, and begins with some of them ahead of time."""

    def fetch(self, numbers: Numbers, expected: Sequence[Numbers], most_bytes: int) -> Fetched:
        """Read samples, and begin with those that are `expected` next, step by step.

        All together may take `most_bytes`; if there are more, fewer of the expected ones are read.
        """

    def close(self) -> None:
        """End all reading."""


class EpochOrder(Protocol):
    """Which samples an epoch delivers: an `Order`, or one that others have made."""

    @property
    def size(self) -> int:
        """How many samples there are in all."""

    @property
    def pad(self) -> bool:
        """Whether `epoch_length` counts what is repeated to make all shards equally long."""

    def epoch_length(self, position: Position) -> int:
        """How many samples the epoch has, without rounding up to batches."""

    def length_within_pass(self, position: Position) -> int:
        """How many samples an epoch has that ends with its pass."""

    def left_of_pass(self, position: Position) -> int:
        """How many samples of the pass have not been taken."""

    def finished(self, position: Position) -> Position:
        """Where the next epoch begins after one that was delivered completely."""

    def abandoned(self, position: Position) -> Position:
        """Where the next epoch begins after one that was left."""

    def begun(self, position: Position) -> Position:
        """Where a new epoch begins."""

    def aligned(self, position: Position) -> Position:
        """Where an epoch begins that is one pass: not in the middle of one."""

    def walk(self, position: Position, within_pass: bool) -> Walk:
        """What takes samples from `position` on."""


class Cursor:
    """Where a reader is: after what was delivered last.

    A loop that runs ahead has moved it on for itself only, until what it made is delivered.
    """

    def __init__(self, position: Position) -> None:
        self._position = Cell(position)
        self._resuming = Cell(False)

    def moving(self, position: Position, resuming: bool = False) -> Steps:
        """The steps that set both."""
        return self._position.setting(position), self._resuming.setting(resuming)

    @property
    def position(self) -> Position:
        """After how many samples, of which pass."""
        return self._position.value

    @position.setter
    def position(self, position: Position) -> None:
        self._position.value = position

    @property
    def resuming(self) -> bool:
        """Whether the next epoch goes on here instead of beginning again."""
        return self._resuming.value

    @resuming.setter
    def resuming(self, resuming: bool) -> None:
        self._resuming.value = resuming


@dataclass(frozen=True)
class EpochSource:
    """An opened reader, as its epochs see it."""

    # The name of the reader in messages.
    operator: str
    order: EpochOrder
    cursor: Cursor
    bad_samples: BadSamples
    # Where to deliver, and the names of the outputs if these are delivered as a dict.
    device: Device
    output_names: tuple[str, ...] | None
    # How many steps to read ahead, and how many samples at a time if there is no batch size.
    prefetch_queue_depth: int
    samples_at_once: int
    # How many samples of small batches may be read together; 0: each batch by itself.
    samples_together: int
    # Reads samples; those that the reader is to leave out are among the errors.
    fetch: Callable[[Numbers], Fetched]
    # Makes what reads the samples of an epoch, unless these are read step by step.
    make_fetcher: Callable[[], Fetcher | None]
    # Where samples come from, for each of some number of outputs.
    sources: Callable[[Sequence[int], int], Sequence[Sequence[str]]]
    # Where a sample comes from, for messages.
    full_name: Callable[[int], str]
