# SPDX-License-Identifier: Apache-2.0
"""Equalized histograms against plain NumPy and OpenCV."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_near, assert_same
from support.ramps import Array, all_instruction_sets, make_image, raises, run

TILES = {"tiles_x": 3, "tiles_y": 2, "clip_limit": 2.0}


def equalize_plane(plane: Array) -> Array:
    """Equalize by sorting: a value's rank among all above the lowest one."""
    lowest = plane.min()
    above = np.sort(plane[plane > lowest])
    if above.size == 0:
        return plane.copy()
    rank = np.searchsorted(above, plane, side="right").astype(np.float64)
    result: Array = np.rint(rank * 255 / above.size).astype(np.uint8)
    return result


@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"])
def test_equalize(layout: str) -> None:
    extents = {"F": 2, "C": 3, "H": 23, "W": 34}
    image = make_image(tuple(extents[axis] for axis in layout))
    expected = np.empty_like(image)
    planes = [axis for axis, name in enumerate(layout) if name in "FC"]
    for index in np.ndindex(*(image.shape[axis] for axis in planes)):
        where: list[Any] = [slice(None)] * image.ndim
        for axis, number in zip(planes, index, strict=True):
            where[axis] = number
        expected[tuple(where)] = equalize_plane(image[tuple(where)])
    # Ranks that are scaled to halves round by the last bit of a float.
    assert_near(run("equalize", image, layout), expected)


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7])
def test_equalize_against_opencv(channels: int) -> None:
    for seed in range(5):
        shape = (*np.random.default_rng(seed).integers(1, 70, 2), channels)
        image = make_image(shape, seed=seed)
        planes = [cv2.equalizeHist(np.ascontiguousarray(image[..., c])) for c in range(channels)]
        assert_same(run("equalize", image, "HWC"), np.stack(planes, axis=-1))


@pytest.mark.parametrize("value", [0, 9, 255])
def test_equalize_keeps_flat_images(value: int) -> None:
    image = np.full((5, 6, 3), value, np.uint8)
    assert_same(run("equalize", image, "HWC"), image)


def opencv_clahe(image: Array, tiles_x: int, tiles_y: int, clip_limit: float) -> Array:
    result: Array = cv2.createCLAHE(clip_limit, (tiles_x, tiles_y)).apply(image)
    return result


@pytest.mark.parametrize("shape", [(40, 60), (37, 61), (1, 1), (5, 90), (200, 150)])
@pytest.mark.parametrize("clip_limit", [0.0, 0.5, 2.0, 40.0])
@pytest.mark.parametrize("tiles", [(1, 1), (4, 5), (8, 8), (100, 3)])
def test_clahe_of_gray(shape: tuple[int, int], clip_limit: float, tiles: tuple[int, int]) -> None:
    image = make_image(shape)
    arguments = {"tiles_x": tiles[0], "tiles_y": tiles[1], "clip_limit": clip_limit}
    expected = opencv_clahe(image, **arguments)
    assert_same(run("clahe", image, "HW", **arguments), expected)
    assert_same(run("clahe", image[..., None], "HWC", **arguments), expected[..., None])


def test_clahe_of_colors() -> None:
    image = np.random.default_rng(3).integers(0, 256, (67, 90, 3), np.uint8)
    lab = cv2.cvtColor(image, cv2.COLOR_RGB2Lab)
    lab[..., 0] = opencv_clahe(np.ascontiguousarray(lab[..., 0]), **TILES)
    assert_same(run("clahe", image, "HWC", **TILES), cv2.cvtColor(lab, cv2.COLOR_Lab2RGB))
    planes = [opencv_clahe(np.ascontiguousarray(image[..., c]), **TILES) for c in range(3)]
    actual = run("clahe", image, "HWC", luma_only=False, **TILES)
    assert_same(actual, np.stack(planes, axis=-1))


def test_clahe_keeps_colors() -> None:
    """The lightness changes; hues, which OpenCV's Lab in bytes keeps to a few degrees, do not."""
    ramp = np.linspace(0.3, 0.9, 64)[None, :, None]
    image = np.broadcast_to(ramp * [200, 120, 60], (64, 64, 3)).astype(np.uint8)
    result = run("clahe", image, "HWC", tiles_x=2, tiles_y=2, clip_limit=3.0).astype(np.float64)
    assert np.abs(result - image).max() > 30
    shares = result[:, 32] / result[:, 32].sum(axis=-1, keepdims=True)
    assert np.abs(shares - np.array([200, 120, 60]) / 380).max() < 0.1


def test_clahe_errors() -> None:
    image = make_image((8, 8, 3))
    for name in ("tiles_x", "tiles_y", "bins"):
        with raises(f"clahe: '{name}' must be positive; got 0"):
            run("clahe", image, "HWC", **TILES | {name: 0})
    with raises("clahe: there may be at most 1048576 tiles; got 65536 by 65536"):
        run("clahe", image, "HWC", tiles_x=65536, tiles_y=65536, clip_limit=1.0)
    with raises(r"clahe: images must have 1 or 3 channels; got the shape \(8, 8, 2\) \(sample 0\)"):
        run("clahe", image[..., :2], "HWC", **TILES)
    with pytest.raises(TypeError, match="clahe: the argument 'clip_limit' is missing"):
        ndd.clahe(image, tiles_x=1, tiles_y=1)


