# SPDX-License-Identifier: Apache-2.0
"""Random operators: the recorded numbers of the reference, invariances, statistics, errors."""

from __future__ import annotations

import ctypes
import math
import platform
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque import _kernels
from support.compare import assert_close
from support.instruction_sets import use_instructions
from support.random_calls import Array, load_record, run_call, same_bits
from support.reference.philox import WORDS_PER_ELEMENT, Position, element_words

ABOUT, RESULTS = load_record()
# Log, cos, exp and pow come from the C library; elsewhere they may differ in the last bit.
SAME_C_LIBRARY = platform.libc_ver()[0] == "glibc" and platform.machine() == "x86_64"

SEED = 1234


def describe(index: int) -> str:
    call = ABOUT["calls"][index]
    return f"{index}-{call['op']}-{call['dtype']}"


@pytest.mark.parametrize("index", range(len(RESULTS)), ids=describe)
def test_numbers_are_those_of_the_reference(index: int) -> None:
    call = ABOUT["calls"][index]
    found, expected = run_call(ndd, call), RESULTS[index]
    assert [sample.shape for sample in found] == [sample.shape for sample in expected]
    if SAME_C_LIBRARY or call["op"] not in ("normal", "beta"):
        assert all(map(same_bits, found, expected))
    else:
        for sample, wanted in zip(found, expected, strict=True):
            assert_close(sample, wanted, "float32")


def every_operator(**common: Any) -> list[ndd.Batch]:
    rng = ndd.random.RNG(seed=99)
    common = {"rng": rng, "shape": [300, 1000], "batch_size": 3} | common
    return [
        ndd.random.uniform(range=(-5, 7), **common),
        ndd.random.uniform(range=(-5, 7), dtype=ndd.float64, **common),
        ndd.random.uniform(values=[1, 2, 3.5], **common),
        ndd.random.normal(mean=3, stddev=0.1, **common),
        ndd.random.normal(dtype=ndd.int32, stddev=100, **common),
        ndd.random.coin_flip(probability=0.3, **common),
        ndd.random.beta(alpha=0.5, beta=0.5, **common),
        ndd.random.choice(17, **common),
        ndd.random.choice([4.0, 5.0], p=[0.1, 0.9], **common),
        ndd.random.choice([[1, 2], [3, 4]], **common),
    ]


def values_of(batches: list[ndd.Batch]) -> list[Array]:
    return [np.array(sample) for batch in batches for sample in batch.tensors]


@pytest.fixture(scope="module")
def expected() -> list[Array]:
    with ndd.EvalMode.sync_cpu, ndd.EvalContext(num_threads=1):
        return values_of(every_operator())


@pytest.mark.parametrize("mode", ["deferred", "eager", "sync_cpu", "sync_full"])
def test_modes_agree(mode: str, expected: list[Array]) -> None:
    with getattr(ndd.EvalMode, mode):
        batches = every_operator()
        # Reading backwards: the order of reads must not matter.
        found = [[np.array(t) for t in batch.tensors] for batch in reversed(batches)][::-1]
    assert all(map(same_bits, [a for part in found for a in part], expected))


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_thread_counts_agree(threads: int, expected: list[Array]) -> None:
    with ndd.EvalContext(num_threads=threads):
        assert all(map(same_bits, values_of(every_operator()), expected))


@pytest.mark.parametrize("instructions", ["avx2", "portable"])
def test_instruction_sets_agree(instructions: str, expected: list[Array]) -> None:
    with use_instructions(instructions):
        assert all(map(same_bits, values_of(every_operator()), expected))


def test_counter_may_wrap_inside_a_sample() -> None:
    """The vector loop leaves the carry into the high half of the counter to the scalar one."""
    words = np.array([1, 0, 0xFFFFFFFF - 500, 0xFFFFFFFF, 7, 9, 2], np.uint32)
    key, low, high = (int(words[i]) | int(words[i + 1]) << 32 for i in (0, 2, 4))
    state = f"Philox_{key:016X}_{high:016X}:{low:016X}_{words[6] & 3}"
    out = _kernels.empty_uniform(ndd.uint32.code, [100], "", 1)
    _kernels.uniform(out, _kernels.PhiloxState.parse(state), np.array([[0, 2**31]], np.float32))
    found = np.array(_kernels.numpy_view(out, 0))
    for element in range(100):
        draws = ndd.random.RNG(state=state)
        draws.advance(257 * element)
        word = draws() | draws() << 32
        limit = math.nextafter(2.0**31, 0)
        assert found[element] == math.floor(min(word * (limit * 2.0**-64), limit) + 0.5)


