# SPDX-License-Identifier: Apache-2.0
"""flip against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import daliesque as ndd

AXES = {"W": "horizontal", "H": "vertical", "D": "depthwise"}


@pytest.mark.parametrize("width", [1, 5, 16, 37])
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "?"])
def test_flipped_images_equal_numpy(dtype: str, channels: int, width: int) -> None:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 99, (6, width, channels)).astype(dtype)
    for horizontal, vertical in ((1, 0), (0, 1), (1, 1), (0, 0)):
        out = ndd.flip(ndd.as_tensor(image, layout="HWC"), horizontal=horizontal, vertical=vertical)
        axes = [axis for axis, flag in enumerate((vertical, horizontal)) if flag]
        np.testing.assert_array_equal(np.asarray(out), np.flip(image, axes))


@pytest.mark.parametrize(
    "layout", ["CHW", "FHWC", "DHWC", "FCHW", "CDHW", "CFHW", "FDHWC", "FCDHW"]
)
def test_each_layout_flips_its_own_axes(layout: str) -> None:
    rng = np.random.default_rng(0)
    array = rng.integers(0, 255, [2, 3, 4, 5, 6][: len(layout)], np.uint8)
    for letter, name in AXES.items():
        flags = dict.fromkeys(AXES.values(), 0) | {name: 1}
        out = ndd.flip(ndd.as_tensor(array, layout=layout), **flags)
        expected = np.flip(array, layout.index(letter)) if letter in layout else array
        np.testing.assert_array_equal(np.asarray(out), expected)
        assert out.layout == layout


def test_flags_for_each_sample() -> None:
    images = [np.arange(12, dtype=np.uint8).reshape(2, 2, 3) + k for k in range(3)]
    out = ndd.flip(
        ndd.as_batch(images, layout="HWC"),
        horizontal=ndd.batch([0, 1, 2]),
        vertical=ndd.batch([1, 0, 1]),
    )
    for k, axes in enumerate(([0], [1], [0, 1])):
        np.testing.assert_array_equal(np.asarray(out.tensors[k]), np.flip(images[k], axes))


def test_unknown_layout() -> None:
    with pytest.raises(ValueError, match="flip: the layout 'XYZ' is not supported"):
        ndd.flip(ndd.as_tensor(np.zeros((2, 2, 2)), layout="XYZ")).evaluate()
