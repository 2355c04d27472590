# SPDX-License-Identifier: Apache-2.0
"""Writes a page with the inputs and results of each operator call, for the first samples."""

from __future__ import annotations

import linecache
import os
import threading
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

from .._engine.composite import Composite
from .._engine.errors import CallSite, user_site
from .._engine.interception import Target, add_watcher, remove_watcher
from .._engine.value import Value
from .arguments import shown_arguments
from .cells import Cell, draw_cells
from .steps_page import make_page

# Functions here are between the user's line and a call, for those who look for that line.
_HANDS_ON_CALLS = True


class Row(NamedTuple):
    """What goes in or comes out of a call: its name, and a cell for each of the first samples."""

    title: str
    cells: list[Cell]


class Record:
    """One call, and what is to be shown of it."""

    def __init__(self, target: Target, site: CallSite, inputs: tuple[Any, ...]) -> None:
        self.name = getattr(target, "shown", target.name)
        self.site = site
        self.line = linecache.getline(site.code.co_filename, site.line).strip()
        self.arguments: list[tuple[str, str]] = []
        self.rows: list[Row] = []
        self.error: str | None = None
        self._encoded = bool(getattr(target, "encoded", False))
        self._inputs: tuple[Any, ...] = inputs
        self._results: tuple[Any, ...] = ()
        self._given: dict[str, Any] = {}

    @property
    def where(self) -> str:
        """The line of the program, with the path as short as possible."""
        name = self.site.code.co_filename
        relative = os.path.relpath(name) if os.path.isabs(name) else name
        return f"{name if relative.startswith('..') else relative}:{self.site.line}"

    def keep(self, given: dict[str, Any], result: Any) -> None:
        """Remember the arguments and results until they are there."""
        self._given = {name: value for name, value in given.items() if value is not None}
        self._results = result if isinstance(result, tuple) else (result,)

    def is_ready(self) -> bool:
        """Whether nothing would have to be waited for."""
        values = _values((*self._inputs, *self._results, *self._given.values()))
        return all(value._pending is None or value._pending.done for value in values)

    def draw(self, samples: int, size: int) -> None:
        """Make the pictures, and keep nothing else alive."""
        inputs, results, given = self._inputs, self._results, self._given
        self._inputs, self._results, self._given = (), (), {}
        self.arguments = shown_arguments(given, samples)
        self._draw_rows("input", inputs, samples, size, self._encoded)
        self._draw_rows("output", results, samples, size, False)

    def _draw_rows(
        self, noun: str, values: tuple[Any, ...], samples: int, size: int, encoded: bool
    ) -> None:
        shown = [value for value in values if value is not None]
        for number, value in enumerate(shown):
            title = noun if len(shown) == 1 else f"{noun} {number}"
            cells = draw_cells(value, samples, size, encoded and number == 0)
            if isinstance(cells, str):
                self.error = self.error or cells
            elif cells:
                self.rows.append(Row(title, cells))


class Inspection:
    """Watches calls as long as a `with` statement lasts. See `ndd.inspect`."""

    def __init__(self, path: str | PathLike[str], samples: int, calls: int, size: int) -> None:
        for name, number in (("samples", samples), ("calls", calls), ("size", size)):
            if not isinstance(number, int) or number < 1:
                msg = f"inspect: {name!r} must be a positive integer; got {number!r}."
                raise ValueError(msg)
        self._path = Path(path)
        self._samples = samples
        self._calls = calls
        self._size = size
        self._lock = threading.Lock()
        self._records: list[Record] = []
        self._waiting: list[Record] = []
        self._seen: dict[tuple[Any, int, str], int] = {}

    def __enter__(self) -> Self:
        # Now rather than in the end: a loop may take hours.
        self._path.write_text(make_page([], 0, 0), encoding="utf-8")
        add_watcher(self)
        return self

    def __exit__(self, *_: object) -> None:
        remove_watcher(self)
        with self._lock:
            for record in self._waiting:
                record.draw(self._samples, self._size)
            self._waiting.clear()
            left_out = max(0, len(self._seen) - len(self._records))
            again = sum(self._seen.values()) - len(self._seen)
            page = make_page(self._records, left_out, again)
        self._path.write_text(page, encoding="utf-8")

    def call(
        self,
        target: Target,
        inputs: tuple[Any, ...],
        given: dict[str, Any],
        make: Callable[[], Any],
    ) -> Any:
        """Make a call, and remember it if it is the first one at its line."""
        record = self._begun(target, inputs)
        if record is None:
            return make()
        try:
            result = make()
        except Exception as error:
            record.error = f"{type(error).__name__}: {error}"
            record.keep(given, ())
            raise
        record.keep(given, result)
        with self._lock:
            ready = [waiting for waiting in self._waiting if waiting.is_ready()]
            self._waiting = [waiting for waiting in self._waiting if waiting not in ready]
        for done in ready:
            done.draw(self._samples, self._size)
        return result

    def _begun(self, target: Target, inputs: tuple[Any, ...]) -> Record | None:
        """A new record, unless there is one of the same line, or there are enough."""
        site = user_site()
        if site is None:
            return None
        key = site.code, site.instruction, target.name
        with self._lock:
            count = self._seen[key] = self._seen.get(key, 0) + 1
            if count > 1 or len(self._records) >= self._calls:
                return None
            record = Record(target, site, inputs)
            self._records.append(record)
            self._waiting.append(record)
            return record


def _values(parts: tuple[Any, ...]) -> Iterator[Value]:
    for part in parts:
        if isinstance(part, Composite):
            yield from part._values().values()
        elif isinstance(part, Value):
            yield part
