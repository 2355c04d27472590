# SPDX-License-Identifier: Apache-2.0
"""Operators on the frequencies in signals."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.dtype import float32
from .._engine.errors import SampleError
from .._engine.metadata import Call, Metadata, Result, Shapes, with_extents
from .._engine.op import Samples, op

_PADDINGS = {
    (False, False): _kernels.SignalPadding.none,
    (False, True): _kernels.SignalPadding.none,
    (True, False): _kernels.SignalPadding.zeros,
    (True, True): _kernels.SignalPadding.reflect,
}
# Work space and tables of a transform grow with its length.
_LONGEST_TRANSFORM = 1 << 26


@functools.lru_cache(maxsize=32)
def _hann(length: int) -> NDArray[np.float32]:
    phases = 2 * np.pi / length * (np.arange(length) + 0.5)
    return np.asarray(0.5 * (1 - np.cos(phases)), np.float32)


def _check_power(power: int) -> bool:
    """Whether magnitudes are wanted instead of their squares."""
    if power not in (1, 2):
        msg = f"'power' must be 1 (magnitude) or 2 (its square); got {power}."
        raise ValueError(msg)
    return power == 1


def _check_nfft(nfft: int) -> None:
    if not 0 < nfft <= _LONGEST_TRANSFORM:
        msg = f"'nfft' must be between 1 and {_LONGEST_TRANSFORM}; got {nfft}."
        raise ValueError(msg)


def _signal_lengths(samples: Samples) -> NDArray[np.int64]:
    """The lengths of signals, which may have other axes of extent 1."""
    shapes = samples.shape_array()
    lengths = shapes.prod(axis=1) if samples.ndim else np.ones(len(samples), np.int64)
    bad = ((shapes != 1) & (shapes != lengths[:, None])).any(axis=1)
    if bad.any():
        i = int(np.argmax(bad))
        raise SampleError(
            i, f"must be one signal: all axes but one of extent 1; its shape is {samples.shape(i)}"
        )
    return np.ascontiguousarray(lengths)


def _spectrogram_shapes(call: Call) -> Shapes:
    shapes = call.input.shapes
    lengths = shapes.prod(axis=1)
    spans = lengths if call["center_windows"] else lengths - call["window_length"]
    nfft = call["nfft"] if call.has("nfft") else call["window_length"]
    found = np.full((len(shapes), 2), nfft // 2 + 1, np.int64)
    found[:, call["layout"].index("t")] = spans // call["window_step"] + 1
    return found


@op(
    dtypes=(float32,),
    result=Result(
        dtype=float32, ndim=2, layout=lambda call: call["layout"], shape=_spectrogram_shapes
    ),
    weight=20,
)
def spectrogram(
    input: Samples,
    /,
    *,
    nfft: int | None = None,
    window_length: int = 512,
    window_step: int = 256,
    window_fn: list[float] | None = None,
    power: int = 2,
    center_windows: bool = True,
    reflect_padding: bool = True,
    layout: str = "ft",
) -> Samples:
    """Compute the spectra of windows that move along a signal (short-time Fourier transform).

    Parameters
    ----------
    input
        Signals: one channel each, with other axes, if any, of extent 1.
    nfft
        The length of the transforms, at least `window_length`, to which it defaults. The result has
        ``nfft // 2 + 1`` frequencies.
    window_length, window_step
        The length of a window, and how far the next one is away, in samples.
    window_fn
        Factors for the samples under the window, `window_length` of them. By default those of Hann:
        ``0.5 * (1 - cos(2 * pi * (t + 0.5) / window_length))``.
    power
        1 for magnitudes, 2 for their squares.
    center_windows
        Center windows at multiples of `window_step`. Otherwise the first one begins with the
        signal, and all lie inside.
    reflect_padding
        Where centered windows reach beyond an end, mirror the signal there (without repeating the
        last sample). Otherwise there are zeros.
    layout
        "ft": the result has the shape (frequencies, windows); "tf": (windows, frequencies).

    Examples
    --------
    >>> import daliesque as ndd
    >>> wave = np.sin(np.arange(1000) * 2 * np.pi / 8).astype(np.float32)
    >>> spectra = ndd.spectrogram(wave, window_length=64, window_step=32)
    >>> spectra.shape, spectra.layout, int(np.asarray(spectra)[:, 15].argmax())
    ((33, 32), 'ft', 8)
    """
    if window_length < 1 or window_step < 1:
        name, value = ("length", window_length) if window_length < 1 else ("step", window_step)
        msg = f"'window_{name}' must be positive; got {value}."
        raise ValueError(msg)
    if nfft is None:
        nfft = window_length
    _check_nfft(nfft)
    if window_length > nfft:
        msg = f"'nfft' must be at least 'window_length', which is {window_length}; got {nfft}."
        raise ValueError(msg)
    if window_fn is None:
        window = _hann(window_length)
    else:
        window = np.array(window_fn, np.float32)
        if len(window) != window_length:
            msg = (
                f"'window_fn' must have 'window_length' values, which is {window_length}; "
                f"got {len(window)}."
            )
            raise ValueError(msg)
    if layout not in ("ft", "tf"):
        msg = f"'layout' must be 'ft' or 'tf'; got {layout!r}."
        raise ValueError(msg)
    magnitude = _check_power(power)
    lengths = _signal_lengths(input)
    spans = lengths if center_windows else lengths - window_length
    short = (lengths == 0) | (spans < 0)
    if short.any():
        i = int(np.argmax(short))
        least = 1 if center_windows else window_length
        raise SampleError(i, f"has {lengths[i]} values; at least {least} are needed for a window")
    shapes = np.full((len(input), 2), nfft // 2 + 1, np.int64)
    shapes[:, layout.index("t")] = spans // window_step + 1
    kernels = input.kernels
    out = kernels.empty(float32.code, shapes, layout, len(input))
    padding = _PADDINGS[center_windows, reflect_padding]
    kernels.spectrogram(
        out,
        input,
        nfft=nfft,
        window=window,
        window_step=window_step,
        padding=padding,
        magnitude=magnitude,
        time_major=layout == "tf",
    )
    return out


def _spectrum_shapes(call: Call) -> Shapes:
    shapes, axis = call.input.shapes, call["axis"]
    lengths = call["nfft"] if call.has("nfft") else shapes[:, axis]
    return with_extents(shapes, axis, lengths // 2 + 1)


@op(dtypes=(float32,), result=Result(dtype=float32, shape=_spectrum_shapes), weight=10)
def power_spectrum(
    input: Samples, /, *, axis: int = -1, nfft: int | None = None, power: int = 2
) -> Samples:
    """Compute the spectra along an axis.

    Parameters
    ----------
    input
        Signals of any number of axes.
    axis
        The axis along which signals run; negative ones count from the end.
    nfft
        The length of the transforms; shorter signals are continued with zeros. By default the
        extent of the axis. The result has ``nfft // 2 + 1`` frequencies.
    power
        1 for magnitudes, 2 for their squares.

    Differs from DALI: any number of axes is taken, and a signal longer than `nfft` is an error.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.power_spectrum(ndd.tensor([1.0, 0.0, -1.0, 0.0])).torch().tolist()
    [0.0, 4.0, 0.0]
    """
    if not -input.ndim <= axis < input.ndim:
        msg = f"'axis' must be one of the {input.ndim} axes of the input; got {axis}."
        raise ValueError(msg)
    axis %= input.ndim
    if nfft is not None:
        _check_nfft(nfft)
    magnitude = _check_power(power)
    shapes = input.shape_array()
    lengths = shapes[:, axis]
    bad = (lengths == 0) | (lengths > (_LONGEST_TRANSFORM if nfft is None else nfft))
    if bad.any():
        i = int(np.argmax(bad))
        most = _LONGEST_TRANSFORM if nfft is None else nfft
        raise SampleError(
            i, f"has {lengths[i]} values along the axis {axis}; it needs 1 to 'nfft', {most}"
        )
    shapes = shapes.copy()
    shapes[:, axis] = (lengths if nfft is None else nfft) // 2 + 1
    out = input.kernels.empty(float32.code, shapes, input.layout, len(input))
    input.kernels.power_spectrum(out, input, axis, nfft or 0, magnitude)
    return out


_MEL_FORMULAS = ("slaney", "htk")


def _frequency_axis(input: Samples | Metadata) -> int:
    return max(0, input.ndim - 2) if not input.layout else input.layout.find("f")


def _mel_shapes(call: Call) -> Shapes:
    return with_extents(call.input.shapes, _frequency_axis(call.input), call["nfilter"])


@op(dtypes=(float32,), result=Result(dtype=float32, shape=_mel_shapes), weight=3)
def mel_filter_bank(
    input: Samples,
    /,
    *,
    nfilter: int = 128,
    sample_rate: float = 44100.0,
    freq_low: float = 0.0,
    freq_high: float = 0.0,
    normalize: bool = True,
    mel_formula: str = "slaney",
) -> Samples:
    """Sum up the frequencies of spectra under triangular filters, equally wide on the mel scale.

    Parameters
    ----------
    input
        Spectra. Frequencies run along the axis that the layout calls "f"; without a layout, along
        the last but one (or the only one). Their number is taken for ``nfft // 2 + 1``.
    nfilter
        The number of filters.
    sample_rate
        That of the signal, in Hz.
    freq_low, freq_high
        Where the first filter begins and the last one ends, in Hz; a `freq_high` of 0 stands for
        ``sample_rate / 2``.
    normalize
        Divide by the widths of filters, so that each has an area of 1. Otherwise they have a peak
        of 1.
    mel_formula
        "slaney": linear up to 1 kHz, logarithmic above; or "htk":
        ``mel = 2595 * log10(1 + hz / 700)``.

    Examples
    --------
    >>> import daliesque as ndd
    >>> spectra = ndd.ones(shape=[257, 10], dtype=ndd.float32, layout="ft")
    >>> mel = ndd.mel_filter_bank(spectra, nfilter=40, sample_rate=16000)
    >>> mel.shape, mel.layout
    ((40, 10), 'ft')
    """
    axis = _frequency_axis(input)
    if axis < 0 or input.ndim == 0:
        msg = f"the input needs an axis 'f' of frequencies; its layout is {input.layout!r}."
        raise ValueError(msg)
    if nfilter < 1:
        msg = f"'nfilter' must be positive; got {nfilter}."
        raise ValueError(msg)
    if not 0 < sample_rate < np.inf:
        msg = f"'sample_rate' must be positive; got {sample_rate:g}."
        raise ValueError(msg)
    if not freq_low >= 0:
        msg = f"'freq_low' must not be negative; got {freq_low:g}."
        raise ValueError(msg)
    if freq_high <= 0:
        freq_high = sample_rate / 2
    if not freq_low < freq_high <= sample_rate:
        msg = (
            f"'freq_high' must be above 'freq_low', {freq_low:g}, and at most 'sample_rate', "
            f"{sample_rate:g}; got {freq_high:g}."
        )
        raise ValueError(msg)
    if mel_formula not in _MEL_FORMULAS:
        msg = f"'mel_formula' must be 'slaney' or 'htk'; got {mel_formula!r}."
        raise ValueError(msg)
    shapes = input.shape_array()
    if (shapes[:, axis] < 2).any():
        i = int(np.argmax(shapes[:, axis] < 2))
        raise SampleError(i, f"has {shapes[i, axis]} frequencies; at least 2 are needed")
    shapes = shapes.copy()
    shapes[:, axis] = nfilter
    out = input.kernels.empty(float32.code, shapes, input.layout, len(input))
    input.kernels.mel_filter_bank(
        out,
        input,
        axis=axis,
        filters=nfilter,
        sample_rate=sample_rate,
        low=freq_low,
        high=freq_high,
        htk=mel_formula == "htk",
        normalize=normalize,
    )
    return out


@op(dtypes=(float32,), result=Result(dtype=float32, shape="input"), weight=2)
def to_decibels(
    input: Samples,
    /,
    *,
    multiplier: float = 10.0,
    reference: float = 0.0,
    cutoff_db: float = -200.0,
) -> Samples:
    """Convert magnitudes to decibels.

    The result is ``multiplier * log10(max(10 ** (cutoff_db / multiplier), input / reference))``.

    Parameters
    ----------
    input
        Magnitudes or powers.
    multiplier
        10 for powers, 20 for magnitudes.
    reference
        What 0 dB stands for; 0 for the largest value of each sample.
    cutoff_db
        The smallest result. NaN becomes it, too.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.to_decibels(ndd.tensor([1.0, 0.1, 0.0]), cutoff_db=-80).torch().round().tolist()
    [0.0, -10.0, -80.0]
    """
    if multiplier == 0:
        msg = "'multiplier' must not be 0."
        raise ValueError(msg)
    if not reference >= 0:
        msg = f"'reference' must be positive, or 0 for the largest value; got {reference:g}."
        raise ValueError(msg)
    with np.errstate(over="ignore", under="ignore"):
        ratio = np.float32(10) ** (np.float32(cutoff_db) / np.float32(multiplier))
    out = input.empty_like()
    # The logarithm of the smallest number is finite, unlike that of 0.
    least = max(float(ratio), float(np.finfo(np.float32).smallest_subnormal))
    input.kernels.to_decibels(out, input, multiplier, reference, least)
    return out


@functools.lru_cache(maxsize=32)
def _cosines(
    length: int, count: int, dct_type: int, normalize: bool, lifter: float
) -> NDArray[np.float32]:
    """The matrix of a discrete cosine transform, with the liftering in its rows."""
    n, k = np.arange(length, dtype=np.float64), np.arange(count, dtype=np.float64)[:, None]
    if dct_type == 1:
        table = np.cos(np.pi / (length - 1) * k * n)
        table[:, [0, -1]] *= 0.5
    elif dct_type == 2:
        table = np.cos(np.pi / length * (n + 0.5) * k)
        if normalize:
            table *= np.where(k == 0, np.sqrt(1 / length), np.sqrt(2 / length))
    elif dct_type == 3:
        table = np.cos(np.pi / length * n * (k + 0.5))
        first, others = (np.sqrt(1 / length), np.sqrt(2 / length)) if normalize else (0.5, 1.0)
        table *= np.where(n == 0, first, others)
    else:
        table = np.cos(np.pi / length * (n + 0.5) * (k + 0.5))
        if normalize:
            table *= np.sqrt(2 / length)
    if lifter:
        table *= 1 + lifter / 2 * np.sin(np.pi / lifter * (k + 1))
    return table.astype(np.float32)


def _coefficient_shapes(call: Call) -> Shapes:
    shapes, axis = call.input.shapes, call["axis"]
    return with_extents(shapes, axis, np.minimum(shapes[:, axis], call["n_mfcc"]))


@op(dtypes=(float32,), result=Result(dtype=float32, shape=_coefficient_shapes), weight=3)
def mfcc(
    input: Samples,
    /,
    *,
    n_mfcc: int = 20,
    dct_type: int = 2,
    normalize: bool = False,
    axis: int = 0,
    lifter: float = 0.0,
) -> Samples:
    """Compute mel-frequency cepstral coefficients: the cosine transform of logarithmic spectra.

    Parameters
    ----------
    input
        Mel spectra in decibels.
    n_mfcc
        How many coefficients to keep, at most the extent of the axis.
    dct_type
        The type of the discrete cosine transform, 1 to 4.
    normalize
        Make the transform orthonormal. There is no such transform of type 1.
    axis
        The axis along which frequencies run; negative ones count from the end.
    lifter
        If not 0, coefficient i is multiplied by ``1 + lifter / 2 * sin(pi * (i + 1) / lifter)``.

    Differs from DALI: any number of axes is taken.

    Examples
    --------
    >>> import daliesque as ndd
    >>> mel = ndd.ones(shape=[40, 3], dtype=ndd.float32)
    >>> ndd.mfcc(mel, n_mfcc=20).shape
    (20, 3)
    """
    if n_mfcc < 1:
        msg = f"'n_mfcc' must be positive; got {n_mfcc}."
        raise ValueError(msg)
    if dct_type not in (1, 2, 3, 4):
        msg = f"'dct_type' must be 1, 2, 3 or 4; got {dct_type}."
        raise ValueError(msg)
    if normalize and dct_type == 1:
        msg = "'normalize' must be False for 'dct_type' 1."
        raise ValueError(msg)
    if not -input.ndim <= axis < input.ndim:
        msg = f"'axis' must be one of the {input.ndim} axes of the input; got {axis}."
        raise ValueError(msg)
    axis %= input.ndim
    shapes = input.shape_array()
    lengths = shapes[:, axis]
    least = 2 if dct_type == 1 else 1
    if (lengths < least).any():
        i = int(np.argmax(lengths < least))
        raise SampleError(
            i, f"has {lengths[i]} values along the axis {axis}; at least {least} are needed"
        )
    shapes = shapes.copy()
    shapes[:, axis] = np.minimum(lengths, n_mfcc)
    out = input.kernels.empty(float32.code, shapes, input.layout, len(input))
    if len(input):
        different = lengths[:1] if (lengths == lengths[0]).all() else lengths
        tables = [
            _cosines(length, min(length, n_mfcc), dct_type, normalize, lifter)
            for length in different.tolist()
        ]
        input.kernels.multiply_axis(out, input, axis, tables)
    return out
