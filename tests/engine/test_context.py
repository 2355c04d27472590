# SPDX-License-Identifier: Apache-2.0
"""Contexts, thread pools, devices and streams."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine import threads


def test_contexts_nest() -> None:
    outer, inner = ndd.EvalContext(num_threads=1), ndd.EvalContext(num_threads=3)
    default = ndd.EvalContext.current()
    assert default is ndd.EvalContext.default()
    with outer:
        assert ndd.EvalContext.current() is outer
        with inner, outer:
            assert ndd.EvalContext.current() is outer
        assert ndd.EvalContext.current() is outer
    assert ndd.EvalContext.current() is default
    assert (outer.num_threads, inner.num_threads) == (1, 3)


def test_default_context_is_per_thread() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(ndd.EvalContext.default()))
    thread.start()
    thread.join()
    assert found[0] is not ndd.EvalContext.default()


def test_context_is_refused_to_a_second_thread() -> None:
    context = ndd.EvalContext()
    errors: list[Exception] = []

    def enter() -> None:
        try:
            with context:
                pass
        except RuntimeError as error:
            errors.append(error)

    with context:
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
    assert "two threads" in str(errors[0])
    enter()
    assert len(errors) == 1


def test_leaving_a_context_finishes_its_calls() -> None:
    with ndd.EvalContext(num_threads=2):
        result = ndd.tensor(np.zeros(1 << 20, np.uint8)) + 1
    assert result._pending is None or result._pending.done


def test_pool_arguments() -> None:
    pool = ndd.ThreadPool(2)
    context = ndd.EvalContext(thread_pool=pool)
    assert context.thread_pool is pool
    assert context.num_threads == 2
    with pytest.raises(ValueError, match="not both"):
        ndd.EvalContext(thread_pool=pool, num_threads=2)
    with pytest.raises(RuntimeError, match="no accelerator"):
        ndd.EvalContext(device_id=0)
    assert context.device_id is None
    assert context.cuda_stream is None


@pytest.mark.parametrize("count", [0, -1, 10**6])
def test_impossible_thread_counts(count: int) -> None:
    with pytest.raises(ValueError, match="number of threads"):
        ndd.set_num_threads(count)
    with pytest.raises(ValueError, match="number of threads"):
        ndd.ThreadPool(count)
    with pytest.raises(TypeError, match="integer"):
        ndd.set_num_threads(2.0)  # type: ignore[arg-type]


def test_thread_count_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("DALIESQUE_NUM_THREADS", "DALI_NUM_THREADS"):
        monkeypatch.delenv(variable, raising=False)
    assert ndd.get_num_threads() == threads.usable_cpus()
    monkeypatch.setenv("DALI_NUM_THREADS", "5")
    assert ndd.get_num_threads() == 5
    monkeypatch.setenv("DALIESQUE_NUM_THREADS", "3")
    assert ndd.get_num_threads() == 3
    ndd.set_num_threads(2)
    try:
        assert ndd.get_num_threads() == 2
        assert ndd.EvalContext.current().num_threads == 2
    finally:
        ndd.set_num_threads(None)
    assert ndd.get_num_threads() == 3
    monkeypatch.setenv("DALIESQUE_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="DALIESQUE_NUM_THREADS='many'"):
        ndd.get_num_threads()


def test_contexts_do_not_leak() -> None:
    before = threading.active_count()
    references = []
    for _ in range(20):
        context = ndd.EvalContext(num_threads=2)
        with context:
            (ndd.tensor(np.zeros(4 << 20, np.uint8)) + 1).evaluate()
        references.append(weakref.ref(context))
        del context
    gc.collect()
    assert all(reference() is None for reference in references)
    assert threading.active_count() <= before + 1


def test_device_names_and_current_device() -> None:
    assert ndd.Device.current() == ndd.Device("cpu")
    assert str(ndd.Device.CPU) == "cpu"
    assert repr(ndd.Device.CPU) == "Device(device_type='cpu')"
    assert ndd.device(None) is None
    assert ndd.device(ndd.Device.CPU) is ndd.Device.CPU
    with ndd.Device("cpu") as device:
        assert ndd.Device.current() is device
    assert ndd.Device.type_from_dlpack(1) == "cpu"
    assert ndd.Device.from_dlpack(np.zeros(1)) == ndd.Device.CPU
    assert ndd.Device.default_device_id("cpu") is None
    assert len({ndd.Device("cpu"), ndd.Device.CPU}) == 1
    assert ndd.Device.CPU != "cpu"


def test_torch_device() -> None:
    import torch

    assert ndd.device(torch.device("cpu")) == ndd.Device.CPU


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("mixed", '"gpu"'),
        ("tpu", "invalid device type"),
        ("gpu:x", "invalid name"),
        ("cpu:0", "no number"),
    ],
)
def test_bad_devices(name: str, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        ndd.Device(name)


def test_gpu_is_refused_at_the_call() -> None:
    for make in (
        lambda: ndd.Device("gpu"),
        lambda: ndd.Device("cuda:1"),
        lambda: ndd.device("gpu", 0),
        lambda: ndd.copy(ndd.tensor(1), device="gpu"),
        lambda: ndd.stream(),
        lambda: ndd.Stream(1234),
        lambda: ndd.set_current_stream(1234),
        lambda: ndd.set_default_stream(1234),
    ):
        with pytest.raises(RuntimeError, match="no accelerator"):
            make()
    with pytest.raises(TypeError, match="cannot make a device of 3"):
        ndd.device(3)


def test_streams_without_an_accelerator() -> None:
    assert ndd.get_current_stream() is None
    assert ndd.get_default_stream() is None
    ndd.set_current_stream(None)
    ndd.set_default_stream(None)


@pytest.mark.pool
def test_memory_is_reused_but_never_while_visible() -> None:
    ndd.memory(release=True)
    first = ndd.tensor(np.zeros(1 << 20, np.uint8))
    view = np.asarray(first)
    address = view.ctypes.data
    del first
    second = ndd.tensor(np.ones(1 << 20, np.uint8))
    assert np.asarray(second).ctypes.data != address
    assert view.max() == 0
    del view
    third = ndd.tensor(np.full(1 << 20, 2, np.uint8))
    assert np.asarray(third).ctypes.data == address
    assert ndd.memory().used_buffers >= 2
    del second, third
    assert ndd.memory(release=True).cached_bytes == 0
    assert "MB in" in str(ndd.memory())


def test_memory_limit() -> None:
    limit = ndd.memory().limit_bytes
    try:
        assert ndd.memory(limit=1 << 20).limit_bytes == 1 << 20
        for _ in range(4):
            ndd.tensor(np.zeros(3 << 20, np.uint8))
        assert ndd.memory().cached_bytes <= 1 << 20
    finally:
        ndd.memory(limit=limit)
    with pytest.raises(ValueError, match="negative"):
        ndd.memory(limit=-1)


def test_buffers_of_similar_size_are_reused() -> None:
    """Batches that differ a little in size do not collect buffers of every size."""
    ndd.memory(release=True)
    for size in range(1_400_000, 1_000_000, -10_000):
        ndd.copy(np.zeros(size, np.uint8)).evaluate()
    assert ndd.memory().cached_buffers <= 2
    ndd.memory(release=True)


def test_cached_results_live_as_long_as_their_object() -> None:
    class Call:
        pass

    context, other = ndd.EvalContext(), ndd.EvalContext()
    call, results = Call(), Call()
    alive = weakref.ref(results)
    assert context.cached_results(call) is None
    context.cache_results(call, results)
    assert context.cached_results(call) is results
    assert other.cached_results(call) is None
    del results
    assert alive() is not None
    del call
    gc.collect()
    assert alive() is None


def test_a_thread_that_ends_with_calls_in_its_queue_leaves_nothing() -> None:
    contexts: list[weakref.ref[ndd.EvalContext]] = []

    def work() -> None:
        images = ndd.batch([np.zeros((4, 4, 3), np.uint8)] * 2, layout="HWC")
        for _ in range(10):
            ndd.flip(images)
        contexts.append(weakref.ref(ndd.EvalContext.current()))

    for _ in range(3):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    gc.collect()
    assert [context() for context in contexts] == [None] * 3
