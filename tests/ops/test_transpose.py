# SPDX-License-Identifier: Apache-2.0
"""transpose against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd


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
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ndd.transpose(ndd.as_tensor(np.zeros((2, 3, 4))), **arguments).evaluate()
