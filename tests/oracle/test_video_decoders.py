# SPDX-License-Identifier: Apache-2.0
"""Videos give the reference's frames, for the codecs that it decodes on a CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.compare import assert_same
from support.libraries import Each, call
from support.oracle import call_both, ours, reference
from support.video_makers import SELECTIONS, Array, as_array, encode, numbered

pytestmark = [
    pytest.mark.oracle,
    # Both libraries say so about parts without frames.
    pytest.mark.filterwarnings("ignore:.*is left out"),
]

LOSSLESS = {"lossless": "1"}


def noise_video(
    size: tuple[int, int], codec: str, container: str, pixel_format: str, options: dict[str, str]
) -> Array:
    """Random pictures, smooth enough to stay within the range of RGB."""
    rng = np.random.default_rng(5)
    height, width = size
    down = 1 if pixel_format.endswith(("22p", "44p")) else 2
    across = 1 if pixel_format.endswith("44p") else 2
    chroma = (-(-height // down), -(-width // across))
    planes = [
        [rng.integers(40, 210, size, np.uint8), *rng.integers(90, 166, (2, *chroma), np.uint8)]
        for _ in range(3)
    ]
    return as_array(encode(planes, codec, container, options, pixel_format))


@pytest.mark.parametrize("size", [(64, 96), (36, 50), (130, 246), (35, 51)])
@pytest.mark.parametrize(
    ("codec", "container", "pixel_format", "options"),
    [
        ("libvpx-vp9", "webm", "yuv420p", LOSSLESS),
        ("libvpx-vp9", "matroska", "yuv422p", LOSSLESS),
        ("libvpx-vp9", "mp4", "yuv444p", LOSSLESS),
        ("libvpx", "webm", "yuv420p", {}),
        ("mjpeg", "avi", "yuvj420p", {}),
        ("mjpeg", "mov", "yuvj422p", {}),
    ],
)
def test_colors(
    size: tuple[int, int], codec: str, container: str, pixel_format: str, options: dict[str, str]
) -> None:
    data = noise_video(size, codec, container, pixel_format, options)
    expected, result = call_both("decoders.video", [data])
    assert result.layout == expected.layout == "FHWC"
    assert_same(result.arrays[0], expected.arrays[0])


def in_pipeline(data: Array, arguments: dict[str, Any]) -> Array:
    """The reference's result, in a pipeline: its dynamic mode does not take `pad_mode`."""
    from nvidia.dali import fn
    from nvidia.dali.pipeline import Pipeline

    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        source = fn.external_source(lambda: [data], batch=True)
        pipeline.set_outputs(fn.decoders.video(source, **arguments))
    (outputs,) = pipeline.run()
    return np.asarray(outputs.at(0))


@pytest.mark.parametrize("kind", ["vp8-webm", "vp9-webm", "vp9-mkv", "mjpeg-avi"])
@pytest.mark.parametrize(("arguments", "_expected"), SELECTIONS)
def test_selection(kind: str, arguments: dict[str, Any], _expected: list[int]) -> None:
    if arguments.get("sequence_length") == 0:
        pytest.skip("the reference fails on empty sequences")
    data = as_array(numbered(10, kind))
    result = call(ours, "decoders.video", [data], **arguments)
    assert_same(result.arrays[0], in_pipeline(data, arguments))


def test_arguments_for_each_sample() -> None:
    files = [as_array(numbered(40, "vp9-webm", size)) for size in ((64, 96), (80, 112), (64, 128))]
    starts, strides = (
        Each([np.int32(k) for k in (0, 33, 12)]),
        Each([np.int32(k) for k in (1, 5, 3)]),
    )
    arguments = {"start_frame": starts, "stride": strides, "sequence_length": 6}
    expected, result = call_both("decoders.video", files, **arguments)
    for ours_one, theirs in zip(result.arrays, expected.arrays, strict=True):
        assert_same(ours_one, theirs)


