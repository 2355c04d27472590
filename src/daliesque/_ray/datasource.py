# SPDX-License-Identifier: Apache-2.0
"""A reader and a loop body as a data source of Ray Data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from ray.data import Datasource, ReadTask
from ray.data.block import BlockMetadata

from .._loops.loader_arguments import shuffled_run
from . import worker
from .batches import TaskOptions, make_tables
from .errors import Errors
from .plan import NO_ROWS, EpochPlan, LastBatch, RowSet, Run

# The name of what `ray.read` keeps in the context of a data set.
CONFIG = "daliesque.read"


class Spec(NamedTuple):
    """Everything that the tasks of a data set need to know, in a form that can be sent to them."""

    reader: bytes
    transform: bytes
    batch_size: int
    shuffle: bool | int | None
    last_batch: LastBatch
    splits: int
    seed: int
    source: str | None
    errors: Errors | None


class Survey(NamedTuple):
    """What the first batch has shown: samples, how they are shuffled, columns, bytes of a row."""

    samples: int
    run: int
    schema: pa.Schema
    row_bytes: int


def _tables(spec: Spec, plan: EpochPlan, run: Run, quiet: bool = False) -> Iterator[pa.Table]:
    worker.prepare()
    transform = worker.unpickled(spec.transform, "'transform'")
    options = TaskOptions(spec.source, spec.errors, spec.last_batch == "pad", quiet)
    return make_tables(worker.opened(spec.reader), plan, run, transform, options)


def survey(spec: Spec) -> Survey:
    """Open the reader and make one batch; runs as a task."""
    worker.prepare()
    reader = worker.opened(spec.reader)
    samples = reader._order.size
    run = shuffled_run(reader, spec.shuffle)
    plan = make_plan(spec, samples, run, 0, NO_ROWS)
    for task in plan.tasks(plan.batches):
        for table in _tables(spec, plan, task, quiet=True):
            return Survey(samples, run, table.schema, -(-table.nbytes // max(1, len(table))))
    msg = (
        f"ray.read: an epoch of {samples} samples has no batch with batch_size={spec.batch_size}, "
        f"splits={spec.splits} and last_batch={spec.last_batch!r}. Choose another 'last_batch' "
        "than 'drop', or a smaller batch."
    )
    raise ValueError(msg)


def make_plan(spec: Spec, samples: int, run: int, epoch: int, done: RowSet) -> EpochPlan:
    """The plan of an epoch."""
    return EpochPlan(
        samples, run, spec.seed, epoch, spec.batch_size, spec.splits, spec.last_batch, done
    )


class ReaderDatasource(Datasource):  # type: ignore[misc]
    """Makes the read tasks of an epoch whenever the data set is executed."""

    def __init__(self, spec: Spec, found: Survey, shards: int, epoch: int, done: RowSet) -> None:
        super().__init__()
        self._spec = spec
        self._survey = found
        self._shards = shards
        self._epoch = epoch
        self._done = done

    def get_name(self) -> str:
        """As it is called in Ray's progress bars."""
        return "Reader"

    def estimate_inmemory_data_size(self) -> int:
        """The bytes of an epoch."""
        plan = self._plan(None)
        return self._survey.row_bytes * sum(run.rows for run in plan.tasks(1))

    def get_read_tasks(
        self,
        parallelism: int,  # noqa: ARG002
        per_task_row_limit: int | None = None,
        data_context: Any = None,
        **_others: Any,
    ) -> list[ReadTask]:
        """Return the tasks of an epoch; how many there are does not depend on `parallelism`."""
        plan = self._plan(data_context)
        spec, row_bytes = self._spec, self._survey.row_bytes
        tasks = []
        for run in plan.tasks(self._shards):

            def read(run: Run = run) -> Iterator[pa.Table]:
                return _tables(spec, plan, run)

            metadata = BlockMetadata(run.rows, run.rows * row_bytes, None, None)
            limit = {} if per_task_row_limit is None else {"per_task_row_limit": per_task_row_limit}
            tasks.append(ReadTask(read, metadata, schema=self._survey.schema, **limit))
        return tasks

    def _plan(self, data_context: Any) -> EpochPlan:
        epoch, done = self._epoch, self._done
        if data_context is not None:
            chosen = (data_context.get_config(CONFIG, None) or {}).get("next")
            if chosen is not None:
                epoch, done = int(chosen["epoch"]), RowSet.of(chosen["rows"])
            else:
                # Each execution of the data set is another epoch; only the first one may be the
                # rest of one.
                executions = getattr(data_context, "_execution_idx", 0)
                epoch, done = epoch + executions, NO_ROWS if executions else done
        plan = make_plan(self._spec, self._survey.samples, self._survey.run, epoch, done)
        if done and not plan.tasks(1):
            # All of it was delivered: the next one begins.
            return dataclasses.replace(plan, epoch=epoch + 1, done=NO_ROWS)
        return plan
