# SPDX-License-Identifier: Apache-2.0
"""Calls of arithmetic whose results only others of them need run together: the same bits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from daliesque import _kernels
from daliesque._engine import elementwise
from support.instruction_sets import use_instructions

# Large enough to be queued, many blocks, and not a multiple of one.
SHAPE = (3, 20011, 5)
TYPES = [np.uint8, np.int16, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64]


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """The calls of each expression that runs, however small."""
    seen: list[list[str]] = []
    run = elementwise.Expression.__call__

    def spy(self: elementwise.Expression, *arguments: Any) -> Any:
        seen.append(self._names)
        return run(self, *arguments)

    monkeypatch.setattr(elementwise.Expression, "__call__", spy)
    monkeypatch.setattr(elementwise, "_LEAST_BYTES", 0)
    with ndd.EvalContext(num_threads=2):
        yield seen


@pytest.fixture(params=["deferred", "queued"])
def start(request: Any) -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """Makes calls that do not run before somebody reads their results."""
    if request.param == "deferred":

        def deferred(make: Callable[[], Any]) -> Any:
            with ndd.EvalMode.deferred:
                return make()

        yield deferred
        return
    opened = threading.Event()

    def queued(make: Callable[[], Any]) -> Any:
        # The queue waits until all calls are in it.
        opened.clear()
        data = ndd.copy(ndd.batch(np.zeros((1, 1 << 21), np.uint8)))
        waiting = ndd.map(lambda x: (opened.wait(60), x)[1], data, dtype=ndd.uint8)
        result = make()
        opened.set()
        del waiting
        return result

    yield queued
    opened.set()


def arrays(dtype: Any = np.float32, count: int = 5, shape: Any = SHAPE) -> list[NDArray[Any]]:
    rng = np.random.default_rng(5)
    return [rng.integers(1, 100, shape).astype(dtype) for _ in range(count)]


def tensors(arrays: list[NDArray[Any]]) -> list[ndd.Tensor]:
    return [ndd.tensor(array).evaluate() for array in arrays]


def check(start: Any, make: Callable[..., Any], *values: Any) -> NDArray[Any]:
    """Compare an expression with its calls one by one."""
    with ndd.EvalMode.sync_cpu:
        expected = np.asarray(make(*values))
    found = np.asarray(start(lambda: make(*values)))
    np.testing.assert_array_equal(found, expected, strict=True)
    return found


def test_four_operators(together: Any, start: Any) -> None:
    data = arrays()
    found = check(start, lambda x, a, b, c, d: x * a + b - c / d, *tensors(data))
    x, a, b, c, d = data
    np.testing.assert_array_equal(found, x * a + b - c / d)
    assert together == [["mul", "fdiv", "add", "sub"]]


@pytest.mark.parametrize("dtype", TYPES)
def test_types(together: Any, start: Any, dtype: Any) -> None:
    """Numbers, other types, and functions that convert."""
    x, y = tensors(arrays(dtype, 2))
    (other,) = tensors(arrays(np.float32, 1))
    check(start, lambda a, b: (a + b) * 3 - b, x, y)
    check(start, lambda a, b: ndd.math.sqrt(a) * 0.5 + b / 3.0, x, y)
    check(start, lambda a, b, c: (a * 2 + b) * c - 1, x, y, other)
    check(start, lambda a, b, c: (a < b) & (c * 1.5 > b), x, y, other)
    check(start, lambda a, b: ndd.math.clamp(a - b, 0, 40) + (a == b), x, y)
    assert [len(names) for names in together] == [3, 4, 4, 4, 4]


@pytest.mark.parametrize("instructions", ["portable", "avx2", "vector"])
@pytest.mark.parametrize("length", [1, 63, 256, 1023, 10001])
def test_kernel(instructions: str, length: int) -> None:
    """Any operands, of lengths that are no multiple of anything, in all builds."""
    rng = np.random.default_rng(length)
    data = [rng.normal(size=length).astype(dtype) for dtype in (np.float32, np.float64, np.int16)]
    inputs = [ndd.tensor(array)._data() for array in data]
    names = ["mul", "exp", "add", "minus", "lt", "mul"]
    operands = [[0, 1], [3], [4, 2], [5], [6, 0], [5, 7]]
    expected = list(inputs)
    with use_instructions(instructions):
        found = _kernels.arithmetic_expression(names, operands, inputs)
        for name, numbers in zip(names, operands, strict=True):
            expected.append(_kernels.arithmetic(name, [expected[n] for n in numbers]))
    np.testing.assert_array_equal(
        _kernels.numpy_view(found, 0), _kernels.numpy_view(expected[-1], 0), strict=True
    )


def test_single_numbers(together: Any) -> None:
    """Integers are compared in the type of the smaller one, if that holds what is known already."""
    x = ndd.tensor(np.int64(5)).evaluate()
    small = ndd.tensor(np.uint8(11)).evaluate()
    with ndd.EvalMode.deferred:
        found = (x * 2 + 1 == small) & (x - 1 < small)
    assert found.tolist() is True
    assert [sorted(names) for names in together] == [["add", "bitand", "eq", "lt", "mul", "sub"]]


@pytest.mark.parametrize(
    ("names", "operands"),
    [
        ([], []),
        (["add"], [[0, 2]]),
        (["add", "sub"], [[0, 2], [0, 1]]),
        (["add"], [[0]]),
        (["clamp"], [[0, 1, 0, 1]]),
        (["nothing"], [[0, 1]]),
    ],
)
def test_kernel_refuses(names: list[str], operands: list[list[int]]) -> None:
    inputs = [ndd.tensor(array)._data() for array in arrays(count=2, shape=(4,))]
    with pytest.raises(ndd.InternalError):
        _kernels.arithmetic_expression(names, operands, inputs)


def test_results_that_are_used_twice(together: Any, start: Any) -> None:
    def make(x: Any, a: Any) -> Any:
        y = x * a
        z = y * y + y
        return z - a * z

    check(start, make, *tensors(arrays(count=2)))
    assert together == [["mul", "mul", "add", "mul", "sub"]]


def test_broadcasting(together: Any, start: Any) -> None:
    x, y = tensors(arrays(count=2))
    row, other = tensors(arrays(count=2, shape=(5,)))
    column = tensors(arrays(count=1, shape=(20011, 1)))[0]
    check(start, lambda a, r, o: (a - r) / o, x, row, other)
    # What is smaller than the result is made first.
    check(start, lambda a, r, o, c: a * (r + o) + c / 3, x, row, other, column)
    check(start, lambda r, c: (r + c) * 2 - r, row, column)
    check(start, lambda a, b: (a[:, ::2] + b[:, 1::2]) * 2, x[:, 1:], y[:, 1:])
    # In eager mode, calls with little to do have run before the others are queued.
    assert [len(names) for names in together] in ([2, 4, 3, 2], [2, 2, 2, 2])


def test_batches(together: Any, start: Any) -> None:
    rng = np.random.default_rng(7)
    shapes = [(50 + i, 301, 3) for i in range(9)]
    images = [rng.integers(0, 255, shape, np.uint8) for shape in shapes]
    batch = ndd.batch(images, layout="HWC").evaluate()
    mean, scale = tensors(arrays(count=2, shape=(3,)))
    factors = ndd.batch([np.float32(i) for i in range(9)]).evaluate()
    expected = [
        (image - mean.numpy()) * scale.numpy() + np.float32(i) for i, image in enumerate(images)
    ]
    found = start(lambda: (batch - mean) * scale + factors)
    for sample, right in zip(found.evaluate(), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(sample), right, strict=True)
    assert found.layout == "HWC"
    assert together == [["sub", "mul", "add"]]


def test_results_that_somebody_has(together: Any, start: Any) -> None:
    data = arrays(count=3)
    x, a, b = tensors(data)
    kept = []

    def make() -> Any:
        product = x * a
        kept.append(product)
        return (product + b) * 2.0 - (product - b)

    result = start(make)
    product = data[0] * data[1]
    expected = (product + data[2]) * np.float32(2) - (product - data[2])
    np.testing.assert_array_equal(np.asarray(result), expected)
    np.testing.assert_array_equal(np.asarray(kept[0]), product)
    assert together == [["add", "mul", "sub", "sub"]] or together == [["add", "sub", "mul", "sub"]]


def test_results_that_are_wanted_after_all(
    together: Any, start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody has a result in between, and that was not seen."""
    monkeypatch.setattr(elementwise, "_REFERENCES", 100)
    data = arrays(count=2)
    x, a = tensors(data)
    kept = []

    def make() -> Any:
        kept.append(x * a)
        return kept[0] + a

    result = start(make)
    np.testing.assert_array_equal(np.asarray(result), data[0] * data[1] + data[1])
    assert together == [["mul", "add"]]
    np.testing.assert_array_equal(np.asarray(kept[0]), data[0] * data[1])


