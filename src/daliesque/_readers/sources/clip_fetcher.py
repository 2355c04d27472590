# SPDX-License-Identifier: Apache-2.0
"""Decodes clips of videos, those of several steps at the same time."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _kernels
from ..._codecs.pixels import CodecError
from ..._codecs.video import FrameWriter, VideoDecoder
from ..._codecs.video_cache import DecoderPool, index_of
from ..._engine.device import Device
from ..._engine.devices import require_backend
from ..._engine.dtype import uint8
from ..._engine.errors import DecodeError
from ..._engine.threads import get_num_threads
from ..core.order import Numbers
from ..core.source import Fetched
from .video_list import VideoPart

# Decoders that reorder frames read about this many more than needed before a seek.
_READ_AHEAD = 4
# A further decoder must deliver this many times the frames that it decodes only to seek.
_LEAST_GAIN = 3


class Clip(NamedTuple):
    """A clip to be decoded: its slot in the batch and its frames, -1 to be filled."""

    slot: int
    frames: NDArray[np.int64]

    @property
    def first(self) -> int:
        """The frame to begin with."""
        return int(self.frames[self.frames >= 0].min(initial=1 << 62))

    @property
    def last(self) -> int:
        """The frame to end with."""
        return int(self.frames.max())


class ClipBatch:
    """Clips that are decoded into one buffer, each from a part of a video.

    `seconds` are the times of their frames, -1 for filled ones, and `errors` says why clips could
    not be decoded, both by slot. A batch that is `dropped` is not decoded any further.
    """

    def __init__(
        self, numbers: Numbers, parts: list[VideoPart], frames: list[NDArray[np.int64]]
    ) -> None:
        self.numbers = numbers
        self.parts = parts
        self.clips = [Clip(slot, some) for slot, some in enumerate(frames)]
        pairs = zip(parts, frames, strict=True)
        self._shapes = [(len(some), part.height, part.width, 3) for part, some in pairs]
        self.nbytes = sum(map(math.prod, self._shapes))
        self.seconds: list[Any] = [None] * len(parts)
        self.errors: dict[int, Exception] = {}
        # When its jobs are done. The jobs themselves refer to the batch, and a circle would keep
        # its memory for a while.
        self.done: list[Future[None]] = []
        # On how many threads decoders of these jobs work.
        self.threads = 1
        self.dropped = False

    def allocate(self, device: Device) -> None:
        """Make the buffer, `out`, for clips that are to be moved to a device."""
        shapes = np.array(self._shapes, np.int64)
        lent = None
        if device != Device.CPU and len(shapes):
            lent = require_backend("readers.Video").lend(uint8.code, shapes, "FHWC", device)
        self.out = lent or _kernels.empty(uint8.code, shapes, "FHWC", len(shapes))


class _Job(NamedTuple):
    """Clips of one file for a decoder to work through without going back."""

    batch: ClipBatch
    clips: list[Clip]
    done: Future[None]

    @property
    def part(self) -> VideoPart:
        return self.batch.parts[self.clips[0].slot]


class _Lane:
    """Jobs for one decoder of a file, each of which goes on where the one before ends."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.jobs: deque[_Job] = deque()
        self.last_frame = -1


