# SPDX-License-Identifier: Apache-2.0
"""What several files of the project say about the same thing."""

from __future__ import annotations

import importlib.metadata
import re
import runpy
import tomllib
from pathlib import Path

import pytest

import daliesque as ndd

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def tool(name: str) -> dict[str, object]:
    return runpy.run_path(str(ROOT / "tools" / f"{name}.py"), run_name=name)


def test_one_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", ndd.__version__)
    citation = (ROOT / "CITATION.cff").read_text()
    released = re.search(r"^version: (.+)$", citation, re.MULTILINE)
    date = re.search(r"^date-released: (.+)$", citation, re.MULTILINE)
    assert released is not None
    assert date is not None
    assert f"\n## {released[1]} ({date[1]})\n" in (ROOT / "CHANGELOG.md").read_text()
    assert ndd.__version__.partition(".dev")[0] >= released[1]


def test_the_metadata_have_the_version_of_the_package() -> None:
    if Path(ndd.__file__).is_relative_to(ROOT / "src"):
        assert PROJECT["project"]["dynamic"] == ["version"]
        assert PROJECT["tool"]["scikit-build"]["metadata"]["version"]["input"].endswith(
            "_version.py"
        )
    else:
        assert importlib.metadata.version("daliesque") == ndd.__version__


def test_the_changelog_has_a_section_for_what_comes_next() -> None:
    sections = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert sections[0] == "Unreleased"


def test_hooks_use_the_versions_of_make_lint() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    lines = [*PROJECT["project"]["dependencies"]]
    for extra in ("lint", "test"):
        lines += PROJECT["project"]["optional-dependencies"][extra]
    pinned = re.findall(r"[\w-]+(?:==|>=|~=)[\d.]+", hooks)
    assert {line for line in lines if line.startswith(("ruff", "mypy", "clang"))} <= set(pinned)
    assert set(pinned) <= set(lines)


def test_requirements_of_an_environment() -> None:
    requirements = tool("requirements")["requirements"]
    assert callable(requirements)
    lint = PROJECT["project"]["optional-dependencies"]["lint"]
    assert requirements(["lint", "run", "lint"]) == [*lint, *PROJECT["project"]["dependencies"]]
    assert PROJECT["build-system"]["requires"][0] in requirements(["build"])
    with pytest.raises(KeyError):
        requirements(["no such extra"])


@pytest.mark.parametrize(
    ("title", "fault_word"),
    [
        ("resize: match the reference's rounding", None),
        ("_engine, tests: pass the stream on", None),
        ("resize matches the reference", "area"),
        ("resize: matches the reference", "imperative"),
        ("resize: fixed rounding", "imperative"),
        ("resize: a faster loop", "imperative"),
        ("resize: round half up; docs: say so", "';'"),
        ("resize: round half up.", "full stop"),
        ("resize: " + "very " * 15 + "long", "characters"),
    ],
)
def test_titles_of_commits(title: str, fault_word: str | None) -> None:
    faults = tool("commit_titles")["faults"]
    assert callable(faults)
    found = faults(title)
    assert (found == []) if fault_word is None else any(fault_word in fault for fault in found)
