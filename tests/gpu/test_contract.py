# SPDX-License-Identifier: Apache-2.0
"""What every operator that runs on the gpu promises there: the contract, and the CPU's results."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.op import registry
from support.cases import CASES, Array, Case
from support.gpu_compare import assert_near_cpu
from test_contract import call, make_batches, make_inputs

importlib.import_module("daliesque._gpu")

GPU_CASES = [case for case in CASES if "gpu" in registry[case.operator].bodies]
MODES = [ndd.EvalMode.sync_full, ndd.EvalMode.eager, ndd.EvalMode.deferred]

pytestmark = pytest.mark.usefixtures("either_device")
each_case = pytest.mark.parametrize("case", GPU_CASES, ids=lambda case: case.operator)


def on_gpu(case: Case, batches: list[Any], **changes: Any) -> tuple[Any, ...]:
    """Call an operator there, and make sure that its results are."""
    results = call(case, [batch.gpu() for batch in batches], device="gpu", **changes)
    assert all(part.device == ndd.Device("gpu", 0) for part in results)
    return results


def arrays(results: tuple[Any, ...]) -> list[list[Array]]:
    return [
        [np.array(t.cpu()) for t in (part if isinstance(part, ndd.Batch) else [part])]
        for part in results
    ]


def assert_same(first: list[list[Array]], second: list[list[Array]]) -> None:
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)


def assert_close(actual: list[list[Array]], expected: list[list[Array]], case: Case) -> None:
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_near_cpu(x, y, case.operator)


@each_case
def test_equals_the_cpu(case: Case) -> None:
    inputs = make_inputs(case)
    expected = call(case, make_batches(case, inputs))
    actual = on_gpu(case, make_batches(case, inputs))
    for there, here in zip(actual, expected, strict=True):
        assert there.dtype == here.dtype
        assert there.layout == here.layout
        assert there.shape == here.shape
    assert_close(arrays(actual), arrays(expected), case)


@each_case
def test_equals_the_cpu_on_a_dense_batch(case: Case) -> None:
    inputs = [[samples[0], samples[0], samples[0]] for samples in make_inputs(case)]
    expected = call(case, make_batches(case, inputs))
    assert_close(arrays(on_gpu(case, make_batches(case, inputs))), arrays(expected), case)


@each_case
def test_modes_agree(case: Case) -> None:
    inputs = make_inputs(case)
    results = []
    for mode in MODES:
        with mode:
            results.append(arrays(on_gpu(case, make_batches(case, inputs))))
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])


@each_case
def test_tensor_equals_batch_of_one(case: Case) -> None:
    inputs = [samples[:1] for samples in make_inputs(case)]
    if registry[case.operator].needs_batch:
        return
    if not inputs:
        single = on_gpu(case, [], batch_size=None)
        batch = on_gpu(case, [], batch_size=1)
    else:
        batches = make_batches(case, inputs)
        single = on_gpu(case, [batch.select(0) for batch in batches])
        batch = on_gpu(case, batches)
    assert all(isinstance(part, ndd.Tensor) for part in single)
    assert all(isinstance(part, ndd.Batch) and part.batch_size == 1 for part in batch)
    assert_same(arrays(single), arrays(batch))
    for one, many in zip(single, batch, strict=True):
        assert one.layout == many.layout
        assert one.ndim == many.ndim


@each_case
def test_samples_are_independent(case: Case) -> None:
    inputs = make_inputs(case)
    if case.random or case.depends_on_batch or not inputs:
        return
    batches = make_batches(case, inputs)
    together = arrays(on_gpu(case, batches))
    for index in range(len(inputs[0])):
        alone = arrays(on_gpu(case, [batch.select([index]) for batch in batches]))
        # Libraries choose how to multiply matrices by their number.
        assert_close(alone, [[part[index]] for part in together], case)


@each_case
def test_empty_batch(case: Case) -> None:
    inputs = make_inputs(case)
    if inputs:
        results = on_gpu(case, [batch.select([]) for batch in make_batches(case, inputs)])
    else:
        results = on_gpu(case, [], batch_size=0)
    full = on_gpu(case, make_batches(case, inputs))
    for part, whole in zip(results, full, strict=True):
        assert part.batch_size == 0
        assert part.shape == []
        assert part.dtype == whole.dtype


@each_case
def test_inputs_stay_unchanged(case: Case) -> None:
    inputs = make_inputs(case)
    batches = [batch.gpu() for batch in make_batches(case, inputs)]
    before = arrays(tuple(batches))
    for part in on_gpu(case, batches):
        part.evaluate()
    assert_same(arrays(tuple(batches)), before)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if "gpu" not in registry[case.operator].bodies],
    ids=lambda case: case.operator,
)
def test_operators_without_gpu_code_say_so(case: Case) -> None:
    batches = make_batches(case, make_inputs(case))
    text = rf"^{re.escape(case.operator)}: .*gpu:0.*\.cpu\(\)"
    with pytest.raises(ValueError, match=text):
        call(case, batches, device="gpu")
    if batches:
        with pytest.raises(ValueError, match=text):
            call(case, [batch.gpu() for batch in batches])


@pytest.mark.parametrize(
    "case", [case for case in GPU_CASES if case.per_sample], ids=lambda case: case.operator
)
def test_per_sample_arguments(case: Case) -> None:
    inputs = make_inputs(case)
    for name, values in case.per_sample.items():
        batches = make_batches(case, inputs)
        expected = arrays(call(case, batches, **{name: ndd.batch(values)}))
        assert_close(arrays(on_gpu(case, batches, **{name: ndd.batch(values)})), expected, case)


@each_case
def test_inputs_are_moved(case: Case) -> None:
    """Inputs in CPU memory give the same; the other way round, too."""
    inputs = make_inputs(case)
    if not inputs:
        return
    batches = make_batches(case, inputs)
    assert_same(arrays(call(case, batches, device="gpu")), arrays(on_gpu(case, batches)))
    there = [batch.gpu() for batch in batches]
    assert_same(arrays(call(case, there, device="cpu")), arrays(call(case, batches)))
