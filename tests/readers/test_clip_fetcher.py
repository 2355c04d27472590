# SPDX-License-Identifier: Apache-2.0
"""Clips of several steps are decoded at the same time, which nobody notices but for the speed."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._codecs.pixels import CodecError
from daliesque._codecs.video import VideoDecoder
from daliesque._codecs.video_cache import DecoderPool
from daliesque._codecs.video_file import VideoFile
from support.reader_checks import assert_nothing_is_left, at_most_ahead, open_files
from support.video_makers import numbered, shown_numbers

FRAMES, LENGTH = 24, 4
CLIPS = FRAMES // LENGTH
SECONDS = 20.0


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    ndd.set_num_threads(2)
    yield
    ndd.set_num_threads(None)


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Three videos, whose frames show numbers from 0, 100 and 200 on."""
    made = [tmp_path / f"{name}.mp4" for name in ("one", "two", "three")]
    for number, path in enumerate(made):
        path.write_bytes(numbered(FRAMES, "h264-mp4", first=100 * number))
    return made


def damage(path: Path, packet: int) -> None:
    """Overwrite a packet of a file."""
    file = VideoFile(str(path), 1)
    position, size = [(packet.pos, packet.size) for packet in file.packets() if packet.size][packet]
    file.close()
    data = bytearray(path.read_bytes())
    data[position : position + size] = b"\xff" * size
    path.write_bytes(data)


def watch(
    monkeypatch: pytest.MonkeyPatch, around: Callable[[str, int, Callable[[], Any]], Any]
) -> None:
    """Call `around` with the name of a file, a frame, and the function that decodes it."""
    original = VideoDecoder.read

    def read(self: VideoDecoder, number: int) -> Any:
        name = Path(str(self._file._source)).name
        return around(name, number, lambda: original(self, number))

    monkeypatch.setattr(VideoDecoder, "read", read)


def make_reader(paths: list[Path], **options: Any) -> Any:
    names = [str(path) for path in paths]
    return ndd.experimental.readers.Video(filenames=names, sequence_length=LENGTH, **options)


def shown(step: Any) -> list[list[int]]:
    return [shown_numbers(np.asarray(clip)) for clip in step[0].tensors]


def clips_of(file: int) -> list[list[int]]:
    """What the clips of a file show."""
    begins = range(100 * file, 100 * file + FRAMES, LENGTH)
    return [list(range(begin, begin + LENGTH)) for begin in begins]


