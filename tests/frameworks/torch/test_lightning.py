# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer with `pytorch.DataLoader`."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import lightning
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.utilities import CombinedLoader

import daliesque as ndd
from support import framework_training as training
from support.framework_training import Killer, Points, Step


class Module(lightning.LightningModule):
    """Trains the model of all frameworks, and keeps what it has seen."""

    def __init__(self, folder: Path | None = None, kill_at: int | None = None) -> None:
        super().__init__()
        self.model = training.make_model()
        self.folder = folder
        self.killer = Killer(kill_at)
        self.seen: list[tuple[int, Step]] = []
        self.validated: list[list[int]] = []

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        del batch_idx
        self.killer.step()
        loss = torch.nn.functional.mse_loss(self.model(batch["x"]), batch["y"])
        step = Step(float(loss.detach()), tuple(batch["number"].tolist()))
        self.seen.append((self.current_epoch, step))
        return loss

    def on_train_batch_end(self, *_arguments: Any) -> None:
        # The callbacks have been called before, the one that saves a checkpoint among them.
        if self.folder is not None:
            training.note_step(self.folder, *self.seen[-1][1])

    def on_validation_epoch_start(self) -> None:
        self.validated.append([])

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        del batch_idx
        self.validated[-1] += batch["number"].tolist()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return training.make_optimizer(self.model)


def trainer(folder: Path, **options: Any) -> lightning.Trainer:
    return lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=folder,
        **{"devices": 1, "max_epochs": training.EPOCHS, "enable_checkpointing": False, **options},
    )


class Saving(lightning.Callback):
    """Saves a checkpoint after each step.

    Not with the last batch of an epoch but at its end: if Lightning 2.6 is resumed from the former,
    it miscounts epochs in the next checkpoint, whatever the loader is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_train_batch_end(self, trainer: lightning.Trainer, *_arguments: Any) -> None:
        if not trainer.is_last_batch:
            self.save(trainer)

    def on_train_epoch_end(self, trainer: lightning.Trainer, *_arguments: Any) -> None:
        if trainer.is_last_batch:
            self.save(trainer)

    def save(self, trainer: lightning.Trainer) -> None:
        trainer.save_checkpoint(self.folder / f"{trainer.global_step:02d}.ckpt")


def train(folder: Path, kill_at: int | None) -> None:
    """Train with a checkpoint after each step; goes on from the last one."""
    warnings.simplefilter("ignore")
    saved = sorted(folder.glob("*.ckpt"))
    trainer(folder, callbacks=[Saving(folder)]).fit(
        Module(folder, kill_at),
        training.make_loader(),
        ckpt_path=str(saved[-1]) if saved else None,
    )


def test_killed_in_every_step_and_resumed(tmp_path: Path) -> None:
    training.assert_survives_kills(train, tmp_path)


def train_as_one_of_two(folder: Path) -> None:
    """Train with the strategy "ddp", from a checkpoint in the middle of the second epoch."""
    warnings.simplefilter("ignore")
    own = folder / os.environ["RANK"]
    own.mkdir()
    # Made before there are several processes.
    loader = training.make_loader(batch_size=training.BATCH // 2)
    options: dict[str, Any] = {"devices": 2, "strategy": "ddp"}
    trainer(folder, max_steps=7, callbacks=[Saving(folder)], **options).fit(Module(own), loader)
    again = training.make_loader(batch_size=training.BATCH // 2)
    trainer(folder, **options).fit(Module(own), again, ckpt_path=str(folder / "07.ckpt"))


def test_two_processes(tmp_path: Path) -> None:
    """The steps are those of one process, with the samples divided."""
    assert training.run_as_torchrun(train_as_one_of_two, 2, tmp_path) == [0, 0]
    found = training.merged_steps([tmp_path / "0", tmp_path / "1"])
    whole = Module()
    trainer(tmp_path).fit(whole, training.make_loader())
    assert [step.numbers for step in found] == [step.numbers for _, step in whole.seen]
    training.assert_complete_epochs(found)


def epochs_of(module: Module) -> dict[int, list[int]]:
    """The samples of each epoch, as the trainer counts them."""
    found: dict[int, list[int]] = {}
    for epoch, step in module.seen:
        found.setdefault(epoch, []).extend(step.numbers)
    return found


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        # About loggers and workers; ours have none.
        warnings.simplefilter("ignore")
        yield


def test_no_epoch_is_skipped_although_iter_is_called_twice(tmp_path: Path) -> None:
    """Lightning issue 12956, DALI issue 3865: every other epoch was empty."""
    module = Module()
    trainer(tmp_path).fit(module, training.make_loader())
    epochs = epochs_of(module)
    assert sorted(epochs) == [0, 1, 2, 3]
    assert all(sorted(numbers) == list(range(training.SAMPLES)) for numbers in epochs.values())
    training.assert_complete_epochs([step for _, step in module.seen])


def test_the_sanity_check_takes_nothing_from_validation(tmp_path: Path) -> None:
    module = Module()
    validation = ndd.pytorch.DataLoader(Points(23), training.augment, batch_size=4)
    trainer(tmp_path, num_sanity_val_steps=2, max_epochs=2).fit(
        module, training.make_loader(), validation
    )
    assert module.validated == [list(range(8)), list(range(23)), list(range(23))]
    training.assert_complete_epochs([step for _, step in module.seen])


@pytest.mark.parametrize(("policy", "steps"), [("drop", 4), ("pad", 5), ("partial", 5)])
def test_the_length_is_that_of_every_epoch(tmp_path: Path, policy: str, steps: int) -> None:
    """DALI issues 4686, 4440 and 1203: one more or less, changing from epoch to epoch."""
    loader = training.make_loader(last_batch=policy)
    module = Module()
    fitting = trainer(tmp_path)
    fitting.fit(module, loader)
    assert len(loader) == fitting.num_training_batches == steps
    assert [epoch for epoch, _ in module.seen] == [e for e in range(4) for _ in range(steps)]
    sizes = {len(step.numbers) for _, step in module.seen}
    assert sizes == ({12, 9} if policy == "partial" else {12})


def test_epochs_that_are_left_early(tmp_path: Path) -> None:
    """DALI issues 1794, 1615 and 2938: an epoch could not be left and begun again."""
    module = Module()
    trainer(tmp_path, limit_train_batches=2).fit(module, training.make_loader())
    whole = Module()
    trainer(tmp_path).fit(whole, training.make_loader())
    expected = {epoch: numbers[:24] for epoch, numbers in epochs_of(whole).items()}
    assert epochs_of(module) == expected


def test_resumed_in_the_middle_of_an_epoch(tmp_path: Path) -> None:
    """From the checkpoint after each step, to the end."""
    saving = ModelCheckpoint(tmp_path, filename="{step:02d}", every_n_train_steps=1, save_top_k=-1)
    whole = Module()
    trainer(tmp_path, callbacks=[saving], enable_checkpointing=True).fit(
        whole, training.make_loader()
    )
    saved = sorted(tmp_path.glob("*.ckpt"))
    assert len(saved) == training.STEPS
    for done, path in enumerate(saved, 1):
        if done == training.STEPS:
            break
        resumed = Module()
        trainer(tmp_path).fit(resumed, training.make_loader(), ckpt_path=str(path))
        assert resumed.seen == whole.seen[done:], done


def test_checkpoints_load_with_weights_only(tmp_path: Path) -> None:
    saving = ModelCheckpoint(tmp_path, every_n_train_steps=3, save_weights_only=False)
    trainer(tmp_path, callbacks=[saving], enable_checkpointing=True, max_steps=3).fit(
        Module(), training.make_loader()
    )
    (path,) = tmp_path.glob("*.ckpt")
    saved = torch.load(path, weights_only=True)
    (state,) = saved["loops"]["fit_loop"]["state_dict"]["combined_loader"]
    assert state["taken"] == 36


class Pair(Module):
    """Two loaders at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[tuple[int, list[int], list[int]]] = []

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        loss = super().training_step(batch["long"], batch_idx)
        parts = [batch[key]["number"].tolist() for key in ("long", "short")]
        self.pairs.append((self.current_epoch, parts[0], parts[1]))
        return loss + self.model(batch["short"]["x"]).square().mean()


