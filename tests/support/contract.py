# SPDX-License-Identifier: Apache-2.0
"""What every operator promises, whatever it computes and wherever it runs.

Each check takes a case and `run`, which makes its call on a device: `call` on the CPU.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import daliesque as ndd
from daliesque._engine.op import registry
from support.case_inputs import Array, Case
from support.compare import Check, assert_same

Outputs = list[list[Array]]
Run = Callable[..., tuple[Any, ...]]


def make_inputs(case: Case) -> Outputs:
    """The samples of each input."""
    return case.inputs(np.random.default_rng(7))


def make_batches(case: Case, inputs: Outputs, make: Any = ndd.batch) -> list[ndd.Batch]:
    """The inputs as batches; `make` is `ndd.batch` or `ndd.as_batch`."""
    return [
        make(samples, layout=case.layout if position == 0 else None)
        for position, samples in enumerate(inputs)
    ]


def call(case: Case, inputs: Sequence[Any], **changes: Any) -> tuple[Any, ...]:
    """Call the operator with the arguments of its case and the changes; all of its outputs."""
    arguments = {**case.arguments, **changes}
    if case.random:
        arguments["rng"] = ndd.random.RNG(seed=5)
    if not inputs and "batch_size" not in arguments:
        arguments["batch_size"] = 3
    result = operator.attrgetter(case.operator)(ndd)(*inputs, **arguments)
    return result if isinstance(result, tuple) else (result,)


def arrays(results: Sequence[Any]) -> Outputs:
    """The samples of each output, in memory of the CPU."""
    return [
        [np.array(sample.cpu()) for sample in (part if isinstance(part, ndd.Batch) else [part])]
        for part in results
    ]


def assert_outputs(
    actual: Outputs, expected: Outputs, context: object = "", check: Check = assert_same
) -> None:
    """As many outputs with as many samples, which are the same."""
    assert len(actual) == len(expected), context
    for ours, theirs in zip(actual, expected, strict=True):
        assert len(ours) == len(theirs), context
        for x, y in zip(ours, theirs, strict=True):
            check(x, y, context)


def assert_modes_agree(run: Run, case: Case, modes: Sequence[ndd.EvalMode]) -> None:
    """Results do not depend on when an operator is run."""
    inputs = make_inputs(case)
    results = []
    for mode in modes:
        with mode:
            results.append(arrays(run(case, make_batches(case, inputs))))
    for result in results[1:]:
        assert_outputs(result, results[0], case.operator)


def assert_tensor_equals_batch_of_one(run: Run, case: Case) -> None:
    """A Tensor gives a Tensor with what a batch of it gives."""
    inputs = [samples[:1] for samples in make_inputs(case)]
    if registry[case.operator].needs_batch:
        return
    if not inputs:
        single = run(case, [], batch_size=None)
        batch = run(case, [], batch_size=1)
    else:
        batches = make_batches(case, inputs)
        single = run(case, [batch.select(0) for batch in batches])
        batch = run(case, batches)
    assert all(isinstance(part, ndd.Tensor) for part in single)
    assert all(isinstance(part, ndd.Batch) and part.batch_size == 1 for part in batch)
    assert_outputs(arrays(single), arrays(batch), case.operator)
    for one, many in zip(single, batch, strict=True):
        assert one.layout == many.layout
        assert one.ndim == many.ndim


def assert_samples_are_independent(run: Run, case: Case, check: Check = assert_same) -> None:
    """A sample gives the same alone and in a batch."""
    if case.random or case.depends_on_batch:
        return
    inputs = make_inputs(case)
    batches = make_batches(case, inputs)
    together = arrays(run(case, batches))
    changes = {} if inputs else {"batch_size": 1}
    for index in range(len(inputs[0]) if inputs else 3):
        alone = arrays(run(case, [batch.select([index]) for batch in batches], **changes))
        assert_outputs(alone, [[part[index]] for part in together], case.operator, check)


def assert_takes_empty_batches(run: Run, case: Case) -> None:
    """A batch without samples gives one of the type that others give."""
    inputs = make_inputs(case)
    if inputs:
        results = run(case, [batch.select([]) for batch in make_batches(case, inputs)])
    else:
        results = run(case, [], batch_size=0)
    full = run(case, make_batches(case, inputs))
    for part, whole in zip(results, full, strict=True):
        assert part.batch_size == 0
        assert part.shape == []
        assert part.dtype == whole.dtype


def assert_inputs_stay_unchanged(run: Run, case: Case, batches: Sequence[ndd.Batch]) -> None:
    """The operator does not write into its inputs."""
    before = arrays(batches)
    for part in run(case, batches):
        part.evaluate()
    assert_outputs(arrays(batches), before, case.operator)
