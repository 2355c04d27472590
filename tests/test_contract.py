# SPDX-License-Identifier: Apache-2.0
"""What every operator promises, whatever it computes."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.op import registry
from support.cases import CASES, Array, Case

MODES = [ndd.EvalMode.sync_cpu, ndd.EvalMode.eager, ndd.EvalMode.deferred]


def make_inputs(case: Case) -> list[list[Array]]:
    return case.inputs(np.random.default_rng(7))


def make_batches(case: Case, inputs: list[list[Array]]) -> list[ndd.Batch]:
    return [
        ndd.batch(samples, layout=case.layout if position == 0 else None)
        for position, samples in enumerate(inputs)
    ]


def call(case: Case, inputs: list[Any], **changes: Any) -> tuple[Any, ...]:
    arguments = {**case.arguments, **changes}
    if case.random:
        arguments["rng"] = ndd.random.RNG(seed=5)
    if not inputs and "batch_size" not in arguments:
        arguments["batch_size"] = 3
    result = operator.attrgetter(case.operator)(ndd)(*inputs, **arguments)
    return result if isinstance(result, tuple) else (result,)


def arrays(results: tuple[Any, ...]) -> list[list[Array]]:
    return [
        [np.array(t) for t in (part if isinstance(part, ndd.Batch) else [part])] for part in results
    ]


def assert_same(first: list[list[Array]], second: list[list[Array]]) -> None:
    assert len(first) == len(second)
    for a, b in zip(first, second, strict=True):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some operators write files."""
    monkeypatch.chdir(tmp_path)


each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.operator)


def test_every_operator_has_a_case() -> None:
    assert set(registry) == {case.operator for case in CASES}


@each_case
def test_modes_agree(case: Case) -> None:
    inputs = make_inputs(case)
    results = []
    for mode in MODES:
        with mode:
            results.append(arrays(call(case, make_batches(case, inputs))))
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])


@each_case
def test_thread_counts_agree(case: Case) -> None:
    inputs = make_inputs(case)
    results = []
    for threads in (1, 3):
        with ndd.EvalContext(num_threads=threads):
            results.append(arrays(call(case, make_batches(case, inputs))))
    assert_same(results[0], results[1])


@each_case
def test_simd_and_portable_code_agree(case: Case) -> None:
    from daliesque import _kernels

    inputs = make_inputs(case)
    fast = arrays(call(case, make_batches(case, inputs)))
    _kernels.set_simd_enabled(False)
    try:
        portable = arrays(call(case, make_batches(case, inputs)))
    finally:
        _kernels.set_simd_enabled(True)
    assert_same(fast, portable)


@each_case
def test_tensor_equals_batch_of_one(case: Case) -> None:
    inputs = [samples[:1] for samples in make_inputs(case)]
    if registry[case.operator].needs_batch:
        return
    if not inputs:
        single = call(case, [], batch_size=None)
        batch = call(case, [], batch_size=1)
    else:
        batches = make_batches(case, inputs)
        single = call(case, [batch.select(0) for batch in batches])
        batch = call(case, batches)
    assert all(isinstance(part, ndd.Tensor) for part in single)
    assert all(isinstance(part, ndd.Batch) and part.batch_size == 1 for part in batch)
    assert_same(arrays(single), arrays(batch))
    for one, many in zip(single, batch, strict=True):
        assert one.layout == many.layout
        assert one.ndim == many.ndim


@each_case
def test_samples_are_independent(case: Case) -> None:
    if case.random or case.depends_on_batch:
        return
    inputs = make_inputs(case)
    batches = make_batches(case, inputs)
    together = arrays(call(case, batches))
    count = len(inputs[0]) if inputs else 3
    for index in range(count):
        alone = arrays(
            call(
                case,
                [batch.select([index]) for batch in batches],
                **({} if inputs else {"batch_size": 1}),
            )
        )
        assert_same([[part[index]] for part in together], alone)


@each_case
def test_empty_batch(case: Case) -> None:
    inputs = make_inputs(case)
    if inputs:
        results = call(case, [batch.select([]) for batch in make_batches(case, inputs)])
    else:
        results = call(case, [], batch_size=0)
    full = call(case, make_batches(case, inputs))
    for part, whole in zip(results, full, strict=True):
        assert part.batch_size == 0
        assert part.shape == []
        assert part.dtype == whole.dtype


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
    batches = [
        ndd.as_batch(views, layout=case.layout if position == 0 else None)
        for position, views in enumerate(strided)
    ]
    assert_same(arrays(call(case, batches)), expected)


@each_case
def test_inputs_stay_unchanged(case: Case) -> None:
    inputs = make_inputs(case)
    copies = [[sample.copy() for sample in samples] for samples in inputs]
    batches = [
        ndd.as_batch(samples, layout=case.layout if position == 0 else None)
        for position, samples in enumerate(inputs)
    ]
    arrays(call(case, batches))
    assert_same(inputs, copies)


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
            assert_same([[part[index]] for part in together], [[part[index]] for part in alone])


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
