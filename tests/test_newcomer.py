# SPDX-License-Identifier: Apache-2.0
"""What a newcomer reads first works by copy and paste: in an empty folder, with no names known."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

import daliesque as ndd
from daliesque._engine.op import registry

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import reference_pages

DOCS = Path(__file__).resolve().parents[1] / "docs"
# Those with data of their own, and those that use what they draw.
PAGES = ("learn/first-loop.md", "recipes/classification.md")


def program(page: str) -> str:
    """All Python of a page, in order."""
    return "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("newcomer")
    found = {}
    for page in PAGES:
        done = subprocess.run(
            [sys.executable, "-c", program(page)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found[page] = done.stdout
    return found


def test_first_loop(printed: dict[str, str]) -> None:
    lines = printed["learn/first-loop.md"].splitlines()
    assert lines[0] == "<readers.File: 16 samples, shard 0 of 1>"
    # Two epochs of two batches each: every image once in each.
    steps = [line for line in lines if line.startswith("(8, 3, 128, 128)")]
    assert len(steps) == 4
    labels = "".join(re.findall(r"\[(.*)\]", line)[0] for line in steps[:2])
    assert labels.count("0") == labels.count("1") == 8


def test_recipe(printed: dict[str, str]) -> None:
    lines = printed["recipes/classification.md"].splitlines()
    assert lines[0] == "['cat', 'dog']"
    assert re.fullmatch(r"[0-8] of 8 are right", lines[-1])


def documented() -> list[tuple[str, str]]:
    """Operators and readers with the texts of their pages."""
    found = [(name, inspect.getdoc(operator.body) or "") for name, operator in registry.items()]
    for name, reader in vars(ndd.readers).items():
        if inspect.isclass(reader) and issubclass(reader, ndd.readers.Reader):
            found.append((f"readers.{name}", reader.__doc__ or ""))
    return found


@pytest.mark.parametrize(("name", "text"), documented(), ids=lambda value: value[:40])
def test_examples_of_the_reference(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = doctest.DocTestParser().get_examples(reference_pages.with_imports(text))
    assert examples, name
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        exec("".join(example.source for example in examples), {"__name__": "pasted"})
