# SPDX-License-Identifier: Apache-2.0
"""decoders.audio: WAV files against what was written into them, others against soundfile."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._codecs import sndfile
from support.audio_makers import Array, chunk, encoded, pcm, signal, wav
from support.compare import assert_close
from support.reference import audio as plain

KINDS = ["u8", "i16", "i24", "i32", "f32", "f64"]


def decode(data: bytes, **arguments: Any) -> tuple[Array, float]:
    samples, rate = ndd.decoders.audio(data, **arguments)
    return np.asarray(samples), float(rate)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("channels", [1, 2, 5])
@pytest.mark.parametrize("extensible", [False, True])
def test_wav(kind: str, channels: int, extensible: bool) -> None:
    values = signal(3001, channels)
    data, bits, expected = pcm(values, kind)
    tag = 3 if kind[0] == "f" else 1
    file = wav(data, bits, channels, 22050, tag=tag, extensible=extensible)
    samples, rate = decode(file)
    assert rate == 22050
    assert samples.shape == (3001, channels)
    assert_close(samples, expected, "one rounding")
    mixed, _ = decode(file, downmix=True)
    assert mixed.shape == (3001,)
    assert_close(mixed, expected.mean(axis=1), "unit values")


@pytest.mark.parametrize("kind", KINDS)
def test_wav_as_integers(kind: str) -> None:
    values = signal(500, 2)
    data, bits, expected = pcm(values, kind)
    file = wav(data, bits, 2, tag=3 if kind[0] == "f" else 1)
    for dtype in (np.int16, np.int32):
        samples, _ = decode(file, dtype=np.dtype(dtype))
        assert samples.dtype == dtype
        full = float(np.iinfo(dtype).max)
        if kind[0] == "f":
            assert_close(samples, expected * full, "scaled integers")
        else:
            # The bits that fit, without rounding.
            np.testing.assert_array_equal(samples, np.floor(expected * (full + 1)))
        mixed, _ = decode(file, dtype=np.dtype(dtype), downmix=True)
        assert_close(mixed, expected.mean(axis=1) * full, "mixed integers", magnitude=full)


def test_loud_floats_are_clamped_in_integers() -> None:
    file = wav(np.array([2.0, -3.0, np.nan], "<f4").tobytes(), 32, tag=3)
    samples, _ = decode(file, dtype=ndd.int16, downmix=True)
    assert samples.tolist() == [32767, -32768, 0]


def test_other_chunks_are_passed_over() -> None:
    data, bits, expected = pcm(signal(50), "i16")
    before = chunk(b"LIST", b"INFOabc") + chunk(b"bext", bytes(602))
    samples, _ = decode(wav(data, bits, before=before) + chunk(b"id3 ", b"xyz"))
    np.testing.assert_array_equal(samples[:50], expected)


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 5000])
def test_lengths_that_were_never_filled_in(size: int) -> None:
    data, bits, expected = pcm(signal(70), "i16")
    samples, _ = decode(wav(data, bits, data_size=size))
    np.testing.assert_array_equal(samples, expected)


def test_no_samples() -> None:
    for channels in (1, 2):
        samples, rate = decode(wav(b"", 16, channels, 8000))
        assert (samples.shape, rate) == ((0, channels), 8000)
        assert decode(wav(b"", 16, channels), downmix=True)[0].shape == (0,)
        assert decode(wav(b"", 16, channels), sample_rate=8000.0)[0].shape == (0, channels)


OTHERS = [
    ("FLAC", "PCM_16"),
    ("FLAC", "PCM_24"),
    ("OGG", "VORBIS"),
    ("OGG", "OPUS"),
    ("MP3", "MPEG_LAYER_III"),
    ("AIFF", "PCM_16"),
    ("AIFF", "FLOAT"),
    ("AU", "ULAW"),
    ("WAV", "ULAW"),
    ("WAV", "MS_ADPCM"),
    ("RF64", "PCM_16"),
    ("CAF", "ALAC_16"),
    ("W64", "PCM_24"),
]


@pytest.mark.parametrize(("kind", "subtype"), OTHERS)
@pytest.mark.parametrize("channels", [1, 2])
def test_other_formats(kind: str, subtype: str, channels: int) -> None:
    import soundfile

    if not soundfile.check_format(kind, subtype):
        pytest.skip("libsndfile was built without it")
    file = encoded(signal(24_000, channels), 48000, kind, subtype)
    expected, wanted_rate = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)
    samples, rate = decode(file)
    assert rate == wanted_rate
    if subtype == "VORBIS":
        # Decoded natively, with sums in another order.
        assert_close(samples, expected, "unit values")
    else:
        np.testing.assert_array_equal(samples, expected)
    mixed, _ = decode(file, downmix=True)
    assert_close(mixed, expected.mean(axis=1), "unit values")
    integers, _ = decode(file, dtype=ndd.int16)
    if subtype in ("FLOAT", "VORBIS", "OPUS", "MPEG_LAYER_III"):
        # Decoders leave the range a little.
        wanted = np.clip(expected.astype(np.float64) * 32767, -32768, 32767)
        assert_close(integers, wanted, "rounded")
    else:
        theirs, _ = soundfile.read(io.BytesIO(file), dtype="int16", always_2d=True)
        np.testing.assert_array_equal(integers, theirs)


@pytest.mark.parametrize("kind", ["wav", "flac"])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("downmix", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_resampling(kind: str, channels: int, downmix: bool, dtype: str) -> None:
    data, bits, expected = pcm(signal(4000, channels), "i16")
    file = wav(data, bits, channels, 44100)
    if kind == "flac":
        file = encoded(expected, 44100, "FLAC", "PCM_16")
    samples, rate = decode(file, sample_rate=16000.0, downmix=downmix, dtype=np.dtype(dtype))
    assert rate == 16000
    assert samples.shape == ((1452,) if downmix else (1452, channels))
    wide = expected.mean(axis=1, keepdims=True) if downmix else expected
    columns = [plain.resample(column, 44100, 16000, 1452, 16) for column in wide.T]
    wanted = np.stack(columns, axis=1)
    if dtype == "int16":
        wanted = np.clip(wanted, -1, 1) * 32767
    actual = samples.reshape(1452, -1)
    full = 1 if dtype == "float32" else 32767
    assert_close(actual, wanted, "resampled audio", magnitude=full)


def test_rates_of_each_sample() -> None:
    files = []
    for rate in (8000, 16000, 44100):
        data, bits, _ = pcm(signal(3000, seed=rate), "i16")
        files.append(wav(data, bits, 1, rate))
    batch = ndd.batch([np.frombuffer(file, np.uint8) for file in files])
    wanted = np.array([16000, 0, 22050], np.float32)
    samples, rates = ndd.decoders.audio(batch, sample_rate=ndd.batch(wanted), downmix=True)
    assert [float(rate) for rate in rates.tensors] == [16000, 16000, 22050]
    assert [part.shape for part in samples.tensors] == [(6000,), (3000,), (1500,)]
    for part, file, rate in zip(samples.tensors, files, wanted, strict=True):
        alone, _ = decode(file, sample_rate=float(rate), downmix=True)
        np.testing.assert_array_equal(part, alone)


def test_the_same_rate_is_not_resampled() -> None:
    data, bits, expected = pcm(signal(900), "i16")
    samples, _ = decode(wav(data, bits, rate=16000), sample_rate=16000.0, dtype=ndd.int16)
    np.testing.assert_array_equal(samples, expected * 32768)


@pytest.mark.parametrize("kind", ["FLAC", "OGG", "MP3", "AIFF"])
def test_damaged_files(kind: str) -> None:
    file = encoded(signal(20_000), 16000, kind)
    rng = np.random.default_rng(0)
    for cut in (1, 3, 20, 50, 200, len(file) // 2, len(file) - 1):
        attempt(file[:cut])
    for _ in range(60):
        broken = np.frombuffer(file, np.uint8).copy()
        broken[rng.integers(0, len(broken), 8)] = rng.integers(0, 256, 8)
        attempt(broken.tobytes())


def attempt(data: bytes) -> None:
    """Decoding works, or says what is wrong."""
    try:
        samples, _ = decode(data)
    except ndd.DecodeError as error:
        assert str(error).startswith("decoders.audio: sample 0 ")  # noqa: PT017
    else:
        assert samples.ndim == 2


def test_damaged_wav_files() -> None:
    data, bits, expected = pcm(signal(1000, 2), "i16")
    file = wav(data, bits, 2)
    for cut in range(40):
        with pytest.raises(ndd.DecodeError, match=r"^decoders\.audio: sample 0 is"):
            decode(file[:cut])
    samples, _ = decode(file[: 44 + 4 * 100 + 3])
    np.testing.assert_array_equal(samples, expected[:100])
    rng = np.random.default_rng(1)
    for _ in range(300):
        broken = np.frombuffer(file[:100], np.uint8).copy()
        broken[rng.integers(0, 48, 3)] = rng.integers(0, 256, 3)
        attempt(broken.tobytes())


def test_a_cut_flac_file_is_named() -> None:
    file = encoded(signal(50_000), 16000, "FLAC")
    with pytest.raises(
        ndd.DecodeError, match=r"is cut short: [0-9]+ of 50000 frames can be decoded"
    ):
        decode(file[: len(file) // 2])


def test_wrong_arguments_are_refused() -> None:
    file = wav(*pcm(signal(10), "i16")[:2])
    for arguments, message in (
        ({"dtype": ndd.float64}, "'dtype' must be int16, int32 or float32; got float64"),
        ({"quality": -1.0}, "'quality' must be between 0 and 100; got -1"),
        ({"sample_rate": float("nan")}, "'sample_rate' must be a number of Hz"),
    ):
        with pytest.raises(ValueError, match=f"^decoders.audio: {message}"):
            decode(file, **arguments)
    with pytest.raises(ValueError, match="must be vectors of bytes"):
        decode(np.zeros((2, 2), np.uint8))  # type: ignore[arg-type]
    with pytest.raises(ndd.DecodeError, match="sample 0 is empty"):
        decode(b"")
    with pytest.raises(ndd.DecodeError, match="sample 0 is not audio of a known format"):
        decode(b"these are words and no audio at all")


def test_without_libsndfile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sndfile, "functions", lambda: None)
    data, bits, expected = pcm(signal(100), "i24")
    np.testing.assert_array_equal(decode(wav(data, bits))[0], expected)
    with pytest.raises(ndd.DecodeError, match=r"pip install daliesque\[audio\]"):
        decode(b"fLaC" + bytes(100))
