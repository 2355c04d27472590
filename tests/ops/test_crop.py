# SPDX-License-Identifier: Apache-2.0
"""crop, crop_mirror_normalize and random_crop_generator against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close
from support.reference import moves as reference

TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?")


def make_image(shape: tuple[int, ...] = (9, 12, 3), dtype: str = "u1") -> Any:
    return (np.arange(np.prod(shape)).reshape(shape) % 251).astype(dtype)


def result(value: Any) -> Any:
    return np.asarray(value)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        ("HWC", (9, 12, 3)),
        ("CHW", (3, 9, 12)),
        ("DHWC", (2, 9, 12, 3)),
        ("FCHW", (2, 3, 9, 12)),
        ("CFDHW", (3, 2, 2, 9, 12)),
    ],
)
def test_crop(layout: str, shape: tuple[int, ...], dtype: str) -> None:
    array = make_image(shape, dtype)
    out = ndd.crop(ndd.as_tensor(array, layout=layout), crop=(4, 5), crop_pos_x=0.5, crop_pos_y=1.0)
    wanted = tuple(
        slice(5, 9) if axis == "H" else slice(4, 9) if axis == "W" else slice(None)
        for axis in layout
    )
    np.testing.assert_array_equal(result(out), array[wanted])
    assert out.layout == layout


@pytest.mark.parametrize(("rounding", "begin"), [("round", 2), ("truncate", 1)])
def test_rounding_of_the_position(rounding: str, begin: int) -> None:
    array = make_image((1, 5, 1))
    out = ndd.crop(ndd.as_tensor(array, layout="HWC"), crop=(1, 2), rounding=rounding)
    np.testing.assert_array_equal(result(out), array[:, begin : begin + 2])


def test_crop_each_sample_differently() -> None:
    arrays = [make_image((8, 8, 1)), make_image((5, 9, 1))]
    out = ndd.crop(
        ndd.as_batch(arrays, layout="HWC"),
        crop=ndd.batch([[2.0, 3.0], [4.0, 1.0]]),
        crop_pos_x=ndd.batch([0.0, 1.0]),
    )
    np.testing.assert_array_equal(result(out.tensors[0]), arrays[0][3:5, 0:3])
    np.testing.assert_array_equal(result(out.tensors[1]), arrays[1][1:5, 8:9])


def test_crop_converts_and_cuts_off_fractions() -> None:
    array = np.array([-5.5, 0.9, 254.99, 300.0, np.nan], np.float32).reshape(1, 5, 1)
    out = ndd.crop(ndd.as_tensor(array, layout="HWC"), dtype=ndd.uint8)
    assert result(out).ravel().tolist() == [0, 0, 254, 255, 0]


def test_fill_values_for_each_channel() -> None:
    array = make_image((2, 2, 3))
    for layout, transposed in (("HWC", array), ("CHW", array.transpose(2, 0, 1).copy())):
        out = ndd.crop(
            ndd.as_tensor(transposed, layout=layout),
            crop=(4, 3),
            crop_pos_x=0.0,
            out_of_bounds_policy="pad",
            fill_values=[7, 8, 9],
        )
        expected = reference.window(array, (-1, 0, 0), (4, 3, 3), "pad", np.array([7, 8, 9]))
        got = result(out) if layout == "HWC" else result(out).transpose(1, 2, 0)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f2", "u1", "i1"])
@pytest.mark.parametrize("source", ["u1", "i2", "u2", "i4", "f2", "f4"])
@pytest.mark.parametrize(
    ("layout", "output_layout"),
    [("HWC", "CHW"), ("HWC", "HWC"), ("CHW", "HWC"), ("CHW", "CHW"), ("HWC", "WCH")],
)
def test_crop_mirror_normalize(
    layout: str, output_layout: str, source: str, dtype: str, mirror: bool
) -> None:
    image = make_image((21, 37, 3), source)
    if layout == "CHW":
        image = image.transpose(2, 0, 1).copy()
    mean, std = [90.0, 100.0, 110.0], [2.1, 3.3, 4.7]
    out = ndd.crop_mirror_normalize(
        ndd.as_tensor(image, layout=layout),
        mean=mean,
        std=std,
        mirror=int(mirror),
        dtype=ndd.dtype(np.dtype(dtype)),
        output_layout=output_layout,
    )
    expected = reference.crop_mirror_normalize(
        image, layout, output_layout, mean, std, mirror, dtype
    )
    if dtype == "f2":
        assert_close(result(out), expected, "float16")
    else:
        np.testing.assert_array_equal(result(out), expected)
    assert out.layout == output_layout


def test_padded_channels_and_borders() -> None:
    image = make_image((2, 2, 3))
    out = ndd.crop_mirror_normalize(
        ndd.as_tensor(image, layout="HWC"),
        crop=(2, 4),
        crop_pos_x=0.0,
        mirror=1,
        output_layout="HWC",
        pad_output=True,
        out_of_bounds_policy="pad",
        fill_values=[5],
    )
    expected = np.full((2, 4, 4), 5, np.float32)
    expected[:, 2:, :3] = image[:, ::-1]
    np.testing.assert_array_equal(result(out), expected)


def test_scale_and_shift() -> None:
    image = make_image((2, 2, 1))
    out = ndd.crop_mirror_normalize(
        ndd.as_tensor(image, layout="HWC"), mean=2.0, std=4.0, scale=8.0, shift=100.0
    )
    assert_close(result(out)[0], (image[..., 0].astype(np.float64) - 2) * 2 + 100, "float32")


@pytest.mark.parametrize("area", [(0.3, 0.4), (0.9, 1.0)])
def test_random_windows_are_legal(area: tuple[float, float]) -> None:
    shapes = ndd.batch([[300, 400, 3]] * 200)
    begins, extents = ndd.random_crop_generator(
        shapes, random_area=area, random_aspect_ratio=(0.8, 1.25), rng=ndd.random.RNG(seed=3)
    )
    begin, extent = begins.torch().numpy(), extents.torch().numpy()
    assert (begin >= 0).all()
    assert (begin + extent <= [300, 400]).all()
    ratio = extent[:, 1] / extent[:, 0]
    assert ratio.min() > 0.79
    assert ratio.max() < 1.26
    part = extent.prod(axis=1) / (300 * 400)
    # Halves of pixels are rounded, and a few windows do not fit in ten attempts.
    assert part.max() < area[1] + 0.01
    assert len({tuple(row) for row in begin.tolist()}) > 30


IMAGE = ndd.as_tensor(make_image((4, 5, 3)), layout="HWC")


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ndd.crop(IMAGE, crop=(9, 2)), RuntimeError, r"crop: the window \[-3, 6\) leaves"),
        (lambda: ndd.crop(IMAGE, crop=(2,)), ValueError, "crop: 'crop' needs 2 values"),
        (lambda: ndd.crop(IMAGE, crop=(-2, 1)), ValueError, "'crop' must not be negative; got -2"),
        (lambda: ndd.crop(IMAGE, crop=(2, 2), crop_h=1), ValueError, "'crop' and 'crop_h' exclude"),
        (
            lambda: ndd.crop(IMAGE, crop=(2, 2), crop_pos_x=1.5),
            ValueError,
            r"'crop_pos_x' must lie in \[0, 1\]; got 1.5",
        ),
        (lambda: ndd.crop(IMAGE, rounding="up"), ValueError, "'rounding' must be 'round' or"),
        (
            lambda: ndd.crop(IMAGE, dtype=ndd.int32),
            ValueError,
            "'dtype' must be one of uint8, float32",
        ),
        (
            lambda: ndd.crop(IMAGE, out_of_bounds_policy="ignore"),
            ValueError,
            "'out_of_bounds_policy' must be 'error', 'trim_to_shape', 'pad'",
        ),
        (
            lambda: ndd.crop(IMAGE, crop=(9, 9), out_of_bounds_policy="pad", fill_values=[1, 2]),
            ValueError,
            "'fill_values' needs 1 value or 3",
        ),
        (lambda: ndd.crop(ndd.as_tensor(np.zeros(3))), ValueError, "crop: the input has 1 axis"),
        (
            lambda: ndd.crop_mirror_normalize(IMAGE, mean=[1, 2]),
            ValueError,
            "'mean' needs 1 value or 3, one for each channel; got 2",
        ),
        (lambda: ndd.crop_mirror_normalize(IMAGE, std=0.0), ValueError, "'std' must not be 0"),
        (
            lambda: ndd.crop_mirror_normalize(IMAGE, output_layout="HW"),
            ValueError,
            "'output_layout' must have the letters of",
        ),
        (
            lambda: ndd.crop_mirror_normalize(IMAGE, out_of_bounds_policy="edge"),
            ValueError,
            "'out_of_bounds_policy' must be 'error', 'trim_to_shape' or 'pad'",
        ),
        (
            lambda: ndd.random_crop_generator(ndd.tensor([1.5, 2.0])),
            ValueError,
            "random_crop_generator: the input must hold integers",
        ),
        (lambda: ndd.random_crop_generator(ndd.tensor([0, 2])), ValueError, "at least one pixel"),
        (
            lambda: ndd.random_crop_generator(ndd.tensor([5, 2]), random_area=(0.5, 0.1)),
            ValueError,
            "'random_area' must be a range",
        ),
    ],
)
def test_wrong_arguments_are_refused(call: Any, kind: type[Exception], message: str) -> None:
    with ndd.EvalMode.sync_cpu, pytest.raises(kind, match=message):
        call()


def test_the_sample_is_named() -> None:
    batch = ndd.as_batch([make_image((9, 9, 1)), make_image((3, 9, 1))], layout="HWC")
    with pytest.raises(ndd.OpError, match=r"axis 0 has the extent 3 \(sample 1\)"):
        ndd.crop(batch, crop=(5, 5)).evaluate()
