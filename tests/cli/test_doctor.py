# SPDX-License-Identifier: Apache-2.0
"""`python -m daliesque doctor`."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy
import pytest

import daliesque as ndd
from daliesque import _kernels
from daliesque._cli import main
from daliesque._cli.doctor import self_test
from daliesque._cli.doctor.facts import EXTRAS
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
        *("Versions", "Processor", "Threads", "Memory", "Codecs", "Extras", "Accelerator"),
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
    assert found["codecs"]["WAV"] == "ok"
    assert found["codecs"]["FLAC"] == "not tried: libsndfile.so is missing"
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


def test_every_variable_has_a_row_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "environment.md").read_text()
    rows = re.findall(r"^\| `(DALI\w*)` \|", page, re.MULTILINE)
    assert rows == [variable.name for variable in VARIABLES]


def test_every_extra_is_listed() -> None:
    """Those of the package; others are for its development."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    extras = set(project["project"]["optional-dependencies"])
    assert set(EXTRAS) == extras - {"test", "lint", "docs"}


def test_self_test_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, "_SECONDS", 0.02)
    found = self_test.run_self_test()
    rates = found["images_per_second"]
    assert all(rate > 0 for rate in rates.values())
    assert set(found["against_expected"]) == {"decode", "resize", "normalize"}
    vector = "AVX2" in _kernels.instruction_sets()
    for name, compared in found["against_expected"].items():
        expected = self_test.EXPECTED[name]
        assert compared["expected"] == (expected.vector if vector else expected.portable)
        assert compared["ratio"] > 0


def test_self_test_explains(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is half as fast as expected is mentioned; rates are made up."""
    rates = iter([250.0, 100.0, 500.0, 100.0, 20.0, 100.0, 260.0, 50.0])
    monkeypatch.setattr(self_test, "_rate", lambda _work: next(rates))
    monkeypatch.setattr(self_test, "get_num_threads", lambda: 2)
    monkeypatch.setattr(
        self_test,
        "EXPECTED",
        {
            "decode": self_test.Expected("Pillow", 3.0, 3.0),
            "resize": self_test.Expected("Pillow", 8.0, 8.0),
            "normalize": self_test.Expected("copying the result", 0.7, 0.7),
        },
    )
    found = self_test.run_self_test()
    assert found["against_expected"]["decode"]["ratio"] == 2.5
    slow, scaling = found["advice"]
    assert slow.startswith("normalize runs at 0.2 times the speed of copying the result; about 0.7")
    assert scaling.startswith("2 threads are 1.04 times as fast as one; at least 1.4 is expected.")
