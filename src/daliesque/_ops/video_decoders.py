# SPDX-License-Identifier: Apache-2.0
"""Operators that decode videos."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._codecs.frame_padding import PAD_MODES, pad_frames
from .._engine.args import IntListsPerSample, IntPerSample, StrPerSample
from .._engine.convert import to_numpy
from .._engine.dtype import uint8
from .._engine.errors import DecodeError, OpError, SampleError, join_names
from .._engine.metadata import Result
from .._engine.op import HostSamples, op
from .._engine.threads import run_on_threads

# Decoding a byte takes this many times longer than copying it.
_DECODE_WEIGHT = 1000


@op(
    name="decoders.video",
    result=Result(dtype=uint8, ndim=4, layout="FHWC"),
    weight=_DECODE_WEIGHT,
    encoded=True,
)
def video(
    encoded: HostSamples,
    /,
    *,
    frames: IntListsPerSample | None = None,
    start_frame: IntPerSample | None = None,
    end_frame: IntPerSample | None = None,
    sequence_length: IntPerSample | None = None,
    stride: IntPerSample | None = None,
    pad_mode: StrPerSample = "constant",
    fill_value: tuple[int, ...] = (0,),
    build_index: bool = True,
    affine: bool = True,
) -> HostSamples:
    """Decode videos, or parts of them, given as the bytes of their files.

    Reads H.264, HEVC, VP8, VP9, AV1, MPEG-4, Motion JPEG and whatever else FFmpeg decodes, in MP4,
    MOV, Matroska, WebM, AVI and other containers. The results are RGB frames with the layout
    "FHWC". Needs PyAV: `pip install daliesque[video]`.

    Frame k is the one that is shown after k others, whatever its time stamp; decoding begins at the
    keyframe before the frames that are wanted. As in the reference, colors are converted by the
    rule of ITU-R BT.601 even if the file names another, chroma is interpolated linearly, and frames
    are not rotated if the file says that they should be.

    A file that is damaged, cut short or of an unknown format raises `DecodeError`.

    Parameters
    ----------
    frames
        The numbers of the frames, in any order. Cannot be combined with the other ways of choosing.
    start_frame
        The first frame; by default 0.
    end_frame
        The frame to stop before; by default the end of the video.
    sequence_length
        How many frames, in place of `end_frame`.
    stride
        Take every `stride`-th frame only.
    pad_mode
        What comes after the end of the video: "none": nothing, and with `frames` an error;
        "constant": `fill_value`; "edge" or "repeat": the last frame; "reflect_1001" or
        "symmetric": the frames in reverse order; "reflect_101" or "reflect": the same without
        the last one.
    fill_value
        The color of frames that are filled: a number from 0 to 255, or one for each channel.
    build_index, affine
        Ignored: there is always an index, and threads are not bound to cores.

    Examples
    --------
    >>> import daliesque as ndd, av, io
    >>> file = io.BytesIO()
    >>> with av.open(file, "w", format="matroska") as container:
    ...     stream = container.add_stream("mpeg4", rate=25)
    ...     stream.width, stream.height = 64, 48
    ...     for _ in range(10):
    ...         container.mux(stream.encode(av.VideoFrame(64, 48)))
    ...     container.mux(stream.encode(None))
    >>> data = np.frombuffer(file.getvalue(), np.uint8)
    >>> ndd.decoders.video(data, start_frame=1, stride=3).shape
    (3, 48, 64, 3)

    Differs from DALI: more codecs. Frames are found by their order, where DALI goes by the time
    stamps of packets and loses count in some files.
    """
    del build_index, affine
    if encoded.ndim != 1 or encoded.type_id != uint8.code:
        msg = (
            "encoded videos must be one-dimensional arrays of uint8; got "
            f"{encoded.ndim} dimensions. Pass the bytes of the files."
        )
        raise ValueError(msg)
    choice = _Choice(
        frames, start_frame, end_frame, sequence_length, stride, pad_mode, len(encoded)
    )
    fill = check_fill(fill_value)
    if len(encoded) == 0:
        return _kernels.empty_uniform(uint8.code, [0, 0, 0, 0], "FHWC", 0)
    return _decode(encoded, choice, fill)


def check_fill(fill_value: Sequence[int]) -> list[int]:
    """The color of filled frames."""
    if len(fill_value) not in (1, 3) or not all(0 <= value <= 255 for value in fill_value):
        msg = f"'fill_value' must be 1 or 3 numbers from 0 to 255; got {list(fill_value)}."
        raise ValueError(msg)
    return list(fill_value)


class _Choice:
    """The arguments that choose frames."""

    def __init__(
        self, frames: Any, start: Any, end: Any, length: Any, stride: Any, modes: Any, count: int
    ) -> None:
        if frames is not None and not (start is end is length is stride is None):
            msg = (
                "'frames' cannot be combined with 'start_frame', 'end_frame', 'sequence_length' or "
                "'stride'."
            )
            raise ValueError(msg)
        if end is not None and length is not None:
            msg = "'sequence_length' and 'end_frame' exclude each other."
            raise ValueError(msg)
        unknown = [mode for mode in modes if mode not in PAD_MODES]
        if unknown:
            names = join_names(name for name in PAD_MODES if name)
            msg = f"'pad_mode' must be {names}; got {unknown[0]!r}."
            raise ValueError(msg)
        for name, values, least in (("stride", stride, 1), ("sequence_length", length, 0)):
            if values is not None and values.size and values.min() < least:
                msg = f"'{name}' must be at least {least}; got {values.min()}."
                raise ValueError(msg)
        self._frames = frames
        self._start, self._end, self._length, self._stride = (
            None if values is None else np.broadcast_to(values, count).tolist()
            for values in (start, end, length, stride)
        )
        self._modes = [PAD_MODES[mode] for mode in modes]

    def numbers(self, sample: int, count: int) -> NDArray[np.int64]:
        """The frames of a sample that has `count` of them; -1 to be filled."""
        mode = self._modes[sample if len(self._modes) > 1 else 0]
        if self._frames is not None:
            listed = to_numpy(self._frames, sample if len(self._frames) > 1 else 0)
            numbers = listed.astype(np.int64)
        else:
            numbers = self._range(sample, count, mode)
        padded, missing = pad_frames(numbers, 0, count, mode)
        if missing is not None:
            reason = (
                f"has {count} frames and so no frame {missing}. Choose another 'pad_mode' than "
                "'none' to go beyond"
            )
            raise SampleError(sample, reason, OpError)
        return padded

    def _range(self, sample: int, count: int, mode: str) -> NDArray[np.int64]:
        start = self._start[sample] if self._start is not None else 0
        stride = self._stride[sample] if self._stride is not None else 1
        if start >= count:
            reason = f"has {count} frames; 'start_frame' {start} is out of bounds [0, {count})"
            raise SampleError(sample, reason, OpError)
        available = -(-(count - start) // stride)
        if self._length is not None:
            length = self._length[sample]
            length = min(length, available) if mode == "none" else length
        elif self._end is not None:
            end = min(self._end[sample], count) if mode == "none" else self._end[sample]
            if end <= start:
                msg = (
                    f"'end_frame' must be greater than 'start_frame'; got {end} and {start} "
                    f"(sample {sample})."
                )
                raise ValueError(msg)
            length = -(-(end - start) // stride)
        else:
            length = available
        return start + stride * np.arange(length, dtype=np.int64)


def _decode(encoded: HostSamples, choice: _Choice, fill: list[int]) -> HostSamples:
    # Imported here because PyAV is optional, and large.
    from .._codecs.pixels import CodecError
    from .._codecs.video import VideoDecoder, write_frames

    count = len(encoded)
    threads = max(1, _kernels.current_pool().num_threads // count)
    decoders: list[Any] = [None] * count
    numbers: list[Any] = [None] * count

    def open_file(sample: int) -> None:
        content = to_numpy(encoded, sample)
        if content.size == 0:
            raise SampleError(sample, "is empty", DecodeError)
        try:
            decoder = decoders[sample] = VideoDecoder(io.BytesIO(content.data), threads=threads)
        except CodecError as error:
            raise SampleError(sample, str(error), DecodeError) from error.__cause__
        numbers[sample] = choice.numbers(sample, decoder.index.frame_count)

    def decode(sample: int) -> None:
        try:
            write_frames(decoders[sample], numbers[sample], out, sample, fill)
        except CodecError as error:
            raise SampleError(sample, str(error), DecodeError) from error.__cause__

    try:
        run_on_threads(open_file, range(count))
        shapes = [
            (len(chosen), decoder.index.height, decoder.index.width, 3)
            for chosen, decoder in zip(numbers, decoders, strict=True)
        ]
        out = _kernels.empty(uint8.code, np.array(shapes, np.int64), "FHWC", count)
        run_on_threads(decode, range(count))
    finally:
        for decoder in decoders:
            if decoder is not None:
                decoder.close()
    return out
