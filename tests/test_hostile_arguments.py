# SPDX-License-Identifier: Apache-2.0
"""Arguments that once led kernels beyond their memory, or never came to an end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.op import registry

HUGE = np.float32(1e38)


def image(*shape: int) -> Any:
    shape = shape or (5, 6, 3)
    values = np.arange(np.prod(shape), dtype=np.uint32) % 251
    return ndd.batch([values.astype(np.uint8).reshape(shape)], layout="HWC")


def video(frames: int) -> Any:
    values = np.arange(frames * 48, dtype=np.uint8).reshape(frames, 4, 4, 3)
    return ndd.batch([values], layout="FHWC")


def per_frame(*arrays: Any, layout: str) -> Any:
    return ndd.batch([np.ascontiguousarray(array, np.float32) for array in arrays], layout=layout)


def identities(count: int, rows: int) -> Any:
    return np.tile(np.eye(3, dtype=np.float32)[:rows], (count, 1, 1))


MISMATCHED: dict[str, Callable[[], Any]] = {
    "warp_affine": lambda: ndd.warp_affine(video(8), per_frame(identities(3, 2), layout="FHW")),
    "warp_affine, longer": lambda: ndd.warp_affine(
        video(2), per_frame(identities(3, 2), layout="FHW")
    ),
    "warp_perspective": lambda: ndd.experimental.warp_perspective(
        video(8), per_frame(identities(3, 3), layout="FHW")
    ),
    "remap": lambda: ndd.experimental.remap(
        video(8),
        per_frame(np.zeros((3, 4, 4)), layout="FHW"),
        per_frame(np.zeros((3, 4, 4)), layout="FHW"),
    ),
    "filter": lambda: ndd.filter(video(8), per_frame(np.ones((3, 3, 3)), layout="FHW")),
}


@pytest.mark.parametrize("name", MISMATCHED)
def test_second_inputs_need_as_many_frames(name: str) -> None:
    operator = name.partition(",")[0]
    with pytest.raises(ValueError, match=rf"{operator}: the input '\w+' needs as many frames"):
        MISMATCHED[name]().evaluate()


def test_the_sample_with_other_frames_is_named() -> None:
    videos = ndd.batch([np.zeros((n, 4, 4, 3), np.uint8) for n in (2, 3)], layout="FHWC")
    matrices = per_frame(identities(2, 2), identities(2, 2), layout="FHW")
    with pytest.raises(ValueError, match=r"got 2 for 3 frames \(sample 1\)"):
        ndd.warp_affine(videos, matrices).evaluate()


def test_equal_numbers_of_frames_are_fine() -> None:
    result = ndd.warp_affine(video(3), per_frame(identities(3, 2), layout="FHW"))
    assert np.array_equal(result.tensors[0], video(3).tensors[0])


NOTHING = ndd.batch([np.zeros(0, np.float32)])
EMPTY_VECTORS: dict[str, Callable[[Any], Any]] = {
    "gaussian_blur: 'window_size'": lambda none: ndd.gaussian_blur(image(), window_size=none),
    "gaussian_blur: 'sigma'": lambda none: ndd.gaussian_blur(image(), sigma=none),
    "laplacian: 'window_size'": lambda none: ndd.laplacian(image(), window_size=none),
    "laplacian: 'smoothing_size'": lambda none: ndd.laplacian(image(), smoothing_size=none),
    "laplacian: 'scale'": lambda none: ndd.laplacian(image(), scale=none),
    "warp_affine: 'matrix'": lambda none: ndd.warp_affine(image(), matrix=none),
    "experimental.warp_perspective: 'matrix'": lambda none: ndd.experimental.warp_perspective(
        image(), matrix=none
    ),
    "experimental.median_blur: 'window_size'": lambda none: ndd.experimental.median_blur(
        image(), window_size=none
    ),
    "experimental.dilate: 'mask_size'": lambda none: ndd.experimental.dilate(
        image(), mask_size=none
    ),
    "experimental.erode: 'anchor'": lambda none: ndd.experimental.erode(image(), anchor=none),
    "debayer: 'blue_position'": lambda none: ndd.debayer(image(4, 4, 1), blue_position=none),
    "filter: 'anchor'": lambda none: ndd.filter(image(), np.ones((3, 3), np.float32), anchor=none),
    "erase: 'fill_value'": lambda none: ndd.erase(
        image(), anchor=[0, 0], shape=[1, 1], fill_value=none
    ),
}


@pytest.mark.parametrize("where", EMPTY_VECTORS)
@pytest.mark.parametrize("none", [[], NOTHING], ids=["list", "batch"])
def test_empty_vectors_are_refused(where: str, none: Any) -> None:
    with pytest.raises(ValueError, match=f"^{where} needs .* got (0|\\[\\])"):
        EMPTY_VECTORS[where](none).evaluate()


WARPS: dict[str, Callable[[Any], Any]] = {
    "rotate": lambda images: ndd.rotate(images, angle=45.0),
    "warp_affine": lambda images: ndd.warp_affine(images, matrix=[1, 0, 0, 0, 1, 0], size=[2, 2]),
}


@pytest.mark.parametrize("kind", WARPS)
def test_images_without_pixels_among_others_have_no_border(kind: str) -> None:
    images = ndd.batch(
        [np.ones((3, 3, 1), np.uint8), np.ones((0, 3, 1), np.uint8), np.ones((0, 0, 1), np.uint8)],
        layout="HWC",
    )
    with pytest.raises(ValueError, match=r"no pixels to take border values from.*\(sample 1\)"):
        WARPS[kind](images).evaluate()


def test_rotation_of_images_without_pixels_with_a_fill_value() -> None:
    images = ndd.batch([np.ones((0, 3, 1), np.uint8), np.ones((2, 2, 1), np.uint8)], layout="HWC")
    whole, square = ndd.rotate(images, angle=90.0, fill_value=7).tensors
    assert (np.asarray(whole) == 7).all()
    assert np.array_equal(square, np.ones((2, 2, 1), np.uint8))


def test_paste_needs_a_fill_value() -> None:
    empty = ndd.batch([np.zeros((2, 2, 0), np.uint8)], layout="HWC")
    with pytest.raises(ValueError, match=r"^paste: 'fill_value' needs one value"):
        ndd.paste(empty, ratio=2.0, n_channels=0, fill_value=[]).evaluate()


@pytest.mark.parametrize(
    "rates",
    [{"scale": 1e-45}, {"in_rate": 1e38, "out_rate": 1}, {"in_rate": 1e38, "out_rate": 1e-38}],
)
def test_a_signal_shrinks_to_its_first_value(rates: dict[str, float]) -> None:
    # The reference also makes one value of it; its position is that of the first.
    signal = np.linspace(0.5, 1, 100, dtype=np.float32)
    shrunk = np.asarray(ndd.audio_resample(signal, **rates))
    expected = np.asarray(ndd.audio_resample(signal, out_length=1))
    assert shrunk.shape == (1,)
    assert shrunk == expected


def test_random_resized_crop_of_no_images() -> None:
    nothing = ndd.as_batch(np.zeros((0, 4, 4, 3), np.uint8), layout="HWC")
    assert ndd.random_resized_crop(nothing, size=[2, 2]).batch_size == 0


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, HUGE, -HUGE])
@pytest.mark.parametrize("name", ["crop_w", "crop", "crop_pos_x"])
def test_crops_of_no_size(name: str, value: float) -> None:
    arguments: dict[str, Any] = {"crop_h": 2, "crop_w": 2, name: value}
    if name == "crop":
        arguments = {"crop": [value, 2]}
    with pytest.raises(ValueError, match=rf"^crop: '{name}' must .* got "):
        ndd.crop(image(), **arguments).evaluate()


@pytest.mark.parametrize("name", ["median_blur", "dilate", "erode"])
def test_windows_too_large_to_compute_with(name: str) -> None:
    argument = "window_size" if name == "median_blur" else "mask_size"
    with pytest.raises(ValueError, match=rf"'{argument}' must be at most \d+ along each axis"):
        getattr(ndd.experimental, name)(image(), **{argument: 2**31 - 1}).evaluate()


def test_a_gaussian_window_too_long_for_memory() -> None:
    with pytest.raises(ValueError, match=r"'window_size' must be at most 16777215; got"):
        ndd.gaussian_blur(image(), window_size=2**31 - 1).evaluate()


@pytest.mark.parametrize("name", ["dilate", "erode"])
def test_iterations_without_end(name: str) -> None:
    with pytest.raises(ValueError, match=r"'iterations' must be at most 65536"):
        getattr(ndd.experimental, name)(image(), iterations=2**31 - 1).evaluate()
    with pytest.raises(ValueError, match=r"'iterations' must be an integer of 32 bits; got 4611"):
        getattr(ndd.experimental, name)(image(), iterations=2**62)


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 10**20])
def test_fixed_integers_have_32_bits(value: int) -> None:
    with pytest.raises(ValueError, match=r"^normalize: 'ddof' must be an integer of 32 bits"):
        ndd.normalize(image(), ddof=value)
    with pytest.raises(ValueError, match=r"^reductions.sum: 'axes' must be a list of integers of"):
        ndd.reductions.sum(image(), axes=[0, value])


def test_the_first_integer_beyond_the_type_is_refused_as_a_float() -> None:
    # In single precision, 2**31 - 1 and 2**31 are the same.
    with pytest.raises(ValueError, match=r"^flip: 'horizontal' must be one integer"):
        ndd.flip(image(), horizontal=np.float32(2**31)).evaluate()


def test_misaligned_and_swapped_arguments() -> None:
    memory = np.zeros(9, np.uint8)[1:]
    misaligned = memory.view(np.float32)
    misaligned[:] = (2, 3)
    expected = ndd.gaussian_blur(image(), sigma=[2, 3]).tensors[0]
    for sigma in (misaligned, np.array([2, 3], ">f4")):
        assert np.array_equal(ndd.gaussian_blur(image(), sigma=sigma).tensors[0], expected)


def test_angles_are_finite() -> None:
    for angle in (np.inf, np.nan, 1e300):
        with pytest.raises(ValueError, match=r"^rotate: 'angle' must be finite"):
            ndd.rotate(image(), angle=angle).evaluate()


def test_attempts_without_end() -> None:
    with pytest.raises(ValueError, match=r"'num_attempts' must be at most 1000000; got 2147483647"):
        ndd.random_crop_generator(np.array([3, 4]), num_attempts=2**31 - 1)[0].evaluate()


def test_a_failed_allocation_of_the_standard_library() -> None:
    def body() -> Any:
        raise MemoryError("std::bad_alloc")  # noqa: EM101

    with pytest.raises(MemoryError, match=r"^zeros: there is not enough memory\.$"):
        registry["zeros"].run(1, None, body, [], {})


def test_regions_beyond_any_image() -> None:
    with pytest.raises(ValueError, match=r"'crop_shape' must lie within 2\*\*60 pixels; got -9223"):
        ndd.roi_random_crop(crop_shape=[-(2**63), 5], roi_start=[0, 0], roi_end=[9, 3]).evaluate()


def test_aspect_ratios_beyond_any_image() -> None:
    shape = np.array([49496, 2**31 - 1])
    wide = ndd.random_crop_generator(shape, random_aspect_ratio=[1e-38, 1e38])
    begins, sizes = (np.asarray(part) for part in wide)
    assert (begins >= 0).all()
    assert (begins + sizes <= shape).all()


def test_lists_with_axes_for_no_samples() -> None:
    order = ndd.as_batch(np.zeros((0, 5, 4), np.uint8))
    with pytest.raises(ValueError, match=r"'new_order' must be a list of numbers; got one with 2"):
        ndd.sequence_rearrange(np.zeros((3, 2, 2)), new_order=order).evaluate()


def test_sizes_without_rows_for_no_samples() -> None:
    nothing = ndd.as_batch(np.zeros((0, 4, 4, 3), np.uint8), layout="HWC")
    sizes = ndd.as_batch(np.zeros((0, 5), np.float32))
    assert ndd.resize(nothing, size=sizes).batch_size == 0


def test_names_of_new_axes_that_are_too_few() -> None:
    result = ndd.expand_dims(image(), axes=[0, 2], new_axis_names="D")
    with pytest.raises(ValueError, match="'new_axis_names' needs 2 letters"):
        result.evaluate()


def test_arguments_without_rows_for_no_samples() -> None:
    nothing = ndd.as_batch(np.zeros((0, 4, 4, 3), np.uint8), layout="HWC")
    for width in (0, 9):
        sizes = ndd.as_batch(np.zeros((0, width), np.int32))
        assert ndd.gaussian_blur(nothing, sigma=1.0, window_size=sizes).batch_size == 0
    values = ndd.as_batch(np.zeros((0, 5), np.float32))
    assert ndd.random.uniform(values=values, batch_size=0).batch_size == 0


def test_scalars_cannot_be_erased() -> None:
    with pytest.raises(ValueError, match=r"^erase: the input has no axes"):
        ndd.erase(np.float32(3), anchor=[0.0], shape=[1.0]).evaluate()


@pytest.mark.parametrize("size", [2**40, 2**24 + 1])
def test_batches_too_large_to_describe(size: int) -> None:
    with pytest.raises(ValueError, match=r"^zeros: 'batch_size' must be at most 16777216"):
        ndd.zeros(shape=[1], batch_size=size)


def test_images_of_a_mosaic_need_equally_many_channels() -> None:
    images = [np.zeros((3, 5, channels), np.uint8) for channels in (1, 17, 1, 1)]
    with pytest.raises(
        ValueError, match=r"equally many channels; got \[1, 1, 1, 17\] \(sample 0\)"
    ):
        ndd.mosaic(ndd.batch(images, layout="HWC")).evaluate()


def test_mixing_no_images() -> None:
    none = ndd.as_batch(np.zeros((0, 2, 3, 1), np.uint8), layout="HWC")
    boxes = ndd.as_batch(np.zeros((0, 17), np.int32))
    assert ndd.cutmix(none, boxes=boxes).evaluate().batch_size == 0
    assert ndd.mosaic(none, size=boxes, partners=boxes).evaluate().batch_size == 0


def test_the_order_of_channels_that_are_not_there() -> None:
    with pytest.raises(ValueError, match=r"each of the 2 channels once; got \[0, 2, 1\]"):
        ndd.channel_shuffle(image(4, 5, 2), order=[0, 2, 1]).evaluate()


def test_shears_that_overflow_in_later_rows_show_the_border() -> None:
    sheared = np.asarray(ndd.shear_x(image(10, 6, 3), shear=HUGE, fill_value=7).tensors[0])
    np.testing.assert_array_equal(sheared, np.full((10, 6, 3), 7, np.uint8))


def test_no_channels_to_shuffle() -> None:
    assert ndd.channel_shuffle(image(7, 7, 0)).shape == [(7, 7, 0)]
