# SPDX-License-Identifier: Apache-2.0
"""Samples that cannot be read: what to do about them, and which they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..._engine.errors import OpError, same_class
from ..._engine.interrupts import Steps


class ReadError(NamedTuple):
    """A sample that was left out or replaced: where it is, and what was wrong with it."""

    source: str
    exception: Exception


class Failed(NamedTuple):
    """A sample that could not be read: its number, where it is, and what to raise for it."""

    number: int
    source: str
    exception: Exception


class BadSamples:
    """Applies `on_error` and `max_errors` of a reader, and lists what was left out."""

    def __init__(self, operator: str, policy: str, limit: float | None) -> None:
        self.policy = policy
        self.errors: list[ReadError] = []
        self._operator = operator
        self._limit = limit
        self._numbers: set[int] = set()

    def explain(self, source: str, exception: Exception, index: int | None) -> Exception:
        """What to raise for a sample, which was to be number `index` of a batch."""
        where = "" if index is None else f" (sample {index} of the batch)"
        reason = reason_of(exception).removeprefix(f"{self._operator}: ")
        msg = f'{self._operator}: cannot read "{source}"{where}: {reason}.'
        if self.policy == "raise":
            msg += ' Pass on_error="skip" to leave such samples out.'
        return same_class(exception, msg)

    def none_left(self, cause: Exception) -> Exception:
        """What to raise when there is no sample that could be read."""
        last = str(cause).removeprefix(f"{self._operator}: ")
        return same_class(cause, f"{self._operator}: no sample can be read. The last one: {last}")

    def leave_out(self, source: str, exception: Exception) -> None:
        """List something that cannot be used while the index is made; or raise."""
        if self.policy == "raise":
            raise exception
        self.errors.append(ReadError(source, exception))

    def note(self, failed: Sequence[Failed], size: int) -> tuple[Steps, OpError | None]:
        """The steps that list samples which were left out, of `size`; an error for too many."""
        if self.policy == "raise" or not failed:
            return (), None
        steps: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        known = set(self._numbers)
        for number, source, exception in failed:
            if number not in known:
                known.add(number)
                # Tracebacks would keep alive whatever was there when the sample was read.
                if exception.__cause__ is not None:
                    exception.__cause__.__traceback__ = None
                steps.append((self._numbers.add, (number,)))
                steps.append((self.errors.append, (ReadError(source, exception),)))
        limit, count = self._limit, len(self.errors) + len(steps) // 2
        if limit is None or count <= (limit if limit >= 1 or limit == 0 else limit * size):
            return tuple(steps), None
        cause = steps[-1][1][0].exception if steps else self.errors[-1].exception
        last = str(cause).removeprefix(f"{self._operator}: ")
        msg = (
            f"{self._operator}: {count} samples could not be read, more than "
            f"max_errors={limit:g} allows. The last one: {last}"
        )
        error = OpError(msg)
        error.__cause__ = cause
        return tuple(steps), error


def reason_of(exception: Exception) -> str:
    """What an exception says, to be put into a sentence."""
    text: str = getattr(exception, "strerror", None) or str(exception).rstrip(".")
    if text and isinstance(exception, OSError | OpError | ValueError):
        return text
    # The text of a KeyError, say, is not enough.
    return ": ".join(filter(None, (type(exception).__name__, text)))
