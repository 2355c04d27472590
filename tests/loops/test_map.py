# SPDX-License-Identifier: Apache-2.0
"""Python functions as operators."""

from __future__ import annotations

import functools
import gc
import inspect
import threading
import traceback
import weakref
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import scipy.ndimage

import daliesque as ndd
from daliesque._engine.op import registry

MODES = [ndd.EvalMode.deferred, ndd.EvalMode.eager, ndd.EvalMode.sync_cpu, ndd.EvalMode.sync_full]
every_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)


def images(count: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (4 + k, 7, 3), np.uint8) for k in range(count)]


def pending(arrays: list[np.ndarray], layout: str | None = None) -> ndd.Batch:
    """A batch whose data is not there yet, unless the mode is synchronous."""
    return ndd.copy(ndd.batch(arrays, layout=layout))


def found(batch: Any) -> list[Any]:
    return [np.asarray(sample).tolist() for sample in batch]


@every_mode
def test_results_are_in_order(mode: ndd.EvalMode) -> None:
    arrays = images(40)
    with mode, ndd.EvalContext(num_threads=4):
        result = ndd.map(np.flipud, pending(arrays))
        sizes = ndd.map(lambda image: image.shape[0], pending(arrays))
    assert result.dtype == ndd.uint8
    assert found(result) == [array[::-1].tolist() for array in arrays]
    assert found(sizes) == [array.shape[0] for array in arrays]
    assert sizes.dtype == ndd.int32


@every_mode
def test_several_inputs_and_outputs(mode: ndd.EvalMode) -> None:
    def both(image: np.ndarray, label: np.ndarray, offset: np.ndarray) -> tuple[Any, Any]:
        assert label.shape == ()
        return image + offset, float(label) + 0.5

    arrays = images()
    with mode:
        outputs = ndd.map(
            both,
            pending(arrays),
            ndd.batch([0, 1, 2, 3, 4]),
            np.uint8(3),
            num_outputs=2,
            layout=("HWC", None),
            dtype=(None, ndd.float64),
        )
    first, second = outputs
    assert (first.layout, second.layout) == ("HWC", None)
    assert second.dtype == ndd.float64
    assert found(first) == [(array + np.uint8(3)).tolist() for array in arrays]
    assert found(second) == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_tensors_and_no_inputs() -> None:
    single = ndd.map(lambda x: x + 1, ndd.tensor([1, 2]))
    assert isinstance(single, ndd.Tensor)
    assert np.asarray(single).tolist() == [2, 3]
    counter = iter(range(10))
    assert sorted(found(ndd.map(lambda: next(counter), batch_size=3))) == [0, 1, 2]
    assert ndd.map(lambda: 7).item() == 7
    assert found(ndd.map(lambda x: x, ndd.tensor([5]), batch_size=2)) == [[5], [5]]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, ndd.bool),
        (3, ndd.int32),
        (2.5, ndd.float32),
        (np.float64(2.5), ndd.float64),
        (np.int16([1, 2]), ndd.int16),
        (b"abc", ndd.uint8),
        (ndd.tensor([1], dtype=ndd.uint16), ndd.uint16),
        (np.arange(6).reshape(2, 3).T, ndd.int64),
        (np.array([1, 2], ">i4"), ndd.int32),
    ],
)
def test_what_functions_return(value: Any, dtype: ndd.DType) -> None:
    result = ndd.map(lambda: value, batch_size=2)
    assert result.dtype == dtype
    expected = list(value) if isinstance(value, bytes) else np.asarray(value).tolist()
    assert found(result) == [expected] * 2


def test_frameworks() -> None:
    import torch

    result = ndd.map(lambda x: torch.from_numpy(x) * 2, pending([np.ones(2)]), writable=True)
    assert found(result) == [[2.0, 2.0]]


def test_conversion() -> None:
    result = ndd.map(lambda x: x * 100, pending([np.float32([1.4, 3.0])]), dtype=ndd.uint8)
    assert found(result) == [[140, 255]]
    mixed = ndd.map(lambda n: 1.5 if n else 2, ndd.batch([0, 1]), dtype=ndd.float16)
    assert found(mixed) == [2.0, 1.5]


def test_layouts_of_tensors_are_kept() -> None:
    result = ndd.map(lambda x: ndd.as_tensor(x, layout="HW"), pending([np.zeros((2, 2))]))
    assert result.layout == "HW"
    assert ndd.map(lambda x: x, pending([np.zeros((2, 2))], "HW")).layout is None


