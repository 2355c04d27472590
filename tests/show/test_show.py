# SPDX-License-Identifier: Apache-2.0
"""Pictures of tensors and batches: pixels, overlays, charts."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import daliesque as ndd
from daliesque._show.pixels import Kind, class_colors, picture_frames, to_bytes, view_of
from support.compare import assert_same_picture
from support.show_calls import CALLS, FOLDER

# The grid begins this many pixels from its edges, and as many are between cells.
MARGIN = 6


def saved(value: Any, tmp_path: Path, **options: Any) -> NDArray[np.uint8]:
    path = tmp_path / "picture.png"
    value.show(save=path, **options)
    return np.asarray(Image.open(path).convert("RGB"))


def photo(height: int = 80, width: int = 100, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize("name", CALLS)
def test_pictures_are_as_stored(name: str, tmp_path: Path) -> None:
    """But for the letters, which differ with the version of Pillow."""
    path = tmp_path / "picture.png"
    CALLS[name](path)
    with Image.open(path) as made, Image.open(FOLDER / f"{name}.png") as stored:
        assert_same_picture(made.convert("RGB"), stored.convert("RGB"), name)


def test_image_is_shown_as_it_is(tmp_path: Path) -> None:
    image = photo()
    picture = saved(ndd.tensor(image, layout="HWC"), tmp_path)
    assert np.array_equal(picture[MARGIN : MARGIN + 80, MARGIN : MARGIN + 100], image)


@pytest.mark.parametrize("layout", ["CHW", "HWC", "WHC"])
def test_layouts_give_the_same_picture(layout: str, tmp_path: Path) -> None:
    image = photo()
    moved = np.transpose(image, ["HWC".index(letter) for letter in layout])
    tensor = ndd.tensor(np.ascontiguousarray(moved), layout=layout)
    expected = saved(ndd.tensor(image, layout="HWC"), tmp_path)
    assert np.array_equal(saved(tensor, tmp_path), expected)


def test_layout_is_guessed_from_the_shape(tmp_path: Path) -> None:
    image = photo()
    expected = saved(ndd.tensor(image, layout="HWC"), tmp_path)
    for array in (image, np.ascontiguousarray(image.transpose(2, 0, 1))):
        assert np.array_equal(saved(ndd.tensor(array), tmp_path), expected)


def test_large_image_is_scaled_by_averages(tmp_path: Path) -> None:
    image = photo(448, 448)
    blocks = image.reshape(224, 2, 224, 2, 3).astype(float).mean(axis=(1, 3))
    picture = saved(ndd.tensor(image, layout="HWC"), tmp_path)
    cell = picture[MARGIN : MARGIN + 224, MARGIN : MARGIN + 224]
    assert np.abs(cell - blocks).max() <= 1


def test_small_image_is_enlarged_with_its_pixels(tmp_path: Path) -> None:
    image = photo(8, 8)
    picture = saved(ndd.tensor(image, layout="HWC"), tmp_path)
    expected = image.repeat(8, axis=0).repeat(8, axis=1)
    assert np.array_equal(picture[MARGIN : MARGIN + 64, MARGIN : MARGIN + 64], expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 0.5, 1.0], [0, 128, 255]),
        ([0.0, 100.0, 255.0], [0, 100, 255]),
        ([-2.0, 0.0, 2.0], [0, 128, 255]),
        ([-1.0, 3.0, 7.0], [0, 128, 255]),
        ([np.nan, 0.0, 1.0], [0, 0, 255]),
        ([5.0, 5.0, 5.0], [5, 5, 5]),
        ([-3.0, -3.0, -3.0], [0, 0, 0]),
    ],
)
def test_floats_are_stretched_unless_they_look_like_images(
    values: list[float], expected: list[int]
) -> None:
    assert to_bytes(np.array(values, np.float32)).tolist() == expected


def test_integers() -> None:
    assert to_bytes(np.array([False, True])).tolist() == [0, 255]
    assert to_bytes(np.array([0, 17, 255], np.int64)).tolist() == [0, 17, 255]
    assert to_bytes(np.array([0, 32768, 65535], np.uint16)).tolist() == [0, 128, 255]


def test_volumes_are_stretched_whatever_their_values() -> None:
    slices = np.stack([np.full((4, 4), value, np.float32) for value in (100, 140, 200)])
    shown = picture_frames(slices, view_of(slices.shape, "DHW"))
    assert [int(image[0, 0, 0]) for image in shown.values()] == [0, 102, 255]


def test_small_whole_numbers_are_classes() -> None:
    classes = np.array([[0, 1], [2, 9]], np.int64)
    colors = class_colors(classes)
    assert colors[0, 0].tolist() == [0, 0, 0]
    assert colors[0, 1].tolist() == colors[1, 1].tolist() == [230, 75, 53]
    for array, colored in ((classes, True), (classes * 20, False), (classes.astype(float), False)):
        (image,) = picture_frames(array, view_of((2, 2), "HW")).values()
        assert np.array_equal(image, colors) == colored


def test_masks_of_frames(tmp_path: Path) -> None:
    video = np.full((3, 64, 64, 3), 100, np.uint8)
    masks = np.zeros((3, 64, 64), np.uint8)
    masks[1] = 1
    picture = saved(ndd.tensor(video, layout="FHWC"), tmp_path, masks=masks, size=128)
    row = picture[MARGIN + 32]
    shades = [row[MARGIN + k * 66 + 30].tolist() for k in range(3)]
    assert shades == [[100] * 3, [165, 88, 76], [100] * 3]


@pytest.mark.parametrize(
    ("shape", "layout", "kind"),
    [
        ((4, 5, 6, 3), "FHWC", Kind.frames),
        ((4, 3, 5, 6), "", Kind.frames),
        ((9, 5, 6), "DHW", Kind.slices),
        ((129, 40), "ft", Kind.spectrogram),
        ((16000,), "", Kind.waveform),
        ((16000, 2), "", Kind.waveform),
        ((5,), "", Kind.numbers),
        ((), "", Kind.numbers),
        ((2, 3, 4, 5, 6), "", Kind.numbers),
    ],
)
def test_kinds(shape: tuple[int, ...], layout: str, kind: Kind) -> None:
    assert view_of(shape, layout).kind is kind


def test_video_is_a_strip_of_eight_frames(tmp_path: Path) -> None:
    video = np.zeros((15, 64, 64, 3), np.uint8)
    video[:] = np.arange(15, dtype=np.uint8)[:, None, None, None] * 10
    picture = saved(ndd.tensor(video, layout="FHWC"), tmp_path, size=128)
    row = picture[MARGIN + 32]
    shades = [int(row[MARGIN + k * 66 + 30, 0]) for k in range(8)]
    assert shades == [0, 20, 40, 60, 80, 100, 120, 140]


def test_batch_is_a_grid(tmp_path: Path) -> None:
    colors = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [9, 9, 9]], np.uint8)
    images = np.broadcast_to(colors[:, None, None], (4, 64, 64, 3)).copy()
    batch = ndd.batch(images, layout="HWC")
    picture = saved(batch, tmp_path, columns=2, labels=["a", "b", "c", "d"])
    step_x, step_y = 64 + MARGIN, 64 + 16 + MARGIN
    for sample, color in enumerate(colors):
        top, left = MARGIN + sample // 2 * step_y, MARGIN + sample % 2 * step_x
        assert (picture[top : top + 64, left : left + 64] == color).all()
    assert picture.shape == (2 * step_y + MARGIN, 2 * step_x + MARGIN, 3)
    # The captions are drawn in dark gray on white.
    caption = picture[MARGIN + 64 : MARGIN + 80, MARGIN : MARGIN + 64]
    assert caption.min() < 128


def test_boxes_masks_and_keypoints(tmp_path: Path) -> None:
    image = np.full((100, 100, 3), 100, np.uint8)
    mask = np.zeros((100, 100), np.int32)
    mask[60:80, 60:80] = 1
    box = np.array([[10, 20, 40, 50]])
    tensor = ndd.tensor(image, layout="HWC")
    picture = saved(tensor, tmp_path, boxes=box, masks=mask, keypoints=[[80, 10]])
    cell = picture[MARGIN : MARGIN + 100, MARGIN : MARGIN + 100]
    red = [230, 75, 53]
    assert cell[20, 25].tolist() == red
    assert cell[35, 10].tolist() == red
    assert cell[35, 25].tolist() == [100, 100, 100]
    # Half of the image, half of the color.
    assert cell[70, 70].tolist() == [165, 88, 76]
    assert cell[10, 80].tolist() == red
    # As shares of the image, the same.
    shares = saved(tensor, tmp_path, boxes=box / 100, masks=mask, keypoints=[[0.8, 0.1]])
    assert np.array_equal(shares, picture)


def test_spectrogram_has_low_frequencies_at_the_bottom(tmp_path: Path) -> None:
    power = np.zeros((64, 200), np.float32)
    power[3] = 1
    picture = saved(ndd.tensor(power, layout="ft"), tmp_path)
    bright = (picture[..., 0] > 200) & (picture[..., 2] < 100)
    rows = np.flatnonzero(bright.sum(axis=1) > 100)
    # 112 rows of pixels for 64 bins, below 6 + 4 pixels.
    assert abs(rows.mean() - (MARGIN + 4 + 112 - 3.5 * 112 / 64)) <= 1.5


def test_waveform_reaches_from_lowest_to_highest(tmp_path: Path) -> None:
    signal = np.zeros(1000, np.float32)
    signal[500] = 1
    picture = saved(ndd.tensor(signal, layout="t"), tmp_path)
    blue = (picture == (0, 120, 200)).all(axis=-1)
    columns = np.flatnonzero(blue.sum(axis=0) > 200)
    assert columns.tolist() == [MARGIN + 58 + 448 // 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["a"]}, "'labels' must have one entry for each of 2 samples; got 1"),
        ({"boxes": [[[1, 2, 3]], [[1, 2, 3]]]}, r"'boxes' must have the shape \(number, 4\)"),
        ({"masks": [np.ones((3, 3))] * 2}, r"'masks' must have the height and width .*\(80, 100\)"),
        ({"columns": 0}, "'columns' must be positive; got 0"),
        ({"size": 3}, "'size' must be at least 16 pixels; got 3"),
    ],
)
def test_errors(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    batch = ndd.batch([photo(), photo(seed=1)], layout="HWC")
    with pytest.raises(ValueError, match=message):
        batch.show(save=tmp_path / "x.png", **options)


@pytest.mark.parametrize("shape", [(0, 5, 3), (5, 0, 3), (0,), ()])
def test_data_without_pixels(shape: tuple[int, ...], tmp_path: Path) -> None:
    assert saved(ndd.tensor(np.zeros(shape, np.uint8)), tmp_path).size > 0


def test_empty_batch(tmp_path: Path) -> None:
    assert saved(ndd.batch([], dtype=ndd.uint8, layout="HWC"), tmp_path).size > 0


def test_nothing_to_show_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RuntimeError, match="Give 'save', the name of a file"):
        ndd.tensor(photo(), layout="HWC").show()


def test_notebooks_show_facts_and_a_picture() -> None:
    text = ndd.batch([photo(), photo(40, 40)], layout="HWC")._repr_html_()
    assert "Batch: 2 samples, 2 shapes, dtype=u8, layout=HWC, device=cpu" in text
    assert re.search(r'<img src="data:image/png;base64,iVBOR', text)
    assert "<img" not in ndd.tensor([1, 2])._repr_html_()


def test_notebooks_show_what_is_queued() -> None:
    """Eager calls run anyway: whoever looks at a result sees it."""
    image = photo()
    text = ndd.flip(ndd.batch([image], layout="HWC").evaluate())._repr_html_()
    data = re.search(r"base64,([^\"]*)", text)
    assert data is not None
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(data[1]))).convert("RGB"))
    assert np.array_equal(picture[MARGIN : MARGIN + 80, MARGIN : MARGIN + 100], image[:, ::-1])


def test_notebooks_show_scenes() -> None:
    scene = ndd.Scene(image=[photo()] * 14, boxes=[[[10, 10, 50, 60]]] * 14)
    assert "Batch: 14 samples" in scene._repr_html_()
    assert "<img" in scene._repr_html_()


def test_notebooks_compute_nothing_that_is_deferred() -> None:
    with ndd.EvalMode.deferred:
        flipped = ndd.flip(ndd.batch([photo()], layout="HWC").evaluate())
        text = flipped._repr_html_()
    assert "<img" not in text
    assert "HWC" in text
    assert flipped._samples is None


def test_notebooks_show_failures() -> None:
    broken = ndd.decoders.image(ndd.batch([b"no image"]))
    with pytest.raises(ndd.DecodeError):
        broken.evaluate()
    assert "failed" in broken._repr_html_()
