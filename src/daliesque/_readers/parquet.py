# SPDX-License-Identifier: Apache-2.0
"""Rows of Parquet files."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.errors import DecodeError, same_class
from .core.base import Reader
from .core.names import Names
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched
from .sources.arrow_columns import Columns, import_arrow
from .sources.discovery import PathLike, list_paths, list_tree
from .sources.row_groups import (
    NativeDecoder,
    RowGroup,
    RowGroups,
    Slices,
    list_row_groups,
    open_parquet,
)
from .sources.storage import is_url, join


class Parquet(Reader[dict[str, Batch]]):
    """Read rows of Parquet files, with one output for each column.

    A step is a dict of outputs by the names of columns. Numbers have no axes; strings and bytes are
    vectors of uint8, which decoders take; lists are vectors, and lists of equally long lists are
    arrays. Of a struct with a field "bytes", as in image and audio columns of Hugging Face data
    sets, this field is delivered. Times are numbers, in the unit of the file.

    Rows come in the order of the files. They are decoded in slices of some megabytes, whatever the
    size of row groups, so that memory stays bounded. Shards are runs of rows: a row group is read
    by one shard only, save at the borders. `random_shuffle` draws from the next `initial_fill`
    rows, which it keeps in memory; `shuffle_after_epoch` permutes whole row groups. The `source`
    is the file and the number of the row in it.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    path
        A file, several files, or a folder: then all files in it and its sub-folders whose names end
        with ".parquet".
    columns
        The names of the columns to read, by default all. "a.b" is the field b of the struct a.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
    ...     table = pyarrow.table({"image": [b"abc", b"de"], "label": [3, 4]})
    ...     pyarrow.parquet.write_table(table, file.name)
    ...     for step in ndd.readers.Parquet(path=file.name).next_epoch(batch_size=2):
    ...         print(step["image"].shape, step["label"].torch().tolist())
    [(3,), (2,)] [3, 4]
    """

    operator: ClassVar[str] = "readers.Parquet"
    _permutes_list: ClassVar[bool] = False
    _samples_together: ClassVar[int] = 4096

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        path: PathLike | Sequence[PathLike],
        columns: Sequence[str] | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._arrow = import_arrow(self.operator)
        self._given = list_paths(self.operator, "path", path)
        self._wanted: Sequence[str] | None = columns
        if columns is not None:
            self._wanted = rule_of(list[str]).convert(columns, f"{self.operator}: 'columns'")
        # Each thread that reads has streams and slices of its own, which end with it.
        self._local = threading.local()
        super().__init__(batch_size, name, device, **options)

    def open_index(self) -> int:
        files = self._find_files()
        groups: list[RowGroup] = []
        schema: Any = None
        for file, path in enumerate(files):
            try:
                with open_parquet(self._arrow, path) as opened:
                    found = opened.schema_arrow
                    if schema is None:
                        schema = found
                        outside = self._settings["allow_outside"]
                        self._columns = Columns(schema, self._wanted, self.operator, outside)
                        self.output_names = self._columns.names
                    self._check_schema(schema, found, path, files[0])
                    groups += list_row_groups(file, opened.metadata)
            except (OSError, DecodeError) as error:
                self.leave_out(path, error)
        roots = [] if schema is None else self._columns.roots(schema)
        values = [] if schema is None else self._columns.values(schema)
        may_map = not self._settings["dont_use_mmap"]
        self._rows = RowGroups(files, groups, roots)
        self._native = NativeDecoder(self._arrow, self._rows, values, may_map)
        return len(self._rows)

    def _find_files(self) -> list[str]:
        files: list[str] = []
        for path in self._given:
            is_folder = not path.endswith(".parquet") if is_url(path) else os.path.isdir(path)
            if not is_folder:
                files.append(path)
                continue
            try:
                found = list_tree(path, "*.parquet", self._note_folder)
            except OSError as error:
                msg = f'{self.operator}: cannot list the folder "{path}": {error.strerror}.'
                raise same_class(error, msg) from error
            if not found:
                msg = f'{self.operator}: No files found that match *.parquet in "{path}".'
                raise ValueError(msg)
            files += [join(path, name.removeprefix("./")) for name in found]
        return files

    def _check_schema(self, expected: Any, found: Any, path: str, first: str) -> None:
        for name in self._columns.roots(expected):
            index = found.get_field_index(name)
            if index < 0 or found.field(index).type != expected.field(name).type:
                msg = (
                    f'{self.operator}: column \'{name}\' of "{path}" is not as in "{first}". '
                    "Read such files with readers of their own."
                )
                raise ValueError(msg)

    def _note_folder(self, error: OSError) -> None:
        self.leave_out(str(error.filename), error)

    def _groups(self) -> Numbers:
        return self._rows.ends

    def fetch(self, numbers: Numbers) -> Fetched:
        slices = getattr(self._local, "slices", None)
        if slices is None:
            kept_rows = self._settings["initial_fill"] if self._settings["random_shuffle"] else 0
            slices = Slices(self._arrow, self._rows, self._native, self._columns, kept_rows)
            self._local.slices = slices
        return slices.rows(numbers)

    def _sources(self, numbers: Sequence[int], outputs: int) -> Sequence[Sequence[str]]:
        return (Names(self._rows.names, numbers),) * outputs

    def source_name(self, number: int) -> str:
        return self._rows.names([number])[0]
