# SPDX-License-Identifier: Apache-2.0
"""Decoders in other processes: the same results, and files that end a process cost one sample."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._isolated.messages import Broken, Failure, receive_answer, send, write_arrays
from support.audio_makers import pcm, signal, wav
from support.image_makers import png, save
from support.video_makers import numbered

# Widths of images that make the codec in the child do what codecs should not.
CRASH, SLEEP, SPIN, FILL, END, ABORT, NONSENSE = range(11, 18)
# Python runs this when a child starts.
CODEC = f"""
import imagecodecs, json, os, signal, sys, time
real = imagecodecs.webp_decode
def decode(data, *args, **kwargs):
    array = real(data, *args, **kwargs)
    width = array.shape[1]
    if width == {CRASH}:
        os.kill(os.getpid(), signal.SIGSEGV)
    if width == {SLEEP}:
        time.sleep(1000)
    while width == {SPIN}:
        pass
    if width == {FILL}:
        bytearray(1 << 34)
    if width == {END}:
        os._exit(3)
    if width == {ABORT}:
        os.abort()
    if width == {NONSENSE}:
        os.write(json.loads(sys.argv[1])["answers"], b"\\xff" * 100)
    return array
imagecodecs.webp_decode = decode
"""


def image(width: int) -> bytes:
    return png(np.full((5, width, 3), width, np.uint8), 8, 2)


def foreign(width: int) -> bytes:
    """An image for the codec that the child may have been given."""
    array = np.full((5, width, 3), width, np.uint8)
    return save(array, "WEBP", lossless=True)


@pytest.fixture(scope="module")
def decoders() -> Iterator[ndd.decoders.IsolatedDecoders]:
    with ndd.decoders.isolated(processes=2, timeout=60.0) as isolated:
        yield isolated


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children have a codec that crashes on demand."""
    (tmp_path / "sitecustomize.py").write_text(CODEC)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def assert_same(found: Any, expected: Any) -> None:
    for one, two in zip(
        found if isinstance(found, tuple) else (found,),
        expected if isinstance(expected, tuple) else (expected,),
        strict=True,
    ):
        assert type(one) is type(two)
        assert one.layout == two.layout
        assert one.dtype == two.dtype
        assert one.source == two.source
        pairs = zip(one, two, strict=True) if isinstance(one, ndd.Batch) else [(one, two)]
        for a, b in pairs:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize(
    ("arguments"),
    [
        {},
        {"dtype": ndd.float32, "output_type": ndd.types.DALIImageType.GRAY},
        {"dtype": np.uint16, "output_type": "bgr", "adjust_orientation": False},
    ],
)
def test_images_are_the_same(
    decoders: ndd.decoders.IsolatedDecoders, arguments: dict[str, Any], tmp_path: Path
) -> None:
    files = [image(width) for width in (20, 30, 7, 8, 9)]
    assert_same(decoders.image(files, **arguments), ndd.decoders.image(files, **arguments))
    path = tmp_path / "a.png"
    path.write_bytes(files[0])
    assert_same(decoders.image(str(path), **arguments), ndd.decoders.image(str(path), **arguments))
    assert_same(
        decoders.image(io.BytesIO(files[0]), **arguments), ndd.decoders.image(files[0], **arguments)
    )


def test_windows_are_the_same(decoders: ndd.decoders.IsolatedDecoders) -> None:
    rng = np.random.default_rng(1)
    files = [png(rng.integers(0, 256, (40, width, 3), np.uint8), 8, 2) for width in (20, 30, 50)]
    each = {"crop_w": ndd.batch([5.0, 6.0, 7.0]), "crop_h": 9}
    assert_same(decoders.image_crop(files, **each), ndd.decoders.image_crop(files, **each))
    ends = {"start": [1, 2], "rel_end": [0.5, 0.75], "axis_names": "WH"}
    assert_same(decoders.image_slice(files, **ends), ndd.decoders.image_slice(files, **ends))
    anchors = ndd.batch([[0.1, 0.2], [0.3, 0.4], [0.0, 0.5]], dtype=ndd.float32)
    shapes = np.array([0.5, 0.25], np.float32)
    assert_same(
        decoders.image_slice(files, anchors, shapes),
        ndd.decoders.image_slice(files, anchors, shapes),
    )


