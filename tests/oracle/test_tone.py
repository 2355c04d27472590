# SPDX-License-Identifier: Apache-2.0
"""Equalized histograms against the reference library itself."""

from __future__ import annotations

import numpy as np
import pytest

from support.oracle import assert_agree
from support.ramps import make_images

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "FHW", "FHWC", "FCHW", None])
def test_equalize(layout: str | None) -> None:
    rng = np.random.default_rng(2)
    extents = {"F": 3, "C": 3}
    name = layout or "HWC"
    for _ in range(5):
        shapes = [[extents.get(a) or int(rng.integers(1, 60)) for a in name] for _ in range(4)]
        assert_agree("equalize", make_images(rng, shapes), layout=layout)


def test_equalize_special_images() -> None:
    flat = [np.full((9, 7, 2), value, np.uint8) for value in (0, 7, 255)]
    two = [np.repeat(np.uint8([[[3], [200]]]), 5, axis=0)]
    many = [np.random.default_rng(3).integers(0, 256, (9, 8, 11), np.uint8)]
    assert_agree("equalize", flat + two + many, layout="HWC")


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("luma_only", [True, False])
def test_clahe(channels: int, luma_only: bool) -> None:
    rng = np.random.default_rng(4)
    for _ in range(12):
        shapes = [(*rng.integers(1, 150, 2), channels) for _ in range(4)]
        arguments = {
            "tiles_x": int(rng.integers(1, 12)),
            "tiles_y": int(rng.integers(1, 12)),
            "clip_limit": float(rng.choice([0, 0.5, 2, 3.7, 40, -1])),
            "luma_only": luma_only,
        }
        images = make_images(rng, shapes)
        assert_agree("clahe", images, layout="HWC", **arguments)


def test_clahe_of_all_colors() -> None:
    """Every color goes to CIE Lab and back."""
    colors = np.arange(2**24, dtype="<u4").view(np.uint8).reshape(4096, 4096, 4)
    image = np.ascontiguousarray(colors[..., :3])
    arguments = {"tiles_x": 4, "tiles_y": 4, "clip_limit": 2.0}
    assert_agree("clahe", [image], layout="HWC", **arguments)