def test_metadata_that_is_given_is_known_at_once() -> None:
    go_on = threading.Event()

    def wait(x: np.ndarray) -> np.ndarray:
        assert go_on.wait(30)
        return x

    with ndd.EvalContext(num_threads=2):
        result = ndd.map(wait, pending([np.zeros((2, 3), np.uint8)]), dtype="u8", layout="HW")
        assert (result.dtype, result.ndim, result.layout) == (ndd.uint8, 2, "HW")
        assert result.batch_size == 1
        go_on.set()
        assert result.shape == [(2, 3)]


def test_results_are_dense_and_independent() -> None:
    array = np.zeros((2, 2))
    batch = ndd.batch([array, array])
    result = ndd.map(lambda x: x, batch)
    result.torch(copy=False)[:] = 7
    assert batch.torch().sum() == 0
    kept = np.zeros(3)
    result = ndd.map(lambda: kept, batch_size=2).evaluate()
    kept[:] = 5
    assert found(result) == [[0, 0, 0]] * 2


def test_arrays_are_read_only_unless_asked() -> None:
    def change(x: np.ndarray) -> np.ndarray:
        x[0] = 9
        return x

    batch = pending([np.zeros(2)])
    text = r"sample 0 raised ValueError: .*read-only\. Pass writable=True"
    with pytest.raises(ndd.OpError, match=text):
        ndd.map(change, batch).evaluate()
    assert found(ndd.map(change, batch, writable=True)) == [[9, 0]]
    assert found(batch) == [[0, 0]]


def test_empty_batches() -> None:
    empty = ndd.batch([], dtype=ndd.float32)
    result = ndd.map(lambda x: x, empty, dtype=ndd.int16, layout="HW")
    assert (result.batch_size, result.dtype, result.ndim) == (0, ndd.int16, 2)
    with pytest.raises(ValueError, match=r"map\(<lambda>\): the batch is empty, .*'dtype'"):
        ndd.map(lambda x: x, empty).evaluate()


def refuse(x: np.ndarray) -> Any:
    if x[0] >= 2:
        msg = f"no {x[0]}"
        raise KeyError(msg)
    return x


BAD = [
    (refuse, {}, "sample 2 raised KeyError: 'no 2'"),
    (lambda _: None, {}, "sample 0 gave None: expected an array, a Tensor, a number or bytes"),
    (lambda _: "text", {}, "sample 0 gave str 'text': expected an array"),
    (lambda _: {"a": 1}, {}, "sample 0 gave dict {'a': 1}: expected an array"),
    (lambda _: [1, 2], {}, r"sample 0 gave list \[1, 2\]: expected an array"),
    (lambda _: ndd.batch([1]), {}, "sample 0 gave Batch"),
    (lambda _: object(), {}, "sample 0 gave object"),
    (lambda _: np.array(["a"]), {}, "sample 0 gave ndarray .*: arrays of type <U1"),
    (lambda _: 2**40, {}, "sample 0 gave int 1099511627776: .*does not fit"),
    (lambda x: (x, x), {}, "sample 0 gave a tuple of 2 results instead of one. Pass num_outputs=2"),
    (lambda x: x, {"num_outputs": 2}, "sample 0 gave ndarray .* instead of 2 results in a tuple"),
    (lambda x: (x,), {"num_outputs": 2}, "sample 0 gave 1 instead of 2 results in a tuple"),
    (lambda x: (x, None), {"num_outputs": 2}, "sample 0 gave None for output 1"),
    (
        lambda x: x if x[0] < 3 else x.astype(np.float32),
        {},
        "sample 3 gave float32, but sample 0 gave int64. Pass 'dtype' to convert",
    ),
    (lambda x: x if x[0] < 1 else x[0], {}, "sample 1 gave 0 axes, but sample 0 gave 1"),
    (lambda x: x, {"ndim": 2}, "sample 0 gave 1 axes: expected 2"),
    (lambda x: x, {"layout": "HW"}, "sample 0 gave 1 axes: expected 2"),
    (
        lambda x: ndd.as_tensor(x, layout="X" if x[0] else "Y"),
        {},
        "sample 1 gave the layout 'X', but sample 0 gave 'Y'. Pass 'layout'",
    ),
]


