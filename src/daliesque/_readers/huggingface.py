# SPDX-License-Identifier: Apache-2.0
"""Data sets that the package `datasets` saved to disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Unpack

import numpy as np

from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.errors import DecodeError, same_class
from .core.base import Reader
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched
from .sources.arrow_columns import Columns, import_arrow
from .sources.discovery import PathLike, list_files
from .sources.storage import is_below, outside_error


class HuggingFace(Reader[dict[str, Batch]]):
    """Read a data set that was stored with `save_to_disk` of the Hugging Face package `datasets`.

    The package itself is not needed. A step is a dict of outputs by the names of columns, as in
    `readers.Parquet`: images and audio are their encoded bytes, which decoders take, and labels
    are numbers. Files are mapped into memory, so that any order is as good as any other. The
    `source` is the file and the number of the row in it.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    path
        The folder, which holds "state.json" or at least files whose names end with ".arrow"; or
        the folder of several splits.
    split
        Which split, if there are several.
    columns
        The names of the columns to read, by default all. "a.b" is the field b of the struct a.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.

    Examples
    --------
    >>> import json, pathlib, pyarrow, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = pyarrow.table({"text": ["abc", "de"], "label": [3, 4]})
    >>> with pyarrow.ipc.new_stream(f"{folder.name}/data.arrow", table.schema) as stream:
    ...     stream.write_table(table)
    >>> reader = ndd.readers.HuggingFace(path=folder.name)
    >>> for step in reader.next_epoch(batch_size=2):
    ...     print(step["text"].shape, step["label"].torch().tolist())
    [(3,), (2,)] [3, 4]
    >>> folder.cleanup()
    """

    operator: ClassVar[str] = "readers.HuggingFace"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        path: PathLike,
        split: str | None = None,
        columns: Sequence[str] | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._arrow = import_arrow(self.operator)
        self._folder = os.fspath(path)
        self._split = split
        self._wanted: Sequence[str] | None = columns
        if columns is not None:
            self._wanted = rule_of(list[str]).convert(columns, f"{self.operator}: 'columns'")
        super().__init__(batch_size, name, device, **options)

    def open_index(self) -> int:
        folder = self._split_folder()
        self._files = self._data_files(folder)
        self._batches: list[Any] = []
        # For each record batch its file, and where it begins there.
        self._locations: list[tuple[int, int]] = []
        for file, name in enumerate(self._files):
            if self._settings["allow_outside"] or is_below(folder, name):
                self._map(file, os.path.join(folder, name))
            else:
                self.leave_out(name, outside_error(folder))
        self._opened_folder = folder
        self._ends: Numbers = np.cumsum([len(batch) for batch in self._batches], dtype=np.int64)
        if not self._batches:
            return 0
        schema = self._batches[0].schema
        outside = self._settings["allow_outside"]
        self._columns = Columns(schema, self._wanted, self.operator, outside)
        self.output_names = self._columns.names
        self._roots = self._columns.roots(schema)
        return int(self._ends[-1])

    def _split_folder(self) -> str:
        splits = self._read_json(os.path.join(self._folder, "dataset_dict.json"))
        if splits is None:
            if self._split is not None and not os.path.isdir(self._folder):
                return self._folder
            nested = os.path.join(self._folder, self._split or "")
            return nested if self._split and os.path.isdir(nested) else self._folder
        names = [str(name) for name in splits.get("splits", [])]
        if self._split not in names:
            msg = (
                f"{self.operator}: 'split' must be one of {', '.join(names)}; got {self._split!r}."
            )
            raise ValueError(msg)
        return os.path.join(self._folder, self._split or "")

    def _data_files(self, folder: str) -> list[str]:
        state = self._read_json(os.path.join(folder, "state.json"))
        try:
            if state is not None:
                if state.get("_indices_data_files"):
                    msg = (
                        f'{self.operator}: "{folder}" is a selection of rows. Call '
                        "flatten_indices() before save_to_disk()."
                    )
                    raise ValueError(msg)
                return [os.fspath(entry["filename"]) for entry in state["_data_files"]]
            names = list_files(folder, ["*.arrow"], True)
        except (KeyError, TypeError, AttributeError):
            msg = f'{self.operator}: "{folder}/state.json" does not list the files.'
            raise DecodeError(msg) from None
        except OSError as error:
            msg = f'{self.operator}: cannot list the folder "{folder}": {error.strerror}.'
            raise same_class(error, msg) from error
        if not names:
            msg = f'{self.operator}: No files found that match *.arrow in "{folder}".'
            raise ValueError(msg)
        return names

    def _read_json(self, path: str) -> dict[str, Any] | None:
        """The contents of a file, if there is one."""
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            msg = f'{self.operator}: "{path}" is damaged: {error}.'
            raise DecodeError(msg) from error
        return data if isinstance(data, dict) else None

    def _map(self, file: int, path: str) -> None:
        """Add the record batches of a file, which stay in the file until they are used."""
        arrow = self._arrow
        try:
            source = arrow.memory_map(path)
            try:
                batches = list(arrow.ipc.open_stream(source))
            except arrow.ArrowInvalid:
                # There are two formats: one with an index at the end, and one without.
                opened = arrow.ipc.open_file(source)
                batches = [opened.get_batch(k) for k in range(opened.num_record_batches)]
        except arrow.ArrowException as error:
            self.leave_out(path, DecodeError(f"it is no Arrow file, or damaged: {error}"))
            return
        except OSError as error:
            self.leave_out(path, error)
            return
        row = 0
        for batch in batches:
            if len(batch):
                if self._batches and batch.schema != self._batches[0].schema:
                    msg = f'{self.operator}: the columns of "{path}" are not those of the others.'
                    raise ValueError(msg)
                self._batches.append(batch)
                self._locations.append((file, row))
                row += len(batch)

    def fetch(self, numbers: Numbers) -> Fetched:
        arrow = self._arrow
        owners = np.searchsorted(self._ends, numbers, side="right")
        order = np.argsort(owners, kind="stable")
        tables = []
        for owner in np.unique(owners).tolist():
            batch = self._batches[owner]
            rows = numbers[order][owners[order] == owner] - (self._ends[owner] - len(batch))
            tables.append(arrow.Table.from_batches([batch]).select(self._roots).take(rows))
        table = arrow.concat_tables(tables)
        if not (np.diff(order) == 1).all():
            table = table.take(np.argsort(order))
        return self._columns.convert(table, self._opened_folder)

    def _source_names(self, numbers: Iterable[int]) -> Iterable[str]:
        chosen = np.fromiter(numbers, np.int64)
        owners = np.searchsorted(self._ends, chosen, side="right")
        # Rows are counted from the end of their batch here, so that no other array is needed.
        before_end = (self._ends[owners] - chosen).tolist()
        names = []
        for owner, back in zip(owners.tolist(), before_end, strict=True):
            file, first = self._locations[owner]
            row = first + len(self._batches[owner]) - back
            names.append(f"{self._files[file]} at row {row}")
        return names

    def source_name(self, number: int) -> str:
        return next(iter(self._source_names([number])))

    def _full_name(self, number: int) -> str:
        return os.path.join(self._opened_folder, self.source_name(number))
