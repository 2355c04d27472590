# SPDX-License-Identifier: Apache-2.0
"""readers.Video, readers.VideoResize and experimental.readers.Video."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._codecs.video import VideoDecoder
from daliesque._codecs.video_file import VideoFile
from support.compare import assert_close
from support.reader_checks import assert_nothing_is_left, assert_resumes, open_files, values_of
from support.video_makers import RATE, numbered, shown_numbers

COUNT = 40
New = ndd.experimental.readers.Video
Old = ndd.readers.Video
both = pytest.mark.parametrize("kind", [New, Old])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Videos in two sub-folders; their frames show 0 to 39, 100 to 124, and 200 to 229."""
    root = tmp_path_factory.mktemp("videos")
    for name, data in {
        "a/one.mp4": numbered(COUNT, "h264-mp4"),
        "a/two.avi": numbered(25, "mjpeg-avi", first=100),
        "b/three.webm": numbered(30, "vp9-webm", (80, 112), first=200),
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    return root


def clips_of(reader: Any, batch_size: int | None = 3) -> list[list[Any]]:
    """What the frames of each clip show, then its other outputs."""
    clips = []
    for outputs in reader.next_epoch(batch_size=batch_size):
        columns = [[out] if batch_size is None else out.tensors for out in outputs]
        for frames, *others in zip(*columns, strict=True):
            values = [np.asarray(other).tolist() for other in others]
            clips.append([shown_numbers(np.asarray(frames)), *values])
    return clips


def list_file(folder: Path, *lines: str) -> str:
    path = folder / f"list {time.monotonic_ns()}.txt"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@both
def test_clips_of_a_folder(kind: Any, folder: Path) -> None:
    clips = clips_of(kind(file_root=folder, sequence_length=10), None)
    firsts = [*range(0, 40, 10), 100, 110, 200, 210, 220]
    labels = [0] * 6 + [1] * 3
    assert clips == [
        [list(range(first, first + 10)), [label]]
        for first, label in zip(firsts, labels, strict=True)
    ]


@both
def test_clips_labels_and_times(kind: Any, folder: Path) -> None:
    path = str(folder / "b/three.webm")
    reader = kind(
        filenames=[path],
        labels=[7],
        sequence_length=3,
        stride=2,
        step=20,
        enable_frame_num="sequence",
        enable_timestamps=True,
    )
    (outputs,) = reader.next_epoch(batch_size=2)
    frames, labels, numbers, times = outputs
    assert frames.layout == "FHWC"
    assert frames.shape == [(3, 80, 112, 3)] * 2
    assert list(frames.source) == [path, path]
    assert [out.dtype for out in outputs] == [ndd.uint8, ndd.int32, ndd.int32, ndd.float64]
    assert labels.torch().tolist() == [[7], [7]]
    assert numbers.torch().tolist() == [[0, 2, 4], [20, 22, 24]]
    assert_close(times.torch(), np.array([[0, 2, 4], [20, 22, 24]]) / RATE, "one rounding")


@both
@pytest.mark.parametrize("value", [True, "scalar", "True"])
def test_number_of_the_first_frame(kind: Any, folder: Path, value: Any) -> None:
    path = folder / "a/one.mp4"
    reader = kind(filenames=path, labels=0, sequence_length=15, enable_frame_num=value)
    assert [clip[2] for clip in clips_of(reader, 1)] == [[0], [15]]


@pytest.mark.parametrize(
    ("mode", "tail"),
    [
        ("none", None),
        ("constant", [36, 37, 38, 39, -1, -1]),
        ("edge", [36, 37, 38, 39, 39, 39]),
        ("symmetric", [36, 37, 38, 39, 39, 38]),
        ("reflect_101", [36, 37, 38, 39, 38, 37]),
    ],
)
def test_padding(folder: Path, mode: str, tail: list[int] | None) -> None:
    reader = New(
        filenames=folder / "a/one.mp4",
        sequence_length=6,
        pad_mode=mode,
        fill_value=[1, 2, 3],
        enable_frame_num="sequence",
        enable_timestamps=True,
    )
    steps = list(reader.next_epoch(batch_size=1))
    assert len(steps) == (6 if tail is None else 7)
    if tail is not None:
        frames, numbers, times = (np.asarray(out.tensors[0]) for out in steps[-1])
        assert numbers.tolist() == tail
        assert_close(times, [-1 if n < 0 else n / RATE for n in tail], "one rounding")
        for frame, number in zip(frames, tail, strict=True):
            if number < 0:
                assert (frame == [1, 2, 3]).all()
            else:
                assert shown_numbers(frame[np.newaxis]) == [number]


def test_padding_of_the_older_reader(folder: Path) -> None:
    path = folder / "a/two.avi"
    arguments: dict[str, Any] = {"filenames": path, "sequence_length": 4, "stride": 2, "step": 7}
    plain = clips_of(Old(**arguments), 1)
    assert [clip[0][0] for clip in plain] == [100, 107, 114]
    padded = Old(
        **arguments, pad_sequences=True, labels=[], enable_frame_num="sequence", enable_timestamps=1
    )
    steps = list(padded.next_epoch(batch_size=1))
    assert len(steps) == 4
    frames, labels, numbers, times = (np.asarray(out.tensors[0]) for out in steps[-1])
    assert (frames[2:] == 0).all()
    assert labels.tolist() == [0]
    assert numbers.tolist() == [21, 23, -1, -1]
    assert times.tolist() == [21 / RATE, 23 / RATE, -1, -1]


def test_uniform_samples(folder: Path) -> None:
    names = [folder / "a/one.mp4", folder / "a/two.avi"]
    reader = New(filenames=names, sequence_length=5, uniform_sample=True)
    assert [clip[0] for clip in clips_of(reader, 2)] == [
        [0, 10, 20, 29, 39],
        [100, 106, 112, 118, 124],
    ]
    reader = New(filenames=names[0], sequence_length=1, uniform_sample=True)
    assert clips_of(reader, 1) == [[[0]]]
    many = New(filenames=names[1], sequence_length=60, uniform_sample=True)
    (clip,) = clips_of(many, 1)
    expected = np.floor(np.linspace(0, 24, 60) + 0.5).astype(int) + 100
    assert clip[0] == expected.tolist()


def first_and_last(reader: Any) -> list[tuple[int, int]]:
    return [(clip[0][0], clip[0][-1]) for clip in clips_of(reader, None)]


def test_parts_of_files(folder: Path) -> None:
    one = folder / "a/one.mp4"
    listed = list_file(folder, f"{one} 3 0.2 0.8", "a/two.avi 5", "", "b/three.webm 1 1.0")
    found = clips_of(New(file_list=listed, sequence_length=15), None)
    assert [(clip[0][0], clip[1]) for clip in found] == [(5, [3]), (100, [5])]
    reader = New(file_list=listed, sequence_length=5)
    assert first_and_last(reader)[-1] == (225, 229)
    frames = list_file(folder, f"{one} 0 -10 -2", f"{one} 0 3 9")
    reader = New(file_list=frames, sequence_length=3, file_list_format="frames")
    assert first_and_last(reader) == [(30, 32), (33, 35), (3, 5), (6, 8)]


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("start_down_end_up", (5, 10)),
        ("start_up_end_down", (6, 9)),
        ("all_up", (6, 10)),
        ("all_down", (5, 9)),
    ],
)
@pytest.mark.parametrize("unit", ["frames", "timestamps"])
def test_rounding(folder: Path, rounding: str, expected: tuple[int, int], unit: str) -> None:
    scale = 1 if unit == "frames" else RATE
    listed = list_file(folder, f"{folder}/a/one.mp4 0 {5.5 / scale} {9.5 / scale}")
    reader = New(
        file_list=listed, sequence_length=1, file_list_format=unit, file_list_rounding=rounding
    )
    shown = [clip[0][0] for clip in clips_of(reader, None)]
    assert (shown[0], shown[-1] + 1) == expected