def test_the_next_file_is_decoded_meanwhile(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    second_began = threading.Event()

    def around(name: str, number: int, decode: Callable[[], Any]) -> Any:
        if name == "two.mp4":
            second_began.set()
        elif name == "one.mp4" and number == FRAMES - 1:
            assert second_began.wait(SECONDS)
        return decode()

    watch(monkeypatch, around)
    steps = [shown(step) for step in make_reader(paths).next_epoch(batch_size=CLIPS)]
    assert steps == [clips_of(0), clips_of(1), clips_of(2)]


@pytest.mark.parametrize("cause", ["damage", "a bug"])
def test_errors_keep_their_order(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    second_failed = threading.Event()
    if cause == "damage":
        damage(paths[1], 14)

    def around(name: str, number: int, decode: Callable[[], Any]) -> Any:
        if name == "one.mp4" and number == FRAMES - 1:
            assert second_failed.wait(SECONDS)
        if name == "two.mp4" and number == 14 and cause == "a bug":
            second_failed.set()
            raise ZeroDivisionError(cause)
        try:
            return decode()
        except CodecError:
            second_failed.set()
            raise

    watch(monkeypatch, around)
    epoch = make_reader(paths).next_epoch(batch_size=CLIPS)
    assert shown(next(epoch)) == clips_of(0)
    kind = ndd.DecodeError if cause == "damage" else ZeroDivisionError
    with pytest.raises(kind, match=r"two\.mp4, from frame \d+|a bug"):
        next(epoch)
    assert shown(next(epoch)) == clips_of(2)
    assert list(epoch) == []


@pytest.mark.parametrize("batch_size", [1, 4, CLIPS, 7])
def test_skipping_goes_on_with_the_clips_that_follow(paths: list[Path], batch_size: int) -> None:
    damage(paths[1], 14)
    reader = make_reader(paths, on_error="skip")
    delivered = [clip for step in reader.next_epoch(batch_size=batch_size) for clip in shown(step)]
    failed = {int(error.source.rpartition(" ")[2]) // LENGTH for error in reader.errors}
    assert 14 // LENGTH in failed
    assert len(failed) <= 4
    good = [clip for index, clip in enumerate(clips_of(1)) if index not in failed]
    in_order = clips_of(0) + good + clips_of(2)
    assert delivered == (in_order * 2)[: len(delivered)]
    assert len(delivered) >= 3 * CLIPS


@pytest.mark.parametrize("depth", [1, 3])
def test_no_more_steps_than_expected(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    frames: set[tuple[str, int]] = set()

    def around(name: str, number: int, decode: Callable[[], Any]) -> Any:
        frames.add((name, number))
        return decode()

    watch(monkeypatch, around)
    epoch = make_reader(paths, prefetch_queue_depth=depth).next_epoch(batch_size=2)
    for step in range(1, 4):
        next(epoch)
        # The steps in the queue, and one that is ready to be queued.
        most = 2 * LENGTH * (step + depth + 1)
        deadline = time.monotonic() + SECONDS
        while len(frames) < most and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        assert len(frames) == most


def test_bytes_are_bounded(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that are too large to have two of them in memory are decoded one after the other."""
    names: list[str] = []

    def around(name: str, _number: int, decode: Callable[[], Any]) -> Any:
        names.append(name)
        time.sleep(0.001)
        return decode()

    watch(monkeypatch, around)
    with at_most_ahead(2 * FRAMES * 64 * 96 * 3 - 1):
        for _ in make_reader(paths).next_epoch(batch_size=CLIPS):
            pass
    assert names == [path.name for path in paths for _ in range(FRAMES)]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_leaving_ends_what_is_under_way(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    began, go_on = threading.Event(), threading.Event()

    def around(name: str, number: int, decode: Callable[[], Any]) -> Any:
        if name == "one.mp4" and number == FRAMES - 1:
            assert began.wait(SECONDS)
        if name == "three.mp4":
            began.set()
            assert go_on.wait(SECONDS)
        return decode()

    watch(monkeypatch, around)
    before = set(threading.enumerate())
    reader = make_reader([paths[0], paths[2], paths[1]])
    epoch = reader.next_epoch(batch_size=CLIPS)
    assert shown(next(epoch)) == clips_of(0)
    started = set(threading.enumerate()) - before
    assert open_files(paths[0].parent) != []
    del epoch, reader
    go_on.set()
    assert_nothing_is_left(paths[0].parent, started)


def test_memory_goes_with_the_batch(paths: list[Path]) -> None:
    """No circle of references keeps frames until the garbage is collected."""
    gc.collect()
    gc.disable()
    try:
        epoch = make_reader(paths).next_epoch(batch_size=CLIPS)
        for _ in epoch:
            pass
        kept = [item for item in gc.get_objects() if type(item).__name__ == "ClipBatch"]
    finally:
        gc.enable()
    assert kept == []


def test_the_decoder_that_is_nearest(paths: list[Path]) -> None:
    """Of the idle decoders: the one that need not seek, else the one that has waited longest."""
    pool = DecoderPool(8, 0)
    path = str(paths[0])
    taken = [pool.take(path, 0, 1) for _ in range(3)]
    # Keyframes are 0 and 12.
    for (version, decoder), frame in zip(taken, (13, 2, 6), strict=True):
        decoder.read(frame)
        pool.give(version, decoder)
    first, second, third = (decoder for _, decoder in taken)
    order = [pool.take(path, frame, 1)[1] for frame in (8, 15, 0)]
    assert order == [third, first, second]
    for decoder in order:
        decoder.close()
