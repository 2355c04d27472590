# SPDX-License-Identifier: Apache-2.0
"""Two processes of JAX on this machine: each reads its part, together they make one array."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import Any

import jax
import numpy as np
import pytest

import daliesque as ndd
from support import jax_data
from support.compare import assert_close
from support.jax_data import GLOBAL_BATCH, Counted, body

STEPS = jax_data.SAMPLES // GLOBAL_BATCH


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def run(mesh: str, seeds: tuple[int, int] = (3, 3), state: Any = None) -> list[dict[str, Any]]:
    """What two processes of four devices print."""
    coordinator = f"127.0.0.1:{free_port()}"
    text = "-" if state is None else json.dumps(state)
    started = [
        subprocess.Popen(
            [sys.executable, jax_data.__file__, coordinator, str(process), "2", "4", mesh]
            + [str(seed), text],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for process, seed in enumerate(seeds)
    ]
    results = []
    for process in started:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        # Others write to the output as well.
        (line,) = [line for line in output.splitlines() if line.startswith("{")]
        results.append(json.loads(line))
    return results


def alone(state: Any = None) -> list[dict[str, Any]]:
    """The same in one process: labels and sums of each batch."""
    made = ndd.jax.iterate(Counted(), body, batch_size=GLOBAL_BATCH, shuffle=True, seed=3)
    if state is not None:
        made.set_state(state)
    steps = []
    for batch in made:
        sums = {name: float(np.asarray(value, np.float64).sum()) for name, value in batch.items()}
        steps.append({"rows": batch["label"].tolist(), "sums": sums, "state": made.get_state()})
    return steps


def assert_same_sums(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one["state"] == other["state"]
        for name, value in one["sums"].items():
            assert_close(value, other["sums"][name], "sums", name)


def test_each_process_reads_its_part() -> None:
    expected = alone()
    assert len(expected) == STEPS
    first, second = run("data")
    for result in (first, second):
        assert_same_sums(result["steps"], expected)
    half = GLOBAL_BATCH // 2
    for one, other, whole in zip(first["steps"], second["steps"], expected, strict=True):
        assert one["rows"] == sorted(whole["rows"][:half])
        assert other["rows"] == sorted(whole["rows"][half:])
    assert set(first["read"]) & set(second["read"]) == set()
    # Somebody else goes on, alone or together.
    state = first["steps"][1]["state"]
    assert_same_sums(alone(state), expected[2:])
    for result in run("data", state=state):
        assert_same_sums(result["steps"], expected[2:])


def test_replicas_read_the_same() -> None:
    expected = alone()
    first, second = run("replicas")
    assert first["read"] == second["read"]
    for result in (first, second):
        assert_same_sums(result["steps"], expected)
        assert [step["rows"] for step in result["steps"]] == [sorted(s["rows"]) for s in expected]


def test_processes_that_disagree() -> None:
    for process, result in enumerate(run("data", seeds=(3, 4))):
        assert f"Process {process}: samples=37" in result["error"]
        assert "seed=3" in result["error"]
        assert "seed=4" in result["error"]
        assert "Give all of them the same data, arguments and seed" in result["error"]


class FakeDevice:
    """A device of some process, for shardings of machines that are not here."""

    def __init__(self, process: int) -> None:
        self.process_index = process


class FakeSharding(jax.sharding.Sharding):
    """Rows of devices of several processes."""

    def __init__(self, rows: dict[int, list[tuple[int, int]]]) -> None:
        self._map = {
            FakeDevice(process): (slice(*part),)
            for process, parts in rows.items()
            for part in parts
        }

    @property
    def device_set(self) -> Any:
        return set(self._map)

    def devices_indices_map(self, global_shape: Any) -> Any:
        del global_shape
        return self._map


@pytest.mark.parametrize(
    ("rows", "shard"),
    [
        ({0: [(0, 4)], 1: [(4, 8)]}, (0, 2)),
        ({1: [(0, 4)], 0: [(4, 8)]}, (1, 2)),
        ({0: [(0, 2), (4, 6)], 1: [(2, 4), (6, 8)]}, (0, 2)),
        ({0: [(0, 8)], 1: [(0, 8)], 2: [(0, 8)]}, (0, 1)),
        ({0: [(4, 8)], 1: [(0, 4)], 2: [(4, 8)], 3: [(0, 4)]}, (1, 2)),
        ({0: [(0, 2), (2, 4)], 1: [(4, 6), (6, 8)]}, (0, 2)),
    ],
)
def test_parts_follow_from_the_sharding(rows: Any, shard: tuple[int, int]) -> None:
    from daliesque._loops.jax_shards import shard_of

    assert shard_of("test", FakeSharding(rows), 8) == shard


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({0: [(0, 4)], 1: [(2, 6)], 2: [(4, 8)]}, "equal parts of a batch, .* Order the devices"),
        ({0: [(0, 6)], 1: [(6, 8)]}, "equal parts"),
        ({1: [(0, 4)], 2: [(4, 8)]}, "process 0 has none of the devices"),
    ],
)
def test_parts_that_cannot_be_had(rows: Any, message: str) -> None:
    from daliesque._loops.jax_shards import shard_of

    with pytest.raises(ValueError, match=message):
        shard_of("test", FakeSharding(rows), 8)
