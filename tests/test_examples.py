# SPDX-License-Identifier: Apache-2.0
"""The examples run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

# Those that need a framework are run by tests/frameworks.
WITH_FRAMEWORKS = {"ray_training"}
EXAMPLES = sorted(
    path
    for path in (Path(__file__).parent.parent / "examples").glob("*.py")
    if path.stem not in WITH_FRAMEWORKS
)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_demo_with_few_images(tmp_path: Path) -> None:
    folder = tmp_path / "images" / "one"
    folder.mkdir(parents=True)
    for number in range(3):
        Image.new("RGB", (300, 300), (80 * number, 0, 0)).save(folder / f"{number}.jpg")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES[0].parent / "demo.py"), str(folder.parent)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with Image.open(tmp_path / "demo-output" / "contact-sheet.png") as sheet:
        assert sheet.size == (8 * 112, 112)
