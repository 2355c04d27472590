# SPDX-License-Identifier: Apache-2.0
"""Clips of videos."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from .._engine.device import DeviceLike
from .._engine.enums import DALIImageType
from .core.options import ReaderOptions
from .sources.discovery import PathLike
from .sources.video_clips import VideoClips
from .sources.video_list import VideoEntry, VideoList

if TYPE_CHECKING:
    from .._codecs.video_file import VideoIndex

_FORMATS = {"frames": "frames", "timestamps": "timestamps"}
# Whether the begin and the end are rounded down.
_ROUNDING = {
    "start_down_end_up": (True, False),
    "start_up_end_down": (False, True),
    "all_up": (False, False),
    "all_down": (True, True),
}


class Video(VideoClips):
    """Read videos as clips: sequences of frames.

    Each video is cut into clips of `sequence_length` frames. The outputs are the frames (uint8,
    layout "FHWC"); the label (int32, shape (1,)), if there are labels; frame numbers, if
    `enable_frame_num` asks for them; and times, if `enable_timestamps` does. The `source` of a clip
    is the name of its file.

    Codecs, colors and the numbering of frames are those of `decoders.video`. Decoding begins at
    the nearest keyframe; clips that follow each other in a file are decoded in one go; several
    files, or parts of one, at the same time, also those of the batches that are read ahead (see
    `prefetch_queue_depth`). Needs PyAV: `pip install daliesque[video]`.

    Parameters
    ----------
    batch_size, name
        See `Reader`.
    device
        Where batches are delivered: "cpu" or "gpu". Files are read and decoded on the CPU.
    sequence_length
        How many frames a clip has.
    filenames
        The names of the files. Exactly one of `filenames`, `file_root` and `file_list` is needed.
    file_root
        A folder, of whose sub-folders all files are read. The label is the number of the
        sub-folder.
    file_list
        A text file with a file name, a label and maybe a begin and an end in each line. Names may
        be relative to the current folder or to that of the list.
    file_list_format
        What begin and end are: "timestamps", in seconds, or "frames"; negative numbers of frames
        count from the end. The end itself does not belong to the part.
    file_list_rounding
        How to get from begin and end to frames: "start_down_end_up", "start_up_end_down", "all_up"
        or "all_down".
    file_list_include_end
        Has no effect, as in the reference.
    labels
        The labels of `filenames`.
    step
        From the begin of a clip to that of the next one, in frames; by default the length of a
        clip.
    stride
        From frame to frame of a clip.
    uniform_sample
        One clip for each file or part, of frames at equal distances from the first to the last.
        `step`, `stride` and `pad_mode` have no effect.
    pad_mode
        What to do about the frames that are left after the last clip: "none" leaves them out;
        otherwise another clip is made of them, and filled up with `fill_value` ("constant"), the
        last frame ("edge" or "repeat"), or the frames in reverse order, with the last one
        ("reflect_1001" or "symmetric") or without ("reflect_101" or "reflect").
    fill_value
        The color of frames that are filled: a number from 0 to 255, or one for each channel.
    image_type
        RGB or YCbCr. YCbCr are the values of the file, with chroma interpolated.
    enable_frame_num
        Also deliver the number of the first frame ("scalar" or True) or of all frames ("sequence";
        -1 for filled ones), int32. By default "none".
    enable_timestamps
        Also deliver the times of all frames in seconds since the first frame of the file (float64;
        -1 for filled ones).
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.

    Examples
    --------
    >>> import av, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "clip.mkv")
    >>> with av.open(path, "w") as container:
    ...     stream = container.add_stream("mpeg4", rate=25)
    ...     stream.width, stream.height = 64, 48
    ...     for _ in range(10):
    ...         container.mux(stream.encode(av.VideoFrame(64, 48)))
    ...     container.mux(stream.encode(None))
    >>> reader = ndd.experimental.readers.Video(
    ...     filenames=[path], sequence_length=3, stride=2, step=2, enable_frame_num="sequence"
    ... )
    >>> for frames, numbers in reader.next_epoch(batch_size=2):
    ...     print(frames.shape, numbers.torch().tolist())
    [(3, 48, 64, 3), (3, 48, 64, 3)] [[0, 2, 4], [2, 4, 6]]
    [(3, 48, 64, 3), (3, 48, 64, 3)] [[4, 6, 8], [0, 2, 4]]
    >>> folder.cleanup()

    Differs from DALI: all codecs. A part without an end, or with one behind the end of the video,
    goes on to its end; a file that is not a video is an error (see `on_error`) rather than left
    out; YCbCr works.
    """

    operator: ClassVar[str] = "experimental.readers.Video"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        sequence_length: int,
        filenames: PathLike | Sequence[PathLike] | None = None,
        file_root: PathLike | None = None,
        file_list: PathLike | None = None,
        file_list_format: str | None = "timestamps",
        file_list_rounding: str | None = "start_down_end_up",
        file_list_include_end: bool | None = True,
        labels: int | Sequence[int] | NDArray[Any] | None = None,
        step: int | None = -1,
        stride: int | None = 1,
        uniform_sample: bool | None = False,
        pad_mode: str | None = "none",
        fill_value: int | Sequence[int] | None = (0,),
        image_type: DALIImageType | None = DALIImageType.RGB,
        enable_frame_num: str | bool | None = "none",
        enable_timestamps: bool | None = False,
        **options: Unpack[ReaderOptions],
    ) -> None:
        del file_list_include_end
        format_name = "timestamps" if file_list_format is None else file_list_format
        self._in_frames = self._chosen("file_list_format", format_name, _FORMATS) == "frames"
        rounding = "start_down_end_up" if file_list_rounding is None else file_list_rounding
        if rounding not in _ROUNDING:
            self._chosen("file_list_rounding", rounding, dict.fromkeys(_ROUNDING, ""))
        self._begin_down, self._end_down = _ROUNDING[rounding]
        videos = VideoList(self.operator, file_root, filenames, file_list, labels)
        if videos.labels == []:
            msg = f"{self.operator}: 'labels' needs one for each file; got none."
            raise ValueError(msg)
        super().__init__(
            batch_size,
            name,
            device,
            videos,
            sequence_length,
            stride,
            step,
            pad_mode,
            fill_value,
            enable_frame_num,
            enable_timestamps,
            image_type,
            uniform_sample,
            **options,
        )

    def _frame_range(self, index: VideoIndex, entry: VideoEntry) -> tuple[int, int]:
        count = index.frame_count
        if entry.begin is None:
            return 0, count
        if self._in_frames:
            begin = entry.begin + (count if entry.begin < 0 else 0)
            first = math.floor(begin) if self._begin_down else math.ceil(begin)
            last = count
            if entry.end is not None:
                end = entry.end + (count if entry.end < 0 else 0)
                last = math.floor(end) if self._end_down else math.ceil(end)
        else:
            first = _frame_at(index, entry.begin, self._begin_down)
            last = count
            if entry.end is not None:
                last = _frame_at(index, entry.end, self._end_down)
        return max(0, first), min(last, count)

    def _clip_starts(self, first: int, last: int) -> NDArray[np.int64]:
        length = self._stride * self._sequence_length
        starts = np.arange(first, max(first, last - length + 1), self._step)
        following = int(starts[-1]) + self._step if len(starts) else first
        if self._pad_mode != "none" and following < last:
            starts = np.append(starts, following)
        return starts


def _frame_at(index: VideoIndex, seconds: float, down: bool) -> int:
    """The frame that is shown at a time of the file's clock, or the next one."""
    base = index.time_base
    stamp = math.trunc(seconds * base.denominator / base.numerator)
    frame = int(np.searchsorted(index.stamps, stamp))
    if frame == index.frame_count or index.stamps[frame] == stamp:
        return frame
    return max(0, frame - 1) if down else frame
