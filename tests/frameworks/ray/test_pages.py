# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/train/ray.md, those in docstrings, and examples/ray_training.py run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import ray.cloudpickle
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser

import daliesque as ndd
import daliesque._ray
from support import pages

MODULES = sorted(
    module.name for module in pkgutil.iter_modules(daliesque._ray.__path__, "daliesque._ray.")
)


@pytest.mark.usefixtures("cluster")
def test_programs_of_the_page() -> None:
    parser = CodeBlockParser(language="python", evaluator=pages.run_program)
    document = Sybil(parsers=[parser]).parse(pages.ROOT / "docs" / "train" / "ray.md")
    pages.set_up(document.namespace)
    # Other processes cannot import a page.
    ray.cloudpickle.register_pickle_by_value(sys.modules["page"])
    try:
        examples = list(document.examples())
        assert len(examples) >= 7
        for example in examples:
            example.evaluate()
    finally:
        ray.data.DataContext.get_current().execution_options.preserve_order = False
        ray.cloudpickle.unregister_pickle_by_value(sys.modules["page"])
        pages.tear_down(document.namespace)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(
        verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    finder = doctest.DocTestFinder(exclude_empty=True)
    for test in finder.find(module, name, extraglobs={"ndd": ndd, "np": np}):
        runner.run(test)
    assert runner.failures == 0


def test_the_training_goes_on_after_a_worker_was_killed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(pages.ROOT / "examples" / "ray_training.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "a worker was killed; samples of each epoch that were seen once: tensor([101, 101])" in (
        done.stdout
    )
