# SPDX-License-Identifier: Apache-2.0
"""A landscape drawn by code, for the gallery: soft gradients, texture, sharp edges, pure colors.

All parts are drawn four times as large and then reduced, which smooths their edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

Array = NDArray[Any]

WIDTH, HEIGHT = 240, 180
ZOOM = 4

# Corners of the two objects, (x, y) in pixels.
HOUSE = [(22, 146), (22, 110), (50, 86), (78, 110), (78, 146)]
BALLOON_CENTER, BALLOON_RADIUS = (176, 52), 30


@dataclass(frozen=True)
class Scene:
    """The picture, and where its objects (1: the house, 2: the balloon) are."""

    image: Array
    mask: Array


def balloon_outline(corners: int = 24) -> list[tuple[float, float]]:
    """Corners of the balloon, which is pointed at the bottom."""
    (x, y), radius = BALLOON_CENTER, BALLOON_RADIUS
    angles = np.linspace(0.7 * np.pi, 2.3 * np.pi, corners)
    arc = [(x + radius * float(np.cos(a)), y + radius * float(np.sin(a))) for a in angles]
    return [*arc, (x, y + 1.5 * radius)]


def enlarged(corners: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(ZOOM * x, ZOOM * y) for x, y in corners]


def smooth_noise(rng: np.random.Generator, length: int, octaves: int) -> Array:
    """A fractal line between about -1 and 1."""
    line = np.zeros(length)
    for octave in range(octaves):
        knots = rng.uniform(-1, 1, 3 * 2**octave + 1)
        line += np.interp(np.linspace(0, len(knots) - 1, length), range(len(knots)), knots) / (
            1.7**octave
        )
    return line


def draw_land(rng: np.random.Generator) -> Array:
    """Sky with a low sun, two ridges, a meadow."""
    width, height = WIDTH * ZOOM, HEIGHT * ZOOM
    y, x = np.mgrid[:height, :width].astype(np.float64)
    down = (y / height)[..., None]
    land = np.array([58, 110, 190]) * (1 - down) + np.array([255, 205, 160]) * down * 1.3
    distance = np.hypot(x - 0.32 * width, y - 0.36 * height)[..., None]
    glow = np.exp(-distance / (0.16 * width))
    land = land * (1 - 0.7 * glow) + np.array([255, 240, 190]) * 0.7 * glow
    land = np.where(distance < 0.05 * width, [255, 250, 225], land)
    for level, roughness, near, far in (
        (0.52, 0.11, [120, 125, 160], [150, 150, 175]),
        (0.62, 0.06, [62, 88, 78], [96, 120, 100]),
    ):
        ridge = height * (level - roughness * smooth_noise(rng, width, 7))
        depth = np.clip((y - ridge) / (0.25 * height), 0, 1)[..., None]
        land = np.where((y > ridge)[..., None], np.array(far) * (1 - depth) + near * depth, land)
    meadow = np.clip((y / height - 0.72) / 0.28, 0, 1)[..., None]
    blades = np.repeat(rng.uniform(0.72, 1.18, (height // 8 + 1, width // 3 + 1)), 8, axis=0)
    blades = np.repeat(blades, 3, axis=1)[:height, :width, None]
    grass = (np.array([120, 165, 70]) * (1 - meadow) + np.array([52, 110, 42]) * meadow) * blades
    land = np.where((y > 0.72 * height)[..., None], grass, land)
    result: Array = np.clip(land, 0, 255).astype(np.uint8)
    return result


def draw_house(pen: ImageDraw.ImageDraw) -> None:
    def box(left: float, top: float, right: float, bottom: float, color: str) -> None:
        pen.rectangle([ZOOM * v for v in (left, top, right, bottom)], fill=color)

    pen.polygon(enlarged([*HOUSE]), fill="#c8452f")
    pen.polygon(enlarged([(18, 112), (50, 84), (82, 112)]), fill="#5a3527")
    for left in (28, 62):
        box(left, 117, left + 11, 130, "white")
        box(left + 1.5, 118.5, left + 9.5, 128.5, "#3d5a80")
        box(left + 5, 117, left + 6, 130, "white")
    box(44, 122, 57, 146, "#3a2418")


def draw_balloon(pen: ImageDraw.ImageDraw) -> None:
    (x, y), radius = BALLOON_CENTER, BALLOON_RADIUS
    pen.polygon(enlarged(balloon_outline(96)), fill="#f2c230")
    for share, color in ((0.72, "#d62828"), (0.44, "#1d7fd1"), (0.18, "#2a9d4a")):
        half = share * radius
        pen.ellipse(
            [ZOOM * (x - half), ZOOM * (y - radius), ZOOM * (x + half), ZOOM * (y + radius)],
            fill=color,
        )
    for side in (-1, 1):
        pen.line(enlarged([(x + 6 * side, y + 40), (x + 4 * side, y + 56)]), "#402a1a", 3)
    pen.rectangle([ZOOM * (x - 5), ZOOM * (y + 55), ZOOM * (x + 5), ZOOM * (y + 62)], "#7a4a24")


def draw_sign(pen: ImageDraw.ImageDraw) -> None:
    """A board with thin strokes, like letters, and a test pattern of bars."""
    pen.rectangle([ZOOM * v for v in (112, 128, 214, 164)], "#f6f1e4", "#30281c", 6)
    strokes = {
        "D": [(0, 0, 0, 12), (0, 0, 6, 3), (6, 3, 6, 9), (6, 9, 0, 12)],
        "A": [(0, 12, 4, 0), (4, 0, 8, 12), (2, 8, 6, 8)],
        "L": [(0, 0, 0, 12), (0, 12, 6, 12)],
        "I": [(0, 0, 0, 12)],
        "E": [(0, 0, 0, 12), (0, 0, 6, 0), (0, 6, 5, 6), (0, 12, 6, 12)],
    }
    left = 119.0
    for letter in "DALIE":
        for x0, y0, x1, y1 in strokes[letter]:
            pen.line(enlarged([(left + x0, 133 + y0), (left + x1, 133 + y1)]), "#1c1c1c", 6)
        left += 7 if letter == "I" else 12
    for k in range(12):
        pen.line(enlarged([(180 + 2.5 * k, 132), (180 + 2.5 * k, 146)]), "#1c1c1c", ZOOM)
    colors = ("#e63946", "#f4a261", "#e9c46a", "#2a9d8f", "#277da1", "#6a4c93", "#111111", "#999")
    for k, color in enumerate(colors):
        pen.rectangle([ZOOM * v for v in (117 + 11.5 * k, 151, 126 + 11.5 * k, 160)], color)
    for x in (124, 202):
        pen.rectangle([ZOOM * v for v in (x - 2, 164, x + 2, 176)], "#5a4630")


def draw_scene() -> Scene:
    """The same picture each time."""
    canvas = Image.fromarray(draw_land(np.random.default_rng(5)))
    pen = ImageDraw.Draw(canvas)
    draw_house(pen)
    draw_balloon(pen)
    draw_sign(pen)
    image = canvas.resize((WIDTH, HEIGHT), Image.Resampling.BOX)
    mask = Image.new("L", (WIDTH, HEIGHT))
    outlines: list[list[tuple[float, float]]] = [[*HOUSE], [*balloon_outline()]]
    for number, corners in enumerate(outlines, 1):
        ImageDraw.Draw(mask).polygon(corners, fill=number)
    return Scene(np.array(image), np.array(mask, np.int32))
