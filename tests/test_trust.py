# SPDX-License-Identifier: Apache-2.0
"""Nothing that is read from data is ever executed: neither in the code nor by what files do."""

from __future__ import annotations

import ast
import io
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd

SOURCES = Path(__file__).parent.parent / "src" / "daliesque"
# Modules that make code of data, or load it.
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "runpy"}
# Functions that do, whatever they belong to.
CALLS = {"eval", "exec", "compile", "execfile", "__import__", "unsafe_load", "full_load"}
ATTRIBUTES = {
    ("torch", "load"),
    ("np", "load"),
    ("numpy", "load"),
    ("os", "system"),
    ("os", "popen"),
}
# Where these are, and why no data gets there.
ALLOWED = {
    # Checks that a function of the user can be sent to another process; reads no pickle.
    ("_loops/resuming.py", "import pickle"),
    ("_loops/torch_loader.py", "import pickle"),
    # A traceback that shows the line of the user's call: a constant program.
    ("_engine/errors.py", "compile"),
    ("_engine/errors.py", "exec"),
    # Runs the user's own script, in place of the interpreter.
    ("_cli/convert", "compile"),
}


def findings(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [f"import {a.name}" for a in node.names if a.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").split(".")[0] in MODULES:
                found.append(f"import {node.module}")
        elif isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id in CALLS:
                found.append(function.id)
            elif isinstance(function, ast.Attribute):
                owner = function.value.id if isinstance(function.value, ast.Name) else ""
                if (owner, function.attr) in ATTRIBUTES or function.attr in CALLS - {"compile"}:
                    found.append(f"{owner}.{function.attr}")
                if (owner, function.attr) in {("pickle", "loads"), ("pickle", "load")}:
                    found.append(f"{owner}.{function.attr}")
            found += [
                "allow_pickle"
                for keyword in node.keywords
                if keyword.arg == "allow_pickle"
                and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
            ]
            found += ["shell=True" for keyword in node.keywords if keyword.arg == "shell"]
    return found


def test_no_code_is_made_of_data() -> None:
    wrong = []
    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES).as_posix()
        wrong += [
            (name, finding)
            for finding in findings(path)
            if not any(name.startswith(part) and finding == known for part, known in ALLOWED)
        ]
    assert wrong == []


def test_the_search_itself(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(
        "import pickle, yaml\nfrom marshal import loads\neval('1')\nnp.load(x, allow_pickle=True)\n"
        "torch.load(x)\npickle.loads(x)\nre.compile('a')\nf(allow_pickle=False)\n"
        "subprocess.run(x, shell=True)\n"
    )
    assert sorted(findings(path)) == [
        "allow_pickle",
        "eval",
        "import marshal",
        "import pickle",
        "import yaml",
        "np.load",
        "pickle.loads",
        "shell=True",
        "torch.load",
    ]


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder that exists once somebody has unpickled what he should not have."""
    return tmp_path / "executed"


def test_arrays_of_objects_are_refused(tmp_path: Path, trap: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.array([Touch(trap)], object), allow_pickle=True)
    with pytest.raises(ndd.DecodeError, match="object"):
        list(ndd.readers.Numpy(files=path).next_epoch())
    with pytest.raises(ndd.DecodeError, match="object"):
        ndd.decoders.numpy(path.read_bytes()).evaluate()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.npy", path.read_bytes())
    with pytest.raises(ndd.DecodeError):
        ndd.decoders.numpy(file.getvalue()).evaluate()
    assert not trap.exists()


@pytest.mark.parametrize("header", ["__import__('os').mkdir({!r})", "{{'descr': os.mkdir({!r})}}"])
def test_headers_of_arrays_are_not_evaluated(tmp_path: Path, trap: Path, header: str) -> None:
    text = header.format(str(trap)).encode().ljust(118) + b"\n"
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text)
    with pytest.raises(ndd.DecodeError):
        list(ndd.readers.Numpy(files=path).next_epoch())
    with pytest.raises(ndd.DecodeError):
        ndd.decoders.numpy(path.read_bytes()).evaluate()
    assert not trap.exists()


def test_states_are_data(tmp_path: Path, trap: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"a")
    reader = ndd.readers.File(files=tmp_path / "a.jpg")
    evil = pickle.dumps(Touch(trap))
    for text in (evil, evil.decode("latin-1"), f"__import__('os').mkdir({str(trap)!r})"):
        with pytest.raises(ValueError, match="not the state of a reader"):
            reader.set_state(text)
    for state in (evil.decode("latin-1"), "cos\nmkdir\n(S'x'\ntR."):
        with pytest.raises(ValueError, match="cannot be read"):
            ndd.random.RNG().set_state(state)
        with pytest.raises(ValueError, match="Invalid checkpoint"):
            ndd.checkpoint.Checkpoint().deserialize(state)
    path = tmp_path / "state_0.json"
    path.write_bytes(evil)
    with pytest.raises(ValueError, match=r"Checkpoint\.load: cannot read"):
        ndd.checkpoint.Checkpoint().load(str(tmp_path / "state_{seq}.json"))
    assert not trap.exists()


@pytest.mark.parametrize(
    "make",
    [
        lambda path: ndd.readers.TFRecord(
            path=path, features={"x": ndd.tfrecord.FixedLenFeature([1], ndd.tfrecord.int64, 0)}
        ),
        lambda path: ndd.readers.Webdataset(paths=path, ext="jpg"),
        lambda path: ndd.readers.Parquet(path=path),
        lambda path: ndd.readers.COCO(file_root=path.parent, annotations_file=path),
        lambda path: ndd.readers.NemoAsr(manifest_filepaths=path),
    ],
)
def test_pickles_are_no_data_sets(tmp_path: Path, trap: Path, make: Any) -> None:
    path = tmp_path / "data"
    path.write_bytes(pickle.dumps(Touch(trap)))
    with pytest.raises((ndd.OpError, ValueError, OSError)):
        list(make(path).next_epoch())
    assert not trap.exists()
