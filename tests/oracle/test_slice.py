# SPDX-License-Identifier: Apache-2.0
"""flip, transpose and pad give what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each
from support.oracle import assert_agree

pytestmark = pytest.mark.oracle

TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4")


def random_samples(rng: np.random.Generator, ndim: int, dtype: str, count: int = 3) -> list[Array]:
    shapes = rng.integers(1, 9, (count, ndim))
    return [(rng.normal(size=tuple(shape)) * 100).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", [dtype for dtype in TYPES if dtype != "f2"])
@pytest.mark.parametrize(
    "layout", ["FDHWC", "FHWC", "DHWC", "HWC", "FCDHW", "FCHW", "CDHW", "CHW", None]
)
def test_flip(layout: str | None, dtype: str) -> None:
    rng = np.random.default_rng(1)
    samples = random_samples(rng, len(layout or "HWC"), dtype)
    some = Each([np.int32(flag) for flag in (0, 1, 1)])
    for flags in (
        {},
        {"vertical": 1},
        {"horizontal": 0, "vertical": 1, "depthwise": 1},
        {"depthwise": some},
        {"horizontal": some, "vertical": Each([np.int32(flag) for flag in (1, 0, 5)])},
    ):
        assert_agree("flip", samples, layout=layout, **flags)


@pytest.mark.parametrize("seed", range(60))
def test_transpose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 6))
    samples = random_samples(rng, ndim, TYPES[seed % len(TYPES)])
    order = [int(axis) for axis in rng.permutation(ndim)]
    arguments: dict[str, Any] = {"layout": "ABCDE"[:ndim]}
    choice = int(rng.integers(4))
    if choice > 0:
        arguments["perm"] = order
    if choice == 2:
        arguments["transpose_layout"] = False
    if choice == 3:
        arguments["output_layout"] = "VWXYZ"[:ndim]
    assert_agree("transpose", samples, **arguments)


@pytest.mark.parametrize("shape", [(64, 48, 3), (17, 33, 4), (40, 70, 1), (30, 50, 2), (20, 90, 7)])
@pytest.mark.parametrize("dtype", TYPES)
def test_transpose_images(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    samples = [(rng.normal(size=shape) * 100).astype(dtype)]
    for order in ([2, 0, 1], [1, 2, 0], [2, 1, 0], [1, 0, 2], [0, 2, 1]):
        assert_agree("transpose", samples, layout="HWC", perm=order)


@pytest.mark.parametrize("seed", range(80))
def test_pad(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 6))
    samples = random_samples(rng, ndim, TYPES[seed % len(TYPES)])
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
