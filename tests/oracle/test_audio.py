# SPDX-License-Identifier: Apache-2.0
"""The audio operators give what the reference gives, up to the rounding of sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.audio_makers import encoded, signal
from support.compare import assert_audio, assert_close
from support.libraries import Each, Passed, Type, call_all
from support.oracle import (
    assert_agree,
    assert_both_refuse,
    assert_nearly_agree,
    ours,
    reference,
)

pytestmark = pytest.mark.oracle

SIGNAL_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32")
LOUDNESS_TYPES = (*SIGNAL_TYPES, "int64", "uint64")


def signals(rng: np.random.Generator, dtype: str = "float32", channels: int = 0) -> list[Any]:
    """Three signals of different lengths."""
    made = []
    for length in rng.integers(1, 3000, 3):
        shape = (int(length), channels) if channels else (int(length),)
        values = rng.uniform(-1, 1, shape)
        if dtype == "float32":
            made.append(values.astype(np.float32))
        else:
            limits = np.iinfo(dtype)
            values = values if limits.min else (values + 1) / 2
            made.append((values * limits.max).astype(dtype))
    return made


@pytest.mark.parametrize("seed", range(60))
def test_spectrogram(seed: int) -> None:
    rng = np.random.default_rng(seed)
    window_length = int(rng.integers(2, 600))
    arguments: dict[str, Any] = {"window_length": window_length}
    if seed % 3:
        # The reference's transform of lengths other than powers of two needs more than a few.
        arguments["nfft"] = 1 << int(rng.integers(window_length - 1)).bit_length() + seed % 2
        arguments["nfft"] = max(arguments["nfft"], 1 << (window_length - 1).bit_length())
    arguments["window_step"] = int(rng.integers(1, 300))
    arguments["power"] = int(rng.integers(1, 3))
    arguments["layout"] = Passed("ft" if rng.random() < 0.5 else "tf")
    arguments["center_windows"] = bool(rng.random() < 0.7)
    arguments["reflect_padding"] = bool(rng.random() < 0.7)
    if rng.random() < 0.3:
        arguments["window_fn"] = rng.uniform(0, 1, window_length).astype(np.float32).tolist()
    samples = [
        rng.normal(size=int(length)).astype(np.float32)
        for length in rng.integers(window_length, 6000, 3)
    ]
    if seed % 5 == 0:
        samples = [sample[:, None] for sample in samples]
    assert_nearly_agree("spectrogram", samples, **arguments)


@pytest.mark.parametrize("seed", range(40))
def test_power_spectrum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 4))
    axis = int(rng.integers(ndim))
    samples = [
        rng.normal(size=[int(n) for n in rng.integers(1, 40, ndim)]).astype(np.float32)
        for _ in range(3)
    ]
    longest = max(sample.shape[axis] for sample in samples)
    arguments: dict[str, Any] = {"axis": axis, "power": 1 + seed % 2}
    if seed % 3:
        arguments["nfft"] = 1 << (longest - 1).bit_length() + seed % 2
    else:
        # Without a length, that of the axis: here one that the reference can transform.
        samples = [
            np.resize(sample, [16 if k == axis else n for k, n in enumerate(sample.shape)])
            for sample in samples
        ]
    assert_nearly_agree("power_spectrum", samples, layout="ABC"[:ndim], **arguments)


@pytest.mark.parametrize("length", [4096, 65536, 44100, 30011])
def test_long_power_spectrum(length: int) -> None:
    rng = np.random.default_rng(length)
    samples = [rng.normal(size=length).astype(np.float32)]
    assert_nearly_agree("power_spectrum", samples, tolerance="agreement on long transforms")


@pytest.mark.parametrize("seed", range(40))
def test_mel_filter_bank(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bins = int(rng.integers(2, 600))
    layout = ("ft", "tf", "f", "", "Cft", "tCf")[seed % 6]
    shapes = []
    for _ in range(3):
        extents = {"f": bins, "t": int(rng.integers(1, 90)), "C": 2}
        shapes.append([extents[letter] for letter in layout or "ft"])
    samples = [rng.uniform(0, 1, shape).astype(np.float32) for shape in shapes]
    sample_rate = float(rng.choice([8000.0, 16000.0, 22050.0, 44100.0]))
    arguments: dict[str, Any] = {
        "nfilter": int(rng.integers(1, 140)),
        "sample_rate": sample_rate,
        "normalize": bool(rng.random() < 0.5),
        "mel_formula": "slaney" if rng.random() < 0.5 else "htk",
        "layout": layout or None,
    }
    if rng.random() < 0.5:
        arguments["freq_low"] = float(rng.uniform(0, sample_rate / 8))
    if rng.random() < 0.5:
        arguments["freq_high"] = float(rng.uniform(sample_rate / 4, sample_rate / 2))
    assert_nearly_agree("mel_filter_bank", samples, **arguments)


@pytest.mark.parametrize("seed", range(30))
def test_to_decibels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = [
        np.exp(rng.uniform(-40, 10, (int(rng.integers(1, 50)), 20))).astype(np.float32)
        for _ in range(3)
    ]
    samples[1][0, :3] = (0, np.nan, np.inf if seed % 4 == 0 else 1)
    arguments: dict[str, Any] = {"multiplier": float(rng.choice([10.0, 20.0, 3.3]))}
    if seed % 4 == 0 or rng.random() < 0.5:
        arguments["reference"] = float(rng.uniform(0.01, 100))
    if rng.random() < 0.7:
        arguments["cutoff_db"] = float(rng.choice([-80.0, -20.0, 0.0, -1000.0]))
    assert_agree("to_decibels", samples, layout="ft", check=near_decibels, **arguments)


def near_decibels(actual: Any, expected: Any, context: object) -> None:
    assert_close(actual, expected, "agreement of decibels", context)


@pytest.mark.parametrize("seed", range(40))
def test_mfcc(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(2, 5))
    axis = int(rng.integers(ndim))
    samples = [
        rng.normal(0, 30, [int(n) for n in rng.integers(2, 30, ndim)]).astype(np.float32)
        for _ in range(3)
    ]
    dct_type = 1 + seed % 4
    arguments: dict[str, Any] = {
        "axis": axis,
        "dct_type": dct_type,
        "n_mfcc": int(rng.integers(1, 25)),
        "normalize": dct_type > 1 and bool(rng.random() < 0.5),
    }
    if rng.random() < 0.5:
        arguments["lifter"] = float(rng.uniform(1, 40))
    assert_nearly_agree("mfcc", samples, layout="ABCD"[:ndim], **arguments)


@pytest.mark.parametrize("output", [None, *SIGNAL_TYPES])
@pytest.mark.parametrize("input", SIGNAL_TYPES)
def test_resample_types(input: str, output: str | None) -> None:
    rng = np.random.default_rng(len(input))
    arguments = {} if output is None else {"dtype": Type(output)}
    for channels in (0, 1, 3):
        samples = signals(rng, input, channels)
        rates = {"in_rate": 16000.0, "out_rate": 22050.0}
        assert_agree("audio_resample", samples, check=assert_audio, **rates, **arguments)


RATES = ((44100.0, 16000.0), (16000.0, 44100.0), (48000.0, 44100.0), (16000.0, 8000.0))


@pytest.mark.parametrize("seed", range(40))
def test_resample(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = [
        rng.uniform(-1, 1, int(length)).astype(np.float32)
        for length in (*rng.integers(1, 9000, 3), *rng.integers(1, 40, 2))
    ]
    arguments: dict[str, Any] = {}
    form = seed % 4
    if form == 0:
        arguments["in_rate"], arguments["out_rate"] = RATES[seed // 4 % len(RATES)]
    elif form == 1:
        arguments["scale"] = float(rng.uniform(0.2, 4))
    elif form == 2:
        arguments["out_length"] = Each([np.int64(n) for n in rng.integers(0, 9000, 5)])
    else:
        for name in ("in_rate", "out_rate"):
            values = rng.choice([8000, 11025, 16000, 22050, 44100, 48000], 5)
            arguments[name] = Each([np.float32(value) for value in values])
    if rng.random() < 0.7:
        arguments["quality"] = float(rng.choice([0.0, 10.0, 25.0, 62.0, 100.0]))
    assert_nearly_agree("audio_resample", samples, **arguments)


def test_long_resample() -> None:
    rng = np.random.default_rng(5)
    samples = [rng.uniform(-1, 1, 400_000).astype(np.float32)]
    for in_rate, out_rate in RATES:
        assert_nearly_agree("audio_resample", samples, in_rate=in_rate, out_rate=out_rate)


@pytest.mark.parametrize("output", [*LOUDNESS_TYPES, "float64"])
@pytest.mark.parametrize("input", [*LOUDNESS_TYPES, "float64"])
def test_preemphasis_types(input: str, output: str) -> None:
    rng = np.random.default_rng(3)
    low, high = (-9, 9) if np.dtype(input).kind != "u" else (0, 100)
    samples = [rng.uniform(low, high, n).astype(input) for n in (2, 1000, 5001)]
    border = ("zero", "clamp", "reflect")[len(input + output) % 3]
    coefficient = Each([np.float32(c) for c in (0.0, 0.5, -1.3)])
    assert_agree(
        "preemphasis_filter",
        samples,
        preemph_coeff=coefficient,
        border=border,
        dtype=Type(output),
    )


@pytest.mark.parametrize("seed", range(60))
def test_nonsilent_region(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = LOUDNESS_TYPES[seed % len(LOUDNESS_TYPES)]
    samples = []
    for _ in range(4):
        silence, loud, rest = (int(n) for n in rng.integers(1, 30_000, 3))
        noise = rng.normal(0, 0.2, silence + loud + rest).clip(-1, 1)
        noise[:silence] *= 1e-4
        noise[silence + loud :] *= 1e-4
        full = 1.0 if dtype == "float32" else np.iinfo(dtype).max / 2
        values = noise * full + (np.iinfo(dtype).max // 4 if dtype[0] == "u" else 0)
        samples.append(values.astype(dtype))
    arguments: dict[str, Any] = {}
    if seed % 2:
        arguments["window_length"] = int(rng.integers(1, 3000))
        arguments["reset_interval"] = (
            -1 if rng.random() < 0.3 else arguments["window_length"] * int(rng.integers(1, 9))
        )
    if rng.random() < 0.5:
        arguments["cutoff_db"] = float(rng.uniform(-70, -5))
    if rng.random() < 0.3:
        arguments["reference_power"] = float(rng.uniform(0.01, 0.1))
    assert_agree("nonsilent_region", samples, **arguments)


@pytest.mark.parametrize("axes", [[1], [0], [0, 1]])
def test_normalized_spectra(axes: list[int]) -> None:
    rng = np.random.default_rng(8)
    spectra = [rng.normal(-40, 15, (80, n)).astype(np.float32) for n in (1, 37, 1400)]
    assert_nearly_agree("normalize", spectra, axes=axes, epsilon=1e-4, layout="ft")
    assert_nearly_agree("normalize", spectra[1:], axis_names="t", ddof=1, layout="ft")
    assert_nearly_agree("normalize", spectra, axes=axes, layout="ft", batch=0 not in axes)


def test_both_refuse() -> None:
    wave = [np.ones(1000, np.float32)]
    spectra = [np.ones((20, 30), np.float32)]
    for operator, arguments in (
        ("spectrogram", {"window_length": 0}),
        ("spectrogram", {"window_step": 0}),
        ("spectrogram", {"nfft": 100, "window_length": 200}),
        ("spectrogram", {"power": 3}),
        ("spectrogram", {"window_fn": [1.0, 2.0]}),
        ("spectrogram", {"layout": Passed("t")}),
        ("spectrogram", {"window_length": 2000, "center_windows": False}),
        ("power_spectrum", {"axis": 1}),
        ("power_spectrum", {"power": 0}),
        ("audio_resample", {}),
        ("audio_resample", {"in_rate": 2.0}),
        ("audio_resample", {"scale": 2.0, "out_length": 3}),
        ("audio_resample", {"scale": -2.0}),
        ("audio_resample", {"scale": 2.0, "quality": 101.0}),
        ("audio_resample", {"scale": 2.0, "dtype": Type("float64")}),
        ("nonsilent_region", {"window_length": 100, "reset_interval": 150}),
        ("nonsilent_region", {"reference_power": -1.0}),
        ("preemphasis_filter", {"border": "wrap"}),
    ):
        assert_both_refuse(operator, wave, **arguments)  # type: ignore[arg-type]
    for operator, arguments in (
        ("mel_filter_bank", {"nfilter": 0}),
        ("mel_filter_bank", {"sample_rate": 0.0}),
        ("mel_filter_bank", {"freq_low": -1.0}),
        ("mel_filter_bank", {"freq_low": 100.0, "freq_high": 50.0}),
        ("mel_filter_bank", {"mel_formula": "other"}),
        ("mel_filter_bank", {"layout": "AB"}),
        ("mfcc", {"n_mfcc": 0}),
        ("mfcc", {"dct_type": 5}),
        ("mfcc", {"dct_type": 1, "normalize": True}),
        ("mfcc", {"axis": 2}),
    ):
        assert_both_refuse(operator, spectra, **arguments)  # type: ignore[arg-type]


DECODED = [
    ("WAV", "PCM_U8"),
    ("WAV", "PCM_16"),
    ("WAV", "PCM_24"),
    ("WAV", "PCM_32"),
    ("WAV", "FLOAT"),
    ("FLAC", "PCM_16"),
    ("OGG", "VORBIS"),
    ("OGG", "OPUS"),
]


@pytest.mark.parametrize(("kind", "subtype"), DECODED)
@pytest.mark.parametrize("channels", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "int16", "int32"])
def test_decoder(kind: str, subtype: str, channels: int, dtype: str) -> None:
    files = [
        np.frombuffer(encoded(0.5 * signal(length, channels), 48000, kind, subtype), np.uint8)
        for length in (5000, 12_345)
    ]
    # Both read plain samples without error; lossy formats depend on the version of their library.
    exact = subtype.startswith("PCM") or subtype == "FLOAT"
    tolerance = "agreement of audio" if exact else "agreement of lossy audio"
    forms: list[dict[str, Any]] = [{"sample_rate": 16000.0, "downmix": True}]
    if subtype != "FLOAT" or dtype == "float32":
        # The reference does not scale floating-point numbers to integers.
        rates = Each([np.float32(48000), np.float32(44100)])
        forms += [{}, {"downmix": True}, {"sample_rate": rates, "quality": 20.0}]
    for arguments in forms:
        wanted = call_all(reference, "decoders.audio", [files], dtype=Type(dtype), **arguments)
        results = call_all(ours, "decoders.audio", [files], dtype=Type(dtype), **arguments)
        for got, expected in zip(results, wanted, strict=True):
            assert (got.layout, got.dtype) == (expected.layout, expected.dtype)
            for a, b in zip(got.arrays, expected.arrays, strict=True):
                assert a.shape == b.shape
        for a, b in zip(results[0].arrays, wanted[0].arrays, strict=True):
            assert_audio(a, b, arguments, tolerance)
        for a, b in zip(results[1].arrays, wanted[1].arrays, strict=True):
            np.testing.assert_array_equal(a, b)
