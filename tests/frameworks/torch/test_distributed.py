# SPDX-License-Identifier: Apache-2.0
"""`pytorch.DataLoader` on several processes of torch.distributed (gloo), without a framework."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from support import distributed_training as distributed
from support import framework_training as training
from support.compare import assert_close
from support.framework_training import STEPS, Step

EXAMPLE = Path(__file__).parents[3] / "examples" / "distributed.py"


def assert_same_steps(found: list[Step], expected: list[Step]) -> None:
    """The same samples in the same order, and losses that differ by rounding only."""
    assert [step.numbers for step in found] == [step.numbers for step in expected]
    losses = np.array([[step.loss for step in steps] for steps in (found, expected)])
    assert_close(losses[0], losses[1], "losses of several processes")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Step]:
    """The training in one process, in one go."""
    folder = tmp_path_factory.mktemp("whole")
    distributed.run(folder, 1, None)
    steps = training.steps_of(folder)
    assert len(steps) == STEPS
    training.assert_complete_epochs(steps)
    return steps


@pytest.mark.parametrize("world_size", [2, 3])
def test_the_same_training_on_several_processes(
    tmp_path: Path, expected: list[Step], world_size: int
) -> None:
    """57 samples in steps of 12: equal steps, no sample lost or seen twice."""
    distributed.run(tmp_path, world_size, None)
    assert_same_steps(training.steps_of(tmp_path), expected)


@pytest.mark.parametrize("world_size", [1, 2])
def test_killed_in_every_step_and_resumed(tmp_path: Path, world_size: int) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    distributed.run(whole, world_size, None)
    for _ in range(STEPS - 1):
        distributed.run(killed, world_size, 2)
    distributed.run(killed, world_size, None)
    # Two processes add in any order with the same result: everything is equal bit by bit.
    assert training.steps_of(killed) == training.steps_of(whole)


def test_killed_and_resumed_with_another_number(tmp_path: Path, expected: list[Step]) -> None:
    """2, 1, 3, 2, 1, 3, ... processes, each time after a step or two."""
    done = 0
    for number, world_size in enumerate([2, 1, 3] * 5):
        steps = 1 + number % 2
        if done + steps >= STEPS:
            break
        distributed.run(tmp_path, world_size, steps + 1)
        done += steps
        assert len(training.steps_of(tmp_path)) == done
    distributed.run(tmp_path, 3, None)
    assert_same_steps(training.steps_of(tmp_path), expected)


@pytest.mark.parametrize("policy", ["pad", "drop"])
def test_policies_for_uneven_data(tmp_path: Path, expected: list[Step], policy: str) -> None:
    """Killed on two processes in the second epoch, and finished by three."""
    distributed.run(tmp_path, 2, 7, policy)
    distributed.run(tmp_path, 3, None, policy)
    found = training.steps_of(tmp_path)
    if policy == "pad":
        assert_same_steps(found, expected)
        return
    # Without the last step of each epoch.
    assert [step.numbers for step in found] == [
        step.numbers for step in expected if len(step.numbers) == training.BATCH
    ]


BASE: dict[str, Any] = {"batch_size": 4, "shuffle": True, "seed": 3}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"batch_size": 5}, "batch_size=5"),
        ({"seed": 4}, "seed=4"),
        ({"shuffle": False}, "shuffled in runs of 0"),
        ({"last_batch": "drop"}, "last_batch='drop'"),
        ({"epoch_batches": 2}, "epoch_batches=2"),
        ({"samples": 22}, "22 samples"),
        ({"epoch": 1}, "epoch 1"),
    ],
)
def test_processes_that_disagree(tmp_path: Path, change: dict[str, Any], word: str) -> None:
    """Instead of training on mixed epochs, or waiting for each other for ever."""
    found = distributed.outcomes(tmp_path, [BASE, {**BASE, **change}])
    (message,) = [text for text in found if not text.startswith("took")]
    assert "do not read the same epoch" in message
    assert word in message
    assert "on rank 0" in message
    assert "on rank 1" in message
    assert "Make the same loaders in the same order in all processes" in message


def test_processes_that_agree(tmp_path: Path) -> None:
    """Loaders that were made before there were several processes, and one of rank 0 alone."""
    assert distributed.outcomes(tmp_path, [BASE, BASE, BASE]) == ["took 4"] * 3
    assert distributed.outcomes(tmp_path, [{**BASE, "alone": True}, BASE]) == ["took 4"] * 2


def losses_of(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("epoch ")]


def launch(processes: int, *arguments: str, restarts: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={processes}"]
    command += ["--standalone", f"--max-restarts={restarts}"]
    # With torch 2.13 processes that are started again would find addresses of those before them.
    changes = {"OMP_NUM_THREADS": "1", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    return subprocess.Popen(
        [*command, str(EXAMPLE), "--epochs=2", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **changes},
    )


def kill(process: subprocess.Popen[str]) -> None:
    """End torchrun and all that it has started."""
    started = [process, *psutil.Process(process.pid).children(recursive=True)]
    for each in started:
        each.kill()


def kill_one(process: subprocess.Popen[str]) -> None:
    """End one of the processes that torchrun has started."""
    started = psutil.Process(process.pid).children(recursive=True)
    [each for each in started if str(EXAMPLE) in each.cmdline()][-1].kill()


@pytest.fixture(scope="module")
def printed() -> list[str]:
    """What the example prints in one process, in one go."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--epochs=2"], capture_output=True, text=True, check=True
    )
    lines = losses_of(done.stdout.splitlines())
    assert len(lines) == 18
    return lines


def test_the_example_with_torchrun(tmp_path: Path, printed: list[str]) -> None:
    """Started with 2 processes, killed, started with 1, killed, finished with 3."""
    checkpoint = f"--checkpoint={tmp_path / 'checkpoint.pt'}"
    lines: list[str] = []
    for processes, most in ((2, 4), (1, 9), (3, None)):
        with launch(processes, checkpoint) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines += losses_of([line.rstrip()])
                if most is not None and len(lines) == most:
                    kill(process)
                    break
        assert most is not None or process.returncode == 0
    assert_losses(lines, printed)


def test_processes_that_torchrun_starts_again(tmp_path: Path, printed: list[str]) -> None:
    """One of them dies in the second epoch."""
    lines: list[str] = []
    with launch(2, f"--checkpoint={tmp_path / 'checkpoint.pt'}", restarts=1) as process:
        assert process.stdout is not None
        for line in process.stdout:
            new = losses_of([line.rstrip()])
            lines += new
            if new and len(lines) == 11:
                kill_one(process)
    assert process.returncode == 0
    assert_losses(lines, printed)


def samples_of(line: str) -> str:
    return line.partition(" samples ")[2]


def assert_losses(lines: list[str], expected: list[str]) -> None:
    """The same steps in order; one may be missing where a process was killed before printing it."""
    indices = [[samples_of(each) for each in expected].index(samples_of(line)) for line in lines]
    assert indices[0] == 0
    assert indices[-1] == len(expected) - 1
    assert all(1 <= later - earlier <= 2 for earlier, later in pairwise(indices))
    assert len(indices) >= len(expected) - 2
    pattern = re.compile(r"loss ([\d.]+)")
    for line, number in zip(lines, indices, strict=True):
        found, wanted = pattern.search(line), pattern.search(expected[number])
        assert found is not None
        assert wanted is not None
        assert_close(float(found[1]), float(wanted[1]), "printed losses")
