# SPDX-License-Identifier: Apache-2.0
"""Vorbis in Ogg files, which is decoded natively, against libsndfile."""

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
from support.audio_makers import Array, encoded, signal
from support.compare import assert_close
from support.instruction_sets import use_instructions


def clicks(frames: int, channels: int) -> Array:
    """Tones with sudden noise, which encoders put into short blocks."""
    values = 0.4 * signal(frames, channels)
    rng = np.random.default_rng(frames)
    for begin in range(500, frames - 300, 3700):
        values[begin : begin + 300] += rng.uniform(-0.5, 0.5, (300, channels))
    return values


def vorbis(values: Array, rate: int = 44100, level: float = 0.6) -> bytes:
    """An Ogg file; level 0 is the highest quality."""
    file = io.BytesIO()
    with soundfile.SoundFile(
        file, "w", rate, values.shape[1], "VORBIS", format="OGG", compression_level=level
    ) as target:
        target.write(values)
    return file.getvalue()


def by_libsndfile(data: bytes) -> tuple[Array, int]:
    values: tuple[Array, int] = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
    return values


def compare(data: bytes) -> None:
    """Samples are those of libsndfile up to rounding, and do not depend on vectors."""
    expected, rate = by_libsndfile(data)
    results = []
    for instructions in ("vector", "avx2", "portable"):
        with use_instructions(instructions):
            samples, found = ndd.decoders.audio(data)
            assert float(found) == rate
            results.append(np.asarray(samples))
    assert_close(results[0], expected, "unit values")
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    for dtype in (np.int16, np.int32):
        full = float(np.iinfo(dtype).max)
        samples, _ = ndd.decoders.audio(data, dtype=np.dtype(dtype))
        wanted = np.clip(expected.astype(np.float64) * full, -full - 1, full)
        # Half a level, and what float32 resolves of full scale.
        near = np.abs(np.asarray(samples).astype(np.float64) - wanted) <= 0.5 + 1e-6 * full
        assert near.all()


@pytest.fixture
def _native_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sndfile, "functions", lambda: None)


@pytest.mark.usefixtures("_native_only")
@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050, 32000, 44100, 48000, 96000, 192000])
@pytest.mark.parametrize("channels", [1, 2])
def test_rates_and_qualities(rate: int, channels: int) -> None:
    for level in (0.0, 0.5, 1.0):
        compare(vorbis(clicks(20_000, channels), rate, level))


@pytest.mark.usefixtures("_native_only")
@pytest.mark.parametrize("channels", range(1, 9))
def test_channels(channels: int) -> None:
    compare(vorbis(clicks(15_000, channels) * np.linspace(0.2, 1, channels)))


@pytest.mark.usefixtures("_native_only")
@pytest.mark.parametrize("frames", [1, 2, 63, 64, 65, 127, 128, 576, 1000, 1023, 1024, 1025, 4096])
def test_short_files(frames: int) -> None:
    for channels in (1, 2):
        compare(vorbis(signal(frames, channels)))


@pytest.mark.usefixtures("_native_only")
def test_silence_in_a_channel() -> None:
    """A curve that is not there, alone and coupled with one that is."""
    values = clicks(12_000, 2)
    for silent in ([0], [1], [0, 1]):
        part = values.copy()
        part[:, silent] = 0
        compare(vorbis(part))


@pytest.mark.usefixtures("_native_only")
def test_another_encoder() -> None:
    """Codebooks, curves and partitions that libvorbis does not write."""
    av = pytest.importorskip("av")
    file = io.BytesIO()
    with av.open(file, "w", format="ogg") as container:
        stream = container.add_stream("vorbis", rate=44100, layout="stereo")
        stream.codec_context.options = {"strict": "experimental"}
        values = clicks(30_000, 2).astype(np.float32)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(values.T), "fltp", "stereo")
        frame.sample_rate = 44100
        fifo = av.AudioFifo()
        fifo.write(frame)
        while (part := fifo.read(64, partial=True)) is not None:
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    compare(file.getvalue())


