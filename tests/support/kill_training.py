# SPDX-License-Identifier: Apache-2.0
"""Kills training processes at random moments: `python kill_training.py KILLS SEED`.

A process trains, and saves a checkpoint after each step. It is killed with SIGKILL at a random
moment; another one resumes from the newest checkpoint and trains to the end. All its steps must
equal those of a process that nobody killed, bit by bit.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import daliesque as ndd

IMAGES, EPOCHS, BATCH_SIZE = 37, 4, 4


class Model:
    """Depends on all data that it has seen, and their order."""

    def __init__(self) -> None:
        self.steps = 0
        self.digest = ""

    def learn(self, images: ndd.Batch, labels: ndd.Batch) -> None:
        seen = hashlib.sha256(self.digest.encode())
        for image, label in zip(images, labels, strict=True):
            seen.update(np.asarray(image).tobytes())
            seen.update(np.asarray(label).tobytes())
        self.steps += 1
        self.digest = seen.hexdigest()

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps, "digest": self.digest}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.steps, self.digest = state["steps"], state["digest"]


def train(data: Path, pattern: str) -> Iterator[tuple[int, str]]:
    """The steps of a training and their digests, from the newest checkpoint on."""
    checkpoint = ndd.checkpoint.Checkpoint()
    reader = ndd.readers.File(file_root=data, random_shuffle=True, seed=5, initial_fill=16)
    rng, model = ndd.random.RNG(seed=11), Model()
    if list(Path(pattern).parent.glob("*.json")):
        checkpoint.load(pattern)
    for name, value in (("reader", reader), ("rng", rng), ("model", model)):
        checkpoint.register(value, name)
    per_epoch = -(-IMAGES // BATCH_SIZE)
    while model.steps < EPOCHS * per_epoch:
        for files, labels in reader.next_epoch(batch_size=BATCH_SIZE, last_batch="partial"):
            images = ndd.decoders.image_random_crop(files, rng=rng)
            images = ndd.resize(images, size=[16, 16])
            factors = ndd.random.uniform(range=(0.5, 1.5), batch_size=len(files), rng=rng)
            model.learn(ndd.brightness(images, brightness=factors), labels)
            checkpoint.collect()
            checkpoint.save(pattern)
            yield model.steps, model.digest


def write_images(folder: Path) -> None:
    rng = np.random.default_rng(3)
    for number in range(IMAGES):
        path = folder / "data" / str(number % 3) / f"{number}.ppm"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 256, (20, 24, 3), np.uint8)
        path.write_bytes(b"P6 24 20 255 " + pixels.tobytes())


def in_child(data: Path, pattern: str, seconds: float | None) -> list[tuple[int, str]]:
    """Train in a new process, which is killed after some time; the steps that it reported."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        run_and_exit(data, pattern, writing)
    os.close(writing)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading) as file:
        lines = file.read().splitlines()
    _, status = os.waitpid(child, 0)
    if seconds is None:
        assert status == 0, status
    return [tuple(json.loads(line)) for line in lines if line.endswith("]")]


def run_and_exit(data: Path, pattern: str, report: int) -> NoReturn:
    code = 1
    try:
        for step in train(data, pattern):
            os.write(report, (json.dumps(step) + "\n").encode())
        code = 0
    finally:
        os._exit(code)


def main() -> None:
    kills, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_images(folder)

        def pattern(run: str) -> str:
            (folder / run).mkdir()
            return str(folder / run / "state_{seq:05d}.json")

        begin = time.perf_counter()
        whole = in_child(folder / "data", pattern("whole"), None)
        seconds = time.perf_counter() - begin
        assert [number for number, _ in whole] == list(range(1, len(whole) + 1))
        inside = unfinished = 0
        for kill in range(kills):
            states = pattern(f"run {kill}")
            reported = in_child(folder / "data", states, rng.uniform(0, seconds))
            assert reported == whole[: len(reported)], f"kill {kill}: other steps before it"
            saved = len(list((folder / f"run {kill}").glob("*.json")))
            # The checkpoint of a step is there before the step is reported.
            assert len(reported) <= saved <= len(reported) + 1, (len(reported), saved)
            inside += 0 < saved < len(whole)
            unfinished += bool(list((folder / f"run {kill}").glob(".*.tmp")))
            resumed = in_child(folder / "data", states, None)
            assert resumed == whole[saved:], f"kill {kill}, after {saved} steps: others follow"
    sys.stdout.write(
        f"{kills} kills, {inside} inside the {len(whole)} steps, {unfinished} in the middle of a "
        "save: all resumed runs are equal\n"
    )


if __name__ == "__main__":
    main()
