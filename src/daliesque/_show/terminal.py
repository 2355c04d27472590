# SPDX-License-Identifier: Apache-2.0
"""Pictures as text for terminals: three graphics protocols, and blocks of two pixels."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from enum import Enum

import numpy as np
from PIL import Image

# A protocol of Kitty's allows this many bytes at a time.
_KITTY_CHUNK = 4096
_SIXEL_COLORS = 64
# Pixels of a column of text in most fonts.
_CELL_WIDTH = 9


class Protocol(Enum):
    """How a picture is sent to a terminal."""

    kitty = "kitty"
    iterm2 = "iterm2"
    sixel = "sixel"
    blocks = "blocks"


def find_protocol(environment: Mapping[str, str]) -> Protocol:
    """What the terminal understands, as far as its environment says; blocks work in most.

    The variable DALIESQUE_GRAPHICS overrules it.
    """
    chosen = environment.get("DALIESQUE_GRAPHICS", "").lower()
    if chosen:
        try:
            return Protocol(chosen)
        except ValueError:
            names = ", ".join(protocol.value for protocol in Protocol)
            msg = f"DALIESQUE_GRAPHICS must be one of {names}; got {chosen!r}."
            raise ValueError(msg) from None
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if "kitty" in term or "KITTY_WINDOW_ID" in environment or "ghostty" in (term + program).lower():
        return Protocol.kitty
    if program in ("iTerm.app", "WezTerm", "mintty", "vscode"):
        return Protocol.iterm2
    if any(name in term for name in ("foot", "mlterm", "sixel", "contour", "yaft")):
        return Protocol.sixel
    return Protocol.blocks


def encode(picture: Image.Image, protocol: Protocol, columns: int) -> str:
    """What to write to a terminal of this width."""
    if protocol is Protocol.blocks:
        return _blocks(_narrowed(picture, columns))
    picture = _narrowed(picture, columns * _CELL_WIDTH)
    if protocol is Protocol.sixel:
        return _sixel(picture)
    data = io.BytesIO()
    picture.save(data, "PNG")
    text = base64.standard_b64encode(data.getvalue()).decode()
    if protocol is Protocol.iterm2:
        return f"\x1b]1337;File=inline=1;size={len(data.getvalue())}:{text}\a\n"
    chunks = [text[start : start + _KITTY_CHUNK] for start in range(0, len(text), _KITTY_CHUNK)]
    parts = []
    for index, chunk in enumerate(chunks):
        header = "a=T,f=100," if index == 0 else ""
        more = int(index + 1 < len(chunks))
        parts.append(f"\x1b_G{header}m={more};{chunk}\x1b\\")
    return "".join(parts) + "\n"


def _narrowed(picture: Image.Image, width: int) -> Image.Image:
    if picture.width <= width:
        return picture
    height = max(1, round(picture.height * width / picture.width))
    return picture.resize((width, height), Image.Resampling.BOX)


def _blocks(picture: Image.Image) -> str:
    """Two rows of pixels in a line of text: the upper half of a cell has the color of its text."""
    pixels = np.asarray(picture.convert("RGB"))
    if len(pixels) % 2:
        pixels = np.concatenate([pixels, pixels[-1:]])
    lines = []
    for upper, lower in zip(pixels[::2].tolist(), pixels[1::2].tolist(), strict=True):
        cells = [
            f"\x1b[38;2;{a[0]};{a[1]};{a[2]};48;2;{b[0]};{b[1]};{b[2]}m\u2580"
            for a, b in zip(upper, lower, strict=True)
        ]
        lines.append("".join(cells) + "\x1b[0m")
    return "\n".join(lines) + "\n"


def _sixel(picture: Image.Image) -> str:
    """Bands of six rows; in each, the columns of every color that occurs."""
    reduced = picture.convert("RGB").quantize(_SIXEL_COLORS)
    palette = np.asarray(reduced.getpalette() or [], np.int64).reshape(-1, 3)
    pixels = np.asarray(reduced)
    parts = ["\x1bPq"]
    for number, color in enumerate((palette * 100 // 255).tolist()[:_SIXEL_COLORS]):
        parts.append(f"#{number};2;{color[0]};{color[1]};{color[2]}")
    for top in range(0, len(pixels), 6):
        band = pixels[top : top + 6]
        weights = (1 << np.arange(len(band)))[:, np.newaxis]
        lines = []
        for number in np.unique(band).tolist():
            bits = ((band == number) * weights).sum(axis=0)
            lines.append(f"#{number}" + "".join(chr(63 + bit) for bit in bits.tolist()))
        parts.append("$".join(lines) + "-")
    return "".join(parts) + "\x1b\\\n"
