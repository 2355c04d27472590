# SPDX-License-Identifier: Apache-2.0
"""Reading, writing and the summary."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from .notebook import Notebook
from .script import Result, convert_text, is_pipeline_mode


def convert_files(options: argparse.Namespace) -> int:
    """Convert the files of a command line; 0 if nothing is left to do, 1 if something is, 2 if a
    file cannot be converted.
    """
    several = len(options.files) > 1 or (options.output is not None and options.output.is_dir())
    code = 0
    for path in options.files:
        try:
            text = path.read_text(encoding="utf-8")
            converted, result, skipped = _convert(path, text)
        except (OSError, SyntaxError, ValueError) as error:
            _say(f"{path}: {error}")
            code = 2
            continue
        target = _target(path, options.output, several)
        if options.diff:
            _show(text, converted, path, target)
        elif not options.check and converted != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(converted, encoding="utf-8")
        left = len(result.work) + len(skipped)
        if left:
            code = max(code, 1)
        if not options.quiet:
            _summarize(path, None if options.diff or options.check else target, result, skipped)
    return code


def _convert(path: Path, text: str) -> tuple[str, Result, list[int]]:
    """The new text, what there is to say about it, and the cells that were left out."""
    if path.suffix != ".ipynb":
        result = convert_text(text)
        return result.text, result, []
    notebook = Notebook(text)
    program = notebook.program()
    if not is_pipeline_mode(program):
        return text, Result(program), notebook.skipped
    result = convert_text(program)
    return notebook.put_back(result.text), result, notebook.skipped


def _target(path: Path, output: Path | None, several: bool) -> Path:
    if output is None:
        return path.with_name(f"{path.stem}_ndd{path.suffix}")
    return output / path.name if several else output


def _show(old: str, new: str, path: Path, target: Path) -> None:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), str(path), str(target)
    )
    sys.stdout.writelines(line if line.endswith("\n") else line + "\n" for line in lines)


def _summarize(path: Path, target: Path | None, result: Result, skipped: list[int]) -> None:
    work = result.work
    left = len(work) + len(skipped)
    state = "nothing left to do" if not left else f"{left} left to do"
    _say(f"{path}{f' -> {target}' if target is not None else ''}: {state}")
    for line, message in work:
        _say(f"  line {line}: {message}")
    for cell in skipped:
        _say(f"  cell {cell}: it is not Python, and was left as it is")
    for message, times in result.changes.items():
        _say(f"  {message}{f' ({times} times)' if times > 1 else ''}")


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")
