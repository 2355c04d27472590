# SPDX-License-Identifier: Apache-2.0
"""reshape, reinterpret, squeeze, expand_dims and transpose against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd
from support.compare import assert_same
from support.strategies import TYPES, arrays


@st.composite
def equal_volume(draw: Any) -> tuple[Any, list[int]]:
    """An array and another shape for it."""
    factors = draw(st.lists(st.sampled_from([1, 2, 3, 5]), max_size=5))
    orders = []
    for _ in range(2):
        extents = [1] * draw(st.integers(1, 4))
        for factor in factors:
            extents[draw(st.integers(0, len(extents) - 1))] *= factor
        orders.append(extents)
    return draw(arrays(tuple(orders[0]))), orders[1]


@given(equal_volume(), st.data())
def test_reshape(case: tuple[Any, list[int]], data: Any) -> None:
    array, shape = case
    expected = array.reshape(shape)
    assert_same(ndd.reshape(array, shape=shape), expected)
    assert_same(ndd.reshape(array, shape), expected)
    wild = list(shape)
    wild[data.draw(st.integers(0, len(shape) - 1))] = -1
    assert_same(ndd.reshape(array, shape=wild), expected)
    assert_same(ndd.reshape(array, shape=ndd.tensor(wild)), expected)


@given(equal_volume())
def test_relative_shapes(case: tuple[Any, list[int]]) -> None:
    array, shape = case
    whole = ndd.reshape(array, shape=[array.size, 1])
    relative = [extent / array.size for extent in shape]
    sources = [0] * len(shape)
    assert_same(ndd.reshape(whole, rel_shape=relative, src_dims=sources), array.reshape(shape))


def test_reshape_shares_memory() -> None:
    batch = ndd.batch(np.zeros((2, 6), np.uint8))
    for view in (
        ndd.reshape(batch, shape=[2, 3]),
        ndd.reinterpret(batch, dtype=ndd.uint16),
        ndd.expand_dims(batch, axes=[0]),
        ndd.squeeze(ndd.expand_dims(batch, axes=[1]), axes=[1]),
    ):
        first = np.asarray(view.select(0))
        assert np.shares_memory(first, np.asarray(batch.select(0)))


def test_reshape_layouts() -> None:
    image = ndd.zeros(shape=[4, 6, 3], layout="HWC")
    assert ndd.reshape(image, shape=[2, 12, 3]).layout == "HWC"
    assert ndd.reshape(image, shape=[24, 3]).layout is None
    assert ndd.reshape(image, layout="ABC").layout == "ABC"
    assert ndd.reshape(image, layout="").layout is None
    assert ndd.reshape(image, shape=[24, 3], layout="XC").layout == "XC"


def test_ragged_reshape() -> None:
    batch = ndd.batch([np.arange(12).reshape(4, 3), np.arange(6).reshape(2, 3)])
    wide = ndd.reshape(batch, shape=ndd.batch([[2, 6], [1, 6]]))
    assert wide.shape == [(2, 6), (1, 6)]
    assert ndd.reshape(batch, shape=[3, -1]).shape == [(3, 4), (3, 2)]
    assert ndd.reshape(batch, rel_shape=[0.5, 2]).shape == [(2, 6), (1, 6)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing to do"),
        ({"shape": [5, 2]}, r"\(5, 2\) for \(2, 6\) \(sample 0\)"),
        ({"shape": [-1, -1]}, "only one extent may be negative"),
        ({"shape": [0, -1]}, "cannot be found"),
        ({"shape": [12], "rel_shape": [1.0]}, "exclude each other"),
        ({"rel_shape": [1, 1, 1]}, "3 values for an input with 2 axes"),
        ({"rel_shape": [1], "src_dims": [0, 1]}, "differ in length"),
        ({"src_dims": [2]}, r"0 to 1, or -1 for a new axis; got 2"),
        ({"layout": "ABC"}, "'layout' needs 2 letters"),
    ],
)
def test_reshape_errors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=rf"^reshape: .*{message}"):
        ndd.reshape(np.zeros((2, 6)), **arguments)


def test_shape_as_input_must_be_integers() -> None:
    with pytest.raises(ValueError, match="reshape: the shape as an input must consist of integers"):
        ndd.reshape(np.zeros(4), [2.0, 2.0])


@given(arrays(hnp.array_shapes(min_dims=1, max_dims=3)), st.sampled_from(TYPES))
def test_reinterpret(array: Any, target: str) -> None:
    dtype = np.dtype(target)
    inner = array.shape[-1] * array.itemsize
    if inner % dtype.itemsize == 0:
        result = np.asarray(ndd.reinterpret(array, dtype=ndd.dtype(dtype)))
        assert result.dtype == dtype
        assert result.tobytes() == array.tobytes()
        assert result.shape == (*array.shape[:-1], inner // dtype.itemsize)
    else:
        with pytest.raises(ValueError, match="reinterpret: the innermost axis"):
            ndd.reinterpret(array, dtype=ndd.dtype(dtype))


def test_reinterpret_with_shape() -> None:
    words = np.arange(12, dtype=np.uint8)
    result = ndd.reinterpret(words, dtype=ndd.uint32, shape=[-1, 1])
    assert_same(result, words.view(np.uint32).reshape(3, 1))
    with pytest.raises(ValueError, match="items of 4 bytes for 1"):
        ndd.reinterpret(words, dtype=ndd.uint32, shape=[12])
    with pytest.raises(ValueError, match="a number of 4 bytes cannot become one of 1"):
        ndd.reinterpret(5, dtype=ndd.uint8).evaluate()
    with pytest.raises(ValueError, match="reinterpret: nothing to do"):
        ndd.reinterpret(words)


@given(arrays(), st.data())
def test_expand_dims_and_squeeze(array: Any, data: Any) -> None:
    ndim = array.ndim + data.draw(st.integers(1, 3))
    positions = st.lists(
        st.integers(0, ndim - 1), min_size=ndim - array.ndim, max_size=ndim - array.ndim
    )
    axes = data.draw(positions.filter(lambda chosen: len(set(chosen)) == len(chosen)))
    expanded = ndd.expand_dims(array, axes=axes)
    assert_same(expanded, np.expand_dims(array, tuple(axes)))
    assert_same(ndd.squeeze(expanded, axes=axes), array)
    assert_same(ndd.squeeze(expanded, axes=[axis - ndim for axis in axes]), array)


def test_axis_names() -> None:
    image = ndd.zeros(shape=[4, 6, 1], layout="HWC")
    many = ndd.expand_dims(image, axes=[4, 0], new_axis_names="ZF")
    assert (many.layout, many.shape) == ("FHWCZ", (1, 4, 6, 1, 1))
    assert ndd.expand_dims(image, axes=[0]).layout is None
    assert ndd.squeeze(many, axis_names="FC").layout == "HWZ"
    assert ndd.squeeze(image, axes=[]).layout == "HWC"
    assert ndd.expand_dims(ndd.tensor(5), axes=[0], new_axis_names="A").layout == "A"


def test_axes_for_each_sample() -> None:
    batch = ndd.batch([np.zeros((1, 4, 2)), np.zeros((3, 1, 2))], layout="ABC")
    squeezed = ndd.squeeze(batch, axes=ndd.batch([[0], [1]]))
    assert (squeezed.shape, squeezed.layout) == ([(4, 2), (3, 2)], None)
    swapped = ndd.reshape(batch, src_dims=ndd.batch([[2, 1], [0, 2]]))
    assert swapped.shape == [(2, 4), (3, 2)]
    again = ndd.reshape(batch, rel_shape=[2, 0.5], src_dims=ndd.batch([[1, 2], [0, 2]]))
    assert again.shape == [(8, 1), (6, 1)]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("squeeze", {}, "which axes"),
        ("squeeze", {"axes": [0]}, r"axis 0 has 4 \(sample 0\)"),
        ("squeeze", {"axes": [3]}, r"'axes' must lie in \[-3, 2\]"),
        ("squeeze", {"axes": [2, -1]}, "each axis once"),
        ("squeeze", {"axis_names": "X"}, "must name axes of the layout"),
        ("squeeze", {"axes": [2], "axis_names": "C"}, "exclude each other"),
        ("expand_dims", {"axes": [4]}, r"'axes' must lie in \[0, 3\]"),
        ("expand_dims", {"axes": [-1]}, r"'axes' must lie in \[0, 3\]"),
        ("expand_dims", {"axes": [1, 1]}, "each axis once"),
        ("expand_dims", {"axes": [1], "new_axis_names": "XY"}, "needs 1 letters"),
    ],
)
def test_axis_errors(name: str, arguments: dict[str, Any], message: str) -> None:
    image = ndd.zeros(shape=[4, 6, 1], layout="HWC")
    with pytest.raises(ValueError, match=rf"^{name}: .*{message}"):
        getattr(ndd, name)(image, **arguments).evaluate()


def test_new_axis_names_need_a_layout() -> None:
    with pytest.raises(ValueError, match="expand_dims: 'new_axis_names' needs an input with"):
        ndd.expand_dims(np.zeros((2, 2)), axes=[0], new_axis_names="F")


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_any_order_of_axes(data: Any) -> None:
    dtype = data.draw(st.sampled_from(["u1", "u2", "f4", "f8", "?"]))
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=5, min_side=0, max_side=40))
    while np.prod(shape) > 200_000:
        shape = shape[:-1]
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    order = data.draw(st.permutations(range(array.ndim)))
    out = ndd.transpose(ndd.as_tensor(array), perm=order)
    np.testing.assert_array_equal(np.asarray(out), array.transpose(order))


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 17])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
def test_between_pixels_and_planes(dtype: str, channels: int) -> None:
    rng = np.random.default_rng(1)
    image = rng.integers(0, 99, (67, 131, channels)).astype(dtype)
    planes = ndd.transpose(ndd.as_tensor(image, layout="HWC"), perm=[2, 0, 1])
    assert planes.layout == "CHW"
    np.testing.assert_array_equal(np.asarray(planes), image.transpose(2, 0, 1))
    pixels = ndd.transpose(planes, perm=[1, 2, 0])
    np.testing.assert_array_equal(np.asarray(pixels), image)


def test_layout_is_transposed() -> None:
    image = ndd.as_tensor(np.zeros((2, 3, 4), np.uint8), layout="HWC")
    assert ndd.transpose(image).layout == "CWH"
    assert ndd.transpose(image, transpose_layout=False).layout == "HWC"
    assert ndd.transpose(image, output_layout="ABC").layout == "ABC"
    assert ndd.transpose(ndd.as_tensor(np.zeros((2, 3)))).layout is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"perm": [0, 0, 1]}, r"transpose: 'perm' must hold each of the axes 0 to 2 once"),
        ({"perm": [1, 0]}, r"got \[1, 0\]"),
        ({"output_layout": "AB"}, "'output_layout' needs 3 letters"),
    ],
)
def test_transpose_errors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ndd.transpose(ndd.as_tensor(np.zeros((2, 3, 4))), **arguments).evaluate()
