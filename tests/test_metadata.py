# SPDX-License-Identifier: Apache-2.0
"""What is known about results before they exist: it is there at once, and it is right."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.context import EvalContext
from daliesque._engine.errors import InternalError
from daliesque._engine.invocation import promise
from daliesque._engine.metadata import Result, announce_as
from daliesque._engine.op import registry
from daliesque._engine.tensor import Tensor
from support.case_inputs import Case
from support.cases import CASES
from support.contract import call, make_batches, make_inputs
from support.metadata import assert_announced, is_pending, known

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def wait_for(event: threading.Event, started: threading.Event) -> Tensor:
    """A result that is there when the event is set; `started` is set when the call runs."""

    def body(inputs: list[Any], _arguments: dict[str, Any]) -> Any:
        started.set()
        # Limited, so that a fault makes tests fail rather than hang.
        event.wait(20)
        return inputs[0]

    inputs = (ndd.tensor(1),)
    return promise(Tensor, "wait", body, inputs, {}, announce_as(Result()), 1)


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Keeps the executor busy until the event is set: nothing that is called meanwhile runs."""
    # Small calls are queued as well.
    monkeypatch.setattr("daliesque._engine.invocation._MOST_COST_AT_ONCE", 0)
    event = threading.Event()
    with EvalContext(num_threads=1) as context:
        started = threading.Event()
        wait_for(event, started)
        context.executor._start_thread()
        assert started.wait(20)
        try:
            yield event
        finally:
            event.set()


each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.operator)


@each_case
def test_deferred(case: Case) -> None:
    batches = make_batches(case, make_inputs(case))
    with ndd.EvalMode.deferred:
        assert_announced(case, call(case, batches))


@each_case
def test_of_pending_inputs(case: Case) -> None:
    """Inputs that do not exist either say what they will be."""
    batches = make_batches(case, make_inputs(case))
    with ndd.EvalMode.deferred:
        results = call(case, [ndd.copy(batch) for batch in batches])
        assert_announced(case, results)


@each_case
def test_eager(case: Case, busy: threading.Event) -> None:
    results = call(case, make_batches(case, make_inputs(case)))
    announced = [known(case, part) for part in results]
    assert all(is_pending(part) for part in results), "reading metadata has waited"
    busy.set()
    for part, expected in zip(results, announced, strict=True):
        part.evaluate()
        assert expected == known(case, part)


@each_case
def test_tensors(case: Case) -> None:
    inputs = [samples[:1] for samples in make_inputs(case)]
    if registry[case.operator].needs_batch:
        return
    batches = make_batches(case, inputs)
    changes = {} if inputs else {"batch_size": None}
    with ndd.EvalMode.deferred:
        assert_announced(case, call(case, [batch.select(0) for batch in batches], **changes))


SEQUENCES = [
    case
    for case in CASES
    if registry[case.operator].sequences and case.operator != "multi_paste" and case.layout != "F"
]


@pytest.mark.parametrize("case", SEQUENCES, ids=lambda case: case.operator)
def test_sequences(case: Case) -> None:
    inputs = make_inputs(case)
    frames = [[np.stack([sample, sample, sample]) for sample in samples] for samples in inputs]
    layout = case.layout or {2: "HW", 3: "HWC", 4: "DHWC"}[inputs[0][0].ndim]
    first = ndd.batch(frames[0], layout="F" + layout)
    others = [ndd.per_frame(ndd.batch(samples)) for samples in frames[1:]]
    with ndd.EvalMode.deferred:
        assert_announced(case, call(case, [first, *others]))


def images(count: int = 3) -> ndd.Batch:
    rng = np.random.default_rng(3)
    return ndd.batch([rng.integers(0, 256, (6 + i, 8, 3), np.uint8) for i in range(count)])


def test_chain(busy: threading.Event) -> None:
    resized = ndd.resize(images(), size=(5, 4))
    warped = ndd.warp_affine(resized, matrix=[1, 0, 0, 0, 1, 0])
    result = ndd.crop_mirror_normalize(warped, crop=(3, 2), dtype=ndd.float16)
    assert (result.dtype, result.ndim, result.layout) == (ndd.float16, 3, "CHW")
    assert result.shape == [(3, 3, 2)] * 3
    assert not result._pending.done  # type: ignore[union-attr]
    busy.set()
    assert result.evaluate().shape == [(3, 3, 2)] * 3


def test_long_chain() -> None:
    with ndd.EvalMode.deferred:
        value = images()
        for _ in range(5000):
            value = ndd.flip(value)
        assert value.shape == [(6, 8, 3), (7, 8, 3), (8, 8, 3)]
        assert is_pending(value)


