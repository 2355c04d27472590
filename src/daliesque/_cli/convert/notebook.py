# SPDX-License-Identifier: Apache-2.0
"""Notebooks: their code cells as one program, and back."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

_CELL = "__daliesque_cell__"
_MAGIC = "__daliesque_magic__"
_MAGIC_LINE = re.compile(r"^(\s*)([%!?].*|[\w.]+\s*=\s*[%!].*|[\w.]+\?{1,2})$")
# Magics of whole cells that are followed by Python.
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun")


class Notebook:
    """A notebook whose code can be taken out and put back.

    Parameters
    ----------
    text
        The notebook, as stored.
    """

    def __init__(self, text: str) -> None:
        self._data: dict[str, Any] = json.loads(text)
        self._indent = _indent_of(text)
        self._ends_line = text.endswith("\n")
        self._magics: list[str] = []
        self._converted: list[int] = []
        self.skipped: list[int] = []

    @property
    def _cells(self) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = self._data["cells"]
        return cells

    def program(self) -> str:
        """The Python code of all cells, with marks between them."""
        parts = []
        for number, cell in enumerate(self._cells):
            if cell.get("cell_type") != "code":
                continue
            source = self._without_magics("".join(cell["source"]))
            if source is None or not _parses(source):
                if "dali" in "".join(cell["source"]):
                    self.skipped.append(number)
                continue
            self._converted.append(number)
            parts.append(f"{_CELL}({number})\n{source}\n")
        return "".join(parts)

    def put_back(self, program: str) -> str:
        """The notebook with a converted program in its cells; their old outputs are gone."""
        found: dict[int, list[str]] = {}
        lines = found.setdefault(-1, [])
        for line in program.splitlines():
            mark = re.match(rf"{_CELL}\((\d+)\)", line)
            if mark is not None:
                lines = found.setdefault(int(mark.group(1)), [])
            else:
                lines.append(line)
        first = min(number for number in found if number >= 0)
        found[first] = found.pop(-1) + found[first]
        for number, content in found.items():
            text = self._with_magics("\n".join(content).strip("\n"))
            cell = self._cells[number]
            if text != "".join(cell["source"]).strip("\n"):
                cell["source"] = text.splitlines(keepends=True)
                cell["outputs"] = []
                cell["execution_count"] = None
        text = json.dumps(self._data, indent=self._indent, ensure_ascii=False)
        return text + "\n" if self._ends_line else text

    def _without_magics(self, source: str) -> str | None:
        """A cell's Python code; None if it is in another language."""
        lines = source.split("\n")
        result = []
        for i, line in enumerate(lines):
            if i == 0 and line.startswith("%%") and not line.startswith(_PYTHON_CELLS):
                return None
            match = _MAGIC_LINE.match(line)
            if match is None or _parses("\n".join(lines)):
                result.append(line)
                continue
            result.append(f"{match.group(1)}{_MAGIC}({len(self._magics)})")
            self._magics.append(line[len(match.group(1)) :])
        return "\n".join(result)

    def _with_magics(self, source: str) -> str:
        return re.sub(
            rf"{_MAGIC}\((\d+)\)", lambda match: self._magics[int(match.group(1))], source
        )


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _indent_of(text: str) -> int | None:
    match = re.search(r"\n( +)\"", text)
    return None if match is None else len(match.group(1))
