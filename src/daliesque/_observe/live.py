# SPDX-License-Identifier: Apache-2.0
"""A live view of the counters while a loop runs."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import threading
from typing import Any, Protocol, Self, TextIO

from .._engine.threads import get_num_threads, usable_cpus
from .._show.display import in_notebook, notebook_display
from .counters import Counters, Snapshot
from .reports import Report

# How many operators a line names.
_MOST_NAMED = 3


class Screen(Protocol):
    """Where a view is shown."""

    def show(self, recent: Report) -> None:
        """Replace what was shown by what happened recently."""

    def finish(self, whole: Report) -> None:
        """Show what happened in all."""


class Watch:
    """A thread that shows the counters from time to time. See `ndd.watch`."""

    def __init__(self, interval: float, file: TextIO | None) -> None:
        self._interval = interval
        self._file = file
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._begin: Snapshot | None = None
        self._report: Report | None = None

    @property
    def report(self) -> Report:
        """What happened inside of the `with` statement, so far or in all."""
        if self._report is not None:
            return self._report
        return _report(Snapshot().since(self._begin))

    def __enter__(self) -> Self:
        self._begin = Snapshot()
        self._report = None
        self._over.clear()
        self._screen = make_screen(self._file)
        self._thread = threading.Thread(target=self._run, name="daliesque watch", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._report = _report(Snapshot().since(self._begin))
        self._screen.finish(self._report)

    def _run(self) -> None:
        before = self._begin
        while not self._over.wait(self._interval):
            now = Snapshot()
            self._screen.show(_report(now.since(before)))
            before = now


def _report(counters: Counters) -> Report:
    return Report(counters, get_num_threads(), usable_cpus())


def make_screen(file: TextIO | None) -> Screen:
    """What suits where the program runs."""
    if file is None and in_notebook():
        return _Notebook()
    stream = sys.stderr if file is None else file
    if not stream.isatty():
        return _Log(stream)
    if importlib.util.find_spec("rich") is not None:
        return _Rich(stream)
    return _Line(stream)


def line_of(report: Report) -> str:
    """A view in one line."""
    found = report.estimates
    parts = []
    if found.rate is not None:
        parts.append(f"{found.rate:,.0f} {report.noun}/s")
    if found.wait_share is not None:
        parts.append(f"consumer waits {found.wait_share:.0%}".replace("%", " %"))
    costs = report.counters.costs
    work = sum(cost.cpu for cost in costs.values())
    ordered = sorted(costs, key=lambda name: -costs[name].cpu)[:_MOST_NAMED]
    parts += [f"{name} {costs[name].cpu / work:.0%}".replace("%", " %") for name in ordered if work]
    return ", ".join(parts) or "nothing happens"


class _Log:
    """A file: what happened in all, at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, recent: Report) -> None:
        """Nothing: nobody looks."""

    def finish(self, whole: Report) -> None:
        """Write the report."""
        self._stream.write(f"{whole}\n")
        self._stream.flush()


class _Line(_Log):
    """A terminal: one line, which others may write around."""

    def show(self, recent: Report) -> None:
        """Replace the line."""
        width = shutil.get_terminal_size().columns - 1
        self._stream.write(f"\r{line_of(recent)[:width]}\x1b[K")
        self._stream.flush()

    def finish(self, whole: Report) -> None:
        """Put the report in place of the line."""
        self._stream.write("\r\x1b[K")
        super().finish(whole)


class _Rich:
    """A terminal, by the package rich: the whole table."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live

        self._live: Any = Live(console=Console(file=stream), auto_refresh=False)
        self._live.start()

    def show(self, recent: Report) -> None:
        """Replace the table."""
        from rich.text import Text

        self._live.update(Text(f"{line_of(recent)}\n\n{recent}"), refresh=True)

    def finish(self, whole: Report) -> None:
        """Leave the whole report there."""
        from rich.text import Text

        self._live.update(Text(str(whole)), refresh=True)
        self._live.stop()


class _Notebook:
    """The output of a cell."""

    def __init__(self) -> None:
        module = notebook_display()
        self._html = module.HTML
        self._handle: Any = module.display(module.HTML("<p>...</p>"), display_id=True)

    def show(self, recent: Report) -> None:
        """Replace the output."""
        self._handle.update(self._html(recent._repr_html_()))

    def finish(self, whole: Report) -> None:
        """Leave the whole report there."""
        self.show(whole)
