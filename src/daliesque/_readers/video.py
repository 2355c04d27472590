# SPDX-License-Identifier: Apache-2.0
"""Clips of videos with a constant frame rate, and the same resized."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.dtype import DType, float32, uint8
from .._engine.enums import DALIImageType, DALIInterpType
from .._engine.modes import EvalMode, call_in
from .._engine.op import registry
from .._engine.samples import host
from .core.options import ReaderOptions
from .sources.discovery import PathLike
from .sources.video_clips import VideoClips
from .sources.video_list import VideoEntry, VideoList

if TYPE_CHECKING:
    from .._codecs.video_file import VideoIndex

_WHITE = 255


class Video(VideoClips):
    """Read videos as clips: sequences of frames.

    The older of two readers, which on the reference needs a GPU; see also
    `experimental.readers.Video`. Each video is cut into clips of `sequence_length` frames. The
    outputs are the frames (layout "FHWC"); the label (int32, shape (1,)), if there are labels;
    frame numbers, if `enable_frame_num` asks for them; and times, if `enable_timestamps` does. The
    `source` of a clip is the name of its file.

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
        be relative to the current folder or to that of the list. Begin and end are seconds;
        negative ones count from the end of the video.
    file_list_frame_num
        Begin and end are numbers of frames. A begin between two frames is rounded up, an end down.
    file_list_include_preceding_frame
        Round seconds so that the part gets longer rather than shorter.
    labels
        The labels of `filenames`; an empty list stands for 0, 1, 2, ...
    step
        From the begin of a clip to that of the next one, in frames; by default the length of a
        clip.
    stride
        From frame to frame of a clip.
    pad_sequences
        Also deliver clips that go beyond the end of the video, filled up with zeros.
    channels
        Must be 3.
    dtype
        The type of the frames: uint8 or float32.
    normalized
        Scale to [0, 1]; with float32 only.
    image_type
        RGB or YCbCr. YCbCr are the values of the file, with chroma interpolated.
    enable_frame_num
        Also deliver the number of the first frame ("scalar" or True) or of all frames ("sequence";
        -1 for filled ones), int32. By default "none". Needs `file_list` or `labels`.
    enable_timestamps
        Also deliver the times of all frames in seconds since the first frame of the file (float64;
        -1 for filled ones). Needs `file_list` or `labels`.
    skip_vfr_check
        Accepted for compatibility: videos with a variable frame rate are read like any other.
    additional_decode_surfaces
        Accepted for compatibility.
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
    >>> reader = ndd.readers.Video(filenames=[path], sequence_length=5, dtype=ndd.float32)
    >>> for (frames,) in reader.next_epoch(batch_size=2):
    ...     print(frames.shape, frames.dtype)
    [(5, 48, 64, 3), (5, 48, 64, 3)] f32
    >>> folder.cleanup()

    Differs from DALI: works on a CPU, with all codecs and a variable frame rate; a file that is not
    a video is an error (see `on_error`) rather than left out.
    """

    operator: ClassVar[str] = "readers.Video"

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
        file_list_frame_num: bool | None = False,
        file_list_include_preceding_frame: bool | None = False,
        labels: int | Sequence[int] | NDArray[Any] | None = None,
        step: int | None = -1,
        stride: int | None = 1,
        pad_sequences: bool | None = False,
        channels: int | None = 3,
        dtype: DType | None = uint8,
        normalized: bool | None = False,
        image_type: DALIImageType | None = DALIImageType.RGB,
        enable_frame_num: str | bool | None = "none",
        enable_timestamps: bool | None = False,
        skip_vfr_check: bool | None = False,
        additional_decode_surfaces: int | None = 2,
        **options: Unpack[ReaderOptions],
    ) -> None:
        del skip_vfr_check, additional_decode_surfaces
        self._in_frames = bool(file_list_frame_num)
        self._outwards = bool(file_list_include_preceding_frame)
        self._pads = bool(pad_sequences)
        self._dtype: DType = self._checked("dtype", DType, uint8 if dtype is None else dtype)
        self._normalized = bool(normalized)
        if self._dtype not in (uint8, float32):
            msg = f"{self.operator}: 'dtype' must be uint8 or float32; got {self._dtype}."
            raise ValueError(msg)
        if self._checked("channels", int, 3 if channels is None else channels) != 3:
            msg = f"{self.operator}: 'channels' must be 3; got {channels}."
            raise ValueError(msg)
        videos = VideoList(self.operator, file_root, filenames, file_list, labels)
        super().__init__(
            batch_size,
            name,
            device,
            videos,
            sequence_length,
            stride,
            step,
            "constant",
            0,
            enable_frame_num,
            enable_timestamps,
            image_type,
            **options,
        )

    def open_index(self) -> int:
        numbered = self._frame_numbers != "none" or self._timestamps
        if numbered and not self._videos.file_list and self._videos.labels is None:
            msg = (
                f"{self.operator}: 'enable_frame_num' and 'enable_timestamps' need 'file_list', "
                "or 'filenames' with 'labels'."
            )
            raise ValueError(msg)
        return super().open_index()

    def _frame_range(self, index: VideoIndex, entry: VideoEntry) -> tuple[int, int]:
        count = index.frame_count
        if entry.begin is None:
            return 0, count
        outwards = self._outwards and not self._in_frames
        begin = self._frame_at(index, entry.begin, entry.begin < 0)
        end = self._frame_at(index, entry.end or 0.0, entry.end is None or entry.end <= 0)
        first = math.floor(begin) if outwards else math.ceil(begin)
        last = math.ceil(end) if outwards else math.floor(end)
        if not 0 <= first <= last <= count:
            unit = "frames" if self._in_frames else "seconds"
            msg = (
                f'{self.operator}: the part of "{entry.path}" from {entry.begin:g} to '
                f"{entry.end or 0:g} {unit} means the frames [{first}, {last}); it has {count}."
            )
            raise ValueError(msg)
        return first, last

    def _frame_at(self, index: VideoIndex, given: float, from_end: bool) -> float:
        """Where a part begins or ends, in frames."""
        count = index.frame_count
        if self._in_frames or not index.is_variable:
            frames = given if self._in_frames else given * float(index.rate)
            frame = frames + count if from_end else frames
        else:
            seconds = np.append(index.seconds(np.arange(count)), 0.0)
            seconds[-1] = seconds[-2] + 1 / float(index.rate)
            wanted = seconds[-1] + given if from_end else given
            frame = float(np.interp(wanted, seconds, np.arange(count + 1)))
        # Seconds are seldom exact: 0.28 times 25 is more than 7.
        return round(frame, 4)

    def _clip_starts(self, first: int, last: int) -> NDArray[np.int64]:
        length = 1 + (self._sequence_length - 1) * self._stride
        end = last if self._pads else last - length + 1
        return np.arange(first, max(first, end), self._step)

    def _finished(self, video: _kernels.Samples) -> _kernels.Samples:
        if self._dtype is uint8:
            return video
        shapes = np.ascontiguousarray(video.shape_array())
        out = _kernels.empty(float32.code, shapes, video.layout, len(video))
        scale = np.float32(_WHITE if self._normalized else 1)
        for sample in range(len(video)):
            frames = _kernels.numpy_view(video, sample)
            np.divide(frames, scale, out=_kernels.numpy_view(out, sample), dtype=np.float32)
        return out


class VideoResize(Video):
    """Read videos as clips and resize the frames: `readers.Video`, then `resize`.

    Parameters
    ----------
    batch_size, name, device, sequence_length, filenames, file_root, file_list, file_list_frame_num,
    file_list_include_preceding_frame, labels, step, stride, pad_sequences, channels, dtype,
    normalized, image_type, enable_frame_num, enable_timestamps, skip_vfr_check,
    additional_decode_surfaces
        See `readers.Video`.
    size, resize_x, resize_y, resize_z, resize_shorter, resize_longer, mode, max_size, roi_start,
    roi_end, roi_relative, subpixel_scale, interp_type, min_filter, mag_filter, antialias,
    minibatch_size, temp_buffer_hint
        See `resize`.
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
    >>> reader = ndd.readers.VideoResize(filenames=[path], sequence_length=5, resize_shorter=24)
    >>> for (frames,) in reader.next_epoch(batch_size=2):
    ...     print(frames.shape)
    [(5, 24, 32, 3), (5, 24, 32, 3)]
    >>> folder.cleanup()

    Differs from DALI: as `readers.Video`.
    """

    operator: ClassVar[str] = "readers.VideoResize"

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
        file_list_frame_num: bool | None = False,
        file_list_include_preceding_frame: bool | None = False,
        labels: int | Sequence[int] | NDArray[Any] | None = None,
        step: int | None = -1,
        stride: int | None = 1,
        pad_sequences: bool | None = False,
        channels: int | None = 3,
        dtype: DType | None = uint8,
        normalized: bool | None = False,
        image_type: DALIImageType | None = DALIImageType.RGB,
        enable_frame_num: str | bool | None = "none",
        enable_timestamps: bool | None = False,
        skip_vfr_check: bool | None = False,
        additional_decode_surfaces: int | None = 2,
        size: float | Sequence[float] | None = None,
        resize_x: float | None = 0.0,
        resize_y: float | None = 0.0,
        resize_z: float | None = 0.0,
        resize_shorter: float | None = 0.0,
        resize_longer: float | None = 0.0,
        mode: str | None = "default",
        max_size: float | Sequence[float] | None = None,
        roi_start: float | Sequence[float] | None = None,
        roi_end: float | Sequence[float] | None = None,
        roi_relative: bool | None = False,
        subpixel_scale: bool | None = True,
        interp_type: DALIInterpType | None = DALIInterpType.INTERP_LINEAR,
        min_filter: DALIInterpType | None = None,
        mag_filter: DALIInterpType | None = None,
        antialias: bool | None = True,
        minibatch_size: int | None = 32,
        temp_buffer_hint: int | None = 0,
        **options: Unpack[ReaderOptions],
    ) -> None:
        given: dict[str, Any] = {
            "size": size,
            # 0 stands for a side that is not given.
            "resize_x": resize_x or None,
            "resize_y": resize_y or None,
            "resize_z": resize_z or None,
            "resize_shorter": resize_shorter or None,
            "resize_longer": resize_longer or None,
            "mode": mode,
            "max_size": max_size,
            "roi_start": roi_start,
            "roi_end": roi_end,
            "roi_relative": roi_relative,
            "subpixel_scale": subpixel_scale,
            "interp_type": interp_type,
            "min_filter": min_filter,
            "mag_filter": mag_filter,
            "antialias": antialias,
            "minibatch_size": minibatch_size,
            "temp_buffer_hint": temp_buffer_hint,
        }
        self._resizing = {key: value for key, value in given.items() if value is not None}
        super().__init__(
            batch_size,
            name,
            device,
            sequence_length=sequence_length,
            filenames=filenames,
            file_root=file_root,
            file_list=file_list,
            file_list_frame_num=file_list_frame_num,
            file_list_include_preceding_frame=file_list_include_preceding_frame,
            labels=labels,
            step=step,
            stride=stride,
            pad_sequences=pad_sequences,
            channels=channels,
            dtype=dtype,
            normalized=normalized,
            image_type=image_type,
            enable_frame_num=enable_frame_num,
            enable_timestamps=enable_timestamps,
            skip_vfr_check=skip_vfr_check,
            additional_decode_surfaces=additional_decode_surfaces,
            **options,
        )

    def _finished(self, video: _kernels.Samples) -> _kernels.Samples:
        frames = Batch._of(super()._finished(video))
        # By its name: readers stand below the operators.
        resize, inputs = registry["resize"].invoke, (frames,)
        resized: Batch = call_in(EvalMode.sync_cpu, resize, inputs, None, None, self._resizing)
        return host(resized._data())
