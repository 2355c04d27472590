# SPDX-License-Identifier: Apache-2.0
"""Record in which order the reference reads files, for tests/readers/test_file.py.

Run in an environment with the reference installed:

    python tools/record_readers.py

The record holds the arguments next to the labels that came, so that the test needs no second copy.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import nvidia.dali
import nvidia.dali.experimental.dynamic as ndd

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support.reader_calls import RECORD, read_labels


def make_calls() -> list[dict[str, Any]]:
    """Numbers of files and of epochs, batch sizes, and arguments of the reader."""
    rng = random.Random(1)
    calls = []
    for index in range(120):
        size = rng.choice([1, 2, 7, 24, 61, 150])
        shards = rng.randint(1, min(size, 5))
        mode = ("plain", "random", "random", "epoch")[index % 4]
        arguments: dict[str, Any] = {
            "num_shards": shards,
            "shard_id": rng.randrange(shards),
            "stick_to_shard": mode != "epoch" and rng.random() < 0.5,
            "pad_last_batch": rng.random() < 0.5,
            "enable_checkpointing": rng.random() < 0.3,
        }
        if mode == "random":
            arguments["random_shuffle"] = True
            arguments["initial_fill"] = rng.choice([1, 3, 20, 1024])
            arguments["seed"] = rng.choice([-1, 0, 7, 2**31 - 1])
        elif mode == "epoch":
            arguments["shuffle_after_epoch"] = True
            if rng.random() < 0.5:
                arguments["shuffle_after_epoch_seed"] = rng.choice([0, 3, -5, 2**40])
        batch_size = rng.choice([None, 1, 2, 5, 16])
        calls.append({"size": size, "epochs": 3, "batch_size": batch_size, "args": arguments})
    return calls


def main() -> None:
    """Write the record."""
    calls = make_calls()
    with tempfile.TemporaryDirectory() as folder:
        for call in calls:
            call["labels"] = read_labels(ndd, call, Path(folder))
    about = {"producer": "nvidia-dali", "version": nvidia.dali.__version__}
    lines = ",\n".join(json.dumps(call, separators=(",", ":")) for call in calls)
    RECORD.write_text(f'{{"about":{json.dumps(about)},"calls":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