def float_function(name: str) -> Any:
    """A function of the C library, from float to float."""
    function = getattr(ctypes.CDLL(None), name)
    function.argtypes, function.restype = [ctypes.c_float], ctypes.c_float
    return function


def drawn_float(log: Any, cos: Any, words: Iterator[int]) -> float:
    u1, u2 = (np.float32(next(words)) * np.float32(2**-32) for _ in range(2))
    radius = np.sqrt(np.float32(-2) * np.float32(log(u1)))
    return float(radius * np.float32(cos(np.float32(2 * math.pi) * u2)))


def drawn_double(words: Iterator[int]) -> float:
    """Functions of `math` are those of the C library."""
    u1, u2 = (float(next(words) | next(words) << 32) * 2**-64 for _ in range(2))
    return math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2)


@pytest.mark.skipif(platform.system() != "Linux", reason="looks for functions of the C library")
@pytest.mark.parametrize("instructions", ["vector", "avx2", "portable"])
@pytest.mark.parametrize("count", [1, 4, 7, 17, 33, 515])
def test_normal_has_the_bits_of_the_c_library(instructions: str, count: int) -> None:
    log, cos = float_function("logf"), float_function("cosf")
    for dtype in (ndd.float32, ndd.float64):
        rng = ndd.random.RNG(seed=SEED)
        with use_instructions(instructions):
            batch = ndd.random.normal(shape=[count], batch_size=2, dtype=dtype, rng=rng)
            found = values_of([batch])
        for sample, numbers in enumerate(found):
            for element, number in enumerate(numbers):
                words = element_words(SEED, sample, element)
                narrow = dtype == ndd.float32
                expected = drawn_float(log, cos, words) if narrow else drawn_double(words)
                assert number == expected, (dtype, sample, element)


@pytest.mark.parametrize("instructions", ["vector", "avx2", "portable"])
def test_normal_of_a_zero(instructions: str) -> None:
    """Zero has no logarithm: the other number of the pair is used instead."""
    first, element = Position(key=0, word=4 * 0xC0913315 + 1), 5
    words = Position(first.key, first.word + WORDS_PER_ELEMENT * element).words()
    assert next(words) == 0
    state = f"Philox_{first.key:016X}_{0:016X}:{first.word // 4:016X}_{first.word % 4}"
    out = _kernels.empty_uniform(ndd.float32.code, [64], "", 1)
    with use_instructions(instructions):
        mean, stddev = np.full(1, 10, np.float32), np.full(1, 2, np.float32)
        _kernels.normal(out, _kernels.PhiloxState.parse(state), mean, stddev)
    expected = 10 + 2 * math.sqrt(-2 * math.log(next(words) / 2**32))
    assert_close(np.array(_kernels.numpy_view(out, 0))[element], np.float32(expected), "float32")


@pytest.mark.parametrize("instructions", ["vector", "avx2", "portable"])
def test_choice_draws_again(instructions: str) -> None:
    """Words that would favor some of the choices are rejected: with this seed, one is."""
    seed, choices, rejected = 93, 60000, 0
    with use_instructions(instructions):
        found = np.array(ndd.random.choice(choices, shape=[50], rng=ndd.random.RNG(seed=seed)))
    for element, number in enumerate(found):
        for word in element_words(seed, 0, element):
            if word * choices % 2**32 >= 2**32 % choices:
                break
            rejected += 1
        assert number == word * choices >> 32
    assert rejected == 1


def test_a_tensor_is_the_first_sample_of_a_batch() -> None:
    for arguments in ({"shape": [5]}, {}):
        tensor = ndd.random.uniform(rng=ndd.random.RNG(seed=4), **arguments)
        batch = ndd.random.uniform(rng=ndd.random.RNG(seed=4), batch_size=3, **arguments)
        assert isinstance(tensor, ndd.Tensor)
        assert isinstance(batch, ndd.Batch)
        assert same_bits(np.array(tensor), np.array(batch.select(0)))


