# SPDX-License-Identifier: Apache-2.0
"""What `ndd.report()` returns."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .._engine.threads import get_num_threads, usable_cpus
from .counters import Counters, Snapshot
from .estimates import Estimates
from .table import html_table, rows_of, text_table

# Waiting that nobody would notice, and gains that are not worth mentioning.
_LITTLE_WAIT = 0.02
_LEAST_GAIN = 1.05


class Report:
    """Counts of a stretch of time, and what they mean.

    `str(report)` is a sentence, advice and a table; `to_dict()` has everything.
    """

    def __init__(self, counters: Counters, threads: int, cores: int) -> None:
        self.counters = counters
        self.estimates = Estimates.of(counters, threads, cores)

    @property
    def noun(self) -> str:
        """What samples are."""
        images = ("decoders.image", "imread", "experimental.decoders.image")
        return "images" if any(n.startswith(images) for n in self.counters.costs) else "samples"

    @property
    def sentence(self) -> str:
        """What limits the loop."""
        if not self.counters.costs and self.estimates.wait_share is None:
            return "Nothing was counted yet."
        parts = [self._wait(), self._top(), self._threads(), self._perfect()]
        text = "; ".join(part for part in parts if part)
        return f"{text[:1].upper()}{text[1:]}."

    def _wait(self) -> str:
        share = self.estimates.wait_share
        if share is None:
            return ""
        ending = ": the loader keeps up" if share < _LITTLE_WAIT else ""
        return f"the consumer waits {share:.0%} of the time{ending}".replace("%", " %")

    def _top(self) -> str:
        found = self.estimates
        if found.top is None:
            return ""
        return f"{found.top} takes {found.top_share:.0%} of the work".replace("%", " %")

    def _threads(self) -> str:
        found = self.estimates
        if found.wait_share is None or found.wait_share < _LITTLE_WAIT:
            return ""
        if found.more_threads is None:
            noun = "thread uses" if found.threads == 1 else "threads use"
            return f"{found.threads} {noun} all {found.cores} cores"
        if found.more_threads < _LEAST_GAIN:
            return f"more threads than {found.threads} would bring next to nothing"
        return f"{found.cores} threads would bring {found.more_threads:.1f}x"

    def _perfect(self) -> str:
        found = self.estimates
        if found.perfect_rate is None:
            return ""
        speed = f"{found.perfect_rate:,.0f} {self.noun}/s"
        if found.perfect_is_measured:
            return f"with a perfect loader your loop runs at {speed}"
        return f"with a perfect loader your loop would run at {speed}"

    @property
    def advice(self) -> list[str]:
        """What could be changed, beyond the number of threads."""
        found, totals = self.estimates, self.counters.totals
        advice = []
        waits = (found.wait_share or 0.0) >= 0.1
        if waits and totals.ahead_steps == 0 and (found.overlap or 0.0) >= 2 * _LEAST_GAIN - 1:
            advice.append(
                "Nothing is loaded while the consumer works: with ndd.prefetch(loop) the loop "
                f"would run up to {found.overlap:.1f}x as fast, as far as the consumer leaves "
                "cores idle."
            )
        files = sum(cost.file_time for cost in self.counters.readers.values())
        wall = sum(cost.wall for cost in self.counters.readers.values())
        if waits and wall > 0.5 * totals.loop_wall > 0 and files > 0.5 * wall:
            advice.append(
                "Reading files takes most of the time: larger files (tar archives, TFRecord), a "
                "faster disk, or a larger 'prefetch_queue_depth' would help."
            )
        if found.perfect_rate is not None and not found.perfect_is_measured and waits:
            advice.append("`for batch in ndd.replay(loop)` measures the speed of your loop alone.")
        return advice

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, as JSON can hold them; times are in seconds."""
        counters = self.counters
        return {
            "sentence": self.sentence,
            "advice": self.advice,
            "estimates": asdict(self.estimates),
            "waits": {
                "consumer": counters.totals.consumer_wait,
                "queue": sum(cost.queued for cost in counters.operators.values()),
                "disk": sum(cost.file_time for cost in counters.costs.values()),
                "producers": counters.totals.producer_wait,
            },
            "loop": {
                "seconds": counters.totals.loop_wall,
                "wait": counters.totals.loop_wait,
                "steps": counters.totals.loop_steps,
                "samples": counters.totals.loop_samples,
                "samples_per_second": self.estimates.rate,
            },
            "operators": {name: asdict(cost) for name, cost in counters.operators.items()},
            "readers": {name: asdict(cost) for name, cost in counters.readers.items()},
        }

    def __str__(self) -> str:
        lines = [self.sentence, *self.advice]
        rows = rows_of(self.counters)
        if rows:
            lines += ["", text_table(rows), self._waits()]
        return "\n".join(lines)

    __repr__ = __str__

    def _waits(self) -> str:
        found = self.to_dict()
        waits, loop = found["waits"], found["loop"]
        text = (
            f"waits: consumer {waits['consumer']:.2f} s, calls in queues {waits['queue']:.2f} s, "
            f"files {waits['disk']:.2f} s, readers and loops that are ahead "
            f"{waits['producers']:.2f} s"
        )
        if loop["samples"]:
            text += (
                f"\nloop: {loop['steps']:,} steps of {loop['samples']:,} {self.noun} in "
                f"{loop['seconds']:.2f} s, {loop['samples_per_second']:,.0f} {self.noun}/s"
            )
        return text

    def _repr_html_(self) -> str:
        return html_table(self.sentence, self.advice, rows_of(self.counters), self._waits())


class _Last:
    """When counting began again."""

    reset: Snapshot | None = None


def make_report(reset: bool) -> Report:
    """What happened since the last reset."""
    now = Snapshot()
    found = now.since(_Last.reset)
    if reset:
        _Last.reset = now
    return Report(found, get_num_threads(), usable_cpus())
