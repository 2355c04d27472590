# SPDX-License-Identifier: Apache-2.0
"""What a type checker says about tensors and batches. Checked by mypy, never run."""

from typing import assert_type

import numpy as np
import torch

import daliesque as ndd
from daliesque import Batch, Tensor


def arithmetic(tensor: Tensor, batch: Batch) -> None:
    """A Batch on either side gives a Batch."""
    assert_type(tensor + 1, Tensor)
    assert_type(1 - tensor, Tensor)
    assert_type(tensor * tensor, Tensor)
    assert_type(tensor / np.float32(2), Tensor)
    assert_type(batch + 1, Batch)
    assert_type(2.5 * batch, Batch)
    assert_type(batch - tensor, Batch)
    assert_type(tensor - batch, Batch)
    assert_type(batch ** np.ones(3), Batch)
    assert_type(-batch, Batch)
    assert_type(abs(tensor), Tensor)
    assert_type(~tensor, Tensor)


def comparisons(tensor: Tensor, batch: Batch) -> None:
    """Comparisons are made for each element."""
    assert_type(tensor == 1, Tensor)
    assert_type(tensor < batch, Batch)
    assert_type(batch >= 0, Batch)
    assert_type((batch > 1) & (batch < 5), Batch)


def selection(tensor: Tensor, batch: Batch) -> None:
    """Samples, and parts of samples."""
    assert_type(tensor[0], Tensor)
    assert_type(tensor[..., 1:], Tensor)
    assert_type(batch.select(0), Tensor)
    assert_type(batch.select([0, 1]), Batch)
    assert_type(batch.select(slice(2)), Batch)
    assert_type(batch.slice[0:2], Batch)
    assert_type(batch.slice[batch], Batch)
    assert_type(batch.tensors[0], Tensor)
    assert_type(batch.tensors[1:].as_batch(), Batch)
    assert_type([sample.shape for sample in batch], list[tuple[int, ...]])


def properties(tensor: Tensor, batch: Batch) -> None:
    """What is known of a value."""
    assert_type(tensor.shape, tuple[int, ...])
    assert_type(batch.shape, list[tuple[int, ...]])
    assert_type(batch.dtype, ndd.DType)
    assert_type(batch.layout, str | None)
    assert_type(batch.device, ndd.Device)
    assert_type(batch.batch_size, int)


def conversions(tensor: Tensor, batch: Batch) -> None:
    """Ways in and out."""
    assert_type(ndd.tensor([1, 2]), Tensor)
    assert_type(ndd.as_tensor(batch), Tensor)
    assert_type(ndd.batch([[1], [2, 3]]), Batch)
    assert_type(ndd.as_batch(np.zeros((2, 3))), Batch)
    assert_type(Batch.broadcast(tensor, 3), Batch)
    assert_type(tensor.torch(), torch.Tensor)
    assert_type(batch.torch(pad=True), torch.Tensor)
    assert_type(batch.cpu(), Batch)
    assert_type(tensor.gpu(0), Tensor)
    assert_type(tensor.evaluate(), Tensor)
    assert_type(ndd.float32(tensor), Tensor)
