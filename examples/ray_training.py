# SPDX-License-Identifier: Apache-2.0
"""Training with Ray Train on data that Ray Data reads; one of the two workers is killed.

    python examples/ray_training.py

Needs Ray: `pip install '.[ray,torch]'`. Ray reads, decodes and augments photographs with the loop
body of a single machine, and hands each worker its half. After each step the first worker saves the
model, and with it which rows all workers have got. In the middle of the first epoch the second
worker is killed: Ray Train starts both again, the data set goes on after the last step that was
saved, and in the end the model has seen each photograph once in each epoch. The program counts
them, and fails if that is not so.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import ray
import ray.data
import ray.train
import ray.train.torch
import torch
import torch.distributed as dist
from PIL import Image

import daliesque as ndd
import daliesque.ray as ndr

WORKERS = 2
BATCH = 8
SIDE = 32
CHECKPOINT = "latest.pt"


def write_photographs(folder: Path, count: int) -> None:
    """Dark and bright pictures, in two folders; their names are numbers."""
    for number in range(count):
        rng = np.random.default_rng(number)
        label = number % 2
        pixels = rng.integers(20 * label, 200 + 20 * label, (48, 64, 3), np.uint8)
        path = folder / ("dark", "bright")[label] / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)


def augment(jpegs: ndd.Batch, labels: ndd.Batch) -> dict[str, ndd.Batch]:
    """The loop body, as on one machine."""
    images = ndd.decoders.image_random_crop(jpegs)
    images = ndd.resize(images, size=[SIDE, SIDE])
    images = ndd.crop_mirror_normalize(
        images,
        mirror=ndd.random.coin_flip(batch_size=jpegs.batch_size),
        mean=[128.0, 128.0, 128.0],
        std=[64.0, 64.0, 64.0],
    )
    return {"image": images, "label": labels}


def make_dataset(folder: Path) -> ray.data.Dataset:
    """The data set, from the beginning or from the last checkpoint on.

    Ray Train calls it whenever it starts the workers.
    """
    states = None
    if (folder / CHECKPOINT).exists():
        states = torch.load(folder / CHECKPOINT, weights_only=True)["states"]
    return ndr.read(
        ndd.readers.File,
        file_root=str(folder / "photographs"),
        label_dtype=ndd.int64,
        squeeze_labels=True,
        batch_size=BATCH,
        transform=augment,
        shuffle=True,
        seed=1,
        splits=WORKERS,
        last_batch="pad",
        num_cpus=1,
        start=states,
    )


class Counted(torch.nn.Module):
    """A small network that counts how often it has seen each sample, in each epoch."""

    def __init__(self, epochs: int, samples: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 5, stride=4),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(8 * 7 * 7, 2),
        )
        self.register_buffer("seen", torch.zeros(epochs, samples, dtype=torch.int64))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """The outputs for two classes."""
        outputs: torch.Tensor = self.layers(images)
        return outputs


def train_step(
    model: Any, optimizer: torch.optim.Optimizer, batch: dict[str, Any], epoch: int
) -> float:
    """One step on the rows of all workers; rows that only fill a batch do not count."""
    valid = batch["valid"]
    losses = torch.nn.functional.cross_entropy(
        model(batch["image"]), batch["label"], reduction="none"
    )
    own, count = (losses * valid).sum(), valid.sum()
    dist.all_reduce(count)
    optimizer.zero_grad()
    # The gradients of the workers are averaged.
    (own * dist.get_world_size() / count).backward()
    optimizer.step()
    seen = torch.zeros_like(model.module.seen)
    for row, counts in zip(batch["source"], valid, strict=True):
        seen[epoch, int(Path(row["file"]).stem)] += int(counts)
    dist.all_reduce(seen)
    model.module.seen += seen
    loss = own.detach()
    dist.all_reduce(loss)
    return float(loss / count)


def save(path: Path, parts: dict[str, Any]) -> None:
    """Write a checkpoint that is complete or not there."""
    unfinished = path.with_suffix(".tmp")
    torch.save(parts, unfinished)
    os.replace(unfinished, path)


def train(config: dict[str, Any]) -> None:
    """What each worker does."""
    torch.set_num_threads(1)
    folder, rank = Path(config["folder"]), ray.train.get_context().get_world_rank()
    model = Counted(config["epochs"], config["samples"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    if (folder / CHECKPOINT).exists():
        saved = torch.load(folder / CHECKPOINT, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    trained = torch.nn.parallel.DistributedDataParallel(model, forward_sync_buffers=False)
    batches = ndr.iter_torch(
        ray.train.get_dataset_shard("train"),
        batch_size=BATCH,
        columns=["image", "label", "valid", "source"],
    )
    for epoch in range(batches.epoch, config["epochs"]):
        for step, batch in enumerate(batches):
            loss = train_step(trained, optimizer, batch, epoch)
            if rank == 1 and step == config["kill_at"]:
                kill_once(folder)
            states: list[Any] = [None] * WORKERS
            dist.all_gather_object(states, batches.state_dict())
            if rank == 0:
                parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                save(folder / CHECKPOINT, {**parts, "states": states})
                print(f"epoch {epoch} loss {loss:.4f}", flush=True)
            # Nobody goes on before the step is saved.
            dist.barrier()
        ray.train.report({"epoch": epoch, "loss": loss})


def kill_once(folder: Path) -> None:
    """End this process as a failing machine would, the first time that somebody comes here."""
    try:
        (folder / "killed").touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def run(folder: Path, options: argparse.Namespace) -> None:
    """Train, and check what the model has seen."""
    write_photographs(folder / "photographs", options.samples)
    # A cluster of its own, also beside another one. The workers take a CPU each, and those that
    # read the others.
    cpus = max(2 * WORKERS, os.cpu_count() or 1)
    ray.init(address="local", num_cpus=cpus, include_dashboard=False)
    trainer = ray.train.torch.TorchTrainer(
        train,
        train_loop_config={"folder": str(folder), **vars(options)},
        datasets={"train": lambda: make_dataset(folder)},
        torch_config=ray.train.torch.TorchConfig(backend="gloo"),
        scaling_config=ray.train.ScalingConfig(num_workers=WORKERS),
        run_config=ray.train.RunConfig(
            storage_path=str(folder / "runs"),
            failure_config=ray.train.FailureConfig(max_failures=2),
        ),
    )
    trainer.fit()
    ray.shutdown()
    seen = torch.load(folder / CHECKPOINT, weights_only=True)["model"]["seen"]
    killed = "was killed" if (folder / "killed").exists() else "was not killed"
    print(f"a worker {killed}; samples of each epoch that were seen once: {(seen == 1).sum(1)}")
    if not bool((seen == 1).all()):
        msg = f"samples were lost or seen twice: {(seen != 1).nonzero().tolist()}"
        raise SystemExit(msg)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=101)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--kill_at", type=int, default=3, help="a step; -1 for never")
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), parser.parse_args())


if __name__ == "__main__":
    main()
