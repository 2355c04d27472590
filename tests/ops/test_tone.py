# SPDX-License-Identifier: Apache-2.0
"""Tables, histograms and raw images against plain NumPy and OpenCV."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from support.compare import assert_near, assert_same
from support.reference.color import to_type

Array = NDArray[Any]
INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
TYPES = [*INTEGERS, "float16", "float32", "float64"]
POSITIONS = {(0, 0): "BG", (0, 1): "GB", (1, 0): "GR", (1, 1): "RG"}
SUFFIXES = {"bilinear_ocv": "RGB", "edgeaware_ocv": "RGB_EA", "vng_ocv": "RGB_VNG"}
TILES = {"tiles_x": 3, "tiles_y": 2, "clip_limit": 2.0}
all_instruction_sets = pytest.mark.parametrize(
    "instruction_set", ["vector", "avx2", "portable"], indirect=True
)


def make_image(shape: tuple[int, ...], dtype: str = "uint8", seed: int = 0) -> Array:
    """A ramp with noise: neither flat nor without structure."""
    rng = np.random.default_rng(seed)
    ramp = np.linspace(40, 200, int(np.prod(shape))).reshape(shape)
    return (ramp + rng.integers(0, 30, shape)).astype(dtype)


def run(name: str, image: Array, layout: str | None = None, **arguments: Any) -> Array:
    return np.array(getattr(ndd, name)(ndd.tensor(image, layout=layout), **arguments))


def raises(message: str) -> Any:
    return pytest.raises(ValueError, match=message)


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", TYPES)
def test_lookup_table(source: str, target: str) -> None:
    rng = np.random.default_rng(1)
    limits = np.iinfo(source)
    data = rng.integers(max(limits.min, -50), min(limits.max, 400), (30, 40), source)
    data.flat[:2] = [limits.min, limits.max]
    table = {int(key): float(rng.uniform(-300, 300)) for key in rng.integers(0, 300, 100)}
    values = np.array([table.get(int(key), 7.25) for key in data.flat], np.float32)
    actual = run(
        "lookup_table",
        data,
        keys=list(table),
        values=list(table.values()),
        default_value=7.25,
        dtype=np.dtype(target),
    )
    assert_same(actual, to_type(values.reshape(data.shape), target))


def test_lookup_table_defaults_and_repeated_keys() -> None:
    data = np.array([0, 5, 65535, 65536, -1], np.int32)
    assert_same(run("lookup_table", data), np.zeros(5, np.float32))
    actual = run("lookup_table", data, keys=[5, 65535, 5], values=[1, 2, 3], output_dtype=ndd.int16)
    assert_same(actual, np.array([0, 3, 2, 0, 0], np.int16))


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
def test_lookup_table_of_large_arrays() -> None:
    """Beyond the size from which results bypass the caches."""
    data = np.random.default_rng(2).integers(0, 256, (3, 1201, 1603), np.uint8)
    for dtype in (ndd.uint8, ndd.float32):
        actual = run("lookup_table", data, keys=range(256), values=range(255, -1, -1), dtype=dtype)
        assert_same(actual, (255 - data).astype(actual.dtype))


def test_lookup_table_keeps_the_layout() -> None:
    image = ndd.tensor(make_image((4, 5, 3)), layout="HWC")
    assert ndd.lookup_table(image).layout == "HWC"


def test_lookup_table_errors() -> None:
    image = make_image((2, 2))
    with raises("lookup_table: 'keys' and 'values' must be equally long; got 2 and 1"):
        run("lookup_table", image, keys=[1, 2], values=[3])
    for key in (-1, 65536):
        with raises(f"lookup_table: 'keys' must be from 0 to 65535; got {key}"):
            run("lookup_table", image, keys=[1, key], values=[3, 4])
    with raises("lookup_table: the type f32 is not supported"):
        run("lookup_table", image.astype(np.float32))


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


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("algorithm", SUFFIXES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_debayer(position: tuple[int, int], algorithm: str, dtype: str) -> None:
    if algorithm == "vng_ocv" and dtype == "uint16":
        return
    code = getattr(cv2, f"COLOR_Bayer{POSITIONS[position]}2{SUFFIXES[algorithm]}")
    # OpenCV has a less exact 1/7 for the last pixels of a row, which may round the other way.
    same = assert_near if algorithm == "vng_ocv" else assert_same
    for shape in ((2, 6), (4, 4), (10, 12), (38, 70), (64, 300)):
        image = make_image(shape, dtype)
        if dtype == "uint16":
            image = image * np.uint16(290)
        actual = run("debayer", image, blue_position=position, algorithm=algorithm)
        if min(shape) == 2:  # too small for neighbors on both sides
            assert_same(actual, np.zeros((*shape, 3), dtype))
        else:
            same(actual, cv2.demosaicing(image, code))


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_debayer_to_gray(position: tuple[int, int], dtype: str) -> None:
    code = getattr(cv2, f"COLOR_Bayer{POSITIONS[position]}2GRAY")
    image = make_image((24, 50), dtype)
    actual = run("debayer", image[..., None], blue_position=position, algorithm="gray_ocv")
    assert_same(actual, cv2.demosaicing(image, code)[..., None])


def test_debayer_restores_flat_colors() -> None:
    """A sensor that looks at one color: red, green and blue where the documentation says."""
    color = np.array([200, 120, 40], np.uint8)
    raw = np.full((10, 12), color[1])
    raw[1::2, 1::2], raw[::2, ::2] = color[2], color[0]
    for algorithm in SUFFIXES:
        actual = run("debayer", raw, blue_position=[0, 0], algorithm=algorithm)
        assert_same(actual, np.broadcast_to(color, (10, 12, 3)))


def test_debayer_frames_and_samples() -> None:
    video = make_image((4, 10, 12))
    positions = ndd.tensor(np.array(list(POSITIONS), np.int32), layout="FK")
    result = ndd.debayer(ndd.tensor(video, layout="FHW"), blue_position=positions)
    assert result.layout == "FHWC"
    frames = [run("debayer", f, blue_position=p) for f, p in zip(video, POSITIONS, strict=True)]
    assert_same(np.array(result), np.stack(frames))
    batch = ndd.batch(list(video), layout="HW")
    result = ndd.debayer(batch, blue_position=ndd.batch([np.int32(p) for p in POSITIONS]))
    for sample, frame in zip(result.tensors, frames, strict=True):
        assert_same(np.array(sample), frame)


def test_debayer_errors() -> None:
    raw = make_image((4, 6))
    with raises(r"debayer: 'algorithm' must be 'bilinear_ocv', .*; got 'default_npp'"):
        run("debayer", raw, blue_position=[0, 0], algorithm="default_npp")
    with raises("debayer: 'algorithm' can be 'vng_ocv' for uint8 only; got uint16"):
        run("debayer", raw.astype("uint16"), blue_position=[0, 0], algorithm="vng_ocv")
    with raises(r"debayer: 'blue_position' must be 0 or 1; got \[0, 2\] \(sample 0\)"):
        run("debayer", raw, blue_position=[0, 2])
    with raises(r"debayer: 'blue_position' needs two values \(row, column\); got \[0, 1, 0\]"):
        run("debayer", raw, blue_position=[0, 1, 0])
    with raises(r"debayer: height and width must be even; got the shape \(3, 6\) \(sample 0\)"):
        run("debayer", raw[:3], blue_position=[0, 0])
    with raises(r"debayer: images must have one channel; got the shape \(4, 6, 3\) \(sample 0\)"):
        run("debayer", np.dstack([raw] * 3), blue_position=[0, 0])
    with raises("debayer: the type f32 is not supported"):
        run("debayer", raw.astype("float32"), blue_position=[0, 0])
