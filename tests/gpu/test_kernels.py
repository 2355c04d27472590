# SPDX-License-Identifier: Apache-2.0
"""The table of device kernels and what follows from it; calls on the CPU beside a gpu."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque import _kernels
from daliesque._engine import devices
from daliesque._engine.op import registry
from daliesque._engine.samples import common_kernels, host_kernels
from daliesque._gpu import kernels
from daliesque._gpu.operators import OWN_BODIES, body_of, named_kernels

PACKAGE = Path(ndd.__file__).parent


def declared_functions(stub: str) -> dict[str, list[str]]:
    """The parameters of each function of a stub, or of the only class in it."""
    body = ast.parse((PACKAGE / stub).read_text()).body
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    functions = classes[0].body if stub.endswith("kernels.pyi") and "engine" in stub else body
    return {
        node.name: [argument.arg for argument in node.args.args if argument.arg != "self"]
        for node in functions
        if isinstance(node, ast.FunctionDef)
    }


@pytest.mark.parametrize("name", kernels.__all__)
def test_parameters_are_those_of_the_native_kernel(name: str) -> None:
    own = list(inspect.signature(getattr(kernels, name)).parameters)
    assert own == declared_functions("_kernels.pyi")[name]
    assert own == declared_functions("_engine/kernels.pyi")[name]


def test_data_knows_its_kernels() -> None:
    here = ndd.tensor([1, 2])._data()
    there = ndd.tensor([1, 2], device="gpu")._data()
    assert here.kernels is _kernels
    assert not here.is_on_device
    assert there.kernels is kernels.table
    assert there.is_on_device
    assert common_kernels([here, there]) is kernels.table
    assert common_kernels([here, here]) is host_kernels


def test_native_functions_stay_what_they_are() -> None:
    before = dict(vars(_kernels))
    ndd.flip(ndd.zeros(shape=[2, 2, 3], layout="HWC", device="gpu")).cpu().evaluate()
    assert vars(_kernels) == before


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("flip", {"flip"}),
        ("cast", {"cast"}),
        ("zeros", {"cast", "empty", "empty_uniform", "fill"}),
        ("random.normal", {"empty", "empty_uniform", "normal"}),
        ("power_spectrum", {"empty", "power_spectrum"}),
    ],
)
def test_kernels_that_bodies_name(operator: str, expected: set[str]) -> None:
    assert expected <= named_kernels(registry[operator].body) <= expected | {"cast"}


def test_operators_that_name_another_kernel_do_not_run() -> None:
    assert body_of(registry["power_spectrum"]) is None
    assert body_of(registry["bbox_paste"]) is None
    assert set(OWN_BODIES) <= set(registry)


def count_calls(function: Callable[[], Any]) -> list[str]:
    """The Python functions that are entered, once calls like it run by a plan."""
    calls: list[str] = []

    def profile(frame: Any, event: str, _argument: Any) -> None:
        if event == "call":
            calls.append(frame.f_code.co_qualname)

    for _ in range(3):
        function()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("mode", list(ndd.EvalMode), ids=lambda mode: mode.name)
def test_calls_on_the_cpu_stay_what_they_were(mode: ndd.EvalMode) -> None:
    """After a gpu was used, the same functions run for a call without one."""
    batch = ndd.batch(np.zeros((4, 8, 8, 3), np.uint8), layout="HWC")
    calls = (
        lambda: ndd.flip(batch),
        lambda: batch + 1,
        lambda: ndd.random.uniform(batch_size=4),
        lambda: batch.slice[1:],
    )
    assert devices.loaded_backend() is None
    with mode:
        before = [count_calls(function) for function in calls]
        ndd.flip(batch.gpu()).evaluate()
        assert devices.loaded_backend() is not None
        assert [count_calls(function) for function in calls] == before


@pytest.mark.parametrize(
    "path",
    sorted(path for layer in ("_ops", "_shapes") for path in (PACKAGE / layer).glob("*.py")),
    ids=lambda path: f"{path.parent.name}.{path.stem}",
)
def test_tables_of_kernels_go_by_one_name(path: Path) -> None:
    """Code is searched for `kernels.<name>`: a table under another name would not be seen."""
    for line in path.read_text().splitlines():
        if re.search(r"\bcommon_kernels\(|\w\.kernels\b(?!\.)", line):
            assigned = re.match(r" +kernels\b.* = ", line)
            handed_over = re.search(r"\(\w+\.kernels, ", line)
            assert assigned or handed_over, line
