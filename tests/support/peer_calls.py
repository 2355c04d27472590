# SPDX-License-Identifier: Apache-2.0
"""The tables of names in docs/coming-from: their calls beside ours, and how far results differ.

A row is `| their call | our call | difference |`. Both calls are Python; they may use `image`, and
those of a table with the word "batch" in its head `images` and `labels`; those about audio `audio`
and `hann`. The difference is the largest of all pixels, such as `0` or `1`, with the share of
pixels that differ by more than one level in parentheses; of audio, the largest beside the largest
value; or words, if the two do not compute the same (random draws, other algorithms).
`tools/record_peers.py` records what their calls give, in an environment that has these libraries;
OpenCV and librosa are among the requirements of the tests, and are called there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.uint8]
PAGES = Path(__file__).resolve().parents[2] / "docs" / "coming-from"
RECORD = Path(__file__).parents[1] / "goldens" / "peers.npz"
# Of results, every third row and column is recorded.
STEP = 3
_NUMBER = re.compile(r"([\d.]+(?:e-\d+)?)(?: \(([\d.]+) %\))?(?:; .*)?")
# Pages about audio.
AUDIO = {"librosa"}


class Row(NamedTuple):
    """A row of a table."""

    page: str
    theirs: str
    ours: str
    # The third cell.
    stated: str

    @property
    def difference(self) -> tuple[float, float] | None:
        """The largest difference, and the percentage of values more than one level apart.

        None if the two are not compared.
        """
        found = _NUMBER.fullmatch(self.stated)
        return (float(found[1]), float(found[2] or 0)) if found else None

    @property
    def key(self) -> str:
        """The name of what is recorded for it."""
        return f"{self.page}: {self.theirs}"


def picture() -> Array:
    """A picture of 120 x 160 pixels: slopes, discs and stripes."""
    y, x = np.mgrid[:120, :160].astype(np.float64)
    red = 60 + x * 0.9 + 20 * np.sin(y / 7)
    green = 200 - y * 1.1 + 15 * np.cos(x / 9)
    blue = 40 + (x + y) * 0.6
    pixels = np.stack([red, green, blue], axis=2)
    pixels[(x - 50) ** 2 + (y - 60) ** 2 < 30**2] = (230, 190, 40)
    pixels[(x - 120) ** 2 + (y - 35) ** 2 < 18**2] = (30, 60, 160)
    pixels[80:110, 90:150] = np.where((x[80:110, 90:150] // 6 % 2 == 0)[..., None], 240, 20)
    return np.clip(np.round(pixels), 0, 255).astype(np.uint8)


def chirp() -> NDArray[np.float32]:
    """A second of audio: a rising tone over a steady one."""
    time = np.arange(16000) / 16000
    rising = 0.4 * np.sin(2 * np.pi * (200 + 900 * time) * time)
    return (rising + 0.1 * np.sin(2 * np.pi * 3000 * time)).astype(np.float32)


def periodic_hann() -> NDArray[np.float32]:
    """The window that librosa uses, of 512 samples."""
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(512) / 512)).astype(np.float32)


def rows(page: str) -> list[Row]:
    """The rows of the tables of a page."""
    return list(_read(page, (PAGES / f"{page}.md").read_text()))


def _read(page: str, text: str) -> Iterator[Row]:
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) < 3 or not cells[1].startswith("`"):
            continue
        theirs, ours = (cell.strip("`").replace("\\|", "|") for cell in cells[:2])
        yield Row(page, theirs, ours, cells[2])


def differences(ours: NDArray[np.generic], theirs: NDArray[np.generic]) -> tuple[float, float]:
    """The largest difference, and the percentage of values that differ by more than one level."""
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    return float(apart.max()), float((apart > 1).mean() * 100)


def relative_difference(ours: NDArray[np.generic], theirs: NDArray[np.generic]) -> float:
    """The largest difference as a share of the largest value."""
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    return float(apart.max() / np.abs(theirs).max())