@pytest.mark.parametrize(
    ("begin", "end", "frames", "outwards", "expected"),
    [
        (0.2, 0.8, False, False, (5, 20)),
        (0.21, 0.79, False, False, (6, 19)),
        (0.21, 0.79, False, True, (5, 20)),
        (0.28, 0, False, False, (7, 40)),
        (-0.4, -0.2, False, False, (30, 35)),
        (5, 20, True, False, (5, 20)),
        (5.5, 20.5, True, True, (6, 20)),
        (-5, 0, True, False, (35, 40)),
        (-8, -2, True, False, (32, 38)),
    ],
)
def test_parts_of_the_older_reader(
    folder: Path,
    begin: float,
    end: float,
    frames: bool,
    outwards: bool,
    expected: tuple[int, int],
) -> None:
    reader = Old(
        file_list=list_file(folder, f"{folder}/a/one.mp4 2 {begin} {end}"),
        sequence_length=1,
        file_list_frame_num=frames,
        file_list_include_preceding_frame=outwards,
    )
    shown = [clip[0][0] for clip in clips_of(reader, None)]
    assert (shown[0], shown[-1] + 1) == expected


def test_times_of_a_variable_frame_rate(tmp_path: Path) -> None:
    stamps = np.cumsum(np.random.default_rng(0).integers(1, 9, COUNT))
    path = tmp_path / "variable.mkv"
    path.write_bytes(numbered(COUNT, "vp9-mkv", stamps=stamps.tolist()))
    times = (stamps - stamps[0]) / RATE
    begin, end = times[10], times[20]
    listed = list_file(tmp_path, f"{path} 0 {begin} {end}")
    assert first_and_last(Old(file_list=listed, sequence_length=10)) == [(10, 19)]
    reader = New(filenames=path, sequence_length=8, enable_timestamps=True)
    found = np.concatenate([clip[1] for clip in clips_of(reader, None)])
    assert_close(found, times, "timestamps of files")


