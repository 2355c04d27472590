# SPDX-License-Identifier: Apache-2.0
"""Rows of `benchmarks/peers.py`: audio files that are in memory, decoded to float32."""

from __future__ import annotations

import functools
import io

import numpy as np

import daliesque as ndd

from .peer_row import Array, Call, Row

RATE = 44100


def music(seconds: int, channels: int, seed: int) -> Array:
    """Tones that come and go, and noise: what encoders predict well, and what they cannot."""
    rng = np.random.default_rng(seed)
    times = np.arange(seconds * RATE) / RATE
    signal = np.zeros((len(times), channels))
    for pitch in rng.uniform(80, 4000, 12):
        swell = 0.5 + 0.5 * np.sin(2 * np.pi * times * rng.uniform(0.1, 2))
        tone = swell * np.sin(2 * np.pi * pitch * times)
        signal += 0.06 * tone[:, None] * rng.uniform(0.3, 1, channels)
    signal += rng.normal(0, 0.01, signal.shape)
    return signal.clip(-1, 1).astype(np.float32)


@functools.cache
def encoded(kind: str, seconds: int, channels: int, count: int) -> list[bytes]:
    """Files made by soundfile, which our own extra for audio requires."""
    import soundfile

    files = []
    for seed in range(count):
        file = io.BytesIO()
        subtype = None if kind in ("OGG", "MP3") else "PCM_16"
        with soundfile.SoundFile(file, "w", RATE, channels, subtype, format=kind) as target:
            # The encoder of Vorbis crashes if it is given a minute at once.
            for second in np.split(music(seconds, channels, seed), seconds):
                target.write(second)
        files.append(file.getvalue())
    return files


def by_pyav(file: bytes) -> Array:
    import av

    with av.open(io.BytesIO(file)) as container:
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
        stream = container.streams.audio[0]
        if not stream.codec_context.format.is_planar:
            rows = [frame.reshape(-1, stream.codec_context.channels) for frame in frames]
            joined = np.concatenate(rows)
        else:
            joined = np.concatenate(frames, axis=1).T
    if joined.dtype == np.int16:
        return joined.astype(np.float32) / 32768
    return np.ascontiguousarray(joined)


def by_soundfile(file: bytes) -> Array:
    import soundfile

    found: Array = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)[0]
    return found


def decoding(kind: str, seconds: int, channels: int, count: int) -> Row:
    def make() -> dict[str, Call]:
        files = encoded(kind, seconds, channels, count)
        batch = ndd.batch([np.frombuffer(file, np.uint8) for file in files]).evaluate()
        return {
            "daliesque": lambda: ndd.decoders.audio(batch)[0].evaluate(),
            "soundfile": lambda: [by_soundfile(file) for file in files],
            "av": lambda: [by_pyav(file) for file in files],
        }

    return Row(make)


ROWS: dict[str, Row] = {
    f"audio decode {kind} {text}": decoding(kind, seconds, channels, count)
    for kind in ("WAV", "FLAC", "OGG", "MP3")
    for text, seconds, channels, count in (("60s stereo x4", 60, 2, 4), ("1s x32", 1, 1, 32))
}
