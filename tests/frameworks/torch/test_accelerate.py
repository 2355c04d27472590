# SPDX-License-Identifier: Apache-2.0
"""Accelerate with `pytorch.DataLoader`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState, PartialState

import daliesque as ndd
from support import framework_training as training
from support.framework_training import Killer


@pytest.fixture(autouse=True)
def _no_state_of_other_tests() -> Any:
    yield
    for state in (AcceleratorState, GradientState, PartialState):
        state._reset_state()


def train(folder: Path, kill_at: int | None, accumulation: int = 1) -> None:
    """Train with `save_state` after each step of the optimizer; goes on from the last one."""
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=accumulation)
    model = training.make_model()
    ours = training.make_loader(batch_size=training.BATCH // accumulation)
    model, optimizer, loader = accelerator.prepare(model, training.make_optimizer(model), ours)
    # It is not taken apart.
    assert loader is ours
    accelerator.register_for_checkpointing(loader)
    saved = sorted(folder.glob("checkpoint*"))
    if saved:
        accelerator.load_state(str(saved[-1]))
    killer, count = Killer(kill_at), len(saved)
    while loader.epoch < training.EPOCHS:
        numbers: list[int] = []
        loss_sum = 0.0
        for batch in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.mse_loss(model(batch["x"]), batch["y"])
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            numbers += batch["number"].tolist()
            loss_sum += float(loss.detach())
            if accelerator.sync_gradients:
                killer.step()
                count += 1
                accelerator.save_state(str(folder / f"checkpoint{count:02d}"))
                training.note_step(folder, loss_sum, numbers)
                numbers, loss_sum = [], 0.0


def test_killed_in_every_step_and_resumed(tmp_path: Path) -> None:
    training.assert_survives_kills(train, tmp_path)


def test_killed_in_every_step_with_accumulated_gradients(tmp_path: Path) -> None:
    """Two batches of 6 for a step; the last step of an epoch has 9 samples in two batches."""
    training.assert_survives_kills(functools.partial(train, accumulation=2), tmp_path)


def train_as_one_of_two(folder: Path) -> None:
    """One epoch, and what `gather` makes of it."""
    accelerator = Accelerator(cpu=True)
    loader = training.make_loader(batch_size=training.BATCH // 2, last_batch="pad", mask=True)
    model = accelerator.prepare(training.make_model())
    own = folder / str(accelerator.process_index)
    own.mkdir()
    for batch in accelerator.prepare(loader):
        accelerator.backward(model(batch["x"]).square().mean())
        numbers, keep = accelerator.gather((batch["number"], batch["valid"]))
        training.note_step(own, 0, numbers[keep])


def test_two_processes(tmp_path: Path) -> None:
    """Every sample once and in order; repeated ones are left out by the mask."""
    assert training.run_as_torchrun(train_as_one_of_two, 2, tmp_path) == [0, 0]
    expected = [tuple(batch["number"].tolist()) for batch in training.make_loader()]
    for rank in ("0", "1"):
        assert [step.numbers for step in training.steps_of(tmp_path / rank)] == expected


@pytest.mark.parametrize(("batch_size", "accumulation"), [(12, 2), (12, 3), (6, 4), (10, 6)])
def test_gradients_are_complete_at_the_end_of_an_epoch(batch_size: int, accumulation: int) -> None:
    """Accelerate completes the last step of an epoch if it knows that the epoch ends."""
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=accumulation)
    loader = accelerator.prepare(training.make_loader(batch_size=batch_size))
    model = accelerator.prepare(training.make_model())
    reference = accelerator.prepare(
        torch.utils.data.DataLoader(list(range(training.SAMPLES)), batch_size=batch_size)
    )
    for _ in range(2):
        found, expected = [], []
        for _ in loader:
            with accelerator.accumulate(model):
                found.append(accelerator.sync_gradients)
        for _ in reference:
            with accelerator.accumulate(model):
                expected.append(accelerator.sync_gradients)
        assert found == expected
        assert found[-1]
    # Nobody is in an epoch any more.
    assert not accelerator.gradient_state.in_dataloader


def test_an_epoch_that_was_left_does_not_end_the_next() -> None:
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=3)
    loader, model = training.make_loader(), accelerator.prepare(training.make_model())
    for count in (2, 5):
        flags = []
        for number, _ in enumerate(loader, 1):
            with accelerator.accumulate(model):
                flags.append(accelerator.gradient_state.end_of_dataloader)
            if number == count:
                break
        assert flags == [False] * 4 + [True] if count == 5 else flags == [False] * 2


def test_states_are_the_same_for_all_ways_to_save(tmp_path: Path) -> None:
    accelerator = Accelerator(cpu=True)
    loader = training.make_loader()
    accelerator.register_for_checkpointing(loader)
    batches = iter(loader)
    next(batches)
    accelerator.save_state(str(tmp_path))
    (saved,) = tmp_path.glob("custom_checkpoint_*")
    assert torch.load(saved, weights_only=True) == loader.state_dict()


def test_a_loader_of_torch_around_ours_is_left_alone() -> None:
    """Otherwise each process would get a part of its part."""
    accelerator = Accelerator(cpu=True)
    loader: Any = training.make_loader().as_torch()
    assert accelerator.prepare(loader) is loader
    ours = list(map(training.to_plain, training.make_loader()))
    assert list(map(training.to_plain, loader)) == ours


def test_batches_that_accelerate_skips() -> None:
    """`skip_first_batches` rebuilds a loader of torch from the parts of this one."""
    whole = list(map(training.to_plain, training.make_loader()))
    accelerator = Accelerator(cpu=True)
    loader = training.make_loader()
    rest: Any = accelerator.skip_first_batches(loader, 3)
    assert list(map(training.to_plain, rest)) == whole[3:]
    assert loader.state_dict()["epoch"] == 1
    assert isinstance(loader, ndd.pytorch.DataLoader)
