# SPDX-License-Identifier: Apache-2.0
"""A loader for torch with random operators, and what it delivers sample by sample."""

from __future__ import annotations

from typing import Any

import torch

import daliesque as ndd
from daliesque.pytorch import DataLoader
from support.loops import Pictures

SIZE = 23


class Dataset(torch.utils.data.Dataset[Any]):
    """Items as a torch user has them: an image, a number of Python."""

    def __len__(self) -> int:
        return SIZE

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.full((4, 4), float(index)), index


def labels_only(_image: ndd.Batch, label: ndd.Batch) -> ndd.Batch:
    return label


def augment(images: ndd.Batch, labels: ndd.Batch) -> dict[str, Any]:
    """Random operators of several kinds, each with parameters for each sample."""
    count = images.batch_size
    drawn = ndd.random.uniform(range=(0, 1), batch_size=count)
    cropped = ndd.random_resized_crop(images, size=[4, 4])
    flipped = ndd.flip(cropped, horizontal=ndd.random.coin_flip(batch_size=count))
    noisy = ndd.noise.gaussian(flipped, stddev=8.0)
    jittered = ndd.color_twist(noisy, hue=ndd.random.normal(stddev=30.0, batch_size=count))
    return {"image": jittered, "drawn": drawn, "label": labels}


def make(**options: Any) -> DataLoader:
    arguments: dict[str, Any] = {"batch_size": 4, "shuffle": True, "seed": 3, **options}
    return DataLoader(Pictures(SIZE), augment, **arguments)


def rows(batches: Any) -> list[tuple[Any, ...]]:
    """Each sample by itself: label, drawn number and pixels."""
    found = []
    for batch in batches:
        parts = zip(batch["label"], batch["drawn"], batch["image"], strict=True)
        found += [(int(a), float(b), c.numpy().tobytes()) for a, b, c in parts]
    return found
