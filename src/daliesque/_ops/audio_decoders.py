# SPDX-License-Identifier: Apache-2.0
"""The audio decoder."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .._codecs import sndfile
from .._codecs.audio import AudioParts, Wanted, decode_audio, lobes_for
from .._engine.args import FloatPerSample
from .._engine.convert import to_samples
from .._engine.dtype import DType, float32, from_code, int16, int32, uint8
from .._engine.errors import DecodeError, SampleError
from .._engine.metadata import Result
from .._engine.op import HostSamples, Samples, op


@op(
    name="decoders.audio",
    encoded=True,
    outputs=2,
    result=(
        Result(ndim=lambda call: 1 if call["downmix"] else 2),
        Result(dtype=float32, ndim=0),
    ),
    weight=20,
    cpu_only=True,
)
def audio(
    input: HostSamples,
    /,
    *,
    sample_rate: FloatPerSample = 0.0,
    downmix: bool = False,
    dtype: DType = float32,
    quality: float = 50.0,
) -> tuple[HostSamples, Samples]:
    """Decode audio.

    WAV files of plain samples, FLAC and Ogg Vorbis files are read by the library itself. Opus, MP3,
    AIFF and whatever else libsndfile reads need that library: ``pip install daliesque[audio]``. It
    also reads what it can of Vorbis files that are damaged or unusual.

    Parameters
    ----------
    input
        The bytes of a file for each sample.
    sample_rate
        Resample to this rate, in Hz, as `audio_resample` does; 0 keeps that of the file.
    downmix
        Take the mean of the channels: the result has one axis. Otherwise it has the shape
        (samples, channels).
    dtype
        Type of the result: float32, int16 or int32. The range of an integer type stands for -1 to
        1.
    quality
        Of resampling, 0 to 100.

    Returns
    -------
    audio, sample_rate
        The samples, and how many there are in a second.

    Differs from DALI: files of floating-point numbers are scaled to integers, and a `sample_rate`
    that is 0 or less gives the rate of the file.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import io, wave
    >>> file = io.BytesIO()
    >>> with wave.open(file, "wb") as audio:
    ...     audio.setparams((1, 2, 8000, 0, "NONE", ""))
    ...     audio.writeframes(np.array([0, 16384, -32768], np.int16).tobytes())
    >>> samples, rate = ndd.decoders.audio(file.getvalue(), downmix=True)
    >>> samples.torch().tolist(), float(rate)
    ([0.0, 0.5, -1.0], 8000.0)
    """
    if input.ndim != 1 or input.type_id != uint8.code:
        found = from_code(input.type_id)
        msg = (
            f"the input must be vectors of bytes (uint8);"
            f" got {input.ndim} axes of {found.full_name}."
        )
        raise ValueError(msg)
    if dtype not in (int16, int32, float32):
        msg = f"'dtype' must be int16, int32 or float32; got {dtype.full_name}."
        raise ValueError(msg)
    wanted = Wanted(dtype.code, downmix, lobes_for(quality))
    if not np.isfinite(sample_rate).all():
        msg = "'sample_rate' must be a number of Hz, or 0 to keep that of the file; got nan or inf."
        raise ValueError(msg)
    files = _kernels.AudioFiles(input, sndfile.functions())
    frames, channels, rates = np.ascontiguousarray(files.information().T)
    if (frames < 0).any():
        sample = int(np.argmax(frames < 0))
        raise SampleError(sample, sndfile.why_not(empty=input.shape(sample)[0] == 0), DecodeError)
    count = len(input)
    targets = np.broadcast_to(sample_rate, count).astype(np.float64)
    parts = AudioParts(files, np.arange(count), np.zeros(count, np.int64), frames, channels, rates)
    out, errors = decode_audio(parts, targets, wanted)
    for sample, error in errors.items():
        raise SampleError(sample, str(error), DecodeError)
    results = np.where(targets > 0, targets, rates).astype(np.float32)
    return out, to_samples(results, None, None, "decoders.audio").unfold().copy()