CURVE_TYPES = ["uint8", "uint16", "int16", "float16", "float32"]


def values_of(dtype: str) -> Any:
    """An image with values all over the range of a type, and the highest of them."""
    rng = np.random.default_rng(7)
    if dtype.startswith("float"):
        return rng.uniform(0, 1, (13, 17, 3)).astype(dtype), 1.0
    high = int(np.iinfo(dtype).max)
    return rng.integers(0, high, (13, 17, 3), dtype, endpoint=True), float(high)


def rounded(values: Any, like: Array) -> Array:
    """What is stored of float64 values."""
    if like.dtype.kind == "f":
        return np.asarray(values).astype(like.dtype)
    limits = np.iinfo(like.dtype)
    found: Array = np.clip(np.floor(values + 0.5), limits.min, limits.max).astype(like.dtype)
    return found


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("dtype", CURVE_TYPES)
def test_invert_and_solarize(dtype: str) -> None:
    image, high = values_of(dtype)
    wide = image.astype(np.float64)
    assert_near(run("invert", image, "HWC"), rounded(high - wide, image))
    middle = (high + 1) / 2 if high > 1 else 0.5
    expected = np.where(wide < middle, wide, high - wide)
    assert_near(run("solarize", image, "HWC"), rounded(expected, image))
    expected = np.where(wide < high / 4, wide, high - wide)
    assert_near(run("solarize", image, "HWC", threshold=high / 4), rounded(expected, image))


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_posterize(bits: int) -> None:
    image, _ = values_of("uint8")
    mask = np.uint8(256 - 2 ** (8 - bits))
    assert_same(run("posterize", image, "HWC", bits=bits), image & mask)
    deep, _ = values_of("uint16")
    assert_same(run("posterize", deep, "HWC", bits=bits), deep >> (16 - bits) << (16 - bits))
    soft, _ = values_of("float32")
    levels = np.clip(np.floor(soft * 2**bits), 0, 2**bits - 1) / 2**bits
    assert_same(run("posterize", soft, "HWC", bits=bits), levels.astype(np.float32))


@pytest.mark.parametrize("dtype", CURVE_TYPES)
def test_gamma(dtype: str) -> None:
    image, high = values_of(dtype)
    for gamma, gain in ((2.2, 1.0), (0.5, 0.8), (1.0, 3.0), (0.0, 0.5)):
        wide = high * gain * (image.astype(np.float64) / high) ** gamma
        found = run("gamma", image, "HWC", gamma=gamma, gain=gain)
        assert_near(found, rounded(np.clip(wide, 0, high), image))


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("layout", ["HW", "HWC", "CHW", "FHWC", "FCHW"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_autocontrast(layout: str, dtype: str) -> None:
    rng = np.random.default_rng(8)
    extents = {"F": 2, "C": 3, "H": 31, "W": 44}
    shape = tuple(extents[axis] for axis in layout)
    scale = 255 if dtype == "uint8" else 1
    image = (rng.uniform(0.2, 0.7, shape) * scale).astype(dtype)
    axes = tuple(axis for axis, name in enumerate(layout) if name in "HW")
    wide = image.astype(np.float64)
    low, high = wide.min(axes, keepdims=True), wide.max(axes, keepdims=True)
    expected = (wide - low) * (scale / (high - low))
    assert_near(run("autocontrast", image, layout), rounded(expected, image))


def test_autocontrast_keeps_what_has_one_value() -> None:
    image = np.stack([np.full((9, 7), 5), np.arange(63).reshape(9, 7)], axis=2).astype(np.uint8)
    found = run("autocontrast", image, "HWC")
    assert_same(found[..., 0], image[..., 0])
    assert found[..., 1].min() == 0
    assert found[..., 1].max() == 255


def test_curves_for_each_sample() -> None:
    images = ndd.batch([np.full((2, 2, 1), 200, np.uint8)] * 3, layout="HWC")
    out = ndd.solarize(images, threshold=ndd.batch([100, 200, 201]))
    assert [int(np.asarray(sample).max()) for sample in out.tensors] == [55, 55, 200]
    clip = ndd.tensor(np.full((2, 1, 1, 1), 100, np.uint8), layout="FHWC")
    steps = ndd.tensor(np.array([1, 4]), layout="F")
    assert np.asarray(ndd.posterize(clip, bits=steps)).ravel().tolist() == [0, 96]


def test_errors_of_curves() -> None:
    image = make_image((4, 5, 3))
    for bits in (0, 9):
        with raises(f"posterize: 'bits' must be between 1 and 8; got {bits} .sample 0"):
            run("posterize", image, "HWC", bits=bits)
    with raises("gamma: 'gamma' must be a number that is not negative; got -1 .sample 0"):
        run("gamma", image, "HWC", gamma=-1.0)
    with raises("gamma: 'gain' must be a finite number; got inf"):
        run("gamma", image, "HWC", gain=float("inf"))
