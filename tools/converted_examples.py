# SPDX-License-Identifier: Apache-2.0
"""Run pipeline-mode examples of the reference before and after conversion, and compare.

    python tools/converted_examples.py --reference PYTHON folder-of-the-reference [part of a name]

Notebooks and scripts below the folder that convert with nothing left to do are run twice, with
small stand-ins for the data files (`tests/support/example_data.py`): as they are, by the Python
that has the reference, and converted, by this one. Then what the pipelines returned is compared
with what the loops yield, one by one, and variables of the same names with each other: numbers of
samples, shapes, types and values. What is for a GPU runs on the CPU, before and after. Prints a
table, with the reason why an original does not run here. Where values differ, it names the
operators of the reference's graph before them that draw random numbers; exits with 1 if there are
none, or if types, axes or numbers of samples differ.
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

# What scripts need on their command lines, by the ends of their names. "{data}" is the folder with
# the stand-ins for the reference's data files.
_ARGUMENTS = {
    "zoo/images/decode.py": ("--images_dir", "{data}/db/single/mixed/cat"),
    "zoo/images/decode_and_transfrom_from_json.py": ("--coco_dir", "{data}/db/coco"),
    "zoo/videos/decode.py": ("--videos_dir", "{data}/db/video/sintel/video_files"),
    "zoo/videos/decode_and_transform_from_json.py": ("--videos_dir", "{data}/db/video/clips"),
}

# What differs on purpose or by rounding, looked at one by one: names and reasons.
_KNOWN = {
    "zoo/videos/decode.py": (
        ("decoded", "output 0", "output 1"),
        "resize_crop_mirror of the reference mirrors another axis of videos",
    ),
    "image_processing/resize/pipeline_mode.ipynb": (
        ("output 34",),
        "one level of rounding in resize, times 31",
    ),
}


class Run(NamedTuple):
    """What a program made and left behind."""

    # The last line of the traceback, or "".
    error: str
    # By name (what pipelines returned is called "output N"), then by number of the sample.
    variables: dict[str, dict[int, np.ndarray[Any, Any]]]
    # The operators before each output that draw random numbers; known of the reference only.
    causes: dict[str, list[str]]


def run_cells(
    python: str,
    cells: Sequence[str],
    folder: Path,
    environment: dict[str, str],
    arguments: Sequence[str] = (),
) -> Run:
    """Run cells in a folder, one after the other."""
    target = folder / "variables.npz"
    target.unlink(missing_ok=True)
    runner = str(ROOT / "tools" / "example_runner.py")
    try:
        done = subprocess.run(
            [python, runner, str(target), *arguments],
            input=json.dumps(list(cells)),
            cwd=folder,
            env={**os.environ, "MPLBACKEND": "Agg", **environment},
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Run(f"not done after {_PATIENCE} s", {}, {})
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return Run(lines[-1][:100], {}, {})
    variables: dict[str, dict[int, np.ndarray[Any, Any]]] = {}
    with np.load(target) as found:
        for key in found.files:
            name, _, index = key.rpartition("/")
            variables.setdefault(name, {})[int(index)] = found[key]
    causes = json.loads(target.with_suffix(".json").read_text())
    return Run("", variables, {f"output {number}": names for number, names in enumerate(causes)})


class Comparison(NamedTuple):
    """What became of the outputs and variables of an example."""

    same: int
    # What differs and depends on random numbers, with the operators that draw them.
    random: list[str]
    # What differs though it does not, or in what random numbers cannot change.
    wrong: list[str]
    # What is known to differ, with the reason.
    known: list[str]


def compare(example: str, before: Run, after: Run) -> Comparison:
    """Compare what two runs of an example have made, name by name."""
    found = Comparison(0, [], [], [])
    expected, reason = next(
        (known for end, known in _KNOWN.items() if example.endswith(end)), ((), "")
    )
    same = 0
    for name in sorted(before.variables.keys() | after.variables.keys()):
        theirs, ours = before.variables.get(name), after.variables.get(name)
        if theirs is None or ours is None:
            # Variables come and go with a conversion; steps do not.
            if name.startswith("output "):
                found.wrong.append(f"{name}: only {'after' if theirs is None else 'before'}")
            continue
        fixed, drawn = differences(theirs, ours)
        causes = causes_of(name, before)
        if not fixed and not drawn:
            same += 1
        elif not fixed and causes:
            found.random.append(f"{name}: {drawn} ({', '.join(causes)})")
        elif not fixed and name in expected:
            found.known.append(f"{name}: {drawn} ({reason})")
        else:
            found.wrong.append(f"{name}: {fixed or drawn}")
    return found._replace(same=same)


def differences(
    theirs: dict[int, np.ndarray[Any, Any]], ours: dict[int, np.ndarray[Any, Any]]
) -> tuple[str, str]:
    """What differs that random numbers cannot change, and what differs in shapes and values."""
    if theirs.keys() != ours.keys():
        return f"{len(theirs)} and {len(ours)} samples", ""
    drawn = ""
    for index, a in theirs.items():
        b = ours[index]
        if (a.ndim, a.dtype) != (b.ndim, b.dtype):
            return f"{a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}", ""
        if a.shape != b.shape:
            drawn = f"shapes {list(a.shape)} and {list(b.shape)}"
        elif a.size and not drawn:
            apart = float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max())
            scale = 1.0 if a.dtype.kind in "iu" else max(1.0, float(np.abs(a).max())) * 1e-4
            drawn = f"values {apart:.3g} apart" if apart > scale else ""
    return "", drawn


def causes_of(name: str, run: Run) -> list[str]:
    """The random operators before an output, or before the outputs that a variable is a part of."""
    if name in run.causes:
        return run.causes[name]
    parts = list(run.variables[name].values())
    found: set[str] = set()
    for output, causes in run.causes.items():
        held = run.variables.get(output, {}).values()
        if causes and any(_same(part, other) for part in parts for other in held):
            found |= set(causes)
    return sorted(found)


def _same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b)


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


def arguments_of(name: str) -> Sequence[str]:
    """The command line of an example."""
    return next((args for end, args in _ARGUMENTS.items() if name.endswith(end)), ())


def describe(compared: Comparison) -> str:
    """The last column of the table."""
    parts = [f"{compared.same} equal"]
    parts += [f"WRONG {text}" for text in compared.wrong]
    parts += [f"known {text}" for text in compared.known]
    parts += [f"random {text}" for text in compared.random]
    return "; ".join(parts)


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
            given = [text.format(data=data) for text in arguments_of(name)]
            originals = [on_cpu(cell) for cell in cells_of(path)]
            before = run_cells(options.reference, originals, path.parent, environment, given)
            converted = [on_cpu(cell) for cell in cells]
            after = run_cells(sys.executable, converted, path.parent, environment, given)
            compared = None if before.error or after.error else compare(name, before, after)
            wrong += not before.error and (compared is None or bool(compared.wrong))
            print(
                f"| `{name}` | {before.error or 'runs'} | {after.error or 'runs'} "
                f"| {'' if compared is None else describe(compared)} |",
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
