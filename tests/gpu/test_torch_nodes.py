# SPDX-License-Identifier: Apache-2.0
"""ToTorch gathers all values on the accelerator that some of them are on."""

from __future__ import annotations

import pytest

import daliesque as ndd
from daliesque.pytorch import nodes
from support.loops import Pictures


@pytest.mark.parametrize("own_stream", [False, True])
def test_values_are_gathered_on_the_accelerator(own_stream: bool) -> None:
    reader = nodes.Reader(Pictures, batch_size=3)
    moved = nodes.DictMapper(reader, lambda images: ndd.flip(images.gpu(), horizontal=1))
    node = nodes.ToTorch(moved, ndd.stream() if own_stream else None)
    images, labels = next(node)
    assert labels.tolist() == [0, 1, 2]
    assert images.device == labels.device
    expected, _ = next(Pictures().next_epoch(batch_size=3))
    assert images.cpu().equal(ndd.flip(expected, horizontal=1).torch())
