# SPDX-License-Identifier: Apache-2.0
"""pad against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_extents_and_values(data: Any) -> None:
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
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ndd.pad(ndd.as_tensor(np.zeros((2, 3)), layout="HW"), **arguments).evaluate()
