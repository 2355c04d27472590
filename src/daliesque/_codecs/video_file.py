# SPDX-License-Identifier: Apache-2.0
"""Video files: opening them, and finding out which packets hold which frames."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .pixels import CodecError
from .pyav import av

Integers: TypeAlias = NDArray[np.int64]
Source: TypeAlias = str | IO[bytes]

# Stands for a time stamp that a packet does not have.
_NO_STAMP = np.iinfo(np.int64).min
# Reading from memory costs a call into Python for each so many bytes.
_BUFFER_BYTES = 1 << 18
# How many seconds to search for the next packet: damaged files can be searched for ever.
_MOST_SECONDS = 30.0
# No codec's highest level has larger frames (16384 x 16384, AV1 and HEVC have half of that).
_MOST_PIXELS = 1 << 28
# An MPEG-4 picture of at most so many bytes repeats the one before, and no frame comes out.
_REPEATED_BYTES = 19
# On several threads this decoder loses errors, and continues with wrong frames.
_ONE_THREAD = ("vp9",)
# Codecs that reorder frames (B-frames).
_REORDERED = ("h264", "hevc")


class VideoIndex(NamedTuple):
    """Where the frames of a video are. Packets are numbered in the order in which they are stored.

    Frames are numbered in the order in which they are shown; only those count that a decoder
    delivers: not what an edit list hides, nor what comes before the first keyframe.

    `stamps` are the times of the frames in units of `time_base`. `packet_stamps` and `packet_sizes`
    identify packets after a seek, if the file is `seekable`. `frame_of` holds the frame number of
    each packet, or -1. `keys` are the packets where decoding can begin, `key_frames` the frames
    from which on it is then complete; both ascend. If it is `closed`, no frame after a keyframe
    refers to one before.
    """

    width: int
    height: int
    time_base: Fraction
    rate: Fraction
    stamps: Integers
    packet_stamps: Integers
    packet_sizes: NDArray[np.int32]
    frame_of: Integers
    keys: Integers
    key_frames: Integers
    seekable: bool
    closed: bool

    @property
    def frame_count(self) -> int:
        """How many frames there are."""
        return len(self.stamps)

    @property
    def is_variable(self) -> bool:
        """Whether the time from frame to frame varies."""
        steps = np.diff(self.stamps)
        return len(steps) > 2 and bool((steps != steps[0]).any())

    def seconds(self, frames: NDArray[Any]) -> NDArray[np.float64]:
        """When frames are shown, counted from the first one."""
        since_first = (self.stamps[frames] - self.stamps[0]).astype(np.float64)
        seconds: NDArray[np.float64] = since_first * self.time_base.numerator
        return seconds / self.time_base.denominator

    def key_before(self, frame: int) -> int:
        """Which of `keys` to begin with for a frame."""
        return max(0, int(np.searchsorted(self.key_frames, frame, "right")) - 1)

    def describe(self, frame: int) -> str:
        """A frame, for messages."""
        return f"frame {frame} ({self.seconds(np.array([frame]))[0]:.3f} s)"


class VideoFile:
    """An open video file, at its first packet.

    Raises CodecError, or OSError if the file cannot be read at all.
    """

    def __init__(self, source: Source, threads: int) -> None:
        self._source = source
        self._threads = threads
        self._open()

    def _open(self) -> None:
        try:
            # Titles and the like may be in any encoding; nobody looks at them.
            self.container: Any = av.open(
                self._source,
                "r",
                buffer_size=_BUFFER_BYTES,
                metadata_errors="replace",
                timeout=_MOST_SECONDS,
            )
        except av.FFmpegError as error:
            if isinstance(self._source, str):
                # If the file itself is the problem, this raises the system's error.
                with open(self._source, "rb"):
                    pass
            reason = f"is not a video that can be opened: {error.strerror}"
            raise CodecError(reason) from error
        try:
            self._choose_stream()
        except BaseException:
            self.container.close()
            raise

    def _choose_stream(self) -> None:
        self.stream: Any = self.container.streams.best("video")
        if self.stream is None:
            reason = "has no video stream"
            raise CodecError(reason)
        self.codec: Any = self.stream.codec_context
        if self.codec is None:
            reason = "is compressed in a way that is not supported"
            raise CodecError(reason)
        height, width = self.codec.height, self.codec.width
        if width < 1 or height < 1:
            reason = "does not state the size of its frames"
            raise CodecError(reason)
        if height * width > _MOST_PIXELS:
            reason = f"claims frames of {height} x {width} pixels, more than can be"
            raise CodecError(reason)
        threads = 1 if self.codec.name in _ONE_THREAD else self._threads
        self.codec.thread_count = threads
        self.codec.thread_type = "FRAME" if threads > 1 else "NONE"

    def packets(self) -> Iterator[Any]:
        """The packets from here on; after the last one an empty one, which empties the decoder."""
        try:
            yield from self.container.demux(self.stream)
        except IndexError as error:
            # PyAV's answer to streams that begin in the middle of a damaged file.
            reason = "is damaged: other streams begin in the middle"
            raise CodecError(reason) from error
        except av.FFmpegError as error:
            reason = f"is damaged: {error.strerror}"
            raise CodecError(reason) from error

    def reopen(self) -> None:
        """Go back to the first packet: seeking finds only keyframes in some formats."""
        self.close()
        if not isinstance(self._source, str):
            self._source.seek(0)
        self._open()

    def close(self) -> None:
        """Close the file."""
        self.container.close()


class _Packets:
    """What is known of the packets of a stream without decoding them."""

    def __init__(self, file: VideoFile) -> None:
        codec = file.codec
        is_vp8, is_h264 = codec.name == "vp8", codec.name == "h264"
        stamps: list[int] = []
        keys: list[bool] = []
        shown: list[bool] = []
        sizes: list[int] = []
        self.closed = True
        for packet in _readable(file):
            stamp = packet.pts if packet.pts is not None else packet.dts
            stamps.append(_NO_STAMP if stamp is None else stamp)
            keys.append(packet.is_keyframe)
            sizes.append(packet.size)
            shown.append(not packet.is_discard and not (is_vp8 and not _vp8_is_shown(packet)))
            if is_h264 and packet.is_keyframe and self.closed:
                self.closed = _h264_is_idr(packet, codec.extradata)
        self.stamps = np.array(stamps, np.int64)
        self.sizes = np.array(sizes, np.int32)
        self.keys = np.flatnonzero(np.array(keys, bool))
        self.shown = np.array(shown, bool)
        if len(self.keys) == 0:
            reason = "has no keyframe" if stamps else "has no frames"
            raise CodecError(reason)
        # What comes before the first keyframe cannot be decoded.
        self.shown[: self.keys[0]] = False


def read_index(file: VideoFile) -> VideoIndex:
    """Find the frames of a freshly opened file. Decodes only where the packets do not suffice.

    Leaves the file somewhere in the middle.
    """
    packets = _Packets(file)
    stamps, first_key = packets.stamps, int(packets.keys[0])
    seekable = len(np.unique(stamps)) == len(stamps) and bool((stamps != _NO_STAMP).all())
    # In AVI files, time stamps are guesses where the order of frames is not that of packets.
    guessed = file.container.format.name == "avi" and file.codec.name in _REORDERED
    repeats = file.codec.name == "mpeg4" and bool((packets.sizes <= _REPEATED_BYTES).any())
    if not seekable or repeats or (guessed and file.codec.has_b_frames):
        order = np.array(list(_delivered(file, first_key, len(stamps))), np.int64)
    else:
        order = np.flatnonzero(packets.shown)
        order = order[np.argsort(stamps[order], kind="stable")]
        leading = stamps[order] < stamps[first_key]
        if leading.any() and first_key == 0:
            # Whether these can be decoded depends on the kind of keyframe.
            first = next(_delivered(file, 0, len(stamps)), first_key)
            leading = stamps[order] < stamps[first]
        order = order[~leading]
    if len(order) == 0:
        reason = "has no frames that can be decoded"
        raise CodecError(reason)
    frame_of = np.full(len(stamps), -1, np.int64)
    frame_of[order] = np.arange(len(order))
    delivers = (frame_of[packets.keys] >= 0) | ~packets.shown[packets.keys]
    delivers[0] = True
    keys = packets.keys[delivers]
    # A keyframe that is not shown itself opens the way to the first frame that is.
    shown_from = np.minimum.accumulate(np.where(frame_of < 0, len(order), frame_of)[::-1])[::-1]
    key_frames = np.where(frame_of[keys] < 0, shown_from[keys], frame_of[keys])
    later = np.minimum.accumulate(np.append(key_frames, len(order))[::-1])[::-1]
    useful = key_frames < later[1:]
    rate = file.stream.average_rate or file.stream.guessed_rate or Fraction(25)
    return VideoIndex(
        file.codec.width,
        file.codec.height,
        file.stream.time_base if seekable else 1 / rate,
        rate,
        np.sort(stamps[order]) if seekable else np.arange(len(order)),
        stamps,
        packets.sizes,
        frame_of,
        keys[useful],
        key_frames[useful],
        seekable,
        packets.closed,
    )


def _readable(file: VideoFile) -> Iterator[Any]:
    """The packets up to the end of the file, or to where it cannot be read."""
    try:
        for packet in file.packets():
            if packet.size:
                yield packet
    except CodecError:
        return


def _delivered(file: VideoFile, first_key: int, count: int) -> Iterator[int]:
    """Of the first packets, those of the frames that a decoder delivers, in that order."""
    file.reopen()
    packets = itertools.islice(_readable(file), count)
    for position, packet in enumerate(itertools.chain(packets, [None])):
        if packet is not None:
            if position < first_key:
                continue
            packet.pts = packet.dts = position
        try:
            frames = file.codec.decode(packet)
        except av.FFmpegError:
            continue
        for frame in frames:
            if frame.pts is not None:
                yield frame.pts


def _vp8_is_shown(packet: Any) -> bool:
    # RFC 6386, section 9.1: bit 4 of a frame is clear if it only serves as a reference.
    return bool(bytes(memoryview(packet)[:1])[0] >> 4 & 1)


# In a stream of units that begin with start codes: one of type 5, whatever its importance.
_IDR = re.compile(rb"\x00\x00\x01[\x05\x25\x45\x65]")


def _h264_is_idr(packet: Any, extradata: bytes | None) -> bool:
    """Whether a picture makes the decoder forget the ones before it."""
    data = bytes(packet)
    if not extradata or extradata[0] != 1:
        return _IDR.search(data) is not None
    # ISO/IEC 14496-15, section 5.3.3: each unit comes after its size, of so many bytes.
    size_bytes = (extradata[4] & 3) + 1
    at = 0
    while at + size_bytes < len(data):
        size = int.from_bytes(data[at : at + size_bytes], "big")
        if data[at + size_bytes] & 0x1F == 5:
            return True
        at += size_bytes + size
    return False
