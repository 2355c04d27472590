# SPDX-License-Identifier: Apache-2.0
"""Training processes that are killed at random moments, and resumed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent.parent / "support" / "kill_training.py"


def test_killed_processes_resume_exactly() -> None:
    """`make kill-test` does the same 200 times."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "12", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "12 kills" in done.stdout
    assert "all resumed runs are equal" in done.stdout
