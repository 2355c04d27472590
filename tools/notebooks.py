# SPDX-License-Identifier: Apache-2.0
"""Run notebooks that were written for the reference's dynamic mode, unedited, by daliesque.

    python tools/notebooks.py folder-of-the-reference [part of a name ...]

All notebooks below the folder that import `nvidia.dali.experimental.dynamic` are run, each in a
process of its own, with torch's CPU device as the gpu and small stand-ins for the data files
(`tests/support/example_data.py`). Those that draw need matplotlib. Prints a table of what ran.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
_DYNAMIC_MODE = "nvidia.dali.experimental.dynamic"
# Seconds that a notebook may take.
_PATIENCE = 1800

# What a process does: stand in for what the machine lacks, then run the cells.
_RUNNER = """
import json, sys, types
import daliesque
daliesque.as_dali()
try:
    import torch
    if not torch.cuda.is_available():
        torch.cuda.synchronize = lambda *_: None
        torch.nn.Module.cuda = lambda module, *_: module
except ModuleNotFoundError:
    pass
try:
    import simpleaudio
except ModuleNotFoundError:
    import wave
    class WaveObject:
        def __init__(self, file):
            self.audio_data = file.readframes(file.getnframes())
        @classmethod
        def from_wave_file(cls, path):
            return cls(wave.open(path))
    sys.modules["simpleaudio"] = types.SimpleNamespace(WaveObject=WaveObject)
sys.path.insert(0, "")
namespace = {"__name__": "__main__"}
for number, cell in enumerate(json.loads(sys.stdin.read())):
    try:
        exec(compile(cell, f"<cell {number}>", "exec"), namespace)
    except BaseException:
        print(f"cell {number}:", file=sys.stderr)
        raise
"""


class Outcome(NamedTuple):
    """How the run of a notebook ended."""

    notebook: Path
    seconds: float
    # The last line of the traceback, or "".
    error: str
    # What it wrote.
    text: str


def find_notebooks(folder: Path, parts: Sequence[str] = ()) -> list[Path]:
    """The notebooks of the dynamic mode below a folder, whose paths contain one of `parts`."""
    found = []
    for path in sorted(folder.rglob("*.ipynb")):
        name = str(path.relative_to(folder))
        if (not parts or any(part in name for part in parts)) and any(
            _DYNAMIC_MODE in cell for cell in code_cells(path)
        ):
            found.append(path)
    return found


def code_cells(notebook: Path) -> list[str]:
    """The programs of a notebook's cells, without commands to the notebook itself."""
    try:
        cells = json.loads(notebook.read_text()).get("cells", [])
    except ValueError:
        return []
    programs = []
    for cell in cells:
        if cell["cell_type"] == "code":
            lines = "".join(cell["source"]).splitlines()
            programs.append("\n".join(line for line in lines if not line.startswith("%")))
    return programs


def make_commands(folder: Path) -> None:
    """Write the commands that the package installs, for use without installing it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tfrecord2idx", "wds2idx", "rec2idx"):
        command = folder / name
        command.write_text(
            f"#!{sys.executable}\nfrom daliesque._cli.index import {name}_command\n"
            f"{name}_command()\n"
        )
        command.chmod(0o755)


def run_notebook(notebook: Path, data: Path, commands: Path) -> Outcome:
    """Run the cells of a notebook in its folder."""
    environment = {
        **os.environ,
        "DALI_EXTRA_PATH": str(data),
        "DALIESQUE_GPU": "cpu",
        "MPLBACKEND": "Agg",
        "PATH": f"{commands}{os.pathsep}{os.environ.get('PATH', '')}",
    }
    begin = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-c", _RUNNER],
            input=json.dumps(code_cells(notebook)),
            cwd=notebook.parent,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(notebook, time.monotonic() - begin, f"not done after {_PATIENCE} s", "")
    error = ""
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        cell = next((line for line in lines if line.startswith("cell ")), "")
        error = f"{cell} {lines[-1]}".strip()
    return Outcome(notebook, time.monotonic() - begin, error, done.stdout + done.stderr)


def main() -> int:
    """Run the notebooks that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the reference's repository, or a part of it")
    parser.add_argument("parts", nargs="*", help="parts of the names of notebooks; default: all")
    parser.add_argument("--verbose", action="store_true", help="show what failed notebooks wrote")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from support.example_data import make_example_data

    with tempfile.TemporaryDirectory() as temporary:
        # Notebooks write files beside themselves.
        copy = Path(temporary, "notebooks")
        shutil.copytree(options.folder, copy, ignore=shutil.ignore_patterns(".git"))
        data = make_example_data(Path(temporary, "data"))
        commands = Path(temporary, "commands")
        make_commands(commands)
        failed = 0
        print("| notebook | runs | seconds |\n|---|---|---|")
        for notebook in find_notebooks(copy, options.parts):
            outcome = run_notebook(notebook, data, commands)
            failed += bool(outcome.error)
            said = f"no: {outcome.error}" if outcome.error else "yes"
            print(
                f"| `{notebook.relative_to(copy)}` | {said} | {outcome.seconds:.0f} |", flush=True
            )
            if outcome.error and options.verbose:
                print(outcome.text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
