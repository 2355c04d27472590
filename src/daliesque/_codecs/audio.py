# SPDX-License-Identifier: Apache-2.0
"""Decoding of audio, optionally downmixed and resampled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .pixels import CodecError

Numbers = NDArray[np.int64]


def lobes_for(quality: float) -> int:
    """How many lobes a filter of this quality has on each side."""
    if not 0 <= quality <= 100:
        msg = f"'quality' must be between 0 and 100; got {quality:g}."
        raise ValueError(msg)
    return int(0.007 * quality * quality - 0.09 * quality + 3 + 0.5)


def resampled_lengths(
    lengths: Numbers, in_rates: NDArray[np.float64], out_rates: NDArray[np.float64]
) -> Numbers:
    """How long signals become."""
    wanted = np.ceil(lengths * out_rates / in_rates)
    if (wanted >= 2.0**60).any():
        i = int(np.argmax(wanted >= 2.0**60))
        msg = f"{wanted[i]:g} values are more than fit into memory (sample {i})."
        raise ValueError(msg)
    return wanted.astype(np.int64)


class Wanted(NamedTuple):
    """The form of decoded audio."""

    type_id: int
    downmix: bool
    lobes: int


class AudioParts(NamedTuple):
    """Opened audio files, and which parts of them to decode."""

    files: _kernels.AudioFiles
    numbers: Numbers  # of the entries in `files`
    first: Numbers  # frame
    counts: Numbers  # of frames
    channels: Numbers
    rates: Numbers


def decode_audio(
    parts: AudioParts, targets: NDArray[np.float64], wanted: Wanted
) -> tuple[_kernels.Samples, dict[int, CodecError]]:
    """Decode to the given rates (0: that of the file); also return which files are truncated."""
    resampled = (targets > 0) & (targets != parts.rates)
    lengths = parts.counts.copy()
    lengths[resampled] = resampled_lengths(
        lengths[resampled], parts.rates[resampled].astype(np.float64), targets[resampled]
    )
    out = _kernels.empty(
        wanted.type_id, _shapes(lengths, parts.channels, wanted.downmix), "", len(lengths)
    )
    ranges = np.stack([parts.numbers, parts.first, parts.counts], axis=1)
    decoded = np.zeros(len(lengths), np.int64)
    if not resampled.any():
        decoded[:] = parts.files.decode(out, ranges)
    else:
        plain, others = np.flatnonzero(~resampled), np.flatnonzero(resampled)
        decoded[plain] = parts.files.decode(
            out.select(plain.tolist()), np.ascontiguousarray(ranges[plain])
        )
        shapes = _shapes(parts.counts[others], parts.channels[others], wanted.downmix)
        between = _kernels.empty(_kernels.FLOAT32, shapes, "", len(others))
        decoded[others] = parts.files.decode(between, np.ascontiguousarray(ranges[others]))
        steps = parts.rates[others] / targets[others]
        _kernels.audio_resample(out.select(others.tolist()), between, steps, wanted.lobes)
    return out, {
        int(index): CodecError(
            f"is cut short: {decoded[index]} of {parts.counts[index]} frames can be decoded"
        )
        for index in np.flatnonzero(decoded != parts.counts)
    }


def _shapes(lengths: Numbers, channels: Numbers, downmix: bool) -> Numbers:
    if downmix:
        return np.ascontiguousarray(lengths[:, np.newaxis])
    return np.ascontiguousarray(np.stack([lengths, channels], axis=1))