@pytest.mark.parametrize("in_file", [False, True])
def test_parts_of_long_files(tmp_path: Path, in_file: bool) -> None:
    path = tmp_path / "x.ogg"
    # More than is read at a time.
    path.write_bytes(vorbis(clicks(1_000_000, 2), level=0.0))
    assert path.stat().st_size > 1 << 20
    expected, _ = by_libsndfile(path.read_bytes())
    source: Any = [str(path)]
    if not in_file:
        source = ndd.batch([np.fromfile(path, np.uint8)]).evaluate()._data()
    files = _kernels.AudioFiles(source, None)
    rng = np.random.default_rng(1)
    begins = [0, 5, 999_990, 200_000, 200_100, 1, 999_999, *rng.integers(0, 999_000, 40).tolist()]
    for begin in begins:
        count = min(1000, 1_000_000 - begin)
        out = _kernels.empty(ndd.float32.code, np.array([[count, 2]]), "", 1)
        assert files.decode(out, np.array([[0, begin, count]])) == [count]
        found = np.asarray(ndd.Batch._of(out).tensors[0])
        assert_close(found, expected[begin : begin + count], "unit values", begin)


@pytest.mark.usefixtures("_native_only")
def test_files_of_different_settings_together() -> None:
    """More than the setups that are kept."""
    files = [
        vorbis(signal(5000, channels), rate, level)
        for channels in (1, 2)
        for rate in (16000, 44100)
        for level in (0.0, 0.5, 1.0)
    ]
    for _ in range(2):
        batch = ndd.batch([np.frombuffer(file, np.uint8) for file in files])
        for part, file in zip(ndd.decoders.audio(batch)[0].tensors, files, strict=True):
            assert_close(np.asarray(part), by_libsndfile(file)[0], "unit values")


def pages(data: bytes) -> list[bytes]:
    """The file cut into pages."""
    found = []
    while data:
        size = 27 + data[26] + sum(data[27 : 27 + data[26]])
        found.append(data[:size])
        data = data[size:]
    return found


def outcome(data: bytes) -> Array | str:
    """What libsndfile makes of a file."""
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            values: Array = file.read(file.frames, dtype="float32", always_2d=True)
            return values if len(values) == file.frames else "is cut short"
    except RuntimeError:
        return "is not audio of a known format"


def test_damaged_and_unusual_files_are_left_to_libsndfile() -> None:
    """Pages lost, repeated and damaged, files cut, something before, behind and a second stream."""
    whole = vorbis(clicks(60_000, 2), level=0.2)
    parts = pages(whole)
    middle = len(parts) // 2
    broken = bytearray(whole)
    broken[len(whole) // 2] ^= 4
    other = vorbis(signal(3000, 2))
    variants = {
        "cut": whole[: len(whole) // 2],
        "cut at a page": b"".join(parts[:middle]),
        "without the last byte": whole[:-1],
        "a page is lost": b"".join(parts[:middle] + parts[middle + 1 :]),
        "a page comes twice": b"".join([*parts[: middle + 1], *parts[middle:]]),
        "a wrong bit": bytes(broken),
        "the last page is lost": b"".join(parts[:-1]),
        "headers only": b"".join(parts[:2]),
        "junk behind": whole + bytes(100),
        "junk before": b"junk" + whole,
        "a second stream": whole + other,
        "speech of another format": encoded(signal(9000), 48000, "OGG", "OPUS"),
    }
    for name, data in variants.items():
        expected = outcome(data)
        if isinstance(expected, str):
            with pytest.raises(ndd.DecodeError, match=expected):
                ndd.decoders.audio(data)[0].evaluate()
        else:
            samples, _ = ndd.decoders.audio(data)
            assert_close(np.asarray(samples), expected, "unit values", name)


@pytest.mark.usefixtures("_native_only")
def test_damage_without_libsndfile() -> None:
    whole = vorbis(clicks(60_000, 1), level=0.2)
    broken = bytearray(whole)
    broken[len(whole) // 2] ^= 4
    with pytest.raises(ndd.DecodeError, match=r"is cut short: [0-9]+ of 60000 frames"):
        ndd.decoders.audio(bytes(broken))[0].evaluate()
    for data in (whole[:-1], whole[:100], b"OggS", vorbis(signal(3000, 9))):
        with pytest.raises(ndd.DecodeError, match=r"whole FLAC or Ogg Vorbis.*daliesque\[audio\]"):
            ndd.decoders.audio(data)[0].evaluate()


def test_resampled_and_mixed() -> None:
    data = vorbis(clicks(30_000, 2))
    expected, _ = by_libsndfile(data)
    mixed, _ = ndd.decoders.audio(data, downmix=True)
    assert_close(np.asarray(mixed), expected.mean(axis=1), "unit values")
    apart, rate = ndd.decoders.audio(data, sample_rate=16000.0)
    wanted = ndd.audio_resample(expected, in_rate=44100.0, out_rate=16000.0)
    assert float(rate) == 16000
    assert_close(np.asarray(apart), np.asarray(wanted), "unit values")
