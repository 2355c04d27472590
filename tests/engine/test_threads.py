# SPDX-License-Identifier: Apache-2.0
"""Python functions on several threads, and errors about single samples."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

import daliesque as ndd
from daliesque import _kernels
from daliesque._engine.errors import SampleError
from daliesque._engine.threads import run_on_threads


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """Runs with kernels using so many threads."""
    previous = _kernels.exchange_current_pool(_kernels.ThreadPool(request.param))
    yield request.param
    _kernels.exchange_current_pool(previous)


def test_each_item_is_processed_once(threads: int) -> None:
    seen: list[int] = []
    run_on_threads(seen.append, range(50))
    assert sorted(seen) == list(range(50))
    assert threads in (1, 3)


def test_several_threads_work_at_once(threads: int) -> None:
    barrier = threading.Barrier(threads, timeout=10)
    run_on_threads(lambda _: barrier.wait(), range(threads))


@pytest.mark.usefixtures("threads")
def test_first_failure_comes_out() -> None:
    def fail(item: int) -> None:
        if item in (4, 2, 7):
            raise SampleError(item, "is bad")

    with pytest.raises(SampleError) as caught:
        run_on_threads(fail, range(9))
    assert caught.value.index == 2


def test_no_tasks_start_no_work() -> None:
    run_on_threads(pytest.fail, [])


def test_sample_errors_name_operator_sample_and_source() -> None:
    error = SampleError(1, "is bad", ndd.DecodeError)
    plain = error.explained("decoders.image", None)
    assert type(plain) is ndd.DecodeError
    assert str(plain) == "decoders.image: sample 1 is bad."
    named = error.explained("decoders.image", ("a.jpg", "b.jpg"))
    assert str(named) == 'decoders.image: sample 1 ("b.jpg") is bad.'
    # A source that is not known for this sample is left out.
    assert str(error.explained("x", ("a", None))) == "x: sample 1 is bad."
