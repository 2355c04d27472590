# SPDX-License-Identifier: Apache-2.0
"""Run pipeline-mode examples of the reference before and after conversion, and compare.

    python tools/converted_examples.py --reference PYTHON folder-of-the-reference [part of a name]

Notebooks and scripts below the folder that convert with nothing left to do are run twice, with
small stand-ins for the data files (`tests/support/example_data.py`): as they are, by the Python
that has the reference, and converted, by this one. Then what the pipelines returned is compared
with what the loops yield, one by one, and variables of the same names with each other: numbers of
samples, shapes, types and values. What is for a GPU runs on the CPU, before and after. Prints a
table, with the reason why an original does not run here; random values differ, of course.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from notebooks import code_cells

ROOT = Path(__file__).resolve().parent.parent
_PATIENCE = 300

# Runs cells and keeps what pipelines return, or the loops that they became yield: batch by batch.
# Then writes these batches, and the arrays among the variables. What draws or plays is not needed
# for that, where it is missing.
_RUNNER = """
import ast, functools, importlib.util, json, sys
from unittest.mock import MagicMock
import numpy as np

for name in ("matplotlib", "librosa", "simpleaudio", "IPython"):
    if importlib.util.find_spec(name) is None:
        for part in ("", ".pyplot", ".gridspec", ".patches", ".display", ".image", ".collections"):
            sys.modules[name + part] = MagicMock(version_info=(9, 0))

def samples(value, depth=0):
    if type(value).__name__ in ("TensorListCPU", "Batch", "CapturedBatch"):
        parts = [value.at(i) for i in range(len(value))] if hasattr(value, "at") else list(value)
        return [np.asarray(part) for part in parts]
    if type(value).__name__ in ("TensorCPU", "Tensor", "ndarray"):
        return [np.asarray(value)]
    if isinstance(value, (tuple, list)) and value and depth < 2:
        found = [samples(part, depth + 1) for part in value]
        return None if None in found else sum(found, [])
    return None

outputs = []
def keep(batches):
    batches = batches if isinstance(batches, tuple) else (batches,)
    if all(type(part).__name__ in ("TensorListCPU", "Batch", "CapturedBatch") for part in batches):
        outputs.extend(samples(part) for part in batches)

def kept(loop):
    @functools.wraps(loop)
    def wrapped(*given, **named):
        for batches in loop(*given, **named):
            keep(batches)
            yield batches
    return wrapped

def yields(node):
    inner = (ast.FunctionDef, ast.Lambda)
    parts = [part for part in ast.iter_child_nodes(node) if not isinstance(part, inner)]
    return isinstance(node, ast.Yield) or any(map(yields, parts))

class Loops(ast.NodeTransformer):
    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        if node.name != "external_batches" and yields(node):
            node.decorator_list.insert(0, ast.Name("__kept__", ast.Load()))
        return node

if importlib.util.find_spec("nvidia") is not None:
    from nvidia.dali.pipeline import Pipeline
    busy = []
    def watched(method):
        @functools.wraps(method)
        def wrapped(self, *given, **named):
            busy.append(self)
            try:
                made = method(self, *given, **named)
            finally:
                busy.pop()
            if not busy and made is not None:
                keep(tuple(made))
            return made
        return wrapped
    for name in ("run", "share_outputs", "outputs"):
        setattr(Pipeline, name, watched(getattr(Pipeline, name)))

target, cells = json.loads(sys.stdin.read())
sys.path.insert(0, "")
names = {"__name__": "__main__", "__kept__": kept}
for number, cell in enumerate(cells):
    file = f"cell_{number}.py"
    open(file, "w").write(cell)
    program = ast.fix_missing_locations(Loops().visit(ast.parse(cell, file)))
    exec(compile(program, file, "exec"), names)
found = {}
listed = [(f"output {number}", parts) for number, parts in enumerate(outputs)]
listed += [(name, samples(value)) for name, value in names.items() if not name.startswith("_")]
for name, parts in listed:
    for index, part in enumerate(parts or ()):
        if part.dtype.kind in "fiub":
            found[f"{name}/{index}"] = part
