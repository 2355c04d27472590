# SPDX-License-Identifier: Apache-2.0
"""Spectra are what the reference gives, up to the rounding of sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.compare import assert_close
from support.libraries import Passed
from support.oracle import (
    assert_agree,
    assert_both_refuse,
    assert_nearly_agree,
)

pytestmark = pytest.mark.oracle


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