def test_bad_arguments_fail_in_both() -> None:
    data = as_array(numbered(10, "vp9-webm"))
    for arguments in (
        {"frames": [1], "stride": 2},
        {"end_frame": 3, "sequence_length": 2},
        {"start_frame": 5, "end_frame": 5},
        {"start_frame": 10},
    ):
        for library in (reference, ours):
            with pytest.raises((RuntimeError, ValueError)):
                call(library, "decoders.video", [data], **arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("videos")
    stamps = np.cumsum(np.random.default_rng(0).integers(1, 9, 35)).tolist()
    for name, data in {
        "a/one.webm": numbered(40, "vp9-webm"),
        "a/two.avi": numbered(25, "mjpeg-avi"),
        "a b/three.webm": numbered(30, "vp8-webm", (80, 112)),
        "b/four.mkv": numbered(35, "vp9-mkv", stamps=stamps),
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    return root


def epochs(library: Any, batch_size: int | None, arguments: dict[str, Any]) -> list[Any]:
    """All values of two epochs."""
    reader = library.experimental.readers.Video(**arguments)
    result = []
    for _ in range(2):
        for outputs in reader.next_epoch(batch_size=batch_size):
            columns = [[out] if batch_size is None else out.tensors for out in outputs]
            for row in zip(*columns, strict=True):
                arrays = [np.asarray(value.evaluate()) for value in row]
                result.append([(str(a.dtype), a.shape, a.tobytes()) for a in arrays])
    return result


def assert_reads_the_same(batch_size: int | None = 3, **arguments: Any) -> None:
    assert epochs(ours, batch_size, arguments) == epochs(reference, batch_size, arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"sequence_length": 8},
        {"sequence_length": 5, "stride": 3},
        {"sequence_length": 4, "step": 9, "enable_frame_num": "scalar"},
        {"sequence_length": 7, "stride": 2, "step": 5, "enable_frame_num": "sequence"},
        {"sequence_length": 6, "enable_timestamps": True, "enable_frame_num": True},
        {"sequence_length": 6, "uniform_sample": True, "enable_frame_num": "sequence"},
        {"sequence_length": 50, "uniform_sample": True, "enable_timestamps": True},
        {"sequence_length": 6, "random_shuffle": True, "seed": 7, "initial_fill": 5},
        {"sequence_length": 6, "num_shards": 3, "shard_id": 1},
        {"sequence_length": 6, "pad_last_batch": True},
    ],
)
@pytest.mark.parametrize("batch_size", [None, 3])
def test_reader(folder: Path, batch_size: int | None, arguments: dict[str, Any]) -> None:
    assert_reads_the_same(batch_size, file_root=str(folder), **arguments)
    names = [str(folder / "a/two.avi"), str(folder / "b/four.mkv")]
    assert_reads_the_same(batch_size, filenames=names, **arguments)
    assert_reads_the_same(batch_size, filenames=names, labels=[9, 4], **arguments)


@pytest.mark.parametrize("mode", ["none", "constant", "edge", "reflect_1001", "reflect_101"])
def test_padding_of_the_reader(folder: Path, mode: str) -> None:
    names = [str(folder / "a/two.avi"), str(folder / "b/four.mkv")]
    arguments: dict[str, Any] = {"sequence_length": 8, "enable_frame_num": "sequence"}
    arguments |= {"enable_timestamps": True, "fill_value": [5, 6, 7], "pad_mode": mode}
    for stride, step in ((1, -1), (3, 4)):
        assert_reads_the_same(filenames=names, stride=stride, step=step, **arguments)


@pytest.mark.parametrize(
    "rounding", ["start_down_end_up", "start_up_end_down", "all_up", "all_down"]
)
@pytest.mark.parametrize("unit", ["frames", "timestamps"])
def test_parts(folder: Path, unit: str, rounding: str) -> None:
    rng = np.random.default_rng(4)
    lines = []
    for name, seconds in (("a/one.webm", 1.5), ("a/two.avi", 0.9), ("b/four.mkv", 5.0)):
        most = seconds if unit == "timestamps" else 24
        # Times are those of the file's clock; the videos do not all begin at 0.
        least = 0.4 if unit == "timestamps" else 0
        for _ in range(4):
            begin, end = sorted(rng.uniform(least, most, 2).round(2))
            lines.append(f"{folder / name} {rng.integers(9)} {begin} {end + 0.1}")
    lines.append(f"{folder / 'a/one.webm'} 1 0.2 0.8" if unit == "timestamps" else "")
    # A list may name what is below its own folder.
    path = folder.parent / f"{unit}-{rounding}.txt"
    path.write_text("\n".join(lines) + "\n")
    arguments = {"file_list": str(path), "file_list_format": unit, "file_list_rounding": rounding}
    assert_reads_the_same(sequence_length=2, enable_frame_num="sequence", **arguments)
    assert_reads_the_same(
        sequence_length=4, pad_mode="edge", enable_frame_num="sequence", **arguments
    )
