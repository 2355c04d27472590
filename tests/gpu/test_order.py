# SPDX-License-Identifier: Apache-2.0
"""The order of work in several queues, on a machine that does it in any order that is allowed."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._engine import devices
from daliesque._engine.op import registry
from daliesque._gpu.operators import body_of
from support.case_inputs import Case
from support.cases import CASES
from support.checked import CheckedAccelerator, Unordered
from support.compare import assert_close
from support.contract import arrays, assert_outputs, call, make_batches, make_inputs
from support.gpu_compare import assert_near_cpu
from support.image_makers import as_samples, jpeg

GPU_CASES = [case for case in CASES if body_of(registry[case.operator]) is not None]
IMAGES = np.random.default_rng(3).integers(0, 256, (3, 20, 30, 3), np.uint8)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[CheckedAccelerator]:
    found = CheckedAccelerator(seed=11)
    monkeypatch.setattr(devices, "_found", found)
    for backend in (torch.cuda, torch.xpu):
        monkeypatch.setattr(backend, "_lazy_init", lambda: None)
    yield found
    ndd.EvalContext.current().evaluate_all()
    ndd.set_default_stream(None)
    gc.collect()
    found.machine.check()


def test_missing_order_is_found(machine: CheckedAccelerator) -> None:
    """The machine itself: what a program must not do."""
    queues = machine.queues
    first, second = queues.make(0), queues.make(0)
    device = torch.device("cuda", 0)
    with queues.active(first):
        values = torch.ones(4, dtype=torch.float32, device=device)
    with queues.active(second), pytest.raises(Unordered, match="reads memory that queue1"):
        values + 1
    queues.wait_for(second, queues.mark(first))
    with queues.active(second):
        total = values + 1
    with queues.active(first), pytest.raises(Unordered, match="writes memory that queue2"):
        values.zero_()
    # Without a word to the allocator, memory must not go away before it is known to be done.
    del values
    gc.collect()
    with pytest.raises(Unordered, match="freed while queue2"):
        machine.machine.check()
    queues.synchronize(second)
    assert total.inner.tolist() == [2.0] * 4  # type: ignore[attr-defined]


def test_nothing_is_done_at_once(machine: CheckedAccelerator) -> None:
    queues = machine.queues
    queue = queues.make(0)
    with queues.active(queue):
        values = torch.full((4,), 7, dtype=torch.int32, device=torch.device("cuda", 0))
    assert values.inner.tolist() != [7] * 4  # type: ignore[attr-defined]
    queues.synchronize(queue)
    assert values.inner.tolist() == [7] * 4  # type: ignore[attr-defined]


def test_pinned_memory_must_stay_until_it_is_copied(machine: CheckedAccelerator) -> None:
    queue = machine.queues.make(0)
    buffer = machine.staging(4)
    buffer.zero_()
    with machine.queues.active(queue):
        machine.upload(buffer, 0, queue)
    buffer.fill_(3)
    with pytest.raises(Unordered, match="changed before the copy"):
        ndd.EvalContext.current() and [
            machine.queues.synchronize(part) for part in machine.machine.queues
        ]


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("case", GPU_CASES, ids=lambda case: case.operator)
def test_every_operator_in_queues_of_its_own(case: Case) -> None:
    """Inputs are made in one queue, the operator runs in another, and a third reads."""
    inputs = make_inputs(case)
    batches = make_batches(case, inputs)
    expected = arrays(call(case, batches))
    made, run, read = (ndd.stream(device_id=0) for _ in range(3))
    with ndd.EvalContext(device_id=0, cuda_stream=made):
        there = [batch.gpu() for batch in batches]
    with ndd.EvalContext(device_id=0, cuda_stream=run):
        results = call(case, there, device="gpu")
    del there
    with ndd.EvalContext(device_id=0, cuda_stream=read):
        found = arrays(results)
    assert_outputs(found, expected, case.operator, assert_near_cpu)


@pytest.mark.parametrize("mode", [ndd.EvalMode.sync_cpu, ndd.EvalMode.eager, ndd.EvalMode.deferred])
@pytest.mark.parametrize("seed", range(5))
def test_training_loop(mode: ndd.EvalMode, seed: int, machine: CheckedAccelerator) -> None:
    """Decoding, augmentation and the user's own work, in torch's queue, step by step."""
    machine.machine.random.seed(seed)
    encoded = ndd.batch(as_samples([jpeg(image) for image in IMAGES]))
    plain = ndd.decoders.image(encoded)
    device = torch.device("cuda", 0)
    with machine.queues.active(machine.machine.defaults[0]):
        weights = torch.full((3, 8, 8), 2.0, dtype=torch.float32, device=device)
    for step in range(4):
        with mode:
            images = ndd.decoders.image(encoded, device="gpu")
            small = ndd.resize(ndd.flip(images, horizontal=step % 2), size=(8, 8))
            batch = ndd.crop_mirror_normalize(small, mean=[10.0], std=[50.0]).torch()
        with machine.queues.active(machine.machine.defaults[0]):
            out = batch * weights
            # As many do: the memory is theirs now.
            batch.zero_()
            found = out.cpu()
        expected = ndd.resize(ndd.flip(plain, horizontal=step % 2), size=(8, 8))
        expected = ndd.crop_mirror_normalize(expected, mean=[10.0], std=[50.0])
        assert_close(found.numpy(), 2 * np.asarray(expected.torch()), "normalized pixels")


@pytest.mark.parametrize("mode", [ndd.EvalMode.eager, ndd.EvalMode.deferred])
@pytest.mark.parametrize("seed", range(5))
def test_static_buffer(mode: ndd.EvalMode, seed: int, machine: CheckedAccelerator) -> None:
    """A buffer of the user that is written again in each step, as for CUDA graphs."""
    machine.machine.random.seed(seed)
    buffer = machine.mine(IMAGES)
    views = [ndd.as_batch(buffer, layout="HWC"), ndd.as_tensor(buffer)[1:]]
    results = []
    with mode:
        for step in range(4):
            with machine.queues.active(machine.machine.defaults[0]):
                buffer.fill_(step)
            results.append([ndd.cast(view, dtype=ndd.float32) * 2 for view in views])
            with machine.queues.active(machine.machine.defaults[0]):
                buffer.fill_(99)
        for step, parts in enumerate(results):
            for part in parts:
                data = part.cpu()
                values = data.torch() if isinstance(data, ndd.Batch) else data
                assert set(np.asarray(values).ravel().tolist()) == {2.0 * step}


@pytest.mark.parametrize("seed", range(5))
def test_exported_memory_is_shared(seed: int, machine: CheckedAccelerator) -> None:
    """What the user writes into a tensor that was exported is seen by later calls, in order."""
    machine.machine.random.seed(seed)
    batch = ndd.batch(IMAGES, layout="HWC", device="gpu")
    shared = batch.torch()
    for step in range(4):
        with machine.queues.active(machine.machine.defaults[0]):
            shared.fill_(step)
        later = batch + 1
        with machine.queues.active(machine.machine.defaults[0]):
            shared.fill_(77)
        assert set(np.asarray(later.cpu().torch()).ravel().tolist()) == {step + 1}


@pytest.mark.parametrize("mode", [ndd.EvalMode.sync_cpu, ndd.EvalMode.eager])
def test_uploads_do_not_wait_for_work(mode: ndd.EvalMode, machine: CheckedAccelerator) -> None:
    """The next batch is copied while the device works on the one before."""
    encoded = ndd.batch(as_samples([jpeg(image) for image in IMAGES]))

    def step(begin: int) -> ndd.Batch:
        images = ndd.decoders.image(encoded, device="gpu")
        return (ndd.resize(images, size=(8, 8)) * 0 + begin).evaluate()

    with mode:
        first = step(1)
        log, known = machine.machine.log, len(machine.machine.log)
        second = step(2)
    (upload,) = [line for line in log[known:] if f"upload of {IMAGES.nbytes} bytes" in line]
    assert "from pinned memory" in upload
    name = upload.partition(":")[0]
    assert not any(line.startswith(f"{name} waits") for line in log)
    queues = {queue.name: queue for queue in machine.machine.queues}
    copies = queues.pop(name)
    # No work is known to be done before the copies, and they can be made before all work.
    assert not any(other in copies.clock for other in queues)
    while copies.tasks:
        after, task = copies.tasks.popleft()
        assert after is None
        assert task is not None
        task()
        copies.done += 1
    waiting = [line.partition(" ")[0] for line in log if line.endswith(f"waits for {name}")]
    (work,) = {queues[other] for other in waiting}
    assert (work.done, len(waiting)) == (0, 2)
    for number, batch in enumerate((first, second), 1):
        assert set(np.asarray(batch.cpu().torch()).ravel().tolist()) == {number}


@pytest.mark.usefixtures("machine")
def test_other_devices() -> None:
    first = ndd.batch(IMAGES, layout="HWC", device="gpu:0")
    second = (first + 1).gpu(1)
    back = (second * 2).gpu(0) - 1
    np.testing.assert_array_equal(back.cpu().torch(), (IMAGES.astype(np.int32) + 1) * 2 - 1)


def test_views_are_read_in_any_queue(machine: CheckedAccelerator) -> None:
    with ndd.EvalContext(device_id=0, cuda_stream=ndd.stream(device_id=0)):
        batch = ndd.batch([np.full((k + 1, 3), k, np.int32) for k in range(5)], device="gpu") + 1
    parts = [batch.select([3, 1]), batch.slice[::-1], batch.select(4), ndd.batch([batch.select(2)])]
    with ndd.EvalContext(device_id=0, cuda_stream=ndd.stream(device_id=0)):
        sums = [part + 0 for part in parts]
        padded = batch.torch(pad=True)
    assert [np.asarray(part).max() for part in sums[0].cpu()] == [4, 2]
    assert np.asarray(sums[2].cpu()).max() == 5
    with machine.queues.active(machine.machine.defaults[0]):
        assert padded.cpu().numpy().shape == (5, 5, 3)
