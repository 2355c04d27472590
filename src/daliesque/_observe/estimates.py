# SPDX-License-Identifier: Apache-2.0
"""What a loop would gain: from more threads, from running ahead, from a perfect loader."""

from __future__ import annotations

from dataclasses import dataclass

from .counters import Counters

# What is less is not worth mentioning.
LEAST_GAIN = 1.05


@dataclass(frozen=True)
class Estimates:
    """Shares and speeds. What cannot be known is None."""

    # The share of the time that the consumer waits.
    wait_share: float | None
    # Which operator or reader takes most of the processors' time, and what share of it.
    top: str | None
    top_share: float
    # How much faster the loop would be with so many threads.
    threads: int
    cores: int
    more_threads: float | None
    # How much faster it could be at most if loading and consuming overlapped.
    overlap: float | None
    # Samples in a second: of the loop, and of the same consumer without waiting, which `replay`
    # has measured or the waits imply.
    rate: float | None
    perfect_rate: float | None
    perfect_is_measured: bool

    @classmethod
    def of(cls, counters: Counters, threads: int, cores: int) -> Estimates:
        """What the counts of a stretch of time imply."""
        totals = counters.totals
        whole, wait = totals.loop_wall, totals.loop_wait
        if not totals.loop_steps:
            whole, wait = counters.seconds, min(totals.consumer_wait, counters.seconds)
        costs = counters.costs
        work = sum(cost.cpu for cost in costs.values())
        top = max(costs, key=lambda name: costs[name].cpu, default=None) if work > 0 else None
        own = whole - wait
        rate = totals.loop_samples / whole if totals.loop_samples and whole else None
        measured = bool(totals.replay_samples and totals.replay_wall)
        perfect = totals.loop_samples / own if rate is not None and own > 0 else None
        if measured:
            perfect = totals.replay_samples / totals.replay_wall
        return cls(
            wait_share=wait / whole if whole > 0 else None,
            top=top,
            top_share=costs[top].cpu / work if top is not None else 0.0,
            threads=threads,
            cores=cores,
            more_threads=_with_threads(counters, whole, wait, threads, cores),
            overlap=whole / max(wait, own) if totals.loop_steps and whole > 0 else None,
            rate=rate,
            perfect_rate=perfect,
            perfect_is_measured=measured,
        )


def _with_threads(
    counters: Counters, whole: float, wait: float, threads: int, cores: int
) -> float | None:
    """How much faster a loop would be if as many threads as cores shared what can be shared.

    The loops inside of kernels take less time in proportion; as much as calls take less, the
    consumer waits less.
    """
    divided = counters.totals.divided
    if whole <= 0 or threads >= cores:
        return None
    saved = divided * (1 - threads / cores)
    return whole / (whole - min(wait, saved)) if whole > min(wait, saved) else None
