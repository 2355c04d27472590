# SPDX-License-Identifier: Apache-2.0
"""decoders.video: the right frames, the right colors, and clear errors."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from av.video.reformatter import ColorRange, Interpolation
from numpy.typing import NDArray

import daliesque as ndd
from daliesque._codecs.pixels import CodecError
from daliesque._codecs.video import VideoDecoder
from support.compare import assert_close
from support.video_makers import (
    CODECS,
    RATE,
    SELECTIONS,
    as_array,
    numbered,
    numbered_luma,
    shown_numbers,
)

COUNT = 60


@pytest.fixture(scope="module")
def videos() -> dict[str, bytes]:
    return {kind: numbered(COUNT, kind) for kind in CODECS}


def decode(data: bytes, **arguments: Any) -> NDArray[np.uint8]:
    return np.asarray(ndd.decoders.video(as_array(data), **arguments))


@pytest.mark.parametrize("kind", CODECS)
def test_all_frames(videos: dict[str, bytes], kind: str) -> None:
    frames = decode(videos[kind])
    assert frames.shape == (COUNT, 64, 96, 3)
    assert shown_numbers(frames) == list(range(COUNT))


@pytest.mark.parametrize("kind", CODECS)
def test_any_frame(videos: dict[str, bytes], kind: str) -> None:
    chosen = np.random.default_rng(1).integers(0, COUNT, 20).tolist()
    assert shown_numbers(decode(videos[kind], frames=chosen)) == chosen
    # Each alone, so that all keyframes are sought.
    decoder = VideoDecoder(io.BytesIO(videos[kind]))
    whole = decode(videos[kind])
    out = ndd._kernels.empty_uniform(0, [1, 64, 96, 3], "FHWC", 1)
    for number in (59, 13, 11, 12, 36, 0, 35, 37, 47, 58, 24):
        decoder.write(decoder.read(number), out, 0, 0)
        np.testing.assert_array_equal(ndd._kernels.numpy_view(out, 0)[0], whole[number])
    decoder.close()


@pytest.mark.parametrize("kind", ["h264-mp4", "h264-open", "hevc-open", "vp9-webm", "mpeg4-avi"])
def test_a_late_frame_is_not_decoded_from_the_start(videos: dict[str, bytes], kind: str) -> None:
    decoder = VideoDecoder(io.BytesIO(videos[kind]))
    assert decoder.decoded == 0
    decoder.read(COUNT - 3)
    assert 0 < decoder.decoded <= 24
    before = decoder.decoded
    for number in range(COUNT - 3, COUNT):
        decoder.read(number) if number > COUNT - 3 else None
    assert decoder.decoded <= before + 3
    decoder.close()


def test_many_threads_give_the_same_frames(videos: dict[str, bytes]) -> None:
    for kind in ("h264-mp4", "hevc-open", "vp9-webm"):
        decoder = VideoDecoder(io.BytesIO(videos[kind]), threads=4)
        out = ndd._kernels.empty_uniform(0, [COUNT, 64, 96, 3], "FHWC", 1)
        for number in range(COUNT):
            decoder.write(decoder.read(number), out, 0, number)
        decoder.close()
        np.testing.assert_array_equal(ndd._kernels.numpy_view(out, 0), decode(videos[kind]))


def test_variable_frame_rate() -> None:
    stamps = np.cumsum(np.random.default_rng(0).integers(1, 9, 40)).tolist()
    data = numbered(40, "vp9-mkv", stamps=stamps)
    decoder = VideoDecoder(io.BytesIO(data))
    assert decoder.index.is_variable
    wanted = (np.array(stamps) - stamps[0]) / RATE
    assert_close(decoder.index.seconds(np.arange(40)), wanted, "timestamps")
    decoder.close()
    assert shown_numbers(decode(data, start_frame=3, stride=4)) == list(range(3, 40, 4))


def remuxed(data: bytes, skip: int, container: str = "matroska") -> bytes:
    """The same packets without the first ones."""
    file = io.BytesIO()
    with av.open(io.BytesIO(data)) as source, av.open(file, "w", format=container) as output:
        stream = output.add_stream_from_template(source.streams.video[0])
        for number, packet in enumerate(source.demux(source.streams.video[0])):
            if packet.dts is not None and number >= skip:
                packet.stream = stream
                output.mux(packet)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["h264-mp4", "vp9-mkv", "mpeg4-mov", "hevc-mp4"])
def test_frames_before_the_first_keyframe_do_not_count(kind: str) -> None:
    settings = {
        "h264-mp4": {"g": "12", "bf": "0", "sc_threshold": "0"},
        "hevc-mp4": {"x265-params": "keyint=12:min-keyint=12:scenecut=0:bframes=0:log-level=none"},
        "vp9-mkv": {"g": "12", "keyint_min": "12", "lag-in-frames": "0"},
        "mpeg4-mov": {"g": "12", "sc_threshold": "1000000000"},
    }[kind]
    data = remuxed(numbered(COUNT, kind, options=settings), 5)
    assert shown_numbers(decode(data)) == list(range(12, COUNT))
    assert shown_numbers(decode(data, frames=[30, 0])) == [42, 12]


def test_edit_list() -> None:
    # Frames before time 0 are hidden by an edit list that the muxer writes; the first ones of them
    # are needed to decode the rest.
    stamps = list(range(-7, 33))
    options = {"g": "100", "bf": "2", "sc_threshold": "0"}
    data = numbered(40, "h264-mp4", stamps=stamps, options=options)
    with av.open(io.BytesIO(data)) as file:
        plain = [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]
    expected = shown_numbers(np.stack(plain))
    assert shown_numbers(decode(data)) == expected
    assert shown_numbers(decode(data, frames=[20, 5])) == [expected[20], expected[5]]


def test_rotation_is_left_to_the_user() -> None:
    data = numbered(3, rotation=90)
    with av.open(io.BytesIO(data)) as file:
        assert next(file.decode(video=0)).rotation in (90, -90)
    assert decode(data).shape == (3, 64, 96, 3)


FORMATS = ["yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "gray", "bgr0"]


@pytest.mark.parametrize("size", [(64, 96), (36, 50), (34, 18), (35, 51), (8, 200)])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("pixel_format", FORMATS)
def test_colors_are_those_of_swscale(pixel_format: str, full: bool, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    height, width = size
    model = av.VideoFrame(width, height, pixel_format)
    planes = [
        rng.integers(20, 230, (plane.height, abs(plane.line_size)), np.uint8)
        for plane in model.planes
    ]
    if pixel_format == "yuv420p10le":
        planes = [rng.integers(64, 900, plane.shape, np.uint16).view(np.uint8) for plane in planes]
        planes = [plane[:, : plane.shape[1] // 2] for plane in planes]
    planes[0] = planes[0][:, : width * (1 + (pixel_format == "yuv420p10le"))]
    data = encode_raw(planes, size, pixel_format, full)
    with av.open(io.BytesIO(data)) as file:
        frame = next(file.decode(video=0))
        flags = Interpolation.BILINEAR | Interpolation.FULL_CHR_H_INT | Interpolation.ACCURATE_RND
        assert (frame.color_range == ColorRange.JPEG) == full
        expected = frame.reformat(
            format="rgb24",
            interpolation=int(flags),
            src_colorspace=5,
            dst_colorspace=5,
            src_color_range=ColorRange.JPEG if full else ColorRange.MPEG,
            dst_color_range=ColorRange.JPEG,
        ).to_ndarray()
    np.testing.assert_array_equal(decode(data)[0], expected)


def encode_raw(
    planes: list[Any], size: tuple[int, int], pixel_format: str, full: bool = False
) -> bytes:
    """Losslessly, whatever the format."""
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as output:
        stream = output.add_stream("ffv1", rate=RATE)
        stream.height, stream.width, stream.pix_fmt = *size, pixel_format
        stream.codec_context.color_range = ColorRange.JPEG if full else ColorRange.MPEG
        frame = av.VideoFrame(size[1], size[0], pixel_format)
        for plane, part in zip(frame.planes, planes, strict=True):
            rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
            columns = min(part.shape[1], plane.line_size)
            rows[: part.shape[0], :columns] = part[:, :columns]
        output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return file.getvalue()


def test_colors_beyond_the_range_are_clamped() -> None:
    """The brightest luma with the strongest blue is still blue."""
    height, width = 32, 32
    luma = np.full((height, width), 255, np.uint8)
    u = np.full((16, 16), 255, np.uint8)
    v = np.full((16, 16), 128, np.uint8)
    data = encode_raw([luma, u, v], (height, width), "yuv420p")
    assert (decode(data)[..., 2] == 255).all()


@pytest.mark.parametrize(("arguments", "expected"), SELECTIONS)
def test_selection(arguments: dict[str, Any], expected: list[int]) -> None:
    frames = decode(numbered(10), **arguments)
    assert len(frames) == len(expected)
    for frame, number in zip(frames, expected, strict=True):
        if number < 0:
            assert (frame == 0).all()
        else:
            assert shown_numbers(frame[np.newaxis]) == [number]


def test_fill_value() -> None:
    frames = decode(numbered(2), sequence_length=3, fill_value=[118, 185, 0])
    assert (frames[2] == [118, 185, 0]).all()
    assert (decode(numbered(2), sequence_length=3, fill_value=9)[2] == 9).all()


def test_samples_of_different_sizes_and_arguments() -> None:
    sizes = [(64, 96), (80, 112), (64, 128)]
    files = [as_array(numbered(20, "mpeg4-mov", size)) for size in sizes]
    clips = ndd.decoders.video(
        ndd.batch(files),
        start_frame=ndd.batch([np.int32(k) for k in (0, 5, 10)]),
        sequence_length=ndd.batch([np.int32(k) for k in (3, 1, 2)]),
        stride=ndd.batch([np.int32(k) for k in (1, 2, 4)]),
    )
    found = [np.asarray(clip) for clip in clips]
    assert [clip.shape for clip in found] == [(3, 64, 96, 3), (1, 80, 112, 3), (2, 64, 128, 3)]
    assert [shown_numbers(clip) for clip in found] == [[0, 1, 2], [5], [10, 14]]
    lists = ndd.batch([np.array([1, 0]), np.array([7]), np.array([2, 2, 3])])
    found = [np.asarray(clip) for clip in ndd.decoders.video(ndd.batch(files), frames=lists)]
    assert [shown_numbers(clip) for clip in found] == [[1, 0], [7], [2, 2, 3]]


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"frames": [1], "stride": 2}, ValueError, "'frames' cannot be combined"),
        ({"end_frame": 3, "sequence_length": 2}, ValueError, "exclude each other"),
        ({"pad_mode": "wrap"}, ValueError, "'pad_mode' must be .*'edge'.*got 'wrap'"),
        ({"stride": 0}, ValueError, "'stride' must be at least 1; got 0"),
        ({"sequence_length": -1}, ValueError, "'sequence_length' must be at least 0"),
        ({"fill_value": [1, 2]}, ValueError, "'fill_value' must be 1 or 3 numbers"),
        ({"fill_value": 256}, ValueError, "from 0 to 255"),
        ({"start_frame": 5, "end_frame": 5}, ValueError, "'end_frame' must be greater"),
        ({"start_frame": 10}, ndd.OpError, "'start_frame' 10 is out of bounds"),
        ({"frames": [3, 10], "pad_mode": "none"}, ndd.OpError, "no frame 10"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], kind: type[Exception], text: str
) -> None:
    data = numbered(10)
    with pytest.raises(kind, match=text) as raised:
        decode(data, **arguments)
    assert str(raised.value).startswith("decoders.video: ")


def test_what_is_not_a_video() -> None:
    for data, text in ((b"", "is empty"), (b"no video at all" * 99, "is not a video")):
        with pytest.raises(ndd.DecodeError, match=f"decoders.video: sample 0 {text}"):
            decode(data)
    with pytest.raises(ValueError, match="one-dimensional"):
        ndd.decoders.video(np.zeros((2, 2), np.uint8)).evaluate()


def audio_only() -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as output:
        stream = output.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), "s16", "mono")
        frame.sample_rate = 8000
        output.mux(stream.encode(frame))
    return file.getvalue()


def test_no_video_stream() -> None:
    with pytest.raises(ndd.DecodeError, match="has no video stream"):
        decode(audio_only())


def test_unknown_codec() -> None:
    data = numbered(3, "vp9-mkv").replace(b"V_VP9", b"V_XYZ")
    with pytest.raises(ndd.DecodeError, match="not supported"):
        decode(data)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "zeros": lambda packet: bytes(len(packet)),
    "ones": lambda packet: b"\xff" * len(packet),
    "noise": lambda packet: np.random.default_rng(0).bytes(len(packet)),
    "half": lambda packet: packet[: max(1, len(packet) // 2)],
}


def with_damage(data: bytes, number: int, container: str, damage: str = "ones") -> bytes:
    """The same video, but one packet holds nonsense."""
    file = io.BytesIO()
    with av.open(io.BytesIO(data)) as source, av.open(file, "w", format=container) as output:
        stream = output.add_stream_from_template(source.streams.video[0])
        for position, packet in enumerate(source.demux(source.streams.video[0])):
            if packet.dts is not None:
                if position == number:
                    broken = av.Packet(DAMAGE[damage](bytes(packet)))
                    broken.pts, broken.dts, broken.time_base = (
                        packet.pts,
                        packet.dts,
                        packet.time_base,
                    )
                    packet = broken
                packet.stream = stream
                output.mux(packet)
    return file.getvalue()


@pytest.mark.parametrize(
    "kind", ["h264-mp4", "hevc-mp4", "vp9-webm", "vp8-webm", "mpeg4-mov", "mjpeg-avi"]
)
def test_damage_in_the_middle(kind: str) -> None:
    data = with_damage(numbered(40, kind), 30, "avi" if kind == "mjpeg-avi" else "matroska")
    with pytest.raises(ndd.DecodeError, match=r"is damaged.* frame \d+ \(\d+\.\d+ s\)") as raised:
        decode(data)
    number = int(re.search(r"frame (\d+)", str(raised.value))[1])  # type: ignore[index]
    assert 26 <= number <= 34
    # What comes before is fine.
    assert shown_numbers(decode(data, end_frame=20)) == list(range(20))


def read_all(decoder: VideoDecoder) -> None:
    for number in range(decoder.index.frame_count):
        decoder.read(number)


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize(
    "kind", ["h264-mp4", "h264-open", "hevc-mp4", "vp9-webm", "vp9-mkv", "vp8-webm", "mpeg4-mov"]
)
def test_damage_is_noticed_on_any_number_of_threads(kind: str, damage: str) -> None:
    """Several threads of FFmpeg's VP9 decoder would go on with wrong pictures."""
    data = with_damage(numbered(40, kind), 29, "matroska", damage)
    for threads in (1, 2, 4):
        decoder = VideoDecoder(io.BytesIO(data), threads=threads)
        with pytest.raises(CodecError, match="is damaged"):
            read_all(decoder)
        decoder.close()


