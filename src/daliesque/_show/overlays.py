# SPDX-License-Identifier: Apache-2.0
"""What is drawn over images: boxes, masks, keypoints and labels."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from PIL import ImageDraw

from .._engine.tensor import Tensor
from .pixels import PALETTE, Pixels

# How much of the image a mask hides.
_MASK_ALPHA = 0.5


class Overlay(NamedTuple):
    """What belongs to one sample."""

    caption: str | None = None
    boxes: NDArray[np.float64] | None = None
    box_labels: list[str] | None = None
    masks: NDArray[np.generic] | None = None
    keypoints: NDArray[np.float64] | None = None

    def tint(self, image: Pixels, number: int, frames: int = 1) -> Pixels:
        """Frame `number` of a sample of so many frames, with its masks over it."""
        masks = self.masks
        if masks is None:
            return image
        if masks.ndim > 2 and masks.shape[-1] == 1:
            masks = masks[..., 0]
        if frames > 1 and len(masks) == frames and masks.ndim > 2:
            # Each frame has its own.
            masks = masks[number]
        layers = masks if masks.ndim == 3 else _classes(masks)
        out = image.astype(np.float64)
        for index, layer in enumerate(layers):
            if layer.shape != image.shape[:2]:
                msg = (
                    f"show: 'masks' must have the height and width of the images, "
                    f"{image.shape[:2]}; got {layer.shape} (frame {number})."
                )
                raise ValueError(msg)
            color = np.array(PALETTE[index % len(PALETTE)], np.float64)
            inside = layer != 0
            out[inside] = out[inside] * (1 - _MASK_ALPHA) + color * _MASK_ALPHA
        return np.rint(out).astype(np.uint8)

    def draw(self, draw: ImageDraw.ImageDraw, shape: tuple[int, ...], scale: float) -> None:
        """Boxes and keypoints, on an image of this shape that was scaled."""
        height, width = shape[:2]
        if self.boxes is not None:
            boxes = _in_pixels(self.boxes, (width, height, width, height)) * scale
            for index, (left, top, right, bottom) in enumerate(boxes.tolist()):
                color = PALETTE[index % len(PALETTE)]
                ends = sorted((left, right)), sorted((top, bottom))
                draw.rectangle((ends[0][0], ends[1][0], ends[0][1], ends[1][1]), None, color, 2)
                if self.box_labels is not None and index < len(self.box_labels):
                    _tag(draw, (left, top), self.box_labels[index], color)
        if self.keypoints is not None:
            points = _in_pixels(self.keypoints[:, :2], (width, height)) * scale
            seen = self.keypoints[:, 2] > 0 if self.keypoints.shape[1] > 2 else np.ones(len(points))
            for index, (x, y) in enumerate(points.tolist()):
                color = PALETTE[index % len(PALETTE)]
                fill = color if seen[index] else None
                draw.ellipse((x - 3, y - 3, x + 3, y + 3), fill, color if fill is None else "white")


def _classes(mask: NDArray[np.generic]) -> list[NDArray[np.bool_]]:
    """A layer for each number in a mask but 0, in order; unused ones keep their colors."""
    highest = int(mask.max()) if mask.size else 0
    return [mask == number for number in range(1, min(highest, 255) + 1)]


def _in_pixels(numbers: NDArray[np.float64], whole: tuple[int, ...]) -> NDArray[np.float64]:
    """Coordinates in pixels; those that are all within 0 and 1 are shares of the whole."""
    if numbers.size and numbers.min() >= 0 and numbers.max() <= 1:
        return numbers * np.array(whole, np.float64)
    return numbers


def _tag(
    draw: ImageDraw.ImageDraw, corner: tuple[float, float], text: str, color: tuple[int, ...]
) -> None:
    box = draw.textbbox(corner, text)
    draw.rectangle((box[0] - 1, box[1] - 1, box[2] + 2, box[3] + 1), color)
    draw.text(corner, text, "white")


class Overlays:
    """The overlays of the samples of a batch, or of one sample."""

    def __init__(self, parts: list[Overlay]) -> None:
        self._parts = parts

    def __getitem__(self, sample: int) -> Overlay:
        return self._parts[sample]

    @classmethod
    def of(
        cls,
        count: int | None,
        *,
        labels: Any = None,
        boxes: Any = None,
        masks: Any = None,
        keypoints: Any = None,
    ) -> Self:
        """What was given for `count` samples, or for a single one if that is None."""
        rows = 1 if count is None else count
        all_boxes = [_rows(part, "boxes", 4) for part in _split(boxes, count, "boxes")]
        points = [_rows(part, "keypoints", 2) for part in _split(keypoints, count, "keypoints")]
        layers = [_array(part) for part in _split(masks, count, "masks")]
        texts = _split(labels, count, "labels")
        parts = []
        for sample in range(rows):
            text, found = texts[sample], all_boxes[sample]
            named = None if text is None else _names(text)
            of_boxes = found is not None and named is not None and len(named) == len(found)
            caption = None if named is None or of_boxes else ", ".join(named)
            box_labels = named if of_boxes else None
            parts.append(Overlay(caption, found, box_labels, layers[sample], points[sample]))
        return cls(parts)


def _split(given: Any, count: int | None, name: str) -> list[Any]:
    """What was given, one for each sample."""
    if given is None:
        return [None] * (1 if count is None else count)
    if count is None:
        return [given]
    parts = list(given.tensors) if hasattr(given, "tensors") else list(given)
    if len(parts) != count:
        msg = f"show: '{name}' must have one entry for each of {count} samples; got {len(parts)}."
        raise ValueError(msg)
    return parts


def _array(part: Any) -> NDArray[Any] | None:
    return None if part is None else np.asarray(part.cpu() if isinstance(part, Tensor) else part)


def _rows(part: Any, name: str, width: int) -> NDArray[np.float64] | None:
    array = _array(part)
    if array is None:
        return None
    rows = array.astype(np.float64)
    if rows.ndim == 1 and rows.size == 0:
        return rows.reshape(0, width)
    if rows.ndim == 1:
        rows = rows[np.newaxis]
    if rows.ndim != 2 or rows.shape[1] < width or (width == 4 and rows.shape[1] != width):
        shape = tuple(array.shape)
        msg = f"show: '{name}' must have the shape (number, {width}) for a sample; got {shape}."
        raise ValueError(msg)
    return rows


def _names(given: Any) -> list[str]:
    """A label, or those of boxes, as texts."""
    if isinstance(given, str):
        return [given]
    array = _array(given)
    assert array is not None
    return [
        f"{item:.3g}" if isinstance(item, float) else str(item) for item in array.ravel().tolist()
    ]
