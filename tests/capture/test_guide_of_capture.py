# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/capture.md run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

GUIDE = Path(__file__).parents[2] / "docs" / "capture.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_programs_of_the_guide(tmp_path: Path) -> None:
    assert len(PROGRAMS) == 3
    folder = tmp_path / "images" / "kind"
    folder.mkdir(parents=True)
    for number in range(6):
        array = np.full((20 + number, 30, 3), 40 * number, np.uint8)
        Image.fromarray(array).save(folder / f"{number}.png")
    names: dict[str, Any] = {"folder": str(folder.parent)}
    for number, program in enumerate(PROGRAMS):
        # What is captured depends on the source.
        path = tmp_path / f"program{number}.py"
        path.write_text(program)
        exec(compile(program, str(path), "exec"), names)
    assert names["found"] == [[0, 0], [3, 4]]
