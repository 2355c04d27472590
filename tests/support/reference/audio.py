# SPDX-License-Identifier: Apache-2.0
"""Audio operators in plain NumPy, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def hann(length: int) -> Array:
    """Hann's window, sampled in the middle of each step."""
    return 0.5 * (1 - np.cos(2 * np.pi * (np.arange(length) + 0.5) / length))


def windows(signal: Array, length: int, step: int, padding: str) -> Array:
    """The values under a moving window: (windows, length)."""
    signal = signal.astype(np.float64)
    if padding == "none":
        count, starts = (len(signal) - length) // step + 1, 0
        padded = signal
    else:
        count, starts = len(signal) // step + 1, length // 2
        mode: Any = "reflect" if padding == "reflect" else "constant"
        padded = np.pad(signal, (starts, length), mode=mode)
    return np.stack([padded[k * step : k * step + length] for k in range(count)])


def spectrogram(
    signal: Array, nfft: int, length: int, step: int, padding: str, window: Array, power: int
) -> Array:
    """(windows, frequencies)."""
    values = windows(signal, length, step, padding) * window
    return np.abs(np.fft.rfft(values, nfft, axis=1)) ** power


def _to_mel(hz: float, formula: str) -> float:
    if formula == "htk":
        return float(2595 * np.log10(1 + hz / 700))
    return hz * 3 / 200 if hz < 1000 else float(15 + np.log(hz / 1000) * 27 / np.log(6.4))


def _to_hz(mel: Array, formula: str) -> Array:
    if formula == "htk":
        return 700 * (10 ** (mel / 2595) - 1)
    return np.where(mel < 15, mel * 200 / 3, 1000 * 6.4 ** ((mel - 15) / 27))


def mel_matrix(
    bins: int, filters: int, rate: float, low: float, high: float, formula: str, normalize: bool
) -> Array:
    """Triangles over frequencies: (filters, bins)."""
    mels = np.linspace(_to_mel(low, formula), _to_mel(high, formula), filters + 2)
    edges = _to_hz(mels, formula)
    frequencies = np.arange(bins) * rate / (2 * (bins - 1))
    rows = []
    for left, center, right in zip(edges[:-2], edges[1:-1], edges[2:], strict=True):
        rise = (frequencies - left) / (center - left)
        fall = (right - frequencies) / (right - center)
        triangle = np.clip(np.minimum(rise, fall), 0, None)
        rows.append(triangle * (2 / (right - left) if normalize else 1))
    return np.array(rows)


def dct_matrix(length: int, count: int, kind: int, normalize: bool) -> Array:
    """The cosine transforms of https://en.wikipedia.org/wiki/Discrete_cosine_transform."""
    table = np.zeros((count, length))
    for k in range(count):
        for n in range(length):
            if kind == 1:
                ends = {0: 0.5, length - 1: 0.5 * (-1) ** k}
                table[k, n] = ends.get(n, np.cos(np.pi * k * n / (length - 1)))
            elif kind == 2:
                table[k, n] = np.cos(np.pi / length * (n + 0.5) * k)
            elif kind == 3:
                table[k, n] = 0.5 if n == 0 else np.cos(np.pi / length * n * (k + 0.5))
            else:
                table[k, n] = np.cos(np.pi / length * (n + 0.5) * (k + 0.5))
    if normalize:
        table *= np.sqrt(2 / length)
        if kind == 2:
            table[0] /= np.sqrt(2)
        if kind == 3:
            table[:, 0] *= np.sqrt(2)
    return table


def resample(signal: Array, in_rate: float, out_rate: float, count: int, lobes: int) -> Array:
    """Sums under a sinc function with a Hann window that is `lobes` long on each side."""
    positions = np.arange(count) * in_rate / out_rate
    result = np.zeros(count)
    for index, value in enumerate(signal.astype(np.float64)):
        x = index - positions
        near = np.abs(x) <= lobes
        envelope = 0.5 * (1 + np.cos(x[near] * np.pi / lobes))
        result[near] += value * np.sinc(x[near]) * envelope
    return result


def mean_squares(signal: Array, window: int) -> Array:
    """The mean of the last `window` squares at each position."""
    squares = np.concatenate([np.zeros(window), signal.astype(np.float64) ** 2])
    sums = np.cumsum(squares)
    return (sums[window:] - sums[:-window]) / window
