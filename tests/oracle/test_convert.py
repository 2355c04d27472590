# SPDX-License-Identifier: Apache-2.0
"""Scripts of pipeline mode give the same results before and after conversion."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.converted import SCRIPTS, assert_same_results, make_data, run_program

pytest.importorskip("nvidia.dali")
from daliesque._cli.convert.script import convert_text

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("name", sorted(path.stem for path in SCRIPTS.glob("*.txt")))
def test_same_results(name: str, tmp_path: Path) -> None:
    data = make_data(tmp_path / "data")
    text = (SCRIPTS / f"{name}.txt").read_text()
    before = run_program(text, data)
    converted = convert_text(text)
    assert converted.work == []
    assert_same_results(run_program(converted.text, data), before)
