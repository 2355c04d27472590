# SPDX-License-Identifier: Apache-2.0
"""Random numbers drawn by kernels in Triton: those of the CPU, and of the program in torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._gpu import philox, triton_philox
from support.compare import assert_near, assert_same
from support.gpu_compare import TYPES, ragged
from support.random_states import SHAPES, drawn_by_both, generators

DRAWN_TYPES = [kind for kind in TYPES if kind != "float16"]


def test_triton_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels, seen = philox.triton_kernels(), []
    words = kernels.words
    monkeypatch.setattr(kernels, "words", lambda *a: seen.append(a[-1]) or words(*a))
    ndd.random.uniform(shape=[5], device="gpu").evaluate()
    ndd.random.normal(shape=[5], device="gpu").evaluate()
    assert seen == [1, 2]


@pytest.mark.parametrize("count", [1, 2, 4, 8])
@pytest.mark.parametrize("shapes", SHAPES, ids=["ragged", "dense"])
def test_words_are_those_of_the_program_in_torch(
    monkeypatch: pytest.MonkeyPatch, shapes: Any, count: int
) -> None:
    like = ndd.batch([np.zeros(shape, np.uint8) for shape in shapes]).gpu().evaluate()
    drawn = []
    for kinds in ({"cpu"}, set()):
        monkeypatch.setattr(philox, "WITH_TRITON", kinds)
        philox._tried_kernels.cache_clear()
        for seed in range(6):
            state = generators(seed)[0]._stream.draw_operator_state()
            found = philox.draw_words(like._samples, state, count, lambda words: words)
            drawn.append(found.tolist())
    assert drawn[:6] == drawn[6:]


@pytest.mark.parametrize("kind", DRAWN_TYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=["ragged", "dense"])
def test_uniform_bit_by_bit(kind: str, shapes: Any) -> None:
    for seed, limits in enumerate([(-1, 1), (0, 255), (1000, 1001.5), (-5, 5), (0, 1)]):
        options = {"range": limits, "dtype": getattr(ndd, kind)}
        for found, expected in drawn_by_both(ndd.random.uniform, shapes, seed, **options):
            assert_same(found, expected, limits)


@pytest.mark.parametrize("shapes", SHAPES, ids=["ragged", "dense"])
def test_coins_bit_by_bit(shapes: Any) -> None:
    each = ndd.batch([0.1 + 0.01 * k for k in range(len(shapes))])
    for seed, probability in enumerate([0, 0.3, 1, each]):
        for found, expected in drawn_by_both(
            ndd.random.coin_flip, shapes, seed, probability=probability
        ):
            assert_same(found, expected)


@pytest.mark.parametrize("kind", DRAWN_TYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=["ragged", "dense"])
def test_normal_up_to_rounding(kind: str, shapes: Any) -> None:
    for seed in range(5):
        options = {"mean": 100, "stddev": 50, "dtype": getattr(ndd, kind)}
        for found, expected in drawn_by_both(ndd.random.normal, shapes, seed, **options):
            assert_near(found, expected, magnitude=1000)


def test_elements_of_several_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last program has fewer elements than the others."""
    monkeypatch.setattr(triton_philox, "_WORDS_BLOCK", 64)
    monkeypatch.setattr(triton_philox, "_EVENTS_BLOCK", 256)
    for shapes in SHAPES:
        for found, expected in drawn_by_both(ndd.random.uniform, shapes, 4):
            assert_same(found, expected)
        images = ndd.batch([np.full(shape, 30, np.uint8) for shape in shapes])
        for found, expected in _noisy(images, 2, factor=1):
            assert_same(found, expected)


def _noisy(images: ndd.Batch, seed: int, **options: Any) -> list[tuple[Any, Any]]:
    first, second = generators(seed)
    here = ndd.noise.shot(images, rng=first, **options)
    there = ndd.noise.shot(images.gpu(), rng=second, **options)
    return list(zip(map(np.asarray, there.cpu()), map(np.asarray, here), strict=True))


@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int16", "float32"])
def test_shot_noise_bit_by_bit(kind: str) -> None:
    """Decisions are made in double precision: all are the same, and so are whole numbers."""
    images = ragged(kind)
    dense = ndd.batch([images.select(0)] * 3, layout="HWC")
    each = ndd.batch([0.5, 20, 100, 0, -3])
    for seed, factor in enumerate([None, 1, 0.01, 20, each]):
        for batch in (images, dense) if factor is not each else (images,):
            for found, expected in _noisy(batch, seed, factor=factor):
                assert_same(found, expected)


@pytest.mark.parametrize("mean", [0, 0.01, 3, 11.99, 12, 13.5, 40, 255, 5000, 2e6])
def test_events_of_all_means(mean: float) -> None:
    image = np.full((60, 50), mean, np.float32)
    for found, expected in _noisy(ndd.batch([image] * 2), 1, factor=1):
        assert_same(found, expected)
        # Mean and variance of the distribution, within 5 standard deviations.
        assert abs(found.mean(dtype=np.float64) - mean) <= 5 * (mean / 3000) ** 0.5
        fourth = mean + 3 * mean**2
        assert abs(found.var(dtype=np.float64) - mean) <= 5 * ((fourth - mean**2) / 3000) ** 0.5


def test_frequencies_of_events() -> None:
    """Against the probabilities themselves: exp(-m) * m**k / k!."""
    for mean in (4.0, 15.0):
        image = ndd.tensor(np.full(20000, mean, np.float32)).gpu()
        found = np.asarray(ndd.noise.shot(image, factor=1, rng=ndd.random.RNG(2)).cpu())
        probability = np.exp(-mean)
        for k in range(40):
            deviation = (20000 * probability * (1 - probability)) ** 0.5
            assert abs((found == k).sum() - 20000 * probability) <= 5 * deviation + 1
            probability *= mean / (k + 1)


def test_values_that_are_not_means() -> None:
    image = np.array([np.nan, -5, np.inf, -np.inf, 3e9, 0], np.float32)
    there = ndd.noise.shot(ndd.tensor(image).gpu(), factor=1)
    found = np.asarray(there.cpu())
    np.testing.assert_array_equal(found, np.array([0, 0, np.nan, 0, np.nan, 0], np.float32))


def test_wide_integers_are_for_the_cpu() -> None:
    """Whether a mean is too large is not known on the host."""
    image = ndd.tensor(np.array([2**31 - 1, 1], np.int32)).gpu()
    with pytest.raises(ValueError, match="2147483648"):
        ndd.noise.shot(image, factor=0.5).evaluate()


def test_devices_that_triton_cannot_compile_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> torch.Tensor:
        msg = "no compiler"
        raise RuntimeError(msg, arguments)

    monkeypatch.setattr(philox.triton_kernels(), "words", fail)
    philox._tried_kernels.cache_clear()
    for found, expected in drawn_by_both(ndd.random.uniform, SHAPES[0], 1):
        assert_same(found, expected)
