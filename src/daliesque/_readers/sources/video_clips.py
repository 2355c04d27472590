# SPDX-License-Identifier: Apache-2.0
"""What the readers of videos have in common."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from ... import _kernels
from ..._codecs.frame_padding import PAD_MODES, pad_frames
from ..._codecs.pixels import CodecError
from ..._engine.args import rule_of
from ..._engine.batch import Batch
from ..._engine.convert import to_samples
from ..._engine.device import DeviceLike
from ..._engine.enums import DALIImageType
from ..._engine.errors import DecodeError, join_names, same_class
from ..._engine.samples import host
from ..._engine.threads import get_num_threads, run_on_threads
from ..core.base import Reader
from ..core.caller import warn_caller
from ..core.options import ReaderOptions
from ..core.order import Numbers
from ..core.source import Fetched
from .video_list import VideoEntry, VideoList, VideoPart

if TYPE_CHECKING:
    from ..._codecs.video_file import VideoIndex
    from .clip_fetcher import ClipBatch, ClipFetcher

# How many files stay open for clips to come.
_MOST_OPEN = 8

_POLICIES = {
    "none": "none",
    "False": "none",
    "scalar": "scalar",
    "True": "scalar",
    "sequence": "sequence",
}


class VideoClips(Reader[tuple[Batch, ...]]):
    """Base of the readers of videos: cuts videos into clips and decodes these.

    A subclass says which frames of a video to use (`_frame_range`) and where clips begin
    (`_clip_starts`).

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    videos
        What to read.
    sequence_length, stride, step
        The frames of a clip, from frame to frame, and from clip to clip; `step` may be negative.
    pad_mode, fill_value
        What comes after the end of a video.
    enable_frame_num, enable_timestamps
        Further outputs.
    image_type
        RGB or YCbCr.
    uniform
        One clip for each video, of frames at equal distances.
    **options
        The arguments that all readers have; see `Reader`.
    """

    _devices: ClassVar[tuple[str, ...]] = ("cpu", "gpu")
    # Clips are large.
    _samples_at_once: ClassVar[int] = 2

    def __init__(
        self,
        batch_size: int | None,
        name: str | None,
        device: DeviceLike | None,
        videos: VideoList,
        sequence_length: int,
        stride: int | None,
        step: int | None,
        pad_mode: str | None,
        fill_value: int | Sequence[int] | None,
        enable_frame_num: str | bool | None,
        enable_timestamps: bool | None,
        image_type: DALIImageType | None,
        uniform: bool | None = False,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._videos = videos
        self._sequence_length = self._checked("sequence_length", int, sequence_length, 1)
        self._stride = self._checked("stride", int, 1 if stride is None else stride, 1)
        distance = self._checked("step", int, -1 if step is None else step)
        self._step = distance if distance > 0 else self._stride * self._sequence_length
        self._pad_mode = PAD_MODES[self._chosen("pad_mode", pad_mode or "none", PAD_MODES)]
        fill = 0 if fill_value is None else fill_value
        self._fill: list[int] = self._checked("fill_value", list[int], fill)
        if len(self._fill) not in (1, 3) or not all(0 <= value <= 255 for value in self._fill):
            msg = (
                f"{self.operator}: 'fill_value' must be 1 or 3 numbers from 0 to 255; "
                f"got {self._fill}."
            )
            raise ValueError(msg)
        policy = self._chosen("enable_frame_num", str(enable_frame_num or "none"), _POLICIES)
        self._frame_numbers = _POLICIES[policy]
        self._timestamps: bool = self._checked("enable_timestamps", bool, bool(enable_timestamps))
        kinds = DALIImageType.RGB if image_type is None else image_type
        self._image_type = self._checked("image_type", DALIImageType, kinds)
        if self._image_type not in (DALIImageType.RGB, DALIImageType.YCbCr):
            kind = self._image_type.name
            msg = f"{self.operator}: 'image_type' must be RGB or YCbCr; got {kind}."
            raise ValueError(msg)
        self._uniform = bool(uniform)
        super().__init__(batch_size, name, device, **options)

    def _checked(self, name: str, kind: Any, value: Any, least: int | None = None) -> Any:
        checked = rule_of(kind).convert(value, f"{self.operator}: '{name}'")
        if least is not None and checked < least:
            msg = f"{self.operator}: '{name}' must be at least {least}; got {checked}."
            raise ValueError(msg)
        return checked

    def _chosen(self, name: str, value: Any, choices: dict[str, str]) -> str:
        if not isinstance(value, str) or value not in choices:
            names = join_names(choice for choice in choices if choice)
            msg = f"{self.operator}: '{name}' must be {names}; got {value!r}."
            raise ValueError(msg)
        return value

    def _frame_range(self, index: VideoIndex, entry: VideoEntry) -> tuple[int, int]:
        """The frames [first, last) of a video that an entry stands for."""
        raise NotImplementedError

    def _clip_starts(self, first: int, last: int) -> NDArray[np.int64]:
        """Where the clips of a part begin."""
        raise NotImplementedError

    def open_index(self) -> int:
        # PyAV is optional.
        from ..._codecs.video_cache import DecoderPool

        overlap = 1 + (self._sequence_length - 1) * self._stride - self._step
        self._pool = DecoderPool(_MOST_OPEN, max(0, overlap))
        weakref.finalize(self, self._pool.close)
        entries = self._videos.find(self._settings["allow_outside"], self.leave_out)
        found: list[VideoPart | Exception] = [ValueError()] * len(entries)

        def look(number: int) -> None:
            try:
                found[number] = self._look_into(entries[number])
            except (OSError, DecodeError) as error:
                found[number] = error

        run_on_threads(look, range(len(entries)), get_num_threads())
        self._parts: list[VideoPart] = []
        for entry, part in zip(entries, found, strict=True):
            if isinstance(part, Exception):
                self._bad_samples.leave_out(entry.path, self._explain_path(entry.path, part))
            elif part.first < part.last:
                self._parts.append(part)
            else:
                msg = (
                    f'{self.operator}: "{entry.path}" is left out: it has {part.frame_count} '
                    f"frames, none of which lies between {entry.begin or 0:g} and "
                    f"{entry.end or 0:g}."
                )
                warn_caller(msg)
        starts = [
            np.array([part.first]) if self._uniform else self._clip_starts(part.first, part.last)
            for part in self._parts
        ]
        counts = [len(some) for some in starts]
        self._part_of = np.repeat(np.arange(len(starts)), counts)
        self._starts = np.concatenate([*starts, np.empty(0, np.int64)]).astype(np.int64)
        if self._parts and not len(self._starts):
            longest = max(part.last - part.first for part in self._parts)
            msg = (
                f"{self.operator}: no video is long enough for a sequence: {self._sequence_length}"
                f" frames, each {self._stride} after the other; the longest has {longest} frames."
            )
            raise ValueError(msg)
        return len(self._starts)

    def _explain_path(self, path: str, exception: Exception) -> Exception:
        """What to raise for a video that cannot be used at all."""
        reason = getattr(exception, "strerror", None) or str(exception).rstrip(".")
        msg = (
            f'{self.operator}: cannot open "{path}": {reason}. Pass on_error="skip" to leave such '
            "files out."
        )
        return same_class(exception, msg)

    def _look_into(self, entry: VideoEntry) -> VideoPart:
        from ..._codecs.video_cache import index_of
        from .clip_fetcher import decode_error

        try:
            index = index_of(entry.path)
        except CodecError as error:
            raise decode_error(error) from error.__cause__
        first, last = self._frame_range(index, entry)
        return VideoPart(entry, first, last, index.height, index.width, index.frame_count)

    def _frames_of(self, number: int) -> NDArray[np.int64]:
        """The frames of a clip."""
        part = self._parts[self._part_of[number]]
        if self._uniform:
            # Halves are rounded up.
            fractions = np.arange(self._sequence_length) / max(1, self._sequence_length - 1)
            steps = np.floor(fractions * (part.last - part.first - 1) + 0.5)
            uniform: NDArray[np.int64] = part.first + steps.astype(np.int64)
            return uniform
        frames = self._starts[number] + self._stride * np.arange(self._sequence_length)
        return pad_frames(frames, part.first, part.last, self._pad_mode)[0]

    def fetch(self, numbers: Numbers) -> Fetched:
        with contextlib.closing(self._make_fetcher()) as fetcher:
            return fetcher.fetch(numbers, [], 0)

    def _make_fetcher(self) -> ClipFetcher:
        from .clip_fetcher import ClipFetcher

        ycbcr = self._image_type is DALIImageType.YCbCr
        steps = 1 + self._settings["prefetch_queue_depth"]
        return ClipFetcher(
            self._pool, self._describe, self._outputs, self._fill, ycbcr, steps, self._device
        )

    def _describe(self, numbers: Numbers) -> ClipBatch:
        from .clip_fetcher import ClipBatch

        parts = [self._parts[self._part_of[number]] for number in numbers]
        return ClipBatch(numbers, parts, [self._frames_of(number) for number in numbers.tolist()])

    def _outputs(self, batch: ClipBatch) -> Fetched:
        errors = batch.errors
        good = [clip.slot for clip in batch.clips if clip.slot not in errors]
        if not good:
            return Fetched((), errors)
        outputs = [self._finished(batch.out.select(good) if errors else batch.out)]
        if self._videos.has_labels:
            labels = [batch.parts[slot].entry.label for slot in good]
            outputs.append(self._column(np.array(labels, np.int32)))
        if self._frame_numbers == "scalar":
            outputs.append(self._column(self._starts[batch.numbers[good]].astype(np.int32)))
        elif self._frame_numbers == "sequence":
            rows = np.stack([batch.clips[slot].frames for slot in good]).astype(np.int32)
            outputs.append(self._column(rows))
        if self._timestamps:
            outputs.append(self._column(np.stack([batch.seconds[slot] for slot in good])))
        return Fetched(tuple(outputs), errors)

    def _column(self, values: NDArray[Any]) -> _kernels.Samples:
        rows = values[:, np.newaxis] if values.ndim == 1 else values
        return host(to_samples(rows, None, None, self.operator)).unfold().as_internal()

    def _finished(self, video: _kernels.Samples) -> _kernels.Samples:
        """What to deliver in place of the frames as they were decoded."""
        return video

    def source_name(self, number: int) -> str:
        part: VideoPart = self._parts[self._part_of[number]]
        return part.entry.path

    def _full_name(self, number: int) -> str:
        return f"{self.source_name(number)}, from frame {self._starts[number]}"
