# SPDX-License-Identifier: Apache-2.0
"""pad and slice give what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each, Type
from support.oracle import assert_agree
from support.random_arrays import BORDERS, LAYOUTS, TYPES, pick, random_array, random_samples

pytestmark = pytest.mark.oracle

PADDED_TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4")


def padded_samples(rng: np.random.Generator, ndim: int, dtype: str, count: int = 3) -> list[Array]:
    shapes = rng.integers(1, 9, (count, ndim))
    return [(rng.normal(size=tuple(shape)) * 100).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("seed", range(80))
def test_pad(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 6))
    samples = padded_samples(rng, ndim, PADDED_TYPES[seed % len(PADDED_TYPES)])
    arguments: dict[str, Any] = {"layout": "ABCDE"[:ndim]}
    count = int(rng.integers(1, ndim + 1))
    chosen = [int(axis) for axis in rng.permutation(ndim)[:count]]
    form = int(rng.integers(4))
    if form == 0:
        arguments["axes"] = [axis - (ndim if rng.random() < 0.5 else 0) for axis in chosen]
    elif form == 1:
        arguments["axis_names"] = "".join("ABCDE"[axis] for axis in chosen)
    elif form == 2:
        arguments["axes"] = Each([np.int32(rng.permutation(ndim)[:count]) for _ in samples])
    else:
        count = ndim
    if rng.random() < 0.5:
        arguments["align"] = [int(step) for step in rng.integers(1, 6, count)]
    if rng.random() < 0.3:
        arguments["shape"] = Each([np.int32(rng.integers(-1, 12, count)) for _ in samples])
    elif rng.random() < 0.5:
        arguments["shape"] = [int(extent) for extent in rng.integers(-1, 12, count)]
    if rng.random() < 0.5:
        arguments["fill_value"] = Each([np.float32(rng.uniform(-9, 9)) for _ in samples])
    assert_agree("pad", samples, **arguments)


def random_slice_arguments(
    rng: np.random.Generator, samples: list[Array], axes: int, inside: bool
) -> dict[str, Any]:
    low, high = (0.0, 1.0) if inside else (-0.6, 1.6)

    def relative() -> tuple[list[float], list[float]]:
        begin = [float(rng.uniform(low, 0.9)) for _ in range(axes)]
        return begin, [float(rng.uniform(b, max(high, b))) for b in begin]

    def absolute() -> tuple[list[int], list[int]]:
        smallest = min(min(s.shape) for s in samples)
        begin = [int(rng.integers(0 if inside else -5, smallest)) for _ in range(axes)]
        return begin, [int(rng.integers(b, (smallest if inside else 15) + 1)) for b in begin]

    form = int(rng.integers(8))
    begin, end = relative() if form in (0, 1, 2, 3) else absolute()
    size = [e - b for b, e in zip(begin, end, strict=True)]
    if form == 0:
        return {"rel_start": begin, "rel_end": end}
    if form == 1:
        return {"rel_start": begin, "rel_shape": size}
    if form == 2:
        return {"rel_end": [max(e, 0.0) for e in end]}
    if form == 3:
        return {"rel_shape": [max(s, 0.0) for s in size]}
    if form == 4:
        return {"start": begin, "end": end}
    if form == 5:
        return {"start": begin, "shape": size}
    if form == 6:
        return {"start": Each([np.int32(begin) for _ in samples]), "shape": size}
    return {"shape": Each([np.int32(size) for _ in samples])}


@pytest.mark.parametrize("seed", range(200))
def test_slice(seed: int) -> None:
    rng = np.random.default_rng(seed)
    layout = pick(rng, (*LAYOUTS, "HW", "X", None))
    samples = random_samples(rng, layout or "HWC", pick(rng, TYPES), int(rng.integers(1, 5)))
    ndim = samples[0].ndim
    arguments: dict[str, Any] = {"layout": layout}
    axes = 2
    if layout == "X" or rng.random() < 0.6:
        axes = int(rng.integers(1, ndim + 1))
        chosen = rng.permutation(ndim)[:axes]
        if layout and rng.random() < 0.5:
            arguments["axis_names"] = "".join(layout[axis] for axis in chosen)
        elif rng.random() < 0.5:
            arguments["axes"] = Each([np.int32(rng.permutation(ndim)[:axes]) for _ in samples])
        else:
            arguments["axes"] = [int(axis) - (ndim if rng.random() < 0.5 else 0) for axis in chosen]
    policy = pick(rng, ("error", "trim_to_shape", *BORDERS))
    arguments.update(random_slice_arguments(rng, samples, axes, inside=policy == "error"))
    if policy != "error":
        arguments["out_of_bounds_policy"] = policy
        arguments["fill_values"] = [float(rng.integers(0, 9))]
    if rng.random() < 0.3:
        arguments["dtype"] = Type(pick(rng, ("float32", "float16", "uint8")))
    assert_agree("slice", samples, **arguments)


@pytest.mark.parametrize("normalized_shape", [True, False])
@pytest.mark.parametrize("normalized_anchor", [True, False])
def test_slice_with_inputs(normalized_anchor: bool, normalized_shape: bool) -> None:
    rng = np.random.default_rng(8)
    samples = [random_array(rng, [20, 30, 3], "u1") for _ in range(3)]
    for _ in range(10):
        anchor, shape = rng.uniform(0, 0.5, (2, 3, 2)).astype(np.float32)
        if not normalized_anchor:
            anchor = anchor * 20
        if not normalized_shape:
            shape = shape * 20
        assert_agree(
            "slice",
            samples,
            list(anchor),
            list(shape),
            layout="HWC",
            normalized_anchor=normalized_anchor,
            normalized_shape=normalized_shape,
        )


@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_slice_with_integer_inputs(dtype: str) -> None:
    samples = [np.arange(60, dtype=np.uint8).reshape(4, 5, 3)] * 2
    anchor = [np.array([1, 0, 2], dtype), np.array([0, 2, 1], dtype)]
    shape = [np.array([3, 1, 1], dtype), np.array([4, 1, 0], dtype)]
    assert_agree("slice", samples, anchor, shape, axis_names="HWC", layout="HWC")
