# SPDX-License-Identifier: Apache-2.0
"""random_crop_generator draws the reference's windows."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from support.libraries import Array
from support.oracle import ours, reference

pytestmark = pytest.mark.oracle


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
