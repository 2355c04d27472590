# SPDX-License-Identifier: Apache-2.0
"""Write docs/gallery: what each image operator does, input and result side by side.

    python tools/gallery.py [FOLDER]

The input is drawn by `scene.py`, the calls are in `gallery_calls.py`. Each becomes one picture, and
README.md shows them all in tables. Look at them after a change.
"""

from __future__ import annotations

import io
import sys
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gallery_calls import FAMILIES
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scene import HEIGHT, HOUSE, WIDTH, balloon_outline, draw_scene

import daliesque as ndd

Array = NDArray[Any]
TARGET = Path(__file__).parent.parent / "docs" / "gallery"
GAP = 8
MASK_COLORS = ((255, 0, 160), (0, 230, 255))

INTRODUCTION = """\
# Gallery

What each image operator does: the input on the left, the result on the right, with the call that \
made it. Written by `tools/gallery.py`.

In the calls, `image` is a Tensor of 180x240x3 bytes with the layout HWC, `jpeg` the same encoded, \
and `raw` the same as seen by a sensor. `boxes` are relative (left, top, right, bottom), `points` \
and `vertices` are (x, y) in pixels, and `mask` has 1 where the house is and 2 for the balloon. \
`scene` is the image with boxes, a mask for each box and points, of which those outside are not \
drawn; `scenes` is a batch of it and three others. \
Results of floating-point numbers are shown with their least value black and their greatest white.
"""


class Entry(NamedTuple):
    """One picture of the gallery."""

    family: str
    operator: str
    call: str
    file: str


def entries() -> list[Entry]:
    """All pictures; the file of the second one of an operator has a number."""
    found = []
    seen: Counter[str] = Counter()
    for family, calls in FAMILIES.items():
        for operator, call in calls:
            key = f"{operator} of a scene" if family == "Scenes" else operator
            seen[key] += 1
            number = f"-{seen[key]}" if seen[key] > 1 else ""
            file = f"scene-{operator}{number}" if family == "Scenes" else f"{operator}{number}"
            found.append(Entry(family, operator, call, f"{file}.png"))
    return found


def prepare() -> dict[str, Any]:
    """The names that calls may use."""
    scene = draw_scene()
    encoded = io.BytesIO()
    Image.fromarray(scene.image).save(encoded, "JPEG", quality=95)
    raw = scene.image[..., 1].copy()
    raw[::2, ::2], raw[1::2, 1::2] = scene.image[::2, ::2, 0], scene.image[1::2, 1::2, 2]
    outlines = [np.array(line, np.float32) for line in ([*HOUSE], balloon_outline())]
    ends = np.cumsum([0, *map(len, outlines)])
    size = np.array([WIDTH, HEIGHT] * 2, np.float32)
    boxes = [np.concatenate([line.min(axis=0), line.max(axis=0)]) / size for line in outlines]
    points = np.array([*HOUSE, (176, 22), (176, 97)], np.float32)
    whole = ndd.Scene(
        scene.image,
        boxes=np.stack(boxes) * size,
        masks=np.stack([scene.mask == number for number in (1, 2)]),
        keypoints=points,
    )
    return {
        "scene": whole,
        "scenes": changed_scenes(whole),
        "ndd": ndd,
        "np": np,
        "image": ndd.tensor(scene.image, layout="HWC"),
        "jpeg": ndd.tensor(np.frombuffer(encoded.getvalue(), np.uint8)),
        "raw": ndd.tensor(raw, layout="HW"),
        "mask": ndd.tensor(scene.mask),
        "boxes": ndd.tensor(np.stack(boxes)),
        "labels": ndd.tensor(np.array([1, 2], np.int32)),
        "points": ndd.tensor(points),
        "polygons": ndd.tensor(
            np.array([[k + 1, ends[k], ends[k + 1]] for k in range(2)], np.int32)
        ),
        "vertices": ndd.tensor(np.concatenate(outlines)),
    }


def changed_scenes(scene: ndd.Scene) -> ndd.Scene:
    """A batch of a scene and changed ones, the last one mirrored and moved."""
    mirrored = ndd.translate_y(ndd.flip(scene), offset=20)
    made = [scene, ndd.hue(scene, hue=90), ndd.rotate(scene, angle=10, keep_size=True), mirrored]
    names = ("image", "boxes", "masks", "keypoints")
    image, boxes, masks, points = (ndd.batch([one.parts[name] for one in made]) for name in names)
    return ndd.Scene(image, boxes, masks=masks, keypoints=points)


