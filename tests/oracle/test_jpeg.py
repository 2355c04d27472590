# SPDX-License-Identifier: Apache-2.0
"""Artifacts of JPEG compression are what the reference gives."""

from __future__ import annotations

import numpy as np
import pytest

from support.oracle import call_both

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("quality", [1, 10, 30, 50, 75, 95, 100])
def test_jpeg_compression_distortion(quality: int) -> None:
    rng = np.random.default_rng(2)
    samples = []
    for height, width in ((64, 80), (33, 47), (8, 8), (1, 1), (100, 17)):
        y, x = np.mgrid[:height, :width]
        waves = np.stack([np.sin(x / 9) + np.cos(y / 7), np.sin(x / 5), np.cos(y / 11)], -1)
        noise = rng.normal(size=waves.shape) * 0.1
        samples.append(((waves + noise) * 60 + 120).clip(0, 255).astype(np.uint8))
    expected, got = call_both("jpeg_compression_distortion", samples, layout="HWC", quality=quality)
    for ours_image, theirs in zip(got.arrays, expected.arrays, strict=True):
        difference = np.abs(ours_image.astype(int) - theirs)
        assert difference.max() <= 1, (ours_image.shape, difference.max(), difference.mean())
