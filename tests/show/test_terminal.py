# SPDX-License-Identifier: Apache-2.0
"""Pictures for terminals, decoded again."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from daliesque._show.terminal import Protocol, encode, find_protocol

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 20, 3), dtype=np.uint8)
PICTURE = Image.fromarray(PIXELS)


def test_blocks_hold_two_pixels() -> None:
    text = encode(PICTURE, Protocol.blocks, 80)
    found = np.zeros_like(PIXELS)
    for row, line in enumerate(text.splitlines()):
        for column, cell in enumerate(
            re.findall(r"\x1b\[38;2;([\d;]+);48;2;([\d;]+)m\u2580", line)
        ):
            found[2 * row, column] = [int(part) for part in cell[0].split(";")]
            found[2 * row + 1, column] = [int(part) for part in cell[1].split(";")]
    assert np.array_equal(found, PIXELS)


def decoded(text: str) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))


def test_kitty_in_chunks() -> None:
    large = Image.fromarray(np.random.default_rng(1).integers(0, 256, (99, 99, 3), dtype=np.uint8))
    text = encode(large, Protocol.kitty, 80)
    chunks = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text)
    assert len(chunks) > 1
    assert chunks[0][0] == "a=T,f=100,m=1"
    assert [header for header, _ in chunks[1:]] == ["m=1"] * (len(chunks) - 2) + ["m=0"]
    assert all(len(data) <= 4096 for _, data in chunks)
    assert np.array_equal(decoded("".join(data for _, data in chunks)), np.asarray(large))


def test_iterm2() -> None:
    text = encode(PICTURE, Protocol.iterm2, 80)
    found = re.fullmatch(r"\x1b\]1337;File=inline=1;size=\d+:([^\a]*)\a\n", text)
    assert found is not None
    assert np.array_equal(decoded(found[1]), PIXELS)


def test_sixel() -> None:
    """Colors are reduced to 64, in percent."""
    blocks = np.zeros((14, 20, 3), np.uint8)
    blocks[:7, :10], blocks[:7, 10:], blocks[7:, :10] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    text = encode(Image.fromarray(blocks), Protocol.sixel, 80)
    body = re.fullmatch(r"\x1bPq((?:#\d+;2;\d+;\d+;\d+)*)(.*)\x1b\\\n", text)
    assert body is not None
    entries = re.findall(r"#(\d+);2;(\d+);(\d+);(\d+)", body[1])
    palette = {int(n): [round(int(c) * 2.55) for c in color] for n, *color in entries}
    found = np.zeros_like(blocks)
    for band, lines in enumerate(body[2].rstrip("-").split("-")):
        for color, bits in re.findall(r"#(\d+)([?-~]+)", lines):
            for column, character in enumerate(bits):
                for k in range(6):
                    if (ord(character) - 63) >> k & 1:
                        found[band * 6 + k, column] = palette[int(color)]
    assert np.array_equal(found, blocks)


def test_wide_pictures_are_made_to_fit() -> None:
    wide = Image.fromarray(np.zeros((10, 400, 3), np.uint8))
    lines = encode(wide, Protocol.blocks, 40).splitlines()
    assert lines[0].count("\u2580") == 40


@pytest.mark.parametrize(
    ("environment", "protocol"),
    [
        ({"TERM": "xterm-kitty"}, Protocol.kitty),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, Protocol.iterm2),
        ({"TERM": "foot"}, Protocol.sixel),
        ({"TERM": "xterm-256color"}, Protocol.blocks),
        ({}, Protocol.blocks),
        ({"TERM": "xterm-kitty", "DALIESQUE_GRAPHICS": "blocks"}, Protocol.blocks),
    ],
)
def test_protocol_follows_the_environment(environment: dict[str, str], protocol: Protocol) -> None:
    assert find_protocol(environment) is protocol


def test_unknown_protocol() -> None:
    with pytest.raises(ValueError, match="must be one of kitty, iterm2, sixel, blocks; got 'x'"):
        find_protocol({"DALIESQUE_GRAPHICS": "x"})
