# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import numpy
import pytest

import daliesque

MODULES = ["daliesque"] + sorted(
    module.name
    for module in pkgutil.walk_packages(daliesque.__path__, "daliesque.")
    if not module.name.endswith("._kernels")
    # Needs Ray: see tests/frameworks/ray/test_pages.py.
    and not module.name.startswith("daliesque._ray")
    # Needs Triton, and has no examples.
    and not module.name.endswith(".triton_philox")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some write files.
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(
        verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    for test in finder.find(module, name, extraglobs={"ndd": daliesque, "np": numpy}):
        runner.run(test)
    assert runner.failures == 0
