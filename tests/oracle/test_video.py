# SPDX-License-Identifier: Apache-2.0
"""Videos give the reference's frames, for the codecs that it decodes on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compare import assert_same
from decoders.test_video import SELECTIONS
from decoders.video_makers import Array, as_array, encode, numbered

from .both import Each, call, call_both, ours, reference

pytestmark = pytest.mark.oracle

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
def test_colours(
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
