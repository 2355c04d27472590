# SPDX-License-Identifier: Apache-2.0
"""The table in docs/scenes.md lists all operators that move scenes."""

from __future__ import annotations

import re
from pathlib import Path

from daliesque._scene.operators import GEOMETRIES

TEXT = (Path(__file__).parents[2] / "docs" / "scenes.md").read_text()


def test_the_table_of_operators() -> None:
    (row,) = re.findall(r"^\| (.*) \| move all parts \|$", TEXT, re.MULTILINE)
    assert set(re.findall(r"`([\w.]+)`", row)) == {*GEOMETRIES, "copy_paste", "random_bbox_crop"}
