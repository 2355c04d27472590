# SPDX-License-Identifier: Apache-2.0
"""tensor_resize, resize_crop_mirror and random_resized_crop against NumPy and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close, assert_resampled, assert_same
from support.reference.resample import resample

CUBIC = 2


def noise(shape: tuple[int, ...], dtype: str = "u1", seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if dtype == "f4":
        return rng.normal(size=shape).astype(np.float32)
    return rng.integers(0, 256, shape).astype(dtype)


def run(array: Any, layout: str | None = None, **arguments: Any) -> Any:
    return np.asarray(ndd.tensor_resize(ndd.as_tensor(array, layout=layout), **arguments))


@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4"])
@pytest.mark.parametrize(
    ("shape", "axes", "sizes"),
    [
        ((400,), [0], [157]),
        ((90,), [0], [157]),
        ((7, 31), [1], [13]),
        ((7, 31), [0], [13]),
        ((3, 31, 5), [1], [13]),
        ((3, 31, 25), [1, 2], [13, 57]),
        ((3, 31, 25), [2, 0], [13, 7]),
        ((2, 3, 14, 9, 5), [2, 3], [23, 5]),
        ((2, 3, 14, 9, 5), [1, 2, 3], [7, 23, 5]),
        ((2, 3, 14, 9, 5), [-4, -2], [7, 5]),
        ((2, 3, 14, 9), [0, 1], [7, 5]),
    ],
)
def test_chosen_axes_are_resized(
    dtype: str, shape: tuple[int, ...], axes: list[int], sizes: list[int]
) -> None:
    array = noise(shape, dtype)
    for interp in (1, 2):
        got = run(array, sizes=sizes, axes=axes, interp_type=interp)
        assert got.dtype == array.dtype
        assert_resampled(got, resample(array, axes, sizes, interp=interp))


def test_axis_names() -> None:
    array = noise((31, 25, 3))
    got = ndd.tensor_resize(ndd.as_tensor(array, layout="HWC"), sizes=[13, 7], axis_names="WH")
    assert got.layout == "HWC"
    assert_resampled(got, resample(array, (1, 0), (13, 7)))


@pytest.mark.parametrize(
    ("rounding", "expected"), [("round", (5, 11)), ("truncate", (5, 10)), ("ceil", (6, 11))]
)
def test_sizes_from_scales(rounding: str, expected: tuple[int, int]) -> None:
    array = noise((17, 21), "f4")
    scales = np.array([0.31, 0.5], np.float32)
    got = run(array, scales=scales, size_rounding=rounding, interp_type=CUBIC)
    assert got.shape == expected
    # The region grows or shrinks about its center, so that the scale stays.
    center = np.array([17, 21]) / 2
    half = np.array(expected) / scales / 2
    assert_resampled(got, resample(array, (0, 1), expected, center - half, center + half, CUBIC))


def test_alignment() -> None:
    array = noise((37,), "f4")
    for alignment in (0.0, 0.25, 1.0):
        got = run(array, sizes=[18.6], alignment=alignment)
        fixed, ratio = 37 * alignment, 19 / 18.6
        start, end = fixed - fixed * ratio, fixed + (37 - fixed) * ratio
        assert_resampled(got, resample(array, (0,), (19,), (start,), (end,)))


def test_region_of_some_axes() -> None:
    array = noise((3, 31, 25), "f4")
    got = run(array, sizes=[13], axes=[1], roi_start=[0.75], roi_end=[0.25], roi_relative=True)
    assert_resampled(got, resample(array, (1,), (13,), (0.75 * 31,), (0.25 * 31,)))


def test_modes_decide_sizes() -> None:
    array = noise((20, 30, 40))
    assert run(array, sizes=[10, 10, 10], mode="not_larger").shape == (5, 8, 10)
    assert run(array, sizes=[10, 10, 10], mode="not_smaller", max_size=15).shape == (8, 11, 15)
    assert run(array, sizes=[0, 60], axes=[1, 2], mode="stretch").shape == (20, 30, 60)
    assert_same(run(array, scales=[0.5], axes=[]), array)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of 'sizes' and 'scales'"),
        ({"sizes": [1] * 4, "scales": [1.0] * 4}, "exactly one of 'sizes' and 'scales'"),
        ({"scales": 0.5, "mode": "not_larger"}, "'scales' and the mode 'not_larger' exclude"),
        ({"sizes": 3, "axes": [0], "axis_names": "H"}, "'axes' and 'axis_names' exclude"),
        ({"sizes": 3, "axes": [4]}, "'axes' must lie in"),
        ({"sizes": 3, "axes": [1, -3]}, "'axes' must name each axis once"),
        ({"sizes": 3, "axis_names": "X"}, "'axis_names' must name axes of the layout"),
        ({"sizes": [3, 4], "axes": [1]}, "'sizes' needs 1 values"),
        ({"sizes": 3, "size_rounding": "floor"}, "'size_rounding' must be 'round', "),
        ({"sizes": 3}, "must lie within three neighboring ones; got axes 0 to 3"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"tensor_resize: .*{message}"):
        run(noise((6, 7, 8, 9)), **arguments)


def test_scalars_have_no_axes() -> None:
    with pytest.raises(ValueError, match="tensor_resize: the input must have at least one axis"):
        run(np.float32(1), sizes=[3])


@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC", "CFHW", "DHWC", "CDHW"])
@pytest.mark.parametrize("mirror", range(8))
def test_resize_crop_mirror_is_three_in_one(layout: str, mirror: int) -> None:
    extents = {"H": 31, "W": 25, "D": 9, "F": 2, "C": 3}
    volume = "D" in layout
    array = noise(tuple(extents[letter] for letter in layout), "f4")
    tensor = ndd.as_tensor(array, layout=layout)
    size, window = ([13, 20, 17], [7, 11, 8]) if volume else ([20, 17], [11, 8])
    position = {"crop_pos_x": 0.3, "crop_pos_y": 0.8, "crop_pos_z": 0.1 if volume else 0.5}
    crop = {"crop": window, "rounding": "truncate", **position}
    got = ndd.resize_crop_mirror(tensor, size=size, interp_type=CUBIC, mirror=mirror, **crop)
    assert got.layout == layout
    expected = np.asarray(ndd.crop(ndd.resize(tensor, size=size, interp_type=CUBIC), **crop))
    for bit, letter in ((1, "W"), (2, "H"), (4, "D")):
        if mirror & bit and letter in layout:
            expected = np.flip(expected, layout.index(letter))
    assert_close(got, expected, "interpolated values")


def test_window_beyond_the_image_repeats_edges() -> None:
    array = noise((20, 30, 3))
    tensor = ndd.as_tensor(array, layout="HWC")
    got = np.asarray(ndd.resize_crop_mirror(tensor, size=[20, 30], crop=[24, 40]))
    assert_same(got, np.pad(array, ((2, 2), (5, 5), (0, 0)), mode="edge"))


def test_resize_crop_mirror_of_each_sample() -> None:
    arrays = [noise((30, 41, 3)), noise((17, 23, 3)), noise((50, 9, 3))]
    result = ndd.resize_crop_mirror(
        ndd.batch(arrays, layout="HWC"),
        resize_shorter=ndd.batch([12.0, 15.0, 20.0]),
        crop=ndd.batch([[5.0, 6.0], [7.0, 8.0], [9.0, 10.0]]),
        mirror=ndd.batch([0, 1, 2]),
    )
    for i, (got, array) in enumerate(zip(result, arrays, strict=True)):
        alone = ndd.resize_crop_mirror(
            ndd.as_tensor(array, layout="HWC"),
            resize_shorter=[12.0, 15.0, 20.0][i],
            crop=[5.0 + 2 * i, 6.0 + 2 * i],
            mirror=i,
        )
        assert_same(got, alone)


@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC", "FCHW", "CFHW"])
def test_random_resized_crop_resizes_a_random_window(layout: str) -> None:
    extents = {"H": 60, "W": 80, "F": 2, "C": 3}
    arrays = [noise(tuple(extents[letter] for letter in layout), seed=k) for k in range(4)]
    windows = {"random_area": [0.2, 0.6], "random_aspect_ratio": [0.5, 2.0], "num_attempts": 5}
    got = ndd.random_resized_crop(
        ndd.batch(arrays, layout=layout), size=[17, 23], rng=ndd.random.RNG(seed=5), **windows
    )
    assert got.layout == layout
    begin, shape = ndd.random_crop_generator(
        ndd.batch([[60, 80]] * 4), rng=ndd.random.RNG(seed=5), **windows
    )
    axes = (layout.index("H"), layout.index("W"))
    assert len({tuple(np.asarray(tensor)) for tensor in begin}) > 1
    for i, array in enumerate(arrays):
        start = np.asarray(begin.tensors[i]).astype(float)
        end = start + np.asarray(shape.tensors[i])
        assert_resampled(got.tensors[i], resample(array, axes, (17, 23), start, end))


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({}, TypeError, "the argument 'size' is missing"),
        ({"size": [1, 2, 3]}, ValueError, "'size' needs a height and a width"),
        ({"size": -1}, ValueError, "'size' needs a height and a width"),
        ({"size": 3, "random_area": [0.5, 0.2]}, ValueError, "'random_area' must be a range"),
        ({"size": 3, "random_aspect_ratio": -1}, ValueError, "'random_aspect_ratio' must be"),
    ],
)
def test_wrong_random_windows(
    arguments: dict[str, Any], kind: type[Exception], message: str
) -> None:
    image = ndd.as_tensor(noise((6, 7, 3)), layout="HWC")
    with pytest.raises(kind, match=f"random_resized_crop: {message}"):
        np.asarray(ndd.random_resized_crop(image, **arguments))


def test_no_windows_in_nothing() -> None:
    batch = ndd.batch([noise((6, 7, 3)), noise((0, 7, 3))], layout="HWC")
    with pytest.raises(ndd.OpError, match=r"random_resized_crop: .*without pixels.*\(sample 1\)"):
        ndd.random_resized_crop(batch, size=3).evaluate()
