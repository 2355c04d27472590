# SPDX-License-Identifier: Apache-2.0
"""What must hold for every reader, whatever it reads. Samples are identified by their source."""

from __future__ import annotations

import gc
import os
import pickle
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from daliesque.readers import Reader
from support.reader_checks import assert_resumes

# Makes a reader with some of the arguments that all readers have.
Make = Callable[..., Reader]


def sources_of(step: Any) -> list[str]:
    """The sources of the samples of a batch or of a sample."""
    outputs = list(step.values()) if isinstance(step, dict) else list(step)
    source = outputs[0].source
    for output in outputs:
        assert output.source == source
    return [source] if isinstance(source, str) else list(source)


def epoch_sources(reader: Reader, batch_size: int | None) -> list[str]:
    """The sources of an epoch."""
    return [name for step in reader.next_epoch(batch_size=batch_size) for name in sources_of(step)]


def assert_every_sample_once(make: Make, sources: Iterable[str]) -> None:
    """All shards together deliver each sample once; batches are filled as documented."""
    expected = sorted(sources)
    size = len(expected)
    for shards in range(1, min(size, 4) + 1):
        for batch_size in (None, 1, 2, 3, size + 1):
            for pad in (False, True):
                seen: list[str] = []
                for shard in range(shards):
                    reader = make(num_shards=shards, shard_id=shard, pad_last_batch=pad)
                    names = epoch_sources(reader, batch_size)
                    own = size * (shard + 1) // shards - size * shard // shards
                    seen += names[:own]
                    assert len(names) % (batch_size or 1) == 0
                    if pad:
                        assert set(names[own:]) <= {names[own - 1]}
                assert sorted(seen) == expected, (shards, batch_size, pad)


def assert_shuffles(make: Make, sources: Iterable[str]) -> None:
    """Shuffled epochs hold all samples, differ, and repeat for the same seed."""
    expected = sorted(sources)
    for shuffle in ({"random_shuffle": True, "seed": 11}, {"shuffle_after_epoch": True}):
        runs = []
        for _ in range(2):
            reader = make(**shuffle, pad_last_batch=True)
            runs.append([epoch_sources(reader, None) for _ in range(4)])
        assert runs[0] == runs[1]
        assert all(sorted(epoch) == expected for epoch in runs[0])
        assert len({tuple(epoch) for epoch in runs[0]}) > 1


def assert_reshards(make: Make, sources: Iterable[str]) -> None:
    """Two shards stop after some samples; three others deliver exactly what they left."""
    missing = Counter(sources)
    state = ""
    for shard in range(2):
        reader = make(num_shards=2, shard_id=shard)
        steps = reader.next_epoch(batch_size=1)
        missing -= Counter(sources_of(next(steps)))
        state = str(reader.get_state())
    rest: Counter[str] = Counter()
    for shard in range(3):
        reader = make(num_shards=3, shard_id=shard)
        reader.set_state(state)
        rest += Counter(epoch_sources(reader, 1))
    assert rest == missing


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Afterwards there are no more threads and open files than before."""

    def left() -> tuple[int, set[threading.Thread]]:
        gc.collect()
        return len(os.listdir("/dev/fd")), set(threading.enumerate())

    before = left()
    yield
    limit = time.monotonic() + 10
    while (after := left())[0] > before[0] or after[1] - before[1]:
        assert time.monotonic() < limit, (before, after)
        time.sleep(0.01)


def assert_leaves_nothing_behind(make: Make) -> None:
    """Neither threads nor descriptors outlive a reader that was left in the middle.

    What it delivered may outlive it, and still knows where it came from.
    """
    expected = epoch_sources(make(), 2)[:2]
    kept = []
    with nothing_left_behind():
        for _ in range(3):
            reader = make()
            kept.append(next(reader.next_epoch(batch_size=2)))
            del reader
    assert all(sources_of(batch) == expected for batch in kept)


def assert_pickles(make: Make) -> None:
    """A pickled reader goes on after what was delivered, and states are short."""
    reader = make(random_shuffle=True)
    steps = reader.next_epoch(batch_size=2)
    next(steps)
    assert len(reader.get_state()) < 2000
    other = pickle.loads(pickle.dumps(reader))
    rest = [name for step in steps for name in sources_of(step)]
    assert epoch_sources(other, 2) == rest


def assert_is_a_reader(make: Make, sources: Iterable[str]) -> None:
    """All of these properties; there must be at least six samples."""
    sources = list(sources)
    assert_every_sample_once(make, sources)
    assert_shuffles(make, sources)
    assert_reshards(make, sources)
    assert_resumes(lambda: make(random_shuffle=True), 3, epochs=2)
    assert_leaves_nothing_behind(make)
