# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import daliesque as ndd
from daliesque._engine import threads
from support.instruction_sets import use_instructions
from support.started_threads import note_threads

# The threads of torch spin while they wait for each other: on a busy machine, for minutes. This is
# read when torch is first loaded, by the tests and by the programs that they start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples in each run; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def fresh_random_state() -> Iterator[None]:
    """Each test starts with the same default generator and leaves nothing behind."""
    ndd.random.set_seed(42)
    note_threads()
    yield
    ndd.EvalContext.current().evaluate_all()
    if threads._Default.chosen is not None:
        ndd.set_num_threads(None)


@pytest.fixture
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For operators that write files, some of them after the test has read all that it wants."""
    monkeypatch.chdir(tmp_path)
    yield
    ndd.EvalContext.current().evaluate_all()


@pytest.fixture(params=["vector", "portable"])
def instruction_set(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs a test with and without the vector code."""
    with use_instructions(request.param):
        yield
