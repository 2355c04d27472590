# SPDX-License-Identifier: Apache-2.0
"""Composing operators against NumPy and OpenCV."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd

Array = NDArray[Any]


def image(*shape: int, dtype: str = "u1", seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 127, shape).astype(dtype)


def tensor(values: Array, layout: str = "HWC") -> ndd.Tensor:
    return ndd.tensor(values, layout=layout)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
def test_paste(dtype: str) -> None:
    source = image(5, 8, 3, dtype=dtype)
    got = ndd.paste(tensor(source), ratio=2.0, fill_value=[7, 8, 9], paste_x=1.0, paste_y=0.5)
    expected = np.broadcast_to(np.array([7, 8, 9], dtype), (10, 16, 3)).copy()
    expected[2:7, 8:] = source
    np.testing.assert_array_equal(np.asarray(got), expected)
    large = ndd.paste(tensor(source), ratio=1.0, fill_value=[1], min_canvas_size=12)
    assert large.shape == (12, 12, 3)


@pytest.mark.parametrize("dtype", ["u1", "i8", "f2", "f8"])
@pytest.mark.parametrize("layout", ["HWC", "CHW", "HW", "FHWC"])
def test_erase(layout: str, dtype: str) -> None:
    extents = {"H": 9, "W": 12, "C": 3, "F": 2}
    source = image(*(extents[letter] for letter in layout), dtype=dtype)
    fill = [5.0] if "C" not in layout else [5.0, 6.0, 7.0]
    got = ndd.erase(
        tensor(source, layout), anchor=[2, 3, -4, 10], shape=[4, 5, 6, 50], axis_names="HW",
        fill_value=fill,
    )  # fmt: skip
    expected = source.copy()
    channels = np.arange(3) if "C" in layout else None
    for rows, columns in ((slice(2, 6), slice(3, 8)), (slice(0, 2), slice(10, 12))):
        where: list[Any] = [slice(None)] * source.ndim
        where[layout.index("H")], where[layout.index("W")] = rows, columns
        if channels is None:
            expected[tuple(where)] = 5
            continue
        for channel in channels:
            where[layout.index("C")] = channel
            expected[tuple(where)] = fill[channel]
    np.testing.assert_array_equal(np.asarray(got), expected)


def test_erase_relative_and_centered() -> None:
    source = image(10, 20, 1)
    got = ndd.erase(
        tensor(source), anchor=[0.5, 0.5], shape=[0.4, 0.2], normalized=True, centered_anchor=True
    )
    expected = source.copy()
    expected[3:7, 8:12] = 0
    np.testing.assert_array_equal(np.asarray(got), expected)


def test_erase_regions_of_each_sample() -> None:
    source = image(6, 6, 1)
    batch = ndd.batch([source, source], layout="HWC")
    anchors = [np.array([1, 1], np.float32), np.array([0, 0, 4, 4], np.float32)]
    sizes = [np.array([2, 2], np.float32), np.array([1, 1, 2, 2], np.float32)]
    first, second = ndd.erase(batch, anchor=ndd.batch(anchors), shape=ndd.batch(sizes)).tensors
    expected = source.copy()
    expected[1:3, 1:3] = 0
    np.testing.assert_array_equal(np.asarray(first), expected)
    expected = source.copy()
    expected[:1, :1] = 0
    expected[4:, 4:] = 0
    np.testing.assert_array_equal(np.asarray(second), expected)


def test_grid_mask() -> None:
    source = image(40, 50, 3) + np.uint8(1)
    got = np.asarray(ndd.grid_mask(tensor(source), tile=10, ratio=0.4, shift_x=3))
    y, x = np.mgrid[:40, :50]
    # Away from edges of squares, where single precision decides.
    black = ((x - 3) % 10 < 4) & (y % 10 < 4)
    edge = ((x - 3) % 10 == 0) | ((x - 3) % 10 == 4) | (y % 10 == 0) | (y % 10 == 4)
    np.testing.assert_array_equal(
        got[~edge], np.where(black[..., None], 0, source)[~edge].astype(np.uint8)
    )
    rotated = np.asarray(ndd.grid_mask(tensor(source), tile=10, angle=0.5))
    assert 0.15 < (rotated == 0).mean() < 0.35


def test_multi_paste() -> None:
    first, second = image(6, 8, 3), image(6, 8, 3, seed=1)
    got = ndd.multi_paste(
        tensor(first), tensor(second), in_anchors=[[1, 2], [0, 0]], shapes=[[3, 4], [2, 2]],
        out_anchors=[[5, 5], [6, 6]], output_size=(10, 12), dtype=ndd.float32,
    )  # fmt: skip
    expected = np.zeros((10, 12, 3), np.float32)
    expected[5:8, 5:9] = first[1:4, 2:6]
    expected[6:8, 6:8] = second[:2, :2]
    np.testing.assert_array_equal(np.asarray(got), expected)


def test_multi_paste_from_the_batch() -> None:
    samples = [image(4, 4, 1, seed=seed) for seed in range(3)]
    ids = ndd.batch([np.array(i, np.int32) for i in ([2, 0], [1], [0])])
    got = ndd.multi_paste(ndd.batch(samples, layout="HWC"), in_ids=ids).tensors
    for result, source in zip(got, (0, 1, 0), strict=True):
        np.testing.assert_array_equal(np.asarray(result), samples[source])


def test_multi_paste_frames() -> None:
    clip = image(3, 5, 6, 2)
    anchors = ndd.tensor(np.array([[[0, k]] for k in range(3)], np.int32), layout="FAB")
    got = np.asarray(ndd.multi_paste(tensor(clip, "FHWC"), out_anchors=anchors, output_size=(5, 9)))
    for k in range(3):
        np.testing.assert_array_equal(got[k][:, k : k + 6], clip[k])
        assert not got[k][:, :k].any()


@pytest.mark.parametrize(
    ("operator", "arguments", "message"),
    [
        ("paste", {"ratio": 0.5, "fill_value": [1]}, "'ratio' must be at least 1; got 0.5"),
        ("paste", {"ratio": 1, "fill_value": [1, 2]}, "'fill_value' needs 1 value or 3"),
        ("paste", {"ratio": 1, "fill_value": [1], "paste_x": 2}, r"'paste_x' must lie in \[0, 1\]"),
        ("erase", {"anchor": [1], "shape": [1]}, "need 2 values for each region; got 1 and 1"),
        ("erase", {"axis_names": "X"}, "'axis_names' must name axes of the layout"),
        ("erase", {"fill_value": [1, 2]}, "'fill_value' needs 1 value or 3"),
        ("erase", {"axes": [0], "axis_names": "H"}, "'axes' and 'axis_names' exclude each other"),
        ("grid_mask", {"tile": 0}, "'tile' must not be 0"),
        ("multi_paste", {"in_ids": [4]}, r"'in_ids' must lie in \[0, 0\]; got 4"),
        ("multi_paste", {"in_anchors": [1, 2]}, r"'in_anchors' needs the shape \(1, 2\)"),
        ("multi_paste", {"shapes": [[9, 9]]}, "part 0 leaves its image"),
        ("multi_paste", {"out_anchors": [[1, 1]]}, "part 0 leaves the result"),
        ("multi_paste", {"shapes_rel": [[2, 1]]}, r"'shapes_rel' must lie in \[0, 1\]"),
    ],
)
def test_wrong_arguments_are_refused(
    operator: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{operator}: .*{message}"):
        getattr(ndd, operator)(tensor(image(5, 6, 3)), **arguments).evaluate()
