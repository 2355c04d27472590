# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/scenes.md run, and its table lists all operators that move scenes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from daliesque._scene.operators import GEOMETRIES

GUIDE = Path(__file__).parents[2] / "docs" / "scenes.md"
TEXT = GUIDE.read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def test_the_programs_of_the_guide() -> None:
    assert len(PROGRAMS) == 6
    names: dict[str, Any] = {}
    for program in PROGRAMS:
        exec(compile(program, str(GUIDE), "exec"), names)


def test_the_table_of_operators() -> None:
    (row,) = re.findall(r"^\| (.*) \| move all parts \|$", TEXT, re.MULTILINE)
    assert set(re.findall(r"`([\w.]+)`", row)) == {*GEOMETRIES, "copy_paste", "random_bbox_crop"}
