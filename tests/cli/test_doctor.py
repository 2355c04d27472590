# SPDX-License-Identifier: Apache-2.0
"""`python -m daliesque doctor`."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import daliesque as ndd
from daliesque._cli import main
from daliesque._cli.doctor import self_test
from daliesque._cli.environment import VARIABLES

SOURCES = Path(ndd.__file__).parent


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["doctor", "--no-self-test", *arguments])
    return code, capsys.readouterr().out


def facts(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report(capsys, "--json")[1])
    return found


def test_facts_are_those_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    found = facts(capsys)
    assert found["versions"]["numpy"] == numpy.__version__
    assert found["versions"]["daliesque"] == ndd.__version__
    assert found["threads"]["cores"] == os.cpu_count()
    assert found["threads"]["used_by_kernels"] == ndd.get_num_threads()
    flags = set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text()))
    assert ("AVX2" in found["processor"]["instruction_sets"]) == ("avx2" in flags)
    assert found["codecs"]["JPEG"] == "ok"
    assert found["codecs"]["PNG"] == "ok"


def test_text_has_every_section(capsys: pytest.CaptureFixture[str]) -> None:
    text = report(capsys)[1]
    titles = re.findall(r"^([A-Z][\w-]*)", text, re.MULTILINE)
    assert titles == [
        *("Versions", "Processor", "Threads", "Memory", "Image", "Extras", "Accelerator"),
        *("Environment", "Advice"),
    ]


def test_missing_and_broken_extras(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "soundfile.py").write_text("raise OSError('libsndfile.so is missing')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "soundfile", raising=False)
    monkeypatch.setitem(sys.modules, "astropy", None)
    code, text = report(capsys, "--json")
    found = json.loads(text)
    assert found["extras"]["audio"]["state"] == "does not load: libsndfile.so is missing"
    assert found["extras"]["fits"]["state"] == "not installed (pip install 'daliesque[fits]')"
    # What is missing is a choice; what is broken needs attention.
    assert code == 1
    assert [text for text in found["advice"] if "'audio'" in text]
    assert not [text for text in found["advice"] if "'fits'" in text]


def test_environment(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALIESQUE_GRAPHICS", "sixel")
    values = {entry["name"]: entry["value"] for entry in facts(capsys)["environment"]}
    assert values["DALIESQUE_GRAPHICS"] == "sixel"


def test_every_variable_is_listed() -> None:
    """No module reads a variable that the table lacks."""
    named = set()
    for path in SOURCES.rglob("*.py"):
        named.update(re.findall(r"\"(DALI(?:ESQUE)?_[A-Z_]+)\"", path.read_text()))
    assert named == {variable.name for variable in VARIABLES}


def test_self_test_measures_and_explains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, "_SECONDS", 0.02)
    monkeypatch.setattr(self_test, "_LEAST_DECODING", 1e9)
    found = self_test.run_self_test()
    rates = found["images_per_second"]
    assert all(rate > 0 for rate in rates.values())
    faster = rates["decode, 1 thread"] > rates["decode, Pillow, 1 thread"]
    assert (found["against_pillow"] > 1) == faster
    assert "times the speed of Pillow" in found["advice"][0]