class ClipFetcher:
    """Decodes the clips of an epoch.

    Parameters
    ----------
    pool
        Where decoders come from.
    describe
        Gives the clips of samples, not yet decoded.
    finish
        Gives the outputs for clips that are decoded.
    fill
        The color of frames that are to be filled.
    ycbcr
        Whether to keep the colors of the file.
    most_steps
        Of how many steps clips may be decoded at the same time.
    device
        Where they are delivered.
    """

    def __init__(
        self,
        pool: DecoderPool,
        describe: Callable[[Numbers], ClipBatch],
        finish: Callable[[ClipBatch], Fetched],
        fill: list[int],
        ycbcr: bool,
        most_steps: int,
        device: Device,
    ) -> None:
        self._device = device
        self._pool = pool
        self._describe = describe
        self._finish = finish
        self._fill = fill
        self._ycbcr = ycbcr
        self._most_steps = most_steps
        self._threads = get_num_threads()
        self._workers = ThreadPoolExecutor(self._threads, "daliesque video")
        self._lock = threading.Lock()
        # Of each file that is being decoded, the lane that began last.
        self._lanes: dict[str, _Lane] = {}
        self._started: dict[bytes, ClipBatch] = {}

    def fetch(self, numbers: Numbers, expected: Sequence[Numbers], most_bytes: int) -> Fetched:
        """Decode clips, and begin with those that are expected next; see `Fetcher`."""
        current = numbers.tobytes()
        wanted = {some.tobytes(): some for some in (numbers, *expected)}
        for key in self._started.keys() - wanted.keys():
            self._started.pop(key).dropped = True
        for key, some in wanted.items():
            if key not in self._started:
                batch = self._describe(some)
                used = sum(other.nbytes for other in self._started.values())
                if key != current and used + batch.nbytes > most_bytes:
                    break
                try:
                    batch.allocate(self._device)
                except MemoryError:
                    if key == current:
                        raise
                    break
                self._start(batch, most_bytes)
                self._started[key] = batch
        batch = self._started[current]
        wait(batch.done)
        del self._started[current]
        for job in batch.done:
            job.result()
        return self._finish(batch)

    def close(self) -> None:
        """End all decoding."""
        for batch in self._started.values():
            batch.dropped = True
        self._started.clear()
        self._workers.shutdown()

    def _start(self, batch: ClipBatch, most_bytes: int) -> None:
        """Divide the clips of a batch into jobs, and have these done."""
        by_path: dict[str, list[Clip]] = {}
        for clip, part in zip(batch.clips, batch.parts, strict=True):
            by_path.setdefault(part.entry.path, []).append(clip)
        pieces = -(-self._threads // len(by_path))
        jobs = []
        for path, clips in by_path.items():
            clips.sort(key=lambda clip: clip.first)
            jobs += [_Job(batch, some, Future()) for some in self._split(path, clips, pieces)]
        jobs.sort(key=lambda job: len(job.clips), reverse=True)
        batch.done = [job.done for job in jobs]
        # Which frames next to damaged ones are lost depends on the number of threads. So this is
        # shared among the jobs that may be under way, not among those that happen to be.
        steps = max(1, min(self._most_steps, most_bytes // batch.nbytes))
        batch.threads = max(1, self._threads // (steps * len(jobs)))
        for job in jobs:
            self._enqueue(job)

    def _split(self, path: str, clips: list[Clip], pieces: int) -> list[list[Clip]]:
        """Cut clips in pieces where further decoders are worth it."""
        size = -(-len(clips) // pieces)
        jobs = [clips[:size]]
        for begin in range(size, len(clips), size):
            piece = clips[begin : begin + size]
            if self._is_worth_a_decoder(path, clips[begin - 1].last, piece):
                jobs.append(piece)
            else:
                jobs[-1] = jobs[-1] + piece
        return jobs

    def _is_worth_a_decoder(self, path: str, position: int, clips: list[Clip]) -> bool:
        """Whether to begin with clips while another decoder is on its way to frame `position`."""
        try:
            index = index_of(path)
        except (CodecError, OSError):
            return False
        first = clips[0].first
        from_keyframe = first - int(index.key_frames[index.key_before(first)]) + _READ_AHEAD
        # How many frames the other one has to decode first; fewer than none if clips overlap.
        going_on = first - position - 1
        if going_on > from_keyframe or going_on < -self._pool.keep:
            return True
        frames = max(clip.last for clip in clips) - first
        return _LEAST_GAIN * (from_keyframe - going_on) <= frames

    def _enqueue(self, job: _Job) -> None:
        """Have a job done after the others of a lane, or at once."""
        path = job.part.entry.path
        lane = self._lanes.get(path)
        if lane is not None and self._is_worth_a_decoder(path, lane.last_frame, job.clips):
            lane = None
        with self._lock:
            # A lane ends when it has no more jobs, which may be by now.
            if lane is None or self._lanes.get(path) is not lane:
                lane = _Lane(path)
                self._workers.submit(self._work_off, lane)
                self._lanes[path] = lane
            lane.jobs.append(job)
            lane.last_frame = max(clip.last for clip in job.clips)

    def _work_off(self, lane: _Lane) -> None:
        """Do the jobs of a lane."""
        while True:
            with self._lock:
                if not lane.jobs:
                    if self._lanes.get(lane.path) is lane:
                        del self._lanes[lane.path]
                    return
                job = lane.jobs.popleft()
            try:
                self._decode(job)
            except BaseException as failure:
                job.done.set_exception(failure)
            else:
                job.done.set_result(None)

    def _decode(self, job: _Job) -> None:
        """Decode clips of one file, in the order of their frames."""
        batch, clips, part = job.batch, job.clips, job.part
        if batch.dropped:
            return
        try:
            path, first = part.entry.path, clips[0].first
            version, decoder = self._pool.take(path, first, batch.threads)
        except (CodecError, OSError) as error:
            failure = decode_error(error) if isinstance(error, CodecError) else error
            batch.errors.update((clip.slot, failure) for clip in clips)
            return
        index = decoder.index
        if (index.frame_count, index.height, index.width) != (
            part.frame_count,
            part.height,
            part.width,
        ):
            decoder.close()
            failure = DecodeError("it has changed since the reader was made")
            batch.errors.update((clip.slot, failure) for clip in clips)
            return
        try:
            self._write(decoder, job)
        except BaseException:
            decoder.close()
            raise
        for clip in clips:
            seconds = index.seconds(clip.frames)
            batch.seconds[clip.slot] = np.where(clip.frames < 0, -1.0, seconds)
        self._pool.give(version, decoder)

    def _write(self, decoder: VideoDecoder, job: _Job) -> None:
        """Decode each frame once, whichever clips want it."""
        batch = job.batch
        wanted = [
            (int(frame), clip.slot, row)
            for clip in job.clips
            for row, frame in enumerate(clip.frames)
        ]
        last_frame, last_slot, last_row = -1, -1, -1
        with FrameWriter(decoder, batch.out, self._ycbcr) as writer:
            for frame, slot, row in sorted(wanted):
                if batch.dropped:
                    break
                if slot in batch.errors:
                    continue
                if frame < 0:
                    writer.fill(slot, row, self._fill)
                elif frame == last_frame:
                    writer.copy(slot, row, last_slot, last_row)
                else:
                    try:
                        writer.write(decoder.read(frame), slot, row)
                    except CodecError as error:
                        batch.errors[slot] = decode_error(error)
                    else:
                        last_frame, last_slot, last_row = frame, slot, row


def decode_error(error: CodecError) -> DecodeError:
    """What to raise for a video that cannot be decoded."""
    return DecodeError(f"it {error}")