@pytest.mark.parametrize(
    "make",
    [
        lambda batch: batch + 1,
        lambda batch: 1.5 * batch,
        lambda batch: batch == ndd.batch([1, 2, 3]),
        lambda batch: ndd.math.sqrt(batch),
        lambda batch: -batch.select(1),
        lambda batch: batch.slice[1:, ::2],
        lambda batch: batch.slice[..., 0],
        lambda batch: batch.select([2, 0]),
        lambda batch: batch.select(1)[-1],
        lambda batch: ndd.batch(batch, dtype=ndd.int16),
        lambda batch: ndd.batch([batch.select(1), batch.select(0)]),
        lambda batch: ndd.Batch.broadcast(batch.select(0), 4),
        lambda batch: ndd.cast_like(batch, ndd.tensor(1.0)),
    ],
)
def test_other_calls(make: Any) -> None:
    with ndd.EvalMode.deferred:
        result = make(ndd.copy(images()))
        names = ("dtype", "ndim", "layout", "device", "shape")
        announced = [getattr(result, name) for name in names]
        assert is_pending(result)
        assert announced == [getattr(result.evaluate(), name) for name in names]


def test_stacked_batch() -> None:
    with ndd.EvalMode.deferred:
        result = ndd.as_tensor(ndd.resize(images(), size=(2, 3)))
        assert (result.dtype, result.ndim, result.layout) == (ndd.uint8, 4, "NHWC")
        assert is_pending(result)
        assert result.shape == (3, 2, 3, 3)


def test_arguments_that_are_pending() -> None:
    with ndd.EvalMode.deferred:
        shape = ndd.copy(ndd.batch([[2, 3], [4, 5], [6, 7]]))
        result = ndd.zeros(shape=shape)
        assert (result.dtype, result.ndim, result.layout) == (ndd.int32, 2, None)
        assert is_pending(result)
        assert is_pending(shape)
        assert result.shape == [(2, 3), (4, 5), (6, 7)]


def test_random_position_of_a_fixed_crop() -> None:
    with ndd.EvalMode.deferred:
        x = ndd.random.uniform(range=(0, 1), batch_size=3)
        result = ndd.crop(images(), crop=(4, 5), crop_pos_x=x)
        assert result.shape == [(4, 5, 3)] * 3
        assert is_pending(result)
        assert result.evaluate().shape == [(4, 5, 3)] * 3


def test_failed_call_keeps_what_is_known() -> None:
    result = ndd.crop(images(), crop=(400, 5))
    for _ in range(2):
        assert (result.dtype, result.ndim, result.layout) == (ndd.uint8, 3, "HWC")
        with pytest.raises(ndd.OpError, match="leaves the input"):
            result.evaluate()


def test_wrong_arguments_are_reported_by_the_call() -> None:
    with ndd.EvalMode.deferred:
        result = ndd.stack(images(), images(), axis=7)
        with pytest.raises(ValueError, match="'axis' must lie in"):
            _ = result.layout


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (Result(dtype=ndd.int8), "dtype .* was announced"),
        (Result(ndim=1), "ndim 1 was announced, 0 delivered"),
        (Result(layout="X"), "layout 'X' was announced"),
        (Result(ndim=0, layout="", shape="input"), None),
    ],
)
def test_announcements_are_checked(result: Result, message: str | None) -> None:
    with ndd.EvalMode.deferred:
        inputs = (ndd.tensor(1),)
        value = promise(
            Tensor, "body", lambda inputs, _: inputs[0], inputs, {}, announce_as(result), 1
        )
        assert value.dtype == (result.dtype if result.dtype is ndd.int8 else ndd.int32)
        if message is None:
            assert value.evaluate().item() == 1
        else:
            with pytest.raises(InternalError, match=f"body: output 0: {message}"):
                value.evaluate()


def test_shapes_are_checked_if_they_were_read() -> None:
    with ndd.EvalMode.deferred:
        announce = announce_as(Result(shape=lambda _: [[7]]))
        inputs = (ndd.tensor([1, 2]),)
        value = promise(Tensor, "body", lambda inputs, _: inputs[0], inputs, {}, announce, 1)
        assert value.shape == (7,)
        with pytest.raises(InternalError, match=r"\[\[7\]\] were announced, \[\[2\]\] delivered"):
            value.evaluate()


def test_repr_of_pending_values(busy: threading.Event) -> None:
    resized = ndd.resize(images(), size=(2, 3))
    assert repr(resized) == (
        "Batch(\n"
        "    <pending>,\n"
        "    dtype=u8,\n"
        '    device="cpu",\n'
        '    layout="HWC",\n'
        "    num_samples=3,\n"
        "    shape=[(2, 3, 3), (2, 3, 3), (2, 3, 3)])"
    )
    decoded = ndd.decoders.image(ndd.tensor(b"no image"))
    text = 'Tensor(\n    <pending>,\n    dtype=u8,\n    device="cpu",\n    layout="HWC")'
    assert repr(decoded) == text
    assert is_pending(resized)
    busy.set()
    assert "<pending>" not in repr(resized.evaluate())


def test_repr_runs_nothing_that_is_deferred() -> None:
    with ndd.EvalMode.deferred:
        value = ndd.tensor([1, 2]) + 1
        assert (
            repr(value)
            == 'Tensor(\n    <pending>,\n    dtype=i32,\n    device="cpu",\n    shape=(2,))'
        )
        assert is_pending(value)
        many = ndd.copy(ndd.batch(np.zeros((100, 2))))
        assert "shape=[(2,), (2,), (2,), ..., (2,), (2,), (2,)]" in repr(many)


def test_repr_of_a_small_call_shows_its_values() -> None:
    assert repr(ndd.tensor([1, 2]) + 1).startswith("Tensor(\n    [2 3],")
