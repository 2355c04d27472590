# SPDX-License-Identifier: Apache-2.0
"""Input of a speech model: clips of different lengths to padded log-mel features.

    python examples/speech.py [FOLDER]

Without a folder of audio files, a few tones are generated. Each step gives a tensor of features
(clips, windows, filters), padded with zeros, and the number of windows of each clip, as models with
masks want them.
"""

from __future__ import annotations

import sys
import tempfile
import time
import wave
from pathlib import Path

import numpy as np
import torch

import daliesque as ndd

BATCH = 8
RATE = 16000
FILTERS = 80
KINDS = ("*.wav", "*.flac", "*.ogg", "*.mp3")


def generate(folder: Path, count: int = 32) -> None:
    """Write clips of 1 to 5 seconds: tones that rise or fall, with silence around them."""
    rng = np.random.default_rng(0)
    for number in range(count):
        rate = int(rng.choice([16000, 22050, 44100]))
        times = np.arange(int(rate * rng.uniform(0.5, 4))) / rate
        pitch = rng.uniform(200, 2000) * (1 + times * rng.uniform(-0.2, 0.2))
        tone = 0.3 * np.sin(2 * np.pi * np.cumsum(pitch) / rate)
        tone += rng.normal(0, 0.01, len(tone))
        silence = np.zeros(int(rate * rng.uniform(0.2, 0.5)))
        clip = np.concatenate([silence, tone, silence])
        with wave.open(str(folder / f"{number:03d}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes((clip * 32767).astype("<i2").tobytes())


def features(encoded: ndd.Batch) -> ndd.Batch:
    """Log-mel spectrograms (windows, filters), each filter normalized over its clip."""
    audio, _ = ndd.decoders.audio(encoded, sample_rate=RATE, downmix=True)
    begin, length = ndd.nonsilent_region(audio, cutoff_db=-60)
    audio = ndd.slice(audio, start=begin, shape=length, axes=[0])
    audio = ndd.preemphasis_filter(audio, preemph_coeff=0.97)
    spectra = ndd.spectrogram(audio, nfft=512, window_length=400, window_step=160, layout="tf")
    mel = ndd.mel_filter_bank(spectra, nfilter=FILTERS, sample_rate=RATE)
    log_mel = ndd.to_decibels(mel, cutoff_db=-80)
    return ndd.normalize(log_mel, axes=[0], epsilon=1e-5)


def padded(batch: ndd.Batch) -> tuple[torch.Tensor, torch.Tensor]:
    """Features as one tensor, and the number of windows of each clip."""
    lengths = torch.tensor([shape[0] for shape in batch.shape])
    return batch.torch(pad=True), lengths


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        if len(sys.argv) == 1:
            generate(folder)
        files = sorted(str(path) for kind in KINDS for path in folder.rglob(kind))
        if not files:
            sys.exit(f"no audio files in {folder}")
        reader = ndd.readers.File(files=files, random_shuffle=True, pad_last_batch=True)
        start, clips = time.perf_counter(), 0
        for contents, _ in reader.next_epoch(batch_size=min(BATCH, len(files))):
            inputs, lengths = padded(features(contents))
            assert inputs.shape == (len(lengths), int(lengths.max()), FILTERS)
            assert bool(torch.isfinite(inputs).all())
            clips += len(lengths)
            print(f"features {tuple(inputs.shape)}, windows {lengths.tolist()}")
        print(f"{clips / (time.perf_counter() - start):.0f} clips per second")


if __name__ == "__main__":
    main()