def test_random_windows_are_the_same(decoders: ndd.decoders.IsolatedDecoders) -> None:
    rng = np.random.default_rng(2)
    files = [
        png(rng.integers(0, 256, (60, width, 3), np.uint8), 8, 2) for width in (60, 70, 80, 90)
    ]
    first, second = ndd.random.RNG(seed=3), ndd.random.RNG(seed=3)
    for arguments in ({}, {"random_area": [0.1, 0.3], "num_attempts": 3}):
        assert_same(
            decoders.image_random_crop(files, rng=first, **arguments),
            ndd.decoders.image_random_crop(files, rng=second, **arguments),
        )
    assert first.get_state() == second.get_state()


def test_other_decoders_are_the_same(decoders: ndd.decoders.IsolatedDecoders) -> None:
    data, bits, _ = pcm(signal(400, 2, seed=1), "i16")
    waves = wav(data, bits, 2, 8000)
    rates = ndd.batch([0.0, 4000.0])
    assert_same(
        decoders.audio([waves, waves], sample_rate=rates, downmix=True),
        ndd.decoders.audio([waves, waves], sample_rate=rates, downmix=True),
    )
    clip = numbered(5, "mjpeg-avi")
    assert_same(decoders.video(clip, stride=2), ndd.decoders.video(clip, stride=2))
    file = io.BytesIO()
    np.save(file, np.arange(6.0).reshape(2, 3))
    assert_same(decoders.numpy(file.getvalue()), ndd.decoders.numpy(file.getvalue()))


@pytest.mark.usefixtures("hostile")
def test_a_codec_that_fails_costs_one_sample() -> None:
    reasons = {
        CRASH: r"made its decoder crash \(SIGSEGV\)",
        SLEEP: "took longer than 2 s to decode",
        SPIN: "took longer than 2 s to decode",
        FILL: "takes more than 300000000 bytes to decode",
        END: "made its decoder end with the code 3",
        ABORT: r"made its decoder crash \(SIGABRT\)",
        NONSENSE: "made its decoder answer nonsense",
    }
    widths = [20, CRASH, 21, SLEEP, 22, SPIN, FILL, END, 23, ABORT, NONSENSE, 24]
    with ndd.decoders.isolated(
        processes=2, timeout=2.0, memory=300_000_000, on_error="skip"
    ) as decoders:
        images, failed = decoders.image([foreign(width) for width in widths])
        assert [sample.shape for sample in images] == [(5, k, 3) for k in (20, 21, 22, 23, 24)]
        for sample in images:
            assert (np.asarray(sample) == sample.shape[1]).all()
        assert [sample.index for sample in failed] == [
            k for k, width in enumerate(widths) if width in reasons
        ]
        for sample in failed:
            assert sample.source is None
            reason = reasons[widths[sample.index]]
            assert type(sample.exception) is ndd.DecodeError
            assert re.match(
                rf"decoders\.image: sample {sample.index} {reason}", str(sample.exception)
            )
        with pytest.raises(ndd.DecodeError, match="sample 0 made its decoder crash"):
            decoders.image(foreign(CRASH))


@pytest.mark.usefixtures("hostile")
def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "upload.webp"
    path.write_bytes(foreign(CRASH))
    message = r'sample 1 \(".*upload.webp"\) made its decoder crash'
    with (
        ndd.decoders.isolated(processes=1) as decoders,
        pytest.raises(ndd.DecodeError, match=message),
    ):
        decoders.image([image(20), str(path)])


def test_damaged_files_and_wrong_arguments(decoders: ndd.decoders.IsolatedDecoders) -> None:
    def outcome(call: Callable[[Any], Any], kind: Any) -> tuple[type, str]:
        try:
            result = call(kind)
            (result[0] if isinstance(result, tuple) else result).evaluate()
        except (ndd.OpError, ValueError, TypeError) as error:
            return type(error), str(error)
        raise AssertionError

    for call in (
        lambda kind: kind.image([image(20), image(21)[:60]]),
        lambda kind: kind.image(b"no image"),
        lambda kind: kind.image(image(20), dtype=ndd.float64),
        lambda kind: kind.image(image(20), no_such_argument=1),
        lambda kind: kind.image_crop(image(20), crop=[100, 100]),
        lambda kind: kind.audio(b"no audio"),
    ):
        assert outcome(call, decoders) == outcome(call, ndd.decoders)
    with pytest.raises(ValueError, match="neither 'batch_size' nor a device"):
        decoders.image(image(20), batch_size=3)
    with pytest.raises(ValueError, match="same size; got 3 and 2"):
        decoders.image_crop([image(20)] * 2, crop_w=ndd.batch([1.0] * 3), crop_h=1)


