# SPDX-License-Identifier: Apache-2.0
"""Rows of Parquet files, decoded slice by slice."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._engine.errors import DecodeError
from ..core.order import Numbers
from .storage import is_url, open_binary

# Rows are decoded in slices of about so many bytes, and at most so many rows.
_SLICE_BYTES = 1 << 22
_SLICE_ROWS = 1 << 14
# Slices that stay in memory take at most so many bytes, or are just two.
_KEPT_BYTES = 1 << 26
# Each column is read in pieces of so many bytes.
_BUFFER_BYTES = 1 << 20


class RowGroup(NamedTuple):
    """A row group: its file and number there, its first row, and how many it and a slice have."""

    file: int
    number: int
    first: int
    rows: int
    slice_rows: int


def list_row_groups(file: int, metadata: Any) -> Iterator[RowGroup]:
    """The row groups of a file that have rows."""
    first = 0
    for number in range(metadata.num_row_groups):
        described = metadata.row_group(number)
        rows = described.num_rows
        if rows:
            wanted = _SLICE_BYTES * rows // max(1, described.total_byte_size)
            yield RowGroup(file, number, first, rows, min(max(1, wanted), _SLICE_ROWS, rows))
        first += rows


def open_parquet(arrow: Any, path: str) -> Any:
    """A Parquet file. Raises OSError, or DecodeError if it is something else."""
    source: Any = path.removeprefix("file://")
    if is_url(path):
        source = open_binary(path)
    else:
        # Arrow's own message would be a long one.
        os.stat(source)
    try:
        # Otherwise all of a row group's compressed data would be read at once.
        return arrow.parquet.ParquetFile(source, buffer_size=_BUFFER_BYTES, pre_buffer=False)
    except arrow.ArrowInvalid as error:
        msg = f"it is not a Parquet file, or damaged: {error}"
        raise DecodeError(msg) from error


class RowGroups:
    """Where rows are: files, their row groups, and the columns that are needed."""

    def __init__(
        self, files: Sequence[str], groups: Sequence[RowGroup], columns: Sequence[str]
    ) -> None:
        self.files = files
        self.groups = groups
        self.columns = list(columns)
        rows = np.array([group.rows for group in groups], np.int64)
        self.ends: Numbers = np.cumsum(rows)
        self.first_rows: Numbers = self.ends - rows
        self.slice_rows: Numbers = np.array([group.slice_rows for group in groups], np.int64)

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def group_of(self, numbers: Numbers) -> Numbers:
        """The row groups of some rows."""
        return np.searchsorted(self.ends, numbers, side="right")

    def locations(self, numbers: Numbers) -> Iterator[tuple[str, int]]:
        """For some rows, the file and the number of the row in it."""
        groups = self.group_of(numbers)
        within = (numbers - self.first_rows[groups]).tolist()
        for group, row in zip(groups.tolist(), within, strict=True):
            yield self.files[self.groups[group].file], self.groups[group].first + row


class _Slice:
    """Some rows in memory: their numbers, ascending, and which of them have been delivered."""

    def __init__(self, rows: Numbers, table: Any) -> None:
        self.rows = rows
        self.table = table
        self.nbytes: int = table.nbytes
        self.taken = np.zeros(len(rows), bool)

    def take(self, numbers: Numbers) -> Any:
        """A table of chosen rows, or None if some of them are not there."""
        at = np.searchsorted(self.rows, numbers)
        if at.max() >= len(self.rows) or (self.rows[at] != numbers).any():
            return None
        self.taken[at] = True
        if at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all():
            return self.table.slice(int(at[0]), len(at))
        return self.table.take(at)

    def rest(self) -> _Slice:
        """The rows that have not been delivered."""
        left = np.flatnonzero(~self.taken)
        return _Slice(self.rows[left], self.table.take(left))


_Key = tuple[int, int]


class Slices:
    """The rows that were decoded last, and of older ones those that have not been delivered.

    A row group is decoded from its beginning, slice after slice. Without shuffling, each slice is
    needed once. With it, rows are drawn from the next so many, and some of them stay for long;
    only these are kept, at most `kept_rows`.
    """

    def __init__(self, arrow: Any, index: RowGroups, kept_rows: int) -> None:
        self._arrow = arrow
        self._index = index
        self._kept_rows = kept_rows
        self._recent: OrderedDict[_Key, _Slice] = OrderedDict()
        self._rest: OrderedDict[_Key, _Slice] = OrderedDict()
        # The row group that is being decoded, the number of its next slice, and the stream.
        self._group, self._next = -1, 0
        self._stream: Iterator[Any] = iter(())
        self._file: tuple[int, Any] | None = None
        # Row groups that are damaged: from which slice on, and how.
        self._broken: dict[int, tuple[int, DecodeError]] = {}

    def rows(self, numbers: Numbers) -> tuple[Any, dict[int, Exception]]:
        """A table of chosen rows, if any of them can be read, and by index why others cannot."""
        tables: list[Any] = []
        indices: list[Numbers] = []
        errors: dict[int, Exception] = {}
        for key, chosen in self._by_slice(numbers):
            table = self._take_rest(key, numbers[chosen])
            if table is None:
                try:
                    table = self._slice(*key).take(numbers[chosen])
                except DecodeError as error:
                    errors |= dict.fromkeys(chosen.tolist(), error)
                    continue
                self._forget()
            tables.append(table)
            indices.append(chosen)
        if not tables:
            return None, errors
        table = tables[0] if len(tables) == 1 else self._arrow.concat_tables(tables)
        order = np.argsort(np.concatenate(indices))
        return table if (np.diff(order) == 1).all() else table.take(order), errors

    def _by_slice(self, numbers: Numbers) -> Iterator[tuple[_Key, Numbers]]:
        """Row groups and slices, and the indices in a request that they fill."""
        groups = self._index.group_of(numbers)
        which = (numbers - self._index.first_rows[groups]) // self._index.slice_rows[groups]
        changes = np.flatnonzero((np.diff(groups) != 0) | (np.diff(which) != 0)) + 1
        parts: dict[_Key, list[Numbers]] = {}
        for part in np.split(np.arange(len(numbers)), changes):
            key = int(groups[part[0]]), int(which[part[0]])
            parts.setdefault(key, []).append(part)
        for key, indices in parts.items():
            yield key, np.concatenate(indices)

    def _take_rest(self, key: _Key, numbers: Numbers) -> Any:
        """Rows of a slice of which only the rest is kept, if they are all there."""
        kept = self._rest.get(key)
        if kept is None:
            return None
        table = kept.take(numbers)
        left = len(kept.rows) - int(kept.taken.sum())
        if left == 0:
            del self._rest[key]
        elif left < len(kept.rows) // 2:
            self._rest[key] = kept.rest()
        return table

    def _slice(self, group: int, which: int) -> _Slice:
        key = (group, which)
        if key in self._recent:
            self._recent.move_to_end(key)
            return self._recent[key]
        if group in self._broken and which >= self._broken[group][0]:
            raise self._broken[group][1]
        if group != self._group or which < self._next:
            self._stream = self._decode(group)
            self._group, self._next = group, 0
        while self._next <= which:
            try:
                table = next(self._stream)
            except DecodeError as error:
                self._broken[group] = (self._next, error)
                self._group = -1
                raise
            first = int(self._index.first_rows[group])
            first += self._next * int(self._index.slice_rows[group])
            rows = np.arange(first, first + len(table))
            self._recent[group, self._next] = _Slice(rows, table)
            self._next += 1
            if self._next <= which:
                self._forget()
        return self._recent[key]

    def _decode(self, number: int) -> Iterator[Any]:
        """The slices of a row group."""
        arrow, group = self._arrow, self._index.groups[number]
        path = self._index.files[group.file]
        left, waiting = group.rows, []
        try:
            if self._file is None or self._file[0] != group.file:
                self._file = (group.file, open_parquet(arrow, path))
            for batch in self._file[1].iter_batches(
                group.slice_rows, row_groups=[group.number], columns=self._index.columns
            ):
                waiting.append(batch)
                while waiting and sum(map(len, waiting)) >= min(group.slice_rows, left):
                    table = arrow.Table.from_batches(waiting)
                    # Batches nearly always are as long as they should be.
                    table = table if len(waiting) == 1 else table.combine_chunks()
                    size = min(group.slice_rows, left)
                    left -= size
                    waiting = table.slice(size).to_batches() if len(table) > size else []
                    yield table.slice(0, size)
        except (arrow.ArrowException, OSError) as error:
            msg = f"row group {group.number} is damaged: {error}"
            raise DecodeError(msg) from error
        if left:
            msg = f"row group {group.number} has {group.rows - left} rows instead of {group.rows}"
            raise DecodeError(msg)

    def _forget(self) -> None:
        """Drop slices until they take little memory; keep rows that will still be asked for."""
        total = sum(found.nbytes for found in self._recent.values())
        while len(self._recent) > 2 and total > _KEPT_BYTES:
            key, oldest = self._recent.popitem(last=False)
            total -= oldest.nbytes
            if self._kept_rows and not oldest.taken.all():
                self._rest[key] = oldest.rest()
        while sum(len(kept.rows) for kept in self._rest.values()) > 2 * self._kept_rows:
            self._rest.popitem(last=False)