np.savez(target, **found)
"""


class Run(NamedTuple):
    """What a program made and left behind."""

    # The last line of the traceback, or "".
    error: str
    # By name (what pipelines returned is called "output N"), then by number of the sample.
    variables: dict[str, dict[int, np.ndarray[Any, Any]]]


def run_cells(python: str, cells: Sequence[str], folder: Path, environment: dict[str, str]) -> Run:
    """Run cells in a folder, one after the other."""
    target = folder / "variables.npz"
    target.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [python, "-c", _RUNNER],
            input=json.dumps([str(target), list(cells)]),
            cwd=folder,
            env={**os.environ, "MPLBACKEND": "Agg", **environment},
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Run(f"not done after {_PATIENCE} s", {})
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return Run(lines[-1][:100], {})
    variables: dict[str, dict[int, np.ndarray[Any, Any]]] = {}
    with np.load(target) as found:
        for key in found.files:
            name, _, index = key.rpartition("/")
            variables.setdefault(name, {})[int(index)] = found[key]
    return Run("", variables)


def compare(before: Run, after: Run) -> tuple[int, list[str]]:
    """How many variables agree, and what is different about the others."""
    same, different = 0, []
    for name in sorted(before.variables.keys() & after.variables.keys()):
        theirs, ours = before.variables[name], after.variables[name]
        reason = ""
        if theirs.keys() != ours.keys():
            reason = f"{len(theirs)} and {len(ours)} samples"
        for index in theirs.keys() & ours.keys():
            a, b = theirs[index], ours[index]
            if (a.shape, a.dtype) != (b.shape, b.dtype):
                reason = f"{a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}"
            elif a.size and not reason:
                apart = float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max())
                scale = 1.0 if a.dtype.kind in "iu" else max(1.0, float(np.abs(a).max())) * 1e-4
                reason = f"values {apart:.3g} apart" if apart > scale else ""
        same += not reason
        different += [f"{name}: {reason}"] if reason else []
    return same, different


def converted_cells(path: Path) -> list[str] | None:
    """The cells of a converted example; None if work is left, or it is not one."""
    target = path.with_name(f"converted_{path.name}")
    command = [sys.executable, "-m", "daliesque", "convert", "-q", str(path), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, check=False)
    return cells_of(target) if done.returncode == 0 and target.is_file() else None


def cells_of(path: Path) -> list[str]:
    """The programs of a notebook, or the one of a script."""
    return code_cells(path) if path.suffix == ".ipynb" else [path.read_text()]


def on_cpu(cell: str) -> str:
    """A program with its work for the GPU on the CPU."""
    for device in ("mixed", "gpu"):
        cell = cell.replace(f'"{device}"', '"cpu"').replace(f"'{device}'", "'cpu'")
    cell = cell.replace(".gpu()", "").replace(".as_cpu()", "")
    # On the CPU, samples are arrays of NumPy.
    cell = re.sub(r"(\.at\(\w+\)\.shape)\(\)", r"\1", cell)
    cell = re.sub(r"\bdevice_id\s*=\s*\d+", "device_id = None", cell)
    cell = re.sub(r"(\bPipeline\(\w+, \w+, )\w+\b(?!\s*=)", r"\1None", cell)
    # Commands of the shell, and of the notebook.
    return "".join(
        line for line in cell.splitlines(True) if not line.lstrip().startswith(("!", "%"))
    )


def is_example(path: Path) -> bool:
    """Whether a file defines pipelines."""
    text = path.read_text(errors="replace")
    return ("pipeline_def" in text or "Pipeline(" in text) and "experimental.dynamic" not in text


def main() -> int:
    """Compare the examples that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the reference's repository, or a part of it")
    parser.add_argument("parts", nargs="*", help="parts of the names of files; default: all")
    parser.add_argument("--reference", required=True, help="a Python that has the reference")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from support.example_data import make_example_data

    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "examples")
        shutil.copytree(options.folder, copy, ignore=shutil.ignore_patterns(".git"))
        data = make_example_data(Path(temporary, "data"))
        environment = {"DALI_EXTRA_PATH": str(data), "DALIESQUE_GPU": "cpu"}
        # Examples without that variable look for a folder of images above themselves.
        photos = data / "db" / "single" / "mixed"
        for folder in [path for path in copy.rglob("examples") if path.is_dir()]:
            if not (folder / "data" / "images").is_dir():
                shutil.copytree(photos, folder / "data" / "images")
        print("| example | before | after | variables |\n|---|---|---|---|")
        for path in sorted([*copy.rglob("*.ipynb"), *copy.rglob("*.py")]):
            name = str(path.relative_to(copy))
            if options.parts and not any(part in name for part in options.parts):
                continue
            cells = converted_cells(path) if is_example(path) else None
            if cells is None:
                continue
            originals = [on_cpu(cell) for cell in cells_of(path)]
            before = run_cells(options.reference, originals, path.parent, environment)
            converted = [on_cpu(cell) for cell in cells]
            after = run_cells(sys.executable, converted, path.parent, environment)
            same, different = compare(before, after)
            is_random = any(word in cell for cell in originals for word in ("random", "shuffle"))
            wrong += not before.error and bool(after.error or (different and not is_random))
            found = f"{same} equal"
            if different:
                found += " (draws random values)" * is_random + f"; {'; '.join(different)}"
            print(
                f"| `{name}` | {before.error or 'runs'} | {after.error or 'runs'} | {found} |",
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
