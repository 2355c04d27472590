# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of operators: a short run without sanitizers; `make fuzz-ops` makes a long one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parent.parent / "tools" / "fuzz_ops.py"


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOL), *options],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )


def test_no_call_ends_badly() -> None:
    done = run("--count", "2000", "--seed", "2024")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2000 calls with the seed 2024: 0 findings" in done.stdout


def test_a_call_is_made_again() -> None:
    done = run("--call", 'ndd.flip(ndd.tensor(data((1, 3, 1), "u1", 1), layout="HWC")).shape')
    assert done.stdout.strip() == "(1, 3, 1)"


def test_foreign_words_are_findings(tmp_path: Path) -> None:
    # An operator that shows what NumPy says.
    broken = tmp_path / "sitecustomize.py"
    broken.write_text(
        "import daliesque as ndd\n"
        "def flip(*inputs, **arguments):\n"
        "    raise ValueError('flip: operands could not be broadcast together')\n"
        "ndd.flip = flip\n"
    )
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(TOOL), "--count", "3", "--only", "flip"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "flip: ValueError: flip: operands could not be broadcast" in done.stdout
