# SPDX-License-Identifier: Apache-2.0
"""Rules that keep the code small and layered."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd

ROOT = Path(__file__).parent.parent
MOST_LINES = 600
MOST_CALLS = 25

# What each layer may import, besides itself.
LAYERS = {
    "_engine": {"_kernels"},
    "_codecs": {"_kernels"},
    "_ops": {"_codecs", "_engine", "_kernels"},
    "decoders": {"_ops", "_engine", "_kernels"},
    "io": {"_ops", "_engine", "_kernels"},
    "_readers": {"_codecs", "_ops", "_engine", "_kernels"},
    "_gpu": {"_ops", "_engine", "_kernels"},
}


def source_files() -> list[Path]:
    folders = ("src", "tests", "tools", "benchmarks", "examples")
    found = [p for folder in folders for p in (ROOT / folder).rglob("*")]
    return [p for p in found if p.suffix in {".py", ".cpp", ".h"} and "build" not in p.parts]


def test_files_are_short() -> None:
    lengths = {p: len(p.read_text().splitlines()) for p in source_files()}
    long = {str(p.relative_to(ROOT)): n for p, n in lengths.items() if n > MOST_LINES}
    assert long == {}


def test_files_carry_a_license_line() -> None:
    bare = [p for p in source_files() if "SPDX-License-Identifier: Apache-2.0" not in p.read_text()]
    assert bare == []


def imported_layers(path: Path) -> set[str]:
    """The top-level parts of the package that a module imports when it is loaded or run."""
    package = ROOT / "src" / "daliesque"
    parts = path.relative_to(package).with_suffix("").parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = parts[: len(parts) - node.level]
            tail = (node.module or "").split(".") if node.module else []
            if not base and not tail:
                found.update(alias.name for alias in node.names)
            else:
                found.add([*base, *tail][0])
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("daliesque."):
            found.add((node.module or "").split(".")[1])
    return found


def test_imports_point_downwards() -> None:
    package = ROOT / "src" / "daliesque"
    for layer, allowed in LAYERS.items():
        for path in (package / layer).rglob("*.py"):
            wrong = imported_layers(path) - allowed - {layer}
            assert wrong == set(), f"{path.relative_to(package)} imports {wrong}"


def test_kernels_know_no_python() -> None:
    for path in (ROOT / "src" / "kernels").rglob("*"):
        if path.suffix in {".h", ".cpp"} and "bind" not in path.parts:
            text = path.read_text()
            assert "Python.h" not in text
            assert "nanobind" not in text


def count_calls(function: Callable[[], Any]) -> int:
    """The Python functions that are entered."""
    calls = 0

    def profile(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    function()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("mode", [ndd.EvalMode.eager, ndd.EvalMode.sync_cpu], ids=lambda m: m.name)
def test_python_calls_for_an_operator_call(mode: ndd.EvalMode) -> None:
    batch = ndd.batch(np.zeros((4, 8, 8, 3), np.uint8))
    with mode:
        assert count_calls(lambda: ndd.copy(batch)) <= MOST_CALLS
        assert count_calls(lambda: batch + 1) <= MOST_CALLS
