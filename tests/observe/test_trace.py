# SPDX-License-Identifier: Apache-2.0
"""The files that `trace` writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque import _kernels

IMAGES = np.zeros((4, 8, 10, 3), np.uint8)


class Events:
    """The events of a trace, by what they are."""

    def __init__(self, path: Path) -> None:
        self.all: list[dict[str, Any]] = json.loads(path.read_text())
        self.rows = {
            event["tid"]: event["args"]["name"]
            for event in self.all
            if event["name"] == "thread_name"
        }

    def of(self, category: str, name: str | None = None) -> list[dict[str, Any]]:
        return [
            event
            for event in self.all
            if event.get("cat") == category and name in (None, event["name"])
        ]

    def row(self, event: dict[str, Any]) -> str:
        return self.rows[event["tid"]]

    def flows(self) -> dict[int, dict[str, dict[str, Any]]]:
        """The parts of each flow: "s" where it begins, "t" where it goes on, "f" where it ends."""
        found: dict[int, dict[str, dict[str, Any]]] = {}
        for event in self.of("flow"):
            found.setdefault(event["id"], {})[event["ph"]] = event
        return found


def traced(tmp_path: Path, work: Any) -> Events:
    with ndd.trace(tmp_path / "trace.json") as trace:
        work()
    assert trace.dropped == 0
    events = Events(tmp_path / "trace.json")
    assert trace.events == sum(event["ph"] == "X" for event in events.all)
    return events


def encloses(outer: dict[str, Any], time: float) -> bool:
    inside: bool = outer["ts"] <= time <= outer["ts"] + outer["dur"]
    return inside


@pytest.mark.parametrize("mode", ["eager", "deferred", "sync_cpu"])
def test_calls_and_flows(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Small calls are queued as well.
    monkeypatch.setattr("daliesque._engine.invocation._MOST_COST_AT_ONCE", 0)
    images = ndd.batch(IMAGES, layout="HWC").evaluate()
    line = test_calls_and_flows.__code__.co_firstlineno + 9

    def work() -> None:
        with ndd.EvalMode[mode]:
            ndd.flip(images).evaluate()

    events = traced(tmp_path, work)
    (call,) = events.of("call", "flip")
    (run,) = events.of("run", "flip")
    site = f"test_trace.py:{line}"
    assert call["args"]["site"] == run["args"]["site"] == site
    assert run["args"]["samples"] == 4
    assert run["args"]["bytes"] == IMAGES.nbytes
    assert events.row(call) == "caller"
    (flow,) = events.flows().values()
    assert encloses(call, flow["s"]["ts"])
    assert encloses(run, flow["t"]["ts"])
    if mode != "sync_cpu":
        # What runs at once is not read later.
        (read,) = events.of("read", "read flip")
        assert encloses(read, flow["f"]["ts"])
        assert read["args"]["site"] == site
        assert flow["s"]["ts"] <= flow["t"]["ts"]


def test_fused_chains_show_each_part(tmp_path: Path) -> None:
    images = ndd.batch(np.zeros((32, 400, 500, 3), np.uint8), layout="HWC").evaluate()

    def work() -> None:
        with ndd.EvalMode.deferred:
            ndd.flip(ndd.brightness(images, brightness=1.5)).evaluate()

    events = traced(tmp_path, work)
    for name in ("flip", "brightness"):
        assert sum(event["args"]["samples"] for event in events.of("run", name)) == 32


def test_kernels_of_chains_alternate(tmp_path: Path) -> None:
    images = ndd.batch(np.zeros((32, 400, 500, 3), np.uint8), layout="HWC").evaluate()

    def work() -> None:
        with ndd.EvalContext(num_threads=2), ndd.EvalMode.deferred:
            made = ndd.resize(images, size=[64, 64])
            made = ndd.crop_mirror_normalize(made, mean=[0.0], std=[1.0])
            made.evaluate()

    events = traced(tmp_path, work)
    names = ("resize", "crop_mirror_normalize")
    kernels = {name: events.of("loop", name) for name in names}
    for found in kernels.values():
        assert [event["args"]["samples"] for event in found] == [1] * 32
    # On a thread, a sample goes through all of them before the next.
    by_row = sorted(
        (events.row(event), event["ts"], name) for name in names for event in kernels[name]
    )
    assert [name for _row, _ts, name in by_row] == list(names) * 32


def test_readers_files_and_pools(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"{number}.bin").write_bytes(bytes(1 << 18))
    reader = ndd.readers.File(files=[str(tmp_path / f"{k}.bin") for k in range(8)])
    blurred = ndd.batch(np.zeros((8, 300, 300, 3), np.uint8), layout="HWC").evaluate()

    def work() -> None:
        with ndd.EvalContext(num_threads=2):
            for _ in reader.next_epoch(batch_size=4):
                ndd.gaussian_blur(blurred, sigma=2.0).evaluate()

    events = traced(tmp_path, work)
    steps = events.of("run", "readers.File")
    assert [step["args"]["samples"] for step in steps] == [4, 4]
    assert {events.row(step) for step in steps} == {"reader"}
    assert sum(event["args"]["bytes"] for event in events.of("file")) == 8 << 18
    waits = events.of("wait", "next step")
    assert [wait["args"]["samples"] for wait in waits] == [4, 4, 0]
    assert {events.row(event)[:4] for event in events.of("loop", "gaussian_blur")} <= {"pool"}


def test_loops_ahead_have_rows(tmp_path: Path) -> None:
    class Images(ndd.readers.Reader):
        def open_index(self) -> int:
            return 6

        def fetch_sample(self, number: int) -> Any:
            return np.full((8, 8, 3), number, np.uint8)

    def load(capture: bool = False) -> Iterator[ndd.Batch]:
        for (images,) in Images().next_epoch(batch_size=2, capture=capture):
            yield ndd.flip(images)

    def work() -> None:
        for loop in (ndd.prefetch(load), load(True)):
            for batch in loop:
                batch.evaluate()

    events = traced(tmp_path, work)
    assert {"caller", "prefetch", "capture"} <= set(events.rows.values())
    # Captured loops may be in the next epoch already.
    assert sum(event["args"]["samples"] for event in events.of("run", "flip")) >= 12
    assert {events.row(event) for event in events.of("call")} == {"caller", "prefetch", "capture"}


def test_devices_have_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DALIESQUE_GPU", "cpu")
    program = (
        "import numpy as np, daliesque as ndd, sys\n"
        "images = ndd.batch(np.zeros((4, 8, 10, 3), np.uint8), layout='HWC').gpu()\n"
        "with ndd.trace(sys.argv[1]):\n"
        "    ndd.flip(images).cpu().evaluate()\n"
    )
    path = tmp_path / "trace.json"
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    events = Events(path)
    (work,) = events.of("device", "flip")
    assert events.row(work) == "device gpu:0"
    assert work["dur"] > 0


def test_arithmetic_and_indexing_are_calls(tmp_path: Path) -> None:
    images = ndd.batch(IMAGES, layout="HWC").evaluate()
    events = traced(tmp_path, lambda: (images.slice[:4] * 2).evaluate())
    assert {event["name"] for event in events.of("call")} == {"Batch.slice[...]", "operator *"}


def test_every_thread_has_a_row(tmp_path: Path) -> None:
    images = ndd.batch(IMAGES, layout="HWC").evaluate()

    def work() -> None:
        threads = [threading.Thread(target=lambda: ndd.flip(images).evaluate()) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    events = traced(tmp_path, work)
    rows = Counter(events.row(event) for event in events.of("call"))
    assert rows == {"caller": 1, "caller 2": 1, "caller 3": 1}


def test_slices_of_a_row_are_nested(tmp_path: Path) -> None:
    """Viewers draw only slices that lie in each other or side by side."""
    images = ndd.batch(IMAGES, layout="HWC").evaluate()

    def work() -> None:
        for _ in range(20):
            (ndd.resize(ndd.flip(images), size=[4, 4]) + 1).evaluate()

    events = traced(tmp_path, work)
    ends: dict[int, list[float]] = {}
    slices = [event for event in events.all if event["ph"] == "X"]
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        stack = ends.setdefault(event["tid"], [])
        while stack and stack[-1] <= event["ts"] + 1e-6:
            stack.pop()
        end = event["ts"] + event["dur"]
        assert not stack or end <= stack[-1] + 1e-6
        stack.append(end)


def test_a_million_events_are_valid_json(tmp_path: Path) -> None:
    """As many as the file is long: what waits to be written is bounded."""
    path = tmp_path / "trace.json"
    name = 'quotes " and \\ and \n and ü'
    kind, flow = _kernels.TraceKind.run, _kernels.TraceFlow.none
    with ndd.trace(path, capacity=1 << 16) as trace:
        made = 0
        while made < 1_000_000:
            for _ in range(1 << 15):
                _kernels.trace_event(kind, name, "a.py:1", made, made + 500, made, flow, None)
                made += 1
            while made - _kernels.traced_events() > 1 << 15:
                time.sleep(0.001)
    assert trace.dropped == 0
    assert trace.events == made
    count = 0
    with path.open() as file:
        assert next(file) == "[\n"
        for text in file:
            if text == "]\n":
                break
            event = json.loads(text.rstrip("\n").rstrip(","))
            if event["ph"] == "X":
                count += 1
                if count % 100_000 == 1:
                    assert event["name"] == name
                    assert event["dur"] == 0.5
        assert file.read() == ""
    assert count == made


def test_events_that_come_too_fast_are_left_out_and_counted(tmp_path: Path) -> None:
    kind, flow = _kernels.TraceKind.run, _kernels.TraceFlow.none
    with ndd.trace(tmp_path / "trace.json", capacity=10) as trace:
        for number in range(5000):
            _kernels.trace_event(kind, "x", None, number, number, 0, flow, None)
    assert trace.dropped > 0
    assert trace.events + trace.dropped == 5000
    assert len(Events(tmp_path / "trace.json").of("run")) == trace.events


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), ndd.trace(tmp_path / "no" / "trace.json"):
        pass
    with ndd.trace(tmp_path / "a.json"):
        with pytest.raises(RuntimeError, match="a trace is being written already"):
            ndd.trace(tmp_path / "b.json").__enter__()
        ndd.flip(ndd.batch(IMAGES, layout="HWC")).evaluate()
    assert Events(tmp_path / "a.json").of("run", "flip")
    assert not (tmp_path / "b.json").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
def test_a_full_disk() -> None:
    with pytest.raises(OSError, match="not all was written: No space left on device"):
        with ndd.trace("/dev/full"):
            ndd.flip(ndd.batch(IMAGES, layout="HWC")).evaluate()


def test_forked_processes_write_nothing(tmp_path: Path) -> None:
    images = ndd.batch(IMAGES, layout="HWC").evaluate()
    with ndd.trace(tmp_path / "trace.json"):
        ndd.flip(images).evaluate()
        child = os.fork()
        if child == 0:
            ndd.copy(images).evaluate()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    events = Events(tmp_path / "trace.json")
    assert events.of("run", "flip")
    assert not events.of("run", "copy")
