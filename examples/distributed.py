# SPDX-License-Identifier: Apache-2.0
"""Training on several processes that may be stopped at any time, and go on with any number.

    torchrun --nproc-per-node 2 examples/distributed.py

Needs torch: `pip install '.[torch]'`. Without torchrun it is one process. Each process takes its
part of every step; the last step of an epoch is smaller, and all processes make it. With
`--checkpoint FILE` the state is saved after each step: stop the program, start it again, also with
another number of processes, and it prints the losses that it would have printed.
"""

from __future__ import annotations

import argparse
import gc
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import daliesque as ndd

# Not a multiple of anything.
SAMPLES = 203
SIDE = 32


class Shapes(torch.utils.data.Dataset[Any]):
    """Pictures of discs and of rings."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[Any, int, int]:
        rng = np.random.default_rng(index)
        radius, label = int(rng.integers(7, 10)), index % 2
        center = rng.integers(radius, SIDE - radius, 2)[:, None, None]
        distances = np.sqrt(((np.indices((SIDE, SIDE)) - center) ** 2).sum(0))
        inside = (distances <= radius) & (distances >= (radius - 3 if label else 0))
        image = rng.integers(0, 100, (SIDE, SIDE, 1)) + 120 * inside[..., None]
        return ndd.as_tensor(image.astype(np.uint8), layout="HWC"), label, index


def augment(images: ndd.Batch, labels: ndd.Batch, numbers: ndd.Batch) -> dict[str, ndd.Batch]:
    """The loop body: what is drawn for a sample is the same for any number of processes."""
    count = images.batch_size
    angles = ndd.random.uniform(range=(-180, 180), batch_size=count)
    images = ndd.rotate(images, angle=angles, keep_size=True)
    images = ndd.brightness(
        images, brightness=ndd.random.uniform(range=(0.7, 1.3), batch_size=count)
    )
    images = ndd.crop_mirror_normalize(
        images, mirror=ndd.random.coin_flip(batch_size=count), mean=[90.0], std=[60.0]
    )
    return {"image": images, "label": labels, "number": numbers}


def make_model() -> torch.nn.Module:
    """A small network, the same in every process and run."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 5, stride=2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 16, 5, stride=2),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.LazyLinear(2),
    )


def total(value: torch.Tensor) -> torch.Tensor:
    """The sum over all processes."""
    if dist.is_initialized():
        dist.all_reduce(value)
    return value


def gathered(values: list[int]) -> list[int]:
    """The values of all processes, in their order."""
    parts: list[Any] = [values]
    if dist.is_initialized():
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, values)
    return [value for part in parts for value in part]


def train_step(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, batch: dict[str, Any], processes: int
) -> float:
    """One step, in which every sample has the same weight, however many each process has."""
    outputs = model(batch["image"])
    losses = torch.nn.functional.cross_entropy(outputs, batch["label"], reduction="none")
    own = (losses * batch["valid"]).sum()
    count = total(batch["valid"].sum())
    optimizer.zero_grad()
    # The gradients of the processes are averaged.
    (own * processes / count).backward()
    optimizer.step()
    return float(total(own.detach()) / count)


def save(path: Path, parts: dict[str, Any]) -> None:
    """Write a checkpoint that is complete or not there."""
    unfinished = path.with_suffix(".tmp")
    torch.save({name: part.state_dict() for name, part in parts.items()}, unfinished)
    os.replace(unfinished, path)


def train(options: argparse.Namespace, rank: int, processes: int) -> None:
    """Train from the beginning, or from the last checkpoint."""
    if options.batch % processes:
        msg = f"--batch must be a multiple of the {processes} processes"
        raise SystemExit(msg)
    loader = ndd.pytorch.DataLoader(
        Shapes(),
        augment,
        batch_size=options.batch // processes,
        shuffle=True,
        seed=options.seed,
        mask=True,
    )
    model = make_model()
    model(torch.zeros(1, 1, SIDE, SIDE))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer, "loader": loader}
    if options.checkpoint is not None and options.checkpoint.exists():
        saved = torch.load(options.checkpoint, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(saved[name])
    trained = DistributedDataParallel(model) if processes > 1 else model
    while loader.epoch < options.epochs:
        epoch, numbers, whole = loader.epoch, [], loader.state_dict()["taken"] == 0
        for batch in loader:
            loss = train_step(trained, optimizer, batch, processes)
            step = gathered(batch["number"][batch["valid"]].tolist())
            numbers += step
            if rank == 0:
                if options.checkpoint is not None:
                    save(options.checkpoint, parts)
                print(f"epoch {epoch} loss {loss:.5f} samples {step}", flush=True)
        if whole:
            assert sorted(numbers) == list(range(SAMPLES))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=24, help="of all processes together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint", type=Path)
    options = parser.parse_args()
    # As torchrun has started the process.
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    if processes > 1:
        dist.init_process_group("gloo")
    try:
        train(options, dist.get_rank() if processes > 1 else 0, processes)
    finally:
        if processes > 1:
            dist.destroy_process_group()
            # DistributedDataParallel still refers to the group, whose threads must not be there
            # when the interpreter ends.
            gc.collect()


if __name__ == "__main__":
    main()
