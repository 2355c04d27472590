# SPDX-License-Identifier: Apache-2.0
"""The rules of CUDA about devices, contexts and streams, with torch.cuda as it is shipped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    """What a program found out on two fake devices."""
    done = subprocess.run(
        [sys.executable, str(TESTS / "support" / "fake_cuda_program.py")],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_no_contexts_on_other_devices(facts: dict[str, Any]) -> None:
    """Each process of a distributed training would take memory of device 0."""
    assert facts["contexts_of_a_rank"] == ["gpu:1", [1]]
    assert facts["contexts_of_a_reader"] == [1]


def test_calls_leave_device_and_streams_of_a_thread_alone(facts: dict[str, Any]) -> None:
    assert facts["devices_after_calls"] == [0, True, True]


def test_handles_of_default_streams(facts: dict[str, Any]) -> None:
    legacy, protocol, per_thread, plain = facts["handles"]
    assert legacy == protocol == [0, 1]
    assert "handle 2 does not stand for one stream" in per_thread
    assert plain == [0xABC0, 1]


def test_arrays_of_any_stream_are_imported(facts: dict[str, Any]) -> None:
    found = facts["imports"]
    device, log = found["1"]
    assert device == "gpu:1"
    assert "record 1/0x0" in log
    device, log = found[str(0xABC0)]
    assert "record 1/0xabc0" in log
    assert any(line.endswith("waits for 1/0xabc0") for line in log)
    assert "handle 2" in found["2"]


def test_exports_from_another_device_than_the_current_one(facts: dict[str, Any]) -> None:
    assert facts["exports"] == [["capsule"] * 4, 0, [2, 1]]


def test_foreign_streams_live_as_long_as_their_data(facts: dict[str, Any]) -> None:
    assert facts["owners"] == [[], ["gone"]]


def test_two_threads_with_a_device_each(facts: dict[str, Any]) -> None:
    assert facts["two_threads"] == [[True, 0], [True, 1]]
