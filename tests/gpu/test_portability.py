# SPDX-License-Identifier: Apache-2.0
"""What only a real device would show: data of host and device mixed, reads, missing types."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._engine.op import registry
from daliesque._gpu import accelerator
from daliesque._gpu.operators import WAITING, body_of
from daliesque._gpu.queues import SingleQueue
from support.case_inputs import Case
from support.cases import CASES
from support.compare import assert_close
from support.contract import call, make_batches, make_inputs
from support.gpu_compare import assert_near_cpu

ROOT = Path(__file__).parent.parent.parent
NOTES = runpy.run_path(str(ROOT / "tools" / "operator_table.py"))["NOTES"]
GPU_CASES = [case for case in CASES if body_of(registry[case.operator])]

each_case = pytest.mark.parametrize("case", GPU_CASES, ids=lambda case: case.operator)


def host_inputs(operator: str) -> frozenset[int]:
    """The inputs that are parameters, which bodies read on the CPU."""
    found = body_of(registry[operator])
    assert found is not None
    return found.host_inputs


def on_gpu(case: Case, batches: list[Any]) -> list[Any]:
    """The inputs on the gpu, but for those that are parameters."""
    parameters = host_inputs(case.operator)
    return [
        batch if index in parameters else batch.gpu().evaluate()
        for index, batch in enumerate(batches)
    ]


@each_case
def test_only_few_operators_read_on_the_host(case: Case, simulate: Any) -> None:
    journal = simulate("cuda").journal
    inputs = on_gpu(case, make_batches(case, make_inputs(case)))
    journal.reads.clear()
    with ndd.EvalMode.sync_cpu:
        call(case, inputs, device="gpu")
    assert bool(journal.reads) == (case.operator in WAITING), journal.reads


def test_reads_are_seen(simulate: Any) -> None:
    found = simulate("cuda")
    data = ndd.tensor([1, 2], device="gpu").evaluate()._data()
    journal = found.journal
    values = data.groups[0].data
    for read in (
        lambda: values[0, 0].item(),
        lambda: values.cpu(),
        lambda: torch.empty(1, 2, dtype=torch.int32).copy_(values),
        lambda: values.nonzero(),
        lambda: values[values > 1],
        data.to_host,
    ):
        with found.queues.active(data.queue):
            read()
        assert journal.reads
        journal.reads.clear()
    for forbidden in (lambda: values.numpy(), lambda: values.tolist(), lambda: np.asarray(values)):
        with pytest.raises(RuntimeError, match="not supported"):
            forbidden()
    # Those would not be allowed in the library.
    journal.operations.clear()


def test_mixtures_are_seen(simulate: Any) -> None:
    found = simulate("cuda")
    data = ndd.tensor([1, 2], device="gpu").evaluate()._data()
    values = data.groups[0].data
    with pytest.raises(RuntimeError, match="on the same device"):
        values + torch.ones(2, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="on the same device"):
        values[torch.zeros(1, dtype=torch.int64)]
    assert (values + torch.ones((), dtype=torch.int32)).device == torch.device("cuda", 0)
    with found.queues.active(data.queue):
        other = torch.ones(2, dtype=torch.int32, device=torch.device("cuda", 1))
    with pytest.raises(RuntimeError, match="on the same device"):
        values + other


def test_waiting_operators_are_documented() -> None:
    text = (ROOT / "docs" / "gpu.md").read_text()
    for name in WAITING:
        assert "waits" in NOTES[name]
        assert f"`{name}`" in text


@each_case
def test_uses_of_double_precision_are_documented(case: Case, simulate: Any) -> None:
    journal = simulate("cuda").journal
    for kind in (None, "uint8", "int32", "int64", "uint64", "float32"):
        inputs = make_inputs(case)
        if kind is not None and inputs:
            inputs[0] = [np.asarray(sample).astype(kind) for sample in inputs[0]]
        if any(sample.dtype == np.float64 for samples in inputs for sample in samples):
            continue
        try:
            with ndd.EvalMode.sync_cpu:
                call(case, on_gpu(case, make_batches(case, inputs)), device="gpu")
        except (ValueError, TypeError, ndd.DecodeError):
            # The operator does not take the type.
            continue
    used = any(kind is torch.float64 for _, kind in journal.operations)
    assert used == ("double precision" in NOTES.get(case.operator, ""))


@each_case
def test_equals_the_cpu_without_double_precision(case: Case, simulate: Any) -> None:
    simulate("mps")
    inputs = make_inputs(case)
    expected = call(case, make_batches(case, inputs))
    actual = call(case, on_gpu(case, make_batches(case, inputs)), device="gpu")
    for there, here in zip(actual, expected, strict=True):
        assert there.shape == here.shape
        pairs = [(there, here)] if isinstance(here, ndd.Tensor) else zip(there, here, strict=True)
        for x, y in pairs:
            assert_near_cpu(np.asarray(x.cpu()), np.asarray(y), case.operator)


@pytest.mark.parametrize("kind", ["int32", "uint32", "int64", "uint64"])
def test_noise_on_wide_integers_without_double_precision(kind: str, simulate: Any) -> None:
    simulate("mps")
    limits = np.iinfo(kind)
    values = np.linspace(max(limits.min, -(2**50)), min(limits.max, 2**50), 3000).astype(kind)
    here = ndd.noise.gaussian(values, stddev=20.0, rng=ndd.random.RNG(3))
    there = ndd.noise.gaussian(ndd.tensor(values, device="gpu"), stddev=20.0, rng=ndd.random.RNG(3))
    difference = np.asarray(there.cpu()).astype(np.int64) - np.asarray(here).astype(np.int64)
    assert abs(difference).max() <= 1


@pytest.mark.parametrize("kind", ["int32", "uint32", "int64", "uint64"])
def test_sums_are_clamped(kind: str) -> None:
    from daliesque._gpu.noise import _increased

    limits = np.iinfo(kind)
    edges = [limits.min, limits.min + 5, limits.max - 5, limits.max, 7, limits.max // 2 + 1]
    steps = [0, 1, -1, 6, -6, 2**40, -(2**40), 2**63 - 1, -(2**63)]
    pairs = [(edge, step) for edge in edges for step in steps]
    data = np.array([edge for edge, _ in pairs], kind)
    signed = torch.from_numpy(data.view(data.dtype.name.removeprefix("u")))
    added = torch.tensor([step for _, step in pairs], dtype=torch.int64)
    code = ndd.DType.from_fw_type(data.dtype).code
    ndd.Device("gpu")
    found = _increased(signed, added, code).numpy().view(kind).tolist()
    assert found == [min(max(a + b, limits.min), limits.max) for a, b in pairs]


def test_quiet_audio_without_double_precision(simulate: Any) -> None:
    simulate("mps")
    rng = np.random.default_rng(5)
    for begin, end, level in ((100_000, 180_000, 1e-3), (5_000, 6_000, 1e-4), (0, 190_000, 1e-3)):
        signal = rng.normal(0, 1e-6, 200_000).astype(np.float32)
        signal[begin:end] += rng.normal(0, level, end - begin).astype(np.float32)
        # Something loud at the front leaves little precision for what follows.
        signal[:300] = rng.normal(0, 1, 300)
        arguments = {"cutoff_db": -70.0, "reference_power": 1.0, "window_length": 512}
        there = ndd.nonsilent_region(ndd.tensor(signal, device="gpu"), **arguments)
        sums = np.cumsum(np.concatenate([np.zeros(512), signal.astype(np.float64) ** 2]))
        loud = np.flatnonzero((sums[512:] - sums[:-512]) / 512 >= 1e-7)
        first = max(int(loud[0]) - 511, 0)
        assert abs(int(there[0]) - first) <= 2
        assert abs(int(there[1]) - (int(loud[-1]) + 1 - first)) <= 2


def test_remainders_without_double_precision(simulate: Any) -> None:
    simulate("mps")
    numbers, divisor = np.array([7, -7, 100], np.int32), np.array([2.5, 2.5, 0.75], np.float32)
    there = ndd.tensor(numbers, device="gpu") % ndd.tensor(divisor, device="gpu")
    assert_close(np.asarray(there.cpu()), np.fmod(numbers, divisor), "float32")


def test_uint64_is_converted_without_double_precision(simulate: Any) -> None:
    simulate("mps")
    edges = [0, 1, 2**24 + 1, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 2**39, 2**63 + 2**39 + 1]
    values = np.array([*edges, 2**64 - 1, 2**64 - 2**39, 2**64 - 2**39 - 1], np.uint64)
    there = ndd.cast(ndd.tensor(values, device="gpu"), dtype=ndd.float32)
    np.testing.assert_array_equal(np.asarray(there.cpu()), values.astype(np.float32))


def test_float64_is_refused_where_it_is_not(simulate: Any) -> None:
    simulate("mps")
    with pytest.raises(ValueError, match=r"no double precision\. Cast to float32"):
        ndd.tensor([1.0], dtype=ndd.float64, device="gpu").evaluate()
    single = ndd.tensor([1.0], device="gpu")
    with pytest.raises(ValueError, match=r"^cast: float64 data cannot be on this device"):
        ndd.cast(single, dtype=ndd.float64).evaluate()


def test_devices_of_intel_may_lack_double_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    class Properties:
        def __init__(self, has_fp64: bool) -> None:
            self.has_fp64 = has_fp64

    for expected in (True, False):
        found = accelerator.Accelerator("xpu", 2, SingleQueue(None))
        kinds = [Properties(True), Properties(expected)]
        monkeypatch.setattr(torch.xpu, "get_device_properties", kinds.__getitem__)
        assert found.has_double is expected


def test_ragged_batches_are_cropped_together(simulate: Any) -> None:
    """The work does not grow with the number of samples, but for views."""
    found = simulate("cuda")
    counts = []
    for number in (4, 40):
        images = [np.full((20 + k, 30, 3), k, np.uint8) for k in range(number)]
        batch = ndd.batch(images, layout="HWC", device="gpu").evaluate()
        found.journal.work = 0
        with ndd.EvalMode.sync_cpu:
            out = ndd.crop_mirror_normalize(batch, crop=(8, 8), mirror=1, std=[2.0])
        counts.append(found.journal.work)
        np.testing.assert_array_equal(np.asarray(out.cpu().torch())[:, 0, 3, 5] * 2, range(number))
    assert counts[1] <= counts[0]


def test_tensors_of_torch_are_taken_over(simulate: Any) -> None:
    found = simulate("cuda")
    with found.queues.active(None):
        values = torch.arange(12, device=torch.device("cuda", 1)).reshape(3, 4)
    tensor = ndd.as_tensor(values)
    assert str(tensor.device) == "gpu:1"
    assert tensor.torch().data_ptr() == values.data_ptr()
    batch = ndd.as_batch(values)
    assert str(batch.device) == "gpu:1"
    assert batch.batch_size == 3
    assert batch.torch().data_ptr() == values.data_ptr()
    assert found.journal.reads == []


def test_the_current_device_is_that_of_torch(simulate: Any) -> None:
    found = simulate("cuda")
    assert str(ndd.Device("gpu")) == "gpu:0"
    found.selected = 1
    assert str(ndd.Device("gpu")) == "gpu:1"
    assert str(ndd.tensor([1]).gpu().device) == "gpu:1"
    with ndd.Device("gpu", 0):
        assert str(ndd.Device("gpu")) == "gpu:0"


def strided(array: Any, found: Any) -> torch.Tensor:
    """An array on the device, of which all elements are apart from each other."""
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    with found.queues.active(None):
        on_gpu: torch.Tensor = torch.from_numpy(wide).to(torch.device("cuda", 0))[..., 0]
    return on_gpu


@each_case
def test_strided_inputs(case: Case, simulate: Any) -> None:
    found = simulate("cuda")
    spec = registry[case.operator]
    inputs = [samples[0] for samples in make_inputs(case)]
    if spec.needs_batch or not inputs:
        return
    plain = [batch.select(0) for batch in make_batches(case, [[sample] for sample in inputs])]
    apart = [
        value
        if index in host_inputs(case.operator)
        else ndd.as_tensor(strided(sample, found), layout=value.layout)
        for index, (sample, value) in enumerate(zip(inputs, plain, strict=True))
    ]
    with ndd.EvalMode.sync_cpu:
        for there, here in zip(call(case, apart, device="gpu"), call(case, plain), strict=True):
            assert_near_cpu(np.asarray(there.cpu()), np.asarray(here), case.operator)
        for value, sample in zip(apart, inputs, strict=True):
            np.testing.assert_array_equal(np.asarray(value.cpu()), sample)
