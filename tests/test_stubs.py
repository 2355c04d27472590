# SPDX-License-Identifier: Apache-2.0
"""The committed stubs are what the generator writes; mypy checks programs against them."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_stubs_are_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "stubs.py"), run_name="stubs")
    stubs = tool["all_stubs"]()
    outdated = [
        str(path.relative_to(ROOT))
        for path, text in stubs.items()
        if not path.exists() or path.read_text() != text
    ]
    assert outdated == [], "run `make stubs`"
    written = set((ROOT / "src" / "daliesque").rglob("*.pyi"))
    assert written == set(stubs)


def test_the_program_of_the_readme_is_type_checked() -> None:
    shown = (ROOT / "README.md").read_text().split("```python\n")[1].split("```")[0]
    body = shown.removeprefix("import daliesque as ndd\n\n")
    assert body in (ROOT / "tests" / "typing" / "program.py").read_text()