def test_every_call_moves_the_generator_alike() -> None:
    rng = ndd.random.RNG(seed=8)
    ndd.random.uniform(rng=rng)
    ndd.random.choice(5, rng=rng, shape=[1000], batch_size=100)
    with pytest.raises(ValueError, match="ascending"):
        ndd.random.uniform(range=(1, 0), rng=rng).evaluate()
    other = ndd.random.RNG(seed=8)
    other.advance(3 * 7)
    assert rng.state == other.state


def test_default_generator_is_used() -> None:
    ndd.random.set_seed(1)
    first = np.array(ndd.random.normal(shape=[4]))
    ndd.random.set_seed(1)
    assert same_bits(first, np.array(ndd.random.normal(shape=[4])))
    explicit = ndd.random.normal(shape=[4], rng=ndd.random.RNG(seed=1))
    assert same_bits(first, np.array(explicit))


def draw(operator: str, *inputs: Any, count: int = 200_000, **arguments: Any) -> Array:
    function = getattr(ndd.random, operator)
    rng = ndd.random.RNG(seed=77)
    return np.array(function(*inputs, shape=[count], rng=rng, **arguments), np.float64)


def assert_follows(values: Array, cumulative: Any) -> None:
    """Kolmogorov-Smirnov: the largest distance of the distribution functions; p about 1e-4."""
    ordered = np.sort(values)
    steps = np.arange(1, len(ordered) + 1) / len(ordered)
    distance = np.abs(steps - cumulative(ordered)).max()
    assert distance < 2.3 / math.sqrt(len(ordered))


def test_statistics() -> None:
    assert_follows(draw("uniform", range=(2, 6)), lambda x: (x - 2) / 4)
    assert_follows(draw("uniform", dtype=ndd.float64), lambda x: (x + 1) / 2)
    erf = np.vectorize(math.erf)
    assert_follows(draw("normal"), lambda x: (1 + erf(x / math.sqrt(2))) / 2)
    assert_follows(draw("beta", alpha=2, beta=1), lambda x: x**2)
    skewed = draw("beta", alpha=1, beta=0.25, dtype=ndd.float64)
    assert_follows(skewed, lambda x: 1 - (1 - x) ** 0.25)
    # Beta(1/2, 1/2) is the arcsine law.
    arcsine = draw("beta", alpha=0.5, beta=0.5)
    assert_follows(arcsine, lambda x: 2 / math.pi * np.arcsin(np.sqrt(x)))
    assert abs(draw("coin_flip", probability=0.3).mean() - 0.3) < 0.005
    for found, weights in [
        (draw("choice", 4), [0.25] * 4),
        (draw("choice", 4, p=[0.1, 0, 0.6, 0.3]), [0.1, 0, 0.6, 0.3]),
        (draw("uniform", values=[0, 1, 2, 3]), [0.25] * 4),
    ]:
        shares = np.bincount(found.astype(int), minlength=4) / len(found)
        assert_close(shares, weights, "shares")


def test_samples_of_a_batch_differ() -> None:
    batch = ndd.random.uniform(shape=[8], batch_size=64, rng=ndd.random.RNG(seed=5))
    assert len({np.array(sample).tobytes() for sample in batch.tensors}) == 64


def test_shapes_and_types_of_results() -> None:
    assert ndd.random.uniform().shape == ()
    assert ndd.random.uniform().dtype is ndd.float32
    assert ndd.random.coin_flip().dtype is ndd.int32
    assert ndd.random.uniform(shape=3).shape == (3,)
    assert ndd.random.uniform(shape=[0, 2]).shape == (0, 2)
    assert ndd.random.uniform(np.zeros((2, 3))).shape == (2, 3)
    ragged = ndd.random.uniform(shape=ndd.batch([[1, 2], [3, 4]]))
    assert list(ragged.shape) == [(1, 2), (3, 4)]
    images = ndd.tensor(np.zeros((5, 4, 3), np.uint8), layout="HWC")
    assert ndd.random.uniform(images).layout in (None, "")
    assert ndd.random.choice(images).layout == "WC"
    assert ndd.random.choice(images, shape=[2]).layout == "HWC"
    assert ndd.random.choice(images, shape=[2, 2]).layout in (None, "")
    assert ndd.random.choice([1.5]).dtype is ndd.float32


