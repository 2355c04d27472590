# SPDX-License-Identifier: Apache-2.0
"""pad and slice against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd
from support.reference import moves as reference


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_padded_extents_and_values(data: Any) -> None:
    dtype = data.draw(st.sampled_from(["u1", "i4", "f4", "f8", "i8"]))
    ndim = data.draw(st.integers(1, 4))
    arrays = [
        data.draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=ndim, max_dims=ndim, max_side=6)))
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    axes = data.draw(st.lists(st.integers(0, ndim - 1), min_size=1, unique=True))
    shape = data.draw(st.none() | st.lists(st.integers(-1, 9), min_size=len(axes)))
    align = data.draw(st.lists(st.integers(1, 5), min_size=len(axes)))
    shape = shape[: len(axes)] if shape is not None else None
    align = align[: len(axes)]
    arguments: dict[str, Any] = {} if shape is None else {"shape": shape}
    out = ndd.pad(ndd.as_batch(arrays), axes=axes, align=align, fill_value=3, **arguments)
    for array, padded in zip(arrays, out.tensors, strict=True):
        extents = list(array.shape)
        for k, axis in enumerate(axes):
            wanted = -1 if shape is None else shape[k]
            largest = max(other.shape[axis] for other in arrays)
            extent = max(extents[axis], wanted if wanted > 0 else largest)
            extents[axis] = -(-extent // align[k]) * align[k]
        widths = [(0, n - m) for n, m in zip(extents, array.shape, strict=True)]
        np.testing.assert_array_equal(np.asarray(padded), np.pad(array, widths, constant_values=3))


def test_axis_names_and_values_for_each_sample() -> None:
    arrays = [np.ones((2, 3, 1), np.int16), np.ones((4, 1, 1), np.int16)]
    out = ndd.pad(
        ndd.as_batch(arrays, layout="HWC"), axis_names="H", fill_value=ndd.batch([-1.0, -2.0])
    )
    assert out.shape == [(4, 3, 1), (4, 1, 1)]
    assert out.layout == "HWC"
    assert np.asarray(out.tensors[0])[2:].tolist() == np.full((2, 3, 1), -1).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"align": 0}, r"pad: 'align' must be positive; got 0"),
        ({"axes": [2]}, r"'axes' must lie in \[-2, 1\]"),
        ({"axes": [0], "axis_names": "H"}, "'axes' and 'axis_names' exclude each other"),
        ({"axis_names": "C"}, "'axis_names' must name axes of the layout; got 'C' for 'HW'"),
        ({"shape": [1, 2, 3]}, "'shape' needs 2 values, one for each axis; got 3"),
    ],
)
def test_pad_errors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ndd.pad(ndd.as_tensor(np.zeros((2, 3)), layout="HW"), **arguments).evaluate()


TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?")
POLICIES = ("pad", "edge", "reflect", "reflect_101", "wrap")


def make_image(shape: tuple[int, ...] = (9, 12, 3), dtype: str = "u1") -> Any:
    return (np.arange(np.prod(shape)).reshape(shape) % 251).astype(dtype)


def result(value: Any) -> Any:
    return np.asarray(value)


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_slice_is_a_window(data: Any) -> None:
    dtype = data.draw(st.sampled_from(TYPES))
    array = data.draw(hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=4, max_side=7)))
    begin = [data.draw(st.integers(-5, 9)) for _ in array.shape]
    shape = [data.draw(st.integers(0, 9)) for _ in array.shape]
    policy = data.draw(st.sampled_from(POLICIES))
    fill = float(data.draw(st.integers(0, 1)))
    out = ndd.slice(
        ndd.as_tensor(array),
        start=begin,
        shape=shape,
        axes=list(range(array.ndim)),
        out_of_bounds_policy=policy,
        fill_values=[fill],
    )
    expected = reference.window(array, begin, shape, policy, fill)
    np.testing.assert_array_equal(result(out), expected)
    assert result(out).dtype == array.dtype


def test_trim_to_shape() -> None:
    array = make_image((4, 5, 1))
    image = ndd.as_tensor(array, layout="HWC")
    out = ndd.slice(image, start=[-2, 1], end=[3, 9], out_of_bounds_policy="trim_to_shape")
    np.testing.assert_array_equal(result(out), array[1:4, 0:3])
    beyond = ndd.slice(image, start=[7, 0], end=[9, 9], out_of_bounds_policy="trim_to_shape")
    assert beyond.shape == (4, 0, 1)


@pytest.mark.parametrize(
    ("arguments", "rows", "columns"),
    [
        ({"start": [1, 2], "end": [4, 3]}, (2, 3), (1, 4)),
        ({"start": [1, 2], "shape": [2, 4]}, (2, 6), (1, 3)),
        ({"rel_start": [0.25, 0.5], "rel_end": [0.75, 1.0]}, (5, 10), (2, 6)),
        ({"rel_start": [0.25, 0.5], "rel_shape": [0.5, 0.1]}, (5, 6), (2, 6)),
        ({"start": 3}, (3, 10), (3, 8)),
        ({"end": [4, 5], "axis_names": "HW"}, (0, 4), (0, 5)),
        ({"shape": [4, 5], "axes": [0, -2]}, (0, 4), (0, 5)),
        ({"start": [7], "axes": [0]}, (7, 10), (0, 8)),
    ],
)
def test_forms_of_slice(
    arguments: dict[str, Any], rows: tuple[int, int], columns: tuple[int, int]
) -> None:
    array = make_image((10, 8, 3))
    out = ndd.slice(ndd.as_tensor(array, layout="HWC"), **arguments)
    np.testing.assert_array_equal(result(out), array[slice(*rows), slice(*columns)])


@pytest.mark.parametrize(
    ("anchor", "shape", "arguments"),
    [
        ([0.25, 0.5], [0.5, 0.2], {}),
        ([2, 5], [4, 2], {}),
        ([2.0, 5.0], [4.0, 2.0], {"normalized_anchor": False, "normalized_shape": False}),
        ([2.0, 5.0], [0.5, 0.2], {"normalized_anchor": False}),
        ([0.25, 0.5], [4.0, 2.0], {"normalized_shape": False}),
    ],
)
def test_slice_with_inputs(anchor: Any, shape: Any, arguments: dict[str, Any]) -> None:
    array = make_image((10, 8, 3))
    out = ndd.slice(ndd.as_tensor(array, layout="HWC"), anchor, shape, **arguments)
    np.testing.assert_array_equal(result(out), array[5:7, 2:6])


def test_axes_for_each_sample() -> None:
    arrays = [make_image((4, 5, 3)), make_image((6, 2, 3))]
    out = ndd.slice(
        ndd.as_batch(arrays), start=[1], axes=ndd.as_batch([np.int32([1]), np.int32([0])])
    )
    np.testing.assert_array_equal(result(out.tensors[0]), arrays[0][:, 1:])
    np.testing.assert_array_equal(result(out.tensors[1]), arrays[1][1:])


IMAGE = ndd.as_tensor(make_image((4, 5, 3)), layout="HWC")


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ndd.slice(IMAGE), ValueError, "slice: the part to take is missing"),
        (lambda: ndd.slice(IMAGE, [1, 1]), ValueError, "'anchor' and 'shape_input' belong"),
        (lambda: ndd.slice(IMAGE, [1, 1], [1, 1], start=1), ValueError, "exclude each other"),
        (lambda: ndd.slice(IMAGE, start=1, rel_start=0.5), ValueError, "'start' and 'rel_start'"),
        (lambda: ndd.slice(IMAGE, end=1, shape=2), ValueError, "'end' and 'shape' exclude"),
        (lambda: ndd.slice(IMAGE, start=[1, 2, 3]), ValueError, "'start' needs 2 values"),
        (lambda: ndd.slice(IMAGE, start=3, end=2), ValueError, "must not lie before the begin"),
        (lambda: ndd.slice(IMAGE, shape=-1), ValueError, "'shape' must not be negative"),
        (lambda: ndd.slice(IMAGE, start=1, axes=[3]), ValueError, r"'axes' must lie in \[-3, 2\]"),
        (
            lambda: ndd.slice(IMAGE, start=1, axes=[0, -3]),
            ValueError,
            "name each axis once",
        ),
        (lambda: ndd.slice(IMAGE, start=1, axis_names="D"), ValueError, "got 'D' for 'HWC'"),
    ],
)
def test_slice_errors(call: Any, kind: type[Exception], message: str) -> None:
    with ndd.EvalMode.sync_cpu, pytest.raises(kind, match=message):
        call()
