# SPDX-License-Identifier: Apache-2.0
"""All tests here run with torch's CPU device standing in for a gpu, some with a simulated one.

torch has a simulated accelerator of its own, `torch_openreg`, which is a part of torch's tests, not
of a package. `make test-openreg` fetches and builds it, and runs the contract suite with it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import daliesque as ndd
from daliesque._engine import devices
from daliesque._engine.thread_state import thread
from daliesque._gpu import accelerator
from support.simulated import SimulatedAccelerator
from support.torch_operations import allowed
from support.torch_states import STATES, State, all_at_once

# Names the state of torch that all tests run in; `make test-gpu-states` tries each.
STATE = "DALIESQUE_TORCH_STATE"
# Set if torch's simulated accelerator is to be the gpu of tests that name none; see
# `support.openreg`.
OPENREG = "DALIESQUE_OPENREG"
# Files and tests that need a state of their own: they are about the simulated devices themselves
# and what is counted with them, or make tensors by torch's defaults.
PLAIN = {
    *("test_docs.py", "test_fake_cuda.py", "test_gpu_check.py", "test_launches.py"),
    *("test_order.py", "test_torch_functions.py", "test_torch_states.py", "test_training.py"),
    *("test_a_first_number_of_zero", "test_device_arrays_are_imported_without_a_copy"),
    *("test_libraries", "test_metal_reads_host_memory_later", "test_mixtures_are_seen"),
    *("test_ragged_batches_are_refused_before_they_are_moved", "test_reads_are_seen"),
    "test_sums_are_clamped",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if STATE in os.environ:
        items[:] = [
            item
            for item in items
            if PLAIN.isdisjoint([item.path.name, item.name.partition("[")[0]])
        ]


@pytest.fixture(autouse=True)
def torch_state() -> Iterator[None]:
    name = os.environ.get(STATE)
    states: dict[str | None, State] = {
        None: contextlib.nullcontext,
        "all": all_at_once,
        **STATES,
    }
    with states[name]():
        yield


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Some operators write files.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(accelerator.VARIABLE, "cpu")
    monkeypatch.setattr(devices, "_found", None)
    if OPENREG in os.environ:
        from support.openreg import OpenRegAccelerator

        monkeypatch.setattr(devices, "_found", OpenRegAccelerator())
    # Contexts of this thread have streams of the accelerator of another test.
    thread.default_contexts.clear()
    thread.plain_context = None
    yield
    ndd.EvalContext.current().evaluate_all()
    ndd.set_default_stream(None)
    ndd.set_current_stream(None)


@pytest.fixture
def simulate(stand_in: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes a simulated accelerator of a kind the one that is found from now on."""
    del stand_in
    # torch would look for a driver when it hears the name of a device for the first time.
    for backend in (torch.cuda, torch.xpu):
        monkeypatch.setattr(backend, "_lazy_init", lambda: None)
    made: list[SimulatedAccelerator] = []

    def begin(kind: str) -> SimulatedAccelerator:
        found = SimulatedAccelerator(kind)
        made.append(found)
        monkeypatch.setattr(devices, "_found", found)
        return found

    yield begin
    ndd.EvalContext.current().evaluate_all()
    for found in made:
        # In some states, torch shows calls of the tests themselves under other names.
        assert STATE in os.environ or found.journal.operations <= allowed()


@pytest.fixture(params=["stand-in", "cuda"])
def either_device(request: pytest.FixtureRequest) -> None:
    """Runs a test with torch's CPU device as the gpu, and with a simulated CUDA device."""
    if request.param != "stand-in":
        request.getfixturevalue("simulate")(request.param)


@pytest.fixture(params=["stand-in", "cuda", "hostile"])
def any_device(request: pytest.FixtureRequest) -> Iterator[None]:
    """The same, and torch's CPU device in all states at once that programs may put torch into."""
    with all_at_once() if request.param == "hostile" else contextlib.nullcontext():
        if request.param == "cuda":
            request.getfixturevalue("simulate")(request.param)
        yield
