# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's Trainer with `pytorch.DataLoader`."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Trainer, TrainerCallback, TrainingArguments

import daliesque as ndd
from support import framework_training as training
from support.framework_training import Killer, Points


class Model(torch.nn.Module):
    """Returns what the Trainer wants: a dict with the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.model = training.make_model()

    def forward(
        self, x: torch.Tensor, y: torch.Tensor, number: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        loss = torch.nn.functional.mse_loss(self.model(x), y)
        return {"loss": loss, "logits": number}


class Own(Trainer):  # type: ignore[misc]
    """Takes its batches from our loaders."""

    def __init__(self, folder: Path, kill_at: int | None = None, **options: Any) -> None:
        self.train_loader = options.pop("train_loader", None) or training.make_loader()
        self.folder = folder
        self.killer = Killer(kill_at)
        self.current: list[Any] = []
        super().__init__(**options)

    def get_train_dataloader(self) -> Any:
        return self.train_loader

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        del eval_dataset
        return ndd.pytorch.DataLoader(Points(23), training.augment, batch_size=4)

    def training_step(self, model: Any, inputs: Any, *arguments: Any) -> torch.Tensor:
        numbers = inputs["number"].tolist()
        loss = super().training_step(model, inputs, *arguments)
        self.current.append((float(loss), numbers))
        return loss

    def create_optimizer(self, *_arguments: Any) -> torch.optim.Optimizer:
        if self.optimizer is None:
            self.optimizer = training.make_optimizer(self.model)
        return self.optimizer


class Noting(TrainerCallback):  # type: ignore[misc]
    """Notes complete steps, and saves the state of the loader where it is asked to."""

    def __init__(self, saves_state: bool) -> None:
        self.saves_state = saves_state
        self.trainer: Own

    def on_optimizer_step(self, *_arguments: Any, **_options: Any) -> None:
        self.trainer.killer.step()

    def on_save(self, args: Any, state: Any, control: Any, **_options: Any) -> None:
        del control
        if self.saves_state:
            path = Path(args.output_dir) / f"checkpoint-{state.global_step}" / "loader.json"
            path.write_text(json.dumps(self.trainer.train_loader.state_dict()))
        made, self.trainer.current = self.trainer.current, []
        loss = sum(part for part, _ in made)
        training.note_step(self.trainer.folder, loss, [n for _, part in made for n in part])


def arguments(folder: Path, **options: Any) -> TrainingArguments:
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=training.EPOCHS,
        save_strategy="steps",
        save_steps=1,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        logging_strategy="no",
        dataloader_pin_memory=False,
        lr_scheduler_type="constant",
        remove_unused_columns=False,
        label_names=["y"],
        **options,
    )


def train(folder: Path, kill_at: int | None, way: str, accumulation: int = 1) -> None:
    """Train with a checkpoint after each step; goes on from the last one, in one of two ways.

    The trainer skips the batches that were done ("skip"), or a callback has saved the state of the
    loader ("state").
    """
    noting = Noting(way == "state")
    loader = training.make_loader(batch_size=training.BATCH // accumulation)
    trainer = Own(
        folder,
        kill_at,
        model=Model(),
        train_loader=loader,
        args=arguments(
            folder, ignore_data_skip=way == "state", gradient_accumulation_steps=accumulation
        ),
        callbacks=[noting],
    )
    noting.trainer = trainer
    saved = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    if saved and way == "state":
        loader.load_state_dict(json.loads((saved[-1] / "loader.json").read_text()))
    trainer.train(resume_from_checkpoint=str(saved[-1]) if saved else None)


@pytest.mark.parametrize("way", ["skip", "state"])
def test_killed_in_every_step_and_resumed(tmp_path: Path, way: str) -> None:
    training.assert_survives_kills(functools.partial(train, way=way), tmp_path)


def train_as_one_of_two(folder: Path) -> None:
    """Train on two processes, stopped by the trainer and resumed by another."""
    own = folder / os.environ["RANK"]
    own.mkdir()
    for steps in (7, -1):
        noting = Noting(False)
        trainer = Own(
            own,
            model=Model(),
            train_loader=training.make_loader(batch_size=training.BATCH // 2),
            args=arguments(folder, max_steps=steps),
            callbacks=[noting],
        )
        noting.trainer = trainer
        trainer.train(resume_from_checkpoint=str(folder / "checkpoint-7") if steps < 0 else None)


def test_two_processes(tmp_path: Path) -> None:
    """The steps are those of one process, with the samples divided."""
    assert training.run_as_torchrun(train_as_one_of_two, 2, tmp_path) == [0, 0]
    found = training.merged_steps([tmp_path / "0", tmp_path / "1"])
    loader = training.make_loader()
    expected = [tuple(batch["number"].tolist()) for _ in range(training.EPOCHS) for batch in loader]
    assert [step.numbers for step in found] == expected


def test_accumulated_gradients(tmp_path: Path) -> None:
    """Killed after each fifth step."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    both = functools.partial(train, way="skip", accumulation=2)
    assert training.run_in_process(both, whole, None) == 0
    for _ in range(3):
        assert training.run_in_process(both, killed, 6) < 0
    assert training.run_in_process(both, killed, None) == 0
    expected = training.steps_of(whole)
    assert training.steps_of(killed) == expected
    assert len(expected) == training.STEPS
    training.assert_complete_epochs(expected)


def test_evaluation_has_every_sample_once(tmp_path: Path) -> None:
    trainer = Own(tmp_path, model=Model(), args=arguments(tmp_path))
    for _ in range(2):
        loader = trainer.get_eval_dataloader()
        result = trainer.evaluation_loop(loader, "evaluation", prediction_loss_only=False)
        assert result.predictions.tolist() == list(range(23))
        assert result.num_samples == 23


def test_the_trainer_counts_steps_and_samples(tmp_path: Path) -> None:
    trainer = Own(tmp_path, model=Model(), args=arguments(tmp_path))
    loader = trainer.get_train_dataloader()
    epochs, updates, examples, *_ = trainer.set_initial_training_values(trainer.args, loader)
    assert (epochs, updates, examples) == (training.EPOCHS, 5, training.SAMPLES)
