# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of operators: a short run without sanitizers; `make fuzz-ops` makes a long one."""

from __future__ import annotations

import os
import re
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


def test_arguments_of_every_kind_occur() -> None:
    listed = run("--list", "--count", "3000").stdout
    calls = listed.splitlines()
    assert len(calls) == 3000
    arrays = re.findall(r"data\(\(([^)]*)\), '([^']*)'", listed)
    assert {len([n for n in shape.split(",") if n.strip()]) for shape, _ in arrays} >= {*range(10)}
    assert {dtype for _, dtype in arrays} >= {">u2", ">f4", ">i8", ">f8", "?", "f2", "i8"}
    assert any(" 0," in f" {shape}," for shape, _ in arrays)
    for kind in (
        *("misaligned(", "repeated(", "every_second(", "layout='FA'", "=[]", "float('nan')"),
        *("float('inf')", "-1e38", "1e-45", "2**62", "-2**63", "10**20", "ndd.as_batch(data((0,"),
    ):
        assert sum(kind in call for call in calls) >= 5, kind
    for kind, make in (("every_second", 2), ("repeated", 0)):
        shown = run("--call", f"{kind}(data((3, 4), 'i4')).strides[-1] // 4").stdout
        assert int(shown) == make
    assert int(run("--call", "misaligned(data((3,), 'f8')).ctypes.data % 8").stdout) % 2 == 1


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
