# SPDX-License-Identifier: Apache-2.0
"""Operators on frames against NumPy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import daliesque as ndd
from daliesque._shapes import dense_flow
from support.compare import assert_close, assert_same


def clips(lengths: list[int]) -> list[Any]:
    return [np.arange(n * 6, dtype=np.int16).reshape(n, 2, 3) + 100 * n for n in lengths]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.data())
def test_sequence_rearrange(lengths: list[int], data: Any) -> None:
    samples = clips(lengths)
    orders = [
        data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6), label="order")
        for n in lengths
    ]
    result = ndd.sequence_rearrange(ndd.batch(samples, layout="FHW"), new_order=ndd.batch(orders))
    assert result.layout == "FHW"
    for made, sample, order in zip(result, samples, orders, strict=True):
        assert_same(made, sample[order])


def test_one_order_for_all() -> None:
    samples = clips([2, 4])
    result = ndd.sequence_rearrange(ndd.batch(samples), new_order=[1, 1, 0])
    for made, sample in zip(result, samples, strict=True):
        assert_same(made, sample[[1, 1, 0]])


def test_element_extract() -> None:
    samples = clips([3, 4])
    batch = ndd.batch(samples, layout="FHW")
    last, first = ndd.element_extract(batch, element_map=[2, 0])
    assert last.layout == first.layout == "HW"
    for number, part in ((2, last), (0, first)):
        for made, sample in zip(part, samples, strict=True):
            assert_same(made, sample[number])
    assert np.shares_memory(np.asarray(last.select(0)), np.asarray(batch.select(0)))
    assert_same(ndd.element_extract(samples[0][:, ::2], element_map=1), samples[0][1, ::2])


def test_per_frame() -> None:
    assert ndd.per_frame(np.zeros((2, 3, 4))).layout == "F**"
    assert ndd.per_frame(ndd.zeros(shape=[2, 3], layout="HW"), replace=True).layout == "FW"
    assert ndd.per_frame(ndd.zeros(shape=[2, 3], layout="FW")).layout == "FW"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ndd.element_extract(x, element_map=[3]), "element_extract: .* 0 to 2; got 3"),
        (lambda x: ndd.element_extract(x, element_map=[-1]), "element_extract: .*; got -1"),
        (lambda x: ndd.element_extract(x, element_map=[]), "element_extract: .* at least one"),
        (lambda x: ndd.element_extract(x[0, 0], element_map=[0]), "element_extract: .* got 1 axes"),
        (lambda x: ndd.sequence_rearrange(x, new_order=[]), "sequence_rearrange: .* at least one"),
        (lambda x: ndd.sequence_rearrange(x, new_order=[3]), "sequence_rearrange: .* 0 to 2"),
        (lambda x: ndd.sequence_rearrange(x, new_order=[0.5]), "'new_order' must be .* integers"),
        (
            lambda x: ndd.sequence_rearrange(ndd.tensor(x, layout="HWC"), new_order=[0]),
            "sequence_rearrange: the input must be a sequence, .* got 'HWC'",
        ),
        (lambda x: ndd.per_frame(ndd.tensor(x, layout="HWC")), "per_frame: .* 'HWC'. Pass replace"),
        (lambda _: ndd.per_frame(5), "per_frame: a single number"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(np.zeros((3, 2, 2))).evaluate()


def texture(seed: int, size: tuple[int, int] = (160, 200)) -> Any:
    """A gray image with structures of all directions."""
    import cv2

    noise = np.random.default_rng(seed).integers(0, 256, size, np.uint8)
    return cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 2.5), None, 0, 255, cv2.NORM_MINMAX)


def moved(image: Any, matrix: Any) -> Any:
    """The image after everything in it was moved by an affine matrix."""
    import cv2

    size = image.shape[::-1]
    return cv2.warpAffine(image, np.float32(matrix), size, borderMode=cv2.BORDER_REFLECT)


def flow_of(matrix: Any, size: tuple[int, int]) -> Any:
    """For each pixel of the moved image, the offset to where it was."""
    linear, offset = np.array(matrix, float)[:, :2], np.array(matrix, float)[:, 2]
    positions = np.stack(np.meshgrid(np.arange(size[1]), np.arange(size[0])), axis=-1)
    return (positions - offset) @ np.linalg.inv(linear).T - positions


def mean_error(flow: Any, expected: Any, margin: int = 24) -> float:
    """The mean distance between the ends of vectors, away from the borders."""
    distance = np.linalg.norm(flow - expected, axis=-1)
    return float(distance[margin:-margin, margin:-margin].mean())


def rotation(degrees: float, center: tuple[float, float] = (99.5, 79.5)) -> list[list[float]]:
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    x, y = center
    return [[c, -s, x - c * x + s * y], [s, c, y - s * x - c * y]]


MOTIONS = {
    "whole pixels": [[1, 0, 3], [0, 1, -2]],
    "parts of pixels": [[1, 0, 2.5], [0, 1, 1.25]],
    "far": [[1, 0, 12], [0, 1, -9]],
    "rotation": rotation(3),
    "zoom": [[1.04, 0, -4], [0, 1.04, -3.2]],
}


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize(("preset", "limit"), [(0.0, 0.1), (0.5, 0.3)])
def test_optical_flow_of_known_motions(motion: str, preset: float, limit: float) -> None:
    first = texture(1)
    video = np.stack([first, moved(first, MOTIONS[motion])])[..., None]
    flow = ndd.optical_flow(ndd.tensor(video, layout="FHWC"), preset=preset, output_grid=1)
    assert (flow.dtype, flow.layout, flow.shape) == (ndd.float32, "FHWC", (1, 160, 200, 2))
    if motion == "far" and preset > 0:
        # Farther than the structures are wide: only the careful search finds it.
        return
    assert mean_error(np.asarray(flow)[0], flow_of(MOTIONS[motion], (160, 200))) < limit


def test_optical_flow_is_fast_with_the_last_preset() -> None:
    first = texture(1)
    video = np.stack([first, moved(first, MOTIONS["whole pixels"])])[..., None]
    flow = ndd.optical_flow(ndd.tensor(video, layout="FHWC"), preset=1.0, output_grid=1)
    assert mean_error(np.asarray(flow)[0], [-3, 2]) < 0.5


@pytest.mark.parametrize("grid", [2, 4])
def test_optical_flow_for_cells(grid: int) -> None:
    first = texture(2, (90, 111))
    video = np.stack([first, moved(first, rotation(2))])[..., None]
    fine = np.asarray(ndd.optical_flow(ndd.tensor(video, layout="FHWC"), output_grid=1))[0]
    coarse = np.asarray(ndd.optical_flow(ndd.tensor(video, layout="FHWC"), output_grid=grid))[0]
    rows, columns = -(-90 // grid), -(-111 // grid)
    assert coarse.shape == (rows, columns, 2)
    for y, x in ((0, 0), (rows // 2, 3), (rows - 1, columns - 1)):
        cell = fine[y * grid : (y + 1) * grid, x * grid : (x + 1) * grid]
        assert_close(coarse[y, x], cell.mean(axis=(0, 1)), "small values")


def test_optical_flow_of_batches_equals_that_of_tensors() -> None:
    motion = MOTIONS["whole pixels"]
    clips = []
    for seed, (count, *size) in enumerate([(3, 64, 80), (2, 33, 90), (5, 48, 40)]):
        frames = [texture(seed, (size[0], size[1]))]
        for _ in range(count - 1):
            frames.append(moved(frames[-1], motion))
        clips.append(np.stack(frames)[..., None].repeat(3, axis=-1))
    for hints in (False, True):
        with ndd.EvalMode.deferred:
            batch = ndd.optical_flow(ndd.batch(clips, layout="FHWC"), enable_temporal_hints=hints)
            assert batch.shape == [(2, 16, 20, 2), (1, 9, 23, 2), (4, 12, 10, 2)]
        for result, clip in zip(batch, clips, strict=True):
            alone = ndd.optical_flow(ndd.tensor(clip, layout="FHWC"), enable_temporal_hints=hints)
            assert_same(np.array(result), np.array(alone))


def test_optical_flow_of_colors_and_types() -> None:
    first = texture(3)
    gray = np.stack([first, moved(first, MOTIONS["whole pixels"])])
    colors = np.stack([gray, 255 - gray, gray // 2], axis=-1)
    tensors = {
        "RGB": ndd.tensor(colors, layout="FHWC"),
        "BGR": ndd.tensor(np.ascontiguousarray(colors[..., ::-1]), layout="FHWC"),
    }
    found = [
        np.asarray(ndd.optical_flow(video, image_type=name)) for name, video in tensors.items()
    ]
    assert_same(found[0], found[1])
    # 0 to 255, 0 to 1, and 16 bits have the same gray levels.
    expected = np.asarray(ndd.optical_flow(ndd.tensor(gray[..., None], layout="FHWC")))
    for values in (gray.astype(np.float32), gray / np.float32(255), gray.astype(np.uint16) * 257):
        assert_same(np.asarray(ndd.optical_flow(ndd.tensor(values, layout="FHW"))), expected)
    first_channels = np.asarray(
        ndd.optical_flow(ndd.tensor(colors.transpose(0, 3, 1, 2).copy(), layout="FCHW"))
    )
    assert_same(first_channels, found[0].transpose(0, 3, 1, 2))


def pattern(steps: list[int]) -> Any:
    """A pattern that repeats every 24 pixels, moved to the right by the steps from frame to frame.

    Only a hint distinguishes a step of 30 pixels from one of 6.
    """
    tile = np.roll(texture(4, (24, 24)), 5, axis=0)
    wide = np.tile(tile, (6, 8))
    shifts = np.cumsum([0, *steps])
    return ndd.tensor(np.stack([np.roll(wide, n, axis=1) for n in shifts]), layout="FHW")


def test_optical_flow_with_hints() -> None:
    clip = pattern([30, 30])
    options = {"output_grid": 1}
    near = np.asarray(ndd.optical_flow(clip, **options))
    assert mean_error(near[1], [-6, 0], 40) < 0.1
    for count in (3, 2):
        hints = np.zeros((count, 18, 24, 2), np.float32) + np.float32([-28, 1])
        found = ndd.optical_flow(clip, hints, enable_external_hints=True, hint_grid=8, **options)
        assert mean_error(np.asarray(found)[0], [-30, 0], 40) < 0.1
    assert_same(np.asarray(ndd.optical_flow(clip, hints, **options)), near)


def test_optical_flow_with_temporal_hints() -> None:
    clip = pattern([4, 9, 14, 19])
    alone = np.asarray(ndd.optical_flow(clip, output_grid=1))
    followed = np.asarray(ndd.optical_flow(clip, enable_temporal_hints=True, output_grid=1))
    assert mean_error(alone[-1], [5, 0], 40) < 0.1
    assert mean_error(followed[-1], [-19, 0], 40) < 0.1


def test_optical_flow_refuses_what_it_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = ndd.tensor(np.zeros((2, 8, 9, 3), np.uint8), layout="FHWC")
    wrong: list[tuple[Any, str]] = [
        (lambda: ndd.optical_flow(clip, preset=1.5), "'preset' must lie in"),
        (lambda: ndd.optical_flow(clip, output_grid=3), "'output_grid' must be 1, 2 or 4; got 3"),
        (lambda: ndd.optical_flow(clip, hint_grid=3), "'hint_grid' must be 1, 2, 4 or 8; got 3"),
        (lambda: ndd.optical_flow(clip, image_type="GRAY"), "frames need 1 channels"),
        (lambda: ndd.optical_flow(clip, image_type="YCbCr"), "'image_type' must be RGB, BGR"),
        (lambda: ndd.optical_flow(clip, enable_external_hints=True), ".*needs a second input"),
        (
            lambda: ndd.optical_flow(
                clip, np.zeros((2, 8, 9, 2), np.float32), enable_external_hints=True
            ),
            r"hints need the shape \(2, 2, 3, 2\).*got \(2, 8, 9, 2\) \(sample 0\)",
        ),
        (
            lambda: ndd.optical_flow(ndd.tensor(np.zeros((1, 8, 9, 3)), layout="FHWC")),
            "sequences need at least two frames",
        ),
        (
            lambda: ndd.optical_flow(ndd.tensor(np.full((2, 8, 9), np.nan), layout="FHW")),
            "frames must hold finite numbers",
        ),
    ]
    for call, message in wrong:
        with pytest.raises(ValueError, match=f"^optical_flow: {message}"):
            call().evaluate()
    dense_flow.opencv.cache_clear()
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ModuleNotFoundError, match=r"^optical_flow: .*OpenCV.*daliesque\[flow\]"):
        ndd.optical_flow(clip).evaluate()
    dense_flow.opencv.cache_clear()


@pytest.mark.parametrize("shape", [(2, 1, 1), (2, 8, 300), (3, 40, 7), (2, 33, 33), (2, 91, 64)])
@pytest.mark.parametrize("preset", [0.0, 0.5, 1.0])
def test_optical_flow_of_any_size(shape: tuple[int, ...], preset: float) -> None:
    still = np.broadcast_to(texture(6, shape[1:]), shape)
    flow = np.asarray(
        ndd.optical_flow(ndd.tensor(still, layout="FHW"), preset=preset, output_grid=1)
    )
    assert_same(flow, np.zeros((shape[0] - 1, *shape[1:], 2), np.float32))
