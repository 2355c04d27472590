# SPDX-License-Identifier: Apache-2.0
"""What operators ask of a device does not grow: see `support.launches`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import daliesque as ndd
from daliesque._engine import devices
from support import launches

TABLE = launches.table()

# Operators that treat all elements alike take as much for samples of different sizes, nearly.
ELEMENTWISE = [
    *("brightness", "brightness_contrast", "cast", "coarse_dropout", "color_space_conversion"),
    *("color_twist", "contrast", "copy", "erase", "gamma", "grayscale", "hsv", "hue", "invert"),
    *("lookup_table", "normalize (given)", "posterize", "random_erasing", "rgb_shift"),
    *("saturation", "solarize"),
]


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    for backend in (torch.cuda, torch.xpu):
        monkeypatch.setattr(backend, "_lazy_init", lambda: None)
    # Set again by each measurement.
    monkeypatch.setattr(devices, "_found", None)


def test_every_operator_is_in_the_table() -> None:
    assert sorted(TABLE) == sorted(launches.cases())


@pytest.mark.usefixtures("no_driver")
@pytest.mark.parametrize("name", TABLE)
def test_no_more_than_the_table_says(name: str) -> None:
    for found, allowed in zip(launches.measured(name), TABLE[name], strict=True):
        assert all(a <= b for a, b in zip(found, allowed, strict=True)), (found, allowed)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_sizes_do_not_matter_for_single_elements(name: str) -> None:
    dense, real = TABLE[name]
    assert real.launches <= 2 * dense.launches


@pytest.mark.usefixtures("no_driver")
@pytest.mark.parametrize(
    "expression",
    [
        lambda x: x * 2 + 1,
        lambda x: x - x,
        lambda x: ndd.math.sqrt(x),
        lambda x: (x > 3) & (x < 9),
        lambda x: x / ndd.batch([[float(k)] for k in range(launches.COUNT)]).gpu(),
    ],
    ids=["numbers", "samples", "math", "comparison", "per sample"],
)
def test_sizes_do_not_matter_for_arithmetic(expression: Callable[[ndd.Batch], ndd.Batch]) -> None:
    dense, real = (launches.counted_expression(expression, sizes) for sizes in (False, True))
    assert 0 < dense.launches <= 10
    # One more finds the sample that an element belongs to.
    assert real.launches <= 2 * dense.launches + 1


@pytest.mark.parametrize("name", [name for name, rows in TABLE.items() if len(rows) > 1])
def test_sizes_matter_little(name: str) -> None:
    """Never shape by shape, of which there are 41: in a few buckets, or all at once."""
    dense, real = TABLE[name]
    # What only makes views of equal samples has to gather others.
    assert real.launches <= max(8 * dense.launches, 5)


def test_limits_that_were_asked_for() -> None:
    assert TABLE["jpeg_compression_distortion"][0].launches <= 40
    for name in ("rotate", "warp_affine", "experimental.remap"):
        assert TABLE[name][0].launches <= 12
    drawn = ["noise.gaussian", "noise.salt_and_pepper"]
    for name in [*drawn, "random.choice (fields)", "random.uniform (images)"]:
        # A few parameters, not a number for each pixel.
        assert all(row.copied < 4096 for row in TABLE[name])
