# SPDX-License-Identifier: Apache-2.0
"""The public names are those that are meant to be public."""

from __future__ import annotations

import functools
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import daliesque as ndd
from daliesque._engine.op import registry

# Public modules are packages and modules without a leading underscore.
MODULES = ["daliesque"] + sorted(
    module.name
    for module in pkgutil.walk_packages(ndd.__path__, "daliesque.")
    if not any(part.startswith("_") for part in module.name.split("."))
)
# Modules whose public names are constants, without a list of their own.
WITHOUT_ALL = {"daliesque.types"}


@pytest.mark.parametrize("name", [name for name in MODULES if name not in WITHOUT_ALL])
def test_dir_equals_all(name: str) -> None:
    module = importlib.import_module(name)
    assert set(module.__all__) <= set(dir(module))
    for late in module.__all__:
        getattr(module, late)  # loads it
    public = {key for key in vars(module) if not key.startswith("_")}
    submodules = {m.rpartition(".")[2] for m in MODULES if m.rpartition(".")[0] == name}
    assert public - set(module.__all__) <= submodules
    assert set(module.__all__) <= public
    assert len(set(module.__all__)) == len(module.__all__)


def test_operators_are_where_their_names_say() -> None:
    for name, spec in registry.items():
        found: object = ndd
        for part in name.split("."):
            found = getattr(found, part)
        assert getattr(found, "spec", None) is spec, name


def test_signatures_show_the_real_thing() -> None:
    signature = inspect.signature(ndd.cast)
    assert list(signature.parameters) == ["input", "batch_size", "device", "dtype"]
    assert "cast_samples" in inspect.getsource(ndd.cast)


def test_everything_public_is_documented() -> None:
    for name in ndd.__all__:
        member = getattr(ndd, name)
        if callable(member) and not isinstance(member, ndd.DType):
            assert member.__doc__, name


def modules_after(program: str) -> set[str]:
    """The modules that a process has loaded that runs a program."""
    program = f"import sys; {program}; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    return set(subprocess.run(command, capture_output=True, check=True, text=True).stdout.split())


def test_import_is_light() -> None:
    loaded = modules_after("import daliesque")
    heavy = {"torch", "jax", "numba", "cupy", "imagecodecs", "PIL", "soundfile", "av", "pyarrow"}
    assert loaded & heavy == set()
    # Reports, traces, pictures and commands are loaded when they are used.
    assert loaded & {"rich", "matplotlib", "IPython"} == set()
    # Parts of the standard library that take long, and that few programs need.
    loaded -= modules_after("import numpy, ml_dtypes")
    unused = {"concurrent.futures", "multiprocessing", "subprocess", "tempfile", "pathlib"}
    assert loaded & (unused | {"difflib", "glob", "hashlib", "json", "random", "urllib"}) == set()
    late = ("_capture", "_cli", "_isolated", "_observe.", "_ray", "_readers", "_scene", "_show.")
    assert [name for name in loaded if name.startswith(tuple(f"daliesque.{x}" for x in late))] == []


def test_signatures_are_read_when_they_are_needed() -> None:
    program = """
import inspect
import daliesque as ndd
from daliesque._engine.op import Operator, Unread, registry

def used() -> set[str]:
    return {name for name, operator in registry.items() if type(operator) is Operator}

assert all(isinstance(operator, Unread) for operator in registry.values()), used()
ndd.flip(ndd.batch([[[[1]]]], layout="HWC")).evaluate()
assert used() == {"flip"}
inspect.signature(ndd.resize)
assert used() == {"flip", "resize"}
assert not hasattr(registry["crop"], "unheard_of") and used() == {"flip", "resize"}
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_signatures_of_wrapped_operators() -> None:
    @functools.wraps(ndd.resize)
    def mine(*inputs: object, **arguments: object) -> object:
        return ndd.resize(*inputs, **arguments)  # type: ignore[call-overload]

    assert inspect.signature(mine) == inspect.signature(ndd.resize)
    assert inspect.unwrap(mine).__name__ == "resize"
    assert pickle.loads(pickle.dumps(ndd.resize)) is ndd.resize


def test_names_are_there_before_they_are_loaded() -> None:
    program = """
import sys
import daliesque as ndd

def names() -> list[str]:
    return [name for name in dir(ndd) if not name.startswith("_")]

before = names()
assert set(ndd.__all__) <= set(before)
assert "daliesque._scene.scene" not in sys.modules
assert ndd.Scene.__module__ == "daliesque" and ndd.Scene is ndd.Scene
from daliesque import readers
assert readers is ndd.readers and readers.File.__module__ == "daliesque.readers"
from daliesque import *
assert names() == before
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_typed() -> None:
    assert (Path(ndd.__file__).parent / "py.typed").exists()
