# SPDX-License-Identifier: Apache-2.0
"""Encoded audio for tests: WAV files written by hand, others by soundfile."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def signal(frames: int, channels: int = 1, seed: int = 0) -> Array:
    """Tones and noise between -0.9 and 0.9: (frames, channels)."""
    rng = np.random.default_rng(seed)
    times = np.arange(frames)[:, np.newaxis]
    pitches = rng.uniform(0.01, 0.1, channels)
    return 0.6 * np.sin(times * pitches) + rng.uniform(-0.3, 0.3, (frames, channels))


def chunk(name: bytes, content: bytes) -> bytes:
    """A chunk of a RIFF file."""
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def wav(
    data: bytes,
    bits: int,
    channels: int = 1,
    rate: int = 16000,
    *,
    tag: int = 1,
    extensible: bool = False,
    before: bytes = b"",
    data_size: int | None = None,
) -> bytes:
    """A WAV file with the given samples; `before` are other chunks."""
    frame = channels * bits // 8
    number = 0xFFFE if extensible else tag
    header = struct.pack("<HHIIHH", number, channels, rate, rate * frame, frame, bits)
    if extensible:
        header += struct.pack("<HHI", 22, bits, 0) + struct.pack("<H", tag)
        header += b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
    size = len(data) if data_size is None else data_size
    body = b"WAVE" + chunk(b"fmt ", header) + before + b"data" + struct.pack("<I", size) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def pcm(values: Array, kind: str) -> tuple[bytes, int, Array]:
    """Values between -1 and 1 as bytes of a WAV file, their bits, and what they stand for."""
    if kind == "u8":
        numbers = np.rint(values * 127).astype(int)
        return (numbers + 128).astype(np.uint8).tobytes(), 8, numbers / 128
    if kind == "f32":
        return values.astype("<f4").tobytes(), 32, values.astype(np.float32)
    if kind == "f64":
        return values.astype("<f8").tobytes(), 64, values.astype(np.float32)
    bits = int(kind[1:])
    numbers = np.rint(values * (2 ** (bits - 1) - 1)).astype(np.int64)
    wide = numbers.astype("<i4").reshape(-1, 1).view(np.uint8)
    return wide[:, : bits // 8].tobytes(), bits, numbers / 2 ** (bits - 1)


def encoded(values: Array, rate: int, kind: str, subtype: str | None = None) -> bytes:
    """A file of any kind that soundfile writes."""
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, values, rate, format=kind, subtype=subtype)
    return file.getvalue()
