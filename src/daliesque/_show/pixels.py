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


def picture_frames(array: NDArray[np.generic], view: View) -> list[Pixels]:
    """The images of a sample, in RGB: one, or some frames or slices at equal distances."""
    moved = np.transpose(array, view.axes)
    if view.kind is not Kind.spectrogram and not view.has_channels:
        moved = moved[..., np.newaxis]
    inner = 2 if view.kind is Kind.spectrogram else 3
    if 0 in moved.shape:
        return []
    flat = moved.reshape(-1, *moved.shape[-inner:])
    chosen = np.linspace(0, len(flat) - 1, min(len(flat), MOST_FRAMES)).round().astype(int)
    if view.kind is Kind.spectrogram:
        return [colored(flat[number][::-1]) for number in chosen]
    # One scale for all frames, so that changes of brightness can be seen.
    return [to_rgb(frame) for frame in to_bytes(flat[chosen])]


def to_bytes(array: NDArray[np.generic]) -> Pixels:
    """Values as 0 to 255: as they are if they look like that, else stretched to fill the range."""
    if array.dtype == np.uint8:
        return array.view(np.uint8)
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * 255
    values = array.astype(np.float64)
    values[~np.isfinite(values)] = 0
    if values.size == 0:
        return values.astype(np.uint8)
    low, high = float(values.min()), float(values.max())
    if array.dtype.kind == "f" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low >= 0 and high <= 255 and (array.dtype.kind != "f" or high > 2):
        low, high = 0.0, 255.0
    scale = 255 / (high - low) if high > low else 0.0
    return np.rint((values - low) * scale).astype(np.uint8)


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
