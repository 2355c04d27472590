# SPDX-License-Identifier: Apache-2.0
"""What a row of `benchmarks/peers.py` is, and the pictures that rows work on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Call = Callable[[], Any]


class Row(NamedTuple):
    """The same work by several libraries.

    `make` prepares the data and gives a call for each library, by the name of its module; what
    follows a hyphen says in which way it is done ("cv2-area"). A star at the end marks a peer that
    does less or other work: it is shown, and not compared. `make` itself imports no peer: a call
    does, or `libraries` of the row's module, so that a library may be missing. `target` is the
    ratio to the best peer that the row is meant to reach.
    """

    make: Callable[[], dict[str, Call]]
    target: float = 1.0


def drawn(height: int, width: int, rng: np.random.Generator) -> Array:
    """An image with smooth parts, an edge and noise."""
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / rng.uniform(5, 40) + y / rng.uniform(5, 40)) for _ in range(3)]
    image = 128 + 90 * np.stack(waves, axis=2) + rng.normal(0, 8, (height, width, 3))
    image[height // 4 : height // 2, width // 3 : width // 2] = rng.uniform(0, 255, 3)
    return image.clip(0, 255).astype(np.uint8)


def pictures(count: int = 32, height: int = 512, width: int = 512) -> Array:
    """Images of one size, (count, height, width, 3)."""
    rng = np.random.default_rng(1)
    different = [drawn(height, width, rng) for _ in range(min(count, 8))]
    return np.stack([different[number % len(different)] for number in range(count)])
