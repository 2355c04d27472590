# SPDX-License-Identifier: Apache-2.0
"""Rules for the tests themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("*.py"))
FOLDERS = {path.parent.name for path in TESTS.glob("*/test_*.py")}
# Programs that are only type-checked are neither tests nor helpers.
NOT_RUN = TESTS / "typing"


def imported_modules(path: Path) -> Iterator[str]:
    """The modules that a file imports, with a leading dot if they are relative."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_tolerances_are_in_one_table() -> None:
    """In `support/compare.py`; whole levels of integers need none."""
    names = {"rtol", "atol", "rel", "abs", "rel_tol", "abs_tol"}
    functions = {"assert_allclose", "assert_almost_equal", "allclose", "isclose"}
    for path in FILES:
        if path == TESTS / "support" / "compare.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                used = {keyword.arg for keyword in node.keywords} & names
                if isinstance(node.func, ast.Attribute):
                    used |= {node.func.attr} & functions
                assert used == set(), f"{path.relative_to(TESTS)}:{node.lineno}: {used}"


def test_helpers_are_in_support() -> None:
    others = [path for path in FILES if not {TESTS / "support", NOT_RUN} & {*path.parents}]
    strays = [path.name for path in others if not path.name.startswith("test_")]
    assert set(strays) <= {"conftest.py"}


def test_tests_import_no_tests() -> None:
    for path in FILES:
        for name in imported_modules(path):
            first, *rest = name.split(".")
            wrong = first == "" or first in FOLDERS or first.startswith("test_")
            assert not wrong, f"{path.relative_to(TESTS)} imports {name}"
            assert not any(part.startswith("test_") for part in rest), (path, name)
