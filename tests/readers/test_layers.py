# SPDX-License-Identifier: Apache-2.0
"""Classes of readers stand on `sources`, which stand on `core`."""

from __future__ import annotations

import ast
from pathlib import Path

import daliesque as ndd

READERS = Path(ndd.__file__).parent / "_readers"


def imported_parts(path: Path) -> set[str]:
    """The parts of `_readers` that a module imports: "core", "sources", or "" for a class."""
    package = path.relative_to(READERS).parts[:-1]
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and 1 <= node.level <= len(package) + 1:
            target = [*package[: len(package) + 1 - node.level], *(node.module or "").split(".")]
            parts.add(target[0] if target[0] in {"core", "sources"} else "")
    return parts


def test_imports_point_downwards() -> None:
    allowed = {"core": {"core"}, "sources": {"core", "sources"}}
    for part, below in allowed.items():
        paths = sorted((READERS / part).glob("*.py"))
        assert len(paths) > 5
        for path in paths:
            assert imported_parts(path) <= below, path
    assert imported_parts(READERS / "file.py") == {"core", "sources"}
