# SPDX-License-Identifier: Apache-2.0
"""A short version of `make stress`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent.parent / "support" / "stress_load.py"


def test_all_samples_are_accounted_for() -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "--samples", "20000"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counts = re.findall(r"(\d+) samples, (\d+) delivered once, (\d+) in reader", done.stdout)
    assert len(counts) == 3
    assert sum(int(size) for size, _, _ in counts) == 20000
    for size, delivered, failed in counts:
        assert int(delivered) + int(failed) == int(size)
        assert int(delivered) > 0