def run(call: str, names: dict[str, Any]) -> Any:
    """The value of the last line."""
    ndd.random.set_seed(1)
    scope = dict(names)
    *lines, last = call.splitlines()
    exec("\n".join(lines), scope)
    return eval(last, scope)


def to_picture(value: Any) -> Image.Image:
    """A tensor as a picture."""
    layout = getattr(value, "layout", None)
    pixels = np.asarray(value)
    if layout == "CHW":
        pixels = pixels.transpose(1, 2, 0)
    if pixels.dtype.kind == "f":
        low, high = float(pixels.min()), float(pixels.max())
        pixels = (pixels - low) * (255 / (high - low))
    pixels = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[..., 0]
    return Image.fromarray(pixels).convert("RGB")


def draw(picture: Image.Image, marks: Any) -> None:
    """Draw boxes (four numbers), points (two) or polygons (a pair of tensors)."""
    pen = ImageDraw.Draw(picture)
    lines: list[list[tuple[float, float]]] = []
    if isinstance(marks, tuple):
        polygons, vertices = (np.asarray(part) for part in marks)
        for _, first, last in polygons.tolist():
            outline = [(x, y) for x, y in vertices[first:last].tolist()]
            lines.append([*outline, outline[0]])
    else:
        array = np.asarray(marks)
        for mark in (array * ([*picture.size] * 2 if array.shape[1] == 4 else 1)).tolist():
            if len(mark) == 4:
                left, top, right, bottom = mark
                corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
                lines.append([*corners, corners[0]])
            else:
                x, y = mark
                pen.ellipse((x - 4, y - 4, x + 4, y + 4), "#ffe600", "black", 1)
    for color, width in (("black", 4), ("#ffe600", 2)):
        for line in lines:
            pen.line(line, color, width, joint="curve")


def draw_scene_parts(value: ndd.Scene) -> Image.Image:
    """The image of a scene with all other parts drawn on it."""
    picture = to_picture(value.image)
    pixels = np.array(picture)
    for mask, color in zip(np.asarray(value.masks), cycle(MASK_COLORS), strict=False):
        inside = mask != 0
        pixels[inside] = pixels[inside] // 2 + np.array(color, np.uint8) // 2
    picture = Image.fromarray(pixels)
    draw(picture, np.asarray(value.boxes) / ([*picture.size] * 2))
    visible = slice(None) if value.visible is None else np.asarray(value.visible)
    draw(picture, np.asarray(value.keypoints)[visible])
    return picture


def render(entry: Entry, names: dict[str, Any]) -> tuple[Image.Image, Image.Image]:
    """Input and result of a call."""
    if entry.family == "Scenes":
        return draw_scene_parts(names["scene"]), draw_scene_parts(run(entry.call, names))
    source = "raw" if "(raw" in entry.call else "image"
    before = to_picture(names[source])
    if entry.operator.startswith("segmentation."):
        before = to_picture(names["mask"] * 100)
    for mark in ("boxes", "points"):
        if mark in entry.call:
            draw(before, names[mark])
    if "polygons" in entry.call:
        draw(before, (names["polygons"], names["vertices"]))
    result = run(entry.call, names)
    picture, marks = result if isinstance(result, tuple) else (result, None)
    after = to_picture(picture)
    if marks is not None:
        draw(after, marks)
    return before, after


def beside(before: Image.Image, after: Image.Image) -> Image.Image:
    """Two pictures on white, with a palette of their own, which keeps files small."""
    height = max(before.height, after.height)
    sheet = Image.new("RGB", (before.width + GAP + after.width, height), "white")
    sheet.paste(before, (0, (height - before.height) // 2))
    sheet.paste(after, (before.width + GAP, (height - after.height) // 2))
    return sheet.quantize(palette=sheet.quantize(256, kmeans=2))


def readme() -> str:
    """The page with all pictures."""
    lines = [INTRODUCTION]
    family = ""
    for entry in entries():
        if entry.family != family:
            family = entry.family
            lines += [f"\n## {family}\n", "| operator | input and result | call |", "|---|---|---|"]
        call = "<br>".join(f"`{line}`" for line in entry.call.splitlines())
        lines.append(f"| `{entry.operator}` | ![]({entry.file}) | {call} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.png"):
        old.unlink()
    names = prepare()
    for entry in entries():
        beside(*render(entry, names)).save(target / entry.file, optimize=True)
    (target / "README.md").write_text(readme())
    files = list(target.glob("*.png"))
    print(f"{len(files)} pictures, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
