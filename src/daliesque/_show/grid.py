# SPDX-License-Identifier: Apache-2.0
"""A picture of all samples: cells in a grid, each with a line of text below."""

from __future__ import annotations

import math
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from .._engine.arithmetic import Operators
from .._engine.batch import Batch
from .._engine.convert import to_numpy
from .._engine.device import Device
from .._engine.samples import Samples, host
from .._engine.value import Value
from .charts import draw_spectrogram, draw_waveform
from .overlays import Overlay, Overlays
from .pixels import Kind, View, picture_frames, spectrum_frames, view_of

_MARGIN = 6
_CAPTION = 16
_DARK, _LIGHT = (40, 40, 40), (120, 120, 120)
# More samples than this are not drawn.
MOST_CELLS = 64
# Smaller images are enlarged to this, with their pixels visible.
_LEAST_PIXELS = 64


def draw_grid(value: Value, overlays: Overlays, columns: int | None, size: int) -> Image.Image:
    """All samples of a batch, or the only one; `size` is the longer side of a cell."""
    samples = host_samples(value)
    shown = min(len(samples), MOST_CELLS) if isinstance(value, Batch) else 1
    sources = value._source
    cells = []
    for sample in range(shown):
        cell = draw_sample(to_numpy(host(samples), sample), samples.layout, overlays[sample], size)
        source = None if sources is None else sources[min(sample, len(sources) - 1)]
        cells.append((cell, _caption(sample, overlays[sample], source)))
    if not cells:
        return _message("an empty batch", size)
    picture = _arranged(cells, columns)
    if len(samples) > shown and isinstance(value, Batch):
        return _with_footer(picture, f"the first {shown} of {len(samples)} samples")
    return picture


def host_samples(value: Value) -> Samples:
    """The data of a value in CPU memory."""
    assert isinstance(value, Operators)
    return value._to_device(Device.CPU, False)._data()


def draw_sample(
    array: NDArray[Any], layout: str | None, overlay: Overlay, size: int
) -> Image.Image:
    """One cell: an image, a strip of frames or slices, a chart, or numbers."""
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    view = view_of(array.shape, layout)
    if view.kind is Kind.numbers:
        return _message(_numbers(array), size)
    if view.kind is Kind.waveform:
        return draw_waveform(array.reshape(len(array), -1), size)
    if view.kind is Kind.spectrogram and array.size:
        return draw_spectrogram(spectrum_frames(array, view), size)
    frames = picture_frames(array, view) if array.size else {}
    if not frames:
        return _message(f"no pixels, shape {array.shape}", size)
    if len(frames) == 1:
        return _scaled(frames[0], overlay, 0, 1, size)
    # Each frame of a long strip gets less than an image of its own.
    side, count = max(_LEAST_PIXELS, size // 2), array.size // math.prod(_frame_shape(array, view))
    noun = "slice" if view.kind is Kind.slices else "frame"
    pictures = [_scaled(frame, overlay, k, count, side) for k, frame in frames.items()]
    names = [f"{noun} {k}" if k == 0 else str(k) for k in frames]
    return _beside(pictures, names)


def _frame_shape(array: NDArray[Any], view: View) -> tuple[int, ...]:
    inner = 3 if view.has_channels else 2
    return tuple(array.shape[axis] for axis in view.axes[-inner:])


def _scaled(
    pixels: NDArray[np.uint8], overlay: Overlay, number: int, frames: int, size: int
) -> Image.Image:
    height, width = pixels.shape[:2]
    picture = Image.fromarray(overlay.tint(pixels, number, frames))
    longer = max(height, width)
    scale = size / longer if longer > size else max(1, _LEAST_PIXELS // longer)
    if scale != 1:
        wanted = max(1, round(width * scale)), max(1, round(height * scale))
        resampling = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.BOX
        picture = picture.resize(wanted, resampling)
    overlay.draw(ImageDraw.Draw(picture), pixels.shape, scale)
    return picture


def _beside(pictures: list[Image.Image], names: list[str]) -> Image.Image:
    """A strip of pictures, with a name below each."""
    gap = 2
    width = sum(picture.width for picture in pictures) + gap * (len(pictures) - 1)
    height = max(picture.height for picture in pictures)
    out = Image.new("RGB", (width, height + _CAPTION), "white")
    draw = ImageDraw.Draw(out)
    left = 0
    for picture, name in zip(pictures, names, strict=True):
        out.paste(picture, (left, 0))
        draw.text((left, height + 2), _fitting(draw, name, picture.width), _LIGHT)
        left += picture.width + gap
    return out


def _numbers(array: NDArray[Any]) -> str:
    if array.dtype.kind in "US":
        return str(array)
    with np.printoptions(precision=4, threshold=40, edgeitems=3, linewidth=34):
        return str(array)


def _message(text: str, size: int) -> Image.Image:
    probe = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    box = probe.multiline_textbbox((0, 0), text)
    out = Image.new("RGB", (max(size // 2, int(box[2]) + 8), int(box[3]) + 8), (245, 245, 245))
    ImageDraw.Draw(out).multiline_text((4, 4), text, _DARK)
    return out


def _caption(sample: int, overlay: Overlay, source: object) -> str:
    parts = [str(sample)]
    if overlay.caption is not None:
        parts.append(overlay.caption)
    elif isinstance(source, str):
        parts.append(PurePath(source).name)
    return "  ".join(parts)


def _arranged(cells: list[tuple[Image.Image, str]], columns: int | None) -> Image.Image:
    """Cells row by row; a column is as wide as its widest cell, a row as high as its highest."""
    if columns is None:
        # Pictures that are wide, such as strips, stand below each other.
        average = sum(cell.width for cell, _ in cells) / len(cells)
        columns = max(1, min(math.ceil(math.sqrt(len(cells) * 1.6)), int(1600 / average)))
    columns = min(columns, len(cells))
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    widths = [max(row[c][0].width for row in rows if c < len(row)) for c in range(columns)]
    heights = [max(cell.height for cell, _ in row) + _CAPTION for row in rows]
    width = sum(widths) + _MARGIN * (columns + 1)
    out = Image.new("RGB", (width, sum(heights) + _MARGIN * (len(rows) + 1)), "white")
    draw = ImageDraw.Draw(out)
    top = _MARGIN
    for row, height in zip(rows, heights, strict=True):
        left = _MARGIN
        for (cell, caption), column in zip(row, widths, strict=False):
            out.paste(cell, (left, top))
            draw.text((left, top + cell.height + 2), _fitting(draw, caption, column), _DARK)
            left += column + _MARGIN
        top += height + _MARGIN
    return out


def _fitting(draw: ImageDraw.ImageDraw, text: str, width: int) -> str:
    """The text, without its middle if it is too wide."""
    font = ImageFont.load_default()
    if draw.textlength(text, font) <= width:
        return text
    for kept in range(len(text) - 1, 1, -1):
        short = text[: (kept + 1) // 2] + "..." + text[len(text) - kept // 2 :]
        if draw.textlength(short, font) <= width:
            return short
    return text[:1]


def _with_footer(picture: Image.Image, text: str) -> Image.Image:
    out = Image.new("RGB", (picture.width, picture.height + _CAPTION), "white")
    out.paste(picture, (0, 0))
    ImageDraw.Draw(out).text((_MARGIN, picture.height), text, _DARK)
    return out
