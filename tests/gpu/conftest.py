# SPDX-License-Identifier: Apache-2.0
"""All tests here run with torch's CPU device standing in for a gpu."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import daliesque as ndd
from daliesque._engine import accelerator


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Some operators write files.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(accelerator.VARIABLE, "cpu")
    accelerator.forget()
    yield
    ndd.EvalContext.current().evaluate_all()
    ndd.set_default_stream(None)
    ndd.set_current_stream(None)
    accelerator.forget()
