# SPDX-License-Identifier: Apache-2.0
"""Rules that keep the code small and layered."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd

ROOT = Path(__file__).parent.parent
MOST_LINES = 600
MOST_FUNCTION_LINES = 60
MOST_CALLS = 25
MOST_POSITIONAL = 6

# What each layer may import, besides itself.
LAYERS = {
    "_engine": {"_kernels"},
    "_capture": {"_engine", "_kernels"},
    "_codecs": {"_kernels"},
    "_shapes": {"_codecs", "_engine", "_kernels"},
    "_ops": {"_codecs", "_engine", "_kernels", "_shapes"},
    "_isolated": {"_ops", "_engine", "_kernels", "_shapes"},
    "decoders": {"_public", "_isolated", "_ops", "_engine", "_kernels", "_shapes"},
    "io": {"_public", "_ops", "_engine", "_kernels"},
    "_readers": {"_capture", "_codecs", "_engine", "_kernels", "_shapes"},
    "_loops": {"_capture", "_codecs", "_ops", "_readers", "_engine", "_kernels", "_shapes"},
    "_ray": {"_loops", "_readers", "_engine", "_kernels", "_version"},
    "pytorch": {"_loops"},
    "_show": {"_engine", "_kernels"},
    "_observe": {"_loops", "_readers", "_show", "_engine", "_kernels"},
    "_gpu": {"_ops", "_engine", "_kernels", "_shapes"},
    "_scene": {"_ops", "_engine", "_kernels", "_shapes"},
}


def source_files() -> list[Path]:
    folders = ("src", "tests", "tools", "benchmarks", "examples")
    found = [p for folder in folders for p in (ROOT / folder).rglob("*")]
    return [p for p in found if p.suffix in {".py", ".cpp", ".h"} and "build" not in p.parts]


def test_files_are_short() -> None:
    lengths = {p: len(p.read_text().splitlines()) for p in source_files()}
    long = {str(p.relative_to(ROOT)): n for p, n in lengths.items() if n > MOST_LINES}
    assert long == {}


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """Names of functions, and the lines of their bodies without signature and docstring."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


# Comments, strings and preprocessor directives, in which braces mean nothing.
NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'"""
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
NO_FUNCTION = re.compile(
    r"^(?:else|if|for|while|switch|catch|do|namespace|class|struct|enum)\b|\]\s*(?:\(|$)"
)


def cpp_functions(text: str) -> Iterator[tuple[str, int]]:
    """Names of functions, and the lines between their braces.

    What stands before a brace belongs to a function if it has complete parentheses, and is neither
    a statement nor a lambda; those count as lines of the function around them.
    """
    text = NO_CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    opened: list[tuple[str, int]] = []
    start = 0
    for mark in re.finditer(r"[{};]", text):
        if mark[0] == "{":
            opened.append((text[start : mark.start()].strip(), mark.start()))
        elif mark[0] == "}":
            header, begin = opened.pop()
            whole = "(" in header and header.count("(") == header.count(")")
            if whole and not NO_FUNCTION.search(header):
                lines = text[begin : mark.start()].count("\n") - 1
                yield header.partition("(")[0].split()[-1], lines
        start = mark.end()


def test_functions_are_short() -> None:
    long = {}
    for path in source_files():
        functions = python_functions if path.suffix == ".py" else cpp_functions
        for name, lines in functions(path.read_text()):
            # Bindings are lists of definitions.
            if lines > MOST_FUNCTION_LINES and not name.startswith("bind_"):
                long[name] = lines
    # One loop over pixels that the compiler makes vectors of.
    assert set(long) <= {"add_directions"}, long


def test_lengths_of_functions() -> None:
    """The measure itself."""
    python = 'def f(\n    a,\n):\n    """Doc."""\n\n    a\n    return a\n'
    assert list(python_functions(python)) == [("f", 2)]
    cpp = """
    namespace a {  // (
    template <int N>
    int A::f(int a, char b = '{') const {
      for (int i = 0; i < 3; i++) {
        g([&](int c) { return "}"; });
      }
      return 0;
    }
    }
    """
    assert list(cpp_functions(cpp)) == [("A::f", 4)]


def test_files_carry_a_license_line() -> None:
    bare = [p for p in source_files() if "SPDX-License-Identifier: Apache-2.0" not in p.read_text()]
    assert bare == []


def imported_layers(path: Path, text: str | None = None) -> set[str]:
    """The top-level parts of the package that a module imports when it is loaded or run."""
    package = ROOT / "src" / "daliesque"
    parts = path.relative_to(package).with_suffix("").parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text() if text is None else text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = parts[: len(parts) - node.level]
            tail = (node.module or "").split(".") if node.module else []
            if not base and not tail:
                found.update(alias.name for alias in node.names)
            else:
                found.add([*base, *tail][0])
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("daliesque."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A name of a module, for importlib; also a relative one.
            named = re.fullmatch(r"(?:daliesque)?\.+(_\w+|[a-z]\w+)(?:\.\w+)*", node.value)
            if named is not None and (package / named[1]).exists():
                found.add(named[1])
    return found


def test_imports_point_downwards() -> None:
    package = ROOT / "src" / "daliesque"
    for layer, allowed in LAYERS.items():
        for path in (package / layer).rglob("*.py"):
            wrong = imported_layers(path) - allowed - {layer}
            assert wrong == set(), f"{path.relative_to(package)} imports {wrong}"


def test_hidden_imports_are_seen() -> None:
    package = ROOT / "src" / "daliesque"
    path = package / "_engine" / "invented.py"
    for text in (
        'NAME = "daliesque._gpu.backend"',
        'load("daliesque._gpu")',
        "from .. import _gpu",
    ):
        assert imported_layers(path, text) == {"_gpu"}
    for text in ('"daliesque"', '"._gpux"', '"""See daliesque._gpu for more."""'):
        assert imported_layers(path, text) == set()


def test_the_engine_does_not_name_its_backend() -> None:
    for path in (ROOT / "src" / "daliesque" / "_engine").rglob("*.py"):
        assert re.search(r"\b_gpu\b", path.read_text()) is None, path


def test_nothing_overwrites_native_functions() -> None:
    for path in (ROOT / "src" / "daliesque").rglob("*.py"):
        assert re.search(r"setattr\(_kernels|^\s*_kernels\.\w+ = ", path.read_text(), re.M) is None


def long_kernel_calls(text: str) -> list[str]:
    """Calls of native functions, or of their counterparts, with many arguments by position."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or len(node.args) <= MOST_POSITIONAL:
            continue
        function = ast.unparse(node.func)
        if re.search(r"(^|\.)_?kernels\.", function):
            found.append(f"{function} in line {node.lineno}")
    return found


def test_kernels_with_many_parameters_get_keywords() -> None:
    assert long_kernel_calls("a.kernels.f(1, 2, 3, 4, 5, 6, 7)") == ["a.kernels.f in line 1"]
    package = ROOT / "src" / "daliesque"
    found = {str(p): long_kernel_calls(p.read_text()) for p in package.rglob("*.py")}
    assert {path: calls for path, calls in found.items() if calls} == {}


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
