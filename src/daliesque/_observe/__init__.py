# SPDX-License-Identifier: Apache-2.0
"""See what happens: reports, a live view, traces, replays, and pages about each step.

What does the work is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from typing import TYPE_CHECKING, TextIO, TypeVar

if TYPE_CHECKING:
    from .inspection import Inspection
    from .live import Watch
    from .replays import Replay
    from .reports import Report
    from .tracing import Trace

T = TypeVar("T")

# Events that wait to be written take some 100 bytes each.
_CAPACITY = 1 << 17


def report(*, reset: bool = False) -> Report:
    """Return what operators and readers have cost so far, and what limits the loop.

    Counting is always on. `str(report)` begins with a sentence about what limits the loop, then has
    a table; `report.to_dict()` has all numbers.

    Parameters
    ----------
    reset
        Begin to count again.

    Returns
    -------
    Report
        With `sentence`, `advice`, `to_dict()`; notebooks show it as a table.

    Examples
    --------
    >>> _ = ndd.report(reset=True)
    >>> images = ndd.batch(np.zeros((4, 32, 48, 3), np.uint8), layout="HWC")
    >>> for _ in range(3):
    ...     flipped = ndd.flip(images).evaluate()
    >>> counts = ndd.report().to_dict()["operators"]["flip"]
    >>> counts["calls"], counts["samples"]
    (3, 12)
    """
    from .reports import make_report

    return make_report(reset)


def watch(*, interval: float = 1.0, file: TextIO | None = None) -> Watch:
    """Show what operators and readers cost, while the body of a `with` statement runs.

    In a terminal, as a table if the package rich is installed or else as a line, in a notebook as a
    table, that is replaced again and again. At the end, what happened in all is left there; that
    alone is written if the output is no terminal.

    Parameters
    ----------
    interval
        Seconds between two views.
    file
        Where to write; by default to the notebook or the standard error output.

    Examples
    --------
    >>> import io
    >>> images = ndd.batch(np.zeros((4, 32, 48, 3), np.uint8), layout="HWC")
    >>> with ndd.watch(file=io.StringIO()) as live:
    ...     flipped = ndd.flip(images).evaluate()
    >>> live.report.to_dict()["operators"]["flip"]["calls"]
    1
    """
    from .live import Watch

    return Watch(interval, file)


def trace(path: str | PathLike[str], *, capacity: int = _CAPACITY) -> Trace:
    """Write down what every thread does, while the body of a `with` statement runs.

    The file is for https://ui.perfetto.dev or chrome://tracing. There is a row for each thread that
    makes calls, the executor, the threads of pools, readers, and for accelerators. Calls have their
    operator, number of samples, bytes, and line of the program; arrows lead from a call to its
    execution to whoever reads the result.

    Parameters
    ----------
    path
        The file, in JSON.
    capacity
        How many events may wait to be written. What comes while there are more is left out; the
        trace says how many in `dropped`.

    Examples
    --------
    >>> images = ndd.batch(np.zeros((4, 32, 48, 3), np.uint8), layout="HWC")
    >>> with ndd.trace("trace.json") as trace:
    ...     flipped = ndd.flip(images).evaluate()
    >>> trace.events > 0, trace.dropped
    (True, 0)
    """
    from .tracing import Trace

    return Trace(path, capacity)


def inspect(
    path: str | PathLike[str], *, samples: int = 3, calls: int = 100, size: int = 160
) -> Inspection:
    """Write a page about the operator calls in the body of a `with` statement.

    The page shows for each line that calls an operator its arguments, and the first samples before
    and after the call. Each line is shown the first time it is reached. Nothing is computed for the
    page that would not be computed anyway. It is one HTML file that needs no other.

    Parameters
    ----------
    path
        The page.
    samples
        How many samples to show of each batch.
    calls
        How many lines to show.
    size
        The longer side of a sample in the page, in pixels.

    Examples
    --------
    >>> images = ndd.batch(np.zeros((4, 32, 48, 3), np.uint8), layout="HWC")
    >>> with ndd.inspect("steps.html"):
    ...     flipped = ndd.flip(images, vertical=1)
    ...     small = ndd.resize(flipped, size=[16, 16])
    """
    from .inspection import Inspection

    return Inspection(path, samples, calls, size)


def replay(
    loop: Callable[[], Iterable[T]] | Iterable[T],
    *,
    keep: int = 8,
    steps: int | None = None,
    seconds: float = 10.0,
) -> Replay[T]:
    """Serve the first batches of a loop again and again: a perfect loader.

    The consumer then runs as fast as it can without waiting for data. `report()` has that speed
    from then on, measured instead of estimated. The first items are taken from the loop, and
    computed, before the first one is served. They are the same objects each time: a consumer that
    changes them finds them changed.

    Parameters
    ----------
    loop
        A generator function, an iterable or an iterator, as for `prefetch`.
    keep
        How many items to take from it.
    steps
        How many items to serve; by default as many as the loop has, if it has a length.
    seconds
        For how long to serve them at most.

    Returns
    -------
    Replay
        An iterable; after its end, `samples_per_second` is the speed.

    Examples
    --------
    >>> def load():
    ...     for number in range(100):
    ...         yield ndd.batch([number] * 4)
    >>> batches = ndd.replay(load, keep=2, steps=5)
    >>> [batch.tolist()[0] for batch in batches]
    [0, 1, 0, 1, 0]
    >>> batches.samples_per_second > 0
    True
    """
    from .replays import make_replay

    return make_replay(loop, keep, steps, seconds)
