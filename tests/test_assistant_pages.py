# SPDX-License-Identifier: Apache-2.0
"""SKILL.md and llms.txt are what the pages and the registry give."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import assistant_pages  # noqa: E402


def test_they_are_up_to_date() -> None:
    assert (ROOT / "SKILL.md").read_text() == assistant_pages.skill(), "run `make stubs`"
    assert (ROOT / "llms.txt").read_text() == assistant_pages.llms(), "run `make stubs`"


def test_pages_exist_and_say_what_they_are_about() -> None:
    entries = re.findall(r"^- \[.+\]\((.+)\): (.*)$", assistant_pages.llms(), re.MULTILINE)
    assert len(entries) > 30
    for path, sentence in entries:
        assert (ROOT / path).is_file()
        assert len(sentence) > 15, path