@both
def test_colors_and_types(kind: Any, folder: Path) -> None:
    path = folder / "a/two.avi"
    (rgb,) = next(kind(filenames=path, sequence_length=2).next_epoch(batch_size=1))
    (ycc,) = next(
        kind(filenames=path, sequence_length=2, image_type=ndd.types.YCbCr).next_epoch(batch_size=1)
    )
    rgb_values, ycc_values = (np.asarray(out.tensors[0]).astype(int) for out in (rgb, ycc))
    # The pictures are gray, and Motion JPEG uses the full range.
    assert np.abs(ycc_values[..., 0] - rgb_values[..., 1]).max() <= 1
    assert np.abs(ycc_values[..., 1:] - 128).max() <= 1


def test_floating_point(folder: Path) -> None:
    path = folder / "a/one.mp4"
    values = []
    for options in ({}, {"dtype": ndd.float32}, {"dtype": ndd.float32, "normalized": True}):
        (frames,) = next(Old(filenames=path, sequence_length=4, **options).next_epoch(batch_size=2))
        values.append(np.stack([np.asarray(clip) for clip in frames]))
    assert [str(array.dtype) for array in values] == ["uint8", "float32", "float32"]
    np.testing.assert_array_equal(values[1], values[0])
    np.testing.assert_array_equal(values[2], values[0].astype(np.float32) / np.float32(255))


