# SPDX-License-Identifier: Apache-2.0
"""Makes videos whose frames show their own number."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

WIDTH, HEIGHT = 96, 64
# Numbers are shown in binary, lowest bit first, as bright and dark blocks in two rows.
_BLOCK, _BITS = 16, 12
_DARK, _BRIGHT = 40, 210
RATE = 25

# Encoder and format name of the container for each codec, with options for short groups of
# pictures and, where the codec has them, pictures that are stored out of order.
CODECS: dict[str, tuple[str, str, dict[str, str]]] = {
    "h264-mp4": ("libx264", "mp4", {"g": "12", "bf": "3"}),
    "h264-mov": ("libx264", "mov", {"g": "12", "bf": "3"}),
    "h264-avi": ("libx264", "avi", {"g": "12", "bf": "3"}),
    "h264-ts": ("libx264", "mpegts", {"g": "12", "bf": "3"}),
    "h264-open": ("libx264", "matroska", {"x264-params": "keyint=12:open-gop=1:bframes=3"}),
    "hevc-mp4": ("libx265", "mp4", {"x265-params": "keyint=12:bframes=3:log-level=none"}),
    "hevc-open": (
        "libx265",
        "matroska",
        {"x265-params": "keyint=12:min-keyint=12:bframes=3:open-gop=1:log-level=none"},
    ),
    "vp8-webm": ("libvpx", "webm", {"g": "12", "deadline": "realtime", "cpu-used": "8"}),
    "vp8-hidden": ("libvpx", "webm", {"g": "30", "auto-alt-ref": "1", "lag-in-frames": "16"}),
    "vp9-webm": ("libvpx-vp9", "webm", {"g": "12", "deadline": "realtime", "cpu-used": "8"}),
    "vp9-mkv": ("libvpx-vp9", "matroska", {"g": "30", "auto-alt-ref": "1", "lag-in-frames": "16"}),
    "mpeg4-avi": ("mpeg4", "avi", {"g": "12", "bf": "2"}),
    "mpeg4-mov": ("mpeg4", "mov", {"g": "12", "bf": "2"}),
    "mjpeg-avi": ("mjpeg", "avi", {}),
    # All packets of this file claim to be keyframes.
    "h263-avi": ("h263p", "avi", {"g": "12"}),
    "h264-raw": ("libx264", "h264", {"g": "12", "bf": "3"}),
    "mpeg2-ps": ("mpeg2video", "mpeg", {"g": "12", "bf": "2"}),
    "av1-mp4": ("libsvtav1", "mp4", {"g": "12", "preset": "12", "svtav1-params": "enable-tf=0"}),
    "av1-mkv": ("libsvtav1", "matroska", {"g": "12", "preset": "12"}),
}


# Arguments of the decoder, and the frames that they choose of ten; -1 for one that is filled.
SELECTIONS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, list(range(10))),
    ({"start_frame": 7}, [7, 8, 9]),
    ({"start_frame": 2, "stride": 3}, [2, 5, 8]),
    ({"end_frame": 4}, [0, 1, 2, 3]),
    ({"start_frame": 1, "end_frame": 8, "stride": 4}, [1, 5]),
    ({"start_frame": 7, "end_frame": 13}, [7, 8, 9, -1, -1, -1]),
    ({"start_frame": 7, "end_frame": 13, "pad_mode": "none"}, [7, 8, 9]),
    ({"sequence_length": 0}, []),
    ({"start_frame": 6, "sequence_length": 4, "stride": 2}, [6, 8, -1, -1]),
    ({"start_frame": 6, "sequence_length": 4, "stride": 2, "pad_mode": "none"}, [6, 8]),
    ({"start_frame": 8, "sequence_length": 5, "pad_mode": "edge"}, [8, 9, 9, 9, 9]),
    ({"start_frame": 8, "sequence_length": 5, "pad_mode": "repeat"}, [8, 9, 9, 9, 9]),
    ({"start_frame": 8, "sequence_length": 5, "pad_mode": "reflect_1001"}, [8, 9, 9, 8, 7]),
    ({"start_frame": 8, "sequence_length": 5, "pad_mode": "symmetric"}, [8, 9, 9, 8, 7]),
    ({"start_frame": 8, "sequence_length": 5, "pad_mode": "reflect_101"}, [8, 9, 8, 7, 6]),
    ({"start_frame": 8, "sequence_length": 5, "pad_mode": "reflect"}, [8, 9, 8, 7, 6]),
    ({"frames": [9, 0, 0, 5, 5, 9]}, [9, 0, 0, 5, 5, 9]),
    ({"frames": [3, 12, 1]}, [3, -1, 1]),
    ({"frames": [25, 12], "pad_mode": "reflect_1001"}, [5, 7]),
]


def numbered_luma(number: int, height: int = HEIGHT, width: int = WIDTH) -> Array:
    """A picture of a number."""
    luma = np.full((height, width), 128, np.uint8)
    for bit in range(_BITS):
        y, x = divmod(bit, _BITS // 2)
        value = _BRIGHT if number >> bit & 1 else _DARK
        luma[y * _BLOCK : (y + 1) * _BLOCK, x * _BLOCK : (x + 1) * _BLOCK] = value
    return luma


def shown_numbers(frames: Array) -> list[int]:
    """The numbers that decoded RGB frames show."""
    numbers = []
    for frame in np.asarray(frames):
        number = 0
        for bit in range(_BITS):
            y, x = divmod(bit, _BITS // 2)
            block = frame[
                y * _BLOCK + 4 : (y + 1) * _BLOCK - 4, x * _BLOCK + 4 : (x + 1) * _BLOCK - 4
            ]
            number |= int(block.mean() > 125) << bit
        numbers.append(number)
    return numbers


def encode(
    planes: Iterable[Sequence[Array]],
    codec: str = "libx264",
    container: str = "mp4",
    options: dict[str, str] | None = None,
    pixel_format: str = "yuv420p",
    stamps: Sequence[int] | None = None,
    rotation: float = 0.0,
    container_options: dict[str, str] | None = None,
) -> bytes:
    """The bytes of a video, given the planes of its frames."""
    file = io.BytesIO()
    with av.open(file, "w", format=container, container_options=container_options or {}) as output:
        stream: Any = None
        for number, parts in enumerate(planes):
            height, width = parts[0].shape
            if stream is None:
                stream = output.add_stream(codec, rate=RATE, options=dict(options or {}))
                stream.width, stream.height, stream.pix_fmt = width, height, pixel_format
                stream.codec_context.thread_count = 1
                if rotation:
                    stream.set_display_rotation(rotation)
            frame = av.VideoFrame(width, height, pixel_format)
            for plane, part in zip(frame.planes, parts, strict=True):
                rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
                rows[: part.shape[0], : part.shape[1]] = part
            frame.pts = number if stamps is None else stamps[number]
            frame.time_base = Fraction(1, RATE)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return file.getvalue()


def numbered(
    count: int,
    kind: str = "h264-mp4",
    size: tuple[int, int] = (HEIGHT, WIDTH),
    first: int = 0,
    **options: Any,
) -> bytes:
    """A video of `count` frames that show their numbers."""
    codec, container, settings = CODECS[kind]
    height, width = size
    gray = np.full((height // 2, width // 2), 128, np.uint8)
    planes = [(numbered_luma(k, height, width), gray, gray) for k in range(first, first + count)]
    pixel_format = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    options = {"pixel_format": pixel_format, "options": settings, **options}
    return encode(planes, codec, container, **options)


def as_array(data: bytes) -> Array:
    """Bytes as the decoder takes them."""
    return np.frombuffer(data, np.uint8)
