# SPDX-License-Identifier: Apache-2.0
"""resize, tensor_resize, resize_crop_mirror and random_resized_crop against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import daliesque as ndd
from support.compare import assert_close, assert_resampled, assert_same
from support.instruction_sets import use_instructions
from support.reference.resample import is_clear, resample

NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR, GAUSSIAN = range(6)
FILTERS = (NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR, GAUSSIAN)
TYPES = ("u1", "u2", "i2", "f4")
SIZES = [((40, 53), (17, 23)), ((20, 31), (57, 41)), ((200, 33), (11, 89)), ((7, 150), (64, 7))]


def noise(shape: tuple[int, ...], dtype: str = "u1", seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if dtype == "f4":
        return rng.normal(size=shape).astype(np.float32)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, np.dtype(dtype), endpoint=True)


def run(array: Any, layout: str | None = "HWC", **arguments: Any) -> Any:
    return np.asarray(ndd.resize(ndd.as_tensor(array, layout=layout), **arguments))


def check(
    array: Any,
    size: tuple[int, ...],
    start: tuple[float, ...] = (0.0, 0.0),
    end: tuple[float, ...] | None = None,
    interp: int = LINEAR,
    antialias: bool = True,
) -> None:
    """Resize height and width of an HWC image and compare where the result is unambiguous."""
    arguments: dict[str, Any] = {"size": size, "interp_type": interp, "antialias": antialias}
    if end is None:
        end = array.shape[:2]
    else:
        arguments |= {"roi_start": start, "roi_end": end}
    assert end is not None
    got = run(array, **arguments)
    assert got.dtype == array.dtype
    expected = resample(array, (0, 1), size, start, end, interp, antialias)
    rows, columns = (is_clear(size[k], start[k], end[k], interp, antialias) for k in (0, 1))
    assert rows.mean() > 0.8
    assert columns.mean() > 0.8
    assert got.shape == expected.shape
    assert_resampled(got[rows][:, columns], expected[rows][:, columns], arguments)


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("interp", FILTERS)
@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
def test_every_filter_equals_the_formula(interp: int, antialias: bool, dtype: str) -> None:
    for in_size, out_size in SIZES:
        check(noise((*in_size, 3), dtype), out_size, interp=interp, antialias=antialias)


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 15, 16, 19])
def test_channels(dtype: str, channels: int) -> None:
    array = noise((37, 61, channels), dtype)
    for size in ((19, 23), (53, 97), (19, 61), (37, 23)):
        got = run(array, size=size, interp_type=CUBIC)
        assert_resampled(got, resample(array, (0, 1), size, interp=CUBIC), size)


@pytest.mark.parametrize("dtype", TYPES)
def test_float_output(dtype: str) -> None:
    array = noise((37, 61, 3), dtype)
    for interp in (NN, LINEAR):
        got = run(array, size=(19, 97), interp_type=interp, dtype=ndd.float32)
        assert got.dtype == np.float32
        assert_resampled(got, resample(array, (0, 1), (19, 97), interp=interp))


LAYOUTS = {
    "HWC": (37, 25, 3),
    "CHW": (3, 37, 25),
    "FHWC": (2, 37, 25, 3),
    "FCHW": (2, 3, 37, 25),
    "CFHW": (3, 2, 37, 25),
    "DHWC": (11, 17, 25, 3),
    "CDHW": (3, 11, 17, 25),
    "FDHWC": (2, 11, 17, 25, 3),
    "FCDHW": (2, 3, 11, 17, 25),
    "CFDHW": (3, 2, 11, 17, 25),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_only_spatial_axes_are_resized(layout: str, dtype: str) -> None:
    array = noise(LAYOUTS[layout], dtype)
    axes = [axis for axis, letter in enumerate(layout) if letter in "DHW"]
    for size in ([5, 13, 37], [23, 41, 11])[:2]:
        wanted = size[3 - len(axes) :]
        result = ndd.resize(ndd.as_tensor(array, layout=layout), size=wanted, interp_type=LANCZOS3)
        assert result.layout == layout
        assert_resampled(result, resample(array, axes, wanted, interp=LANCZOS3), layout)


@pytest.mark.parametrize("order", [(5, 29, 37), (40, 13, 11), (23, 41, 7), (11, 13, 60)])
@pytest.mark.parametrize("interp", [NN, LINEAR])
@pytest.mark.parametrize("dtype", TYPES)
def test_axes_of_volumes_are_resized_in_any_order(
    order: tuple[int, ...], interp: int, dtype: str
) -> None:
    array = noise((11, 17, 25, 2), dtype)
    got = run(array, "DHWC", size=order, interp_type=interp)
    assert_resampled(got, resample(array, (0, 1, 2), order, interp=interp), order)


@given(
    extents=st.tuples(*[st.integers(1, 70)] * 2),
    size=st.tuples(*[st.integers(1, 70)] * 2),
    channels=st.integers(1, 5),
    dtype=st.sampled_from(["u1", "f4"]),
)
@settings(max_examples=150, deadline=None)
def test_any_size(
    extents: tuple[int, int], size: tuple[int, int], channels: int, dtype: str
) -> None:
    array = noise((*extents, channels), dtype)
    assert_resampled(run(array, size=size), resample(array, (0, 1), size), (extents, size))


@pytest.mark.parametrize("interp", FILTERS)
@pytest.mark.parametrize("value", [0, 1, 127, 128, 254, 255])
def test_flat_images_stay_flat(interp: int, value: int) -> None:
    for in_size, out_size in [*SIZES, ((900, 1000), (5, 7)), ((3, 5), (3, 80))]:
        array = np.full((*in_size, 3), value, np.uint8)
        assert (run(array, size=out_size, interp_type=interp) == value).all()


@pytest.mark.parametrize("interp", [NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR])
@pytest.mark.parametrize("dtype", TYPES)
def test_same_size_is_a_copy(interp: int, dtype: str) -> None:
    array = noise((21, 34, 3), dtype)
    got = run(array, size=(21, 34), interp_type=interp)
    if interp == LANCZOS3 and dtype == "f4":
        assert_close(got, array, "unit values")
    else:
        assert_same(got, array)


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_large_factors(dtype: str) -> None:
    array = noise((1100, 1300, 3), dtype)
    for size in ((3, 5), (1, 1), (1100, 2), (7, 1300)):
        assert_resampled(run(array, size=size), resample(array, (0, 1), size), size)


def test_simd_and_portable_agree() -> None:
    for dtype in TYPES:
        for interp in FILTERS:
            array = noise((37, 61, 3), dtype)
            fast = run(array, size=(23, 80), interp_type=interp)
            for instructions in ("avx2", "portable"):
                with use_instructions(instructions):
                    assert_same(run(array, size=(23, 80), interp_type=interp), fast)


@pytest.mark.parametrize("instructions", ["vector", "avx2", "portable"])
@pytest.mark.parametrize("interp", [LINEAR, CUBIC])
def test_rows_of_any_length(instructions: str, interp: int) -> None:
    """Rows shorter and longer than one vector or two, with and without a rest."""
    for width in (1, 31, 32, 33, 63, 64, 65, 95, 127, 128, 129, 191, 200):
        array = noise((40, width, 1), "u1")
        for size in ((9, width), (9, 23), (57, 23)):
            with use_instructions(instructions):
                check(array, size, interp=interp)


@pytest.mark.parametrize("dtype", ["u1", "f4"])
@pytest.mark.parametrize("size", [(301, 203), (1501, 1103), (-301, 203)])
def test_threads_share_an_image(dtype: str, size: tuple[int, int]) -> None:
    array = noise((700, 900, 3), dtype)
    results = []
    for threads in (1, 3):
        with ndd.EvalContext(num_threads=threads):
            results.append(run(array, size=size))
    assert_same(results[1], results[0])


@pytest.mark.parametrize("interp", FILTERS)
@pytest.mark.parametrize("dtype", ["u1", "f4"])
@pytest.mark.parametrize(
    ("start", "end"),
    [
        ((3.0, 5.0), (33.0, 47.0)),
        ((3.3, 10.7), (20.4, 11.9)),
        ((30.2, 5.1), (4.4, 47.6)),
        ((30.2, 44.1), (4.4, 1.6)),
        ((-7.3, -4.2), (45.1, 60.9)),
        ((46.7, 60.9), (-9.1, -4.7)),
        ((50.3, -30.1), (70.9, -10.3)),
    ],
)
def test_regions_equal_the_formula(interp: int, dtype: str, start: Any, end: Any) -> None:
    array = noise((40, 53, 3), dtype)
    for size in ((17, 23), (57, 71)):
        check(array, size, start, end, interp)


def test_relative_region() -> None:
    array = noise((40, 53, 3))
    start, end = [0.25, 0.75], [0.875, 0.125]
    got = run(array, size=(17, 23), roi_start=start, roi_end=end, roi_relative=True)
    expected = resample(array, (0, 1), (17, 23), (10, 0.75 * 53), (35, 0.125 * 53))
    assert_resampled(got, expected)


def test_degenerate_region_takes_one_position() -> None:
    array = noise((40, 53, 3))
    got = run(array, size=(3, 4), roi_start=[7.5, 9.5], roi_end=[7.5, 9.5])
    assert_same(got, np.broadcast_to(array[7, 9], (3, 4, 3)))


def test_filter_for_each_direction() -> None:
    array = noise((40, 53, 3), "f4")
    size = (17, 97)
    got = run(array, size=size, min_filter=CUBIC, mag_filter=NN)
    rows = resample(array, (0,), (17,), interp=CUBIC)
    assert_resampled(got, resample(rows, (1,), (97,), interp=NN))
    start, end = (3.3, 4.1), (30.2, 44.6)
    got = run(array, size=size, min_filter=NN, roi_start=start, roi_end=end)
    rows = resample(array, (0,), (17,), start[:1], end[:1], interp=NN)
    assert_resampled(got, resample(rows, (1,), (97,), start[1:], end[1:]))


def test_values_of_each_sample() -> None:
    arrays = [noise((30, 41, 3)), noise((17, 23, 3)), noise((9, 50, 3))]
    sizes = [[11.0, 7.0], [20.0, 31.0], [-5.0, 13.0]]
    filters = [NN, CUBIC, GAUSSIAN]
    result = ndd.resize(
        ndd.batch(arrays, layout="HWC"),
        size=ndd.batch(sizes),
        interp_type=ndd.batch(filters, dtype=ndd.InterpType),
    )
    for got, array, size, interp in zip(result, arrays, sizes, filters, strict=True):
        alone = run(array, size=size, interp_type=interp)
        assert_same(got, alone)


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"size": 100}, (100, 100)),
        ({"size": [100, 50]}, (100, 50)),
        ({"size": [100, 0]}, (100, 133)),
        ({"size": [0, 100], "mode": "stretch"}, (480, 100)),
        ({"size": [0, 0]}, (480, 640)),
        ({"size": [-100, 50.5]}, (100, 51)),
        ({"size": [0.2, 50]}, (1, 50)),
        ({"size": [100, 100], "mode": "not_larger"}, (75, 100)),
        ({"size": [100, 100], "mode": "not_smaller"}, (100, 133)),
        ({"size": [100, -300], "mode": "not_larger"}, (100, 133)),
        ({"size": [0, 100], "mode": "not_smaller"}, (75, 100)),
        ({"resize_x": 320}, (240, 320)),
        ({"resize_y": 120}, (120, 160)),
        ({"resize_x": 99, "resize_y": 31}, (31, 99)),
        ({"resize_x": 99, "mode": "stretch"}, (480, 99)),
        ({"resize_x": 0}, (480, 640)),
        ({"resize_z": 7}, (480, 640)),
        ({"resize_shorter": 256}, (256, 341)),
        ({"resize_longer": 256}, (192, 256)),
        ({"resize_shorter": 600, "max_size": 700}, (525, 700)),
        ({"resize_shorter": 600, "max_size": [300, 700]}, (300, 400)),
        ({"size": [100, 900], "max_size": 200}, (100, 200)),
        ({"size": [100, 0], "roi_start": [0, 0], "roi_end": [50, 25]}, (100, 50)),
    ],
)
def test_sizes_from_arguments(arguments: dict[str, Any], shape: tuple[int, int]) -> None:
    assert run(np.zeros((480, 640, 1), np.uint8), **arguments).shape[:2] == shape


def test_sizes_of_volumes() -> None:
    volume = np.zeros((20, 30, 40, 1), np.uint8)
    assert run(volume, "DHWC", resize_z=10).shape == (10, 15, 20, 1)
    assert run(volume, "DHWC", resize_z=10, resize_x=40).shape == (10, 21, 40, 1)
    assert run(volume, "DHWC", resize_shorter=5).shape == (5, 8, 10, 1)


def test_rounded_sizes_keep_the_scale() -> None:
    array = noise((37, 53, 1), "f4")
    got = run(array, size=[18.6, 26.3])
    center = np.array([37, 53]) / 2
    half = center * np.array([19, 26]) / np.array([18.6, 26.3])
    expected = resample(array, (0, 1), (19, 26), center - half, center + half)
    assert_resampled(got, expected)
    plain = run(array, size=[18.6, 26.3], subpixel_scale=False)
    assert_resampled(plain, resample(array, (0, 1), (19, 26)))


def test_original_sizes() -> None:
    batch = ndd.batch([noise((2, 30, 41, 3)), noise((1, 17, 23, 3))], layout="FHWC")
    images, sizes = ndd.resize(batch, size=5, save_attrs=True)
    assert [tensor.shape for tensor in images] == [(2, 5, 5, 3), (1, 5, 5, 3)]
    assert sizes.dtype == ndd.int32
    assert [np.asarray(tensor).tolist() for tensor in sizes] == [[30, 41], [17, 23]]


def test_empty_images() -> None:
    assert run(np.zeros((0, 5, 3), np.uint8), size=4).shape == (0, 4, 3)
    assert run(np.zeros((6, 5, 0), np.uint8), size=[3, 4]).shape == (3, 4, 0)
    assert run(np.zeros((0, 6, 5, 3), np.uint8), "FHWC", size=[3, 4]).shape == (0, 3, 4, 3)


def test_layout_is_assumed() -> None:
    assert ndd.resize(ndd.as_tensor(noise((6, 7, 3))), size=3).layout == "HWC"
    assert ndd.resize(ndd.as_tensor(noise((2, 6, 7, 3))), size=3).layout == "FHWC"
    assert ndd.experimental.resize is ndd.resize


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "resize: exactly one of size, .*; got none of them"),
        ({"size": 3, "resize_x": 4}, "resize: exactly one of size, .*; got 2 of them"),
        ({"size": [1, 2, 3]}, r"resize: 'size' needs 2 values, .*got 3: \[1.0, 2.0, 3.0\]"),
        ({"size": [np.nan, 3]}, r"resize: sizes must be finite; got \[nan, 3.0\]"),
        ({"size": [1e12, 3]}, "resize: a size of [0-9]+ pixels is too large"),
        ({"resize_x": np.inf}, "resize: sizes must be finite"),
        ({"size": 3, "mode": "larger"}, "resize: 'mode' must be 'default', .*; got 'larger'"),
        ({"resize_shorter": 3, "mode": "stretch"}, "'mode' excludes 'resize_shorter'"),
        ({"size": 3, "roi_start": 0}, "'roi_start' and 'roi_end' go together"),
        ({"size": 3, "roi_start": [0, np.nan], "roi_end": 3}, "'roi_start' must be finite"),
        ({"size": 3, "roi_start": [0] * 3, "roi_end": 1}, "'roi_start' needs 2 values"),
        ({"size": 3, "max_size": [1, 2, 3]}, "'max_size' needs 1 or 2 values; got 3"),
        ({"size": 3, "interp_type": 6}, "'interp_type' must be one of INTERP_NN, .*; got 6"),
        ({"size": 3, "min_filter": -1}, "'min_filter' must be one of .*; got -1"),
        ({"size": 3, "dtype": ndd.int16}, "'dtype' must be that of the input .* or float32"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    image = ndd.as_tensor(noise((6, 7, 3)), layout="HWC")
    with pytest.raises(ValueError, match=message):
        np.asarray(ndd.resize(image, **arguments))


def test_wrong_argument_of_a_sample() -> None:
    batch = ndd.batch([noise((6, 7, 3))] * 3, layout="HWC")
    with pytest.raises(ValueError, match=r"resize: 'interp_type' .* got 9 \(sample 2\)"):
        ndd.resize(batch, size=3, interp_type=ndd.batch([0, 1, 9])).evaluate()
    sizes = ndd.batch([[1.0, 2.0], [np.nan, 1.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match=r"resize: sizes must be finite; .* \(sample 1\)"):
        ndd.resize(batch, size=sizes).evaluate()


@pytest.mark.parametrize("dtype", [ndd.int8, ndd.int32, ndd.float16, ndd.float64])
def test_wrong_type(dtype: ndd.DType) -> None:
    image = ndd.cast(ndd.as_tensor(noise((6, 7, 3)), layout="HWC"), dtype=dtype)
    with pytest.raises(ValueError, match=r"resize: the type .* is not supported"):
        np.asarray(ndd.resize(image, size=3))


def noise_of_bytes(shape: tuple[int, ...], dtype: str = "u1", seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if dtype == "f4":
        return rng.normal(size=shape).astype(np.float32)
    return rng.integers(0, 256, shape).astype(dtype)


def resized(array: Any, layout: str | None = None, **arguments: Any) -> Any:
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
    array = noise_of_bytes(shape, dtype)
    for interp in (1, 2):
        got = resized(array, sizes=sizes, axes=axes, interp_type=interp)
        assert got.dtype == array.dtype
        assert_resampled(got, resample(array, axes, sizes, interp=interp))


def test_axis_names() -> None:
    array = noise_of_bytes((31, 25, 3))
    got = ndd.tensor_resize(ndd.as_tensor(array, layout="HWC"), sizes=[13, 7], axis_names="WH")
    assert got.layout == "HWC"
    assert_resampled(got, resample(array, (1, 0), (13, 7)))


@pytest.mark.parametrize(
    ("rounding", "expected"), [("round", (5, 11)), ("truncate", (5, 10)), ("ceil", (6, 11))]
)
def test_sizes_from_scales(rounding: str, expected: tuple[int, int]) -> None:
    array = noise_of_bytes((17, 21), "f4")
    scales = np.array([0.31, 0.5], np.float32)
    got = resized(array, scales=scales, size_rounding=rounding, interp_type=CUBIC)
    assert got.shape == expected
    # The region grows or shrinks about its center, so that the scale stays.
    center = np.array([17, 21]) / 2
    half = np.array(expected) / scales / 2
    assert_resampled(got, resample(array, (0, 1), expected, center - half, center + half, CUBIC))


def test_alignment() -> None:
    array = noise_of_bytes((37,), "f4")
    for alignment in (0.0, 0.25, 1.0):
        got = resized(array, sizes=[18.6], alignment=alignment)
        fixed, ratio = 37 * alignment, 19 / 18.6
        start, end = fixed - fixed * ratio, fixed + (37 - fixed) * ratio
        assert_resampled(got, resample(array, (0,), (19,), (start,), (end,)))


def test_region_of_some_axes() -> None:
    array = noise_of_bytes((3, 31, 25), "f4")
    got = resized(array, sizes=[13], axes=[1], roi_start=[0.75], roi_end=[0.25], roi_relative=True)
    assert_resampled(got, resample(array, (1,), (13,), (0.75 * 31,), (0.25 * 31,)))


def test_modes_decide_sizes() -> None:
    array = noise_of_bytes((20, 30, 40))
    assert resized(array, sizes=[10, 10, 10], mode="not_larger").shape == (5, 8, 10)
    assert resized(array, sizes=[10, 10, 10], mode="not_smaller", max_size=15).shape == (
        8,
        11,
        15,
    )
    assert resized(array, sizes=[0, 60], axes=[1, 2], mode="stretch").shape == (20, 30, 60)
    assert_same(resized(array, scales=[0.5], axes=[]), array)


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
def test_wrong_arguments_of_tensor_resize(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"tensor_resize: .*{message}"):
        resized(noise_of_bytes((6, 7, 8, 9)), **arguments)


def test_scalars_have_no_axes() -> None:
    with pytest.raises(ValueError, match="tensor_resize: the input must have at least one axis"):
        resized(np.float32(1), sizes=[3])


@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC", "CFHW", "DHWC", "CDHW"])
@pytest.mark.parametrize("mirror", range(8))
def test_resize_crop_mirror_is_three_in_one(layout: str, mirror: int) -> None:
    extents = {"H": 31, "W": 25, "D": 9, "F": 2, "C": 3}
    volume = "D" in layout
    array = noise_of_bytes(tuple(extents[letter] for letter in layout), "f4")
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
    array = noise_of_bytes((20, 30, 3))
    tensor = ndd.as_tensor(array, layout="HWC")
    got = np.asarray(ndd.resize_crop_mirror(tensor, size=[20, 30], crop=[24, 40]))
    assert_same(got, np.pad(array, ((2, 2), (5, 5), (0, 0)), mode="edge"))


def test_resize_crop_mirror_of_each_sample() -> None:
    arrays = [noise_of_bytes((30, 41, 3)), noise_of_bytes((17, 23, 3)), noise_of_bytes((50, 9, 3))]
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


@pytest.mark.parametrize("low", [0.0, 0.2])
@pytest.mark.parametrize("layout", ["HWC", "CHW", "FHWC", "FCHW", "CFHW"])
def test_random_resized_crop_resizes_a_random_window(layout: str, low: float) -> None:
    extents = {"H": 60, "W": 80, "F": 2, "C": 3}
    arrays = [noise_of_bytes(tuple(extents[letter] for letter in layout), seed=k) for k in range(4)]
    windows = {"random_area": [low, 0.6], "random_aspect_ratio": [0.5, 2.0], "num_attempts": 5}
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
    image = ndd.as_tensor(noise_of_bytes((6, 7, 3)), layout="HWC")
    with pytest.raises(kind, match=f"random_resized_crop: {message}"):
        np.asarray(ndd.random_resized_crop(image, **arguments))


def test_no_windows_in_nothing() -> None:
    batch = ndd.batch([noise_of_bytes((6, 7, 3)), noise_of_bytes((0, 7, 3))], layout="HWC")
    with pytest.raises(ndd.OpError, match=r"random_resized_crop: .*without pixels.*\(sample 1\)"):
        ndd.random_resized_crop(batch, size=3).evaluate()
