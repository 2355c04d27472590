# SPDX-License-Identifier: Apache-2.0
"""The chart of a comparison: bars of images per second, a panel for each job."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from PIL import Image, ImageDraw, ImageFont

# Twice the size at which it is shown, so that it is sharp on all screens.
_SCALE = 2
_BAR, _GAP, _NAMES, _PANEL, _NUMBERS, _TOP, _BOTTOM = 22, 10, 210, 330, 60, 44, 30
OURS, OTHERS, _DARK = (192, 57, 43), (149, 165, 166), (40, 40, 40)


def draw_chart(
    rates: Mapping[str, Mapping[str, float]], title: str, path: str | PathLike[str]
) -> None:
    """Write a picture of images per second, for each contestant and job."""
    jobs = [job for job in ("eval", "train") if any(job in found for found in rates.values())]
    width = _NAMES + len(jobs) * (_PANEL + _NUMBERS) + 10
    height = _TOP + len(rates) * (_BAR + _GAP) + _BOTTOM
    picture = Image.new("RGB", (width * _SCALE, height * _SCALE), "white")
    draw = ImageDraw.Draw(picture)
    plain, small = (ImageFont.load_default(size * _SCALE) for size in (13, 11))
    for number, name in enumerate(rates):
        y = _TOP + number * (_BAR + _GAP) + _BAR / 2
        _text(draw, (_NAMES - 10, y), name, plain, "rm")
    for panel, job in enumerate(jobs):
        left = _NAMES + panel * (_PANEL + _NUMBERS)
        _text(draw, (left, _TOP / 2), f"{job}: images per second", plain, "lm")
        most = max(found.get(job, 0.0) for found in rates.values()) or 1.0
        for number, (name, found) in enumerate(rates.items()):
            if job not in found:
                continue
            top = _TOP + number * (_BAR + _GAP)
            right = left + _PANEL * found[job] / most
            box = [left, top, max(right, left + 1), top + _BAR]
            color = OURS if name.startswith("daliesque") else OTHERS
            draw.rectangle([edge * _SCALE for edge in box], color)
            _text(draw, (right + 5, top + _BAR / 2), f"{found[job]:,.0f}", plain, "lm")
    _text(draw, (10, height - _BOTTOM / 2), title, small, "lm")
    picture.save(path)


def _text(
    draw: ImageDraw.ImageDraw,
    position: tuple[float, float],
    text: str,
    font: ImageFont.ImageFont | ImageFont.FreeTypeFont,
    anchor: str,
) -> None:
    x, y = position
    if not isinstance(font, ImageFont.FreeTypeFont):
        # A Pillow without FreeType has a font of one size, which knows no anchors.
        shift = draw.textlength(text, font) if anchor == "rm" else 0
        draw.text((x * _SCALE - shift, y * _SCALE - 6), text, _DARK, font)
        return
    draw.text((x * _SCALE, y * _SCALE), text, _DARK, font, anchor)
