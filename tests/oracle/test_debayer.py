# SPDX-License-Identifier: Apache-2.0
"""Raw images become what the reference makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from support.compare import assert_near, assert_same
from support.libraries import Each, each_frame
from support.oracle import assert_agree
from support.ramps import make_images

pytestmark = pytest.mark.oracle
POSITIONS = [[0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("algorithm", ["bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_debayer(algorithm: str, dtype: str) -> None:
    if algorithm == "vng_ocv" and dtype == "uint16":
        return
    # OpenCV has a less exact 1/7 for the last pixels of a row, which may round the other way.
    same = assert_near if algorithm == "vng_ocv" else assert_same
    rng = np.random.default_rng(5)
    for layout in ("HW", "HWC"):
        for _ in range(6):
            shapes = [
                (*2 * rng.integers(1, 60, 2), *([1] if layout == "HWC" else [])) for _ in POSITIONS
            ]
            images = make_images(rng, shapes, dtype)
            positions = Each(POSITIONS, "int32")
            arguments = {"algorithm": algorithm, "blue_position": positions}
            assert_agree("debayer", images, layout=layout, check=same, **arguments)


@pytest.mark.parametrize("layout", ["FHW", "FHWC"])
def test_debayer_frames(layout: str) -> None:
    rng = np.random.default_rng(6)
    shape = (4, 20, 30) if layout == "FHW" else (4, 20, 30, 1)
    images = make_images(rng, [shape, shape])
    for position in ([1, 0], each_frame([POSITIONS, POSITIONS[::-1]], "int32")):
        arguments = {"blue_position": position}
        assert_agree("debayer", images, layout=layout, **arguments)


def test_default_algorithm() -> None:
    images = make_images(np.random.default_rng(7), [(20, 30)])
    assert_agree("debayer", images, blue_position=[0, 1])
