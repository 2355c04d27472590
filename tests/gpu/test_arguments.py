# SPDX-License-Identifier: Apache-2.0
"""Arguments and lists that hold data on the gpu, of this library and of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd

IMAGES = np.random.default_rng(8).integers(0, 256, (3, 5, 6, 3), np.uint8)


@pytest.fixture
def on_gpu(simulate: Any) -> Callable[[Any], torch.Tensor]:
    """Makes a tensor of torch on a simulated device."""
    found = simulate("cuda")

    def move(values: Any) -> torch.Tensor:
        with found.queues.active(None):
            moved: torch.Tensor = torch.from_numpy(np.asarray(values)).to(torch.device("cuda", 0))
            return moved

    return move


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("brightness", {"brightness": np.float32(1.5)}),
        ("flip", {"horizontal": np.int32(1), "vertical": np.array([1], np.int64)}),
        ("crop", {"crop": np.array([3.0, 4.0], np.float32)}),
        ("resize", {"size": np.array([4, 7], np.int32)}),
        ("resize", {"resize_x": np.float64(3.0)}),
        ("gaussian_blur", {"sigma": np.array([0.5, 1.5], np.float32)}),
        ("erase", {"anchor": np.float32([1, 2]), "shape": np.float32([2, 2]), "axes": [0, 1]}),
        ("normalize", {"mean": np.float32(3.0), "stddev": np.float32(2.0)}),
        ("crop_mirror_normalize", {"mirror": np.int32(1), "mean": np.float32([1, 2, 3])}),
        ("uniform", {"range": np.float32([1, 2])}),
    ],
)
@pytest.mark.parametrize("where", ["cpu", "gpu"])
def test_arguments_may_be_tensors_of_torch_on_the_gpu(
    operator: str, arguments: dict[str, Any], where: str, on_gpu: Callable[[Any], torch.Tensor]
) -> None:
    moved = {
        name: on_gpu(value) if isinstance(value, np.ndarray | np.generic) else value
        for name, value in arguments.items()
    }
    if operator == "uniform":
        calls = [
            ndd.random.uniform(batch_size=3, device=where, rng=ndd.random.RNG(2), **given)
            for given in (arguments, moved)
        ]
    else:
        images = ndd.batch(IMAGES, layout="HWC", device=where)
        calls = [getattr(ndd, operator)(images, **given) for given in (arguments, moved)]
    expected, found = (np.asarray(result.cpu().torch()) for result in calls)
    np.testing.assert_array_equal(found, expected)


def test_lists_may_hold_tensors_of_both_libraries(on_gpu: Callable[[Any], torch.Tensor]) -> None:
    ours = ndd.tensor(IMAGES[0], device="gpu")
    theirs = on_gpu(IMAGES[1])
    for parts in ([ours, theirs], [theirs, ours], [theirs, theirs]):
        for make in (ndd.batch, ndd.as_batch):
            made = make(parts)
            assert str(made.device) == "gpu:0"
            expected = [IMAGES[0] if part is ours else IMAGES[1] for part in parts]
            np.testing.assert_array_equal(np.asarray(made.cpu().torch()), expected)
    with pytest.raises(ValueError, match="one device"):
        ndd.batch([ours, IMAGES[1]])


def test_anchors_may_be_on_the_gpu(on_gpu: Callable[[Any], torch.Tensor]) -> None:
    anchors = np.array([[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]], np.float32)
    boxes, labels = np.float32([[0, 0, 0.5, 0.4]]), np.int32([7])
    expected = ndd.box_encoder(boxes, labels, anchors=anchors.ravel().tolist())
    for found, part in zip(
        ndd.box_encoder(boxes, labels, anchors=on_gpu(anchors)), expected, strict=True
    ):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(part))


def test_flags_may_be_batches_on_the_gpu(on_gpu: Callable[[Any], torch.Tensor]) -> None:
    images = ndd.batch(IMAGES, layout="HWC", device="gpu")
    flags = ndd.batch([1, 0, 1], device="gpu")
    as_torch = ndd.as_batch(on_gpu(np.array([1, 0, 1])))
    for mirror in (flags, as_torch):
        found = np.asarray(ndd.flip(images, horizontal=mirror).cpu().torch())
        expected = np.where([[[[True]]], [[[False]]], [[[True]]]], IMAGES[:, :, ::-1], IMAGES)
        np.testing.assert_array_equal(found, expected)
