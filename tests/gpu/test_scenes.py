# SPDX-License-Identifier: Apache-2.0
"""Scenes whose images are on the gpu."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close
from support.scenes import make_scene

pytestmark = pytest.mark.usefixtures("either_device")


def resized_crop(scene: ndd.Scene) -> ndd.Scene:
    return ndd.random_resized_crop(scene, size=[20, 30], rng=ndd.random.RNG(seed=1))


def bbox_crop(scene: ndd.Scene) -> ndd.Scene:
    return ndd.random_bbox_crop(scene, scaling=[0.5, 0.9], rng=ndd.random.RNG(seed=1))


@pytest.mark.parametrize(
    "call",
    [
        ndd.flip,
        lambda scene: ndd.rotate(scene, angle=30.0, fill_value=0),
        lambda scene: ndd.crop(scene, crop=(20, 30)),
        resized_crop,
        bbox_crop,
        lambda scene: ndd.brightness(scene, brightness=0.5),
    ],
)
def test_parts_as_on_the_cpu(call: Any) -> None:
    expected = call(make_scene())
    found = call(make_scene().gpu())
    assert found.image.device.device_type == "gpu"
    assert found.masks.device.device_type == "gpu"
    assert found.boxes.device.device_type == "cpu"
    for name in ("boxes", "labels", "masks", "keypoints"):
        for one, other in zip(expected.parts[name], found.parts[name].cpu(), strict=True):
            np.testing.assert_array_equal(one, other)
    for one, other in zip(expected.image, found.cpu().image, strict=True):
        assert_close(one, other, "warped")


def test_images_may_move_alone() -> None:
    found = ndd.flip(make_scene(), device="gpu")
    assert found.image.device.device_type == "gpu"
    assert found.boxes.tolist() == ndd.flip(make_scene()).boxes.tolist()
