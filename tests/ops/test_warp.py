# SPDX-License-Identifier: Apache-2.0
"""Warps against plain NumPy: every coordinate on its own, in double precision."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from support.compare import assert_close
from support.instruction_sets import use_instructions
from support.ramps import all_instruction_sets
from support.reference.sampling import affine_positions, sampled

Array = NDArray[Any]
MATRIX = [0.9, 0.3, -5.3, -0.2, 1.1, 4.1]


@pytest.mark.parametrize("fill", [None, 77.0])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4", "f8"])
def test_warp_affine(dtype: str, fill: float | None) -> None:
    rng = np.random.default_rng(3)
    image = rng.integers(0, 127, (25, 90, 3)).astype(dtype)
    got = np.asarray(
        ndd.warp_affine(
            ndd.tensor(image, layout="HWC"), matrix=MATRIX, size=(31, 80), fill_value=fill
        )
    )
    positions = affine_positions(np.array(MATRIX).reshape(2, 3), (31, 80))
    expected = sampled(image, positions, fill)
    assert got.dtype == image.dtype
    kind = "warped integers" if image.dtype.kind in "iu" else "warped"
    assert_close(got, expected, "warped float16" if dtype == "f2" else kind)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_all_ways_of_bytes_agree(channels: int) -> None:
    rng = np.random.default_rng(4)
    image = rng.integers(0, 256, (40, 50, channels), np.uint8)
    for fill in (None, 200.0):
        for size in ((40, 50), (3, 7), (100, 120)):
            got = np.asarray(
                ndd.warp_affine(
                    ndd.tensor(image, layout="HWC"), matrix=MATRIX, size=size, fill_value=fill
                )
            )
            positions = affine_positions(np.array(MATRIX).reshape(2, 3), size)
            assert np.abs(got - sampled(image, positions, fill)).max() <= 0.55


@pytest.mark.parametrize("interp", [ndd.types.INTERP_NN, ndd.types.INTERP_LINEAR])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_instruction_sets_agree(dtype: str, interp: Any) -> None:
    """To the last bit: also in narrow images, and where a group of pixels is not full."""
    rng = np.random.default_rng(7)
    for channels, fill in itertools.product((1, 2, 3, 4, 5), (None, 3.0)):
        sizes = [(1, 1), (2, 2), (1, 40), (40, 1), (7, 3), (70, 65), (33, 130)]
        images = [rng.integers(0, 256, (*size, channels)).astype(dtype) for size in sizes]
        angles = [np.float32(angle) for angle in rng.uniform(-180, 180, len(sizes))]
        results = []
        for name in ("vector", "avx2", "portable"):
            with use_instructions(name):
                rotated = ndd.rotate(
                    ndd.batch(images, layout="HWC"),
                    angle=ndd.batch(angles),
                    size=(37, 83),
                    fill_value=fill,
                    interp_type=interp,
                )
                results.append(np.stack([np.array(tensor) for tensor in rotated.tensors]))
        assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


@pytest.mark.usefixtures("instruction_set")
@all_instruction_sets
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8"])
def test_nearest_pixels_of_every_size(dtype: str) -> None:
    """Positions are sums of small powers of two: no rounding moves them over an edge."""
    matrix = np.float32([[0.5, 0.25, -8], [-0.25, 0.75, 20]])
    rows, columns = np.mgrid[:90, :201].astype(np.float64) + 0.5
    x = np.floor(matrix[0, 0] * columns + matrix[0, 1] * rows + matrix[0, 2]).astype(int)
    y = np.floor(matrix[1, 0] * columns + matrix[1, 1] * rows + matrix[1, 2]).astype(int)
    rng = np.random.default_rng(5)
    for channels, (height, width) in itertools.product((1, 2, 3, 4, 5), ((60, 90), (41, 17))):
        image = rng.integers(0, 256, (height, width, channels)).astype(dtype)
        nearest = image[y.clip(0, height - 1), x.clip(0, width - 1)]
        inside = ((x >= 0) & (x < width) & (y >= 0) & (y < height))[..., None]
        for fill, expected in ((None, nearest), (7, np.where(inside, nearest, 7))):
            got = ndd.warp_affine(
                ndd.tensor(image, layout="HWC"),
                matrix=matrix,
                size=(90, 201),
                fill_value=fill,
                interp_type=ndd.types.INTERP_NN,
            )
            assert (np.array(got) == expected).all()


@pytest.mark.parametrize("fill", [None, 9.0])
@pytest.mark.parametrize("scale", [0.6, 1.0, 1.2, 1.3])
def test_instruction_sets_agree_inside_of_images(scale: float, fill: float | None) -> None:
    """Images of which whole groups of pixels lie inside, by angles from flat to steep."""
    rng = np.random.default_rng(14)
    angles = np.deg2rad([0.0, 0.3, 4, 11, 24, 31, 33, 52, 88, 90, 171, 203, 270, 349])
    widths = rng.integers(20, 24, len(angles) // 2).tolist() + [150] * (len(angles) // 2)
    images = [rng.integers(0, 256, (97, width, 3), np.uint8) for width in widths]
    matrices = []
    for angle, image in zip(angles, images, strict=True):
        rotation = scale * np.array(
            [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        )
        middle = np.array([image.shape[1], image.shape[0]]) / 2
        offset = middle - rotation @ np.array([75, 50])
        matrices.append(np.float32(np.column_stack([rotation, offset])))
    results = []
    for name in ("vector", "avx2", "portable"):
        with use_instructions(name):
            moved = ndd.warp_affine(
                ndd.batch(images, layout="HWC"),
                matrix=ndd.batch(matrices),
                size=(100, 150),
                fill_value=fill,
            )
            results.append(np.stack([np.array(tensor) for tensor in moved.tensors]))
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


@pytest.mark.parametrize("fill", [None, 201.0])
@pytest.mark.parametrize("channels", [1, 3])
def test_bytes_rotated_by_any_angle(channels: int, fill: float | None) -> None:
    """Images that are rotated, sheared, mirrored and reduced, of sizes that fill no group."""
    rng = np.random.default_rng(21)
    for size in ((61, 83), (130, 147), (9, 11), (40, 5), (1, 70)):
        image = rng.integers(0, 256, (*size, channels), np.uint8)
        middle = np.array([size[1], size[0]]) / 2
        for angle, scale, shear in zip(
            np.deg2rad([0.0, 2, 9, 27, 44, 60, 81, 90, 120, 179, 275, 330]),
            [1.0, -1, 1.05, 1.09, 1, 0.8, 1, 1, 0.3, 1, 1.4, 3],
            [0.0, 0.3, 0, 0.05, 0, 0, -0.02, 0, 1, 0, 0, 0],
            strict=True,
        ):
            rotation = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            linear = (
                np.array(rotation) @ np.array([[1, shear], [0, 1]]) @ np.diag([scale, abs(scale)])
            )
            matrix = np.float32(np.column_stack([linear, middle - linear @ middle]))
            expected = sampled(image, affine_positions(np.float64(matrix), size), fill)
            results = []
            for name in ("vector", "avx2", "portable"):
                with use_instructions(name):
                    batch = ndd.batch([image], layout="HWC")
                    moved = ndd.warp_affine(batch, matrix=matrix, fill_value=fill)
                    results.append(np.array(moved.tensors[0]))
            # Coordinates are in single precision.
            assert np.abs(results[0] - expected).max() <= 0.75
            assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


@pytest.mark.parametrize("channels", [1, 3])
def test_positions_just_outside_of_bytes(channels: int) -> None:
    """Many pixels between the edge of a small image and what lies outside, to the last bit."""
    rng = np.random.default_rng(22)
    image = rng.integers(0, 256, (9, 20, channels), np.uint8)
    for matrix in ([0.03, 0.002, -2.5, -0.001, 0.02, -1.7], [-0.04, 0.01, 22, 0.02, 0.013, -3.1]):
        results = []
        for name in ("vector", "avx2", "portable"):
            with use_instructions(name):
                batch = ndd.batch([image], layout="HWC")
                moved = ndd.warp_affine(batch, matrix=matrix, size=(700, 800), fill_value=201.0)
                results.append(np.array(moved.tensors[0]))
        positions = affine_positions(np.array(matrix).reshape(2, 3), (700, 800))
        assert np.abs(results[0] - sampled(image, positions, 201.0)).max() <= 0.75
        assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()


@pytest.mark.parametrize("border", [None, 9.0])
def test_large_images(border: float | None) -> None:
    """Beyond the size from which results bypass the caches; shifts by whole pixels are exact."""
    rng = np.random.default_rng(6)
    images = [rng.integers(0, 256, (size, size + 7, 3), np.uint8) for size in (2413, 500, 1)]
    batch = ndd.batch(images, layout="HWC")
    result = ndd.warp_affine(batch, matrix=[1, 0, 5, 0, 1, -3], fill_value=border)
    for image, shifted in zip(images, result.tensors, strict=True):
        mode: Any = {"mode": "edge"} if border is None else {"constant_values": 9}
        padded = np.pad(image, ((3, 0), (0, 5), (0, 0)), **mode)
        np.testing.assert_array_equal(np.asarray(shifted), padded[: len(image), 5:])


def test_volumes_equal_the_formula() -> None:
    rng = np.random.default_rng(5)
    volume = rng.normal(size=(6, 9, 11, 2)).astype(np.float32)
    matrix = rng.normal(size=(3, 4)) * 0.3 + np.eye(3, 4)
    got = ndd.warp_affine(
        ndd.tensor(volume, layout="DHWC"), matrix=matrix.ravel().tolist(), fill_value=1.0
    )
    expected = sampled(volume, affine_positions(matrix, (6, 9, 11)), 1.0)
    assert_close(got, expected, "small values")


def test_inverse_map() -> None:
    image = np.random.default_rng(6).normal(size=(20, 30, 1)).astype(np.float32)
    data = ndd.tensor(image, layout="HWC")
    full = np.vstack([np.array(MATRIX).reshape(2, 3), [0, 0, 1]])
    inverse = np.linalg.inv(full)[:2].ravel().tolist()
    forward = ndd.warp_affine(data, matrix=inverse, inverse_map=False, fill_value=0)
    backward = ndd.warp_affine(data, matrix=MATRIX, fill_value=0)
    assert_close(forward, backward, "inverted maps")


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
@pytest.mark.parametrize("interp", [0, 1])
def test_rotations_by_90_degrees_are_exact(quarters: int, interp: int) -> None:
    image = np.random.default_rng(7).integers(0, 256, (5, 8, 3), np.uint8)
    got = ndd.rotate(ndd.tensor(image, layout="HWC"), angle=90 * quarters, interp_type=interp)
    np.testing.assert_array_equal(np.asarray(got), np.rot90(image, quarters))


def test_rotated_size_and_content() -> None:
    image = np.random.default_rng(8).normal(size=(30, 41, 2)).astype(np.float32)
    got = np.asarray(ndd.rotate(ndd.tensor(image, layout="HWC"), angle=33, fill_value=0))
    c, s = np.cos(np.radians(33)), np.sin(np.radians(33))
    needed = np.array([30 * c + 41 * s, 30 * s + 41 * c])
    assert ((got.shape[:2] >= needed - 0.01) & (got.shape[:2] < needed + 2)).all()
    rotation = np.array([[c, -s], [s, c]])
    shift = np.array([20.5, 15]) - rotation @ np.array(got.shape[1::-1]) / 2
    positions = affine_positions(np.column_stack([rotation, shift]), got.shape[:2])
    assert_close(got, sampled(image, positions, 0), "inverted maps")


def test_rotate_volume_around_an_axis() -> None:
    volume = np.random.default_rng(9).normal(size=(4, 6, 5, 1)).astype(np.float32)
    data = ndd.tensor(volume, layout="DHWC")
    got = np.asarray(ndd.rotate(data, angle=90, axis=(0, 0, 2)))
    assert_close(got, np.rot90(volume, -1, axes=(1, 2)), "rotations by 90 degrees")


def test_frames_share_the_largest_size() -> None:
    clip = ndd.tensor(np.zeros((2, 10, 20, 3), np.uint8), layout="FHWC")
    angles = ndd.tensor(np.array([0, 90], np.float32), layout="F")
    assert ndd.rotate(clip, angle=angles).shape == (2, 20, 20, 3)


def test_positions_that_are_no_numbers_are_outside() -> None:
    image = ndd.tensor(np.full((4, 4, 3), 9, np.uint8), layout="HWC")
    for value in (np.nan, np.inf, -1e30, 1e30):
        for interp in (0, 1):
            got = ndd.warp_affine(
                image, matrix=[1, 0, value, 0, 1, 0], fill_value=5, interp_type=interp
            )
            assert (np.asarray(got) == 5).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either as the argument 'matrix' or as the second input"),
        ({"matrix": [1, 2, 3]}, r"'matrix' needs 6 values \(2x3\); got 3"),
        ({"matrix": MATRIX, "size": [3]}, r"'size' needs 2 values \(height, width\); got 1"),
        ({"matrix": MATRIX, "size": [3, 0]}, r"'size' must be positive; got \[3.0, 0.0\]"),
        ({"matrix": MATRIX, "interp_type": 2}, "'interp_type' must be INTERP_NN or INTERP_LINEAR"),
        ({"matrix": [0] * 6, "inverse_map": False}, "'matrix' must have an inverse"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    image = ndd.tensor(np.zeros((3, 4, 3), np.uint8), layout="HWC")
    with pytest.raises(ValueError, match=f"^warp_affine: .*{message}"):
        ndd.warp_affine(image, **arguments).evaluate()


def test_volumes_need_an_axis() -> None:
    volume = ndd.tensor(np.zeros((3, 4, 5, 1), np.uint8), layout="DHWC")
    with pytest.raises(ValueError, match="rotate: volumes need the argument 'axis'"):
        ndd.rotate(volume, angle=3).evaluate()
    with pytest.raises(ValueError, match="rotate: 'axis' must not be zero"):
        ndd.rotate(volume, angle=3, axis=(0, 0, 0)).evaluate()


def test_no_pixels_to_repeat() -> None:
    empty = ndd.tensor(np.zeros((0, 4, 3), np.uint8), layout="HWC")
    with pytest.raises(ValueError, match="warp_affine: the input has no pixels"):
        ndd.warp_affine(empty, matrix=MATRIX, size=(2, 2)).evaluate()
    filled = ndd.warp_affine(empty, matrix=MATRIX, size=(2, 2), fill_value=3)
    assert (np.asarray(filled) == 3).all()


# Operators, arguments, and the matrices from input to result between corners of pixels.
MOVES = [
    ("shear_x", {"shear": 0.3}, [[1, 0.3, 0], [0, 1, 0]]),
    ("shear_y", {"shear": -0.2}, [[1, 0, 0], [-0.2, 1, 0]]),
    ("translate_x", {"offset": 7.5}, [[1, 0, 7.5], [0, 1, 0]]),
    ("translate_x", {"offset_rel": -0.1}, [[1, 0, -6], [0, 1, 0]]),
    ("translate_y", {"offset": -3}, [[1, 0, 0], [0, 1, -3]]),
    ("translate_y", {"offset_rel": 0.25}, [[1, 0, 0], [0, 1, 10]]),
]


@pytest.mark.parametrize(("operator", "arguments", "matrix"), MOVES)
@pytest.mark.parametrize("fill", [None, 9.0])
def test_shears_and_translations(operator: str, arguments: Any, matrix: Any, fill: Any) -> None:
    image = np.random.default_rng(3).integers(0, 256, (40, 60, 3), np.uint8)
    found = np.asarray(getattr(ndd, operator)(image, fill_value=fill, **arguments))
    inverse = np.linalg.inv(np.array([*matrix, [0, 0, 1]], np.float64))[:2]
    expected = sampled(image, affine_positions(inverse, (40, 60)), fill)
    assert found.dtype == np.uint8
    assert_close(found, expected, "warped integers")


@pytest.mark.parametrize("name", ["translate_x", "translate_y"])
def test_relative_offsets_of_no_samples(name: str) -> None:
    nothing = ndd.batch(np.zeros((2, 4, 5, 3), np.uint8), layout="HWC").select([])
    assert getattr(ndd, name)(nothing, offset_rel=0.2).batch_size == 0


def test_shears_and_translations_for_each_sample() -> None:
    image = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
    images = ndd.batch([image] * 3, layout="HWC")
    moved = ndd.translate_x(images, offset=ndd.batch([0, 1, -2]), fill_value=99)
    rows = [np.asarray(sample)[0, :, 0].tolist() for sample in moved.tensors]
    assert rows == [[0, 1, 2, 3], [99, 0, 1, 2], [2, 3, 99, 99]]
    with pytest.raises(ValueError, match="translate_y: either 'offset' or 'offset_rel' must be"):
        ndd.translate_y(images).evaluate()
    with pytest.raises(ValueError, match="translate_y: either 'offset' or 'offset_rel' must be"):
        ndd.translate_y(images, offset=1, offset_rel=1).evaluate()
    with pytest.raises(TypeError, match="shear_x: the argument 'shear' is missing"):
        ndd.shear_x(images)
    with pytest.raises(ValueError, match="shear_y: 'shear' must be"):
        ndd.shear_y(images, shear=float("nan")).evaluate()


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("fill", [None, 200.0])
def test_rows_that_move_as_a_whole(channels: int, fill: float | None) -> None:
    """Bytes have a way of their own for translations and shears along rows."""
    image = np.random.default_rng(5).integers(0, 256, (21, 37, channels), np.uint8)
    for x, y, shear in (
        *((0.0, 0.0, 0.0), (3.0, -2.0, 0.0), (0.25, 0.0, 0.0), (0.0, -7.75, 0.0)),
        *((-5.3, 4.6, 0.0), (2.2, 0.0, 0.7), (-1.5, 0.5, -1.3), (100.0, 0.0, 0.0)),
        *((0.0, -60.5, 0.2), (-0.999999, 0.0, 0.0), (36.5, 20.5, 0.0)),
    ):
        matrix = np.array([[1, shear, x], [0, 1, y]])
        found = ndd.warp_affine(image, matrix=matrix.ravel().tolist(), fill_value=fill)
        expected = sampled(image, affine_positions(matrix, (21, 37)), fill)
        assert_close(np.asarray(found), expected, "warped integers", (x, y, shear))