@pytest.mark.parametrize(
    "resizing",
    [
        {"size": [40, 50]},
        {"resize_shorter": 32.0},
        {"resize_x": 20, "interp_type": ndd.types.INTERP_NN},
        {"resize_longer": 60, "roi_start": [0.1, 0.2], "roi_end": [0.9, 0.7], "roi_relative": True},
        {"size": [30, 30], "dtype": ndd.float32, "antialias": False},
    ],
)
def test_resize(folder: Path, resizing: dict[str, Any]) -> None:
    dtype = resizing.pop("dtype", ndd.uint8)
    arguments: dict[str, Any] = {"file_root": folder, "sequence_length": 5, "dtype": dtype}
    plain = Old(**arguments).next_epoch(batch_size=4)
    for (frames, labels), (resized, same) in zip(
        plain,
        ndd.readers.VideoResize(**arguments, **resizing).next_epoch(batch_size=4),
        strict=True,
    ):
        assert values_of((labels,)) == values_of((same,))
        expected = ndd.resize(frames, **resizing)
        assert resized.dtype == dtype
        for ours, theirs in zip(resized, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("batch_size", [None, 1, 3, 5])
def test_shards_make_up_the_data(folder: Path, batch_size: int | None) -> None:
    arguments: dict[str, Any] = {"file_root": folder, "sequence_length": 4, "step": 3}
    whole = clips_of(New(**arguments), None)
    for shards in (1, 2, 3):
        found: list[Any] = []
        for shard in range(shards):
            reader = New(**arguments, num_shards=shards, shard_id=shard, stick_to_shard=True)
            size = len(whole) * (shard + 1) // shards - len(whole) * shard // shards
            found += clips_of(reader, batch_size)[:size]
        assert found == whole


def test_shuffling(folder: Path) -> None:
    def make(seed: int) -> Any:
        return New(file_root=folder, sequence_length=4, random_shuffle=True, seed=seed)

    plain = clips_of(New(file_root=folder, sequence_length=4), None)
    first, again, other = make(5), make(5), make(6)
    epochs = [clips_of(first, None) for _ in range(2)]
    assert epochs == [clips_of(again, None) for _ in range(2)]
    assert epochs[0] != plain != clips_of(other, None)
    assert epochs[0] != epochs[1]
    assert sorted(map(str, epochs[0])) == sorted(map(str, plain))


@both
def test_resuming(kind: Any, folder: Path) -> None:
    def make() -> Any:
        return kind(file_root=folder, sequence_length=12, random_shuffle=True, seed=3)

    assert_resumes(make, 2, epochs=2)
    assert_resumes(make, None, epochs=1, used=True)


def test_nothing_is_decoded_twice(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clips that follow each other, or overlap, share one pass over the file."""
    path = tmp_path / "one.mp4"
    path.write_bytes((folder / "a/one.mp4").read_bytes())
    decoders = set()
    original = VideoDecoder.read

    def note(self: VideoDecoder, number: int) -> Any:
        # Readers of other tests may still be at work.
        if self._file._source == str(path):
            decoders.add(self)
        return original(self, number)

    monkeypatch.setattr(VideoDecoder, "read", note)
    for step, batch_size in ((4, 5), (2, 19), (1, 37), (1, None), (3, None), (2, 1)):
        decoders.clear()
        reader = New(filenames=path, sequence_length=4, step=step)
        clips = clips_of(reader, batch_size)
        assert [clip[0] for clip in clips] == [
            list(range(start, start + 4)) for start in range(0, COUNT - 3, step)
        ]
        assert sum(decoder.decoded for decoder in decoders) <= COUNT + 4


def test_a_late_clip_begins_at_a_keyframe(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "late.mp4"
    path.write_bytes((folder / "a/one.mp4").read_bytes())
    made: list[VideoDecoder] = []
    original = VideoDecoder.read

    def note(self: VideoDecoder, number: int) -> Any:
        # Readers of other tests may still be at work.
        if self._file._source == str(path):
            made.append(self)
        return original(self, number)

    monkeypatch.setattr(VideoDecoder, "read", note)
    listed = list_file(tmp_path, f"{path} 0 37 39")
    reader = New(file_list=listed, file_list_format="frames", sequence_length=2)
    assert clips_of(reader, 1)[0][0] == [37, 38]
    assert made
    assert {decoder.decoded for decoder in made} <= set(range(1, 20))


@both
@pytest.mark.parametrize("fault", ["missing", "empty", "text", "cut", "codec"])
def test_files_that_cannot_be_opened(kind: Any, folder: Path, tmp_path: Path, fault: str) -> None:
    bad = tmp_path / "bad.mp4"
    if fault != "missing":
        good = (folder / "a/one.mp4").read_bytes()
        unknown = (folder / "a/two.avi").read_bytes().replace(b"MJPG", b"QQQQ")
        contents = {"empty": b"", "text": b"words " * 500, "cut": good[:1500], "codec": unknown}
        bad.write_bytes(contents[fault])
    names = [bad, folder / "a/two.avi"]
    expected = FileNotFoundError if fault == "missing" else ndd.DecodeError
    with pytest.raises(expected, match=rf'readers.Video: cannot open "{bad}"'):
        kind(filenames=names, sequence_length=5)
    reader = kind(filenames=names, sequence_length=5, on_error="skip")
    assert len(clips_of(reader, 1)) == 5
    assert [error.source for error in reader.errors] == [str(bad)]
    with pytest.raises(ValueError, match="there are no samples"):
        kind(filenames=[bad], sequence_length=5, on_error="skip")


@both
def test_damage_in_the_middle(kind: Any, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "damaged.mp4"
    data = bytearray(numbered(COUNT, "h264-mp4"))
    file = VideoFile(str(folder / "a/one.mp4"), 1)
    packets = [(packet.pos, packet.size) for packet in file.packets() if packet.size]
    file.close()
    position, size = packets[20]
    data[position : position + size] = b"\xff" * size
    path.write_bytes(data)
    reader = kind(filenames=[path], sequence_length=4)
    with pytest.raises(ndd.DecodeError, match=r"damaged.mp4, from frame \d+.*frame \d+ \(.* s\)"):
        clips_of(reader, 2)
    reader = kind(filenames=[path], sequence_length=4, on_error="skip")
    clips = clips_of(reader, None)
    shown = {clip[0][0] for clip in clips}
    assert {0, 4, 8, 36} <= shown
    assert shown.isdisjoint({20})
    assert 1 <= len(reader.errors) <= 4


@both
def test_a_file_that_goes_away_or_changes(kind: Any, folder: Path, tmp_path: Path) -> None:
    paths = [tmp_path / "one.mp4", tmp_path / "two.mp4"]
    for path in paths:
        path.write_bytes((folder / "a/one.mp4").read_bytes())
    reader = kind(filenames=paths, sequence_length=20)
    assert len(clips_of(reader, 2)) == 4
    paths[0].unlink()
    with pytest.raises(FileNotFoundError, match=r"one\.mp4"):
        clips_of(reader, 1)
    paths[0].write_bytes((folder / "b/three.webm").read_bytes())
    with pytest.raises(ndd.DecodeError, match="has changed"):
        clips_of(reader, 1)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "exactly one of"),
        ({"filenames": ["x"], "file_root": "y"}, "exactly one of"),
        ({"file_root": "x", "labels": [1]}, "'labels' go with 'filenames' only"),
        ({"filenames": ["x"], "labels": [1, 2]}, "got 2 for 1 files"),
        ({"filenames": ["x"], "sequence_length": 0}, "'sequence_length' must be at least 1"),
        ({"filenames": ["x"], "stride": 0}, "'stride' must be at least 1"),
        ({"filenames": ["x"], "enable_frame_num": "all"}, "'enable_frame_num' must be"),
        ({"filenames": ["x"], "image_type": ndd.types.GRAY}, "'image_type' must be RGB or YCbCr"),
    ],
)
@both
def test_wrong_arguments_are_refused(kind: Any, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text) as raised:
        kind(**{"sequence_length": 3, **arguments})
    assert "readers.Video: " in str(raised.value)


def test_wrong_arguments_of_one_reader(folder: Path) -> None:
    path = folder / "a/one.mp4"
    for kind, arguments, text in (
        (New, {"pad_mode": "wrap"}, "'pad_mode' must be"),
        (New, {"fill_value": [300]}, "'fill_value' must be"),
        (New, {"file_list_format": "minutes"}, "'file_list_format' must be"),
        (New, {"file_list_rounding": "up"}, "'file_list_rounding' must be"),
        (New, {"labels": []}, "'labels' needs one for each file"),
        (Old, {"channels": 1}, "'channels' must be 3"),
        (Old, {"dtype": ndd.int16}, "'dtype' must be uint8 or float32"),
        (Old, {"enable_timestamps": True}, "need 'file_list'"),
        (New, {"sequence_length": 50}, "no video is long enough"),
    ):
        with pytest.raises(ValueError, match=text):
            kind(**{"filenames": path, "sequence_length": 3, **arguments})
    for line in ("", "name", "name x", "name -1", "name 1 2 3 4", "name 1 nan 3"):
        with pytest.raises(ValueError, match=r"line 1 of the list|is empty"):
            New(file_list=list_file(folder, line), sequence_length=3)
    listed = list_file(folder, f"{path} 0 5 50")
    with pytest.raises(ValueError, match=r"\[5, 50\); it has 40"):
        Old(file_list=listed, file_list_frame_num=True, sequence_length=3)
    with pytest.warns(UserWarning, match="is empty"):
        New(file_list=list_file(folder, f"{path} 0 2 2", f"{path} 1"), sequence_length=3)
    with pytest.warns(UserWarning, match="none of which"):
        New(file_list=list_file(folder, f"{path} 0 9.5 10", f"{path} 1"), sequence_length=3)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_nothing_is_left_behind(folder: Path, tmp_path: Path) -> None:
    """An epoch that is left ends its reading in the background; then all files are closed.

    Other tests may still have files open and threads running: only those of this test count.
    """
    path, bad = tmp_path / "good.mp4", tmp_path / "bad.mp4"
    path.write_bytes((folder / "a/one.mp4").read_bytes())
    bad.write_bytes(path.read_bytes()[:2000])

    before = set(threading.enumerate())
    reader = New(filenames=[path], sequence_length=4, random_shuffle=True)
    epoch = reader.next_epoch(batch_size=2)
    next(epoch)
    assert open_files(tmp_path) != []
    with pytest.raises(ndd.DecodeError):
        New(filenames=[bad], sequence_length=4)
    started = set(threading.enumerate()) - before
    assert started != set()
    del epoch, reader
    assert_nothing_is_left(tmp_path, started)


@pytest.mark.filterwarnings("ignore")
def test_after_a_fork(folder: Path) -> None:
    """A reader that has files open works in a forked process, and in both at the same time."""
    import multiprocessing

    reader = New(filenames=folder / "a/one.mp4", sequence_length=4)
    expected = clips_of(reader, 2)

    def work(results: Any) -> None:
        results.put(clips_of(reader, 2))

    context = multiprocessing.get_context("fork")
    results = context.Queue()
    children = [context.Process(target=work, args=(results,)) for _ in range(2)]
    for child in children:
        child.start()
    assert clips_of(reader, 2) == expected
    assert [results.get(timeout=60) for _ in children] == [expected] * 2
    for child in children:
        child.join(60)
        assert child.exitcode == 0
