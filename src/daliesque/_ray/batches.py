# SPDX-License-Identifier: Apache-2.0
"""The batches of a task: read, computed by the loop body, and made to tables."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from .._engine.errors import OpError
from .._engine.rng import StepRNG, call_drawing_from
from .._loops.loading import Item, Loading, Transform
from .._loops.prefetch import Prefetch, Prefetched
from .._readers.core.bad_samples import BadSamples
from .._readers.core.base import Reader
from .._readers.core.ranks import RankOrder
from .._readers.core.source import EpochSource
from .errors import Errors, SampleFault
from .plan import EpochPlan, Run
from .table import chosen_rows, named_columns, to_columns, to_table

_log = logging.getLogger("daliesque")

# How many batches to make ahead of the one that Ray stores.
_AHEAD = 2
_MAX_BYTES = 1 << 30


class SampleName(str):
    """Where a sample comes from; knows the number of the sample."""

    __slots__ = ("number",)
    number: int

    @classmethod
    def of(cls, name: str, number: int) -> SampleName:
        """A name with a number."""
        made = cls(name)
        made.number = number
        return made


class Made(NamedTuple):
    """The rows of a batch that are to be delivered, and the samples that were left out."""

    columns: dict[str, Any]
    names: list[str]
    # The index of each row in the epoch; -1 for rows that only fill the batch.
    rows: list[int]
    faults: list[SampleFault]


class TaskLoading(Loading):
    """Makes the batches of a run."""

    def __init__(
        self, reader: Reader[Any], plan: EpochPlan, run: Run, transform: Transform | None
    ) -> None:
        self._plan = plan
        self._run = run
        self._reader = reader
        # Each task has its own list: the reader has been, and will be, that of others.
        settings = reader._settings
        self._bad = BadSamples(reader.operator, settings["on_error"], settings["max_errors"])
        self._reported = 0
        super().__init__(reader, plan.order(run), plan.progress(), transform, _as_it_is)

    def _make_source(self, reader: Reader[Any], order: RankOrder) -> EpochSource:
        source = super()._make_source(reader, order)

        def sources(numbers: Sequence[int], outputs: int) -> Sequence[Sequence[str]]:
            return [
                tuple(map(SampleName.of, names, numbers))
                for names in reader._sources(numbers, outputs)
            ]

        return dataclasses.replace(source, sources=sources, bad_samples=self._bad)

    def _make(self, step: int) -> Made:
        outputs = next(self._epoch)
        batches = tuple(outputs.values()) if isinstance(outputs, Mapping) else outputs
        first, end = self._order.share(step)
        count = batches[0].valid
        names = list(batches[0]._source)[:count]
        indices = {number: k for k, number in enumerate(self._order.numbers(step).tolist())}
        rows = [first + indices[name.number] for name in names]
        faults = self._new_faults()
        if count == 0:
            return Made({}, [], [], faults)
        if count < batches[0].batch_size:
            outputs = _selected(outputs, list(range(count)))
        good, columns, failed = self._compute(outputs, count, first)
        # A batch that was delivered in part is made as a whole again, since its samples may have
        # been mixed, and then cut down to the rest.
        excluded = self._plan.excluded
        wanted = list(range(len(good)))
        if excluded.count(first, end):
            wanted = [index for index in wanted if rows[good[index]] not in excluded]
        chosen = [rows[good[index]] for index in wanted]
        wanted, chosen = self._padded(step, wanted, chosen)
        if wanted != list(range(len(good))):
            columns = chosen_rows(columns, wanted)
        return Made(columns, [names[good[k]] for k in wanted], chosen, faults + failed)

    def _padded(self, step: int, wanted: list[int], rows: list[int]) -> tuple[list[int], list[int]]:
        """The same, with some repeated if there are to be more."""
        if self._plan.last_batch != "pad" or not wanted:
            return wanted, rows
        missing = self._plan.delivers(self._run.batches[step]) - len(wanted)
        repeated = [wanted[index % len(wanted)] for index in range(max(0, missing))]
        return wanted + repeated, rows + [-1] * len(repeated)

    def _compute(
        self, outputs: Any, count: int, first: int
    ) -> tuple[list[int], dict[str, Any], list[SampleFault]]:
        """What the body makes of the samples that it can process, which these are, and why not."""
        where = self._where
        epoch, seed = self._progress.epoch, self._order.stream.seed

        def transformed(samples: Any, size: int) -> dict[str, Any]:
            made = samples if self._transform is None else self._call(self._transform, samples)
            return to_columns(named_columns(made, self._reader.output_names, where), size, where)

        def body(samples: Any, begin: int, size: int) -> dict[str, Any]:
            return call_drawing_from(StepRNG(seed, epoch, begin), transformed, samples, size)

        return compute_skipping(body, outputs, count, first, self._bad.policy)

    @property
    def _where(self) -> str:
        return "ray.read"

    def _new_faults(self) -> list[SampleFault]:
        errors = self._bad.errors[self._reported :]
        self._reported += len(errors)
        return [
            SampleFault(error.source, type(error.exception).__name__, str(error.exception))
            for error in errors
        ]


def _as_it_is(made: Any, _count: int, _valid: int) -> Any:
    return made


def _selected(outputs: Any, rows: list[int]) -> Any:
    """Some samples of all outputs."""
    if isinstance(outputs, Mapping):
        return {name: batch.select(rows) for name, batch in outputs.items()}
    return tuple(batch.select(rows) for batch in outputs)


Body = Callable[[Any, int, int], dict[str, Any]]


def compute_skipping(
    body: Body, inputs: Any, count: int, first: int, policy: str
) -> tuple[list[int], dict[str, Any], list[SampleFault]]:
    """Call a body with samples; if some of them cannot be processed, with the others.

    `body` takes samples, the index of the first one in the epoch and their number.
    """
    everything = list(range(count))
    try:
        return everything, body(inputs, first, count), []
    except OpError as error:
        if policy == "raise":
            raise
        together = error
    faults: dict[int, SampleFault] = {}
    for index in everything:
        alone = _selected(inputs, [index])
        try:
            body(alone, first + index, 1)
        except OpError as error:
            values = alone.values() if isinstance(alone, Mapping) else alone
            source = next(iter(values)).source or [f"sample {index} of a batch"]
            faults[index] = SampleFault(str(source[0]), type(error).__name__, str(error))
    if not faults:
        # Each of them is good, but they do not go together.
        raise together
    good = [index for index in everything if index not in faults]
    columns = body(_selected(inputs, good), first, len(good)) if good else {}
    return good, columns, list(faults.values())


class TaskOptions(NamedTuple):
    """What a task adds to the columns, and whom it reports to."""

    source: str | None
    errors: Errors | None
    pad: bool
    # Whether nobody is to hear of samples that were left out.
    quiet: bool = False


def make_tables(
    reader: Reader[Any],
    plan: EpochPlan,
    run: Run,
    transform: Transform | None,
    options: TaskOptions,
) -> Iterator[pa.Table]:
    """The tables of a run of batches, one for each, made ahead of the one that is asked for."""
    loading = TaskLoading(reader, plan, run, transform)
    items: Prefetched[Item] = iter(Prefetch(loading, _AHEAD, _MAX_BYTES))
    try:
        for item in items:
            if item.failure is not None:
                raise item.failure
            made: Made = item.value
            if made.faults and not options.quiet:
                report(made.faults, options.errors)
            if made.rows:
                yield _with_source(made, plan.epoch, options)
    finally:
        items.close()
        loading.close()


def report(faults: list[SampleFault], errors: Errors | None) -> None:
    """Let the list of errors know, or else whoever reads the log."""
    if errors is not None:
        errors._report(faults)
        return
    for fault in faults:
        _log.warning("left out %s: %s: %s", fault.source, fault.kind, fault.message)


def _with_source(made: Made, epoch: int, options: TaskOptions) -> pa.Table:
    table = to_table(made.columns, "ray.read")
    if options.pad:
        table = _appended(table, "valid", pa.array([row >= 0 for row in made.rows]))
    if options.source is None:
        return table
    count = len(made.rows)
    origin = pa.StructArray.from_arrays(
        [
            pa.array([str(name) for name in made.names], pa.string()),
            pa.array(made.rows, pa.int64()),
            pa.array([epoch] * count, pa.int64()),
        ],
        ["file", "row", "epoch"],
    )
    return _appended(table, options.source, origin)


def _appended(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    if name in table.column_names:
        msg = (
            f"ray.read: the column {name!r} is made by ray.read, and 'transform' returned one of "
            "that name. Give it another."
        )
        raise ValueError(msg)
    return table.append_column(name, column)
