# SPDX-License-Identifier: Apache-2.0
"""One epoch, or the rest of one, of a loader: what is read, and what a function makes of it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from .._engine.batch import Batch
from .._engine.rng import StepRNG, call_drawing_from
from .._readers.core.base import Reader
from .._readers.core.epoch import Epoch
from .._readers.core.order import Position
from .._readers.core.ranks import RankOrder
from .._readers.core.source import Cursor, EpochSource

# Called with the outputs of a reader, one by one, or with the dict if they have names.
Transform: TypeAlias = Callable[..., Any]


class Progress(NamedTuple):
    """How far all processes together have come.

    `taken` of the `length` samples of an epoch were delivered, which begin at index `begin` of the
    stream of samples.
    """

    epoch: int
    begin: int
    length: int
    taken: int = 0


class Item(NamedTuple):
    """What was made of one step, or why there is nothing; and how many steps there were so far."""

    value: Any
    steps: int
    failure: Exception | None = None


class Loading(Iterator[Item]):
    """Makes the items of the steps of `order`, which go on after `progress`.

    A step that fails makes an item as well, and the next one goes on after it. `finish` completes
    what the transform returned, given the number of samples and how many of them count.
    """

    def __init__(
        self,
        reader: Reader[Any],
        order: RankOrder,
        progress: Progress,
        transform: Transform | None,
        finish: Callable[[Any, int, int], Any],
    ) -> None:
        self._order = order
        self._progress = progress
        self._transform = transform
        self._finish = finish
        self._operator = reader.operator
        self._step = 0
        # Where the reader itself is does not matter here, and does not change.
        begin = Position()
        source = dataclasses.replace(self._make_source(reader, order), cursor=Cursor(begin))
        last_batch = "pad" if order.goes_on else order.last_batch
        self._epoch: Epoch[Any] = Epoch(source, begin, order.batch_size, True, last_batch)

    def _make_source(self, reader: Reader[Any], order: RankOrder) -> EpochSource:
        """What the epoch needs of the reader."""
        return reader._epoch_source(order)

    def __next__(self) -> Item:
        step = self._step
        if step >= self._order.steps:
            raise StopIteration
        self._step = step + 1
        try:
            return Item(self._make(step), step + 1)
        except StopIteration as error:
            # It would end the loop of whoever takes the item.
            failure: Exception = RuntimeError("'transform' raised StopIteration")
            failure.__cause__ = error
        except Exception as error:
            failure = error
        number = self._progress.taken // self._order.step_size + step
        failure.add_note(f"in batch {number} of epoch {self._progress.epoch}")
        return Item(None, step + 1, failure)

    def _make(self, step: int) -> Any:
        outputs = next(self._epoch)
        progress, seed = self._progress, self._order.stream.seed
        first, _ = self._order.share(step)
        batch: Batch = next(iter(outputs.values() if isinstance(outputs, Mapping) else outputs))
        count, valid = batch.batch_size, batch.valid
        rng = StepRNG(seed, progress.epoch, progress.taken + first)
        return call_drawing_from(rng, self._transformed, outputs, count, valid)

    def _transformed(self, outputs: Any, count: int, valid: int) -> Any:
        made = outputs if self._transform is None else self._call(self._transform, outputs)
        return self._finish(made, count, valid)

    def _call(self, transform: Transform, outputs: Any) -> Any:
        arguments = (outputs,) if isinstance(outputs, Mapping) else outputs
        if self._step == 1:
            self._check_call(transform, arguments)
        return transform(*arguments)

    def _check_call(self, transform: Transform, arguments: tuple[Any, ...]) -> None:
        """Raise TypeError if the transform cannot be called in this way."""
        try:
            signature = inspect.signature(transform)
        except (TypeError, ValueError):
            # Some functions written in C do not say.
            return
        try:
            signature.bind(*arguments)
        except TypeError as error:
            given = f"{len(arguments)} batches, one for each output"
            if isinstance(arguments[0], Mapping):
                given = f"one dict, with the outputs {list(arguments[0])}"
            msg = (
                f"'transform' is called with {given} of {self._operator}; "
                f"{getattr(transform, '__name__', transform)}{signature} does not take that: "
                f"{error}."
            )
            raise TypeError(msg) from None

    def close(self) -> None:
        """End the reading."""
        self._epoch.close()
