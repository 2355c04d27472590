# SPDX-License-Identifier: Apache-2.0
"""The program of the README, as a type checker sees it. Checked by mypy, never run."""

from typing import assert_type

import torch

import daliesque as ndd


def train_step(images: torch.Tensor, labels: torch.Tensor) -> None:
    """Stands for a model."""


reader = ndd.readers.File(file_root="train", random_shuffle=True)
for epoch in range(90):
    for jpegs, labels in reader.next_epoch(batch_size=64):
        images = ndd.decoders.image(jpegs)
        images = ndd.resize(images, size=[224, 224])
        images = ndd.crop_mirror_normalize(
            images,
            mirror=ndd.random.coin_flip(batch_size=64),
            mean=[124.0, 116.0, 104.0],
            std=[58.0, 57.0, 57.0],
        )
        train_step(images.torch(), labels.torch())

assert_type(jpegs, ndd.Batch)
assert_type(images, ndd.Batch)
