# SPDX-License-Identifier: Apache-2.0
"""Arrays of any type, layout and size, for comparisons with the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LAYOUTS = ("HWC", "CHW", "DHWC", "CDHW", "FHWC", "FCHW", "CFHW")
TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")
BORDERS = ("pad", "edge", "reflect", "reflect_101", "wrap")


def random_array(rng: np.random.Generator, shape: list[int], dtype: str) -> Array:
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return (rng.normal(size=shape) * 200).astype(kind)
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, shape, kind, endpoint=True)


def random_samples(rng: np.random.Generator, layout: str, dtype: str, channels: int) -> list[Array]:
    return [
        random_array(
            rng, [channels if axis == "C" else int(rng.integers(1, 12)) for axis in layout], dtype
        )
        for _ in range(3)
    ]


def pick(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]
