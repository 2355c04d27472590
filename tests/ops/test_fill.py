# SPDX-License-Identifier: Apache-2.0
"""Arrays of constants and one-hot vectors against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd
from support.compare import assert_same

TYPES = [
    *("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64", "bool"),
]


@st.composite
def broadcastable(draw: Any) -> tuple[Any, list[int]]:
    """An array, and a shape to which it can be broadcast."""
    shape = list(draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)))
    part = [extent if draw(st.booleans()) else 1 for extent in shape[draw(st.integers(0, 4)) :]]
    dtype = draw(st.sampled_from(TYPES))
    return np.arange(np.prod(part, dtype=int)).astype(dtype).reshape(part), shape


@given(broadcastable())
def test_full(case: tuple[Any, list[int]]) -> None:
    values, shape = case
    assert_same(ndd.full(values, shape=shape), np.broadcast_to(values, shape))
    like = np.zeros(shape, np.float32)
    assert_same(ndd.full_like(like, values), np.broadcast_to(values, shape).astype(np.float32))


def test_full_of_batches() -> None:
    made = ndd.full(ndd.batch([1, 2]), shape=ndd.batch([[2], [3]]))
    assert [np.asarray(sample).tolist() for sample in made] == [[1, 1], [2, 2, 2]]
    assert ndd.full(5, shape=[2], batch_size=3).torch().tolist() == [[5, 5]] * 3


@pytest.mark.parametrize("shape", [[300, 200, 3], [1700, 1701, 3], [2, 5, 100_003, 3, 3]])
@pytest.mark.parametrize("values", [[1, 2, 3], "column", 7])
def test_full_of_large_arrays(values: Any, shape: list[int]) -> None:
    """Also those that are written past the caches."""
    if values == "column":
        values = [[k] for k in range(shape[-2])]
    assert_same(ndd.full(values, shape=shape), np.broadcast_to(np.int32(values), shape))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64"])
@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_large_batches_of_all_sizes(name: str, dtype: str) -> None:
    """Together they are written past the caches; some end in the middle of a word."""
    extents = [34_000_001 // np.dtype(dtype).itemsize, 3, 0, 9, 64]
    made = getattr(ndd, name)(shape=ndd.batch([[n] for n in extents]), dtype=getattr(ndd, dtype))
    for sample, n in zip(made, extents, strict=True):
        assert_same(sample, getattr(np, name)(n, dtype))


def test_full_like_rounds_and_clamps() -> None:
    like = ndd.zeros(shape=[2], dtype=ndd.uint8, layout="A")
    made = ndd.full_like(like, [300.0, 1.5])
    assert made.layout == "A"
    assert_same(made, np.array([255, 2], np.uint8))


@pytest.mark.parametrize("dtype", [*TYPES, "bfloat16"])
@pytest.mark.parametrize(
    ("make", "like", "value"), [(ndd.zeros, ndd.zeros_like, 0.0), (ndd.ones, ndd.ones_like, 1.0)]
)
def test_zeros_and_ones(make: Any, like: Any, value: float, dtype: str) -> None:
    kind = ndd.bool if dtype == "bool" else getattr(ndd, dtype)
    made = make(shape=[2, 3], dtype=kind, layout="AB")
    assert (made.dtype, made.layout) == (kind, "AB")
    expected = np.full((2, 3), value)
    np.testing.assert_array_equal(np.asarray(made).astype(float), expected)
    assert_same(like(made), np.asarray(made))
    assert like(made, dtype=ndd.int16).dtype == ndd.int16
    assert make().shape == ()
    assert make(shape=ndd.batch([[1], [0]])).shape == [(1,), (0,)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndd.full([1, 2], shape=[3]), r"full: values of shape \(2,\) cannot be broadcast"),
        (lambda: ndd.full([1, 2]), r"full: values of shape \(2,\) cannot be broadcast to \(\)"),
        (lambda: ndd.full(1, shape=[2], layout="AB"), "full: 'layout' needs 1 letters"),
        (lambda: ndd.zeros(shape=[2, -1]), r"zeros: 'shape' must not be negative; got \(2, -1\)"),
        (lambda: ndd.ones(dtype=ndd.InterpType), "ones: the type InterpType holds no numbers"),
        (lambda: ndd.full_like([1, 2], [1, 2, 3]), r"full_like: values of shape \(3,\)"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        call().evaluate()


@given(
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=4),
    st.sampled_from(["uint8", "int16", "int64", "float32", "float64"]),
    st.integers(0, 5),
    st.data(),
)
def test_one_hot(shape: tuple[int, ...], dtype: str, count: int, data: Any) -> None:
    classes = (np.arange(np.prod(shape)) * 3 % 7).astype(dtype).reshape(shape)
    axis = data.draw(st.integers(-1, len(shape)))
    marks = classes[..., None] == np.arange(count)
    expected = np.moveaxis(marks, -1, axis).astype(np.float32)
    assert_same(ndd.one_hot(classes, num_classes=count, axis=axis), expected)


def test_one_hot_of_single_numbers() -> None:
    for label in (np.int32(2), np.array([2]), np.array([[2]])):
        assert np.asarray(ndd.one_hot(label, num_classes=4)).tolist() == [0, 0, 1, 0]
    assert ndd.one_hot(np.array([[2]]), num_classes=4, axis=0).shape == (4, 1, 1)
    assert ndd.one_hot(ndd.batch([[1], [0, 1]]), num_classes=2).shape == [(1, 2), (2, 2)]


def test_one_hot_values() -> None:
    labels = np.array([1.0, 2.9, -0.5, -1.0, 3.0, np.nan, np.inf])
    marks = np.asarray(ndd.one_hot(labels, num_classes=3))
    assert [row.tolist().index(1) if row.any() else None for row in marks] == [
        *(1, 2, 0),
        *(None,) * 4,
    ]
    shown = ndd.one_hot([0], num_classes=2, on_value=300, off_value=-2.6, dtype=ndd.uint8)
    assert np.asarray(shown).tolist() == [44, 254]
    huge = np.array([2**32 + 1, 1], np.uint64)
    assert np.asarray(ndd.one_hot(huge, num_classes=2)).tolist() == [[0, 0], [0, 1]]


def test_one_hot_layouts() -> None:
    labels = ndd.tensor([1, 2], layout="A")
    assert ndd.one_hot(labels, num_classes=3, axis_name="C").layout == "AC"
    assert ndd.one_hot(labels, num_classes=3, axis_name="C", axis=0).layout == "CA"
    assert ndd.one_hot(labels, num_classes=3).layout is None
    assert ndd.one_hot(1, num_classes=3, axis_name="C").layout == "C"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"axis": 2}, r"'axis' must lie in \[-1, 1\]"),
        ({"num_classes": -1}, "'num_classes' must not be negative"),
        ({"dtype": ndd.float16}, "'dtype' must be one of"),
        ({"axis_name": "AB"}, "single letter"),
        ({"axis_name": "C"}, "needs an input with a layout"),
        ({"on_value": float("nan"), "dtype": ndd.uint8}, "nan cannot be written as uint8"),
    ],
)
def test_one_hot_errors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^one_hot: .*{message}"):
        ndd.one_hot(np.array([1, 2]), **{"num_classes": 3, **arguments})
