# SPDX-License-Identifier: Apache-2.0
"""The training of `framework_training` on several processes, with torch.distributed alone."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import daliesque as ndd
from support import framework_training as training
from support.framework_training import Killer, Points

# Names of files through which processes find each other, each used once.
_names = itertools.count()


def join(rendezvous: Path, rank: int, world_size: int) -> None:
    """Become one of several processes."""
    dist.init_process_group(
        "gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world_size
    )


def gathered(value: Any) -> list[Any]:
    """The values of all processes."""
    parts: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(parts, value)
    return parts


def train(
    rank: int, world_size: int, rendezvous: Path, folder: Path, kill_at: int | None, policy: Any
) -> None:
    """Train with a checkpoint after each step; goes on from the last one."""
    join(rendezvous, rank, world_size)
    # With "drop" and "pad" as many steps as with "partial", or one less in an epoch.
    loader = training.make_loader(
        batch_size=training.BATCH // world_size, last_batch=policy, mask=True
    )
    model = training.make_model()
    optimizer = training.make_optimizer(model)
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer, "loader": loader}
    path = folder / "checkpoint.pt"
    if path.exists():
        saved = torch.load(path, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(saved[name])
    wrapped, killer = DistributedDataParallel(model), Killer(kill_at)
    while loader.epoch < training.EPOCHS:
        for batch in loader:
            keep = batch["valid"]
            own = ((wrapped(batch["x"]) - batch["y"]).square() * keep).sum()
            count = keep.sum()
            dist.all_reduce(count)
            optimizer.zero_grad()
            (own * world_size / count).backward()
            killer.step()
            optimizer.step()
            loss = own.detach()
            dist.all_reduce(loss)
            numbers = [n for part in gathered(batch["number"][keep].tolist()) for n in part]
            sizes = gathered(len(keep))
            if rank == 0:
                assert policy == "partial" or set(sizes) == {training.BATCH // world_size}
                unfinished = path.with_suffix(".tmp")
                torch.save({name: part.state_dict() for name, part in parts.items()}, unfinished)
                os.replace(unfinished, path)
                training.note_step(folder, loss / count, numbers)
            # Nobody is killed before the step is noted.
            dist.barrier()
    # All of them have made as many steps, or the last one would wait for ever.
    assert gathered(loader.epoch) == [training.EPOCHS] * world_size


def run(folder: Path, world_size: int, kill_at: int | None, policy: str = "partial") -> None:
    """Train on some processes at a time, to the end or until they are all killed."""
    rendezvous = folder / f"rendezvous{next(_names)}"
    codes = training.run_in_processes(
        train,
        [(rank, world_size, rendezvous, folder, kill_at, policy) for rank in range(world_size)],
    )
    assert codes == [0 if kill_at is None else -signal.SIGKILL] * world_size


def outcome(
    rank: int, world_size: int, rendezvous: Path, folder: Path, options: list[dict[str, Any]]
) -> None:
    """Make a loader with the options of the process, take a batch, and note what happens."""
    # The processes are found when an iteration begins: frameworks make loaders before.
    arguments: dict[str, Any] = {"batch_size": 4, **options[rank]}
    state, epoch = arguments.pop("state", None), arguments.pop("epoch", None)
    samples = arguments.pop("samples", 23)
    alone = arguments.pop("alone", False)
    if alone:
        # For one process only; it does not take part in counting.
        list(ndd.pytorch.DataLoader(Points(5), batch_size=2, rank=0, world_size=1))
    loader = ndd.pytorch.DataLoader(Points(samples), training.augment, **arguments)
    assert loader.world_size == 1
    join(rendezvous, rank, world_size)
    assert (loader.rank, loader.world_size) == (rank, world_size)
    if state is not None:
        loader.load_state_dict(state)
    if epoch is not None:
        loader.set_epoch(epoch)
    try:
        text = f"took {len(next(iter(loader))['y'])}"
    except RuntimeError as error:
        text = str(error)
    (folder / f"outcome{rank}").write_text(text)
    dist.barrier()


def outcomes(folder: Path, options: list[dict[str, Any]]) -> list[str]:
    """What happens to processes with different options."""
    rendezvous = folder / f"rendezvous{next(_names)}"
    count = len(options)
    codes = training.run_in_processes(
        outcome, [(rank, count, rendezvous, folder, options) for rank in range(count)]
    )
    assert codes == [0] * count
    return [(folder / f"outcome{rank}").read_text() for rank in range(count)]
