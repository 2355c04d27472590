# SPDX-License-Identifier: Apache-2.0
"""Noise against plain Python, and its distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import TOLERANCES, assert_close, assert_same
from support.reference.color import to_type
from support.reference.philox import element_words

SEED = 1234
TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32"]


def call(name: str, samples: list[Any], layout: str | None = None, **arguments: Any) -> list[Any]:
    batch = ndd.batch(samples, layout=layout)
    rng = ndd.random.RNG(seed=SEED)
    result = getattr(ndd.noise, name)(batch, rng=rng, **arguments)
    return [np.array(sample) for sample in result.tensors]


def uniforms(sample: int, element: int, wide: bool) -> tuple[float, float]:
    words = element_words(SEED, sample, element)
    if wide:
        first, second = (next(words) | next(words) << 32 for _ in range(2))
        return first / 2**64, second / 2**64
    return next(words) / 2**32, next(words) / 2**32


@pytest.mark.parametrize("dtype", TYPES)
def test_gaussian_is_box_muller(dtype: str) -> None:
    """One normal number for each element, from its own position in the stream."""
    samples = [np.full((5, 7, 3), 100, dtype), np.full((2, 2, 3), 50, dtype)]
    wide = np.dtype(dtype).itemsize >= 4 and np.dtype(dtype).kind != "f"
    for index, actual in enumerate(call("gaussian", samples, "HWC", mean=3, stddev=9.5)):
        noise = np.empty(actual.size)
        for element in range(actual.size):
            u1, u2 = uniforms(index, element, wide)
            normal = math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2)
            noise[element] = 3 + 9.5 * normal
        exact = samples[index].astype(np.float64) + noise.reshape(actual.shape)
        if actual.dtype.kind == "f":
            assert_close(actual, exact, "small values")
        else:
            # What is half-way between integers within the error of float32 may go either way.
            clear = np.abs(exact % 1 - 0.5) > TOLERANCES["small values"].absolute
            assert clear.mean() > 0.99
            assert_same(actual[clear], to_type(exact, dtype)[clear])


def test_quick_and_exact_agree_everywhere() -> None:
    """Bytes are computed quickly; float32 is not, but adds the same noise."""
    image = np.random.default_rng(1).integers(0, 256, (300, 400), np.uint8)
    for stddev in (0.1, 3.0, 50.0):
        quick = call("gaussian", [image], mean=0.25, stddev=stddev)[0]
        exact = call("gaussian", [image.astype(np.float32)], mean=0.25, stddev=stddev)[0]
        assert_same(quick, to_type(exact, "uint8"))


@pytest.mark.parametrize("layout", ["HWC", "CHW", None])
@pytest.mark.parametrize("per_channel", [False, True])
def test_salt_and_pepper_positions(layout: str | None, per_channel: bool) -> None:
    image = np.full((4, 6, 3), 77, np.uint8)
    arguments = {"prob": 0.4, "salt_vs_pepper": 0.7, "per_channel": per_channel}
    (actual,) = call("salt_and_pepper", [image], layout, **arguments)
    expected = image.copy()
    pixels = np.arange(image.size).reshape(image.shape)
    if not per_channel and layout == "CHW":
        pixels = np.broadcast_to(np.arange(18).reshape(1, 6, 3), image.shape)
    elif not per_channel:
        pixels = pixels // 3
    for index, pixel in np.ndenumerate(pixels):
        draw = next(element_words(SEED, 0, int(pixel))) / 2**32
        if draw < 0.4:
            expected[index] = 255 if draw < 0.4 * 0.7 else 0
    assert_same(actual, expected)


@pytest.mark.parametrize("dtype", TYPES)
def test_salt_and_pepper_values(dtype: str) -> None:
    image = np.full((40, 50), 7, dtype)
    (default,) = call("salt_and_pepper", [image], "HW", prob=0.5)
    if np.dtype(dtype).kind == "f":
        ends = [-1, 1]
    else:
        ends = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    assert set(np.unique(default)) == {np.dtype(dtype).type(v) for v in (*ends, 7)}
    (chosen,) = call("salt_and_pepper", [image], "HW", prob=1, salt_val=20, pepper_val=3)
    assert set(np.unique(chosen).tolist()) == {3, 20}
    (share,) = call("salt_and_pepper", [image], "HW", prob=1, salt_vs_pepper=0.25, salt_val=20)
    assert abs((share == 20).mean() - 0.25) < 0.05


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("value", "factor"), [(60, 0.5), (40, 4), (3, 1)])
def test_shot_distribution(dtype: str, value: int, factor: float) -> None:
    """Mean and variance are those of a scaled Poisson distribution."""
    (actual,) = call("shot", [np.full((200, 100), value, dtype)], factor=factor)
    values = actual.astype(np.float64)
    deviation = math.sqrt(value * factor)
    # Rounding to integers lifts halves and adds a little variance.
    lift = 0.25 if factor == 0.5 and dtype != "float32" else 0
    assert abs(values.mean() - value - lift) < 5 * deviation / math.sqrt(actual.size)
    assert abs(values.std() / deviation - 1) < 0.05


def test_shot_multiplies_uniform_numbers() -> None:
    """For small means it counts uniform numbers until their product falls to exp(-mean)."""
    image = np.arange(120, dtype=np.uint8).reshape(8, 15)
    (actual,) = call("shot", [image], factor=12)
    for element, value in enumerate(image.ravel().tolist()):
        words = element_words(SEED, 0, element)
        mean = float(np.float32(value) * (np.float32(1) / np.float32(12)))
        count, product = -1, 1.0
        while product > math.exp(-mean) or count < 0:
            product *= (next(words) | next(words) << 32) / 2**64
            count += 1
        assert actual.ravel()[element] == min(12 * count, 255), element


def test_shot_of_nothing() -> None:
    image = np.array([[-5, 0, 5]], np.int16)
    assert call("shot", [image], factor=0)[0].tolist() == [[0, 0, 0]]
    assert call("shot", [image], factor=1)[0].tolist()[0][:2] == [0, 0]
    default, twelve = (call("shot", [image + 500], **a)[0] for a in ({}, {"factor": 12}))
    assert_same(default, twelve)


def test_wrong_arguments_are_refused() -> None:
    image = ndd.tensor(np.zeros((4, 5, 3), np.uint8), layout="HWC")
    with pytest.raises(ValueError, match=r"noise.salt_and_pepper: 'prob' must be in \[0, 1\]; got"):
        ndd.noise.salt_and_pepper(image, prob=1.5).evaluate()
    with pytest.raises(ValueError, match=r"noise.salt_and_pepper: channels \(C\) must be the"):
        ndd.noise.salt_and_pepper(
            ndd.tensor(np.zeros((4, 3, 5), np.uint8), layout="HCW")
        ).evaluate()
    with pytest.raises(ValueError, match=r"noise.shot: 'factor' must be finite"):
        ndd.noise.shot(image, factor=float("nan")).evaluate()
    with pytest.raises(ValueError, match=r"noise.shot: the input divided by 'factor' must"):
        ndd.noise.shot(np.full((2, 2), 1e12, np.float32), factor=1).evaluate()
    with pytest.raises(ValueError, match=r"noise.gaussian: the type float64 is not supported"):
        ndd.noise.gaussian(np.zeros((2, 2))).evaluate()
