# SPDX-License-Identifier: Apache-2.0
"""cat and stack against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd
from support.compare import assert_same
from support.strategies import TYPES, arrays


@st.composite
def joinable(draw: Any) -> tuple[list[Any], int]:
    """Arrays that agree but along one axis."""
    shape = list(draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    first = draw(arrays(tuple(shape)))
    found = [first]
    for extent in draw(st.lists(st.integers(0, 4), max_size=4)):
        shape[axis] = extent
        found.append((np.arange(np.prod(shape)) % 50).astype(first.dtype).reshape(shape))
    return found, axis


@given(joinable())
def test_cat(case: tuple[list[Any], int]) -> None:
    parts, axis = case
    assert_same(ndd.cat(*parts, axis=axis), np.concatenate(parts, axis=axis))


@given(arrays(), st.integers(1, 4), st.data())
def test_stack(array: Any, count: int, data: Any) -> None:
    axis = data.draw(st.integers(-array.ndim, array.ndim))
    parts = [np.roll(array, k) for k in range(count)]
    assert_same(ndd.stack(*parts, axis=axis), np.stack(parts, axis=axis))


@pytest.mark.parametrize("dtype", TYPES)
def test_big_joins(dtype: str) -> None:
    rng = np.random.default_rng(0)
    planes = [rng.integers(0, 2, (300, 411), np.uint8).astype(dtype) for _ in range(3)]
    for axis in (0, 1, 2):
        assert_same(ndd.stack(*planes, axis=axis), np.stack(planes, axis=axis))
    for axis in (0, 1):
        assert_same(ndd.cat(*planes, axis=axis), np.concatenate(planes, axis=axis))


def test_join_layouts_and_ragged_batches() -> None:
    images = ndd.batch([np.ones((2, 3)), np.ones((4, 3))], layout="HW")
    more = ndd.batch([np.zeros((1, 3)), np.zeros((0, 3))], layout="HW")
    joined = ndd.cat(images, more, axis_name="H")
    assert joined.layout == "HW"
    assert joined.shape == [(3, 3), (4, 3)]
    stacked = ndd.stack(images, images, axis=-1, axis_name="C")
    assert stacked.layout == "HWC"
    assert stacked.shape == [(2, 3, 2), (4, 3, 2)]
    assert ndd.stack(1, 2, axis_name="C").layout == "C"


def test_empty_inputs_are_left_out() -> None:
    numbers = np.arange(6).reshape(2, 3)
    assert_same(ndd.cat(np.zeros((0, 5), int), numbers), numbers)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("cat", {"axis": 2}, r"'axis' must lie in \[-2, 1\]"),
        ("cat", {"axis": 1}, r"along axis 0: \(2, 3\) and \(1, 3\) \(input 1, sample 0\)"),
        ("cat", {"axis_name": "X"}, "must be in the layout"),
        ("cat", {"axis_name": "HW"}, "single letter"),
        ("cat", {"axis_name": "H", "axis": 1}, "exclude each other"),
        ("stack", {"axis": -3}, r"'axis' must lie in \[-2, 2\]"),
        ("stack", {}, r"along axis 0: \(2, 3\) and \(1, 3\)"),
        ("stack", {"axis_name": "HW"}, "single letter"),
    ],
)
def test_join_errors(name: str, arguments: dict[str, Any], message: str) -> None:
    first = ndd.zeros(shape=[2, 3], layout="HW")
    second = ndd.zeros(shape=[1, 3], layout="HW")
    with pytest.raises(ValueError, match=rf"^{name}: .*{message}"):
        getattr(ndd, name)(first, second, **arguments).evaluate()


def test_joined_inputs_must_be_alike() -> None:
    with pytest.raises(ValueError, match=r"cat: .*0 is float32 with 1 axes, input 1 is int32"):
        ndd.cat([1.0], [1]).evaluate()
    with pytest.raises(ValueError, match="stack: 'axis_name' needs inputs with a layout"):
        ndd.stack([1.0], [1.0], axis_name="C").evaluate()


def test_axis_by_number_and_by_name() -> None:
    images = ndd.batch(np.zeros((2, 3, 4)), layout="HW")
    with pytest.raises(ValueError, match="'axis' and 'axis_name' exclude each other"):
        ndd.cat(images, images, axis=0, axis_name="H").evaluate()
