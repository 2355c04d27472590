# SPDX-License-Identifier: Apache-2.0
"""External sources: what they take, what they deliver, where they resume."""

from __future__ import annotations

import functools
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import daliesque as ndd


def arrays(count: int = 3) -> list[np.ndarray]:
    return [np.full((2, 2), number) for number in range(count)]


def generate() -> Iterator[np.ndarray]:
    yield from arrays()


class GeneratorCall:
    def __call__(self) -> Iterator[np.ndarray]:
        yield from arrays()


class ByNumber:
    """The old protocol of iteration."""

    def __getitem__(self, number: int) -> np.ndarray:
        return arrays()[number]


def numbers(source: ndd.ExternalSource) -> list[int]:
    """The first elements of all items that are left."""
    found = []
    while True:
        try:
            found.append(int(np.asarray(source()).flat[0]))
        except StopIteration:
            return found


@pytest.mark.parametrize(
    "make",
    [
        arrays,
        lambda: tuple(arrays()),
        lambda: np.stack(arrays()),
        lambda: iter(arrays()),
        generate,
        lambda: generate,
        lambda: functools.partial(generate),
        GeneratorCall,
        ByNumber,
        lambda: map(np.asarray, arrays()),
    ],
)
def test_iterables(make: Callable[[], Any]) -> None:
    source = ndd.ExternalSource(make())
    for expected in arrays():
        result = source()
        assert isinstance(result, ndd.Tensor)
        np.testing.assert_array_equal(np.asarray(result), expected)
    for _ in range(2):
        with pytest.raises(StopIteration):
            source()


def test_functions() -> None:
    counter = itertools.count()
    source = ndd.ExternalSource(lambda: np.full(3, next(counter)))
    assert [source().torch().tolist() for _ in range(3)] == [[0] * 3, [1] * 3, [2] * 3]
    bound = ndd.ExternalSource(functools.partial(np.full, 2, fill_value=7))
    assert bound().torch().tolist() == [7, 7]


def test_a_function_may_end() -> None:
    items = iter([1, 2])
    source = ndd.ExternalSource(lambda: next(items))
    assert numbers(source) == [1, 2]