def test_empty_batch() -> None:
    assert ndd.random.uniform(batch_size=0).batch_size == 0


@pytest.mark.parametrize(
    ("operator", "inputs", "arguments", "kind", "message"),
    [
        ("uniform", (), {"range": (1, 1)}, ValueError, "'range' must be two ascending numbers"),
        ("uniform", (), {"range": (0, math.nan)}, ValueError, "'range' must be two ascending"),
        ("uniform", (), {"range": [0, 1, 2]}, ValueError, "'range' must hold two numbers"),
        ("uniform", (), {"range": "ab"}, TypeError, "'range'"),
        ("uniform", (), {"values": []}, ValueError, "'values' must hold at least one"),
        ("uniform", (), {"values": [[1.0]]}, ValueError, "'values' must be a list"),
        ("uniform", (), {"values": [1], "range": (0, 1)}, ValueError, "not both"),
        ("uniform", (), {"shape": [-1]}, ValueError, "'shape' must not be negative"),
        ("uniform", (), {"shape": [2.5]}, ValueError, "'shape' must be a list of integers"),
        ("uniform", ([1],), {"shape": [1]}, ValueError, "not both"),
        ("uniform", (), {"dtype": ndd.float16}, ValueError, "'dtype' must be one of"),
        ("uniform", (), {"rng": 5}, TypeError, "'rng' must be a daliesque.random.RNG; got 5"),
        ("uniform", (), {"seed": 5}, TypeError, "unexpected keyword argument 'seed'"),
        ("uniform", (), {"device": "gpu"}, (ValueError, RuntimeError), "gpu|accelerator"),
        ("uniform", (), {"batch_size": -1}, ValueError, "batch_size"),
        ("normal", (), {"mean": [1, 2]}, (TypeError, ValueError), "'mean'"),
        ("normal", (), {"dtype": ndd.bool}, ValueError, "'dtype' must be one of"),
        ("coin_flip", (), {"probability": 1.5}, ValueError, r"'probability' must be in \[0, 1\]"),
        ("coin_flip", (), {"probability": math.nan}, ValueError, "'probability'"),
        ("coin_flip", (), {"dtype": ndd.float32}, ValueError, "'dtype' must be one of"),
        ("beta", (), {"alpha": 0}, ValueError, "'alpha' must be positive and finite; got 0.0"),
        ("beta", (), {"beta": math.inf}, ValueError, "'beta' must be positive and finite"),
        ("beta", (), {"dtype": ndd.int32}, ValueError, "'dtype' must be one of"),
        ("choice", (), {}, TypeError, "'a' is missing"),
        ("choice", (0,), {}, ValueError, "something to choose from; got 0"),
        ("choice", (2.5,), {}, ValueError, "the input must be an integer"),
        ("choice", (np.zeros((0, 3)),), {}, ValueError, "something to choose from"),
        ("choice", (3,), {"p": [0.5, 0.5]}, ValueError, "one probability for each of the 3"),
        ("choice", (2,), {"p": [0.5, 0.6]}, ValueError, "must sum to 1"),
        ("choice", (2,), {"p": [-0.5, 1.5]}, ValueError, r"numbers in \[0, 1\]"),
        ("choice", (2,), {"dtype": ndd.int8}, TypeError, "unexpected keyword argument 'dtype'"),
    ],
)
def test_wrong_arguments_are_refused(
    operator: str, inputs: tuple[Any, ...], arguments: dict[str, Any], kind: Any, message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        getattr(ndd.random, operator)(*inputs, **arguments).evaluate()
    assert operator in str(caught.value) or "device" in arguments


def test_errors_name_the_sample() -> None:
    ranges = ndd.batch([[0, 1], [5, 6], [3, 2]])
    with pytest.raises(ValueError, match=r"random\.uniform: .*\[3\.0, 2\.0\] \(sample 2\)"):
        ndd.random.uniform(range=ranges).evaluate()


@pytest.mark.parametrize("shape", [[2**40, 2**40], [2**62], [2**33, 2**20]])
def test_huge_shapes(shape: list[int]) -> None:
    with pytest.raises((MemoryError, ValueError)):
        ndd.random.uniform(shape=shape).evaluate()
