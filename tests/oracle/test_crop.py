# SPDX-License-Identifier: Apache-2.0
"""Crops are what the reference gives, and their random windows too."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each, Type
from support.oracle import assert_agree, ours, reference
from support.random_arrays import BORDERS, LAYOUTS, TYPES, pick, random_samples

pytestmark = pytest.mark.oracle


def random_crop_arguments(
    rng: np.random.Generator, layout: str, samples: list[Array]
) -> dict[str, Any]:
    """One of the ways to ask for a window, inside the samples."""
    smallest = {axis: min(s.shape[k] for s in samples) for k, axis in enumerate(layout)}

    def size(axis: str) -> float:
        return float(rng.integers(1, smallest[axis] + 1)) + float(pick(rng, [0, 0, 0.6]))

    deep = next((axis for axis in "DF" if axis in layout), None)
    form = int(rng.integers(4))
    arguments: dict[str, Any] = {}
    if form == 0:
        arguments["crop"] = [size("H"), size("W")]
        # The reference remembers the depth of an earlier call with otherwise equal fixed arguments:
        # a rounding of their own keeps calls with three values apart from those with two.
        if deep and rng.random() < 0.5:
            arguments["crop"].insert(0, size(deep))
            arguments["rounding"] = "truncate"
    elif form == 1:
        arguments["crop"] = Each([np.float32([size("H"), size("W")]) for _ in samples])
    elif form == 2:
        arguments.update(crop_h=size("H"), crop_w=Each([np.float32(size("W")) for _ in samples]))
        if deep:
            arguments["crop_d"] = size(deep)
    for name in ("crop_pos_x", "crop_pos_y", "crop_pos_z"):
        choice = int(rng.integers(3))
        if choice == 1:
            arguments[name] = float(rng.random())
        elif choice == 2:
            arguments[name] = Each([np.float32(rng.random()) for _ in samples])
    if form > 1 and rng.random() < 0.3:
        arguments["rounding"] = "truncate"
    return arguments


@pytest.mark.parametrize("seed", range(120))
def test_crop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = pick(rng, LAYOUTS)
    samples = random_samples(rng, layout, pick(rng, TYPES), int(rng.integers(1, 5)))
    arguments = random_crop_arguments(rng, layout, samples)
    if rng.random() < 0.4:
        arguments["dtype"] = Type(pick(rng, ("float32", "float16", "uint8")))
    assert_agree("crop", samples, layout=layout, **arguments)


@pytest.mark.parametrize("policy", [*BORDERS, "trim_to_shape"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_crop_beyond_the_input(layout: str, policy: str) -> None:
    rng = np.random.default_rng(5)
    samples = random_samples(rng, layout, "u1", 3)
    for crop in ((30, 4), (2, 25), (17, 40)):
        for fill in ([7.0], [1.0, 2.0, 3.7]):
            assert_agree(
                "crop",
                samples,
                layout=layout,
                crop=crop,
                crop_pos_x=0.3,
                out_of_bounds_policy=policy,
                fill_values=fill,
            )


@pytest.mark.parametrize("value", [300.0, -1.0, 2.7, -2.7])
@pytest.mark.parametrize("dtype", TYPES)
def test_fill_values_wrap_around(dtype: str, value: float) -> None:
    samples = [np.ones((2, 2, 1), dtype)]
    arguments = {"crop": (4, 3), "out_of_bounds_policy": "pad", "fill_values": [value]}
    assert_agree("crop", samples, layout="HWC", **arguments)


@pytest.mark.parametrize("seed", range(200))
def test_crop_mirror_normalize(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = pick(rng, (*LAYOUTS, "FDHWC", "FCDHW", "CFDHW"))
    channels = int(rng.integers(1, 5))
    samples = random_samples(rng, layout, pick(rng, ("u1", "i2", "u2", "i4", "f4", "f2")), channels)
    arguments = random_crop_arguments(rng, layout, samples)
    arguments["output_layout"] = pick(rng, ("", layout, "".join(rng.permutation(list(layout)))))
    arguments["mirror"] = pick(rng, (0, 1, Each([np.int32(v) for v in (1, 0, 1)])))
    for name, low in (("mean", -100.0), ("std", 0.5)):
        count = pick(rng, (1, channels))
        values = rng.uniform(low, 100.0, (3, count)).astype(np.float32)
        form = int(rng.integers(4))
        if form == 1:
            arguments[name] = values[0].tolist()
        elif form == 2 and count == 1:
            arguments[name] = float(values[0, 0])
        elif form == 3:
            arguments[name] = Each(list(values))
    if rng.random() < 0.3:
        arguments["scale"] = float(rng.uniform(0.5, 64))
    arguments["dtype"] = Type(pick(rng, ("float32", "float32", "float16", "uint8", "int8")))
    assert_agree("crop_mirror_normalize", samples, layout=layout, **arguments)


@pytest.mark.parametrize("policy", ["pad", "trim_to_shape"])
@pytest.mark.parametrize("mirror", [0, 1])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_crop_mirror_normalize_beyond_the_input(layout: str, mirror: int, policy: str) -> None:
    rng = np.random.default_rng(6)
    samples = random_samples(rng, layout, "u1", 3)
    for output_layout in ("", layout.replace("C", "") + "C", "C" + layout.replace("C", "")):
        for fill, pad_output in (([5.0], False), ([1.0, 2.0, 3.0], False), ([4.0], True)):
            assert_agree(
                "crop_mirror_normalize",
                samples,
                layout=layout,
                output_layout=output_layout,
                crop=(20, 7) if policy == "trim_to_shape" else (20, 15),
                crop_pos_x=0.2,
                mirror=mirror,
                mean=[1.0, 2.0, 3.0],
                std=[2.0, 3.0, 4.0],
                out_of_bounds_policy=policy,
                fill_values=fill,
                pad_output=pad_output,
            )


def test_shift() -> None:
    samples = [np.arange(24, dtype=np.uint8).reshape(2, 4, 3)]
    assert_agree(
        "crop_mirror_normalize",
        samples,
        layout="HWC",
        mean=[1.0, 2.0, 3.0],
        std=[2.0, 3.0, 4.0],
        scale=16.0,
        shift=100.0,
        dtype=Type("uint8"),
    )


def windows(library: ModuleType, sizes: list[Array], seed: int, **arguments: Any) -> list[Array]:
    rng = library.random.RNG(seed=seed)
    found = []
    for _ in range(3):
        results = library.random_crop_generator(library.as_batch(sizes), rng=rng, **arguments)
        found += [np.asarray(tensor) for result in results for tensor in result.tensors]
    return found


@pytest.mark.parametrize("dtype", ["i4", "i8", "u2"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"random_area": [0.3, 0.5], "random_aspect_ratio": [0.5, 0.6]},
        {"random_aspect_ratio": [2.0, 3.0], "num_attempts": 1},
        {"random_area": [0.9, 1.0], "num_attempts": 2},
    ],
)
def test_random_windows_are_equal(arguments: dict[str, Any], dtype: str) -> None:
    rng = np.random.default_rng(4)
    shapes = [(480, 640, 3), (1, 1, 3), (5000, 3, 1), (7, 5, 3), (1, 900, 3), (33, 40, 3)]
    shapes += [(int(h), int(w), 3) for h, w in rng.integers(1, 2000, (58, 2))]
    sizes = [np.array(shape, dtype) for shape in shapes]
    for seed in range(20):
        expected = windows(reference, sizes, seed, **arguments)
        got = windows(ours, sizes, seed, **arguments)
        for ours_array, theirs in zip(got, expected, strict=True):
            np.testing.assert_array_equal(ours_array, theirs)