@every_mode
@pytest.mark.parametrize(("fn", "options", "text"), BAD)
def test_bad_functions(mode: ndd.EvalMode, fn: Any, options: dict[str, Any], text: str) -> None:
    batch = ndd.batch([[0], [1], [2], [3], [4]], dtype=ndd.int64)

    def call() -> None:
        outputs = ndd.map(fn, ndd.copy(batch), **options)
        (outputs[0] if isinstance(outputs, tuple) else outputs).evaluate()

    with mode, pytest.raises(ndd.OpError, match=r"^map\(\S+\): " + text):
        call()


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"num_outputs": 0}, ValueError, "'num_outputs' must be positive; got 0"),
        ({"num_outputs": 1.0}, TypeError, "'num_outputs' must be an integer; got 1.0"),
        ({"dtype": ["u8", "u8"]}, ValueError, "'dtype': Expected a sequence of size 1, got 2"),
        ({"layout": 5}, TypeError, "'layout' must be a string; got 5"),
        ({"layout": "HWC", "ndim": 2}, ValueError, "HWC"),
        ({"ndim": -1}, ValueError, "'ndim' must be an integer that is not negative; got -1"),
        ({"batch_size": 3}, ValueError, "Inconsistent batch size"),
    ],
)
def test_bad_options(options: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        ndd.map(lambda x: x, ndd.batch([1, 2]), **options)


def test_bad_calls() -> None:
    with pytest.raises(TypeError, match="map: 'fn' must be a function; got 5"):
        ndd.map(5, ndd.batch([1]))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="the input 'inputs' must not be None"):
        ndd.map(lambda x: x, None)
    with pytest.raises(ValueError, match="Inconsistent batch size"):
        ndd.map(lambda x, _: x, ndd.batch([1, 2]), ndd.batch([1]))


