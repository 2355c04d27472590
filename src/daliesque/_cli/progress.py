# SPDX-License-Identifier: Apache-2.0
"""How far a long command is; silent unless a person watches."""

from __future__ import annotations

import sys
import time
from typing import Self

_INTERVAL = 0.1
_WIDTH = 30


class Progress:
    """A line on the standard error output that says how much is done.

    Parameters
    ----------
    noun
        What is counted.
    total
        How many there are, if that is known.
    """

    def __init__(self, noun: str, total: int | None = None) -> None:
        self._noun = noun
        self._total = total
        self._done = 0
        self._start = self._shown = time.monotonic()
        self._visible = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._visible and self._done:
            sys.stderr.write("\r\x1b[K")

    def advance(self, count: int = 1) -> None:
        """Say that so many more are done."""
        self._done += count
        now = time.monotonic()
        if self._visible and now - self._shown >= _INTERVAL:
            self._shown = now
            sys.stderr.write(f"\r{self._text(now - self._start)}\x1b[K")
            sys.stderr.flush()

    def _text(self, seconds: float) -> str:
        rate = self._done / seconds
        if self._total is None:
            return f"{self._done:,} {self._noun}, {rate:,.0f} per second"
        full = round(_WIDTH * self._done / self._total) if self._total else _WIDTH
        bar = "#" * full + "." * (_WIDTH - full)
        left = (self._total - self._done) / rate if rate else 0.0
        return f"[{bar}] {self._done:,} of {self._total:,} {self._noun}, {left:.0f} s left"
