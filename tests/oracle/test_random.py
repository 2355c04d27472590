# SPDX-License-Identifier: Apache-2.0
"""Random programs, run with the reference and with this library: every bit must agree."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import daliesque as ours
from support.oracle import reference
from support.random_calls import Array, run_call, same_bits

pytestmark = pytest.mark.oracle

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
NUMBERS = [*INTEGERS, "float32", "float32", "float64", "float64"]
SHAPES: list[list[int]] = [[], [1], [7], [3, 5], [1000], [11, 3, 17]]


def random_range(choose: random.Random) -> list[float]:
    if choose.random() < 0.3:
        return [choose.randint(-300, 0), choose.randint(1, 70000)]
    scale = 10 ** choose.uniform(-3, 6)
    return sorted(choose.uniform(-scale, scale) for _ in range(2))


def per_sample(choose: random.Random, count: int, make: Any) -> Any:
    """One value for all samples, or one for each."""
    if choose.random() < 0.5:
        return make()
    return {"batch": [make() for _ in range(count)], "type": "float32"}


def random_weights(choose: random.Random, count: int) -> list[float]:
    weights = np.array([choose.random() for _ in range(count)], np.float32)
    return [float(weight) for weight in weights / weights.sum()]


def random_call(choose: random.Random, shapes: list[list[int]]) -> dict[str, Any]:
    count = choose.choice([1, 2, 3, 17])
    operator = choose.choice(["uniform", "uniform", "normal", "coin_flip", "beta", "choice"])
    inputs: list[Any] = []
    arguments: dict[str, Any] = {"batch_size": count, "shape": choose.choice(shapes)}
    if operator == "uniform":
        if choose.random() < 0.6:
            arguments["range"] = per_sample(choose, count, lambda: random_range(choose))
        else:
            length = choose.randint(1, 20)
            arguments["values"] = [choose.uniform(-300, 300) for _ in range(length)]
        arguments["dtype"] = {"dtype": choose.choice(NUMBERS)}
    elif operator == "normal":
        arguments["mean"] = per_sample(choose, count, lambda: choose.uniform(-100, 100))
        arguments["stddev"] = per_sample(choose, count, lambda: choose.uniform(0, 200))
        arguments["dtype"] = {"dtype": choose.choice(NUMBERS)}
    elif operator == "coin_flip":
        arguments["probability"] = per_sample(choose, count, choose.random)
        arguments["dtype"] = {"dtype": choose.choice(["bool", "uint8", "int32"])}
    elif operator == "beta":
        for parameter in ("alpha", "beta"):
            arguments[parameter] = per_sample(choose, count, lambda: 10 ** choose.uniform(-3, 2))
        arguments["dtype"] = {"dtype": choose.choice(["float32", "float64"])}
    else:
        entries = choose.randint(1, 60)
        source: Any = entries
        if choose.random() < 0.7:
            extents = [entries, *choose.choice([[], [], [2], [3, 2]])]
            source = (np.arange(np.prod(extents)) % 100).reshape(extents).tolist()
        inputs.append({"tensor": source, "type": choose.choice(INTEGERS)})
        if choose.random() < 0.5:
            arguments["p"] = random_weights(choose, entries)
    return {"op": operator, "times": 1, "inputs": inputs, "args": arguments}


def assert_agree(calls: list[dict[str, Any]], seed: int) -> None:
    """Make the calls one after the other, with one generator, in both libraries."""
    generators = reference.random.RNG(seed=seed), ours.random.RNG(seed=seed)
    for call in calls:
        expected, found = (
            run_call(reference, call, generators[0]),
            run_call(ours, call, generators[1]),
        )
        assert len(found) == len(expected)
        assert all(map(same_bits, found, expected)), call
    assert str(generators[0].state) == str(generators[1].state)


@pytest.mark.parametrize("seed", range(40))
def test_programs_agree(seed: int) -> None:
    choose = random.Random(seed)
    assert_agree([random_call(choose, SHAPES) for _ in range(12)], choose.getrandbits(64))


@pytest.mark.parametrize("shape", [[262143], [262144], [300007], [600, 701]])
def test_big_samples_agree(shape: list[int]) -> None:
    """From 2**18 elements on the reference cuts a sample into chunks, which matters for beta."""
    choose = random.Random(len(shape) + shape[0])
    calls = [random_call(choose, [shape]) for _ in range(2)]
    for alpha, beta in [(0.5, 0.6), (2.0, 0.5)]:
        arguments = {"shape": shape, "alpha": alpha, "beta": beta}
        calls.append({"op": "beta", "times": 1, "inputs": [], "args": arguments})
    assert_agree(calls, 3)


def test_many_samples_agree() -> None:
    arguments = {"batch_size": 40000}
    assert_agree([{"op": "uniform", "times": 1, "inputs": [], "args": arguments}], 5)


@pytest.mark.parametrize("library", [ours, reference], ids=["ours", "reference"])
def test_states_travel_both_ways(library: ModuleType) -> None:
    other = reference if library is ours else ours
    rng = library.random.RNG(seed=-12345)
    for steps in (0, 1, 5, 2**50):
        rng.advance(steps)
        moved = other.random.RNG(state=str(rng.state))
        assert str(moved.state) == str(rng.state)
        assert repr(moved) == repr(rng)
        assert [moved() for _ in range(10)] == [rng() for _ in range(10)]


def test_default_generators_agree() -> None:
    results: list[list[Array]] = []
    for library in (ours, reference):
        library.random.set_seed(77)
        draws = [np.array(library.random.uniform()) for _ in range(3)]
        results.append([*draws, np.array(library.random.get_default_rng()())])
    assert all(map(same_bits, *results))


def test_failed_calls_move_the_generator_alike() -> None:
    states = []
    for library, error in ((ours, ValueError), (reference, RuntimeError)):
        rng = library.random.RNG(seed=1)
        with pytest.raises(error):
            library.random.uniform(range=[2, 1], rng=rng).evaluate()
        states.append(str(rng.state))
    assert states[0] == states[1]
