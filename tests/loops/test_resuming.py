# SPDX-License-Identifier: Apache-2.0
"""testing.assert_resumes accepts loops that can be resumed, and no others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest

import daliesque as ndd
from support import loops
from support.reader_checks import Count


def test_in_a_fresh_process() -> None:
    ndd.testing.assert_resumes(loops.training)


@pytest.mark.parametrize(
    "make_loop", [loops.training, loops.of_the_current_checkpoint, loops.loader]
)
def test_with_fresh_objects(make_loop: Callable[..., Any]) -> None:
    ndd.testing.assert_resumes(make_loop, fresh_process=False)


@pytest.mark.parametrize("last_batch", ["fill", "partial", "drop", "pad"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"random_shuffle": True, "initial_fill": 5},
        {"num_shards": 3, "shard_id": 1},
        {"shuffle_after_epoch": True},
        {"bad": [3, 7], "on_error": "skip"},
        {"bad": [0, 7], "on_error": "replace"},
    ],
)
def test_last_batches(last_batch: Any, options: dict[str, Any]) -> None:
    def loop(checkpoint: ndd.checkpoint.Checkpoint) -> Any:
        reader, epochs = Count(14, **options), loops.Epochs(3)
        checkpoint.register(reader, "reader")
        checkpoint.register(epochs, "epochs")
        for _ in epochs:
            yield from reader.next_epoch(batch_size=4, last_batch=last_batch)

    ndd.testing.assert_resumes(loop, fresh_process=False)


def test_capture_mode() -> None:
    def loop(checkpoint: ndd.checkpoint.Checkpoint) -> Any:
        reader, rng = loops.Pictures(random_shuffle=True), ndd.random.RNG(seed=1)
        checkpoint.register(reader, "reader")
        checkpoint.register(rng, "rng")
        for images, labels in reader.next_epoch(batch_size=3, capture=True):
            yield loops.augmented(images, rng), labels

    ndd.testing.assert_resumes(loop, fresh_process=False)


@pytest.mark.parametrize("make_source", [lambda: range(6), loops.Counting])
def test_external_sources(make_source: Callable[[], Any]) -> None:
    def loop(checkpoint: ndd.checkpoint.Checkpoint) -> Any:
        source = ndd.ExternalSource(make_source())
        checkpoint.register(source, "source")
        with contextlib.suppress(StopIteration):
            while True:
                yield source()

    ndd.testing.assert_resumes(loop, fresh_process=False)


def test_some_steps_of_a_loop_that_does_not_end() -> None:
    ndd.testing.assert_resumes(loops.endless, steps=5, fresh_process=False)


@pytest.mark.parametrize(
    ("make_loop", "message"),
    [
        (
            loops.without_generator,
            r"resumed after 1 step, step 1 differs in \['images'\]\[0\]: without interruption "
            r"uint8\[4, 4, 3\] .*; resumed uint8\[4, 4, 3\]",
        ),
        (loops.forgetful, "resumed after 3 steps, the loop has 3 more steps instead of 1"),
    ],
)
def test_loops_that_do_not_resume(make_loop: Callable[..., Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        ndd.testing.assert_resumes(make_loop, fresh_process=False)


def test_what_is_no_such_loop() -> None:
    with pytest.raises(ValueError, match="the loop has no state"):
        ndd.testing.assert_resumes(loops.with_state_only, fresh_process=False)
    with pytest.raises(ValueError, match="at least one step"):
        ndd.testing.assert_resumes(loops.endless, steps=0, fresh_process=False)
    with pytest.raises(TypeError, match=r"must be a function of a module.*fresh_process=False"):
        ndd.testing.assert_resumes(lambda: iter([1]))


def test_errors_of_the_loop_come_out() -> None:
    def failing() -> Any:
        yield 1
        msg = "a failure of the loop"
        raise LookupError(msg)

    with pytest.raises(LookupError, match="a failure of the loop"):
        ndd.testing.assert_resumes(failing, fresh_process=False)
