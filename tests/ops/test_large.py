# SPDX-License-Identifier: Apache-2.0
"""Batches beyond the caches, whose results some kernels write in a way of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_same

Array = np.ndarray[Any, Any]
TABLE = np.arange(256, dtype=np.uint8)[::-1].copy()


def erased(image: Array) -> Array:
    image[100:700, 51:352] = 9
    image[100:700, 500:510] = 9
    return image


def padded(image: Array, value: int) -> Array:
    height, width = image.shape[:2]
    edges = ((0, 1520 - height), (0, 1111 - width), (0, 0))
    return np.pad(image, edges, constant_values=value)


def equalize(image: Array) -> Array:
    planes = [cv2.equalizeHist(plane) for plane in np.moveaxis(image, -1, 0).copy()]
    return np.stack(planes, -1)


CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Array]]] = {
    "arithmetic": (lambda x: x // 2 + x, lambda x: x // 2 + x),
    "brightness": (lambda x: ndd.brightness(x, brightness=0.5), lambda x: (x + 1) // 2),
    "cast": (lambda x: ndd.cast(x, dtype=ndd.int16), lambda x: x.astype(np.int16)),
    "copy": (ndd.copy, lambda x: x),
    "equalize": (ndd.equalize, lambda x: equalize(x.astype(np.uint8))),
    "erase": (
        lambda x: ndd.erase(x, anchor=[100, 51, 100, 500], shape=[600, 301, 600, 10], fill_value=9),
        erased,
    ),
    "flip": (lambda x: ndd.flip(x, horizontal=1), lambda x: x[:, ::-1]),
    "flip both": (lambda x: ndd.flip(x, horizontal=1, vertical=1), lambda x: x[::-1, ::-1]),
    "flip vertical": (lambda x: ndd.flip(x, horizontal=0, vertical=1), lambda x: x[::-1]),
    "lookup_table": (
        lambda x: ndd.lookup_table(x, keys=np.arange(256), values=TABLE, dtype=ndd.uint8),
        lambda x: TABLE[x],
    ),
    "pad": (lambda x: ndd.pad(x, axes=(0, 1), shape=(1520, 1111)), lambda x: padded(x, 0)),
    "pad 300": (
        lambda x: ndd.pad(
            ndd.cast(x, dtype=ndd.int16), axes=(0, 1), shape=(1520, 1111), fill_value=300
        ),
        lambda x: padded(x, 300),
    ),
    "rotate": (lambda x: ndd.rotate(x, angle=180.0), lambda x: x[::-1, ::-1]),
    "slice": (
        lambda x: ndd.slice(x, start=(1, 3), end=(1490, 990), axes=(0, 1)),
        lambda x: x[1:1490, 3:990],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_large_ragged_batch(name: str) -> None:
    rng = np.random.default_rng(4)
    # Odd sizes put samples and rows at all kinds of addresses.
    images = [rng.integers(0, 200, (1501 + i, 1001 - i, 3), np.uint8) for i in range(7)]
    ours, plain = CALLS[name]
    results = ours(ndd.as_batch(images, layout="HWC"))
    for image, result in zip(images, results, strict=True):
        actual = np.asarray(result)
        assert_same(actual, plain(image.astype(np.int64)).astype(actual.dtype), name)
