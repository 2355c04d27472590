# SPDX-License-Identifier: Apache-2.0
"""Calls that are alike: arguments are converted once, and kernels run by a plan.

A plan is made when a call is made for the second time, so everything is done several times here.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from daliesque._engine.constants import constant_key
from support.compare import assert_close

TIMES = 5


def images(count: int, shape: tuple[int, ...] = (6, 5, 3)) -> list[NDArray[np.uint8]]:
    rng = np.random.default_rng(7)
    return [rng.integers(0, 256, shape, dtype=np.uint8) for _ in range(count)]


def normalized(image: NDArray[np.uint8], mean: list[float], std: list[float]) -> NDArray[Any]:
    values = (image.astype(np.float32) - np.float32(mean)) / np.float32(std)
    return np.moveaxis(values, -1, 0)


def test_data_differs_from_call_to_call() -> None:
    for image in images(TIMES):
        tensor = ndd.tensor(image, layout="HWC")
        np.testing.assert_array_equal(ndd.flip(tensor).numpy(), image[:, ::-1])
        up = ndd.flip(tensor, horizontal=0, vertical=1)
        np.testing.assert_array_equal(up.numpy(), image[::-1])


def test_shapes_types_and_layouts_alternate() -> None:
    for number in range(4 * TIMES):
        height = (4, 7)[number % 2]
        dtype = (np.uint8, np.float32)[number // 2 % 2]
        image = np.arange(height * 6, dtype=dtype).reshape(height, 2, 3) + dtype(number)
        assert ndd.flip(ndd.tensor(image, layout="HWC")).layout == "HWC"
        np.testing.assert_array_equal(
            ndd.flip(ndd.tensor(image, layout="HWC")).numpy(), image[:, ::-1]
        )
        np.testing.assert_array_equal(
            ndd.flip(ndd.tensor(image, layout="CHW")).numpy(), image[:, :, ::-1]
        )


def test_batches() -> None:
    for count in (3, 3, 3, 2, 3, 1):
        arrays = images(count)
        flipped = ndd.flip(ndd.batch(arrays, layout="HWC"))
        for image, result in zip(arrays, flipped.tensors, strict=True):
            np.testing.assert_array_equal(result.numpy(), image[:, ::-1])
    for _ in range(TIMES):
        ragged = [*images(1), *images(1, (3, 9, 3))]
        for image, result in zip(
            ragged, ndd.flip(ndd.batch(ragged, layout="HWC")).tensors, strict=True
        ):
            np.testing.assert_array_equal(result.numpy(), image[:, ::-1])


def test_lists_that_change() -> None:
    """What counts is what a list holds when the call is made."""
    mean, std = [0.0, 10.0, 20.0], [1.0, 2.0, 4.0]
    for number, image in enumerate(images(3 * TIMES)):
        mean[0] = float(number // 3)
        tensor = ndd.tensor(image, layout="HWC")
        result = ndd.crop_mirror_normalize(tensor, mean=mean, std=std)
        assert_close(result.numpy(), normalized(image, mean, std), "float32")


def test_arrays_that_change() -> None:
    mean = np.array([0.0, 10.0, 20.0], np.float32)
    for number, image in enumerate(images(3 * TIMES)):
        mean[0] = number // 3
        tensor = ndd.tensor(image, layout="HWC")
        result = ndd.crop_mirror_normalize(tensor, mean=mean, std=[2.0])
        expected = normalized(image, mean.tolist(), [2.0])
        assert_close(result.numpy(), expected, "float32")


def test_arguments_of_a_type_of_ours() -> None:
    for number, image in enumerate(images(3 * TIMES)):
        dtype, scalar = ((ndd.float32, np.float32), (ndd.int16, np.int16))[number % 2]
        tensor = ndd.tensor(image, layout="HWC")
        result = ndd.crop_mirror_normalize(tensor, dtype=dtype, output_layout="HWC")
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.numpy(), image.astype(scalar))


def test_one_value_for_each_sample() -> None:
    for number in range(TIMES):
        arrays = images(3)
        flags = np.roll([1, 0, 0], number).astype(np.int32)
        flipped = ndd.flip(ndd.batch(arrays, layout="HWC"), horizontal=ndd.batch(list(flags)))
        for image, flag, result in zip(arrays, flags, flipped.tensors, strict=True):
            np.testing.assert_array_equal(result.numpy(), image[:, ::-1] if flag else image)


def test_frames_of_sequences() -> None:
    for _ in range(TIMES):
        (video,) = images(1, (4, 6, 5, 3))
        result = ndd.flip(ndd.tensor(video, layout="FHWC"))
        np.testing.assert_array_equal(result.numpy(), video[:, :, ::-1])


def test_views_are_read_as_they_are() -> None:
    for image in images(TIMES):
        whole = ndd.tensor(image, layout="HWC")
        np.testing.assert_array_equal(ndd.flip(whole[::2]).numpy(), image[::2, ::-1])
        result = ndd.crop_mirror_normalize(whole[:, 1:], output_layout="HWC")
        np.testing.assert_array_equal(result.numpy(), image[:, 1:].astype(np.float32))


def test_what_is_wrong_is_said_each_time() -> None:
    tensor = ndd.tensor(images(1)[0], layout="HWC")
    messages = set()
    for _ in range(TIMES):
        with pytest.raises(ndd.OpError, match="leaves the input") as raised:
            ndd.crop(tensor, crop=(9, 9)).evaluate()
        messages.add(str(raised.value))
        with pytest.raises(ValueError, match="crop_mirror_normalize: 'std' must not be 0") as zero:
            ndd.crop_mirror_normalize(tensor, std=[0.0]).evaluate()
        messages.add(str(zero.value))
    assert len(messages) == 2


def test_wrong_batches_of_arguments_come_out_where_the_result_is_read() -> None:
    batch = ndd.batch(images(2), layout="HWC")
    result = ndd.flip(batch, horizontal=ndd.batch([[1, 0], [0, 1]]))
    with pytest.raises(ValueError, match="flip: 'horizontal' needs one value for each sample"):
        result.evaluate()


def test_threads_make_the_same_calls() -> None:
    arrays = images(8)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            rng = np.random.default_rng(seed)
            for _ in range(200):
                image = arrays[rng.integers(8)][: rng.integers(1, 6)]
                result = ndd.flip(ndd.tensor(image, layout="HWC"), vertical=int(rng.integers(2)))
                flipped = result.numpy()[:, ::-1]
                assert (flipped == image).all() or (flipped == image[::-1]).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        (1.0, [1.0]),
        ([1.0, 2.0], [[1.0, 2.0]]),
        ([1.0, 0.0], [1.0, -0.0]),
        ([1, 2.0], [1.0, 2]),
        ([[1.0], [2.0]], [[1.0, 2.0]]),
    ],
)
def test_constants_are_distinguished(one: Any, other: Any) -> None:
    assert constant_key(one) != constant_key(other)
    assert constant_key(one) == constant_key(one) is not None
    assert constant_key(other) is not None


@pytest.mark.parametrize("value", [np.float32(1), [np.float32(1)], "1", ["1"], [], [1.0] * 100])
def test_no_constants(value: Any) -> None:
    assert constant_key(value) is None


def test_zeros_keep_their_sign() -> None:
    tensor = ndd.tensor(np.full((1, 1, 1), -0.0, np.float32), layout="HWC")
    for shift, sign in ((0.0, False), (-0.0, True)) * TIMES:
        result = ndd.normalize(tensor, mean=0.0, stddev=1.0, shift=shift)
        assert bool(np.signbit(result.numpy()[0, 0, 0])) == sign


def test_constants_beyond_what_is_kept() -> None:
    image = images(1)[0]
    tensor = ndd.tensor(image, layout="HWC")
    for number in range(200):
        mean = [float(number % 150)]
        result = ndd.crop_mirror_normalize(tensor, mean=mean)
        np.testing.assert_array_equal(result.numpy(), normalized(image, mean, [1.0]))