@pytest.mark.parametrize("kind", CODECS)
def test_random_damage(videos: dict[str, bytes], kind: str) -> None:
    """Whatever the damage, the result is frames or an error that says so."""
    rng = np.random.default_rng(6)
    good = 0
    for _ in range(30):
        data = as_array(videos[kind]).copy()
        offsets = rng.integers(0, len(data), rng.integers(1, 20))
        data[offsets] = rng.integers(0, 256, len(offsets))
        if rng.random() < 0.3:
            data = data[: rng.integers(1, len(data))]
        with contextlib.suppress(ndd.OpError):
            good += decode(data.tobytes(), stride=7).shape[3] == 3
    assert good < 30


def test_titles_in_any_encoding() -> None:
    data = numbered(3, container_options={"use_metadata_tags": "1"})
    broken = data.replace(b"Lavf", b"L\xe4\xf6f")
    assert broken != data
    assert shown_numbers(decode(broken)) == [0, 1, 2]


def test_cut_short() -> None:
    data = numbered(30, "vp9-webm")
    frames = decode(data[: len(data) // 2])
    assert 3 < len(frames) < 30
    assert shown_numbers(frames) == list(range(len(frames)))
    with pytest.raises(ndd.DecodeError, match="is not a video that can be opened"):
        decode(numbered(30, "h264-mp4")[:1000])


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_nothing_is_left_behind() -> None:
    good, bad = numbered(20), numbered(20)[:2000]
    decode(good)
    files, threads = open_files(), threading.active_count()
    for _ in range(3):
        decode(good, frames=[15, 3])
        with pytest.raises(ndd.DecodeError):
            decode(bad)
    assert open_files() == files
    assert threading.active_count() == threads


def test_pyav_is_optional() -> None:
    program = (
        "import sys; sys.modules['av'] = None\n"
        "import daliesque as ndd, numpy as np\n"
        "try: ndd.decoders.video(np.zeros(9, np.uint8)).evaluate()\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install daliesque[video]" in result.stdout, result.stderr


def test_the_native_conversion_checks_its_planes() -> None:
    out = ndd._kernels.empty_uniform(0, [1, 16, 16, 3], "FHWC", 1)
    y, c = memoryview(bytes(256)), memoryview(bytes(64))
    write = ndd._kernels.write_video_frame
    write(out, 0, 0, y, c, c, [16, 8, 8], True, True, False)
    for arguments in (
        (1, 0, y, c, c, [16, 8, 8]),
        (0, 1, y, c, c, [16, 8, 8]),
        (0, 0, y[:-1], c, c, [16, 8, 8]),
        (0, 0, y, c, c[:-1], [16, 8, 8]),
        (0, 0, y, c, c, [15, 8, 8]),
        (0, 0, y, c, c, [-16, 8, 8]),
    ):
        with pytest.raises(ndd.InternalError):
            write(out, *arguments, True, True, False)


def test_numbers_can_be_read_back() -> None:
    pictures = np.stack([np.repeat(numbered_luma(k)[..., None], 3, 2) for k in (0, 5, 4095)])
    assert shown_numbers(pictures) == [0, 5, 4095]