def failure_of(read: Callable[[], Any]) -> tuple[type, str, list[str]]:
    with pytest.raises(Exception) as caught:
        read()
    notes = getattr(caught.value, "__notes__", [])
    return type(caught.value), str(caught.value), [note.partition(", mode")[0] for note in notes]


@pytest.mark.parametrize(
    "make",
    [
        lambda x, y, _: (x + y) // (y - y) * 2,
        lambda x, y, _: (x % (y * 0)) - (x // (y * 0)),
        lambda x, y, small: x * 2 + y * small,
    ],
)
def test_errors_are_those_of_the_calls_one_by_one(together: Any, start: Any, make: Any) -> None:
    x, y = tensors(arrays(np.int32, 2))
    (small,) = tensors(arrays(np.int32, 1, (7,)))
    result = start(lambda: make(x, y, small))
    for _ in range(2):
        found = failure_of(lambda: result.evaluate())
        assert found[0] is ValueError
        assert any("operator" in note for note in found[2])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(elementwise, "_MOST_CALLS", 1)
            alone = start(lambda: make(x, y, small))
            assert found == failure_of(lambda alone=alone: alone.evaluate())
    assert len(together) == 1


def test_long_expressions(together: Any, start: Any) -> None:
    """They run in parts."""
    data = arrays(count=2)
    x, a = tensors(data)

    def make() -> Any:
        total = x
        for _ in range(40):
            total = total * 0.5 + a
        return total

    expected = data[0]
    for _ in range(40):
        expected = expected * np.float32(0.5) + data[1]
    np.testing.assert_array_equal(np.asarray(start(make)), expected)
    assert sum(map(len, together)) >= 64
    assert max(map(len, together)) == 16


@pytest.mark.usefixtures("together")
def test_several_threads_read(start: Any) -> None:
    data = arrays(count=3)
    x, a, b = tensors(data)
    expected = data[0] * data[1] + data[2]
    for _ in range(10):
        results = start(lambda: [x * a + b for _ in range(3)])
        found: list[NDArray[Any]] = []
        readers = [
            threading.Thread(target=lambda r=result, f=found: f.append(np.asarray(r)))
            for result in results * 2
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(60)
        assert len(found) == 6
        assert all((array == expected).all() for array in found)


def test_what_is_known_before_it_has_run(together: Any) -> None:
    """Once it stands for all of them, the last call still says what its own results are like."""
    images = ndd.batch(arrays(np.uint8, 3), layout="HWC").evaluate()
    with ndd.EvalMode.deferred:
        result = (images + 1.5) * 2 > 7
    call = result._pending
    found = elementwise.make_expression(call, False, 10)
    assert found is not None
    _kernels.become_chain(call, found[0])
    assert (result.dtype, result.layout, result.ndim) == (ndd.bool, "HWC", 3)
    assert result.shape == [SHAPE] * 3
    assert not call.done
    for sample, image in zip(result, arrays(np.uint8, 3), strict=True):
        np.testing.assert_array_equal(np.asarray(sample), (image + np.float32(1.5)) * 2 > 7)
    assert together == [["add", "mul", "gt"]]


def test_little_work_is_left_alone(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    run = elementwise.Expression.__call__

    def spy(self: elementwise.Expression, *arguments: Any) -> Any:
        made.append(self)
        return run(self, *arguments)

    monkeypatch.setattr(elementwise.Expression, "__call__", spy)
    x, a = tensors(arrays(count=2, shape=(100, 1000)))
    start(lambda: x * a + x).evaluate()
    assert made == []
    x, a = tensors(arrays(count=2, shape=(1000, 1000)))
    start(lambda: x * a + x).evaluate()
    assert len(made) == 1


def test_each_call_counts(together: Any) -> None:
    x, a = tensors(arrays(count=2))
    ndd.report(reset=True)
    with ndd.EvalMode.deferred:
        (x * a + a).evaluate()
    found: dict[str, Any] = ndd.report().to_dict()["operators"]
    assert (found["operator *"]["calls"], found["operator +"]["calls"]) == (1, 1)
    assert together == [["mul", "add"]]
