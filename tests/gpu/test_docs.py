# SPDX-License-Identifier: Apache-2.0
"""The table of operators and devices is up to date, and lists every exception."""

from __future__ import annotations

import runpy
from pathlib import Path

from daliesque._engine.op import registry
from daliesque._gpu.operators import body_of

ROOT = Path(__file__).parent.parent.parent


def test_table_is_up_to_date() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "operator_table.py"))
    assert tool["TARGET"].read_text() == tool["table"](), "run tools/operator_table.py"
    assert set(tool["NOTES"]) <= set(registry)


def test_operators_that_read_on_the_host_are_documented() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "operator_table.py"))
    decoders = [
        name
        for name, spec in registry.items()
        if name.startswith("decoders.") and body_of(spec) is not None
    ]
    for name in [*decoders, "noise.shot", "dump_image"]:
        assert "CPU" in tool["NOTES"][name]