def test_errors_name_the_file(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.bin").write_bytes(bytes([number]))
    reader = ndd.readers.File(files=sorted(tmp_path.iterdir()))
    contents, _ = next(reader.next_epoch(batch_size=3))
    with pytest.raises(ndd.OpError, match=r'refuse: sample 2 \(".*2\.bin"\) raised KeyError'):
        ndd.operator(refuse)(contents).evaluate()
    result = ndd.map(lambda x: x, contents)
    assert result.source == contents.source


@pytest.mark.parametrize("mode", MODES[:2], ids=lambda mode: mode.name)
def test_errors_show_the_line_of_the_call(mode: ndd.EvalMode) -> None:
    with mode:
        result = ndd.map(refuse, pending([np.array([5])]))  # the line
        with pytest.raises(ndd.OpError) as caught:
            result.evaluate()
    text = "".join(traceback.format_exception(caught.value))
    assert "# the line" in text
    assert "raise KeyError(msg)" in text


def test_the_first_bad_sample_is_named_whatever_the_threads() -> None:
    with ndd.EvalContext(num_threads=4):
        for _ in range(20):
            with pytest.raises(ndd.OpError, match="sample 2 raised"):
                ndd.map(refuse, ndd.batch([[number] for number in range(30)])).evaluate()


def test_errors_of_inputs_are_passed_on() -> None:
    called = []
    bad = ndd.map(refuse, pending([np.array([5])]))
    result = ndd.map(called.append, bad)
    with pytest.raises(ndd.OpError, match=r"^map\(refuse\): sample 0"):
        result.evaluate()
    assert called == []


def test_functions_run_at_the_same_time() -> None:
    barrier = threading.Barrier(4, timeout=30)
    with ndd.EvalContext(num_threads=4):
        result = ndd.map(lambda _: barrier.wait() >= 0, ndd.batch([0] * 8))
        assert found(result) == [True] * 8


def test_calls_return_at_once() -> None:
    go_on = threading.Event()
    with ndd.EvalContext(num_threads=1):
        result = ndd.map(lambda _: go_on.wait(30), pending([np.zeros(1)]))
        go_on.set()
        assert found(result) == [True]


def test_deferred_calls_run_when_read() -> None:
    called: list[int] = []
    with ndd.EvalMode.deferred:
        result = ndd.map(lambda _: called.append(1) or 0, pending([np.zeros(1)]))
        assert called == []
        result.evaluate()
    assert called == [1]


def test_operators() -> None:
    @ndd.operator(dtype=ndd.float32, layout="HWC")
    def blur(image: np.ndarray, *, sigma: float = 1.0) -> np.ndarray:
        """Blur an image."""
        assert isinstance(sigma, float)
        return cv2.GaussianBlur(image, (5, 5), sigma)

    arrays = images(3)
    assert blur.__name__ == "blur"
    assert blur.__doc__ == "Blur an image."
    assert list(inspect.signature(blur).parameters) == ["image", "sigma", "batch_size", "device"]
    assert "blur" not in registry
    result = blur(pending(arrays), sigma=ndd.batch([0.5, 1.0, 2.0]))
    assert result.layout == "HWC"
    for got, array, sigma in zip(result, arrays, (0.5, 1.0, 2.0), strict=True):
        expected = cv2.GaussianBlur(array, (5, 5), sigma).astype(np.float32)
        np.testing.assert_array_equal(np.asarray(got), expected)
    same = blur(pending(arrays), sigma=ndd.tensor(2.0))
    expected = cv2.GaussianBlur(arrays[0], (5, 5), 2.0).astype(np.float32)
    np.testing.assert_array_equal(np.asarray(same.select(0)), expected)


def test_functions_of_libraries() -> None:
    arrays = images(2)
    zoomed = ndd.operator(scipy.ndimage.uniform_filter)(pending(arrays), size=(3, 3, 1))
    for got, array in zip(zoomed, arrays, strict=True):
        expected = scipy.ndimage.uniform_filter(array, size=(3, 3, 1))
        np.testing.assert_array_equal(np.asarray(got), expected)
    # Functions written in C do not say what they take.
    blurred = ndd.operator(cv2.blur)(pending(arrays), ksize=(3, 3))
    np.testing.assert_array_equal(np.asarray(blurred.select(1)), cv2.blur(arrays[1], (3, 3)))
    assert found(ndd.operator(np.add)(ndd.batch([1, 2]), 5)) == [6, 7]


def test_arguments_of_operators() -> None:
    @ndd.operator
    def show(x: Any, second: Any = 100, *more: Any, scale: Any = None, **rest: Any) -> Any:
        assert not isinstance(second, ndd.Tensor)
        return int(x) + int(second) + sum(map(int, more)) + (scale or 0) + len(rest)

    batch = ndd.batch([1, 2])
    assert found(show(batch)) == [101, 102]
    assert found(show(batch, 10)) == [11, 12]
    assert found(show(batch, 10, batch, scale=ndd.batch([1000, 2000]))) == [1012, 2014]
    assert found(show(batch, 0, scale=5, other="text")) == [7, 8]

    @ndd.operator
    def need(x: Any, *, factor: Any, table: Any = (1, 2)) -> Any:
        return int(x) * factor + len(table)

    assert found(need(batch, factor=3, table=[1])) == [4, 7]
    with pytest.raises(TypeError, match="need: the argument 'factor' is missing"):
        need(batch)
    with pytest.raises(
        TypeError, match=r"need\(\) got an unexpected .*'facto'. Did you mean 'fact"
    ):
        need(batch, facto=1)
    with pytest.raises(TypeError, match="need: the input 'x' is missing"):
        need(factor=1)
    with pytest.raises(TypeError, match="need: takes 1 input; got 2"):
        need(batch, batch, factor=1)
    with pytest.raises(ValueError, match="Inconsistent batch size"):
        need(batch, factor=ndd.batch([1, 2, 3]))


def test_what_is_no_operator() -> None:
    with pytest.raises(TypeError, match="operator: expected a function; got 5"):
        ndd.operator(5)  # type: ignore[call-overload]
    for name in ("batch_size", "device"):
        function = eval(f"lambda x, {name}: x")
        with pytest.raises(ValueError, match=f"operators have an argument '{name}' already"):
            ndd.operator(function)
    renamed = ndd.operator(functools.partial(refuse), name="mine")
    with pytest.raises(ndd.OpError, match=r"^mine: sample 0 raised KeyError"):
        renamed(ndd.batch([[3]])).evaluate()


def test_random_operators() -> None:
    @ndd.operator(dtype=ndd.float64)
    def jitter(x: np.ndarray, *, rng: np.random.Generator) -> np.ndarray:
        return x + rng.random()

    batch = ndd.batch([0.0] * 6)
    runs = []
    for threads in (1, 4):
        rng = ndd.random.RNG(seed=7)
        with ndd.EvalContext(num_threads=threads):
            runs.append([found(jitter(batch, rng=rng)) for _ in range(3)])
    assert runs[0] == runs[1]
    flat = [value for call in runs[0] for value in call]
    assert len(set(flat)) == len(flat)
    ndd.random.set_seed(7)
    assert found(jitter(batch)) == runs[0][0]
    with pytest.raises(TypeError, match=r"jitter: 'rng' must be a daliesque\.random\.RNG"):
        jitter(batch, rng=5)


def test_nothing_keeps_data_alive() -> None:
    class Add:
        def __call__(self, x: np.ndarray) -> np.ndarray:
            return x + 1

    add = Add()
    alive = weakref.ref(add)
    with ndd.EvalContext(num_threads=3):
        result = ndd.map(add, ndd.batch([1] * 10)).evaluate()
        del add
        gc.collect()
        assert alive() is None
    assert found(result) == [2] * 10
