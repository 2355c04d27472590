# SPDX-License-Identifier: Apache-2.0
"""Kills processes that save checkpoints: `python kill_saves.py FOLDER KILLS SEED`.

After each kill the newest checkpoint must be readable, and not older than the last one that the
process had reported.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from daliesque.checkpoint import Checkpoint

# Enough for a write that takes a while.
DIGITS = 100_000
# How many saves a process lives for, at most.
MOST_SAVES = 4


class Numbered:
    """An object with a long state, in which everything repeats one number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def state_dict(self) -> dict[str, Any]:
        return {"number": self.number, "digits": str(self.number % 10) * DIGITS}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.number = state["number"]
        assert state["digits"] == str(self.number % 10) * DIGITS


def save_for_ever(pattern: str, number: int, report: int) -> NoReturn:
    checkpoint, op = Checkpoint(), Numbered(number)
    checkpoint.register(op, "op")
    while True:
        os.write(report, f"{op.number}\n".encode())
        op.number += 1
        checkpoint.collect()
        checkpoint.save(pattern)


def killed_after(seconds: float, pattern: str, number: int) -> int:
    """Kill a process that saves; return the last number that it reported."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        save_for_ever(pattern, number, writing)
    os.close(writing)
    with os.fdopen(reading) as file:
        first = file.readline()
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return int([first, *file.read().split()][-1])


def seconds_of_a_save(pattern: str) -> float:
    checkpoint = Checkpoint()
    checkpoint.register(Numbered(0), "op")
    begin = time.perf_counter()
    checkpoint.collect()
    checkpoint.save(pattern)
    return time.perf_counter() - begin


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    pattern = str(folder / "state_{seq:05d}.json")
    number = unfinished = 0
    longest = MOST_SAVES * min(seconds_of_a_save(pattern) for _ in range(10))
    for _ in range(kills):
        reported = killed_after(rng.uniform(0, longest), pattern, number)
        checkpoint, op = Checkpoint(), Numbered(-1)
        newest = checkpoint.load(pattern)
        checkpoint.register(op, "op")
        assert reported <= op.number <= reported + 1, (reported, op.number)
        number = op.number
        for path in folder.iterdir():
            unfinished += path.suffix == ".tmp"
            if str(path) != newest:
                path.unlink()
    sys.stdout.write(f"{number} {unfinished}\n")


if __name__ == "__main__":
    main()
