# SPDX-License-Identifier: Apache-2.0
"""Random numbers that are drawn on the device: those of the CPU, bit by bit or up to rounding."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._gpu import philox
from daliesque._gpu.fused import fused_double, fused_single
from daliesque._gpu.philox import parts_of
from support.cases import CASES
from support.compare import assert_near, assert_same
from support.contract import arrays, assert_outputs, call, make_batches, make_inputs
from support.gpu_compare import TYPES, assert_near_cpu, call_on_gpu, ragged
from support.random_states import SHAPES, drawn_by_both, generators
from support.reference.philox import element_words

DRAWN_TYPES = [kind for kind in TYPES if kind != "float16"]
RANGES = [(-1, 1), (0, 1), (-5, 5), (1000, 1001.5), (0, 255), (-3e9, 5e9), (1e19, 1e20)]


@pytest.fixture(autouse=True)
def all_on_the_device(simulate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate("cuda")
    monkeypatch.setattr(philox, "FEWEST", 0)


@pytest.mark.parametrize("kind", DRAWN_TYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=["ragged", "dense"])
def test_uniform_bit_by_bit(kind: str, shapes: Any) -> None:
    for seed, limits in enumerate(RANGES):
        options = {"range": limits, "dtype": getattr(ndd, kind)}
        for found, expected in drawn_by_both(ndd.random.uniform, shapes, seed, **options):
            assert_same(found, expected, limits)


def test_uniform_with_a_range_for_each_sample() -> None:
    limits = ndd.batch([[0, 1], [-5, 5], [1000, 1001], [0, 3], [2, 7], [-1e30, 1]])
    for found, expected in drawn_by_both(ndd.random.uniform, SHAPES[0], 5, range=limits):
        assert_same(found, expected)


@pytest.mark.parametrize("kind", DRAWN_TYPES)
def test_values_bit_by_bit(kind: str) -> None:
    for seed, values in enumerate([[1.5, 2, -3, 70000], ndd.batch([[1], [2, 3], [4, 5, 6]] * 2)]):
        options = {"values": values, "dtype": getattr(ndd, kind)}
        for found, expected in drawn_by_both(ndd.random.uniform, SHAPES[0], seed, **options):
            assert_same(found, expected)


@pytest.mark.parametrize("kind", ["bool", "uint8", "int32"])
@pytest.mark.parametrize("shapes", SHAPES, ids=["ragged", "dense"])
def test_coins_bit_by_bit(kind: str, shapes: Any) -> None:
    each = ndd.batch([0.1 + 0.01 * k for k in range(len(shapes))])
    for seed, probability in enumerate([0, 0.3, 1, each]):
        options = {"probability": probability, "dtype": getattr(ndd, kind)}
        for found, expected in drawn_by_both(ndd.random.coin_flip, shapes, seed, **options):
            assert_same(found, expected)


CHOICES = {
    "one": [5],
    "list": [1, 2, 70],
    "each": ndd.batch([np.arange(k, 4 * k + 1) for k in range(1, 7)]),
    "number": 1000,
    "power of two": 1 << 16,
    # One word in 256 is rejected, then one in four.
    "large": (1 << 24) + 1,
    "larger": np.int64(3 << 30),
}


@pytest.mark.parametrize("entries", CHOICES)
def test_choices_bit_by_bit(entries: str) -> None:
    for seed in range(5):
        options = {"a": CHOICES[entries]}
        for found, expected in drawn_by_both(_choose, SHAPES[0], seed, **options):
            assert_same(found, expected)


@pytest.mark.parametrize("kind", TYPES)
def test_choices_of_all_types(kind: str) -> None:
    entries = np.array([1, 3, 100, 7]).astype(kind)
    for weights in (None, [0.25, 0.5, 0.125, 0.125]):
        options = {"a": entries, "p": weights}
        for found, expected in drawn_by_both(_choose, SHAPES[1], 5, **options):
            assert_same(found, expected)


def test_choices_by_weights() -> None:
    rng = np.random.default_rng(8)
    each = [rng.dirichlet(np.ones(3 * k)).astype(np.float32) for k in (1, 2, 3, 4, 50, 6)]
    lists = ndd.batch([np.arange(len(weights)) * 10 for weights in each])
    options: list[dict[str, Any]] = [
        {"a": lists, "p": ndd.batch(each)},
        {"a": 5, "p": [0, 0.5, 0, 0.5, 0]},
        {"a": [7], "p": [1]},
        {"a": ndd.batch([[k, -k] for k in range(6)]), "p": [0.9, 0.1]},
    ]
    for seed, given in enumerate(options):
        for found, expected in drawn_by_both(_choose, SHAPES[0], seed, **given):
            assert_same(found, expected)


def test_choices_of_arrays() -> None:
    for weights in (None, [0.5, 0.5]):
        first, second = generators(9)
        rows = np.array([[1, 2, 3], [4, 5, 6]], np.int16)
        options: dict[str, Any] = {"p": weights, "shape": [50], "batch_size": 3}
        here = ndd.random.choice(rows, **options, rng=first)
        there = ndd.random.choice(rows, **options, rng=second, device="gpu")
        for found, expected in zip(there.cpu(), here, strict=True):
            assert_same(found, expected)


def _choose(like: ndd.Batch, a: Any, **options: Any) -> Any:
    return ndd.random.choice(a, like, **options)


def test_rejected_words() -> None:
    """Lemire's method in plain Python."""
    size, rejected = (1 << 24) + 1, 0
    found = ndd.random.choice(size, shape=[1000], batch_size=2, device="gpu", rng=ndd.random.RNG(5))
    for sample, values in enumerate(found.cpu()):
        expected = []
        for element in range(1000):
            words = element_words(5, sample, element)
            while (product := next(words) * size) % 2**32 < 2**32 % size:
                rejected += 1
            expected.append(product >> 32)
        assert np.asarray(values).tolist() == expected
    assert rejected > 0