@pytest.mark.parametrize("cycle", ["quiet", True])
def test_cycle_quiet(cycle: Any) -> None:
    source = ndd.ExternalSource(generate, cycle=cycle)
    assert [int(source()[0, 0].item()) for _ in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_cycle_raise() -> None:
    source = ndd.ExternalSource(arrays(2), cycle="raise")
    assert [numbers(source) for _ in range(3)] == [[0, 1]] * 3


@pytest.mark.parametrize("cycle", ["quiet", "raise"])
def test_cycle_of_nothing_ends(cycle: Any) -> None:
    source = ndd.ExternalSource([], cycle=cycle)
    for _ in range(3):
        with pytest.raises(StopIteration):
            source()


def test_samples_and_batches() -> None:
    source = ndd.ExternalSource([np.arange(3), ndd.batch([[1], [2, 3]]), 5])
    sample = source(batch_size=2)
    assert isinstance(sample, ndd.Batch)
    assert sample.torch().tolist() == [[0, 1, 2]] * 2
    batch = source()
    assert isinstance(batch, ndd.Batch)
    assert batch.shape == [(1,), (2,)]
    assert source().item() == 5


def test_several_outputs() -> None:
    image = np.zeros((4, 4, 3), np.uint8)
    source = ndd.ExternalSource(
        lambda: [image, image[..., 0]],
        num_outputs=2,
        layout=["HWC", "HW"],
        dtype=[None, ndd.float16],
    )
    outputs = source(batch_size=2)
    assert isinstance(outputs, tuple)
    assert [output.layout for output in outputs] == ["HWC", "HW"]
    assert [output.dtype for output in outputs] == [ndd.uint8, ndd.float16]
    one = ndd.ExternalSource(lambda: (image, image), 2, layout="HWC", dtype="f32", device="cpu")
    assert [(output.layout, output.dtype) for output in one()] == [("HWC", ndd.float32)] * 2


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ((None,), TypeError, "must be callable, iterable or a parameterless generator function"),
        ((5,), TypeError, "must be callable, iterable or a parameterless generator function"),
        ((lambda info: info,), ValueError, "only supports callables with no parameters"),
        ((lambda a, b: a + b,), TypeError, "Found more than one positional argument"),
        ((lambda *a: a,), TypeError, r"Found var-positional argument `\*a`"),
        ((lambda **k: k,), TypeError, r"Found var-keyword argument `\*\*k`"),
        ((lambda *, k: k,), TypeError, "Found keyword-only argument `k`"),
        (([], 0), ValueError, "num_outputs must be strictly positive"),
        (([], -1), ValueError, "num_outputs must be strictly positive"),
        (([], "2"), TypeError, "'num_outputs' must be an integer; got '2'"),
    ],
)
def test_what_is_no_source(arguments: tuple[Any, ...], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        ndd.ExternalSource(*arguments)


@pytest.mark.parametrize(
    ("source", "options", "kind", "text"),
    [
        (
            lambda: 1,
            {"cycle": "quiet"},
            ValueError,
            "can only be specified if `source` is iterable",
        ),
        (lambda: 1, {"cycle": "no"}, ValueError, "can only be specified if `source` is iterable"),
        ([1], {"cycle": "always"}, ValueError, "Invalid value 'always' for the argument `cycle`"),
        (generate(), {"cycle": True}, TypeError, "Cannot cycle through a generator"),
        ([1], {"layout": ["HWC", "HW"]}, ValueError, "Expected a sequence of size 1, got 2"),
        ([1], {"dtype": []}, ValueError, "Expected a sequence of size 1, got 0"),
        ([1], {"device": ["cpu"] * 3}, ValueError, "Expected a sequence of size 1, got 3"),
        ([1], {"dtype": "f33"}, ValueError, "f33"),
    ],
)
def test_bad_options(
    source: Any, options: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        ndd.ExternalSource(source, **options)


@pytest.mark.parametrize(
    ("item", "outputs", "batch_size", "kind", "text"),
    [
        (ndd.batch([1, 2, 3]), 1, 4, ValueError, "Expected batch size 4, got 3"),
        (1, 1, -1, ValueError, "'batch_size' must not be negative"),
        (1, 1, 1.5, TypeError, "'batch_size' must be an integer"),
        ((1,), 2, None, ValueError, "Expected 2 outputs from the source, got 1"),
        (np.zeros(2), 2, None, ValueError, "Expected 2 outputs from the source, got ndarray"),
        ((1, ndd.batch([1])), 2, None, TypeError, "uniformly Tensors or uniformly Batches"),
        (None, 1, None, TypeError, "None"),
        ("text", 1, None, TypeError, "text"),
        ([[1], [2, 3]], 1, None, ValueError, "cannot make an array"),
    ],
)
def test_bad_items(
    item: Any, outputs: int, batch_size: Any, kind: type[Exception], text: str
) -> None:
    source = ndd.ExternalSource(lambda: item, outputs)
    with pytest.raises(kind, match=text):
        source(batch_size=batch_size)


def test_an_item_that_failed_is_over() -> None:
    source = ndd.ExternalSource([np.zeros(2), "text", np.ones(2)])
    source()
    with pytest.raises(TypeError):
        source()
    assert source().torch().tolist() == [1, 1]


def test_uniform_after_broadcasting() -> None:
    source = ndd.ExternalSource(lambda: (7, ndd.batch([1, 2])), 2)
    first, second = source(batch_size=2)
    assert first.torch().tolist() == [7, 7]
    assert second.torch().tolist() == [1, 2]


def test_threads_share_a_source() -> None:
    source = ndd.ExternalSource(number for number in range(400))
    found: list[int] = []

    def work() -> None:
        found.extend(numbers(source))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(400))


@pytest.mark.parametrize(
    "make",
    [
        lambda: arrays(5),
        lambda: iter(arrays(5)),
        lambda: (array for array in arrays(5)),
        lambda: functools.partial(next, iter(arrays(5))),
    ],
)
def test_resuming(make: Callable[[], Any]) -> None:
    for taken in range(6):
        source = ndd.ExternalSource(make())
        for _ in range(taken):
            source()
        state = source.get_state()
        assert len(state) < 200
        assert json.loads(state)["version"] == 1
        resumed = ndd.ExternalSource(make())
        resumed.set_state(state.encode() if taken % 2 else state)
        assert numbers(resumed) == numbers(source) == list(range(taken, 5))


@pytest.mark.parametrize("cycle", ["quiet", "raise"])
def test_resuming_a_cycle(cycle: Any) -> None:
    def steps(source: ndd.ExternalSource, count: int) -> list[Any]:
        found: list[Any] = []
        for _ in range(count):
            try:
                found.append(source().item())
            except StopIteration:
                found.append("end")
        return found

    expected = steps(ndd.ExternalSource(range(3), cycle=cycle), 20)
    for taken in range(12):
        source = ndd.ExternalSource(range(3), cycle=cycle)
        steps(source, taken)
        resumed = ndd.ExternalSource(range(3), cycle=cycle)
        resumed.set_state(source.get_state())
        assert steps(resumed, 8) == steps(source, 8) == expected[taken : taken + 8]


def test_a_used_source_goes_back() -> None:
    source = ndd.ExternalSource(arrays(4))
    source()
    state = source.get_state()
    numbers(source)
    source.set_state(state)
    assert numbers(source) == [1, 2, 3]


class Stateful:
    """An iterable that goes on from its state, as the data loaders of torch do."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while self.at < 5:
            self.at += 1
            yield self.at * 10

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


class StatefulFunction(Stateful):
    __iter__ = None  # type: ignore[assignment]

    def __call__(self) -> int:
        self.at += 1
        if self.at > 5:
            raise StopIteration
        return self.at * 10


@pytest.mark.parametrize("kind", [Stateful, StatefulFunction])
def test_sources_with_a_state(kind: type[Stateful]) -> None:
    source = ndd.ExternalSource(kind())
    source()
    source()
    state = source.get_state()
    source()
    resumed = ndd.ExternalSource(kind())
    resumed.set_state(state)
    assert numbers(resumed) == [30, 40, 50]
    source.set_state(state)
    assert numbers(source) == [30, 40, 50]


def test_bad_states() -> None:
    source = ndd.ExternalSource(arrays(2))
    good = ndd.ExternalSource(arrays(5))
    numbers(good)
    with pytest.raises(ValueError, match="the state is after 5 items; the source ended after 2"):
        source.set_state(good.get_state())
    for text in ("", "{}", "[1]", '{"version":1,"taken":-1,"source":null}'):
        with pytest.raises(ValueError, match="not the state of an ExternalSource"):
            source.set_state(text)
    with pytest.raises(ValueError, match="unknown version 9"):
        source.set_state('{"version":9,"taken":0,"source":null}')
    with pytest.raises(TypeError, match="needs what get_state returned"):
        source.set_state(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has no load_state_dict"):
        source.set_state('{"version":1,"taken":1,"source":{"at":3}}')


def test_generators_do_not_go_back() -> None:
    source = ndd.ExternalSource(iter(arrays()))
    state = source.get_state()
    source()
    with pytest.raises(ValueError, match=r"an iterator cannot go back\. .* load_state_dict"):
        source.set_state(state)
    function = ndd.ExternalSource(lambda: 1)
    state = function.get_state()
    function()
    with pytest.raises(ValueError, match="a function cannot go back"):
        function.set_state(state)


def test_a_state_must_be_plain_data() -> None:
    class Strange(Stateful):
        def state_dict(self) -> dict[str, Any]:
            return {"at": object()}

    with pytest.raises(TypeError, match=r"state_dict\(\) must return plain data"):
        ndd.ExternalSource(Strange()).get_state()


def test_checkpoints() -> None:
    source = ndd.ExternalSource(arrays(4))
    stateful = ndd.ExternalSource(Stateful())
    checkpoint = ndd.checkpoint.Checkpoint()
    checkpoint.register(source, "source")
    checkpoint.register(stateful, "stateful")
    source(), source(), stateful()
    checkpoint.collect()
    text = checkpoint.serialize()
    assert json.loads(text)["states"]["source"]["type"] == "ExternalSource"
    restored = ndd.checkpoint.Checkpoint()
    restored.deserialize(text)
    fresh, other = ndd.ExternalSource(arrays(4)), ndd.ExternalSource(Stateful())
    restored.register(fresh, "source")
    restored.register(other, "stateful")
    assert numbers(fresh) == [2, 3]
    assert numbers(other) == [20, 30, 40, 50]
