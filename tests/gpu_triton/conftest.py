# SPDX-License-Identifier: Apache-2.0
"""Kernels in Triton: run by its interpreter, with torch's CPU device standing in for a gpu.

The rest of the library must believe that Triton compiles for that device.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

# Read when the kernels are imported.
os.environ["TRITON_INTERPRET"] = "1"

import daliesque as ndd
from daliesque._engine import devices
from daliesque._engine.thread_state import thread
from daliesque._gpu import accelerator, philox, triton_philox


@pytest.fixture(autouse=True)
def drawn_by_triton(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(accelerator.VARIABLE, "cpu")
    monkeypatch.setattr(devices, "_found", None)
    thread.default_contexts.clear()
    thread.plain_context = None
    monkeypatch.setattr(philox, "NOT_ON", frozenset())
    monkeypatch.setattr(philox, "WITH_TRITON", frozenset({"cpu"}))
    monkeypatch.setattr(philox, "FEWEST", 0)
    # Each program takes about a second, whatever it computes.
    monkeypatch.setattr(triton_philox, "_EVENTS_BLOCK", 1 << 15)
    philox._tried_kernels.cache_clear()
    yield
    ndd.EvalContext.current().evaluate_all()
    philox._tried_kernels.cache_clear()
