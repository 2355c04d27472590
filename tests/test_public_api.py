# SPDX-License-Identifier: Apache-2.0
"""The public names are those that are meant to be public."""

from __future__ import annotations

import importlib
import inspect
import json
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


def test_import_is_light() -> None:
    program = "import sys, json, daliesque; print(json.dumps(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    loaded = set(json.loads(out.stdout))
    heavy = {"torch", "jax", "numba", "cupy", "imagecodecs", "PIL", "soundfile", "av", "pyarrow"}
    assert loaded & heavy == set()
    # Reports, traces, pictures and commands are loaded when they are used.
    assert loaded & {"rich", "matplotlib", "IPython"} == set()
    # Parts of the standard library that take long, and that few programs need.
    assert loaded & {"concurrent.futures", "multiprocessing", "subprocess", "tempfile"} == set()
    late = ("daliesque._observe.", "daliesque._show.", "daliesque._cli")
    assert [name for name in loaded if name.startswith(late)] == []


def test_typed() -> None:
    assert (Path(ndd.__file__).parent / "py.typed").exists()
