# SPDX-License-Identifier: Apache-2.0
"""Programs in README.md and on the pages of docs are tests: see tests/support/pages.py.

This file lies here because pytest asks none below for README.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests"))
from support.pages import collect_pages

pytest_collect_file = collect_pages()
