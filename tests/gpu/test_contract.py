# SPDX-License-Identifier: Apache-2.0
"""What every operator that runs on the gpu promises there: the contract, and the CPU's results."""

from __future__ import annotations

import re

import pytest

import daliesque as ndd
from daliesque._engine.op import registry
from daliesque._gpu.operators import body_of
from support.case_inputs import Case
from support.cases import CASES
from support.contract import (
    Outputs,
    arrays,
    assert_inputs_stay_unchanged,
    assert_modes_agree,
    assert_outputs,
    assert_samples_are_independent,
    assert_takes_empty_batches,
    assert_tensor_equals_batch_of_one,
    call,
    make_batches,
    make_inputs,
)
from support.gpu_compare import assert_near_cpu, call_on_gpu
from support.metadata import assert_announced

GPU_CASES = [case for case in CASES if body_of(registry[case.operator]) is not None]
MODES = [ndd.EvalMode.sync_full, ndd.EvalMode.eager, ndd.EvalMode.deferred]

pytestmark = pytest.mark.usefixtures("any_device")
each_case = pytest.mark.parametrize("case", GPU_CASES, ids=lambda case: case.operator)


def assert_close(actual: Outputs, expected: Outputs, case: Case) -> None:
    assert_outputs(actual, expected, case.operator, assert_near_cpu)


@each_case
def test_equals_the_cpu(case: Case) -> None:
    inputs = make_inputs(case)
    expected = call(case, make_batches(case, inputs))
    actual = call_on_gpu(case, make_batches(case, inputs))
    for there, here in zip(actual, expected, strict=True):
        assert there.dtype == here.dtype
        assert there.layout == here.layout
        assert there.shape == here.shape
    assert_close(arrays(actual), arrays(expected), case)


@each_case
def test_equals_the_cpu_on_a_dense_batch(case: Case) -> None:
    inputs = [[samples[0], samples[0], samples[0]] for samples in make_inputs(case)]
    expected = call(case, make_batches(case, inputs))
    assert_close(arrays(call_on_gpu(case, make_batches(case, inputs))), arrays(expected), case)


@each_case
def test_pending_results_say_what_they_are(case: Case) -> None:
    batches = make_batches(case, make_inputs(case))
    with ndd.EvalMode.deferred:
        assert_announced(case, call_on_gpu(case, batches))


@each_case
def test_modes_agree(case: Case) -> None:
    assert_modes_agree(call_on_gpu, case, MODES)


@each_case
def test_tensor_equals_batch_of_one(case: Case) -> None:
    assert_tensor_equals_batch_of_one(call_on_gpu, case)


@each_case
def test_samples_are_independent(case: Case) -> None:
    # Libraries choose how to multiply matrices by their number.
    assert_samples_are_independent(call_on_gpu, case, assert_near_cpu)


@each_case
def test_empty_batch(case: Case) -> None:
    assert_takes_empty_batches(call_on_gpu, case)


@each_case
def test_inputs_stay_unchanged(case: Case) -> None:
    batches = [batch.gpu() for batch in make_batches(case, make_inputs(case))]
    assert_inputs_stay_unchanged(call_on_gpu, case, batches)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if body_of(registry[case.operator]) is None],
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
        assert_close(
            arrays(call_on_gpu(case, batches, **{name: ndd.batch(values)})), expected, case
        )


@each_case
def test_inputs_are_moved(case: Case) -> None:
    """Inputs in CPU memory give the same; the other way round, too."""
    inputs = make_inputs(case)
    if not inputs:
        return
    batches = make_batches(case, inputs)
    assert_outputs(arrays(call(case, batches, device="gpu")), arrays(call_on_gpu(case, batches)))
    there = [batch.gpu() for batch in batches]
    assert_outputs(arrays(call(case, there, device="cpu")), arrays(call(case, batches)))
