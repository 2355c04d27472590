# SPDX-License-Identifier: Apache-2.0
"""Resampling, pre-emphasis and silence against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import TOLERANCES, assert_close
from support.reference import audio as plain
from support.reference.color import to_type

Array = plain.Array


def noise(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize(("quality", "lobes"), [(0, 3), (50, 16), (100, 64), (30, 7)])
@pytest.mark.parametrize(("in_rate", "out_rate"), [(44100, 16000), (16000, 44100), (8000, 8000)])
def test_resample(quality: float, lobes: int, in_rate: float, out_rate: float) -> None:
    signal = noise(900)
    count = int(np.ceil(900 * out_rate / in_rate))
    expected = plain.resample(signal, in_rate, out_rate, count, lobes)
    actual = ndd.audio_resample(signal, in_rate=in_rate, out_rate=out_rate, quality=quality)
    assert actual.shape == (count,)
    assert_close(actual, expected, "resampled audio", magnitude=1)


def test_resample_keeps_a_tone() -> None:
    times = np.arange(8000) / 16000
    tone = np.sin(2 * np.pi * 440 * times).astype(np.float32)
    actual = np.asarray(ndd.audio_resample(tone, in_rate=16000, out_rate=22050))
    expected = np.sin(2 * np.pi * 440 * np.arange(len(actual)) / 22050)
    assert_close(actual[100:-100], expected[100:-100], "resampled tone")


def test_rates_scale_and_length_agree() -> None:
    signal = noise(1000)
    by_rates = ndd.audio_resample(signal, in_rate=2, out_rate=1)
    assert by_rates.shape == (500,)
    np.testing.assert_array_equal(ndd.audio_resample(signal, scale=0.5), by_rates)
    np.testing.assert_array_equal(ndd.audio_resample(signal, out_length=500), by_rates)


def test_channels_are_resampled_alike() -> None:
    signal = noise(700, 3)
    actual = np.asarray(ndd.audio_resample(signal, scale=1.7))
    for channel in range(3):
        alone = ndd.audio_resample(np.ascontiguousarray(signal[:, channel]), scale=1.7)
        np.testing.assert_array_equal(actual[:, channel], alone)


@pytest.mark.parametrize("source", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize(
    "target", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float32"]
)
def test_types_are_normalized(source: str, target: str) -> None:
    values = noise(300)
    limits = np.iinfo(source)
    data = to_type((values if limits.min else (values + 1) / 2) * limits.max, source)
    floats = data.astype(float) / limits.max
    if limits.min == 0:
        floats = floats * 2 - 1
    expected = plain.resample(floats, 1, 1.3, 390, 16)
    if target != "float32":
        most = np.iinfo(target).max
        middle = expected if np.iinfo(target).min else (expected + 1) / 2
        # Beyond the ends of a signal, the reference has zeros in the unsigned sense: skip these.
        expected = to_type(middle * most, target)
    actual = np.asarray(ndd.audio_resample(data, scale=1.3, dtype=np.dtype(target)))
    full = 1.0 if target == "float32" else float(np.iinfo(target).max)
    assert actual.dtype == target
    inner = slice(30, -30)
    allowed = TOLERANCES["resampled audio"].of_largest * full + (target != "float32")
    assert np.abs(actual[inner].astype(float) - expected[inner].astype(float)).max() <= allowed


def test_rates_of_each_sample() -> None:
    signals = [noise(n, seed=n) for n in (100, 2000, 1)]
    rates = np.array([8000, 16000, 44100], np.float32)
    results = ndd.audio_resample(ndd.batch(signals), in_rate=ndd.batch(rates), out_rate=16000.0)
    for signal, rate, result in zip(signals, rates, results.tensors, strict=True):
        alone = ndd.audio_resample(signal, in_rate=float(rate), out_rate=16000.0)
        np.testing.assert_array_equal(result, alone)


def test_long_signals_are_cut_among_threads() -> None:
    signal = noise(60_000)
    whole = np.asarray(ndd.audio_resample(signal, in_rate=44100, out_rate=16000))
    ndd.set_num_threads(1)
    try:
        alone = np.asarray(ndd.audio_resample(signal, in_rate=44100, out_rate=16000))
    finally:
        ndd.set_num_threads(None)
    np.testing.assert_array_equal(whole, alone)


def test_positions_just_above_a_sample() -> None:
    # 37632 * 48000 / 44100 is 40960, or in floating point a little more.
    signal = noise(42_000)
    actual = np.asarray(ndd.audio_resample(signal, in_rate=48000, out_rate=44100))
    assert_close(actual[37632], signal[40960], "agreement", magnitude=1)


def test_nan_reaches_as_far_as_the_filter() -> None:
    signal = noise(300)
    signal[150] = np.nan
    for quality, lobes in ((0, 3), (50, 16)):
        actual = np.asarray(ndd.audio_resample(signal, scale=1.0, quality=quality))
        assert np.isnan(actual[150])
        assert np.isfinite(actual[: 150 - lobes]).all()
        assert np.isfinite(actual[150 + lobes + 1 :]).all()


def test_nothing_to_resample() -> None:
    empty = np.zeros(0, np.float32)
    assert ndd.audio_resample(empty, scale=2.0).shape == (0,)
    assert ndd.audio_resample(noise(10), scale=0.0).shape == (0,)
    assert ndd.audio_resample(empty, out_length=0).shape == (0,)
    with pytest.raises(ndd.OpError, match="sample 0 is empty; 5 values cannot be made of it"):
        np.asarray(ndd.audio_resample(empty, out_length=5))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give 'in_rate' and 'out_rate', or 'scale', or 'out_length'"),
        ({"in_rate": 1.0}, "give 'in_rate' and 'out_rate'"),
        ({"scale": 1.0, "out_length": 2}, "only one of these"),
        ({"scale": -1.0}, "'scale' must be 0 or more; got -1"),
        ({"scale": float("nan")}, "'scale' must be 0 or more; got nan"),
        ({"in_rate": 0.0, "out_rate": 1.0}, "'in_rate' must be positive; got 0"),
        ({"out_length": -1}, "'out_length' must not be negative; got -1"),
        ({"scale": 1.0, "quality": 101.0}, "'quality' must be between 0 and 100; got 101"),
        ({"scale": 1.0, "dtype": ndd.float64}, "'dtype' must be one of"),
        ({"scale": 1e30}, "more than fit into memory \\(sample 0\\)"),
    ],
)
def test_resampling_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, ndd.OpError), match=f"^audio_resample: .*{message}"):
        np.asarray(ndd.audio_resample(noise(10), **arguments))
    with pytest.raises(ValueError, match="the type float64 is not supported"):
        np.asarray(ndd.audio_resample(np.ones(9), scale=1.0))
    with pytest.raises(ValueError, match=r"must have the axes \(samples,\)"):
        np.asarray(ndd.audio_resample(noise(2, 3, 4), scale=1.0))


@pytest.mark.parametrize("border", ["zero", "clamp", "reflect"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64", "float32", "float64"])
@pytest.mark.parametrize("length", [1, 2, 5000])
def test_preemphasis(border: str, dtype: str, length: int) -> None:
    data = np.random.default_rng(4).integers(0, 200, length).astype(dtype)
    before = {"zero": 0, "clamp": data[0], "reflect": data[min(1, length - 1)]}[border]
    wide = data.astype(float)
    expected = wide - 0.7 * np.concatenate([[before], wide[:-1]])
    for target in ("float32", "int16"):
        actual = np.asarray(
            ndd.preemphasis_filter(data, preemph_coeff=0.7, border=border, dtype=np.dtype(target))
        )
        assert actual.dtype == target
        assert_close(actual, expected, "small values" if target == "float32" else "rounded")


def test_preemphasis_takes_axes_as_one() -> None:
    data = noise(3, 50)
    flat = np.asarray(ndd.preemphasis_filter(data.reshape(-1)))
    np.testing.assert_array_equal(np.asarray(ndd.preemphasis_filter(data)).reshape(-1), flat)


def test_without_emphasis_values_stay() -> None:
    large = np.array([2**60 + 1, -3, 5], np.int64)
    same = ndd.preemphasis_filter(large, preemph_coeff=0.0, dtype=ndd.int64)
    np.testing.assert_array_equal(same, large)


def test_preemphasis_refused() -> None:
    with pytest.raises(ValueError, match="'border' must be 'zero', 'clamp' or 'reflect'; got 'x'"):
        np.asarray(ndd.preemphasis_filter(noise(4), border="x"))
    with pytest.raises(ValueError, match="'dtype' must be one of"):
        np.asarray(ndd.preemphasis_filter(noise(4), dtype=ndd.bool))


def expected_region(signal: Array, window: int, cutoff: float, reference: float) -> tuple[int, int]:
    power = plain.mean_squares(signal, min(window, len(signal)))
    loud = np.flatnonzero(power >= (reference or power.max()) * 10 ** (cutoff / 10))
    if len(loud) == 0:
        return 0, 0
    begin = max(0, int(loud[0]) - min(window, len(signal)) + 1)
    return begin, int(loud[-1]) + 1 - begin


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float32"])
@pytest.mark.parametrize("window", [1, 50, 256, 100_000])
@pytest.mark.parametrize("reference", [0.0, 0.5])
def test_nonsilent_region(dtype: str, window: int, reference: float) -> None:
    rng = np.random.default_rng(window)
    samples = []
    for silence, loud, rest in ((0, 300, 0), (3000, 5000, 4000), (20_000, 90_000, 7), (5, 1, 5)):
        # Levels far from the threshold, so that rounding does not matter.
        levels = np.repeat([0.0, 1.0, 0.0], [silence, loud, rest])
        signal = levels * np.where(rng.random(len(levels)) < 0.5, -1, 1)
        full = 1 if dtype == "float32" else 100
        samples.append((signal * full).astype(dtype))
    interval = window * 4
    begins, lengths = ndd.nonsilent_region(
        ndd.batch(samples),
        window_length=window,
        reset_interval=interval,
        cutoff_db=-40.3,
        reference_power=reference,
    )
    assert (begins.dtype, lengths.dtype) == (ndd.int32, ndd.int32)
    for signal, begin, length in zip(samples, begins.tensors, lengths.tensors, strict=True):
        wanted = expected_region(signal, window, -40.3, reference)
        assert (int(begin), int(length)) == wanted


def test_all_silent() -> None:
    quiet = noise(1000) * 1e-3
    begin, length = ndd.nonsilent_region(quiet, reference_power=1.0, cutoff_db=-40.0)
    assert (int(begin), int(length)) == (0, 0)
    begin, length = ndd.nonsilent_region(np.zeros(0, np.float32))
    assert (int(begin), int(length)) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"window_length": 0}, "'window_length' must be positive; got 0"),
        ({"reset_interval": 100}, "'reset_interval' must be a multiple of 'window_length', 2048"),
        ({"reset_interval": 0}, "'reset_interval' must be a multiple"),
        ({"reference_power": -1.0}, "'reference_power' must be positive"),
    ],
)
def test_silence_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^nonsilent_region: .*{message}"):
        np.asarray(ndd.nonsilent_region(noise(10), **arguments)[0])
    with pytest.raises(ValueError, match="signals of one axis; got 2"):
        np.asarray(ndd.nonsilent_region(noise(10, 2))[0])
