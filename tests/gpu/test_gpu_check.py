# SPDX-License-Identifier: Apache-2.0
"""`python -m daliesque.gpu_check`, with torch's CPU device as the accelerator."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque import gpu_check
from daliesque._cli.gpu_check import checks
from daliesque._cli.gpu_check.calls import CALLS, Call
from daliesque._engine import devices


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.name)
def test_every_call_is_right(call: Call) -> None:
    found = checks.check(call)
    assert found.wrong == []
    assert len(found.launches) == 2


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "report.md"
    assert gpu_check.main(["--operators", "flip", "rotate", "--output", str(output)]) == 0
    text = capsys.readouterr().out
    assert output.read_text() == text
    assert "- kind: torch's CPU device, which stands in" in text
    assert "| flip | 0 | 1 | 5 |" in text
    for title in ("## Operators", "## Transfers", "## Speed"):
        assert title in text
    assert "2 operators were checked, 0 are wrong." in text


def test_what_is_wrong_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flip = ndd.flip

    def broken(images: ndd.Batch, device: str = "cpu", **arguments: object) -> ndd.Batch:
        made = flip(images, device=device, **arguments)
        return made if device == "cpu" else ndd.cast(made + 2, dtype=ndd.uint8)

    monkeypatch.setattr(ndd, "flip", broken)
    assert gpu_check.main(["--operators", "flip", "--no-timing"]) == 1
    text = capsys.readouterr().out
    assert "- flip: eager: differs from the CPU by" in text
    assert "1 operators were checked, 1 are wrong." in text


def test_types_and_shapes_are_compared() -> None:
    call, found = CALLS[0], checks.Finding()
    one, other = [[np.zeros(3, np.uint8)]], [[np.zeros(3, np.int8)]]
    checks._compare(call, one, other, found, "eager")
    assert found.wrong == ["eager: uint8(3,) instead of int8(3,)"]
    found = checks.Finding()
    checks._compare(call, [[np.array([np.nan])]], [[np.array([1.0])]], found, "eager")
    assert found.wrong == ["eager: differs from the CPU by nan of 1"]


def test_machines_without_an_accelerator(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(devices, "_found", "no accelerator was found on this machine")
    assert gpu_check.main([]) == 1
    assert "no accelerator was found on this machine" in capsys.readouterr().err


def test_random_numbers_are_drawn_on_the_device(
    simulate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few they are."""
    machine = simulate("cuda")
    # There is no driver to ask.
    monkeypatch.setattr(checks, "_no_waiting", lambda _: contextlib.nullcontext())
    (call,) = (call for call in CALLS if call.name == "random.choice")
    assert checks.check(call).wrong == []
    assert machine.journal.launches.count("mul") >= 20
