# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/checkpoints.md run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "checkpoints.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_programs_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(PROGRAMS) == 8
    monkeypatch.chdir(tmp_path)
    # Classes are pickled by the name of their module.
    module = ModuleType("guide_of_checkpoints")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for program in PROGRAMS:
        assert "assert" in program or program is PROGRAMS[0]
        exec(compile(program, str(GUIDE), "exec"), vars(module))
    assert [path.name for path in tmp_path.iterdir()] == ["state_0000.json"]
    # What is left of epochs reads ahead as long as somebody has them.
    vars(module).clear()
