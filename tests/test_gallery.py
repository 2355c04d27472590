# SPDX-License-Identifier: Apache-2.0
"""docs/gallery shows every image operator, and its calls run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from daliesque._engine.op import registry

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "gallery"
# Modules whose operators work on images, also where any array would do.
MODULES = {
    "bbox_crop",
    "boxes",
    "color",
    "compose",
    "crop",
    "debayer",
    "displacement",
    "filters",
    "geometry",
    "image_decoders",
    "lookup",
    "masks",
    "morphology",
    "noise",
    "paste",
    "points",
    "remap",
    "resize",
    "tone",
    "transforms",
    "warp",
}
# They give numbers, or the picture that they were given.
WITHOUT_PICTURE = {"box_encoder", "dump_image", "optical_flow", "peek_image_shape"}

sys.path.insert(0, str(ROOT / "tools"))
import gallery  # noqa: E402


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    return gallery.prepare()


def image_operators() -> set[str]:
    found = set()
    for name, spec in registry.items():
        module = spec.body.__module__.rpartition(".")[2]
        if module in MODULES or any("HW" in layout for layout in spec.allowed_layouts):
            found.add(name)
    return found - WITHOUT_PICTURE


def test_every_image_operator_is_shown() -> None:
    shown = {entry.operator for entry in gallery.entries()}
    assert image_operators() - shown == set()
    assert shown - set(registry) == set()


def test_page_and_pictures_are_up_to_date() -> None:
    assert (FOLDER / "README.md").read_text() == gallery.readme(), "run tools/gallery.py"
    files = {entry.file for entry in gallery.entries()}
    assert {path.name for path in FOLDER.glob("*.png")} == files, "run tools/gallery.py"


@pytest.mark.parametrize("entry", gallery.entries(), ids=lambda entry: entry.file)
def test_call_gives_a_picture(entry: Any, names: dict[str, Any]) -> None:
    assert f"{entry.operator}(" in entry.call
    before, after = (np.asarray(picture) for picture in gallery.render(entry, names))
    assert min(after.shape[:2]) >= 50
    assert max(after.shape[:2]) <= 480
    assert after.std() > 10
    assert before.shape != after.shape or (before != after).any()
    height, width = max(len(before), len(after)), before.shape[1] + after.shape[1]
    with Image.open(FOLDER / entry.file) as committed:
        assert committed.size == (width + gallery.GAP, height)
