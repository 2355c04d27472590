# SPDX-License-Identifier: Apache-2.0
"""Color, warps, filters and compositions on the gpu equal those on the CPU."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_alike, assert_near, assert_same
from support.gpu_compare import TYPES, compare, dense, pixels, ragged

pytestmark = pytest.mark.usefixtures("either_device")

KINDS = ["uint8", "int16", "float32", "float16"]


@pytest.mark.parametrize("kind", TYPES)
def test_brightness_and_contrast(kind: str) -> None:
    for batch in (ragged(kind), dense(kind)):
        compare(assert_near, "brightness", batch, brightness=1.3, brightness_shift=0.1)
        compare(assert_near, "contrast", batch, contrast=0.6)
        compare(
            assert_near,
            "brightness_contrast",
            batch,
            brightness=0.7,
            contrast=1.4,
            contrast_center=20.0,
            dtype=ndd.float32,
        )


@pytest.mark.parametrize("kind", KINDS)
def test_colors(kind: str) -> None:
    for batch in (ragged(kind), dense(kind)):
        compare(assert_near, "hue", batch, hue=50.0)
        compare(assert_near, "saturation", batch, saturation=0.3)
        compare(assert_near, "hsv", batch, hue=-20.0, saturation=1.4, value=0.8)
        compare(
            assert_near,
            "color_twist",
            batch,
            hue=ndd.batch([10.0 * i for i in range(batch.batch_size)]),
            brightness=1.2,
            contrast=0.8,
            dtype=ndd.uint8,
        )


def test_color_spaces() -> None:
    spaces = [ndd.types.RGB, ndd.types.BGR, ndd.types.GRAY, ndd.types.YCbCr]
    for source, target in itertools.product(spaces, spaces):
        batch = ragged(channels=1 if source == ndd.types.GRAY else 3)
        compare(assert_near, "color_space_conversion", batch, image_type=source, output_type=target)


def test_color_of_sequences() -> None:
    clips = ndd.batch([pixels((n, 4, 5, 3), "uint8") for n in (2, 3)], layout="FHWC")
    factors = ndd.batch([np.array([0.5, 1.5], np.float32), np.ones(3, np.float32)], layout="F")
    compare(assert_near, "brightness", clips, brightness=factors)


@pytest.mark.parametrize("kind", KINDS[:3])
def test_warp_affine(kind: str) -> None:
    # No coordinate lies on the edge between two pixels, where roundings decide.
    matrix = [0.93, 0.21, 1.013, -0.31, 1.09, 0.417]
    for batch in (ragged(kind), dense(kind)):
        for interp, fill in itertools.product((0, 1), (None, 42.0)):
            for size in (None, [13.0, 6.0]):
                compare(
                    assert_alike,
                    "warp_affine",
                    batch,
                    matrix=matrix,
                    interp_type=interp,
                    fill_value=fill,
                    size=size,
                )
    compare(assert_alike, "warp_affine", dense(kind), matrix=matrix, inverse_map=False)


def test_warp_with_matrices_as_input() -> None:
    matrices = np.stack([[[1, 0.1 * i, 0.3], [0.05 * i, 1, 0.2]] for i in range(4)])
    compare(assert_alike, "warp_affine", dense(), ndd.batch(matrices.astype(np.float32)))


def test_rotate() -> None:
    angles = ndd.batch([10.0, -33.0, 47.0, 91.0, 180.5])
    compare(assert_alike, "rotate", ragged(), angle=angles, fill_value=3.0)
    compare(assert_alike, "rotate", ragged("float32"), angle=angles, keep_size=True)
    volumes = ndd.batch(pixels((2, 5, 6, 7, 2), "float32"), layout="DHWC")
    compare(assert_alike, "rotate", volumes, angle=25.0, axis=[0.3, 1.0, 0.2])


@pytest.mark.parametrize("border", ["constant", "replicate", "reflect", "reflect_101", "wrap"])
def test_warp_perspective(border: str) -> None:
    matrix = [0.93, 0.21, 1.013, -0.31, 1.09, 0.417, 0.011, 0.017, 1.0]
    for interp in (ndd.types.INTERP_NN, ndd.types.INTERP_LINEAR, ndd.types.INTERP_CUBIC):
        for batch in (dense(), dense("float32"), ragged("int16")):
            compare(
                assert_alike,
                "experimental.warp_perspective",
                batch,
                matrix=matrix,
                border_mode=border,
                interp_type=interp,
            )


def test_remap() -> None:
    for interp in (ndd.types.INTERP_NN, ndd.types.INTERP_LINEAR, ndd.types.INTERP_CUBIC):
        for kind in ("uint8", "float32"):
            batch = dense(kind)
            maps = [
                ndd.batch((pixels((4, 6, 9), "float32") % 11).astype(np.float32)) for _ in range(2)
            ]
            compare(assert_alike, "experimental.remap", batch, *maps, interp=interp)


def test_displacements() -> None:
    for batch in (ragged(), dense()):
        mask = ndd.batch([i % 2 for i in range(batch.batch_size)])
        for interp in (0, 1):
            compare(assert_alike, "sphere", batch, mask=mask, interp_type=interp, fill_value=9)
            compare(assert_alike, "water", batch, mask=mask, interp_type=interp, ampl_x=3.3)

        def jittered(images: Any) -> Any:
            return ndd.jitter(images, nDegree=3, mask=mask, rng=ndd.random.RNG(seed=5))  # noqa: B023

        for a, b in zip(jittered(batch.gpu()).cpu(), jittered(batch), strict=True):
            assert_same(a, b)


@pytest.mark.parametrize("kind", KINDS)
def test_blurs(kind: str) -> None:
    for batch in (ragged(kind), dense(kind)):
        compare(assert_near, "gaussian_blur", batch, sigma=1.1)
        compare(assert_near, "gaussian_blur", batch, window_size=[5, 3], dtype=ndd.float32)
        compare(assert_near, "laplacian", batch, window_size=5, dtype=ndd.float32)
        compare(
            assert_near,
            "laplacian",
            batch,
            window_size=[3, 5],
            smoothing_size=[1, 3],
            normalized_kernel=True,
        )
    volumes = ndd.batch(pixels((2, 5, 6, 7), kind), layout="DHW")
    compare(assert_near, "gaussian_blur", volumes, sigma=[0.5, 1.0, 2.0])
    clips = ndd.batch([pixels((n, 6, 5, 3), kind) for n in (2, 3)], layout="FHWC")
    compare(assert_near, "gaussian_blur", clips, sigma=0.8)


@pytest.mark.parametrize("border", ["reflect_101", "reflect_1001", "wrap", "clamp", "constant"])
def test_filter(border: str) -> None:
    for kind in KINDS:
        batch = ragged(kind)
        windows = ndd.batch(
            [pixels(s, "float32") / 100 for s in ((3, 3), (2, 4), (3, 3), (1, 5), (3, 3))]
        )
        fill = ndd.batch(np.arange(5, dtype=np.float32))
        compare(assert_near, "filter", batch, windows, fill, border=border)
        compare(assert_near, "filter", batch, windows, anchor=[0, 0], border=border)
    compare(assert_near, "filter", dense(), ndd.tensor(np.ones((3, 4), np.float32)), mode="valid")


@pytest.mark.parametrize("kind", TYPES)
def test_rank_filters(kind: str) -> None:
    for batch in (ragged(kind), dense(kind)):
        compare(assert_same, "experimental.median_blur", batch, window_size=[3, 5])
        for border in ("constant", "replicate", "reflect", "reflect_101", "wrap"):
            for name in ("dilate", "erode"):
                compare(
                    assert_same,
                    f"experimental.{name}",
                    batch,
                    mask_size=[2, 3],
                    iterations=2,
                    border_mode=border,
                )


def test_compositions() -> None:
    for batch in (ragged(), dense(), ragged("float32")):
        compare(
            assert_same,
            "erase",
            batch,
            anchor=[1, 1, 3, 2],
            shape=[2, 3, 1, 4],
            axis_names="HW",
            fill_value=[1, 2, 3],
        )
        compare(assert_same, "grid_mask", batch, tile=5, ratio=0.4, angle=0.3, shift_x=2.0)
        compare(assert_same, "paste", batch, ratio=2.0, fill_value=[9, 8, 7], paste_x=0.2)
        compare(
            assert_same,
            "multi_paste",
            batch,
            output_size=[24, 20],
            out_anchors=[[0, 0], [6, 7]],
            shapes=[[4, 4], [3, 5]],
            in_ids=[0, 1],
        )


@pytest.mark.parametrize("kind", ["uint8", "uint16", "int32", "int64", "float32"])
def test_noise(kind: str) -> None:
    for batch in (ragged(kind), dense(kind)):
        for name, extra in (
            ("gaussian", {"mean": 3.0, "stddev": 20.0}),
            ("salt_and_pepper", {"prob": 0.3}),
            ("salt_and_pepper", {"prob": 0.3, "per_channel": True, "salt_val": 7.0}),
            ("shot", {"factor": 2.0**20 if kind == "int64" else 10.0}),
        ):
            function = getattr(ndd.noise, name)
            here = function(batch, rng=ndd.random.RNG(seed=3), **extra)
            there = function(batch.gpu(), rng=ndd.random.RNG(seed=3), **extra)
            for a, b in zip(there.cpu(), here, strict=True):
                assert_near(a, b, (name, kind))


def test_jpeg_distortion() -> None:
    for batch in (ragged(), dense(), ndd.batch(pixels((2, 33, 50, 3), "uint8"), layout="HWC")):
        for quality in (1, 20, 50, 85, 100):
            compare(assert_same, "jpeg_compression_distortion", batch, quality=quality)
    smooth = np.add.outer(np.arange(40), np.arange(30))[..., None] * np.array([3, 2, 1])
    image = ndd.batch((smooth % 256).astype(np.uint8)[None], layout="HWC")
    compare(assert_same, "jpeg_compression_distortion", image, quality=30)
    qualities = ndd.batch([5, 30, 60, 90])
    compare(assert_same, "jpeg_compression_distortion", dense(), quality=qualities)


def test_clahe() -> None:
    for batch in (ragged(), dense(), ragged(channels=1), dense(channels=1)):
        for clip_limit in (0.0, 2.0, 40.0):
            for luma_only in (True, False):
                compare(
                    assert_near,
                    "clahe",
                    batch,
                    tiles_x=3,
                    tiles_y=2,
                    clip_limit=clip_limit,
                    luma_only=luma_only,
                )
    dark = ndd.batch(pixels((2, 40, 30, 3), "uint8") // 4, layout="HWC")
    compare(assert_near, "clahe", dark, tiles_x=4, tiles_y=5, clip_limit=3.0)


@pytest.mark.parametrize("kind", ["uint8", "uint16"])
def test_debayer(kind: str) -> None:
    raw = [pixels(size, kind) for size in ((8, 6), (12, 10), (8, 6), (2, 4))]
    positions = ndd.batch([[0, 0], [0, 1], [1, 0], [1, 1]])
    for algorithm in ("bilinear_ocv", "edgeaware_ocv", "gray_ocv"):
        for batch in (ndd.batch(raw, layout="HW"), ndd.batch(pixels((4, 6, 8), kind), layout="HW")):
            compare(assert_same, "debayer", batch, blue_position=positions, algorithm=algorithm)


def test_debayer_with_gradients() -> None:
    raw = ndd.tensor(pixels((8, 8), "uint8"), layout="HW", device="gpu")
    with pytest.raises(ValueError, match=r"debayer: .*vng_ocv.*\.cpu\(\)"):
        ndd.debayer(raw, blue_position=[0, 0], algorithm="vng_ocv").evaluate()