@pytest.mark.parametrize("kind", DRAWN_TYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=["ragged", "dense"])
def test_normal_up_to_rounding(kind: str, shapes: Any) -> None:
    each = ndd.batch([1.0 + k for k in range(len(shapes))])
    for seed, stddev in enumerate([50, each, 0]):
        options = {"mean": 100, "stddev": stddev, "dtype": getattr(ndd, kind)}
        for found, expected in drawn_by_both(ndd.random.normal, shapes, seed, **options):
            assert_near(found, expected, magnitude=1000)


def test_a_first_number_of_zero() -> None:
    """The logarithm of zero is not a number; the CPU takes the second one instead."""
    from daliesque._gpu.random import _normal

    first, second = torch.tensor([0.0, 0.0, 0.5]), torch.tensor([0.25, 0.0, 0.0])
    found = _normal(first, second).numpy()
    expected = np.sqrt(-2 * np.log([0.25, 1e-30, 0.5])).astype(np.float32)
    assert_near(found, expected)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("kind", ["uint8", "int16", "uint32", "float32"])
def test_salt_and_pepper_bit_by_bit(kind: str, per_channel: bool) -> None:
    images = ragged(kind)
    each = ndd.batch([0.1, 0.9, 0.0, 1.0, 0.5])
    options = [{}, {"prob": each}, {"prob": 0.5, "salt_vs_pepper": each, "salt_val": 7.0}]
    for seed, given in enumerate(options):
        for batch in (images, ndd.batch([images.select(0)] * 3, layout="HWC")):
            if len(batch) == 3 and given:
                continue
            first, second = generators(seed)
            here = ndd.noise.salt_and_pepper(batch, rng=first, per_channel=per_channel, **given)
            there = ndd.noise.salt_and_pepper(
                batch.gpu(), rng=second, per_channel=per_channel, **given
            )
            for found, expected in zip(there.cpu(), here, strict=True):
                assert_same(found, expected)


RANDOM_CASES = [
    case
    for case in CASES
    if case.operator.startswith(("noise.", "random.", "elastic", "jitter"))
    and case.operator != "random_bbox_crop"
]


@pytest.mark.parametrize("case", RANDOM_CASES, ids=lambda case: case.operator)
def test_operators_that_draw_fields(case: Any) -> None:
    inputs = make_inputs(case)
    for samples in (inputs, [[column[0]] * 3 for column in inputs]):
        expected = arrays(call(case, make_batches(case, samples)))
        found = arrays(call_on_gpu(case, make_batches(case, samples)))
        assert_outputs(found, expected, case.operator, assert_near_cpu)


@pytest.mark.parametrize("degree", [1, 2, 3, 64])
def test_jitter_bit_by_bit(degree: int) -> None:
    for mask in (1, ndd.batch([1, 0, 1, 0, 1])):
        batch, (first, second) = ragged(), generators(1)
        here = ndd.jitter(batch, nDegree=degree, mask=mask, rng=first)
        there = ndd.jitter(batch.gpu(), nDegree=degree, mask=mask, rng=second)
        for found, expected in zip(there.cpu(), here, strict=True):
            assert_same(found, expected)