def loaders(mode: Any) -> CombinedLoader:
    short = ndd.pytorch.DataLoader(Points(20), training.augment, batch_size=6, shuffle=True, seed=1)
    return CombinedLoader({"long": training.make_loader(), "short": short}, mode)


@pytest.mark.parametrize(("mode", "steps"), [("max_size_cycle", 5), ("min_size", 4)])
def test_combined_loaders(tmp_path: Path, mode: Any, steps: int) -> None:
    """Two of ours, of different lengths, resumed after each step."""
    saving = ModelCheckpoint(tmp_path, filename="{step:02d}", every_n_train_steps=1, save_top_k=-1)
    whole = Pair()
    trainer(tmp_path, callbacks=[saving], enable_checkpointing=True, max_epochs=2).fit(
        whole, loaders(mode)
    )
    assert [epoch for epoch, *_ in whole.pairs] == [0] * steps + [1] * steps
    for begin in (0, steps):
        first = [number for _, _, part in whole.pairs[begin : begin + 4] for number in part]
        assert sorted(first) == list(range(20))
    for done, path in enumerate(sorted(tmp_path.glob("*.ckpt"))[:-1], 1):
        resumed = Pair()
        trainer(tmp_path, max_epochs=2).fit(resumed, loaders(mode), ckpt_path=str(path))
        assert resumed.pairs == whole.pairs[done:], done
        assert resumed.seen == whole.seen[done:], done


def test_a_loader_of_torch_around_ours(tmp_path: Path) -> None:
    direct, wrapped = Module(), Module()
    trainer(tmp_path, max_epochs=2).fit(direct, training.make_loader())
    trainer(tmp_path, max_epochs=2).fit(wrapped, training.make_loader().as_torch())
    assert wrapped.seen == direct.seen
