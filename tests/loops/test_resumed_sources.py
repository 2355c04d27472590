# SPDX-License-Identifier: Apache-2.0
"""Loops over sources and data sets of the user, with functions of the user, resume exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import daliesque as ndd


@ndd.operator(dtype=ndd.float64)
def jitter(x: np.ndarray, *, scale: float, rng: np.random.Generator) -> Any:
    return x + scale * rng.random()


def test_sources_and_random_functions() -> None:
    def loop(checkpoint: ndd.checkpoint.Checkpoint) -> Iterator[Any]:
        source = ndd.ExternalSource((number, -number) for number in range(5))
        other = ndd.ExternalSource([10, 20, 30], cycle="quiet")
        pairs = ndd.ExternalSource([(1, 2), (3, 4)], 2, cycle="quiet")
        rng = ndd.random.RNG(seed=3)
        for name, part in (("source", source), ("other", other), ("pairs", pairs), ("rng", rng)):
            checkpoint.register(part, name)
        while True:
            try:
                items = source(batch_size=3)
            except StopIteration:
                return
            first, second = pairs(batch_size=3)
            yield items, jitter(other(batch_size=3), scale=first + second, rng=rng)

    ndd.testing.assert_resumes(loop, fresh_process=False)


def test_captured_loops() -> None:
    def loop(checkpoint: ndd.checkpoint.Checkpoint) -> Iterator[Any]:
        source = ndd.ExternalSource([ndd.batch([n, n + 1]) for n in range(6)])
        checkpoint.register(source, "source")
        for batch in source.captured(batch_size=2):
            yield ndd.map(lambda x: x * 2, batch + 1)

    ndd.testing.assert_resumes(loop, fresh_process=False)


def test_python_readers() -> None:
    def loop(checkpoint: ndd.checkpoint.Checkpoint) -> Iterator[Any]:
        data = [(np.full(2, number), number) for number in range(10)]
        reader = ndd.readers.Python(data, random_shuffle=True, num_threads=2)
        rng = ndd.random.RNG(seed=1)
        checkpoint.register(reader, "reader")
        checkpoint.register(rng, "rng")
        for arrays, numbers in reader.next_epoch(batch_size=2):
            yield jitter(arrays, scale=ndd.cast(numbers, dtype=ndd.float32), rng=rng), numbers

    ndd.testing.assert_resumes(loop, fresh_process=False)
