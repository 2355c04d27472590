# SPDX-License-Identifier: Apache-2.0
"""Smooth images with some noise, and calls of operators on single images."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd

Array = NDArray[Any]
all_instruction_sets = pytest.mark.parametrize(
    "instruction_set", ["vector", "avx2", "portable"], indirect=True
)


def make_image(shape: tuple[int, ...], dtype: str = "uint8", seed: int = 0) -> Array:
    """A ramp with noise: neither flat nor without structure."""
    rng = np.random.default_rng(seed)
    ramp = np.linspace(40, 200, int(np.prod(shape))).reshape(shape)
    return (ramp + rng.integers(0, 30, shape)).astype(dtype)


def run(name: str, image: Array, layout: str | None = None, **arguments: Any) -> Array:
    return np.array(getattr(ndd, name)(ndd.tensor(image, layout=layout), **arguments))


def raises(message: str) -> Any:
    return pytest.raises(ValueError, match=message)


def make_images(rng: np.random.Generator, shapes: list[Any], dtype: str = "uint8") -> list[Array]:
    """Noise, and smooth images with few values."""
    images = []
    for index, shape in enumerate(shapes):
        image = rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
        if index % 2:
            ramp = np.linspace(40, 200, image.size).reshape(shape)
            image = (ramp + image % 20).astype(dtype)
        images.append(image)
    return images
