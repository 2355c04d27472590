# SPDX-License-Identifier: Apache-2.0
"""Programs in README.md and on the pages of the documentation are tests: see tests/support/pages.py.

A file beside README.md, since pytest collects nothing above the folder of a conftest.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests"))
from support.pages import collect_pages  # noqa: E402

pytest_collect_file = collect_pages()
