# SPDX-License-Identifier: Apache-2.0
"""Data of any kind as rows of RGB pixels."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Pixels: TypeAlias = NDArray[np.uint8]

# How many frames of a video, or slices of a volume, a strip has.
MOST_FRAMES = 8
# Images of one channel with values up to this are maps of classes: too dark to be photographs.
MOST_CLASSES = 32
# Colors that differ in hue and lightness, for people who confuse some hues as well.
PALETTE = (
    (230, 75, 53),
    (0, 160, 135),
    (60, 84, 136),
    (243, 155, 40),
    (132, 96, 180),
    (0, 120, 200),
    (120, 160, 40),
    (205, 90, 150),
)
# More samples than this are a signal rather than a list of numbers.
_LEAST_SIGNAL = 32


class Kind(Enum):
    """What data is drawn as."""

    image = "image"
    frames = "frames"
    slices = "slices"
    spectrogram = "spectrogram"
    waveform = "waveform"
    numbers = "numbers"


class View(NamedTuple):
    """How to look at data: the kind, and the order of axes that brings it to (frames,) H, W, C."""

    kind: Kind
    axes: tuple[int, ...] = ()
    has_channels: bool = False


def view_of(shape: tuple[int, ...], layout: str | None) -> View:
    """What data of this shape is drawn as. Without a layout, the shape has to say it."""
    layout = layout or _guess_layout(shape)
    if len(layout) != len(shape):
        return View(Kind.numbers)
    if "H" in layout and "W" in layout:
        outer = [axis for axis, letter in enumerate(layout) if letter not in "HWC"]
        inner = [layout.index(letter) for letter in "HWC" if letter in layout]
        kind = Kind.image
        if outer:
            kind = Kind.slices if "D" in layout else Kind.frames
        return View(kind, (*outer, *inner), "C" in layout)
    if "f" in layout and "t" in layout:
        # Low frequencies are drawn at the bottom.
        outer = [axis for axis, letter in enumerate(layout) if letter not in "ft"]
        return View(Kind.spectrogram, (*outer, layout.index("f"), layout.index("t")))
    if layout[:1] == "t" or layout == "x":
        return View(Kind.waveform, tuple(range(len(shape))))
    return View(Kind.numbers)


def _guess_layout(shape: tuple[int, ...]) -> str:
    colors = (1, 3, 4)
    match len(shape):
        case 1:
            return "t" if shape[0] >= _LEAST_SIGNAL else ""
        case 2:
            if shape[1] <= 2 and shape[0] >= _LEAST_SIGNAL:
                return "tc"
            return "HW" if min(shape) > 4 else ""
        case 3:
            if shape[-1] in colors:
                return "HWC"
            return "CHW" if shape[0] in colors else "FHW"
        case 4:
            return "FCHW" if shape[1] in colors and shape[-1] not in colors else "FHWC"
        case _:
            return ""


def picture_frames(array: NDArray[np.generic], view: View) -> dict[int, Pixels]:
    """The images of a sample by number, in RGB: one, or frames or slices at equal distances."""
    moved = np.transpose(array, view.axes)
    if not view.has_channels:
        moved = moved[..., np.newaxis]
    if 0 in moved.shape:
        return {}
    flat = moved.reshape(-1, *moved.shape[-3:])
    chosen = chosen_frames(len(flat))
    if _is_class_map(flat):
        return {number: class_colors(flat[number][..., 0]) for number in chosen}
    # One scale for all frames, so that changes of brightness can be seen.
    values = to_bytes(flat[chosen], is_image=view.kind is not Kind.slices)
    return {number: to_rgb(frame) for number, frame in zip(chosen, values, strict=True)}


def spectrum_frames(array: NDArray[np.generic], view: View) -> list[NDArray[np.generic]]:
    """The matrices of a spectrogram, low frequencies last: one for each channel."""
    moved = np.transpose(array, view.axes)
    if 0 in moved.shape:
        return []
    flat = moved.reshape(-1, *moved.shape[-2:])
    return [flat[number][::-1] for number in chosen_frames(len(flat))]


def chosen_frames(count: int) -> list[int]:
    """Which of so many frames a strip shows: at equal distances, from the first to the last."""
    numbers = np.linspace(0, count - 1, min(count, MOST_FRAMES)).round().astype(int)
    return [int(number) for number in numbers]


def to_bytes(array: NDArray[np.generic], is_image: bool = True) -> Pixels:
    """Values as 0 to 255: as they are if they look like that, else stretched to fill the range.

    Only what is an image may look like it: the numbers of volumes mean something else.
    """
    if array.dtype == np.uint8:
        return array.view(np.uint8)
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * 255
    values = array.astype(np.float64)
    values[~np.isfinite(values)] = 0
    if values.size == 0:
        return values.astype(np.uint8)
    low, high = float(values.min()), float(values.max())
    if is_image and array.dtype.kind == "f" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif is_image and low >= 0 and high <= 255 and (array.dtype.kind != "f" or high > 2):
        low, high = 0.0, 255.0
    scale = 255 / (high - low) if high > low else 0.0
    return np.rint((values - low) * scale).astype(np.uint8)


def _is_class_map(images: NDArray[np.generic]) -> bool:
    """Whether pixels of images (N, H, W, C) are small whole numbers: classes, not brightness."""
    if images.shape[-1] != 1 or images.dtype.kind not in "ui":
        return False
    return 0 <= int(images.min()) and 0 < int(images.max()) <= MOST_CLASSES


def class_colors(classes: NDArray[np.generic]) -> Pixels:
    """A color for each class, black for class 0."""
    colors = np.array([(0, 0, 0), *(PALETTE[k % len(PALETTE)] for k in range(MOST_CLASSES))])
    out: Pixels = colors.astype(np.uint8)[classes.astype(np.int64)]
    return out


def to_rgb(image: Pixels) -> Pixels:
    """An image (H, W, C) of any number of channels, in RGB."""
    channels = image.shape[2]
    if channels == 1:
        return np.repeat(image, 3, axis=2)
    if channels == 2:
        return np.concatenate([image, np.zeros_like(image[..., :1])], axis=2)
    if channels == 4:
        return _over_checks(image)
    return np.ascontiguousarray(image[..., :3])


def _over_checks(image: Pixels) -> Pixels:
    """An image with transparency over a pattern that shows it."""
    rows, columns = np.indices(image.shape[:2]) // 8
    ground = np.where((rows + columns) % 2, 255, 204)[..., np.newaxis]
    alpha = image[..., 3:].astype(np.float64) / 255
    mixed = image[..., :3] * alpha + ground * (1 - alpha)
    return np.rint(mixed).astype(np.uint8)


# Stops of a scale from dark blue over green to yellow, whose lightness rises evenly.
_STOPS = np.array(
    [[40, 10, 70], [60, 70, 135], [45, 120, 140], [50, 165, 125], [145, 205, 70], [250, 230, 50]],
    np.float64,
)


def colored(values: NDArray[np.generic]) -> Pixels:
    """A matrix of numbers in false colors, from its smallest to its largest."""
    levels = to_bytes(_stretched(values)).astype(np.float64) / 255 * (len(_STOPS) - 1)
    stops = np.arange(len(_STOPS))
    channels = [np.interp(levels, stops, _STOPS[:, channel]) for channel in range(3)]
    return np.rint(np.stack(channels, axis=-1)).astype(np.uint8)


def _stretched(values: NDArray[np.generic]) -> NDArray[np.float64]:
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    wide = np.clip(np.nan_to_num(wide, nan=low, posinf=high, neginf=low), low, high)
    return (wide - low) / (high - low) if high > low else np.zeros_like(wide)
