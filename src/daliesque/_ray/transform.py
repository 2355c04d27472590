# SPDX-License-Identifier: Apache-2.0
"""`ray.Transform`: a loop body for `map_batches`, on columns of any data set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import ray

from .._engine.batch import Batch, as_batch
from .._engine.errors import join_names
from .._engine.rng import StepRNG, call_drawing_from, derived_seed
from .._loops.loader_arguments import check_number
from . import worker
from .batches import compute_skipping, report
from .errors import Errors
from .table import from_column, named_columns, to_columns, to_table

_WHERE = "ray.Transform"
_POLICIES = ("raise", "skip")
# How many bytes of a sample, at its beginning and its end, distinguish batches.
_LOOKED_AT = 64


class Transform:
    """A loop body for `map_batches` of Ray Data, on columns of any data set.

    Columns become batches without copies: bytes are encoded files, tensors arrays. Decoding and
    augmentation use as many threads as Ray has assigned CPUs. What random operators draw follows
    from `seed`, `epoch` and the contents of the batch, so that a task that is run again makes the
    same bytes.

    Pass it with `batch_format="pyarrow"`, and `num_cpus`. If `map_batches` gets no `batch_size`,
    Ray reads and transforms whole blocks in one task, else in two; `batch_size` here cuts blocks
    for the body without that. For an actor pool, pass the class, and what it is made with as
    `fn_constructor_args` and `fn_constructor_kwargs`.

    Parameters
    ----------
    body
        A function of batches that returns a dict of batches, one for each column.
    batch_size
        The most rows that the body gets at a time; by default all that Ray passes.
    seed, epoch
        What random numbers follow from.
    keep
        Columns to pass on as they are.
    on_error
        What to do about samples that operators refuse: "raise", or "skip" to leave them out.
    errors
        With "skip": where to list them; by default in the log of the worker.
    **columns
        Which column each parameter of `body` gets: `jpegs="bytes"`.

    Examples
    --------
    >>> import daliesque.ray as ndr, ray.data
    >>> rows = ray.data.from_items([{"values": [1, 2]}, {"values": [3, 4]}])
    >>> transform = ndr.Transform(lambda numbers: {"sums": numbers + 10}, numbers="values")
    >>> rows = rows.map_batches(transform, batch_size=2, batch_format="pyarrow", num_cpus=1)
    >>> [row["sums"].tolist() for row in rows.take_all()]
    [[11, 12], [13, 14]]
    """

    def __init__(
        self,
        body: Any,
        *,
        batch_size: int | None = None,
        seed: int = 0,
        epoch: int = 0,
        keep: Sequence[str] = (),
        on_error: str = "raise",
        errors: Errors | None = None,
        **columns: str,
    ) -> None:
        if not callable(body):
            msg = f"{_WHERE}: 'body' must be a function of batches; got {body!r:.60}."
            raise TypeError(msg)
        if not columns:
            msg = (
                f"{_WHERE}: say which columns the parameters of 'body' get, e.g. "
                "Transform(body, jpegs='bytes', labels='label')."
            )
            raise TypeError(msg)
        for name, column in columns.items():
            if not isinstance(column, str):
                msg = f"{_WHERE}: '{name}' must be the name of a column; got {column!r:.60}."
                raise TypeError(msg)
        if on_error not in _POLICIES:
            msg = f"{_WHERE}: 'on_error' must be {join_names(_POLICIES)}; got {on_error!r}."
            raise ValueError(msg)
        try:
            ray.cloudpickle.dumps(body)
        except Exception as error:
            msg = (
                f"{_WHERE}: 'body' cannot be sent to other processes: {error}. Let it open files "
                "and make locks itself, when it is called."
            )
            raise TypeError(msg) from error
        self._body = body
        self._size = None
        if batch_size is not None:
            self._size = check_number(_WHERE, "batch_size", batch_size, 1)
        self._columns = dict(columns)
        self._keep = [keep] if isinstance(keep, str) else list(keep)
        self._seed = check_number(_WHERE, "seed", seed, 0)
        self._epoch = check_number(_WHERE, "epoch", epoch, 0)
        self._policy = on_error
        self._errors = errors

    # Ray names operators and shows them in progress bars by this.
    __name__ = "Transform"

    def __call__(self, batch: Any) -> pa.Table | Iterator[pa.Table]:
        """Return what the body makes of some rows; with `batch_size`, of one batch after another.

        Parameters
        ----------
        batch
            A table of pyarrow, or a dict of arrays.
        """
        worker.prepare()
        table = _to_table(batch)
        if table.num_rows == 0:
            msg = f"{_WHERE}: there are no rows."
            raise ValueError(msg)
        return self._made(table) if self._size is None else self._cut(table, self._size)

    def _cut(self, table: pa.Table, size: int) -> Iterator[pa.Table]:
        for begin in range(0, table.num_rows, size):
            made = self._made(table.slice(begin, size))
            # Nothing is left, not even columns, if the body could not process any of them.
            if made.num_rows:
                yield made

    def _made(self, table: pa.Table) -> pa.Table:
        count = table.num_rows
        inputs = {name: self._column(table, column) for name, column in self._columns.items()}
        seed = derived_seed("transform", self._seed, self._epoch, _digest(inputs))

        def transformed(samples: Mapping[str, Batch], size: int) -> dict[str, Any]:
            return to_columns(named_columns(self._body(**samples), None, _WHERE), size, _WHERE)

        def body(samples: Mapping[str, Batch], first: int, size: int) -> dict[str, Any]:
            return call_drawing_from(StepRNG(seed, self._epoch, first), transformed, samples, size)

        good, columns, faults = compute_skipping(body, inputs, count, 0, self._policy)
        if faults:
            report(faults, self._errors)
        made = to_table(columns, _WHERE)
        for name in self._keep:
            made = self._with_kept(made, table, name, good)
        return made

    def _column(self, table: pa.Table, name: str) -> Batch:
        if name not in table.column_names:
            known = ", ".join(map(repr, table.column_names))
            msg = f"{_WHERE}: there is no column {name!r}. There are: {known}."
            raise KeyError(msg)
        return from_column(table[name], table.schema.field(name))

    def _with_kept(self, made: pa.Table, table: pa.Table, name: str, rows: list[int]) -> pa.Table:
        if name in made.column_names:
            msg = f"{_WHERE}: 'body' returned a column {name!r}, which is also to be kept."
            raise ValueError(msg)
        if name not in table.column_names:
            self._column(table, name)
        column = (
            table[name]
            if len(rows) == table.num_rows
            else table[name].take(pa.array(rows, pa.int64()))
        )
        return made.append_column(table.schema.field(name), column)


def _to_table(batch: Any) -> pa.Table:
    """The rows as Arrow data."""
    if isinstance(batch, pa.Table):
        return batch
    if isinstance(batch, Mapping):
        columns = {}
        for name, values in batch.items():
            array = np.asarray(values)
            columns[name] = array.tolist() if array.dtype == object else as_batch(array)
        return to_table(columns, _WHERE)
    msg = (
        f"{_WHERE}: rows must come as Arrow tables; got {type(batch).__name__}. Pass "
        "batch_format='pyarrow' to map_batches."
    )
    raise TypeError(msg)


def _digest(inputs: Mapping[str, Batch]) -> str:
    """A number that distinguishes batches; the same for the same contents."""
    digest = hashlib.blake2b(digest_size=8)
    for batch in inputs.values():
        for sample in batch:
            raw = np.ascontiguousarray(sample.numpy()).reshape(-1).view(np.uint8)
            digest.update(f"{raw.size} ".encode())
            digest.update(raw[:_LOOKED_AT].tobytes())
            digest.update(raw[-_LOOKED_AT:].tobytes())
    return digest.hexdigest()
