# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/sources.md run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "sources.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_programs_of_the_guide() -> None:
    assert len(PROGRAMS) == 8
    names: dict[str, Any] = {}
    for program in PROGRAMS:
        exec(compile(program, str(GUIDE), "exec"), names)
    assert "assert" in PROGRAMS[0]
    assert len(names["state"]) < 300
