# SPDX-License-Identifier: Apache-2.0
"""Rows of `benchmarks/ops.py` on audio: 32 clips of 1 to 15 seconds."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable
from typing import Any

import numpy as np

CLIPS = 32
RATE = 16000

Row = tuple[Callable[[Any], list[Any]], Callable[..., Any]]


def lengths(rate: int) -> list[int]:
    seconds = np.random.default_rng(2).uniform(1, 15, CLIPS)
    return [int(rate * length) for length in seconds]


def noise(rate: int) -> list[Any]:
    rng = np.random.default_rng(3)
    return [rng.normal(0, 0.1, length).astype(np.float32) for length in lengths(rate)]


def clips(ndd: Any) -> list[Any]:
    return [ndd.batch(noise(RATE))]


def fast_clips(ndd: Any) -> list[Any]:
    return [ndd.batch(noise(44100))]


def spectra(layout: str, rows: int) -> Callable[[Any], list[Any]]:
    def make(ndd: Any) -> list[Any]:
        rng = np.random.default_rng(4)
        shapes = [(rows, length // 160 + 1) for length in lengths(RATE)]
        arrays = [np.abs(rng.normal(size=shape)).astype(np.float32) for shape in shapes]
        if layout == "tf":
            arrays = [np.ascontiguousarray(array.T) for array in arrays]
        return [ndd.batch(arrays, layout=layout)]

    return make


def wav_files(rate: int) -> Callable[[Any], list[Any]]:
    def make(ndd: Any) -> list[Any]:
        files = []
        for clip in noise(rate):
            file = io.BytesIO()
            with wave.open(file, "wb") as target:
                target.setparams((1, 2, rate, 0, "NONE", ""))
                target.writeframes((clip.clip(-1, 1) * 32767).astype("<i2").tobytes())
            files.append(np.frombuffer(file.getvalue(), np.uint8))
        return [ndd.batch(files)]

    return make


def call(name: str, **arguments: Any) -> Callable[..., Any]:
    return lambda ndd, *inputs: getattr(ndd, name)(*inputs, **arguments)


def log_mel(ndd: Any, files: Any) -> Any:
    """Decode, resample to 16 kHz, 80 logarithmic mel bands."""
    audio, _ = ndd.decoders.audio(files, sample_rate=16000.0, downmix=True)
    frames = ndd.spectrogram(audio, nfft=512, window_length=400, window_step=160)
    mel = ndd.mel_filter_bank(frames, nfilter=80, sample_rate=16000.0)
    return ndd.to_decibels(mel, reference=1.0, cutoff_db=-80.0)


ROWS: dict[str, Row] = {
    "audio_resample": (clips, call("audio_resample", in_rate=16000.0, out_rate=8000.0)),
    "audio_resample 44.1 kHz": (
        fast_clips,
        call("audio_resample", in_rate=44100.0, out_rate=16000.0),
    ),
    "spectrogram": (clips, call("spectrogram", nfft=512, window_length=400, window_step=160)),
    "spectrogram tf": (
        clips,
        call("spectrogram", nfft=512, window_length=400, window_step=160, layout="tf"),
    ),
    "spectrogram 400": (clips, call("spectrogram", window_length=400, window_step=160)),
    "power_spectrum": (spectra("tf", 512), call("power_spectrum")),
    "power_spectrum of clips": (clips, call("power_spectrum")),
    "mel_filter_bank": (
        spectra("ft", 257),
        call("mel_filter_bank", nfilter=80, sample_rate=16000.0),
    ),
    "mel_filter_bank tf": (
        spectra("tf", 257),
        call("mel_filter_bank", nfilter=80, sample_rate=16000.0),
    ),
    "to_decibels": (spectra("ft", 80), call("to_decibels")),
    "mfcc": (spectra("ft", 80), call("mfcc", n_mfcc=20)),
    "normalize spectra": (spectra("ft", 80), call("normalize", axes=[1])),
    "preemphasis_filter": (clips, call("preemphasis_filter")),
    "nonsilent_region": (clips, call("nonsilent_region")),
    "decoders.audio": (
        wav_files(RATE),
        lambda ndd, files: ndd.decoders.audio(files, downmix=True),
    ),
    "decoders.audio 44.1 kHz": (
        wav_files(44100),
        lambda ndd, files: ndd.decoders.audio(files, sample_rate=16000.0, downmix=True),
    ),
    "log-mel of files": (wav_files(44100), log_mel),
}
