# SPDX-License-Identifier: Apache-2.0
"""`ray.iter_torch`: torch tensors of a data set, with a state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import ray.data

from .._engine.batch import Batch
from .._engine.convert import dense, shared_torch
from .._engine.samples import host
from .._engine.tensor import Tensor
from .._loops.loader_arguments import check_number
from .datasource import CONFIG
from .plan import NO_ROWS, RowSet
from .state import make_state, parse_state
from .table import cut_tables, from_column

try:
    import torch
except ModuleNotFoundError as _error:
    if _error.name != "torch":
        raise
    _msg = "ray.iter_torch: torch is not installed. Install daliesque[torch]."
    raise ImportError(_msg, name="torch") from None

_WHERE = "ray.iter_torch"


class TorchIterator:
    """What `ray.iter_torch` returns: iterating over it delivers an epoch."""

    def __init__(
        self,
        data: Any,
        batch_size: int,
        columns: Sequence[str] | None,
        device: Any,
        drop_last: bool,
        prefetch: int,
        copy: bool,
    ) -> None:
        self._data = data
        self._batch_size = batch_size
        self._columns = columns
        self._device = device
        self._drop_last = drop_last
        self._prefetch = prefetch
        self._copy = copy
        # What to do when the next iteration begins: an epoch, and the rows of it that are done.
        self._next: tuple[int, RowSet] | None = None
        # Where the iteration that began last is: an epoch, and the rows that were delivered.
        self._at: tuple[int, RowSet] | None = None
        self._epochs = 0

    @property
    def epoch(self) -> int:
        """The number of the epoch that is being delivered, or that the next iteration begins."""
        if self._next is not None:
            return self._next[0]
        return self._beginning[0] if self._at is None else self._at[0]

    @property
    def _about(self) -> Mapping[str, Any]:
        """What `ray.read` has noted about the data set."""
        about = (self._context.get_config(CONFIG, None) or {}).get("read")
        if about is None:
            msg = (
                f"{_WHERE}: the data set was not made by ray.read, so it has no epochs and no "
                "state. Iterate over it, or make it with ray.read."
            )
            raise RuntimeError(msg)
        found: Mapping[str, Any] = about
        return found

    @property
    def _context(self) -> Any:
        if isinstance(self._data, ray.data.Dataset):
            return self._data.context
        return self._data.get_context()

    @property
    def _beginning(self) -> tuple[int, RowSet]:
        about = self._about
        return int(about["epoch"]), RowSet.of(about["done"])

    @property
    def _is_split(self) -> bool:
        """Whether somebody else executes the data set, for several consumers."""
        return not isinstance(self._data, ray.data.Dataset) and hasattr(self._data, "world_size")

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration begin with an epoch; without it, each takes the next one.

        Parameters
        ----------
        epoch
            The number of the epoch, from 0 on.
        """
        number = check_number(_WHERE, "epoch", epoch, 0)
        if self._next is not None and self._next[0] == number:
            # A state of this epoch was loaded.
            return
        if self._is_split:
            expected = self._following()
            if number != expected[0]:
                msg = (
                    f"{_WHERE}: the epochs of a data set that was split come one after the other: "
                    f"the next one is {expected[0]}, not {number}. Make it with "
                    f"ray.read(..., epoch={number})."
                )
                raise ValueError(msg)
            return
        self._next = (number, NO_ROWS)

    def _following(self) -> tuple[int, RowSet]:
        """What the next iteration begins with if nobody has said anything."""
        if self._at is None:
            return self._beginning
        return self._at[0] + 1, NO_ROWS

    def state_dict(self) -> dict[str, Any]:
        """Return which rows of the epoch were delivered here: integers and lists of them.

        Batches that were made ahead do not count. Of a data set that was split, `ray.read` needs
        the states of all consumers (`start`).
        """
        about = self._about
        if about["source"] is None:
            msg = f"{_WHERE}: states need the column that ray.read(source=...) makes."
            raise RuntimeError(msg)
        epoch, rows = self._next or self._at or self._beginning
        return make_state(about, epoch, rows)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Let the next iteration deliver what is left of the epoch in which a state was saved.

        Parameters
        ----------
        state_dict
            What `state_dict` returned.
        """
        numbers, rows = parse_state(_WHERE, state_dict)
        about = self._about
        for name in ("seed", "samples", "shuffle"):
            if numbers[name] != about[name]:
                msg = (
                    f"{_WHERE}: the state belongs to other data or another order of it, with "
                    f"{name}={numbers[name]}; here it is {about[name]}. Make the data set with the "
                    "same reader, arguments and seed."
                )
                raise ValueError(msg)
        if self._is_split:
            epoch, done = self._beginning
            if self._at is None and epoch == numbers["epoch"]:
                left = [part for part in rows.ranges if done.count(*part) < part[1] - part[0]]
                if not left:
                    # The data set was made to go on from here.
                    return
            msg = (
                f"{_WHERE}: a data set that was split goes on for all consumers together. Make it "
                "with ray.read(..., start=[the states of all of them]) and split it again."
            )
            raise RuntimeError(msg)
        self._next = (numbers["epoch"], rows)

    def __len__(self) -> int:
        """How many batches a whole epoch has; TypeError if that is not known."""
        if not isinstance(self._data, ray.data.Dataset):
            msg = f"{_WHERE}: how many batches a consumer of a data set gets is not known."
            raise TypeError(msg)
        rows = self._data.count()
        whole, rest = divmod(int(rows), self._batch_size)
        return whole if self._drop_last or not rest else whole + 1

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[dict[str, Any]]:
        source = None
        known = (self._context.get_config(CONFIG, None) or {}).get("read")
        if known is not None:
            source = known["source"]
            epoch, rows = self._next or self._following()
            self._choose(epoch, rows)
            self._at, self._next = (epoch, rows), None
        # Whole blocks: Ray would join the chunks of each, a copy of everything, to cut them itself.
        blocks = self._data.iter_batches(
            batch_size=None, batch_format="pyarrow", prefetch_batches=self._prefetch
        )
        for table in cut_tables(blocks, self._batch_size, self._drop_last):
            made = self._converted(table, source)
            if source is not None and source in table.column_names:
                self._note(table[source])
            yield made

    def _choose(self, epoch: int, rows: RowSet) -> None:
        """Let the read tasks of the next execution know."""
        if self._is_split:
            return
        context = self._context
        noted = context.get_config(CONFIG, None)
        chosen = {"epoch": epoch, "rows": [list(part) for part in rows.ranges]}
        context.set_config(CONFIG, {**noted, "next": chosen})

    def _note(self, origin: pa.ChunkedArray) -> None:
        flat = origin.combine_chunks() if isinstance(origin, pa.ChunkedArray) else origin
        chunks = flat.chunks if isinstance(flat, pa.ChunkedArray) else [flat]
        assert self._at is not None
        epoch, rows = self._at
        for chunk in chunks:
            if len(chunk) == 0:
                continue
            found = chunk.field("epoch")[0].as_py()
            if found != epoch:
                # A complete epoch was asked for again, and the next one came.
                epoch, rows = found, NO_ROWS
            rows = rows.with_rows(row for row in chunk.field("row").to_pylist() if row >= 0)
        self._at = epoch, rows

    def _converted(self, table: pa.Table, source: str | None) -> dict[str, Any]:
        names = [name for name in table.column_names if name != source]
        if self._columns is not None:
            names = list(self._columns)
        made: dict[str, Any] = {}
        for name in names:
            if name not in table.column_names:
                known = ", ".join(map(repr, table.column_names))
                msg = f"{_WHERE}: there is no column {name!r}. There are: {known}."
                raise KeyError(msg)
            made[name] = self._column(table[name], table.schema.field(name))
        return made

    def _column(self, column: pa.ChunkedArray, field: pa.Field) -> Any:
        if pa.types.is_struct(column.type) or _is_text(column.type):
            return column.to_pylist()
        batch = from_column(column, field)
        if batch.batch_size and not batch._data().uniform:
            return [self._moved(sample) for sample in batch]
        return self._moved(batch)

    def _moved(self, value: Batch | Tensor) -> torch.Tensor:
        if self._device is None and self._copy:
            # What comes from the object store is read-only and shared: this is a copy.
            return value.torch()
        samples = value._data()
        if isinstance(value, Batch):
            samples = dense(samples, False, _WHERE)
        tensor = shared_torch(host(samples), _WHERE)
        if self._device is None:
            return tensor
        device = torch.device(self._device)
        return tensor.to(device, non_blocking=True, copy=self._copy and device.type == "cpu")


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def iter_torch(
    data: Any,
    *,
    batch_size: int,
    columns: Sequence[str] | None = None,
    device: Any = None,
    drop_last: bool = False,
    prefetch: int = 1,
    copy: bool = True,
) -> TorchIterator:
    """Return an iterable of torch tensors over a data set, with epochs and a state.

    Iterating over it delivers an epoch: dicts of tensors, of the columns without the one that
    `ray.read` adds. Samples of different shapes are a list of tensors, strings a list. Tensors are
    the consumer's own, and may be changed, unless `copy` is False.

    Its state says which rows were delivered, so a training goes on after any step: with the same
    iterable (`load_state_dict`), or with another number of processes, by
    `ray.read(..., start=[the states of all processes])`.

    Parameters
    ----------
    data
        What `ray.read` returned, also after `map_batches` and so on as long as the column `source`
        is there; or an iterator of it, of `streaming_split` or `ray.train.get_dataset_shard`. Other
        data sets have no epochs and no state here.
    batch_size
        How many rows a step has. Those of `ray.read`, or a divisor, are cut out of blocks as they
        are.
    columns
        Which columns to deliver.
    device
        Where the tensors are to be.
    drop_last
        Leave out the last rows if they are fewer than `batch_size`.
    prefetch
        How many blocks to fetch ahead.
    copy
        False: tensors on the CPU lie in the memory of the object store, which all processes share:
        they must not be changed, and blocks stay there as long as a tensor of theirs lives. This
        saves a copy of each batch.

    Examples
    --------
    >>> import daliesque.ray as ndr
    >>> class Images(ndd.readers.Reader):
    ...     def open_index(self):
    ...         return 4
    ...     def fetch_sample(self, number):
    ...         return np.full((2, 2), number, np.uint8), number
    >>> batches = ndr.iter_torch(ndr.read(Images, batch_size=2, num_cpus=1), batch_size=2)
    >>> [batch["label"].tolist() for batch in batches]
    [[0, 1], [2, 3]]
    >>> batches.state_dict()["rows"]
    [[0, 4]]
    """
    if not isinstance(data, ray.data.Dataset) and not hasattr(data, "iter_batches"):
        msg = (
            f"{_WHERE}: 'data' must be a data set or an iterator of Ray Data; got "
            f"{type(data).__name__}."
        )
        raise TypeError(msg)
    return TorchIterator(
        data,
        check_number(_WHERE, "batch_size", batch_size, 1),
        None if columns is None else list(columns),
        device,
        bool(drop_last),
        check_number(_WHERE, "prefetch", prefetch, 0),
        bool(copy),
    )
