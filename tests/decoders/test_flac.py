# SPDX-License-Identifier: Apache-2.0
"""FLAC files, which are decoded natively, against libsndfile."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

import daliesque as ndd
from daliesque import _kernels
from daliesque._codecs import sndfile
from support import flac_makers as flac
from support.audio_makers import Array, signal
from support.instruction_sets import use_instructions

TYPES = ["float32", "int16", "int32"]


def signals(kind: str, frames: int, channels: int) -> Array:
    rng = np.random.default_rng(frames)
    times = np.arange(frames)[:, np.newaxis]
    return {
        "tones": lambda: signal(frames, channels) * 0.9,
        "noise": lambda: rng.uniform(-1, 1, (frames, channels)),
        "silence": lambda: np.zeros((frames, channels)),
        "quiet": lambda: rng.normal(0, 3 / 32768, (frames, channels)),
        "steps": lambda: np.sign(np.sin(times / 900)) * np.linspace(-0.99, 0.99, channels),
    }[kind]()


def compare(data: bytes) -> None:
    """All element types, with and without vectors, are exactly those of libsndfile."""
    for dtype in TYPES:
        expected, rate = soundfile.read(io.BytesIO(data), dtype=dtype, always_2d=True)
        for instructions in ("vector", "portable"):
            with use_instructions(instructions):
                samples, found = ndd.decoders.audio(data, dtype=np.dtype(dtype))
                np.testing.assert_array_equal(np.asarray(samples), expected)
            assert float(found) == rate


@pytest.fixture(autouse=True)
def _native_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sndfile, "functions", lambda: None)


@pytest.mark.parametrize("kind", ["tones", "noise", "silence", "quiet", "steps"])
@pytest.mark.parametrize("subtype", ["PCM_S8", "PCM_16", "PCM_24"])
@pytest.mark.parametrize("channels", [1, 2, 3, 8])
def test_files_of_an_encoder(kind: str, subtype: str, channels: int) -> None:
    for frames, level in ((1, 0.5), (15, 0.5), (4096, 0.0), (9001, 1.0)):
        file = io.BytesIO()
        with soundfile.SoundFile(
            file, "w", 44100, channels, subtype, format="FLAC", compression_level=level
        ) as target:
            target.write(signals(kind, frames, channels))
        compare(file.getvalue())


def blocks(total: int) -> list[tuple[int, int]]:
    """Where blocks of different sizes begin, and how long they are."""
    found, begin = [], 0
    for size in (96, 40, 1, 192, 16, 4000):
        size = min(size, total - begin)
        found.append((begin, size))
        begin += size
    return found


@pytest.mark.parametrize("width", [8, 16, 24])
@pytest.mark.parametrize("assignment", [0, 1, 8, 9, 10])
def test_all_that_a_frame_may_have(width: int, assignment: int) -> None:
    rng = np.random.default_rng(width + assignment)
    channels = 2 if assignment else 1
    limit = 1 << (width - 3)
    values = (np.cumsum(rng.integers(-3, 4, (700, channels)), axis=0) % limit).astype(int)
    frames = []
    options: list[dict[str, Any]] = [
        {"kind": "fixed", "order": 3, "splits": 3},
        {"kind": "verbatim"},
        {"kind": "constant"},
        {"kind": "predicted", "order": 32, "method": 1, "splits": 1},
        {"kind": "predicted", "order": 12},
        {"kind": "fixed", "order": 0, "method": 1},
    ]
    for (begin, size), option in zip(blocks(700), options, strict=True):
        a, b = values[begin : begin + size, 0], values[begin : begin + size, -1]
        coded = {0: [a], 1: [a, b], 8: [a, a - b], 9: [a - b, b], 10: [(a + b) >> 1, a - b]}
        side = {8: 1, 9: 0, 10: 1}.get(assignment)
        parts = [
            flac.subframe(part.tolist(), width + (index == side), **option)
            for index, part in enumerate(coded[assignment])
        ]
        frames.append(flac.frame(begin, assignment, width, size, parts))
    data = flac.file(frames, 700, channels, width, 4000)
    compare(data)
    samples, _ = ndd.decoders.audio(data, dtype=ndd.int32)
    np.testing.assert_array_equal(np.asarray(samples) >> (32 - width), values)


def test_bits_that_all_values_lack() -> None:
    values = [8 * k for k in range(-20, 20)]
    options: list[dict[str, Any]] = [
        {"kind": "fixed", "order": 2},
        {"kind": "verbatim"},
        {"kind": "predicted", "order": 2},
    ]
    for option in options:
        part = flac.subframe(values, 16, **option, wasted=3)
        data = flac.file([flac.frame(0, 0, 16, 40, [part])], 40, 1, 16, 40)
        compare(data)
        samples, _ = ndd.decoders.audio(data, dtype=ndd.int16, downmix=True)
        assert np.asarray(samples).tolist() == values


def test_numbers_with_many_zeros() -> None:
    """Unary parts that are longer than what is read at a time."""
    values = [0] * 61 + [40, -700, 3]
    bits = flac.Bits().put(0, 1).put(8, 6).put(0, 1).put(0, 2 + 4 + 4)
    for value in values:
        bits.put(1, (value << 1 if value >= 0 else ~value << 1 | 1) + 1)
    data = flac.file([flac.frame(0, 0, 16, 64, [bits])], 64, 1, 16, 64)
    compare(data)
    samples, _ = ndd.decoders.audio(data, dtype=ndd.int16, downmix=True)
    assert np.asarray(samples).tolist() == values


@pytest.mark.parametrize("in_file", [False, True])
def test_parts_of_long_files(tmp_path: Path, in_file: bool) -> None:
    values = signals("tones", 400_000, 2)
    path = tmp_path / "x.flac"
    soundfile.write(path, values, 44100, format="FLAC")
    expected, _ = soundfile.read(path, dtype="int16")
    if in_file:
        files = _kernels.AudioFiles([str(path)], None)
    else:
        encoded = ndd.batch([np.fromfile(path, np.uint8)]).evaluate()
        files = _kernels.AudioFiles(encoded._data(), None)
    rng = np.random.default_rng(1)
    begins = [0, 5, 399_990, 200_000, 200_100, 1, *rng.integers(0, 399_000, 40).tolist()]
    for begin in begins:
        count = min(1000, 400_000 - begin)
        out = _kernels.empty(ndd.int16.code, np.array([[count, 2]]), "", 1)
        assert files.decode(out, np.array([[0, begin, count]])) == [count]
        found = np.asarray(ndd.Batch._of(out).tensors[0])
        np.testing.assert_array_equal(found, expected[begin : begin + count])


def test_damaged_frames_are_not_delivered() -> None:
    """Frames before the damage are counted, and nothing wrong is returned."""
    file = io.BytesIO()
    soundfile.write(file, signals("tones", 50_000, 1), 16000, format="FLAC")
    whole = file.getvalue()
    rng = np.random.default_rng(2)
    for _ in range(60):
        broken = bytearray(whole)
        at = int(rng.integers(len(whole) // 4, len(whole)))
        broken[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(
            ndd.DecodeError, match=r"sample 0 is cut short: [0-9]+ of 50000 frames can be decoded"
        ):
            ndd.decoders.audio(bytes(broken))[0].evaluate()


def test_other_files_are_left_to_libsndfile() -> None:
    values = [0] * 16
    part = flac.subframe(values, 16, "constant")
    unknown_length = flac.file([flac.frame(0, 0, 16, 16, [part])], 0, 1, 16, 16)
    for data in (unknown_length, b"fLaC", b"fLaC" + bytes(50)):
        with pytest.raises(ndd.DecodeError, match=r"neither a WAV file .* nor a whole FLAC"):
            ndd.decoders.audio(data)[0].evaluate()
