# SPDX-License-Identifier: Apache-2.0
"""Operators on the gpu equal those on the CPU: arguments, types and layouts beyond the contract."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_alike, assert_audio, assert_close, assert_near, assert_same
from support.gpu_compare import RNG, TYPES, compare, dense, pixels, ragged

pytestmark = pytest.mark.usefixtures("either_device")


@pytest.mark.parametrize("policy", ["pad", "edge", "reflect", "reflect_101", "wrap"])
def test_slices_that_leave_the_input(policy: str) -> None:
    for batch in (ragged(), dense()):
        for fill in ([7], [1, 2, 3]):
            compare(
                assert_same,
                "crop",
                batch,
                crop=(20, 3),
                crop_pos_x=0.9,
                out_of_bounds_policy=policy,
                fill_values=fill,
            )
        starts = ndd.batch([[i - 3, 2 * i - 4] for i in range(batch.batch_size)])
        compare(
            assert_same,
            "slice",
            batch,
            start=starts,
            shape=[6, 20],
            out_of_bounds_policy=policy,
            dtype=ndd.float32,
        )


@pytest.mark.parametrize("kind", TYPES)
def test_moves_of_all_types(kind: str) -> None:
    for batch in (ragged(kind), dense(kind)):
        compare(assert_same, "flip", batch, vertical=1)
        compare(assert_same, "transpose", batch, perm=[1, 2, 0])
        compare(assert_same, "pad", batch, fill_value=3, align=[4, 4, 4])
        compare(assert_same, "crop", batch, crop=(3, 4), dtype=ndd.float32)
        compare(assert_same, "crop", batch, crop=(3, 4), dtype=ndd.uint8)
        compare(assert_same, "cat", batch, batch, axis=1)
        compare(assert_same, "stack", batch, batch, axis=0)
        compare(assert_same, "zeros_like", batch)
        compare(assert_same, "reinterpret", batch, dtype=ndd.uint8)


def test_slice_with_inputs() -> None:
    batch = dense()
    anchors = ndd.batch(np.array([[1, 2], [0, 0], [3, 1], [2, 2]], np.int32))
    shapes = ndd.batch(np.array([[4, 4], [8, 5], [1, 1], [2, 6]], np.int32))
    compare(assert_same, "slice", batch, anchors, shapes, axis_names="WH")


@pytest.mark.parametrize("dtype", [ndd.float32, ndd.float16, ndd.uint8, ndd.int8], ids=str)
def test_crop_mirror_normalize(dtype: ndd.DType) -> None:
    mirror = ndd.batch([0, 1, 0, 1])
    for layout in ("CHW", "HWC"):
        for extra in (
            {"crop": (4, 5), "mean": [10.0, 20.0, 30.0], "std": [2.0, 3.0, 4.0]},
            {"mean": [10.0], "std": [5.0], "scale": 3.0, "shift": 7.0, "pad_output": True},
            {
                "crop": (14, 20),
                "out_of_bounds_policy": "pad",
                "fill_values": [3.0],
                "crop_pos_x": 0.2,
            },
            {"crop": (14, 20), "out_of_bounds_policy": "trim_to_shape"},
        ):
            compare(
                assert_near,
                "crop_mirror_normalize",
                dense(),
                dtype=dtype,
                output_layout=layout,
                mirror=mirror,
                **extra,
            )
            compare(assert_near, "crop_mirror_normalize", ragged(), dtype=dtype, **extra)


INTERPOLATIONS = range(6)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("kind", ["uint8", "uint16", "int16", "float32"])
def test_resize(interpolation: int, kind: str) -> None:
    for batch in (ragged(kind), dense(kind)):
        for size in ([5, 20], [20, 3], [9, 12]):
            for dtype in (None, ndd.float32):
                compare(
                    assert_alike,
                    "resize",
                    batch,
                    size=size,
                    interp_type=interpolation,
                    dtype=dtype,
                )
    compare(
        assert_alike,
        "resize",
        ragged(kind),
        resize_shorter=ndd.batch([4.0, 9.0, 4.0, 7.0, 12.0]),
        interp_type=interpolation,
        antialias=False,
        save_attrs=True,
    )
    compare(
        assert_alike,
        "resize",
        ragged(kind),
        size=[6, 7],
        roi_start=[0.8, 0.1],
        roi_end=[-0.1, 0.7],
        roi_relative=True,
        interp_type=interpolation,
    )


def test_resize_of_volumes_and_sequences() -> None:
    volumes = ndd.batch([pixels((n, 6, 5, 2), "float32") for n in (4, 7, 4)], layout="DHWC")
    compare(assert_alike, "resize", volumes, size=[5, 9, 3])
    clips = ndd.batch([pixels((n, 6, 5, 3), "uint8") for n in (2, 3, 2)], layout="FHWC")
    compare(assert_alike, "resize", clips, size=[9, 3])
    planar = ndd.batch(pixels((3, 2, 12, 13), "uint8"), layout="CHW")
    compare(assert_alike, "resize", planar, resize_x=7)
    lines = ndd.batch(pixels((3, 12, 13), "float32"))
    compare(assert_alike, "tensor_resize", lines, sizes=[5], axes=[1])
    compare(
        assert_alike,
        "resize_crop_mirror",
        ragged(),
        resize_shorter=12,
        crop=[8, 8],
        mirror=ndd.batch([0, 1, 2, 3, 0]),
    )


@pytest.mark.parametrize("kind", [*TYPES[:8], "float32"])
def test_reductions(kind: str) -> None:
    for batch in (ragged(kind), dense(kind)):
        for axes in (None, [0], [0, 1], [2], []):
            for keep_dims in (False, True):
                extra = {"axes": axes, "keep_dims": keep_dims}
                for name in ("min", "max", "sum"):
                    check = assert_same if kind != "float32" or name != "sum" else assert_near
                    compare(check, f"reductions.{name}", batch, **extra)
                for name in ("mean", "mean_square", "rms"):
                    compare(assert_near, f"reductions.{name}", batch, **extra)
        for name in ("mean", "rms"):
            compare(assert_near, f"reductions.{name}", batch, axes=[0], dtype=batch.dtype)
        mean = ndd.reductions.mean(batch, axes=[0, 1])
        for name in ("variance", "std_dev"):
            compare(assert_near, f"reductions.{name}", batch, mean, axes=[0, 1], ddof=1)


def test_reductions_of_nothing_and_of_nan() -> None:
    empty = ndd.batch(np.zeros((2, 0, 3), np.float32))
    for name in ("sum", "mean", "min", "max", "rms"):
        compare(assert_same, f"reductions.{name}", empty, axes=[0])
    odd = ndd.batch(np.array([[np.nan, 1, 5], [np.nan, np.nan, np.nan]], np.float32))
    for name in ("sum", "mean", "min", "max"):
        compare(assert_same, f"reductions.{name}", odd)


@pytest.mark.parametrize("kind", ["uint8", "int16", "float32", "float16"])
def test_normalize(kind: str) -> None:
    for batch in (ragged(kind), dense(kind)):
        for extra in (
            {},
            {"axes": [0, 1], "epsilon": 0.5, "ddof": 1},
            {"axis_names": "HW", "batch": True, "scale": 20.0, "shift": 100.0, "dtype": ndd.uint8},
            {"batch": True},
            {"mean": np.full((1, 1, 3), 9.0, np.float32)},
            {"mean": 5.0, "stddev": 3.0},
            {"stddev": 3.0, "axes": [0, 1], "batch": True},
            {"mean": 5.0, "batch": True},
        ):
            compare(assert_near, "normalize", batch, **extra)
    flat = ndd.batch(np.full((2, 4, 3), 7, np.uint8))
    compare(assert_same, "normalize", flat, shift=2.0)


def signals(kind: str = "float32") -> ndd.Batch:
    return ndd.batch([pixels((n,), kind) for n in (900, 1500, 900, 333)])


@pytest.mark.parametrize("layout", ["ft", "tf"])
def test_spectrogram(layout: str) -> None:
    for extra in (
        {"window_length": 64, "window_step": 20},
        {"window_length": 64, "window_step": 20, "nfft": 128, "power": 1},
        {"window_length": 50, "window_step": 7, "center_windows": False},
        {"window_length": 64, "window_step": 20, "reflect_padding": False},
    ):
        compare(assert_alike, "spectrogram", signals(), layout=layout, **extra)
    dense_signals = ndd.batch(pixels((3, 700), "float32"))
    compare(assert_alike, "spectrogram", dense_signals, window_length=64, layout=layout)


def test_mel_decibels_and_mfcc() -> None:
    spectra = ndd.spectrogram(signals(), window_length=128, window_step=50)
    for extra in ({}, {"mel_formula": "htk", "normalize": False, "freq_low": 100.0}):
        compare(assert_alike, "mel_filter_bank", spectra, nfilter=20, sample_rate=8000.0, **extra)
    mel = ndd.mel_filter_bank(spectra, nfilter=20, sample_rate=8000.0)
    for reference in (0.0, 3.0):
        compare(assert_near, "to_decibels", mel, reference=reference, cutoff_db=-60.0)
    for dct_type in (1, 2, 3, 4):
        normalize = dct_type > 1
        compare(assert_alike, "mfcc", mel, dct_type=dct_type, n_mfcc=7, normalize=normalize)
    compare(assert_alike, "mfcc", mel, lifter=10.0)


@pytest.mark.parametrize("kind", ["float32", "int16", "uint8", "int32"])
def test_signals(kind: str) -> None:
    for border in ("clamp", "zero", "reflect"):
        compare(assert_near, "preemphasis_filter", signals(kind), border=border)
    quiet = [np.zeros(n, kind) for n in (700, 900, 20)]
    quiet[0][200:450] = 100
    quiet[1][30:40] = 50
    compare(assert_same, "nonsilent_region", ndd.batch(quiet), window_length=16, reset_interval=64)


@pytest.mark.parametrize("kind", ["float32", "int16", "uint8"])
def test_audio_resample(kind: str) -> None:
    def check(actual: Any, expected: Any, context: object) -> None:
        if expected.dtype.kind == "f":
            assert_close(actual, expected, "resampled audio", context)
        else:
            assert_audio(actual, expected, context, "resampled audio")

    batch = signals(kind)
    if kind == "float32":
        batch = batch * 0.004
    compare(check, "audio_resample", batch, in_rate=8000.0, out_rate=11025.0)
    compare(check, "audio_resample", batch, scale=0.37, quality=80.0)
    for dtype in (ndd.int16, ndd.uint8):
        compare(check, "audio_resample", batch, out_length=500, dtype=dtype)
    stereo = ndd.batch(pixels((3, 400, 2), "float32"))
    compare(check, "audio_resample", stereo, scale=1.5)


def test_boxes_and_points() -> None:
    boxes = [np.sort(RNG.uniform(size=(n, 2, 2)), axis=1).reshape(n, 4) for n in (3, 0, 5, 3)]
    batch = ndd.batch([table.astype(np.float32) for table in boxes])
    for ltrb in (True, False):
        flags = ndd.batch([0, 1, 1, 0])
        compare(assert_near, "bb_flip", batch, ltrb=ltrb, horizontal=flags, vertical=1)
    anchors = np.sort(RNG.uniform(size=(30, 2, 2)), axis=1).reshape(-1).astype(np.float32)
    labels = ndd.batch([np.arange(1, len(table) + 1, dtype=np.int32) for table in boxes])
    for offset in (False, True):
        compare(
            assert_near,
            "box_encoder",
            batch,
            labels,
            anchors=anchors.tolist(),
            offset=offset,
            criteria=0.3,
            scale=2.0,
            stds=[0.1, 0.1, 0.2, 0.2],
        )
    points = ndd.batch([pixels((n, 2), "float32") for n in (4, 1, 0)])
    compare(assert_near, "coord_flip", points, flip_y=1, center_x=ndd.batch([0.5, 3.0, 1.0]))
    compare(assert_near, "coord_flip", points, layout="yx")
    compare(assert_near, "coord_transform", points, M=[[1, 2], [3, 4], [5, 6]], T=[1, 2, 3])
    whole = ndd.batch(pixels((3, 7, 3), "int16"))
    compare(assert_near, "coord_transform", whole, M=0.5, dtype=ndd.int16)
    with pytest.raises(ValueError, match="coord_flip: 'layout'"):
        ndd.coord_flip(points.gpu(), layout="xz").evaluate()
    with pytest.raises(ValueError, match="bb_flip"):
        ndd.bb_flip(points.gpu()).evaluate()


@pytest.mark.parametrize("kind", TYPES[:8])
def test_lookup_table(kind: str) -> None:
    values = ndd.batch((pixels((3, 4, 5), kind) % 9).astype(kind))
    for dtype in (ndd.float32, ndd.uint8, ndd.int16):
        compare(
            assert_same,
            "lookup_table",
            values,
            keys=[0, 3, 5],
            values=[1.0, 2.0, 3.5],
            default_value=9.0,
            dtype=dtype,
        )


def test_equalize() -> None:
    dark = [(pixels((h, w, 3), "uint8") // 3) for h, w in ((9, 7), (4, 5), (9, 7))]
    dark[1][..., 1] = 77
    compare(assert_same, "equalize", ndd.batch(dark, layout="HWC"))
    planar = ndd.batch(pixels((2, 3, 6, 7), "uint8") // 2, layout="CHW")
    compare(assert_same, "equalize", planar)
    compare(assert_same, "equalize", ndd.batch(pixels((2, 6, 7), "uint8"), layout="HW"))
