# SPDX-License-Identifier: Apache-2.0
"""Short tracebacks: the user's own lines, and where to read about the error.

What is changed is what is printed, and only while it is: the exception itself keeps all frames, for
debuggers.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from .._engine.errors import InternalError, is_engine_file, page_of

_HINT = "DALIESQUE_TRACEBACK=full shows all frames"


def wants_all() -> bool:
    """Whether the user has asked for whole tracebacks."""
    return os.environ.get("DALIESQUE_TRACEBACK", "").lower() == "full"


def has_engine_frames(error: BaseException) -> bool:
    """Whether an error went through this package, so that there are frames to be hidden.

    Faults of the package are shown whole: whoever corrects them needs all frames.
    """
    if wants_all() or not isinstance(error, Exception):
        return False
    if isinstance(error, InternalError | AssertionError):
        return False
    hidden = [_is_hidden(entry) for entry in _entries(error.__traceback__)]
    return any(hidden) and not all(hidden)


@contextlib.contextmanager
def shortened(error: BaseException) -> Iterator[TracebackType | None]:
    """Make an error print in its short form; gives the traceback of that."""
    whole, cause = error.__traceback__, error.__cause__
    notes, suppressed = getattr(error, "__notes__", None), error.__suppress_context__
    short = _without_engine(whole)
    added = list(notes or [])
    see = page_of(type(error))
    if see in added:
        added.remove(see)
    last = _last(whole)
    # What other code has raised is not described in our pages.
    raised_here = last is not None and _is_hidden(last)
    if cause is not None and _is_call_site(cause.__traceback__, error):
        # A call that failed in the background: where it was made comes first.
        reader = _last(short)
        if reader is not None:
            code = reader.tb_frame.f_code
            where = f"{code.co_filename}:{reader.tb_lineno}, in {code.co_name}"
            added += [] if where in added[0] else [f"read at {where}"]
        short = cause.__traceback__
        error.__cause__, error.__suppress_context__ = None, True
    error.__notes__ = [*added, _HINT, *([see] if raised_here else [])]
    error.__traceback__ = short
    try:
        yield short
    finally:
        error.__traceback__, error.__cause__ = whole, cause
        error.__suppress_context__ = suppressed
        if notes is None:
            del error.__notes__
        else:
            error.__notes__ = notes


def _entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _last(traceback: TracebackType | None) -> TracebackType | None:
    entries = list(_entries(traceback))
    return entries[-1] if entries else None


def _file(entry: TracebackType) -> str:
    return entry.tb_frame.f_code.co_filename


def _is_hidden(entry: TracebackType) -> bool:
    return is_engine_file(_file(entry))


def _without_engine(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this package."""
    short: TracebackType | None = None
    for entry in reversed(list(_entries(traceback))):
        if not _is_hidden(entry):
            short = TracebackType(short, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return short


def _is_call_site(traceback: TracebackType | None, error: BaseException) -> bool:
    """Whether a traceback is what `raise_failure` makes: the line that made a call, alone."""
    notes = getattr(error, "__notes__", None)
    if traceback is None or traceback.tb_next is not None or not notes:
        return False
    name = f"{_file(traceback)}:{traceback.tb_lineno},"
    return notes[0].startswith("from ") and name in notes[0]


def print_by(previous: Any, kind: type[BaseException], error: BaseException) -> bool:
    """Print an error in its short form, by what would print it otherwise; False if it has none."""
    if not has_engine_frames(error):
        return False
    with shortened(error) as traceback:
        previous(kind, error, traceback)
    return True
