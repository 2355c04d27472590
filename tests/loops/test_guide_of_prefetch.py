# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/prefetch.md run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[2] / "docs" / "prefetch.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_programs_of_the_guide() -> None:
    assert len(PROGRAMS) == 4
    names: dict[str, Any] = {}
    for program in PROGRAMS:
        exec(compile(program, str(GUIDE), "exec"), names)
    assert names["steps"] == 30
    assert len(names["rest"]) == 6
