# SPDX-License-Identifier: Apache-2.0
"""Noise against the reference library itself: the same generator gives the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each, Generator
from support.oracle import assert_agree, ours, reference

pytestmark = pytest.mark.oracle

TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32"]
SHAPES = [(31, 33, 3), (700, 3, 1), (1, 1, 4), (40, 50, 3)]


def make_data(rng: np.random.Generator, dtype: str, shapes: list[Any]) -> list[Array]:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return [rng.normal(0, 100, shape).astype(kind) for shape in shapes]
    limits = np.iinfo(kind)
    low, high = max(limits.min, -3000), min(limits.max, 3000)
    return [rng.integers(low, high, shape, kind, endpoint=True) for shape in shapes]


def assert_same_noise(
    name: str, data: list[Array], layout: str | None, arguments: dict[str, Any], seed: int
) -> None:
    assert_agree(f"noise.{name}", data, layout=layout, rng=Generator(seed), **arguments)


def each_or_all(rng: np.random.Generator, count: int, low: float, high: float) -> Any:
    if rng.random() < 0.5:
        return float(rng.uniform(low, high))
    return Each(rng.uniform(low, high, count), "float32")


@pytest.mark.parametrize("dtype", TYPES)
def test_gaussian(dtype: str) -> None:
    rng = np.random.default_rng(1)
    for round_ in range(8):
        data = make_data(rng, dtype, SHAPES)
        arguments = {
            "mean": each_or_all(rng, 4, -50, 50),
            "stddev": each_or_all(rng, 4, 0, [1, 20, 300, 1e4][round_ % 4]),
        }
        if round_ == 7:
            arguments = {}
        assert_same_noise("gaussian", data, "HWC", arguments, round_)


def test_gaussian_on_many_pixels() -> None:
    """Enough for every rare case of the quick computation."""
    rng = np.random.default_rng(2)
    for stddev in (0.3, 5.0, 60.0):
        data = make_data(rng, "uint8", [(2000, 1000)])
        assert_same_noise("gaussian", data, None, {"mean": 0.37, "stddev": stddev}, 3)


@pytest.mark.parametrize("dtype", TYPES)
def test_shot(dtype: str) -> None:
    rng = np.random.default_rng(3)
    for round_ in range(6):
        data = make_data(rng, dtype, SHAPES)
        factor = each_or_all(rng, 4, *[(0.5, 2), (5, 40), (-1, 1)][round_ % 3])
        assert_same_noise("shot", data, "HWC", {"factor": factor}, round_)
    assert_same_noise("shot", make_data(rng, dtype, SHAPES), None, {}, 9)
    assert_same_noise("shot", make_data(rng, dtype, SHAPES), None, {"factor": 0.0}, 9)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layout", ["HWC", "CHW", None])
def test_salt_and_pepper(dtype: str, layout: str | None) -> None:
    rng = np.random.default_rng(4)
    for round_ in range(8):
        data = make_data(rng, dtype, SHAPES)
        arguments: dict[str, Any] = {"per_channel": bool(rng.random() < 0.4)}
        for name, low, high in (
            ("prob", 0, 1),
            ("salt_vs_pepper", 0, 1),
            ("salt_val", -300, 300),
            ("pepper_val", -300, 300),
        ):
            if rng.random() < 0.6:
                arguments[name] = each_or_all(rng, 4, low, high)
        assert_same_noise("salt_and_pepper", data, layout, arguments, round_)


@pytest.mark.parametrize("prob", [0.0, 1.0, 0.5])
@pytest.mark.parametrize("name", ["FHWC", "DHWC", "CDHW"])
def test_salt_and_pepper_of_videos(prob: float, name: str) -> None:
    data = make_data(np.random.default_rng(5), "uint8", [(3, 10, 9, 4), (3, 7, 9, 2)])
    assert_same_noise("salt_and_pepper", data, name, {"prob": prob}, 2)


def test_generators_move_alike() -> None:
    """A call takes as many draws as one of the reference."""
    for name in ("gaussian", "shot", "salt_and_pepper"):
        states = []
        for library in (ours, reference):
            generator = library.random.RNG(seed=4)
            image = library.tensor(np.zeros((4, 5, 3), np.uint8), layout="HWC")
            getattr(library.noise, name)(image, rng=generator).evaluate()
            states.append(str(generator.state))
        assert states[0] == states[1]
