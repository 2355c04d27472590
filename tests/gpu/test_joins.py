# SPDX-License-Identifier: Apache-2.0
"""Samples of different shapes, joined and with their axes in another order: as on the CPU."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_same

RNG = np.random.default_rng(3)
# Long and short runs of memory, samples without elements, axes of one extent and of several.
SHAPES = [
    [(40, 30, 3), (7, 9, 3), (40, 30, 3), (1, 1, 3), (33, 17, 3)],
    [(3, 40, 30), (3, 7, 9), (3, 33, 17)],
    [(4, 3, 3), (0, 4, 3), (5, 5, 3)],
    [(4, 30, 1), (5, 50, 3)],
    [(20, 30, 2), (5, 50, 2), (20, 30, 2)],
]

pytestmark = pytest.mark.usefixtures("either_device")
each_shapes = pytest.mark.parametrize("shapes", SHAPES)


def batch(shapes: Any, kind: str = "uint16") -> ndd.Batch:
    return ndd.batch([RNG.integers(0, 255, shape).astype(kind) for shape in shapes])


def assert_equal(there: ndd.Batch, arrays: list[Any]) -> None:
    for found, expected in zip(there.cpu(), arrays, strict=True):
        assert_same(found, expected)


@each_shapes
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_axes_in_another_order(shapes: Any, order: tuple[int, ...]) -> None:
    samples = batch(shapes)
    expected = [np.transpose(np.asarray(sample), order) for sample in samples]
    assert_equal(ndd.transpose(samples.gpu(), perm=list(order)), expected)


@each_shapes
@pytest.mark.parametrize("axis", range(3))
def test_joined(shapes: Any, axis: int) -> None:
    # The second input is longer along the axis, by another extent for each sample.
    longer = [list(shape) for shape in shapes]
    for number, shape in enumerate(longer):
        shape[axis] += 10 * number
    for others in (shapes, longer):
        parts = batch(shapes), batch(others), batch(shapes)
        expected = [
            np.concatenate(list(map(np.asarray, row)), axis) for row in zip(*parts, strict=True)
        ]
        assert_equal(ndd.cat(*(part.gpu() for part in parts), axis=axis), expected)


@each_shapes
@pytest.mark.parametrize("axis", range(4))
def test_stacked(shapes: Any, axis: int) -> None:
    parts = batch(shapes, "float32"), batch(shapes, "float32")
    expected = [np.stack(list(map(np.asarray, row)), axis) for row in zip(*parts, strict=True)]
    assert_equal(ndd.stack(*(part.gpu() for part in parts), axis=axis), expected)


def test_other_orders_in_memory() -> None:
    samples = batch(SHAPES[0])
    other = samples.gpu().select([4, 3, 2, 1, 0]).select([4, 3, 2, 1, 0])
    expected = [np.concatenate([sample, sample], 2) for sample in map(np.asarray, samples)]
    assert_equal(ndd.cat(samples.gpu(), other, axis=2), expected)


@pytest.mark.parametrize("values", [[1, 2, 3], [[1], [2], [3]]])
def test_a_number_for_each_sample(values: Any) -> None:
    like = [np.zeros(shape, np.uint8) for shape in ((4, 5), (1, 7), (0, 5))]
    found = ndd.full_like(ndd.batch(like).gpu(), ndd.batch(values))
    expected = [
        np.full(part.shape, value, np.int32) for part, value in zip(like, (1, 2, 3), strict=True)
    ]
    for there, here in zip(found.cpu(), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(there), here)


def test_other_shapes_of_the_same_memory() -> None:
    arrays = [np.arange(12).reshape(2, 6), np.arange(20).reshape(4, 5), np.arange(12).reshape(2, 6)]
    moved = ndd.reshape(ndd.batch(arrays, device="gpu"), rel_shape=[0.5, 2])
    expected = [array.reshape(len(array) // 2, -1) for array in arrays]
    assert_equal(moved, expected)
    assert_equal(moved + 1, [array + 1 for array in expected])
