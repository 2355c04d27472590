# SPDX-License-Identifier: Apache-2.0
"""A small training that frameworks run, and that is killed and resumed.

Each step that is complete is a line of a file. A training in one go, and one whose processes were
killed again and again, must leave the same lines.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import daliesque as ndd

SAMPLES = 57
FEATURES = 6
# Of all processes together: an epoch has 5 steps, the last of which is smaller.
BATCH = 12
EPOCHS = 4
STEPS = 20
# Seconds after which a process counts as hanging.
PATIENCE = 240


class Points(torch.utils.data.Dataset[Any]):
    """A data set as a user of torch has it: features and a label."""

    def __init__(self, samples: int = SAMPLES) -> None:
        rng = np.random.default_rng(5)
        self.features = rng.normal(size=(samples, FEATURES)).astype(np.float32)
        self.targets = self.features.sum(1) + rng.normal(size=samples).astype(np.float32)

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, index: int) -> tuple[Any, Any, int]:
        return self.features[index], self.targets[index], index


def augment(features: ndd.Batch, targets: ndd.Batch, numbers: ndd.Batch) -> dict[str, ndd.Batch]:
    """Noise for each feature, so that losses show whether random numbers are the same."""
    noise = ndd.random.normal(stddev=0.5, shape=[FEATURES], batch_size=features.batch_size)
    return {"x": features + noise, "y": targets, "number": numbers}


def make_loader(**options: Any) -> ndd.pytorch.DataLoader:
    """The loader of the training."""
    arguments: dict[str, Any] = {"batch_size": BATCH, "shuffle": True, "seed": 7, **options}
    return ndd.pytorch.DataLoader(Points(), augment, **arguments)


def make_model() -> torch.nn.Module:
    """Always the same one."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1), torch.nn.Flatten(0)
    )


def make_optimizer(model: torch.nn.Module) -> torch.optim.Optimizer:
    """With a state of its own, which has to be restored as well."""
    return torch.optim.Adam(model.parameters(), lr=0.05)


class Step(NamedTuple):
    """What a step has left in the file."""

    loss: float
    numbers: tuple[int, ...]


def note_step(folder: Path, loss: Any, numbers: Any) -> None:
    """Append a step that is complete."""
    line = json.dumps([float(loss), [int(number) for number in numbers]])
    with open(folder / "steps.txt", "a") as file:
        file.write(line + "\n")


def steps_of(folder: Path) -> list[Step]:
    """All steps that were completed, by one process or by several."""
    lines = (folder / "steps.txt").read_text().splitlines()
    return [Step(loss, tuple(numbers)) for loss, numbers in map(json.loads, lines)]


def assert_complete_epochs(steps: list[Step], samples: int = SAMPLES) -> None:
    """Each epoch holds every sample once, and no two epochs are alike."""
    epochs = []
    for step in steps:
        if not epochs or len(epochs[-1]) == samples:
            epochs.append([])
        epochs[-1] += step.numbers
    assert all(sorted(epoch) == list(range(samples)) for epoch in epochs), epochs
    assert len({tuple(epoch) for epoch in epochs}) == len(epochs)


class Killer:
    """Kills the process in the middle of step `at` of it, counted from 1; never if that is None."""

    def __init__(self, at: int | None) -> None:
        self._left = at

    def step(self) -> None:
        """A step is under way."""
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


# Trains in a folder; is killed in the given step of its own, or goes on to the end.
Train = Callable[[Path, int | None], None]


def run_in_process(target: Callable[..., None], *arguments: Any) -> int:
    """Run a function in a process; returns its exit code, negative if it was killed."""
    (code,) = run_in_processes(target, [arguments])
    return code


def run_in_processes(
    target: Callable[..., None], arguments: Sequence[tuple[Any, ...]]
) -> list[int]:
    """Run a function in some processes at a time; returns their exit codes."""
    # Forked off a process that has imported the frameworks, and done nothing else.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["daliesque", "lightning", "accelerate", "transformers"])
    processes = [context.Process(target=_quietly, args=(target, *each)) for each in arguments]
    for process in processes:
        process.start()
    codes = []
    for process in processes:
        process.join(PATIENCE)
        if process.exitcode is None:
            for each in processes:
                each.kill()
        assert process.exitcode is not None, "the process hangs"
        codes.append(process.exitcode)
    return codes


def run_as_torchrun(target: Callable[..., None], world_size: int, *arguments: Any) -> list[int]:
    """Run a function in processes that find what torchrun would say in their environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"WORLD_SIZE": world_size, "LOCAL_WORLD_SIZE": world_size, "MASTER_PORT": port}
    shared |= {"MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RUN_ID": "none", "GROUP_RANK": 0}
    ranks = range(world_size)
    environments = [{**shared, "RANK": rank, "LOCAL_RANK": rank} for rank in ranks]
    return run_in_processes(_in_environment, [(e, target, *arguments) for e in environments])


def _in_environment(
    environment: dict[str, Any], target: Callable[..., None], *arguments: Any
) -> None:
    os.environ.update({name: str(value) for name, value in environment.items()})
    target(*arguments)


def merged_steps(folders: Sequence[Path]) -> list[Step]:
    """The steps of several processes: the samples of all of them, in order."""
    parts = [steps_of(folder) for folder in folders]
    return [
        Step(
            sum(step.loss for step in each) / len(each),
            tuple(number for step in each for number in step.numbers),
        )
        for each in zip(*parts, strict=True)
    ]


def _quietly(target: Callable[..., None], *arguments: Any) -> None:
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    target(*arguments)


def assert_survives_kills(train: Train, folder: Path) -> None:
    """Kill a training in every step; each process completes one step more than the one before."""
    whole, killed = folder / "whole", folder / "killed"
    for path in (whole, killed):
        path.mkdir()
    assert run_in_process(train, whole, None) == 0
    expected = steps_of(whole)
    assert len(expected) == STEPS
    assert_complete_epochs(expected)
    for done in range(STEPS - 1):
        assert run_in_process(train, killed, 2) == -signal.SIGKILL
        assert len(steps_of(killed)) == done + 1
    assert run_in_process(train, killed, None) == 0
    assert steps_of(killed) == expected


def to_plain(batch: Mapping[str, torch.Tensor]) -> dict[str, list[Any]]:
    """A batch that can be compared."""
    return {key: value.tolist() for key, value in batch.items()}
