# SPDX-License-Identifier: Apache-2.0
"""The live view: in a terminal, in a notebook, in a log."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._observe import live

PROGRAM = """
import time, numpy as np, daliesque as ndd
class Images(ndd.readers.Reader):
    def open_index(self): return 40
    def fetch_sample(self, number): return np.zeros((8, 8, 3), np.uint8)
with ndd.watch(interval=0.05):
    for (images,) in Images().next_epoch(batch_size=4):
        ndd.flip(images).evaluate()
        time.sleep(0.02)
"""
WITHOUT_RICH = "import sys; sys.modules['rich'] = None\n"


def work() -> None:
    ndd.flip(ndd.batch(np.zeros((4, 8, 10, 3), np.uint8), layout="HWC")).evaluate()


def in_terminal(program: str) -> str:
    """What a program writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "150"}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    assert process.wait() == 0, b"".join(parts)
    return b"".join(parts).decode()


def test_log_gets_the_report_alone() -> None:
    log = io.StringIO()
    with ndd.watch(interval=0.001, file=log) as view:
        work()
        assert view.report.counters.operators["flip"].calls == 1
    assert log.getvalue() == f"{view.report}\n"
    assert "flip" in log.getvalue()
    # What came before does not count.
    with ndd.watch(file=io.StringIO()) as view:
        pass
    assert view.report.counters.operators == {}


def test_terminal_without_rich() -> None:
    text = in_terminal(WITHOUT_RICH + PROGRAM)
    lines = re.findall(r"\r([^\r\n]*)\x1b\[K", text)
    assert len(lines) >= 2
    assert any(re.match(r"[\d,]+ samples/s, consumer waits \d+ %, ", line) for line in lines)
    # In the end the report is in place of the line.
    assert re.search(r"\r\x1b\[KThe consumer waits \d+ % of the time", text)
    assert "loop: 10 steps of 40 samples" in text


def test_terminal_with_rich() -> None:
    pytest.importorskip("rich")
    text = in_terminal(PROGRAM)
    assert len(re.findall("consumer waits", text)) >= 2
    assert "loop: 10 steps of 40 samples" in text


def test_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for what notebooks offer."""
    shown: list[str] = []

    class Handle:
        def update(self, page: Any) -> None:
            shown.append(page)

    class Display:
        HTML = staticmethod(str)

        @staticmethod
        def display(page: Any, display_id: bool) -> Handle:
            assert display_id
            shown.append(page)
            return Handle()

    monkeypatch.setitem(sys.modules, "IPython.display", Display)  # type: ignore[arg-type]
    monkeypatch.setattr(live, "in_notebook", lambda: True)
    with ndd.watch(interval=10):
        work()
    assert shown[-1].startswith("<div><p><b>")
    assert ">flip</td>" in shown[-1]
