# SPDX-License-Identifier: Apache-2.0
"""The audio operators give what the reference gives, up to the rounding of sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.compare import assert_audio
from support.libraries import Each, Type
from support.oracle import (
    assert_agree,
    assert_both_refuse,
    assert_nearly_agree,
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


def test_both_refuse() -> None:
    wave = [np.ones(1000, np.float32)]
    for operator, arguments in (
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
