# SPDX-License-Identifier: Apache-2.0
"""How far our results are from the reference's, in all comparisons of a run, by operator.

`pytest tests/oracle --differences docs/measured/differences.json` writes them for the pages of the
operators. Both libraries are called through `libraries.call_all`; calls with the same inputs and
arguments belong together.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from support import libraries
from support.libraries import Array, Result


class Differences:
    """Collects the largest differences."""

    def __init__(self) -> None:
        self._waiting: dict[Any, tuple[str, list[Result]]] = {}
        # Of integers of up to 16 bits in levels, of all others relative to the largest value.
        self._largest: dict[str, dict[str, float]] = {}
        self._counts: dict[str, int] = {}

    def note(
        self, library: str, operator: str, call: tuple[Sequence[Any], str], results: list[Result]
    ) -> None:
        """Compare the results of a call with those that the other library gave."""
        inputs, arguments = call
        key = (operator, tuple(id(value) for value in inputs), arguments)
        other = self._waiting.pop(key, None)
        if other is None or other[0] == library:
            self._waiting = {key: (library, results)}
            return
        ours, theirs = (results, other[1]) if library == "daliesque" else (other[1], results)
        for mine, wanted in zip(ours, theirs, strict=False):
            for found, expected in zip(mine.arrays, wanted.arrays, strict=False):
                if found.shape == expected.shape and found.dtype == expected.dtype:
                    self._compare(operator, found, expected)

    def _compare(self, operator: str, found: Array, expected: Array) -> None:
        self._counts[operator] = self._counts.get(operator, 0) + 1
        largest = self._largest.setdefault(operator, {})
        is_narrow = found.dtype.kind in "iub" and found.dtype.itemsize <= 2
        kind = "pixels" if is_narrow else "numbers"
        mine, wanted = found.astype(np.float64), expected.astype(np.float64)
        finite = np.isfinite(mine) & np.isfinite(wanted)
        apart = float(np.abs(mine[finite] - wanted[finite]).max(initial=0))
        if kind == "numbers":
            apart /= max(float(np.abs(wanted[finite]).max(initial=0)), 1e-30)
        largest[kind] = max(largest.get(kind, 0.0), apart)

    def write(self, path: Path) -> None:
        """Write a text for each operator."""
        texts = {}
        for operator, largest in sorted(self._largest.items()):
            parts = []
            if "pixels" in largest:
                levels = f"{largest['pixels']:g} level" if largest["pixels"] else "none"
                parts.append(f"{levels} in results of 8 and 16 bits")
            if "numbers" in largest:
                share = f"{largest['numbers']:.0e} of the largest value"
                parts.append(f"{share if largest['numbers'] else 'none'} in wider results")
            count = self._counts[operator]
            texts[operator] = {"DALI": f"{', '.join(parts)} ({count} comparisons)"}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(texts, indent=1) + "\n")


def record() -> Differences:
    """Note all calls from now on."""
    differences = Differences()
    libraries.note_call = differences.note
    return differences
