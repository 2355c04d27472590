# SPDX-License-Identifier: Apache-2.0
"""Decoded audio compared with the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.audio_makers import encoded, signal
from support.compare import assert_audio
from support.libraries import Each, Type, call_all
from support.oracle import (
    ours,
    reference,
)

pytestmark = pytest.mark.oracle
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
