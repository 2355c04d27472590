# SPDX-License-Identifier: Apache-2.0
"""Mirrored images are what the reference gives."""

from __future__ import annotations

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
