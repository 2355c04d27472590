# SPDX-License-Identifier: Apache-2.0
"""What every operator promises, whatever it computes."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.op import registry
from support.case_inputs import Case
from support.cases import CASES
from support.contract import (
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
from support.instruction_sets import use_instructions

MODES = [ndd.EvalMode.sync_cpu, ndd.EvalMode.eager, ndd.EvalMode.deferred]


pytestmark = pytest.mark.usefixtures("in_empty_folder")


each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.operator)


def test_every_operator_has_a_case() -> None:
    assert set(registry) == {case.operator for case in CASES}


@each_case
def test_modes_agree(case: Case) -> None:
    assert_modes_agree(call, case, MODES)


@each_case
def test_thread_counts_agree(case: Case) -> None:
    inputs = make_inputs(case)
    results = []
    for threads in (1, 3):
        with ndd.EvalContext(num_threads=threads):
            results.append(arrays(call(case, make_batches(case, inputs))))
    assert_outputs(results[0], results[1])


@each_case
def test_simd_and_portable_code_agree(case: Case) -> None:
    inputs = make_inputs(case)
    fast = arrays(call(case, make_batches(case, inputs)))
    with use_instructions("portable"):
        portable = arrays(call(case, make_batches(case, inputs)))
    assert_outputs(fast, portable)


@each_case
def test_tensor_equals_batch_of_one(case: Case) -> None:
    assert_tensor_equals_batch_of_one(call, case)


@each_case
def test_samples_are_independent(case: Case) -> None:
    assert_samples_are_independent(call, case)


@each_case
def test_empty_batch(case: Case) -> None:
    assert_takes_empty_batches(call, case)


@each_case
def test_strided_and_readonly_inputs(case: Case) -> None:
    inputs = make_inputs(case)
    expected = arrays(call(case, make_batches(case, inputs)))
    strided = []
    for samples in inputs:
        views = []
        for sample in samples:
            wide = np.repeat(sample, 2, axis=-1) if sample.ndim else sample.copy()
            view = wide[..., ::2] if sample.ndim else wide
            view.flags.writeable = False
            views.append(view)
        strided.append(views)
    batches = make_batches(case, strided, ndd.as_batch)
    assert_outputs(arrays(call(case, batches)), expected)


@each_case
def test_inputs_stay_unchanged(case: Case) -> None:
    assert_inputs_stay_unchanged(call, case, make_batches(case, make_inputs(case), ndd.as_batch))


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.per_sample], ids=lambda case: case.operator
)
def test_per_sample_arguments(case: Case) -> None:
    inputs = make_inputs(case)
    for name, values in case.per_sample.items():
        batches = make_batches(case, inputs)
        together = arrays(call(case, batches, **{name: ndd.batch(values)}))
        for index, value in enumerate(values):
            if inputs:
                alone = arrays(call(case, batches, **{name: value}))
            else:
                alone = arrays(call(case, [], **{name: value}))
            assert_outputs([[part[index]] for part in together], [[part[index]] for part in alone])


@each_case
def test_unknown_argument_names_the_operator(case: Case) -> None:
    batches = make_batches(case, make_inputs(case))
    with pytest.raises(TypeError, match=rf"{case.operator}.*no_such_argument"):
        call(case, batches, no_such_argument=1)


@each_case
def test_inconsistent_batch_sizes(case: Case) -> None:
    inputs = make_inputs(case)
    if len(inputs) < 2:
        return
    batches = make_batches(case, inputs)
    batches[-1] = batches[-1].select([0, 1])
    with pytest.raises(ValueError, match=rf"{case.operator}: Inconsistent batch size: 2 != 3"):
        call(case, batches)


@each_case
def test_is_documented(case: Case) -> None:
    function = operator.attrgetter(case.operator)(ndd)
    doc = function.__doc__
    assert doc
    assert ">>> " in doc
    for name in registry[case.operator].rules:
        assert name in doc, f"{case.operator}: '{name}' is not documented"
