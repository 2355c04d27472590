# SPDX-License-Identifier: Apache-2.0
"""What the native counters say about a stretch of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from .. import _kernels

_NANO = 1e-9


@dataclass(frozen=True)
class Cost:
    """What the calls of an operator, or the steps of a reader, have cost. Times are in seconds."""

    calls: int = 0
    failures: int = 0
    samples: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    # Of the calls themselves, and of all processors.
    wall: float = 0.0
    cpu: float = 0.0
    # From the call to its beginning.
    queued: float = 0.0
    # Opening and reading files, in all threads together.
    file_time: float = 0.0
    file_bytes: int = 0


@dataclass(frozen=True)
class Totals:
    """What belongs to no operator. Times are in seconds."""

    consumer_wait: float
    producer_wait: float
    # In which calls ran, and what part of that threads share.
    busy: float
    divided: float
    # Of loops, as whoever iterates over them sees it.
    loop_wall: float
    loop_wait: float
    loop_steps: int
    loop_samples: int
    # Of loops that run ahead of their consumer.
    ahead_steps: int
    # Likewise of `replay`.
    replay_wall: float
    replay_steps: int
    replay_samples: int


@dataclass(frozen=True)
class Counters:
    """All counts of a stretch of time."""

    seconds: float
    operators: dict[str, Cost]
    readers: dict[str, Cost]
    totals: Totals

    @property
    def costs(self) -> dict[str, Cost]:
        """Those of operators and readers together."""
        return {**self.readers, **self.operators}


_Counts = TypeVar("_Counts", Cost, Totals)


class Snapshot:
    """All counts at a moment."""

    def __init__(self) -> None:
        self.raw: dict[str, Any] = _kernels.read_meters()

    def since(self, before: Snapshot | None) -> Counters:
        """What happened between two moments, or since the process began."""
        after = self.raw
        old: Mapping[str, Any] = {} if before is None else before.raw
        if old.get("generation", after["generation"]) != after["generation"]:
            # The process was forked meanwhile; the child counts from zero.
            old = {}
        begin = max(old.get("now", 0), after["first"])
        return Counters(
            seconds=max(0, after["last"] - begin) * _NANO if after["first"] else 0.0,
            operators=_costs(old.get("operators", {}), after["operators"]),
            readers=_costs(old.get("readers", {}), after["readers"]),
            totals=_difference(Totals, old.get("totals", {}), after["totals"]),
        )


def _costs(
    before: Mapping[str, Mapping[str, int]], after: Mapping[str, Mapping[str, int]]
) -> dict[str, Cost]:
    found = {name: _difference(Cost, before.get(name, {}), count) for name, count in after.items()}
    return {name: cost for name, cost in found.items() if cost.calls or cost.file_time}


def _difference(
    kind: type[_Counts], before: Mapping[str, int], after: Mapping[str, int]
) -> _Counts:
    """What was counted between two moments; times in seconds."""
    values: dict[str, Any] = {}
    for field in fields(kind):
        amount = after[field.name] - before.get(field.name, 0)
        values[field.name] = amount * _NANO if field.type == "float" else amount
    return kind(**values)