@pytest.mark.parametrize("most", [64, 1000])
def test_parts_do_not_matter(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Large batches are drawn in parts, so that they need little memory meanwhile."""
    monkeypatch.setattr(philox, "_MOST_BLOCKS", most)
    for shapes, dtype in itertools.product(SHAPES, (ndd.float32, ndd.int32)):
        for found, expected in drawn_by_both(ndd.random.uniform, shapes, 3, dtype=dtype):
            assert_same(found, expected)


def test_parts_hold_all_elements_once() -> None:
    counts = np.array([5, 0, 100, 3, 3, 40, 1])
    for most in (1, 7, 40, 1000):
        seen = []
        for part in parts_of(np.arange(7), counts, most):
            assert part.counts.sum() <= most
            for sample, first, count in zip(*part, strict=True):
                seen += [(sample, element) for element in range(first, first + count)]
        assert seen == [(s, e) for s, count in enumerate(counts) for e in range(count)]


def test_words_are_those_of_the_algorithm() -> None:
    """Against the algorithm in plain Python, not only against the CPU."""
    found = ndd.random.uniform(
        range=(0, 1), shape=[6], batch_size=3, device="gpu", rng=ndd.random.RNG(77)
    )
    for sample, values in enumerate(found.cpu()):
        words = [next(element_words(77, sample, element)) for element in range(6)]
        factor = np.float32(np.nextafter(np.float32(1), np.float32(0))) * np.float32(2.0**-32)
        expected = np.array(words, np.uint32).astype(np.float32) * factor
        np.testing.assert_array_equal(np.asarray(values), expected)


def test_few_numbers_are_drawn_on_the_cpu(simulate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploading them takes less time than the launches."""
    monkeypatch.setattr(philox, "FEWEST", 1000)
    machine = simulate("cuda")
    ndd.random.uniform(shape=[10], device="gpu").evaluate()
    assert machine.journal.launches == []
    ndd.random.uniform(shape=[philox.FEWEST], device="gpu").evaluate()
    assert machine.journal.launches.count("mul") == 20


def test_devices_without_double_precision(simulate: Any) -> None:
    expected = [
        ndd.random.uniform(shape=[50], rng=ndd.random.RNG(3)),
        ndd.random.normal(shape=[50], rng=ndd.random.RNG(3)),
        ndd.random.normal(shape=[50], rng=ndd.random.RNG(3), dtype=ndd.int32, stddev=1e6),
    ]
    simulate("mps")
    found = [
        ndd.random.uniform(shape=[50], rng=ndd.random.RNG(3), device="gpu"),
        ndd.random.normal(shape=[50], rng=ndd.random.RNG(3), device="gpu"),
        ndd.random.normal(
            shape=[50], rng=ndd.random.RNG(3), dtype=ndd.int32, stddev=1e6, device="gpu"
        ),
    ]
    for there, here in zip(found, expected, strict=True):
        assert_near(there.cpu(), here, magnitude=5)


def exact(function: Callable[..., float], *values: float) -> float:
    """The exact sum of a product and a number, rounded once."""
    a, b, c = map(Fraction, values)
    return function(a * b + c)


def test_fused_double() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 2000)) * 2.0 ** rng.integers(-30, 30, (2, 2000))
    # Sums near which a tie is, and sums that cancel.
    c = np.where(rng.random(2000) < 0.5, -a * b * (1 + 2.0**-50), rng.normal(size=2000) * 1e3)
    found = fused_double(*(torch.from_numpy(values) for values in (a, b, c)))
    assert found.tolist() == [exact(float, *row) for row in zip(a, b, c, strict=True)]


def test_fused_single() -> None:
    rng = np.random.default_rng(4)
    count = 4000
    a = rng.integers(0, 2**32, count).astype(np.float32)
    b = (rng.random(count) * 2.0**-28).astype(np.float32)
    c = (rng.normal(size=count) * 2.0 ** rng.integers(-3, 12, count)).astype(np.float32)
    # Products just beside a tie of single precision.
    a[:1000], b[:1000] = 1 + 2.0**-23, (1 + 2.0**-23) * 2.0**-30
    c[:1000] = (1 + 2.0**-23 * np.arange(1000)) * 2.0**-6
    wide = [values.astype(np.float64) for values in (a, b, c)]
    found = fused_single(*map(torch.from_numpy, wide)).numpy()

    def single(value: Fraction) -> float:
        nearest = np.float32(float(value))
        near = [np.nextafter(nearest, np.float32(s * np.inf)) for s in (-1, 1)]
        return min(
            [nearest, *near],
            key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(np.int32)) & 1),
        )

    expected = np.array([exact(single, *row) for row in zip(*wide, strict=True)], np.float32)
    np.testing.assert_array_equal(found, expected)
