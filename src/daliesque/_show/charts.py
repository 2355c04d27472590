# SPDX-License-Identifier: Apache-2.0
"""Signals and spectra with axes, as whole numbers of frames and bins: the data knows no others."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from .pixels import colored

_DARK = (40, 40, 40)
_LINES = ((0, 120, 200), (230, 75, 53), (0, 160, 135), (132, 96, 180))
# Space for the numbers at the axes and for their titles.
_LEFT, _BOTTOM, _TOP, _RIGHT = 58, 32, 4, 20
# And for the scale of colors.
_SCALE_GAP, _SCALE_WIDTH, _SCALE_TEXT = 10, 10, 44


def draw_waveform(signal: NDArray[np.generic], size: int) -> Image.Image:
    """A signal (samples, channels): in each column of pixels, from its lowest to its highest."""
    wide = signal.astype(np.float64)
    wide[~np.isfinite(wide)] = 0
    width, height = size * 2, size
    low, high = (float(wide.min()), float(wide.max())) if wide.size else (0.0, 0.0)
    if low == high:
        low, high = low - 1, high + 1
    picture, draw = _frame(width, height, (0, len(wide)), (low, high), ("audio frame", "value"))
    if not wide.size:
        return picture
    edges = np.linspace(0, len(wide), width + 1).astype(int)
    rows = (_TOP + (high - wide) / (high - low) * (height - 1)).round()
    for channel in range(min(wide.shape[1], len(_LINES))):
        for column in range(width):
            part = rows[edges[column] : max(edges[column + 1], edges[column] + 1), channel]
            if part.size:
                x = _LEFT + column
                draw.line((x, part.min(), x, part.max()), _LINES[channel])
    return picture


def draw_spectrogram(channels: list[NDArray[np.generic]], size: int) -> Image.Image:
    """Matrices in false colors, frequencies upward and time to the right, one for each channel."""
    pictures = []
    for values in channels:
        bins, windows = values.shape
        width = min(max(windows, size), 2 * size)
        height = min(max(bins, size // 2), size)
        titles = "frame", "frequency bin"
        picture, _ = _frame(width, height, (0, windows), (0, bins), titles, scale=True)
        scaled = Image.fromarray(colored(values)).resize((width, height), Image.Resampling.BOX)
        picture.paste(scaled, (_LEFT, _TOP))
        _draw_scale(picture, _LEFT + width + _SCALE_GAP, height, values)
        pictures.append(picture)
    whole = Image.new("RGB", (pictures[0].width, sum(p.height for p in pictures)), "white")
    top = 0
    for picture in pictures:
        whole.paste(picture, (0, top))
        top += picture.height
    return whole


def _draw_scale(picture: Image.Image, left: int, height: int, values: NDArray[np.generic]) -> None:
    """What the colors mean: a strip of all of them, with the least and the largest value."""
    ramp = colored(np.linspace(1, 0, height)[:, np.newaxis].repeat(_SCALE_WIDTH, axis=1))
    picture.paste(Image.fromarray(ramp), (left, _TOP))
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    if finite.size:
        draw, x = ImageDraw.Draw(picture), left + _SCALE_WIDTH + 3
        draw.text((x, _TOP), f"{finite.max():.3g}", _DARK)
        draw.text((x, _TOP + height - 12), f"{finite.min():.3g}", _DARK)


def _frame(
    width: int,
    height: int,
    across: tuple[float, float],
    upward: tuple[float, float],
    titles: tuple[str, str],
    scale: bool = False,
) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty chart with numbers and titles at its axes; the area begins at (_LEFT, _TOP)."""
    right = _SCALE_GAP + _SCALE_WIDTH + _SCALE_TEXT if scale else _RIGHT
    picture = Image.new("RGB", (width + _LEFT + right, height + _TOP + _BOTTOM), "white")
    draw = ImageDraw.Draw(picture)
    bottom = _TOP + height
    draw.text((_LEFT + (width - draw.textlength(titles[0])) / 2, bottom + 17), titles[0], _DARK)
    upright = Image.new("RGB", (int(draw.textlength(titles[1])) + 2, 14), "white")
    ImageDraw.Draw(upright).text((0, 0), titles[1], _DARK)
    rotated = upright.transpose(Image.Transpose.ROTATE_90)
    picture.paste(rotated, (0, _TOP + max(0, (height - rotated.height) // 2)))
    draw.line((_LEFT - 1, _TOP, _LEFT - 1, bottom, _LEFT + width, bottom), _DARK)
    for number in _ticks(*across):
        x = _LEFT + (number - across[0]) / max(across[1] - across[0], 1e-12) * width
        draw.line((x, bottom, x, bottom + 3), _DARK)
        text = f"{number:g}"
        draw.text((x - draw.textlength(text) / 2, bottom + 4), text, _DARK)
    for number in _ticks(*upward):
        y = bottom - (number - upward[0]) / max(upward[1] - upward[0], 1e-12) * height
        draw.line((_LEFT - 4, y, _LEFT - 1, y), _DARK)
        text = f"{number:.4g}"
        draw.text((_LEFT - 6 - draw.textlength(text), y - 6), text, _DARK)
    return picture, draw


def _ticks(low: float, high: float) -> list[float]:
    """About four round numbers in a range."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    step = 10.0 ** math.floor(math.log10(span / 4))
    step *= min((1, 2, 5, 10), key=lambda factor: abs(span / (step * factor) - 4))
    first = math.ceil(low / step)
    numbers = [first * step + k * step for k in range(12)]
    return [round(number, 12) for number in numbers if number <= high + step * 1e-9]
