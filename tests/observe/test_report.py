# SPDX-License-Identifier: Apache-2.0
"""Counters, and what `report` makes of them."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._observe.counters import Cost, Counters, Totals
from daliesque._observe.reports import Report

IMAGES = np.arange(4 * 8 * 10 * 3, dtype=np.uint8).reshape(4, 8, 10, 3)
MODES = ["eager", "deferred", "sync_cpu", "sync_full"]


class Images(ndd.readers.Reader):
    """Six images."""

    def open_index(self) -> int:
        return 6

    def fetch_sample(self, number: int) -> Any:
        return IMAGES[number % 4]


@pytest.fixture(autouse=True)
def from_zero() -> None:
    ndd.EvalContext.current().evaluate_all()
    ndd.report(reset=True)


def operators() -> dict[str, Any]:
    found: dict[str, Any] = ndd.report().to_dict()["operators"]
    return found


@pytest.mark.parametrize("mode", MODES)
def test_calls_samples_and_bytes(mode: str) -> None:
    images = ndd.batch(IMAGES, layout="HWC").evaluate()
    ndd.report(reset=True)
    with ndd.EvalMode[mode]:
        for _ in range(3):
            small = ndd.resize(ndd.flip(images), size=[4, 5])
            (small + 1).evaluate()
        ndd.flip(ndd.tensor(IMAGES[0], layout="HWC")).evaluate()
    found = operators()
    assert found["flip"]["calls"] == 4
    assert found["flip"]["samples"] == 3 * 4 + 1
    assert found["flip"]["bytes_in"] == found["flip"]["bytes_out"] == (3 * 4 + 1) * 240
    assert found["resize"]["calls"] == 3
    assert found["resize"]["bytes_in"] == 3 * 4 * 240
    assert found["resize"]["bytes_out"] == 3 * 4 * 60
    assert found["operator +"]["samples"] == 12
    assert all(cost["wall"] > 0 and cost["cpu"] > 0 for cost in found.values())
    assert all(cost["failures"] == 0 for cost in found.values())


def test_deferred_calls_that_nobody_reads_are_not_counted() -> None:
    images = ndd.batch(IMAGES, layout="HWC").evaluate()
    ndd.report(reset=True)
    with ndd.EvalMode.deferred:
        ndd.flip(images)
    assert "flip" not in operators()


def test_chains_count_each_call_once() -> None:
    """Parts of a batch that run one after the other are one call."""
    large = np.zeros((32, 400, 500, 3), np.uint8)
    images = ndd.batch(large, layout="HWC").evaluate()
    ndd.report(reset=True)
    with ndd.EvalMode.deferred:
        ndd.flip(ndd.brightness(ndd.flip(images), brightness=1.5)).evaluate()
    found = operators()
    assert found["flip"]["calls"] == 2
    assert found["brightness"]["calls"] == 1
    assert found["flip"]["samples"] == 64
    assert found["flip"]["bytes_out"] == 2 * large.nbytes
    assert found["brightness"]["samples"] == 32


def test_chains_share_their_time() -> None:
    images = ndd.batch(np.zeros((32, 400, 500, 3), np.uint8), layout="HWC").evaluate()
    ndd.report(reset=True)
    with ndd.EvalMode.deferred:
        made = ndd.resize(images, size=[64, 64])
        made = ndd.crop_mirror_normalize(made, mean=[0.0], std=[1.0])
        made.evaluate()
    found = operators()
    for name, kind in (("resize", np.uint8), ("crop_mirror_normalize", np.float32)):
        assert (found[name]["calls"], found[name]["samples"]) == (1, 32)
        assert found[name]["bytes_out"] == 32 * 64 * 64 * 3 * np.dtype(kind).itemsize
        assert 0 < found[name]["wall"]
        assert 0 < found[name]["cpu"]


def test_failures_are_counted() -> None:
    bad = ndd.batch([np.frombuffer(b"no image", np.uint8)])
    for mode in (ndd.EvalMode.eager, ndd.EvalMode.sync_cpu):
        with mode, pytest.raises(ndd.DecodeError):
            ndd.decoders.image(bad).evaluate()
    found = operators()["decoders.image"]
    assert (found["calls"], found["failures"], found["samples"]) == (2, 2, 0)


def test_readers_and_files(tmp_path: Path) -> None:
    contents = [bytes([k]) * (1000 + k) for k in range(7)]
    for number, content in enumerate(contents):
        (tmp_path / f"{number}.bin").write_bytes(content)
    reader = ndd.readers.File(files=[str(tmp_path / f"{k}.bin") for k in range(7)])
    steps = list(reader.next_epoch(batch_size=3, last_batch="partial"))
    assert len(steps) == 3
    report = ndd.report().to_dict()
    found = report["readers"]["readers.File"]
    size = sum(map(len, contents))
    assert (found["calls"], found["samples"], found["file_bytes"]) == (3, 7, size)
    # The labels are four bytes each.
    assert found["bytes_out"] == size + 7 * 4
    assert 0 < found["file_time"] <= report["waits"]["disk"]
    assert (report["loop"]["steps"], report["loop"]["samples"]) == (3, 7)


def loader(reader: Images, capture: bool = False) -> Any:
    def load() -> Iterator[ndd.Batch]:
        for (images,) in reader.next_epoch(batch_size=2, capture=capture):
            yield ndd.flip(images)

    return load


@pytest.mark.parametrize("kind", ["plain", "prefetch", "capture"])
def test_loops_of_every_kind(kind: str) -> None:
    load = loader(Images(), kind == "capture")
    for batch in ndd.prefetch(load) if kind == "prefetch" else load():
        batch.evaluate()
    report = ndd.report().to_dict()
    flip, images = report["operators"]["flip"], report["readers"]["Images"]
    # Captured loops may have begun with the next epoch.
    made = flip["calls"] if kind == "capture" else 3
    assert (flip["calls"], flip["samples"]) == (made, 2 * made)
    assert made >= 3
    assert images["samples"] >= 2 * made if kind == "capture" else images["samples"] == 6
    assert (report["loop"]["steps"], report["loop"]["samples"]) == (3, 6)
    assert ndd.report().counters.totals.ahead_steps == (0 if kind == "plain" else 3)


def test_loops_side_by_side_are_one() -> None:
    first, second = Images(), Images()
    for (a,), (b,) in zip(
        first.next_epoch(batch_size=2), second.next_epoch(batch_size=2), strict=True
    ):
        (a + b).evaluate()
        time.sleep(0.02)
    totals = ndd.report().counters.totals
    assert totals.loop_samples == 6
    assert totals.loop_wall >= 3 * 0.02
    assert totals.loop_wall < 2 * 3 * 0.02 + 3 * totals.loop_wait + 1


def test_external_sources() -> None:
    source = ndd.ExternalSource([IMAGES[k] for k in range(4)])
    with contextlib.suppress(StopIteration):
        while True:
            source(batch_size=5)
    found = ndd.report().to_dict()
    cost = found["readers"]["ExternalSource"]
    assert (cost["calls"], cost["samples"], cost["bytes_out"]) == (4, 4, 4 * 240)
    assert (found["loop"]["steps"], found["loop"]["samples"]) == (4, 20)


def test_waits() -> None:
    """The consumer waits for a slow operator, and is slow itself; a sleep is never too short."""

    def slow(image: Any) -> Any:
        time.sleep(0.03)
        return image

    with ndd.EvalContext(num_threads=1):
        for (images,) in Images().next_epoch(batch_size=2):
            ndd.map(slow, images).evaluate()
            time.sleep(0.04)
        report = ndd.report()
    found = report.to_dict()
    assert found["waits"]["consumer"] >= 3 * 2 * 0.03
    assert found["loop"]["wait"] >= 3 * 2 * 0.03
    assert found["loop"]["seconds"] - found["loop"]["wait"] >= 3 * 0.04
    cost = found["operators"]["map(slow)"]
    assert cost["wall"] >= 3 * 2 * 0.03
    # Sleeping takes no processor.
    assert cost["cpu"] < cost["wall"] / 2
    assert found["estimates"]["rate"] == pytest.approx(6 / found["loop"]["seconds"])


def test_reader_that_is_ahead_waits() -> None:
    for _ in Images(prefetch_queue_depth=1).next_epoch(batch_size=1):
        time.sleep(0.02)
    # Of six steps, all but the first two are read while the reader may not go on.
    assert ndd.report().to_dict()["waits"]["producers"] >= 3 * 0.02


def test_reset_and_no_reset() -> None:
    images = ndd.batch(IMAGES, layout="HWC")
    ndd.flip(images).evaluate()
    assert ndd.report().counters.operators["flip"].calls == 1
    assert ndd.report(reset=True).counters.operators["flip"].calls == 1
    assert "flip" not in operators()
    ndd.flip(images).evaluate()
    assert operators()["flip"]["calls"] == 1


def test_threads_and_contexts() -> None:
    images = ndd.batch(IMAGES, layout="HWC").evaluate()
    ndd.report(reset=True)
    barrier = threading.Barrier(4)

    def work(own: bool) -> None:
        barrier.wait()
        with ndd.EvalContext(num_threads=2) if own else contextlib.nullcontext():
            for _ in range(200):
                ndd.flip(images).evaluate()

    threads = [threading.Thread(target=work, args=(k % 2 == 0,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = operators()["flip"]
    assert (found["calls"], found["samples"]) == (800, 3200)


def test_work_of_helping_threads_counts() -> None:
    """What several threads do for an operator is the work of that operator."""
    large = ndd.batch(np.zeros((16, 600, 800, 3), np.uint8), layout="HWC").evaluate()
    with ndd.EvalContext(num_threads=2):
        ndd.gaussian_blur(large, sigma=3.0).evaluate()
    report = ndd.report()
    cost, totals = report.counters.operators["gaussian_blur"], report.counters.totals
    assert cost.cpu > 0
    assert 0 < totals.divided <= totals.busy


def test_forked_processes_count_for_themselves() -> None:
    images = ndd.batch(IMAGES, layout="HWC")
    ndd.flip(images).evaluate()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        before = operators()
        ndd.flip(images).evaluate()
        ndd.flip(images).evaluate()
        found = [before, operators()["flip"]["calls"]]
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    text = os.read(reading, 1 << 16)
    assert os.waitpid(child, 0)[1] == 0
    assert json.loads(text) == [{}, 2]
    assert operators()["flip"]["calls"] == 1


TOTALS = Totals(
    consumer_wait=7.1,
    producer_wait=0.0,
    busy=6.0,
    divided=5.0,
    loop_wall=10.0,
    loop_wait=7.1,
    loop_steps=100,
    loop_samples=8410,
    ahead_steps=0,
    replay_wall=0.0,
    replay_steps=0,
    replay_samples=0,
)
COSTS = {
    "decoders.image": Cost(100, 0, 8410, 1, 1, wall=5.0, cpu=8.3),
    "resize": Cost(100, 0, 8410, 1, 1, wall=1.0, cpu=1.2),
}


def made(threads: int, cores: int, **totals: Any) -> Report:
    readers = {"readers.File": Cost(100, 0, 8410, 0, 1, wall=0.5, cpu=0.5, file_time=0.1)}
    counters = Counters(10.0, COSTS, readers, replace(TOTALS, **totals))
    return Report(counters, threads, cores)


def test_sentence() -> None:
    """Five of seven seconds of waiting divide: with four threads instead of one, 3.75 are saved."""
    assert made(1, 4).sentence == (
        "The consumer waits 71 % of the time; decoders.image takes 83 % of the work; 4 threads "
        "would bring 1.6x; with a perfect loader your loop would run at 2,900 images/s."
    )


@pytest.mark.parametrize(
    ("threads", "cores", "totals", "expected"),
    [
        (4, 4, {}, "4 threads use all 4 cores"),
        (1, 1, {}, "1 thread uses all 1 cores"),
        (1, 4, {"divided": 0.1}, "more threads than 1 would bring next to nothing"),
        (1, 4, {"loop_wait": 0.1}, "The consumer waits 1 % of the time: the loader keeps up;"),
        (
            *(4, 4, {"replay_wall": 2.0, "replay_samples": 6000}),
            "with a perfect loader your loop runs at 3,000 images/s.",
        ),
    ],
)
def test_other_sentences(threads: int, cores: int, totals: dict[str, Any], expected: str) -> None:
    assert expected in made(threads, cores, **totals).sentence


def test_advice() -> None:
    advice = made(4, 4).advice
    assert any("ndd.prefetch(loop) the loop would run up to 1.4x as fast" in t for t in advice)
    assert not any("prefetch" in text for text in made(4, 4, ahead_steps=100).advice)


def test_table() -> None:
    lines = str(made(1, 4)).splitlines()
    head = next(line for line in lines if "calls" in line and "samples" in line)
    row = lines[lines.index(head) + 1]
    assert row.split()[:6] == ["decoders.image", "100", "8,410", "5.000", "8.300", "83.0"]
    assert "loop: 100 steps of 8,410 images in 10.00 s, 841 images/s" in lines[-1]


def test_json_and_notebooks() -> None:
    report = made(1, 4)
    assert json.loads(json.dumps(report.to_dict()))["sentence"] == report.sentence
    text = report._repr_html_()
    assert "<b>The consumer waits 71 % of the time" in text
    assert text.count("<tr>") == 4


def test_nothing() -> None:
    assert str(ndd.report()) == "Nothing was counted yet."
