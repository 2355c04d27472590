# SPDX-License-Identifier: Apache-2.0
"""Decodes chosen frames of videos, from the nearest keyframe on."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .pixels import CodecError
from .pyav import av, reformatter
from .video_file import Source, VideoFile, VideoIndex, read_index

# Formats of eight bits that the native module converts, and whether chroma has half the width and
# half the height.
_NATIVE = {
    "yuv420p": (True, True),
    "yuvj420p": (True, True),
    "yuv422p": (True, False),
    "yuvj422p": (True, False),
    "yuv440p": (False, True),
    "yuvj440p": (False, True),
    "yuv444p": (False, False),
    "yuvj444p": (False, False),
}
# In chroma planes of fewer rows or columns, swscale interpolates in another way.
_LEAST_CHROMA = 8
# The flags that the reference passes to swscale.
_INTERPOLATION = int(
    reformatter.Interpolation.BILINEAR
    | reformatter.Interpolation.FULL_CHR_H_INT
    | reformatter.Interpolation.ACCURATE_RND
)

# The type of a picture that refers to no other.
_INTRA = 1
# How many frames may wait to be converted.
_MOST_WAITING = 4
# Frames that are kept at hand may have so many pixels together: 100 MB.
_MOST_KEPT_PIXELS = 1 << 26
# More than any file lasts, in any unit of time.
_LONG = 1 << 40


class VideoDecoder:
    """An open video that delivers frames by their numbers.

    Parameters
    ----------
    source
        The name of a file, or a file in memory.
    index
        The index of the file, if it is known.
    threads
        On how many threads to decode.
    keep
        How many frames to keep at hand after they were delivered, if they are not too large.
    """

    def __init__(
        self, source: Source, index: VideoIndex | None = None, threads: int = 1, keep: int = 0
    ) -> None:
        self.threads = threads
        self._file = VideoFile(source, threads)
        # The packet that comes next, and the frame that comes next; -1 if that is not known.
        self._position = -1 if index is None else 0
        self._next = -1
        try:
            self.index = read_index(self._file) if index is None else index
            self._set_up()
        except BaseException:
            self._file.close()
            raise
        most = _MOST_KEPT_PIXELS // (self.index.height * self.index.width)
        self._recent: deque[tuple[int, Any]] = deque(maxlen=min(keep, most))
        # How many packets have been decoded so far.
        self.decoded = 0
        self._packets: Iterator[Any] = iter(())
        self._ready: deque[Any] = deque()
        self._lowest = 0
        # Some files call pictures keyframes that are none. Then there is only the first one.
        self._expects_key = False
        self._distrusts_keys = False
        self._reformatter = reformatter.VideoReformatter()
        # Pictures that no other refers to can be left out where a codec says which these are.
        self._can_skip = self._file.codec.name == "h264"

    def _set_up(self) -> None:
        if self.index.closed:
            # Without this, damaged frames come out with guessed contents. With it, however, an
            # H.264 decoder fails if it begins at a keyframe that does not clear its memory.
            self._file.codec.options = {"err_detect": "explode"}

    def position_for(self, number: int) -> int:
        """The frame that comes next, if a given one is at hand or to come without a seek; or -1."""
        at_hand = any(kept == number for kept, _ in self._recent)
        has_to_seek = self._has_to_seek(number, self._key_before(number))
        return self._next if at_hand or not has_to_seek else -1

    def close(self) -> None:
        """Close the file."""
        self._packets = iter(())
        self._ready.clear()
        self._recent.clear()
        self._file.close()

    def read(self, number: int) -> Any:
        """Decode a frame. Fast if it comes soon after the one before, or after a keyframe."""
        for kept, frame in self._recent:
            if kept == number:
                return frame
        index = self.index
        key = self._key_before(number)
        fresh = self._has_to_seek(number, key)
        while True:
            if fresh:
                self._begin(key)
            frame = self._advance(number)
            if frame is not None:
                return frame
            if not fresh or key == 0:
                self._next = -1
                reason = f"is damaged: the decoder does not deliver {index.describe(number)}"
                raise CodecError(reason)
            # After some keyframes decoders need more pictures before they deliver any.
            key = 0 if self._distrusts_keys else key - 1

    def _key_before(self, number: int) -> int:
        return 0 if self._distrusts_keys else self.index.key_before(number)

    def _has_to_seek(self, number: int, key: int) -> bool:
        """Whether a frame has been, or the keyframe before it is still to come."""
        return self._next > number or bool(self._next < self.index.key_frames[key])

    def _advance(self, number: int) -> Any:
        """Decode up to a frame; None if it does not come out."""
        while True:
            while self._ready:
                frame = self._ready.popleft()
                if self._expects_key and not (frame.key_frame or frame.pict_type == _INTRA):
                    self._distrusts_keys = True
                    return None
                self._expects_key = False
                found = int(self.index.frame_of[frame.pts])
                if found < 0:
                    continue
                if found > number:
                    self._ready.appendleft(frame)
                    return None
                self._next = found + 1
                self._recent.append((found, frame))
                if found == number:
                    return frame
            if not self._decode_packet(number):
                return None

    def _decode_packet(self, number: int) -> bool:
        """Decode the next packet, on the way to a frame; False at the end."""
        index = self.index
        try:
            packet = next(self._packets, None)
        except CodecError as error:
            raise self._damaged(number, str(error.__cause__)) from error
        if packet is None:
            return False
        shown = -1
        if packet.size:
            position = self._position
            if position >= len(index.frame_of):
                return False
            self._position = position + 1
            shown = int(index.frame_of[position])
            if 0 <= shown < self._lowest:
                return True
            packet.pts = packet.dts = position
        elif self._position < len(index.frame_of):
            raise self._damaged(number, "the file ends before")
        if self._can_skip:
            self._file.codec.skip_frame = "NONREF" if 0 <= shown < number else "DEFAULT"
        try:
            self._ready.extend(frame for frame in packet.decode() if frame.pts is not None)
        except av.FFmpegError as error:
            raise self._damaged(max(shown, self._next, 0), error.strerror) from error
        self.decoded += 1
        return True

    def _damaged(self, number: int, cause: str | None) -> CodecError:
        self._next = -1
        number = min(number, self.index.frame_count - 1)
        return CodecError(f"is damaged at {self.index.describe(number)}: {cause}")

    def _begin(self, key: int) -> None:
        """Go to a keyframe."""
        index = self.index
        self._ready.clear()
        wanted = int(index.keys[key])
        self._lowest = int(index.key_frames[key]) if key else 0
        # A keyframe that is hidden cannot be looked at.
        self._expects_key = key > 0 and index.frame_of[wanted] >= 0
        self._next = self._lowest
        if self._position or wanted:
            stamp = int(index.packet_stamps[wanted])
            # Some formats look for the time of decoding, which is a little earlier.
            earlier = int(index.packet_stamps[index.keys[key - 1]]) if key else stamp - _LONG
            for target in (stamp, earlier) if index.seekable else ():
                if self._seek(target, wanted):
                    return
            self._file.reopen()
            self._set_up()
        self._packets = self._file.packets()
        for _ in range(wanted):
            next(self._packets, None)
        self._position = wanted

    def _seek(self, stamp: int, wanted: int) -> bool:
        """Go to a time, then on to a packet; False if that packet is not behind that time."""
        index = self.index
        try:
            self._file.container.seek(stamp, stream=self._file.stream, backward=True)
            packets = self._file.packets()
            packet = next(packets, None)
            if packet is None or not packet.size:
                return False
            given = packet.pts if packet.pts is not None else packet.dts
            same = (index.packet_stamps == given) & (index.packet_sizes == packet.size)
            found = np.flatnonzero(same)
            if len(found) != 1 or found[0] > wanted:
                return False
            for _ in range(int(found[0]), wanted):
                packet = next(packets)
            if packet.size != index.packet_sizes[wanted]:
                return False
        except (av.FFmpegError, CodecError, StopIteration):
            return False
        self._packets = itertools.chain([packet], packets)
        self._position = wanted
        return True

    def write(
        self, frame: Any, out: _kernels.Samples, sample: int, row: int, ycbcr: bool = False
    ) -> None:
        """Convert a frame to pixels of three bytes, as frame `row` of an output sample."""
        height, width = self.index.height, self.index.width
        shifts = _NATIVE.get(frame.format.name)
        full_range = self._is_full_range(frame)
        if shifts is not None and not ycbcr and (frame.height, frame.width) == (height, width):
            across, down = shifts
            fits = not (across and width % 2) and not (down and height % 2)
            if fits and min(width >> across, height >> down) >= _LEAST_CHROMA:
                planes = frame.planes
                y, u, v = (memoryview(plane) for plane in planes)
                strides = [plane.line_size for plane in planes]
                _kernels.write_video_frame(
                    out,
                    sample=sample,
                    row=row,
                    y=y,
                    u=u,
                    v=v,
                    strides=strides,
                    x_shift=across,
                    y_shift=down,
                    full_range=full_range,
                )
                return
        ranges = reformatter.ColorRange
        pixels = self._reformatter.reformat(
            frame,
            width,
            height,
            "yuv444p" if ycbcr else "rgb24",
            src_colorspace=reformatter.Colorspace.ITU601,
            dst_colorspace=reformatter.Colorspace.ITU601,
            interpolation=_INTERPOLATION,
            src_color_range=reformatter.ColorRange.JPEG
            if full_range
            else reformatter.ColorRange.MPEG,
            dst_color_range=ranges.JPEG if full_range or not ycbcr else ranges.MPEG,
        ).to_ndarray()
        _kernels.numpy_view(out, sample)[row] = np.moveaxis(pixels, 0, 2) if ycbcr else pixels

    def _is_full_range(self, frame: Any) -> bool:
        given = frame.color_range or self._file.codec.color_range
        return bool(given == reformatter.ColorRange.JPEG)


class FrameWriter:
    """Writes frames to samples: at once, or on a thread of its own while others are decoded.

    Parameters
    ----------
    decoder
        Where the frames come from.
    out
        Where they go.
    ycbcr
        Whether to keep the colors of the file.
    """

    def __init__(self, decoder: VideoDecoder, out: _kernels.Samples, ycbcr: bool = False) -> None:
        self._decoder = decoder
        self._out = out
        self._ycbcr = ycbcr
        self._pool = ThreadPoolExecutor(1) if decoder.threads > 1 else None
        self._running: deque[Future[None]] = deque()

    def write(self, frame: Any, sample: int, row: int) -> None:
        """Write a frame as frame `row` of a sample."""
        self._run(self._decoder.write, frame, self._out, sample, row, self._ycbcr)

    def copy(self, sample: int, row: int, from_sample: int, from_row: int) -> None:
        """Repeat a frame that was written before."""
        source = _kernels.numpy_view(self._out, from_sample)[from_row]
        self._run(np.copyto, _kernels.numpy_view(self._out, sample)[row], source)

    def fill(self, sample: int, row: int, values: list[int]) -> None:
        """Fill a frame with a color."""
        _kernels.numpy_view(self._out, sample)[row] = values

    def _run(self, function: Any, *arguments: Any) -> None:
        if self._pool is None:
            function(*arguments)
            return
        self._running.append(self._pool.submit(function, *arguments))
        if len(self._running) > _MOST_WAITING:
            self._running.popleft().result()

    def __enter__(self) -> FrameWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            while self._running and kind is None:
                self._running.popleft().result()


def write_frames(
    decoder: VideoDecoder,
    numbers: NDArray[np.int64],
    out: _kernels.Samples,
    sample: int,
    fill: list[int],
) -> None:
    """Decode frames, in any order and with repetitions, into a sample. -1 stands for `fill`."""
    last_row, last_number = -1, -1
    with FrameWriter(decoder, out) as writer:
        for row in np.argsort(numbers, kind="stable").tolist():
            number = int(numbers[row])
            if number < 0:
                writer.fill(sample, row, fill)
            elif number == last_number:
                writer.copy(sample, row, sample, last_row)
            else:
                writer.write(decoder.read(number), sample, row)
                last_row, last_number = row, number
