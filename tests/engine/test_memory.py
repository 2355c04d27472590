# SPDX-License-Identifier: Apache-2.0
"""How much memory loops take: chains of operators, what is queued and read ahead, and limits."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest

import daliesque as ndd
from support.reader_checks import Count

MEGA = 1 << 20


@pytest.fixture(autouse=True)
def default_limit() -> Iterator[None]:
    """Restores the limit after each test."""
    yield
    ndd.set_memory_limit(None)


def peak_of(program: str) -> float:
    """By how many MB the peak of a process rises while it runs the second part of a program."""
    before, _, measured = program.partition("---\n")
    lines = (
        "import resource, numpy as np, daliesque as ndd\n"
        f"{before}\n"
        "start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"{measured}\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1]) / 1024


@pytest.mark.parametrize("mode", ["eager", "deferred", "sync_cpu"])
def test_chains_free_what_was_read(mode: str) -> None:
    """60 flips of 12.6 MB: three of them are enough."""
    peak = peak_of(
        "first = ndd.batch(np.zeros((4, 1024, 1024, 3), np.uint8))\n"
        "---\n"
        f"with ndd.EvalMode.{mode}:\n"
        "    images = ndd.copy(first)\n"
        "    for _ in range(60):\n"
        "        images = ndd.flip(images)\n"
        "    images.evaluate()\n"
    )
    assert peak < 72


def test_queued_calls_hold_few_bytes() -> None:
    """Nobody reads these results: what calls hold is bounded all the same."""
    peak = peak_of(
        "ndd.set_memory_limit(160 << 20)\n"
        "first = ndd.batch(np.zeros((4, 1024, 1024, 3), np.uint8))\n"
        "---\n"
        "for _ in range(100):\n"
        "    ndd.flip(ndd.copy(first))\n"
    )
    assert peak < 160


def test_loops_run_to_their_end_below_any_limit() -> None:
    for limit in (0, 1, 10 * MEGA):
        ndd.set_memory_limit(limit)
        seen = []
        for (numbers,) in Count(64, prefetch_queue_depth=4).next_epoch(batch_size=8):
            large = ndd.copy(ndd.batch(np.ones((8, MEGA), np.uint8)))
            assert (large + 1).numpy().max() == 2
            seen += numbers.tolist()
        assert seen == list(range(64))
        assert ndd.memory().cached_bytes <= max(0, limit - ndd.memory().used_bytes)


def test_growing_batches_leave_few_buffers() -> None:
    ndd.memory(release=True)
    with ndd.EvalMode.sync_cpu:
        for size in (8, 9, 10, 11):
            ndd.zeros(shape=[size * MEGA], dtype=ndd.uint8).evaluate()
    # The second buffer is larger than it had to be, so that it does for the others as well, and
    # replaces the first.
    assert ndd.memory().cached_buffers == 1


def test_results_of_similar_sizes_share_buffers() -> None:
    """Of a loop whose consumer holds a result while the next one is made."""
    ndd.memory(release=True)
    held = None
    with ndd.EvalMode.sync_cpu:
        for decoded in (28, 30, 29, 28, 30, 29):
            # What is made first is gone when the result is made.
            ndd.zeros(shape=[decoded * MEGA], dtype=ndd.uint8).evaluate()
            result = ndd.zeros(shape=[34 * MEGA], dtype=ndd.uint8).evaluate()
            held = result
    del result, held
    assert ndd.memory().cached_buffers == 2


def test_limit_counts_what_is_in_use_first() -> None:
    ndd.memory(release=True)
    held = ndd.copy(ndd.batch(np.zeros((8, MEGA), np.uint8))).evaluate()
    used = ndd.memory().used_bytes
    ndd.set_memory_limit(used + 3 * MEGA)
    for _ in range(4):
        ndd.copy(ndd.batch(np.zeros((4, MEGA), np.uint8))).evaluate()
        ndd.copy(ndd.batch(np.zeros((2, MEGA), np.uint8))).evaluate()
    assert ndd.memory().cached_bytes <= 3 * MEGA
    ndd.set_memory_limit(used)
    assert ndd.memory().cached_bytes == 0
    assert held.numpy().shape == (8, MEGA)


class Images(Count):
    """A reader of samples of a megabyte."""

    def fetch_sample(self, number: int) -> np.ndarray:
        return np.full(MEGA, number, np.uint8)


def test_owners() -> None:
    before = ndd.memory()
    epoch = Images(40, prefetch_queue_depth=3).next_epoch(batch_size=2)
    delivered = next(epoch)[0]
    for _ in range(1000):
        if ndd.memory().read_ahead_bytes - before.read_ahead_bytes == 8 * MEGA:
            break
        time.sleep(0.01)
    now = ndd.memory()
    # Three batches wait, and one more was being made.
    assert now.read_ahead_bytes - before.read_ahead_bytes == 8 * MEGA
    assert "read ahead" in str(now)
    epoch.close()
    assert ndd.memory().read_ahead_bytes == before.read_ahead_bytes
    small = [ndd.copy(delivered) + 1 for _ in range(3)]
    assert ndd.memory().queued_bytes >= 0
    for result in small:
        result.evaluate()
    assert ndd.memory().queued_bytes == before.queued_bytes


@pytest.mark.parametrize("wrong", ["1GB", 1.5, True])
def test_wrong_types(wrong: object) -> None:
    with pytest.raises(TypeError, match="set_memory_limit: 'bytes' must be an integer or None"):
        ndd.set_memory_limit(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [-1, 1 << 63])
def test_wrong_values(wrong: int) -> None:
    with pytest.raises(ValueError, match="set_memory_limit: 'bytes' must be at least 0"):
        ndd.set_memory_limit(wrong)


def test_default_is_a_share_of_what_may_be_used() -> None:
    ndd.set_memory_limit(None)
    physical = 0
    with open("/proc/meminfo") as lines:
        physical = 1024 * int(next(lines).split()[1])
    assert 0 < ndd.memory().total_limit_bytes <= physical // 2
