# SPDX-License-Identifier: Apache-2.0
"""Rows of Parquet files, decoded slice by slice."""

from __future__ import annotations

import itertools
import os
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import _kernels
from ..._engine.errors import DecodeError
from ..core.order import Numbers
from ..core.source import Fetched
from .archives import Archives
from .arrow_columns import Columns
from .column_chunks import ColumnChunks
from .storage import is_url, open_binary

# Rows are decoded in slices of about so many bytes, and at most so many rows. Slices that fit into
# a processor's cache are decoded, and copied from there, in half the time of large ones.
_SLICE_BYTES = 1 << 20
_SLICE_ROWS = 1 << 14
# Slices some of whose rows are not delivered take at most so many bytes, or are just two.
_KEPT_BYTES = 1 << 26
# Each column is read in pieces of so many bytes.
_BUFFER_BYTES = 1 << 20


# Why some rows cannot be delivered.
_Errors = dict[int, Exception]
# The number of a row group, and of a slice in it.
_Key = tuple[int, int]


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
        # The number of each row group's first slice, counted over all groups.
        counts = -(-rows // self.slice_rows)
        self.first_slices: Numbers = np.cumsum(counts) - counts
        self._ends: list[int] = self.ends.tolist()

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def group_of(self, numbers: Numbers) -> Numbers:
        """The row groups of some rows."""
        return np.searchsorted(self.ends, numbers, side="right")

    def slices(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The row groups of some rows, and the numbers of their slices, counted over all groups."""
        groups = self.group_of(numbers)
        within = (numbers - self.first_rows[groups]) // self.slice_rows[groups]
        return groups, self.first_slices[groups] + within

    def slices_of(self, first: int, end: int) -> Iterator[tuple[_Key, int]]:
        """Row groups and slices of consecutive rows, and how many of these each has."""
        while first < end:
            number = bisect_right(self._ends, first)
            group, group_end = self.groups[number], self._ends[number]
            within = first - (group_end - group.rows)
            which = within // group.slice_rows
            slice_end = first - within + (which + 1) * group.slice_rows
            count = min(slice_end, group_end, end) - first
            yield (number, which), count
            first += count

    def names(self, numbers: Sequence[int]) -> list[str]:
        """For some rows, the file and the number of the row in it."""
        groups = self.group_of(np.array(numbers, np.int64))
        within = (numbers - self.first_rows[groups]).tolist()
        described = [self.groups[group] for group in groups.tolist()]
        return [
            f"{self.files[group.file]} at row {group.first + row}"
            for group, row in zip(described, within, strict=True)
        ]


class NativeDecoder:
    """Decodes row groups natively; `values` is what holds the values of each output."""

    def __init__(
        self, arrow: Any, index: RowGroups, values: list[tuple[str, Any]], may_map: bool
    ) -> None:
        self._arrow = arrow
        self._index = index
        self._values = values
        self._archives = Archives(index.files, may_map=may_map)
        # The file that was looked at last: nearly always it is the next one as well.
        self._chunks: tuple[int, ColumnChunks] | None = None

    def open(self, number: int) -> _kernels.RowGroupReader | None:
        """What decodes a row group, unless Arrow has to. Raises OSError or DecodeError."""
        group = self._index.groups[number]
        path = self._index.files[group.file]
        if is_url(path):
            return None
        known = self._chunks
        if known is None or known[0] != group.file:
            with open_parquet(self._arrow, path) as opened:
                known = (group.file, ColumnChunks(opened.metadata, self._values))
            self._chunks = known
        chunks = known[1].of_group(group.number)
        if chunks is None:
            return None
        return _kernels.RowGroupReader(self._archives.native, group.file, chunks)


class _Taken(NamedTuple):
    """Samples among which chosen rows are, where these are, and why others have none."""

    outputs: tuple[_kernels.Samples, ...]
    at: Numbers
    errors: _Errors


class _Slice:
    """Some rows in memory, as samples: the numbers of rows, ascending, and why others have none.

    Rows that name files are not samples yet but a table: they are read when they are asked for.
    """

    def __init__(
        self,
        numbers: Numbers,
        content: tuple[_kernels.Samples, ...] | Any,
        errors: _Errors,
        complete: bool,
    ) -> None:
        self.numbers = numbers
        # Whether all rows are there, from the first to the last.
        self._complete = complete
        self._content = content
        self._errors = errors
        self._first = int(numbers[0]) if len(numbers) else 0
        # Which rows have been delivered, and how many have not.
        self._taken: list[Numbers] = []
        self.left = len(numbers)
        parts = content if isinstance(content, tuple) else (content,)
        self.nbytes: int = sum(part.nbytes for part in parts)

    def take(self, numbers: Numbers, columns: Columns, path: str) -> _Taken | None:
        """Where chosen rows are, which is in the memory of the slice; None if some are missing."""
        failed: _Errors = {}
        if self._complete:
            at = numbers - self._first
        else:
            if self._errors:
                found = enumerate(numbers.tolist())
                failed = {k: self._errors[number] for k, number in found if number in self._errors}
                numbers = np.delete(numbers, list(failed))
            if len(numbers) == 0:
                return _Taken((), numbers, failed)
            at = np.searchsorted(self.numbers, numbers)
            if at.max() >= len(self.numbers) or (self.numbers[at] != numbers).any():
                return None
        # A row that is delivered again counts twice: at worst, others are decoded again.
        self._taken.append(at)
        self.left -= len(at)
        if not isinstance(self._content, tuple):
            outputs, failed = columns.convert(self._content.take(at), os.path.dirname(path))
            return _Taken(outputs, np.arange(len(at) - len(failed)), failed)
        return _Taken(self._content, at, failed)

    def rest(self) -> _Slice:
        """The rows that have not been delivered, in memory of their own."""
        is_left = np.ones(len(self.numbers), bool)
        for at in self._taken:
            is_left[at] = False
        left = np.flatnonzero(is_left)
        content = self._content
        if isinstance(content, tuple):
            content = tuple(samples.select(left.tolist()).copy() for samples in content)
        else:
            content = content.take(left)
        return _Slice(self.numbers[left], content, self._errors, complete=False)


class Slices:
    """The rows that were decoded last, and of older ones those that have not been delivered.

    A row group is decoded from its beginning, slice after slice. Without shuffling, each slice is
    needed once. With it, rows are drawn from the next so many, and some of them stay for long;
    only these are kept, at most `kept_rows`.
    """

    def __init__(
        self,
        arrow: Any,
        index: RowGroups,
        native: NativeDecoder,
        columns: Columns,
        kept_rows: int,
    ) -> None:
        self._arrow = arrow
        self._native = native
        self._index = index
        self._columns = columns
        self._kept_rows = kept_rows
        self._recent: OrderedDict[_Key, _Slice] = OrderedDict()
        self._rest: OrderedDict[_Key, _Slice] = OrderedDict()
        # The bytes of all recent slices, and that of them which was delivered completely.
        self._recent_bytes = 0
        self._finished: _Key | None = None
        # The row group that is being decoded, the number of its next slice, and the stream.
        self._group, self._next = -1, 0
        self._stream: Iterator[_Slice] = iter(())
        self._file: tuple[int, Any] | None = None
        # Row groups that are damaged: from which slice on, and how.
        self._broken: dict[int, tuple[int, DecodeError]] = {}

    def rows(self, numbers: Numbers) -> Fetched:
        """Chosen rows, and by index why others cannot be read."""
        # Samples of some slices, and for each row which of these it is in, and where there.
        taken: list[tuple[_kernels.Samples, ...]] = []
        which, at = np.full(len(numbers), -1), np.empty(len(numbers), np.int64)
        errors: _Errors = {}
        consecutive = self._are_consecutive(numbers)
        # A batch that held the slices of all its rows could take many times what it needs.
        copied, surplus = self._kept_rows > 0 or not consecutive, 0.0
        runs = self._consecutive_runs if consecutive else self._sorted_runs
        for key, chosen in runs(numbers):
            try:
                found = self._take(key, numbers[chosen])
            except DecodeError as error:
                errors |= dict.fromkeys(chosen.tolist(), error)
                continue
            if found.errors:
                errors |= {int(chosen[k]): error for k, error in found.errors.items()}
                chosen = np.delete(chosen, list(found.errors))
            if not found.outputs:
                continue
            which[chosen], at[chosen] = len(taken), found.at
            taken.append(found.outputs)
            unused = 1 - len(found.at) / len(found.outputs[0])
            surplus += unused * sum(samples.nbytes for samples in found.outputs)
            if copied and surplus > _KEPT_BYTES:
                # What has been found so far becomes a part of its own, so that the slices may go.
                done = np.flatnonzero(which >= 0)
                taken = [self._joined(taken, which[done], at[done], copied)]
                which[done], at[done] = 0, np.arange(len(done))
                surplus = 0.0
        if not taken:
            return Fetched((), errors)
        if errors:
            good = which >= 0
            which, at = which[good], at[good]
        return Fetched(self._joined(taken, which, at, copied), errors)

    def _joined(
        self,
        parts: list[tuple[_kernels.Samples, ...]],
        which: Numbers,
        at: Numbers,
        copied: bool,
    ) -> tuple[_kernels.Samples, ...]:
        """For each output, chosen samples of several parts."""
        pick = _kernels.Samples.pick
        return tuple(
            # Numbers are to be one array.
            pick(list(column), which, at, copied or (len(parts) > 1 and column[0].ndim == 0))
            for column in zip(*parts, strict=True)
        )

    def _are_consecutive(self, numbers: Numbers) -> bool:
        first, count = int(numbers[0]), len(numbers)
        if int(numbers[-1]) - first != count - 1:
            return False
        return bool((numbers == np.arange(first, first + count)).all())

    def _consecutive_runs(self, numbers: Numbers) -> Iterator[tuple[_Key, Numbers]]:
        """Row groups and slices, and the indices in a request that they fill."""
        first, count, begin = int(numbers[0]), len(numbers), 0
        indices = np.arange(count)
        for key, part in self._index.slices_of(first, first + count):
            yield key, indices[begin : begin + part]
            begin += part

    def _sorted_runs(self, numbers: Numbers) -> Iterator[tuple[_Key, Numbers]]:
        """The same for rows in any order."""
        groups, slices = self._index.slices(numbers)
        offsets = slices - slices.min()
        # Small numbers are sorted in linear time.
        small = offsets.max() < 1 << 16
        order = np.argsort(offsets.astype(np.uint16) if small else offsets, kind="stable")
        sorted_slices = slices[order]
        begins = [0, *(np.flatnonzero(np.diff(sorted_slices)) + 1).tolist()]
        firsts = order[begins]
        groups = groups[firsts]
        which = slices[firsts] - self._index.first_slices[groups]
        keys = zip(groups.tolist(), which.tolist(), strict=True)
        for key, begin, end in zip(keys, begins, [*begins[1:], len(order)], strict=True):
            yield key, order[begin:end]

    def _take(self, key: _Key, numbers: Numbers) -> _Taken:
        """Rows of a slice."""
        path = self._index.files[self._index.groups[key[0]].file]
        kept = self._rest.get(key)
        if kept is not None:
            found = kept.take(numbers, self._columns, path)
            if kept.left <= 0:
                del self._rest[key]
            elif kept.left < len(kept.numbers) // 2:
                self._rest[key] = kept.rest()
            if found is not None:
                return found
        decoded = self._slice(key)
        found = decoded.take(numbers, self._columns, path)
        assert found is not None, "a slice has all of its rows"
        if decoded.left <= 0 and self._finished != key:
            # One that is finished stays: what reads rows one by one may ask for the last one again.
            if self._finished is not None:
                self._drop(self._finished)
            self._finished = key
        if self._recent_bytes > _KEPT_BYTES:
            self._forget()
        return found

    def _slice(self, key: _Key) -> _Slice:
        known = self._recent.get(key)
        if known is not None:
            self._recent.move_to_end(key)
            return known
        group, which = key
        if group in self._broken and which >= self._broken[group][0]:
            raise self._broken[group][1]
        if group != self._group or which < self._next:
            self._stream = self._decode(group)
            self._group, self._next = group, 0
        while self._next <= which:
            try:
                decoded = next(self._stream)
            except DecodeError as error:
                self._broken[group] = (self._next, error)
                self._group = -1
                raise
            self._recent[group, self._next] = decoded
            self._recent_bytes += decoded.nbytes
            self._next += 1
            if self._next <= which:
                self._forget()
        return self._recent[key]

    def _decode(self, number: int) -> Iterator[_Slice]:
        """The slices of a row group; those that are not decoded natively come from Arrow."""
        done = 0
        for decoded in self._decode_natively(number):
            yield decoded
            done += 1
        group = self._index.groups[number]
        if done * group.slice_rows < group.rows:
            yield from itertools.islice(self._decode_by_arrow(number), done, None)

    def _decode_natively(self, number: int) -> Iterator[_Slice]:
        group = self._index.groups[number]
        first = int(self._index.first_rows[number])
        try:
            reader = self._native.open(number)
        except (DecodeError, OSError):
            # Arrow will say what is wrong.
            return
        if reader is None:
            return
        for begin in range(0, group.rows, group.slice_rows):
            numbers = np.arange(begin, min(begin + group.slice_rows, group.rows)) + first
            outputs = reader.read(len(numbers))
            if outputs is None:
                return
            yield _Slice(numbers, tuple(outputs), {}, complete=True)

    def _decode_by_arrow(self, number: int) -> Iterator[_Slice]:
        arrow, group = self._arrow, self._index.groups[number]
        path = self._index.files[group.file]
        done, waiting = 0, []
        try:
            if self._file is None or self._file[0] != group.file:
                self._file = (group.file, open_parquet(arrow, path))
            for batch in self._file[1].iter_batches(
                group.slice_rows,
                row_groups=[group.number],
                columns=self._index.columns,
                use_threads=False,
            ):
                waiting.append(batch)
                # Arrow decodes into the same memory again if nobody holds on to it.
                del batch
                while waiting:
                    size = min(group.slice_rows, group.rows - done)
                    if sum(map(len, waiting)) < size:
                        break
                    table, waiting = self._split(waiting, size)
                    first = int(self._index.first_rows[number]) + done
                    done += size
                    decoded = self._to_slice(first, table, path)
                    del table
                    yield decoded
        except (arrow.ArrowException, OSError) as error:
            msg = f"row group {group.number} is damaged: {error}"
            raise DecodeError(msg) from error
        if done < group.rows:
            msg = f"row group {group.number} has {done} rows instead of {group.rows}"
            raise DecodeError(msg)

    def _split(self, batches: list[Any], size: int) -> tuple[Any, list[Any]]:
        """The first rows of some record batches as a table, and the others."""
        table = self._arrow.Table.from_batches(batches)
        if len(batches) > 1:
            # Batches nearly always are as long as they should be.
            table = table.combine_chunks()
        rest = table.slice(size).to_batches() if len(table) > size else []
        return table.slice(0, size), rest

    def _to_slice(self, first: int, table: Any, path: str) -> _Slice:
        numbers = np.arange(first, first + len(table))
        if self._columns.names_files(table):
            return _Slice(numbers, table, {}, complete=True)
        outputs, failed = self._columns.convert(table, os.path.dirname(path))
        if not failed:
            return _Slice(numbers, outputs, {}, complete=True)
        errors = {first + k: error for k, error in failed.items()}
        return _Slice(np.delete(numbers, list(failed)), outputs, errors, complete=False)

    def _drop(self, key: _Key) -> None:
        dropped = self._recent.pop(key, None)
        if dropped is not None:
            self._recent_bytes -= dropped.nbytes

    def _forget(self) -> None:
        """Drop slices until they take little memory; keep rows that will still be asked for."""
        while len(self._recent) > 2 and self._recent_bytes > _KEPT_BYTES:
            key, oldest = next(iter(self._recent.items()))
            self._drop(key)
            if self._kept_rows and oldest.left > 0:
                self._rest[key] = oldest.rest()
        while sum(len(kept.numbers) for kept in self._rest.values()) > 2 * self._kept_rows:
            self._rest.popitem(last=False)
