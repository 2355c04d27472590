# SPDX-License-Identifier: Apache-2.0
"""Spectra, mel filters, decibels and cepstra against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_close, assert_near
from support.instruction_sets import use_instructions
from support.reference import audio as plain

Array = plain.Array


def noise(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def assert_spectra(actual: Any, expected: Array, context: object = "") -> None:
    """Equal up to the rounding of a transform in single precision."""
    actual = np.asarray(actual)
    assert actual.dtype == np.float32
    assert_close(actual, expected, "spectra", context)


# Powers of two, small radices, every other prime up to 31, larger ones, and their mixtures.
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 25, 31, 32, 37, 48, 62, 64, 74, 100, 101, 128]
LENGTHS += [202, 240, 256, 343, 400, 441, 480, 512, 513, 1000, 1024, 1155, 2048, 2310, 4096]


@pytest.mark.parametrize("nfft", LENGTHS)
def test_lengths_of_transforms(nfft: int) -> None:
    for length in {nfft, max(1, nfft * 3 // 4)}:
        step = max(1, length // 3)
        signal = noise(length * 7 + 3, seed=nfft)
        expected = plain.spectrogram(
            signal, nfft, length, step, "zero", plain.hann(length), power=2
        )
        spectra = ndd.spectrogram(
            signal, nfft=nfft, window_length=length, window_step=step, reflect_padding=False
        )
        assert_spectra(spectra, expected.T, (nfft, length))


@pytest.mark.parametrize("nfft", [128, 256, 512, 2048])
@pytest.mark.parametrize("power", [1, 2])
def test_zeros_after_windows(nfft: int, power: int) -> None:
    """Windows that end anywhere in a transform whose length is a power of two."""
    signal = noise(nfft * 3)
    for length in {1, 2, 5, nfft // 4, nfft // 2 + 1, nfft * 25 // 32, nfft * 3 // 4 + 3, nfft - 1}:
        arguments = {"nfft": nfft, "window_length": length, "window_step": nfft // 5}
        expected = plain.spectrogram(
            signal, nfft, length, nfft // 5, "reflect", plain.hann(length), power
        )
        spectra = ndd.spectrogram(signal, power=power, **arguments)
        assert_spectra(spectra, expected.T, length)
        with use_instructions("portable"):
            portable = ndd.spectrogram(signal, power=power, **arguments).evaluate()
        np.testing.assert_array_equal(portable, spectra)


@pytest.mark.parametrize("layout", ["ft", "tf"])
@pytest.mark.parametrize("padding", ["none", "zero", "reflect"])
@pytest.mark.parametrize("power", [1, 2])
def test_spectrogram(layout: str, padding: str, power: int) -> None:
    lengths = (100, 101, 555, 4000)
    signals = [noise(length, seed=length) for length in lengths]
    window = np.random.default_rng(0).uniform(0.1, 1, 90).astype(np.float32)
    results = ndd.spectrogram(
        ndd.batch(signals),
        nfft=96,
        window_length=90,
        window_step=17,
        window_fn=window,
        power=power,
        center_windows=padding != "none",
        reflect_padding=padding == "reflect",
        layout=layout,
    )
    assert (results.layout, results.dtype) == (layout, ndd.float32)
    for signal, actual in zip(signals, results.tensors, strict=True):
        expected = plain.spectrogram(signal, 96, 90, 17, padding, window.astype(float), power)
        assert_spectra(actual, expected if layout == "tf" else expected.T, len(signal))


def test_default_arguments() -> None:
    signal = noise(5000)
    expected = plain.spectrogram(signal, 512, 512, 256, "reflect", plain.hann(512), 2)
    assert_spectra(ndd.spectrogram(signal), expected.T)


def test_long_signals_are_cut_among_threads() -> None:
    signal = noise(200_000)
    expected = plain.spectrogram(signal, 512, 400, 160, "reflect", plain.hann(400), 2)
    arguments = {"nfft": 512, "window_length": 400, "window_step": 160}
    assert_spectra(ndd.spectrogram(signal, **arguments), expected.T)


@pytest.mark.parametrize("shape", [(1, 700), (700, 1), (1, 700, 1)])
def test_other_axes_of_extent_1(shape: tuple[int, ...]) -> None:
    signal = noise(700)
    flat = np.asarray(ndd.spectrogram(signal, window_length=64))
    np.testing.assert_array_equal(ndd.spectrogram(signal.reshape(shape), window_length=64), flat)


@pytest.mark.parametrize("length", [1, 2, 3, 31])
def test_windows_longer_than_the_signal(length: int) -> None:
    signal = noise(length)
    padded = np.pad(signal, (32, 64), mode="reflect" if length > 1 else "edge").astype(float)
    count = length // 10 + 1
    frames = np.stack([padded[k * 10 : k * 10 + 64] for k in range(count)])
    expected = np.abs(np.fft.rfft(frames * plain.hann(64), 64)) ** 2
    assert_spectra(ndd.spectrogram(signal, window_length=64, window_step=10), expected.T)


@pytest.mark.parametrize("nfft", [50, 128])
def test_nan_stays_in_its_windows(nfft: int) -> None:
    signal = noise(1000)
    signal[500] = np.nan
    spectra = np.asarray(ndd.spectrogram(signal, nfft=nfft, window_length=50, window_step=25))
    centers = np.arange(spectra.shape[1]) * 25
    touched = (centers - 25 <= 500) & (500 < centers + 25)
    assert np.isnan(spectra[:, touched]).all()
    assert np.isfinite(spectra[:, ~touched]).all()


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((40,), 0), ((9, 40), 1), ((40, 11), 0), ((3, 40, 5), 1), ((2, 3, 40), -1), ((40, 2), 0)],
)
def test_power_spectrum_axes(shape: tuple[int, ...], axis: int) -> None:
    data = noise(*shape)
    for nfft in (None, 48, 51):
        for power in (1, 2):
            expected = np.abs(np.fft.rfft(data.astype(float), nfft, axis=axis)) ** power
            actual = ndd.power_spectrum(data, axis=axis, nfft=nfft, power=power)
            assert_spectra(actual, expected, (nfft, power))


@pytest.mark.parametrize(("length", "nfft"), [(128, 128), (300, 512), (2048, 2048), (100, 4096)])
def test_power_spectrum_of_rows(length: int, nfft: int) -> None:
    data = noise(13, length)
    spectra = np.asarray(ndd.power_spectrum(data, nfft=nfft))
    assert_spectra(spectra, np.abs(np.fft.rfft(data.astype(float), nfft)) ** 2)
    for row, expected in zip(data, spectra, strict=True):
        np.testing.assert_array_equal(ndd.power_spectrum(row, nfft=nfft), expected)


@pytest.mark.parametrize("length", [8192, 10_000, 16_384, 10_007, 44_100])
def test_long_power_spectrum(length: int) -> None:
    data = noise(3, length)
    expected = np.abs(np.fft.rfft(data.astype(float), axis=1)) ** 2
    assert_spectra(ndd.power_spectrum(data), expected)


@pytest.mark.parametrize("formula", ["slaney", "htk"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("layout", ["ft", "tf", "f", "Cft", "fCt", ""])
def test_mel_filter_bank(formula: str, normalize: bool, layout: str) -> None:
    letters = layout or "ft"
    extents = {"f": 257, "t": 45, "C": 3}
    data = np.abs(noise(*(extents[letter] for letter in letters)))
    matrix = plain.mel_matrix(257, 80, 16000, 20, 7600, formula, normalize)
    axis = letters.index("f")
    expected = np.moveaxis(np.tensordot(matrix, data.astype(float), (1, axis)), 0, axis)
    result = ndd.mel_filter_bank(
        ndd.tensor(data, layout=layout or None),
        nfilter=80,
        sample_rate=16000,
        freq_low=20,
        freq_high=7600,
        normalize=normalize,
        mel_formula=formula,
    )
    assert (result.layout or "") == layout
    actual = np.asarray(result)
    assert_close(actual, expected, "mel filters")


def test_mel_filters_narrower_than_bins() -> None:
    data = np.ones((9, 4), np.float32)
    actual = np.asarray(ndd.mel_filter_bank(data, nfilter=128))
    matrix = plain.mel_matrix(9, 128, 44100, 0, 22050, "slaney", True)
    assert_close(actual, matrix @ data, "narrow mel filters", magnitude=matrix.max())
    assert (actual == 0).any()


def test_mel_of_different_numbers_of_frequencies() -> None:
    samples = [np.abs(noise(n, 5)) for n in (129, 257)]
    results = ndd.mel_filter_bank(ndd.batch(samples, layout="ft"), nfilter=20)
    for sample, result in zip(samples, results.tensors, strict=True):
        np.testing.assert_array_equal(
            result, ndd.mel_filter_bank(ndd.tensor(sample, layout="ft"), nfilter=20)
        )


@pytest.mark.parametrize("multiplier", [10.0, 20.0])
@pytest.mark.parametrize("reference", [0.0, 0.25])
def test_to_decibels(multiplier: float, reference: float) -> None:
    exponents = np.random.default_rng(2).uniform(-45, 37, 10_000)
    data = (10.0**exponents).astype(np.float32)
    with np.errstate(divide="ignore"):
        ratio = data.astype(float) / (reference or data.max())
        expected = np.maximum(multiplier * np.log10(ratio), -1000)
    actual = np.asarray(
        ndd.to_decibels(data, multiplier=multiplier, reference=reference, cutoff_db=-1000)
    )
    # Results too small for a float32 ratio are the logarithm of its smallest number.
    visible = ratio > 1e-37
    assert_close(actual[visible], expected[visible], "decibels")
    assert np.isfinite(actual).all()


def test_decibels_near_the_reference() -> None:
    data = (1 + np.linspace(-0.3, 0.3, 2001)).astype(np.float32)
    expected = 10 * np.log10(data.astype(float))
    actual = np.asarray(ndd.to_decibels(data, reference=1.0))
    assert_close(actual, expected, "small decibels")


def test_decibels_of_silence_and_nan() -> None:
    silence = ndd.to_decibels(np.zeros(5, np.float32), cutoff_db=-80)
    assert_close(silence, -80, "float32")
    odd = np.array([np.nan, -1, 0, np.inf, 1], np.float32)
    actual = np.asarray(ndd.to_decibels(odd, reference=1.0, cutoff_db=-60))
    assert_close(actual, [-60, -60, -60, np.inf, 0], "float32")


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((40, 21), 0), ((21, 40), 1), ((2, 40, 9), -2)])
def test_mfcc(kind: int, normalize: bool, shape: tuple[int, ...], axis: int) -> None:
    if kind == 1 and normalize:
        return
    data = noise(*shape) * 20
    lifter = 22.0
    factors = 1 + lifter / 2 * np.sin(np.pi * (np.arange(13) + 1) / lifter)
    matrix = plain.dct_matrix(40, 13, kind, normalize) * factors[:, None]
    expected = np.moveaxis(np.tensordot(matrix, data.astype(float), (1, axis)), 0, axis)
    actual = ndd.mfcc(data, n_mfcc=13, dct_type=kind, normalize=normalize, axis=axis, lifter=lifter)
    assert_near(actual, expected.astype(np.float32), magnitude=float(np.abs(expected).max()) * 4)


def test_mfcc_keeps_at_most_all() -> None:
    assert ndd.mfcc(noise(7, 3), n_mfcc=20).shape == (7, 3)


def test_log_mel_like_librosa() -> None:
    import librosa

    signal = noise(16_000) * 0.1
    spectra = ndd.spectrogram(signal, nfft=512, window_length=400, window_step=160)
    mel = ndd.mel_filter_bank(spectra, nfilter=80, sample_rate=16000)
    actual = np.asarray(ndd.to_decibels(mel, reference=1.0, cutoff_db=-100))
    # librosa's Hann window is sampled at the beginning of steps, and windows of another length than
    # the transform are centered in it.
    theirs = librosa.stft(
        signal, n_fft=512, hop_length=160, window=np.pad(plain.hann(400), 56), pad_mode="reflect"
    )
    filters = librosa.filters.mel(sr=16000, n_fft=512, n_mels=80)
    expected = librosa.power_to_db(filters @ np.abs(theirs) ** 2, ref=1.0, amin=1e-10, top_db=None)
    # It pads by half of the transform, not of the window: the ends see other reflections.
    assert_close(actual[:, 2:-2], expected[:, 2:-2], "librosa")
    cepstra = np.asarray(ndd.mfcc(actual, n_mfcc=13, normalize=True))
    wanted = librosa.feature.mfcc(S=actual, n_mfcc=13)
    assert_close(cepstra, wanted, "librosa")


@pytest.mark.parametrize(
    ("operator", "shape", "arguments", "message"),
    [
        ("spectrogram", (99,), {"window_length": 0}, "'window_length' must be positive; got 0"),
        ("spectrogram", (99,), {"window_step": -1}, "'window_step' must be positive; got -1"),
        ("spectrogram", (99,), {"nfft": 100}, "'nfft' must be at least 'window_length'"),
        ("spectrogram", (99,), {"nfft": 0}, "'nfft' must be between 1 and"),
        ("spectrogram", (99,), {"power": 3}, "'power' must be 1"),
        ("spectrogram", (99,), {"layout": "f"}, "'layout' must be 'ft' or 'tf'; got 'f'"),
        ("spectrogram", (99,), {"window_fn": [1.0]}, "'window_fn' must have"),
        ("spectrogram", (9, 9), {}, "sample 0 must be one signal"),
        ("spectrogram", (0,), {}, "sample 0 has 0 values"),
        ("spectrogram", (99,), {"center_windows": False}, "sample 0 has 99 values"),
        ("power_spectrum", (9,), {"axis": 1}, "'axis' must be one of the 1 axes"),
        ("power_spectrum", (9,), {"nfft": 8}, "sample 0 has 9 values along the axis 0"),
        ("power_spectrum", (0,), {}, "sample 0 has 0 values"),
        ("mel_filter_bank", (9,), {"nfilter": 0}, "'nfilter' must be positive"),
        ("mel_filter_bank", (9,), {"sample_rate": -1.0}, "'sample_rate' must be positive"),
        ("mel_filter_bank", (9,), {"freq_low": -1.0}, "'freq_low' must not be negative"),
        ("mel_filter_bank", (9,), {"freq_high": 5e5}, "'freq_high' must be above"),
        ("mel_filter_bank", (9,), {"mel_formula": "x"}, "'mel_formula' must be"),
        ("mel_filter_bank", (1, 9), {}, "sample 0 has 1 frequencies"),
        ("to_decibels", (9,), {"multiplier": 0.0}, "'multiplier' must not be 0"),
        ("to_decibels", (9,), {"reference": -1.0}, "'reference' must be positive"),
        ("mfcc", (9, 2), {"n_mfcc": 0}, "'n_mfcc' must be positive"),
        ("mfcc", (9, 2), {"dct_type": 0}, "'dct_type' must be 1, 2, 3 or 4"),
        ("mfcc", (9, 2), {"dct_type": 1, "normalize": True}, "'normalize' must be False"),
        ("mfcc", (9, 2), {"axis": 2}, "'axis' must be one of the 2 axes"),
        ("mfcc", (1, 2), {"dct_type": 1}, "sample 0 has 1 values"),
    ],
)
def test_wrong_arguments_are_refused(
    operator: str, shape: tuple[int, ...], arguments: dict[str, Any], message: str
) -> None:
    data = np.ones(shape, np.float32)
    with pytest.raises((ValueError, ndd.OpError), match=f"^{operator}: .*{message}"):
        np.asarray(getattr(ndd, operator)(data, **arguments))


@pytest.mark.parametrize(
    "operator", ["spectrogram", "power_spectrum", "mel_filter_bank", "to_decibels", "mfcc"]
)
def test_only_float32(operator: str) -> None:
    with pytest.raises(ValueError, match=f"^{operator}: the type int16 is not supported"):
        np.asarray(getattr(ndd, operator)(np.ones((600, 1), np.int16)))


def test_frequency_axis_is_named() -> None:
    with pytest.raises(ValueError, match="needs an axis 'f' of frequencies; its layout is 'HW'"):
        np.asarray(ndd.mel_filter_bank(ndd.ones(shape=[9, 9], dtype=ndd.float32, layout="HW")))