def test_limits_of_the_parent_hold(decoders: ndd.decoders.IsolatedDecoders) -> None:
    previous = ndd.decoders.set_max_pixels(50)
    try:
        with pytest.raises(ndd.DecodeError, match="has 5 x 20 pixels, more than the limit of 50"):
            decoders.image(image(20))
    finally:
        ndd.decoders.set_max_pixels(previous)
    assert decoders.image(image(20)).shape == (5, 20, 3)


def test_a_bomb_fills_only_its_own_process() -> None:
    bomb = b"\x89PNG\r\n\x1a\n" + b"".join(
        len(part).to_bytes(4, "big") + name + part + zlib.crc32(name + part).to_bytes(4, "big")
        for name, part in (
            (b"IHDR", (8000).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])),
            (b"IDAT", zlib.compress(bytes(8000 * 24001), 1)),
            (b"IEND", b""),
        )
    )
    with ndd.decoders.isolated(processes=1, memory=100_000_000) as decoders:
        with pytest.raises(ndd.DecodeError, match="sample 0 takes more than 100000000 bytes"):
            decoders.image(bomb)
        assert decoders.image(image(20)).shape == (5, 20, 3)


def test_threads_share_the_processes(decoders: ndd.decoders.IsolatedDecoders) -> None:
    found: dict[int, Any] = {}

    def work(width: int) -> None:
        found[width] = decoders.image([image(width)] * 5)

    threads = [threading.Thread(target=work, args=(width,)) for width in range(20, 28)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {width: set(found[width].shape) for width in found} == {
        width: {(5, width, 3)} for width in range(20, 28)
    }


def test_closed_decoders_leave_nothing_behind() -> None:
    # Python's own process for shared memory stays, whoever needed it first.
    resource_tracker.ensure_running()
    before, others = len(os.listdir("/proc/self/fd")), children_of(os.getpid())
    decoders = ndd.decoders.isolated(processes=2)
    decoders.image([image(20)] * 4)
    children = children_of(os.getpid()) - others
    assert len(children) == 2
    decoders.close()
    assert not children & children_of(os.getpid())
    assert len(os.listdir("/proc/self/fd")) <= before + 1
    with pytest.raises(RuntimeError, match="the decoders were closed"):
        decoders.image(image(20))
    with pytest.raises(TypeError, match="cannot be used by another"):
        pickle.dumps(decoders)


def children_of(process: int) -> set[str]:
    """The processes that any thread of a process has started, and that have not ended."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return {child for path in lists for child in path.read_text().split()}


def test_processes_end_with_the_program() -> None:
    program = (
        "import daliesque as ndd; d = ndd.decoders.isolated(processes=1); "
        "print(d.image(b'P5 2 1 255 aa').shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    # A child would hold the pipe open.
    assert done.stdout == "(1, 2, 3)\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b"{}",
        b"[" * 30_000,
        json.dumps({"outputs": [["uint8", [10**9]]], "layouts": [""]}).encode(),
        json.dumps({"outputs": [["uint8", [-1]]], "layouts": [""]}).encode(),
        json.dumps({"outputs": [["object", [1]]], "layouts": [""]}).encode(),
        json.dumps({"outputs": [["uint8", ["1"]]], "layouts": [""]}).encode(),
        json.dumps({"outputs": [["uint8", [4]]], "layouts": []}).encode(),
    ],
)
def test_answers_are_not_believed(answer: bytes) -> None:
    reading, writing = os.pipe()
    file = os.memfd_create("test")
    try:
        write_arrays(file, [np.arange(8, dtype=np.uint8)])
        send(writing, answer)
        with pytest.raises(Broken):
            receive_answer(reading, file, time.monotonic() + 60)
        send(writing, b'{"kind": "OSError", "text": "no"}')
        assert receive_answer(reading, file, time.monotonic() + 60) == Failure("OSError", "no")
    finally:
        for descriptor in (reading, writing, file):
            os.close(descriptor)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"processes": 0}, ValueError, "'processes' must be positive; got 0"),
        ({"processes": 1.5}, ValueError, "'processes' must be an integer"),
        ({"timeout": -1}, ValueError, "'timeout' must be positive; got -1"),
        ({"timeout": float("nan")}, ValueError, "'timeout' must be positive; got nan"),
        ({"memory": 0}, ValueError, "'memory' must be positive; got 0"),
        ({"memory": 1e9}, TypeError, "'memory' must be a number of bytes; got 1"),
        ({"on_error": "replace"}, ValueError, "'on_error' must be 'raise' or 'skip'"),
    ],
)
def test_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ndd.decoders.isolated(**arguments)
