# SPDX-License-Identifier: Apache-2.0
"""The committed stubs are what the generator writes."""

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
